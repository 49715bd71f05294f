//! The upper halves of the vector registers, beyond 128 bits.
//!
//! Where they may not be zero, each instruction of the older encodings that writes a register has to keep its upper half, and so waits for
//! whatever wrote the register before. Scalar code from Cranelift spills and restores with such instructions: a loop with more state than
//! there are registers takes three times as long. Whoever called may have left something there.

/// Makes them zero, where there are any: before scalar code is called.
#[inline]
pub(crate) fn clear() {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx") {
        // SAFETY: the processor has the instruction, and the compiler is told that it changes registers.
        unsafe {
            std::arch::asm!(
                "vzeroupper",
                clobber_abi("C"),
                options(nostack, nomem, preserves_flags)
            );
        }
    }
}
