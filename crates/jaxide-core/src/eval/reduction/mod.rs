//! Primitives that combine elements along axes, sort and search.

mod argument;
mod cumulative;
mod search;
mod sort;

pub(super) use argument::{argmax, argmin};
pub(super) use cumulative::{Cumulation, cumulate};
pub(super) use search::{nonzero, search_sorted};
pub(super) use sort::{approx_top_k, sort, top_k};

use num_complex::Complex;

use super::element::{
    by_dtype, complexes, elements, from_complexes, from_elements, from_reals, meaningless, reals,
    room_for,
};
use super::numerics::elementary;
use super::numerics::integer::Int;
use super::shape::no_axis;
use super::strides::{Layout, row_major};
use crate::dtype::DType;
use crate::error::Result;
use crate::jaxpr::Shape;
use crate::small_float;
use crate::tensor::Tensor;

/// The axes of an array split into those that stay and those that are reduced.
pub(super) struct Reduction {
    /// Shape of the result.
    pub(super) shape: Shape,
    kept: Layout,
    reduced_shape: Shape,
    reduced: Layout,
}

impl Reduction {
    /// For the axes `axes` of an array of `shape`.
    ///
    /// # Errors
    /// When there is no such axis.
    pub(super) fn new(shape: &[usize], axes: &[usize]) -> Result<Self> {
        if let Some(&axis) = axes.iter().find(|&&axis| axis >= shape.len()) {
            return Err(no_axis(axis, shape.len()));
        }
        let strides = row_major(shape);
        let part = |reduced: bool| {
            let chosen = (0..shape.len()).filter(|axis| axes.contains(axis) == reduced);
            let (lengths, steps) = chosen.map(|axis| (shape[axis], strides[axis])).unzip();
            (
                lengths,
                Layout {
                    start: 0,
                    strides: steps,
                },
            )
        };
        let ((shape, kept), (reduced_shape, reduced)) = (part(false), part(true));
        Ok(Reduction {
            shape,
            kept,
            reduced_shape,
            reduced,
        })
    }

    /// Whether every element of the result comes from one element.
    pub(super) fn is_reshape(&self) -> bool {
        self.reduced_shape.iter().all(|&length| length == 1)
    }

    /// For each element of the result, positions of the elements that are combined into it, in row-major order.
    pub(super) fn groups(&self) -> impl Iterator<Item = impl Iterator<Item = usize>> {
        let inner = self.reduced.positions(&self.reduced_shape);
        self.kept
            .positions(&self.shape)
            .map(move |base| inner.clone().map(move |offset| base + offset))
    }

    /// Combines the elements of each group, beginning with `start`. It is compiled for each type and not for each function.
    ///
    /// # Errors
    /// When there is no memory for the results: of no elements there may be many groups.
    fn fold<T: Copy>(&self, elements: &[T], start: T, f: &dyn Fn(T, T) -> T) -> Result<Vec<T>> {
        let mut results = room_for(&self.shape)?;
        for group in self.groups() {
            results.push(group.fold(start, |sum, position| f(sum, elements[position])));
        }
        Ok(results)
    }
}

/// Combines groups of elements by a function for each class of dtypes: floats in `f64`, rounded once at the end.
macro_rules! reduce {
    ($x:expr, $axes:expr, $(bool: $bool_start:expr, $bool:expr;)? int: $int_start:expr, $int:expr;
     $(real: $real_start:expr, $real:expr; complex: $complex_start:expr, $complex:expr;)?) => {{
        let (dtype, reduction) = ($x.dtype(), Reduction::new($x.shape(), $axes)?);
        let shape = &reduction.shape;
        $(if dtype.is_float() {
            let values: Vec<f64> = reals($x)?.collect();
            return from_reals(shape, dtype, reduction.fold(&values, $real_start, &$real)?.into_iter());
        }
        if dtype.is_complex() {
            let (re, im) = $complex_start;
            let values: Vec<Complex<f64>> = complexes($x)?.collect();
            return from_complexes(shape, dtype, reduction.fold(&values, Complex::new(re, im), &$complex)?.into_iter());
        })?
        by_dtype!(dtype, T,
            $(bool => from_elements(shape, dtype, reduction.fold(elements::<u8>($x)?, $bool_start, &$bool)?),)?
            int => from_elements(shape, dtype, reduction.fold(elements::<T>($x)?, $int_start as T, &$int)?),
            other => Err(meaningless(dtype)),
        )
    }};
}

