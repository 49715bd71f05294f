//! Running a lane program over a domain: the loops around it, split over threads where that pays.

use crate::codegen::lanes::{CompiledBody, LaneFn};
use crate::lower::emit::{Kernel, Parts};
use crate::lower::program::{RowsOf, TileGroup};
use crate::runtime::{Context, stack::ASSUMED};
use std::ops::Range;

/// Work is split into pieces of about this many nanoseconds at least.
const PIECE: f64 = 5000.0;
/// And into at most this many.
const MOST_PIECES: usize = 64;
/// Nanoseconds for one operation of a lane program on one lane.
const OPERATION: f64 = 0.03;
/// Lanes are split at multiples of this.
const LANE_UNIT: usize = 256;
/// A call of a lane program takes so many lanes and rows at most, where they can be cut, so that a run can be ended between two.
const CALL: usize = 1 << 24;

/// A lane program with its domain, as generated code refers to it.
pub(crate) struct Launch {
    entry: Option<LaneFn>,
    outer: Vec<usize>,
    rows: Option<usize>,
    /// Rows are reduced so many at a time, in order.
    chunk: Option<usize>,
    /// A reduction is made in parts.
    parts: Option<Parts>,
    part_count: usize,
    lanes: usize,
    /// Whether the lanes of a call are reduced, so that they cannot be cut.
    reduces: bool,
    /// Whether one call does all rows and lanes, for each combination of outer indices.
    at_once: bool,
    split: Split,
    pieces: usize,
    /// Whether it takes more stack than helpers have.
    alone: bool,
    /// Nanoseconds for all, roughly.
    work: f64,
}

/// How many pieces work of so many nanoseconds is worth.
#[allow(
    clippy::cast_possible_truncation,
    reason = "a float becomes the nearest integer that there is"
)]
fn pieces_for(work: f64) -> usize {
    ((work / PIECE) as usize).clamp(1, MOST_PIECES)
}

/// What falls to one of some pieces.
fn share(count: usize, piece: usize, pieces: usize) -> Range<usize> {
    // In two terms: the product of both may not fit.
    let start = |piece: usize| count / pieces * piece + count % pieces * piece / pieces;
    start(piece)..start(piece + 1)
}

/// A part of a domain.
#[derive(Clone, Debug)]
struct Part {
    /// Of all combinations of outer indices.
    outer: Range<usize>,
    rows: Range<usize>,
    lanes: Range<usize>,
    parts: Range<usize>,
}

/// What the pieces are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Split {
    Outer,
    Rows,
    Lanes,
    Parts,
}

impl Launch {
    pub(super) fn new(kernel: &Kernel, body: &CompiledBody) -> Launch {
        let schedule = &kernel.schedule;
        let outer: usize = schedule.outer.iter().product();
        let points = outer as f64 * schedule.rows.unwrap_or(1) as f64 * schedule.lanes as f64;
        let work = points * operations(kernel) * OPERATION;
        let reduces = !kernel.body.reductions().is_empty();
        let part_count = schedule.part_count();
        let (split, most) = if part_count > 1 {
            (Split::Parts, part_count)
        } else if outer > 1 {
            (Split::Outer, outer)
        } else if let (Some(rows), None) = (schedule.rows, schedule.chunk) {
            (Split::Rows, rows)
        } else if reduces {
            (Split::Lanes, 1)
        } else {
            (Split::Lanes, schedule.lanes.div_ceil(LANE_UNIT))
        };
        let alone = body.stack() > ASSUMED;
        let pieces = if alone {
            1
        } else {
            pieces_for(work).min(most.max(1))
        };
        let short = schedule.rows.unwrap_or(1).saturating_mul(schedule.lanes) <= CALL;
        Launch {
            entry: Some(body.entry()),
            outer: schedule.outer.clone(),
            rows: schedule.rows,
            chunk: schedule.chunk,
            parts: schedule.parts,
            part_count: schedule.part_count(),
            lanes: schedule.lanes,
            reduces,
            at_once: schedule.parts.is_none() && schedule.chunk.is_none() && short,
            split,
            pieces,
            alone,
            work,
        }
    }

    /// A lane program that is part of the function.
    pub(super) fn inline(kernel: &Kernel) -> Launch {
        Launch {
            entry: None,
            outer: Vec::new(),
            rows: None,
            chunk: None,
            parts: None,
            part_count: 1,
            lanes: kernel.schedule.lanes,
            reduces: false,
            at_once: true,
            split: Split::Lanes,
            pieces: 1,
            alone: false,
            work: 0.0,
        }
    }

    /// The lane program's address.
    pub(super) fn entry(&self) -> Option<LaneFn> {
        self.entry
    }

    /// Whether one call of the lane program without outer loops does it all.
    pub(super) fn is_direct(&self) -> bool {
        let short = self.reduces || self.lanes <= CALL;
        self.outer.is_empty()
            && self.rows.is_none()
            && self.part_count == 1
            && self.pieces == 1
            && short
    }

