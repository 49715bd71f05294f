//! Two arrays in turns, as `associative_scan` puts them together: each is padded between its elements, one begins an element later, and both are added.

use super::super::{MapOp, Op, ValueId};
use super::{Application, Build};
use jaxide_core::{Dims, Result, Scalar};
use smallvec::{SmallVec, smallvec};

/// An array with a value between its elements along one axis.
#[derive(Clone, Copy)]
pub(super) struct Sparse {
    x: ValueId,
    /// What is between them, and at the ends.
    value: ValueId,
    axis: usize,
    /// Where the first element stands: at 0 or at 1.
    first: usize,
}

/// The axis along which edges leave one place between elements, and none before the first or one, if all other axes stay.
fn spread_axis(config: &[(i64, i64, i64)]) -> Option<(usize, usize)> {
    let mut changed = config
        .iter()
        .enumerate()
        .filter(|(_, edges)| **edges != (0, 0, 0));
    let (axis, edges) = changed.next()?;
    let first = match edges {
        (0, _, 1) => 0,
        (1, _, 1) => 1,
        _ => return None,
    };
    changed.next().is_none().then_some((axis, first))
}

impl Build {
    /// Remembers what a padded array is made of, if it is one of a pair.
    pub(super) fn note_sparse(
        &mut self,
        config: &[(i64, i64, i64)],
        [x, value]: [ValueId; 2],
        padded: ValueId,
    ) {
        if let Some((axis, first)) = spread_axis(config) {
            let sparse = Sparse {
                x,
                value,
                axis,
                first,
            };
            self.sparse.insert(padded, sparse);
        }
    }

    /// A function of two such arrays, whose elements stand where the other one has none: at each place it is one of an element and a value.
    pub(super) fn interleaved(
        &mut self,
        op: MapOp,
        operands: &[ValueId],
        app: &Application<'_>,
    ) -> Result<Option<ValueId>> {
        let &[left, right] = operands else {
            return Ok(None);
        };
        let (Some(&a), Some(&b)) = (self.sparse.get(&left), self.sparse.get(&right)) else {
            return Ok(None);
        };
        let (axis, length) = (a.axis, app.shape()[a.axis]);
        let halves = [length.div_ceil(2), length / 2];
        let fits = |own: Sparse| self.scope.shape(own.x)[axis] == halves[own.first];
        if b.axis != axis || a.first == b.first || !fits(a) || !fits(b) || length < 2 {
            return Ok(None);
        }
        let dtype = app.dtype();
        let of_left = self.scope.map(op, &[a.x, b.value], dtype);
        let of_right = self.scope.map(op, &[a.value, b.x], dtype);
        let (even, mut odd) = if a.first == 0 {
            (of_left, of_right)
        } else {
            (of_right, of_left)
        };
        let mut shape = self.scope.shape(even);
        let whole = shape.clone();
        if halves[0] > halves[1] {
            let none: SmallVec<[i64; 4]> = smallvec![0; shape.len()];
            let zero = self.scope.splat(Scalar::Int(0), dtype, &[])?;
            let op = Op::Pad {
                low: none.clone(),
                interior: none,
            };
            odd = self.scope.one(op, &[odd, zero], dtype, &whole);
        }
        shape.insert(axis + 1, 1);
        let parts = [even, odd].map(|part| self.scope.reshape(part, &shape));
        let pairs = self.scope.concat(&parts, axis + 1);
        let mut shape = whole;
        shape[axis] *= 2;
        let all = self.scope.reshape(pairs, &shape);
        let [start, ones] = [0, 1].map(|k| Dims::from_elem(k, shape.len()));
        Ok(Some(self.scope.slice(all, &start, app.shape(), &ones)))
    }
}
