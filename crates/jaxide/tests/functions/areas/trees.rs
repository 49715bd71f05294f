//! Trees as vectors.

use jaxide::flatten_util::ravel_pytree;
use jaxide::prelude::*;

use crate::Area;
use crate::case::Case;
use crate::compare::Tolerance;

pub(crate) const AREA: Area = Area {
    cases: include_str!("../cases/trees.txt"),
    call,
    tolerance,
    written_differently: &[],
    different: &[],
    text,
};

/// The vector, and the leaves that are made of it again.
fn call(case: &Case, x: &[Array]) -> Option<Vec<Array>> {
    if case.function != "flatten_util.ravel_pytree" {
        return None;
    }
    let (flat, unravel) = ravel_pytree(&x.to_vec());
    let leaves = unravel(&flat);
    Some([vec![flat], leaves].concat())
}

fn tolerance(_: &Case) -> Tolerance {
    Tolerance::EXACT
}

fn text(_: &str, _: &[Array]) -> Option<Vec<Array>> {
    None
}
