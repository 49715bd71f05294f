//! Activation functions of neural networks, and functions kept from overflowing.

use super::*;

pub(super) const RULES: [LibraryRule; 7] = [
    LibraryRule {
        names: ("relu", "jvp"),
        arity: (1, 1),
        equations: COMPILED,
        // t where x > 0, else 0
        derivative: Derivative::Tangents(|b, _, x, t| {
            let positive = b.gt(x[0], b.number(0.0, b.dtype(x[0])));
            Ok(vec![b.select(positive, t[0], b.zeros_like(t[0]))])
        }),
    },
    LibraryRule {
        names: ("relu6", "jvp"),
        arity: (1, 1),
        equations: COMPILED,
        // t where 0 < x < 6, else 0
        derivative: Derivative::Tangents(|b, _, x, t| {
            let positive = b.gt(x[0], b.number(0.0, b.dtype(x[0])));
            let small = b.lt(x[0], b.number(6.0, b.dtype(x[0])));
            let inside = b.and(positive, small);
            Ok(vec![b.select(inside, t[0], b.zeros_like(t[0]))])
        }),
    },
    LibraryRule {
        names: ("log1mexp", "jvp"),
        arity: (1, 1),
        equations: COMPILED,
        // t / (exp(x) - 1)
        derivative: Derivative::Tangents(|b, _, x, t| Ok(vec![b.div(t[0], b.expm1(x[0]))])),
    },
    LibraryRule {
        names: ("exp_neg_sq", "_exp_neg_sq_jvp"),
        arity: (1, 1),
        equations: NAMED,
        // -2 x exp(-x²) t, and 0 where exp(-x²) is.
        derivative: Derivative::Tangents(|b, y, x, t| {
            let dtype = b.dtype(x[0]);
            let limit = if dtype == crate::DType::F32 {
                11.0
            } else {
                28.0
            };
            let inside = b.lt(b.abs(x[0]), b.number(limit, dtype));
            let safe = b.select(inside, x[0], b.zeros_like(x[0]));
            let slope = b.mul(b.mul(b.number(-2.0, dtype), safe), y[0]);
            Ok(vec![b.mul(slope, t[0])])
        }),
    },
    LibraryRule {
        names: ("logaddexp", "_logaddexp_jvp"),
        arity: (2, 1),
        equations: NAMED,
        derivative: Derivative::Tangents(|b, y, x, t| {
            Ok(vec![weighted(b, y[0], x, t, Builder::exp)])
        }),
    },
    LibraryRule {
        names: ("logaddexp2", "_logaddexp2_jvp"),
        arity: (2, 1),
        equations: NAMED,
        derivative: Derivative::Tangents(|b, y, x, t| {
            Ok(vec![weighted(b, y[0], x, t, Builder::exp2)])
        }),
    },
    LibraryRule {
        names: ("_hypot", "_hypot_jvp"),
        arity: (2, 3),
        equations: NAMED,
        // Of r = |x|, and of the direction u = x / r: dr = u·t and du = (t - u dr) / r.
        derivative: Derivative::Tangents(|b, y, _, t| {
            let (r, u) = (y[0], &y[1..]);
            let dr = b.add(b.mul(u[0], t[0]), b.mul(u[1], t[1]));
            let du = |i: usize| b.div(b.sub(t[i], b.mul(u[i], dr)), r);
            let (first, second) = (du(0), du(1));
            Ok(vec![dr, first, second])
        }),
    },
];

/// Each tangent times the share of its exponential in the sum, whose logarithm is `y`.
fn weighted(b: &Builder, y: Atom, x: &[Atom], t: &[Atom], exp: fn(&Builder, Atom) -> Atom) -> Atom {
    // Infinity minus infinity counts as zero.
    let finite = |x: Atom| {
        let part = if b.dtype(x).is_complex() {
            b.real(x)
        } else {
            x
        };
        let infinite = b.eq(part, b.number(f64::INFINITY, b.dtype(part)));
        b.select(infinite, b.zeros_like(x), x)
    };
    let term = |i: usize| {
        let (x, y) = (finite(x[i]), finite(y));
        b.mul(t[i], exp(b, b.sub(x, y)))
    };
    let (first, second) = (term(0), term(1));
    b.add(first, second)
}
