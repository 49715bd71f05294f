//! Norms, and what singular values say of matrices.

use crate::numpy::nested::constant;
use jaxide_core::{DType, Error};

use super::super::parts::{
    conj, epsilon, inexact, inexact_type, kept, last, moveaxis, number_of, real, real_type, refuse,
    sum,
};
use super::{Svd, inv, singular_values, svdvals};
use crate::array::{Array, Axes, Numbers, Repr, as_dtype};
use crate::lax;
use crate::numpy;
use crate::numpy::{position_type, where_};
use crate::options::options;
use crate::trace::library::library_call;
use crate::trace::{library, raise};

/// Which norm: a number, positive or negative infinity included, or one that has a name.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum NormOrder {
    /// Of a vector, the root of the sum of powers; of a matrix 1, 2 and infinity (the largest sum of a column, singular value
    /// and sum of a row) and their negatives (the smallest).
    Number(f64),
    /// The root of the sum of squares of all elements.
    Frobenius,
    /// The sum of the singular values.
    Nuclear,
}

macro_rules! numbers {
    ($($ty:ty)*) => { $(
        impl From<$ty> for NormOrder {
            fn from(order: $ty) -> Self {
                NormOrder::Number(f64::from(order))
            }
        }
    )* };
}

numbers!(i32 f32 f64);

impl From<&str> for NormOrder {
    /// # Panics
    /// When there is no norm of that name.
    #[track_caller]
    fn from(name: &str) -> Self {
        match name {
            "fro" | "f" => NormOrder::Frobenius,
            "nuc" => NormOrder::Nuclear,
            _ => raise(
                Error::parameter(format!("there is no norm `{name}`: `fro` and `nuc` are"))
                    .in_operation("norm"),
            ),
        }
    }
}

options! {
    /// What [`norm`] takes beside the array: an order alone is one too.
    pub struct Norm {
        /// Which norm: of vectors 2, of matrices that of Frobenius by default.
        ord: Option<NormOrder> = None, |order: impl Into<NormOrder>| Some(order.into());
        /// One axis for vectors, two for matrices: all by default.
        axis: Option<Numbers> = None, |axes: impl Axes| axes.numbers();
        /// Whether the axes stay, with length 1.
        keepdims: bool = false;
    }

    /// What [`vector_norm`] takes beside the array: an order alone is one too.
    pub struct VectorNorm {
        /// The axes of the vectors: all by default.
        axis: Option<Numbers> = None, |axes: impl Axes| axes.numbers();
        /// Whether the axes stay, with length 1.
        keepdims: bool = false;
        /// Which norm: 2 by default.
        ord: NormOrder = NormOrder::Number(2.0), |order: impl Into<NormOrder>| order.into();
    }

    /// What [`matrix_norm`] takes beside the array: an order alone is one too.
    pub struct MatrixNorm {
        /// Whether the axes stay, with length 1.
        keepdims: bool = false;
        /// Which norm: that of Frobenius by default.
        ord: NormOrder = NormOrder::Frobenius, |order: impl Into<NormOrder>| order.into();
    }

    /// What [`matrix_rank`] takes beside the matrix: a tolerance alone is one too.
    pub struct MatrixRank {
        /// Singular values up to this count as zero.
        rtol: Option<Array> = None, |rtol: impl Into<Array>| Some(rtol.into());
        /// Whether the matrix is Hermitian.
        hermitian: bool = false;
    }
}

macro_rules! orders {
    ($($name:ident: $($ty:ty)*;)*) => { $($(
        impl From<$ty> for $name {
            fn from(order: $ty) -> Self {
                $name::new().ord(order)
            }
        }
    )*)* };
}

orders! {
    Norm: i32 f64 &str NormOrder;
    VectorNorm: i32 f64 NormOrder;
    MatrixNorm: i32 f64 &str NormOrder;
}

impl From<f64> for MatrixRank {
    fn from(rtol: f64) -> Self {
        MatrixRank::new().rtol(rtol)
    }
}

/// The root of the sum of squares along axes.
#[track_caller]
fn root_of_squares(x: &Array, axes: &[usize], keepdims: bool) -> Array {
    let squares = sum(&real(&(x * conj(x))), axes, keepdims);
    let [squares] = inexact("norm", [&squares]);
    lax::sqrt(&squares)
}

