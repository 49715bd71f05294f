//! From a jaxpr to an executable: all stages, one after the other.

#[cfg(feature = "codegen")]
use crate::codegen::Executable;
use crate::lower::program::{OutputSource, Program, TileGroup};
use crate::lower::{self, Lowered};
#[cfg(feature = "codegen")]
use crate::options::CompileOptions;
use crate::runtime::stack::on_stack;
use crate::stages::{Stage, StageTimes};
use jaxide_core::{ClosedJaxpr, Error, ErrorKind, Result, byte_size, check};

/// Compiles a closed jaxpr to native code.
///
/// # Errors
/// When a run would take more memory than it may; when the jaxpr is illegal (what an equation reads and writes would not be what its types say), a primitive has no native form ([`ErrorKind::Unsupported`], naming it), values of constants are not known, or
/// an array is too large to be addressed.
#[cfg(feature = "codegen")]
pub fn compile(closed: &ClosedJaxpr, options: &CompileOptions) -> Result<Executable> {
    on_stack(compiler_stack(closed), "the compiler", || {
        compile_here(closed, options)
    })?
}

/// What a stage of lowering makes of a program, as text, with the equations that its parts compute.
///
/// ```
/// use jaxide_cpu::{Lowered, lowered};
/// let text = "{ lambda ; a:f32[9]. let b:f32[9] = sin a; c:f32[] = reduce_sum[axes=(0,) out_sharding=None] b in (c,) }";
/// let plan = lowered(&jaxide_core::parse(text)?, Lowered::Plan)?;
/// assert!(plan.starts_with("nest over [9]:\n"));
/// # Ok::<(), jaxide_core::Error>(())
/// ```
///
/// # Errors
/// As [`compile`], but for the limit of memory.
pub fn lowered(closed: &ClosedJaxpr, stage: Lowered) -> Result<String> {
    on_stack(compiler_stack(closed), "the compiler", || {
        check_legal(closed)?;
        lower::text(closed, stage)
    })?
}

/// What [`plan`] says, and the loops that [`lowered`] prints, of a program that is lowered once.
///
/// # Errors
/// As [`compile`], but for the limit of memory.
pub fn planned_loops(closed: &ClosedJaxpr) -> Result<(MemoryPlan, String)> {
    on_stack(compiler_stack(closed), "the compiler", || {
        check_legal(closed)?;
        let program = lower::program_for_text(closed)?;
        Ok((MemoryPlan::of(&program)?, program.to_string()))
    })?
}

/// What a run of a program will take, without compiling it.
///
/// ```
/// let text = "{ lambda ; a:f32[1000]. let b:f32[1000] = sort[dimension=0 is_stable=True num_keys=1] a in (b,) }";
/// let plan = jaxide_cpu::plan(&jaxide_core::parse(text)?)?;
/// assert_eq!((plan.arena, plan.results), (0, 4000));
/// # Ok::<(), jaxide_core::Error>(())
/// ```
///
/// # Errors
/// As [`compile`], but for the limit of memory.
pub fn plan(closed: &ClosedJaxpr) -> Result<MemoryPlan> {
    on_stack(compiler_stack(closed), "the compiler", || {
        check_legal(closed)?;
        let times = &mut StageTimes::default();
        MemoryPlan::of(&lower::lower(closed, &[], false, false, times)?)
    })?
}

/// Bytes that a run takes besides its arguments, but for what single kernels take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryPlan {
    /// Temporary memory.
    pub arena: usize,
    /// Results that are no argument's memory.
    pub results: usize,
    /// What each thread but the first takes in addition, where turns of a loop are shared out among threads, or blocks of rows.
    pub for_each_thread: usize,
}

impl MemoryPlan {
    fn of(program: &Program) -> Result<MemoryPlan> {
        let outputs = program.outputs.iter();
        let mut computed = outputs.filter(|output| output.source == OutputSource::Computed);
        let results = computed.try_fold(0usize, |sum, output| {
            let bytes = byte_size(&output.shape, output.dtype)?;
            Ok::<usize, Error>(sum.saturating_add(bytes))
        })?;
        Ok(MemoryPlan {
            arena: program.arena,
            results,
            for_each_thread: (program.parallel.iter())
                .map(|shared| shared.memory.len())
                .chain(program.tiles.iter().map(TileGroup::kept_bytes))
                .max()
                .unwrap_or(0),
        })
    }

    /// All bytes of a run on one thread.
    pub fn total(&self) -> usize {
        self.arena.saturating_add(self.results)
    }
}

pub(crate) fn check_legal(closed: &ClosedJaxpr) -> Result<()> {
    check(closed).map_err(|errors| {
        let illegal = || Error::new(ErrorKind::Invalid, "the jaxpr is illegal");
        errors.into_iter().next().unwrap_or_else(illegal)
    })
}

/// Programs of so many equations, inner ones counted, are compiled on any stack.
const FEW_EQUATIONS: usize = 64;

/// Programs of so many equations, whose bodies are nested so deep, are compiled on a stack of [`USUAL_STACK`].
const MANY_EQUATIONS: usize = 1000;
const USUAL_DEPTH: usize = 16;

/// More than such programs were seen to take: 1 MiB without optimisation, where a chain is followed as far as it ever is.
const USUAL_STACK: usize = 3 << 19;

/// The stack for others. Chains of operations and nested bodies are followed to depths that `lower` limits.
const LARGE_STACK: usize = 64 << 20;

/// The stack that compiling a program takes besides what any thread has.
pub(crate) fn compiler_stack(closed: &ClosedJaxpr) -> usize {
    let mut left = MANY_EQUATIONS;
    let depth = depth(closed, &mut left);
    match depth {
        Some(_) if MANY_EQUATIONS - left <= FEW_EQUATIONS => 0,
        Some(depth) if depth <= USUAL_DEPTH => USUAL_STACK,
        _ => LARGE_STACK,
    }
}

/// How deep bodies are nested, if there are at most `left` equations, of which it takes as many away.
fn depth(closed: &ClosedJaxpr, left: &mut usize) -> Option<usize> {
    let mut deepest = Some(0);
    for eqn in &closed.jaxpr.eqns {
        *left = left.checked_sub(1)?;
        eqn.prim.visit(&mut |inner| {
            let inner = deepest.and_then(|_| depth(inner, left));
            deepest = deepest.zip(inner).map(|(a, b)| a.max(b + 1));
        });
        deepest?;
    }
    deepest
}

#[cfg(feature = "codegen")]
fn compile_here(closed: &ClosedJaxpr, options: &CompileOptions) -> Result<Executable> {
    let mut times = StageTimes::default();
    times.measure(Stage::Check, || check_legal(closed))?;
    let named = options.checked || options.profile;
    let program = lower::lower(closed, &options.donate, options.checked, named, &mut times)?;
    let memory = MemoryPlan::of(&program)?.total();
    Executable::new(program, memory, options, times)
}
