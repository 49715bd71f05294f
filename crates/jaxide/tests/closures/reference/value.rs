//! Arrays of the evaluator.

use crate::closures::number::Num;
use crate::closures::program::{Kind, Ty};

/// An array: floats with derivatives, or integers and truth values.
#[derive(Clone, Debug)]
pub(crate) struct Value {
    pub(crate) ty: Ty,
    pub(crate) floats: Vec<Num>,
    pub(crate) ints: Vec<i64>,
}

/// The largest relative error of one rounding.
pub(crate) fn unit(kind: Kind) -> f64 {
    match kind {
        Kind::F32 => f64::from(f32::EPSILON),
        _ => f64::EPSILON,
    }
}

/// An integer as an element of a type, which wraps around.
pub(crate) fn wrapped(kind: Kind, number: i64) -> i64 {
    match kind {
        Kind::U8 => i64::from(number as u8),
        Kind::I32 => i64::from(number as i32),
        Kind::Bool => i64::from(number != 0),
        Kind::I64 | Kind::F32 | Kind::F64 => number,
    }
}

/// The position along each axis of an element.
pub(crate) fn unravel(mut position: usize, shape: &[usize]) -> Vec<usize> {
    let mut index = vec![0; shape.len()];
    for (axis, &length) in shape.iter().enumerate().rev() {
        index[axis] = position % length;
        position /= length;
    }
    index
}

/// The element at a position along each axis.
pub(crate) fn ravel(index: &[usize], shape: &[usize]) -> usize {
    index
        .iter()
        .zip(shape)
        .fold(0, |flat, (&position, &length)| flat * length + position)
}

impl Value {
    /// Exact elements.
    pub(crate) fn of(ty: &Ty, values: &[f64]) -> Value {
        assert_eq!(ty.size(), values.len(), "{ty:?}");
        let single = ty.kind == Kind::F32;
        let float = |&value: &f64| {
            let value = if single {
                f64::from(value as f32)
            } else {
                value
            };
            Num::exact(value)
        };
        let mut out = Value::empty(ty);
        if ty.kind.is_float() {
            out.floats = values.iter().map(float).collect();
        } else {
            let ints = values.iter().map(|&value| wrapped(ty.kind, value as i64));
            out.ints = ints.collect();
        }
        out
    }

    pub(crate) fn scalar(kind: Kind, value: f64) -> Value {
        Value::of(&Ty::new(kind, &[]), &[value])
    }

    fn empty(ty: &Ty) -> Value {
        Value {
            ty: ty.clone(),
            floats: Vec::new(),
            ints: Vec::new(),
        }
    }

    pub(crate) fn from_floats(ty: &Ty, floats: Vec<Num>) -> Value {
        assert_eq!(ty.size(), floats.len(), "{ty:?}");
        Value {
            floats,
            ..Value::empty(ty)
        }
    }

    pub(crate) fn from_ints(ty: &Ty, ints: impl IntoIterator<Item = i64>) -> Value {
        let ints: Vec<i64> = ints
            .into_iter()
            .map(|number| wrapped(ty.kind, number))
            .collect();
        assert_eq!(ty.size(), ints.len(), "{ty:?}");
        Value {
            ints,
            ..Value::empty(ty)
        }
    }

    pub(crate) fn is_float(&self) -> bool {
        self.ty.kind.is_float()
    }

    /// The elements at these positions, under a shape.
    pub(crate) fn picked(
        &self,
        shape: &[usize],
        positions: impl IntoIterator<Item = usize>,
    ) -> Value {
        let ty = Ty::new(self.ty.kind, shape);
        if self.is_float() {
            let floats = positions.into_iter().map(|at| self.floats[at]).collect();
            Value::from_floats(&ty, floats)
        } else {
            let ints: Vec<i64> = positions.into_iter().map(|at| self.ints[at]).collect();
            Value::from_ints(&ty, ints)
        }
    }

    pub(crate) fn with_shape(&self, shape: &[usize]) -> Value {
        self.picked(shape, 0..self.ty.size())
    }

    /// The positions of this value's elements in a shape that it broadcasts to.
    pub(crate) fn spread(&self, shape: &[usize]) -> Vec<usize> {
        let own = &self.ty.shape;
        if own == shape {
            return (0..self.ty.size()).collect();
        }
        let missing = shape.len() - own.len();
        (0..shape.iter().product())
            .map(|position| {
                let index = unravel(position, shape);
                let index: Vec<usize> = index[missing..]
                    .iter()
                    .zip(own)
                    .map(|(&at, &length)| if length == 1 { 0 } else { at })
                    .collect();
                ravel(&index, own)
            })
            .collect()
    }

    pub(crate) fn broadcast(&self, shape: &[usize]) -> Value {
        self.picked(shape, self.spread(shape))
    }

    /// The slice at `index` of an axis, which disappears.
    pub(crate) fn slice(&self, axis: usize, index: usize) -> Value {
        let mut shape = self.ty.shape.clone();
        shape.remove(axis);
        let positions = (0..shape.iter().product()).map(|position| {
            let mut at = unravel(position, &shape);
            at.insert(axis, index);
            ravel(&at, &self.ty.shape)
        });
        let positions: Vec<usize> = positions.collect();
        self.picked(&shape, positions)
    }

    /// Values of one type along a new first axis; `None` where there are none.
    pub(crate) fn joined(slices: &[Value]) -> Option<Value> {
        let first = slices.first()?;
        let mut shape = vec![slices.len()];
        shape.extend_from_slice(&first.ty.shape);
        let mut out = Value::empty(&Ty::new(first.ty.kind, &shape));
        for slice in slices {
            out.floats.extend_from_slice(&slice.floats);
            out.ints.extend_from_slice(&slice.ints);
        }
        Some(out)
    }

    /// With another number in place of each float.
    pub(crate) fn map(&self, mut f: impl FnMut(usize, Num) -> Num) -> Value {
        let mut out = self.clone();
        for (position, number) in out.floats.iter_mut().enumerate() {
            *number = f(position, *number);
        }
        out
    }
}
