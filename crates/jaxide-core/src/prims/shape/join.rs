//! Joining and cutting along an axis.

use super::super::*;
use super::*;
use crate::aval::byte_size;
use crate::error::ErrorKind;

/// Reports zeros for all operands.
fn no_cotangents(operands: &[TransposeArg]) -> Cotangents {
    smallvec![None; operands.len()]
}

/// Keeps the cotangents of linear operands.
fn of_linear(parts: &[Atom], operands: &[TransposeArg]) -> Cotangents {
    parts
        .iter()
        .zip(operands)
        .map(|(&part, operand)| matches!(operand, TransposeArg::Linear(_)).then_some(part))
        .collect()
}

impl Primitive for Concatenate {
    fn abstract_eval(&self, operands: &[Aval]) -> Result<Avals> {
        same_dtype(operands)?;
        let first = &operands[0];
        check_axis(self.dimension, first)?;
        let mut shape = first.shape.clone();
        let mut length = 0usize;
        for aval in operands {
            let fits = aval.rank() == shape.len()
                && (0..shape.len())
                    .all(|axis| axis == self.dimension || aval.shape[axis] == shape[axis]);
            if !fits {
                return Err(Error::shape(format!(
                    "{first} and {aval} differ in an axis other than {}",
                    self.dimension
                )));
            }
            length = length.saturating_add(aval.shape[self.dimension]);
        }
        shape[self.dimension] = length;
        byte_size(&shape, first.dtype)?;
        let weak = operands.iter().all(|aval| aval.weak_type);
        Ok(smallvec![first.with_shape(&shape).weak(weak)])
    }

    fn jvp(&self, b: &Builder, primals: &[Atom], tangents: &[Option<Atom>]) -> Result<JvpResult> {
        linear_jvp(&self.clone().into(), b, primals, tangents)
    }

    fn batch(&self, b: &Builder, operands: &[Batched], axis: &BatchAxis) -> Result<BatchedResults> {
        let atoms = all_to_front(b, operands, axis);
        Ok(smallvec![Batched {
            value: b.concatenate(&atoms, self.dimension + 1),
            dim: Some(0)
        }])
    }

    fn transpose(
        &self,
        b: &Builder,
        cotangents: &[Option<Atom>],
        operands: &[TransposeArg],
    ) -> Result<Cotangents> {
        let Some(ct) = cotangents[0] else {
            return Ok(no_cotangents(operands));
        };
        let sizes = operands
            .iter()
            .map(|operand| operand.aval(b).shape[self.dimension])
            .collect();
        let parts = b.emit(
            Split {
                axis: self.dimension,
                sizes,
            },
            &[ct],
        )?;
        Ok(of_linear(&parts, operands))
    }
}

impl Primitive for Stack {
    fn abstract_eval(&self, operands: &[Aval]) -> Result<Avals> {
        same_dtype(operands)?;
        let first = &operands[0];
        if self.axis > first.rank() {
            return Err(Error::parameter(format!(
                "axis {} is out of range for a stack of {first}",
                self.axis
            )));
        }
        if let Some(other) = operands.iter().find(|aval| aval.shape != first.shape) {
            return Err(Error::shape(format!(
                "{first} and {other} have different shapes"
            )));
        }
        let mut shape = first.shape.clone();
        shape.insert(self.axis, operands.len());
        byte_size(&shape, first.dtype)?;
        let weak = operands.iter().all(|aval| aval.weak_type);
        Ok(smallvec![first.with_shape(&shape).weak(weak)])
    }

    fn jvp(&self, b: &Builder, primals: &[Atom], tangents: &[Option<Atom>]) -> Result<JvpResult> {
        linear_jvp(&self.clone().into(), b, primals, tangents)
    }

    fn batch(&self, b: &Builder, operands: &[Batched], axis: &BatchAxis) -> Result<BatchedResults> {
        let first = operands[0].dim;
        if let Some(dim) = first
            && operands.iter().all(|operand| operand.dim == first)
        {
            let atoms = Batched::values(operands);
            let (axis, dim) = if self.axis <= dim {
                (self.axis, dim + 1)
            } else {
                (self.axis + 1, dim)
            };
            return Ok(smallvec![Batched {
                value: b.op(Stack { axis }, &atoms),
                dim: Some(dim)
            }]);
        }
        let atoms = all_to_front(b, operands, axis);
        Ok(smallvec![Batched {
            value: b.op(
                Stack {
                    axis: self.axis + 1
                },
                &atoms
            ),
            dim: Some(0)
        }])
    }

    fn transpose(
        &self,
        b: &Builder,
        cotangents: &[Option<Atom>],
        operands: &[TransposeArg],
    ) -> Result<Cotangents> {
        let Some(ct) = cotangents[0] else {
            return Ok(no_cotangents(operands));
        };
        let parts = b.emit(Unstack { axis: self.axis }, &[ct])?;
        Ok(of_linear(&parts, operands))
    }
}

