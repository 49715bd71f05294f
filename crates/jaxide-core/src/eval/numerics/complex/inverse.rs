//! Inverse circular and hyperbolic functions.
//!
//! W. Kahan, *Branch cuts for complex elementary functions, or much ado about nothing's sign bit*
//! (1987): products of square roots whose terms do not cancel, so that each part is accurate. They
//! are evaluated in the first quadrant; the parts' signs follow from symmetry, with -0 on the wrong
//! side of a cut counting as 0 except in [`atanh`] and [`atan`].

use super::super::elementary as real;
use super::{C128, abs, div, log, mul, sqrt};
use std::f64::consts::{FRAC_PI_2, LN_2, PI};

/// The arc sine; cuts along the reals beyond ±1.
pub fn asin(z: C128) -> C128 {
    let arc = quadrant(z.re.abs(), z.im.abs());
    C128::new(arc.sine.copysign(z.re), signed(arc.excess, z.im))
}

/// The arc cosine, with a real part in [0, π]; cuts along the reals beyond ±1.
pub fn acos(z: C128) -> C128 {
    let arc = quadrant(z.re.abs(), z.im.abs());
    C128::new(arc.cosine(z.re), -signed(arc.excess, z.im))
}

/// The inverse hyperbolic sine; cuts along the imaginary axis beyond ±i.
pub fn asinh(z: C128) -> C128 {
    let arc = quadrant(z.im.abs(), z.re.abs());
    C128::new(signed(arc.excess, z.re), arc.sine.copysign(z.im))
}

/// The inverse hyperbolic cosine, with a real part ≥ 0; cut along the reals below 1.
pub fn acosh(z: C128) -> C128 {
    let arc = quadrant(z.re.abs(), z.im.abs());
    C128::new(arc.excess, signed(arc.cosine(z.re), z.im))
}

/// The inverse hyperbolic tangent; ±∞ at ±1, cuts along the reals beyond, whose sides the sign of a
/// zero imaginary part tells.
///
/// At infinity the result is ±0 ± iπ/2, and of NaN NaN ± iπ/2; there, as in JAX, -0 counts as positive and NaN as negative.
pub fn atanh(z: C128) -> C128 {
    let (x, y) = (z.re.abs(), z.im.abs());
    let (infinite, nan) = (x.is_infinite() || y.is_infinite(), x.is_nan() || y.is_nan());
    if infinite || nan || x.max(y) > 1e150 {
        let re = if infinite {
            0.0
        } else if nan {
            f64::NAN
        } else {
            x / abs(z) / abs(z)
        };
        let im = if z.im >= 0.0 { FRAC_PI_2 } else { -FRAC_PI_2 };
        return C128::new(re.copysign(z.re), im);
    }
    // Re = ¼ ln(1 + 4x / m²) for the distance m from 1.
    let distance = abs(C128::new(1.0 - x, y));
    let re = if distance < 1e-100 {
        0.5 * (LN_2 - real::log(distance))
    } else {
        0.25 * real::log1p(4.0 * (x / distance) / distance)
    };
    let im = 0.5 * real::atan2(2.0 * y, (1.0 - x) * (1.0 + x) - y * y);
    C128::new(re.copysign(z.re), im.copysign(z.im))
}

/// The arc tangent; ±i∞ at ±i, cuts along the imaginary axis beyond.
pub fn atan(z: C128) -> C128 {
    let w = atanh(C128::new(z.im, z.re));
    C128::new(w.im, w.re)
}

/// -i ln((x + iy) / √(x² + y²)), the continuation of the real arc tangent of y / x.
pub fn atan2(y: C128, x: C128) -> C128 {
    let i = C128::new(0.0, 1.0);
    let direction = div(x + mul(i, y), sqrt(mul(x, x) + mul(y, y)));
    mul(-i, log(direction))
}

/// What the inverse functions have in common at x + iy with x, y ≥ 0.
struct Arc {
    /// Re asin.
    sine: f64,
    /// Re acos.
    cosine: f64,
    /// Im asin = Re acosh.
    excess: f64,
}

impl Arc {
    /// Re acos of the number whose real part has the sign of `x`.
    fn cosine(&self, x: f64) -> f64 {
        if x.is_sign_negative() && x != 0.0 {
            PI - self.cosine
        } else {
            self.cosine
        }
    }
}

