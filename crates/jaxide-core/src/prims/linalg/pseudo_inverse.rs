//! The derivative of the pseudo-inverse.

use super::matrices::*;
use super::*;

/// The tangent of the pseudo-inverse `p` of `a` in the direction `t` (Golub and Pereyra, "The differentiation of
/// pseudo-inverses and nonlinear least squares problems whose variables separate", 1973): products in the order with the
/// smaller matrices. The one of a Hermitian matrix sees its Hermitian part only.
pub(in crate::prims) fn pseudo_inverse_tangent(
    b: &Builder,
    p: Atom,
    a: Atom,
    t: Atom,
    hermitian: bool,
) -> Atom {
    let (mut a, mut t) = (a, t);
    if hermitian {
        (a, t) = (hermitian_part(b, a), hermitian_part(b, t));
    }
    let times = |x: Atom, y: Atom| matmul(b, x, y, HIGHEST);
    let (m, n) = rows_columns(b, a);
    if m >= n {
        let square = times(p, adjoint(b, p));
        let first = times(square, adjoint(b, t));
        let t_adjoint = adjoint(b, t);
        let second = times(times(t_adjoint, adjoint(b, p)), p);
        let sum = times(b.neg(times(p, t)), p);
        let sum = b.add(sum, first);
        let sum = b.sub(sum, times(times(first, a), p));
        let sum = b.add(sum, second);
        b.sub(sum, times(times(p, a), second))
    } else {
        let p_adjoint = adjoint(b, p);
        let first = times(p, times(p_adjoint, adjoint(b, t)));
        let t_adjoint = adjoint(b, t);
        let second = times(t_adjoint, times(adjoint(b, p), p));
        let minus_p = b.neg(p);
        let sum = times(minus_p, times(t, p));
        let sum = b.add(sum, first);
        let sum = b.sub(sum, times(first, times(a, p)));
        let sum = b.add(sum, second);
        b.sub(sum, times(p, times(a, second)))
    }
}

/// `(x + xᴴ) / 2`.
fn hermitian_part(b: &Builder, x: Atom) -> Atom {
    let sum = b.add(x, adjoint(b, x));
    b.div(sum, b.number(2.0, b.dtype(x)))
}
