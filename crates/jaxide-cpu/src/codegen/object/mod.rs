//! Programs as object files, to be linked into programs of any language.
//!
//! An object has one function for a program, which takes addresses alone and keeps nothing: [`compile_object`]. What it needs to be called is in a
//! C header: [`Object::header`]. `docs/objects.md` says what such a function promises, and what it asks for.

mod cpu;
mod dispatch;
mod header;
mod variant;

pub use cpu::{Cpu, Target};

use super::error::CompileError;
use super::program::linked::{self, RUN_KERNEL, SharedData};
use crate::compile::{check_legal, compiler_stack};
use crate::lower;
use crate::lower::program::Program;
use crate::runtime::stack::on_stack;
use crate::stages::StageTimes;
use cranelift_codegen::ir::LibCall;
use cranelift_module::{Linkage, default_libcall_names};
use cranelift_object::{ObjectBuilder, ObjectModule};
use jaxide_core::{Aval, ClosedJaxpr, Error, ErrorKind, Jaxpr, Result};
use variant::Variant;

/// What an object is made for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectOptions {
    /// The name of the function: an identifier of C.
    pub name: String,
    /// The machine.
    pub target: Target,
    /// The processors, of one target: where there are several, the object has code for each, and that for the last which the machine has is chosen
    /// when the object is loaded. Where there is none, the code is for all machines of the target.
    pub cpus: Vec<Cpu>,
}

impl ObjectOptions {
    /// A function of this name for the processor of this machine.
    pub fn native(name: impl Into<String>) -> ObjectOptions {
        ObjectOptions {
            name: name.into(),
            target: Target::host(),
            cpus: vec![Cpu::Native],
        }
    }
}

/// A program as an object file.
#[derive(Clone, Debug)]
pub struct Object {
    bytes: Vec<u8>,
    name: String,
    /// How many of the arguments are captured arrays.
    constants: usize,
    inputs: Vec<Aval>,
    outputs: Vec<Aval>,
    scratch: usize,
    stack: usize,
    libm: bool,
    kernels: Vec<String>,
}

impl Object {
    /// The object file.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The name of the function.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Names of the arguments: `const0`, `const1`, ... of captured arrays that have no values, then `in0`, `in1`, ...
    pub fn in_names(&self) -> Vec<String> {
        let all = 0..self.inputs.len();
        all.map(|k| match k.checked_sub(self.constants) {
            None => format!("const{k}"),
            Some(k) => format!("in{k}"),
        })
        .collect()
    }

    /// Types of the arguments.
    pub fn in_avals(&self) -> &[Aval] {
        &self.inputs
    }

    /// Types of the results.
    pub fn out_avals(&self) -> &[Aval] {
        &self.outputs
    }

    /// Bytes of temporary memory that a call is given.
    pub fn scratch(&self) -> usize {
        self.scratch
    }

    /// Bytes of stack that a call takes, but for what kernels of the runtime take.
    pub fn stack(&self) -> usize {
        self.stack
    }

    /// What the address of temporary memory is a multiple of.
    pub fn scratch_alignment(&self) -> usize {
        header::ALIGNMENT
    }

    /// The kernels of the runtime library that the function calls; it needs no library if there are none.
    pub fn kernels(&self) -> &[String] {
        &self.kernels
    }

    /// Whether the function calls `fma` and `fmaf` of libm, as code for processors does that lack fused multiplication and addition.
    pub fn needs_libm(&self) -> bool {
        self.libm
    }

    /// The C header of the function.
    pub fn header(&self) -> String {
        header::header(self)
    }
}

