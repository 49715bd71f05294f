//! Primitives that move elements by computed indices.

mod gather;
mod scatter;

pub(super) use gather::gather;
pub(super) use scatter::{Combine, combine_pairs, scatter, scatter_pairs};

use smallvec::SmallVec;

use super::element::{integers, update};
use super::strides::{Layout, copy_box, read};
use crate::error::{Error, ErrorKind, Result};
use crate::jaxpr::Dims;
use crate::tensor::Tensor;

/// The box of lengths `sizes` at `starts`, moved so that it fits.
pub(super) fn dynamic_slice(x: &Tensor, starts: &[Tensor], sizes: &[usize]) -> Result<Tensor> {
    let first = fitting_start(x, starts, sizes)?;
    read(
        x,
        sizes,
        &Layout::part(x.shape(), &first, &ones(sizes.len())),
    )
}

/// The operand with a box (the second of `inputs`) written at a start (the others) that is moved so that it fits.
pub(super) fn dynamic_update_slice(mut inputs: Vec<Tensor>) -> Result<Tensor> {
    if inputs.len() < 2 {
        return Err(Error::new(
            ErrorKind::Arity,
            "takes an operand, an update and a start",
        ));
    }
    let (x, part) = (inputs.remove(0), inputs.remove(0));
    write_box(x, &part, &inputs)
}

/// `x` with `part` written at `starts`, moved so that it fits; in place when nothing else holds `x`.
fn write_box(x: Tensor, part: &Tensor, starts: &[Tensor]) -> Result<Tensor> {
    if x.dtype() != part.dtype() {
        return Err(Error::dtype(format!(
            "{} cannot be written into {}",
            part.aval(),
            x.aval()
        )));
    }
    let first = fitting_start(&x, starts, part.shape())?;
    let (from, to) = (
        Layout::whole(part.shape()),
        Layout::part(x.shape(), &first, &ones(first.len())),
    );
    let size = x.dtype().size();
    update(x, |bytes| {
        copy_box(part.shape(), size, (part.bytes(), &from), (bytes, &to))
    })
}

/// The start nearest to `starts` at which a box of lengths `sizes` lies inside `x`.
fn fitting_start(x: &Tensor, starts: &[Tensor], sizes: &[usize]) -> Result<Dims> {
    let fits = sizes.len() == x.shape().len()
        && starts.len() == sizes.len()
        && sizes
            .iter()
            .zip(x.shape())
            .all(|(size, length)| size <= length);
    if !fits {
        return Err(Error::shape(format!(
            "a box of {sizes:?} at {} indices does not fit {}",
            starts.len(),
            x.aval()
        )));
    }
    let mut first = Dims::new();
    for (start, (size, length)) in starts.iter().zip(sizes.iter().zip(x.shape())) {
        let index = match integers(start)?.collect::<SmallVec<[i128; 1]>>().as_slice() {
            &[index] => index,
            _ => {
                return Err(Error::shape(format!(
                    "an index is {}, not a scalar",
                    start.aval()
                )));
            }
        };
        first.push(index.clamp(0, (length - size) as i128) as usize);
    }
    Ok(first)
}

fn ones(count: usize) -> Dims {
    SmallVec::from_elem(1, count)
}

/// Which axes a window moves along and by which numbers: what `gather` and `scatter` have in common.
struct Windows<'a> {
    /// Shape of the operand.
    shape: &'a [usize],
    /// Lengths of the window by operand axis.
    sizes: Dims,
    /// The operand axis of each index component.
    index_axes: &'a [usize],
    /// Pairs of an operand axis and the axis of the indices it is batched with.
    batching: Vec<(usize, usize)>,
    /// The index components, one window after another.
    indices: Vec<i128>,
    /// The axes of the indices but the last, which holds the components.
    batch_shape: Dims,
}

/// Where a window lies.
#[derive(Clone, Copy, PartialEq)]
enum Bounds {
    /// It is moved into the operand.
    Clamp,
    /// It is left out when any of it is outside.
    Drop,
}

impl<'a> Windows<'a> {
    fn new(
        shape: &'a [usize],
        sizes: Dims,
        indices: &Tensor,
        index_axes: &'a [usize],
        operand_batching: &[usize],
        indices_batching: &[usize],
    ) -> Result<Self> {
        let Some((&components, batch_shape)) = indices.shape().split_last() else {
            return Err(Error::shape(
                "indices need a last axis for their components",
            ));
        };
        let rank = shape.len();
        // Where there are no windows their lengths do not matter.
        let none = batch_shape.contains(&0);
        let legal = components == index_axes.len()
            && sizes.len() == rank
            && (none || sizes.iter().zip(shape).all(|(size, length)| size <= length))
            && index_axes
                .iter()
                .chain(operand_batching)
                .all(|&axis| axis < rank)
            && operand_batching.len() == indices_batching.len()
            && indices_batching
                .iter()
                .all(|&axis| axis < batch_shape.len());
        if !legal {
            return Err(Error::shape(format!(
                "windows of {:?} in an operand of shape {shape:?} do not fit indices {}",
                sizes.as_slice(),
                indices.aval()
            )));
        }
        Ok(Windows {
            shape,
            sizes,
            index_axes,
            batching: operand_batching
                .iter()
                .copied()
                .zip(indices_batching.iter().copied())
                .collect(),
            indices: integers(indices)?.collect(),
            batch_shape: Dims::from_slice(batch_shape),
        })
    }

    /// The start of every window, in row-major order of the batch; `None` where it is left out.
    fn starts(&self, bounds: Bounds) -> impl Iterator<Item = Option<Dims>> {
        let count: usize = self.batch_shape.iter().product();
        (0..count).map(move |number| {
            let mut start: SmallVec<[i128; 4]> = SmallVec::from_elem(0, self.shape.len());
            let components = self.index_axes.len();
            let index = &self.indices[number * components..(number + 1) * components];
            for (&axis, &value) in self.index_axes.iter().zip(index) {
                start[axis] = value;
            }
            for &(axis, batch_axis) in &self.batching {
                let inner: usize = self.batch_shape[batch_axis + 1..].iter().product();
                start[axis] = (number / inner % self.batch_shape[batch_axis]) as i128;
            }
            let mut place = Dims::new();
            for ((&length, &size), value) in self.shape.iter().zip(&self.sizes).zip(start) {
                let inside = value.clamp(0, (length - size) as i128);
                if bounds == Bounds::Drop && inside != value {
                    return None;
                }
                place.push(inside as usize);
            }
            Some(place)
        })
    }
}

/// The axes of an array of `rank` that are not in `axes`.
fn others(rank: usize, axes: &[usize]) -> Dims {
    (0..rank).filter(|axis| !axes.contains(axis)).collect()
}
