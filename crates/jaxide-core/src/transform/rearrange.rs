//! Jaxprs with fewer results or with arguments in another order.

use std::collections::HashMap;

use crate::error::Result;
use crate::jaxpr::{Atom, ClosedJaxpr};
use crate::jaxpr::{Memo, MemoArgs, flags};
use crate::marks::{keep, not};

/// The jaxpr with only the results marked in `kept`; the equations stay.
pub(crate) fn prune_results(
    memo: &Memo,
    jaxpr: &ClosedJaxpr,
    kept: &[bool],
) -> Result<ClosedJaxpr> {
    let mut args = MemoArgs::new();
    flags(&mut args, kept);
    memo.of_jaxpr("prune_results", jaxpr, args, || {
        let mut new = (*jaxpr.jaxpr).clone();
        new.outvars = keep(&new.outvars, kept);
        Ok(ClosedJaxpr::new(new, jaxpr.consts.clone()))
    })
}

/// The jaxpr with its arguments in another order: argument `i` is the old argument `order[i]`.
pub(crate) fn reorder_arguments(
    memo: &Memo,
    jaxpr: &ClosedJaxpr,
    order: &[usize],
) -> Result<ClosedJaxpr> {
    let args = order.iter().map(|&index| index as i64).collect();
    memo.of_jaxpr("reorder_arguments", jaxpr, args, || {
        let mut new = (*jaxpr.jaxpr).clone();
        new.invars = order
            .iter()
            .map(|&index| jaxpr.jaxpr.invars[index])
            .collect();
        Ok(ClosedJaxpr::new(new, jaxpr.consts.clone()))
    })
}

/// The jaxpr with arguments and results in another order.
pub(crate) fn reorder(
    memo: &Memo,
    jaxpr: &ClosedJaxpr,
    arguments: &[usize],
    results: &[usize],
) -> Result<ClosedJaxpr> {
    let mut args: MemoArgs = arguments.iter().map(|&index| index as i64).collect();
    args.push(-1);
    args.extend(results.iter().map(|&index| index as i64));
    memo.of_jaxpr("reorder", jaxpr, args, || {
        let mut new = (*jaxpr.jaxpr).clone();
        let old = &jaxpr.jaxpr;
        new.invars = arguments.iter().map(|&index| old.invars[index]).collect();
        new.outvars = results.iter().map(|&index| old.outvars[index]).collect();
        Ok(ClosedJaxpr::new(new, jaxpr.consts.clone()))
    })
}

/// The jaxpr with the marked arguments behind the others.
pub(crate) fn move_to_back(
    memo: &Memo,
    jaxpr: &ClosedJaxpr,
    marked: &[bool],
) -> Result<ClosedJaxpr> {
    let indices: Vec<usize> = (0..marked.len()).collect();
    let mut order = keep(&indices, &not(marked));
    order.extend(keep(&indices, marked));
    reorder_arguments(memo, jaxpr, &order)
}

/// For each result the argument that it is.
pub(crate) fn forwarded_arguments(jaxpr: &ClosedJaxpr) -> Vec<Option<usize>> {
    let places: HashMap<Atom, usize> = jaxpr
        .jaxpr
        .invars
        .iter()
        .enumerate()
        .map(|(index, &var)| (Atom::Var(var), index))
        .collect();
    let place = |atom: &Atom| places.get(atom).copied();
    jaxpr.jaxpr.outvars.iter().map(place).collect()
}

/// The jaxpr without results that repeat one of the first `prefix` results (of those marked in `forwardable`) or an
/// earlier one behind them; and for each old result behind the prefix the new result that it repeats.
pub(crate) fn dedup_results(
    memo: &Memo,
    jaxpr: &ClosedJaxpr,
    forwardable: &[bool],
) -> Result<(ClosedJaxpr, Vec<Option<usize>>)> {
    let prefix = forwardable.len();
    let mut places: HashMap<Atom, usize> = HashMap::new();
    for (index, (&atom, &forwardable)) in jaxpr.jaxpr.outvars.iter().zip(forwardable).enumerate() {
        if forwardable && atom.var().is_some() {
            places.insert(atom, index);
        }
    }
    let mut repeats = vec![None; prefix];
    let mut kept = prefix;
    for &atom in &jaxpr.jaxpr.outvars[prefix..] {
        let place = places.get(&atom).copied();
        if place.is_none() {
            // Literals are values of their own.
            if atom.var().is_some() {
                places.insert(atom, kept);
            }
            kept += 1;
        }
        repeats.push(place);
    }
    let marks: Vec<bool> = repeats.iter().map(Option::is_none).collect();
    Ok((prune_results(memo, jaxpr, &marks)?, repeats))
}

/// `source[i]` where `from` names an index, else the next of `rest`.
pub(crate) fn restore<T: Copy>(from: &[Option<usize>], source: &[T], rest: &[T]) -> Vec<T> {
    let mut rest = rest.iter();
    from.iter()
        .filter_map(|from| match from {
            Some(index) => source.get(*index).copied(),
            None => rest.next().copied(),
        })
        .collect()
}
