//! Bessel functions.

use crate::api::{jvp, library_jvp};
use crate::array::Array;
use crate::control::{cond, scan_reverse};
use crate::numpy::{remainder, where_};
use crate::options::options;
use crate::scipy::operands::{constant, epsilon, floats};
use crate::trace::library;
use crate::{lax, numpy, vmap_of};

/// Modified Bessel function of the first kind of order 0.
///
/// # Panics
/// When `x` is complex.
///
/// ```
/// use jaxide::scipy::special;
/// assert_eq!(special::i0([0.0f32]).to_vec::<f32>(), [1.0]);
/// ```
#[track_caller]
pub fn i0(x: impl Into<Array>) -> Array {
    let _named = crate::trace::named("i0");
    let [x] = floats("i0", [x.into()]);
    order_zero(&x)
}

#[track_caller]
pub(crate) fn order_zero(x: &Array) -> Array {
    library_jvp(
        ["i0_impl", "i0_impl_jvp"],
        (x.clone(),),
        |(x,): (Array,)| {
            let x = lax::abs(&x);
            lax::mul(&lax::exp(&x), &lax::bessel_i0e(&x))
        },
        |(x,): (Array,), (t,): (Array,)| (order_zero(&x), t * order_one(&x)),
    )
}

/// Modified Bessel function of the first kind of order 1.
///
/// # Panics
/// When `x` is complex.
///
/// ```
/// use jaxide::scipy::special;
/// assert_eq!(special::i1([0.0f32]).to_vec::<f32>(), [0.0]);
/// ```
#[track_caller]
pub fn i1(x: impl Into<Array>) -> Array {
    let _named = crate::trace::named("i1");
    let [x] = floats("i1", [x.into()]);
    order_one(&x)
}

#[track_caller]
fn order_one(x: &Array) -> Array {
    fn formula(x: Array) -> Array {
        lax::mul(&lax::exp(&lax::abs(&x)), &lax::bessel_i1e(&x))
    }
    library_jvp(
        ["_i1", "i1_impl_jvp"],
        (x.clone(),),
        |(x,): (Array,)| formula(x),
        |(x,): (Array,), (t,): (Array,)| {
            let (result, tangent) = jvp(formula, (x.clone(),), (t.clone(),));
            // The derivative of the formula cancels near zero.
            let near = lax::le(&lax::abs(&x), &constant(&x, epsilon(x.dtype()).sqrt()));
            let tangent = where_(&near, series_slope(1, &x) * t, tangent);
            (result, tangent)
        },
    )
}

/// The first term of the derivative of order `k` of `i1` near zero.
#[track_caller]
fn series_slope(k: i32, x: &Array) -> Array {
    let binomial =
        |n: i32, m: i32| (0..m).fold(1.0, |b, i| b * f64::from(n - i) / f64::from(i + 1));
    library_jvp(
        ["_i1_maclaurin", "_i1_maclaurin_jvp"],
        (x.clone(),),
        |(x,): (Array,)| {
            if k % 2 == 0 {
                constant(&x, binomial(k + 1, (k + 1) / 2) / 2f64.powi(k + 1)) * x
            } else {
                numpy::full_like(&x, binomial(k, k / 2) / 2f64.powi(k))
            }
        },
        move |(x,): (Array,), (t,): (Array,)| (series_slope(k, &x), series_slope(k + 1, &x) * t),
    )
}

options! {
    /// What [`bessel_jn`] takes beside the operand and the order.
    pub struct BesselJn {
        /// From which order on the backward recurrence goes.
        n_iter: usize = 50;
    }
}

/// Bessel functions of the first kind of orders 0 to `v`, along a new first axis, by the backward recurrence.
///
/// # Panics
/// When `z` is complex.
///
/// ```
/// use jaxide::scipy::special;
/// let j = special::bessel_jn([10.0f32], 1, ());
/// assert_eq!(j.shape(), [2, 1]);
/// assert!((j.to_vec::<f32>()[0] + 0.24593576).abs() < 1e-6);
/// ```
#[track_caller]
pub fn bessel_jn(z: impl Into<Array>, v: usize, options: impl Into<BesselJn>) -> Array {
    let _named = crate::trace::named("bessel_jn");
    let BesselJn { n_iter } = options.into();
    library("bessel_jn", &format!("{v} {n_iter}"), [&z.into()], |[z]| {
        let [z] = floats("bessel_jn", [z.clone()]);
        let orders = in_each(z.ndim(), z.clone(), v, n_iter);
        let mut axes: Vec<usize> = vec![z.ndim()];
        axes.extend(0..z.ndim());
        lax::transpose(&orders, &axes)
    })
}

/// The orders of each element, along a new last axis.
#[track_caller]
fn in_each(rank: usize, z: Array, v: usize, n_iter: usize) -> Array {
    if rank > 0 {
        return vmap_of(&|z: Array| in_each(rank - 1, z, v, n_iter), z);
    }
    let of = |value: f64| constant(&z, value);
    let init = (of(0.0), of(1e-16), of(0.0), z.clone());
    let step = |(f0, f1, sum, z): (Array, Array, Array, Array), k: Array| {
        let f: Array = 2.0 * (&k + 1.0) * &f1 / &z - f0;
        let even = remainder(&k, 2).equal(0);
        let sum = cond(
            even,
            |(sum, f): (Array, Array)| sum + 2.0 * f,
            |(sum, _): (Array, Array)| sum,
            (sum, f.clone()),
        );
        ((f1, f.clone(), sum, z), f)
    };
    let orders = lax::iota(z.dtype(), &[n_iter + 1], 0);
    let ((_, _, sum, _), values) = scan_reverse(step, init, orders, None);
    let first = values.index(0);
    values.slice(..=v) / (sum - first)
}
