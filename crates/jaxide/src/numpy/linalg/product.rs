//! Products of vectors and matrices, and parts of them.

use jaxide_core::prims::{DotPrecision, Precision};
use jaxide_core::{DType, Error};

use super::super::parts::{self, check_square, column, refuse};
use super::super::product::{Einsum, Product, einsum, matmul_with};
use super::inv;
use crate::array::{Array, Integer, normalize_axis};
use crate::lax;
use crate::numpy;
use crate::options::options;
use crate::trace::{library, raise};

pub use super::super::product::{tensordot, vecdot};

/// The vector products of vectors of three elements along an axis, the last with `()`.
///
/// # Panics
/// When vectors do not have three elements, or other axes do not broadcast.
#[track_caller]
pub fn cross(x1: &Array, x2: &Array, options: impl Into<numpy::Cross>) -> Array {
    let _named = crate::trace::named("cross");
    let options = options.into();
    let axis = options.axis.unwrap_or(-1);
    for x in [x1, x2] {
        if x.shape()[normalize_axis("cross", axis, x.ndim())] != 3 {
            refuse("cross", "vectors must have three elements", &[x1, x2]);
        }
    }
    numpy::cross(x1, x2, options.axis(axis))
}

/// The products of each element of a vector with each of another.
///
/// # Panics
/// When they are not vectors.
#[track_caller]
pub fn outer(x1: &Array, x2: &Array) -> Array {
    let _named = crate::trace::named("outer");
    if x1.ndim() != 1 || x2.ndim() != 1 {
        refuse("outer", "vectors are needed", &[x1, x2]);
    }
    column(x1) * lax::expand_dims(x2, &[0])
}

/// The product of vectors, matrices and stacks of matrices, with a precision or an element type in which it is summed: see
/// [`numpy::matmul`](super::matmul()).
///
/// # Panics
/// When lengths do not fit, or an operand is a scalar.
///
/// ```
/// use jaxide::{Array, DType, numpy::linalg};
/// let x = Array::from([[100i8, 100]]);
/// let y = Array::from([[100i8], [100]]);
/// assert_eq!(linalg::matmul(&x, &y, DType::I32).to_vec::<i32>(), [20_000]);
/// ```
#[track_caller]
pub fn matmul(x1: &Array, x2: &Array, product: impl Into<Product>) -> Array {
    let _named = crate::trace::named("matmul");
    matmul_with(x1, x2, &product.into())
}

/// The last two axes exchanged.
///
/// # Panics
/// When there are less than two.
#[track_caller]
pub fn matrix_transpose(x: &Array) -> Array {
    let _named = crate::trace::named("matrix_transpose");
    if x.ndim() < 2 {
        refuse("matrix_transpose", "a matrix is needed", &[x]);
    }
    parts::transposed(x)
}

/// A matrix multiplied with itself `n` times; with its inverse for negative `n`.
///
/// # Panics
/// When matrices are not square.
///
/// ```
/// use jaxide::{Array, numpy::linalg};
/// let fibonacci = linalg::matrix_power(&Array::from([[1, 1], [1, 0]]), 10);
/// assert_eq!(fibonacci.to_vec::<i32>(), [89, 55, 55, 34]);
/// ```
#[track_caller]
pub fn matrix_power(a: &Array, n: i64) -> Array {
    let _named = crate::trace::named("matrix_power");
    check_square("matrix_power", a);
    library("matrix_power", &n.to_string(), [a], |[a]| {
        let rank = a.ndim();
        if n == 0 {
            let eye = numpy::eye(a.shape()[rank - 1], a.dtype());
            return numpy::broadcast_to(&eye, a.shape());
        }
        let a = if n < 0 { inv(a) } else { a.clone() };
        let mut left = n.unsigned_abs();
        let product = |x: &Array, y: &Array| numpy::matmul(x, y);
        if left == 3 {
            return product(&product(&a, &a), &a);
        }
        let (mut square, mut result): (Option<Array>, Option<Array>) = (None, None);
        while left > 0 {
            let next = square.map_or_else(|| a.clone(), |x| product(&x, &x));
            if left % 2 == 1 {
                result = Some(result.map_or_else(|| next.clone(), |x| product(&x, &next)));
            }
            square = Some(next);
            left /= 2;
        }
        result.unwrap_or(a)
    })
}

