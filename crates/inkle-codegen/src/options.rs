//! What a caller can choose about generated code.

use inkle_diag::Span;
use inkle_ir::{Module, Type, Value};

/// How many threads of a launch one pass of the code handles: on CPUs in one vector, on GPUs in one hardware thread.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Lanes {
    /// As many as the CPU's vectors or a GPU's 16-byte accesses hold, or one where lanes do not pay or are not possible.
    #[default]
    Auto,
    /// Exactly this many: 1, 2, 4, 8, 16 or 32. One when the kernel does not allow more.
    Fixed(u32),
}

/// Which forms of a kernel that updates memory atomically the code has, where the one with plain updates can always be run.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Forms {
    /// All that there are.
    #[default]
    All,
    /// The one with plain updates, for a thread that runs alone or adds to copies.
    Alone,
    /// The other, for what runs beside others that update memory.
    Beside,
}

/// Choices that change the code; all of them are part of [`Options::key`].
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Options {
    /// 0 (quick to compile, slow to run) to 3.
    pub optimization_level: u8,
    /// Allows reassociation, reciprocals and approximate functions, and assumes no NaN or infinity.
    pub fast_math: bool,
    /// Allows a multiplication and an addition to become one fused operation.
    pub fuse_fp: bool,
    /// Stops a kernel with a report at an index out of bounds, a failed `assert`, an integer division by zero or a
    /// range with step zero.
    pub checks: bool,
    /// Reports what is written and is not finite; with `checks` that stops the kernel.
    pub verify_fp: bool,
    /// CPU: functions of f32 are computed in f64 and rounded once. Slow: they are not computed for all lanes at once.
    pub precise_math: bool,
    /// CPU: a kernel whose result depends on the order of its atomic updates runs its threads in order, on one thread of the
    /// machine.
    pub deterministic: bool,
    /// CPU: the forms of the code.
    pub forms: Forms,
    /// Source lines in the code, for profilers.
    pub lineinfo: bool,
    /// Lane width. On GPUs more than one needs [`Options::aligned`].
    pub lanes: Lanes,
    /// Bit i: parameter i is an array whose innermost stride is the element size.
    pub contiguous: u64,
    /// GPU: the data and the gradients of every parameter that is an array start at a multiple of 16 bytes, or
    /// are null. Of the first 64 parameters; others, and arrays inside structs, may start anywhere.
    pub aligned: bool,
    /// GPU: each thread handles indices a whole grid apart, so that a grid smaller than the launch is enough.
    pub grid_stride: bool,
    /// GPU: the most registers per thread.
    pub max_registers: Option<u32>,
    /// GPU: the most threads per block, and the fewest blocks per multiprocessor.
    pub launch_bounds: Option<(u32, Option<u32>)>,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            optimization_level: 2,
            fast_math: false,
            fuse_fp: true,
            checks: false,
            verify_fp: false,
            precise_math: false,
            deterministic: false,
            forms: Forms::All,
            lineinfo: false,
            lanes: Lanes::Auto,
            contiguous: 0,
            aligned: false,
            grid_stride: false,
            max_registers: None,
            launch_bounds: None,
        }
    }
}

impl Options {
    /// Whether the code depends on the places in the source that operations have, beyond what they do.
    pub fn uses_places(&self) -> bool {
        self.checks || self.verify_fp || self.lineinfo
    }

    /// These choices less those that make no difference to the code for a CPU or a GPU of a module of which
    /// [`computes_in_floats`] holds or not: what differs in nothing else need not be compiled again.
    pub fn effective(&self, floats: bool, on_gpu: bool) -> Options {
        let mut options = self.clone();
        let unchosen = Options::default();
        if on_gpu {
            options.precise_math = unchosen.precise_math;
            options.deterministic = unchosen.deterministic;
            options.forms = unchosen.forms;
        } else {
            options.aligned = unchosen.aligned;
            options.grid_stride = unchosen.grid_stride;
            options.max_registers = unchosen.max_registers;
            options.launch_bounds = unchosen.launch_bounds;
        }
        if !floats {
            options.fast_math = unchosen.fast_math;
            options.fuse_fp = unchosen.fuse_fp;
            options.verify_fp = unchosen.verify_fp;
            options.precise_math = unchosen.precise_math;
        }
        options
    }

    /// A stable text of all choices, for cache keys.
    pub fn key(&self) -> String {
        let lanes = match self.lanes {
            Lanes::Auto => "auto".to_owned(),
            Lanes::Fixed(n) => n.to_string(),
        };
        let (max_threads, min_blocks) = match self.launch_bounds {
            Some((threads, blocks)) => (threads, blocks.unwrap_or(0)),
            None => (0, 0),
        };
        let forms = match self.forms {
            Forms::All => "all",
            Forms::Alone => "alone",
            Forms::Beside => "beside",
        };
        format!(
            "o{} fast{} fuse{} checks{} verify{} precise{} det{} forms={forms} line{} lanes={lanes} contiguous={:x} aligned{} stride{} regs={} bounds={max_threads},{min_blocks}",
            self.optimization_level,
            u8::from(self.fast_math),
            u8::from(self.fuse_fp),
            u8::from(self.checks),
            u8::from(self.verify_fp),
            u8::from(self.precise_math),
            u8::from(self.deterministic),
            u8::from(self.lineinfo),
            self.contiguous,
            u8::from(self.aligned),
            u8::from(self.grid_stride),
            self.max_registers.unwrap_or(0),
        )
    }
}

