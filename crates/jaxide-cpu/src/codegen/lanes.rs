//! Lane bodies as callable machine code.

use super::ExecMemory;
use super::clif_lanes;
use crate::lanes::Body;
use cranelift_codegen::binemit::Reloc;
use cranelift_codegen::control::ControlPlane;
use cranelift_codegen::ir::{ExternalName, LibCall};
use cranelift_codegen::isa::OwnedTargetIsa;
use cranelift_codegen::settings::{self, Configurable};
use cranelift_codegen::{CompiledCode, Context, FinalizedRelocTarget};
use cranelift_frontend::FunctionBuilderContext;
use std::fmt;
use std::ops::Range;
use std::str::FromStr;
use std::sync::{Arc, OnceLock};

/// A compiled body: runs lanes `start..end`, nothing if the range is empty.
///
/// `pointers` and `outer` have an entry for each that the body declares. Where the byte at `stop` is not 0, loops whose number of turns is
/// not known end early, and results are not to be used.
///
/// # Safety
/// Every access that the body makes for those lanes must be inside memory that is valid for it, and memory that one
/// lane stores to must not be accessed by another lane of the call or by another thread meanwhile.
pub type LaneFn = unsafe extern "C" fn(
    pointers: *const *mut u8,
    stop: *const u8,
    outer: *const i64,
    start: i64,
    end: i64,
);

/// For calls that nothing ends early.
static RUNS_ON: u8 = 0;

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

/// Why a body was not compiled.
#[derive(Debug)]
pub enum CompileError {
    /// A body with inputs or outputs of its own, which can only be emitted inline.
    Inline,
    /// The machine does not have this instruction set.
    Unavailable(Isa),
    /// The code generator refused.
    Codegen(String),
    /// There was no memory for the code.
    Memory(std::io::Error),
}

impl fmt::Display for CompileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CompileError::Inline => {
                f.write_str("a body with inputs or outputs of its own has no function")
            }
            CompileError::Unavailable(isa) => {
                write!(f, "this machine does not have {}", isa.name())
            }
            CompileError::Codegen(why) => write!(f, "code generation: {why}"),
            CompileError::Memory(e) => write!(f, "memory for code: {e}"),
        }
    }
}

impl std::error::Error for CompileError {}

/// A body as machine code.
#[derive(Debug)]
pub struct CompiledBody {
    entry: LaneFn,
    memory: Arc<ExecMemory>,
    /// Where its code is in the memory, which several may share.
    code: Range<usize>,
    isa: Isa,
    stack: usize,
    arguments: [usize; 2],
}

impl CompiledBody {
    /// The function; valid as long as `self` lives.
    pub fn entry(&self) -> LaneFn {
        self.entry
    }

    /// The instruction set that it uses.
    pub fn isa(&self) -> Isa {
        self.isa
    }

    /// Bytes of stack that a call takes.
    pub fn stack(&self) -> usize {
        self.stack
    }

    /// The machine code, constants included.
    pub fn code(&self) -> &[u8] {
        &self.memory.bytes()[self.code.clone()]
    }

    /// Runs lanes `start..end`.
    ///
    /// # Safety
    /// As for [`LaneFn`].
    ///
    /// # Panics
    /// If there are fewer pointers or outer indices than the body declares.
    pub unsafe fn run(&self, pointers: &[*mut u8], outer: &[i64], start: i64, end: i64) {
        let [p, o] = self.arguments;
        assert!(
            pointers.len() >= p && outer.len() >= o,
            "too few arguments for a lane body"
        );
        // SAFETY: the tables have the entries that the body reads; the rest is the caller's promise.
        unsafe {
            (self.entry)(
                pointers.as_ptr(),
                &raw const RUNS_ON,
                outer.as_ptr(),
                start,
                end,
            )
        }
    }
}

/// Compiles a body.
///
/// # Errors
/// If the machine does not have the instruction set, or the body is one to be emitted inline.
pub fn compile(body: &Body, isa: Isa) -> Result<CompiledBody, CompileError> {
    let mut made = place(&[emit(body, isa)?])?;
    made.pop().ok_or(CompileError::Inline)
}

/// Machine code of a body.
///
/// # Errors
/// As of [`compile`].
pub(super) fn emit(body: &Body, isa: Isa) -> Result<Emitted, CompileError> {
    if !body.params().is_empty() || !body.outputs().is_empty() {
        return Err(CompileError::Inline);
    }
    if !Isa::available().contains(&isa) {
        return Err(CompileError::Unavailable(isa));
    }
    let image = match isa {
        Isa::Portable => compile_portable(body)?,
        Isa::Avx2 => wide::avx2(body)?,
        Isa::Avx512 => wide::avx512(body)?,
    };
    Ok(Emitted {
        isa,
        arguments: [body.pointers().len(), body.outer()],
        image,
    })
}

/// Code of bodies in memory that all of them share.
///
/// # Errors
/// If there is no memory for it.
pub(super) fn place(emitted: &[Emitted]) -> Result<Vec<CompiledBody>, CompileError> {
    let pieces: Vec<&[u8]> = emitted.iter().map(|each| &each.image.code[..]).collect();
    let (memory, starts) = ExecMemory::of(&pieces).map_err(CompileError::Memory)?;
    let memory = Arc::new(memory);
    let bodies = emitted.iter().zip(starts).map(|(each, start)| {
        let entry = memory.start().wrapping_add(start + each.image.entry);
        // SAFETY: at `entry` is a function of this signature, and `memory` keeps it in place.
        let entry = unsafe { std::mem::transmute::<*const u8, LaneFn>(entry) };
        CompiledBody {
            entry,
            memory: memory.clone(),
            code: start..start + each.image.code.len(),
            isa: each.isa,
            stack: each.image.stack,
            arguments: each.arguments,
        }
    });
    Ok(bodies.collect())
}

