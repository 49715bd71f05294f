//! Instruction sets of vector code.

use std::str::FromStr;
use std::sync::OnceLock;

/// The instruction set that a body is compiled for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Isa {
    /// 128-bit vectors by Cranelift, on every machine.
    Portable,
    /// 256-bit vectors: AVX2 with FMA, F16C, BMI2 and LZCNT.
    Avx2,
    /// 512-bit vectors: AVX-512 F, CD, BW, DQ and VL.
    Avx512,
}

impl Isa {
    /// The widest that this machine has and the environment variable `JAXIDE_ISA` allows, if it names one.
    pub fn detect() -> Isa {
        static DETECTED: OnceLock<Isa> = OnceLock::new();
        *DETECTED.get_or_init(|| {
            let available = Isa::available().into_iter();
            let allowed = available.filter(|&isa| isa <= Isa::allowed());
            allowed.max().unwrap_or(Isa::Portable)
        })
    }

    /// The widest that the environment allows, whether this machine has it or not.
    pub(crate) fn allowed() -> Isa {
        let named = std::env::var("JAXIDE_ISA").ok();
        named
            .and_then(|name| name.parse().ok())
            .unwrap_or(Isa::Avx512)
    }

    /// Those that this machine has, the widest last.
    pub fn available() -> Vec<Isa> {
        let mut available = vec![Isa::Portable];
        if wide::has_avx2() {
            available.push(Isa::Avx2);
        }
        if wide::has_avx512() {
            available.push(Isa::Avx512);
        }
        available
    }

    /// Whether this machine counts the bits of each element of a vector of 512 bits.
    pub(crate) fn counts_bits() -> bool {
        wide::counts_bits()
    }

    /// Whether this machine computes with binary16.
    pub(crate) fn computes_halves() -> bool {
        wide::computes_halves()
    }

    /// The name: `portable`, `avx2` or `avx512`.
    pub fn name(self) -> &'static str {
        match self {
            Isa::Portable => "portable",
            Isa::Avx2 => "avx2",
            Isa::Avx512 => "avx512",
        }
    }
}

impl FromStr for Isa {
    type Err = String;

    fn from_str(name: &str) -> Result<Isa, String> {
        match name {
            "portable" => Ok(Isa::Portable),
            "avx2" => Ok(Isa::Avx2),
            "avx512" => Ok(Isa::Avx512),
            _ => Err(format!(
                "unknown instruction set {name}: portable, avx2, avx512"
            )),
        }
    }
}

#[cfg(all(target_arch = "x86_64", unix))]
mod wide {
    use std::arch::is_x86_feature_detected as has;

    pub(super) fn has_avx2() -> bool {
        has!("avx2")
            && has!("fma")
            && has!("f16c")
            && has!("bmi2")
            && has!("lzcnt")
            && has!("popcnt")
    }

    pub(super) fn has_avx512() -> bool {
        has!("avx512f")
            && has!("avx512cd")
            && has!("avx512bw")
            && has!("avx512dq")
            && has!("avx512vl")
            && has!("bmi2")
    }

    pub(super) fn counts_bits() -> bool {
        has!("avx512vpopcntdq")
    }

    pub(super) fn computes_halves() -> bool {
        has!("avx512fp16")
    }
}

/// The wide emitters use the System V calling convention.
#[cfg(not(all(target_arch = "x86_64", unix)))]
mod wide {
    pub(super) fn has_avx2() -> bool {
        false
    }

    pub(super) fn has_avx512() -> bool {
        false
    }

    pub(super) fn counts_bits() -> bool {
        false
    }

    pub(super) fn computes_halves() -> bool {
        false
    }
}