/// The larger of zero and the largest.
#[track_caller]
fn largest(x: &Array, axes: &[usize], keepdims: bool) -> Array {
    let largest = lax::reduce_max(x, axes);
    let zero = as_dtype(&Array::from(0), x.dtype(), false);
    kept(&lax::max(&zero, &largest), axes, keepdims)
}

#[track_caller]
fn smallest(x: &Array, axes: &[usize], keepdims: bool) -> Array {
    if axes.iter().any(|&axis| x.shape()[axis] == 0) {
        refuse("norm", "there is no smallest of no elements", &[x]);
    }
    kept(&lax::reduce_min(x, axes), axes, keepdims)
}

/// Absolute values; of numbers that have no sign themselves.
#[track_caller]
fn absolute(x: &Array) -> Array {
    if x.dtype() == DType::Bool || x.dtype().is_unsigned_integer() {
        x.clone()
    } else {
        lax::abs(x)
    }
}

#[track_caller]
fn of_vectors(x: &Array, order: NormOrder, axes: &[usize], keepdims: bool) -> Array {
    let NormOrder::Number(order) = order else {
        raise(Error::parameter(format!("vectors have no norm {order:?}")).in_operation("norm"));
    };
    if order == 2.0 {
        return root_of_squares(x, axes, keepdims);
    }
    if order == f64::INFINITY {
        return largest(&absolute(x), axes, keepdims);
    }
    if order == f64::NEG_INFINITY {
        return smallest(&absolute(x), axes, keepdims);
    }
    if order == 0.0 {
        let differs = lax::ne(x, &as_dtype(&Array::from(0), x.dtype(), false));
        let counted = as_dtype(
            &as_dtype(&differs, DType::I32, false),
            real_type(inexact_type(x.dtype())),
            false,
        );
        return sum(&counted, axes, keepdims);
    }
    if order == 1.0 {
        return sum(&absolute(x), axes, keepdims);
    }
    let sizes = absolute(x);
    let dtype = sizes.dtype();
    let (power, inverse) = if dtype.is_float() {
        let power = constant(order, dtype);
        let inverse = match &power.0 {
            Repr::Number(literal) => 1.0 / literal.value.as_f64().unwrap_or(order),
            _ => 1.0 / order,
        };
        (power, constant(inverse, dtype))
    } else {
        (Array::from(order), Array::from(1.0 / order))
    };
    let total = sum(&numpy::power(&sizes, &power), axes, keepdims);
    numpy::power(&total, &inverse)
}

#[track_caller]
fn of_matrices(x: &Array, order: NormOrder, axes: [usize; 2], keepdims: bool) -> Array {
    let [rows, columns] = axes;
    // Where the second reduction finds its axis behind the first.
    let behind = |first: usize, second: usize| {
        if !keepdims && second > first {
            second - 1
        } else {
            second
        }
    };
    match order {
        NormOrder::Frobenius => root_of_squares(x, &axes, keepdims),
        NormOrder::Number(1.0) => largest(
            &sum(&lax::abs(x), &[rows], keepdims),
            &[behind(rows, columns)],
            keepdims,
        ),
        NormOrder::Number(-1.0) => smallest(
            &sum(&lax::abs(x), &[rows], keepdims),
            &[behind(rows, columns)],
            keepdims,
        ),
        NormOrder::Number(f64::INFINITY) => largest(
            &sum(&lax::abs(x), &[columns], keepdims),
            &[behind(columns, rows)],
            keepdims,
        ),
        NormOrder::Number(f64::NEG_INFINITY) => smallest(
            &sum(&lax::abs(x), &[columns], keepdims),
            &[behind(columns, rows)],
            keepdims,
        ),
        NormOrder::Nuclear | NormOrder::Number(2.0 | -2.0) => {
            let rank = x.ndim();
            let values = svdvals(&moveaxis(x, &axes, &[rank - 2, rank - 1]));
            let last = [values.ndim() - 1];
            let norm = match order {
                NormOrder::Number(2.0) => largest(&values, &last, false),
                NormOrder::Number(_) => smallest(&values, &last, false),
                _ => sum(&values, &last, false),
            };
            kept(&norm, &axes, keepdims)
        }
        NormOrder::Number(order) => raise(
            Error::parameter(format!("matrices have no norm of order {order}"))
                .in_operation("norm"),
        ),
    }
}

