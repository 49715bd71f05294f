//! Positions of extrema, of non-zero elements and in sorted arrays.

use super::super::elementwise::{move_axis, to_front};
use super::super::*;
use super::*;

/// Rules of `argmax` and `argmin`.
macro_rules! extrema {
    ($($prim:ident $name:literal;)*) => { $(
        impl Primitive for $prim {
            fn abstract_eval(&self, operands: &[Aval]) -> Result<Avals> {
                let aval = one(operands)?;
                let [axis] = self.axes[..] else {
                    return Err(Error::parameter(format!("axes {:?} must name one axis", self.axes.as_slice())));
                };
                check_axis(axis, aval)?;
                if aval.shape[axis] == 0 {
                    return Err(Error::shape(format!("axis {axis} of {aval} is empty and has no extremum")));
                }
                if aval.dtype.is_complex() || aval.dtype.is_key() || aval.dtype == DType::Float0 {
                    return Err(Error::dtype(format!("{aval} has no order")));
                }
                if !self.index_dtype.is_integer() {
                    return Err(Error::dtype(format!("index_dtype must be an integer, and is {}", self.index_dtype)));
                }
                Ok(smallvec![without_axes(aval, &self.axes)?.with_dtype(self.index_dtype)])
            }

            fn jvp(&self, b: &Builder, primals: &[Atom], _tangents: &[Option<Atom>]) -> Result<JvpResult> {
                Ok(JvpResult::one(b.op(self.clone(), primals), None))
            }

            fn batch(&self, b: &Builder, operands: &[Batched], _axis: &BatchAxis) -> Result<BatchedResults> {
                Ok(batch_reduction(b, operands[0], &self.axes, |axes| $prim { axes, ..self.clone() }.into()))
            }

            no_rules! { $name, NOT_LINEAR; transpose }
        }
    )* };
}

extrema! {
    Argmax "argmax";
    Argmin "argmin";
}

/// Operands: the array, then optionally the fill values (one array of `len(axes)`, or one scalar per axis) and, under
/// `vmap`, further ones. Results: one index array per axis.
impl Primitive for Nonzero {
    fn abstract_eval(&self, operands: &[Aval]) -> Result<Avals> {
        let aval = operands.first().ok_or_else(|| arity(1, 0))?;
        check_axes(&self.axes, aval)?;
        if !self.out_dtype.is_integer() {
            return Err(Error::dtype(format!(
                "indices must be integers, and {} is asked for",
                self.out_dtype
            )));
        }
        if let Some(fill) = operands[1..].iter().find(|fill| !fill.dtype.is_integer()) {
            return Err(Error::dtype(format!(
                "indices must be integers, and {fill} is to stand for missing ones"
            )));
        }
        let mut shape: Vec<usize> = (0..aval.rank())
            .filter(|axis| !self.axes.contains(axis))
            .map(|axis| aval.shape[axis])
            .collect();
        shape.push(self.size);
        crate::aval::byte_size(&shape, self.out_dtype)?;
        Ok(smallvec![Aval::new(self.out_dtype, &shape); self.axes.len()])
    }

    fn jvp(&self, b: &Builder, primals: &[Atom], _tangents: &[Option<Atom>]) -> Result<JvpResult> {
        let answers = b.emit(self.clone(), primals)?;
        Ok(JvpResult {
            tangents: smallvec![None; answers.len()],
            primals: answers,
        })
    }

    /// The mapped axis becomes a leading axis that is not searched.
    fn batch(&self, b: &Builder, operands: &[Batched], axis: &BatchAxis) -> Result<BatchedResults> {
        let mut atoms = vec![to_front(b, operands[0], axis.size)];
        if operands[1..].iter().any(|operand| operand.dim.is_some()) {
            return Err(Error::no_rule(
                "Nonzero",
                "batching",
                "fill values that differ between lanes are not supported",
            ));
        }
        atoms.extend(operands[1..].iter().map(|operand| operand.value));
        let axes = self.axes.iter().map(|axis| axis + 1).collect();
        let results = b.emit(
            Nonzero {
                axes,
                ..self.clone()
            },
            &atoms,
        )?;
        Ok(results
            .into_iter()
            .map(|value| Batched {
                value,
                dim: Some(0),
            })
            .collect())
    }

    no_rules! { "Nonzero", NOT_LINEAR; transpose }
}

/// Operands: the sorted array and the values; the first `batch_dims` axes of both are in common.
impl Primitive for SearchSorted {
    fn abstract_eval(&self, operands: &[Aval]) -> Result<Avals> {
        let [sorted, query] = operands else {
            return Err(arity(2, operands.len()));
        };
        check_axis(self.dimension, sorted)?;
        if sorted.dtype != query.dtype {
            return Err(Error::dtype(format!(
                "the sorted array is {sorted} and the values are {query}"
            )));
        }
        let batch = self.batch_dims;
        if sorted.rank() < batch
            || query.rank() < batch
            || sorted.shape[..batch] != query.shape[..batch]
        {
            return Err(Error::shape(format!(
                "the first {batch} axes of {sorted} and {query} must be in common"
            )));
        }
        let mut shape: Vec<usize> = (0..sorted.rank())
            .filter(|&axis| axis != self.dimension)
            .map(|axis| sorted.shape[axis])
            .collect();
        shape.extend_from_slice(&query.shape[batch..]);
        let dtype = if sorted.shape[self.dimension] < i32::MAX as usize {
            DType::I32
        } else {
            DType::I64
        };
        crate::aval::byte_size(&shape, dtype)?;
        Ok(smallvec![Aval::new(dtype, &shape)])
    }

    fn jvp(&self, b: &Builder, primals: &[Atom], _tangents: &[Option<Atom>]) -> Result<JvpResult> {
        Ok(JvpResult::one(b.op(self.clone(), primals), None))
    }

    fn batch(
        &self,
        b: &Builder,
        operands: &[Batched],
        _axis: &BatchAxis,
    ) -> Result<BatchedResults> {
        let [sorted, query] = [operands[0], operands[1]];
        let own = self.batch_dims;
        let in_common = sorted.dim.is_some() && query.dim.is_some();
        // What only one of them has is an axis of its own, behind those in common.
        let place = if in_common { 0 } else { own };
        let moved = |operand: Batched| match operand.dim {
            Some(dim) => move_axis(b, operand.value, dim, place),
            None => operand.value,
        };
        let atoms = [moved(sorted), moved(query)];
        let prim = SearchSorted {
            dimension: self.dimension + usize::from(sorted.dim.is_some()),
            batch_dims: own + usize::from(in_common),
            ..self.clone()
        };
        let dim = match (sorted.dim, query.dim) {
            (Some(_), Some(_)) => Some(0),
            (Some(_), None) => Some(own),
            (None, Some(_)) => Some(b.rank(sorted.value) - 1),
            (None, None) => None,
        };
        Ok(smallvec![Batched {
            value: b.op(prim, &atoms),
            dim
        }])
    }

    no_rules! { "SearchSorted", NOT_LINEAR; transpose }
}
