//! Functions of the library that are one equation: what JAX writes as a call of a named function.

use std::fmt::Write as _;

use jaxide_core::ClosedJaxpr;
use jaxide_core::prims::{Jit, Name};

use super::frame::outermost_frame;
use super::{Captures, Known, aval_of, bind_one, trace, without_scope};
use crate::array::Array;

/// Applies a function of the library: a `jit` equation called `name` inside a trace, its operations at once outside.
///
/// Inside one trace, calls with the same name, `parameters` and types of operands share one sub-jaxpr, so that the text
/// shows it once. `f` may not capture arrays, and what it does must follow from those three.
///
/// # Panics
/// Where `f` does.
#[track_caller]
pub(crate) fn library<const N: usize>(
    name: &str,
    parameters: &str,
    operands: [&Array; N],
    f: impl FnOnce([&Array; N]) -> Array,
) -> Array {
    let Some(outermost) = outermost_frame() else {
        return f(operands);
    };
    let mut key = format!("{name} {parameters}");
    for operand in operands {
        let aval = aval_of(operand);
        let _ = write!(key, " {aval} {}", aval.weak_type);
    }
    let known = outermost.library.borrow().get(&key).cloned();
    let jaxpr = known.unwrap_or_else(|| {
        let jaxpr = staged(operands, f);
        outermost.library.borrow_mut().insert(key, jaxpr.clone());
        jaxpr
    });
    let prim = Jit::new(Name::new(name), jaxpr);
    bind_one(prim, &operands.map(Array::clone))
}

#[track_caller]
fn staged<const N: usize>(
    operands: [&Array; N],
    f: impl FnOnce([&Array; N]) -> Array,
) -> ClosedJaxpr {
    let avals = operands.map(aval_of);
    let record = || {
        trace("jit", &avals, Known::No, Captures::Constants, |args| {
            (vec![f(std::array::from_fn(|index| &args[index]))], ())
        })
    };
    without_scope(record).jaxpr
}
