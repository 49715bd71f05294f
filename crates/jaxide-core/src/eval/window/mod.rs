//! Sliding windows and convolution.

mod convolution;
mod reduce;
mod select;

pub(super) use convolution::convolution;
pub(super) use reduce::{reduce_window, reduce_window_by};
pub(super) use select::{select_and_gather_add, select_and_scatter, select_and_scatter_add};

use crate::aval::element_count;
use crate::error::{Error, Result};
use crate::jaxpr::Shape;

use super::strides::row_major;

/// A window sliding over a padded and dilated array.
pub(super) struct Sliding {
    /// How many windows there are along each axis.
    pub(super) shape: Shape,
    input: Shape,
    /// For each axis and each window along it: pairs of an index in the window and the input's index there.
    axes: Vec<Vec<Vec<(usize, usize)>>>,
}

/// How windows slide along each axis.
///
/// # Errors
/// When the numbers of axes differ.
pub(super) fn slides(
    sizes: &[usize],
    strides: &[usize],
    padding: &[(i64, i64)],
    base_dilation: &[usize],
    window_dilation: &[usize],
) -> Result<Vec<Slide>> {
    let rank = sizes.len();
    if [
        strides.len(),
        padding.len(),
        base_dilation.len(),
        window_dilation.len(),
    ] != [rank; 4]
    {
        return Err(Error::parameter(
            "the parameters of the window have different numbers of axes",
        ));
    }
    let along = |axis: usize| Slide {
        size: sizes[axis],
        stride: strides[axis],
        padding: padding[axis],
        base_dilation: base_dilation[axis],
        window_dilation: window_dilation[axis],
    };
    Ok((0..rank).map(along).collect())
}

/// [`slides`] without dilation.
pub(super) fn undilated(
    sizes: &[usize],
    strides: &[usize],
    padding: &[(i64, i64)],
) -> Result<Vec<Slide>> {
    let ones = vec![1; sizes.len()];
    slides(sizes, strides, padding, &ones, &ones)
}

/// How a window slides along one axis.
#[derive(Clone, Copy)]
pub(super) struct Slide {
    /// Length of the window.
    pub(super) size: usize,
    /// Distance between windows.
    pub(super) stride: usize,
    /// Padding before and after; negative padding removes elements.
    pub(super) padding: (i64, i64),
    /// Distance between the input's elements.
    pub(super) base_dilation: usize,
    /// Distance between the window's elements.
    pub(super) window_dilation: usize,
}

impl Sliding {
    /// Over an input of shape `input`.
    ///
    /// # Errors
    /// When the numbers of axes differ, or a stride or dilation is 0.
    pub(super) fn new(input: &[usize], slides: &[Slide]) -> Result<Self> {
        let positive = |slide: &Slide| {
            slide.stride > 0 && slide.base_dilation > 0 && slide.window_dilation > 0
        };
        if slides.len() != input.len() || !slides.iter().all(positive) {
            return Err(Error::parameter(format!(
                "windows are described along {} axes, with steps from 1, and the operand has shape {input:?}",
                slides.len()
            )));
        }
        let counts: Shape = input
            .iter()
            .zip(slides)
            .map(|(&length, slide)| slide.count(length))
            .collect();
        let work = counts
            .iter()
            .zip(slides)
            .map(|(count, slide)| count.saturating_mul(slide.size));
        crate::tensor::check_allocatable(work.fold(0, usize::saturating_add).saturating_mul(16))?;
        Ok(Sliding {
            axes: input
                .iter()
                .zip(slides)
                .zip(&counts)
                .map(|((&length, slide), &count)| {
                    (0..count)
                        .map(|window| slide.touched(length, window))
                        .collect()
                })
                .collect(),
            shape: counts,
            input: Shape::from_slice(input),
        })
    }

    /// For each window, in row-major order, the positions of its elements that are inside the input.
    pub(super) fn windows(&self) -> impl Iterator<Item = Vec<usize>> {
        let strides = row_major(&self.input);
        self.places().map(move |place| {
            let mut positions = vec![0];
            for ((axis, &window), &stride) in self.axes.iter().zip(&place).zip(&strides) {
                let inside = &axis[window];
                positions = positions
                    .into_iter()
                    .flat_map(|base| {
                        inside
                            .iter()
                            .map(move |&(_, index)| base + index * stride as usize)
                    })
                    .collect();
            }
            positions
        })
    }

    /// Pairs of an index in the window and the input's index there, for one window along one axis.
    pub(super) fn along(&self, axis: usize, window: usize) -> &[(usize, usize)] {
        &self.axes[axis][window]
    }

    /// Indices of all windows in row-major order.
    pub(super) fn places(&self) -> impl Iterator<Item = Shape> {
        let count = element_count(&self.shape).unwrap_or(0);
        (0..count).map(|number| {
            let mut rest = number;
            let mut place: Shape = self
                .shape
                .iter()
                .rev()
                .map(|&length| {
                    let index = rest % length;
                    rest /= length;
                    index
                })
                .collect();
            place.reverse();
            place
        })
    }
}

impl Slide {
    /// How many windows fit an axis of this length.
    fn count(&self, length: usize) -> usize {
        let dilated = |size: usize, dilation: usize| {
            size.checked_sub(1)
                .map_or(0, |steps| steps as i128 * dilation as i128 + 1)
        };
        let (low, high) = self.padding;
        let room = dilated(length, self.base_dilation) + i128::from(low) + i128::from(high);
        let window = dilated(self.size, self.window_dilation);
        if room < window {
            return 0;
        }
        usize::try_from((room - window) / self.stride as i128 + 1).unwrap_or(usize::MAX)
    }

    /// Where an element of a window is, counted from the input's first element.
    fn place(&self, window: usize, index: usize) -> i128 {
        let first = window as i128 * self.stride as i128 - i128::from(self.padding.0);
        first + index as i128 * self.window_dilation as i128
    }

    /// Whether an element of a window is no whole number of steps from the input's elements.
    pub(super) fn is_in_gap(&self, window: usize, index: usize) -> bool {
        self.place(window, index) % self.base_dilation as i128 != 0
    }

    /// Which elements of the window are on which elements of an axis of this length.
    fn touched(&self, length: usize, window: usize) -> Vec<(usize, usize)> {
        (0..self.size)
            .filter_map(|index| {
                let place = self.place(window, index);
                let inside = place >= 0 && place % self.base_dilation as i128 == 0;
                let input = usize::try_from(place / self.base_dilation as i128).ok()?;
                (inside && input < length).then_some((index, input))
            })
            .collect()
    }
}
