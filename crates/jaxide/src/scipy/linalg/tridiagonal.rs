//! Eigenvalues and eigenvectors of tridiagonal matrices.

use jaxide_core::{DType, Error};

use crate::array::{Array, as_dtype};
use crate::control::{fori_loop, while_loop};
use crate::lax;
use crate::numpy;
use crate::numpy::linalg;
use crate::numpy::parts::{column, conj, epsilon, pick, range, real, refuse};
use crate::numpy::where_;
use crate::options::options;
use crate::random;
use crate::trace::raise;

options! {
    /// What [`eigh_tridiagonal`] and [`eigvalsh_tridiagonal`] take beside the diagonals.
    pub struct EighTridiagonal {
        /// The first and the last eigenvalue that are wanted, counted from the smallest: all by default.
        select_range: Option<(usize, usize)> = None, |first_and_last: (usize, usize)| Some(first_and_last);
        /// How far eigenvalues may be off; never less than the digits allow.
        tol: Option<f64> = None, |tol: f64| Some(tol);
        /// The random key from which eigenvectors are started.
        key: Option<Array> = None, |key: impl Into<Array>| Some(key.into());
    }
}

const OPERATION: &str = "eigh_tridiagonal";

/// The digits and the range of a real element type: bits of the fraction, the largest number, the smallest normal one.
fn limits(dtype: DType) -> (i32, f64, f64) {
    if dtype == DType::F64 {
        (52, f64::MAX, f64::MIN_POSITIVE)
    } else {
        (23, f64::from(f32::MAX), f64::from(f32::MIN_POSITIVE))
    }
}

#[track_caller]
fn check(d: &Array, e: &Array) {
    let floats = matches!(
        d.dtype(),
        DType::F32 | DType::F64 | DType::C64 | DType::C128
    );
    if !floats || d.dtype() != e.dtype() {
        let what = format!(
            "diagonals must be floats of 32 or 64 bits, and alike, not {} and {}",
            d.aval(),
            e.aval()
        );
        raise(Error::dtype(what).in_operation(OPERATION));
    }
    if d.ndim() != 1 || e.ndim() != 1 || e.size() + 1 < d.size() {
        refuse(
            OPERATION,
            "the second diagonal must have one element less",
            &[d, e],
        );
    }
}

