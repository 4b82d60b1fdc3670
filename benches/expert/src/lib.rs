//! What an expert would write by hand for the kernels of `benches/kernels.py`: AVX-512 and threads, as a C library.
//!
//! Each function takes numbers of elements and addresses that the caller vouches for, as C does, and returns when all
//! is done. Work is cut into pieces that rayon's threads share. Nothing here is part of inkle.

#[cfg(target_arch = "x86_64")]
mod bandwidth;
#[cfg(target_arch = "x86_64")]
mod histogram;
#[cfg(target_arch = "x86_64")]
mod lanes;
#[cfg(target_arch = "x86_64")]
mod mandelbrot;
#[cfg(target_arch = "x86_64")]
mod map;
#[cfg(target_arch = "x86_64")]
mod nbody;
#[cfg(target_arch = "x86_64")]
mod search;
#[cfg(target_arch = "x86_64")]
mod stencil;

/// Whether this machine has the instructions that everything else here needs.
#[unsafe(no_mangle)]
pub extern "C" fn expert_available() -> bool {
    #[cfg(target_arch = "x86_64")]
    {
        is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512dq")
            && is_x86_feature_detected!("avx512vl")
    }
    #[cfg(not(target_arch = "x86_64"))]
    false
}
