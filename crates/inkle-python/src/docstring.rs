//! Documentation strings.

/// The text without the indentation its lines share and without blank lines at both ends.
///
/// As in PEP 257: the first line's own indentation does not count, tabs are eight columns.
pub(crate) fn dedent(text: &str) -> String {
    let lines: Vec<String> = text.lines().map(expand_tabs).collect();
    let indent_of = |line: &String| line.len() - line.trim_start().len();
    let margin = lines.iter().skip(1).filter(|l| !l.trim().is_empty()).map(indent_of).min().unwrap_or(0);
    let mut out: Vec<&str> = Vec::with_capacity(lines.len());
    for (i, line) in lines.iter().enumerate() {
        let line = if i == 0 { line.trim_start() } else { line.get(margin..).unwrap_or("") };
        out.push(line.trim_end());
    }
    let first = out.iter().position(|l| !l.is_empty()).unwrap_or(out.len());
    let last = out.iter().rposition(|l| !l.is_empty()).map_or(first, |i| i + 1);
    out[first..last].join("\n")
}

/// Replaces tabs in the leading white space, the only place where they matter here.
fn expand_tabs(line: &str) -> String {
    let mut columns = 0;
    let mut rest = line;
    loop {
        match rest.as_bytes().first() {
            Some(b' ') => columns += 1,
            Some(b'\t') => columns = (columns / 8 + 1) * 8,
            _ => break,
        }
        rest = &rest[1..];
    }
    format!("{:columns$}{rest}", "")
}

#[cfg(test)]
mod tests {
    use super::dedent;

    #[test]
    fn shared_indentation_goes() {
        assert_eq!(dedent("One.\n\n    Two\n      three\n    "), "One.\n\nTwo\n  three");
        assert_eq!(dedent("\n\tOne\n\t  two\n"), "One\n  two");
        assert_eq!(dedent("  single  "), "single");
        assert_eq!(dedent(""), "");
        assert_eq!(dedent("a\n  é\n 漢"), "a\n é\n漢");
    }
}
