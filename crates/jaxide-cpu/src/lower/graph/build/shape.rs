//! Primitives that move elements.

use super::super::{Op, ValueId};
use super::{Application, Binding, Bindings, Build};
use crate::narrow;
use jaxide_core::prims::{Reshape, Slice};
use jaxide_core::{Dims, Error, Result, element_count};
use smallvec::{SmallVec, smallvec};

/// Elements between two of an array that are stored beside each of them.
const MOST_BETWEEN: i64 = 3;

impl Build {
    pub(super) fn broadcast_in_dim(
        &mut self,
        dims: &[usize],
        app: &Application<'_>,
    ) -> Result<ValueId> {
        let x = self.value(app.args[0])?;
        Ok(self.scope.broadcast(x, app.shape(), dims))
    }

    pub(super) fn reshape(&mut self, params: &Reshape, app: &Application<'_>) -> Result<ValueId> {
        let mut x = self.value(app.args[0])?;
        if let Some(order) = &params.dimensions {
            x = self.scope.transpose(x, order);
        }
        Ok(self.scope.reshape(x, app.shape()))
    }

    pub(super) fn transpose(
        &mut self,
        permutation: &[usize],
        app: &Application<'_>,
    ) -> Result<ValueId> {
        let x = self.value(app.args[0])?;
        Ok(self.scope.transpose(x, permutation))
    }

    pub(super) fn squeeze(&mut self, app: &Application<'_>) -> Result<ValueId> {
        let x = self.value(app.args[0])?;
        Ok(self.scope.reshape(x, app.shape()))
    }

    pub(super) fn slice(&mut self, params: &Slice, app: &Application<'_>) -> Result<ValueId> {
        let x = self.value(app.args[0])?;
        let ones: Dims = smallvec![1; app.shape().len()];
        let stride = params.strides.as_ref().unwrap_or(&ones);
        Ok(self
            .scope
            .slice(x, &params.start_indices, app.shape(), stride))
    }

    fn padded(
        &mut self,
        config: &[(i64, i64, i64)],
        [x, value]: [ValueId; 2],
        app: &Application<'_>,
    ) -> Result<ValueId> {
        let (dtype, shape) = (app.dtype(), app.shape());
        if config.iter().all(|&edges| edges == (0, 0, 0)) {
            return Ok(x);
        }
        if self.scope.shape(x).contains(&0) {
            return Ok(self.scope.broadcast(value, shape, &[]));
        }
        let same = self.scope.graph.splat(x) == self.scope.graph.splat(value);
        if let (Some(bytes), true) = (self.scope.graph.splat(x).cloned(), same) {
            return Ok(self.scope.splat_bytes(bytes, dtype, shape));
        }
        let low: SmallVec<[i64; 4]> = config.iter().map(|edges| edges.0).collect();
        let mut interior: SmallVec<[i64; 4]> = config.iter().map(|edges| edges.2).collect();
        // Of which little is kept is not worth storing, and may be larger than memory.
        let kept = element_count(shape)? >= element_count(&self.scope.shape(x))?;
        let x = match interior.last_mut() {
            Some(between @ 1..=MOST_BETWEEN) if kept => {
                let count = narrow(std::mem::take(between));
                self.interspersed(x, value, count)
            }
            _ => x,
        };
        if low.iter().chain(&interior).all(|&length| length == 0) {
            let [start, ones] = [0, 1].map(|k| Dims::from_elem(k, shape.len()));
            let from = self.scope.shape(x);
            if shape.iter().zip(from).all(|(&to, from)| to <= from) {
                return Ok(self.scope.slice(x, &start, shape, &ones));
            }
        }
        let op = Op::Pad { low, interior };
        Ok(self.scope.one(op, &[x, value], dtype, shape))
    }

    /// Pads an array, and remembers what the result is made of.
    pub(super) fn pad(
        &mut self,
        config: &[(i64, i64, i64)],
        app: &Application<'_>,
    ) -> Result<ValueId> {
        let operands = [self.value(app.args[0])?, self.value(app.args[1])?];
        let padded = self.padded(config, operands, app)?;
        self.note_sparse(config, operands, padded);
        Ok(padded)
    }

