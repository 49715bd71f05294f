//! Huge pages for large arrays that come again and again.
//!
//! Buffers of this crate are made in huge pages, but arguments come from wherever a caller made them, which is mostly in small ones: a pass over
//! 16 MB takes a third to twice as long there. The system can put memory together that is in use already (Linux from 6.1 on), its contents and
//! addresses stay; it copies for that, which takes a few tenths of a millisecond for each two megabytes, so it is asked only for what has come
//! often enough that it will probably come as often again.

use super::buffers::HUGE_PAGE;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

/// After so many runs in a row with the same memory it is put into huge pages.
const OFTEN: u32 = 32;

/// And then so many bytes of it in each run, so that none waits for long: parts do not overlap, so that pages on their borders stay as they are.
const PART: usize = 64 << 20;

/// The memory that large arrays of a program had in the last runs.
pub(crate) struct Regulars(Vec<Regular>);

/// The memory of one array.
struct Regular {
    /// Which of the pointers it is.
    index: usize,
    bytes: usize,
    address: AtomicUsize,
    runs: AtomicU32,
}

impl Regulars {
    /// Looks at those of the arrays, of so many bytes each, that may have whole huge pages.
    pub(crate) fn new(bytes: impl Iterator<Item = usize>) -> Regulars {
        let large = bytes.enumerate().filter(|(_, bytes)| *bytes >= HUGE_PAGE);
        let regular = |(index, bytes)| Regular {
            index,
            bytes,
            address: AtomicUsize::new(0),
            runs: AtomicU32::new(0),
        };
        Regulars(large.map(regular).collect())
    }

    /// Notes where the arrays are in a run, and asks for huge pages for those that were there often.
    pub(crate) fn meet(&self, pointers: &[*const u8]) {
        for regular in &self.0 {
            let pointer = pointers[regular.index];
            // Runs of several threads may count for each other, which changes nothing but when the system is asked.
            if regular.address.swap(pointer.addr(), Ordering::Relaxed) != pointer.addr() {
                regular.runs.store(1, Ordering::Relaxed);
                continue;
            }
            let runs = regular.runs.load(Ordering::Relaxed);
            let first = runs.saturating_sub(OFTEN) as usize * PART;
            if first >= regular.bytes {
                continue;
            }
            regular.runs.store(runs + 1, Ordering::Relaxed);
            if runs >= OFTEN {
                let bytes = PART.min(regular.bytes - first);
                collapse(pointer.wrapping_add(first), bytes);
            }
        }
    }
}

/// Asks the system to put what is inside of so many bytes into huge pages.
#[cfg(target_os = "linux")]
fn collapse(first: *const u8, bytes: usize) {
    let start = first.addr().next_multiple_of(HUGE_PAGE);
    let end = (first.addr() + bytes) / HUGE_PAGE * HUGE_PAGE;
    if start >= end || cfg!(miri) {
        return;
    }
    let start_of_pages = first.wrapping_add(start - first.addr());
    // SAFETY: this advice changes neither contents nor addresses of memory, nor who may use it; what cannot be put
    // there stays as it is.
    unsafe {
        libc::madvise(
            start_of_pages.cast_mut().cast(),
            end - start,
            libc::MADV_COLLAPSE,
        )
    };
}

/// Other systems cannot be asked.
#[cfg(not(target_os = "linux"))]
fn collapse(_first: *const u8, _bytes: usize) {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_in_its_place_again_is_counted() {
        let regulars = Regulars::new([HUGE_PAGE - 1, HUGE_PAGE].into_iter());
        assert_eq!(regulars.0.len(), 1);
        // Nothing is asked of the system for as few runs as these.
        let arrays = [[0u8; 64]; 3];
        for (array, runs) in [(0, 1), (0, 2), (1, 1), (1, 2), (1, 3), (0, 1)] {
            regulars.meet(&[arrays[2].as_ptr(), arrays[array].as_ptr()]);
            assert_eq!(regulars.0[0].runs.load(Ordering::Relaxed), runs);
        }
    }
}
