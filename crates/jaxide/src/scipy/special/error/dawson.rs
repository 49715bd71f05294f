//! Dawson's integral and the function of Faddeeva.

use jaxide_core::DType;

use crate::api::library_jvp;
use crate::array::{Array, as_dtype};
use crate::numpy::polyval;
use crate::scipy::operands::{constant, floats, numbers, tangent_of};
use crate::{lax, numpy};

// Rational functions up to 3.25, up to 6.25, and from there, the highest degree first: those of Cephes.
const AN: [f64; 10] = [
    1.1368149897175597e-11,
    8.492622676674738e-10,
    1.9443420417555306e-08,
    9.531517412544844e-07,
    3.078283098749132e-06,
    0.00035251336852028877,
    -0.0008501498467244109,
    0.04226182230055466,
    -0.09174803717734524,
    1.0,
];
const AD: [f64; 11] = [
    2.403720730667626e-11,
    1.488646813684934e-09,
    5.212652810105416e-08,
    1.2725847827318697e-06,
    2.324902498207895e-05,
    0.00032552474182605793,
    0.003488058146571626,
    0.027944853119882897,
    0.15887424196012057,
    0.5749186294893204,
    1.0,
];
const BN: [f64; 11] = [
    0.5089551564179009,
    -0.24475441814269785,
    0.09415123353035344,
    -0.021871125514203903,
    0.003662076123295692,
    -0.0004232091144603888,
    3.5964130479389666e-05,
    -2.1464035171996896e-06,
    9.100107800763914e-08,
    -2.4027452082825098e-09,
    3.592333854409284e-11,
];
const BD: [f64; 11] = [
    1.0,
    -0.6318398698733682,
    0.2367067882282487,
    -0.053180636700322324,
    0.008480417185862954,
    -0.0009479967684866654,
    7.810255929445524e-05,
    -4.558751532524426e-06,
    1.8910035811142186e-07,
    -4.913246913319206e-09,
    7.184664032357345e-11,
];
const CN: [f64; 5] = [
    -0.5905928605347732,
    0.6292352427243688,
    -0.17285897538038814,
    0.016483704782518965,
    -0.0004868276130204627,
];
const CD: [f64; 6] = [
    1.0,
    -2.698200571975449,
    1.7327079904594784,
    -0.3937085822819395,
    0.03442789240412334,
    -0.0009736552260409412,
];
/// The series of Weideman, the highest degree first, and its scale.
const WEIDEMAN: [f64; 32] = [
    -1.3034426067909105e-12,
    3.741183837373847e-12,
    8.030427700497756e-12,
    -2.154359355749088e-11,
    -5.544244996323793e-11,
    1.165824698850374e-10,
    4.1537441121999766e-10,
    -5.231020211492061e-10,
    -3.2080151339721323e-09,
    8.124886421653591e-10,
    2.3797556530014025e-08,
    2.2930438438915445e-08,
    -1.4813078929137642e-07,
    -4.1840763750512053e-07,
    4.2558331397138446e-07,
    4.401531731283225e-06,
    6.821031944357515e-06,
    -2.1409619201999998e-05,
    -0.0001307544925457942,
    -0.00024532980270038237,
    0.00039259136070109705,
    0.004519541105349309,
    0.0190061557848455,
    0.05730440352983728,
    0.14060716226893755,
    0.2954445107150874,
    0.5460139720639338,
    0.9019254893648001,
    1.345544169234545,
    1.8256696296324815,
    2.2635372999002676,
    2.5722534081245696,
];
const WEIDEMAN_SCALE: f64 = 4.756828460010884;

/// Dawson's integral, `e^(-x^2)` times the integral of `e^(t^2)` from 0 to `x`.
///
/// # Panics
/// When `x` is complex.
///
/// ```
/// use jaxide::scipy::special;
/// let y = special::dawsn([0.0f32, 1.0]).to_vec::<f32>();
/// assert!(y[0] == 0.0 && (y[1] - 0.5380795).abs() < 1e-6);
/// ```
#[track_caller]
pub fn dawsn(x: impl Into<Array>) -> Array {
    let _named = crate::trace::named("dawsn");
    let [x] = floats("dawsn", [x.into()]);
    integral(&x)
}

