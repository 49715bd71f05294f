//! What threads share, and the child of a `fork` must not wait for.

use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use jaxide_cpu::runtime::Process;

/// Something that is read and written for short times by many threads. In the child of a `fork` a thread that is not there
/// may have it for ever: then it cannot be had, and the child does without.
pub(crate) struct Shared<T> {
    process: Process,
    value: RwLock<T>,
}

impl<T: Default> Default for Shared<T> {
    fn default() -> Self {
        Shared {
            process: Process::current(),
            value: RwLock::default(),
        }
    }
}

impl<T> Shared<T> {
    /// For reading, if it can be had.
    pub(crate) fn read(&self) -> Option<RwLockReadGuard<'_, T>> {
        if self.process.is_current() {
            return Some(self.value.read().unwrap_or_else(PoisonError::into_inner));
        }
        self.value.try_read().ok()
    }

    /// For writing, if it can be had.
    pub(crate) fn write(&self) -> Option<RwLockWriteGuard<'_, T>> {
        if self.process.is_current() {
            return Some(self.value.write().unwrap_or_else(PoisonError::into_inner));
        }
        self.value.try_write().ok()
    }
}
