//! Running a lane program over a domain: the loops around it, split over threads where that pays.
//!
//! A compiled program holds one [`Launch`] or [`TileLaunch`] for each of its nests, as constant data with addresses filled in. All
//! fields are words, so that the data can be written by a compiler for another process.

use super::sync::inside_chunk;
use super::{Context, OutOfMemory, PoolBuffer};
use smallvec::SmallVec;
use std::mem::offset_of;
use std::ops::Range;
use std::sync::{Mutex, TryLockError};

/// A lane program: runs lanes `start..end`, nothing if the range is empty.
///
/// `pointers` and `outer` have an entry for each that the body declares. Code that counts one of the outer indices up runs the lanes for each of its
/// values; behind the others stands for how many, and both are other numbers after the call. Where the byte at `stop` is not 0, loops whose number of turns is
/// not known end early, and results are not to be used.
///
/// # Safety
/// Every access that the body makes for those lanes must be inside memory that is valid for it, and memory that one
/// lane stores to must not be accessed by another lane of the call or by another thread meanwhile.
pub type LaneFn = unsafe extern "C" fn(
    pointers: *const *mut u8,
    stop: *const u8,
    outer: *mut i64,
    start: i64,
    end: i64,
);

/// Work is split into pieces of about this many nanoseconds at least.
const PIECE: f64 = 5000.0;
/// And into at most this many.
const MOST_PIECES: usize = 64;
/// Lanes are split at multiples of this, and those of which so few are work enough for a piece, at multiples of that: as many as a loop
/// over lanes works on together.
const LANE_UNIT: usize = 256;
const COSTLY_UNIT: usize = 64;
/// Nanoseconds that are work enough for so few: more than pieces have at least, since the other thread reads what this one has just written.
const COSTLY: f64 = 3.0 * PIECE;
/// A call of a lane program takes so many lanes and rows at most, where they can be cut, so that a run can be ended between two.
pub(crate) const CALL: usize = 1 << 24;
/// A call that runs several turns of the loop around it is for about so many rows and lanes, of which the call itself is a small part.
const TURNS: usize = 1 << 18;
/// Outer indices of a lane program beside those of its own loops: the first row, their number, and that of a partial result or of turns.
const EXTRA: usize = 3;

/// Outer indices of a lane program, as it reads them.
type Indices = SmallVec<[i64; 16]>;

/// In place of a number that there is none of.
pub(crate) const NONE: usize = usize::MAX;

/// A lane program with its domain.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct Launch {
    /// The lane program, filled in when the data has its place.
    pub(crate) entry: Option<LaneFn>,
    /// Lengths of the loops around it, outermost first. They stand behind this; the address is filled in.
    pub(crate) outer: *const usize,
    /// How many they are.
    pub(crate) axes: usize,
    /// Turns of the loop over rows inside the lane program, or [`NONE`].
    pub(crate) rows: usize,
    /// Rows are reduced so many at a time, in order; or [`NONE`].
    pub(crate) chunk: usize,
    /// Whether the reduction is made in partial results, and of what.
    pub(crate) partials: PartialsOf,
    /// Lanes of a partial result.
    pub(crate) partial_lanes: usize,
    /// The number of partial results.
    pub(crate) partial_count: usize,
    pub(crate) lanes: usize,
    /// What lanes are split at multiples of.
    pub(crate) unit: usize,
    /// Whether the lanes of a call are reduced, so that they cannot be cut.
    pub(crate) reduces: Flag,
    /// Whether one call does all rows and lanes, for each combination of outer indices.
    pub(crate) at_once: Flag,
    /// Where outer indices say how many values of the last one a call is for, which it counts up; or [`NONE`] where each call is for one.
    pub(crate) turns: usize,
    pub(crate) split: Split,
    /// The number of pieces that threads take.
    pub(crate) pieces: usize,
}

// SAFETY: the lengths are only read.
unsafe impl Sync for Launch {}

/// Words of a [`Launch`].
const LAUNCH_WORDS: usize = 15;

