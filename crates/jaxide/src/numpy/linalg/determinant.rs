//! Determinants, with derivatives of their own.

use jaxide_core::{DType, Error};

use super::super::parts::{
    check_square, column, count, diagonal, inexact, last, pick, range, real, rows_at, sum, trace,
    vectorized,
};
use super::solve;
use crate::array::{Array, as_dtype};
use crate::custom_jvp;
use crate::lax::{self, linalg::Triangular};
use crate::numpy;
use crate::numpy::{remainder, where_};
use crate::options::options;
use crate::trace::library::library_call;
use crate::trace::{library, raise};

/// `x[..., row, column]`.
#[track_caller]
fn entry(x: &Array, row: usize, column: usize) -> Array {
    let rank = x.ndim();
    pick(x, &[(rank - 2, row), (rank - 1, column)])
}

/// `x[..., row, :]`.
#[track_caller]
fn row(x: &Array, row: usize) -> Array {
    pick(x, &[(x.ndim() - 2, row)])
}

/// A number as an element of the type of `x`.
#[track_caller]
fn constant(value: f64, x: &Array) -> Array {
    as_dtype(&Array::from(value), x.dtype(), false)
}

/// The sign, 1 or -1, of a permutation that is written as swaps of rows.
#[track_caller]
fn swaps(pivots: &Array, length: usize) -> Array {
    let rank = pivots.ndim();
    let own = lax::iota(DType::I32, &[length], 0);
    let own = lax::expand_rank(&own, rank);
    count(&lax::ne(pivots, &own), rank - 1)
}

/// `1 - 2 (n mod 2)`.
#[track_caller]
fn sign_of(parity: &Array) -> Array {
    -2 * remainder(parity, 2) + 1
}

#[track_caller]
fn _slogdet_small(a: Array) -> (Array, Array) {
    let det = if a.shape()[a.ndim() - 1] == 1 {
        entry(&a, 0, 0)
    } else {
        let ([a00, a01], [a10, a11]) = entries(&a);
        a00 * a11 - a01 * a10
    };
    let size = lax::abs(&det);
    (lax::sign(&det), lax::log(&size))
}

#[track_caller]
fn entries(a: &Array) -> ([Array; 2], [Array; 2]) {
    let first = [entry(a, 0, 0), entry(a, 0, 1)];
    (first, [entry(a, 1, 0), entry(a, 1, 1)])
}

/// The tangents of sign and logarithm from the tangent of the complex logarithm.
#[track_caller]
fn tangents(sign: &Array, dot: Array) -> (Array, Array) {
    if sign.dtype().is_complex() {
        let size = lax::real(&dot);
        let turned = (&dot - as_dtype(&size, dot.dtype(), false)) * sign;
        (turned, size)
    } else {
        (numpy::full_like(sign, 0), dot)
    }
}

#[track_caller]
fn _slogdet_small_jvp((x,): (Array,), (g,): (Array,)) -> ((Array, Array), (Array, Array)) {
    let (sign, log) = slogdet(&x, ());
    let dot = if x.shape()[x.ndim() - 1] == 1 {
        entry(&g, 0, 0) / entry(&x, 0, 0)
    } else {
        let ([x00, x01], [x10, x11]) = entries(&x);
        let ([g00, g01], [g10, g11]) = entries(&g);
        let det = &x00 * &x11 - &x01 * &x10;
        (g00 * x11 - g01 * x10 - g10 * x01 + g11 * x00) / det
    };
    let dots = tangents(&sign, dot);
    ((sign, log), dots)
}

