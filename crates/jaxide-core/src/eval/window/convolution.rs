//! Convolution of any rank, with groups, padding and dilation. The kernel is not flipped.

use std::ops::{Add, Mul};

use num_complex::Complex;

use super::{Slide, Sliding};
use crate::aval::byte_size;
use crate::error::{Error, Result};
use crate::eval::element::{
    any_complexes, from_complexes, from_integers, from_reals, integers, reals,
};
use crate::eval::shape::transpose;
use crate::eval::strides::row_major;
use crate::jaxpr::{Dims, Shape};
use crate::prims::ConvGeneralDilated;
use crate::tensor::{Tensor, check_allocatable};

/// The convolution of `lhs` with the kernel `rhs`. Floats are summed in `f64` and rounded once, integers wrap.
pub(in crate::eval) fn convolution(
    lhs: &Tensor,
    rhs: &Tensor,
    params: &ConvGeneralDilated,
) -> Result<Tensor> {
    let numbers = &params.dimension_numbers;
    // Batch, feature, space; kernel: output feature, input feature, space.
    let (lhs, rhs) = (
        transpose(lhs, &numbers.lhs_spec)?,
        transpose(rhs, &numbers.rhs_spec)?,
    );
    let geometry = Geometry::new(lhs.shape(), rhs.shape(), params)?;
    let dtype = params.preferred_element_type.unwrap_or(lhs.dtype());
    let shape = &geometry.shape;
    check_allocatable(byte_size(shape, dtype)?)?;
    let result = if lhs.dtype().is_complex() || rhs.dtype().is_complex() {
        let (a, b): (Vec<_>, Vec<_>) = (
            any_complexes(&lhs)?.collect(),
            any_complexes(&rhs)?.collect(),
        );
        from_complexes(
            shape,
            dtype,
            geometry.convolve(&a, &b, Complex::new(0.0, 0.0)),
        )?
    } else if lhs.dtype().is_float() {
        let (a, b): (Vec<f64>, Vec<f64>) = (reals(&lhs)?.collect(), reals(&rhs)?.collect());
        from_reals(shape, dtype, geometry.convolve(&a, &b, 0.0))?
    } else {
        let wrapped =
            |x| integers(x).map(|numbers| numbers.map(|v| std::num::Wrapping(v as i64)).collect());
        let (a, b): (Vec<_>, Vec<_>) = (wrapped(&lhs)?, wrapped(&rhs)?);
        let sums = geometry.convolve(&a, &b, std::num::Wrapping(0));
        from_integers(shape, dtype, sums.map(|sum| sum.0.into()))?
    };
    // Axis `i` of the result in the standard order is axis `out_spec[i]` of the result asked for.
    let mut order: Dims = numbers.out_spec.clone();
    for (standard, &axis) in numbers.out_spec.iter().enumerate() {
        if let Some(place) = order.get_mut(axis) {
            *place = standard;
        }
    }
    transpose(&result, &order)
}

/// Offsets in space of the operand, if it has an element there, and of the kernel.
type Tap = (Option<usize>, usize);

/// Shapes in the standard order, and where the kernel lies for each element of the result.
struct Geometry {
    shape: Shape,
    sliding: Sliding,
    slides: Vec<Slide>,
    lhs: Shape,
    rhs: Shape,
    /// Result features and result batches of one group.
    features_per_group: usize,
    features_per_batch_group: usize,
    batches: usize,
}

