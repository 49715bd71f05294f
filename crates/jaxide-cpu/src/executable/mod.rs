//! Compiled programs.

mod checked;

use crate::codegen::lanes::Isa;
use crate::codegen::program::{self as code, Code, Entry};
use crate::lower::program::{OutputSource, Program};
use crate::lower::{self, Lowered};
use crate::narrow;
use crate::runtime::stack::{ASSUMED, on_stack, with_stack};
use crate::runtime::{Context, PoolBuffer, ThreadPool};
use crate::stages::{Stage, StageTimes};
use jaxide_core::{
    Aval, Cancel, ClosedJaxpr, Error, ErrorKind, Result, Storage, Tensor, byte_size, check, memory,
};
use smallvec::SmallVec;
use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

/// How a program is compiled.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct CompileOptions {
    /// At most this many threads work on one run; all of the pool if `None`.
    pub threads: Option<usize>,
    /// The instruction set of vector code; the widest of the machine if `None`.
    pub isa: Option<Isa>,
    /// Arguments, by position, that the program may overwrite, so that results are made in their memory: updates of an array, say.
    /// [`Executable::run_owned`] then copies nothing.
    pub donate: Vec<usize>,
    /// At most so many bytes may a run take besides arguments and constants; what [`memory::stated`] says if `None`.
    pub memory_limit: Option<usize>,
    /// Whether [`Executable::clif_text`] is kept.
    pub keep_text: bool,
    /// Whether the code looks at each of its loads and stores before it makes them: an access outside of its array, or a load of what
    /// was not written, is then an error of kind [`ErrorKind::Internal`] that names the kernel and its equations. Such a mistake is
    /// this compiler's. Results are the same bits; runs take one thread, several times as long, and twice the memory.
    ///
    /// ```
    /// use jaxide_core::{Tensor, parse};
    /// use jaxide_cpu::{CompileOptions, compile};
    ///
    /// let text = "{ lambda ; a:f32[1000]. let b:f32[1000] = sin a; c:f32[] = reduce_sum[axes=(0,) out_sharding=None] b in (c,) }";
    /// let arg = Tensor::from_vec(&[1000], vec![0.5f32; 1000])?;
    /// let run = |checked| {
    ///     let options = CompileOptions { checked, ..CompileOptions::default() };
    ///     compile(&parse(text)?, &options)?.run(&[arg.clone()])
    /// };
    /// assert_eq!(run(true)?, run(false)?);
    /// # Ok::<(), jaxide_core::Error>(())
    /// ```
    pub checked: bool,
}

/// What compilation did.
#[derive(Clone, Debug, Default)]
pub struct CompileStats {
    /// Time from the jaxpr to the loop IR.
    pub lower: Duration,
    /// Time from the loop IR to machine code.
    pub codegen: Duration,
    /// The same, stage by stage.
    pub stages: StageTimes,
    /// Number of lane programs.
    pub kernels: usize,
    /// Number of calls of the runtime.
    pub calls: usize,
    /// Bytes of temporary memory that a run takes.
    pub arena: usize,
    /// Bytes that a run takes at most besides its arguments, but for what single kernels take: temporary memory and results, and
    /// of checked code what it looks at.
    pub memory: usize,
    /// Bytes of stack that the code takes. A run that takes much has a thread of its own.
    pub stack: usize,
    /// Bytes of machine code.
    pub code: usize,
}

/// A compiled program. It can be run from many threads at once.
pub struct Executable {
    program: Program,
    code: Code,
    isa: Isa,
    /// Whether this machine has that instruction set.
    runs_here: bool,
    threads: Option<usize>,
    memory_limit: Option<usize>,
    checked: bool,
    stats: CompileStats,
}

/// Compiles a closed jaxpr to native code.
///
/// # Errors
/// When a run would take more memory than it may; when the jaxpr is illegal (what an equation reads and writes would not be what its types say), a primitive has no native form ([`ErrorKind::Unsupported`], naming it), values of constants are not known, or
/// an array is too large to be addressed.
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
        MemoryPlan::of(&lower::lower(closed, &[], false, times)?)
    })?
}

