//! What compiled code calls: thread pool, buffers and numerical kernels.
//!
//! This room knows shapes, strides and element types, and nothing of jaxprs. Each family is a
//! module of plain Rust functions over slices; beside them stand *kernel* structs that fix the
//! static data of one call (shapes, axes, flags) and implement [`Kernel`].
//!
//! # How compiled code calls a kernel
//!
//! While a program is compiled, every library call in it becomes a [`KernelCall`] that the compiled
//! program owns. The generated code holds the address of the call and, at run time, executes
//!
//! ```text
//! status = call_kernel(call, buffers, context)      // extern "C", see [`call_kernel`]
//! ```
//!
//! where `buffers` points to an array of data pointers, the inputs first and then the outputs, in
//! the order and with the byte sizes that the kernel's [`Signature`] states, and `context` is the
//! [`Context`] of this execution. A status other than 0 means that the context now holds a
//! [`KernelError`]: the generated code must return at once.
//!
//! What the caller guarantees:
//! - every pointer is valid for its number of bytes and aligned for its element type (64 bytes is
//!   best);
//! - an output overlaps no other operand. A kernel that updates in place (its documentation says
//!   so) has the updated array as an output, into which the caller has put the old value;
//! - array data is dense, row-major, little endian; `bool` is one byte, 0 or 1; complex numbers are
//!   (re, im) pairs.
//!
//! Loops of the generated code itself are run by [`launch`], with the same pool.
//!
//! # Laws
//!
//! - The result of a kernel depends on its operands only, never on the number of threads or on the
//!   address of a buffer.
//! - No kernel panics on any array contents. Should one panic all the same, [`call_kernel`] turns
//!   that into a [`KernelError`].

pub mod buffers;
pub(crate) mod checked;
pub mod conv;
pub mod cumulative;
pub mod fft;
pub mod free;
mod global;
pub(crate) mod launch;
pub mod linalg;
pub mod machine;
pub mod matmul;
pub(crate) mod pages;
pub mod pool;
mod process;
pub(crate) mod profile;
pub mod random;
pub mod rows;
pub mod scatter;
pub(crate) mod search;
mod shared;
pub(crate) mod simd;
pub mod sort;
pub(crate) mod stack;
pub(crate) mod subnormals;
mod sync;
pub mod transpose;
pub(crate) mod turns;
pub(crate) mod upper;
pub mod view;

use std::any::Any;
use std::fmt;
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use bytemuck::Pod;
use jaxide_core::{Tensor, eval};

use subnormals::FloatMode;

pub use buffers::{OutOfMemory, PoolBuffer};
pub use pool::ThreadPool;
pub use process::Process;
pub use view::View;

/// A library call with its static arguments: shapes, axes, flags.
pub trait Kernel: Send + Sync {
    /// The operands of the call.
    fn signature(&self) -> Signature;

    /// Reads the inputs and writes all of every output.
    ///
    /// # Errors
    /// When memory for intermediate results cannot be had.
    fn run(&self, buffers: &mut Buffers<'_>, context: &Context<'_>) -> Result<(), KernelError>;

    /// Whether it takes subnormal numbers for zero in a program that does: sums and products of elements. Other kernels compute with
    /// them, since iterations may end by what is left of a number.
    fn flushes_subnormals(&self) -> bool {
        false
    }
}

/// The operands of a kernel: their sizes in bytes, in the order of the pointers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Signature {
    /// Bytes of each input.
    pub inputs: Vec<usize>,
    /// Bytes of each output.
    pub outputs: Vec<usize>,
}

impl Signature {
    /// Sizes for inputs and outputs given as (number of elements, bytes of an element).
    pub fn of(inputs: &[(usize, usize)], outputs: &[(usize, usize)]) -> Self {
        let bytes = |list: &[(usize, usize)]| list.iter().map(|(n, size)| n * size).collect();
        Self {
            inputs: bytes(inputs),
            outputs: bytes(outputs),
        }
    }
}

/// A kernel ready to be called from generated code. The compiled program owns it and must outlive
/// every call.
pub struct KernelCall {
    kernel: Box<dyn Kernel>,
    signature: Signature,
}

