//! Products of arrays, and Fourier transforms.

use jaxide_core::prims::{
    self, DotDimensionNumbers, DotPrecision, FftType, Opaque, RaggedDotDimensionNumbers,
};
use jaxide_core::{DType, Dims};

use crate::array::{Array, AsShape, lengths};
use crate::trace::bind_one;

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
    let prim = prims::Fft {
        fft_lengths: lengths("fft", &fft_lengths),
        fft_type,
    };
    bind_one(prim, std::slice::from_ref(x))
}
