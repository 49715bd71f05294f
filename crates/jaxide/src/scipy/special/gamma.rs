//! The gamma and beta functions.

use jaxide_core::{DType, Error, Scalar};

use crate::api::{jvp, library_jvp};
use crate::array::Array;
use crate::control::while_loop;
use crate::numpy::{remainder, select, signbit, where_};
use crate::options::options;
use crate::scipy::operands::{constant, floats, inexact, largest, numbers, tangent_of};
use crate::scipy::special::{digamma, gammaln};
use crate::trace::{library, raise};
use crate::{idx, lax, numpy};

/// The sign of the gamma function: 1 or -1, and NaN at its poles but zero, where it is that of the zero.
///
/// # Panics
/// When `x` is complex.
///
/// ```
/// use jaxide::scipy::special;
/// assert_eq!(special::gammasgn([0.5f32, -0.5, -0.0]).to_vec::<f32>(), [1.0, -1.0, -1.0]);
/// ```
#[track_caller]
pub fn gammasgn(x: impl Into<Array>) -> Array {
    let _named = crate::trace::named("gammasgn");
    library("gammasgn", "", [&x.into()], |[x]| {
        let [x] = floats("gammasgn", [x.clone()]);
        let floor = lax::floor(&x);
        let negative = x.lt(0.0);
        let pole = &negative & x.equal(&floor) | numpy::isnan(&x);
        let odd = &negative & remainder(&floor, 2).not_equal(0.0);
        let below = odd | (x.equal(0.0) & signbit(&x));
        let [nan, minus, plus] =
            [f64::NAN, -1.0, 1.0].map(|value| Array::from(value).astype(x.dtype()));
        select(&[pole, below], &[nan, minus], plus)
    })
}

/// The number `LANCZOS.len() - 2` of the approximation of Lanczos, and its coefficients.
const LANCZOS_G: f64 = 7.0;
const LANCZOS: [f64; 9] = [
    0.999_999_999_999_809_9,
    676.520_368_121_885_1,
    -1_259.139_216_722_402_8,
    771.323_428_777_653_1,
    -176.615_029_162_140_6,
    12.507_343_278_686_905,
    -0.138_571_095_265_720_12,
    9.984_369_578_019_572e-6,
    1.505_632_735_149_311_6e-7,
];

/// The logarithm of gamma of complex numbers, up to multiples of 2πi; by reflection left of 1/2.
#[track_caller]
fn complex_loggamma(z: &Array) -> Array {
    let reflected = lax::real(z).lt(0.5);
    let shifted = where_(&reflected, 1.0 - z, z);
    let zz = shifted - 1.0;
    let last = zz.ndim();
    let coefficients = numbers(&LANCZOS, z.dtype());
    let rows: Vec<usize> = (0..last).collect();
    let steps = numbers(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0], z.dtype());
    let terms = lax::expand_dims(&coefficients.slice(1..), &rows)
        / (lax::expand_dims(&zz, &[last]) + lax::expand_dims(&steps, &rows));
    let ag = coefficients.index(0) + terms.sum_axes(&[last]);
    let t = &zz + LANCZOS_G + 0.5;
    let half_log = constant(z, 0.5 * (2.0 * std::f64::consts::PI).ln());
    let direct = half_log + (zz + 0.5) * t.log() - t + ag.log();
    let inside = where_(&reflected, z, numpy::full_like(z, 0.5));
    let pi = std::f64::consts::PI;
    let other = constant(z, pi).log() - (pi * inside).sin().log() - &direct;
    where_(&reflected, other, direct)
}

/// NaN in both parts.
fn complex_nan(z: &Array) -> Array {
    let nan = Scalar::Complex(f64::NAN, f64::NAN);
    Array(crate::array::Repr::Number(jaxide_core::Literal {
        value: nan,
        dtype: z.dtype(),
        weak_type: false,
    }))
}

/// Where gamma of a complex number is not finite, and the number with these replaced by 1.
#[track_caller]
fn without_poles(z: &Array) -> (Array, Array) {
    let real = lax::real(z);
    let pole = lax::imag(z).equal(0) & real.equal(numpy::floor(&real)) & real.le(0);
    let excluded = pole | numpy::isnan(z);
    let safe = where_(&excluded, numpy::full_like(z, 1), z);
    (excluded, safe)
}

