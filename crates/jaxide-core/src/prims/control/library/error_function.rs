//! The scaled complementary error function, and Dawson's integral.

use std::f64::consts::{FRAC_2_SQRT_PI, PI};

use super::*;
use crate::transform::eval_jvp;

const SLOPE: (&str, &str) = ("_erfcx_grad", "_erfcx_grad_jvp");

pub(super) const RULES: [LibraryRule; 3] = [
    LibraryRule {
        names: ("_erfcx", "_erfcx_jvp"),
        arity: (1, 1),
        equations: NAMED,
        derivative: Derivative::Tangents(|b, y, x, t| {
            let slope = library_call(b, SLOPE, &[x[0], y[0]], |b, args| {
                erfcx_slope(b, args[0], args[1])
            })?;
            Ok(vec![b.mul(t[0], slope)])
        }),
    },
    LibraryRule {
        names: SLOPE,
        arity: (2, 1),
        equations: NAMED,
        // The second argument is the function of the first.
        derivative: Derivative::Tangents(|b, y, x, t| erfcx_slope_tangent(b, y[0], x, t[0])),
    },
    LibraryRule {
        names: ("_dawsn", "jvp"),
        arity: (1, 1),
        equations: Some(&["sign", "abs", "square", "div"]),
        // 1 - 2 x y
        derivative: Derivative::Tangents(|b, y, x, t| {
            let product = b.mul(b.mul(like(b, x[0], 2.0), x[0]), y[0]);
            let slope = b.sub(like(b, x[0], 1.0), product);
            Ok(vec![b.mul(t[0], slope)])
        }),
    },
];

/// Beyond this the terms of `2 x y - 2/√π` cancel, and the asymptotic series has full precision.
fn far(dtype: DType) -> f64 {
    if dtype == DType::F64 { 12.0 } else { 5.0 }
}

/// `erfcx'(x) = 2 x y - 2/√π` with `y = erfcx(x)`.
fn erfcx_slope(b: &Builder, x: Atom, y: Atom) -> Atom {
    let limit = like(b, x, far(b.dtype(x)));
    let is_far = b.gt(x, limit);
    let product = b.mul(b.mul(like(b, x, 2.0), x), y);
    let near = b.sub(product, like(b, x, FRAC_2_SQRT_PI));
    let safe = b.max(x, limit);
    let series = far_slope(b, safe);
    b.select(is_far, series, near)
}

/// `-1/(√π x²) (1 - 3/(2x²) + 15/(2x²)² - …)`, the slope for large `x`.
fn far_slope(b: &Builder, x: Atom) -> Atom {
    const TERMS: u32 = 12;
    let square = b.square(x);
    let z = b.div(like(b, x, -0.5), square);
    let one = like(b, x, 1.0);
    let sum = (1..=TERMS).rev().fold(one, |sum, k| {
        let next = b.mul(like(b, x, f64::from(2 * k + 1)), z);
        b.add(one, b.mul(next, sum))
    });
    b.div(sum, b.mul(like(b, x, -PI.sqrt()), square))
}

/// `erfcx''(x) = 2 y + 2 x erfcx'(x)`, and far out by the series.
fn erfcx_slope_tangent(b: &Builder, slope: Atom, x: &[Atom], t: Atom) -> Result<Vec<Atom>> {
    let (x, y) = (x[0], x[1]);
    let two = like(b, x, 2.0);
    let limit = like(b, x, far(b.dtype(x)));
    let is_far = b.gt(x, limit);
    let product = b.mul(b.mul(two, x), slope);
    let near = b.mul(t, b.add(b.mul(two, y), product));
    let inner = b.nested();
    let safe = inner.input(b.aval(x));
    let series = far_slope(&inner, safe);
    let series = inner.finish(&[series])?;
    let (_, tangents) = eval_jvp(b, &series.jaxpr, &[], &[b.max(x, limit)], &[Some(t)])?;
    let far_out = tangents[0].unwrap_or_else(|| b.zeros_like(t));
    Ok(vec![b.select(is_far, far_out, near)])
}