/// A body as machine code that has no place yet.
pub(super) struct Emitted {
    isa: Isa,
    arguments: [usize; 2],
    image: Image,
}

/// Machine code that can be anywhere.
struct Image {
    code: Vec<u8>,
    /// Where the function starts.
    entry: usize,
    /// Bytes of stack that a call takes.
    stack: usize,
}

fn compile_portable(body: &Body) -> Result<Image, CompileError> {
    let isa = native_isa()?;
    let (mut context, mut frontend) = (Context::new(), FunctionBuilderContext::new());
    clif_lanes::define_function(&mut context, &mut frontend, &*isa, body);
    let compiled = context
        .compile(&*isa, &mut ControlPlane::default())
        .map_err(|e| CompileError::Codegen(e.inner.to_string()))?;
    let mut code = compiled.code_buffer().to_vec();
    relocate(&mut code, compiled)?;
    Ok(Image {
        code,
        entry: 0,
        stack: frame(compiled),
    })
}

/// Writes the addresses of library functions into code that calls them.
pub(super) fn relocate(code: &mut [u8], compiled: &CompiledCode) -> Result<(), CompileError> {
    for reloc in compiled.buffer.relocs() {
        let address = match (&reloc.target, reloc.kind) {
            (FinalizedRelocTarget::ExternalName(ExternalName::LibCall(call)), Reloc::Abs8) => {
                library_function(*call)
            }
            _ => None,
        };
        let address = address
            .ok_or_else(|| CompileError::Codegen(format!("no address for {:?}", reloc.target)))?;
        let at = reloc.offset as usize;
        let value = (address as u64).wrapping_add_signed(reloc.addend);
        code[at..at + 8].copy_from_slice(&value.to_le_bytes());
    }
    Ok(())
}

/// Bytes of stack that a call of compiled code takes, but for what it calls.
pub(super) fn frame(compiled: &CompiledCode) -> usize {
    // The return address and the caller's frame pointer lie above.
    let layout = compiled.buffer.frame_layout();
    layout.map_or(0, |layout| layout.frame_to_fp_offset as usize) + 16
}

/// Cranelift for this machine, tuned for speed of the code.
pub(super) fn native_isa() -> Result<OwnedTargetIsa, CompileError> {
    let failed = |e: &dyn fmt::Display| CompileError::Codegen(e.to_string());
    let mut flags = settings::builder();
    for (name, value) in [
        ("opt_level", "speed"),
        ("is_pic", "false"),
        // The guard page of a stack is not jumped over.
        ("enable_probestack", "true"),
        ("probestack_strategy", "inline"),
        ("use_colocated_libcalls", "false"),
        (
            "enable_verifier",
            if cfg!(debug_assertions) {
                "true"
            } else {
                "false"
            },
        ),
    ] {
        flags.set(name, value).map_err(|e| failed(&e))?;
    }
    let builder = cranelift_native::builder().map_err(|e| failed(&e))?;
    builder
        .finish(settings::Flags::new(flags))
        .map_err(|e| failed(&e))
}

/// What Cranelift calls where the machine lacks an instruction.
fn library_function(call: LibCall) -> Option<usize> {
    extern "C" fn fma_f32(a: f32, b: f32, c: f32) -> f32 {
        a.mul_add(b, c)
    }
    extern "C" fn fma_f64(a: f64, b: f64, c: f64) -> f64 {
        a.mul_add(b, c)
    }
    match call {
        LibCall::FmaF32 => Some((fma_f32 as extern "C" fn(f32, f32, f32) -> f32) as usize),
        LibCall::FmaF64 => Some((fma_f64 as extern "C" fn(f64, f64, f64) -> f64) as usize),
        _ => None,
    }
}

#[cfg(all(target_arch = "x86_64", unix))]
mod wide {
    use super::{CompileError, Image};
    use crate::codegen::x86;
    use crate::lanes::Body;
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

    pub(super) fn avx2(body: &Body) -> Result<Image, CompileError> {
        parts(x86::avx2(body))
    }

    pub(super) fn avx512(body: &Body) -> Result<Image, CompileError> {
        parts(x86::avx512(body))
    }

    fn parts<E: ToString>(image: Result<x86::Image, E>) -> Result<Image, CompileError> {
        let image = image.map_err(|e| CompileError::Codegen(e.to_string()))?;
        Ok(Image {
            code: image.bytes,
            entry: image.entry,
            stack: image.stack,
        })
    }
}

/// The wide emitters use the System V calling convention.
#[cfg(not(all(target_arch = "x86_64", unix)))]
mod wide {
    use super::{CompileError, Image, Isa};
    use crate::lanes::Body;

    pub(super) fn has_avx2() -> bool {
        false
    }

    pub(super) fn has_avx512() -> bool {
        false
    }

    pub(super) fn avx2(_: &Body) -> Result<Image, CompileError> {
        Err(CompileError::Unavailable(Isa::Avx2))
    }

    pub(super) fn avx512(_: &Body) -> Result<Image, CompileError> {
        Err(CompileError::Unavailable(Isa::Avx512))
    }
}
