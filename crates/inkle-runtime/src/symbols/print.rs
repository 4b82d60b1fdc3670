//! `print` and `printf` of CPU kernels.
//!
//! Conversions are parsed here, not by the C library: the argument types are known, so a conversion that does
//! not fit its argument converts it instead of reading the wrong bytes.

use std::ffi::{CStr, c_char};
use std::io::Write;
use std::sync::{Mutex, PoisonError};

use super::{Entry, entries};

/// Where printed text goes.
pub type PrintSink = Box<dyn FnMut(&str) + Send>;

static SINK: Mutex<Option<PrintSink>> = Mutex::new(None);

/// Sends what kernels print to `sink`; `None` sends it to the process's standard output, where each print is
/// flushed at once so that it keeps its place among other writers' lines.
///
/// The sink is called on the thread that prints, which may be a worker, while the thread that launched waits: it
/// must not need a lock that the launching thread holds.
pub fn set_print_sink(sink: Option<PrintSink>) {
    *SINK.lock().unwrap_or_else(PoisonError::into_inner) = sink;
}

/// Sends text where printed text goes.
pub(super) fn emit(text: &str) {
    match &mut *SINK.lock().unwrap_or_else(PoisonError::into_inner) {
        Some(sink) => sink(text),
        None => {
            let mut out = std::io::stdout().lock();
            // A closed standard output must not take the kernel down.
            let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
        }
    }
}

/// One argument of a print.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Arg {
    Int(i64),
    Uint(u64),
    Float(f64),
}

impl Arg {
    fn from_raw(bits: u64, kind: u8) -> Arg {
        match kind {
            0 => Arg::Int(bits as i64),
            1 => Arg::Uint(bits),
            _ => Arg::Float(f64::from_bits(bits)),
        }
    }

    fn as_i128(self) -> i128 {
        match self {
            Arg::Int(v) => v.into(),
            Arg::Uint(v) => v.into(),
            Arg::Float(v) => v as i128,
        }
    }

    /// The bits for `%u` and `%x`: a negative number prints as its own width of two's complement.
    fn as_u64(self, long: bool) -> u64 {
        match self {
            Arg::Int(v) if v < 0 && !long && i32::try_from(v).is_ok() => u64::from(v as i32 as u32),
            Arg::Int(v) => v as u64,
            Arg::Uint(v) => v,
            Arg::Float(v) => v as i64 as u64,
        }
    }

    fn as_f64(self) -> f64 {
        match self {
            Arg::Int(v) => v as f64,
            Arg::Uint(v) => v as f64,
            Arg::Float(v) => v,
        }
    }
}

/// The flags and numbers of one conversion.
#[derive(Default)]
struct Spec {
    left: bool,
    plus: bool,
    space: bool,
    alternate: bool,
    zero: bool,
    width: usize,
    precision: Option<usize>,
    long: bool,
}

/// No field is ever padded or extended beyond this, whatever a format says.
const MAX_FIELD: usize = 512;

/// Expands a C format. A conversion without an argument prints as it is written; surplus arguments are ignored.
fn format(template: &str, args: impl IntoIterator<Item = Arg>) -> String {
    let mut args = args.into_iter();
    let mut out = String::with_capacity(template.len() + 16);
    let mut rest = template;
    while let Some(at) = rest.find('%') {
        out.push_str(&rest[..at]);
        let conversion = &rest[at..];
        if let Some(after) = conversion.strip_prefix("%%") {
            out.push('%');
            rest = after;
            continue;
        }
        let (spec, kind, after) = parse_spec(&conversion[1..], &mut args);
        let text = &conversion[..conversion.len() - after.len()];
        match kind.filter(|k| "diuxXocfFeEgGaAsp".contains(*k)).and_then(|k| Some((k, args.next()?))) {
            Some((kind, arg)) => convert(&mut out, &spec, kind, arg),
            None => out.push_str(text),
        }
        rest = after;
    }
    out.push_str(rest);
    out
}

