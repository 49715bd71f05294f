//! Walking through boxes of row-major arrays, and copying between them.

use smallvec::SmallVec;

use super::element::build;
use crate::dtype::DType;
use crate::error::{Error, ErrorKind, Result};
use crate::jaxpr::Shape;
use crate::tensor::Tensor;

/// Distances between neighbours along each axis, in elements.
pub(super) type Strides = SmallVec<[isize; 4]>;

/// The strides of a row-major array.
pub(super) fn row_major(shape: &[usize]) -> Strides {
    let mut strides: Strides = SmallVec::from_elem(1, shape.len());
    for axis in (1..shape.len()).rev() {
        strides[axis - 1] = strides[axis].saturating_mul(shape[axis] as isize);
    }
    strides
}

/// A way to step through memory: where index `[0, 0, ...]` is, and how far apart neighbours are.
#[derive(Clone, Debug)]
pub(super) struct Layout {
    /// Position of the first element.
    pub(super) start: isize,
    /// Distances by axis.
    pub(super) strides: Strides,
}

impl Layout {
    /// A whole array in row-major order.
    pub(super) fn whole(shape: &[usize]) -> Self {
        Layout {
            start: 0,
            strides: row_major(shape),
        }
    }

    /// An array of `shape` repeated to fill `full`: axes of length 1, and leading axes that it has not, stand still.
    pub(super) fn repeating(shape: &[usize], full: &[usize]) -> Self {
        let mut layout = Self::whole(shape);
        for (stride, &length) in layout.strides.iter_mut().zip(shape) {
            if length == 1 {
                *stride = 0;
            }
        }
        for _ in shape.len()..full.len() {
            layout.strides.insert(0, 0);
        }
        layout
    }

    /// The part of an array of `shape` that starts at `first` and takes every `steps`-th element.
    pub(super) fn part(shape: &[usize], first: &[usize], steps: &[usize]) -> Self {
        let mut layout = Self::whole(shape);
        for (axis, stride) in layout.strides.iter_mut().enumerate() {
            layout.start += first[axis] as isize * *stride;
            *stride *= steps[axis] as isize;
        }
        layout
    }

    /// Positions of all elements of a box of `shape`, in row-major order.
    pub(super) fn positions(&self, shape: &[usize]) -> Positions {
        Positions {
            shape: Shape::from_slice(shape),
            strides: self.strides.clone(),
            index: SmallVec::from_elem(0, shape.len()),
            position: self.start,
            left: shape.iter().product(),
        }
    }
}

/// Positions of the elements of a box, the last axis fastest.
#[derive(Clone, Debug)]
pub(super) struct Positions {
    shape: Shape,
    strides: Strides,
    index: Shape,
    position: isize,
    left: usize,
}

impl Iterator for Positions {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        self.left = self.left.checked_sub(1)?;
        let position = self.position as usize;
        for axis in (0..self.shape.len()).rev() {
            self.index[axis] += 1;
            self.position += self.strides[axis];
            if self.index[axis] < self.shape[axis] {
                break;
            }
            self.position -= self.strides[axis] * self.shape[axis] as isize;
            self.index[axis] = 0;
        }
        Some(position)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl ExactSizeIterator for Positions {}

/// Copies a box of `shape` between two arrays with elements of `size` bytes.
///
/// # Errors
/// When the box leaves one of the arrays.
pub(super) fn copy_box(
    shape: &[usize],
    size: usize,
    from: (&[u8], &Layout),
    to: (&mut [u8], &Layout),
) -> Result<()> {
    match size {
        0 => Ok(()),
        1 => copy_elements::<1>(shape, from, to),
        2 => copy_elements::<2>(shape, from, to),
        4 => copy_elements::<4>(shape, from, to),
        8 => copy_elements::<8>(shape, from, to),
        16 => copy_elements::<16>(shape, from, to),
        other => Err(Error::new(
            ErrorKind::Internal,
            format!("no element takes {other} bytes"),
        )),
    }
}

fn copy_elements<const N: usize>(
    shape: &[usize],
    (source, from): (&[u8], &Layout),
    (target, to): (&mut [u8], &Layout),
) -> Result<()> {
    let outside = || Error::new(ErrorKind::Internal, "a box leaves its array");
    if shape.contains(&0) {
        return Ok(());
    }
    let (source, target) = (source.as_chunks::<N>().0, target.as_chunks_mut::<N>().0);
    let (outer, row, from_step, to_step) = match shape.split_last() {
        None => (shape, 1, 0, 0),
        Some((&row, outer)) => (
            outer,
            row,
            from.strides[outer.len()],
            to.strides[outer.len()],
        ),
    };
    for (read, write) in from.positions(outer).zip(to.positions(outer)) {
        if from_step == 1 && to_step == 1 {
            target
                .get_mut(write..write + row)
                .zip(source.get(read..read + row))
                .ok_or_else(outside)
                .map(|(target, source)| target.copy_from_slice(source))?;
            continue;
        }
        let (mut read, mut write) = (read as isize, write as isize);
        for _ in 0..row {
            *target.get_mut(write as usize).ok_or_else(outside)? =
                *source.get(read as usize).ok_or_else(outside)?;
            read += from_step;
            write += to_step;
        }
    }
    Ok(())
}

/// A new array of `shape` whose elements are those of `x` in another layout.
pub(super) fn read(x: &Tensor, shape: &[usize], layout: &Layout) -> Result<Tensor> {
    build(shape, x.dtype(), |bytes| {
        copy_box(
            shape,
            x.dtype().size(),
            (x.bytes(), layout),
            (bytes, &Layout::whole(shape)),
        )
    })
}

/// A new array that `x` is written into by parts.
pub(super) fn write_all<'a>(
    shape: &[usize],
    dtype: DType,
    parts: impl IntoIterator<Item = (&'a Tensor, Layout)>,
) -> Result<Tensor> {
    build(shape, dtype, |bytes| {
        for (part, layout) in parts {
            copy_box(
                part.shape(),
                dtype.size(),
                (part.bytes(), &Layout::whole(part.shape())),
                (&mut *bytes, &layout),
            )?;
        }
        Ok(())
    })
}
