//! Logarithms and what is made of them: entropies, logits and transformations of Box and Cox.

use jaxide_core::prims::{Log, Log1p, Opaque, PyValue};

use crate::api::library_jvp;
use crate::array::Array;
use crate::numpy::where_;
use crate::scipy::operands::{constant, filled, floats, inexact, smallest, tangent_of};
use crate::trace::{bind_one, library};
use crate::{lax, numpy};

/// `ln(x / (1 - x))`, the inverse of [`expit`](super::expit).
///
/// # Panics
/// When `x` is not a number.
///
/// ```
/// use jaxide::scipy::special;
/// let y = special::logit([0.0f32, 0.5, 1.0]).to_vec::<f32>();
/// assert_eq!(y, [f32::NEG_INFINITY, 0.0, f32::INFINITY]);
/// ```
#[track_caller]
pub fn logit(x: impl Into<Array>) -> Array {
    let _named = crate::trace::named("logit");
    library_jvp(
        ["logit", "jvp"],
        (x.into(),),
        |(x,): (Array,)| {
            let [x] = inexact("logit", [x]);
            lax::log(&lax::div(&x, &lax::sub(&constant(&x, 1.0), &x)))
        },
        |(x,): (Array,), (t,): (Array,)| {
            let result = logit(&x);
            let slope = || {
                let [x] = inexact("logit", [x.clone()]);
                1.0 / lax::mul(&x, &lax::sub(&constant(&x, 1.0), &x))
            };
            let tangent = tangent_of(&result, &[(&t, &slope)]);
            (result, tangent)
        },
    )
}

/// `x log(y)` that is 0 where `x` is, unless `y` is NaN.
#[track_caller]
fn product_with_log(x: &Array, y: &Array, log: fn(&Array) -> Array) -> Array {
    let nonzero = x.not_equal(0.0);
    let counts = nonzero | numpy::isnan(y);
    where_(&counts, lax::mul(x, &log(y)), filled(x, 0.0))
}

/// `x ln(y)`, which is 0 where `x` is 0.
///
/// # Panics
/// When there is no common element type, or shapes do not broadcast.
///
/// ```
/// use jaxide::scipy::special;
/// assert_eq!(special::xlogy([0.0f32, 2.0], [0.0f32, 1.0]).to_vec::<f32>(), [0.0, 0.0]);
/// ```
#[track_caller]
pub fn xlogy(x: impl Into<Array>, y: impl Into<Array>) -> Array {
    let _named = crate::trace::named("xlogy");
    library_jvp(
        ["xlogy", "_xlogy_jvp"],
        (x.into(), y.into()),
        |(x, y): (Array, Array)| {
            let [x, y] = inexact("xlogy", [x, y]);
            product_with_log(&x, &y, lax::log)
        },
        |(x, y): (Array, Array), (x_dot, y_dot): (Array, Array)| {
            let result = xlogy(&x, &y);
            let in_x = || y.log();
            let in_y = || numpy::divide(&x, &y);
            let tangent = tangent_of(&result, &[(&x_dot, &in_x), (&y_dot, &in_y)]);
            (result, tangent)
        },
    )
}

/// `x ln(1 + y)`, which is 0 where `x` is 0.
///
/// # Panics
/// When there is no common element type, or shapes do not broadcast.
///
/// ```
/// use jaxide::scipy::special;
/// assert_eq!(special::xlog1py([0.0f32, 2.0], [-1.0f32, 0.0]).to_vec::<f32>(), [0.0, 0.0]);
/// ```
#[track_caller]
pub fn xlog1py(x: impl Into<Array>, y: impl Into<Array>) -> Array {
    let _named = crate::trace::named("xlog1py");
    library_jvp(
        ["xlog1py", "_xlog1py_jvp"],
        (x.into(), y.into()),
        |(x, y): (Array, Array)| {
            let [x, y] = inexact("xlog1py", [x, y]);
            product_with_log(&x, &y, lax::log1p)
        },
        |(x, y): (Array, Array), (x_dot, y_dot): (Array, Array)| {
            let result = xlog1py(&x, &y);
            let in_x = || y.log1p();
            let in_y = || numpy::divide(&x, &(1 + &y));
            let tangent = tangent_of(&result, &[(&x_dot, &in_x), (&y_dot, &in_y)]);
            (result, tangent)
        },
    )
}

/// `x ln(x)`, whose derivative is `ln(x) + 1`.
#[track_caller]
fn xlogx(x: &Array) -> Array {
    library_jvp(
        ["_xlogx", "_xlogx_jvp"],
        (x.clone(),),
        |(x,): (Array,)| xlogy(&x, &x),
        |(x,): (Array,), (t,): (Array,)| {
            let result = xlogx(&x);
            let slope = lax::log(&x) + 1;
            (result, t * slope)
        },
    )
}

