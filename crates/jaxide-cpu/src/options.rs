//! How programs are compiled, and what compilation did.

use crate::isa::Isa;
use crate::stages::StageTimes;
use std::time::Duration;

/// How a program is compiled.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct CompileOptions {
    /// At most this many threads work on one run; all of the pool if `None`.
    pub threads: Option<usize>,
    /// The instruction set of vector code; the widest of the machine if `None`.
    pub isa: Option<Isa>,
    /// Arguments, by position, that the program may overwrite, so that results are made in their memory: updates of an array, say.
    /// [`Executable::run_owned`](crate::Executable::run_owned) then copies nothing.
    pub donate: Vec<usize>,
    /// At most so many bytes may a run take besides arguments and constants; what [`memory::stated`](jaxide_core::memory::stated) says if `None`.
    pub memory_limit: Option<usize>,
    /// Whether arithmetic takes subnormal numbers for zero, as that of JAX does on CPU, where the processor can (x86-64, AArch64): many
    /// take hundreds of cycles for an instruction with one. Operations that only move numbers keep them.
    ///
    /// ```
    /// use jaxide_core::{Tensor, parse};
    /// use jaxide_cpu::{CompileOptions, compile};
    ///
    /// let half = parse("{ lambda ; a:f32[]. let b:f32[] = mul a 0.5:f32[] in (b,) }")?;
    /// let run = |flush_subnormals| {
    ///     let options = CompileOptions { flush_subnormals, ..CompileOptions::default() };
    ///     compile(&half, &options)?.run(&[Tensor::scalar(f32::MIN_POSITIVE)])
    /// };
    /// assert_eq!(run(false)?, [Tensor::scalar(f32::MIN_POSITIVE / 2.0)]);
    /// if cfg!(any(target_arch = "x86_64", target_arch = "aarch64")) {
    ///     assert_eq!(run(true)?, [Tensor::scalar(0.0f32)]);
    /// }
    /// # Ok::<(), jaxide_core::Error>(())
    /// ```
    pub flush_subnormals: bool,
    /// Whether [`Executable::clif_text`](crate::Executable::clif_text) is kept.
    pub keep_text: bool,
    /// Whether the code looks at each of its loads and stores before it makes them: an access outside of its array, or a load of what
    /// was not written, is then an error of kind [`ErrorKind::Internal`](jaxide_core::ErrorKind::Internal) that names the kernel and its equations. Such a mistake is
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
    /// Whether the code takes the time of each of its steps, which [`Executable::take_profile`](crate::Executable::take_profile) tells. It looks
    /// at the clock twice for a step, and turns of a loop are in order, on all threads in each step.
    pub profile: bool,
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
