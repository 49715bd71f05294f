//! Slices that several threads write at once, in disjoint ranges.

use std::marker::PhantomData;
use std::ops::Range;

/// A mutable slice whose ranges are handed out by [`Self::range`] instead of by splitting, because
/// the chunks of a parallel loop each know their own range only.
pub(crate) struct SharedSlice<'a, T> {
    pointer: *mut T,
    len: usize,
    slice: PhantomData<&'a mut [T]>,
}

// SAFETY: ranges are exclusive borrows of disjoint elements (the promise of `range`), as if the slice
// had been split and the pieces sent to the threads.
unsafe impl<T: Send> Sync for SharedSlice<'_, T> {}

impl<'a, T> SharedSlice<'a, T> {
    pub(crate) fn new(slice: &'a mut [T]) -> Self {
        Self {
            pointer: slice.as_mut_ptr(),
            len: slice.len(),
            slice: PhantomData,
        }
    }

    /// The address of an element, for elements that are not beside each other.
    ///
    /// # Panics
    /// If there is none.
    pub(crate) fn pointer(&self, at: usize) -> *mut T {
        assert!(at < self.len, "element {at} of {}", self.len);
        self.pointer.wrapping_add(at)
    }

    /// The elements of a range.
    ///
    /// # Panics
    /// If the range leaves the slice.
    ///
    /// # Safety
    /// While it lives, no other range with one of its elements does.
    pub(crate) unsafe fn range(&self, range: Range<usize>) -> &'a mut [T] {
        assert!(
            range.start <= range.end && range.end <= self.len,
            "range {range:?} of {}",
            self.len
        );
        // SAFETY: the range is inside the borrowed slice, and the caller promises that it is the
        // only reference to these elements.
        unsafe { std::slice::from_raw_parts_mut(self.pointer.add(range.start), range.len()) }
    }
}