options! {
    /// What [`multi_dot`] takes beside its operands: a precision alone is one too.
    pub struct MultiDot {
        /// How exact products have to be.
        precision: Option<DotPrecision> = None, |precision: Precision| Some(DotPrecision::Operands(precision, precision));
    }

    /// What [`diagonal`] takes beside the matrix: an offset alone is one too.
    pub struct Diagonal {
        /// How far the diagonal is to the right of the main one; negative ones are below it.
        offset: i64 = 0, |offset: impl Integer| offset.to_i64();
    }

    /// What [`trace`] takes beside the matrix: an offset or an element type alone is one too.
    pub struct Trace {
        /// How far the diagonal is to the right of the main one; negative ones are below it.
        offset: i64 = 0, |offset: impl Integer| offset.to_i64();
        /// The element type of the sum.
        dtype: Option<DType> = None, |dtype: impl Into<Option<DType>>| dtype.into();
    }
}

impl From<Precision> for MultiDot {
    fn from(precision: Precision) -> Self {
        MultiDot::new().precision(precision)
    }
}

impl From<i32> for Diagonal {
    fn from(offset: i32) -> Self {
        Diagonal::new().offset(offset)
    }
}

impl From<i32> for Trace {
    fn from(offset: i32) -> Self {
        Trace::new().offset(offset)
    }
}

impl From<DType> for Trace {
    fn from(dtype: DType) -> Self {
        Trace::new().dtype(dtype)
    }
}

/// The product of matrices, in the order that needs the fewest operations; the first and the last may be vectors.
///
/// # Panics
/// When there are less than two, one between is no matrix, or lengths do not fit.
///
/// ```
/// use jaxide::{Array, DType, numpy::linalg};
/// let x = |rows: usize, columns: usize| Array::ones([rows, columns], DType::F32);
/// assert_eq!(linalg::multi_dot(&[x(2, 3), x(3, 4), x(4, 5)], ()).shape(), [2, 5]);
/// ```
#[track_caller]
pub fn multi_dot(arrays: &[Array], options: impl Into<MultiDot>) -> Array {
    let _named = crate::trace::named("multi_dot");
    let all: Vec<&Array> = arrays.iter().collect();
    let ends = |at: usize| at == 0 || at + 1 == arrays.len();
    let ranks = arrays.iter().enumerate();
    let fit = ranks
        .clone()
        .all(|(at, x)| x.ndim() == 2 || (ends(at) && x.ndim() == 1));
    if arrays.len() < 2 || arrays.len() > 50 {
        let what = format!(
            "two to fifty arrays are needed, and {} are given",
            arrays.len()
        );
        raise(Error::parameter(what).in_operation("multi_dot"));
    }
    let follow = |pair: &[Array]| pair[0].shape().last() == pair[1].shape().first();
    if !fit || !arrays.windows(2).all(follow) {
        refuse(
            "multi_dot",
            "matrices that follow each other must have a length in common",
            &all,
        );
    }
    let label = |at: usize| {
        char::from(if at < 26 {
            b'A' + at as u8
        } else {
            b'a' + (at - 26) as u8
        })
    };
    let last = arrays.len() - 1;
    let terms: Vec<String> = ranks
        .map(|(at, x)| match x.ndim() {
            2 => [label(at), label(at + 1)].iter().collect(),
            _ if at == 0 => label(1).to_string(),
            _ => label(last).to_string(),
        })
        .collect();
    let options = Einsum {
        precision: options.into().precision,
        ..Einsum::default()
    };
    einsum(&terms.join(","), arrays, options)
}

/// The elements on a diagonal of matrices.
///
/// # Panics
/// When there are less than two axes.
///
/// ```
/// use jaxide::{Array, numpy::linalg};
/// let x = Array::from([[1, 2], [3, 4]]);
/// assert_eq!(linalg::diagonal(&x, ()).to_vec::<i32>(), [1, 4]);
/// assert_eq!(linalg::diagonal(&x, 1).to_vec::<i32>(), [2]);
/// ```
#[track_caller]
pub fn diagonal(x: &Array, options: impl Into<Diagonal>) -> Array {
    let _named = crate::trace::named("diagonal");
    parts::diagonal(x, options.into().offset)
}

/// The sum of the elements on a diagonal of matrices, in the element types of [`numpy::sum`](crate::numpy::sum()).
///
/// # Panics
/// When there are less than two axes.
///
/// ```
/// use jaxide::{Array, numpy::linalg};
/// assert_eq!(linalg::trace(&Array::from([[1, 2], [3, 4]]), ()).item::<i32>(), 5);
/// ```
#[track_caller]
pub fn trace(x: &Array, options: impl Into<Trace>) -> Array {
    let _named = crate::trace::named("trace");
    let Trace { offset, dtype } = options.into();
    parts::trace(x, Some(offset), dtype)
}
