//! What the places of an index mean for an array of some shape.

use jaxide_core::{DType, Error, ErrorKind};

use super::index::{Index, Indices};
use crate::array::{Array, Repr};
use crate::trace::raise;

/// A range of an axis.
#[derive(Clone, Copy, Default)]
pub(super) struct Slice {
    start: Option<i64>,
    stop: Option<i64>,
    step: Option<i64>,
}

impl Slice {
    /// How far it goes from one element to the next.
    pub(super) fn step(self) -> i64 {
        self.step.unwrap_or(1)
    }

    /// Beginning and end in an axis of this length, as Python's `slice.indices` gives them.
    pub(super) fn ends(self, length: usize) -> (i64, i64) {
        let length = i64::try_from(length).unwrap_or(i64::MAX);
        let backwards = self.step() < 0;
        let (least, most) = if backwards {
            (-1, length - 1)
        } else {
            (0, length)
        };
        let end = |given: Option<i64>, default: i64| match given {
            None => default,
            Some(end) if end < 0 => (end.saturating_add(length)).max(least),
            Some(end) => end.min(most),
        };
        if backwards {
            (end(self.start, most), end(self.stop, least))
        } else {
            (end(self.start, least), end(self.stop, most))
        }
    }

    /// Number of elements in an axis of this length.
    pub(super) fn count(self, length: usize) -> usize {
        let (start, stop) = self.ends(length);
        let step = self.step();
        let distance = if step < 0 { start - stop } else { stop - start };
        let count = distance.max(0).unsigned_abs().div_ceil(step.unsigned_abs());
        usize::try_from(count).unwrap_or(usize::MAX)
    }
}

/// What a place means.
#[derive(Clone)]
pub(super) enum Kind {
    NewAxis,
    Ellipsis,
    Slice(Slice),
    Integer(i64),
    /// Integers.
    Array(Array),
    /// Truth values.
    Mask(Array),
    /// Integers that are known, none of them negative: where a mask is true.
    Places(Array),
}

impl Kind {
    /// Whether it picks elements one by one.
    pub(super) fn is_advanced(&self) -> bool {
        match self {
            Kind::Integer(_) | Kind::Array(_) | Kind::Places(_) => true,
            Kind::NewAxis | Kind::Ellipsis | Kind::Slice(_) | Kind::Mask(_) => false,
        }
    }
}

/// A place, and the axes of the array that it speaks of.
#[derive(Clone)]
pub(super) struct Slot {
    pub(super) kind: Kind,
    pub(super) axis: usize,
    pub(super) axes: usize,
}

/// The places of an index, for an array of a shape.
///
/// # Panics
/// When there are too many of them, two ellipses, or arrays of something else than integers and truth values.
#[track_caller]
pub(super) fn parse(operation: &str, indices: &Indices, x: &Array) -> Vec<Slot> {
    let mut kinds = Vec::with_capacity(indices.0.len());
    for index in &indices.0 {
        kinds.push(kind(operation, index));
    }
    let taken = |kind: &Kind| match kind {
        Kind::NewAxis | Kind::Ellipsis => 0,
        Kind::Mask(mask) => mask.ndim(),
        Kind::Slice(_) | Kind::Integer(_) | Kind::Array(_) | Kind::Places(_) => 1,
    };
    let ellipses = kinds.iter().filter(|kind| matches!(kind, Kind::Ellipsis));
    if ellipses.count() > 1 {
        raise(Error::parameter("an index has one ellipsis at most").in_operation(operation));
    }
    let total: usize = kinds.iter().map(taken).sum();
    let Some(left) = x.ndim().checked_sub(total) else {
        raise(
            Error::shape(format!("{} has no {total} axes to index", x.aval()))
                .in_operation(operation),
        )
    };
    let mut slots = Vec::with_capacity(kinds.len());
    let mut axis = 0;
    for kind in kinds {
        let axes = match kind {
            Kind::Ellipsis => left,
            _ => taken(&kind),
        };
        slots.push(Slot { kind, axis, axes });
        axis += axes;
    }
    slots
}