#[track_caller]
fn _slogdet_lu(a: Array) -> (Array, Array) {
    let (lu, pivots, _) = lax::linalg::lu(&a);
    let diagonal = diagonal(&lu, 0);
    let axis = diagonal.ndim() - 1;
    let singular = lax::reduce_or(&lax::eq(&diagonal, &constant(0.0, &a)), &[axis]);
    let parity = swaps(&pivots, a.shape()[axis]);
    let (sign, parity) = if a.dtype().is_complex() {
        let sizes = as_dtype(&lax::abs(&diagonal), a.dtype(), false);
        (lax::reduce_prod(&(&diagonal / sizes), &[axis]), parity)
    } else {
        let negative = count(&lax::lt(&diagonal, &Array::from(0)), axis);
        (constant(1.0, &a), parity + negative)
    };
    let swapped = as_dtype(&lax::copy(&sign_of(&parity)), a.dtype(), false);
    let sign = where_(&singular, constant(0.0, &a), &(sign * swapped));
    let logs = as_dtype(&lax::log(&lax::abs(&diagonal)), a.dtype(), false);
    let log = sum(&logs, &[axis], false);
    let log = where_(&singular, constant(f64::NEG_INFINITY, &a), &log);
    (sign, real(&log))
}

#[track_caller]
fn _slogdet_qr(a: Array) -> (Array, Array) {
    if a.dtype().is_complex() {
        let what = format!(
            "by QR the determinant of complex matrices is not known, and {} is given",
            a.aval()
        );
        raise(Error::dtype(what).in_operation("slogdet"));
    }
    let n = a.shape()[a.ndim() - 1];
    let (packed, taus) = lax::linalg::geqrf(&a);
    let diagonal = diagonal(&packed, 0);
    let axis = diagonal.ndim() - 1;
    let log = sum(&lax::log(&lax::abs(&diagonal)), &[axis], false);
    let sign = lax::reduce_prod(&lax::sign(&diagonal), &[axis]);
    let reflected = lax::ne(&range(&taus, axis, 0, n.saturating_sub(1)), &Array::from(0));
    let reflected = as_dtype(&where_(&reflected, -1, 1), DType::I32, false);
    let reflected = as_dtype(&lax::reduce_prod(&reflected, &[axis]), sign.dtype(), false);
    (sign * reflected, log)
}

#[track_caller]
fn _slogdet_jvp((x,): (Array,), (g,): (Array,)) -> ((Array, Array), (Array, Array)) {
    let (sign, log) = slogdet(&x, ());
    let dots = tangents(&sign, trace(&solve(&x, &g), None, None));
    ((sign, log), dots)
}

/// The factors by which a determinant is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Method {
    Lu,
    Qr,
}

options! {
    /// What [`slogdet`] takes beside the matrix.
    pub struct Slogdet {
        /// By which factors: `"lu"`, or `"qr"` of real matrices.
        method: Method = Method::Lu, |method: &str| match method {
            "lu" => Method::Lu,
            "qr" => Method::Qr,
            _ => raise(Error::parameter(format!("there is no method `{method}`: `lu` and `qr` are")).in_operation("slogdet")),
        };
    }
}

/// The sign of the determinant of a matrix (a complex number of modulus 1 or zero), and the logarithm of its absolute value:
/// where the determinant itself would overflow.
///
/// # Panics
/// When matrices are not square.
///
/// ```
/// use jaxide::{Array, numpy::linalg};
/// let (sign, log) = linalg::slogdet(&Array::from([[0.0f32, 1.0], [1.0, 0.0]]), ());
/// assert_eq!((sign.item::<f32>(), log.item::<f32>()), (-1.0, 0.0));
/// ```
#[track_caller]
pub fn slogdet(a: &Array, options: impl Into<Slogdet>) -> (Array, Array) {
    let _named = crate::trace::named("slogdet");
    let qr = options.into().method == Method::Qr;
    check_square("slogdet", a);
    let results = library_call("slogdet", &qr.to_string(), std::slice::from_ref(a), |own| {
        let [a] = inexact("slogdet", [&own[0]]);
        let small = matches!(a.shape().last(), Some(1 | 2));
        let (sign, log) = match (qr, small) {
            (true, _) => custom_jvp(_slogdet_qr, _slogdet_jvp)(a),
            (false, true) => custom_jvp(_slogdet_small, _slogdet_small_jvp)(a),
            (false, false) => custom_jvp(_slogdet_lu, _slogdet_jvp)(a),
        };
        vec![sign, log]
    });
    (results[0].clone(), results[1].clone())
}

