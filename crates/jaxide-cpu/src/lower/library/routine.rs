//! Kernels made of a closure, and safe ways to divide their work among threads.

use super::elements::Pod;
use super::operands::Operands;
use crate::runtime::{Buffers, Context, Kernel, KernelCall, KernelError, Signature};
use std::sync::{Mutex, OnceLock};

/// What a kernel answers.
pub(super) type Outcome = Result<(), KernelError>;

/// A kernel whose static arguments a closure holds.
struct ClosureKernel<F> {
    signature: Signature,
    run: F,
}

impl<F: Fn(&mut Buffers<'_>, &Context<'_>) -> Outcome + Send + Sync> Kernel for ClosureKernel<F> {
    fn signature(&self) -> Signature {
        self.signature.clone()
    }

    fn run(&self, buffers: &mut Buffers<'_>, context: &Context<'_>) -> Outcome {
        (self.run)(buffers, context)
    }
}

/// The call of a closure on these operands.
pub(super) fn routine(
    operands: &Operands,
    run: impl Fn(&mut Buffers<'_>, &Context<'_>) -> Outcome + Send + Sync + 'static,
) -> Box<KernelCall> {
    KernelCall::new(ClosureKernel {
        signature: operands.signature(),
        run,
    })
}

/// Calls `body` for every run of `chunk` elements of `out` (the last may be shorter) with the position of its first
/// element, on all threads of the context.
pub(super) fn in_chunks<T: Pod + Send>(
    context: &Context<'_>,
    out: &mut [T],
    chunk: usize,
    body: impl Fn(usize, &mut [T]) + Sync,
) {
    let chunk = chunk.max(1);
    if out.len() <= chunk {
        // A small call in a loop would spend its time on the list.
        if !out.is_empty() {
            body(0, out);
        }
        return;
    }
    let chunks: Vec<Mutex<&mut [T]>> = out.chunks_mut(chunk).map(Mutex::new).collect();
    context.parallel_for(chunks.len(), |i| {
        // Each chunk is locked once, so a poisoned lock cannot be met.
        if let Ok(mut own) = chunks[i].lock() {
            body(i * chunk, &mut own);
        }
    });
}

/// `f(0)`, … `f(count - 1)`, computed on all threads of the context.
pub(super) fn each<R: Send + Sync>(
    context: &Context<'_>,
    count: usize,
    f: impl Fn(usize) -> R + Sync,
) -> Vec<R> {
    if count == 1 {
        return vec![f(0)];
    }
    let slots: Vec<OnceLock<R>> = (0..count).map(|_| OnceLock::new()).collect();
    context.parallel_for(count, |i| {
        slots[i].get_or_init(|| f(i));
    });
    slots.into_iter().filter_map(OnceLock::into_inner).collect()
}
