//! Applying a primitive: recorded inside a trace, run outside.

use jaxide_core::prims::Prim;
use jaxide_core::{Atom, ClosedJaxpr, Error, ErrorKind, Result, Tensor};
use smallvec::SmallVec;

use super::frame::{Frame, current_frame, value_of};
use super::{OrRaise, caller, raise};
use crate::array::Array;
use crate::execute;

/// Applies a primitive to arrays.
///
/// # Panics
/// When they do not fit it: with a typed payload and the caller's place.
#[track_caller]
pub(crate) fn bind(prim: impl Into<Prim>, operands: &[Array]) -> SmallVec<[Array; 1]> {
    let prim = prim.into();
    execute::check_cancelled();
    match current_frame() {
        Some(frame) => record(&frame, prim, operands),
        None => match execute::operation(&prim, operands) {
            Ok(results) => results,
            Err(error) => raise(error.in_operation(prim.name())),
        },
    }
}

/// Applies a primitive with one result.
///
/// # Panics
/// As [`bind`].
#[track_caller]
pub(crate) fn bind_one(prim: impl Into<Prim>, operands: &[Array]) -> Array {
    let mut results = bind(prim, operands);
    match results.pop() {
        Some(result) if results.is_empty() => result,
        _ => raise(Error::new(ErrorKind::Internal, "one result was expected")),
    }
}

#[track_caller]
fn record(frame: &Frame, prim: Prim, operands: &[Array]) -> SmallVec<[Array; 1]> {
    let mut atoms: SmallVec<[Atom; 3]> = SmallVec::new();
    for operand in operands {
        atoms.push(frame.atom(operand));
    }
    let place = caller();
    let before = frame.builder.set_source(place);
    let results = frame.builder.emit(prim, &atoms);
    frame.builder.set_source(before);
    match results {
        Ok(results) => results
            .into_iter()
            .map(|atom| frame.tracer(atom, place))
            .collect(),
        Err(error) => raise(error),
    }
}

/// Applies a whole jaxpr to arrays: written into the current trace equation by equation, or run.
///
/// # Panics
/// When the arguments do not fit.
#[track_caller]
pub(crate) fn inline(jaxpr: &ClosedJaxpr, args: &[Array]) -> Vec<Array> {
    let Some(frame) = current_frame() else {
        let values = args.iter().map(value_of).collect::<Result<Vec<Tensor>>>();
        let results = values
            .and_then(|values| execute::run(jaxpr, values))
            .or_raise();
        let avals = jaxpr.out_avals();
        return results
            .into_iter()
            .zip(avals)
            .map(|(tensor, aval)| Array::concrete(tensor, aval.weak_type))
            .collect();
    };
    let consts: Vec<Atom> = jaxpr
        .consts
        .iter()
        .map(|value| frame.atom(&Array::concrete(value.clone(), false)))
        .collect();
    let atoms: Vec<Atom> = args.iter().map(|arg| frame.atom(arg)).collect();
    let results = match frame.builder.inline(&jaxpr.jaxpr, &consts, &atoms) {
        Ok(results) => results,
        Err(error) => raise(error),
    };
    results
        .into_iter()
        .map(|atom| frame.tracer(atom, caller()))
        .collect()
}
