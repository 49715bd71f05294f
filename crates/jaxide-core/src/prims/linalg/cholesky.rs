//! The Cholesky factor and its update.

use super::super::*;
use super::matrices::*;
use super::*;

factorisations! {
    Cholesky "cholesky" |_, o| { square(one(o)?)?; Ok(smallvec![o[0].clone()]) },
        |_, b, x, t| Ok(cholesky_jvp(b, x[0], t[0]));
    CholeskyUpdate "cholesky_update" |_, o| {
        let [r, w] = operands_of(o)?;
        let (batch, n) = square(r)?;
        check_like(w, r.dtype, batch, &[n])?;
        Ok(smallvec![r.clone()])
    }, |_, _, _, _| no_derivative("cholesky_update");
}

/// With `L Lᴴ = A` and the lower triangle halved on the diagonal, `phi`: `dL = L phi(L⁻¹ dA L⁻ᴴ)` (Murray, "Differentiation
/// of the Cholesky decomposition", 2016).
fn cholesky_jvp(b: &Builder, a: Atom, tangent: Option<Atom>) -> JvpResult {
    let symmetric = tangent.map(|t| symmetric_from_lower(b, t));
    let factor = tril(b, b.op(Cholesky, &[a]), 0);
    let tangent = symmetric.map(|tangent| {
        let from_right = TriangularSolve {
            lower: true,
            transpose_a: true,
            conjugate_a: true,
            ..UPPER_FROM_RIGHT
        };
        let right = solve_triangular(b, &from_right, factor, tangent);
        let both = solve_triangular(b, &LOWER_FROM_LEFT, factor, right);
        let lower = tril(b, both, 0);
        let (n, dtype) = (rows_columns(b, a).0, b.dtype(a));
        let ones = eye(b, dtype, n);
        let weights = promoted(b, b.add(b.number(1.0, dtype), ones), b.rank(a));
        dot(b, factor, b.div(lower, weights))
    });
    JvpResult::one(factor, tangent)
}

/// The Hermitian matrix with this lower triangle.
fn symmetric_from_lower(b: &Builder, x: Atom) -> Atom {
    let mirrored = |x: Atom| transposed(b, tril(b, x, -1));
    if !b.dtype(x).is_complex() {
        let lower = tril(b, x, 0);
        return b.add(lower, mirrored(x));
    }
    let (re, im) = (b.real(x), b.imag(x));
    let lower = tril(b, re, 0);
    let re = b.add(lower, mirrored(re));
    let lower = tril(b, im, -1);
    let im = b.sub(lower, mirrored(im));
    b.complex(re, im)
}
