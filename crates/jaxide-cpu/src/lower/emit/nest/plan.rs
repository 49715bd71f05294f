//! What becomes of the axes of a nest.

use super::{Axes, Block, Partials, has_control};
use crate::lower::emit::{Mention, Var};
use crate::lower::fuse::Nest;
use crate::narrow;
use std::ops::Range;

/// Axes that are not lanes are unrolled up to this length.
const UNROLL: usize = 4;
/// Elements of a line of the cache, taken to have four bytes.
const LINE: u64 = 16;
/// Unrolled axes are so many points together at most.
const MOST_COPIES: usize = 64;
/// Elements of rows that are written out, those of all arrays that are read together.
const MOST_ELEMENTS: usize = 128;
/// Rows and columns of a small matrix that is turned in registers.
const FEW_COLUMNS: usize = 16;
/// With fewer lanes than this beside each other, in rows and all, a short axis is written out whether or not anything is shared along it.
const FEW_LANES: usize = 128;
/// With fewer lanes than this, a further axis loops inside the lanes: they are one or two registers, whose masks are made once for all rows. Of
/// more, a turn of the loop around the lanes takes no longer than a row inside, and each row is read from its start to its end.
const LANES_OF_ROWS: usize = 64;
/// That holds for lanes that fill registers. What they leave over is stored masked, which the next row's first load may have to wait for, where rows are updated in
/// place: up to [`FEW_LANES`], they are inside.
const WHOLE: usize = 16;
/// Rows of a lane program with so many elements together cost far more than its call.
const MANY_ELEMENTS: usize = 512;
/// Bytes that a row may have so that rows are reduced one lane block after the other; longer ones are reduced in chunks, so that memory is
/// read in order.
const SHORT_ROW: usize = 1024;
/// With fewer outer loops than this, a reduction over the lanes is made in partial results.
const FEW_LOOPS: usize = 16;
/// With fewer results than this, and a long reduction for each, it is made in partial results.
const FEW_RESULTS: usize = 512;
/// With more loops around a reduction over the lanes, it is made in so many partial results at most.
const FEW_PARTIALS: usize = 1 << 13;
/// A reduction is made in at most so many chunks of rows at once.
const MOST_CHUNKS: usize = 64;
/// Lanes, or elements, of a partial result, where each takes [`OPERATIONS`] at most.
const PARTIAL: usize = 1 << 15;
/// Operations of an element that count as one; what takes more is worth so many more elements, up to [`MOST_WORTH`].
const OPERATIONS: f64 = 16.0;
const MOST_WORTH: usize = 64;
/// A reduction over the lanes is made in at most so many partial results.
const MOST_PARTIALS: usize = 1 << 20;
/// Rows of a chunk that is unrolled.
const UNROLLED_ROWS: usize = 8;
/// Bytes of a chunk of rows.
const CHUNK: usize = 1 << 17;

/// What becomes of a group of axes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    Single,
    Unrolled,
    Outer,
    Rows,
    Lane,
    /// A loop inside the lane program that a reduction runs over.
    Fold,
    /// The same in chunks of so many turns, each a run of the lane program.
    Chunks(usize),
}

/// Neighbouring axes that memory treats as one.
#[derive(Clone, Debug)]
pub(super) struct Group {
    pub(super) axes: Range<usize>,
    pub(super) size: usize,
    pub(super) reduced: bool,
    pub(super) role: Role,
}

#[derive(Clone, Debug)]
pub(super) struct LoopPlan {
    pub(super) lengths: Vec<usize>,
    pub(super) groups: Vec<Group>,
    /// What partial results of a reduction are of, if there are any.
    pub(super) partials: Option<Partials>,
    /// Whether the turns of a chunk are unrolled: each row is read from its start to its end, several rows at once.
    pub(super) unrolled: bool,
}

impl LoopPlan {
    /// The axis and length where a reduction in unrolled chunks must be cut, so that all chunks are whole.
    pub(super) fn cut(&self) -> Option<(usize, usize)> {
        self.groups.iter().find_map(|group| match group.role {
            Role::Chunks(turns) if self.unrolled && !group.size.is_multiple_of(turns) => {
                Some((group.axes.start, group.size / turns * turns))
            }
            _ => None,
        })
    }

    pub(super) fn reduces_lanes(&self) -> bool {
        self.lanes().1
    }

    /// The number of lanes, and whether they are reduced.
    fn lanes(&self) -> (usize, bool) {
        let lane = self.groups.iter().find(|group| group.role == Role::Lane);
        lane.map_or((1, false), |lane| (lane.size, lane.reduced))
    }

    /// Combinations of the loops around the lane program.
    fn outer(&self) -> usize {
        let outer = self.groups.iter().filter(|group| group.role == Role::Outer);
        outer.map(|group| group.size).product()
    }
}

