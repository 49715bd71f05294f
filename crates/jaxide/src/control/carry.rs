//! Values carried through loops: what goes in must come out.

use std::sync::Arc;

use jaxide_core::{Aval, ClosedJaxpr, Error, ErrorKind, Jaxpr};
use jaxide_tree::TreeDef;

use crate::array::{Array, as_dtype};
use crate::trace::{aval_of, raise};

/// A carry must keep its structure and types. Weakly typed inputs become strong where the body makes them so.
///
/// # Panics
/// When they change: the path is named.
#[track_caller]
pub(super) fn check(operation: &str, init: &TreeDef, out: &TreeDef, ins: &[Aval], outs: &[Aval]) {
    if init != out {
        let errors = init.prefix_errors(out);
        let what = errors
            .first()
            .map_or_else(|| format!("from {init} to {out}"), ToString::to_string);
        raise(
            Error::new(
                ErrorKind::Structure,
                format!("the carry changes its structure: {what}"),
            )
            .in_operation(operation)
            .note("the body must give a carry with the structure of the initial one"),
        );
    }
    for ((want, got), path) in ins.iter().zip(outs).zip(init.key_paths()) {
        if !want.matches(got) {
            let error = Error::shape(format!("the carry goes in as {want} and comes out as {got}"))
                .in_operation(operation)
                .note("give the initial value the type that the body makes, with `astype` or `broadcast_to`");
            let path = path.to_string();
            raise(if path.is_empty() {
                error
            } else {
                error.at_path(format!("carry{path}"))
            });
        }
    }
}

/// Initial values whose weak types became strong in the loop.
pub(super) fn strengthened(init: &[Array], outs: &[Aval]) -> Vec<Array> {
    init.iter()
        .zip(outs)
        .map(|(value, out)| {
            if value.weak_type() && !out.weak_type {
                as_dtype(value, out.dtype, false)
            } else {
                value.clone()
            }
        })
        .collect()
}

/// The jaxpr whose inputs from `start` on have the weakness of `avals`.
pub(super) fn retyped(jaxpr: ClosedJaxpr, start: usize, avals: &[Aval]) -> ClosedJaxpr {
    let differs = jaxpr.in_avals()[start..]
        .iter()
        .zip(avals)
        .any(|(a, b)| a.weak_type != b.weak_type);
    if !differs {
        return jaxpr;
    }
    let mut inner: Jaxpr = Arc::unwrap_or_clone(jaxpr.jaxpr);
    for (index, aval) in avals.iter().enumerate() {
        let var = inner.invars[start + index];
        inner.set_weak_type(var, aval.weak_type);
    }
    ClosedJaxpr::new(inner, jaxpr.consts)
}

/// Types of arrays.
pub(super) fn types(arrays: &[Array]) -> Vec<Aval> {
    arrays.iter().map(aval_of).collect()
}
