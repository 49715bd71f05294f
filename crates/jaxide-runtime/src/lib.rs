//! The runtime library of programs that jaxide compiled to objects: it has the kernels that these call.
//!
//! What an object computes by loops is in the object. Products of matrices, sorts, factorisations, transforms and the like are kernels of this library,
//! which is `libjaxide_runtime.a` for C (`include/jaxide_runtime.h`) and this crate for Rust. A kernel is called by its text, which is read
//! when it is first called and kept from then on. Kernels may take memory while they run.
//!
//! A Rust program that links an object with kernels names this crate once, so that it is linked:
//!
//! ```
//! use jaxide_runtime as _;
//! ```

use jaxide_core::{Error, ErrorKind, Result};
use jaxide_cpu::runtime::{Context, KernelCall, ThreadPool, call_kernel};
use rustc_hash::FxHashMap;
use std::cell::RefCell;
use std::ffi::{CString, c_char};
use std::panic::catch_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock, PoisonError, RwLock};

/// The most threads that a kernel works on.
static THREADS: AtomicUsize = AtomicUsize::new(1);

thread_local! {
    /// Why the last call of this thread failed.
    static ERROR: RefCell<CString> = RefCell::default();
}

/// The most threads that a kernel works on from now on; 1 if this is never called, which starts none. Results do not depend on it.
///
/// ```
/// jaxide_runtime::set_threads(4);
/// ```
pub fn set_threads(threads: usize) {
    THREADS.store(threads.max(1), Ordering::Relaxed);
}

/// Why the last function of an object that this thread called failed; empty if none did.
///
/// ```
/// assert_eq!(jaxide_runtime::error(), "");
/// ```
pub fn error() -> String {
    ERROR.with_borrow(|error| error.to_string_lossy().into_owned())
}

/// [`set_threads`], for C.
#[unsafe(no_mangle)]
pub extern "C" fn jaxide_rt_set_threads(threads: usize) {
    set_threads(threads);
}

/// [`error()`], for C: valid until the next call of this thread fails.
#[unsafe(no_mangle)]
pub extern "C" fn jaxide_rt_error() -> *const c_char {
    ERROR.with_borrow(|error| error.as_ptr())
}

/// Runs a kernel: objects call this. Gives 0, or 1 where it fails.
///
/// # Safety
/// There are `length` bytes at `text`, and as many addresses at `operands` as the kernel has operands: inputs, then results, each of its size and
/// aligned for its elements; results overlap nothing else.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jaxide_rt_run(
    text: *const u8,
    length: usize,
    operands: *const *mut u8,
) -> u32 {
    // SAFETY: the caller promises that many bytes.
    let text = unsafe { std::slice::from_raw_parts(text, length) };
    let kernel = match catch_unwind(|| kernel(text)) {
        Ok(Ok(kernel)) => kernel,
        Ok(Err(error)) => return failed(&error.to_string()),
        Err(_) => return failed("the text of a kernel cannot be read"),
    };
    let threads = THREADS.load(Ordering::Relaxed);
    let context = Context::new(pool(threads), threads);
    // SAFETY: the kernel and the context live until the call is over; the caller promises the operands.
    let status = unsafe { call_kernel(Arc::as_ptr(&kernel), operands, &raw const context) };
    match context.into_error() {
        Some(error) => failed(&error.to_string()),
        None => status,
    }
}

/// Keeps why a call failed.
fn failed(why: &str) -> u32 {
    let line: Vec<u8> = why.bytes().filter(|&byte| byte != 0).collect();
    let line = CString::new(line).unwrap_or_default();
    ERROR.with_borrow_mut(|error| *error = line);
    1
}

/// A pool that has so many threads, if the machine has.
fn pool(threads: usize) -> &'static ThreadPool {
    static ALONE: OnceLock<ThreadPool> = OnceLock::new();
    match threads {
        1 => ALONE.get_or_init(|| ThreadPool::new(1)),
        _ => ThreadPool::global(),
    }
}

/// The kernel of a text, which is made once.
fn kernel(text: &[u8]) -> Result<Arc<KernelCall>> {
    type Kernels = FxHashMap<Box<[u8]>, Arc<KernelCall>>;
    static KERNELS: RwLock<Option<Kernels>> = RwLock::new(None);
    let known = KERNELS.read().unwrap_or_else(PoisonError::into_inner);
    if let Some(kernel) = known.as_ref().and_then(|known| known.get(text)) {
        return Ok(kernel.clone());
    }
    drop(known);
    let read = std::str::from_utf8(text)
        .map_err(|_| Error::new(ErrorKind::Invalid, "the text of a kernel is no text"))?;
    let kernel = Arc::from(jaxide_cpu::kernel(read)?);
    let mut known = KERNELS.write().unwrap_or_else(PoisonError::into_inner);
    let known = known.get_or_insert_default();
    Ok(known.entry(text.into()).or_insert(kernel).clone())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::CStr;

    #[test]
    fn a_kernel_is_run_by_its_text() {
        let text = format!(
            "jaxide {} transpose 4 [2,2] [1,0]",
            env!("CARGO_PKG_VERSION")
        );
        let (mut x, mut y) = ([1u32, 2, 3, 4], [0u32; 4]);
        let operands = [x.as_mut_ptr().cast(), y.as_mut_ptr().cast()];
        // SAFETY: two arrays of four elements each, as the text says.
        let status = unsafe { jaxide_rt_run(text.as_ptr(), text.len(), operands.as_ptr()) };
        assert_eq!((status, y), (0, [1, 3, 2, 4]));
    }

    #[test]
    fn what_is_no_kernel_is_an_error() {
        let text = "jaxide 0.0.1 transpose 4 [2,2] [1,0]";
        // SAFETY: no operand is looked at.
        let status = unsafe { jaxide_rt_run(text.as_ptr(), text.len(), std::ptr::null()) };
        // SAFETY: a string of this thread, in which nothing fails meanwhile.
        let why = unsafe { CStr::from_ptr(jaxide_rt_error()) };
        assert_eq!(status, 1);
        assert!(
            why.to_string_lossy()
                .contains("a kernel of another version")
        );
    }
}
