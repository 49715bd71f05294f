//! Times of the steps of a program, which its code takes itself.

use std::cell::Cell as Local;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

/// What was measured of a step since somebody last asked.
#[derive(Debug, Default)]
pub(crate) struct Cell {
    runs: AtomicU64,
    nanoseconds: AtomicU64,
    /// Bytes that were copied, where each run says how many.
    copied: AtomicU64,
}

/// What was measured of the steps of a program.
#[derive(Debug)]
pub(crate) struct Cells {
    /// One for each step, and one more so that there is a first.
    cells: Box<[Cell]>,
}

/// A step's numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Measured {
    pub(crate) runs: u64,
    pub(crate) nanoseconds: u64,
    pub(crate) copied: u64,
}

impl Cells {
    pub(crate) fn new(steps: usize) -> Cells {
        let cells = (0..=steps).map(|_| Cell::default()).collect();
        Cells { cells }
    }

    /// What code refers to.
    pub(crate) fn first(&self) -> &Cell {
        &self.cells[0]
    }

    /// The numbers of each step, which start anew.
    pub(crate) fn take(&self) -> Vec<Measured> {
        let take = |number: &AtomicU64| number.swap(0, Ordering::Relaxed);
        let cells = self.cells.iter();
        cells
            .map(|cell| Measured {
                runs: take(&cell.runs),
                nanoseconds: take(&cell.nanoseconds),
                copied: take(&cell.copied),
            })
            .collect()
    }
}

thread_local! {
    /// When the step began that this thread is in. Steps are not inside of each other.
    static BEGUN: Local<Option<Instant>> = const { Local::new(None) };
}

/// Before a step; called by generated code.
pub(crate) extern "C" fn enter() {
    BEGUN.set(Some(Instant::now()));
}

/// Behind the step of that number; called by generated code.
///
/// # Safety
/// There are more cells at `cells` than `step`, and nobody has an exclusive reference to them.
pub(crate) unsafe extern "C" fn leave(cells: *const Cell, step: usize, copied: usize) {
    let Some(begun) = BEGUN.take() else { return };
    let time = begun.elapsed();
    // SAFETY: promised by the caller.
    let cell = unsafe { &*cells.add(step) };
    let add = |number: &AtomicU64, more: u64| number.fetch_add(more, Ordering::Relaxed);
    add(&cell.runs, 1);
    add(
        &cell.nanoseconds,
        u64::try_from(time.as_nanos()).unwrap_or(u64::MAX),
    );
    add(&cell.copied, copied as u64);
}

/// Nanoseconds that are measured of a step that does nothing.
pub(crate) fn empty_step() -> u64 {
    let cells = Cells::new(0);
    let least = |_| {
        enter();
        // SAFETY: there is a first cell.
        unsafe { leave(cells.first(), 0, 0) };
        cells.take()[0].nanoseconds
    };
    (0..200).map(least).min().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_added_until_they_are_taken() {
        let cells = Cells::new(2);
        for copied in [3, 4] {
            enter();
            // SAFETY: there are three cells.
            unsafe { leave(cells.first(), 1, copied) };
        }
        let taken: Vec<_> = cells.take().iter().map(|m| (m.runs, m.copied)).collect();
        assert_eq!(taken, [(0, 0), (2, 7), (0, 0)]);
        assert_eq!(cells.take()[1].runs, 0);
    }

    /// Behind a step that never began nothing is counted.
    #[test]
    fn what_has_not_begun_does_not_count() {
        let cells = Cells::new(0);
        // SAFETY: there is a first cell.
        unsafe { leave(cells.first(), 0, 0) };
        assert_eq!(cells.take()[0].runs, 0);
    }
}
