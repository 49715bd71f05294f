//! Products of arrays, and Fourier transforms.

use jaxide_core::prims::{self, Opaque};
use jaxide_core::{DType, Dims, Error};

use crate::array::{Array, AsShape, lengths};
use crate::options::options;
use crate::trace::{bind_one, raise};

/// How products are described: named as the primitives name them.
pub use jaxide_core::prims::{
    DotDimensionNumbers, DotPrecision, FftType, Precision, RaggedDotDimensionNumbers,
};

options! {
    /// What [`dot`] takes beside the operands.
    pub struct Dot {
        /// Contracted axes and batch axes: by default the last axis of the first operand and the first of the second, of vectors and
        /// matrices.
        dimension_numbers: Option<DotDimensionNumbers> = None, |numbers: DotDimensionNumbers| Some(numbers);
        /// How exact the product has to be.
        precision: Option<DotPrecision> = None, |precision: impl Into<Option<DotPrecision>>| precision.into();
        /// The element type of sums and result.
        preferred_element_type: Option<DType> = None, |dtype: impl Into<Option<DType>>| dtype.into();
    }
}

/// The product of vectors and matrices, or with dimension numbers of any arrays.
///
/// # Panics
/// When lengths do not fit, or without dimension numbers an operand is neither vector nor matrix.
///
/// ```
/// use jaxide::{Array, lax};
/// let x = Array::from([[1.0f32, 2.0], [3.0, 4.0]]);
/// assert_eq!(lax::dot(&x, &Array::from([1.0f32, 1.0]), ()).to_vec::<f32>(), [3.0, 7.0]);
/// ```
#[track_caller]
pub fn dot(lhs: &Array, rhs: &Array, options: impl Into<Dot>) -> Array {
    let _named = crate::trace::named("dot");
    let options = options.into();
    let simple = (1..=2).contains(&lhs.ndim())
        && (1..=2).contains(&rhs.ndim())
        && lhs.shape().last() == rhs.shape().first();
    let numbers = match options.dimension_numbers {
        Some(numbers) => numbers,
        None if simple => DotDimensionNumbers {
            lhs_contracting: Dims::from_slice(&[lhs.ndim() - 1]),
            rhs_contracting: Dims::from_slice(&[0]),
            ..Default::default()
        },
        None => raise(
            Error::shape(format!(
                "{} and {} have no simple product",
                lhs.aval(),
                rhs.aval()
            ))
            .in_operation("dot")
            .note("give dimension numbers for other products than those of vectors and matrices"),
        ),
    };
    dot_general(
        lhs,
        rhs,
        numbers,
        options.precision,
        options.preferred_element_type,
    )
}

/// The products of stacks of matrices: `[..., m, k]` and `[..., k, n]` give `[..., m, n]`.
///
/// # Panics
/// When ranks or lengths differ, or there are fewer than two axes.
#[track_caller]
pub fn batch_matmul(lhs: &Array, rhs: &Array, precision: Option<DotPrecision>) -> Array {
    let _named = crate::trace::named("batch_matmul");
    let rank = lhs.ndim();
    if rank < 2 || rhs.ndim() != rank {
        raise(
            Error::shape(format!(
                "{} and {} are not both stacks of matrices with as many axes",
                lhs.aval(),
                rhs.aval()
            ))
            .in_operation("batch_matmul"),
        );
    }
    let batch: Dims = (0..rank - 2).collect();
    let numbers = DotDimensionNumbers {
        lhs_contracting: Dims::from_slice(&[rank - 1]),
        rhs_contracting: Dims::from_slice(&[rank - 2]),
        lhs_batch: batch.clone(),
        rhs_batch: batch,
    };
    dot_general(lhs, rhs, numbers, precision, None)
}

/// The product of arrays over contracted axes, batch axes in step: batch axes, then the others of `lhs`, then of `rhs`.
///
/// # Panics
/// When lengths do not fit.
#[track_caller]
pub fn dot_general(
    lhs: &Array,
    rhs: &Array,
    dimension_numbers: DotDimensionNumbers,
    precision: Option<DotPrecision>,
    preferred_element_type: Option<DType>,
) -> Array {
    let _named = crate::trace::named("dot_general");
    let prim = prims::DotGeneral {
        dimension_numbers,
        out_sharding: None,
        precision,
        preferred_element_type,
    };
    bind_one(prim, &[lhs.clone(), rhs.clone()])
}

