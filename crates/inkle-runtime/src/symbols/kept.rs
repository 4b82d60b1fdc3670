//! `<name>_lanes_kept`: functions over lanes after which all of the caller's registers are as they were, the vectors' too.
//!
//! Code that seldom calls them need not save anything around the call, where by C's rules it would lose all its vectors:
//! its usual way stays free of that, and the compiler is done sooner.

use super::Entry;
use super::lanes::{Unary, each};
use super::math::{cosf, sinf, tanf};

macro_rules! kept {
    ($($name:ident)*) => {
        [$({
            unsafe extern "C" fn over_lanes(x: *mut f32, n: u32) {
                // SAFETY: compiled code gives a vector of `n` elements in its own stack frame.
                unsafe { each(x, n, |x| $name(x)) }
            }
            #[cfg(target_arch = "x86_64")]
            #[unsafe(naked)]
            unsafe extern "C" fn keeping(_x: *mut f32, _n: u32) {
                core::arch::naked_asm!(
                    "push rax",
                    "lea rax, [rip + {function}]",
                    "jmp {call}",
                    function = sym over_lanes,
                    call = sym x86_64::call_and_restore,
                )
            }
            // Code for other processors calls by C's rules.
            #[cfg(not(target_arch = "x86_64"))]
            use over_lanes as keeping;
            (concat!("inkle_", stringify!($name), "_lanes_kept"), (keeping as Unary<f32>) as usize)
        }),*]
    };
}

pub(super) fn entries() -> impl IntoIterator<Item = Entry> {
    #[cfg(target_arch = "x86_64")]
    x86_64::prepare();
    kept! { sinf cosf tanf }
}

#[cfg(target_arch = "x86_64")]
mod x86_64 {
    use std::arch::x86_64::__cpuid_count;
    use std::sync::atomic::{AtomicU32, Ordering};

    /// The parts of a processor's state that are saved, as XSAVE counts them: vectors of 128, 256 and 512 bits, those of 512
    /// that have no shorter form, and masks. Of parts that the processor does not have nothing is saved.
    const PARTS: u32 = 0b1110_0110;

    /// The bytes that XSAVE writes for [`PARTS`]; 0 where there are vectors of 128 bits only.
    static AREA: AtomicU32 = AtomicU32::new(0);

    /// Finds out how much is to be saved. To be called before [`call_and_restore`].
    pub(super) fn prepare() {
        if is_x86_feature_detected!("xsave") && is_x86_feature_detected!("avx") {
            AREA.store(area(), Ordering::Relaxed);
        }
    }

    fn area() -> u32 {
        // The first two parts and the header; each other part says where it lies and how large it is.
        let part = |index| {
            let found = __cpuid_count(0xd, index);
            found.ebx + found.eax
        };
        (2..32).filter(|index| PARTS & (1 << index) != 0).map(part).fold(576, u32::max)
    }

    /// Calls the function in `rax` with the arguments in `rdi` and `rsi`, and gives back all registers; `rax` from the stack,
    /// below the return address.
    #[unsafe(naked)]
    pub(super) unsafe extern "C" fn call_and_restore() {
        core::arch::naked_asm!(
            "push rbp",
            "mov rbp, rsp",
            "push rcx",
            "push rdx",
            "push rsi",
            "push rdi",
            "push r8",
            "push r9",
            "push r10",
            "push r11",
            "mov r10, rax",
            "mov ecx, dword ptr [rip + {area}]",
            "test ecx, ecx",
            "jz 2f",
            "sub rsp, rcx",
            "and rsp, -64",
            // The header, of which XSAVE writes a part only.
            "xor eax, eax",
            "mov qword ptr [rsp + 512], rax",
            "mov qword ptr [rsp + 520], rax",
            "mov qword ptr [rsp + 528], rax",
            "mov qword ptr [rsp + 536], rax",
            "mov qword ptr [rsp + 544], rax",
            "mov qword ptr [rsp + 552], rax",
            "mov qword ptr [rsp + 560], rax",
            "mov qword ptr [rsp + 568], rax",
            "mov eax, {parts}",
            "xor edx, edx",
            "xsave64 [rsp]",
            // Code for short vectors is slow while long ones hold something.
            "vzeroupper",
            "call r10",
            "mov eax, {parts}",
            "xor edx, edx",
            "xrstor64 [rsp]",
            "jmp 3f",
            "2:",
            "sub rsp, 512",
            "and rsp, -64",
            "fxsave64 [rsp]",
            "call r10",
            "fxrstor64 [rsp]",
            "3:",
            "lea rsp, [rbp - 64]",
            "pop r11",
            "pop r10",
            "pop r9",
            "pop r8",
            "pop rdi",
            "pop rsi",
            "pop rdx",
            "pop rcx",
            "pop rbp",
            "pop rax",
            "ret",
            area = sym AREA,
            parts = const PARTS,
        )
    }

    #[cfg(test)]
    mod tests {
        use std::arch::asm;

        use super::super::super::resolve;
        use super::*;

        /// Registers as a caller may have them: general ones, vectors, masks.
        #[repr(C, align(64))]
        #[derive(Clone, PartialEq, Debug)]
        struct Registers {
            vectors: [[u64; 8]; 32],
            masks: [u64; 8],
            general: [u64; 9],
        }

