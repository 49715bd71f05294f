//! Products of vectors and matrices.

use jaxide_core::prims::DotDimensionNumbers;
use jaxide_core::{Dims, Error};

use super::{broadcast_shapes, broadcast_to, multiply};
use crate::array::{Array, promote_dtypes};
use crate::lax;
use crate::trace::raise;

/// The product of vectors, matrices and stacks of matrices, as `@` in Python.
///
/// # Panics
/// When lengths do not fit, or an operand is a scalar.
#[track_caller]
pub fn matmul(x: &Array, y: &Array) -> Array {
    let [x, y] = promote_dtypes("matmul", [x, y]);
    if x.ndim() == 0 || y.ndim() == 0 {
        raise(
            Error::shape(format!(
                "operands must have an axis, and are {} and {}",
                x.aval(),
                y.aval()
            ))
            .in_operation("matmul"),
        );
    }
    let contract_y = y.ndim().saturating_sub(2);
    let contract_x = x.ndim() - 1;
    if x.shape()[contract_x] != y.shape()[contract_y] {
        raise(
            Error::shape(format!(
                "the last axis of {} and axis {contract_y} of {} have different lengths",
                x.aval(),
                y.aval()
            ))
            .in_operation("matmul"),
        );
    }
    let (x_batch, y_batch) = (x.ndim().saturating_sub(2), y.ndim().saturating_sub(2));
    let batch = broadcast_shapes("matmul", &[&x.shape()[..x_batch], &y.shape()[..y_batch]]);
    let preferred = Some(x.dtype());
    if batch.is_empty() || x_batch == 0 || y_batch == 0 {
        let numbers = DotDimensionNumbers {
            lhs_contracting: Dims::from_slice(&[contract_x]),
            rhs_contracting: Dims::from_slice(&[contract_y]),
            ..Default::default()
        };
        let product = lax::dot_general(&x, &y, numbers, None, preferred);
        if x_batch > 0 || y_batch == 0 || x.ndim() == 1 {
            return product;
        }
        // The rows of `x` come first and belong before the last axis.
        let mut permutation: Vec<usize> = (1..product.ndim()).collect();
        permutation.insert(y_batch, 0);
        return lax::transpose(&product, &permutation);
    }
    let spread = |x: &Array, rank: usize| {
        let mut shape = batch.clone();
        shape.extend_from_slice(&x.shape()[rank..]);
        broadcast_to(x, &shape)
    };
    let (x, y) = (spread(&x, x_batch), spread(&y, y_batch));
    let axes: Dims = (0..batch.len()).collect();
    let numbers = DotDimensionNumbers {
        lhs_contracting: Dims::from_slice(&[x.ndim() - 1]),
        rhs_contracting: Dims::from_slice(&[batch.len()]),
        lhs_batch: axes.clone(),
        rhs_batch: axes,
    };
    lax::dot_general(&x, &y, numbers, None, preferred)
}

/// The sum of products over the last axis of `x` and the last but one of `y` (the only one of a vector); other axes are not
/// broadcast as in [`matmul`], but follow one after the other. With a scalar, the product by elements.
///
/// # Panics
/// When lengths do not fit.
///
/// ```
/// use jaxide::{Array, DType, numpy};
/// let x = Array::ones(&[2, 3, 4], DType::F32);
/// assert_eq!(numpy::dot(&x, &Array::ones(&[5, 4, 6], DType::F32)).shape(), [2, 3, 5, 6]);
/// assert_eq!(numpy::dot(&x, &Array::from(2.0)).shape(), [2, 3, 4]);
/// ```
#[track_caller]
pub fn dot(x: &Array, y: &Array) -> Array {
    if x.ndim() == 0 || y.ndim() == 0 {
        return multiply(x, y);
    }
    let [x, y] = promote_dtypes("dot", [x, y]);
    let (last, behind) = (x.ndim() - 1, y.ndim().saturating_sub(2));
    if x.shape()[last] != y.shape()[behind] {
        raise(
            Error::shape(format!(
                "the last axis of {} and axis {behind} of {} have different lengths",
                x.aval(),
                y.aval()
            ))
            .in_operation("dot"),
        );
    }
    let numbers = DotDimensionNumbers {
        lhs_contracting: Dims::from_slice(&[last]),
        rhs_contracting: Dims::from_slice(&[behind]),
        ..Default::default()
    };
    let preferred = Some(x.dtype());
    lax::dot_general(&x, &y, numbers, None, preferred)
}
