//! Running a lane program over a domain: the loops around it, split over threads where that pays.

use crate::codegen::lanes::LaneFn;
use crate::lower::emit::Kernel;
use crate::runtime::Context;

/// Work is split into pieces of about this many nanoseconds at least.
const PIECE: f64 = 5000.0;
/// And into at most this many.
const MOST_PIECES: usize = 64;
/// Nanoseconds for one operation of a lane program on one lane.
const OPERATION: f64 = 0.03;
/// Lanes are split at multiples of this.
const LANE_UNIT: usize = 256;

/// A lane program with its domain, as generated code refers to it.
pub(crate) struct Launch {
    entry: Option<LaneFn>,
    outer: Vec<usize>,
    rows: Option<usize>,
    lanes: usize,
    split: Split,
    pieces: usize,
}

/// What the pieces are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Split {
    Outer,
    Rows,
    Lanes,
}

impl Launch {
    pub(super) fn new(kernel: &Kernel, entry: LaneFn) -> Launch {
        let schedule = &kernel.schedule;
        let outer: usize = schedule.outer.iter().product();
        let points = outer as f64 * schedule.rows.unwrap_or(1) as f64 * schedule.lanes as f64;
        let work = points * operations(kernel) * OPERATION;
        let reduces = !kernel.body.reductions().is_empty();
        let (split, most) = if outer > 1 {
            (Split::Outer, outer)
        } else if let Some(rows) = schedule.rows {
            (Split::Rows, rows)
        } else if reduces {
            (Split::Lanes, 1)
        } else {
            (Split::Lanes, schedule.lanes.div_ceil(LANE_UNIT))
        };
        let pieces = ((work / PIECE) as usize)
            .clamp(1, MOST_PIECES)
            .min(most.max(1));
        Launch {
            entry: Some(entry),
            outer: schedule.outer.clone(),
            rows: schedule.rows,
            lanes: schedule.lanes,
            split,
            pieces,
        }
    }

    /// A lane program that is part of the function.
    pub(super) fn inline(kernel: &Kernel) -> Launch {
        Launch {
            entry: None,
            outer: Vec::new(),
            rows: None,
            lanes: kernel.schedule.lanes,
            split: Split::Lanes,
            pieces: 1,
        }
    }

    /// The lane program's address.
    pub(super) fn entry(&self) -> Option<LaneFn> {
        self.entry
    }

    /// Whether one call of the lane program without outer loops does it all.
    pub(super) fn is_direct(&self) -> bool {
        self.outer.is_empty() && self.rows.is_none() && self.pieces == 1
    }

    pub(super) fn lanes(&self) -> usize {
        self.lanes
    }

    /// Runs one piece.
    ///
    /// # Safety
    /// As for [`launch`].
    unsafe fn piece(&self, pointers: *const *mut u8, piece: usize) {
        let Some(entry) = self.entry else { return };
        let part = |count: usize| {
            (
                count * piece / self.pieces,
                count * (piece + 1) / self.pieces,
            )
        };
        let total: usize = self.outer.iter().product();
        let (first, last) = if self.split == Split::Outer {
            part(total)
        } else {
            (0, total)
        };
        let (start, end) = if self.split == Split::Lanes {
            self.lane_part(piece)
        } else {
            (0, self.lanes)
        };
        let (row, row_end) = match self.rows {
            Some(rows) if self.split == Split::Rows => part(rows),
            Some(rows) => (0, rows),
            None => (0, 0),
        };
        let axes = self.outer.len();
        let mut outer = [0i64; MOST_OUTER];
        outer[axes] = row as i64;
        outer[axes + 1] = (row_end - row) as i64;
        let mut rest = first;
        for axis in (0..axes).rev() {
            outer[axis] = (rest % self.outer[axis]) as i64;
            rest /= self.outer[axis];
        }
        for _ in first..last {
            // SAFETY: the caller promises memory for the whole domain, and this is a part of it.
            unsafe {
                entry(
                    pointers,
                    std::ptr::null(),
                    outer.as_ptr(),
                    start as i64,
                    end as i64,
                )
            };
            for axis in (0..axes).rev() {
                outer[axis] += 1;
                if outer[axis] < self.outer[axis] as i64 {
                    break;
                }
                outer[axis] = 0;
            }
        }
    }

