//! The scaled complementary error function.

use jaxide_core::DType;
use jaxide_core::prims::Exp;

use super::coefficients::{
    SLOPE_F32_0_1, SLOPE_F32_1_2, SLOPE_F32_2_8, SLOPE_F32_8, SLOPE_F64_0_1, SLOPE_F64_1_2,
    SLOPE_F64_2_4, SLOPE_F64_4_12, SLOPE_F64_12, SMALL_F32, SMALL_F64,
};
use super::dawson::faddeeva;
use crate::api::{jvp, library_jvp};
use crate::array::Array;
use crate::scipy::operands::{constant, inexact};
use crate::scipy::pieces::polynomial;
use crate::scipy::special::entropy::highest;
use crate::trace::bind_one;
use crate::{lax, numpy};

/// `e^(x^2) erfc(x)`, which neither overflows nor vanishes where `x` is large.
///
/// # Panics
/// When `x` is not a number.
///
/// ```
/// use jaxide::scipy::special;
/// let y = special::erfcx([0.0f32, 1e10]).to_vec::<f32>();
/// assert!(y[0] == 1.0 && (y[1] * 1e10 - 0.5641896).abs() < 1e-6);
/// ```
#[track_caller]
pub fn erfcx(x: impl Into<Array>) -> Array {
    let _named = crate::trace::named("erfcx");
    let [x] = inexact("erfcx", [x.into()]);
    if x.dtype().is_complex() {
        let rotated = lax::complex(&lax::neg(&lax::imag(&x)), &lax::real(&x));
        return faddeeva(&rotated);
    }
    if x.dtype().size() < 4 {
        return scaled(&x.astype(DType::F32)).astype(x.dtype());
    }
    scaled(&x)
}

#[track_caller]
fn scaled(x: &Array) -> Array {
    library_jvp(
        ["_erfcx", "_erfcx_jvp"],
        (x.clone(),),
        |(x,): (Array,)| value(&x),
        |(x,): (Array,), (t,): (Array,)| {
            let result = scaled(&x);
            let tangent = t * slope(&x, &result);
            (result, tangent)
        },
    )
}

/// The derivative of [`erfcx`], by its own series: `2 x erfcx(x) - 2 / sqrt(π)` would cancel.
#[track_caller]
fn slope(x: &Array, result: &Array) -> Array {
    library_jvp(
        ["_erfcx_grad", "_erfcx_grad_jvp"],
        (x.clone(), result.clone()),
        |(x, result): (Array, Array)| slope_value(&x, &result),
        |(x, result): (Array, Array), (t, _): (Array, Array)| {
            let first = slope(&x, &result);
            let threshold = constant(&x, 2.25);
            let is_large = x.gt(&threshold);
            let zeros = numpy::full_like(&x, 0.0);
            let inside = |y: &Array| lax::select(&is_large, &zeros, y);
            let (small_x, small_result, small_first) =
                (inside(&x), inside(&result), inside(&first));
            let small = &t * (2.0 * small_result + 2.0 * small_x * small_first);
            let thresholds = numpy::full_like(&x, threshold);
            let outside = lax::select(&is_large, &x, &thresholds);
            let (_, large) = jvp(|x: Array| slope_large(&x), (outside,), (t,));
            (first, lax::select(&is_large, &large, &small))
        },
    )
}

/// `x` without the lower half of its digits.
#[track_caller]
pub(super) fn upper_half(x: &Array) -> Array {
    let (bits, mask) = match x.dtype() {
        DType::F32 => (DType::U32, Array::from(0xFFFF_F000u32)),
        _ => (DType::U64, Array::from(0xFFFF_FFFF_F800_0000u64)),
    };
    let whole = lax::bitcast_convert_type(x, bits);
    lax::bitcast_convert_type(&lax::bitwise_and(&whole, &mask), x.dtype())
}

/// `x^2` as an exact number and a small rest.
#[track_caller]
fn split_square(x: &Array) -> (Array, Array) {
    let high = upper_half(x);
    let low = x - &high;
    (&high * &high, low * (x + &high))
}

/// `e^u - 1` of small `u`.
#[track_caller]
fn small_expm1(u: &Array) -> Array {
    let terms = [1.0, 0.5, 1.0 / 6.0, 1.0 / 24.0, 1.0 / 120.0];
    let count = if u.dtype() == DType::F32 { 5 } else { 4 };
    u * series(u, &terms[..count], None)
}

/// A polynomial with coefficients of the element type of `x`, the lowest degree first.
#[track_caller]
fn series(x: &Array, coefficients: &[f64], unroll: Option<usize>) -> Array {
    let mut operands = vec![x.clone()];
    operands.extend(coefficients.iter().map(|&value| constant(x, value)));
    polynomial(&operands, unroll)
}

/// `e^x`, asked to be as accurate as it can.
#[track_caller]
pub(in crate::scipy::special) fn exp_highest(x: &Array) -> Array {
    bind_one(
        Exp {
            accuracy: highest(),
        },
        std::slice::from_ref(x),
    )
}

