//! Products of numbers that have scales.

use jaxide_core::prims::DotDimensionNumbers;
use jaxide_core::{DType, Dims, Error};

use crate::array::Array;
use crate::trace::raise;
use crate::{lax, numpy};

/// The sum of products over axes: `dot_general` with the element type of the result, `f32` in JAX by default. (Formats of blocks
/// with scales are those of a library for graphics processors, and are not there.)
///
/// # Panics
/// When the dimension numbers do not fit.
///
/// ```
/// use jaxide::core::prims::DotDimensionNumbers;
/// use jaxide::{Array, DType, nn};
/// let numbers = DotDimensionNumbers {
///     lhs_contracting: [0].into_iter().collect(),
///     rhs_contracting: [0].into_iter().collect(),
///     ..Default::default()
/// };
/// let x = Array::from([1.0f32, 2.0]);
/// assert_eq!(nn::scaled_dot_general(&x, &x, numbers, DType::F32).item::<f32>(), 5.0);
/// ```
#[track_caller]
pub fn scaled_dot_general(
    lhs: &Array,
    rhs: &Array,
    dimension_numbers: DotDimensionNumbers,
    preferred_element_type: DType,
) -> Array {
    let _named = crate::trace::named("scaled_dot_general");
    lax::dot_general(
        lhs,
        rhs,
        dimension_numbers,
        None,
        Some(preferred_element_type),
    )
}

/// Products of matrices whose elements share scales in blocks along their last axes: `lhs` is `[batch, m, k]`, `rhs` `[batch, n, k]`,
/// and a scale of `[batch, m, k / block]` belongs to a block of `k`. The result is `[batch, m, n]`.
///
/// # Panics
/// When operands are not of rank 3, or their lengths do not fit.
///
/// ```
/// use jaxide::{Array, DType, nn};
/// let x = Array::ones([1, 2, 4], DType::F32);
/// let scales = Array::from([[[1.0f32, 10.0], [2.0, 20.0]]]);
/// let y = nn::scaled_matmul(&x, &x, &scales, &Array::ones([1, 2, 2], DType::F32), DType::F32);
/// assert_eq!(y.to_vec::<f32>(), [22.0, 22.0, 44.0, 44.0]);
/// ```
#[track_caller]
pub fn scaled_matmul(
    lhs: &Array,
    rhs: &Array,
    lhs_scales: &Array,
    rhs_scales: &Array,
    preferred_element_type: DType,
) -> Array {
    let _named = crate::trace::named("scaled_matmul");
    let refuse = |text: String| -> ! { raise(Error::shape(text).in_operation("scaled_matmul")) };
    let all = [lhs, rhs, lhs_scales, rhs_scales];
    if let Some(other) = all.into_iter().find(|x| x.ndim() != 3) {
        refuse(format!(
            "operands are of rank 3, and {} is given",
            other.aval()
        ));
    }
    let [batch, _, k] = [0, 1, 2].map(|axis| lhs.shape()[axis]);
    let fits = |x: &Array, scales: &Array| {
        let (own, of_scales) = (x.shape(), scales.shape());
        let blocks = of_scales[2];
        own[..2] == of_scales[..2]
            && [own[0], own[2]] == [batch, k]
            && blocks == lhs_scales.shape()[2]
            && (k == 0 || (blocks > 0 && k % blocks == 0))
    };
    if !fits(lhs, lhs_scales) || !fits(rhs, rhs_scales) {
        let texts = all.map(|x| x.aval().to_string());
        refuse(format!("{} do not fit", texts.join(", ")));
    }
    let scaled = |x: &Array, scales: &Array| {
        let [batch, rows, blocks] = [0, 1, 2].map(|axis| scales.shape()[axis]);
        let length = k.checked_div(blocks).unwrap_or(0);
        let x = lax::convert_element_type(x, preferred_element_type);
        let scales = lax::convert_element_type(scales, preferred_element_type);
        let x = lax::reshape(&x, [batch, rows, blocks, length]);
        let product = numpy::multiply(&x, &lax::expand_dims(&scales, &[3]));
        lax::reshape(&product, [batch, rows, k])
    };
    let numbers = DotDimensionNumbers {
        lhs_contracting: Dims::from_slice(&[2]),
        rhs_contracting: Dims::from_slice(&[2]),
        lhs_batch: Dims::from_slice(&[0]),
        rhs_batch: Dims::from_slice(&[0]),
    };
    let (lhs, rhs) = (scaled(lhs, lhs_scales), scaled(rhs, rhs_scales));
    lax::dot_general(&lhs, &rhs, numbers, None, Some(preferred_element_type))
}
