//! The functions that CPU code expects of the runtime.

/// The C type of a runtime function.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Signature {
    /// `float f(float)`
    F32,
    /// `float f(float, float)`
    F32F32,
    /// `double f(double)`
    F64,
    /// `double f(double, double)`
    F64F64,
    /// `void f(float* x, uint32_t n)`: `x[i] = f(x[i])`
    F32Lanes,
    /// `void f(float* x, const float* y, uint32_t n)`: `x[i] = f(x[i], y[i])`
    F32F32Lanes,
    /// `void f(double* x, uint32_t n)`
    F64Lanes,
    /// `void f(double* x, const double* y, uint32_t n)`
    F64F64Lanes,
    /// `void f(const char* format, const uint64_t* args, uint32_t n_args, const uint8_t* kinds)`; a kind is 0 for
    /// a signed integer, 1 for an unsigned integer or bool, 2 for the bits of a double. Returns.
    Print,
    /// `void* f(void*, const void*, size_t)` and alike: what LLVM may call for copies and fills.
    Memory,
}

/// A function that CPU code may call; the loader resolves it by name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RuntimeSymbol {
    /// The name in the object file.
    pub name: &'static str,
    /// How it is called.
    pub signature: Signature,
}

macro_rules! table {
    ($($name:literal $signature:ident,)*) => {
        &[$(RuntimeSymbol { name: $name, signature: Signature::$signature },)*]
    };
}

/// Every symbol that a CPU object may leave undefined.
pub fn runtime_symbols() -> &'static [RuntimeSymbol] {
    table! {
        "inkle_sinf" F32, "inkle_cosf" F32, "inkle_tanf" F32,
        "inkle_asinf" F32, "inkle_acosf" F32, "inkle_atanf" F32,
        "inkle_sinhf" F32, "inkle_coshf" F32, "inkle_tanhf" F32,
        "inkle_expf" F32, "inkle_exp2f" F32,
        "inkle_logf" F32, "inkle_log2f" F32, "inkle_log10f" F32,
        "inkle_cbrtf" F32,
        "inkle_erff" F32, "inkle_erfcf" F32, "inkle_erfinvf" F32, "inkle_erfcinvf" F32,
        "inkle_powf" F32F32, "inkle_atan2f" F32F32, "inkle_fmodf" F32F32,
        "inkle_sin" F64, "inkle_cos" F64, "inkle_tan" F64,
        "inkle_asin" F64, "inkle_acos" F64, "inkle_atan" F64,
        "inkle_sinh" F64, "inkle_cosh" F64, "inkle_tanh" F64,
        "inkle_exp" F64, "inkle_exp2" F64,
        "inkle_log" F64, "inkle_log2" F64, "inkle_log10" F64,
        "inkle_cbrt" F64,
        "inkle_erf" F64, "inkle_erfc" F64, "inkle_erfinv" F64, "inkle_erfcinv" F64,
        "inkle_pow" F64F64, "inkle_atan2" F64F64, "inkle_fmod" F64F64,
        "inkle_sinf_lanes" F32Lanes, "inkle_cosf_lanes" F32Lanes, "inkle_tanf_lanes" F32Lanes,
        "inkle_asinf_lanes" F32Lanes, "inkle_acosf_lanes" F32Lanes, "inkle_atanf_lanes" F32Lanes,
        "inkle_sinhf_lanes" F32Lanes, "inkle_coshf_lanes" F32Lanes, "inkle_tanhf_lanes" F32Lanes,
        "inkle_expf_lanes" F32Lanes, "inkle_exp2f_lanes" F32Lanes,
        "inkle_logf_lanes" F32Lanes, "inkle_log2f_lanes" F32Lanes, "inkle_log10f_lanes" F32Lanes,
        "inkle_cbrtf_lanes" F32Lanes,
        "inkle_erff_lanes" F32Lanes, "inkle_erfcf_lanes" F32Lanes, "inkle_erfinvf_lanes" F32Lanes, "inkle_erfcinvf_lanes" F32Lanes,
        "inkle_powf_lanes" F32F32Lanes, "inkle_atan2f_lanes" F32F32Lanes, "inkle_fmodf_lanes" F32F32Lanes,
        "inkle_sin_lanes" F64Lanes, "inkle_cos_lanes" F64Lanes, "inkle_tan_lanes" F64Lanes,
        "inkle_asin_lanes" F64Lanes, "inkle_acos_lanes" F64Lanes, "inkle_atan_lanes" F64Lanes,
        "inkle_sinh_lanes" F64Lanes, "inkle_cosh_lanes" F64Lanes, "inkle_tanh_lanes" F64Lanes,
        "inkle_exp_lanes" F64Lanes, "inkle_exp2_lanes" F64Lanes,
        "inkle_log_lanes" F64Lanes, "inkle_log2_lanes" F64Lanes, "inkle_log10_lanes" F64Lanes,
        "inkle_cbrt_lanes" F64Lanes,
        "inkle_erf_lanes" F64Lanes, "inkle_erfc_lanes" F64Lanes, "inkle_erfinv_lanes" F64Lanes, "inkle_erfcinv_lanes" F64Lanes,
        "inkle_pow_lanes" F64F64Lanes, "inkle_atan2_lanes" F64F64Lanes, "inkle_fmod_lanes" F64F64Lanes,
        "inkle_sinf_lanes_kept" F32Lanes, "inkle_cosf_lanes_kept" F32Lanes, "inkle_tanf_lanes_kept" F32Lanes,
        "inkle_print" Print, "inkle_fail" Print, "inkle_warn" Print,
        "memcpy" Memory, "memmove" Memory, "memset" Memory,
    }
}