/// Bytes that a run takes besides its arguments, but for what single kernels take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryPlan {
    /// Temporary memory.
    pub arena: usize,
    /// Results that are no argument's memory.
    pub results: usize,
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
        })
    }

    /// All bytes.
    pub fn total(&self) -> usize {
        self.arena.saturating_add(self.results)
    }
}

fn check_legal(closed: &ClosedJaxpr) -> Result<()> {
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
fn compiler_stack(closed: &ClosedJaxpr) -> usize {
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

fn compile_here(closed: &ClosedJaxpr, options: &CompileOptions) -> Result<Executable> {
    let mut times = StageTimes::default();
    times.measure(Stage::Check, || check_legal(closed))?;
    let program = lower::lower(closed, &options.donate, options.checked, &mut times)?;
    generate(program, options, times)
}

/// Code for a program whose stages took `times`.
fn generate(
    program: Program,
    options: &CompileOptions,
    mut times: StageTimes,
) -> Result<Executable> {
    let start = Instant::now();
    let lower = times.total();
    let mut memory = MemoryPlan::of(&program)?.total();
    if options.checked {
        memory = memory.saturating_add(checked::shadow_memory(&program)?);
    }
    check_memory(memory, options.memory_limit)?;
    let isa = options.isa.unwrap_or_else(Isa::detect);
    let code = code::compile(
        &program,
        isa,
        options.keep_text,
        options.checked,
        &mut times,
    )?;
    let stats = CompileStats {
        lower,
        codegen: start.elapsed(),
        stages: times,
        kernels: program.kernels.len(),
        calls: program.calls.len(),
        arena: program.arena,
        memory,
        stack: code.stack(),
        code: code.machine_code().map(|(_, bytes)| bytes.len()).sum(),
    };
    Ok(Executable {
        program,
        code,
        isa,
        runs_here: Isa::available().contains(&isa),
        threads: options.threads,
        memory_limit: options.memory_limit,
        checked: options.checked,
        stats,
    })
}

/// # Errors
/// When a run may not take so much: by its own limit, or by that of the process if somebody stated one.
fn check_memory(bytes: usize, limit: Option<usize>) -> Result<()> {
    match limit.or_else(memory::stated) {
        Some(limit) => memory::check_within(bytes, limit)
            .map_err(|error| error.note("a run takes them for temporary memory and results")),
        None => Ok(()),
    }
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

/// What the code of a program is called with, for a thread that runs it.
#[derive(Clone, Copy)]
struct Call {
    entry: Entry,
    inputs: *const *const u8,
    outputs: *const *mut u8,
    consts: *const *const u8,
    arena: *mut u8,
}

// SAFETY: whoever starts the thread waits for it, and touches nothing of this meanwhile.
unsafe impl Sync for Call {}

impl Call {
    /// # Safety
    /// As for [`Entry`].
    unsafe fn run(&self, context: &Context<'_>) -> u32 {
        // SAFETY: promised by the caller.
        unsafe { (self.entry)(self.inputs, self.outputs, self.consts, self.arena, context) }
    }
}

/// Where arguments are. It is filled in place: what is collected is moved as a whole.
type Pointers = SmallVec<[*const u8; 128]>;

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
        self.run_until(None, args)
    }

    /// Runs the program until `cancel` ends it.
    ///
    /// ```
    /// use jaxide_core::{Cancel, ErrorKind, Tensor, parse};
    /// use jaxide_cpu::{CompileOptions, compile};
    /// use std::time::Duration;
    ///
    /// let text = "{ lambda ; a:i32[]. let
    ///     b:i32[] = while[
    ///       body_jaxpr={ lambda ; c:i32[]. let d:i32[] = add c 2:i32[] in (d,) }
    ///       body_nconsts=0
    ///       cond_jaxpr={ lambda ; c:i32[]. let d:bool[] = ne c 1:i32[] in (d,) }
    ///       cond_nconsts=0
    ///     ] a
    ///   in (b,) }";
    /// let program = compile(&parse(text).unwrap(), &CompileOptions::default())?;
    /// let limit = Cancel::after(Duration::from_millis(20));
    /// let error = program.run_with(&[Tensor::scalar(0)], &limit).unwrap_err();
    /// assert_eq!(error.kind(), ErrorKind::Cancelled);
    /// # Ok::<(), jaxide_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`run`](Self::run), and of kind [`ErrorKind::Cancelled`] when the run was ended, which is looked at in each turn of a
    /// loop and between kernels.
    pub fn run_with(&self, args: &[Tensor], cancel: &Cancel) -> Result<Vec<Tensor>> {
        self.run_until(Some(cancel), args)
    }

    fn run_until(&self, cancel: Option<&Cancel>, args: &[Tensor]) -> Result<Vec<Tensor>> {
        self.check(args)?;
        if !self.program.overwritten.is_empty() {
            return self.run_owned_until(cancel, args.to_vec());
        }
        let mut inputs = Pointers::new();
        inputs.extend(args.iter().map(|arg| arg.bytes().as_ptr()));
        // SAFETY: the arguments have the program's types, and the program writes to none.
        unsafe { self.run_checked(cancel, args, &inputs) }
    }

    /// Runs the program; arguments that it overwrites are taken over if nothing else shares them, and copied otherwise. Those are among
    /// the ones at the positions that [`CompileOptions::donate`] names.
    ///
    /// ```
    /// use jaxide_core::{Tensor, jaxpr::parse::parse};
    /// use jaxide_cpu::{CompileOptions, compile};
    ///
    /// let text = "{ lambda ; a:f32[1000] b:f32[10] c:i32[]. let d:f32[1000] = dynamic_update_slice a b c in (d,) }";
    /// let options = CompileOptions { donate: vec![0], ..CompileOptions::default() };
    /// let program = compile(&parse(text)?, &options)?;
    /// let a = Tensor::from_vec(&[1000], vec![0.0f32; 1000])?;
    /// let address = a.bytes().as_ptr();
    /// let b = Tensor::from_vec(&[10], vec![1.0f32; 10])?;
    /// let results = program.run_owned(vec![a, b, Tensor::scalar(7i32)])?;
    /// assert_eq!(results[0].bytes().as_ptr(), address);
    /// assert_eq!(results[0].as_slice::<f32>()?[6..8], [0.0, 1.0]);
    /// # Ok::<(), jaxide_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub fn run_owned(&self, args: Vec<Tensor>) -> Result<Vec<Tensor>> {
        self.run_owned_until(None, args)
    }

    /// As [`run_owned`](Self::run_owned), until `cancel` ends the run. What was donated is lost then.
    ///
    /// # Errors
    /// As [`run_with`](Self::run_with).
    pub fn run_owned_with(&self, args: Vec<Tensor>, cancel: &Cancel) -> Result<Vec<Tensor>> {
        self.run_owned_until(Some(cancel), args)
    }

    fn run_owned_until(
        &self,
        cancel: Option<&Cancel>,
        mut args: Vec<Tensor>,
    ) -> Result<Vec<Tensor>> {
        self.check(&args)?;
        for &k in &self.program.overwritten {
            let arg = &mut args[k as usize];
            if arg.bytes_mut().is_none() {
                let mut buffer = PoolBuffer::new(arg.bytes().len()).map_err(out_of_memory)?;
                buffer.bytes_mut().copy_from_slice(arg.bytes());
                *arg = Tensor::from_storage(arg.shape(), arg.dtype(), Pooled(buffer))?;
            }
        }
        let mut inputs = Pointers::new();
        inputs.extend(args.iter().map(|arg| arg.bytes().as_ptr()));
        for &k in &self.program.overwritten {
            if let Some(bytes) = args[k as usize].bytes_mut() {
                inputs[k as usize] = bytes.as_mut_ptr();
            }
        }
        // SAFETY: the arguments have the program's types, and nothing else has a share in those that it writes to.
        unsafe { self.run_checked(cancel, &args, &inputs) }
    }

    /// Runs the program on memory of the caller's: arguments are read from `inputs`, results written to `outputs`.
    ///
    /// # Errors
    /// When memory runs out.
    ///
    /// # Safety
    /// There is a pointer for each argument and result, to memory of the size of its type and aligned for its elements. Outputs overlap nothing
    /// else, but an output may be an input that the program was compiled to overwrite ([`CompileOptions::donate`]); what was donated
    /// may be written to.
    pub unsafe fn run_pointers(&self, inputs: &[*const u8], outputs: &[*mut u8]) -> Result<()> {
        let consts = self.constants();
        // SAFETY: the caller's promise; constants have their types.
        unsafe { self.enter(None, inputs, outputs, &consts)? };
        for (k, output) in self.program.outputs.iter().enumerate() {
            let from = match output.source {
                OutputSource::Computed => continue,
                OutputSource::Input(input) | OutputSource::Donated(input) => inputs[input as usize],
                OutputSource::Const(index) => consts[index as usize],
                OutputSource::Same(other) => outputs[other as usize].cast_const(),
            };
            let bytes = byte_size(&output.shape, output.dtype)?;
            // SAFETY: both have the size of the result's type.
            unsafe { std::ptr::copy(from, outputs[k], bytes) };
        }
        Ok(())
    }

    fn constants(&self) -> SmallVec<[*const u8; 8]> {
        let consts = self.program.consts.iter();
        consts.map(|tensor| tensor.bytes().as_ptr()).collect()
    }

    /// Runs the program on arguments whose memory is at `inputs`.
    ///
    /// # Safety
    /// The arguments have the program's types, and those that it writes to are the caller's alone.
    unsafe fn run_checked(
        &self,
        cancel: Option<&Cancel>,
        args: &[Tensor],
        inputs: &[*const u8],
    ) -> Result<Vec<Tensor>> {
        let program = &self.program;
        let mut pending: SmallVec<[Pending; 8]> = SmallVec::new();
        for output in &program.outputs {
            let bytes = byte_size(&output.shape, output.dtype)?;
            pending.push(match output.source {
                OutputSource::Computed if bytes <= 16 => Pending::Small(Small {
                    bytes: [0; 16],
                    length: narrow(bytes),
                }),
                OutputSource::Computed => {
                    Pending::Pooled(PoolBuffer::new(bytes).map_err(out_of_memory)?)
                }
                OutputSource::Input(_)
                | OutputSource::Donated(_)
                | OutputSource::Const(_)
                | OutputSource::Same(_) => Pending::None,
            });
        }
        let mut outputs: SmallVec<[*mut u8; 16]> = SmallVec::new();
        outputs.extend(pending.iter_mut().map(|result| match result {
            Pending::Small(small) => small.bytes.as_mut_ptr(),
            Pending::Pooled(buffer) => buffer.as_mut_ptr(),
            Pending::None => std::ptr::null_mut(),
        }));
        // SAFETY: the caller promises the arguments; results and constants have the sizes that the program states, and each result has
        // memory of its own.
        unsafe { self.enter(cancel, inputs, &outputs, &self.constants())? };
        let mut results: Vec<Tensor> = Vec::with_capacity(pending.len());
        for (output, result) in program.outputs.iter().zip(pending.drain(..)) {
            let tensor = match (output.source, result) {
                (_, Pending::Small(small)) => {
                    Tensor::from_storage(&output.shape, output.dtype, small)?
                }
                (_, Pending::Pooled(buffer)) => {
                    Tensor::from_storage(&output.shape, output.dtype, Pooled(buffer))?
                }
                (OutputSource::Input(k) | OutputSource::Donated(k), Pending::None) => {
                    same(&args[k as usize], output)?
                }
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
        cancel: Option<&Cancel>,
        inputs: &[*const u8],
        outputs: &[*mut u8],
        consts: &[*const u8],
    ) -> Result<()> {
        if !self.runs_here {
            return Err(Error::new(
                ErrorKind::Unsupported,
                format!(
                    "the code is for {:?}, which this machine does not have",
                    self.isa
                ),
            ));
        }
        check_memory(self.stats.memory, self.memory_limit)?;
        if self.checked {
            // SAFETY: the caller's promise.
            return unsafe { self.enter_checked(cancel, inputs, outputs, consts) };
        }
        let threads = self.threads.unwrap_or(usize::MAX);
        let run = |arena: *mut u8| {
            // SAFETY: the caller promises the rest, and the arena has the program's size.
            unsafe { self.call(cancel, [inputs, consts], outputs, arena, threads) }
        };
        if self.program.arena <= STACK_ARENA {
            let mut arena = StackArena(MaybeUninit::uninit());
            run(arena.0.as_mut_ptr().cast())
        } else {
            let mut arena = PoolBuffer::new(self.program.arena).map_err(out_of_memory)?;
            run(arena.as_mut_ptr())
        }
    }

    /// Calls the code on at most so many threads; `read` holds the pointers to arguments and to constants.
    ///
    /// # Safety
    /// As for [`Entry`].
    unsafe fn call(
        &self,
        cancel: Option<&Cancel>,
        read: [&[*const u8]; 2],
        outputs: &[*mut u8],
        arena: *mut u8,
        threads: usize,
    ) -> Result<()> {
        let pool = ThreadPool::global();
        let mut context = Context::new(pool, threads);
        if let Some(cancel) = cancel {
            cancel.check()?;
            context = context.stopped_by(cancel.flag());
        }
        let call = Call {
            entry: self.code.entry(),
            inputs: read[0].as_ptr(),
            outputs: outputs.as_ptr(),
            consts: read[1].as_ptr(),
            arena,
        };
        let run = || {
            // SAFETY: promised by the caller.
            let run = || unsafe { call.run(&context) };
            if self.stats.stack <= ASSUMED {
                return Ok(run());
            }
            with_stack(self.stats.stack, "the code", run)
        };
        let status = match cancel {
            Some(cancel) => watched(cancel, run)?,
            None => run()?,
        };
        if let Some(cancel) = cancel {
            cancel.check()?;
        }
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

    /// Types of the constants.
    pub fn constant_avals(&self) -> Vec<Aval> {
        self.program.consts.iter().map(Tensor::aval).collect()
    }

    /// Numbers of the results that take no memory of their own: they are an argument, a constant, an earlier result, or made in
    /// the memory of a donated argument.
    pub fn results_without_memory(&self) -> Vec<usize> {
        let outputs = self.program.outputs.iter().enumerate();
        outputs
            .filter(|(_, output)| output.source != OutputSource::Computed)
            .map(|(k, _)| k)
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

/// Runs `work`, beside a thread that sets the flag of `cancel` when its time is over.
fn watched<R>(cancel: &Cancel, work: impl FnOnce() -> R) -> R {
    if cancel.time_left().is_none() {
        return work();
    }
    /// Ends the watch, also when the work panics.
    struct End<'a>(&'a AtomicBool, &'a Thread);
    impl Drop for End<'_> {
        fn drop(&mut self) {
            self.0.store(true, Ordering::Release);
            self.1.unpark();
        }
    }
    let ended = AtomicBool::new(false);
    thread::scope(|scope| {
        let watch = scope.spawn(|| {
            while !ended.load(Ordering::Acquire) {
                match cancel.time_left() {
                    Some(left) if !left.is_zero() => thread::park_timeout(left),
                    _ => return cancel.cancel(),
                }
            }
        });
        let _end = End(&ended, watch.thread());
        work()
    })
}

/// An existing array as a result.
fn same(tensor: &Tensor, output: &crate::lower::program::Output) -> Result<Tensor> {
    tensor.reinterpreted(&output.shape, output.dtype)
}

fn out_of_memory(error: crate::runtime::OutOfMemory) -> Error {
    Error::new(ErrorKind::TooLarge, error.to_string())
}