#[track_caller]
fn kind(operation: &str, index: &Index) -> Kind {
    let array = match index {
        Index::NewAxis => return Kind::NewAxis,
        Index::Ellipsis => return Kind::Ellipsis,
        Index::Integer(at) => return Kind::Integer(*at),
        &Index::Slice { start, stop, step } => {
            if step == Some(0) {
                raise(Error::parameter("the step of a slice is zero").in_operation(operation));
            }
            return Kind::Slice(Slice { start, stop, step });
        }
        Index::Array(array) => array,
    };
    match (&array.0, array.dtype()) {
        (Repr::Number(literal), dtype) if dtype.is_integer() => {
            let number = literal.value.as_integer().unwrap_or(0);
            Kind::Integer(number.clamp(i64::MIN.into(), i64::MAX.into()) as i64)
        }
        (_, DType::Bool) => Kind::Mask(array.clone()),
        (_, dtype) if dtype.is_integer() => Kind::Array(array.clone()),
        // A list without elements has no type of its own.
        (Repr::Concrete { .. }, _) if array.size() == 0 && array.ndim() == 1 => {
            Kind::Array(Array::from_vec(0, Vec::<i32>::new()))
        }
        _ => raise(
            Error::dtype(format!(
                "an index is an integer or a truth value, and {} is given",
                array.aval()
            ))
            .in_operation(operation),
        ),
    }
}

/// The places with the ellipsis, and the axes that are not mentioned, as whole slices.
pub(super) fn with_all_axes(slots: &[Slot], rank: usize) -> Vec<Slot> {
    let whole = |axis: usize| Slot {
        kind: Kind::Slice(Slice::default()),
        axis,
        axes: 1,
    };
    let mut all = Vec::with_capacity(rank + slots.len());
    let mut next = 0;
    for slot in slots {
        match slot.kind {
            Kind::Ellipsis => all.extend((slot.axis..slot.axis + slot.axes).map(whole)),
            _ => all.push(slot.clone()),
        }
        next = slot.axis + slot.axes;
    }
    all.extend((next..rank).map(whole));
    all
}

/// The places with masks as the integers where they are true; truth values without axes stay.
///
/// # Panics
/// When a mask is not known, or its shape is not that of the axes.
#[track_caller]
pub(super) fn without_masks(operation: &str, slots: Vec<Slot>, shape: &[usize]) -> Vec<Slot> {
    let mut found = Vec::with_capacity(slots.len());
    for slot in slots {
        let Kind::Mask(mask) = &slot.kind else {
            found.push(slot);
            continue;
        };
        let values = truths(operation, mask);
        if mask.ndim() == 0 {
            found.push(slot);
            continue;
        }
        let wanted = &shape[slot.axis..slot.axis + slot.axes];
        let fits = |(own, length): (&usize, &usize)| *own == 0 || own == length;
        if !mask.shape().iter().zip(wanted).all(fits) {
            raise(
                Error::shape(format!(
                    "a mask of shape {:?} stands for axes of lengths {wanted:?}",
                    mask.shape()
                ))
                .in_operation(operation),
            );
        }
        found.extend(
            places(&values, mask.shape())
                .into_iter()
                .enumerate()
                .map(|(at, places)| Slot {
                    kind: Kind::Places(places),
                    axis: slot.axis + at,
                    axes: 1,
                }),
        );
    }
    found
}

/// The elements of a mask, which must be known.
#[track_caller]
pub(super) fn truths(operation: &str, mask: &Array) -> Vec<bool> {
    match mask.try_value() {
        Ok(value) => value.bytes().iter().map(|&byte| byte != 0).collect(),
        Err(_) => raise(
            Error::new(
                ErrorKind::Concretization,
                format!("how many elements of the mask {} are true is not known here", mask.aval()),
            )
            .in_operation(operation)
            .note("the shape of the result depends on it; use `where_` with three arguments, or `nonzero` with a size"),
        ),
    }
}

/// Where truth values are true, an array for each axis.
pub(super) fn places(values: &[bool], shape: &[usize]) -> Vec<Array> {
    let flat: Vec<usize> = (0..values.len()).filter(|&at| values[at]).collect();
    let mut stride = values.len();
    let axis = |&length: &usize| {
        stride /= length.max(1);
        let own: Vec<i32> = flat
            .iter()
            .map(|at| (at / stride.max(1) % length) as i32)
            .collect();
        Array::from_vec(own.len(), own)
    };
    shape.iter().map(axis).collect()
}
