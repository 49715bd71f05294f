//! Conversion of element types.

use super::super::*;
use super::*;
use crate::error::Result;

impl Primitive for ConvertElementType {
    fn abstract_eval(&self, operands: &[Aval]) -> Result<Avals> {
        let aval = one(operands)?;
        let convertible = |dtype: DType| !dtype.is_key() && dtype != DType::Float0;
        if aval.dtype != self.new_dtype && !(convertible(aval.dtype) && convertible(self.new_dtype))
        {
            return Err(Error::dtype(format!(
                "{} cannot become {}",
                aval.dtype, self.new_dtype
            )));
        }
        Ok(smallvec![
            aval.with_dtype(self.new_dtype).weak(self.weak_type)
        ])
    }

    fn jvp(&self, b: &Builder, primals: &[Atom], tangents: &[Option<Atom>]) -> Result<JvpResult> {
        let answer = b.op(self.clone(), primals);
        let tangent = if self.new_dtype.is_inexact() {
            tangents[0].map(|g| b.op(self.clone(), &[g]))
        } else {
            None
        };
        Ok(JvpResult::one(answer, tangent))
    }

    fn batch(
        &self,
        b: &Builder,
        operands: &[Batched],
        _axis: &BatchAxis,
    ) -> Result<BatchedResults> {
        batch_elementwise(self.clone().into(), b, operands)
    }

    fn transpose(
        &self,
        b: &Builder,
        cotangents: &[Option<Atom>],
        operands: &[TransposeArg],
    ) -> Result<Cotangents> {
        let aval = operands[0].aval(b);
        if !aval.dtype.is_inexact() {
            return Ok(smallvec![None]);
        }
        let back = ConvertElementType {
            new_dtype: aval.dtype,
            weak_type: aval.weak_type,
        };
        Ok(smallvec![cotangents[0].map(|ct| b.op(back, &[ct]))])
    }
}

impl Primitive for BitcastConvertType {
    fn abstract_eval(&self, operands: &[Aval]) -> Result<Avals> {
        let aval = one(operands)?;
        let (from, to) = (aval.dtype.bits(), self.new_dtype.bits());
        let refuse = |why: &str| {
            Err(Error::dtype(format!(
                "the bits of {aval} cannot be read as {}: {why}",
                self.new_dtype
            )))
        };
        if [aval.dtype, self.new_dtype]
            .iter()
            .any(|&dtype| dtype == DType::Float0 || dtype.is_key())
        {
            return refuse("it has no bits");
        }
        if aval.dtype != self.new_dtype
            && (aval.dtype == DType::Bool) != (self.new_dtype == DType::Bool)
        {
            return refuse("truth values have no bit pattern");
        }
        let mut shape = aval.shape.clone();
        if from < to {
            if to % from != 0 || shape.last() != Some(&(to / from)) {
                return refuse("the last axis must have as many elements as fit in one");
            }
            shape.pop();
        } else if from > to {
            if from % to != 0 {
                return refuse("the widths do not divide");
            }
            shape.push(from / to);
        }
        Ok(smallvec![Aval::new(self.new_dtype, &shape)])
    }

    fn jvp(&self, b: &Builder, primals: &[Atom], _tangents: &[Option<Atom>]) -> Result<JvpResult> {
        Ok(JvpResult::one(b.op(self.clone(), primals), None))
    }

    /// A narrower or wider type adds or removes the last axis, which is never the mapped one.
    fn batch(
        &self,
        b: &Builder,
        operands: &[Batched],
        _axis: &BatchAxis,
    ) -> Result<BatchedResults> {
        let operand = operands[0];
        let (from, to) = (b.dtype(operand.value).bits(), self.new_dtype.bits());
        let rank = b.rank(operand.value);
        let last = rank.checked_sub(1);
        if from < to && operand.dim == last {
            let value = to_front(b, operand, 1);
            return Ok(smallvec![Batched {
                value: b.op(self.clone(), &[value]),
                dim: Some(0)
            }]);
        }
        Ok(smallvec![Batched {
            value: b.op(self.clone(), &[operand.value]),
            dim: operand.dim
        }])
    }

    fn transpose(
        &self,
        _b: &Builder,
        _cotangents: &[Option<Atom>],
        _operands: &[TransposeArg],
    ) -> Result<Cotangents> {
        Err(not_linear("bitcast_convert_type"))
    }
}
