//! Work on a stack of a given size.

use jaxide_core::{Error, ErrorKind, Result};
use std::panic::resume_unwind;
use std::thread;

/// Threads that others made may have as little free stack as this.
pub(crate) const ASSUMED: usize = 256 << 10;

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
    fn what_cannot_be_had_is_an_error() {
        assert!(with_stack(usize::MAX / 2, "nothing", || ()).is_err());
    }
}