/// Cotangents of all parts, zeros made explicit; `None` when all are zero.
fn instantiate(
    b: &Builder,
    prim: &dyn Primitive,
    cotangents: &[Option<Atom>],
    operand: &Aval,
) -> Result<Option<Vec<Atom>>> {
    if cotangents.iter().all(Option::is_none) {
        return Ok(None);
    }
    let avals = prim.abstract_eval(std::slice::from_ref(operand))?;
    Ok(Some(
        cotangents
            .iter()
            .zip(&avals)
            .map(|(ct, aval)| ct.unwrap_or_else(|| b.zeros(aval)))
            .collect(),
    ))
}

impl Primitive for Split {
    fn abstract_eval(&self, operands: &[Aval]) -> Result<Avals> {
        let aval = one(operands)?;
        check_axis(self.axis, aval)?;
        let total = self
            .sizes
            .iter()
            .try_fold(0usize, |sum, &size| sum.checked_add(size));
        if total != Some(aval.shape[self.axis]) {
            return Err(Error::parameter(format!(
                "sizes {:?} must add up to {}, the length of axis {} of {aval}",
                self.sizes.as_slice(),
                aval.shape[self.axis],
                self.axis
            )));
        }
        let mut shape = aval.shape.clone();
        Ok(self
            .sizes
            .iter()
            .map(|&size| {
                shape[self.axis] = size;
                aval.with_shape(&shape)
            })
            .collect())
    }

    fn jvp(&self, b: &Builder, primals: &[Atom], tangents: &[Option<Atom>]) -> Result<JvpResult> {
        linear_jvp(&self.clone().into(), b, primals, tangents)
    }

    fn batch(
        &self,
        b: &Builder,
        operands: &[Batched],
        _axis: &BatchAxis,
    ) -> Result<BatchedResults> {
        let dim = operands[0].dim;
        let axis = if dim.is_some_and(|dim| self.axis >= dim) {
            self.axis + 1
        } else {
            self.axis
        };
        let parts = b.emit(
            Split {
                axis,
                sizes: self.sizes.clone(),
            },
            &[operands[0].value],
        )?;
        Ok(parts
            .into_iter()
            .map(|value| Batched { value, dim })
            .collect())
    }

    fn transpose(
        &self,
        b: &Builder,
        cotangents: &[Option<Atom>],
        operands: &[TransposeArg],
    ) -> Result<Cotangents> {
        let parts = instantiate(b, self, cotangents, &operands[0].aval(b))?;
        Ok(smallvec![
            parts.map(|parts| b.concatenate(&parts, self.axis))
        ])
    }
}

/// More results than this are not made by one equation: their number is that of an axis, and not written out.
const MOST_RESULTS: usize = 1 << 20;

impl Primitive for Unstack {
    fn abstract_eval(&self, operands: &[Aval]) -> Result<Avals> {
        let aval = one(operands)?;
        check_axis(self.axis, aval)?;
        let mut shape = aval.shape.clone();
        let count = shape.remove(self.axis);
        if count > MOST_RESULTS {
            return Err(Error::new(
                ErrorKind::TooLarge,
                format!(
                    "there is one result for each of the {count} indices of axis {} of {aval}, and an equation has at most \
                     {MOST_RESULTS}",
                    self.axis
                ),
            ));
        }
        Ok(smallvec![aval.with_shape(&shape); count])
    }

    fn jvp(&self, b: &Builder, primals: &[Atom], tangents: &[Option<Atom>]) -> Result<JvpResult> {
        linear_jvp(&self.clone().into(), b, primals, tangents)
    }

    fn batch(
        &self,
        b: &Builder,
        operands: &[Batched],
        _axis: &BatchAxis,
    ) -> Result<BatchedResults> {
        let (axis, dim) = match operands[0].dim {
            None => (self.axis, None),
            Some(dim) if self.axis < dim => (self.axis, Some(dim - 1)),
            Some(dim) => (self.axis + 1, Some(dim)),
        };
        let parts = b.emit(Unstack { axis }, &[operands[0].value])?;
        Ok(parts
            .into_iter()
            .map(|value| Batched { value, dim })
            .collect())
    }

    fn transpose(
        &self,
        b: &Builder,
        cotangents: &[Option<Atom>],
        operands: &[TransposeArg],
    ) -> Result<Cotangents> {
        let parts = instantiate(b, self, cotangents, &operands[0].aval(b))?;
        Ok(smallvec![
            parts.map(|parts| b.op(Stack { axis: self.axis }, &parts))
        ])
    }
}