/// Whether something is so.
#[repr(u64)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flag {
    No,
    Yes,
}

impl Flag {
    pub(crate) fn is(condition: bool) -> Flag {
        if condition { Flag::Yes } else { Flag::No }
    }
}

/// What partial results of a reduction are of.
#[repr(u64)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PartialsOf {
    /// There are none.
    Nothing,
    /// One for each chunk of rows.
    Chunks,
    /// One for so many lanes each.
    Lanes,
}

/// What the pieces are that threads take.
#[repr(u64)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Split {
    Outer,
    Rows,
    Lanes,
    Partials,
}

/// How many pieces work of so many nanoseconds is worth: a power of two, so that pieces of nests that follow each other have the same bounds, and
/// what a thread has written is what it goes on with.
#[allow(
    clippy::cast_possible_truncation,
    reason = "a float becomes the nearest integer that there is"
)]
pub(crate) fn pieces_for(work: f64) -> usize {
    let pieces = ((work / PIECE) as usize).clamp(1, MOST_PIECES);
    1 << pieces.ilog2()
}

/// What so many lanes are split at multiples of, which are work of so many nanoseconds.
pub(crate) fn lane_unit(lanes: usize, work: f64) -> usize {
    if work / lanes.max(1) as f64 * COSTLY_UNIT as f64 >= COSTLY {
        COSTLY_UNIT
    } else {
        LANE_UNIT
    }
}

/// What falls to one of some pieces.
pub(crate) fn share(count: usize, piece: usize, pieces: usize) -> Range<usize> {
    // In two terms: the product of both may not fit.
    let start = |piece: usize| count / pieces * piece + count % pieces * piece / pieces;
    start(piece)..start(piece + 1)
}

/// A block of a domain.
#[derive(Clone, Debug)]
struct Share {
    /// Of all combinations of outer indices.
    outer: Range<usize>,
    rows: Range<usize>,
    lanes: Range<usize>,
    partials: Range<usize>,
}

impl Launch {
    /// Where the address of the lane program stands in the data.
    pub(crate) const ENTRY_AT: usize = offset_of!(Launch, entry);
    /// Where the address of the lengths stands in the data.
    pub(crate) const OUTER_AT: usize = offset_of!(Launch, outer);
    /// Where the lengths stand in the data.
    pub(crate) const LENGTHS_AT: usize = size_of::<Launch>();

    /// The data, with 0 for addresses.
    pub(crate) fn bytes(&self, lengths: &[usize]) -> Vec<u8> {
        const { assert!(size_of::<Launch>() == 8 * LAUNCH_WORDS, "words alone") };
        let unplaced = Launch {
            entry: None,
            outer: std::ptr::null(),
            axes: lengths.len(),
            ..*self
        };
        // SAFETY: the value is so many bytes, and has no gaps.
        let mut bytes = unsafe { bytes_of(&unplaced) };
        bytes.extend(lengths.iter().flat_map(|length| length.to_ne_bytes()));
        bytes
    }

    /// How many pieces so many threads take. Lanes whose rows are read in chunks are cut into no more than there are threads: a piece has a part of
    /// each row, and memory is read the faster the longer these parts are.
    fn pieces(&self, threads: usize) -> usize {
        if self.split == Split::Lanes && self.chunk != NONE {
            self.pieces.min(threads)
        } else {
            self.pieces
        }
    }

    /// Runs one of some pieces.
    ///
    /// # Safety
    /// As for [`launch`].
    unsafe fn piece(
        &self,
        pointers: *const *mut u8,
        (piece, pieces): (usize, usize),
        context: &Context<'_>,
    ) {
        let own = |count: usize| share(count, piece, pieces);
        let mut whole = self.whole();
        match self.split {
            Split::Outer => whole.outer = own(whole.outer.end),
            Split::Rows => whole.rows = own(whole.rows.end),
            Split::Lanes => whole.lanes = self.lane_share(piece, pieces),
            Split::Partials => whole.partials = own(whole.partials.end),
        }
        // SAFETY: the caller promises memory for the whole domain, and this is a block of it.
        unsafe { self.run(pointers, whole, context) }
    }

