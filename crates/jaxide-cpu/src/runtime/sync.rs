//! What threads of the pool wait with: the standard library's. `fuzz/models` has the same names from loom, which tries every order
//! in which things may happen.

use std::cell::Cell;
use std::hint::spin_loop;
use std::time::{Duration, Instant};

pub(super) use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering};
pub(super) use std::sync::{Arc, Mutex, MutexGuard, TryLockError};
pub(super) use std::thread::{Builder, JoinHandle, Thread, current, park};

/// More threads than this are not used for one loop.
pub(super) const MAX_PARTICIPANTS: usize = 64;

/// How long a thread watches for the end of a job before it sleeps.
const SPIN: Duration = Duration::from_micros(20);
/// How long a thread watches for work before it sleeps: a call through Python takes 5 µs, and up to a hundred where the call before has put its code out
/// of the caches; to wake a thread takes fifty more.
pub(super) const WATCH: Duration = Duration::from_micros(150);

/// Spins until a job has ended, for a while; returns whether it has.
pub(super) fn spin_until(ended: impl Fn() -> bool) -> bool {
    spin(SPIN, ended)
}

/// Spins until there is work, for a longer while; returns whether there is.
pub(super) fn watch_until(offered: impl Fn() -> bool) -> bool {
    spin(WATCH, offered)
}

fn spin(time: Duration, condition: impl Fn() -> bool) -> bool {
    let start = Instant::now();
    loop {
        for _ in 0..64 {
            if condition() {
                return true;
            }
            spin_loop();
        }
        if start.elapsed() > time {
            return condition();
        }
    }
}

/// How often a thread tries to have a list of free blocks: for about as long as others take to put one there.
const PATIENCE: usize = 100;

/// What a lock is for, unless another thread has it for long.
pub(super) fn soon<T>(lock: &Mutex<T>) -> Option<MutexGuard<'_, T>> {
    for _ in 0..PATIENCE {
        match lock.try_lock() {
            Ok(guard) => return Some(guard),
            Err(TryLockError::Poisoned(poison)) => return Some(poison.into_inner()),
            Err(TryLockError::WouldBlock) => spin_loop(),
        }
    }
    None
}

thread_local! {
    static INSIDE_CHUNK: Cell<bool> = const { Cell::new(false) };
}

/// Whether this thread is running a chunk; loops inside chunks are not split again.
pub(super) fn inside_chunk() -> bool {
    INSIDE_CHUNK.get()
}

/// Says so.
pub(super) fn set_inside_chunk(inside: bool) {
    INSIDE_CHUNK.set(inside);
}
