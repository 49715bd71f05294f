//! Whether a thread's arithmetic takes subnormal numbers for zero: a setting of the processor.
//!
//! Many processors take hundreds of cycles for an instruction that reads or makes a subnormal number, or that rounds one to zero. Generated
//! code has no check for it; the processor can be told to treat them as zeros.

/// The state of the processor's register that holds the setting.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct FloatMode(Control);

#[cfg(target_arch = "x86_64")]
type Control = u32;
#[cfg(target_arch = "aarch64")]
type Control = u64;
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
type Control = ();

impl FloatMode {
    /// That of the thread.
    pub(crate) fn current() -> FloatMode {
        #[cfg(target_arch = "x86_64")]
        {
            let mut control = 0u32;
            // SAFETY: stores four bytes where a number of four bytes is.
            unsafe {
                std::arch::asm!("stmxcsr [{}]", in(reg) &raw mut control, options(nostack, preserves_flags));
            }
            // The flags of what has happened are no part of the setting.
            FloatMode(control & !0x3f)
        }
        #[cfg(target_arch = "aarch64")]
        {
            let control: u64;
            // SAFETY: reads a register.
            unsafe {
                std::arch::asm!("mrs {}, fpcr", out(reg) control, options(nomem, nostack, preserves_flags));
            }
            FloatMode(control)
        }
        #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
        FloatMode(())
    }

    /// The same, with subnormal operands and results taken for zero; on machines without such a setting the same.
    pub(crate) fn flushing(self) -> FloatMode {
        #[cfg(target_arch = "x86_64")]
        return FloatMode(self.0 | 1 << 15 | 1 << 6);
        #[cfg(target_arch = "aarch64")]
        return FloatMode(self.0 | 1 << 24);
        #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
        self
    }

    /// The same, with subnormal numbers as IEEE 754 has them.
    pub(crate) fn keeping(self) -> FloatMode {
        #[cfg(target_arch = "x86_64")]
        return FloatMode(self.0 & !(1 << 15 | 1 << 6));
        #[cfg(target_arch = "aarch64")]
        return FloatMode(self.0 & !(1 << 24));
        #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
        self
    }

    fn set(self) {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: the register gets what it held, but for the two bits that say how subnormal numbers are taken. What is compiled from Rust
        // assumes that they are zero: that an expression of numbers has the value that the compiler may have found for it. So only the value
        // of a result can change, to what this setting is there for; no address, length or branch on which memory safety rests hangs on
        // a subnormal number.
        unsafe {
            std::arch::asm!("ldmxcsr [{}]", in(reg) &raw const self.0, options(nostack, preserves_flags));
        }
        #[cfg(target_arch = "aarch64")]
        // SAFETY: as above.
        unsafe {
            std::arch::asm!("msr fpcr, {}", in(reg) self.0, options(nomem, nostack, preserves_flags));
        }
    }

    /// Runs `f` with this setting of the thread, and puts back what was.
    pub(crate) fn during<R>(self, f: impl FnOnce() -> R) -> R {
        struct Restored(FloatMode);
        impl Drop for Restored {
            fn drop(&mut self) {
                self.0.set();
            }
        }
        let before = FloatMode::current();
        if before == self {
            return f();
        }
        let _restored = Restored(before);
        self.set();
        f()
    }
}