fn factor(mention: &Mention, var: Option<Var>) -> i64 {
    mention
        .terms
        .iter()
        .find(|term| Some(term.0) == var)
        .map_or(0, |term| term.1)
}

/// Decides what becomes of each axis of a block; `may_chunk` says whether memory holds what is accumulated as it is, `operations` how many
/// each element takes.
pub(super) fn choose(
    nest: &Nest,
    block: &Block,
    reduced: &[usize],
    axes: &Axes,
    mentions: &[Mention],
    joins: &[(Var, usize)],
    (may_chunk, operations): (bool, f64),
) -> LoopPlan {
    let lengths = block.lengths.clone();
    let mut plan = LoopPlan {
        groups: merge(&lengths, reduced, axes, mentions, has_control(nest)),
        lengths,
        partials: None,
        unrolled: false,
    };
    choose_lanes(&mut plan.groups, axes, mentions, joins);
    let control = has_control(nest);
    if !control {
        unroll_rows(&mut plan.groups, axes, mentions);
    }
    unroll(&mut plan.groups, axes, mentions, control);
    part_unrolled(&mut plan);
    choose_rows(&mut plan.groups);
    if may_chunk {
        let partial = partial_of(operations);
        choose_chunks(&mut plan, axes, mentions, partial);
        divide_lanes(&mut plan, partial);
    }
    plan
}

/// Elements of a partial result, if each takes so many operations: a power of two, so that lanes fill their registers.
fn partial_of(operations: f64) -> usize {
    let mut worth = 1;
    while worth < MOST_WORTH && operations >= 2.0 * OPERATIONS * worth as f64 {
        worth *= 2;
    }
    PARTIAL / worth
}

/// Neighbouring axes become one group where all memory goes through them with one step: fewer loops, and longer ones.
fn merge(
    lengths: &[usize],
    reduced: &[usize],
    axes: &Axes,
    mentions: &[Mention],
    control: bool,
) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    for (axis, &length) in lengths.iter().enumerate() {
        let is_reduced = reduced.contains(&axis);
        if let Some(last) = groups.last_mut() {
            let before = last.axes.end - 1;
            let mergeable = last.reduced == is_reduced
                && axes.vars[axis].is_some()
                && axes.vars[before].is_some()
                && mentions.iter().all(|m| {
                    factor(m, axes.vars[before]) == factor(m, axes.vars[axis]) * length as i64
                });
            if mergeable {
                last.axes.end = axis + 1;
                last.size *= length;
                continue;
            }
        }
        groups.push(Group {
            axes: axis..axis + 1,
            size: length,
            reduced: is_reduced,
            role: if length == 1 && !control {
                Role::Single
            } else {
                Role::Outer
            },
        });
    }
    groups
}

/// The lanes are the group along which most of memory is read and written element after element, since vectors then are loads and stores
/// instead of gathers and scatters; of equals the longest, and rather one that is not reduced.
///
/// Along an axis of many short pieces that have been joined, each lane would have another piece's formula, and all of them would be computed for each.
fn choose_lanes(groups: &mut [Group], axes: &Axes, mentions: &[Mention], joins: &[(Var, usize)]) {
    let many_results = (groups.iter())
        .any(|group| group.role == Role::Outer && !group.reduced && group.size >= weight::FEW);
    let reduced: usize = (groups.iter().filter(|group| group.reduced))
        .map(|group| group.size)
        .product();
    let few_terms = reduced <= weight::FEW_TERMS;
    let score = |group: &Group| -> (i64, usize) {
        let var = axes.vars[group.axes.end - 1];
        let mut score: i64 = mentions
            .iter()
            .filter(|m| (m.value.is_some() || m.store) && !m.rare)
            .map(|m| match (factor(m, var), m.store) {
                (1, false) => weight::LOAD_IN_ORDER,
                (1, true) => weight::STORE_IN_ORDER,
                (0, false) => weight::LOAD_ONCE,
                (0, true) => weight::STORE_ONCE,
                (_, false) => weight::LOAD_APART,
                (_, true) => weight::STORE_APART,
            })
            .sum();
        let joined = joins.iter().filter(|join| Some(join.0) == var);
        let pieces = joined.map(|join| join.1).max().unwrap_or(1);
        if group.size < weight::FEW
            || group.reduced && group.size <= weight::SHORT_REDUCTION && few_terms && many_results
        {
            score -= weight::SHORT / group.size as i64;
        }
        if pieces >= weight::FEW && pieces * weight::SHORT_PIECE >= group.size {
            score -= weight::SHORT * pieces as i64;
        }
        (score - i64::from(group.reduced), group.size)
    };
    let best = (groups.iter_mut().filter(|group| group.role == Role::Outer))
        .max_by_key(|group| score(group));
    if let Some(best) = best {
        best.role = Role::Lane;
    }
}

