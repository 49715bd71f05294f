//! Machines and processors that objects are made for.

use super::ObjectOptions;
use crate::codegen::lanes::Vectors;
use crate::codegen::module::tune;
use crate::isa::Isa;
use cranelift_codegen::isa::{self, OwnedTargetIsa};
use cranelift_codegen::settings::{self, Configurable};
use jaxide_core::{Error, Result};
use std::fmt;
use std::str::FromStr;

/// A machine with a system: what code is linked and called as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Target {
    /// x86-64 with Linux.
    X86_64Linux,
    /// AArch64 with Linux.
    Aarch64Linux,
}

impl Target {
    /// All of them.
    pub const ALL: [Target; 2] = [Target::X86_64Linux, Target::Aarch64Linux];

    /// That of this process, or of the processor's family where its system is another.
    pub fn host() -> Target {
        if cfg!(target_arch = "aarch64") {
            Target::Aarch64Linux
        } else {
            Target::X86_64Linux
        }
    }

    /// The triple that compilers know.
    pub fn triple(self) -> &'static str {
        match self {
            Target::X86_64Linux => "x86_64-unknown-linux-gnu",
            Target::Aarch64Linux => "aarch64-unknown-linux-gnu",
        }
    }

    /// The processors that code is made for if nobody names others: most that are in use.
    pub fn usual(self) -> Vec<Cpu> {
        match self {
            Target::X86_64Linux => vec![Cpu::V3],
            Target::Aarch64Linux => Vec::new(),
        }
    }

    /// The processors that code can be made for.
    pub fn cpus(self) -> &'static [Cpu] {
        match self {
            Target::X86_64Linux => &[Cpu::V2, Cpu::V3, Cpu::V4, Cpu::Native],
            Target::Aarch64Linux => &[Cpu::Native],
        }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.triple())
    }
}

impl FromStr for Target {
    type Err = Error;

    /// From the triple; what C library there is makes no difference.
    fn from_str(triple: &str) -> Result<Target> {
        match triple {
            "x86_64-unknown-linux-gnu" | "x86_64-unknown-linux-musl" | "x86_64-linux-gnu" => {
                Ok(Target::X86_64Linux)
            }
            "aarch64-unknown-linux-gnu" | "aarch64-unknown-linux-musl" | "aarch64-linux-gnu" => {
                Ok(Target::Aarch64Linux)
            }
            _ => {
                let known = Target::ALL.map(Target::triple).join(", ");
                Err(Error::unsupported(format!(
                    "the target {triple}; there are {known}"
                )))
            }
        }
    }
}

/// A processor, by what it can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Cpu {
    /// `x86-64-v2`: vectors of 128 bits, up to SSE4.2.
    V2,
    /// `x86-64-v3`: vectors of 256 bits, AVX2 with FMA.
    V3,
    /// `x86-64-v4`: vectors of 512 bits, AVX-512.
    V4,
    /// `native`: what this machine has.
    Native,
}

impl Cpu {
    /// The name.
    pub fn name(self) -> &'static str {
        match self {
            Cpu::V2 => "x86-64-v2",
            Cpu::V3 => "x86-64-v3",
            Cpu::V4 => "x86-64-v4",
            Cpu::Native => "native",
        }
    }
}

impl fmt::Display for Cpu {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Cpu {
    type Err = Error;

    fn from_str(name: &str) -> Result<Cpu> {
        match name {
            "x86-64-v2" | "v2" => Ok(Cpu::V2),
            "x86-64-v3" | "v3" => Ok(Cpu::V3),
            "x86-64-v4" | "v4" => Ok(Cpu::V4),
            "native" => Ok(Cpu::Native),
            _ => Err(Error::unsupported(format!(
                "the processor {name}; there are x86-64-v2, x86-64-v3, x86-64-v4 and native"
            ))),
        }
    }
}

/// How code for a processor is made.
pub(super) struct Variant {
    /// Nothing where the code is for all machines of a target.
    pub(super) cpu: Option<Cpu>,
    pub(super) isa: OwnedTargetIsa,
    pub(super) vectors: Vectors,
}

/// What code an object has: the least demanding first.
///
/// # Errors
/// When the target has no such processor, there is one twice, or this machine's is to be chosen beside others.
pub(super) fn variants(options: &ObjectOptions) -> Result<Vec<Variant>> {
    let target = options.target;
    let mut cpus = options.cpus.clone();
    if let Some(cpu) = cpus.iter().find(|cpu| !target.cpus().contains(cpu)) {
        return Err(Error::unsupported(format!(
            "code for {cpu} with the target {target}"
        )));
    }
    cpus.sort_by_key(|&cpu| cpu as usize);
    if cpus.windows(2).any(|pair| pair[0] == pair[1]) {
        return Err(Error::parameter("a processor is named twice"));
    }
    if cpus.len() > 1 && cpus.contains(&Cpu::Native) {
        return Err(Error::parameter(
            "native stands alone: what it means is not known where the code runs",
        ));
    }
    if cpus.contains(&Cpu::Native) && target != Target::host() {
        return Err(Error::unsupported(format!(
            "native code for {target} on another machine"
        )));
    }
    if cpus.is_empty() {
        // The oldest processors that Cranelift has vectors for.
        let least = (target == Target::X86_64Linux).then_some(Cpu::V2);
        return Ok(vec![variant(target, least)?]);
    }
    cpus.into_iter()
        .map(|cpu| variant(target, Some(cpu)))
        .collect()
}

fn variant(target: Target, cpu: Option<Cpu>) -> Result<Variant> {
    let failed = |error: &dyn fmt::Display| Error::unsupported(format!("{target}: {error}"));
    let mut builder = match cpu {
        Some(Cpu::Native) => cranelift_native::builder().map_err(|error| failed(&error))?,
        _ => isa::lookup_by_name(target.triple()).map_err(|error| failed(&error))?,
    };
    // Cranelift's levels leave out AVX, without which it uses nothing of AVX2 and FMA.
    let (isa, features): (Isa, &[&str]) = match cpu {
        None => (Isa::Portable, &[]),
        Some(Cpu::V2) => (Isa::Portable, &["x86-64-v2"]),
        Some(Cpu::V3) => (Isa::Avx2, &["x86-64-v3", "has_avx"]),
        Some(Cpu::V4) => (Isa::Avx512, &["x86-64-v4", "has_avx"]),
        Some(Cpu::Native) => (Isa::detect(), &[]),
    };
    for feature in features {
        builder.enable(feature).map_err(|error| failed(&error))?;
    }
    let mut flags = settings::builder();
    tune(&mut flags, true).map_err(|error| failed(&error))?;
    let vectors = Vectors {
        isa,
        popcnt: cpu == Some(Cpu::Native) && Isa::counts_bits(),
        halves: cpu == Some(Cpu::Native) && Isa::computes_halves(),
    };
    let isa = builder.finish(settings::Flags::new(flags));
    Ok(Variant {
        cpu,
        isa: isa.map_err(|error| failed(&error))?,
        vectors,
    })
}
