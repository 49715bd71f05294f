//! Circular and hyperbolic functions; the hyperbolic ones are the circular ones with the parts exchanged.

use super::{Complex, functions, in_double, select};
use crate::lanes::math;
use crate::lanes::math::expr::Expr;
use crate::lanes::{Builder, Value};

functions! {
    /// sin z.
    sin sine;
    /// cos z.
    cos cosine;
    /// tan z.
    tan tangent;
    /// sinh z.
    sinh hyperbolic_sine;
    /// cosh z.
    cosh hyperbolic_cosine;
    /// tanh z.
    tanh hyperbolic_tangent;
}

fn sine(z: Complex<'_>) -> Complex<'_> {
    let re = times_cosh(z.re.call(math::sin), z.im);
    let re = z.re.eq(0.0).select(z.re, re);
    Complex::new(re, times_sinh(z.re.call(math::cos), z.im))
}

fn cosine(z: Complex<'_>) -> Complex<'_> {
    let im = -times_sinh(z.re.call(math::sin), z.im);
    let im = z.re.eq(0.0).select(0.0, im);
    Complex::new(times_cosh(z.re.call(math::cos), z.im), im)
}

fn tangent(z: Complex<'_>) -> Complex<'_> {
    hyperbolic_tangent(z.exchanged()).exchanged()
}

fn hyperbolic_sine(z: Complex<'_>) -> Complex<'_> {
    sine(z.exchanged()).exchanged()
}

fn hyperbolic_cosine(z: Complex<'_>) -> Complex<'_> {
    cosine(Complex::new(z.im, -z.re))
}

fn hyperbolic_tangent(z: Complex<'_>) -> Complex<'_> {
    let tangent = z.im.call(math::tan);
    let derivative = tangent * tangent + 1.0;
    let sine = z.re.call(math::sinh);
    let cosine = (sine * sine + 1.0).sqrt();
    let denominator = derivative * sine * sine + 1.0;
    let near = Complex::new(
        derivative * cosine * sine / denominator,
        tangent / denominator,
    );
    // Far out it is ±1 with an angle that vanishes.
    let decay = (-z.re.abs()).call(math::exp);
    let sine_and_cosine = z.im.call(math::sin) * z.im.call(math::cos);
    let im = sine_and_cosine * 4.0 * decay * decay;
    let im = z.re.is_infinite().select(0.0, im);
    let far = Complex::new(z.re.constant(1.0).copysign(z.re), im);
    let result = select(z.re.abs().gt(20.0), far, near);
    let real = Complex::new(z.re.call(math::tanh), z.im);
    select(z.im.eq(0.0), real, result)
}

/// factor · cosh y, where cosh y alone may overflow.
fn times_cosh<'a>(factor: Expr<'a>, y: Expr<'a>) -> Expr<'a> {
    if y.from_single {
        return factor * y.call(math::cosh);
    }
    let far = times_half_exp(factor, y.abs());
    y.abs().lt(700.0).select(factor * y.call(math::cosh), far)
}

/// factor · sinh y, where sinh y alone may overflow.
fn times_sinh<'a>(factor: Expr<'a>, y: Expr<'a>) -> Expr<'a> {
    if y.from_single {
        return factor * y.call(math::sinh);
    }
    let far = times_half_exp(factor, y.abs()) * y.constant(1.0).copysign(y);
    let far = y.is_nan().select(f64::NAN, far);
    y.abs().lt(700.0).select(factor * y.call(math::sinh), far)
}

fn times_half_exp<'a>(factor: Expr<'a>, y: Expr<'a>) -> Expr<'a> {
    let half = (y * 0.5).call(math::exp);
    factor * 0.5 * half * half
}