fn parse_spec<'t>(text: &'t str, args: &mut impl Iterator<Item = Arg>) -> (Spec, Option<char>, &'t str) {
    let mut spec = Spec::default();
    let mut rest = text;
    loop {
        match rest.as_bytes().first() {
            Some(b'-') => spec.left = true,
            Some(b'+') => spec.plus = true,
            Some(b' ') => spec.space = true,
            Some(b'#') => spec.alternate = true,
            Some(b'0') => spec.zero = true,
            _ => break,
        }
        rest = &rest[1..];
    }
    let mut number = |rest: &mut &str| -> Option<i128> {
        if let Some(after) = rest.strip_prefix('*') {
            *rest = after;
            return Some(args.next().map_or(0, Arg::as_i128));
        }
        let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let value = rest[..digits].parse().ok();
        *rest = &rest[digits..];
        value
    };
    if let Some(width) = number(&mut rest) {
        spec.left |= width < 0;
        spec.width = usize::try_from(width.unsigned_abs()).unwrap_or(MAX_FIELD).min(MAX_FIELD);
    }
    if let Some(after) = rest.strip_prefix('.') {
        rest = after;
        let precision = number(&mut rest).unwrap_or(0);
        spec.precision = usize::try_from(precision).ok().map(|p| p.min(MAX_FIELD));
    }
    while let Some(c @ ('h' | 'l' | 'L' | 'q' | 'j' | 'z' | 't')) = rest.chars().next() {
        spec.long |= c != 'h';
        rest = &rest[1..];
    }
    let kind = rest.chars().next();
    (spec, kind, &rest[kind.map_or(0, char::len_utf8)..])
}

fn convert(out: &mut String, spec: &Spec, kind: char, arg: Arg) {
    // What `%s` and a float given to `%d` mean in C is undefined; here each prints the value it was given.
    let kind = match (kind, arg) {
        ('s', Arg::Float(_)) => 'g',
        ('s', Arg::Int(_)) => 'd',
        ('s', Arg::Uint(_)) => 'u',
        ('d' | 'i' | 'u', Arg::Uint(v)) if i64::try_from(v).is_err() => 'u',
        ('u', Arg::Uint(_)) => 'u',
        (kind, _) => kind,
    };
    let (negative, prefix, digits) = match kind {
        'd' | 'i' => {
            let value = arg.as_i128();
            (value < 0, "", integer_digits(value.unsigned_abs().to_string(), spec))
        }
        'u' => (false, "", integer_digits(arg.as_u64(spec.long).to_string(), spec)),
        'x' | 'X' | 'o' | 'p' => {
            let value = arg.as_u64(spec.long);
            let (prefix, digits) = match kind {
                'x' => ("0x", format!("{value:x}")),
                'X' => ("0X", format!("{value:X}")),
                'o' => ("0", format!("{value:o}")),
                _ => ("0x", format!("{value:x}")),
            };
            let show = kind == 'p' || (spec.alternate && value != 0);
            (false, if show { prefix } else { "" }, integer_digits(digits, spec))
        }
        'c' => {
            let character = u32::try_from(arg.as_i128()).ok().and_then(char::from_u32);
            pad(out, spec, "", "", &String::from(character.unwrap_or('\u{fffd}')), false);
            return;
        }
        _ => {
            let value = arg.as_f64();
            let digits = float_digits(value.abs(), kind, spec);
            (value.is_sign_negative() && !value.is_nan(), "", digits)
        }
    };
    let signed = !matches!(kind, 'u' | 'x' | 'X' | 'o' | 'p');
    let sign = match (negative, signed, spec.plus, spec.space) {
        (true, ..) => "-",
        (false, true, true, _) => "+",
        (false, true, false, true) => " ",
        _ => "",
    };
    let finite = !matches!(digits.as_bytes().first(), Some(b'i' | b'n' | b'I' | b'N'));
    let integer_with_precision = "diuxXop".contains(kind) && spec.precision.is_some();
    pad(out, spec, sign, prefix, &digits, spec.zero && finite && !integer_with_precision);
}

fn pad(out: &mut String, spec: &Spec, sign: &str, prefix: &str, digits: &str, zeros: bool) {
    let fill = spec.width.saturating_sub(sign.len() + prefix.len() + digits.chars().count());
    let spaces = |out: &mut String| out.extend(std::iter::repeat_n(' ', fill));
    if !spec.left && !zeros {
        spaces(out);
    }
    out.push_str(sign);
    out.push_str(prefix);
    if !spec.left && zeros {
        out.extend(std::iter::repeat_n('0', fill));
    }
    out.push_str(digits);
    if spec.left {
        spaces(out);
    }
}

fn integer_digits(digits: String, spec: &Spec) -> String {
    match spec.precision {
        Some(0) if digits == "0" => String::new(),
        Some(precision) if digits.len() < precision => {
            format!("{}{digits}", "0".repeat(precision - digits.len()))
        }
        _ => digits,
    }
}