/// The sum along axes.
pub(super) fn sum(x: &Tensor, axes: &[usize]) -> Result<Tensor> {
    // A single element keeps the sign of its zero; sums begin with a positive one.
    let single = Reduction::new(x.shape(), axes)?.is_reshape();
    sum_from(if single { -0.0 } else { 0.0 }, x, axes)
}

/// The sum along axes of as many windows, which begin with a positive zero even where there is a single element.
pub(super) fn sum_of_window(x: &Tensor, axes: &[usize]) -> Result<Tensor> {
    sum_from(0.0, x, axes)
}

/// A sum of truth values is whether any holds.
fn sum_from(zero: f64, x: &Tensor, axes: &[usize]) -> Result<Tensor> {
    reduce!(x, axes,
        bool: 0, |a, b| a | b;
        int: 0, Int::add;
        real: zero, |a, b| a + b;
        complex: (zero, zero), |a, b| a + b;
    )
}

/// The product along axes.
pub(super) fn product(x: &Tensor, axes: &[usize]) -> Result<Tensor> {
    reduce!(x, axes,
        int: 1, Int::mul;
        real: 1.0, |a, b| a * b;
        complex: (1.0, 0.0), |a, b| a * b;
    )
}

/// The largest along axes; NaN if any is. Of none: the smallest number there is. A single complex number stays what it
/// is; of several, one must be beyond the infinity that comparisons begin with.
pub(super) fn maximum(x: &Tensor, axes: &[usize]) -> Result<Tensor> {
    single_or(x, axes, largest)
}

/// The smallest along axes, as [`maximum`].
pub(super) fn minimum(x: &Tensor, axes: &[usize]) -> Result<Tensor> {
    single_or(x, axes, smallest)
}

fn single_or(
    x: &Tensor,
    axes: &[usize],
    extremum: fn(&Tensor, &[usize]) -> Result<Tensor>,
) -> Result<Tensor> {
    let reduction = Reduction::new(x.shape(), axes)?;
    if x.dtype().is_complex() && reduction.is_reshape() {
        return x.reshaped(&reduction.shape);
    }
    extremum(x, axes)
}

/// As [`maximum`], with single numbers compared as others are: windows have padding beside them.
pub(super) fn largest(x: &Tensor, axes: &[usize]) -> Result<Tensor> {
    const INFINITY: f64 = f64::INFINITY;
    let least = small_float::extremes(x.dtype()).map_or(-INFINITY, |range| range.0);
    reduce!(x, axes,
        bool: 0, |a, b| a | b;
        int: lowest(x.dtype()), Ord::max;
        real: least, elementary::max;
        complex: (-INFINITY, 0.0), |a, b| if (a.re, a.im) > (b.re, b.im) { a } else { b };
    )
}

/// As [`largest`], the other way round.
pub(super) fn smallest(x: &Tensor, axes: &[usize]) -> Result<Tensor> {
    const INFINITY: f64 = f64::INFINITY;
    let greatest = small_float::extremes(x.dtype()).map_or(INFINITY, |range| range.1);
    reduce!(x, axes,
        bool: 1, |a, b| a & b;
        int: highest(x.dtype()), Ord::min;
        real: greatest, elementary::min;
        complex: (INFINITY, 0.0), |a, b| if (a.re, a.im) < (b.re, b.im) { a } else { b };
    )
}

/// The bits set in all elements along axes.
pub(super) fn all(x: &Tensor, axes: &[usize]) -> Result<Tensor> {
    reduce!(x, axes, bool: 1, |a, b| a & b; int: !0, |a, b| a & b;)
}

/// The bits set in any element along axes.
pub(super) fn any(x: &Tensor, axes: &[usize]) -> Result<Tensor> {
    reduce!(x, axes, bool: 0, |a, b| a | b; int: 0, |a, b| a | b;)
}

/// The bits set in an odd number of elements along axes.
pub(super) fn parity(x: &Tensor, axes: &[usize]) -> Result<Tensor> {
    reduce!(x, axes, bool: 0, |a, b| a ^ b; int: 0, |a, b| a ^ b;)
}

/// The smallest integer of a dtype.
pub(super) fn lowest(dtype: DType) -> i128 {
    if dtype.is_signed_integer() {
        -1 << (dtype.bits() - 1)
    } else {
        0
    }
}

/// The largest integer of a dtype.
pub(super) fn highest(dtype: DType) -> i128 {
    lowest(dtype) + (1 << dtype.bits()) - 1
}
