//! Lane bodies as callable machine code.

use super::clif;
use super::module::{Jit, Placed, frame, signature};
#[cfg(all(target_arch = "x86_64", unix))]
use super::x86;
use crate::lanes::Body;
use crate::lower::emit::Calls;
use cranelift_codegen::Context;
use cranelift_frontend::FunctionBuilderContext;
use cranelift_module::{FuncId, Linkage, Module};

pub use super::error::CompileError;
pub use crate::isa::Isa;
pub use crate::runtime::launch::LaneFn;

/// For calls that nothing ends early.
static RUNS_ON: u8 = 0;

/// A body as machine code.
#[derive(Debug)]
pub struct CompiledBody {
    placed: Placed,
    function: FuncId,
    defined: Defined,
    isa: Isa,
    /// How many pointers and outer indices it reads.
    arguments: [usize; 2],
}

impl CompiledBody {
    /// The function; valid as long as `self` lives.
    pub fn entry(&self) -> LaneFn {
        let entry = self.placed.address(self.function);
        // SAFETY: there is a function of this signature, and `placed` keeps it in place.
        unsafe { std::mem::transmute::<*const u8, LaneFn>(entry) }
    }

    /// The instruction set that it uses.
    pub fn isa(&self) -> Isa {
        self.isa
    }

    /// Bytes of stack that a call takes.
    pub fn stack(&self) -> usize {
        self.defined.stack
    }

    /// The machine code, without the constants behind it where a wide emitter made it.
    pub fn code(&self) -> &[u8] {
        // SAFETY: it has so many bytes and more.
        unsafe { self.placed.code(self.function, self.defined.instructions) }
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
        // SAFETY: the tables have the entries that the body reads, and code that was compiled for one turn writes none; the rest is the caller's
        // promise.
        unsafe {
            (self.entry())(
                pointers.as_ptr(),
                &raw const RUNS_ON,
                outer.as_ptr().cast_mut(),
                start,
                end,
            )
        }
    }
}

/// Compiles a body.
///
/// # Errors
/// If the machine does not have the instruction set.
pub fn compile(body: &Body, isa: Isa) -> Result<CompiledBody, CompileError> {
    let mut emitter = Emitter::new(Vectors::here(isa)?);
    let mut jit = Jit::new()?;
    let module = jit.module();
    let function = declare(module, "lanes")?;
    let defined = emitter.define(module, function, body, Calls::default())?;
    Ok(CompiledBody {
        placed: jit.finish()?,
        function,
        defined,
        isa,
        arguments: [body.pointers().len(), body.outer()],
    })
}

/// Declares a function with the signature of [`LaneFn`].
///
/// # Errors
/// When the module has something else by this name.
pub(super) fn declare(module: &mut dyn Module, name: &str) -> Result<FuncId, CompileError> {
    let signature = signature(module, 5, false);
    Ok(module.declare_function(name, Linkage::Local, &signature)?)
}

/// A function that a module has.
#[derive(Clone, Copy, Debug)]
pub(super) struct Defined {
    /// Bytes of code, constants included.
    pub(super) bytes: usize,
    /// Bytes before the constants, where they are apart.
    pub(super) instructions: usize,
    /// Bytes of stack that a call takes.
    pub(super) stack: usize,
}

impl Defined {
    /// The function that was compiled in `context`.
    pub(super) fn by_cranelift(context: &Context) -> Defined {
        let compiled = context.compiled_code().expect("a module defined it");
        let bytes = compiled.code_buffer().len();
        Defined {
            bytes,
            instructions: bytes,
            stack: frame(compiled),
        }
    }
}

/// What vector code may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Vectors {
    pub(crate) isa: Isa,
    /// Whether AVX-512 counts the bits of each element.
    pub(crate) popcnt: bool,
    /// Whether AVX-512 computes with binary16.
    pub(crate) halves: bool,
}

impl Vectors {
    /// All that this machine has of an instruction set.
    ///
    /// # Errors
    /// When it does not have it.
    pub(super) fn here(isa: Isa) -> Result<Vectors, CompileError> {
        if !Isa::available().contains(&isa) {
            return Err(CompileError::Unavailable(isa));
        }
        Ok(Vectors::of(isa))
    }

    /// Of an instruction set, what this machine has besides; nothing where it does not have the set, for code that is only looked at.
    pub(super) fn of(isa: Isa) -> Vectors {
        let wide = isa == Isa::Avx512;
        Vectors {
            isa,
            popcnt: wide && Isa::counts_bits(),
            halves: wide && Isa::computes_halves(),
        }
    }
}

/// Defines lane programs, one after the other.
pub(super) struct Emitter {
    context: Context,
    frontend: FunctionBuilderContext,
    vectors: Vectors,
}

impl Emitter {
    /// For code that uses these vectors.
    pub(super) fn new(vectors: Vectors) -> Emitter {
        Emitter {
            context: Context::new(),
            frontend: FunctionBuilderContext::new(),
            vectors,
        }
    }

    /// Defines a declared function as that of a body; `calls` is what is known of all calls.
    ///
    /// # Errors
    /// When the code generator refuses.
    pub(super) fn define(
        &mut self,
        module: &mut dyn Module,
        function: FuncId,
        body: &Body,
        calls: Calls,
    ) -> Result<Defined, CompileError> {
        match self.vectors.isa {
            Isa::Portable => clif::define(
                module,
                function,
                (body, calls.turns),
                &mut self.context,
                &mut self.frontend,
            ),
            Isa::Avx2 | Isa::Avx512 => x86::define(module, function, body, calls, self.vectors),
        }
    }
}

/// The wide emitters use the System V calling convention.
#[cfg(not(all(target_arch = "x86_64", unix)))]
mod x86 {
    use super::{Body, Calls, CompileError, Defined, FuncId, Module, Vectors};

    pub(super) fn define(
        _: &mut dyn Module,
        _: FuncId,
        _: &Body,
        _: Calls,
        vectors: Vectors,
    ) -> Result<Defined, CompileError> {
        Err(CompileError::Unavailable(vectors.isa))
    }
}