fn float_digits(value: f64, kind: char, spec: &Spec) -> String {
    let upper = kind.is_ascii_uppercase();
    let precision = spec.precision.unwrap_or(6);
    let text = if value.is_nan() {
        "nan".to_owned()
    } else if value.is_infinite() {
        "inf".to_owned()
    } else {
        match kind.to_ascii_lowercase() {
            'e' => exponent_form(value, precision, spec.alternate),
            'g' => shortest_form(value, precision.max(1), spec.alternate),
            'a' => hex_form(value, spec.precision),
            _ if precision == 0 && spec.alternate => format!("{value:.0}."),
            _ => format!("{value:.precision$}"),
        }
    };
    if upper { text.to_ascii_uppercase() } else { text }
}

/// `d.ddde+XX` with at least two digits of exponent.
fn exponent_form(value: f64, precision: usize, alternate: bool) -> String {
    let text = format!("{value:.precision$e}");
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let point = if alternate && precision == 0 { "." } else { "" };
    format!("{mantissa}{point}e{}{:02}", if exponent < 0 { '-' } else { '+' }, exponent.abs())
}

/// C's `%g`: `precision` significant digits, trailing zeros removed.
fn shortest_form(value: f64, precision: usize, alternate: bool) -> String {
    let scientific = format!("{value:.*e}", precision - 1);
    let exponent: i32 = scientific.split_once('e').and_then(|(_, e)| e.parse().ok()).unwrap_or(0);
    let strip = |text: &str| -> String {
        if alternate || !text.contains('.') {
            return text.to_owned();
        }
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    };
    if exponent < -4 || i64::from(exponent) >= precision as i64 {
        let text = exponent_form(value, precision - 1, alternate);
        let (mantissa, tail) = text.split_once('e').unwrap_or((&text, "+00"));
        format!("{}e{tail}", strip(mantissa))
    } else {
        let decimals = (precision as i64 - 1 - i64::from(exponent)).max(0) as usize;
        strip(&format!("{value:.decimals$}"))
    }
}

/// C's `%a`: hexadecimal mantissa, binary exponent; without a precision, as many digits as are needed.
fn hex_form(value: f64, precision: Option<usize>) -> String {
    let bits = value.to_bits();
    let (mut fraction, biased) = (bits & ((1 << 52) - 1), (bits >> 52 & 0x7ff) as i32);
    let mut lead = u64::from(biased != 0);
    let exponent = match (biased, fraction) {
        (0, 0) => 0,
        (0, _) => -1022,
        _ => biased - 1023,
    };
    let digits = match precision {
        Some(p) if p < 13 => {
            let drop = 4 * (13 - p as u32);
            let whole = lead << 52 | fraction;
            let (kept, lost, half) = (whole >> drop, whole & ((1 << drop) - 1), 1u64 << (drop - 1));
            let up = lost > half || (lost == half && kept & 1 == 1);
            let rounded = (kept + u64::from(up)) << drop;
            (lead, fraction) = (rounded >> 52, rounded & ((1 << 52) - 1));
            format!("{fraction:013x}")[..p].to_owned()
        }
        Some(p) => format!("{fraction:013x}{}", "0".repeat(p - 13)),
        None => format!("{fraction:013x}").trim_end_matches('0').to_owned(),
    };
    let point = if digits.is_empty() { "" } else { "." };
    format!("0x{lead}{point}{digits}p{exponent:+}")
}

/// Expands a format with argument bits and their kinds (0 i64, 1 u64, 2 f64).
pub(crate) fn format_record(template: &str, args: &[u64], kinds: &[u8]) -> String {
    format(template, args.iter().zip(kinds).map(|(&bits, &kind)| Arg::from_raw(bits, kind)))
}

/// What compiled code passes, expanded.
///
/// # Safety
/// `template` is null or NUL-terminated; `args` and `kinds` have `n_args` readable entries (or `n_args` is zero).
pub(super) unsafe fn format_raw(
    template: *const c_char,
    args: *const u64,
    n_args: u32,
    kinds: *const u8,
) -> String {
    if template.is_null() {
        return String::new();
    }
    // SAFETY: the caller's contract: a NUL-terminated string of its read-only data.
    let template = unsafe { CStr::from_ptr(template) }.to_string_lossy();
    let n = n_args as usize;
    if n == 0 || args.is_null() || kinds.is_null() {
        return format(&template, []);
    }
    // SAFETY: the caller's contract: both have `n` initialised entries; neither is null here.
    let (args, kinds) =
        unsafe { (std::slice::from_raw_parts(args, n), std::slice::from_raw_parts(kinds, n)) };
    format_record(&template, args, kinds)
}

