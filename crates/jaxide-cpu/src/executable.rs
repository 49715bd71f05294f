//! Compiled programs.

use crate::codegen::lanes::Isa;
use crate::codegen::program::{self as code, Code};
use crate::lower;
use crate::lower::program::{OutputSource, Program};
use crate::runtime::{Context, PoolBuffer, ThreadPool};
use jaxide_core::{Aval, ClosedJaxpr, Error, ErrorKind, Result, Storage, Tensor, byte_size};
use smallvec::SmallVec;
use std::mem::MaybeUninit;
use std::time::{Duration, Instant};

/// How a program is compiled.
#[derive(Clone, Debug, Default)]
pub struct CompileOptions {
    /// At most this many threads work on one run; all of the pool if `None`.
    pub threads: Option<usize>,
    /// The instruction set of vector code; the widest of the machine if `None`.
    pub isa: Option<Isa>,
    /// Whether [`Executable::clif_text`] is kept.
    pub keep_text: bool,
}

/// What compilation did.
#[derive(Clone, Debug, Default)]
pub struct CompileStats {
    /// Time from the jaxpr to the loop IR.
    pub lower: Duration,
    /// Time from the loop IR to machine code.
    pub codegen: Duration,
    /// Number of lane programs.
    pub kernels: usize,
    /// Number of calls of the runtime.
    pub calls: usize,
    /// Bytes of temporary memory that a run takes.
    pub arena: usize,
    /// Bytes of machine code.
    pub code: usize,
}

/// A compiled program. It can be run from many threads at once.
pub struct Executable {
    program: Program,
    code: Code,
    isa: Isa,
    threads: Option<usize>,
    stats: CompileStats,
}

/// Compiles a closed jaxpr to native code.
///
/// # Errors
/// When a primitive has no native form ([`ErrorKind::Unsupported`], naming it), values of constants are not known, or
/// an array is too large to be addressed.
pub fn compile(closed: &ClosedJaxpr, options: &CompileOptions) -> Result<Executable> {
    let start = Instant::now();
    let program = lower::lower(closed)?;
    let lowered = Instant::now();
    let isa = options.isa.unwrap_or_else(Isa::detect);
    let code = code::compile(&program, isa, options.keep_text)?;
    let stats = CompileStats {
        lower: lowered - start,
        codegen: lowered.elapsed(),
        kernels: program.kernels.len(),
        calls: program.calls.len(),
        arena: program.arena,
        code: code.machine_code().map(|(_, bytes)| bytes.len()).sum(),
    };
    Ok(Executable {
        program,
        code,
        isa,
        threads: options.threads,
        stats,
    })
}

/// Arenas up to this size are on the stack.
const STACK_ARENA: usize = 4096;

/// Memory for small arenas, aligned as buffers are.
#[repr(align(64))]
struct StackArena(MaybeUninit<[u8; STACK_ARENA]>);

/// Results of up to 16 bytes, which tensors hold in their handle.
#[repr(align(16))]
#[derive(Clone, Copy)]
struct Small {
    bytes: [u8; 16],
    length: u8,
}

impl Storage for Small {
    fn bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.length)]
    }

    fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.bytes[..usize::from(self.length)]
    }
}

/// A buffer of the pool as an array's storage.
struct Pooled(PoolBuffer);

impl Storage for Pooled {
    fn bytes(&self) -> &[u8] {
        self.0.bytes()
    }

    fn bytes_mut(&mut self) -> &mut [u8] {
        self.0.bytes_mut()
    }
}

/// A result that is being written.
enum Pending {
    Small(Small),
    Pooled(PoolBuffer),
    /// It is another array.
    None,
}

impl Executable {
    /// Runs the program.
    ///
    /// # Errors
    /// When the arguments do not have the types of the program; the message names the first that does not. When memory
    /// runs out.
    pub fn run(&self, args: &[Tensor]) -> Result<Vec<Tensor>> {
        self.check(args)?;
        let program = &self.program;
        let inputs: SmallVec<[*const u8; 128]> =
            args.iter().map(|arg| arg.bytes().as_ptr()).collect();
        let consts: SmallVec<[*const u8; 8]> = program
            .consts
            .iter()
            .map(|tensor| tensor.bytes().as_ptr())
            .collect();
        let mut pending: SmallVec<[Pending; 8]> = SmallVec::new();
        for output in &program.outputs {
            let bytes = byte_size(&output.shape, output.dtype)?;
            pending.push(match output.source {
                OutputSource::Computed if bytes <= 16 => Pending::Small(Small {
                    bytes: [0; 16],
                    length: bytes as u8,
                }),
                OutputSource::Computed => {
                    Pending::Pooled(PoolBuffer::new(bytes).map_err(out_of_memory)?)
                }
                OutputSource::Input(_) | OutputSource::Const(_) | OutputSource::Same(_) => {
                    Pending::None
                }
            });
        }
        let outputs: SmallVec<[*mut u8; 16]> = pending
            .iter_mut()
            .map(|result| match result {
                Pending::Small(small) => small.bytes.as_mut_ptr(),
                Pending::Pooled(buffer) => buffer.as_mut_ptr(),
                Pending::None => std::ptr::null_mut(),
            })
            .collect();
        // SAFETY: the arguments have the program's types, results and constants the sizes that it states, and each result has
        // memory of its own.
        unsafe { self.enter(&inputs, &outputs, &consts)? };
        let mut results: Vec<Tensor> = Vec::with_capacity(pending.len());
        for (output, result) in program.outputs.iter().zip(pending) {
            let tensor = match (output.source, result) {
                (_, Pending::Small(small)) => {
                    Tensor::from_storage(&output.shape, output.dtype, small)?
                }
                (_, Pending::Pooled(buffer)) => {
                    Tensor::from_storage(&output.shape, output.dtype, Pooled(buffer))?
                }
                (OutputSource::Input(k), Pending::None) => same(&args[k as usize], output)?,
                (OutputSource::Const(k), Pending::None) => {
                    same(&program.consts[k as usize], output)?
                }
                (OutputSource::Same(k), Pending::None) => results[k as usize].clone(),
                (OutputSource::Computed, Pending::None) => {
                    return Err(Error::new(ErrorKind::Internal, "a result has no memory"));
                }
            };
            results.push(tensor);
        }
        Ok(results)
    }

