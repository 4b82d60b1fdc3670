//! V021: the conversions of a `print`.

use crate::types::ScalarKind;

/// Which scalars a conversion prints.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Conversion {
    Integer,
    Float,
}

impl Conversion {
    pub(super) fn prints(self, kind: ScalarKind) -> bool {
        (self == Conversion::Float) == (kind == ScalarKind::Float)
    }
}

/// The conversions of a printf format in order, or what is wrong with it.
pub(super) fn conversions(format: &str) -> Result<Vec<Conversion>, String> {
    let mut found = Vec::new();
    let mut rest = format.chars().peekable();
    while let Some(c) = rest.next() {
        if c != '%' {
            continue;
        }
        let mut spec = String::from('%');
        // Flags, width and precision, then the length, then the conversion.
        while let Some(c) = rest.next_if(|c| "-+ #0123456789.".contains(*c)) {
            spec.push(c);
        }
        while let Some(c) = rest.next_if(|c| "hlLqjzt".contains(*c)) {
            spec.push(c);
        }
        let conversion = rest.next();
        spec.extend(conversion);
        match conversion {
            Some('%') if spec == "%%" => {}
            Some('d' | 'i' | 'u' | 'x' | 'X' | 'o' | 'c' | 'p') => found.push(Conversion::Integer),
            Some('f' | 'F' | 'e' | 'E' | 'g' | 'G' | 'a' | 'A') => found.push(Conversion::Float),
            _ => return Err(format!("`{spec}` is not a conversion that can be printed")),
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_lengths_and_percent_signs_are_read() {
        use Conversion::{Float, Integer};
        assert_eq!(conversions("100%% %-5d|%+.3f|%llu|% e\n"), Ok(vec![Integer, Float, Integer, Float]));
        for wrong in ["%", "%s", "%n", "%*d", "%5%", "%l"] {
            assert!(conversions(wrong).is_err(), "{wrong}");
        }
    }
}
