//! Neighbouring nests over the same rows become one step that finishes a block of rows in all of them before it goes on, so that what one nest
//! leaves for the next is still in the cache, and threads meet once.
//!
//! Two nests may share such a step when each reads only rows of its own of what the other writes. The addresses of a lane program
//! are linear, so that the bytes an access touches for one row are known.

use super::parallel::visit;
use super::work::kernel_nanoseconds;
use super::{Base, Kept, Place, Program, RowsOf, Stmt, TileGroup, TileNest};
use crate::lanes::{Addr, Body, Index, Inst, LaneStep, Stmt as LaneStmt, Trip};
use crate::lower::emit::Kernel;
use crate::narrow;
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};
use std::collections::BTreeMap;

/// A block of rows takes about this many bytes of all arrays.
const BLOCK_BYTES: usize = 384 << 10;
/// Nests whose arrays are smaller than this together run one after the other.
const SMALL: usize = 64 << 10;
/// A row may read so many, as those of stencils do: their edges, which are nests of their own, are then made where the rest is made.
const NEAR: i64 = 4;
/// So many lanes make up for a vector that is not full: it takes as long as one that is.
const WHOLE: usize = 16;
/// Less than one part in so many of a step's work is little.
const LITTLE: f64 = 8.0;
/// Temporaries of which so many bytes need not be there are made to be as large as a block.
const WORTHWHILE: usize = 32 << 10;
/// A step has at most this many nests.
const MOST_NESTS: usize = 16;

/// Finds nests that run together, in all blocks of a program.
pub(crate) fn assign(program: &mut Program) {
    let body = std::mem::take(&mut program.body);
    program.body = block(program, body);
}

fn block(program: &mut Program, stmts: Vec<Stmt>) -> Vec<Stmt> {
    let mut out = Vec::with_capacity(stmts.len());
    let mut at = 0;
    while at < stmts.len() {
        if let Some(group) = longest(program, &stmts[at..]) {
            let count = group.nests.len();
            let operands = stmts[at..at + count]
                .iter()
                .flat_map(|stmt| match stmt {
                    Stmt::Nest { operands, .. } => operands.clone(),
                    _ => Vec::new(),
                })
                .collect();
            for nest in &group.nests {
                if let RowsOf::Lanes(_) = nest.rows {
                    program.kernels[nest.kernel as usize].schedule.in_blocks = true;
                }
            }
            program.tiles.push(group);
            let group = crate::narrow(program.tiles.len() - 1);
            out.push(Stmt::Tiles { group, operands });
            at += count;
            continue;
        }
        out.push(inner(program, stmts[at].clone()));
        at += 1;
    }
    out
}

fn inner(program: &mut Program, stmt: Stmt) -> Stmt {
    match stmt {
        Stmt::For {
            var,
            count,
            slots,
            body,
            turns,
        } => Stmt::For {
            var,
            count,
            slots,
            body: block(program, body),
            turns,
        },
        Stmt::While {
            slots,
            cond,
            test,
            body,
        } => Stmt::While {
            slots,
            cond: block(program, cond),
            test,
            body: block(program, body),
        },
        Stmt::Switch { index, branches } => Stmt::Switch {
            index,
            branches: branches
                .into_iter()
                .map(|branch| block(program, branch))
                .collect(),
        },
        Stmt::Nest { .. } | Stmt::Tiles { .. } | Stmt::Call { .. } | Stmt::Copy { .. } => stmt,
    }
}

/// Leaves temporaries of groups no more memory than for a block of rows, where no other step mentions them and no row another.
///
/// Rows of a block lie where they would if the array was there whole, seen from a start that moves with the blocks.
pub(super) fn keep_blocks(program: &mut Program) {
    if program.tiles.is_empty() {
        return;
    }
    let mut mentions: HashMap<u32, usize> = HashMap::default();
    visit(program, &program.body, &mut |place, _| {
        if let Base::Temp(temp) = place.base {
            *mentions.entry(temp).or_default() += 1;
        }
    });
    let mut found = Vec::new();
    groups(&program.body, &mut |group, operands| {
        found.push((group, kept(program, group, operands, &mentions)));
    });
    for (group, kept) in found {
        let group = &mut program.tiles[group as usize];
        for Kept { temp, row, .. } in &kept {
            program.temps[*temp as usize] = group.block * row;
        }
        group.kept = kept;
    }
}

/// Calls `f` for each group of a program with its operands.
fn groups(stmts: &[Stmt], f: &mut dyn FnMut(u32, &[Place])) {
    for stmt in stmts {
        match stmt {
            Stmt::Tiles { group, operands } => f(*group, operands),
            Stmt::For { body, .. } => groups(body, f),
            Stmt::While { cond, body, .. } => {
                groups(cond, f);
                groups(body, f);
            }
            Stmt::Switch { branches, .. } => branches.iter().for_each(|branch| groups(branch, f)),
            Stmt::Nest { .. } | Stmt::Call { .. } | Stmt::Copy { .. } => {}
        }
    }
}