#[track_caller]
fn integral(x: &Array) -> Array {
    library_jvp(
        ["_dawsn", "jvp"],
        (x.clone(),),
        |(x,): (Array,)| {
            if x.dtype().size() >= 4 {
                return value(&x);
            }
            value(&x.astype(DType::F32)).astype(x.dtype())
        },
        |(x,): (Array,), (t,): (Array,)| {
            let result = integral(&x);
            let slope = constant(&x, 1.0) - constant(&x, 2.0) * x * &result;
            (result, t * slope)
        },
    )
}

/// By three rational functions.
#[track_caller]
fn value(x: &Array) -> Array {
    let dtype = x.dtype();
    let of = |value: f64| constant(x, value);
    let polynomial = |terms: &[f64], at: &Array| polyval(&numbers(terms, dtype), at);
    let sign = x.sign();
    let ax = lax::abs(x);
    let squared = lax::square(&ax);
    let t = of(1.0) / squared;
    let one = || numpy::full_like(&ax, 1.0);
    let (low, high) = (|| of(3.25), || of(6.25));
    let near = lax::select(&ax.lt(low()), &ax, &one());
    let near2 = lax::square(&near);
    let first = near * polynomial(&AN, &near2) / polynomial(&AD, &near2);
    let outer = |within: &dyn Fn() -> Array, numerator: &[f64], denominator: &[f64]| {
        let t = lax::select(&within(), &t, &one());
        let x = lax::select(&within(), &ax, &one());
        of(0.5) / x * (of(1.0) + &t * polynomial(numerator, &t) / polynomial(denominator, &t))
    };
    let second = outer(&|| ax.ge(low()) & ax.lt(high()), &BN, &BD);
    let third = outer(&|| ax.ge(high()), &CN, &CD);
    let is_first = ax.lt(low());
    let rest = lax::select(&ax.lt(high()), &second, &third);
    sign * lax::select(&is_first, &first, &rest)
}

/// The function of Faddeeva, `e^(-z^2) erfc(-i z)`, of complex numbers.
///
/// # Panics
/// When `z` is not a number.
///
/// ```
/// use jaxide::{Array, scipy::special};
/// use num_complex::Complex;
/// let w = special::wofz([Complex::new(0.0f32, 0.0)]).to_vec::<Complex<f32>>();
/// assert!((w[0].re - 1.0).abs() < 1e-6 && w[0].im.abs() < 1e-6);
/// ```
#[track_caller]
pub fn wofz(z: impl Into<Array>) -> Array {
    let _named = crate::trace::named("wofz");
    let z = z.into();
    let dtype = match z.dtype() {
        dtype if dtype.is_complex() => dtype,
        DType::F64 => DType::C128,
        _ => DType::C64,
    };
    faddeeva(&as_dtype(&z, dtype, z.weak_type()))
}

#[track_caller]
pub(super) fn faddeeva(z: &Array) -> Array {
    library_jvp(
        ["_wofz", "jvp"],
        (z.clone(),),
        |(z,): (Array,)| {
            let above = lax::ge(&lax::imag(&z), &constant(&lax::real(&z), 0.0));
            let upper = upper_half_plane(&lax::select(&above, &z, &lax::neg(&z)));
            let reflected = 2 * lax::exp(&lax::neg(&(&z * &z))) - &upper;
            lax::select(&above, &upper, &reflected)
        },
        |(z,): (Array,), (t,): (Array,)| {
            let result = faddeeva(&z);
            let slope = || {
                let part = lax::real(&z);
                let scale = 2.0 / std::f64::consts::PI.sqrt();
                lax::neg(&(2 * &z * &result))
                    + lax::complex(&constant(&part, 0.0), &constant(&part, scale))
            };
            let tangent = tangent_of(&result, &[(&t, &slope)]);
            (result, tangent)
        },
    )
}

/// By the series of Weideman.
#[track_caller]
fn upper_half_plane(z: &Array) -> Array {
    let real = lax::real(z);
    let of = |value: f64| lax::complex(&constant(&real, value), &constant(&real, 0.0));
    let scale = of(WEIDEMAN_SCALE);
    let rotated = lax::complex(&lax::neg(&lax::imag(z)), &real);
    let denominator = &scale - &rotated;
    let mapped = (&scale + &rotated) / &denominator;
    let p = polyval(&numbers(&WEIDEMAN, mapped.dtype()), &mapped);
    let last = of(1.0 / std::f64::consts::PI.sqrt());
    2 * p / (&denominator * &denominator) + last / denominator
}