#[track_caller]
fn _det(a: Array) -> Array {
    let (sign, log) = slogdet(&a, ());
    let size = as_dtype(&lax::exp(&log), sign.dtype(), false);
    sign * size
}

#[track_caller]
fn _det_2x2(a: Array) -> Array {
    let swap = lax::gt(&lax::abs(&entry(&a, 1, 0)), &lax::abs(&entry(&a, 0, 0)));
    let on = column(&swap);
    let r0 = where_(&on, &row(&a, 1), &row(&a, 0));
    let on = column(&swap);
    let r1 = where_(&on, &row(&a, 0), &row(&a, 1));
    let zero = || Array::from(0);
    let safe = where_(&lax::eq(&last(&r0, 0), &zero()), 1, &last(&r0, 0));
    let vanishes = lax::eq(&last(&r0, 0), &zero());
    let l10 = where_(&vanishes, 0, &(last(&r1, 0) / safe));
    let u11 = last(&r1, 1) - l10 * last(&r0, 1);
    where_(&swap, -1, 1) * last(&r0, 0) * u11
}

#[track_caller]
fn _det_3x3(a: Array) -> Array {
    let zero = || Array::from(0);
    let exchanged = |on: &Array, x: &Array, y: &Array| {
        let first = where_(&column(on), x, y);
        (first, where_(&column(on), y, x))
    };
    let swap = lax::gt(&lax::abs(&entry(&a, 1, 0)), &lax::abs(&entry(&a, 0, 0)));
    let on = column(&swap);
    let r0 = where_(&on, &row(&a, 1), &row(&a, 0));
    let on = column(&swap);
    let r1 = where_(&on, &row(&a, 0), &row(&a, 1));
    let r2 = row(&a, 2);
    let sign = where_(&swap, -1, 1);
    let swap = lax::gt(&lax::abs(&last(&r2, 0)), &lax::abs(&last(&r0, 0)));
    let (r0, r2) = exchanged(&swap, &r2, &r0);
    let sign = where_(&swap, &lax::neg(&sign), &sign);
    let safe = where_(&lax::eq(&last(&r0, 0), &zero()), 1, &last(&r0, 0));
    let vanishes = lax::eq(&last(&r0, 0), &zero());
    let l10 = where_(&vanishes, 0, &(last(&r1, 0) / &safe));
    let vanishes = lax::eq(&last(&r0, 0), &zero());
    let l20 = where_(&vanishes, 0, &(last(&r2, 0) / &safe));
    let r1 = r1 - column(&l10) * &r0;
    let r2 = r2 - column(&l20) * &r0;
    let swap = lax::gt(&lax::abs(&last(&r2, 1)), &lax::abs(&last(&r1, 1)));
    let (r1, r2) = exchanged(&swap, &r2, &r1);
    let sign = where_(&swap, &lax::neg(&sign), &sign);
    let safe = where_(&lax::eq(&last(&r1, 1), &zero()), 1, &last(&r1, 1));
    let vanishes = lax::eq(&last(&r1, 1), &zero());
    let l21 = where_(&vanishes, 0, &(last(&r2, 1) / safe));
    let u22 = last(&r2, 2) - l21 * last(&r1, 2);
    sign * last(&r0, 0) * last(&r1, 1) * u22
}

/// The derivative by cofactors, which exists for singular matrices of corank one too.
#[track_caller]
fn _det_jvp((x,): (Array,), (g,): (Array,)) -> (Array, Array) {
    let (det, cofactors) = cofactor_solve(&x, &g);
    (det, trace(&cofactors, None, None))
}