impl KernelCall {
    /// Wraps a kernel; the address of the box is what [`call_kernel`] takes.
    pub fn new(kernel: impl Kernel + 'static) -> Box<Self> {
        let signature = kernel.signature();
        Box::new(Self {
            kernel: Box::new(kernel),
            signature,
        })
    }

    /// The operands and their sizes.
    pub fn signature(&self) -> &Signature {
        &self.signature
    }

    /// Calls the kernel from Rust, on slices of bytes.
    ///
    /// # Errors
    /// What the kernel answers; and a [`KernelError`] if the number, the size or the alignment of
    /// operands is wrong.
    pub fn call(
        &self,
        inputs: &[&[u8]],
        outputs: &mut [&mut [u8]],
        context: &Context<'_>,
    ) -> Result<(), KernelError> {
        let sizes_fit = inputs
            .iter()
            .map(|b| b.len())
            .eq(self.signature.inputs.iter().copied())
            && outputs
                .iter()
                .map(|b| b.len())
                .eq(self.signature.outputs.iter().copied());
        if !sizes_fit {
            return Err(KernelError::new(format!(
                "the operands do not have the sizes of {:?}",
                self.signature
            )));
        }
        let pointers: Vec<*mut u8> = inputs
            .iter()
            .map(|bytes| bytes.as_ptr().cast_mut())
            .chain(outputs.iter_mut().map(|bytes| bytes.as_mut_ptr()))
            .collect();
        // SAFETY: the pointers come from live slices of the stated sizes; outputs are exclusive
        // borrows, so they overlap nothing.
        let mut buffers = unsafe { Buffers::new(&self.signature, pointers.as_ptr()) };
        self.kernel.run(&mut buffers, context)
    }
}

/// The operands of one call, as typed slices.
pub struct Buffers<'a> {
    signature: &'a Signature,
    pointers: *const *mut u8,
    taken: u64,
    lifetime: PhantomData<&'a mut [u8]>,
}

impl<'a> Buffers<'a> {
    /// # Safety
    /// `pointers` holds one pointer for each operand of `signature`, as the module's documentation
    /// demands, valid for `'a`.
    unsafe fn new(signature: &'a Signature, pointers: *const *mut u8) -> Self {
        assert!(signature.outputs.len() <= 64, "at most 64 outputs");
        Self {
            signature,
            pointers,
            taken: 0,
            lifetime: PhantomData,
        }
    }

    /// The `index`-th input.
    ///
    /// # Panics
    /// If there is no such input, or its bytes are not a whole number of aligned `T`s.
    pub fn input<T: Pod>(&self, index: usize) -> &'a [T] {
        let bytes = self.signature.inputs[index];
        // SAFETY: `new` was promised a valid pointer for each operand, and the index is in range.
        let pointer = unsafe { *self.pointers.add(index) };
        let count = element_count::<T>(pointer, bytes);
        // An empty operand may have any pointer; an aligned one lets bytes become elements.
        let pointer = if count == 0 {
            aligned_dangling()
        } else {
            pointer
        };
        // SAFETY: `new` was promised that the pointer is valid for that many bytes and that no
        // output overlaps it; `element_count` checked the alignment; any bit pattern is a `T: Pod`.
        unsafe { std::slice::from_raw_parts(pointer.cast::<T>(), count) }
    }

    /// The `index`-th output. Each can be taken once.
    ///
    /// # Panics
    /// If there is no such output, it was taken before, or its bytes are not a whole number of
    /// aligned `T`s.
    pub fn output<T: Pod>(&mut self, index: usize) -> &'a mut [T] {
        let bytes = self.signature.outputs[index];
        assert!(
            self.taken & (1 << index) == 0,
            "output {index} is taken twice"
        );
        self.taken |= 1 << index;
        // SAFETY: as in `input`.
        let pointer = unsafe { *self.pointers.add(self.signature.inputs.len() + index) };
        let count = element_count::<T>(pointer, bytes);
        let pointer = if count == 0 {
            aligned_dangling()
        } else {
            pointer
        };
        // SAFETY: as in `input`; outputs overlap nothing and `taken` makes this the only reference.
        unsafe { std::slice::from_raw_parts_mut(pointer.cast::<T>(), count) }
    }
}