/// The norm of vectors along an axis, or of matrices along two.
///
/// The result is real: of integers `f32`, and `f64` of those of 64 bits.
///
/// # Panics
/// When an axis is out of range, there are neither one nor two axes and an order is given, or there is no such norm.
///
/// ```
/// use jaxide::{Array, numpy::linalg::{self, Norm}};
/// let x = Array::from([[3.0f32, 4.0], [6.0, 8.0]]);
/// assert_eq!(linalg::norm(&x, Norm::new().axis(1)).to_vec::<f32>(), [5.0, 10.0]);
/// assert_eq!(linalg::norm(&x, f64::INFINITY).item::<f32>(), 14.0);
/// assert_eq!(linalg::norm(&x, Norm::new().ord(1).axis(0)).to_vec::<f32>(), [9.0, 12.0]);
/// ```
#[track_caller]
pub fn norm(x: &Array, options: impl Into<Norm>) -> Array {
    let _named = crate::trace::named("norm");
    let Norm {
        ord,
        axis,
        keepdims,
    } = options.into();
    let axes = match &axis {
        None => (0..x.ndim()).collect(),
        Some(numbers) => numbers[..].axes("norm", x.ndim()),
    };
    if axes.len() != 1 && axes.len() != 2 && (axis.is_some() || ord.is_some()) {
        refuse(
            "norm",
            &format!("one axis is a vector, two are a matrix, and {axes:?} are neither"),
            &[x],
        );
    }
    let whole = axis.is_none() && ord.is_none();
    let name = format!("{ord:?} {axes:?} {whole} {keepdims}");
    library("norm", &name, [x], |[x]| {
        let [x] = inexact("norm", [x]);
        match axes[..] {
            _ if whole => root_of_squares(&x, &axes, keepdims),
            [_] => of_vectors(&x, ord.unwrap_or(NormOrder::Number(2.0)), &axes, keepdims),
            [rows, columns] => of_matrices(
                &x,
                ord.unwrap_or(NormOrder::Frobenius),
                [rows, columns],
                keepdims,
            ),
            _ => root_of_squares(&x, &axes, keepdims),
        }
    })
}

/// The norm of vectors, along any number of axes.
///
/// # Panics
/// When an axis is out of range, or the smallest of no elements is asked for.
///
/// ```
/// use jaxide::{Array, numpy::linalg};
/// assert_eq!(linalg::vector_norm(&Array::from([3.0f32, 4.0]), ()).item::<f32>(), 5.0);
/// assert_eq!(linalg::vector_norm(&Array::from([3.0f32, 4.0]), 1).item::<f32>(), 7.0);
/// ```
#[track_caller]
pub fn vector_norm(x: &Array, options: impl Into<VectorNorm>) -> Array {
    let _named = crate::trace::named("vector_norm");
    let VectorNorm {
        axis,
        keepdims,
        ord,
    } = options.into();
    let axes = match &axis {
        None => (0..x.ndim()).collect(),
        Some(numbers) => numbers[..].axes("vector_norm", x.ndim()),
    };
    of_vectors(x, ord, &axes, keepdims)
}

/// The norm of matrices.
///
/// # Panics
/// When there are less than two axes, or there is no such norm.
///
/// ```
/// use jaxide::{Array, numpy::linalg};
/// let x = Array::from([[3.0f32, 0.0], [0.0, 4.0]]);
/// assert_eq!(linalg::matrix_norm(&x, ()).item::<f32>(), 5.0);
/// assert_eq!(linalg::matrix_norm(&x, "nuc").item::<f32>(), 7.0);
/// ```
#[track_caller]
pub fn matrix_norm(x: &Array, options: impl Into<MatrixNorm>) -> Array {
    let _named = crate::trace::named("matrix_norm");
    let MatrixNorm { keepdims, ord } = options.into();
    norm(x, Norm::new().ord(ord).axis([-2, -1]).keepdims(keepdims))
}