impl Geometry {
    fn new(lhs: &[usize], rhs: &[usize], params: &ConvGeneralDilated) -> Result<Self> {
        let misfit = || {
            Error::shape(format!(
                "a kernel of shape {rhs:?} (output feature, input feature, space) does not fit an operand of shape \
                 {lhs:?} (batch, feature, space) with {} feature groups and {} batch groups",
                params.feature_group_count, params.batch_group_count
            ))
        };
        let space = lhs.len().checked_sub(2).ok_or_else(misfit)?;
        let (groups, batch_groups) = (params.feature_group_count, params.batch_group_count);
        let fits = rhs.len() == lhs.len()
            && groups > 0
            && batch_groups > 0
            && rhs[1].checked_mul(groups) == Some(lhs[1])
            && rhs[0].is_multiple_of(groups)
            && rhs[0].is_multiple_of(batch_groups)
            && lhs[0].is_multiple_of(batch_groups)
            && params.dimension_numbers.out_spec.len() == lhs.len()
            && [params.padding.len(), params.window_strides.len()] == [space; 2]
            && [params.lhs_dilation.len(), params.rhs_dilation.len()] == [space; 2];
        if !fits {
            return Err(misfit());
        }
        let slides: Vec<Slide> = (0..space)
            .map(|axis| Slide {
                size: rhs[axis + 2],
                stride: params.window_strides[axis],
                padding: params.padding[axis],
                base_dilation: params.lhs_dilation[axis],
                window_dilation: params.rhs_dilation[axis],
            })
            .collect();
        let sliding = Sliding::new(&lhs[2..], &slides)?;
        let batches = lhs[0] / batch_groups;
        Ok(Geometry {
            shape: [batches, rhs[0]]
                .into_iter()
                .chain(sliding.shape.iter().copied())
                .collect(),
            sliding,
            slides,
            lhs: Shape::from_slice(lhs),
            rhs: Shape::from_slice(rhs),
            features_per_group: rhs[0] / groups,
            features_per_batch_group: rhs[0] / batch_groups,
            batches,
        })
    }

    /// The elements of the result in row-major order.
    fn convolve<'a, T: Copy + Add<Output = T> + Mul<Output = T>>(
        &'a self,
        lhs: &'a [T],
        rhs: &'a [T],
        zero: T,
    ) -> impl Iterator<Item = T> + 'a {
        let taps = self.taps();
        let (left, right) = (row_major(&self.lhs), row_major(&self.rhs));
        (0..self.batches).flat_map(move |batch| {
            let (taps, left, right) = (taps.clone(), left.clone(), right.clone());
            (0..self.rhs[0]).flat_map(move |feature| {
                let batch = batch
                    + feature
                        .checked_div(self.features_per_batch_group)
                        .unwrap_or(0)
                        * self.batches;
                let channel =
                    feature.checked_div(self.features_per_group).unwrap_or(0) * self.rhs[1];
                let from = batch * left[0] as usize + channel * left[1] as usize;
                let kernel = feature * right[0] as usize;
                let (left, right) = (left[1] as usize, right[1] as usize);
                taps.clone().into_iter().map(move |taps| {
                    let mut sum = zero;
                    for input in 0..self.rhs[1] {
                        for &(x, w) in taps.iter() {
                            let x = x.map_or(zero, |x| lhs[from + input * left + x]);
                            sum = sum + x * rhs[kernel + input * right + w];
                        }
                    }
                    sum
                })
            })
        })
    }

    /// For each place of the kernel, pairs of offsets in space: of the operand, `None` in padding, whose zeros are numbers like
    /// others, and of the kernel. The gaps between elements, and what is as far from them, are passed over.
    fn taps(&self) -> Vec<std::rc::Rc<[Tap]>> {
        let (left, right) = (row_major(&self.lhs[2..]), row_major(&self.rhs[2..]));
        let taps = self.sliding.places().map(|place| {
            let mut taps = vec![(Some(0), 0)];
            for (axis, &window) in place.iter().enumerate() {
                let slide = self.slides[axis];
                let mut along = vec![None; self.rhs[axis + 2]];
                for &(index, input) in self.sliding.along(axis, window) {
                    along[index] = Some(input * left[axis] as usize);
                }
                let step = right[axis] as usize;
                taps = taps
                    .into_iter()
                    .flat_map(|(x, w)| {
                        let both = |input: Option<usize>| Some(x? + input?);
                        let along = along.iter().enumerate();
                        along
                            .filter(|&(index, _)| !slide.is_in_gap(window, index))
                            .map(move |(index, &input)| (both(input), w + index * step))
                            .collect::<Vec<_>>()
                    })
                    .collect();
            }
            taps.into()
        });
        taps.collect()
    }
}
