//! Padding.

use super::super::*;
use super::*;
use crate::dtype::DType;
use crate::jaxpr::Dims;

/// The length of an axis after padding, `None` when it is negative or cannot be addressed.
fn padded(length: usize, (low, high, interior): (i64, i64, i64)) -> Option<usize> {
    let length = i64::try_from(length).ok()?;
    let holes = (length - 1).max(0).checked_mul(interior)?;
    usize::try_from(
        low.checked_add(high)?
            .checked_add(holes)?
            .checked_add(length)?,
    )
    .ok()
}

impl Primitive for Pad {
    fn abstract_eval(&self, operands: &[Aval]) -> Result<Avals> {
        let [aval, value] = operands else {
            return Err(arity(2, operands.len()));
        };
        same_dtype(operands)?;
        if value.rank() != 0 {
            return Err(Error::shape(format!(
                "the padding value must be a scalar, and is {value}"
            )));
        }
        if self.padding_config.len() != aval.rank() {
            return Err(Error::parameter(format!(
                "padding_config has {} entries, and {aval} has {} axes",
                self.padding_config.len(),
                aval.rank()
            )));
        }
        let mut shape = Vec::with_capacity(aval.rank());
        for (axis, (&length, &config)) in aval.shape.iter().zip(&self.padding_config).enumerate() {
            if config.2 < 0 {
                return Err(Error::parameter(format!(
                    "interior padding of axis {axis} must not be negative: {config:?}"
                )));
            }
            shape.push(padded(length, config).ok_or_else(|| {
                Error::parameter(format!(
                    "padding {config:?} of axis {axis} of {aval} gives no length"
                ))
            })?);
        }
        crate::aval::byte_size(&shape, aval.dtype)?;
        let weak = aval.weak_type && value.weak_type;
        Ok(smallvec![aval.with_shape(&shape).weak(weak)])
    }

    fn jvp(&self, b: &Builder, primals: &[Atom], tangents: &[Option<Atom>]) -> Result<JvpResult> {
        linear_jvp(&self.clone().into(), b, primals, tangents)
    }

    fn batch(&self, b: &Builder, operands: &[Batched], axis: &BatchAxis) -> Result<BatchedResults> {
        let (mut operand, value) = (operands[0], operands[1]);
        if operand.dim.is_none() && value.dim.is_none() {
            return Ok(smallvec![Batched {
                value: b.op(self.clone(), &[operand.value, value.value]),
                dim: None
            }]);
        }
        if operand.dim.is_none() {
            operand = Batched {
                value: to_front(b, operand, axis.size),
                dim: Some(0),
            };
        }
        let dim = operand.dim.unwrap_or(0);
        let mut config = self.padding_config.clone();
        config.insert(dim, (0, 0, 0));
        if value.dim.is_none() {
            return Ok(smallvec![Batched {
                value: b.pad(operand.value, value.value, &config),
                dim: Some(dim)
            }]);
        }
        let zero = b.number(0.0, b.dtype(operand.value));
        let x = b.pad(operand.value, zero, &config);
        let inside = b.full(&b.shape(operand.value), 1.0, DType::Bool);
        let mask = b.pad(inside, b.number(0.0, DType::Bool), &config);
        let spread = b.broadcast_in_dim(value.value, &b.shape(x), &[dim]);
        Ok(smallvec![Batched {
            value: b.select(mask, x, spread),
            dim: Some(dim)
        }])
    }

    fn transpose(
        &self,
        b: &Builder,
        cotangents: &[Option<Atom>],
        operands: &[TransposeArg],
    ) -> Result<Cotangents> {
        let Some(ct) = cotangents[0] else {
            return Ok(smallvec![None, None]);
        };
        let all: Vec<usize> = (0..b.rank(ct)).collect();
        let unpadded = || {
            let config: Vec<(i64, i64, i64)> = self
                .padding_config
                .iter()
                .map(|&(low, high, _)| (-low, -high, 0))
                .collect();
            let zero = b.number(0.0, b.dtype(ct));
            let cut = b.pad(ct, zero, &config);
            let limit_indices = b.shape(cut);
            let strides: Dims = self
                .padding_config
                .iter()
                .map(|&(_, _, interior)| interior as usize + 1)
                .collect();
            let start_indices = Dims::from_elem(0, limit_indices.len());
            b.op(
                Slice {
                    limit_indices,
                    start_indices,
                    strides: Some(strides),
                },
                &[cut],
            )
        };
        let linear = |operand: &TransposeArg| matches!(operand, TransposeArg::Linear(_));
        let operand = linear(&operands[0]).then(unpadded);
        let value = linear(&operands[1]).then(|| {
            let total = b.reduce_sum(ct, &all);
            match operand {
                Some(operand) => b.sub(total, b.reduce_sum(operand, &all)),
                None => b.sub(total, b.reduce_sum(unpadded(), &all)),
            }
        });
        Ok(smallvec![operand, value])
    }
}