/// How many singular values of a matrix are not zero, or of a vector whether it is not zero: `i32`.
///
/// By default what counts as zero is up to the largest times the longer side times the distance between numbers at one.
///
/// # Panics
/// When a matrix that is said to be Hermitian is not square.
///
/// ```
/// use jaxide::{Array, DType, numpy::linalg};
/// assert_eq!(linalg::matrix_rank(&Array::ones([3, 2], DType::F32), ()).item::<i32>(), 1);
/// ```
#[track_caller]
pub fn matrix_rank(x: &Array, options: impl Into<MatrixRank>) -> Array {
    let _named = crate::trace::named("matrix_rank");
    let MatrixRank { rtol, hermitian } = options.into();
    let operands: Vec<Array> = [Some(x.clone()), rtol].into_iter().flatten().collect();
    let results = library_call("matrix_rank", &hermitian.to_string(), &operands, |own| {
        let [x] = inexact("matrix_rank", [&own[0]]);
        let &[.., rows, columns] = x.shape() else {
            let differs = numpy::not_equal(&x, &Array::from(0));
            let axes: Vec<usize> = (0..x.ndim()).collect();
            let any = lax::reduce_or(&differs, &axes);
            return vec![as_dtype(&any, position_type(&x), false)];
        };
        let values = singular_values(&x, Svd::new().full_matrices(false).hermitian(hermitian));
        let dtype = values.dtype();
        let axis = values.ndim() - 1;
        let tolerance = match own.get(1) {
            Some(rtol) => rtol.clone(),
            None => {
                let longer = as_dtype(&Array::from(rows.max(columns) as f64), dtype, false);
                let largest = lax::reduce_max(&values, &[axis]);
                lax::mul(
                    &lax::mul(&largest, &longer),
                    &constant(epsilon(dtype), dtype),
                )
            }
        };
        let tolerance = lax::expand_dims(&tolerance, &[tolerance.ndim()]);
        vec![number_of(&numpy::greater(&values, &tolerance), &[axis], &x)]
    });
    results[0].clone()
}

/// How much a matrix may enlarge errors: the quotient of its largest and smallest singular value, or by another norm (`p`) that of
/// the matrix times that of its inverse. `()` and 2 mean singular values, -2 the inverse quotient.
///
/// # Panics
/// When there are less than two axes, one of them is empty, or for other norms matrices are not square.
///
/// ```
/// use jaxide::{Array, numpy::linalg};
/// let x = Array::from([[4.0f32, 0.0], [0.0, 1.0]]);
/// assert_eq!(linalg::cond(&x, ()).item::<f32>(), 4.0);
/// assert_eq!(linalg::cond(&x, 1).item::<f32>(), 4.0);
/// ```
#[track_caller]
pub fn cond(x: &Array, p: impl Into<Norm>) -> Array {
    let _named = crate::trace::named("cond");
    let order = p.into().ord;
    let by_values = matches!(order, None | Some(NormOrder::Number(2.0 | -2.0)));
    match x.shape() {
        [.., rows, columns] if *rows == 0 || *columns == 0 => {
            refuse("cond", "the matrix is empty", &[x])
        }
        [.., rows, columns] if !by_values && rows != columns => {
            refuse("cond", "by this norm matrices must be square", &[x])
        }
        [_, .., _] => {}
        _ => refuse("cond", "a matrix is needed", &[x]),
    }
    library("cond", &format!("{order:?}"), [x], |[x]| {
        let rank = x.ndim();
        let quotient = if by_values {
            let values = svdvals(x);
            let smallest = values.shape()[values.ndim() - 1] - 1;
            let (largest, smallest) = if order == Some(NormOrder::Number(-2.0)) {
                (last(&values, smallest), last(&values, 0))
            } else {
                (last(&values, 0), last(&values, smallest))
            };
            largest / smallest
        } else {
            let how = Norm {
                ord: order,
                axis: None,
                keepdims: false,
            };
            let how = how.axis([rank - 2, rank - 1]);
            norm(x, how.clone()) * norm(&inv(x), how)
        };
        let undefined = lax::ne(&quotient, &quotient);
        let given = numpy::isnan(x);
        let given = lax::reduce_or(&given, &[rank - 2, rank - 1]);
        let infinite = lax::bitwise_and(&undefined, &lax::bitwise_not(&given));
        where_(&infinite, f64::INFINITY, &quotient)
    })
}