/// What memory is worth that lanes go through: they are compared with each other alone.
mod weight {
    /// A vector is loaded.
    pub(super) const LOAD_IN_ORDER: i64 = 3;
    /// A vector is stored. Worth more than a load: there are no scatters for narrow types, and on some machines for none.
    pub(super) const STORE_IN_ORDER: i64 = 5;
    /// One element is loaded for all lanes.
    pub(super) const LOAD_ONCE: i64 = 2;
    /// A reduction over the lanes stores one result.
    pub(super) const STORE_ONCE: i64 = 0;
    /// Lanes are gathered.
    pub(super) const LOAD_APART: i64 = -2;
    /// Lanes are scattered.
    pub(super) const STORE_APART: i64 = -4;
    /// With fewer lanes, most of a vector is empty: that outweighs all loads and stores.
    pub(super) const FEW: usize = 5;
    /// Lanes of a piece that has no more are of many pieces.
    pub(super) const SHORT_PIECE: usize = 4;
    /// So few lanes are not reduced, where there are results that can be lanes: combining all lanes for each result takes longer than gathering
    /// its elements.
    pub(super) const SHORT_REDUCTION: usize = 32;
    /// But where more terms than this are reduced along all axes, lanes are combined once for so many.
    pub(super) const FEW_TERMS: usize = 64;
    /// What is taken off for it, times the length.
    pub(super) const SHORT: i64 = 1000;
}

/// The elements of a short row of which each lane has its own are written out, since they are loaded together then: where they are reduced, and
/// where rows become columns of a few lanes.
fn unroll_rows(groups: &mut [Group], axes: &Axes, mentions: &[Mention]) {
    let Some(lane) = (groups.iter()).find(|group| group.role == Role::Lane && !group.reduced)
    else {
        return;
    };
    let few_lanes = lane.size <= FEW_COLUMNS;
    let lane = axes.vars[lane.axes.end - 1];
    let loads = || (mentions.iter()).filter(|mention| mention.value.is_some() && !mention.rare);
    let most = MOST_ELEMENTS / loads().count().max(1);
    let row = groups.iter_mut().rev().find(|group| {
        let var = axes.vars[group.axes.end - 1];
        let in_row = |mention: &Mention| factor(mention, var) == 1;
        let apart = |mention: &Mention| factor(mention, lane).unsigned_abs() > 1;
        group.role == Role::Outer
            && (group.reduced || few_lanes && group.size <= FEW_COLUMNS)
            && group.axes.len() == 1
            && group.size <= most.min(weight::SHORT_REDUCTION)
            && loads().any(|mention| in_row(mention) && apart(mention))
    });
    if let Some(row) = row {
        row.role = Role::Unrolled;
    }
}

/// Short axes are written out, since a loop would take more than its turns, and what does not change along them is computed once. The innermost come first;
/// all of them together are no more than [`MOST_COPIES`] points, so that the code stays small. Other reduced axes are loops inside the lane
/// program.
///
/// Neither is an axis worth it along which nothing is shared: neither an element, nor a line of the cache. Its copies would go through memory
/// far apart from each other, at distances that are often powers of two, where caches hold little. With few lanes, and no rows that make many of
/// them, it is written out all the same: a call would cost more.
fn unroll(groups: &mut [Group], axes: &Axes, mentions: &[Mention], control: bool) {
    let mut copies = 1;
    let lanes = groups.iter().find(|group| group.role == Role::Lane);
    let rows = (groups.iter())
        .filter(|group| group.role == Role::Outer && group.size > UNROLL && !group.reduced)
        .map(|group| group.size);
    let rows = rows.max().unwrap_or(1);
    let many_lanes = lanes.is_some_and(|lanes| {
        let rows = if lanes.reduced { 1 } else { rows };
        lanes.size.saturating_mul(rows) >= FEW_LANES
    });
    let shares = |group: &Group| {
        let var = axes.vars[group.axes.end - 1];
        let step = |mention: &Mention| factor(mention, var).unsigned_abs();
        let mut memory = (mentions.iter()).filter(|m| m.value.is_some() || m.store);
        var.is_none() || memory.any(|mention| step(mention) < LINE)
    };
    for group in groups
        .iter_mut()
        .rev()
        .filter(|group| group.role == Role::Outer)
    {
        let worth = group.reduced || !many_lanes || shares(group);
        let short = group.size <= UNROLL && !control && worth;
        if short && copies * group.size <= MOST_COPIES {
            copies *= group.size;
            group.role = Role::Unrolled;
        } else if group.reduced {
            group.role = Role::Fold;
        }
    }
}

