//! Stores whose elements lie side by side come to stand side by side, as emitters write them together.

use super::body::{Access, Addr, Body, Inst, LaneStep, Pointer, Stmt};
use super::types::MemTy;
use crate::narrow;
use rustc_hash::FxHashMap as HashMap;

/// At most so many stores are written together.
pub(crate) const MOST_WOVEN: usize = 4;

/// What stores have in common that may be written together: all but the constant part of their addresses and their values.
type Kind<'a> = (MemTy, Pointer, &'a [(super::body::Index, i64)], i64);

/// Moves stores of elements that lie side by side in every lane behind each other, in the order of their addresses, to the place of the last of them.
pub(super) fn weave(body: &mut Body) {
    for block in 0..body.blocks.len() {
        if let Some(order) = order(body, &body.blocks[block].stmts) {
            let mut stmts: Vec<Option<Stmt>> = std::mem::take(&mut body.blocks[block].stmts)
                .into_iter()
                .map(Some)
                .collect();
            body.blocks[block].stmts = order
                .into_iter()
                .filter_map(|at| stmts[at].take())
                .collect();
        }
    }
}

/// The order of the statements afterwards, if it is another.
fn order(body: &Body, stmts: &[Stmt]) -> Option<Vec<usize>> {
    let mut kinds: HashMap<Kind<'_>, Vec<(i64, usize)>> = HashMap::default();
    for (at, stmt) in stmts.iter().enumerate() {
        if let Stmt::Store { ty, addr, .. } = stmt
            && let LaneStep::Stride(step) = addr.lane
            && woven_count(*ty, step).is_some()
        {
            let kind = (*ty, addr.pointer, &addr.terms[..], step);
            kinds.entry(kind).or_default().push((addr.offset, at));
        }
    }
    // Statements that are written behind another.
    let mut groups: HashMap<usize, Vec<usize>> = HashMap::default();
    let mut moved = vec![false; stmts.len()];
    for ((ty, _, _, step), mut stores) in kinds {
        let count = woven_count(ty, step)?;
        stores.sort_unstable();
        let mut rest = &stores[..];
        while rest.len() >= count {
            let group = &rest[..count];
            let side_by_side = group
                .windows(2)
                .all(|pair| pair[1].0 == pair[0].0 + ty.size());
            let places: Vec<usize> = group.iter().map(|store| store.1).collect();
            if !side_by_side || !may_gather(body, stmts, &places) {
                rest = &rest[1..];
                continue;
            }
            rest = &rest[count..];
            places.iter().for_each(|&at| moved[at] = true);
            groups.insert(places.iter().copied().max()?, places);
        }
    }
    if groups.is_empty() {
        return None;
    }
    let mut order = Vec::with_capacity(stmts.len());
    for (at, moved) in moved.into_iter().enumerate() {
        match groups.get(&at) {
            Some(group) => order.extend(group),
            None if !moved => order.push(at),
            None => {}
        }
    }
    Some(order)
}

/// How many stores whose lanes are so many bytes apart fill memory without gaps, where that is few.
pub(crate) fn woven_count(ty: MemTy, step: i64) -> Option<usize> {
    let count = step / ty.size();
    let few = step % ty.size() == 0 && (2..=MOST_WOVEN as i64).contains(&count);
    few.then(|| narrow(count))
}

/// Whether these stores may all happen where the last of them does: nothing in between reads what they write, or writes there.
fn may_gather(body: &Body, stmts: &[Stmt], places: &[usize]) -> bool {
    let (Some(&first), Some(&last)) = (places.iter().min(), places.iter().max()) else {
        return false;
    };
    let own = |at: &usize| match &stmts[*at] {
        Stmt::Store { addr, .. } => Some(addr),
        _ => None,
    };
    (first..last)
        .filter(|at| !places.contains(at))
        .all(|at| match &stmts[at] {
            Stmt::Let(value) => match body.inst(*value) {
                Inst::Load(_, addr) => body.pointers[addr.pointer.index()] == Access::ReadOnly,
                _ => true,
            },
            Stmt::Store { addr, .. } => (places.iter().filter_map(own))
                .all(|own| addr.pointer != own.pointer || is_beside(addr, own)),
            Stmt::For(_) | Stmt::While(_) | Stmt::If(_) => false,
        })
}

/// Whether two addresses differ by a constant.
fn is_beside(a: &Addr, b: &Addr) -> bool {
    a.lane == b.lane && a.terms == b.terms && a.offset != b.offset
}