    pub(super) fn lanes(&self) -> usize {
        self.lanes
    }

    /// Runs one piece.
    ///
    /// # Safety
    /// As for [`launch`].
    unsafe fn piece(&self, pointers: *const *mut u8, piece: usize, context: &Context<'_>) {
        let part = |count: usize| share(count, piece, self.pieces);
        let mut whole = self.whole();
        match self.split {
            Split::Outer => whole.outer = part(whole.outer.end),
            Split::Rows => whole.rows = part(whole.rows.end),
            Split::Lanes => whole.lanes = self.lane_part(piece),
            Split::Parts => whole.parts = part(whole.parts.end),
        }
        // SAFETY: the caller promises memory for the whole domain, and this is a part of it.
        unsafe { self.run(pointers, whole, context) }
    }

    fn whole(&self) -> Part {
        Part {
            outer: 0..self.outer.iter().product(),
            rows: 0..self.rows.unwrap_or(0),
            lanes: 0..self.lanes,
            parts: 0..self.part_count,
        }
    }

    /// Runs a part of the domain.
    ///
    /// # Safety
    /// As for [`launch`], for this part.
    unsafe fn run(&self, pointers: *const *mut u8, part: Part, context: &Context<'_>) {
        let Some(entry) = self.entry else { return };
        let axes = self.outer.len();
        let mut outer = [0i64; MOST_OUTER];
        let mut rest = part.outer.start;
        for axis in (0..axes).rev() {
            outer[axis] = (rest % self.outer[axis]) as i64;
            rest /= self.outer[axis];
        }
        let next = |outer: &mut [i64; MOST_OUTER]| {
            for axis in (0..axes).rev() {
                outer[axis] += 1;
                if outer[axis] < self.outer[axis] as i64 {
                    break;
                }
                outer[axis] = 0;
            }
        };
        if self.at_once {
            if part.lanes.is_empty() {
                return;
            }
            if self.rows.is_some() {
                outer[axes] = part.rows.start as i64;
                outer[axes + 1] = part.rows.len() as i64;
            }
            let lanes = [part.lanes.start as i64, part.lanes.end as i64];
            for _ in part.outer {
                if context.is_stopped() {
                    return;
                }
                // SAFETY: the caller's promise.
                unsafe { entry(pointers, context.stop(), outer.as_ptr(), lanes[0], lanes[1]) };
                next(&mut outer);
            }
            return;
        }
        for _ in part.outer {
            // SAFETY: the caller's promise.
            unsafe {
                match self.parts {
                    None => self.rows(
                        (entry, context),
                        pointers,
                        &mut outer,
                        &part.rows,
                        &part.lanes,
                    ),
                    Some(parts) => {
                        for number in part.parts.clone() {
                            self.reduced_part(
                                (entry, context),
                                pointers,
                                &mut outer,
                                parts,
                                number,
                            );
                        }
                    }
                }
            }
            if context.is_stopped() {
                return;
            }
            next(&mut outer);
        }
    }

