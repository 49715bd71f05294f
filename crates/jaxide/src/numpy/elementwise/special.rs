//! Functions of analysis.

use jaxide_core::prims::{self, RoundingMethod};
use jaxide_core::{DType, Error};

use super::super::arithmetic::{constant, inexact_dtypes, promote_inexact, rad2deg};
use super::super::{check_broadcast, imag, real};
use super::choice::where_;
use crate::api::arrays_jvp;
use crate::array::{Array, as_dtype};
use crate::lax;
use crate::options::options;
use crate::trace::{bind_one, library, raise};

/// `log(e^x1 + e^x2)`, without overflow.
///
/// # Panics
/// When shapes do not broadcast, or there is no common element type.
///
/// ```
/// use jaxide::{Array, numpy};
/// let y = numpy::logaddexp(Array::from([1000.0f32]), 1000.0);
/// assert_eq!(y.item::<f32>(), 1000.0 + 2.0f32.ln());
/// ```
#[track_caller]
pub fn logaddexp(x1: impl Into<Array>, x2: impl Into<Array>) -> Array {
    let _named = crate::trace::named("logaddexp");
    let operands = promote_inexact("logaddexp", [&x1.into(), &x2.into()]);
    natural(&operands)
}

/// `log2(2^x1 + 2^x2)`, without overflow.
///
/// # Panics
/// When shapes do not broadcast, or there is no common element type.
#[track_caller]
pub fn logaddexp2(x1: impl Into<Array>, x2: impl Into<Array>) -> Array {
    let _named = crate::trace::named("logaddexp2");
    let operands = promote_inexact("logaddexp2", [&x1.into(), &x2.into()]);
    dyadic(&operands)
}

#[track_caller]
fn natural(operands: &[Array]) -> Array {
    let rule = |x: &[Array], t: &[Array]| sum_rule(natural, lax::exp, x, t);
    arrays_jvp("logaddexp", "_logaddexp_jvp", operands, natural_sum, rule).remove(0)
}

#[track_caller]
fn dyadic(operands: &[Array]) -> Array {
    let rule = |x: &[Array], t: &[Array]| sum_rule(dyadic, lax::exp2, x, t);
    arrays_jvp("logaddexp2", "_logaddexp2_jvp", operands, dyadic_sum, rule).remove(0)
}

fn natural_sum(x: &[Array]) -> Vec<Array> {
    let log1p_of = |delta: &Array| lax::log1p(&lax::exp(delta));
    vec![logarithm_of_sum(x, log1p_of, std::f64::consts::PI)]
}

fn dyadic_sum(x: &[Array]) -> Vec<Array> {
    let scale = constant(&x[0], 1.0 / std::f64::consts::LN_2);
    let log1p_of = |delta: &Array| lax::mul(&scale, &lax::log1p(&lax::exp2(delta)));
    let half_turn = std::f64::consts::PI / std::f64::consts::LN_2;
    vec![logarithm_of_sum(x, log1p_of, half_turn)]
}

/// The larger of two and the logarithm of one plus the quotient of powers; of complex numbers, the imaginary part is kept
/// within half a turn.
#[track_caller]
fn logarithm_of_sum(x: &[Array], log1p_of: impl Fn(&Array) -> Array, half_turn: f64) -> Array {
    let (x1, x2) = (&x[0], &x[1]);
    let larger = lax::max(x1, x2);
    if x1.dtype().is_complex() {
        let sum = lax::add(x1, x2);
        let twice = lax::mul(&larger, &constant(&larger, 2.0));
        let delta = lax::sub(&sum, &twice);
        let sum = lax::add(&larger, &log1p_of(&delta));
        let re = lax::real(&sum);
        return lax::complex(&re, &wrapped(&lax::imag(&sum), half_turn));
    }
    let delta = lax::sub(x1, x2);
    let undefined = lax::ne(&delta, &delta);
    let sum = lax::add(x1, x2);
    let small = log1p_of(&lax::neg(&lax::abs(&delta)));
    lax::select(&undefined, &sum, &lax::add(&larger, &small))
}