fn aligned_dangling() -> *mut u8 {
    std::ptr::without_provenance_mut(buffers::ALIGNMENT)
}

fn element_count<T: Pod>(pointer: *mut u8, bytes: usize) -> usize {
    assert!(
        bytes.is_multiple_of(size_of::<T>()),
        "{bytes} bytes are not a whole number of elements"
    );
    let count = bytes / size_of::<T>();
    assert!(
        count == 0 || pointer.cast::<T>().is_aligned(),
        "operand is not aligned for its element type"
    );
    count
}

/// What one execution of a program shares with the kernels it calls.
#[repr(C)]
pub struct Context<'a> {
    /// Whether the run is to end. Generated code reads it, at the start of this.
    stop: &'a AtomicBool,
    pool: &'a ThreadPool,
    threads: usize,
    error: OnceLock<KernelError>,
    print: Option<&'a Printer<'a>>,
}

/// What has the format and the arrays of what is printed while a program runs.
pub type Printer<'a> = dyn Fn(&str, &[Tensor]) + Sync + 'a;

impl<'a> Context<'a> {
    /// An execution that uses at most `threads` threads of `pool`, the caller included.
    pub fn new(pool: &'a ThreadPool, threads: usize) -> Self {
        static RUNS_ON: AtomicBool = AtomicBool::new(false);
        Self {
            stop: &RUNS_ON,
            pool,
            threads: threads.clamp(1, pool.threads()),
            error: OnceLock::new(),
            print: None,
        }
    }

    /// The same, where `print` has what is printed. Without that it is written to standard error.
    #[must_use]
    pub fn printing(self, print: &'a Printer<'a>) -> Self {
        Self {
            print: Some(print),
            ..self
        }
    }

    /// Prints.
    pub(crate) fn print(&self, format: &str, arrays: &[Tensor]) {
        match self.print {
            Some(print) => print(format, arrays),
            None => eval::print(format, arrays),
        }
    }

    /// The same, ended when the flag is set: what has not started is left out then, so that results are not to be used.
    #[must_use]
    pub fn stopped_by(self, stop: &'a AtomicBool) -> Self {
        Self { stop, ..self }
    }

    /// Whether the execution is to end.
    pub fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// The byte that is not 0 once the execution is to end.
    pub(crate) fn stop(&self) -> *const u8 {
        self.stop.as_ptr().cast_const().cast()
    }

    /// How many threads may work at once, at least 1.
    pub fn threads(&self) -> usize {
        self.threads
    }

    /// Runs `body(0)`, … `body(chunks - 1)`, each once, in any order, on at most [`Self::threads`]
    /// threads; see [`ThreadPool::parallel_for`].
    pub fn parallel_for(&self, chunks: usize, body: impl Fn(usize) + Sync) {
        self.for_each_chunk(chunks, &body);
    }

    /// [`parallel_for`](Self::parallel_for), compiled once and not for each loop.
    fn for_each_chunk(&self, chunks: usize, body: &(dyn Fn(usize) + Sync)) {
        self.pool.for_each_chunk(self.threads, chunks, &|chunk| {
            if !self.is_stopped() {
                body(chunk);
            }
        });
    }

    /// The first error of a kernel in this execution.
    pub fn error(&self) -> Option<&KernelError> {
        self.error.get()
    }

    /// Takes note of an error. Only the first is kept: it is the one that explains the others.
    pub(crate) fn fail(&self, error: KernelError) {
        let _ = self.error.set(error);
    }

    /// Takes the error out, at the end of the execution.
    pub fn into_error(self) -> Option<KernelError> {
        self.error.into_inner()
    }
}

impl Default for Context<'static> {
    /// All threads of the global pool.
    fn default() -> Self {
        let pool = ThreadPool::global();
        Context::new(pool, pool.threads())
    }
}

/// Why a kernel could not finish.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelError {
    message: String,
}

impl KernelError {
    /// An error with this text.
    pub fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
        }
    }

    fn from_panic(payload: &(dyn Any + Send)) -> Self {
        let text = payload
            .downcast_ref::<String>()
            .map(String::as_str)
            .or_else(|| payload.downcast_ref::<&str>().copied())
            .unwrap_or("unknown panic");
        Self::new(format!("internal error in a runtime kernel: {text}"))
    }
}