/// The determinant of `a`, and its adjugate times `b`, finite where `a` is singular.
#[track_caller]
fn cofactor_solve(a: &Array, b: &Array) -> (Array, Array) {
    let rank = a.ndim();
    let n = a.shape()[rank - 1];
    if n == 1 {
        return (entry(a, 0, 0), b.clone());
    }
    let (lu, pivots, permutation) = lax::linalg::lu(a);
    let on_diagonal = diagonal(&lu, 0);
    let axis = on_diagonal.ndim() - 1;
    let sign = as_dtype(&sign_of(&swaps(&pivots, n)), a.dtype(), false);
    let partial = lax::cumprod(&on_diagonal, axis, false) * column(&sign);
    if n == 0 {
        return (numpy::full_like(&sign, 1), b.clone());
    }
    // The last pivot would be divided by; its inverse times the determinant is what the other pivots give.
    let corner = lax::bitwise_and(
        &lax::eq(
            &lax::iota(DType::I32, lu.shape(), rank - 2),
            &Array::from(n as i32 - 1),
        ),
        &lax::eq(
            &lax::iota(DType::I32, lu.shape(), rank - 1),
            &Array::from(n as i32 - 1),
        ),
    );
    let inverse = 1.0 / last(&partial, n - 2);
    let outer: Vec<usize> = (0..rank - 2).collect();
    let inverse = lax::broadcast_in_dim(&inverse, lu.shape(), &outer);
    let lu = lax::select(&corner, &inverse, &lu);
    let solved = |b: &Array, lower: bool| {
        let how = Triangular {
            left_side: true,
            lower,
            unit_diagonal: lower,
            ..Triangular::default()
        };
        lax::linalg::triangular_solve(&lu, b, how)
    };
    let ones = lax::full(&b.shape()[..rank - 1], 1, b.dtype());
    let probe = solved(&ones, false);
    let broken = lax::bitwise_or(&numpy::isnan(&probe), &numpy::isinf(&probe));
    let broken = lax::reduce_or(&broken, &[rank - 2]);
    let broken = lax::broadcast_in_dim(&broken, b.shape(), &outer);
    let zeros = numpy::full_like(b, 0);
    let x = lax::select(&broken, &zeros, b);
    let ordered = |own: &[Array]| vec![rows_at(&own[0], &own[1], 0)];
    let x = vectorized("det", &[2, 1], &[x, permutation], &ordered)[0].clone();
    let x = solved(&x, true);
    let determinant = last(&partial, n - 1);
    let scale = column(&column(&determinant));
    let above = range(&x, rank - 2, 0, n - 1) * scale;
    let x = lax::concatenate(&[above, range(&x, rank - 2, n - 1, n)], rank - 2);
    let x = solved(&x, false);
    (determinant, lax::select(&broken, &zeros, &x))
}

/// The determinant of a matrix.
///
/// Its derivative exists for singular matrices too.
///
/// # Panics
/// When matrices are not square.
///
/// ```
/// use jaxide::{Array, grad, numpy::linalg};
/// let a = Array::from([[2.0f32, 1.0], [0.0, 4.0]]);
/// assert_eq!(linalg::det(&a).item::<f32>(), 8.0);
/// let singular = Array::from([[1.0f32, 2.0], [2.0, 4.0]]);
/// assert_eq!(grad(|a: Array| linalg::det(&a))(singular).to_vec::<f32>(), [4.0, -2.0, -2.0, 1.0]);
/// ```
#[track_caller]
pub fn det(a: &Array) -> Array {
    let _named = crate::trace::named("det");
    check_square("det", a);
    library("det", "", [a], |[a]| {
        let [a] = inexact("det", [a]);
        match a.shape().last() {
            Some(2) => custom_jvp(_det_2x2, _det_jvp)(a),
            Some(3) => custom_jvp(_det_3x3, _det_jvp)(a),
            _ => custom_jvp(_det, _det_jvp)(a),
        }
    })
}
