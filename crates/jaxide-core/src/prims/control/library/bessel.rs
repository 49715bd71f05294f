//! Modified Bessel functions of the first kind.

use super::*;
use crate::jaxpr::Literal;
use crate::transform::eval_jvp;

const I1: (&str, &str) = ("_i1", "i1_impl_jvp");
const I1_SERIES: (&str, &str) = ("_i1_maclaurin", "_i1_maclaurin_jvp");

pub(super) const RULES: [LibraryRule; 3] = [
    LibraryRule {
        names: ("i0_impl", "i0_impl_jvp"),
        arity: (1, 1),
        equations: NAMED,
        // I₀' = I₁
        derivative: Derivative::Tangents(|b, _, x, t| Ok(vec![b.mul(t[0], i1(b, x[0])?)])),
    },
    LibraryRule {
        names: I1,
        arity: (1, 1),
        equations: NAMED,
        // That of exp(|x|) times the scaled function, and near 0 that of the series.
        derivative: Derivative::Whole(|b, call, x, t| {
            let tangents: Vec<Option<Atom>> = t.iter().copied().map(Some).collect();
            let (y, dy) = eval_jvp(b, &call.call_jaxpr.jaxpr, &[], x, &tangents)?;
            let dy = dy[0].unwrap_or_else(|| b.zeros_like(t[0]));
            let limit = like(b, x[0], epsilon(b.dtype(x[0])).sqrt());
            let small = b.le(b.abs(x[0]), limit);
            let near_zero = b.mul(i1_series(b, 1, x[0])?, t[0]);
            Ok(vec![y[0], numpy::where_(b, small, near_zero, dy)?])
        }),
    },
    LibraryRule {
        names: I1_SERIES,
        arity: (1, 1),
        equations: NAMED,
        // The next derivative.
        derivative: Derivative::Whole(|b, call, x, t| {
            let order = order(&call.call_jaxpr).ok_or_else(|| {
                crate::Error::unsupported("_i1_maclaurin: its order cannot be told from its body")
            })?;
            let y = again(b, call, x)?;
            let slope = i1_series(b, order + 1, x[0])?;
            Ok(vec![y[0], b.mul(slope, t[0])])
        }),
    },
];

/// `I₁(x) = exp(|x|) I₁ₑ(x)`.
fn i1(b: &Builder, x: Atom) -> Result<Atom> {
    library_call(b, I1, &[x], |b, x| {
        let growth = b.exp(b.abs(x[0]));
        b.mul(growth, b.op(BesselI1e, x))
    })
}

/// The derivative of order `k` of `I₁` near 0, by the first term of its series.
fn i1_series(b: &Builder, k: u32, x: Atom) -> Result<Atom> {
    library_call(b, I1_SERIES, &[x], |b, x| {
        let aval = b.aval(x[0]);
        if k.is_multiple_of(2) {
            b.mul(like(b, x[0], series_coefficient(k)), x[0])
        } else {
            b.full(&aval.shape, series_coefficient(k), aval.dtype)
        }
    })
}

/// Of `x` for even orders, of 1 for odd ones: `C(n, ⌊n/2⌋) / 2ⁿ` with `n` the order, or the next odd number.
fn series_coefficient(k: u32) -> f64 {
    let n = if k.is_multiple_of(2) { k + 1 } else { k };
    (1..=n / 2).fold(0.5f64.powi(n as i32), |product, i| {
        product * f64::from(n - n / 2 + i) / f64::from(i)
    })
}

/// The order of the derivative that a body of [`i1_series`] computes.
fn order(body: &ClosedJaxpr) -> Option<u32> {
    let number = |atom: &Atom| match atom {
        Atom::Lit(Literal { value, .. }) => value.as_f64(),
        Atom::Var(_) => None,
    };
    let (parity, found) = match body.jaxpr.eqns.as_slice() {
        [] => (1, number(body.jaxpr.outvars.first()?)?),
        [only] => match only.prim {
            Prim::Mul(_) => (0, number(only.inputs.first()?)?),
            Prim::BroadcastInDim(_) => (1, number(only.inputs.first()?)?),
            _ => return None,
        },
        _ => return None,
    };
    (0..200).find(|&k| {
        let coefficient = series_coefficient(k);
        k % 2 == parity && (found - coefficient).abs() < 1e-3 * coefficient / f64::from(k + 1)
    })
}