/// Whether any value is, or holds, a floating-point number; arrays of them and references to them do not count.
pub fn computes_in_floats(module: &Module) -> bool {
    let holds = |ty: Type| match ty.scalar() {
        Some(scalar) => scalar.is_float(),
        None => ty.as_struct().is_some(),
    };
    // What C++ computes in only clang sees.
    module.has_native()
        || module.functions.iter().any(|f| (0..f.value_count()).any(|i| holds(f.ty(Value::new(i)))))
}

impl Options {
    /// The options whose [`key`](Options::key) is `text`; `None` if it is nobody's.
    pub fn from_key(text: &str) -> Option<Options> {
        let mut options = Options::default();
        let flag = |text: &str| match text {
            "0" => Some(false),
            "1" => Some(true),
            _ => None,
        };
        for part in text.split(' ') {
            let end = part.find(|c: char| !c.is_ascii_lowercase()).unwrap_or(part.len());
            let (name, value) = part.split_at(end);
            match name {
                "o" => options.optimization_level = value.parse().ok()?,
                "fast" => options.fast_math = flag(value)?,
                "fuse" => options.fuse_fp = flag(value)?,
                "checks" => options.checks = flag(value)?,
                "verify" => options.verify_fp = flag(value)?,
                "precise" => options.precise_math = flag(value)?,
                "det" => options.deterministic = flag(value)?,
                "forms" => {
                    options.forms = match value.strip_prefix('=')? {
                        "all" => Forms::All,
                        "alone" => Forms::Alone,
                        "beside" => Forms::Beside,
                        _ => return None,
                    }
                }
                "line" => options.lineinfo = flag(value)?,
                "lanes" if value == "=auto" => options.lanes = Lanes::Auto,
                "lanes" => options.lanes = Lanes::Fixed(value.strip_prefix('=')?.parse().ok()?),
                "contiguous" => {
                    options.contiguous = u64::from_str_radix(value.strip_prefix('=')?, 16).ok()?
                }
                "aligned" => options.aligned = flag(value)?,
                "stride" => options.grid_stride = flag(value)?,
                "regs" => {
                    let count: u32 = value.strip_prefix('=')?.parse().ok()?;
                    options.max_registers = (count > 0).then_some(count);
                }
                "bounds" => {
                    let (threads, blocks) = value.strip_prefix('=')?.split_once(',')?;
                    let (threads, blocks): (u32, u32) = (threads.parse().ok()?, blocks.parse().ok()?);
                    options.launch_bounds =
                        (threads > 0).then_some((threads, (blocks > 0).then_some(blocks)));
                }
                _ => return None,
            }
        }
        // Nothing may have been left out, and the text must be the one that `key` writes.
        (options.key() == text).then_some(options)
    }
}

/// Why a kernel, or a part of it, has one lane although more were possible or asked for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ScalarReason {
    /// The operation that does not allow more.
    pub span: Span,
    /// Why, for a person.
    pub message: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_choice_changes_the_key() {
        let base = Options::default();
        let variants = [
            Options { optimization_level: 0, ..base.clone() },
            Options { fast_math: true, ..base.clone() },
            Options { fuse_fp: false, ..base.clone() },
            Options { checks: true, ..base.clone() },
            Options { verify_fp: true, ..base.clone() },
            Options { precise_math: true, ..base.clone() },
            Options { deterministic: true, ..base.clone() },
            Options { forms: Forms::Alone, ..base.clone() },
            Options { forms: Forms::Beside, ..base.clone() },
            Options { lineinfo: true, ..base.clone() },
            Options { lanes: Lanes::Fixed(1), ..base.clone() },
            Options { contiguous: 1, ..base.clone() },
            Options { aligned: true, ..base.clone() },
            Options { grid_stride: true, ..base.clone() },
            Options { max_registers: Some(32), ..base.clone() },
            Options { launch_bounds: Some((128, None)), ..base.clone() },
            Options { launch_bounds: Some((128, Some(2))), ..base.clone() },
        ];
        for options in variants.iter().chain([&base]) {
            assert_eq!(Options::from_key(&options.key()).as_ref(), Some(options));
        }
        for wrong in ["", "o2", "o2 fast7", &base.key()[1..], &format!("{} more1", base.key())] {
            assert_eq!(Options::from_key(wrong), None, "{wrong}");
        }
        let mut keys: Vec<String> = variants.iter().map(Options::key).collect();
        keys.push(base.key());
        let count = keys.len();
        keys.sort();
        keys.dedup();
        assert_eq!(keys.len(), count);
    }

    fn module(text: &str) -> Module {
        inkle_ir::parse(text).expect("valid text")
    }

    #[test]
    fn choices_that_make_no_difference_are_left_out() {
        let chosen = Options {
            fast_math: true,
            fuse_fp: false,
            max_registers: Some(32),
            launch_bounds: Some((128, None)),
            grid_stride: true,
            aligned: true,
            ..Options::default()
        };
        let ints = module("kernel @k(%a: array<i32, 1>) {\n return\n}");
        let floats = module("kernel @k(%x: f32) {\n return\n}");
        let (cpu, gpu) = (false, true);
        assert_eq!(chosen.effective(computes_in_floats(&ints), cpu), Options::default());
        assert_eq!(chosen.effective(computes_in_floats(&floats), gpu), chosen);
        let math = Options { fast_math: true, fuse_fp: false, ..Options::default() };
        assert_eq!(chosen.effective(computes_in_floats(&floats), cpu), math);
        let grid = Options { fast_math: false, fuse_fp: true, ..chosen.clone() };
        assert_eq!(chosen.effective(computes_in_floats(&ints), gpu), grid);
    }
}