        impl Registers {
            fn some() -> Registers {
                let mut next = 0x0123_4567_89ab_cdef_u64;
                let mut number = || {
                    next = next.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(23);
                    next
                };
                Registers {
                    vectors: std::array::from_fn(|_| std::array::from_fn(|_| number())),
                    // The processor may have masks of 16 bits only.
                    masks: std::array::from_fn(|_| number() & 0xffff),
                    general: std::array::from_fn(|_| number()),
                }
            }
        }

        /// Calls a function with these registers and gives what they are afterwards.
        macro_rules! call_with {
            ($function:ident, $x:ident, $registers:ident, [$($load:literal)*], [$($store:literal)*]) => {
                // SAFETY: `Registers` has the places that are read and written, and the function takes the vector at `rdi`.
                // All that changes is saved or named.
                unsafe {
                    asm!(
                        "push rbx",
                        "push rbp",
                        "mov rbx, {registers}",
                        "mov rbp, {function}",
                        $($load,)*
                        "mov rax, [rbx + 2112]",
                        "mov rcx, [rbx + 2120]",
                        "mov rdx, [rbx + 2128]",
                        "mov r8, [rbx + 2136]",
                        "mov r9, [rbx + 2144]",
                        "mov r10, [rbx + 2152]",
                        "mov r11, [rbx + 2160]",
                        "mov r12, rsp",
                        "and rsp, -16",
                        "call rbp",
                        "mov rsp, r12",
                        $($store,)*
                        "mov [rbx + 2112], rax",
                        "mov [rbx + 2120], rcx",
                        "mov [rbx + 2128], rdx",
                        "mov [rbx + 2136], r8",
                        "mov [rbx + 2144], r9",
                        "mov [rbx + 2152], r10",
                        "mov [rbx + 2160], r11",
                        "mov [rbx + 2168], rdi",
                        "mov [rbx + 2176], rsi",
                        "pop rbp",
                        "pop rbx",
                        registers = in(reg) &raw mut $registers,
                        function = in(reg) $function,
                        inout("rdi") $x.as_mut_ptr() => _,
                        inout("rsi") 3u64 => _,
                        out("r12") _,
                        clobber_abi("C"),
                    );
                }
            };
        }

        fn check(call: impl Fn(usize, &mut [f32; 3], &mut Registers)) {
            for (name, f) in [("sinf", f32::sin as fn(f32) -> f32), ("cosf", f32::cos), ("tanf", f32::tan)] {
                let function = resolve(&format!("inkle_{name}_lanes_kept")).expect("the function is there");
                let mut x = [0.5, -2e6, 3e30];
                let mut registers = Registers::some();
                registers.general[7] = x.as_ptr() as u64;
                registers.general[8] = 3;
                let before = registers.clone();
                let angles = x;
                call(function, &mut x, &mut registers);
                assert_eq!(registers, before, "{name}");
                for (angle, got) in angles.into_iter().zip(x) {
                    let want = f(angle);
                    assert!((got - want).abs() <= 1e-5 * want.abs().max(1.0), "{name}({angle}) is {got}");
                }
            }
        }

        #[test]
        fn all_registers_are_kept() {
            prepare();
            if is_x86_feature_detected!("avx512f") {
                check(with_all);
            } else {
                println!("skipped: this processor has no vectors of 512 bits");
            }
            // As on a processor that has only these.
            let area = AREA.swap(0, Ordering::Relaxed);
            check(with_short);
            AREA.store(area, Ordering::Relaxed);
        }

        #[rustfmt::skip]
        #[target_feature(enable = "avx512f")]
        fn with_all_inner(function: usize, x: &mut [f32; 3], mut registers: Registers) -> Registers {
            call_with!(function, x, registers, [
                "vmovups zmm0, [rbx]" "vmovups zmm1, [rbx + 64]" "vmovups zmm7, [rbx + 448]"
                "vmovups zmm8, [rbx + 512]" "vmovups zmm15, [rbx + 960]" "vmovups zmm16, [rbx + 1024]"
                "vmovups zmm23, [rbx + 1472]" "vmovups zmm31, [rbx + 1984]"
                "kmovw k1, [rbx + 2056]" "kmovw k4, [rbx + 2080]" "kmovw k7, [rbx + 2104]"
            ], [
                "vmovups [rbx], zmm0" "vmovups [rbx + 64], zmm1" "vmovups [rbx + 448], zmm7"
                "vmovups [rbx + 512], zmm8" "vmovups [rbx + 960], zmm15" "vmovups [rbx + 1024], zmm16"
                "vmovups [rbx + 1472], zmm23" "vmovups [rbx + 1984], zmm31"
                "kmovw [rbx + 2056], k1" "kmovw [rbx + 2080], k4" "kmovw [rbx + 2104], k7"
            ]);
            registers
        }

        fn with_all(function: usize, x: &mut [f32; 3], registers: &mut Registers) {
            // SAFETY: the caller has found out that the processor can.
            *registers = unsafe { with_all_inner(function, x, registers.clone()) };
        }

        #[rustfmt::skip]
        fn with_short(function: usize, x: &mut [f32; 3], registers: &mut Registers) {
            let mut short = registers.clone();
            call_with!(function, x, short, [
                "movups xmm0, [rbx]" "movups xmm1, [rbx + 64]" "movups xmm7, [rbx + 448]"
                "movups xmm8, [rbx + 512]" "movups xmm15, [rbx + 960]"
            ], [
                "movups [rbx], xmm0" "movups [rbx + 64], xmm1" "movups [rbx + 448], xmm7"
                "movups [rbx + 512], xmm8" "movups [rbx + 960], xmm15"
            ]);
            *registers = short;
        }
    }
}