/// Ascending eigenvalues of a Hermitian matrix that is zero beside its diagonal `d` and those next to it, of which the upper one
/// is `e`: [`eigh_tridiagonal`] with `eigvals_only`. They are found by bisection.
///
/// # Panics
/// When the diagonals are no vectors of floats, or their lengths do not fit.
///
/// ```
/// use jaxide::{Array, scipy::linalg};
/// let w = linalg::eigvalsh_tridiagonal(&Array::from([1.0f32, 1.0]), &Array::from([1.0f32]), ());
/// assert!(w.to_vec::<f32>().iter().zip([0.0, 2.0]).all(|(x, y)| (x - y).abs() < 1e-5));
/// ```
#[track_caller]
pub fn eigvalsh_tridiagonal(d: &Array, e: &Array, options: impl Into<EighTridiagonal>) -> Array {
    let _named = crate::trace::named("eigvalsh_tridiagonal");
    let options = options.into();
    check(d, e);
    let n = d.size();
    let alpha = real(d);
    if n <= 1 {
        return alpha;
    }
    let (sizes, squares) = if e.dtype().is_complex() {
        let squares = lax::real(&(e * lax::conj(e)));
        (lax::sqrt(&squares), squares)
    } else {
        (lax::abs(e), lax::square(e))
    };
    let dtype = alpha.dtype();
    let number = |value: f64| as_dtype(&Array::from(value), dtype, false);
    let (digits, largest, tiny) = limits(dtype);
    let eps = epsilon(dtype);
    let between = range(&sizes, 0, 0, n - 2) + range(&sizes, 0, 1, n - 1);
    let ends = [
        range(&sizes, 0, 0, 1),
        between,
        range(&sizes, 0, n - 2, n - 1),
    ];
    let radius = lax::concatenate(&ends, 0);
    let highest = lax::reduce_max(&(&alpha + &radius), [0]);
    let lowest = lax::reduce_min(&(&alpha - &radius), [0]);
    let norm = lax::max(&lax::abs(&lowest), &lax::abs(&highest));
    let safe = (1.0 / largest).max((1.0 + eps) * tiny);
    let least = number(safe) * lax::max(&number(1.0), &lax::reduce_max(&squares, [0]));
    let first_size = pick(&sizes, &[(0, 0)]);
    let nudge = lax::square(&(number(eps) * first_size));
    let tolerance = number(eps) * &norm;
    let tolerance = match options.tol {
        Some(tol) => lax::max(&number(tol), &tolerance),
        None => tolerance,
    };
    let (first, last) = options.select_range.unwrap_or((0, n - 1));
    if first > last || last >= n {
        let what = format!("{first} to {last} are no indices of {n} eigenvalues");
        raise(Error::parameter(what).in_operation(OPERATION));
    }
    let wanted = lax::iota(DType::I32, [last + 1 - first], 0);
    let wanted = if first == 0 {
        wanted
    } else {
        wanted + first as i64
    };
    let shape = [last + 1 - first];
    let slack = number(n as f64) * 2.1 * number(eps) * &norm;
    let lower = &lowest - &slack - 4.2 * &least;
    let upper = &highest + &slack + 2.1 * &least;
    let [lower, upper, least, nudge] =
        [lower, upper, least, nudge].map(|x| numpy::broadcast_to(&x, shape));
    let mid = 0.5 * (&upper + &lower);
    let below = |x: &Array| sturm(&alpha, &squares, &least, &nudge, x);
    let more = |(turn, lower, _, upper): (Array, Array, Array, Array)| {
        let width = lax::reduce_max(&(upper - lower), [0]);
        lax::bitwise_and(
            &lax::lt(&turn, &Array::from(digits + 1)),
            &lax::lt(&tolerance, &width),
        )
    };
    let halve = |(turn, lower, mid, upper): (Array, Array, Array, Array)| {
        let counts = below(&mid);
        let lower = where_(&lax::le(&counts, &wanted), &mid, &lower);
        let upper = where_(&lax::gt(&counts, &wanted), &mid, &upper);
        let mid = 0.5 * (&lower + &upper);
        (turn + 1, lower, mid, upper)
    };
    while_loop(more, halve, (Array::from(0), lower, mid, upper)).2
}

/// How many eigenvalues are below each of some numbers.
#[track_caller]
fn sturm(alpha: &Array, squares: &Array, least: &Array, nudge: &Array, x: &Array) -> Array {
    let zero = Array::from(0);
    let first = pick(alpha, &[(0, 0)]);
    let q = &first - x;
    let count = as_dtype(&lax::lt(&q, &zero), DType::I32, false);
    let q = where_(&numpy::equal(&first, x), nudge, &q);
    let element = |v: &Array, i: &Array| {
        lax::squeeze(&lax::dynamic_slice(v, std::slice::from_ref(i), [1]), [0])
    };
    let step = |i: Array, (q, count): (Array, Array)| {
        let q = element(alpha, &i) - element(squares, &(&i - 1)) / q - x;
        let small = lax::le(&q, least);
        let count = where_(&small, &(&count + 1), &count);
        let q = where_(&small, &lax::min(&q, &lax::neg(least)), &q);
        (q, count)
    };
    fori_loop(1, alpha.size() as i32, step, (q, count)).1
}

/// Ascending eigenvalues, and eigenvectors as columns, of a Hermitian matrix that is zero beside its diagonal `d` and those next
/// to it, of which the upper one is `e`. Eigenvectors are found by inverse iteration from random vectors.
///
/// # Panics
/// When the diagonals are no vectors of floats, or their lengths do not fit.
#[track_caller]
pub fn eigh_tridiagonal(
    d: &Array,
    e: &Array,
    options: impl Into<EighTridiagonal>,
) -> (Array, Array) {
    let _named = crate::trace::named("eigh_tridiagonal");
    let options = options.into();
    let key = options.key.clone().unwrap_or_else(|| random::key(42));
    let values = eigvalsh_tridiagonal(d, e, options);
    let n = d.size();
    if n <= 1 {
        return (values, numpy::eye(n, d.dtype()));
    }
    let vectors = eigenvectors(d, e, &values, &key);
    (values, lax::transpose(&vectors, [1, 0]))
}