/// The principal branch of the logarithm of gamma: by the recurrence to the right half plane.
#[track_caller]
fn principal_loggamma(z: &Array) -> Array {
    library("_complex_loggamma_scipy", "", [z], |[z]| {
        let (excluded, safe) = without_poles(z);
        let index = if z.dtype() == DType::C128 {
            DType::I64
        } else {
            DType::I32
        };
        let steps = numpy::maximum(
            &Array::from(0),
            &numpy::ceil(&(0.5 - lax::real(&safe))).astype(index),
        );
        let (limit, base) = (steps.clone(), safe.clone());
        let init = (Array::from(0).astype(index), numpy::full_like(&safe, 0));
        let (_, sum) = while_loop(
            |(k, _): (Array, Array)| k.lt(&limit).any(),
            |(k, sum): (Array, Array)| {
                let open = k.lt(&steps);
                let zk = where_(&open, &base + &k, numpy::full_like(&base, 1));
                let term = where_(&open, zk.log(), numpy::full_like(&sum, 0));
                (&k + 1, sum + term)
            },
            init,
        );
        let result = complex_loggamma(&(safe + &limit)) - sum;
        where_(&excluded, complex_nan(z), result)
    })
}

/// Logarithm of the gamma function: NaN for floats where that is not positive, the principal branch for complex numbers.
///
/// # Panics
/// When `x` is not a number.
///
/// ```
/// use jaxide::scipy::special;
/// let y = special::loggamma([1.0f32, -0.5]).to_vec::<f32>();
/// assert!(y[0] == 0.0 && y[1].is_nan());
/// ```
#[track_caller]
pub fn loggamma(x: impl Into<Array>) -> Array {
    let _named = crate::trace::named("loggamma");
    let [x] = inexact("loggamma", [x.into()]);
    if x.dtype().is_complex() {
        return principal_loggamma(&x);
    }
    let log = lax::lgamma(&x);
    where_(&x.gt(0), log, f64::NAN)
}

/// The gamma function.
///
/// # Panics
/// When `x` is not a number.
///
/// ```
/// use jaxide::scipy::special;
/// assert_eq!(special::gamma([1.0f32, 2.0]).to_vec::<f32>(), [1.0, 1.0]);
/// ```
#[track_caller]
pub fn gamma(x: impl Into<Array>) -> Array {
    let _named = crate::trace::named("gamma");
    let [x] = inexact("gamma", [x.into()]);
    if x.dtype().is_complex() {
        let (excluded, safe) = without_poles(&x);
        return where_(&excluded, complex_nan(&x), complex_loggamma(&safe).exp());
    }
    gammasgn(&x) * lax::exp(&lax::lgamma(&x))
}

/// `ln Γ(b) - ln Γ(a + b)` for large `b`, without cancellation: the function `algdiv` of TOMS 708.
#[track_caller]
fn difference_of_logs(a: &Array, b: &Array) -> Array {
    const C: [f64; 6] = [
        0.0833333333333333,
        -0.00277777777760991,
        0.00079365066682539,
        -0.00059520293135187,
        0.000837308034031215,
        -0.00165322962780713,
    ];
    let h = a / b;
    let c = &h / (1 + &h);
    let x = &h / (1 + &h);
    let d = b + (a - 0.5);
    let x2 = &x * &x;
    let next = |s: &Array| 1.0 + (&x + &x2 * s);
    let s3 = 1.0 + (&x + &x2);
    let s5 = next(&s3);
    let s7 = next(&s5);
    let s9 = next(&s7);
    let s11 = next(&s9);
    let t = lax::integer_pow(&(1.0 / b), 2);
    let of = |index: usize| constant(&t, C[index]);
    let mut w = of(5) * &s11 * &t + of(4) * &s9;
    w = w * &t + of(3) * &s7;
    w = w * &t + of(2) * &s5;
    w = w * &t + of(1) * &s3;
    w = w * &t + of(0);
    w *= c / b;
    let u = d * lax::log1p(&(a / b));
    let v = a * (lax::log(b) - 1.0);
    let smaller = u.le(&v);
    where_(&smaller, &w - &v - &u, &w - &u - &v)
}

