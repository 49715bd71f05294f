//! Temporaries in the memory of others: a nest that reads a temporary for the last time, each element just before it writes the same
//! element of another that begins there, writes over it. So a chain of nests has one array instead of two or three.

use super::{Base, Place, Program, Stmt};
use crate::lanes::{Addr, Block, Body, Index, Inst, LaneStep, MemTy, Stmt as LaneStmt, Trip};
use crate::lower::emit::Kernel;
use rustc_hash::FxHashMap as HashMap;

/// Where a temporary is mentioned: statements of one list, from the first to the last; `None` where other lists have it too.
type Mentions = HashMap<u32, Option<Mentioned>>;

#[derive(Clone, Copy, Debug)]
struct Mentioned {
    list: usize,
    first: usize,
    last: usize,
}

/// Lays temporaries over others, in all lists of statements of a program.
pub(crate) fn assign(program: &mut Program) {
    let mut mentions = Mentions::default();
    mention_all(&program.body, &mut 0, &mut mentions);
    let mut body = std::mem::take(&mut program.body);
    overlay(program, &mut body, &mut 0, &mut mentions);
    program.body = body;
}

/// Notes who mentions what; lists are numbered as [`overlay`] does.
fn mention_all(stmts: &[Stmt], lists: &mut usize, mentions: &mut Mentions) {
    let list = *lists;
    *lists += 1;
    for (at, stmt) in stmts.iter().enumerate() {
        let mut own = |place: &Place| mention(place, Some((list, at)), mentions);
        match stmt {
            Stmt::Nest { operands, .. }
            | Stmt::Tiles { operands, .. }
            | Stmt::Call { operands, .. } => operands.iter().for_each(own),
            Stmt::Copy { from, to, .. } => [from, to].into_iter().for_each(own),
            Stmt::For { slots, body, .. } => {
                for buffer in slots.iter().flat_map(|slot| &slot.buffers) {
                    mention(buffer, None, mentions);
                }
                mention_all(body, lists, mentions);
            }
            Stmt::While {
                slots,
                cond,
                test,
                body,
            } => {
                for buffer in slots.iter().flat_map(|slot| &slot.buffers) {
                    mention(buffer, None, mentions);
                }
                mention(test, None, mentions);
                mention_all(cond, lists, mentions);
                mention_all(body, lists, mentions);
            }
            Stmt::Switch { index, branches } => {
                own(index);
                for branch in branches {
                    mention_all(branch, lists, mentions);
                }
            }
        }
    }
}

/// Notes a mention by a statement of a list, or by something else.
fn mention(place: &Place, by: Option<(usize, usize)>, mentions: &mut Mentions) {
    if let Base::Temp(temp) = place.base {
        let new = by.map(|(list, at)| Mentioned {
            list,
            first: at,
            last: at,
        });
        mentions
            .entry(temp)
            .and_modify(|known| {
                *known = match (*known, new) {
                    (Some(known), Some(new)) if known.list == new.list => Some(Mentioned {
                        last: new.last,
                        ..known
                    }),
                    _ => None,
                }
            })
            .or_insert(new);
    }
    for dynamic in &place.dynamic {
        mention(&dynamic.index, by, mentions);
    }
}

fn overlay(program: &Program, stmts: &mut [Stmt], lists: &mut usize, mentions: &mut Mentions) {
    let list = *lists;
    *lists += 1;
    for at in 0..stmts.len() {
        match &mut stmts[at] {
            Stmt::Nest { kernel, operands } => {
                let kernel = &program.kernels[*kernel as usize];
                let Some((old, new)) = pair(program, kernel, operands, (list, at), mentions) else {
                    continue;
                };
                let last = mentions.remove(&new).flatten().map(|new| new.last);
                if let (Some(Some(old)), Some(last)) = (mentions.get_mut(&old), last) {
                    old.last = last;
                }
                // Behind its last mention there is nothing to rename, which matters in long programs.
                let end = last.map_or(stmts.len(), |last| last + 1);
                stmts[at..end]
                    .iter_mut()
                    .for_each(|stmt| rename(stmt, new, old));
            }
            Stmt::For { body, .. } => overlay(program, body, lists, mentions),
            Stmt::While { cond, body, .. } => {
                overlay(program, cond, lists, mentions);
                overlay(program, body, lists, mentions);
            }
            Stmt::Switch { branches, .. } => branches
                .iter_mut()
                .for_each(|branch| overlay(program, branch, lists, mentions)),
            Stmt::Tiles { .. } | Stmt::Call { .. } | Stmt::Copy { .. } => {}
        }
    }
}