/// Compiles a closed jaxpr to an object file. Captured arrays stand in it; those whose values are not known are its first arguments.
///
/// ```
/// use jaxide_cpu::{ObjectOptions, compile_object};
///
/// let text = "{ lambda ; a:f32[3] b:f32[3]. let c:f32[3] = mul a b in (c,) }";
/// let object = compile_object(&jaxide_core::parse(text)?, &ObjectOptions::native("product"))?;
/// assert!(object.header().contains("int product(const float *in0, const float *in1, float *out0, void *scratch);"));
/// assert!(object.kernels().is_empty());
/// # Ok::<(), jaxide_core::Error>(())
/// ```
///
/// # Errors
/// As [`compile`](crate::compile); and when the name is no identifier, or there is no such processor.
pub fn compile_object(closed: &ClosedJaxpr, options: &ObjectOptions) -> Result<Object> {
    header::check_name(&options.name)?;
    let (open, constants) = open(closed);
    let closed = &open;
    on_stack(compiler_stack(closed), "the compiler", || {
        check_legal(closed)?;
        let times = &mut StageTimes::default();
        let program = lower::lower(closed, &[], false, false, times)?;
        make(&program, constants, options)
    })?
}

/// The jaxpr with captured arrays as its first arguments, where their values are not known, and how many these are.
fn open(closed: &ClosedJaxpr) -> (ClosedJaxpr, usize) {
    let known = closed.consts.len() == closed.jaxpr.constvars.len();
    if known {
        return (closed.clone(), 0);
    }
    let mut jaxpr = Jaxpr::clone(&closed.jaxpr);
    let constvars = std::mem::take(&mut jaxpr.constvars);
    let constants = constvars.len();
    jaxpr.invars.splice(0..0, constvars);
    (ClosedJaxpr::new(jaxpr, Vec::new()), constants)
}

fn make(program: &Program, constants: usize, options: &ObjectOptions) -> Result<Object> {
    let variants = cpu::variants(options)?;
    let kernels = (program.calls.iter())
        .map(|call| call.recipe.text())
        .collect::<Result<Vec<String>>>()?;
    let (bytes, stack, libm) = emit(program, options, &variants, &kernels)
        .map_err(|error| Error::new(ErrorKind::Internal, error.to_string()))?;
    let inputs = program.inputs.iter();
    let outputs = program.outputs.iter();
    Ok(Object {
        bytes,
        name: options.name.clone(),
        constants,
        inputs: inputs
            .map(|(dtype, shape)| Aval::new(*dtype, shape))
            .collect(),
        outputs: outputs
            .map(|output| Aval::new(output.dtype, &output.shape))
            .collect(),
        scratch: program.arena,
        stack,
        libm,
        kernels,
    })
}

/// The object file, the stack that its function takes, and whether it calls libm.
fn emit(
    program: &Program,
    options: &ObjectOptions,
    variants: &[cpu::Variant],
    kernels: &[String],
) -> std::result::Result<(Vec<u8>, usize, bool), CompileError> {
    let first = variants.first().expect("there is code for some processor");
    let builder = ObjectBuilder::new(
        first.isa.clone(),
        options.name.as_bytes(),
        default_libcall_names(),
    )?;
    let mut module = ObjectModule::new(builder);
    let shared = SharedData::define(&mut module, program, kernels)?;
    let mut functions = Vec::with_capacity(variants.len());
    let mut most = 0;
    for variant in variants {
        // No name of C has a dot.
        let prefix = format!("{}.", variant.cpu.map_or("any", Cpu::name));
        let entry = match variants {
            [_] => (options.name.as_str(), Linkage::Export),
            _ => ("entry", Linkage::Local),
        };
        let mut module = Variant::new(&mut module, variant.isa.clone(), prefix);
        let (function, stack) =
            linked::define(&mut module, program, variant.vectors, &shared, entry)?;
        functions.push(function);
        most = most.max(stack);
    }
    if functions.len() > 1 {
        dispatch::define(&mut module, &options.name, variants, &functions)?;
    }
    let mut product = module.finish();
    if functions.len() > 1 {
        dispatch::mark(&mut product.object, &options.name);
    }
    let libcalls = [LibCall::FmaF32, LibCall::FmaF64].map(default_libcall_names());
    let libm = (libcalls.iter()).any(|name| product.object.symbol_id(name.as_bytes()).is_some());
    let bytes = product
        .object
        .write()
        .map_err(|error| CompileError::Codegen(error.to_string()))?;
    Ok((bytes, most, libm))
}

/// The function of the runtime library that objects with kernels call.
pub const RUNTIME_FUNCTION: &str = RUN_KERNEL;