/// Logarithm of the absolute value of the beta function.
///
/// # Panics
/// When there is no common element type, or shapes do not broadcast.
///
/// ```
/// use jaxide::scipy::special;
/// assert_eq!(special::betaln(1.0, 1.0).item::<f32>(), 0.0);
/// ```
#[track_caller]
pub fn betaln(a: impl Into<Array>, b: impl Into<Array>) -> Array {
    let _named = crate::trace::named("betaln");
    let [a, b] = inexact("betaln", [a.into(), b.into()]);
    let smaller = where_(&a.le(&b), &a, &b);
    let larger = where_(&a.le(&b), &b, &a);
    let direct =
        lax::lgamma(&smaller) + (lax::lgamma(&larger) - lax::lgamma(&(&smaller + &larger)));
    let asymptotic = lax::lgamma(&smaller) + difference_of_logs(&smaller, &larger);
    where_(&larger.lt(8), direct, asymptotic)
}

/// The beta function, `Γ(a) Γ(b) / Γ(a + b)`.
///
/// # Panics
/// When an operand is complex, or shapes do not broadcast.
///
/// ```
/// use jaxide::scipy::special;
/// assert_eq!(special::beta(1.0, 1.0).item::<f32>(), 1.0);
/// ```
#[track_caller]
pub fn beta(a: impl Into<Array>, b: impl Into<Array>) -> Array {
    let _named = crate::trace::named("beta");
    let [a, b] = floats("beta", [a.into(), b.into()]);
    let sign = gammasgn(&a) * gammasgn(&b) * gammasgn(&a + &b);
    sign * lax::exp(&betaln(a, b))
}

/// `n!` as a float, `Γ(n + 1)`; 0 of negative numbers.
///
/// # Panics
/// When `n` is not a number.
///
/// ```
/// use jaxide::scipy::special;
/// assert_eq!(special::factorial([0, 1, -1]).to_vec::<f32>(), [1.0, 1.0, 0.0]);
/// ```
#[track_caller]
pub fn factorial(n: impl Into<Array>) -> Array {
    let _named = crate::trace::named("factorial");
    let [n] = inexact("factorial", [n.into()]);
    where_(&n.lt(0), 0, lax::exp(&lax::lgamma(&(&n + 1))))
}

options! {
    /// What [`comb`] takes beside its operands.
    pub struct Comb {
        /// Whether things may be taken several times.
        repetition: bool = false;
    }
}

/// The number of ways to take `k` of `n` things, as a float; 0 unless `0 <= k <= n`.
///
/// # Panics
/// When there is no common element type, or shapes do not broadcast.
///
/// ```
/// use jaxide::scipy::special::{self, Comb};
/// let ways = special::comb(5, 2, ()).item::<f32>();
/// assert!((ways - 10.0).abs() < 1e-4);
/// let repeated = special::comb(5, 2, Comb::new().repetition(true)).item::<f32>();
/// assert!((repeated - 15.0).abs() < 1e-4);
/// ```
#[track_caller]
pub fn comb(n: impl Into<Array>, k: impl Into<Array>, options: impl Into<Comb>) -> Array {
    let _named = crate::trace::named("comb");
    let Comb { repetition } = options.into();
    let [n, k] = inexact("comb", [n.into(), k.into()]);
    if repetition {
        let nothing = k.equal(0) & n.ge(0);
        let ways = comb(&n + &k - 1, k, ());
        return where_(&nothing, 1.0, ways);
    }
    let possible = k.le(&n) & n.ge(0) & k.ge(0);
    let n = where_(&possible, n, 0.0);
    let k = where_(&possible, k, 0.0);
    let log = gammaln(&n + 1) - gammaln(&k + 1) - gammaln(&n + 1 - &k);
    where_(&possible, lax::exp(&log), 0.0)
}