/// A temporary that statement `at` of a list reads last, and one that begins there and can have its memory.
fn pair(
    program: &Program,
    kernel: &Kernel,
    operands: &[Place],
    (list, at): (usize, usize),
    mentions: &Mentions,
) -> Option<(u32, u32)> {
    // Temporaries that one operand names, as a whole.
    let mut alone: HashMap<u32, Option<usize>> = HashMap::default();
    for (k, place) in operands.iter().enumerate() {
        if let Base::Temp(temp) = place.base {
            let whole = (*place == Place::at(place.base)).then_some(k);
            alone
                .entry(temp)
                .and_modify(|known| *known = None)
                .or_insert(whole);
        }
        for dynamic in &place.dynamic {
            if let Base::Temp(temp) = dynamic.index.base {
                alone.insert(temp, None);
            }
        }
    }
    let mut known: Vec<(u32, usize, Mentioned)> = alone
        .into_iter()
        .filter_map(|(temp, k)| Some((temp, k?, mentions.get(&temp).copied()??)))
        .filter(|(.., mentioned)| mentioned.list == list)
        .collect();
    known.sort_unstable_by_key(|&(_, k, _)| k);
    let ends = known.iter().filter(|(.., m)| m.last == at && m.first < at);
    let begins = || known.iter().filter(|(.., m)| m.first == at && m.last > at);
    for &(old, from, _) in ends {
        for &(new, to, _) in begins() {
            if program.temps[old as usize] == program.temps[new as usize]
                && writes_over(kernel, from, to)
            {
                return Some((old, new));
            }
        }
    }
    None
}

/// Whether a nest reads the array of one operand only where it writes that of another, before it does, and writes each element once.
fn writes_over(kernel: &Kernel, from: usize, to: usize) -> bool {
    let body = &*kernel.body;
    let reduced = body
        .reductions()
        .iter()
        .flat_map(|reduction| &reduction.accumulators)
        .any(|accumulator| [from, to].contains(&accumulator.dest.pointer.index()));
    if reduced {
        return false;
    }
    let mut loads: Vec<Access<'_>> = Vec::new();
    let mut stores: Vec<Access<'_>> = Vec::new();
    for (block, own) in body.blocks().iter().enumerate() {
        for (at, stmt) in own.stmts.iter().enumerate() {
            let access = |addr, ty| Access {
                addr,
                ty,
                block,
                at,
            };
            match stmt {
                LaneStmt::Let(value) => {
                    if let Inst::Load(ty, addr) = body.inst(*value) {
                        match addr.pointer.index() {
                            k if k == from => loads.push(access(addr, *ty)),
                            k if k == to => return false,
                            _ => {}
                        }
                    }
                }
                LaneStmt::Store { ty, addr, .. } => match addr.pointer.index() {
                    k if k == to => stores.push(access(addr, *ty)),
                    k if k == from => return false,
                    _ => {}
                },
                LaneStmt::For(_) | LaneStmt::While(_) | LaneStmt::If(_) => {}
            }
        }
    }
    let apart = stores.iter().enumerate().all(|(k, store)| {
        stores[..k]
            .iter()
            .all(|other| !same_point(store.addr, other.addr))
    });
    let overwritten = |load: &Access<'_>| {
        stores.iter().any(|store| {
            same_point(load.addr, store.addr)
                && load.ty.size() == store.ty.size()
                && load.block == store.block
                && load.at < store.at
        })
    };
    !loads.is_empty()
        && !stores.is_empty()
        && apart
        && stores.iter().all(|store| moves_on(kernel, store))
        && loads.iter().all(overwritten)
}