    /// An array with so many times a value behind each element along the last axis: rows side by side, which are stored without a choice in each lane.
    fn interspersed(&mut self, x: ValueId, value: ValueId, count: usize) -> ValueId {
        let mut shape = self.scope.shape(x);
        let last = shape.len() - 1;
        let length = shape[last];
        shape.push(1);
        let column = self.scope.reshape(x, &shape);
        let between = self.scope.broadcast(value, &shape, &[]);
        let mut parts = vec![between; count + 1];
        parts[0] = column;
        let rows = self.scope.concat(&parts, last + 1);
        shape.pop();
        shape[last] = length * (count + 1);
        self.scope.reshape(rows, &shape)
    }

    pub(super) fn rev(&mut self, axes: &[usize], app: &Application<'_>) -> Result<ValueId> {
        let x = self.value(app.args[0])?;
        let axes: Dims = axes
            .iter()
            .copied()
            .filter(|&axis| app.shape()[axis] > 1)
            .collect();
        if axes.is_empty() || self.scope.graph.splat(x).is_some() {
            return Ok(x);
        }
        Ok(self
            .scope
            .one(Op::Rev { axes }, &[x], app.dtype(), app.shape()))
    }

    pub(super) fn concatenate(&mut self, axis: usize, app: &Application<'_>) -> Result<ValueId> {
        let operands = self.values(app.args)?;
        if operands.is_empty() {
            return Err(Error::unsupported("nothing to concatenate"));
        }
        Ok(self.scope.concat(&operands, axis))
    }

    pub(super) fn split(
        &mut self,
        axis: usize,
        sizes: &[usize],
        app: &Application<'_>,
    ) -> Result<Bindings> {
        let x = self.value(app.args[0])?;
        let shape = self.scope.shape(x);
        let ones: Dims = smallvec![1; shape.len()];
        let mut start: Dims = smallvec![0; shape.len()];
        let mut slices = Bindings::new();
        for &size in sizes {
            let mut lengths = shape.clone();
            lengths[axis] = size;
            slices.push(Binding::Value(self.scope.slice(x, &start, &lengths, &ones)));
            start[axis] += size;
        }
        Ok(slices)
    }

    pub(super) fn stack(&mut self, axis: usize, app: &Application<'_>) -> Result<ValueId> {
        let mut shape = Dims::from_slice(app.shape());
        if shape[axis] == 0 {
            return self.zeros(&app.results[0]);
        }
        shape[axis] = 1;
        let operands = self.values(app.args)?;
        let operands: Vec<ValueId> = operands
            .into_iter()
            .map(|part| self.scope.reshape(part, &shape))
            .collect();
        Ok(self.scope.concat(&operands, axis))
    }

    pub(super) fn unstack(&mut self, axis: usize, app: &Application<'_>) -> Result<Bindings> {
        let x = self.value(app.args[0])?;
        let mut lengths = self.scope.shape(x);
        let count = std::mem::replace(&mut lengths[axis], 1);
        let ones: Dims = smallvec![1; lengths.len()];
        let mut start: Dims = smallvec![0; lengths.len()];
        let mut slice = lengths.clone();
        slice.remove(axis);
        let mut slices = Bindings::new();
        for index in 0..count {
            start[axis] = index;
            let cut = self.scope.slice(x, &start, &lengths, &ones);
            slices.push(Binding::Value(self.scope.reshape(cut, &slice)));
        }
        Ok(slices)
    }

    pub(super) fn tile(&mut self, reps: &[usize], app: &Application<'_>) -> Result<ValueId> {
        let x = self.value(app.args[0])?;
        let own = self.scope.shape(x);
        // Each axis becomes (repetition, own), of which the first is new.
        let mut wide = Dims::new();
        let mut dims = Dims::new();
        for (axis, &rep) in reps.iter().enumerate() {
            wide.push(rep);
            let missing = reps.len() - own.len();
            wide.push(if axis < missing {
                1
            } else {
                own[axis - missing]
            });
            if axis >= missing {
                dims.push(2 * axis + 1);
            }
        }
        let repeated = self.scope.broadcast(x, &wide, &dims);
        Ok(self.scope.reshape(repeated, app.shape()))
    }
}
