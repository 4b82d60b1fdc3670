//! The options of modules: their names, what they may be, and what is wrong with a value that is not.
//!
//! Every option is a setting of the whole process too; a kernel's own options win over its module's, and those over the
//! process's.

use std::fmt;

/// The value of an option as a caller gives it.
#[derive(Clone, PartialEq, Debug)]
pub enum OptionValue {
    /// Nothing: what is less specific decides.
    None,
    /// A truth value.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// A text.
    Text(String),
    /// Anything else, as the caller's language shows it.
    Other(String),
}

impl fmt::Display for OptionValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OptionValue::None => f.write_str("None"),
            OptionValue::Bool(true) => f.write_str("True"),
            OptionValue::Bool(false) => f.write_str("False"),
            OptionValue::Int(i) => i.fmt(f),
            OptionValue::Text(text) => write!(f, "'{text}'"),
            OptionValue::Other(shown) => f.write_str(shown),
        }
    }
}

/// What an option may be, besides `None`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Domain {
    Bool,
    Int(i64, i64),
    OneOf(&'static [&'static str]),
    Text,
    Anything,
}

/// One option of modules.
#[derive(Clone, Copy, Debug)]
pub struct ModuleOption {
    /// The name.
    pub name: &'static str,
    /// Whether a module takes the process's setting over when it is made, and shows it as its own.
    pub captured: bool,
    domain: Domain,
}

const fn option(name: &'static str, domain: Domain) -> ModuleOption {
    ModuleOption { name, captured: false, domain }
}

const fn captured(name: &'static str, domain: Domain) -> ModuleOption {
    ModuleOption { name, captured: true, domain }
}

/// Every option, in the order in which they are shown.
pub const MODULE_OPTIONS: &[ModuleOption] = &[
    captured("max_unroll", Domain::Int(0, u32::MAX as i64)),
    captured("enable_backward", Domain::Bool),
    option("enable_mathdx_gemm", Domain::Bool),
    option("enable_mathdx_solver", Domain::Bool),
    option("enable_mathdx_fft", Domain::Bool),
    captured("fast_math", Domain::Bool),
    captured("fuse_fp", Domain::Bool),
    option("precise_math", Domain::Bool),
    captured("lineinfo", Domain::Bool),
    option("cuda_output", Domain::OneOf(&["ptx", "cubin"])),
    option("mode", Domain::OneOf(&["release", "debug"])),
    option("verify_fp", Domain::Bool),
    option("optimization_level", Domain::Int(0, 3)),
    option("cpu_compiler_flags", Domain::Text),
    captured("block_dim", Domain::Int(1, 1024)),
    captured("compile_time_trace", Domain::Bool),
    captured("strip_hash", Domain::Bool),
    captured("deterministic", Domain::Anything),
    captured("deterministic_max_records", Domain::Int(0, i64::MAX)),
    option("default_grid_stride", Domain::Bool),
    option("extra_build_options", Domain::Anything),
];

/// What is wrong with an option.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum OptionError {
    /// There is no option of the name.
    Unknown {
        /// The name.
        name: String,
    },
    /// The option cannot be that.
    Value {
        /// The name.
        name: &'static str,
        /// The value, as shown to people.
        given: String,
        /// What it may be.
        expected: String,
    },
}

impl fmt::Display for OptionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OptionError::Unknown { name } => {
                let mut names: Vec<_> = MODULE_OPTIONS.iter().map(|o| o.name).collect();
                names.sort_unstable();
                write!(f, "`{name}` is no module option; the options are {}", names.join(", "))
            }
            OptionError::Value { name, given, expected } => {
                write!(f, "the option `{name}` is {expected}, not {given}")
            }
        }
    }
}

impl std::error::Error for OptionError {}

impl ModuleOption {
    /// The option of a name.
    ///
    /// # Errors
    /// [`OptionError::Unknown`], which lists the known ones.
    pub fn of(name: &str) -> Result<&'static ModuleOption, OptionError> {
        let found = MODULE_OPTIONS.iter().find(|o| o.name == name);
        found.ok_or_else(|| OptionError::Unknown { name: name.to_owned() })
    }

    /// Checks a value for this option. `None` is allowed everywhere.
    ///
    /// # Errors
    /// [`OptionError::Value`].
    pub fn check(&self, value: &OptionValue) -> Result<(), OptionError> {
        let fits = match (self.domain, value) {
            (_, OptionValue::None) | (Domain::Anything, _) => true,
            (Domain::Bool, OptionValue::Bool(_) | OptionValue::Int(0 | 1)) => true,
            (Domain::Int(low, high), OptionValue::Int(i)) => (low..=high).contains(i),
            (Domain::OneOf(names), OptionValue::Text(text)) => names.contains(&text.as_str()),
            (Domain::Text, OptionValue::Text(_)) => true,
            _ => false,
        };
        if fits {
            return Ok(());
        }
        let expected = match self.domain {
            Domain::Bool => "True or False".to_owned(),
            Domain::Int(low, i64::MAX) => format!("a whole number of at least {low}"),
            Domain::Int(low, high) => format!("a whole number from {low} to {high}"),
            Domain::OneOf(names) => names.iter().map(|n| format!("'{n}'")).collect::<Vec<_>>().join(" or "),
            Domain::Text => "a text".to_owned(),
            Domain::Anything => "anything".to_owned(),
        };
        Err(OptionError::Value { name: self.name, given: value.to_string(), expected })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(name: &str, value: OptionValue) -> String {
        ModuleOption::of(name).unwrap().check(&value).unwrap_err().to_string()
    }

    #[test]
    fn unknown_options_are_told_the_known_ones() {
        let text = ModuleOption::of("fast_maths").unwrap_err().to_string();
        assert!(text.starts_with("`fast_maths` is no module option; the options are block_dim, "), "{text}");
        assert!(MODULE_OPTIONS.iter().all(|o| text.contains(o.name)), "{text}");
    }

    #[test]
    fn values_out_of_range_are_told_the_range() {
        assert_eq!(
            error("optimization_level", OptionValue::Int(4)),
            "the option `optimization_level` is a whole number from 0 to 3, not 4"
        );
        assert_eq!(
            error("mode", OptionValue::Text("fast".into())),
            "the option `mode` is 'release' or 'debug', not 'fast'"
        );
        assert_eq!(
            error("fuse_fp", OptionValue::Text("yes".into())),
            "the option `fuse_fp` is True or False, not 'yes'"
        );
        assert_eq!(
            error("block_dim", OptionValue::Bool(true)),
            "the option `block_dim` is a whole number from 1 to 1024, not True"
        );
    }

    #[test]
    fn every_option_can_be_left_to_others() {
        assert!(MODULE_OPTIONS.iter().all(|o| o.check(&OptionValue::None).is_ok()));
        assert!(ModuleOption::of("optimization_level").unwrap().check(&OptionValue::Int(0)).is_ok());
    }
}