    /// Runs one part of a reduction.
    ///
    /// # Safety
    /// As for [`launch`], for this part.
    unsafe fn reduced_part(
        &self,
        code: (LaneFn, &Context<'_>),
        pointers: *const *mut u8,
        outer: &mut [i64; MOST_OUTER],
        parts: Parts,
        number: usize,
    ) {
        let (mut rows, mut lanes) = (0..self.rows.unwrap_or(0), 0..self.lanes);
        let at = |size: usize, end: usize| number * size..end.min((number + 1) * size);
        match (parts, self.chunk) {
            (Parts::Chunks, Some(chunk)) => rows = at(chunk, rows.end),
            (Parts::Chunks, None) => {}
            (Parts::Lanes(size), _) => lanes = at(size, lanes.end),
        }
        outer[self.outer.len() + if self.rows.is_some() { 2 } else { 0 }] = number as i64;
        // SAFETY: the caller's promise.
        unsafe { self.rows(code, pointers, outer, &rows, &lanes) }
    }

    /// Runs rows and lanes for the present outer indices.
    ///
    /// # Safety
    /// As for [`launch`], for this part.
    unsafe fn rows(
        &self,
        (entry, context): (LaneFn, &Context<'_>),
        pointers: *const *mut u8,
        outer: &mut [i64; MOST_OUTER],
        rows: &Range<usize>,
        lanes: &Range<usize>,
    ) {
        // Rows that are not reduced can be cut anywhere, and so can lanes.
        let axes = self.outer.len();
        let chunk = self
            .chunk
            .unwrap_or_else(|| (CALL / lanes.len().max(1)).max(1));
        let lanes_at_once = if self.reduces { usize::MAX } else { CALL };
        let mut row = rows.start;
        loop {
            let end = rows.end.min(row.saturating_add(chunk));
            if self.rows.is_some() {
                outer[axes] = row as i64;
                outer[axes + 1] = (end - row) as i64;
            }
            let mut lane = lanes.start;
            while lane < lanes.end && !context.is_stopped() {
                let after = lanes.end.min(lane.saturating_add(lanes_at_once));
                // SAFETY: the caller's promise.
                unsafe {
                    entry(
                        pointers,
                        context.stop(),
                        outer.as_ptr(),
                        lane as i64,
                        after as i64,
                    )
                };
                lane = after;
            }
            row = end;
            if row >= rows.end || context.is_stopped() {
                break;
            }
        }
    }

    fn lane_part(&self, piece: usize) -> Range<usize> {
        let units = self.lanes.div_ceil(LANE_UNIT);
        let units = share(units, piece, self.pieces);
        let lane = |unit: usize| (unit * LANE_UNIT).min(self.lanes);
        lane(units.start)..lane(units.end)
    }
}

/// Outer indices at the most, rows and parts included.
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

/// A pointer table that pieces share.
struct Pointers(*const *mut u8);

// SAFETY: the table is only read, and what it points to is shared between pieces as callers of `launch` promise.
unsafe impl Sync for Pointers {}

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
    // SAFETY: the caller promises live values.
    let (launch, context) = unsafe { (&*launch, &*context) };
    let pointers = &Pointers(pointers);
    if launch.pieces == 1 {
        // SAFETY: the caller's promises are those of `piece`.
        unsafe { launch.piece(pointers.0, 0, context) };
        return;
    }
    context.parallel_for(launch.pieces, |piece| {
        // SAFETY: as above; pieces are disjoint parts of the domain.
        unsafe { launch.piece(pointers.0, piece, context) };
    });
}

/// Nests that run together, as generated code refers to them.
pub(crate) struct TileLaunch {
    rows: usize,
    block: usize,
    pieces: usize,
    parts: Vec<TileRun>,
}

/// A nest of a group.
struct TileRun {
    launch: *const Launch,
    rows: RowsOf,
    /// Outer indices of a row, for [`RowsOf::Outer`].
    outer: usize,
    /// Where its pointers start in the group's table.
    table: usize,
}

// SAFETY: launches are only read.
unsafe impl Send for TileLaunch {}
// SAFETY: as above.
unsafe impl Sync for TileLaunch {}

impl TileLaunch {
    /// `launches`, by kernel, must outlive the result and stay where they are. `pointers` is how many each kernel's lane program has.
    #[allow(clippy::vec_box)]
    pub(super) fn new(
        group: &TileGroup,
        launches: &[Box<Launch>],
        pointers: impl Fn(usize) -> usize,
    ) -> Self {
        let (mut parts, mut table, mut work) = (Vec::new(), 0, 0.0);
        for part in &group.parts {
            let launch = &*launches[part.kernel as usize];
            parts.push(TileRun {
                launch: std::ptr::from_ref(launch),
                rows: part.rows,
                outer: launch.outer.iter().skip(1).product(),
                table,
            });
            table += pointers(part.kernel as usize);
            work += launch.work;
        }
        let alone = (group.parts.iter()).any(|part| launches[part.kernel as usize].alone);
        let most = if alone {
            1
        } else {
            MOST_PIECES.min(group.rows)
        };
        TileLaunch {
            rows: group.rows,
            block: group.block,
            pieces: pieces_for(work).min(most),
            parts,
        }
    }

    /// Runs one piece.
    ///
    /// # Safety
    /// As for [`launch_tiles`].
    unsafe fn piece(&self, pointers: *const *mut u8, piece: usize, context: &Context<'_>) {
        let Range {
            start: mut row,
            end,
        } = share(self.rows, piece, self.pieces);
        while row < end {
            let rows = row..end.min(row + self.block);
            row = rows.end;
            for run in &self.parts {
                // SAFETY: launches live as long as this; the caller promises memory for all rows.
                unsafe {
                    let launch = &*run.launch;
                    let mut part = launch.whole();
                    let scaled = |by: usize| rows.start * by..rows.end * by;
                    match run.rows {
                        RowsOf::Outer => part.outer = scaled(run.outer),
                        RowsOf::Inner => part.rows = rows.clone(),
                        RowsOf::Lanes(lanes) => part.lanes = scaled(lanes),
                    }
                    launch.run(pointers.add(run.table), part, context);
                }
            }
        }
    }
}

/// Runs nests together over their rows; called by generated code.
///
/// # Safety
/// As for [`launch`], for each nest with its part of the table; rows of one nest depend on no other rows of another.
pub(crate) unsafe extern "C" fn launch_tiles(
    launch: *const TileLaunch,
    pointers: *const *mut u8,
    context: *const Context<'_>,
) {
    // SAFETY: the caller promises live values.
    let (launch, context) = unsafe { (&*launch, &*context) };
    let pointers = &Pointers(pointers);
    if launch.pieces == 1 {
        // SAFETY: the caller's promises are those of `piece`.
        unsafe { launch.piece(pointers.0, 0, context) };
        return;
    }
    context.parallel_for(launch.pieces, |piece| {
        // SAFETY: as above; pieces are disjoint rows.
        unsafe { launch.piece(pointers.0, piece, context) };
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
