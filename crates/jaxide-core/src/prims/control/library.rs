//! Derivatives of the functions that JAX brings along with a rule of their own.
//!
//! Text names the rule of a `custom_jvp_call` without carrying it. These rules are known: without them `relu` would have
//! slope 1/2 at 0, and the logarithm of a sum of exponentials none between equal infinities.

use std::sync::Arc;

use super::super::*;
use crate::error::Result;
use crate::jaxpr::{Atom, Builder, ClosedJaxpr};

/// Tangents of the results `y` at `x` in the direction `t`.
type Tangents = fn(b: &Builder, y: &[Atom], x: &[Atom], t: &[Atom]) -> Vec<Atom>;

struct LibraryRule {
    /// The function's name, and the rule's.
    names: (&'static str, &'static str),
    /// Numbers of arguments and results.
    arity: (usize, usize),
    /// Whether the function is a call of itself: this tells it from others when the rule has no name of its own.
    compiled: bool,
    tangents: Tangents,
}

const LIBRARY: [LibraryRule; 7] = [
    LibraryRule {
        names: ("relu", "jvp"),
        arity: (1, 1),
        compiled: true,
        // t where x > 0, else 0
        tangents: |b, _, x, t| {
            let positive = b.gt(x[0], b.number(0.0, b.dtype(x[0])));
            vec![b.select(positive, t[0], b.zeros_like(t[0]))]
        },
    },
    LibraryRule {
        names: ("relu6", "jvp"),
        arity: (1, 1),
        compiled: true,
        // t where 0 < x < 6, else 0
        tangents: |b, _, x, t| {
            let positive = b.gt(x[0], b.number(0.0, b.dtype(x[0])));
            let small = b.lt(x[0], b.number(6.0, b.dtype(x[0])));
            let inside = b.and(positive, small);
            vec![b.select(inside, t[0], b.zeros_like(t[0]))]
        },
    },
    LibraryRule {
        names: ("log1mexp", "jvp"),
        arity: (1, 1),
        compiled: true,
        // t / (exp(x) - 1)
        tangents: |b, _, x, t| vec![b.div(t[0], b.expm1(x[0]))],
    },
    LibraryRule {
        names: ("exp_neg_sq", "_exp_neg_sq_jvp"),
        arity: (1, 1),
        compiled: false,
        // -2 x exp(-x²) t, and 0 where exp(-x²) is.
        tangents: |b, y, x, t| {
            let dtype = b.dtype(x[0]);
            let limit = if dtype == crate::DType::F32 {
                11.0
            } else {
                28.0
            };
            let inside = b.lt(b.abs(x[0]), b.number(limit, dtype));
            let safe = b.select(inside, x[0], b.zeros_like(x[0]));
            let slope = b.mul(b.mul(b.number(-2.0, dtype), safe), y[0]);
            vec![b.mul(slope, t[0])]
        },
    },
    LibraryRule {
        names: ("logaddexp", "_logaddexp_jvp"),
        arity: (2, 1),
        compiled: false,
        tangents: |b, y, x, t| vec![weighted(b, y[0], x, t, Builder::exp)],
    },
    LibraryRule {
        names: ("logaddexp2", "_logaddexp2_jvp"),
        arity: (2, 1),
        compiled: false,
        tangents: |b, y, x, t| vec![weighted(b, y[0], x, t, Builder::exp2)],
    },
    LibraryRule {
        names: ("_hypot", "_hypot_jvp"),
        arity: (2, 3),
        compiled: false,
        // Of r = |x|, and of the direction u = x / r: dr = u·t and du = (t - u dr) / r.
        tangents: |b, y, _, t| {
            let (r, u) = (y[0], &y[1..]);
            let dr = b.add(b.mul(u[0], t[0]), b.mul(u[1], t[1]));
            let du = |i: usize| b.div(b.sub(t[i], b.mul(u[i], dr)), r);
            let (first, second) = (du(0), du(1));
            vec![dr, first, second]
        },
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

/// The rule of a call that is known by its names.
pub(super) fn rule(call: &CustomJvpCall) -> Option<Rule> {
    let found = LIBRARY.iter().find(|known| known.fits(call))?;
    let (tangents, call) = (found.tangents, call.clone());
    let name = call.jvp.name.clone();
    let make = move |_: &[bool]| -> Result<ClosedJaxpr> {
        let b = Builder::new();
        let avals = call.call_jaxpr.in_avals();
        let x: Vec<Atom> = avals.iter().map(|aval| b.input(aval.clone())).collect();
        let t: Vec<Atom> = avals.iter().map(|aval| b.input(aval.tangent())).collect();
        // A call of its own: JAX traces the function anew where the rule calls it.
        let mut call = call.clone();
        call.call_jaxpr.jaxpr = Arc::new((*call.call_jaxpr.jaxpr).clone());
        let y = b.emit(call, &x)?;
        let tangents = tangents(&b, &y, &x, &t);
        b.finish(&[y.to_vec(), tangents].concat())
    };
    Some(Rule {
        name,
        make: Some(Arc::new(make)),
    })
}

impl LibraryRule {
    fn fits(&self, call: &CustomJvpCall) -> bool {
        let callee = &call.call_jaxpr.jaxpr;
        let names = (&*call.name.0, &*call.jvp.name.0);
        let shape = (callee.invars.len(), callee.outvars.len());
        let floats = |atom| callee.aval(atom).dtype.is_inexact();
        let calls_itself = matches!(callee.eqns.as_slice(), [only] if matches!(&only.prim, Prim::Jit(jit) if jit.name == call.name));
        names == self.names
            && shape == self.arity
            && call.num_consts == 0
            && callee.constvars.is_empty()
            && (!self.compiled || calls_itself)
            && callee.invars.iter().all(|&var| floats(Atom::Var(var)))
    }
}