/// Entropy of an element, `-x ln(x)`: 0 at 0, and minus infinity below.
///
/// # Panics
/// When `x` is complex.
///
/// ```
/// use jaxide::scipy::special;
/// assert_eq!(special::entr([0.0f32, 1.0, -1.0]).to_vec::<f32>(), [0.0, 0.0, f32::NEG_INFINITY]);
/// ```
#[track_caller]
pub fn entr(x: impl Into<Array>) -> Array {
    let _named = crate::trace::named("entr");
    let [x] = floats("entr", [x.into()]);
    let negative = lax::lt(&x, &constant(&x, 0.0));
    let low = filled(&x, f64::NEG_INFINITY);
    lax::select(&negative, &low, &lax::neg(&xlogx(&x)))
}

/// `log(x)` where `lambda` is 0, else `(e^(lambda log(x)) - 1) / lambda`.
#[track_caller]
fn power_transform(x: &Array, lambda: &Array, log: fn(&Array) -> Array) -> Array {
    let is_zero = lambda.equal(0);
    let safe = where_(&is_zero, numpy::full_like(lambda, 1), lambda);
    let log = log(x);
    let power = (&safe * &log).expm1() / safe;
    where_(&is_zero, log, power)
}

/// The transformation of Box and Cox: `(x^lmbda - 1) / lmbda`, or `ln(x)` where `lmbda` is 0.
///
/// # Panics
/// When there is no common element type, or shapes do not broadcast.
///
/// ```
/// use jaxide::scipy::special;
/// assert_eq!(special::boxcox([1.0f32, 1.0], [0.0f32, 2.0]).to_vec::<f32>(), [0.0, 0.0]);
/// ```
#[track_caller]
pub fn boxcox(x: impl Into<Array>, lmbda: impl Into<Array>) -> Array {
    let _named = crate::trace::named("boxcox");
    let [x, lambda] = inexact("boxcox", [x.into(), lmbda.into()]);
    power_transform(&x, &lambda, numpy::log)
}

/// [`boxcox`] of `1 + x`, exact near zero.
///
/// # Panics
/// When there is no common element type, or shapes do not broadcast.
///
/// ```
/// use jaxide::scipy::special;
/// assert_eq!(special::boxcox1p([0.0f32], 2.0).to_vec::<f32>(), [0.0]);
/// ```
#[track_caller]
pub fn boxcox1p(x: impl Into<Array>, lmbda: impl Into<Array>) -> Array {
    let _named = crate::trace::named("boxcox1p");
    let [x, lambda] = inexact("boxcox1p", [x.into(), lmbda.into()]);
    power_transform(&x, &lambda, numpy::log1p)
}

/// What JAX writes of a function that is asked to be as accurate as it can.
pub(super) fn highest() -> Option<Opaque> {
    Some(Opaque(PyValue::Word("AccuracyMode.HIGHEST".to_owned())))
}

/// `p ln(p / q) - p + q`, the part of an element in the divergence of Kullback and Leibler; infinite where an operand is negative.
///
/// # Panics
/// When an operand is complex, or shapes do not broadcast.
///
/// ```
/// use jaxide::scipy::special;
/// assert_eq!(special::kl_div([1.0f32, 0.0], [1.0f32, 2.0]).to_vec::<f32>(), [0.0, 2.0]);
/// ```
#[track_caller]
pub fn kl_div(p: impl Into<Array>, q: impl Into<Array>) -> Array {
    let _named = crate::trace::named("kl_div");
    let [p, q] = floats("kl_div", [p.into(), q.into()]);
    relative_entropy(p, q, true)
}

/// `p ln(p / q)`, relative entropy of an element; infinite where an operand is negative.
///
/// # Panics
/// When an operand is complex, or shapes do not broadcast.
///
/// ```
/// use jaxide::scipy::special;
/// assert_eq!(special::rel_entr([1.0f32, 0.0], [1.0f32, 2.0]).to_vec::<f32>(), [0.0, 0.0]);
/// ```
#[track_caller]
pub fn rel_entr(p: impl Into<Array>, q: impl Into<Array>) -> Array {
    let _named = crate::trace::named("rel_entr");
    let [p, q] = floats("rel_entr", [p.into(), q.into()]);
    relative_entropy(p, q, false)
}

/// What value and derivative of [`kl_div`] and [`rel_entr`] have in common.
struct Ratio {
    nan: Array,
    positive: Array,
    /// Where `p` is 0 and `q` is not negative.
    zero: Array,
    /// The operands, 1 where they are not positive.
    p: Array,
    q: Array,
    log: Array,
    ratio: Array,
    /// Where the ratio is between 1/2 and 2, so that the logarithm is that of a difference.
    near: Array,
    difference: Array,
    relative: Array,
}

