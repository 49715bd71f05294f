//! Mantissa and exponent.

use smallvec::{SmallVec, smallvec};

use super::super::named_function::call_named;
use super::super::*;
use super::{arity, not_linear};
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::jaxpr::{Atom, Aval, Builder};
use crate::transform::{broadcast, move_axis};

impl Primitive for Frexp {
    fn abstract_eval(&self, operands: &[Aval]) -> Result<Avals> {
        let [x] = operands else {
            return Err(arity(1, operands.len()));
        };
        check_float(x)?;
        Ok(smallvec![
            Aval::new(x.dtype, &x.shape),
            Aval::new(DType::I32, &x.shape)
        ])
    }

    /// The exponent is constant where the mantissa has a derivative.
    fn jvp(&self, b: &Builder, primals: &[Atom], tangents: &[Option<Atom>]) -> Result<JvpResult> {
        let results = b.emit(self.clone(), primals)?;
        let exponent = results[1];
        let mantissa = tangents[0]
            .map(|tangent| scaled(b, tangent, b.neg(exponent)))
            .transpose()?;
        Ok(JvpResult {
            primals: results,
            tangents: smallvec![mantissa, None],
        })
    }

    fn batch(
        &self,
        b: &Builder,
        operands: &[Batched],
        _axis: &BatchAxis,
    ) -> Result<BatchedResults> {
        let Batched { value, dim } = operands[0];
        let results = b.emit(Frexp::of(&b.aval(value)), &[value])?;
        Ok(results
            .into_iter()
            .map(|value| Batched { value, dim })
            .collect())
    }

    fn transpose(
        &self,
        _b: &Builder,
        _cotangents: &[Option<Atom>],
        _operands: &[TransposeArg],
    ) -> Result<Cotangents> {
        Err(not_linear("Frexp"))
    }
}

impl Primitive for Ldexp {
    fn abstract_eval(&self, operands: &[Aval]) -> Result<Avals> {
        let [x, n] = operands else {
            return Err(arity(2, operands.len()));
        };
        check_float(x)?;
        if !n.dtype.is_integer() || n.shape != x.shape {
            return Err(Error::shape(format!(
                "the exponents of {x} are integers of the same shape, and {n} is given"
            )));
        }
        Ok(smallvec![Aval::new(x.dtype, &x.shape)])
    }

    /// Linear in the first operand.
    fn jvp(&self, b: &Builder, primals: &[Atom], tangents: &[Option<Atom>]) -> Result<JvpResult> {
        let tangent = tangents[0]
            .map(|tangent| scaled(b, tangent, primals[1]))
            .transpose()?;
        let value = b.op(self.clone(), primals);
        Ok(JvpResult::one(value, tangent))
    }

    fn batch(&self, b: &Builder, operands: &[Batched], axis: &BatchAxis) -> Result<BatchedResults> {
        let dim = operands[0]
            .dim
            .filter(|_| operands[0].dim == operands[1].dim)
            .unwrap_or(0);
        let values = operands.iter().map(|operand| match operand.dim {
            Some(from) => move_axis(b, operand.value, from, dim),
            None => broadcast(b, operand.value, axis.size, dim),
        });
        let values: SmallVec<[Atom; 2]> = values.collect();
        let prim = Ldexp::of(&b.aval(values[0]), &b.aval(values[1]));
        Ok(smallvec![Batched {
            value: b.op(prim, &values),
            dim: Some(dim)
        }])
    }

    fn transpose(
        &self,
        b: &Builder,
        cotangents: &[Option<Atom>],
        operands: &[TransposeArg],
    ) -> Result<Cotangents> {
        let (Some(exponent), true) = (operands[1].known(), operands[0].is_linear()) else {
            return Err(Error::no_rule(
                "Ldexp",
                "transpose",
                "it is linear in its first operand only",
            ));
        };
        let cotangent = cotangents[0]
            .map(|cotangent| scaled(b, cotangent, exponent))
            .transpose()?;
        Ok(smallvec![cotangent, None])
    }
}

impl Frexp {
    /// The primitive on an operand of this type.
    pub fn of(x: &Aval) -> Frexp {
        Frexp { x_aval: written(x) }
    }
}

impl Ldexp {
    /// The primitive on operands of these types.
    pub fn of(x: &Aval, n: &Aval) -> Ldexp {
        Ldexp {
            x1_aval: written(x),
            x2_aval: written(n),
        }
    }
}

/// `x * 2**n` as rules write it: a call.
fn scaled(b: &Builder, x: Atom, n: Atom) -> Result<Atom> {
    let prim = Ldexp::of(&b.aval(x), &b.aval(n));
    let results = call_named(b, "ldexp", &[], &[x, n], |b, args| {
        Ok(vec![b.op(prim, args)])
    })?;
    Ok(results[0])
}

/// A type as a parameter.
fn written(aval: &Aval) -> Opaque {
    Opaque(PyValue::Opaque(aval.to_string()))
}

fn check_float(x: &Aval) -> Result<()> {
    if x.dtype.is_float() {
        return Ok(());
    }
    Err(Error::dtype(format!(
        "mantissa and exponent are those of floats, and {x} is given"
    )))
}
