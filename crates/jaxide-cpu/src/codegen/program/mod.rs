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
use crate::lanes::Body;
use crate::lanes::guard::guard;
use crate::lower::program::Program;
use crate::runtime::Context as RunContext;
use crate::stages::{Stage, StageTimes};
use checked::{Check, Part};
use code::{Callees, Function};
use cranelift_codegen::Context;
use cranelift_codegen::control::ControlPlane;
use cranelift_codegen::isa::TargetIsa;
use cranelift_frontend::FunctionBuilderContext;
use jaxide_core::{Error, ErrorKind, Result};
use launch::{Launch, TileLaunch};
use rustc_hash::{FxHashMap as HashMap, FxHasher};
use smallvec::SmallVec;
use std::hash::{Hash, Hasher};
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
    /// Functions that a long program is cut into.
    pieces: Option<ExecMemory>,
    clif: String,
    /// Code of lane programs, with the number of the first kernel that has it.
    bodies: Vec<(usize, CompiledBody)>,
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

    /// Machine code of the function and of the lane programs that have their own, with the number of the first kernel that runs it.
    pub(crate) fn machine_code(&self) -> impl Iterator<Item = (Option<usize>, &[u8])> {
        let bodies = (self.bodies.iter()).map(|(kernel, body)| (Some(*kernel), body.code()));
        let pieces = self.pieces.iter().map(|memory| (None, memory.bytes()));
        std::iter::once((None, self.memory.bytes()))
            .chain(pieces)
            .chain(bodies)
    }
}

/// Code of lane programs: equal ones have it once.
#[derive(Default)]
struct Emissions<'a> {
    /// Which code a body has, by what makes bodies equal.
    known: HashMap<u64, SmallVec<[(&'a Body, usize); 1]>>,
    /// The first kernel with each code.
    kernels: Vec<usize>,
    code: Vec<lanes::Emitted>,
}

impl<'a> Emissions<'a> {
    /// The number of the code of kernel `k`.
    fn of(&mut self, k: usize, body: &'a Body, isa: Isa) -> Result<usize, CompileError> {
        let mut hasher = FxHasher::default();
        body.substance().hash(&mut hasher);
        let equal = self.known.entry(hasher.finish()).or_default();
        let same = equal
            .iter()
            .find(|(other, _)| other.substance() == body.substance());
        if let Some(&(_, code)) = same {
            return Ok(code);
        }
        self.code.push(lanes::emit(body, isa)?);
        self.kernels.push(k);
        equal.push((body, self.code.len() - 1));
        Ok(self.code.len() - 1)
    }
}

/// Functions that are compiled one after the other.
struct Functions<'a> {
    context: Context,
    frontend: FunctionBuilderContext,
    isa: &'a dyn TargetIsa,
    /// Their text, if it is wanted.
    clif: Option<String>,
    /// The largest frame.
    frame: usize,
}

impl Functions<'_> {
    /// Code of a function, and what must live as long as it.
    #[allow(clippy::vec_box)]
    fn compile(
        &mut self,
        program: &Program,
        function: Function<'_>,
        callees: Callees<'_>,
    ) -> Result<(Vec<u8>, Vec<Box<Check>>)> {
        let context = &mut self.context;
        context.clear();
        let checks = code::define(
            context,
            &mut self.frontend,
            self.isa,
            program,
            function,
            callees,
        );
        if let Some(text) = &mut self.clif {
            text.push_str(&context.func.display().to_string());
        }
        let internal = |what: String| Error::new(ErrorKind::Internal, what);
        let compiled = context
            .compile(self.isa, &mut ControlPlane::default())
            .map_err(|error| internal(format!("code generation: {:?}", error.inner)))?;
        self.frame = self.frame.max(lanes::frame(compiled));
        let mut code = compiled.code_buffer().to_vec();
        lanes::relocate(&mut code, compiled).map_err(|error| internal(error.to_string()))?;
        Ok((code, checks))
    }
}

/// Pieces of code in one memory, and where they start there.
fn placed(pieces: &[Vec<u8>]) -> Result<(ExecMemory, Vec<usize>)> {
    ExecMemory::of(pieces)
        .map_err(|error| Error::new(ErrorKind::Internal, format!("memory for code: {error}")))
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
    let mut guards = Vec::new();
    let mut guarded = Vec::new();
    if checked {
        for (k, kernel) in program.kernels.iter().enumerate() {
            let body = guard(&kernel.body)
                .map_err(|error| Error::new(ErrorKind::Internal, error.to_string()))?;
            guards.push(Part {
                name: program.kernel_title(k),
                sites: body.sites,
                operands: kernel.operands.len(),
            });
            guarded.push(body.body);
        }
    }
    let mut emitted = Emissions::default();
    let mut codes = Vec::new();
    let inline = code::inline(&program.kernels);
    for (k, kernel) in program.kernels.iter().enumerate() {
        let body = guarded.get(k).unwrap_or(&kernel.body);
        codes.push(if checked || !inline[k] {
            Some(emitted.of(k, body, isa).map_err(failed)?)
        } else {
            None
        });
    }
    let Emissions { kernels, code, .. } = emitted;
    let compiled = if code.is_empty() {
        Vec::new()
    } else {
        lanes::place(&code).map_err(failed)?
    };
    let bodies: Vec<(usize, CompiledBody)> = kernels.into_iter().zip(compiled).collect();
    let launches = program.kernels.iter().zip(codes);
    let launches: Vec<Launch> = launches
        .map(|(kernel, code)| match code {
            None => Launch::inline(kernel),
            Some(code) => Launch::new(kernel, &bodies[code].1),
        })
        .collect();
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
    let callees = Callees {
        launches: &launches,
        tiles: &tiles,
        guards: checked.then_some(&guards),
    };
    let mut functions = Functions {
        context: Context::new(),
        frontend: FunctionBuilderContext::new(),
        isa: &*target,
        clif: text.then(String::new),
        frame: 0,
    };
    let mut checks = Vec::new();
    let steps = &program.body;
    let mut frames = 0;
    let (pieces, main) = if steps.len() <= code::MOST_STEPS {
        (None, Function::Steps(steps))
    } else {
        let mut pieces = Vec::new();
        for steps in steps.chunks(code::MOST_STEPS) {
            let (code, more) = functions.compile(program, Function::Steps(steps), callees)?;
            pieces.push(code);
            checks.extend(more);
        }
        frames = std::mem::take(&mut functions.frame);
        let (memory, starts) = placed(&pieces)?;
        let first = memory.start() as usize;
        let entries = starts.iter().map(|start| first + start).collect();
        (Some(memory), Function::Calls(entries))
    };
    let (code, more) = functions.compile(program, main, callees)?;
    checks.extend(more);
    let of_bodies = bodies.iter().map(|(_, body)| body.stack()).max();
    let stack = functions.frame + frames + of_bodies.unwrap_or(0);
    let clif = functions.clif.unwrap_or_default();
    let (memory, _) = placed(&[code])?;
    // SAFETY: the code starts with a function of this signature, and `memory` keeps it in place.
    let entry = unsafe { std::mem::transmute::<*const u8, Entry>(memory.start()) };
    let code = Code {
        entry,
        memory,
        pieces,
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
