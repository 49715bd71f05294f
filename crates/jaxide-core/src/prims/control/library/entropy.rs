//! Products with logarithms, whose value where a factor is 0 is a limit.

use super::*;

pub(super) const RULES: [LibraryRule; 4] = [
    LibraryRule {
        names: ("_xlogx", "_xlogx_jvp"),
        arity: (1, 1),
        equations: NAMED,
        derivative: Derivative::Tangents(|b, _, x, t| {
            let slope = b.add(b.log(x[0]), like(b, x[0], 1.0));
            Ok(vec![b.mul(t[0], slope)])
        }),
    },
    LibraryRule {
        names: ("xlogy", "_xlogy_jvp"),
        arity: (2, 1),
        equations: NAMED,
        derivative: Derivative::Tangents(|b, _, x, t| {
            let first = b.mul(t[0], b.log(x[1]));
            let second = b.div(b.mul(t[1], x[0]), x[1]);
            Ok(vec![b.add(first, second)])
        }),
    },
    LibraryRule {
        names: ("xlog1py", "_xlog1py_jvp"),
        arity: (2, 1),
        equations: NAMED,
        derivative: Derivative::Tangents(|b, _, x, t| {
            let first = b.mul(t[0], b.log1p(x[1]));
            let product = b.mul(t[1], x[0]);
            let second = b.div(product, b.add(like(b, x[1], 1.0), x[1]));
            Ok(vec![b.add(first, second)])
        }),
    },
    LibraryRule {
        names: ("logit", "jvp"),
        arity: (1, 1),
        equations: Some(&["sub", "div", "log"]),
        // t / (x (1 - x))
        derivative: Derivative::Tangents(|b, _, x, t| {
            let rest = b.sub(like(b, x[0], 1.0), x[0]);
            Ok(vec![b.div(t[0], b.mul(x[0], rest))])
        }),
    },
];
