//! Reading what is one box of an array: equations `slice` and `dynamic_slice`.

use jaxide_core::DType;
use jaxide_core::prims::GatherScatterMode;

use super::gather::{from_front, literal};
use super::parse::{Kind, Slot, with_all_axes};
use crate::array::{Array, as_dtype, is_wide};
use crate::lax;

/// What is done with a box after it is cut out.
#[derive(Default)]
struct Shape {
    reversed: Vec<usize>,
    squeezed: Vec<usize>,
    new: Vec<usize>,
}

impl Shape {
    /// A new axis, when so many axes of the array are done.
    fn insert(&mut self, done: usize) {
        self.new.push(done - self.squeezed.len() + self.new.len());
    }

    #[track_caller]
    fn of(&self, mut x: Array) -> Array {
        if !self.reversed.is_empty() {
            x = lax::rev(&x, &self.reversed);
        }
        if !self.squeezed.is_empty() {
            x = lax::squeeze(&x, &self.squeezed);
        }
        if !self.new.is_empty() {
            x = lax::expand_dims(&x, &self.new);
        }
        x
    }
}

/// The elements that numbers and slices name; `None` when something else is there, or a number is outside.
#[track_caller]
pub(super) fn static_slice(
    x: &Array,
    slots: &[Slot],
    mode: Option<GatherScatterMode>,
    wrap: bool,
) -> Option<Array> {
    let clips = match mode {
        None | Some(GatherScatterMode::PromiseInBounds) => false,
        Some(GatherScatterMode::Clip) => true,
        Some(_) => return None,
    };
    let (mut starts, mut limits, mut strides) = (Vec::new(), Vec::new(), Vec::new());
    let mut shape = Shape::default();
    for slot in with_all_axes(slots, x.ndim()) {
        let length = || x.shape()[slot.axis];
        match slot.kind {
            Kind::NewAxis => shape.insert(starts.len()),
            Kind::Integer(at) => {
                let length = length() as i64;
                let at = if wrap && at < 0 {
                    at.saturating_add(length)
                } else {
                    at
                };
                if length == 0 || (!clips && !(0..length).contains(&at)) {
                    return None;
                }
                let at = at.clamp(0, length - 1) as usize;
                starts.push(at);
                limits.push(at + 1);
                strides.push(1);
                shape.squeezed.push(slot.axis);
            }
            Kind::Slice(slice) => {
                let (start, stop) = slice.ends(length());
                let step = slice.step();
                let stride = step.unsigned_abs() as usize;
                if step < 0 {
                    let past = (start - stop - 1).unsigned_abs() as usize % stride;
                    let first = ((stop + 1) as usize + past).min(length());
                    starts.push(first);
                    limits.push(first.max((start + 1) as usize));
                    shape.reversed.push(slot.axis);
                } else {
                    starts.push(start as usize);
                    limits.push(start.max(stop) as usize);
                }
                strides.push(stride);
            }
            Kind::Array(_) | Kind::Mask(_) | Kind::Places(_) | Kind::Ellipsis => return None,
        }
    }
    let plain = strides.iter().all(|&stride| stride == 1);
    let whole = plain && starts.iter().all(|&start| start == 0) && limits == x.shape();
    let cut = if whole {
        x.clone()
    } else {
        lax::slice(x, &starts, &limits, (!plain).then_some(&strides[..]))
    };
    Some(shape.of(cut))
}

/// Where a box starts along an axis.
enum Start {
    Number(i64),
    Given(Array),
}

/// The elements of a box whose start is computed; `None` when it is no box.
#[track_caller]
pub(super) fn dynamic_slice(
    x: &Array,
    slots: &[Slot],
    mode: Option<GatherScatterMode>,
    wrap: bool,
) -> Option<Array> {
    match mode {
        None | Some(GatherScatterMode::PromiseInBounds | GatherScatterMode::Clip) => {}
        Some(_) => return None,
    }
    let (mut starts, mut sizes) = (Vec::new(), Vec::new());
    let mut shape = Shape::default();
    for slot in with_all_axes(slots, x.ndim()) {
        let length = || x.shape()[slot.axis];
        match slot.kind {
            Kind::NewAxis => shape.insert(starts.len()),
            Kind::Integer(_) | Kind::Array(_) if length() == 0 => return None,
            Kind::Integer(at) => {
                starts.push(Start::Number(at));
                sizes.push(1);
                shape.squeezed.push(slot.axis);
            }
            Kind::Array(index) if index.ndim() == 0 => {
                starts.push(Start::Given(index));
                sizes.push(1);
                shape.squeezed.push(slot.axis);
            }
            Kind::Slice(slice) => {
                let (start, stop) = slice.ends(length());
                match slice.step() {
                    1 => {
                        starts.push(Start::Number(start));
                        sizes.push((stop - start).max(0) as usize);
                    }
                    -1 => {
                        starts.push(Start::Number(stop + 1));
                        sizes.push((start - stop).max(0) as usize);
                        shape.reversed.push(slot.axis);
                    }
                    _ => return None,
                }
            }
            Kind::Array(_) | Kind::Mask(_) | Kind::Places(_) | Kind::Ellipsis => return None,
        }
    }
    let wide = starts
        .iter()
        .any(|start| matches!(start, Start::Given(index) if is_wide(index.dtype())))
        || x.shape()
            .iter()
            .any(|&length| i32::try_from(length).is_err());
    let dtype = if wide { DType::I64 } else { DType::I32 };
    let several = starts.len() > 1;
    let starts: Vec<Array> = starts
        .into_iter()
        .map(|start| match start {
            Start::Number(at) => literal(at, dtype, false),
            Start::Given(index) if several => as_dtype(&index, dtype, false),
            Start::Given(index) => index,
        })
        .collect();
    let starts: Vec<Array> = starts
        .iter()
        .zip(x.shape())
        .map(|(start, &length)| {
            if wrap {
                from_front(start, length, false)
            } else {
                start.clone()
            }
        })
        .collect();
    Some(shape.of(lax::dynamic_slice_at(x, &starts, &sizes)))
}
