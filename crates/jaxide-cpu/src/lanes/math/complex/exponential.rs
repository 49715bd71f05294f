//! Exponentials and logarithms.

use super::power::quotient;
use super::{Complex, functions, in_double, select};
use crate::lanes::math;
use crate::lanes::math::expr::Expr;
use crate::lanes::math::log::{log_pair, split};
use crate::lanes::math::pair::Pair;
use crate::lanes::{Builder, Value};
use std::f64::consts::{LN_2, LOG2_E};

functions! {
    /// e^z.
    exp exponential;
    /// 2^z.
    exp2 exponential_of_2;
    /// e^z - 1.
    expm1 exponential_minus_1;
    /// 1 / (1 + e^-z).
    logistic logistic_of;
    /// ln z.
    log logarithm;
    /// ln z / ln 2.
    log2 logarithm_to_2;
    /// ln(1 + z).
    log1p logarithm_of_1_plus;
}

/// The cosine and the sine of an angle.
pub(super) fn direction(angle: Expr<'_>) -> Complex<'_> {
    Complex::new(angle.call(math::cos), angle.call(math::sin))
}

fn exponential(z: Complex<'_>) -> Complex<'_> {
    let size = z.re.call(math::exp);
    let real = Complex::new(size, z.im);
    if size.from_single {
        return select(z.im.eq(0.0), real, direction(z.im).scale(size));
    }
    // In two factors where it may overflow and its product with a small sine does not.
    let half = (z.re * 0.5).call(math::exp);
    let moderate = z.re.abs().lt(700.0);
    let (first, second) = (moderate.select(size, half), moderate.select(1.0, half));
    let turned = direction(z.im).scale(first).scale(second);
    select(z.im.eq(0.0), real, turned)
}

fn exponential_of_2(z: Complex<'_>) -> Complex<'_> {
    // What `LN_2` misses of ln 2.
    const LN_2_REST: f64 = 2.3190468138462996e-17;
    // The angle y ln 2 in two parts.
    let angle = z.im * LN_2;
    let rest = z.im.fma(LN_2, -angle) + z.im * LN_2_REST;
    let turned = direction(angle).times(direction(rest));
    let whole = (z.re * 0.5).clamp(-600.0, 600.0).round_even();
    let (first, second) = (whole.call(math::exp2), (z.re - whole).call(math::exp2));
    let result = turned.scale(second).scale(first);
    let real = Complex::new(z.re.call(math::exp2), z.im);
    let result = select(z.im.eq(0.0), real, result);
    let unusual = z.is_infinite() | z.is_nan();
    let [re, im] = unusual.rarely(
        || {
            let w = exponential(z.times(z.constant(LN_2, 0.0)));
            [w.re, w.im]
        },
        [result.re, result.im],
    );
    Complex::new(re, im)
}

fn exponential_minus_1(z: Complex<'_>) -> Complex<'_> {
    let sine = (z.im * 0.5).call(math::sin);
    let less = z.re.call(math::expm1);
    let re = less * z.im.call(math::cos) - sine * 2.0 * sine;
    let whole = exponential(z);
    let result = Complex::new(z.re.lt(700.0).select(re, whole.re), whole.im);
    select(z.im.eq(0.0), Complex::new(less, z.im), result)
}

fn logistic_of(z: Complex<'_>) -> Complex<'_> {
    let right = z.constant(0.0, 0.0).re.le(z.re);
    let e = exponential(select(right, -z, z));
    quotient(select(right, z.constant(1.0, 0.0), e), e + 1.0)
}

pub(super) fn logarithm(z: Complex<'_>) -> Complex<'_> {
    Complex::new(log_of_modulus(z), argument(z))
}

fn logarithm_to_2(z: Complex<'_>) -> Complex<'_> {
    logarithm(z).scale(z.re.constant(LOG2_E))
}

fn logarithm_of_1_plus(z: Complex<'_>) -> Complex<'_> {
    let moved = z + 1.0;
    // |1 + z|² - 1 = 2x + x² + y².
    let square = z.squared_modulus();
    let twice = z.re + z.re;
    let (larger, smaller) = {
        let first = twice.abs().gt(square.high);
        (
            first.select(twice, square.high),
            first.select(square.high, twice),
        )
    };
    let excess = Pair::ordered_sum(larger, smaller).plus(square.low).value();
    let near = z.largest().lt(4.0) & excess.gt(-0.5);
    let re = near.select(excess.call(math::log1p) * 0.5, log_of_modulus(moved));
    let result = Complex::new(re, argument(moved));
    select(z.is_nan(), z.constant(f64::NAN, f64::NAN), result)
}

/// The angle of a number, from -π to π.
pub(super) fn argument(z: Complex<'_>) -> Expr<'_> {
    z.im.call_with(math::atan2, z.re)
}

/// ln |z|, accurate where the modulus is near 1.
pub(super) fn log_of_modulus(z: Complex<'_>) -> Expr<'_> {
    let (near, exponent) = z.in_range();
    let square = near.squared_modulus().normal();
    let (m, e) = split(square.high);
    let twice = exponent + exponent;
    let l = log_pair(m - 1.0, e + twice).plus(square.low / square.high);
    let l = l.value() * 0.5;
    let l = z.is_zero().select(f64::NEG_INFINITY, l);
    z.is_infinite().select(f64::INFINITY, l)
}
