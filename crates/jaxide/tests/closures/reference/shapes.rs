//! The same elements in other places.

use std::rc::Rc;

use super::elementwise::{common, converted};
use super::value::{ravel, unravel};
use super::{Evaluator, Outcome, Value};
use crate::closures::program::{Binary, Ty, Update};

pub(super) fn unpacked(x: &Value) -> Vec<Rc<Value>> {
    let length = x.ty.shape[0];
    (0..length)
        .map(|index| Rc::new(x.slice(0, index)))
        .collect()
}

pub(super) fn chosen(condition: &Value, x: &Value, y: &Value, ty: &Ty) -> Value {
    let kind = common(x.ty.kind, y.ty.kind);
    let exact = |value: &Value| converted(value, kind).expect("a wider type");
    let (x, y) = (exact(x).broadcast(&ty.shape), exact(y).broadcast(&ty.shape));
    let condition = condition.broadcast(&ty.shape);
    // Both behind each other, and the position of each element there.
    let both = Value::joined(&[x, y]).expect("two values");
    let positions = (0..ty.size()).map(|at| {
        if condition.ints[at] != 0 {
            at
        } else {
            ty.size() + at
        }
    });
    both.picked(&ty.shape, positions)
}

pub(super) fn transposed(x: &Value, axes: &[usize]) -> Value {
    let shape: Vec<usize> = axes.iter().map(|&axis| x.ty.shape[axis]).collect();
    let positions: Vec<usize> = (0..x.ty.size())
        .map(|position| {
            let to = unravel(position, &shape);
            let mut from = vec![0; axes.len()];
            axes.iter()
                .zip(&to)
                .for_each(|(&axis, &at)| from[axis] = at);
            ravel(&from, &x.ty.shape)
        })
        .collect();
    x.picked(&shape, positions)
}

pub(super) fn concatenated(xs: &[Rc<Value>], axis: usize, ty: &Ty) -> Value {
    let mut flat = Value::from_floats(&Ty::new(ty.kind, &[0]), Vec::new());
    let mut starts = Vec::new();
    for x in xs {
        starts.push(flat.floats.len() + flat.ints.len());
        flat.floats.extend_from_slice(&x.floats);
        flat.ints.extend_from_slice(&x.ints);
    }
    let positions: Vec<usize> = (0..ty.size())
        .map(|position| {
            let mut index = unravel(position, &ty.shape);
            let mut which = 0;
            while index[axis] >= xs[which].ty.shape[axis] {
                index[axis] -= xs[which].ty.shape[axis];
                which += 1;
            }
            starts[which] + ravel(&index, &xs[which].ty.shape)
        })
        .collect();
    flat.picked(&ty.shape, positions)
}

pub(super) fn stacked(xs: &[Rc<Value>], axis: usize, ty: &Ty) -> Value {
    let mut shape = xs[0].ty.shape.clone();
    shape.insert(axis, 1);
    let xs: Vec<Rc<Value>> = xs.iter().map(|x| Rc::new(x.with_shape(&shape))).collect();
    concatenated(&xs, axis, ty)
}

/// The slices at indices of the first axis: negative ones count from the end, and what is outside is moved inside.
pub(super) fn indexed(x: &Value, indices: &[i64], ty: &Ty) -> Value {
    let length = x.ty.shape[0] as i64;
    let row = x.ty.size() / length.max(1) as usize;
    let positions = indices.iter().flat_map(|&index| {
        let index = if index < 0 { index + length } else { index };
        let start = index.clamp(0, length - 1) as usize * row;
        start..start + row
    });
    let positions: Vec<usize> = positions.collect();
    x.picked(&ty.shape, positions)
}

pub(super) fn sliced(x: &Value, start: usize, limit: usize) -> Value {
    let mut shape = x.ty.shape.clone();
    let row = x.ty.size() / shape[0].max(1);
    shape[0] = limit - start;
    x.picked(&shape, start * row..limit * row)
}

pub(super) fn taken(x: &Value, indices: &[i64], axis: usize, ty: &Ty) -> Value {
    let length = x.ty.shape[axis] as i64;
    let positions: Vec<usize> = (0..ty.size())
        .map(|position| {
            let mut index = unravel(position, &ty.shape);
            let wanted = indices[index[axis]];
            index[axis] = if wanted < 0 { wanted + length } else { wanted } as usize;
            ravel(&index, &x.ty.shape)
        })
        .collect();
    x.picked(&ty.shape, positions)
}

pub(super) fn padded(x: &Value, with: f64, [low, _, interior]: [i64; 3], ty: &Ty) -> Value {
    let mut all = x.with_shape(&[x.ty.size()]);
    let with = Value::of(&Ty::new(ty.kind, &[1]), &[with]);
    all.floats.extend_from_slice(&with.floats);
    all.ints.extend_from_slice(&with.ints);
    let length = x.ty.shape[0] as i64;
    let positions: Vec<usize> = (0..ty.size())
        .map(|position| {
            let mut index = unravel(position, &ty.shape);
            let from = index[0] as i64 - low;
            let step = interior + 1;
            if from < 0 || from % step != 0 || from / step >= length {
                return x.ty.size();
            }
            index[0] = (from / step) as usize;
            ravel(&index, &x.ty.shape)
        })
        .collect();
    all.picked(&ty.shape, positions)
}

impl Evaluator {
    /// `x.at(indices)` written to: negative indices count from the end, and what is outside is dropped.
    pub(super) fn updated(
        &mut self,
        update: Update,
        x: &Value,
        indices: &[i64],
        value: &Value,
    ) -> Outcome<Value> {
        let (length, mut out) = (x.ty.shape[0] as i64, x.clone());
        let row = Ty::new(x.ty.kind, &x.ty.shape[1..]);
        // One index takes one slice, several take as many.
        let slices: Vec<Value> = if value.ty.shape.len() > row.shape.len() {
            let mut shape = vec![indices.len()];
            shape.extend_from_slice(&row.shape);
            let spread = value.broadcast(&shape);
            (0..indices.len()).map(|at| spread.slice(0, at)).collect()
        } else {
            vec![value.broadcast(&row.shape); indices.len()]
        };
        for (&index, slice) in indices.iter().zip(&slices) {
            let index = if index < 0 { index + length } else { index };
            if index < 0 || index >= length {
                continue;
            }
            let old = out.slice(0, index as usize);
            let new = match update {
                Update::Set => slice.clone(),
                Update::Add => self.binary(Binary::Add, &old, slice, &row)?,
                Update::Multiply => self.binary(Binary::Mul, &old, slice, &row)?,
                Update::Min => self.binary(Binary::Min, &old, slice, &row)?,
                Update::Max => self.binary(Binary::Max, &old, slice, &row)?,
            };
            let start = index as usize * row.size();
            if x.is_float() {
                out.floats[start..start + row.size()].copy_from_slice(&new.floats);
            } else {
                out.ints[start..start + row.size()].copy_from_slice(&new.ints);
            }
        }
        Ok(out)
    }
}
