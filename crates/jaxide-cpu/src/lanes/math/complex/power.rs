//! Division, roots and powers.

use super::exponential::{argument, direction, log_of_modulus};
use super::{Complex, functions, in_double, select};
use crate::lanes::math;
use crate::lanes::math::expr::Expr;
use crate::lanes::math::power::reciprocal_root_of_single;
use crate::lanes::{Builder, Value};

functions! {
    /// √z.
    sqrt root;
    /// 1 / √z.
    rsqrt reciprocal_root;
    /// The power of a third.
    cbrt cube_root;
    /// z / |z|.
    sign direction_of;
}

/// |z|.
pub fn abs(b: &mut Builder, z: [Value; 2]) -> Value {
    let [size] = in_double(b, z, |[re, im]| [Complex::new(re, im).modulus_to_round()]);
    size
}

/// z / w.
pub fn div(b: &mut Builder, z: [Value; 2], w: [Value; 2]) -> [Value; 2] {
    in_double(b, [z[0], z[1], w[0], w[1]], |[a, b, c, d]| {
        let q = quotient(Complex::new(a, b), Complex::new(c, d));
        [q.re, q.im]
    })
}

/// z^w.
pub fn pow(b: &mut Builder, z: [Value; 2], w: [Value; 2]) -> [Value; 2] {
    in_double(b, [z[0], z[1], w[0], w[1]], |[a, b, c, d]| {
        let y = power(Complex::new(a, b), Complex::new(c, d));
        [y.re, y.im]
    })
}

