//! Repetition along axes.

use super::super::elementwise::move_axis;
use super::super::*;
use super::*;
use crate::jaxpr::Dims;

impl BroadcastTo {
    /// The same for an operand with `rank` axes, the last ones of the result's.
    ///
    /// # Errors
    /// When the operand has more axes than the result.
    pub fn in_dim(&self, rank: usize) -> Result<BroadcastInDim> {
        let Some(new) = self.shape.len().checked_sub(rank) else {
            return Err(Error::shape(format!(
                "an operand with {rank} axes cannot be broadcast to shape {:?}",
                self.shape.as_slice()
            )));
        };
        Ok(BroadcastInDim {
            broadcast_dimensions: (new..self.shape.len()).collect(),
            shape: self.shape.clone(),
        })
    }
}

impl Primitive for BroadcastTo {
    fn abstract_eval(&self, operands: &[Aval]) -> Result<Avals> {
        self.in_dim(one(operands)?.rank())?.abstract_eval(operands)
    }

    fn jvp(&self, b: &Builder, primals: &[Atom], tangents: &[Option<Atom>]) -> Result<JvpResult> {
        linear_jvp(&self.clone().into(), b, &primals[..1], &tangents[..1])
    }

    fn batch(&self, b: &Builder, operands: &[Batched], axis: &BatchAxis) -> Result<BatchedResults> {
        let mapped = usize::from(operands[0].dim.is_some());
        let rank = b.aval(operands[0].value).rank() - mapped;
        self.in_dim(rank)?.batch(b, operands, axis)
    }

    fn transpose(
        &self,
        b: &Builder,
        cotangents: &[Option<Atom>],
        operands: &[TransposeArg],
    ) -> Result<Cotangents> {
        let TransposeArg::Linear(aval) = &operands[0] else {
            return Ok(smallvec![None]);
        };
        self.in_dim(aval.rank())?.transpose(b, cotangents, operands)
    }
}

impl Primitive for BroadcastInDim {
    fn abstract_eval(&self, operands: &[Aval]) -> Result<Avals> {
        let aval = one(operands)?;
        crate::aval::byte_size(&self.shape, aval.dtype)?;
        let target = aval.with_shape(&self.shape);
        if self.broadcast_dimensions.len() != aval.rank() {
            return Err(Error::parameter(format!(
                "broadcast_dimensions {:?} must name an axis for each of the {} axes of {aval}",
                self.broadcast_dimensions.as_slice(),
                aval.rank()
            )));
        }
        check_axes(&self.broadcast_dimensions, &target)?;
        if !self.broadcast_dimensions.is_sorted() {
            return Err(Error::parameter(format!(
                "broadcast_dimensions {:?} must increase",
                self.broadcast_dimensions.as_slice()
            )));
        }
        for (axis, &to) in self.broadcast_dimensions.iter().enumerate() {
            if aval.shape[axis] != 1 && aval.shape[axis] != self.shape[to] {
                return Err(Error::shape(format!(
                    "axis {axis} of {aval} has length {} and cannot become axis {to} of {target}",
                    aval.shape[axis]
                )));
            }
        }
        Ok(smallvec![target])
    }

    fn complete(&mut self, _operands: &[Aval], results: &[Aval]) {
        if let [result] = results {
            self.shape = result.shape.clone();
        }
    }

    fn jvp(&self, b: &Builder, primals: &[Atom], tangents: &[Option<Atom>]) -> Result<JvpResult> {
        linear_jvp(&self.clone().into(), b, &primals[..1], &tangents[..1])
    }

    fn batch(&self, b: &Builder, operands: &[Batched], axis: &BatchAxis) -> Result<BatchedResults> {
        let Some(dim) = operands[0].dim else {
            return Ok(smallvec![Batched {
                value: b.op(self.clone(), &[operands[0].value]),
                dim: None
            }]);
        };
        let operand = move_axis(b, operands[0].value, dim, 0);
        let mut shape = self.shape.clone();
        shape.insert(0, axis.size);
        let dims: Dims = std::iter::once(0)
            .chain(self.broadcast_dimensions.iter().map(|dim| dim + 1))
            .collect();
        Ok(smallvec![Batched {
            value: b.broadcast_in_dim(operand, &shape, &dims),
            dim: Some(0)
        }])
    }

    fn transpose(
        &self,
        b: &Builder,
        cotangents: &[Option<Atom>],
        operands: &[TransposeArg],
    ) -> Result<Cotangents> {
        let TransposeArg::Linear(aval) = &operands[0] else {
            return Ok(smallvec![None]);
        };
        let Some(ct) = cotangents[0] else {
            return Ok(smallvec![None]);
        };
        let kept: Vec<usize> = self
            .broadcast_dimensions
            .iter()
            .zip(&aval.shape)
            .filter(|&(_, &length)| length != 1)
            .map(|(&dim, _)| dim)
            .collect();
        let summed: Vec<usize> = (0..self.shape.len())
            .filter(|axis| !kept.contains(axis))
            .collect();
        let sum = b.reduce_sum(ct, &summed);
        let units: Vec<usize> = (0..aval.rank())
            .filter(|&axis| aval.shape[axis] != 1)
            .collect();
        Ok(smallvec![Some(b.broadcast_in_dim(
            sum,
            &aval.shape,
            &units
        ))])
    }
}

moves! {
    Tile |p, aval| {
        if p.reps.len() != aval.rank() {
            return Err(Error::parameter(format!("reps {:?} must have one number for each of the {} axes of {aval}", p.reps.as_slice(), aval.rank())));
        }
        let lengths: Option<Vec<usize>> = aval.shape.iter().zip(&p.reps).map(|(&length, &times)| length.checked_mul(times)).collect();
        let shape = lengths.ok_or_else(|| Error::new(crate::error::ErrorKind::TooLarge, "the tiled array cannot be addressed"))?;
        crate::aval::byte_size(&shape, aval.dtype)?;
        Ok(aval.with_shape(&shape))
    }, |p, b, x, dim, _| {
        let mut reps = p.reps.clone();
        reps.insert(dim, 1);
        (b.op(Tile { reps }, &[x]), dim)
    }, |p, b, ct, aval| {
        let split: Vec<usize> = p.reps.iter().zip(&aval.shape).flat_map(|(&times, &length)| [times, length]).collect();
        let axes: Vec<usize> = (0..aval.rank()).map(|axis| 2 * axis).collect();
        b.reduce_sum(b.reshape(ct, &split), &axes)
    };
}
