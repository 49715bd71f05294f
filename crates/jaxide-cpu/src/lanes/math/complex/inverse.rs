//! Inverse circular and hyperbolic functions, by products of square roots in the first quadrant.

use super::exponential::logarithm;
use super::power::{quotient, root};
use super::{Complex, functions, in_double};
use crate::lanes::math;
use crate::lanes::math::expr::Expr;
use crate::lanes::{Builder, Value};
use std::f64::consts::{FRAC_PI_2, LN_2, PI};

functions! {
    /// The arc sine.
    asin arc_sine;
    /// The arc cosine.
    acos arc_cosine;
    /// The arc tangent.
    atan arc_tangent;
    /// The inverse hyperbolic sine.
    asinh inverse_hyperbolic_sine;
    /// The inverse hyperbolic cosine.
    acosh inverse_hyperbolic_cosine;
    /// The inverse hyperbolic tangent.
    atanh inverse_hyperbolic_tangent;
}

/// -i ln((x + iy) / √(x² + y²)).
pub fn atan2(b: &mut Builder, y: [Value; 2], x: [Value; 2]) -> [Value; 2] {
    in_double(b, [y[0], y[1], x[0], x[1]], |[a, b, c, d]| {
        let (y, x) = (Complex::new(a, b), Complex::new(c, d));
        let i = y.constant(0.0, 1.0);
        let direction = quotient(x + i.times(y), root(x.times(x) + y.times(y)));
        let result = (-i).times(logarithm(direction));
        [result.re, result.im]
    })
}

fn arc_sine(z: Complex<'_>) -> Complex<'_> {
    let arc = quadrant(z.re.abs(), z.im.abs());
    Complex::new(arc.sine.copysign(z.re), signed(arc.excess, z.im))
}

fn arc_cosine(z: Complex<'_>) -> Complex<'_> {
    let arc = quadrant(z.re.abs(), z.im.abs());
    Complex::new(arc.cosine_for(z.re), -signed(arc.excess, z.im))
}

fn arc_tangent(z: Complex<'_>) -> Complex<'_> {
    inverse_hyperbolic_tangent(z.exchanged()).exchanged()
}

fn inverse_hyperbolic_sine(z: Complex<'_>) -> Complex<'_> {
    let arc = quadrant(z.im.abs(), z.re.abs());
    Complex::new(signed(arc.excess, z.re), arc.sine.copysign(z.im))
}

fn inverse_hyperbolic_cosine(z: Complex<'_>) -> Complex<'_> {
    let arc = quadrant(z.re.abs(), z.im.abs());
    Complex::new(arc.excess, signed(arc.cosine_for(z.re), z.im))
}

fn inverse_hyperbolic_tangent(z: Complex<'_>) -> Complex<'_> {
    let (x, y) = (z.re.abs(), z.im.abs());
    // Re = ¼ ln(1 + 4x / m²) for the distance m from 1.
    let from_one = -x + 1.0;
    let distance = Complex::new(from_one, y).modulus();
    let near = (-distance.call(math::log) + LN_2) * 0.5;
    let far = (x / distance * 4.0 / distance).call(math::log1p) * 0.25;
    let re = distance.lt(1e-100).select(near, far);
    let im = (y + y).call_with(math::atan2, from_one * (x + 1.0) - y * y) * 0.5;
    let result = Complex::new(re.copysign(z.re), im.copysign(z.im));
    let (infinite, nan) = (z.is_infinite(), z.is_nan());
    let beyond = infinite | nan | z.largest().gt(1e150);
    let [re, im] = beyond.rarely(
        || {
            let modulus = z.modulus();
            let re = nan.select(f64::NAN, x / modulus / modulus);
            let re = infinite.select(0.0, re);
            let right = x.constant(0.0).le(z.im);
            let im = right.select(FRAC_PI_2, x.constant(-FRAC_PI_2));
            [re.copysign(z.re), im]
        },
        [result.re, result.im],
    );
    Complex::new(re, im)
}

/// What the inverse functions have in common at x + iy with x, y >= 0.
struct Arc<'a> {
    /// Re asin.
    sine: Expr<'a>,
    /// Re acos.
    cosine: Expr<'a>,
    /// Im asin = Re acosh.
    excess: Expr<'a>,
}

impl<'a> Arc<'a> {
    /// Re acos of the number whose real part has the sign of `x`.
    fn cosine_for(&self, x: Expr<'a>) -> Expr<'a> {
        let negative = x.constant(1.0).copysign(x).lt(0.0) & !x.eq(0.0);
        negative.select(-self.cosine + PI, self.cosine)
    }
}

fn quadrant<'a>(x: Expr<'a>, y: Expr<'a>) -> Arc<'a> {
    let z = Complex::new(x, y);
    let minus = root(Complex::new(-x + 1.0, -y));
    let plus = root(Complex::new(x + 1.0, y));
    // √(1 - z) lies in the fourth quadrant; for real z > 1 on its lower edge.
    let minus = Complex::new(minus.re, -minus.im.abs());
    let sine = x.call_with(math::atan2, minus.re * plus.re - minus.im * plus.im);
    let cosine = minus.re.call_with(math::atan2, plus.re) * 2.0;
    let excess = (minus.re * plus.im - minus.im * plus.re).call(math::asinh);
    let infinite = z.is_infinite();
    let beyond = infinite | z.largest().gt(1e100);
    let [sine, cosine, excess] = beyond.rarely(
        || {
            // asin z = -i ln(2iz) up to a relative 1e-200.
            let angle = y.call_with(math::atan2, x);
            let scaled = Complex::new(x * 0.25, y * 0.25).modulus();
            let excess = scaled.call(math::log) + 3.0 * LN_2;
            let excess = infinite.select(f64::INFINITY, excess);
            [-angle + FRAC_PI_2, angle, excess]
        },
        [sine, cosine, excess],
    );
    Arc {
        sine,
        cosine,
        excess,
    }
}

/// The magnitude, negative if `by` is negative.
fn signed<'a>(magnitude: Expr<'a>, by: Expr<'a>) -> Expr<'a> {
    by.lt(0.0).select(-magnitude, magnitude)
}