/// The power of two that brings a finite positive number near 1; 1 for zero, ∞ and NaN.
fn toward_one(size: Expr<'_>) -> Expr<'_> {
    // The bits of the exponent, by which 1 is divided; away from the ends of the range.
    let limited = size.clamp(2f64.powi(-1000), 2f64.powi(1000));
    let field = limited.bits() & limited.int(0x7ff0_0000_0000_0000);
    let inverse = (limited
        .int(0x7fe0_0000_0000_0000)
        .bin(crate::lanes::BinOp::Sub, field))
    .as_float();
    let usual = size.gt(0.0) & size.lt(f64::INFINITY);
    usual.select(inverse, size.constant(1.0))
}

pub(super) fn quotient<'a>(z: Complex<'a>, w: Complex<'a>) -> Complex<'a> {
    let largest = w.largest();
    let scale = if largest.from_single {
        largest.constant(1.0)
    } else {
        toward_one(largest)
    };
    let near = w.scale(scale);
    let (c, d) = (near.re, near.im);
    let denominator = c * c + d * d;
    let re = (z.re * c + z.im * d) / denominator * scale;
    let im = (z.im * c - z.re * d) / denominator * scale;
    // NaNs that stand for an infinity or a zero.
    let lost = re.is_nan() & im.is_nan();
    let [re, im] = lost.rarely(
        || {
            let unit = |x: Expr<'a>| x.is_infinite().select(1.0, x.constant(0.0)).copysign(x);
            let (infinity, zero) = (re.constant(f64::INFINITY), re.constant(0.0));
            let (some, all) = (z.is_infinite(), !(z.re.is_nan() & z.im.is_nan()));
            let by_zero = denominator.eq(0.0) & all;
            let divisor_is_finite = c.abs().lt(f64::INFINITY) & d.abs().lt(f64::INFINITY);
            let of_infinity = some & divisor_is_finite;
            let finite = z.re.abs().lt(f64::INFINITY) & z.im.abs().lt(f64::INFINITY);
            let by_infinity = w.is_infinite() & finite;
            let (c1, d1) = (unit(c), unit(d));
            let small = Complex::new(
                zero * (z.re * c1 + z.im * d1),
                zero * (z.im * c1 - z.re * d1),
            );
            let (a, b) = (unit(z.re), unit(z.im));
            let large = Complex::new(infinity * (a * c + b * d), infinity * (b * c - a * d));
            let signed = infinity.copysign(c);
            let pole = Complex::new(signed * z.re, signed * z.im);
            let result = select(by_infinity, small, Complex::new(re, im));
            let result = select(of_infinity, large, result);
            let result = select(by_zero, pole, result);
            [result.re, result.im]
        },
        [re, im],
    );
    Complex::new(re, im)
}

pub(super) fn root(z: Complex<'_>) -> Complex<'_> {
    let (x, y) = (z.re.abs(), z.im.abs());
    let largest = z.largest();
    // Scaled by a power of four against overflow and underflow.
    let one = x.constant(1.0);
    let never = x.lt(x);
    let (high, low) = if x.from_single {
        (never, never)
    } else {
        (largest.gt(1e300), largest.lt(1e-280))
    };
    let scale = high.select(2f64.powi(-10), low.select(2f64.powi(110), one));
    let unscale = high.select(2f64.powi(5), low.select(2f64.powi(-55), one));
    let near = Complex::new(x * scale, y * scale);
    let larger = ((near.re + near.modulus()) * 0.5).sqrt();
    let smaller = near.im / (larger + larger);
    let smaller = x.is_infinite().select(0.0, smaller);
    let right = x.constant(0.0).le(z.re);
    let (re, im) = (right.select(larger, smaller), right.select(smaller, larger));
    let im = z.im.lt(0.0).select(-im, im);
    let result = Complex::new(re * unscale, im * unscale);
    let zero = Complex::new(x.constant(0.0), z.im);
    let result = select(z.is_zero(), zero, result);
    let result = select(y.is_infinite(), Complex::new(y, z.im), result);
    select(z.is_nan(), z.constant(f64::NAN, f64::NAN), result)
}

fn reciprocal_root(z: Complex<'_>) -> Complex<'_> {
    let root = root(z);
    let modulus = root.modulus();
    // On the cut the sign of the zero tells the side.
    let negative_zero = z.im.eq(0.0) & z.im.constant(1.0).copysign(z.im).lt(0.0);
    let below = negative_zero & z.re.lt(0.0);
    let im = below.select(-root.im, root.im);
    let result = Complex::new(root.re / modulus / modulus, -im / modulus / modulus);
    let at_zero = z.constant(f64::INFINITY, f64::NAN);
    let result = select(z.is_zero(), at_zero, result);
    let zero = z.re.constant(0.0);
    let at_infinity = Complex::new(zero.copysign(z.re), zero.copysign(-z.im));
    select(z.is_infinite(), at_infinity, result)
}

fn cube_root(z: Complex<'_>) -> Complex<'_> {
    power(z, z.constant(1.0 / 3.0, 0.0))
}

fn direction_of(z: Complex<'_>) -> Complex<'_> {
    if z.re.from_single {
        let square = z.square_of_single();
        let reciprocal = reciprocal_root_of_single(square);
        return z.scale(square.eq(f64::INFINITY).select(0.0, reciprocal));
    }
    let scaled = z.scale(toward_one(z.largest()));
    let size = scaled.modulus();
    let result = Complex::new(scaled.re / size, scaled.im / size);
    select(z.is_zero(), z, result)
}

fn power<'a>(z: Complex<'a>, w: Complex<'a>) -> Complex<'a> {
    let (modulus, angle) = (z.modulus(), argument(z));
    let log_modulus = log_of_modulus(z);
    let decay = w.im * angle;
    let size = modulus.call_with(math::pow, w.re) * (-decay).call(math::exp);
    // ∞ · 0 of two factors whose product may be in range.
    let [size] = size
        .is_nan()
        .rarely(|| [(w.re * log_modulus - decay).call(math::exp)], [size]);
    let turn = w.re * angle + w.im * log_modulus;
    let result = direction(turn).scale(size);
    let real = w.im.eq(0.0);
    let infinity = z.re.eq(f64::INFINITY) & z.im.eq(0.0);
    let grows = w.re.gt(0.0);
    let end = Complex::new(
        grows.select(f64::INFINITY, w.re.constant(0.0)),
        w.re.constant(0.0),
    );
    let result = select(real & infinity & !w.re.is_nan(), end, result);
    let result = select(real & grows & z.is_zero(), z.constant(0.0, 0.0), result);
    let one = w.is_zero() | (z.re.eq(1.0) & z.im.eq(0.0));
    select(one, z.constant(1.0, 0.0), result)
}
