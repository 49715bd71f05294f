//! Circular and hyperbolic functions.
//!
//! The hyperbolic ones are the circular ones with the parts exchanged: sinh z = -i sin(iz).

use super::super::elementary as real;
use super::C128;

/// sin z = sin x cosh y + i cos x sinh y; purely imaginary for x = 0, also at y = ±∞.
pub fn sin(z: C128) -> C128 {
    let (sine, cosine) = (real::sin(z.re), real::cos(z.re));
    let re = if z.re == 0.0 {
        z.re
    } else {
        times_cosh(sine, z.im)
    };
    C128::new(re, times_sinh(cosine, z.im))
}

/// cos z = cos x cosh y - i sin x sinh y; real for x = 0, also at y = ±∞.
pub fn cos(z: C128) -> C128 {
    let (sine, cosine) = (real::sin(z.re), real::cos(z.re));
    let im = if z.re == 0.0 {
        0.0
    } else {
        -times_sinh(sine, z.im)
    };
    C128::new(times_cosh(cosine, z.im), im)
}

/// tan z. ±i for y = ±∞, whatever x.
pub fn tan(z: C128) -> C128 {
    exchange(tanh(exchange(z)))
}

/// sinh z = sinh x cos y + i cosh x sin y; real for y = 0, also at x = ±∞.
pub fn sinh(z: C128) -> C128 {
    exchange(sin(exchange(z)))
}

/// cosh z = cosh x cos y + i sinh x sin y; real for y = 0, also at x = ±∞.
pub fn cosh(z: C128) -> C128 {
    cos(C128::new(z.im, -z.re))
}

/// tanh z. ±1 for x = ±∞, whatever y; real for y = 0.
///
/// W. Kahan, *Branch cuts for complex elementary functions* (1987).
pub fn tanh(z: C128) -> C128 {
    if z.im == 0.0 {
        return C128::new(real::tanh(z.re), z.im);
    }
    if z.re.abs() > 20.0 {
        let decay = real::exp(-z.re.abs());
        let im = 4.0 * real::sin(z.im) * real::cos(z.im) * decay * decay;
        let im = if z.re.is_infinite() { 0.0 } else { im };
        return C128::new(1f64.copysign(z.re), im);
    }
    let tangent = real::tan(z.im);
    let sine = real::sinh(z.re);
    let derivative = 1.0 + tangent * tangent;
    let cosine = (1.0 + sine * sine).sqrt();
    let denominator = 1.0 + derivative * sine * sine;
    C128::new(
        derivative * cosine * sine / denominator,
        tangent / denominator,
    )
}

/// y + ix for x + iy.
fn exchange(z: C128) -> C128 {
    C128::new(z.im, z.re)
}

/// factor · cosh y, where cosh y alone may overflow.
fn times_cosh(factor: f64, y: f64) -> f64 {
    if y.abs() < 700.0 {
        factor * real::cosh(y)
    } else {
        times_half_exp(factor, y.abs())
    }
}

/// factor · sinh y, where sinh y alone may overflow.
fn times_sinh(factor: f64, y: f64) -> f64 {
    if y.abs() < 700.0 {
        factor * real::sinh(y)
    } else {
        times_half_exp(factor, y.abs()) * y.signum()
    }
}

fn times_half_exp(factor: f64, y: f64) -> f64 {
    let half = real::exp(0.5 * y);
    0.5 * factor * half * half
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
        close(sin(c(1.0, -2.0)), c(3.165778513216168, -1.9596010414216063));
        close(cos(c(1.0, -2.0)), c(2.0327230070196656, 3.0518977991517997));
        close(
            tan(c(1.0, -2.0)),
            c(0.0338128260798967, -1.0147936161466335),
        );
        close(
            sinh(c(1.0, -2.0)),
            c(-0.48905625904129374, -1.4031192506220407),
        );
        close(
            cosh(c(1.0, -2.0)),
            c(-0.6421481247155201, -1.0686074213827785),
        );
        close(tanh(c(1.0, -2.0)), c(1.16673625724092, 0.24345820118572528));
        close(tanh(c(25.0, 1.0)), c(1.0, 3.50761454748803e-22));
        close(sinh(c(1e-10, 1e-10)), c(1e-10, 1e-10));
    }

    #[test]
    fn partial_overflow() {
        let huge = sinh(c(710.4, 1e-10));
        assert!(huge.re.is_finite() && (huge.im / huge.re - 1e-10).abs() < 1e-24);
        assert_eq!(cosh(c(1000.0, 1.0)), c(INF, INF));
    }

    #[test]
    fn infinities() {
        assert_eq!(sin(c(0.0, INF)), c(0.0, INF));
        assert_eq!(cosh(c(-INF, 0.0)), c(INF, 0.0));
        assert_eq!(sinh(c(-INF, 0.0)), c(-INF, 0.0));
        assert!(sinh(c(INF, INF)).re.is_nan());
        assert_eq!(tanh(c(-INF, NAN)), c(-1.0, 0.0));
        assert_eq!(tan(c(3.0, INF)), c(0.0, 1.0));
        assert!(tanh(c(0.0, INF)).im.is_nan());
    }
}
