//! Primitives that move elements without computing.

mod broadcast;
mod create;
mod join;
mod pad;
mod rearrange;

use smallvec::{SmallVec, smallvec};

use super::elementwise::{arity, to_front};
use super::{BatchAxis, Batched, JvpResult, Prim};
use crate::error::{Error, Result};
use crate::jaxpr::{Atom, Aval, Builder};

/// The only operand.
pub(super) fn one(operands: &[Aval]) -> Result<&Aval> {
    match operands {
        [only] => Ok(only),
        other => Err(arity(1, other.len())),
    }
}

/// Operands of a join have one element type.
fn same_dtype(operands: &[Aval]) -> Result<()> {
    let first = operands.first().ok_or_else(|| arity(1, 0))?;
    match operands.iter().find(|aval| aval.dtype != first.dtype) {
        None => Ok(()),
        Some(other) => Err(Error::dtype(format!(
            "operands have different element types: {first} and {other}"
        ))
        .note("convert one of them with `convert_element_type`")),
    }
}

/// An axis that must exist.
pub(super) fn check_axis(axis: usize, aval: &Aval) -> Result<()> {
    if axis < aval.rank() {
        return Ok(());
    }
    Err(Error::parameter(format!(
        "axis {axis} is out of range for {aval} of rank {}",
        aval.rank()
    )))
}

/// Axes that must exist and differ.
pub(super) fn check_axes(axes: &[usize], aval: &Aval) -> Result<()> {
    for (index, &axis) in axes.iter().enumerate() {
        check_axis(axis, aval)?;
        if axes[..index].contains(&axis) {
            return Err(Error::parameter(format!(
                "axis {axis} is named twice in {axes:?}"
            )));
        }
    }
    Ok(())
}

/// Linear in all operands: applies the primitive to the tangents, zeros made explicit.
pub(super) fn linear_jvp(
    prim: &Prim,
    b: &Builder,
    primals: &[Atom],
    tangents: &[Option<Atom>],
) -> Result<JvpResult> {
    let answers = b.emit(prim.clone(), primals)?;
    if tangents.iter().all(Option::is_none) {
        return Ok(JvpResult {
            tangents: smallvec![None; answers.len()],
            primals: answers,
        });
    }
    let instantiated: SmallVec<[Atom; 3]> = primals
        .iter()
        .zip(tangents)
        .map(|(&x, &tangent)| b.instantiate(tangent, &b.aval(x)))
        .collect();
    let tangents = b.emit(prim.clone(), &instantiated)?;
    Ok(JvpResult {
        primals: answers,
        tangents: tangents.into_iter().map(Some).collect(),
    })
}

/// Rules that every primitive of one operand shares which moves elements: linear, one mapped axis.
///
/// A row is the primitive, its abstract evaluation, the batched primitive with the operand and the new axis, and the
/// cotangent.
macro_rules! moves {
    ($($prim:ident $eval:expr, $batch:expr, $transpose:expr;)*) => { $(
        impl Primitive for $prim {
            fn abstract_eval(&self, operands: &[Aval]) -> Result<Avals> {
                let eval: fn(&Self, &Aval) -> Result<Aval> = $eval;
                eval(self, one(operands)?).map(|aval| smallvec![aval])
            }

            fn jvp(&self, b: &Builder, primals: &[Atom], tangents: &[Option<Atom>]) -> Result<JvpResult> {
                linear_jvp(&self.clone().into(), b, primals, tangents)
            }

            fn batch(&self, b: &Builder, operands: &[Batched], axis: &BatchAxis) -> Result<BatchedResults> {
                let Some(dim) = operands[0].dim else {
                    return Ok(smallvec![Batched { value: b.op(self.clone(), &[operands[0].value]), dim: None }]);
                };
                let batch: fn(&Self, &Builder, Atom, usize, usize) -> (Atom, usize) = $batch;
                let (value, dim) = batch(self, b, operands[0].value, dim, axis.size);
                Ok(smallvec![Batched { value, dim: Some(dim) }])
            }

            fn transpose(&self, b: &Builder, cotangents: &[Option<Atom>], operands: &[TransposeArg]) -> Result<Cotangents> {
                let TransposeArg::Linear(aval) = &operands[0] else { return Ok(smallvec![None]) };
                let transpose: fn(&Self, &Builder, Atom, &Aval) -> Atom = $transpose;
                Ok(smallvec![cotangents[0].map(|ct| transpose(self, b, ct, aval))])
            }
        }
    )* };
}
use moves;

/// All operands with the mapped axis first; shared ones repeated.
fn all_to_front(b: &Builder, operands: &[Batched], axis: &BatchAxis) -> Vec<Atom> {
    operands
        .iter()
        .map(|&operand| to_front(b, operand, axis.size))
        .collect()
}
