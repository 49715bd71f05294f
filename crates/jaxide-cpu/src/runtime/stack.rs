//! Work on a stack of a given size.

use jaxide_core::{Error, ErrorKind, Result};
use std::panic::resume_unwind;
use std::thread;

/// Threads that others made may have as little free stack as this.
pub(crate) const ASSUMED: usize = 256 << 10;

/// Runs `work`, which takes `bytes` of stack and what any thread has: here if the stack has so much left, and otherwise
/// [on another](with_stack).
///
/// # Errors
/// When there is no memory or no thread for another.
///
/// # Panics
/// When `work` does.
pub(crate) fn on_stack<R: Send>(
    bytes: usize,
    whose: &str,
    work: impl FnOnce() -> R + Send,
) -> Result<R> {
    let enough = bytes.saturating_add(ASSUMED);
    if bytes == 0 || left().is_some_and(|left| left >= enough) {
        return Ok(work());
    }
    with_stack(bytes, whose, work)
}

/// How many bytes of this thread's stack are left, where the system tells.
fn left() -> Option<usize> {
    thread_local! {
        static LOWEST: Option<usize> = lowest();
    }
    let here = 0u8;
    let here = std::ptr::from_ref(&here).addr();
    LOWEST.with(|lowest| here.checked_sub((*lowest)?))
}

/// The lowest address of this thread's stack.
#[cfg(target_os = "linux")]
fn lowest() -> Option<usize> {
    let mut attributes = std::mem::MaybeUninit::<libc::pthread_attr_t>::uninit();
    let (mut lowest, mut size) = (std::ptr::null_mut(), 0);
    // SAFETY: the attributes are made before they are read, and freed once; the thread asks about itself.
    unsafe {
        if libc::pthread_getattr_np(libc::pthread_self(), attributes.as_mut_ptr()) != 0 {
            return None;
        }
        let status =
            libc::pthread_attr_getstack(attributes.as_ptr(), &raw mut lowest, &raw mut size);
        libc::pthread_attr_destroy(attributes.as_mut_ptr());
        (status == 0 && !lowest.is_null()).then_some(lowest.addr())
    }
}

/// Other systems are not asked: work with a large stack gets a thread there.
#[cfg(not(target_os = "linux"))]
fn lowest() -> Option<usize> {
    None
}

/// Runs `work` on a thread of its own, whose stack has `bytes` and what such work takes otherwise; `whose` says who needs it.
///
/// # Errors
/// When there is no memory or no thread for it.
///
/// # Panics
/// When `work` does.
pub(crate) fn with_stack<R: Send>(
    bytes: usize,
    whose: &str,
    work: impl FnOnce() -> R + Send,
) -> Result<R> {
    let builder = thread::Builder::new()
        .name("jaxide-stack".to_owned())
        .stack_size(bytes.saturating_add(2 * ASSUMED));
    thread::scope(|scope| {
        let own = builder.spawn_scoped(scope, work).map_err(|error| {
            Error::new(
                ErrorKind::TooLarge,
                format!("a stack of {bytes} bytes for {whose}: {error}"),
            )
        })?;
        Ok(own.join().unwrap_or_else(|payload| resume_unwind(payload)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[inline(never)]
    fn sum(depth: usize) -> usize {
        let page = std::hint::black_box([depth; 512]);
        if depth == 0 {
            0
        } else {
            page[511] + sum(depth - 1)
        }
    }

    #[test]
    fn the_stack_is_as_large_as_asked() {
        let (depth, frame) = (3000, 16 << 10);
        let total = with_stack(depth * frame, "a sum", || sum(depth)).unwrap();
        assert_eq!(total, depth * (depth + 1) / 2);
    }

    #[test]
    fn another_stack_is_taken_where_this_one_is_too_small() {
        let thread = || thread::current().id();
        let in_a_thread = |bytes: usize| {
            let own = thread::Builder::new().stack_size(4 << 20);
            let own = own.spawn(move || on_stack(bytes, "a test", thread).unwrap() == thread());
            own.unwrap().join().unwrap()
        };
        assert!(in_a_thread(0) && !in_a_thread(8 << 20) && !in_a_thread(4 << 20));
        assert_eq!(in_a_thread(2 << 20), cfg!(target_os = "linux"));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn what_is_left_falls_with_the_depth() {
        #[inline(never)]
        fn deeper(outside: usize) -> usize {
            let frame = std::hint::black_box([1u8; 64 << 10]);
            let used = outside - left().unwrap();
            used + usize::from(frame[used % 100]) - 1
        }
        assert!((64 << 10..512 << 10).contains(&deeper(left().unwrap())));
    }

    #[test]
    fn what_cannot_be_had_is_an_error() {
        assert!(with_stack(usize::MAX / 2, "nothing", || ()).is_err());
    }
}