/// Temporaries of a group that need memory for a block alone; `mentions` counts those of the program.
fn kept(
    program: &Program,
    number: u32,
    operands: &[Place],
    mentions: &HashMap<u32, usize>,
) -> Vec<Kept> {
    let group = &program.tiles[number as usize];
    let mut rest = operands;
    // Bytes of a row, and which operands it is; no row where one touches more than its own.
    let mut found: BTreeMap<u32, (Option<i64>, Vec<usize>)> = BTreeMap::new();
    for (k, place) in operands.iter().enumerate() {
        if let Base::Temp(temp) = place.base {
            let (_, all) = found.entry(temp).or_insert((Some(0), Vec::new()));
            all.push(k);
        }
    }
    for nest in &group.nests {
        let kernel = &program.kernels[nest.kernel as usize];
        let (own, others) = rest.split_at(kernel.operands.len());
        rest = others;
        for touch in touches(kernel, nest.rows, own).unwrap_or_default() {
            if let Base::Temp(temp) = touch.place.base
                && let Some((row, _)) = found.get_mut(&temp)
            {
                let start = Place::at(touch.place.base);
                let whole = touch.span.filter(|span| {
                    touch.place == start
                        && span.low >= 0
                        && span.high <= span.row
                        && row.is_some_and(|row| row == 0 || row == span.row)
                });
                *row = whole.map(|span| span.row);
            }
        }
    }
    let kept = found.into_iter().filter_map(|(temp, (row, operands))| {
        let row = narrow::<i64, usize>(row?);
        let bytes = program.temps[temp as usize];
        let less = bytes.saturating_sub(group.block * row);
        let alone = mentions.get(&temp) == Some(&operands.len());
        let is_kept = row > 0 && alone && less >= WORTHWHILE;
        is_kept.then_some(Kept {
            temp,
            row,
            operands,
        })
    });
    kept.collect()
}

/// The longest group that the first statements make.
fn longest(program: &Program, stmts: &[Stmt]) -> Option<TileGroup> {
    let nests: Vec<(&Kernel, u32, &[Place])> = stmts
        .iter()
        .take(MOST_NESTS)
        .map_while(|stmt| match stmt {
            Stmt::Nest { kernel, operands } => {
                Some((&program.kernels[*kernel as usize], *kernel, &operands[..]))
            }
            _ => None,
        })
        .collect();
    let mut counts: Vec<usize> = nests
        .iter()
        .flat_map(|(kernel, ..)| {
            let schedule = &kernel.schedule;
            schedule
                .outer
                .first()
                .copied()
                .into_iter()
                .chain(schedule.rows)
        })
        .filter(|&rows| rows > 1)
        .collect();
    counts.dedup();
    let groups = counts.into_iter().filter_map(|rows| group(&nests, rows));
    groups.max_by_key(|group| (group.nests.len(), group.rows))
}

/// As many of the nests as can run together by rows.
fn group(nests: &[(&Kernel, u32, &[Place])], rows: usize) -> Option<TileGroup> {
    let mut members = Vec::new();
    let mut done: Vec<Touch> = Vec::new();
    // Bytes of a row of each array.
    let mut widths: HashMap<Base, usize> = HashMap::default();
    for &(kernel, number, operands) in nests {
        let Some(rows_of) = rows_of(kernel, rows) else {
            break;
        };
        let Some(touches) = touches(kernel, rows_of, operands) else {
            break;
        };
        let written: HashSet<Base> = done
            .iter()
            .filter(|touch| touch.write)
            .map(|touch| touch.place.base)
            .collect();
        let late = operands
            .iter()
            .flat_map(|place| &place.dynamic)
            .any(|dynamic| written.contains(&dynamic.index.base));
        let related = members.is_empty()
            || touches.iter().any(|touch| {
                done.iter()
                    .any(|other| other.place.base == touch.place.base)
            });
        let apart = touches
            .iter()
            .all(|touch| done.iter().all(|other| may_share(touch, other)));
        if late || !related || !apart {
            break;
        }
        for touch in &touches {
            let width = widths.entry(touch.place.base).or_default();
            *width = (*width).max(touch.span.map_or(0, |span| narrow(span.row)));
        }
        members.push(TileNest {
            kernel: number,
            rows: rows_of,
        });
        done.extend(touches);
    }
    let width: usize = widths.values().sum();
    if members.len() < 2 || width * rows < SMALL {
        return None;
    }
    // Vectors need not be full where that is little of the work.
    let work: Vec<f64> = nests[..members.len()]
        .iter()
        .map(|(kernel, ..)| kernel_nanoseconds(kernel))
        .collect();
    let much = work.iter().sum::<f64>() / LITTLE;
    let few = |(member, &work): (&TileNest, &f64)| match member.rows {
        RowsOf::Lanes(lanes) if work > much => WHOLE.div_ceil(lanes),
        RowsOf::Lanes(_) | RowsOf::Outer | RowsOf::Inner => 1,
    };
    let unit = members.iter().zip(&work).map(few).max().unwrap_or(1);
    let block = (BLOCK_BYTES / width.max(1)).max(1).next_multiple_of(unit);
    Some(TileGroup {
        rows,
        block: block.min(rows),
        unit,
        alone: false,
        nests: members,
        kept: Vec::new(),
        threads: usize::MAX,
    })
}

