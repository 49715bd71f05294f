//! The pool of threads of the process.

use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::thread;

use super::ThreadPool;

impl ThreadPool {
    /// The process-wide pool, started at first use, with as many threads as `JAXIDE_THREADS` says
    /// or else as the machine has. The child of a `fork` has one of its own.
    pub fn global() -> &'static Self {
        static GLOBAL: AtomicPtr<ThreadPool> = AtomicPtr::new(ptr::null_mut());
        let known = GLOBAL.load(Ordering::Acquire);
        // SAFETY: what is stored there is never freed.
        if let Some(pool) = unsafe { known.as_ref() }
            && pool.is_here()
        {
            return pool;
        }
        let asked = std::env::var("JAXIDE_THREADS")
            .ok()
            .and_then(|text| text.parse().ok());
        let threads =
            asked.unwrap_or_else(|| thread::available_parallelism().map_or(1, usize::from));
        let own = Box::into_raw(Box::new(Self::new(threads)));
        match GLOBAL.compare_exchange(known, own, Ordering::AcqRel, Ordering::Acquire) {
            // SAFETY: stored now, it is never freed.
            Ok(_) => unsafe { &*own },
            Err(faster) => {
                // SAFETY: nobody else has seen it.
                drop(unsafe { Box::from_raw(own) });
                // SAFETY: as above: another thread has stored it.
                unsafe { &*faster }
            }
        }
    }
}