impl Ratio {
    #[track_caller]
    fn of(p: &Array, q: &Array) -> Ratio {
        let of = |value: f64| constant(p, value);
        let zero = of(0.0);
        let nan = lax::bitwise_or(&numpy::isnan(p), &numpy::isnan(q));
        let positive = lax::bitwise_and(&lax::gt(p, &zero), &lax::gt(q, &zero));
        let zero = lax::bitwise_and(&lax::eq(p, &zero), &lax::ge(q, &zero));
        let safe_p = where_(&positive, p, 1);
        let safe_q = where_(&positive, q, 1);
        let ratio = lax::div(&safe_p, &safe_q);
        let near = lax::bitwise_and(&lax::gt(&ratio, &of(0.5)), &lax::lt(&ratio, &of(2.0)));
        let normal = lax::bitwise_and(
            &lax::gt(&ratio, &of(smallest(p.dtype()))),
            &lax::lt(&ratio, &of(f64::INFINITY)),
        );
        let near_p = where_(&near, &safe_p, 1);
        let near_q = where_(&near, &safe_q, 1);
        let difference = lax::sub(&near_p, &near_q);
        let relative = lax::div(&difference, &near_q);
        let safe_ratio = where_(&normal, &ratio, 1);
        let log = |x: &Array| {
            bind_one(
                Log {
                    accuracy: highest(),
                },
                std::slice::from_ref(x),
            )
        };
        let by_difference = bind_one(
            Log1p {
                accuracy: highest(),
            },
            std::slice::from_ref(&relative),
        );
        let by_ratio = log(&safe_ratio);
        let by_logs = lax::sub(&log(&safe_p), &log(&safe_q));
        let log = where_(&near, by_difference, where_(&normal, by_ratio, by_logs));
        Ratio {
            nan,
            positive,
            zero,
            p: safe_p,
            q: safe_q,
            log,
            ratio,
            near,
            difference,
            relative,
        }
    }
}

/// [`kl_div`] with `kl`, else [`rel_entr`].
#[track_caller]
fn relative_entropy(p: Array, q: Array, kl: bool) -> Array {
    library_jvp(
        ["_rel_entr", "_rel_entr_jvp"],
        (p, q),
        move |(p, q): (Array, Array)| {
            library("_rel_entr", &kl.to_string(), [&p, &q], |[p, q]| {
                relative_entropy_value(p, q, kl)
            })
        },
        move |(p, q): (Array, Array), (p_dot, q_dot): (Array, Array)| {
            let result = relative_entropy(p.clone(), q.clone(), kl);
            let of = |value: f64| constant(&p, value);
            let ratio = Ratio::of(&p, &q);
            let (in_p, in_q) = if kl {
                let finite = lax::lt(&ratio.q, &of(f64::INFINITY));
                let finite_p = where_(&finite, &ratio.p, 1);
                let finite_q = where_(&finite, &ratio.q, 1);
                let relative = lax::div(&lax::sub(&finite_p, &finite_q), &finite_q);
                (ratio.log, lax::neg(&where_(&finite, relative, of(-1.0))))
            } else {
                (lax::add(&ratio.log, &of(1.0)), lax::neg(&ratio.ratio))
            };
            let at_zero = where_(&ratio.zero, of(f64::from(u8::from(kl))), of(0.0));
            let in_p = where_(
                &ratio.nan,
                of(f64::NAN),
                where_(&ratio.positive, in_p, of(0.0)),
            );
            let in_q = where_(
                &ratio.nan,
                of(f64::NAN),
                where_(&ratio.positive, in_q, at_zero),
            );
            let tangent = tangent_of(
                &result,
                &[(&p_dot, &|| in_p.clone()), (&q_dot, &|| in_q.clone())],
            );
            (result, tangent)
        },
    )
}

#[track_caller]
fn relative_entropy_value(p: &Array, q: &Array, kl: bool) -> Array {
    let of = |value: f64| constant(p, value);
    let ratio = Ratio::of(p, q);
    let value = lax::mul(&ratio.p, &ratio.log);
    let value = if kl {
        let u = &ratio.relative;
        let c = [2.0, 6.0, 12.0, 20.0, 30.0].map(|n| of(1.0 / n));
        let [c1, c2, c3, c4, c5] = &c;
        let series = c1 - u * (c2 - u * (c3 - u * (c4 - u * c5)));
        let series = lax::mul(&lax::mul(&ratio.difference, u), &series);
        let small = lax::bitwise_and(&ratio.near, &lax::lt(&lax::abs(u), &of(0.05)));
        let direct = lax::sub(&value, &lax::sub(&ratio.p, &ratio.q));
        where_(&small, series, direct)
    } else {
        value
    };
    let zero = if kl { q.clone() } else { of(0.0) };
    let outside = where_(&ratio.zero, zero, of(f64::INFINITY));
    where_(
        &ratio.nan,
        of(f64::NAN),
        where_(&ratio.positive, value, outside),
    )
}
