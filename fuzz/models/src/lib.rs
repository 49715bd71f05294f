//! The sources of the pool of threads and of the pool of buffers, with loom's threads, locks and atomic numbers.
#![allow(dead_code, reason = "models use some of it")]

#[path = "../../../crates/jaxide-cpu/src/runtime/free.rs"]
pub mod free;
#[path = "../../../crates/jaxide-cpu/src/runtime/pool.rs"]
pub mod pool;

/// No process is forked here.
#[derive(Clone, Copy)]
struct Process;

impl Process {
    fn current() -> Self {
        Process
    }

    fn is_current(self) -> bool {
        true
    }
}

/// In the place of `crates/jaxide-cpu/src/runtime/subnormals.rs`: no model computes with floats.
mod subnormals {
    #[derive(Clone, Copy)]
    pub(crate) struct FloatMode;

    impl FloatMode {
        pub(crate) fn current() -> FloatMode {
            FloatMode
        }

        pub(crate) fn during<R>(self, f: impl FnOnce() -> R) -> R {
            f()
        }
    }
}

/// In the place of `crates/jaxide-cpu/src/runtime/sync.rs`.
mod sync {
    use std::cell::Cell;

    pub(super) use loom::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering};
    pub(super) use loom::sync::{Arc, Mutex, MutexGuard};
    pub(super) use loom::thread::{Builder, JoinHandle, Thread, current, park};

    /// Loom's threads are few, and their stacks small.
    pub(super) const MAX_PARTICIPANTS: usize = 4;

    /// Time does not pass here: a thread looks once, and sleeps.
    pub(super) fn spin_until(condition: impl Fn() -> bool) -> bool {
        condition()
    }

    /// The same.
    pub(super) fn watch_until(condition: impl Fn() -> bool) -> bool {
        condition()
    }

    /// A lock that another thread has is had by it for long.
    pub(super) fn soon<T>(lock: &Mutex<T>) -> Option<MutexGuard<'_, T>> {
        lock.try_lock().ok()
    }

    loom::thread_local! {
        static INSIDE_CHUNK: Cell<bool> = Cell::new(false);
    }

    pub(super) fn inside_chunk() -> bool {
        INSIDE_CHUNK.with(Cell::get)
    }

    pub(super) fn set_inside_chunk(inside: bool) {
        INSIDE_CHUNK.with(|cell| cell.set(inside));
    }
}
