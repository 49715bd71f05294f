//! Compiled programs, and what runs them.

mod checked;
mod profile;

pub use profile::StepProfile;

use super::program::{self as code, Code, Entry};
use crate::isa::Isa;
use crate::lower::program::{OutputSource, Program, parallel};
use crate::narrow;
use crate::options::{CompileOptions, CompileStats};
use crate::runtime::pages::Regulars;
use crate::runtime::stack::{ASSUMED, with_stack};
use crate::runtime::subnormals::FloatMode;
use crate::runtime::upper;
use crate::runtime::{Context, PoolBuffer, Printer, ThreadPool};
use crate::stages::StageTimes;
use jaxide_core::{
    Aval, Cancel, DType, Error, ErrorKind, Result, Storage, Tensor, byte_size, memory, same_shape,
};
use smallvec::SmallVec;
use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, Thread};
use std::time::Instant;

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
    flush_subnormals: bool,
    /// Large arguments, and constants.
    regulars: [Regulars; 2],
    stats: CompileStats,
}

impl Executable {
    /// Generates the code of a program whose stages took `times`, and whose runs take so many bytes besides arguments.
    ///
    /// # Errors
    /// When a run may not take so much memory, or there is none for the code.
    pub(crate) fn new(
        mut program: Program,
        mut bytes: usize,
        options: &CompileOptions,
        mut times: StageTimes,
    ) -> Result<Executable> {
        let start = Instant::now();
        let lower = times.total();
        if options.checked {
            bytes = bytes.saturating_add(checked::shadow_memory(&program)?);
        }
        check_memory(bytes, options.memory_limit)?;
        let for_threads = !program.parallel.is_empty()
            || (program.tiles.iter()).any(|group| !group.kept.is_empty());
        if !options.checked && for_threads {
            let all = || ThreadPool::global().threads();
            let threads = options.threads.unwrap_or_else(all).max(1);
            let limit = options.memory_limit.or_else(memory::stated);
            let left = limit.unwrap_or(usize::MAX).saturating_sub(bytes);
            bytes += parallel::admit_threads(&mut program, threads, left);
        }
        let isa = options.isa.unwrap_or_else(Isa::detect);
        let code = code::compile(&program, isa, options, &mut times)?;
        let stats = CompileStats {
            lower,
            codegen: start.elapsed(),
            stages: times,
            kernels: program.kernels.len(),
            calls: program.calls.len(),
            arena: program.arena,
            memory: bytes,
            stack: code.stack(),
            code: code.machine_code().map(|(_, bytes)| bytes.len()).sum(),
        };
        let arguments =
            (program.inputs.iter()).map(|(dtype, shape)| byte_size(shape, *dtype).unwrap_or(0));
        let consts = program.consts.iter().map(|tensor| tensor.bytes().len());
        let regulars = [Regulars::new(arguments), Regulars::new(consts)];
        Ok(Executable {
            program,
            code,
            isa,
            runs_here: Isa::available().contains(&isa),
            threads: options.threads,
            memory_limit: options.memory_limit,
            checked: options.checked,
            flush_subnormals: options.flush_subnormals,
            regulars,
            stats,
        })
    }
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

/// Bytes of a small result, in one piece of memory with the array that it is.
#[repr(align(16))]
struct Small<const ROOM: usize> {
    bytes: [u8; ROOM],
    length: u8,
}

impl<const ROOM: usize> Small<ROOM> {
    /// # Errors
    /// When there is no such array.
    fn array(shape: &[usize], dtype: DType, length: usize) -> Result<Tensor> {
        let small = Small {
            bytes: [0; ROOM],
            length: narrow(length),
        };
        Tensor::from_storage(shape, dtype, small)
    }
}

impl<const ROOM: usize> Storage for Small<ROOM> {
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
        upper::clear();
        // SAFETY: promised by the caller.
        unsafe { (self.entry)(self.inputs, self.outputs, self.consts, self.arena, context) }
    }
}

/// What a run has from who asks for it, besides arguments.
#[derive(Clone, Copy, Default)]
struct Surroundings<'a> {
    cancel: Option<&'a Cancel>,
    print: Option<&'a Printer<'a>>,
}

impl<'a> Surroundings<'a> {
    fn until(cancel: &'a Cancel) -> Self {
        Surroundings {
            cancel: Some(cancel),
            print: None,
        }
    }
}

/// Where arguments are. It is filled in place: what is collected is moved as a whole.
type Pointers = SmallVec<[*const u8; 128]>;

impl Executable {
    /// Runs the program.
    ///
    /// # Errors
    /// When the arguments do not have the types of the program; the message names the first that does not. When memory
    /// runs out.
    pub fn run(&self, args: &[Tensor]) -> Result<Vec<Tensor>> {
        self.run_until(Surroundings::default(), args)
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
        self.run_until(Surroundings::until(cancel), args)
    }

    fn run_until(&self, around: Surroundings<'_>, args: &[Tensor]) -> Result<Vec<Tensor>> {
        self.check(args)?;
        if !self.program.overwritten.is_empty() {
            return self.run_owned_until(around, args.to_vec());
        }
        let mut inputs = Pointers::new();
        inputs.extend(args.iter().map(|arg| arg.bytes().as_ptr()));
        // SAFETY: the arguments have the program's types, and the program writes to none.
        unsafe { self.run_checked(around, args, &inputs) }
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
        self.run_owned_until(Surroundings::default(), args)
    }