/// An angle moved by whole turns to between minus and plus half a turn.
#[track_caller]
fn wrapped(x: &Array, half_turn: f64) -> Array {
    let (half, turn) = (constant(x, half_turn), constant(x, 2.0 * half_turn));
    let rest = lax::rem(&lax::add(x, &half), &turn);
    let negative = lax::lt(&rest, &constant(x, 0));
    let rest = lax::select(&negative, &lax::add(&rest, &turn), &rest);
    lax::sub(&rest, &half)
}

/// Each tangent times the power of the operand less the result.
#[track_caller]
fn sum_rule(
    function: fn(&[Array]) -> Array,
    power: fn(&Array) -> Array,
    x: &[Array],
    t: &[Array],
) -> [Vec<Array>; 2] {
    let result = function(x);
    let share = |at: usize| {
        let distance = lax::sub(&without_infinity(&x[at]), &without_infinity(&result));
        lax::mul(&t[at], &power(&distance))
    };
    let tangent = lax::add(&share(0), &share(1));
    [vec![result], vec![tangent]]
}

/// Zero in place of positive infinity.
#[track_caller]
fn without_infinity(x: &Array) -> Array {
    let re = real(x);
    let infinite = lax::eq(&re, &constant(&re, f64::INFINITY));
    lax::select(&infinite, &lax::full(x.shape(), 0, x.dtype()), x)
}

/// Coefficients of `(sin(pi r) / (pi r) - 1) / r^2` in powers of `r^2`, for `f32`.
const SINC: [f64; 6] = [
    -1.644_934_058_189_392,
    0.811_742_424_964_904_8,
    -0.190_751_820_802_688_6,
    0.026_147_847_995_162_01,
    -0.002_346_080_960_705_876_4,
    0.000_148_428_793_181_665_24,
];

/// The same for `f64`.
const SINC_WIDE: [f64; 11] = [
    f64::from_bits(0xBFFA_51A6_6253_07D3),
    f64::from_bits(0x3FE9_F9CB_402B_C46C),
    f64::from_bits(0xBFC8_6A8E_4720_DB67),
    f64::from_bits(0x3F9A_C680_5CF3_50A6),
    f64::from_bits(0xBF63_3816_AA46_07AB),
    f64::from_bits(0x3F23_7471_9FAB_3915),
    f64::from_bits(0xBEDD_4249_8D1C_E099),
    f64::from_bits(0x3E90_FC99_2FF3_9E13),
    f64::from_bits(0xBE3F_5F9D_970C_A6DF),
    f64::from_bits(0x3DE7_9788_6842_25EA),
    f64::from_bits(0xBD8D_7353_9390_82FE),
];

/// `sin(pi x) / (pi x)`, and one at zero.
///
/// # Panics
/// When `x` is not a number.
///
/// ```
/// use jaxide::{Array, numpy};
/// assert_eq!(numpy::sinc(&Array::from([0.0f32, 1.0, 2.0])).to_vec::<f32>(), [1.0, 0.0, 0.0]);
/// ```
#[track_caller]
pub fn sinc(x: &Array) -> Array {
    let _named = crate::trace::named("sinc");
    library("sinc", "", [x], |[x]| {
        let [x] = inexact_dtypes("sinc", [x]);
        if x.dtype().is_complex() {
            return complex_sinc(&x);
        }
        let dtype = x.dtype();
        let x = match dtype {
            DType::F16 | DType::BF16 => as_dtype(&x, DType::F32, false),
            _ => x,
        };
        as_dtype(&real_sinc(&x), dtype, x.weak_type())
    })
}

