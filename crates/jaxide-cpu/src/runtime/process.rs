//! Which process this is. `fork` copies one with all its memory, but of its threads the caller alone: helpers are gone, and
//! a lock that another thread held is never given back.

use std::sync::atomic::{AtomicUsize, Ordering};

/// The process at some time, to be compared with what it is later.
///
/// ```
/// use jaxide_cpu::runtime::Process;
/// assert!(Process::current().is_current());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Process {
    /// How many forks led to it since this was asked first.
    forks: usize,
}

static FORKS: AtomicUsize = AtomicUsize::new(0);

impl Process {
    /// The process that calls.
    pub fn current() -> Self {
        listen();
        Process {
            forks: FORKS.load(Ordering::Relaxed),
        }
    }

    /// Whether it is the one that calls, and not one that the caller's is a copy of. Costs no more than reading a number.
    pub fn is_current(self) -> bool {
        self.forks == FORKS.load(Ordering::Relaxed)
    }
}

/// Counts forks from now on.
#[cfg(unix)]
fn listen() {
    use std::sync::atomic::AtomicBool;

    extern "C" fn forked() {
        FORKS.fetch_add(1, Ordering::Relaxed);
    }
    static LISTENS: AtomicBool = AtomicBool::new(false);
    if !LISTENS.load(Ordering::Relaxed) && !LISTENS.swap(true, Ordering::Relaxed) {
        // SAFETY: the function does what may be done in the child of a fork: it adds to a number.
        unsafe { libc::pthread_atfork(None, None, Some(forked)) };
    }
}

/// There is no `fork` here.
#[cfg(not(unix))]
fn listen() {}
