//! Matrices with a pattern, and diagonals.

use std::cmp::{max, min};

use jaxide_core::{DType, Error};

use super::fill::Creation;
use crate::array::{Array, Integer, normalize_axis};
use crate::lax;
use crate::numpy::alone::alone;
use crate::numpy::nested::constant;
use crate::numpy::place::{Way, elements_at, with_elements};
use crate::numpy::where_;
use crate::numpy::{self, ravel};
use crate::options::options;
use crate::trace::{library, raise};

options! {
    /// What [`eye`] takes beside the number of rows; an element type alone is one too.
    pub struct Eye {
        /// Number of columns: as many as rows by default.
        m: Option<usize> = None, |m: impl Into<Option<usize>>| m.into();
        /// Which diagonal has the ones: those above the main one are positive, those below it negative.
        k: i32 = 0;
        /// The element type, `f32` by default.
        dtype: DType = DType::F32;
    }
}

alone!(Eye, dtype: DType);

/// A matrix of `n` rows with ones on a diagonal and zeros elsewhere.
///
/// # Panics
/// When the array is too large to hold.
///
/// ```
/// use jaxide::{DType, numpy};
/// assert_eq!(numpy::eye(2, DType::I32).to_vec::<i32>(), [1, 0, 0, 1]);
/// let above = numpy::eye(2, numpy::Eye::new().m(3).k(1));
/// assert_eq!(above.to_vec::<f32>(), [0.0, 1.0, 0.0, 0.0, 0.0, 1.0]);
/// ```
#[track_caller]
pub fn eye(n: usize, options: impl Into<Eye>) -> Array {
    let _named = crate::trace::named("eye");
    let Eye { m, k, dtype } = options.into();
    let shape = [n, m.unwrap_or(n)];
    let rows = lax::iota(DType::I32, &shape, 0);
    let columns = lax::iota(DType::I32, &shape, 1);
    let rows = lax::add(&rows, &Array::from(k));
    lax::convert_element_type(&lax::eq(&rows, &columns), dtype)
}

/// The square matrix of ones on the diagonal and zeros elsewhere, `f32` unless another element type is given.
///
/// # Panics
/// When the array is too large to hold.
#[track_caller]
pub fn identity(n: usize, options: impl Into<Creation>) -> Array {
    let _named = crate::trace::named("identity");
    eye(n, options.into().or_f32())
}

options! {
    /// What [`tri`] takes beside the number of rows; a diagonal alone is one too.
    pub struct Tri {
        /// Number of columns: as many as rows by default.
        m: Option<usize> = None, |m: impl Into<Option<usize>>| m.into();
        /// Up to which diagonal there are ones: those above the main one are positive, those below it negative.
        k: i64 = 0, |k: impl Integer| k.to_i64();
        /// The element type, `f32` by default.
        dtype: DType = DType::F32;
    }
    /// What functions of one diagonal take beside the array; the number of the diagonal alone is one too.
    pub struct Offset {
        /// Which diagonal: those above the main one are positive, those below it negative.
        k: i64 = 0, |k: impl Integer| k.to_i64();
    }
    /// What [`diagonal`] and [`trace`] take beside the array; an offset alone is one too.
    pub struct Diagonal {
        /// Which diagonal: those above the main one are positive, those below it negative.
        offset: i64 = 0, |offset: impl Integer| offset.to_i64();
        /// The axis of rows.
        axis1: i64 = 0, |axis: impl Integer| axis.to_i64();
        /// The axis of columns.
        axis2: i64 = 1, |axis: impl Integer| axis.to_i64();
        /// The element type of a [`trace`], that of a sum by default.
        dtype: Option<DType> = None, |dtype: impl Into<Option<DType>>| dtype.into();
    }
    /// What [`vander`] takes beside the vector; a number of columns alone is one too.
    pub struct Vander {
        /// Number of columns: as many as elements by default.
        n: Option<usize> = None, |n: impl Into<Option<usize>>| n.into();
        /// Whether powers increase from left to right.
        increasing: bool = false;
    }
}

alone!(Tri, k: integers);
alone!(Offset, k: integers);
alone!(Diagonal, offset: integers);
alone!(Vander, n: usize);

/// A matrix of `n` rows with ones on and below a diagonal, and zeros above.
///
/// # Panics
/// When the array is too large to hold.
///
/// ```
/// use jaxide::numpy;
/// assert_eq!(numpy::tri(2, ()).to_vec::<f32>(), [1.0, 0.0, 1.0, 1.0]);
/// ```
#[track_caller]
pub fn tri(n: usize, options: impl Into<Tri>) -> Array {
    let _named = crate::trace::named("tri");
    let Tri { m, k, dtype } = options.into();
    lax::convert_element_type(&lower(n, m.unwrap_or(n), k), dtype)
}

/// Where a matrix is on or below a diagonal.
#[track_caller]
fn lower(n: usize, m: usize, k: i64) -> Array {
    let rows = lax::iota(DType::I32, &[n, m], 0);
    let rows = lax::add(&rows, &constant(within(k), DType::I32));
    lax::ge(&rows, &lax::iota(DType::I32, &[n, m], 1))
}

