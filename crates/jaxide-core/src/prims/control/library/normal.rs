//! Distribution functions of the normal distribution.

use super::*;
use std::f64::consts::PI;

const NDTRI_SLOPE: (&str, &str) = ("_ndtri_grad", "_ndtri_grad_jvp");

pub(super) const RULES: [LibraryRule; 4] = [
    LibraryRule {
        names: ("_ndtri", "_ndtri_jvp"),
        arity: (1, 1),
        equations: NAMED,
        derivative: Derivative::Tangents(|b, y, x, t| {
            Ok(vec![b.mul(t[0], quantile_slope(b, x[0], y[0])?)])
        }),
    },
    LibraryRule {
        names: NDTRI_SLOPE,
        arity: (2, 1),
        equations: NAMED,
        // The second argument is the quantile of the first, whose slope is y: dy = t x y².
        derivative: Derivative::Tangents(|b, y, x, t| {
            let slope = b.mul(b.mul(x[1], y[0]), y[0]);
            Ok(vec![b.mul(t[0], slope)])
        }),
    },
    LibraryRule {
        names: ("log_ndtr", "_log_ndtr_jvp"),
        arity: (1, 1),
        equations: NAMED,
        // The density over the distribution function, by their logarithms.
        derivative: Derivative::Tangents(|b, y, x, t| {
            let exponent = b.mul(like(b, x[0], -0.5), b.square(x[0]));
            let log_density = b.sub(exponent, like(b, x[0], 0.5 * (2.0 * PI).ln()));
            let slope = b.exp(b.sub(log_density, y[0]));
            Ok(vec![b.mul(t[0], slope)])
        }),
    },
    LibraryRule {
        names: ("_owens_t_impl", "_owens_t_jvp"),
        arity: (2, 1),
        equations: NAMED,
        derivative: Derivative::Tangents(|b, _, x, t| Ok(vec![owens_t_tangent(b, x, t)])),
    },
];

/// `sqrt(2π) exp(x²/2)` at the quantile `x` of `p`.
fn quantile_slope(b: &Builder, p: Atom, x: Atom) -> Result<Atom> {
    library_call(b, NDTRI_SLOPE, &[p, x], |b, args| {
        let x = args[1];
        let growth = b.exp(b.mul(like(b, x, 0.5), b.square(x)));
        b.mul(like(b, x, (2.0 * PI).sqrt()), growth)
    })
}

/// `∂T/∂h = -exp(-h²/2) erf(a h/√2) / (2√(2π))` and `∂T/∂a = exp(-(a²+1) h²/2) / (2π(a²+1))`.
fn owens_t_tangent(b: &Builder, x: &[Atom], t: &[Atom]) -> Atom {
    let (h, a) = (x[0], x[1]);
    let number = |value: f64| like(b, h, value);
    let decay = b.neg(b.exp(b.mul(number(-0.5), b.square(h))));
    let part = b.erf(b.div(b.mul(a, h), number(2f64.sqrt())));
    let by_h = b.div(b.mul(decay, part), number(2.0 * (2.0 * PI).sqrt()));
    let scale = b.mul(number(-0.5), b.add(b.square(a), number(1.0)));
    let growth = b.exp(b.mul(scale, b.square(h)));
    let norm = b.mul(number(2.0 * PI), b.add(b.square(a), number(1.0)));
    let by_a = b.div(growth, norm);
    let (first, second) = (b.mul(by_h, t[0]), b.mul(by_a, t[1]));
    b.add(first, second)
}