    /// As [`run_owned`](Self::run_owned), where `print` has what `debug_print` would write to standard error, in the order of the
    /// program: the format, and the arrays. It may be called on another thread.
    ///
    /// ```
    /// use jaxide_core::{Tensor, eval::formatted, parse};
    /// use jaxide_cpu::{CompileOptions, compile};
    /// use std::sync::Mutex;
    ///
    /// let text = "{ lambda ; a:i32[]. let
    ///     debug_print[
    ///       fmt=a is {}
    ///       has_placeholders=True
    ///       in_tree=PyTreeDef(((*,), {}))
    ///       logging_record=None
    ///       np_printoptions=()
    ///       ordered=True
    ///       partitioned=False
    ///       static_args=()
    ///     ] a
    ///   in (a,) }";
    /// let program = compile(&parse(text).unwrap(), &CompileOptions::default())?;
    /// let lines = Mutex::new(Vec::new());
    /// let print = |format: &str, arrays: &[Tensor]| lines.lock().unwrap().push(formatted(format, arrays));
    /// program.run_printing(vec![Tensor::scalar(3)], &print)?;
    /// assert_eq!(*lines.lock().unwrap(), ["a is 3"]);
    /// # Ok::<(), jaxide_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub fn run_printing(&self, args: Vec<Tensor>, print: &Printer<'_>) -> Result<Vec<Tensor>> {
        let around = Surroundings {
            cancel: None,
            print: Some(print),
        };
        self.run_owned_until(around, args)
    }

    /// As [`run_owned`](Self::run_owned), until `cancel` ends the run. What was donated is lost then.
    ///
    /// # Errors
    /// As [`run_with`](Self::run_with).
    pub fn run_owned_with(&self, args: Vec<Tensor>, cancel: &Cancel) -> Result<Vec<Tensor>> {
        self.run_owned_until(Surroundings::until(cancel), args)
    }

    fn run_owned_until(
        &self,
        around: Surroundings<'_>,
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
        unsafe { self.run_checked(around, &args, &inputs) }
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
        unsafe { self.enter(Surroundings::default(), inputs, outputs, &consts)? };
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
        around: Surroundings<'_>,
        args: &[Tensor],
        inputs: &[*const u8],
    ) -> Result<Vec<Tensor>> {
        let program = &self.program;
        let mut results: Vec<Tensor> = Vec::with_capacity(program.outputs.len());
        for output in &program.outputs {
            match output.source {
                OutputSource::Computed if !output.shape.is_empty() => {
                    results.push(memory_for(&output.shape, output.dtype)?);
                }
                // A number, or another array, which takes this place afterwards.
                OutputSource::Computed
                | OutputSource::Input(_)
                | OutputSource::Donated(_)
                | OutputSource::Const(_)
                | OutputSource::Same(_) => results.push(Tensor::from_words(output.dtype, [0; 2])),
            }
        }
        let mut outputs: SmallVec<[*mut u8; 16]> = SmallVec::with_capacity(results.len());
        for result in &mut results {
            let bytes = result.bytes_mut().map(<[u8]>::as_mut_ptr);
            outputs.push(bytes.unwrap_or(std::ptr::null_mut()));
        }
        // SAFETY: the caller promises the arguments; results and constants have the sizes that the program states, and each result has
        // memory of its own, which nothing else touches meanwhile.
        unsafe { self.enter(around, inputs, &outputs, &self.constants())? };
        for (k, output) in program.outputs.iter().enumerate() {
            results[k] = match output.source {
                OutputSource::Computed => continue,
                OutputSource::Input(input) | OutputSource::Donated(input) => {
                    same(&args[input as usize], output)?
                }
                OutputSource::Const(index) => same(&program.consts[index as usize], output)?,
                OutputSource::Same(other) => results[other as usize].clone(),
            };
        }
        Ok(results)
    }

    /// Calls the code.
    ///
    /// # Safety
    /// As for [`code::Entry`]; the arena is provided here.
    unsafe fn enter(
        &self,
        around: Surroundings<'_>,
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
        let [arguments, constants] = &self.regulars;
        arguments.meet(inputs);
        constants.meet(consts);
        if self.checked {
            // SAFETY: the caller's promise.
            return unsafe { self.enter_checked(around, inputs, outputs, consts) };
        }
        let threads = self.threads.unwrap_or(usize::MAX);
        let run = |arena: *mut u8| {
            // SAFETY: the caller promises the rest, and the arena has the program's size.
            unsafe { self.call(around, [inputs, consts], outputs, arena, threads) }
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
        around: Surroundings<'_>,
        read: [&[*const u8]; 2],
        outputs: &[*mut u8],
        arena: *mut u8,
        threads: usize,
    ) -> Result<()> {
        let pool = ThreadPool::global();
        let mut context = Context::new(pool, threads);
        let Surroundings { cancel, print } = around;
        if let Some(print) = print {
            context = context.printing(print);
        }
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
            let run = || {
                let mode = FloatMode::current();
                let mode = if self.flush_subnormals {
                    mode.flushing()
                } else {
                    mode
                };
                // SAFETY: promised by the caller.
                mode.during(|| unsafe { call.run(&context) })
            };
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
            if arg.dtype() != *dtype || !same_shape(arg.shape(), shape) {
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

/// An array with axes for a result, whose elements are whatever is there.
///
/// # Errors
/// When there is no memory.
fn memory_for(shape: &[usize], dtype: DType) -> Result<Tensor> {
    let length = byte_size(shape, dtype)?;
    match length {
        ..=16 => return Small::<16>::array(shape, dtype, length),
        17..=32 => return Small::<32>::array(shape, dtype, length),
        33..=64 => return Small::<64>::array(shape, dtype, length),
        65..=128 => return Small::<128>::array(shape, dtype, length),
        _ => {}
    }
    let buffer = PoolBuffer::new(length).map_err(out_of_memory)?;
    Tensor::from_storage(shape, dtype, Pooled(buffer))
}

fn out_of_memory(error: crate::runtime::OutOfMemory) -> Error {
    Error::new(ErrorKind::TooLarge, error.to_string())
}