/// A load or store, and where it stands in a lane program.
struct Access<'a> {
    addr: &'a Addr,
    ty: MemTy,
    block: usize,
    at: usize,
}

/// Whether two addresses are the same but for the array.
fn same_point(a: &Addr, b: &Addr) -> bool {
    a.offset == b.offset && a.lane == b.lane && a.terms == b.terms
}

/// Whether the address of a store is another one in each turn of all loops around it, and in each lane.
fn moves_on(kernel: &Kernel, store: &Access<'_>) -> bool {
    let schedule = &kernel.schedule;
    let moves = |index: Index| {
        let own = store.addr.terms.iter().filter(|&&(of, _)| of == index);
        own.map(|&(_, stride)| stride).sum::<i64>() != 0
    };
    let lanes = match store.addr.lane {
        LaneStep::Uniform => schedule.lanes == 1,
        LaneStep::Stride(stride) => stride != 0,
        LaneStep::Gather(..) => false,
    };
    let outer = schedule.outer.iter().enumerate();
    let mut all = lanes
        && outer
            .filter(|&(_, &turns)| turns > 1)
            .all(|(k, _)| moves(Index::Outer(crate::narrow(k))));
    let mut block = Some(store.block);
    while let Some(inner) = block {
        all &= match around(&kernel.body, inner) {
            Around::Nothing => true,
            Around::Loop(trip, index) => trip == Trip::Const(1) || moves(index),
            Around::Unknown => false,
        };
        block = kernel.body.blocks()[inner]
            .parent
            .map(|parent| parent.index());
    }
    all
}

/// What a block of a lane program is the body of.
enum Around {
    Nothing,
    Loop(Trip, Index),
    /// Something that may be left out or repeated.
    Unknown,
}

fn around(body: &Body, block: usize) -> Around {
    let Some(parent) = body.blocks()[block].parent else {
        return Around::Nothing;
    };
    let Block { stmts, .. } = &body.blocks()[parent.index()];
    let own = stmts.iter().find_map(|stmt| match stmt {
        LaneStmt::For(inner) => {
            (inner.body.index() == block).then_some(Around::Loop(inner.trip, Index::Loop(inner.id)))
        }
        LaneStmt::While(inner) => [inner.head, inner.body]
            .iter()
            .any(|own| own.index() == block)
            .then_some(Around::Unknown),
        LaneStmt::If(inner) => [inner.then, inner.otherwise]
            .iter()
            .any(|own| own.index() == block)
            .then_some(Around::Unknown),
        LaneStmt::Let(_) | LaneStmt::Store { .. } => None,
    });
    // The block of the lanes stands in no statement.
    own.unwrap_or(Around::Nothing)
}

/// Replaces a temporary.
fn rename(stmt: &mut Stmt, from: u32, to: u32) {
    let each = |place: &mut Place| replace(place, from, to);
    match stmt {
        Stmt::Nest { operands, .. }
        | Stmt::Tiles { operands, .. }
        | Stmt::Call { operands, .. } => operands.iter_mut().for_each(each),
        Stmt::Copy { from, to, .. } => [from, to].into_iter().for_each(each),
        Stmt::Switch { index, .. } => replace(index, from, to),
        // What is mentioned inside of them is mentioned in several lists, and stays.
        Stmt::For { .. } | Stmt::While { .. } => {}
    }
}

fn replace(place: &mut Place, from: u32, to: u32) {
    if place.base == Base::Temp(from) {
        place.base = Base::Temp(to);
    }
    for dynamic in &mut place.dynamic {
        replace(&mut dynamic.index, from, to);
    }
}