    /// Calls the code.
    ///
    /// # Safety
    /// As for [`code::Entry`]; the arena is provided here.
    unsafe fn enter(
        &self,
        inputs: &[*const u8],
        outputs: &[*mut u8],
        consts: &[*const u8],
    ) -> Result<()> {
        let pool = ThreadPool::global();
        let context = Context::new(pool, self.threads.unwrap_or_else(|| pool.threads()));
        let entry = self.code.entry();
        let call = |arena: *mut u8| {
            // SAFETY: the caller promises the rest, and the arena has the program's size.
            unsafe {
                entry(
                    inputs.as_ptr(),
                    outputs.as_ptr(),
                    consts.as_ptr(),
                    arena,
                    &context,
                )
            }
        };
        let status = if self.program.arena <= STACK_ARENA {
            let mut arena = StackArena(MaybeUninit::uninit());
            call(arena.0.as_mut_ptr().cast())
        } else {
            let mut arena = PoolBuffer::new(self.program.arena).map_err(out_of_memory)?;
            call(arena.as_mut_ptr())
        };
        if status == 0 {
            return Ok(());
        }
        let why = context
            .into_error()
            .map_or_else(|| "unknown failure".to_owned(), |error| error.to_string());
        Err(Error::new(ErrorKind::Internal, why))
    }

    fn check(&self, args: &[Tensor]) -> Result<()> {
        let want = &self.program.inputs;
        if args.len() != want.len() {
            return Err(Error::new(
                ErrorKind::Arity,
                format!(
                    "the program takes {} arguments, and {} are given",
                    want.len(),
                    args.len()
                ),
            ));
        }
        for (k, (arg, (dtype, shape))) in args.iter().zip(want).enumerate() {
            if arg.dtype() != *dtype || arg.shape() != &shape[..] {
                return Err(Error::shape(format!(
                    "argument {k} is {}, and {} is expected",
                    arg.aval(),
                    Aval::new(*dtype, shape)
                )));
            }
        }
        Ok(())
    }

    /// The loop IR as text.
    pub fn loops_text(&self) -> String {
        self.program.to_string()
    }

    /// The program's function in Cranelift's text form; empty unless [`CompileOptions::keep_text`] was set.
    pub fn clif_text(&self) -> &str {
        self.code.clif()
    }

    /// The machine code as hexadecimal bytes, by function.
    pub fn asm_text(&self) -> String {
        let mut text = String::new();
        for (kernel, bytes) in self.code.machine_code() {
            match kernel {
                None => text.push_str("program:\n"),
                Some(kernel) => text.push_str(&format!("k{kernel}:\n")),
            }
            for line in bytes.chunks(16) {
                let line: Vec<String> = line.iter().map(|byte| format!("{byte:02x}")).collect();
                text.push_str(&format!("  {}\n", line.join(" ")));
            }
        }
        text
    }

    /// Types of the arguments.
    pub fn in_avals(&self) -> Vec<Aval> {
        self.program
            .inputs
            .iter()
            .map(|(dtype, shape)| Aval::new(*dtype, shape))
            .collect()
    }

    /// Types of the results.
    pub fn out_avals(&self) -> Vec<Aval> {
        self.program
            .outputs
            .iter()
            .map(|output| Aval::new(output.dtype, &output.shape))
            .collect()
    }

    /// The instruction set of vector code.
    pub fn isa(&self) -> Isa {
        self.isa
    }

    /// What compilation did.
    pub fn stats(&self) -> &CompileStats {
        &self.stats
    }
}

/// An existing array as a result.
fn same(tensor: &Tensor, output: &crate::lower::program::Output) -> Result<Tensor> {
    tensor.reinterpreted(&output.shape, output.dtype)
}

fn out_of_memory(error: crate::runtime::OutOfMemory) -> Error {
    Error::new(ErrorKind::TooLarge, error.to_string())
}
