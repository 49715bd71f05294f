//! Products of vectors, matrices and arrays.

mod contraction;
mod einsum;
mod path;

pub use contraction::*;
pub use einsum::{Einsum, Optimize, einsum, einsum_path};

use jaxide_core::prims::{DotDimensionNumbers, DotPrecision, Precision};
use jaxide_core::{DType, Dims, Error};

use super::broadcast_shapes;
use crate::array::{Array, as_dtype, check_number, result_dtype};
use crate::lax;
use crate::options::options;
use crate::trace::raise;

options! {
    /// What products take beside their operands.
    pub struct Product {
        /// How exact the product has to be.
        precision: Option<DotPrecision> = None, |precision: Precision| Some(DotPrecision::Operands(precision, precision));
        /// The element type in which it is summed, and of the result: by default the common one of the operands.
        preferred_element_type: Option<DType> = None, |dtype: impl Into<Option<DType>>| dtype.into();
    }
}

impl From<Precision> for Product {
    fn from(precision: Precision) -> Self {
        Product::new().precision(precision)
    }
}

impl From<DType> for Product {
    fn from(dtype: DType) -> Self {
        Product::new().preferred_element_type(dtype)
    }
}

impl Product {
    /// As [`DotPrecision`], which may also be an algorithm.
    pub(crate) fn exactly(precision: Option<DotPrecision>) -> Self {
        Product {
            precision,
            preferred_element_type: None,
        }
    }

    /// The element type of the product of `operands`, and whether it is weak.
    #[track_caller]
    fn result(&self, operation: &str, operands: &[&Array]) -> (DType, bool) {
        if let Some(dtype) = self.preferred_element_type {
            return (dtype, false);
        }
        let (dtype, weak) = result_dtype(operation, operands);
        for x in operands {
            check_number(operation, x, dtype);
        }
        (dtype, weak)
    }

    /// One product equation.
    #[track_caller]
    fn multiply(
        &self,
        operation: &str,
        x: &Array,
        y: &Array,
        numbers: DotDimensionNumbers,
    ) -> Array {
        let (dtype, weak) = self.result(operation, &[x, y]);
        let product = dot_general(x, y, numbers, self.precision.clone(), dtype);
        as_dtype(&product, dtype, weak)
    }
}

/// A product of operands of any element types, summed in `dtype`.
#[track_caller]
fn dot_general(
    x: &Array,
    y: &Array,
    numbers: DotDimensionNumbers,
    precision: Option<DotPrecision>,
    dtype: DType,
) -> Array {
    lax::dot_general(x, y, numbers, precision, Some(dtype))
}

/// Lengths of contracted axes must be equal.
#[track_caller]
fn check_contracted(operation: &str, x: &Array, y: &Array, of_x: &[usize], of_y: &[usize]) {
    for (&i, &j) in of_x.iter().zip(of_y) {
        if x.shape()[i] != y.shape()[j] {
            let what = format!(
                "axis {i} of {} and axis {j} of {} have different lengths",
                x.aval(),
                y.aval()
            );
            raise(Error::shape(what).in_operation(operation));
        }
    }
}

fn contracting(of_x: &[usize], of_y: &[usize]) -> DotDimensionNumbers {
    DotDimensionNumbers {
        lhs_contracting: Dims::from_slice(of_x),
        rhs_contracting: Dims::from_slice(of_y),
        ..Default::default()
    }
}

/// The product of vectors, matrices and stacks of matrices, as `@` in Python; [`linalg::matmul`](super::linalg::matmul) takes
/// precision and element type.
///
/// # Panics
/// When lengths do not fit, or an operand is a scalar.
#[track_caller]
pub fn matmul(x: &Array, y: &Array) -> Array {
    let _named = crate::trace::named("matmul");
    matmul_with(x, y, &Product::new())
}

#[track_caller]
pub(crate) fn matmul_with(x: &Array, y: &Array, product: &Product) -> Array {
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
    let (mut x_squeezed, mut y_squeezed, mut of_none) = (Vec::new(), Vec::new(), Vec::new());
    let (mut lhs_batch, mut rhs_batch) = (Dims::new(), Dims::new());
    for place in 0..batch.len() {
        let own = |rank: usize| (place + rank).checked_sub(batch.len());
        match (own(x_batch), own(y_batch)) {
            (None, _) => of_y.push(place),
            (_, None) => of_x.push(place),
            (Some(in_x), Some(in_y)) if x.shape()[in_x] == 1 && y.shape()[in_y] == 1 => {
                x_squeezed.push(in_x);
                y_squeezed.push(in_y);
                of_none.push(place);
            }
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
    let (dtype, weak) = product.result("matmul", &[x, y]);
    let (x, y) = (lax::squeeze(x, &x_squeezed), lax::squeeze(y, &y_squeezed));
    let product = dot_general(&x, &y, numbers, product.precision.clone(), dtype);
    let places = [shared, of_x, of_y].concat();
    // The place of each axis among those that are there: axes of length 1 on both sides come last.
    let mut order: Vec<usize> = (0..places.len()).collect();
    order.sort_by_key(|&axis| places[axis]);
    let product = lax::transpose(&product, &order);
    let product = if of_none.is_empty() {
        product
    } else {
        lax::expand_dims(&product, &of_none)
    };
    as_dtype(&product, dtype, weak)
}

/// The sum of products over the last axis of `x` and the last but one of `y` (the only one of a vector); other axes are not
/// broadcast as in [`matmul`], but follow one after the other. With a scalar, the product by elements. [`dot_with`] takes
/// precision and element type.
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
    let _named = crate::trace::named("dot");
    dot_with(x, y, ())
}

/// [`dot`] with a precision or an element type in which products are summed.
///
/// # Panics
/// When lengths do not fit.
///
/// ```
/// use jaxide::{Array, DType, numpy};
/// let x = Array::from([100i8, 100]);
/// assert_eq!(numpy::dot_with(&x, &x, DType::I32).item::<i32>(), 20_000);
/// ```
#[track_caller]
pub fn dot_with(x: &Array, y: &Array, product: impl Into<Product>) -> Array {
    let _named = crate::trace::named("dot_with");
    let (of_x, of_y) = match (x.ndim(), y.ndim()) {
        (0, _) | (_, 0) => (vec![], vec![]),
        (x, y) => (vec![x - 1], vec![y.saturating_sub(2)]),
    };
    check_contracted("dot", x, y, &of_x, &of_y);
    product
        .into()
        .multiply("dot", x, y, contracting(&of_x, &of_y))
}