/// The product of `lhs: [m, k]`, whose rows fall in groups one after another, with the matrix of each group of
/// `rhs: [g, k, n]`: `[m, n]`. `group_sizes: [g]` are integers; rows behind the last group give zeros.
///
/// # Panics
/// When shapes or element types do not fit.
#[track_caller]
pub fn ragged_dot(lhs: &Array, rhs: &Array, group_sizes: &Array) -> Array {
    let _named = crate::trace::named("ragged_dot");
    let axis = |axis: usize| Dims::from_slice(&[axis]);
    let numbers = RaggedDotDimensionNumbers {
        dot_dimension_numbers: ((axis(1), axis(1)), (Dims::new(), Dims::new())),
        lhs_ragged_dimensions: axis(0),
        rhs_group_dimensions: axis(0),
    };
    ragged_dot_general(lhs, rhs, group_sizes, numbers, None, None)
}

/// A product in which an axis of `lhs` falls in groups, as its dimension numbers say: kept, contracted or batched.
///
/// # Panics
/// When shapes, element types or dimension numbers do not fit.
#[track_caller]
pub fn ragged_dot_general(
    lhs: &Array,
    rhs: &Array,
    group_sizes: &Array,
    dimension_numbers: RaggedDotDimensionNumbers,
    precision: Option<DotPrecision>,
    preferred_element_type: Option<DType>,
) -> Array {
    let _named = crate::trace::named("ragged_dot_general");
    let prim = prims::RaggedDotGeneral {
        group_offset: Opaque::none(),
        out_sharding: Opaque::none(),
        precision,
        preferred_element_type: preferred_element_type.map(Into::into),
        ragged_dot_dimension_numbers: dimension_numbers,
    };
    bind_one(prim, &[lhs.clone(), rhs.clone(), group_sizes.clone()])
}

/// The product of operands whose blocks each have a scale: `lhs` and `rhs` as in [`dot_general`], and their scales, whose
/// axes divide those of the operands into blocks.
///
/// # Panics
/// When shapes or element types do not fit.
#[track_caller]
pub fn scaled_dot(
    lhs: &Array,
    rhs: &Array,
    lhs_scale: &Array,
    rhs_scale: &Array,
    dimension_numbers: DotDimensionNumbers,
    preferred_element_type: Option<DType>,
) -> Array {
    let _named = crate::trace::named("scaled_dot");
    let numbers = dimension_numbers;
    let prim = prims::ScaledDot {
        dimension_numbers: (
            (numbers.lhs_contracting, numbers.rhs_contracting),
            (numbers.lhs_batch, numbers.rhs_batch),
        ),
        preferred_element_type,
    };
    bind_one(
        prim,
        &[
            lhs.clone(),
            rhs.clone(),
            lhs_scale.clone(),
            rhs_scale.clone(),
        ],
    )
}

/// The discrete Fourier transform over the last axes, whose lengths are `fft_lengths`: of the real side for the transforms
/// from and to real arrays. The inverse ones divide by the number of elements.
///
/// # Panics
/// When the element type or the lengths do not fit the transform.
///
/// ```
/// use jaxide::{Array, core::prims::FftType, lax};
/// let spectrum = lax::fft(&Array::from([1.0f32, 0.0, 0.0, 0.0]), FftType::Rfft, &[4]);
/// assert_eq!(lax::real(&spectrum).to_vec::<f32>(), [1.0, 1.0, 1.0]);
/// ```
#[track_caller]
pub fn fft(x: &Array, fft_type: FftType, fft_lengths: impl AsShape) -> Array {
    let _named = crate::trace::named("fft");
    let prim = prims::Fft {
        fft_lengths: lengths("fft", &fft_lengths),
        fft_type,
    };
    bind_one(prim, std::slice::from_ref(x))
}