    fn lane_part(&self, piece: usize) -> (usize, usize) {
        let units = self.lanes.div_ceil(LANE_UNIT);
        let at = |piece: usize| (units * piece / self.pieces * LANE_UNIT).min(self.lanes);
        if self.pieces == 1 {
            (0, self.lanes)
        } else {
            (at(piece), at(piece + 1))
        }
    }
}

/// Outer indices at the most, rows included.
pub(crate) const MOST_OUTER: usize = 16;

/// Operations of a lane program for one lane.
fn operations(kernel: &Kernel) -> f64 {
    use crate::lanes::{BlockId, Stmt, Trip};
    fn block(kernel: &Kernel, id: BlockId) -> f64 {
        let stmts = &kernel.body.blocks()[id.index()].stmts;
        stmts
            .iter()
            .map(|stmt| match stmt {
                Stmt::Let(_) | Stmt::Store { .. } => 1.0,
                Stmt::For(inner) => {
                    let turns = match inner.trip {
                        Trip::Const(turns) => turns as f64,
                        // The loop over rows, which are counted apart.
                        Trip::Outer(_) => 1.0,
                    };
                    turns * block(kernel, inner.body)
                }
                // How often is not known; a guess that favours threads.
                Stmt::While(inner) => {
                    20.0 * (block(kernel, inner.head) + block(kernel, inner.body))
                }
                Stmt::If(inner) => {
                    1.0 + block(kernel, inner.then).max(block(kernel, inner.otherwise))
                }
            })
            .sum()
    }
    block(kernel, BlockId::LANES).max(1.0)
}

/// Runs a lane program over its domain; called by generated code.
///
/// # Safety
/// `launch` and `context` point to live values; `pointers` holds what the lane program's pointer table asks for, valid for the
/// whole domain, and different points of the domain store to different memory.
pub(crate) unsafe extern "C" fn launch(
    launch: *const Launch,
    pointers: *const *mut u8,
    context: *const Context<'_>,
) {
    struct Pointers(*const *mut u8);
    // SAFETY: the table is only read, and what it points to is shared between pieces as the caller promises.
    unsafe impl Sync for Pointers {}
    // SAFETY: the caller promises live values.
    let (launch, context) = unsafe { (&*launch, &*context) };
    let pointers = &Pointers(pointers);
    if launch.pieces == 1 {
        // SAFETY: the caller's promises are those of `piece`.
        unsafe { launch.piece(pointers.0, 0) };
        return;
    }
    context.parallel_for(launch.pieces, |piece| {
        // SAFETY: as above; pieces are disjoint parts of the domain.
        unsafe { launch.piece(pointers.0, piece) };
    });
}

/// Copies of more bytes are split over threads, in pieces of so many.
const COPY_PIECE: usize = 1 << 18;

/// Copies bytes; called by generated code.
///
/// # Safety
/// Both are valid for `bytes` bytes and do not overlap; `context` points to a live value.
pub(crate) unsafe extern "C" fn copy(
    from: *const u8,
    to: *mut u8,
    bytes: usize,
    context: *const Context<'_>,
) {
    struct Ends(*const u8, *mut u8);
    // SAFETY: pieces read and write different bytes.
    unsafe impl Sync for Ends {}
    if bytes < 2 * COPY_PIECE {
        // SAFETY: promised by the caller.
        unsafe { std::ptr::copy_nonoverlapping(from, to, bytes) };
        return;
    }
    let ends = &Ends(from, to);
    // SAFETY: the caller promises a live context.
    let context = unsafe { &*context };
    context.parallel_for(bytes.div_ceil(COPY_PIECE), |piece| {
        let start = piece * COPY_PIECE;
        let length = COPY_PIECE.min(bytes - start);
        // SAFETY: the piece lies inside both, as the caller promises for all of it.
        unsafe { std::ptr::copy_nonoverlapping(ends.0.add(start), ends.1.add(start), length) };
    });
}
