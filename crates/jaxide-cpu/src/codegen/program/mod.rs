//! The loop IR as machine code: one function for a whole program.
//!
//! Loops and branches become blocks, arrays addresses. A nest with a single lane is emitted in place as scalar code; others are lane
//! programs of their own, called by address: directly where they are small, else through [`launch`], which splits them over threads.

mod checked;
mod code;
mod launch;
mod place;

use super::lanes::{self, CompileError, CompiledBody, Isa};
use super::{ExecMemory, perf_map};
use crate::lanes::guard::guard;
use crate::lower::program::Program;
use crate::runtime::Context as RunContext;
use crate::stages::{Stage, StageTimes};
use checked::{Check, Part};
use code::Callees;
use cranelift_codegen::Context;
use cranelift_codegen::control::ControlPlane;
use cranelift_frontend::FunctionBuilderContext;
use jaxide_core::{Error, ErrorKind, Result};
use launch::{Launch, TileLaunch};
use std::time::Instant;

pub(crate) use checked::WRITTEN;

/// The entry of a program: pointers to the arguments, to the results' buffers and to the constants, the arena, and the execution.
/// Gives 0, or another number after the execution took an error. In a checked program the pointers to shadows follow in each table,
/// and the shadow of the arena follows the arena.
///
/// # Safety
/// Arguments, results and constants have the sizes that the program states, the arena its size, all 16-byte aligned or better than
/// their element types ask; results overlap nothing else. Shadows have the size of what they are for.
pub(crate) type Entry = unsafe extern "C" fn(
    inputs: *const *const u8,
    outputs: *const *mut u8,
    consts: *const *const u8,
    arena: *mut u8,
    context: *const RunContext<'_>,
) -> u32;

/// A compiled program.
pub(crate) struct Code {
    entry: Entry,
    memory: ExecMemory,
    clif: String,
    bodies: Vec<Option<CompiledBody>>,
    stack: usize,
    /// Referred to by address from the code: each stays where it is.
    #[allow(clippy::vec_box)]
    _launches: Vec<Box<Launch>>,
    #[allow(clippy::vec_box)]
    _tiles: Vec<Box<TileLaunch>>,
    #[allow(clippy::vec_box)]
    _checks: Vec<Box<Check>>,
}

impl Code {
    /// The function; valid as long as `self` and the program live.
    pub(crate) fn entry(&self) -> Entry {
        self.entry
    }

    /// Bytes of stack that a call of the function takes, its lane programs included, but for what the runtime takes.
    pub(crate) fn stack(&self) -> usize {
        self.stack
    }

    /// The function in Cranelift's text form.
    pub(crate) fn clif(&self) -> &str {
        &self.clif
    }

    /// Machine code of the function and of the lane programs that have their own, with the number of each.
    pub(crate) fn machine_code(&self) -> impl Iterator<Item = (Option<usize>, &[u8])> {
        let bodies = self.bodies.iter().enumerate();
        let bodies =
            bodies.filter_map(|(k, body)| body.as_ref().map(|body| (Some(k), body.code())));
        std::iter::once((None, self.memory.bytes())).chain(bodies)
    }
}

/// Compiles a program; `checked` puts guards around all that it accesses.
///
/// # Errors
/// When the code generator refuses, or there is no memory for the code.
pub(crate) fn compile(
    program: &Program,
    isa: Isa,
    text: bool,
    checked: bool,
    times: &mut StageTimes,
) -> Result<Code> {
    let start = Instant::now();
    let failed = |error: CompileError| Error::new(ErrorKind::Internal, error.to_string());
    let mut bodies = Vec::new();
    let mut launches = Vec::new();
    let mut guards = Vec::new();
    for (k, kernel) in program.kernels.iter().enumerate() {
        if checked {
            let guarded = guard(&kernel.body)
                .map_err(|error| Error::new(ErrorKind::Internal, error.to_string()))?;
            let body = lanes::compile(&guarded.body, isa).map_err(failed)?;
            launches.push(Launch::new(kernel, &body));
            bodies.push(Some(body));
            guards.push(Part {
                name: program.kernel_title(k),
                sites: guarded.sites,
                operands: kernel.operands.len(),
            });
        } else if code::is_inline(kernel) {
            bodies.push(None);
            launches.push(Launch::inline(kernel));
        } else {
            let body = lanes::compile(&kernel.body, isa).map_err(failed)?;
            launches.push(Launch::new(kernel, &body));
            bodies.push(Some(body));
        }
    }
    times.add(Stage::Kernels, start.elapsed());
    let start = Instant::now();
    let launches: Vec<Box<Launch>> = launches.into_iter().map(Box::new).collect();
    let pointers = |kernel: usize| {
        let own = program.kernels[kernel].operands.len();
        if checked { 2 * own + 2 } else { own }
    };
    let tiles: Vec<Box<TileLaunch>> = program
        .tiles
        .iter()
        .map(|group| Box::new(TileLaunch::new(group, &launches, pointers)))
        .collect();
    let target = lanes::native_isa().map_err(failed)?;
    let (mut context, mut frontend) = (Context::new(), FunctionBuilderContext::new());
    let callees = Callees {
        launches: &launches,
        tiles: &tiles,
        guards: checked.then_some(&guards),
    };
    let checks = code::define(&mut context, &mut frontend, &*target, program, callees);
    let clif = if text {
        context.func.display().to_string()
    } else {
        String::new()
    };
    let compiled = context
        .compile(&*target, &mut ControlPlane::default())
        .map_err(|error| {
            Error::new(
                ErrorKind::Internal,
                format!("code generation: {:?}", error.inner),
            )
        })?;
    let of_bodies = bodies.iter().flatten().map(CompiledBody::stack).max();
    let stack = lanes::frame(compiled) + of_bodies.unwrap_or(0);
    let mut code = compiled.code_buffer().to_vec();
    lanes::relocate(&mut code, compiled).map_err(failed)?;
    let memory = ExecMemory::new(&code)
        .map_err(|error| Error::new(ErrorKind::Internal, format!("memory for code: {error}")))?;
    // SAFETY: the code starts with a function of this signature, and `memory` keeps it in place.
    let entry = unsafe { std::mem::transmute::<*const u8, Entry>(memory.start()) };
    let code = Code {
        entry,
        memory,
        clif,
        bodies,
        stack,
        _launches: launches,
        _tiles: tiles,
        _checks: checks,
    };
    times.add(Stage::Program, start.elapsed());
    if perf_map::is_wanted() {
        perf_map::add(code.machine_code().map(|(kernel, code)| {
            let name = kernel.map_or_else(|| "program".to_owned(), |k| program.kernel_name(k));
            (code, format!("jaxide {name}"))
        }));
    }
    Ok(code)
}
