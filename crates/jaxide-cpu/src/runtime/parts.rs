//! Slices that several threads write at once, in disjoint parts.

use std::marker::PhantomData;
use std::ops::Range;

/// A mutable slice whose parts are handed out by [`Self::part`] instead of by splitting, because
/// the chunks of a parallel loop each know their own part only.
pub(crate) struct Parts<'a, T> {
    pointer: *mut T,
    len: usize,
    slice: PhantomData<&'a mut [T]>,
}

// SAFETY: parts are exclusive borrows of disjoint elements (the promise of `part`), as if the slice
// had been split and the pieces sent to the threads.
unsafe impl<T: Send> Sync for Parts<'_, T> {}

impl<'a, T> Parts<'a, T> {
    pub(crate) fn new(slice: &'a mut [T]) -> Self {
        Self {
            pointer: slice.as_mut_ptr(),
            len: slice.len(),
            slice: PhantomData,
        }
    }

    /// The elements of a range.
    ///
    /// # Panics
    /// If the range leaves the slice.
    ///
    /// # Safety
    /// While the part lives, no other part with one of its elements does.
    pub(crate) unsafe fn part(&self, range: Range<usize>) -> &'a mut [T] {
        assert!(
            range.start <= range.end && range.end <= self.len,
            "part {range:?} of {}",
            self.len
        );
        // SAFETY: the range is inside the borrowed slice, and the caller promises that it is the
        // only reference to these elements.
        unsafe { std::slice::from_raw_parts_mut(self.pointer.add(range.start), range.len()) }
    }
}