/// Logarithm of the gamma function of `d` dimensions, whose last axis is summed over: `a` is larger than `(d - 1) / 2`.
///
/// # Panics
/// When `a` is not a number.
///
/// ```
/// use jaxide::scipy::special;
/// let y = special::multigammaln([3.0f32], 1);
/// assert_eq!(y.to_vec::<f32>(), special::gammaln([3.0f32]).to_vec::<f32>());
/// ```
#[track_caller]
pub fn multigammaln(a: impl Into<Array>, d: usize) -> Array {
    let _named = crate::trace::named("multigammaln");
    let [a, dimension] = inexact("multigammaln", [a.into(), Array::from(d as i64)]);
    let of = |value: f64| constant(&a, value);
    let scaled = lax::mul(
        &lax::mul(&of(0.25), &dimension),
        &lax::sub(&dimension, &of(1.0)),
    );
    let offset = lax::mul(&scaled, &lax::log(&of(std::f64::consts::PI)));
    let steps = lax::div(&lax::iota(a.dtype(), &[d], 0), &of(2.0));
    let front: Vec<usize> = (0..a.ndim()).collect();
    let shifted = lax::expand_dims(&a, &[a.ndim()]) - lax::expand_dims(&steps, &front);
    gammaln(shifted).sum_axes(&[-1]) + offset
}

/// The rising factorial `z (z + 1) ... (z + m - 1)`, `Γ(z + m) / Γ(z)`.
///
/// # Panics
/// When an operand is complex, or shapes do not broadcast.
///
/// ```
/// use jaxide::scipy::special;
/// let y = special::poch(2.0, 3.0).item::<f32>();
/// assert!((y - 24.0).abs() < 1e-4);
/// ```
#[track_caller]
pub fn poch(z: impl Into<Array>, m: impl Into<Array>) -> Array {
    let _named = crate::trace::named("poch");
    library_jvp(
        ["poch", "jvp"],
        (z.into(), m.into()),
        |(z, m): (Array, Array)| {
            let [z, m] = floats("poch", [z, m]);
            let nothing = m.equal(0.0);
            let ratio = gamma(&z + &m) / gamma(&z);
            where_(&nothing, Array::from(1).astype(z.dtype()), ratio)
        },
        |(z, m): (Array, Array), (z_dot, m_dot): (Array, Array)| {
            let result = poch(&z, &m);
            let in_z = || (digamma(&z + &m) - digamma(&z)) * poch(&z, &m);
            let in_m = || digamma(&z + &m) * poch(&z, &m);
            let tangent = tangent_of(&result, &[(&z_dot, &in_z), (&m_dot, &in_m)]);
            (result, tangent)
        },
    )
}

/// `2k` choose Bernoulli numbers, inverted: the coefficients of the series of Euler and Maclaurin.
const BERNOULLI: [f64; 16] = [
    12.0,
    -720.0,
    30240.0,
    -1209600.0,
    47900160.0,
    -1307674368000.0 / 691.0,
    74724249600.0,
    -10670622842880000.0 / 3617.0,
    5109094217170944000.0 / 43867.0,
    -802857662698291200000.0 / 174611.0,
    14101100039391805440000.0 / 77683.0,
    -1693824136731743669452800000.0 / 236364091.0,
    186134520519971831808000000.0 / 657931.0,
    -37893265687455865519472640000000.0 / 3392780147.0,
    759790291646040068357842010112000000.0 / 1723168255201.0,
    -134196726836183700385281186201600000000.0 / 7709321041217.0,
];

/// The zeta function of Hurwitz: the sum of `(q + k)^-x` over all `k >= 0`, for `x > 1` and `q > 0`.
///
/// # Panics
/// When there is no common element type, or shapes do not broadcast.
///
/// ```
/// use jaxide::scipy::special;
/// let y = special::zeta(2.0, 1.0).item::<f32>();
/// assert!((y - 1.6449341).abs() < 1e-5);
/// ```
#[track_caller]
pub fn zeta(x: impl Into<Array>, q: impl Into<Array>) -> Array {
    let _named = crate::trace::named("zeta");
    library_jvp(
        ["zeta", "_zeta_jvp"],
        (x.into(), q.into()),
        |(x, q): (Array, Array)| {
            let [x, q] = inexact("zeta", [x, q]);
            lax::zeta(&x, &q)
        },
        |(x, q): (Array, Array), (x_dot, q_dot): (Array, Array)| {
            let result = zeta(&x, &q);
            let (_, tangent) = jvp(zeta_series, (x, q), (x_dot, q_dot));
            let known = where_(&numpy::isnan(&result), f64::NAN, 1.0);
            (result, tangent * known)
        },
    )
}