/// `inkle_print(format, args, n_args, kinds)`: argument bits with their kinds (0 i64, 1 u64, 2 f64).
///
/// # Safety
/// `template` is null or NUL-terminated; `args` and `kinds` have `n_args` readable entries (or `n_args` is zero).
unsafe extern "C" fn print(template: *const c_char, args: *const u64, n_args: u32, kinds: *const u8) {
    // SAFETY: the caller's contract.
    emit(&unsafe { format_raw(template, args, n_args, kinds) });
}

pub(super) fn entries() -> impl IntoIterator<Item = Entry> {
    entries! {
        "inkle_print" => print, unsafe extern "C" fn(*const c_char, *const u64, u32, *const u8);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Expectations are what C's printf prints.
    #[test]
    fn conversions_follow_c() {
        let cases: &[(&str, &[Arg], &str)] = &[
            ("%d %i\n", &[Arg::Int(-7), Arg::Int(42)], "-7 42\n"),
            ("%5d|%-5d|%05d|%+d|% d", &[Arg::Int(42); 5], "   42|42   |00042|+42| 42"),
            ("%.3d|%8.3d", &[Arg::Int(7), Arg::Int(-7)], "007|    -007"),
            ("%u %lu", &[Arg::Int(-1), Arg::Int(-1)], "4294967295 18446744073709551615"),
            ("%x %X %#x %o", &[Arg::Uint(255); 4], "ff FF 0xff 377"),
            (
                "%f %.2f %8.1f|%-8.1f|%08.2f",
                &[Arg::Float(-1.25); 5],
                "-1.250000 -1.25     -1.2|-1.2    |-0001.25",
            ),
            ("%e %.0e %E", &[Arg::Float(12345.678); 3], "1.234568e+04 1e+04 1.234568E+04"),
            (
                "%g %g %g %g",
                &[Arg::Float(0.0001), Arg::Float(1e-5), Arg::Float(1e6), Arg::Float(123456.0)],
                "0.0001 1e-05 1e+06 123456",
            ),
            ("%g %g %g", &[Arg::Float(0.1), Arg::Float(100000.0), Arg::Float(0.0)], "0.1 100000 0"),
            ("%#g %.3g", &[Arg::Float(1.0), Arg::Float(1234.5)], "1.00000 1.23e+03"),
            (
                "%f %5f %F %05f",
                &[
                    Arg::Float(f64::INFINITY),
                    Arg::Float(f64::NAN),
                    Arg::Float(f64::NEG_INFINITY),
                    Arg::Float(f64::INFINITY),
                ],
                "inf   nan -INF   inf",
            ),
            ("%c%c %%", &[Arg::Int(104), Arg::Int(105)], "hi %"),
            ("%a %.1a %a", &[Arg::Float(1.5), Arg::Float(1.97), Arg::Float(0.0)], "0x1.8p+0 0x2.0p+0 0x0p+0"),
            ("%*d %.*f", &[Arg::Int(4), Arg::Int(1), Arg::Int(1), Arg::Float(2.55)], "   1 2.5"),
            (
                "%lld %hd %zu",
                &[Arg::Int(i64::MIN), Arg::Int(3), Arg::Uint(u64::MAX)],
                "-9223372036854775808 3 18446744073709551615",
            ),
        ];
        for (template, args, want) in cases {
            assert_eq!(format(template, args.iter().copied()), *want, "{template}");
        }
    }

    #[test]
    fn odd_formats_do_no_harm() {
        assert_eq!(format("%d and %d", [Arg::Int(1)]), "1 and %d");
        assert_eq!(format("50% done %", []), "50% done %");
        assert_eq!(format("%y %", [Arg::Int(1)]), "%y %");
        assert_eq!(format("%d", [Arg::Float(2.75)]), "2");
        assert_eq!(format("%f", [Arg::Int(2)]), "2.000000");
        assert_eq!(format("%s %s", [Arg::Float(0.5), Arg::Int(-3)]), "0.5 -3");
        assert_eq!(format("%99999999999d", [Arg::Int(1)]).len(), MAX_FIELD);
        assert_eq!(format("naïve %é %d", [Arg::Int(1)]), "naïve %é 1");
    }

    #[test]
    fn the_sink_receives_text() {
        use std::sync::Arc;
        let seen = Arc::new(Mutex::new(String::new()));
        let copy = seen.clone();
        set_print_sink(Some(Box::new(move |text| copy.lock().unwrap().push_str(text))));
        let (args, kinds) = ([1u64, 2.5f64.to_bits()], [0u8, 2]);
        // SAFETY: a literal format and two arguments with their kinds.
        unsafe { print(c"%d %g\n".as_ptr(), args.as_ptr(), 2, kinds.as_ptr()) };
        set_print_sink(None);
        assert_eq!(*seen.lock().unwrap(), "1 2.5\n");
    }
}