/// What of a nest are its rows.
fn rows_of(kernel: &Kernel, rows: usize) -> Option<RowsOf> {
    let schedule = &kernel.schedule;
    if schedule.partial_count() > 1 {
        return None;
    }
    if schedule.outer.first() == Some(&rows) {
        return Some(RowsOf::Outer);
    }
    if !schedule.outer.is_empty() || schedule.chunk.is_some() {
        return None;
    }
    if schedule.rows.is_some() {
        return (schedule.rows == Some(rows)).then_some(RowsOf::Inner);
    }
    let whole = schedule.lanes.is_multiple_of(rows) && kernel.body.reductions().is_empty();
    whole.then(|| RowsOf::Lanes(schedule.lanes / rows))
}

/// Bytes that an access touches for row r: from `r * row + low` up to `r * row + high`.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Span {
    row: i64,
    low: i64,
    high: i64,
}

/// An access of a nest to memory.
struct Touch {
    place: Place,
    write: bool,
    /// `None` where it depends on data.
    span: Option<Span>,
}

/// All accesses of a nest; `None` where some row touches much more than its own.
fn touches(kernel: &Kernel, rows: RowsOf, operands: &[Place]) -> Option<Vec<Touch>> {
    let body = &kernel.body;
    let mut list = Vec::new();
    let mut add = |addr: &Addr, size: i64, write: bool| {
        let span = span(kernel, rows, addr, size);
        list.push(Touch {
            place: operands[addr.pointer.index()].clone(),
            write,
            span,
        });
        let rows = if write { 1 } else { NEAR };
        span.is_none_or(|span| span.row == 0 || span.high - span.low <= rows * span.row)
    };
    let mut local = true;
    for block in body.blocks() {
        for stmt in &block.stmts {
            match stmt {
                LaneStmt::Let(value) => {
                    if let Inst::Load(ty, addr) = body.inst(*value) {
                        local &= add(addr, ty.size(), false);
                    }
                }
                LaneStmt::Store { ty, addr, .. } => local &= add(addr, ty.size(), true),
                LaneStmt::For(_) | LaneStmt::While(_) | LaneStmt::If(_) => {}
            }
        }
    }
    for reduction in body.reductions() {
        for accumulator in &reduction.accumulators {
            local &= add(&accumulator.dest, accumulator.ty.size(), true);
        }
    }
    local.then_some(list)
}

fn span(kernel: &Kernel, rows: RowsOf, addr: &Addr, size: i64) -> Option<Span> {
    let schedule = &kernel.schedule;
    let axes = schedule.outer.len();
    let (mut row, mut low, mut high) = (0, addr.offset, addr.offset + size);
    let mut extend = |bytes: i64| {
        if bytes < 0 {
            low += bytes
        } else {
            high += bytes
        }
    };
    // The rows of the schedule: a first one and those counted from it.
    let (mut first, mut counted) = (0, 0);
    for &(index, stride) in &addr.terms {
        match index {
            Index::Outer(k) => match k as usize {
                0 if rows == RowsOf::Outer => row += stride,
                k if k < axes => extend(stride * (schedule.outer[k] as i64 - 1)),
                _ => first += stride,
            },
            Index::Loop(id) => match trip(&kernel.body, id.index())? {
                Trip::Const(turns) => extend(stride * (turns as i64 - 1).max(0)),
                Trip::Outer(_) => counted += stride,
            },
            Index::Lane => return None,
        }
    }
    if first != counted {
        return None;
    }
    match rows {
        RowsOf::Inner => row += first,
        RowsOf::Outer | RowsOf::Lanes(_) => extend(first * (schedule.rows.unwrap_or(1) as i64 - 1)),
    }
    match (addr.lane, rows) {
        (LaneStep::Uniform, _) => {}
        (LaneStep::Stride(stride), RowsOf::Lanes(lanes)) => {
            row += stride * lanes as i64;
            extend(stride * (lanes as i64 - 1));
        }
        (LaneStep::Stride(stride), _) => extend(stride * (schedule.lanes as i64 - 1)),
        (LaneStep::Gather(..), _) => return None,
    }
    Some(Span { row, low, high })
}

fn trip(body: &Body, id: usize) -> Option<Trip> {
    body.blocks()
        .iter()
        .flat_map(|block| &block.stmts)
        .find_map(|stmt| match stmt {
            LaneStmt::For(inner) if inner.id.index() == id => Some(inner.trip),
            _ => None,
        })
}

/// Whether two accesses of different nests keep their order when nests run by rows: nothing is written, or both touch no more than a row, which
/// may begin anywhere, and so nothing that the other touches for another row.
fn may_share(a: &Touch, b: &Touch) -> bool {
    if a.place.base != b.place.base || !(a.write || b.write) {
        return true;
    }
    match (a.span, b.span) {
        (Some(x), Some(y)) => {
            let (low, high) = (x.low.min(y.low), x.high.max(y.high));
            a.place == b.place && x.row == y.row && x.row > 0 && high - low <= x.row
        }
        _ => false,
    }
}