/// The number of a diagonal as an `i32`, which no matrix has the ends of.
fn within(k: i64) -> i64 {
    k.clamp((i32::MIN / 2).into(), (i32::MAX / 2).into())
}

/// Triangles of matrices, the last two axes.
macro_rules! triangles {
    ($($(#[$doc:meta])* $name:ident $k:expr, |$kept:ident, $x:ident, $zeros:ident| $select:expr;)*) => { $(
        $(#[$doc])*
        ///
        /// # Panics
        /// When `m` has fewer than two axes.
        #[track_caller]
        pub fn $name(m: &Array, options: impl Into<Offset>) -> Array {
            let _named = crate::trace::named(stringify!($name));
            let k = options.into().k;
            library(stringify!($name), &k.to_string(), [m], |[$x]| {
                let rank = at_least_two(stringify!($name), $x);
                let [rows, columns] = [$x.shape()[rank - 2], $x.shape()[rank - 1]];
                let below: fn(i64) -> i64 = $k;
                let mask = lower(rows, columns, below(k));
                let $kept = &lax::broadcast_in_dim(&mask, $x.shape(), &[rank - 2, rank - 1]);
                let $zeros = &numpy::zeros_like($x, ());
                $select
            })
        }
    )* };
}

triangles! {
    /// The elements on and below a diagonal, zeros above.
    tril |k| k, |kept, x, zeros| lax::select(kept, x, zeros);
    /// The elements on and above a diagonal, zeros below.
    triu |k| k.saturating_sub(1), |below, x, zeros| lax::select(below, zeros, x);
}

#[track_caller]
fn at_least_two(operation: &str, x: &Array) -> usize {
    if x.ndim() < 2 {
        raise(
            Error::shape(format!("two axes are needed, and {} is given", x.aval()))
                .in_operation(operation),
        );
    }
    x.ndim()
}

/// Of a vector the matrix that has it on a diagonal, of a matrix a diagonal.
///
/// # Panics
/// When `v` is neither.
///
/// ```
/// use jaxide::{Array, numpy};
/// let m = numpy::diag(&Array::from([1, 2]), ());
/// assert_eq!(m.to_vec::<i32>(), [1, 0, 0, 2]);
/// assert_eq!(numpy::diag(&m, 1).to_vec::<i32>(), [0]);
/// ```
#[track_caller]
pub fn diag(v: &Array, options: impl Into<Offset>) -> Array {
    let _named = crate::trace::named("diag");
    let k = options.into().k;
    library("_diag", &k.to_string(), [v], |[v]| match v.ndim() {
        1 => {
            let n = v.size().saturating_add(k.unsigned_abs() as usize);
            let zero = constant(0, v.dtype());
            let padded = lax::pad(v, &zero, &[(max(0, -k), max(0, k), 0)]);
            let place = eye(n, Eye::new().k(within(k) as i32).dtype(DType::Bool));
            where_(&place, &lax::expand_dims(&padded, 1), &zero)
        }
        2 => diagonal(v, k),
        _ => raise(
            Error::shape(format!(
                "a vector or a matrix is needed, and {} is given",
                v.aval()
            ))
            .in_operation("diag"),
        ),
    })
}

/// The matrix that has the elements of `v`, one after the other, on a diagonal.
///
/// # Panics
/// When the array is too large to hold.
#[track_caller]
pub fn diagflat(v: &Array, options: impl Into<Offset>) -> Array {
    let _named = crate::trace::named("diagflat");
    let k = options.into().k;
    let v = ravel(v, ());
    let side = v.size().saturating_add(k.unsigned_abs() as usize);
    let zeros = lax::full([side.saturating_mul(side)], 0, v.dtype());
    let index = lax::iota(DType::I32, &[v.size()], 0);
    let place = if k >= 0 {
        &index + k + &index * side
    } else {
        &index + (&index - k) * side
    };
    let filled = with_elements(&zeros, 0, &[&place], &v, Way::Set);
    lax::reshape(&filled, [side, side])
}

/// A diagonal of the matrices that two axes hold, as the last axis.
///
/// # Panics
/// When there are no two such axes.
///
/// ```
/// use jaxide::{Array, numpy};
/// let x = Array::from([[1, 2, 3], [4, 5, 6]]);
/// assert_eq!(numpy::diagonal(&x, 1).to_vec::<i32>(), [2, 6]);
/// ```
#[track_caller]
pub fn diagonal(a: &Array, options: impl Into<Diagonal>) -> Array {
    let _named = crate::trace::named("diagonal");
    const OPERATION: &str = "diagonal";
    let options = options.into();
    let Diagonal {
        offset,
        axis1,
        axis2,
        ..
    } = options;
    library(
        OPERATION,
        &format!("{offset} {axis1} {axis2}"),
        [a],
        |[a]| {
            let rank = at_least_two(OPERATION, a);
            let [rows, columns] =
                two_axes(OPERATION, a, &options).map(|axis| a.shape()[axis] as i64);
            let dtype = a.dtype();
            // JAX sums where a platform has no gather.
            let summed = dtype.is_inexact() || dtype.is_integer();
            if rank == 2 && rows == columns && offset == 0 && summed {
                let ones = numpy::eye(rows as usize, dtype);
                let masked = |x: Array| lax::reduce_sum(&(&ones * x), [0]);
                let taken = |x: Array| {
                    let index = || lax::iota(DType::I32, [rows as usize], 0);
                    let x = numpy::moveaxis(&x, (axis1, axis2), (-2, -1));
                    elements_at(&x, 0, &[&index(), &index()])
                };
                return lax::on_platform("mosaic", (a.clone(),), masked, taken);
            }
            let a = numpy::moveaxis(a, (axis1, axis2), (-2, -1));
            let count = max(
                0,
                min(
                    rows.saturating_add(min(offset, 0)),
                    columns.saturating_sub(max(offset, 0)),
                ),
            );
            let near = lax::iota(DType::I32, &[count as usize], 0);
            let far = lax::iota(DType::I32, &[count as usize], 0);
            let far = if offset == 0 {
                far
            } else {
                lax::add(&constant(within(offset.saturating_abs()), DType::I32), &far)
            };
            let places = if offset >= 0 {
                [&near, &far]
            } else {
                [&far, &near]
            };
            elements_at(&a, rank - 2, &places)
        },
    )
}

/// The axes of rows and columns, which must differ.
#[track_caller]
fn two_axes(operation: &str, a: &Array, options: &Diagonal) -> [usize; 2] {
    let axes = [options.axis1, options.axis2].map(|axis| normalize_axis(operation, axis, a.ndim()));
    if axes[0] == axes[1] {
        raise(
            Error::parameter(format!("axis {} is named twice", options.axis1))
                .in_operation(operation),
        );
    }
    axes
}

/// The sum of a diagonal of the matrices that two axes hold, in the element type of a sum unless one is given.
///
/// # Panics
/// When there are no two such axes.
///
/// ```
/// use jaxide::{Array, numpy};
/// let x = Array::from([[1, 2, 3], [4, 5, 6]]);
/// assert_eq!(numpy::trace(&x, ()).item::<i32>(), 6);
/// ```
#[track_caller]
pub fn trace(a: &Array, options: impl Into<Diagonal>) -> Array {
    let _named = crate::trace::named("trace");
    const OPERATION: &str = "trace";
    let options = options.into();
    let Diagonal {
        offset,
        axis1,
        axis2,
        dtype,
    } = options;
    let key = format!("{axis1} {axis2} {dtype:?} {offset}");
    let sum = |a: &Array, offset: &Array| {
        let [rows, columns] = two_axes(OPERATION, a, &options).map(|axis| a.shape()[axis]);
        let a = numpy::moveaxis(a, (axis1, axis2), (-2, -1));
        let shape = [rows, columns];
        let row = lax::iota(DType::I32, &shape, 0);
        let column = lax::iota(DType::I32, &shape, 1);
        let offset = lax::convert_element_type(offset, DType::I32);
        let place = lax::eq(&lax::add(&row, &offset), &column);
        let kept = where_(&place, &a, &numpy::zeros_like(&a, ()));
        let kept = dtype.map_or(kept.clone(), |dtype| numpy::astype(&kept, dtype));
        let sum = numpy::sum(&kept, (-2, -1));
        dtype.map_or(sum.clone(), |dtype| numpy::astype(&sum, dtype))
    };
    let given = Array::from(within(offset));
    if offset == 0 {
        return library(OPERATION, &key, [a], |[a]| sum(a, &given));
    }
    library(OPERATION, &key, [a, &given], |[a, offset]| sum(a, offset))
}

/// The matrix of the powers of the elements of `x`, a row for each: from the highest power down, or up when `increasing`.
///
/// # Panics
/// When `x` is no vector.
///
/// ```
/// use jaxide::{Array, numpy};
/// let powers = numpy::vander(&Array::from([2, 3]), 3);
/// assert_eq!(powers.to_vec::<i32>(), [4, 2, 1, 9, 3, 1]);
/// ```
#[track_caller]
pub fn vander(x: &Array, options: impl Into<Vander>) -> Array {
    let _named = crate::trace::named("vander");
    let Vander { n, increasing } = options.into();
    library("vander", &format!("{n:?} {increasing}"), [x], |[x]| {
        if x.ndim() != 1 {
            raise(
                Error::shape(format!("a vector is needed, and {} is given", x.aval()))
                    .in_operation("vander"),
            );
        }
        let n = n.unwrap_or(x.size());
        let powers = lax::iota(x.dtype(), &[n], 0);
        let powers = if increasing {
            powers
        } else {
            lax::sub(&constant(n as i64 - 1, x.dtype()), &powers)
        };
        numpy::power(&lax::expand_dims(x, 1), &lax::expand_dims(&powers, 0))
    })
}