/// [`zeta`] by the formula of Euler and Maclaurin, whose derivatives are right in both arguments.
#[track_caller]
fn zeta_series(x: Array, q: Array) -> Array {
    let [s, a] = inexact("zeta", [x, q]);
    let dtype = a.dtype();
    let count = if dtype == DType::F32 { 8 } else { 16 };
    let last = numpy::broadcast_shapes("zeta", &[s.shape(), a.shape()]).len();
    let column = |x: &Array| match x.ndim() {
        0 => x.clone(),
        rank => lax::expand_dims(x, &[rank]),
    };
    let (s_, a_) = (column(&s), column(&a));
    let row = |values: Vec<f64>| {
        let front: Vec<usize> = (0..last).collect();
        lax::expand_dims(&numbers(&values, dtype), &front)
    };
    let n = constant(&a, count as f64);
    let k = row((0..count).map(|k| k as f64).collect());
    let sum = numpy::power(&(&a_ + k), &-&s_).sum_axes(&[-1]);
    let integral = numpy::power(&(&a + &n), &(1.0 - &s)) / (&s - 1.0);
    let first = numpy::power(&(&a + &n), &-&s);
    let m = row((0..2 * count).map(|m| m as f64).collect());
    let over = (&s_ + m) / (&a_ + &n);
    let products = lax::cumprod(&over, -1, false);
    let axis = products.ndim() - 1;
    let mut limits = products.shape().to_vec();
    limits[axis] = 2 * count;
    let mut strides = vec![1; products.ndim()];
    strides[axis] = 2;
    let starts = vec![0; products.ndim()];
    let every_second = lax::slice(&products, &starts, &limits, Some(&strides[..]));
    let bounded = numpy::minimum(&constant(&a, largest(dtype)), &every_second);
    let terms = bounded / row(BERNOULLI[..count].to_vec());
    sum + integral + first * (0.5 + terms.sum_axes(&[-1]))
}

/// The Bernoulli numbers of indices 0 to `n`, as `f32`.
///
/// # Panics
/// When `n` is negative.
///
/// ```
/// use jaxide::scipy::special;
/// assert_eq!(special::bernoulli(3).to_vec::<f32>(), [1.0, -0.5, 1.0 / 6.0, 0.0]);
/// ```
#[track_caller]
pub fn bernoulli(n: impl crate::Integer) -> Array {
    let _named = crate::trace::named("bernoulli");
    let Ok(n) = usize::try_from(n.to_i64()) else {
        raise(Error::parameter("n must not be negative").in_operation("bernoulli"));
    };
    let first = numbers(&[1.0, -0.5, 1.0 / 6.0], DType::F32);
    if n < 2 {
        return first.slice(..=n);
    }
    if n == 2 {
        return first;
    }
    let zeros = lax::full([n + 1], 0, DType::F32);
    let known = zeros.at(idx![..3]).set(first);
    let m = 4.0 + 2.0 * lax::iota(DType::F32, &[(n - 2) / 2], 0);
    let pi2 = std::f64::consts::PI.powi(2);
    let ratios: Array = lax::neg(&(&m - 1)) * &m / 4 / pi2;
    let q1 = 1.0 / pi2 * numpy::cumprod(&ratios, 0);
    let k = 2.0 + lax::iota(DType::F32, &[48], 0);
    let powers = numpy::power(&lax::expand_dims(&k, &[1]), &-lax::expand_dims(&m, &[0]));
    let q2 = powers.sum_axes(&[0]);
    known.at(idx![4..;2]).set(q1 * (1 + q2))
}