    fn outer(&self) -> &[usize] {
        // SAFETY: that is what stands behind this in the data.
        unsafe { std::slice::from_raw_parts(self.outer, self.axes) }
    }

    /// The number of rows, if there is a loop over rows.
    fn rows(&self) -> Option<usize> {
        (self.rows != NONE).then_some(self.rows)
    }

    fn whole(&self) -> Share {
        Share {
            outer: 0..self.outer().iter().product(),
            rows: 0..self.rows().unwrap_or(0),
            lanes: 0..self.lanes,
            partials: 0..self.partial_count,
        }
    }

    /// Runs a block of the domain.
    ///
    /// # Safety
    /// As for [`launch`], for this block.
    unsafe fn run(&self, pointers: *const *mut u8, share: Share, context: &Context<'_>) {
        let Some(entry) = self.entry else { return };
        let lengths = self.outer();
        let axes = lengths.len();
        let mut outer = Indices::from_elem(0, axes + EXTRA);
        let mut rest = share.outer.start;
        for axis in (0..axes).rev() {
            outer[axis] = (rest % lengths[axis]) as i64;
            rest /= lengths[axis];
        }
        // Behind a turn of the last loop.
        let carry = |outer: &mut Indices| {
            for axis in (0..axes).rev() {
                if outer[axis] < lengths[axis] as i64 {
                    break;
                }
                outer[axis] = 0;
                if let Some(before) = axis.checked_sub(1) {
                    outer[before] += 1;
                }
            }
        };
        let next = |outer: &mut Indices| {
            if let Some(last) = axes.checked_sub(1) {
                outer[last] += 1;
            }
            carry(outer);
        };
        if self.at_once == Flag::Yes {
            if share.lanes.is_empty() {
                return;
            }
            if self.rows().is_some() {
                outer[axes] = share.rows.start as i64;
                outer[axes + 1] = share.rows.len() as i64;
            }
            let lanes = [share.lanes.start as i64, share.lanes.end as i64];
            if self.turns != NONE {
                let most = (TURNS / (self.rows().unwrap_or(1) * self.lanes).max(1)).max(1);
                let mut left = share.outer.len();
                while left > 0 && !context.is_stopped() {
                    let turns = (lengths[axes - 1] - outer[axes - 1] as usize)
                        .min(left)
                        .min(most);
                    outer[self.turns] = turns as i64;
                    let indices = outer.as_mut_ptr();
                    // SAFETY: the caller's promise; the table has a place for the turns.
                    unsafe { entry(pointers, context.stop(), indices, lanes[0], lanes[1]) };
                    left -= turns;
                    carry(&mut outer);
                }
                return;
            }
            for _ in share.outer {
                if context.is_stopped() {
                    return;
                }
                // SAFETY: the caller's promise.
                unsafe {
                    entry(
                        pointers,
                        context.stop(),
                        outer.as_mut_ptr(),
                        lanes[0],
                        lanes[1],
                    )
                };
                next(&mut outer);
            }
            return;
        }
        for _ in share.outer {
            // SAFETY: the caller's promise.
            unsafe {
                let code = (entry, context);
                match self.partials {
                    PartialsOf::Nothing => {
                        self.run_rows(code, pointers, &mut outer, &share.rows, &share.lanes)
                    }
                    PartialsOf::Chunks | PartialsOf::Lanes => {
                        for number in share.partials.clone() {
                            self.run_partial(code, pointers, &mut outer, number);
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

    /// Computes one partial result of a reduction.
    ///
    /// # Safety
    /// As for [`launch`], for this block.
    unsafe fn run_partial(
        &self,
        code: (LaneFn, &Context<'_>),
        pointers: *const *mut u8,
        outer: &mut Indices,
        number: usize,
    ) {
        let (mut rows, mut lanes) = (0..self.rows().unwrap_or(0), 0..self.lanes);
        let at = |size: usize, end: usize| number * size..end.min((number + 1) * size);
        match self.partials {
            PartialsOf::Chunks if self.chunk != NONE => rows = at(self.chunk, rows.end),
            PartialsOf::Lanes => lanes = at(self.partial_lanes, lanes.end),
            PartialsOf::Chunks | PartialsOf::Nothing => {}
        }
        outer[self.axes + if self.rows().is_some() { 2 } else { 0 }] = number as i64;
        // SAFETY: the caller's promise.
        unsafe { self.run_rows(code, pointers, outer, &rows, &lanes) }
    }

    /// Runs rows and lanes for the present outer indices.
    ///
    /// # Safety
    /// As for [`launch`], for this block.
    unsafe fn run_rows(
        &self,
        (entry, context): (LaneFn, &Context<'_>),
        pointers: *const *mut u8,
        outer: &mut Indices,
        rows: &Range<usize>,
        lanes: &Range<usize>,
    ) {
        // Rows that are not reduced can be cut anywhere, and so can lanes.
        let chunk = match self.chunk {
            NONE => (CALL / lanes.len().max(1)).max(1),
            chunk => chunk,
        };
        let lanes_at_once = match self.reduces {
            Flag::Yes => usize::MAX,
            Flag::No => CALL,
        };
        let mut row = rows.start;
        loop {
            let end = rows.end.min(row.saturating_add(chunk));
            if self.rows().is_some() {
                outer[self.axes] = row as i64;
                outer[self.axes + 1] = (end - row) as i64;
            }
            let mut lane = lanes.start;
            while lane < lanes.end && !context.is_stopped() {
                let after = lanes.end.min(lane.saturating_add(lanes_at_once));
                // SAFETY: the caller's promise.
                unsafe {
                    entry(
                        pointers,
                        context.stop(),
                        outer.as_mut_ptr(),
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

    fn lane_share(&self, piece: usize, pieces: usize) -> Range<usize> {
        let units = self.lanes.div_ceil(self.unit);
        let units = share(units, piece, pieces);
        let lane = |unit: usize| (unit * self.unit).min(self.lanes);
        lane(units.start)..lane(units.end)
    }
}

/// The bytes of a value.
///
/// # Safety
/// All bytes of the type have values: there are no gaps between its fields.
unsafe fn bytes_of<T>(value: &T) -> Vec<u8> {
    // SAFETY: a value is so many bytes, and the caller promises that all of them are there.
    unsafe { std::slice::from_raw_parts(std::ptr::from_ref(value).cast::<u8>(), size_of::<T>()) }
        .to_vec()
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
    let pieces = launch.pieces(context.threads());
    if pieces == 1 {
        // SAFETY: the caller's promises are those of `piece`.
        unsafe { launch.piece(pointers.0, (0, 1), context) };
        return;
    }
    context.parallel_for(pieces, |piece| {
        // SAFETY: as above; pieces are disjoint blocks of the domain.
        unsafe { launch.piece(pointers.0, (piece, pieces), context) };
    });
}

/// Nests that run together, block by block of their common rows. Behind it stand as many [`TileRun`]s as it has, and behind those its [`KeptRows`].
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct TileLaunch {
    pub(crate) rows: usize,
    /// Rows of a block.
    pub(crate) block: usize,
    /// Pieces have multiples of so many rows.
    pub(crate) unit: usize,
    /// The number of pieces that threads take.
    pub(crate) pieces: usize,
    /// The number of nests.
    pub(crate) runs: usize,
    /// Entries of the pointer table.
    pub(crate) pointers: usize,
    /// How many of them are to arrays of which there is a block alone.
    pub(crate) kept: usize,
    /// Bytes of those blocks.
    pub(crate) kept_bytes: usize,
    /// At most so many threads have such blocks at once.
    pub(crate) threads: usize,
}

/// An operand of a group that has memory for a block of rows alone.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct KeptRows {
    /// Its place in the pointer table, where the memory is that the first thread has.
    pub(crate) entry: usize,
    /// Bytes of a row.
    pub(crate) row: usize,
    /// Where it is in the memory of another thread.
    pub(crate) start: usize,
}

/// A nest of a group.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct TileRun {
    /// Filled in when the data has its place.
    launch: *const Launch,
    rows: TileRows,
    /// What a row of the group is in the nest's own unit: combinations of outer indices, rows or lanes.
    scale: usize,
    /// Where its pointers start in the group's table.
    table: usize,
}

/// What the rows of a group are in one of its nests.
#[repr(u64)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TileRows {
    /// Combinations of outer indices.
    Outer,
    /// Turns of the loop over rows inside the lane program.
    Inner,
    /// Lanes.
    Lanes,
}

impl TileRun {
    /// A nest whose pointers start at `table`.
    pub(crate) fn new(rows: TileRows, scale: usize, table: usize) -> TileRun {
        TileRun {
            launch: std::ptr::null(),
            rows,
            scale,
            table,
        }
    }
}

impl TileLaunch {
    /// The data of a group and its nests, with 0 for the addresses of their launches, which stand at [`TileLaunch::launch_at`].
    pub(crate) fn bytes(&self, runs: &[TileRun], kept: &[KeptRows]) -> Vec<u8> {
        const { assert!(size_of::<TileLaunch>() == 9 * 8 && size_of::<TileRun>() == 4 * 8) };
        const { assert!(size_of::<KeptRows>() == 3 * 8) };
        // SAFETY: the values are so many bytes, and have no gaps.
        let (mut bytes, runs, kept) = unsafe {
            let runs: Vec<Vec<u8>> = runs.iter().map(|run| bytes_of(run)).collect();
            let kept: Vec<Vec<u8>> = kept.iter().map(|rows| bytes_of(rows)).collect();
            (bytes_of(self), runs, kept)
        };
        bytes.extend(runs.into_iter().chain(kept).flatten());
        bytes
    }

    /// Where the address of a nest's launch stands in the data.
    pub(crate) fn launch_at(run: usize) -> usize {
        size_of::<TileLaunch>() + run * size_of::<TileRun>() + offset_of!(TileRun, launch)
    }

    /// Runs one piece. The arrays that are kept have their blocks at `memory`, or where the pointer table says.
    ///
    /// # Safety
    /// As for [`launch_tiles`]; `parts` are those of this group, and nobody else touches the blocks meanwhile.
    unsafe fn piece(
        &self,
        parts: Parts<'_>,
        pointers: *const *mut u8,
        piece: usize,
        memory: Option<*mut u8>,
        context: &Context<'_>,
    ) {
        let units = share(self.rows.div_ceil(self.unit), piece, self.pieces);
        let mut row = units.start * self.unit;
        let end = self.rows.min(units.end * self.unit);
        // SAFETY: the table has so many entries.
        let whole = unsafe { std::slice::from_raw_parts(pointers, self.pointers) };
        let mut moved: SmallVec<[*mut u8; 32]> = SmallVec::new();
        let mut pointers = pointers;
        while row < end {
            let rows = row..end.min(row + self.block);
            row = rows.end;
            if !parts.kept.is_empty() {
                moved.clear();
                moved.extend_from_slice(whole);
                for rows_of in parts.kept {
                    let block = match memory {
                        Some(memory) => memory.wrapping_add(rows_of.start),
                        None => whole[rows_of.entry],
                    };
                    // Where the array would begin if this block was in its place.
                    moved[rows_of.entry] = block.wrapping_sub(rows.start * rows_of.row);
                }
                pointers = moved.as_ptr();
            }
            for run in parts.runs {
                // SAFETY: launches live as long as this; the caller promises memory for all rows.
                unsafe {
                    let launch = &*run.launch;
                    let mut share = launch.whole();
                    let scaled = rows.start * run.scale..rows.end * run.scale;
                    match run.rows {
                        TileRows::Outer => share.outer = scaled,
                        TileRows::Inner => share.rows = scaled,
                        TileRows::Lanes => share.lanes = scaled,
                    }
                    launch.run(pointers.add(run.table), share, context);
                }
            }
        }
    }
}

/// What stands behind a group, for the threads that run it.
#[derive(Clone, Copy)]
struct Parts<'a> {
    runs: &'a [TileRun],
    kept: &'a [KeptRows],
}

// SAFETY: launches are only read.
unsafe impl Sync for Parts<'_> {}

/// The blocks that a thread has while it runs a piece: at first there are none, but for the thread that has those of the pointer table.
enum Blocks {
    InTable,
    Own(Option<PoolBuffer>),
}

impl Blocks {
    /// Where they are, if not where the table says.
    ///
    /// # Errors
    /// When there is no memory.
    fn memory(&mut self, bytes: usize) -> Result<Option<*mut u8>, OutOfMemory> {
        match self {
            Blocks::InTable => Ok(None),
            Blocks::Own(buffer) => {
                let buffer = match buffer {
                    Some(buffer) => buffer,
                    None => buffer.insert(PoolBuffer::new(bytes)?),
                };
                Ok(Some(buffer.as_mut_ptr()))
            }
        }
    }
}

/// Blocks for threads that run pieces at once. A thread that finds none free waits for one.
struct Shelves(SmallVec<[Mutex<Blocks>; 8]>);

impl Shelves {
    fn new(threads: usize) -> Shelves {
        let own = (1..threads).map(|_| Blocks::Own(None));
        let all = std::iter::once(Blocks::InTable).chain(own);
        Shelves(all.map(Mutex::new).collect())
    }

    /// Calls `f` with blocks of `bytes` that nobody else has meanwhile: number `first` if they are free, since the same thread had them last.
    fn with(&self, first: usize, bytes: usize, f: impl FnOnce(Option<*mut u8>)) {
        loop {
            for k in 0..self.0.len() {
                let shelf = &self.0[(first + k) % self.0.len()];
                let mut blocks = match shelf.try_lock() {
                    Ok(blocks) => blocks,
                    Err(TryLockError::Poisoned(blocks)) => blocks.into_inner(),
                    Err(TryLockError::WouldBlock) => continue,
                };
                // Without memory others are waited for: the first has its own.
                if let Ok(memory) = blocks.memory(bytes) {
                    return f(memory);
                }
            }
            std::thread::yield_now();
        }
    }
}

/// Runs nests together over their rows; called by generated code.
///
/// # Safety
/// As for [`launch`], for each nest with its own entries of the table; rows of one nest depend on no other rows of another. The nests stand
/// behind `launch`.
pub(crate) unsafe extern "C" fn launch_tiles(
    launch: *const TileLaunch,
    pointers: *const *mut u8,
    context: *const Context<'_>,
) {
    // SAFETY: the caller promises live values, and the nests behind the group.
    let (group, context, parts) = unsafe {
        let group = &*launch;
        let runs = launch.add(1).cast::<TileRun>();
        let parts = Parts {
            runs: std::slice::from_raw_parts(runs, group.runs),
            kept: std::slice::from_raw_parts(runs.add(group.runs).cast(), group.kept),
        };
        (group, &*context, parts)
    };
    let pointers = &Pointers(pointers);
    // SAFETY: the caller's promises are those of `piece`; pieces are disjoint rows, and those that run at once have different blocks.
    let run = |piece, memory| unsafe { group.piece(parts, pointers.0, piece, memory, context) };
    if group.pieces == 1 {
        return run(0, None);
    }
    if group.kept == 0 {
        context.parallel_for(group.pieces, |piece| run(piece, None));
        return;
    }
    let at_once = if inside_chunk() { 1 } else { context.threads() };
    let threads = at_once.min(group.threads).min(group.pieces);
    let shelves = Shelves::new(threads);
    context.parallel_for(group.pieces, |piece| {
        let first = piece * threads / group.pieces;
        shelves.with(first, group.kept_bytes, |memory| run(piece, memory));
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
