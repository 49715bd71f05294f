//! Carries of loops, and which of them every turn passes on as they are: those are constants of the loop.

use super::super::{Region, ValueId};
use super::Binding;
use jaxide_core::{Atom, ClosedJaxpr};

/// Which carries a body gives back as it got them, as far as its equations say so; `consts` arguments are before them.
pub(super) fn passed_on(body: &ClosedJaxpr, consts: usize, carries: usize) -> Vec<bool> {
    let jaxpr = &body.jaxpr;
    (0..carries)
        .map(
            |k| match (jaxpr.invars.get(consts + k), jaxpr.outvars.get(k)) {
                (Some(&param), Some(&result)) => result == Atom::Var(param),
                _ => false,
            },
        )
        .collect()
}

/// Marks the carries that a region, which has those that are not marked, turns out to pass on; whether there are any.
pub(super) fn find_passed_on(region: &Region, fixed: &mut [bool]) -> bool {
    let moving: Vec<usize> = (0..fixed.len()).filter(|&k| !fixed[k]).collect();
    let mut found = false;
    for (position, k) in moving.into_iter().enumerate() {
        if region.results[position] == region.params[position] {
            fixed[k] = true;
            found = true;
        }
    }
    found
}

/// The values that are not fixed.
pub(super) fn moving(values: &[ValueId], fixed: &[bool]) -> Vec<ValueId> {
    let pairs = values.iter().zip(fixed);
    pairs
        .filter_map(|(&value, &fixed)| (!fixed).then_some(value))
        .collect()
}

/// Operands of a body: its constants, then the carries, those that are not fixed from `moving`.
pub(super) fn operands(
    consts: &[Binding],
    init: &[ValueId],
    fixed: &[bool],
    moving: &[ValueId],
) -> Vec<Binding> {
    let mut moving = moving.iter();
    let carries = init.iter().zip(fixed).map(|(&value, &fixed)| {
        let own = if fixed { None } else { moving.next() };
        Binding::Value(own.copied().unwrap_or(value))
    });
    consts.iter().copied().chain(carries).collect()
}
