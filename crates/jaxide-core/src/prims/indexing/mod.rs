//! Reads and writes at computed indices.

mod dynamic_slice;
mod gather;
mod scatter;

pub(crate) use scatter::{addition, adopt_combiners};

use smallvec::smallvec;

use super::TransposeArg;
use super::elementwise::{arity, move_axis, not_linear, to_front};
use super::shape::check_axes;
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::jaxpr::{Atom, Aval, Builder, Dims};

/// Axes moved up by one.
fn shifted(axes: &[usize]) -> Dims {
    axes.iter().map(|axis| axis + 1).collect()
}

/// Axes moved up by one behind a new axis 0.
fn behind_new(axes: &[usize]) -> Dims {
    std::iter::once(0)
        .chain(axes.iter().map(|axis| axis + 1))
        .collect()
}

/// A zero of the type of `x`, spread over its shape.
fn zeros(b: &Builder, x: Atom) -> Atom {
    b.zeros(&b.aval(x))
}

/// The type of an operand that transposition asks for.
fn linear(operand: &TransposeArg) -> Option<&Aval> {
    match operand {
        TransposeArg::Linear(aval) => Some(aval),
        TransposeArg::Known(_) => None,
    }
}

/// The atoms of operands that must be known.
fn known(operands: &[TransposeArg], prim: &str) -> Result<Vec<Atom>> {
    operands
        .iter()
        .map(|operand| match operand {
            TransposeArg::Known(atom) => Ok(*atom),
            TransposeArg::Linear(_) => Err(not_linear(prim)),
        })
        .collect()
}

/// Lists of axes: increasing, without repetition.
fn check_sorted(name: &str, axes: &[usize]) -> Result<()> {
    if axes.is_sorted() {
        return Ok(());
    }
    Err(Error::parameter(format!("{name} {axes:?} must increase")))
}

/// Two lists of axes without a common one.
fn check_disjoint(first: (&str, &[usize]), second: (&str, &[usize])) -> Result<()> {
    match first.1.iter().find(|axis| second.1.contains(axis)) {
        None => Ok(()),
        Some(axis) => Err(Error::parameter(format!(
            "axis {axis} is both in {} and in {}",
            first.0, second.0
        ))),
    }
}