/// `1 - erf(x)` between -1 and 1.
#[track_caller]
fn small(x: &Array) -> Array {
    let d = 1.0 - x;
    let w = &d * (1.0 + x);
    let rest = match x.dtype() {
        DType::F32 => series(&w, &SMALL_F32, Some(SMALL_F32.len())),
        _ => series(&w, &SMALL_F64, Some(SMALL_F64.len())),
    };
    let below = x.lt(0.25);
    let near_zero = 1.0 - x * (1.0 + &rest);
    let other = d - x * rest;
    lax::select(&below, &near_zero, &other)
}

/// The derivative of [`erfcx`] from 1 on.
#[track_caller]
fn slope_large(x: &Array) -> Array {
    let u = numpy::reciprocal(x);
    let t = lax::square(&u);
    let unrolled = |x: &Array, terms: &[f64]| series(x, terms, Some(terms.len()));
    let g = if x.dtype() == DType::F32 {
        let first = unrolled(&(&u - 0.75), &SLOPE_F32_1_2);
        let second = unrolled(&(&u - 0.3125), &SLOPE_F32_2_8);
        let last = unrolled(&t, &SLOPE_F32_8);
        let is_first = x.lt(2.0);
        lax::select(&is_first, &first, &lax::select(&x.lt(8.0), &second, &last))
    } else {
        let first = unrolled(&(&u - 0.75), &SLOPE_F64_1_2);
        let second = unrolled(&(&u - 0.375), &SLOPE_F64_2_4);
        let third = unrolled(&u, &SLOPE_F64_4_12);
        let last = unrolled(&t, &SLOPE_F64_12);
        let is_first = x.lt(2.0);
        let is_second = x.lt(4.0);
        let rest = lax::select(&x.lt(12.0), &third, &last);
        lax::select(&is_first, &first, &lax::select(&is_second, &second, &rest))
    };
    -t * g
}

/// `erfcx` from 1 on, from its derivative.
#[track_caller]
pub(in crate::scipy::special) fn large(x: &Array) -> Array {
    let x = lax::max(x, &constant(x, 1.0));
    let slope = slope_large(&x);
    if x.dtype() != DType::F32 {
        let scale = constant(&slope, 0.564_189_583_547_756_3);
        return (scale + 0.5 * slope) / x;
    }
    let (high, low) = (0.564_189_612_865_448, -2.931_769_138_569_961_8e-8);
    let rest = lax::optimization_barrier(constant(&x, low) + 0.5 * slope);
    let sum = constant(&x, high) + rest;
    // So large a divisor that the quotient would lose its digits.
    let huge = x.gt(2f64.powi(64));
    let scaled = numpy::full_like(&x, 2f64.powi(-64));
    let ones = numpy::full_like(&x, 1.0);
    let scale = lax::select(&huge, &scaled, &ones);
    sum * &scale / (x * scale)
}

#[track_caller]
fn value(x: &Array) -> Array {
    let is_f32 = x.dtype() == DType::F32;
    let ax = lax::abs(x);
    let (limit, lowest) = if is_f32 {
        (9.382414, -9.382415)
    } else {
        (26.628_735_713_751_49, -26.628_735_713_751_492)
    };
    let bounded = lax::min(&ax, &constant(&ax, limit));
    let (high, low) = split_square(&bounded);
    let e = exp_highest(&high);
    let rest = small_expm1(&low);
    let inside = lax::clamp(&constant(x, -1.0), x, &constant(x, 1.0));
    let y = small(&inside);
    let near = &e * (&y + &y * &rest);
    let positive = large(&ax);
    let overflows = x.le(constant(x, lowest));
    let infinite = numpy::full_like(x, f64::INFINITY);
    let reflected = (&e + &e * rest) * 2.0 - &positive;
    let negative = lax::select(&overflows, &infinite, &reflected);
    let far = lax::select(&x.lt(0.0), &negative, &positive);
    lax::select(&ax.lt(1.0), &near, &far)
}

#[track_caller]
fn slope_value(x: &Array, result: &Array) -> Array {
    let is_negative = x.lt(0.0);
    let is_large = x.ge(1.0);
    let zeros = numpy::full_like(x, 0.0);
    let negative_x = lax::select(&is_negative, x, &zeros);
    let negative_result = lax::select(&is_negative, result, &zeros);
    let direct = 2.0 * negative_x * negative_result - 2.0 / std::f64::consts::PI.sqrt();
    let s = lax::clamp(&constant(x, 0.0), x, &constant(x, 1.0)) - 0.5;
    let middle = match x.dtype() {
        DType::F32 => series(&s, &SLOPE_F32_0_1, Some(SLOPE_F32_0_1.len())),
        _ => series(&s, &SLOPE_F64_0_1, Some(SLOPE_F64_0_1.len())),
    };
    let far = slope_large(&lax::max(x, &constant(x, 1.0)));
    lax::select(
        &is_negative,
        &direct,
        &lax::select(&is_large, &far, &middle),
    )
}
