//! Products of vectors and matrices.

use jaxide_core::prims::DotDimensionNumbers;
use jaxide_core::{Dims, Error};

use super::{broadcast_shapes, multiply};
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
    // An axis that only one of them has, or whose length is 1 in the other, is an axis like rows and columns. Where in
    // the result each kind belongs:
    let (mut shared, mut of_x, mut of_y) = (Vec::new(), Vec::new(), Vec::new());
    let (mut x_squeezed, mut y_squeezed) = (Vec::new(), Vec::new());
    let (mut lhs_batch, mut rhs_batch) = (Dims::new(), Dims::new());
    for place in 0..batch.len() {
        let own = |rank: usize| (place + rank).checked_sub(batch.len());
        match (own(x_batch), own(y_batch)) {
            (None, _) => of_y.push(place),
            (_, None) => of_x.push(place),
            (Some(axis), _) if x.shape()[axis] == 1 => {
                x_squeezed.push(axis);
                of_y.push(place);
            }
            (_, Some(axis)) if y.shape()[axis] == 1 => {
                y_squeezed.push(axis);
                of_x.push(place);
            }
            (Some(in_x), Some(in_y)) => {
                lhs_batch.push(in_x - x_squeezed.len());
                rhs_batch.push(in_y - y_squeezed.len());
                shared.push(place);
            }
        }
    }
    let has_rows = x.ndim() > 1;
    of_x.extend(has_rows.then_some(batch.len()));
    of_y.extend((y.ndim() > 1).then_some(batch.len() + usize::from(has_rows)));
    let numbers = DotDimensionNumbers {
        lhs_contracting: Dims::from_slice(&[contract_x - x_squeezed.len()]),
        rhs_contracting: Dims::from_slice(&[contract_y - y_squeezed.len()]),
        lhs_batch,
        rhs_batch,
    };
    let preferred = Some(x.dtype());
    let (x, y) = (lax::squeeze(&x, &x_squeezed), lax::squeeze(&y, &y_squeezed));
    let product = lax::dot_general(&x, &y, numbers, None, preferred);
    let places = [shared, of_x, of_y].concat();
    let mut permutation = vec![0; places.len()];
    for (axis, place) in places.into_iter().enumerate() {
        permutation[place] = axis;
    }
    lax::transpose(&product, &permutation)
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
