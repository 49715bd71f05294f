//! What becomes of the axes of a nest.

use super::{Axes, Block, Parts, has_control};
use crate::lower::emit::{Mention, Var};
use crate::lower::fuse::Nest;
use crate::narrow;
use std::ops::Range;

/// Axes that are not lanes are unrolled up to this length.
const UNROLL: usize = 4;
/// With fewer lanes than this, a further axis loops inside the lane program.
const FEW_LANES: usize = 128;
/// Bytes that a row may have so that rows are reduced one lane block after the other; longer ones are reduced in chunks, so that memory is
/// read in order.
const SHORT_ROW: usize = 1024;
/// With fewer outer loops than this, a reduction over the lanes is made in parts.
const FEW_LOOPS: usize = 16;
/// With fewer results than this, and a long reduction for each, it is made in parts.
const FEW_RESULTS: usize = 512;
/// A reduction is made in at most so many chunks of rows at once.
const MOST_CHUNKS: usize = 64;
/// Lanes, or elements, of a part.
const PART: usize = 1 << 15;
/// A reduction over the lanes is made in at most so many parts.
const MOST_PARTS: usize = 1 << 20;
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
    /// How the lanes are reduced, if not at once.
    pub(super) parts: Option<Parts>,
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
        (self.groups.iter()).any(|group| group.role == Role::Lane && group.reduced)
    }
}

fn factor(mention: &Mention, var: Option<Var>) -> i64 {
    mention
        .terms
        .iter()
        .find(|term| Some(term.0) == var)
        .map_or(0, |term| term.1)
}

/// Decides what becomes of each axis of a block.
pub(super) fn choose(
    nest: &Nest,
    block: &Block,
    reduced: &[usize],
    axes: &Axes,
    mentions: &[Mention],
    may_chunk: bool,
) -> LoopPlan {
    let lengths = block.lengths.clone();
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
            role: if length == 1 && !has_control(nest) {
                Role::Single
            } else {
                Role::Outer
            },
        });
    }
    let score = |group: &Group| -> (i64, usize) {
        let var = axes.vars[group.axes.end - 1];
        let mut score: i64 = mentions
            .iter()
            .filter(|m| (m.value.is_some() || m.store) && !m.rare)
            .map(|m| match (factor(m, var), m.store) {
                (1, false) => 3,
                (1, true) => 5,
                (0, false) => 2,
                (0, true) => 0,
                (_, false) => -2,
                (_, true) => -4,
            })
            .sum();
        if group.size < 8 {
            score -= 1000 / group.size as i64;
        }
        (score - i64::from(group.reduced), group.size)
    };
    let lane = (0..groups.len())
        .filter(|&k| groups[k].role == Role::Outer)
        .max_by_key(|&k| score(&groups[k]));
    if let Some(lane) = lane {
        groups[lane].role = Role::Lane;
    }
    for group in groups.iter_mut().filter(|group| group.role == Role::Outer) {
        if group.size <= UNROLL && group.axes.len() == 1 && !has_control(nest) {
            group.role = Role::Unrolled;
        } else if group.reduced {
            group.role = Role::Fold;
        }
    }
    let lanes = lane.map_or(1, |lane| groups[lane].size);
    let lane_reduced = lane.is_some_and(|lane| groups[lane].reduced);
    if lanes < FEW_LANES && !lane_reduced {
        let rows = (0..groups.len())
            .filter(|&k| groups[k].role == Role::Outer)
            .max_by_key(|&k| groups[k].size);
        if let Some(rows) = rows {
            groups[rows].role = Role::Rows;
        }
    }
    // Reductions over the lanes are made in parts where the kept axes do not give threads enough to do.
    let outer: usize = groups
        .iter()
        .filter(|group| group.role == Role::Outer)
        .map(|group| group.size)
        .product();
    let few = outer < FEW_LOOPS;
    let fold = groups.iter().position(|group| group.role == Role::Fold);
    let (mut parts, mut unrolled) = (None, false);
    if may_chunk && let Some(fold) = fold {
        let size = groups[fold].size;
        let short = !lane_reduced && outer * lanes < FEW_RESULTS && !has_rows(&groups);
        if short && size * outer * lanes >= 4 * PART {
            let turns = (PART / (outer * lanes)).max(size.div_ceil(MOST_CHUNKS));
            groups[fold].role = Role::Chunks(turns);
            parts = Some(Parts::Chunks);
        } else if (!lane_reduced || few)
            && let Some(turns) = chunk(&groups[fold], lanes, axes, mentions)
        {
            let folds = groups
                .iter()
                .filter(|group| group.role == Role::Fold)
                .count();
            unrolled = !lane_reduced && folds == 1 && groups[fold].axes.len() == 1;
            groups[fold].role = Role::Chunks(if unrolled { UNROLLED_ROWS } else { turns });
            parts = lane_reduced.then_some(Parts::Chunks);
        }
    }
    if may_chunk && lane_reduced && few && parts.is_none() && lanes >= 2 * PART {
        parts = Some(Parts::Lanes(PART.max(lanes.div_ceil(MOST_PARTS))));
    }
    LoopPlan {
        lengths,
        groups,
        parts,
        unrolled,
    }
}

fn has_rows(groups: &[Group]) -> bool {
    groups.iter().any(|group| group.role == Role::Rows)
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
