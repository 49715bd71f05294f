//! Determinants and pseudo-inverses.

use super::super::super::linalg;
use super::*;

pub(super) const RULES: [LibraryRule; 8] = [
    determinant("_det"),
    determinant("_det_2x2"),
    determinant("_det_3x3"),
    LibraryRule {
        names: ("_slogdet_small", "_slogdet_small_jvp"),
        arity: (1, 2),
        equations: NAMED,
        derivative: Derivative::Tangents(|b, y, x, t| {
            Ok(linalg::small_log_determinant_tangents(b, y[0], x[0], t[0]))
        }),
    },
    log_determinant("_slogdet_lu"),
    log_determinant("_slogdet_qr"),
    pseudo_inverse_rule(1),
    // With the tolerance under which singular values count as zero.
    pseudo_inverse_rule(2),
];

const fn determinant(name: &'static str) -> LibraryRule {
    LibraryRule {
        names: (name, "_det_jvp"),
        arity: (1, 1),
        equations: NAMED,
        derivative: Derivative::Whole(|b, _, x, t| linalg::determinant_jvp(b, x[0], t[0])),
    }
}

const fn log_determinant(name: &'static str) -> LibraryRule {
    LibraryRule {
        names: (name, "_slogdet_jvp"),
        arity: (1, 2),
        equations: NAMED,
        derivative: Derivative::Whole(|b, call, x, t| {
            let by_reflections = i64::from(&*call.name.0 == "_slogdet_qr");
            let y = call_named(b, "slogdet", &[by_reflections], x, |b, x| again(b, call, x))?;
            let tangents = linalg::log_determinant_tangents(b, y[0], x[0], t[0])?;
            Ok([y.to_vec(), tangents].concat())
        }),
    }
}

const fn pseudo_inverse_rule(arguments: usize) -> LibraryRule {
    LibraryRule {
        names: ("_pinv", "_pinv_jvp"),
        arity: (arguments, 1),
        equations: COMPILED,
        derivative: Derivative::Whole(pseudo_inverse),
    }
}

/// The tangent of the pseudo-inverse; one computed from eigenvalues is that of the Hermitian part.
fn pseudo_inverse(b: &Builder, call: &CustomJvpCall, x: &[Atom], t: &[Atom]) -> Result<Vec<Atom>> {
    let y = again(b, call, x)?;
    let hermitian = has_eigenvalues(&call.call_jaxpr);
    let tangent = linalg::pseudo_inverse_tangent(b, y[0], x[0], t[0], hermitian);
    Ok(vec![y[0], tangent])
}

fn has_eigenvalues(jaxpr: &ClosedJaxpr) -> bool {
    jaxpr.jaxpr.eqns.iter().any(|eqn| {
        let mut inside = matches!(eqn.prim, Prim::Eigh(_));
        eqn.prim
            .visit(&mut |inner| inside |= has_eigenvalues(inner));
        inside
    })
}