/// By the distance from the nearest integer, with the sign of the half turn that it lies in.
#[track_caller]
fn real_sinc(x: &Array) -> Array {
    let even = |x: &Array| lax::round(x, RoundingMethod::ToNearestEven);
    let nearest = lax::stop_gradient(&even(x));
    let infinite = lax::eq(&lax::abs(x), &constant(x, f64::INFINITY));
    let r = where_(infinite, 0, lax::sub(x, &nearest));
    let squared = lax::mul(&r, &r);
    let coefficients: &[f64] = if x.dtype() == DType::F64 {
        &SINC_WIDE
    } else {
        &SINC
    };
    let series = lax::mul(&squared, &polynomial(&squared, coefficients));
    let at_zero = lax::add(&constant(x, 1), &series);
    let numerator = lax::add(&r, &lax::mul(&r, &series));
    let halves = even(&lax::mul(&constant(x, 0.5), &nearest));
    let odd = lax::ne(&lax::mul(&constant(x, 2), &halves), &nearest);
    let around_zero = lax::eq(&nearest, &constant(x, 0));
    let negative = lax::neg(x);
    let denominator = where_(odd, negative, where_(&around_zero, 1, x));
    let quotient = lax::div(&numerator, &denominator);
    // At other integers the value is zero, and only its derivative is kept.
    let whole = lax::eq(&r, &constant(x, 0));
    let only_slope = lax::sub(&quotient, &lax::stop_gradient(&quotient));
    let quotient = where_(whole, only_slope, &quotient);
    where_(&around_zero, at_zero, quotient)
}

#[track_caller]
fn polynomial(x: &Array, coefficients: &[f64]) -> Array {
    let mut operands = vec![x.clone()];
    operands.extend(coefficients.iter().map(|&number| constant(x, number)));
    bind_one(prims::Polynomial { unroll: None }, &operands)
}

/// By a series near zero, where the quotient would lose digits.
#[track_caller]
fn complex_sinc(x: &Array) -> Array {
    let modulus = lax::abs(&lax::real(x));
    let infinite = lax::eq(&modulus, &constant(&lax::real(x), f64::INFINITY));
    let infinite = lax::bitwise_and(&infinite, &lax::is_finite(&lax::imag(x)));
    let turned = lax::mul(&constant(x, std::f64::consts::PI), x);
    let safe = where_(&infinite, constant(x, 1), turned);
    let modulus = lax::abs(&safe);
    let small = lax::lt(&modulus, &constant(&modulus, 1));
    let near = where_(&small, &safe, constant(x, 0));
    let far = where_(&small, constant(x, 1), &safe);
    let epsilon = if x.dtype() == DType::C64 {
        f32::EPSILON.into()
    } else {
        f64::EPSILON
    };
    let mut coefficients = Vec::new();
    let mut size = 1.0_f64;
    for k in 0..100 {
        coefficients.push(if k % 2 == 0 { size } else { -size });
        if size <= epsilon {
            break;
        }
        size /= f64::from((2 * k + 2) * (2 * k + 3));
    }
    let series = polynomial(&lax::square(&near), &coefficients);
    let quotient = lax::div(&lax::sin(&far), &far);
    let result = where_(&small, series, quotient);
    where_(&infinite, constant(x, 0), result)
}

/// Modified Bessel function of the first kind, of order zero.
///
/// # Panics
/// When `x` is complex.
///
/// ```
/// use jaxide::{Array, numpy};
/// assert_eq!(numpy::i0(&Array::from([0.0f32])).item::<f32>(), 1.0);
/// ```
#[track_caller]
pub fn i0(x: &Array) -> Array {
    let _named = crate::trace::named("i0");
    if x.dtype().is_complex() {
        raise(super::super::arithmetic::real_only("i0", x));
    }
    library("i0", "", [x], |[x]| {
        let [x] = promote_inexact("i0", [x]);
        bessel_i0(&[x]).remove(0)
    })
}

fn bessel_i0(x: &[Array]) -> Vec<Array> {
    let value = |x: &[Array]| {
        let modulus = lax::abs(&x[0]);
        vec![lax::mul(&lax::exp(&modulus), &lax::bessel_i0e(&modulus))]
    };
    arrays_jvp("i0_impl", "i0_impl_jvp", x, value, |x, t| {
        let slope = bessel_i1(x).remove(0);
        [bessel_i0(x), vec![lax::mul(&t[0], &slope)]]
    })
}