impl fmt::Display for KernelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for KernelError {}

impl From<OutOfMemory> for KernelError {
    fn from(error: OutOfMemory) -> Self {
        Self::new(error.to_string())
    }
}

/// The entry point of every kernel, called by generated code. Returns 0, or 1 after putting an
/// error into the context.
///
/// # Safety
/// `call` and `context` point to live values; `buffers` points to one data pointer for each
/// operand, as the module's documentation demands.
pub unsafe extern "C" fn call_kernel(
    call: *const KernelCall,
    buffers: *const *mut u8,
    context: *const Context<'_>,
) -> u32 {
    // SAFETY: the caller promises live values.
    let (call, context) = unsafe { (&*call, &*context) };
    if let Err(error) = has_room(&call.signature) {
        context.fail(error);
        return 1;
    }
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        // SAFETY: the caller promises pointers that fit the signature.
        let mut buffers = unsafe { Buffers::new(&call.signature, buffers) };
        let mut run = || call.kernel.run(&mut buffers, context);
        if call.kernel.flushes_subnormals() {
            return run();
        }
        FloatMode::current().keeping().during(run)
    }));
    let error = match outcome {
        Ok(Ok(())) => return 0,
        Ok(Err(error)) => error,
        Err(payload) => KernelError::from_panic(&*payload),
    };
    context.fail(error);
    1
}

/// Refuses a call whose intermediate results there is no memory for: about as much as its operands in most kernels.
fn has_room(signature: &Signature) -> Result<(), KernelError> {
    let sizes = signature.inputs.iter().chain(&signature.outputs);
    let bytes = sizes.fold(0usize, |sum, &size| sum.saturating_add(size));
    if bytes >= LARGE_CALL && !jaxide_core::memory::can_allocate(bytes) {
        return Err(OutOfMemory { bytes }.into());
    }
    Ok(())
}

/// Calls on smaller operands are not asked about.
const LARGE_CALL: usize = 16 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    struct AddOne {
        n: usize,
        fail: bool,
    }

    impl Kernel for AddOne {
        fn signature(&self) -> Signature {
            Signature::of(&[(self.n, 4)], &[(self.n, 4)])
        }

        fn run(&self, buffers: &mut Buffers<'_>, _: &Context<'_>) -> Result<(), KernelError> {
            let (x, y) = (buffers.input::<i32>(0), buffers.output::<i32>(0));
            assert!(!self.fail, "asked to fail");
            for (x, y) in x.iter().zip(y) {
                *y = x + 1;
            }
            Ok(())
        }
    }

    #[test]
    fn a_kernel_is_called_through_its_address() {
        let call = KernelCall::new(AddOne { n: 3, fail: false });
        let (mut x, mut y) = ([1i32, 2, 3], [0i32; 3]);
        let pointers = [x.as_mut_ptr().cast::<u8>(), y.as_mut_ptr().cast::<u8>()];
        let context = Context::default();
        // SAFETY: two live arrays of three i32 each, as the signature says.
        let status = unsafe { call_kernel(&*call, pointers.as_ptr(), &context) };
        assert_eq!((status, y, context.error()), (0, [2, 3, 4], None));
    }

    #[test]
    fn a_panic_becomes_an_error() {
        let call = KernelCall::new(AddOne { n: 0, fail: true });
        let pointers = [std::ptr::null_mut(); 2];
        let context = Context::default();
        // SAFETY: the operands are empty, so no pointer is read.
        let status = unsafe { call_kernel(&*call, pointers.as_ptr(), &context) };
        assert_eq!(status, 1);
        assert_eq!(
            context.into_error().unwrap().to_string(),
            "internal error in a runtime kernel: asked to fail"
        );
    }

    #[test]
    fn wrong_sizes_are_refused() {
        let call = KernelCall::new(AddOne { n: 3, fail: false });
        assert!(
            call.call(&[&[0; 12]], &mut [&mut [0; 8]], &Context::default())
                .is_err()
        );
    }
}