/// The eigenvectors of some eigenvalues, as rows.
#[track_caller]
fn eigenvectors(d: &Array, e: &Array, values: &Array, key: &Array) -> Array {
    let (n, count) = (d.size(), values.size());
    let dtype = d.dtype();
    let below = lax::pad(&conj(e), 0, &[(1, 0, 0)]);
    let above = lax::pad(e, 0, &[(0, 1, 0)]);
    let norm = lax::max(
        &lax::abs(&pick(values, &[(0, 0)])),
        &lax::abs(&pick(values, &[(0, count - 1)])),
    );
    let close_by = lax::sqrt(&as_dtype(
        &Array::from(epsilon(dtype)),
        values.dtype(),
        false,
    )) * norm;
    let gaps = range(values, 0, 1, count) - range(values, 0, 0, count - 1);
    let close = numpy::less(&gaps, &close_by);
    // Eigenvalues that are close have vectors that are made orthogonal: the same number says which belong together.
    let starts = lax::bitwise_not(&close);
    let cluster = lax::pad(
        &lax::cumsum(&as_dtype(&starts, DType::I32, false), 0, false),
        0,
        &[(1, 0, 0)],
    );
    let start = as_dtype(
        &random::normal(key, [count, n], values.dtype()),
        dtype,
        false,
    );
    let unit = |v: &Array| {
        let length = linalg::norm(v, linalg::Norm::new().axis(-1).keepdims(true));
        (
            v / as_dtype(&length, dtype, false),
            lax::squeeze(&length, [1]),
        )
    };
    let start = unit(&start).0;
    let shifted = as_dtype(
        &(lax::expand_dims(&real(d), &[0]) - column(values)),
        dtype,
        false,
    );
    let rows = |x: &Array| lax::broadcast_in_dim(x, [count, n], [1]);
    let (below, above) = (rows(&below), rows(&above));
    let prim = jaxide_core::prims::TridiagonalSolve {
        perturb_singular: true,
    };
    let step = |(turn, v, length, _): (Array, Array, Array, Array)| {
        let operands = [below.clone(), shifted.clone(), above.clone(), column(&v)];
        let v = lax::squeeze(&crate::trace::bind_one(prim, &operands), [2]);
        let (v, new) = unit(&v);
        (turn + 1, orthogonal(&v, &cluster), new, length)
    };
    let more = |(turn, _, length, before): (Array, Array, Array, Array)| {
        let grows = lax::ge(&length, &(1.1 * before));
        lax::bitwise_and(
            &lax::lt(&turn, &Array::from(5)),
            &lax::reduce_or(&grows, [0]),
        )
    };
    let full = |value: i32| lax::full([count], value, values.dtype());
    while_loop(more, step, (Array::from(0), start, full(1), full(0))).1
}

/// Rows with those of one cluster made orthonormal, in their order.
#[track_caller]
fn orthogonal(v: &Array, cluster: &Array) -> Array {
    let count = v.shape()[0];
    let numbers = lax::iota(DType::I32, [count], 0);
    let step = |i: Array, v: Array| {
        let row = lax::dynamic_slice(&v, &[i.clone(), Array::from(0)], [1, v.shape()[1]]);
        let own = lax::dynamic_slice(cluster, std::slice::from_ref(&i), [1]);
        let before = lax::bitwise_and(&numpy::equal(cluster, &own), &lax::lt(&numbers, &i));
        let before = as_dtype(&before, v.dtype(), false);
        // Twice is enough.
        let row = [(); 2].iter().fold(row, |row, ()| {
            let parts = numpy::matmul(&conj(&v), &lax::transpose(&row, [1, 0]));
            let parts = lax::squeeze(&parts, [1]) * &before;
            row - numpy::matmul(&lax::expand_dims(&parts, &[0]), &v)
        });
        let length = linalg::norm(&row, ());
        let row = row / as_dtype(&length, v.dtype(), false);
        lax::dynamic_update_slice(&v, &row, &[i, Array::from(0)])
    };
    fori_loop(0, count as i32, step, v.clone())
}
