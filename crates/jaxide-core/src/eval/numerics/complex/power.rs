//! Roots and powers.

use super::super::elementary as real;
use super::{C128, abs};

/// The principal square root.
///
/// On the negative reals the result is +i√|x| whatever the sign of the zero. NaN when a part is
/// NaN; otherwise ∞ for an infinite part.
pub fn sqrt(z: C128) -> C128 {
    let (x, y) = (z.re.abs(), z.im.abs());
    if x.is_nan() || y.is_nan() {
        return C128::new(f64::NAN, f64::NAN);
    }
    if y.is_infinite() {
        return C128::new(y, z.im);
    }
    if x == 0.0 && y == 0.0 {
        return C128::new(0.0, z.im);
    }
    // The larger part √((|x| + |z|) / 2) has no cancellation; scaled by 4ᵏ against overflow and
    // underflow.
    let scale = match x.max(y) {
        m if m > 1e300 => 2f64.powi(-10),
        m if m < 1e-280 => 2f64.powi(110),
        _ => 1.0,
    };
    let (x, y) = (x * scale, y * scale);
    let larger = (0.5 * (x + abs(C128::new(x, y)))).sqrt();
    let smaller = if x.is_infinite() {
        0.0
    } else {
        y / (2.0 * larger)
    };
    let (re, im) = if z.re >= 0.0 {
        (larger, smaller)
    } else {
        (smaller, larger)
    };
    let unscale = 1.0 / scale.sqrt();
    C128::new(re * unscale, if z.im < 0.0 { -im } else { im } * unscale)
}

/// 1 / √z. Zero when a part is infinite, also beside a NaN; ∞ + i NaN for zero.
pub fn rsqrt(z: C128) -> C128 {
    if z.re.is_infinite() || z.im.is_infinite() {
        return C128::new(0.0f64.copysign(z.re), 0.0f64.copysign(-z.im));
    }
    if z.re == 0.0 && z.im == 0.0 {
        return C128::new(f64::INFINITY, f64::NAN);
    }
    // 1/√z = conj(√z) / |z|, and |z| = |√z|².
    let root = sqrt(z);
    let modulus = abs(root);
    let im = if z.im == 0.0 && z.im.is_sign_negative() && z.re < 0.0 {
        -root.im
    } else {
        root.im
    };
    C128::new(root.re / modulus / modulus, -im / modulus / modulus)
}

/// z^w = e^(w log z), by modulus and argument: |z|^c e^(-d θ) cis(c θ + d ln |z|) for w = c + id.
///
/// 1 for w = 0 and for z = 1, whatever the other (NaN included). 0 for z = 0 and a positive real w;
/// NaN for z = 0 and any other w. For z = ∞ and a real w, ∞ or 0.
pub fn pow(z: C128, w: C128) -> C128 {
    let (one, zero) = (C128::new(1.0, 0.0), C128::new(0.0, 0.0));
    if w == zero || z == one {
        return one;
    }
    if w.im == 0.0 && w.re > 0.0 && z == zero {
        return zero;
    }
    if w.im == 0.0 && z == C128::new(f64::INFINITY, 0.0) && !w.re.is_nan() {
        return C128::new(if w.re > 0.0 { f64::INFINITY } else { 0.0 }, 0.0);
    }
    let (modulus, angle) = (abs(z), real::atan2(z.im, z.re));
    let log_modulus = super::log(z).re;
    let mut scale = real::pow(modulus, w.re) * real::exp(-w.im * angle);
    if scale.is_nan() {
        // ∞ · 0 of two factors whose product may be in range.
        scale = real::exp(w.re * log_modulus - w.im * angle);
    }
    let turn = w.re * angle + w.im * log_modulus;
    C128::new(scale * real::cos(turn), scale * real::sin(turn))
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
            (got - want).norm() <= 2e-15 * want.norm(),
            "{got} is not {want}"
        );
    }

    #[test]
    fn roots() {
        close(
            sqrt(c(1.0, -2.0)),
            c(1.272019649514069, -0.7861513777574233),
        );
        close(sqrt(c(-2.0, -0.0)), c(0.0, std::f64::consts::SQRT_2));
        close(
            sqrt(c(1.6e308, 1.2e308)),
            c(1.3416407864998738e154, 4.472135954999579e153),
        );
        close(
            sqrt(c(0.0, 8e-324)) * 1e160,
            c(0.022227587494850775, 0.022227587494850775),
        );
        assert_eq!(sqrt(c(-INF, -1.0)), c(0.0, -INF));
        assert_eq!(sqrt(c(3.0, INF)), c(INF, INF));
        assert!(sqrt(c(NAN, INF)).re.is_nan());
        close(
            rsqrt(c(1.0, 1.0)),
            c(0.7768869870150186, -0.3217971264527913),
        );
        assert_eq!(rsqrt(c(NAN, INF)), c(0.0, 0.0));
        assert!(rsqrt(c(0.0, 0.0)).re == INF && rsqrt(c(0.0, 0.0)).im.is_nan());
    }

    /// Results of `lax.pow`.
    #[test]
    fn powers() {
        close(
            pow(c(-2.0, 0.5), c(1.5, -0.25)),
            c(-3.1830709885961097, -5.211197346323811),
        );
        assert_eq!(pow(c(0.0, 0.0), c(0.5, 0.0)), c(0.0, 0.0));
        assert!(pow(c(0.0, 0.0), c(-1.0, 0.0)).re.is_nan());
        assert_eq!(pow(c(NAN, 0.0), c(0.0, -0.0)), c(1.0, 0.0));
        assert_eq!(pow(c(1.0, -0.0), c(INF, NAN)), c(1.0, 0.0));
        assert_eq!(pow(c(INF, 0.0), c(-2.0, 0.0)), c(0.0, 0.0));
        assert!(pow(c(INF, 0.0), c(1.0, 1.0)).re.is_nan());
    }
}