fn quadrant(x: f64, y: f64) -> Arc {
    if x.is_infinite() || y.is_infinite() {
        let angle = real::atan2(y, x);
        return Arc {
            sine: FRAC_PI_2 - angle,
            cosine: angle,
            excess: f64::INFINITY,
        };
    }
    if x.max(y) > 1e100 {
        // asin z = -i ln(2iz) up to a relative 1e-200.
        let angle = real::atan2(y, x);
        let scaled = abs(C128::new(0.25 * x, 0.25 * y));
        return Arc {
            sine: FRAC_PI_2 - angle,
            cosine: angle,
            excess: real::log(scaled) + 3.0 * LN_2,
        };
    }
    let (minus, plus) = (sqrt(C128::new(1.0 - x, -y)), sqrt(C128::new(1.0 + x, y)));
    // √(1 - z) lies in the fourth quadrant; for real z > 1 on its lower edge.
    let minus = C128::new(minus.re, -minus.im.abs());
    Arc {
        sine: real::atan2(x, minus.re * plus.re - minus.im * plus.im),
        cosine: 2.0 * real::atan2(minus.re, plus.re),
        excess: real::asinh(minus.re * plus.im - minus.im * plus.re),
    }
}

/// The magnitude, negative if `by` is negative.
fn signed(magnitude: f64, by: f64) -> f64 {
    if by < 0.0 { -magnitude } else { magnitude }
}

#[cfg(test)]
mod tests {
    use super::*;

    const INF: f64 = f64::INFINITY;
    const NAN: f64 = f64::NAN;

    fn c(re: f64, im: f64) -> C128 {
        C128::new(re, im)
    }

    fn close(got: C128, want: C128) {
        assert!(
            (got - want).norm() <= 1e-15 * want.norm(),
            "{got} is not {want}"
        );
    }

    #[test]
    fn values() {
        close(
            asin(c(1.0, -2.0)),
            c(0.42707858639247614, -1.5285709194809982),
        );
        close(
            acos(c(1.0, -2.0)),
            c(1.1437177404024204, 1.5285709194809982),
        );
        close(
            atan(c(1.0, -2.0)),
            c(1.3389725222944935, -0.4023594781085251),
        );
        close(
            asinh(c(1.0, -2.0)),
            c(1.4693517443681854, -1.0634400235777521),
        );
        close(
            acosh(c(1.0, -2.0)),
            c(1.5285709194809982, -1.1437177404024204),
        );
        close(
            atanh(c(1.0, -2.0)),
            c(0.17328679513998632, -1.1780972450961724),
        );
        close(acos(c(1.0, 1e-20)), c(1e-10, -1e-10));
        close(acosh(c(1.0 + 1e-10, 0.0)), c(1.4142136208675862e-5, 0.0));
    }

    #[test]
    fn cuts() {
        close(asin(c(2.0, -0.0)), c(FRAC_PI_2, 1.3169578969248166));
        close(acos(c(-2.0, -0.0)), c(PI, -1.3169578969248166));
        close(acosh(c(0.5, -0.0)), c(0.0, 1.0471975511965976));
        close(asinh(c(-0.0, -2.0)), c(1.3169578969248166, -FRAC_PI_2));
        close(atanh(c(2.0, -0.0)), c(0.5493061443340549, -FRAC_PI_2));
        close(atan(c(-0.0, 2.0)), c(-FRAC_PI_2, 0.5493061443340549));
    }

    #[test]
    fn infinities_and_poles() {
        assert_eq!(atanh(c(1.0, 0.0)), c(INF, 0.0));
        assert_eq!(atanh(c(3.0, -INF)), c(0.0, -FRAC_PI_2));
        assert_eq!(asin(c(-INF, 1.0)), c(-FRAC_PI_2, INF));
        assert_eq!(acos(c(-INF, INF)), c(0.75 * PI, -INF));
        assert_eq!(acosh(c(INF, -INF)), c(INF, -0.25 * PI));
        assert!(asin(c(NAN, 1.0)).re.is_nan());
    }

    #[test]
    fn extreme_magnitudes() {
        close(asin(c(1.7e308, -0.0)), c(FRAC_PI_2, 710.4199840737882));
        close(atanh(c(1.0, 1e-200)), c(230.60508288968455, 0.25 * PI));
    }
}
