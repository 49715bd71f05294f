//! Things that are kept for the next who needs one, by class.

use super::sync::{AtomicUsize, Mutex, MutexGuard, Ordering, soon};

/// Lists of unused things, of which no more is kept than a limit.
///
/// Nobody waits for long at a list: who cannot have it soon does without.
pub struct Free<T> {
    lists: Box<[Mutex<Vec<T>>]>,
    /// Bytes of what is in the lists, and of what is about to be.
    retained: AtomicUsize,
    limit: usize,
}

impl<T> Free<T> {
    /// Lists for so many classes, which keep at most so many bytes.
    pub fn new(classes: usize, limit: usize) -> Self {
        Free {
            lists: (0..classes).map(|_| Mutex::new(Vec::new())).collect(),
            retained: AtomicUsize::new(0),
            limit,
        }
    }

    /// Bytes of what is kept.
    pub fn retained(&self) -> usize {
        self.retained.load(Ordering::Relaxed)
    }

    /// Takes a thing of a class, which has so many bytes.
    pub fn take(&self, class: usize, bytes: usize) -> Option<T> {
        let thing = self.list(class)?.pop()?;
        self.retained.fetch_sub(bytes, Ordering::Relaxed);
        Some(thing)
    }

    /// Takes all of a class, of so many bytes each.
    pub fn take_all(&self, class: usize, bytes: usize) -> Vec<T> {
        let things = self.list(class).map(|mut list| std::mem::take(&mut *list));
        let things = things.unwrap_or_default();
        self.retained
            .fetch_sub(bytes * things.len(), Ordering::Relaxed);
        things
    }

    /// Keeps a thing of a class and so many bytes, or hands it back where there is no room for it.
    pub fn keep(&self, class: usize, bytes: usize, thing: T) -> Option<T> {
        if self.retained.fetch_add(bytes, Ordering::Relaxed) + bytes <= self.limit
            && let Some(mut list) = self.list(class)
        {
            list.push(thing);
            return None;
        }
        self.retained.fetch_sub(bytes, Ordering::Relaxed);
        Some(thing)
    }

    /// The list of a class, unless another thread is at it for long.
    pub(super) fn list(&self, class: usize) -> Option<MutexGuard<'_, Vec<T>>> {
        soon(&self.lists[class])
    }
}