/// What is written out is so axis by axis.
fn part_unrolled(plan: &mut LoopPlan) {
    let groups = std::mem::take(&mut plan.groups);
    for group in groups {
        if group.role != Role::Unrolled {
            plan.groups.push(group);
            continue;
        }
        plan.groups.extend(group.axes.clone().map(|axis| Group {
            axes: axis..axis + 1,
            size: plan.lengths[axis],
            ..group.clone()
        }));
    }
}

/// With few lanes an outer loop runs inside the lanes, since a turn around them costs more than so little work: the innermost that is
/// long enough for it, since memory is mostly written in the order of the axes, else the longest.
fn choose_rows(groups: &mut [Group]) {
    let lane = groups.iter().find(|group| group.role == Role::Lane);
    let lanes = lane.map_or(1, |lane| lane.size);
    let around = lanes >= LANES_OF_ROWS && lanes.is_multiple_of(WHOLE) || lanes >= FEW_LANES;
    if around || lane.is_some_and(|lane| lane.reduced) {
        return;
    }
    // Of equals this is the last.
    let rows = (groups.iter_mut())
        .filter(|group| group.role == Role::Outer)
        .max_by_key(|group| group.size.saturating_mul(lanes).min(MANY_ELEMENTS));
    if let Some(rows) = rows {
        rows.role = Role::Rows;
    }
}

/// Long reductions are made in chunks of rows: in partial results, where there are too few results for the threads; else one chunk after
/// the other, where rows are so long and far apart that memory is better read in order.
fn choose_chunks(plan: &mut LoopPlan, axes: &Axes, mentions: &[Mention], partial: usize) {
    let (lanes, lane_reduced) = plan.lanes();
    let outer = plan.outer();
    let groups = &mut plan.groups;
    // A kernel is run for rows, or for chunks of a reduction.
    if groups.iter().any(|group| group.role == Role::Rows) {
        return;
    }
    let folds = || groups.iter().filter(|group| group.role == Role::Fold);
    let (count, terms) = (folds().count(), folds().map(|group| group.size).product());
    let results = outer * lanes;
    // Each partial result of reduced lanes takes a reduction of its own.
    let (few_results, partial) = if lane_reduced {
        (outer < FEW_LOOPS, 2 * partial)
    } else {
        (results < FEW_RESULTS, partial)
    };
    if few_results && results.saturating_mul(terms) >= 4 * partial {
        // Of equals the outermost.
        let longest = (groups.iter_mut().rev())
            .filter(|group| group.role == Role::Fold && group.size > 1)
            .max_by_key(|group| group.size);
        let Some(fold) = longest else { return };
        let of_turn = results * (terms / fold.size);
        let turns = (partial / of_turn).max(fold.size.div_ceil(MOST_CHUNKS));
        fold.role = Role::Chunks(turns);
        plan.partials = Some(Partials::Chunks);
        return;
    }
    let Some(fold) = groups.iter_mut().find(|group| group.role == Role::Fold) else {
        return;
    };
    let size = fold.size;
    if let Some(turns) = chunk(fold, lanes, axes, mentions)
        && (!lane_reduced
            || outer < FEW_LOOPS
            || outer.saturating_mul(size.div_ceil(turns)) <= FEW_PARTIALS)
    {
        plan.unrolled = !lane_reduced && count == 1 && fold.axes.len() == 1;
        fold.role = Role::Chunks(if plan.unrolled { UNROLLED_ROWS } else { turns });
        plan.partials = lane_reduced.then_some(Partials::Chunks);
    }
}

/// A reduction over many lanes with few loops around it is made in partial results, so that threads have enough to do.
fn divide_lanes(plan: &mut LoopPlan, partial: usize) {
    let (lanes, lane_reduced) = plan.lanes();
    if lane_reduced && plan.outer() < FEW_LOOPS && plan.partials.is_none() && lanes >= 2 * partial {
        plan.partials = Some(Partials::Lanes(partial.max(lanes.div_ceil(MOST_PARTIALS))));
    }
}

/// How many turns of a reduction are made at a time, if not all: rows are long and far apart when a chunk of them is a good part of a cache.
fn chunk(fold: &Group, lanes: usize, axes: &Axes, mentions: &[Mention]) -> Option<usize> {
    let var = axes.vars[fold.axes.end - 1];
    let row = mentions
        .iter()
        .filter(|mention| mention.value.is_some())
        .map(|mention| narrow::<_, usize>(factor(mention, var).unsigned_abs()))
        .filter(|&step| step >= lanes)
        .max()?;
    // Elements are taken to have four bytes.
    let bytes = 4 * row;
    let turns = (CHUNK / bytes).clamp(8, 64);
    (bytes > SHORT_ROW && fold.size >= 2 * turns).then_some(turns)
}