fn scaled_i1(x: &[Array]) -> Vec<Array> {
    vec![lax::mul(
        &lax::exp(&lax::abs(&x[0])),
        &lax::bessel_i1e(&x[0]),
    )]
}

/// The function of order one, whose derivatives near zero are those of its series.
fn bessel_i1(x: &[Array]) -> Vec<Array> {
    arrays_jvp("_i1", "i1_impl_jvp", x, scaled_i1, |x, t| {
        let (value, slope) = crate::jvp(
            |x: Array| scaled_i1(&[x]).remove(0),
            (x[0].clone(),),
            (t[0].clone(),),
        );
        let epsilon = match x[0].dtype() {
            DType::F16 => 0.5_f64.powi(10),
            DType::BF16 => 0.5_f64.powi(7),
            DType::F64 => f64::EPSILON,
            _ => f32::EPSILON.into(),
        };
        let near = lax::le(&lax::abs(&x[0]), &constant(&x[0], epsilon.sqrt()));
        let series = lax::mul(&i1_series(1, &x[0]), &t[0]);
        [vec![value], vec![where_(near, series, slope)]]
    })
}

/// The derivative of order `k` near zero: the first term of its series that is not zero.
fn i1_series(k: i64, x: &Array) -> Array {
    let fixed = move |x: &[Array]| {
        let (n, m) = if k % 2 == 0 {
            (k + 1, (k + 1) / 2)
        } else {
            (k, k / 2)
        };
        let ways = (1..=m).fold(1.0, |ways, i| ways * (n - m + i) as f64 / i as f64);
        let c = constant(&x[0], ways / 2.0_f64.powi(n as i32));
        vec![if k % 2 == 0 {
            lax::mul(&c, &x[0])
        } else {
            super::super::broadcast_to(&c, x[0].shape())
        }]
    };
    let rule = move |x: &[Array], t: &[Array]| {
        [
            vec![i1_series(k, &x[0])],
            vec![lax::mul(&i1_series(k + 1, &x[0]), &t[0])],
        ]
    };
    arrays_jvp(
        "_i1_maclaurin",
        "_i1_maclaurin_jvp",
        std::slice::from_ref(x),
        fixed,
        rule,
    )
    .remove(0)
}

options! {
    /// What [`angle`] takes beside the array.
    pub struct Angle {
        /// Degrees instead of radians.
        deg: bool = false;
    }
}

/// The angle of a complex number to the positive real axis; of real numbers zero or half a turn.
///
/// # Panics
/// When `z` is not a number.
///
/// ```
/// use jaxide::{Array, numpy};
/// let half_turn = numpy::angle(&Array::from([-1.0f32]), numpy::Angle::new().deg(true));
/// assert_eq!(half_turn.item::<f32>(), 180.0);
/// ```
#[track_caller]
pub fn angle(z: &Array, options: impl Into<Angle>) -> Array {
    let _named = crate::trace::named("angle");
    let Angle { deg } = options.into();
    check_number("angle", z);
    library("angle", &deg.to_string(), [z], |[z]| {
        let (mut re, mut im) = (real(z), imag(z));
        if !re.dtype().is_inexact() || (z.dtype().is_float() && z.ndim() == 0) {
            let dtype = if crate::array::is_wide(re.dtype()) {
                DType::F64
            } else {
                DType::F32
            };
            re = as_dtype(&re, dtype, false);
            im = as_dtype(&im, dtype, false);
        }
        let radians = lax::atan2(&im, &re);
        if deg { rad2deg(&radians) } else { radians }
    })
}

#[track_caller]
fn check_number(operation: &str, x: &Array) {
    check_broadcast(operation, &[x]);
    if x.dtype().is_key() {
        raise(Error::dtype(format!("{} is no number", x.aval())).in_operation(operation));
    }
}
