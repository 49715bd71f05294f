//! The QR factorisation.

use super::super::*;
use super::lu::{System, lu_solve, over_batch};
use super::matrices::*;
use super::*;

factorisations! {
    Qr "qr" |p, o| {
        let aval = one(o)?;
        let (batch, m, n) = matrix(aval)?;
        let k = if p.full_matrices { m } else { m.min(n) };
        let mut out: Avals = smallvec![shaped(aval.dtype, batch, &[m, k]), shaped(aval.dtype, batch, &[k, n])];
        if p.pivoting {
            out.push(shaped(DType::I32, batch, &[n]));
        }
        Ok(out)
    }, |p, b, x, t| p.derivative(b, x[0], t[0]);
}

impl Qr {
    fn derivative(&self, b: &Builder, x: Atom, tangent: Option<Atom>) -> Result<JvpResult> {
        let answers = b.emit(self.clone(), &[x])?;
        let Some(mut dx) = tangent else {
            return Ok(JvpResult {
                tangents: smallvec![None; answers.len()],
                primals: answers,
            });
        };
        if let Some(&pivots) = answers.get(2) {
            let permute = |b: &Builder, args: &[Atom]| Ok(take(b, args[0], args[1], 1));
            dx = over_batch(b, permute, &[dx, pivots])?;
        }
        let (q, r) = (answers[0], answers[1]);
        let (m, n) = rows_columns(b, x);
        let (dq, dr) = if m < n {
            wide_tangents(b, x, dx, q, r)
        } else if self.full_matrices && m > n {
            full_tangents(b, dx, q, r)?
        } else {
            thin_tangents(b, q, r, dx)
        };
        let mut tangents = smallvec![Some(dq), Some(dr)];
        tangents.resize(answers.len(), None);
        Ok(JvpResult {
            primals: answers,
            tangents,
        })
    }
}

/// Tangents of `q` with as many columns as `r`, which is square (Townsend, "Differentiating the QR decomposition", 2018).
fn thin_tangents(b: &Builder, q: Atom, r: Atom, dx: Atom) -> (Atom, Atom) {
    let dx_rinv = solve_triangular(b, &UPPER_FROM_RIGHT, r, dx);
    let qt_dx_rinv = matmul(b, adjoint(b, q), dx_rinv, None);
    let lower = tril(b, qt_dx_rinv, -1);
    // Skew-Hermitian but for the diagonal, which is imaginary for complex numbers.
    let skew = b.sub(lower, adjoint(b, lower));
    let (n, dtype) = (rows_columns(b, r).1, b.dtype(skew));
    let ones = promoted(b, eye(b, dtype, n), b.rank(r));
    let re = b.convert(real_part(b, qt_dx_rinv), dtype);
    let imaginary = b.mul(ones, b.sub(qt_dx_rinv, re));
    let skew = b.add(skew, imaginary);
    let turned = matmul(b, q, b.sub(skew, qt_dx_rinv), None);
    let dq = b.add(turned, dx_rinv);
    let dr = matmul(b, b.sub(qt_dx_rinv, skew), r, None);
    (dq, dr)
}

/// Tangents for a wide matrix `[X1 X2]` with `X1` square: `X1 = Q R1` and `R2 = Qᴴ X2`.
fn wide_tangents(b: &Builder, x: Atom, dx: Atom, q: Atom, r: Atom) -> (Atom, Atom) {
    let (m, n) = rows_columns(b, x);
    let x2 = columns(b, x, m..n);
    let dx1 = columns(b, dx, 0..m);
    let dx2 = columns(b, dx, m..n);
    let r1 = columns(b, r, 0..m);
    let (dq, dr1) = thin_tangents(b, q, r1, dx1);
    let first = matmul(b, adjoint(b, dq), x2, None);
    let second = matmul(b, adjoint(b, q), dx2, None);
    let dr2 = b.add(first, second);
    (dq, b.concatenate(&[dr1, dr2], b.rank(dr1) - 1))
}

/// Tangents with a square `q`: those of its first columns, and of the others by equations 32 and 33 of Roberts and Roberts,
/// "QR and LQ decomposition matrix backpropagation algorithms for square, wide, and deep matrices" (arXiv 2409.13374).
fn full_tangents(b: &Builder, dx: Atom, q: Atom, r: Atom) -> Result<(Atom, Atom)> {
    let (m, n) = rows_columns(b, r);
    let q_mn = columns(b, q, 0..n);
    let r_nn = rows(b, r, 0..n);
    let (dq_mn, dr_nn) = thin_tangents(b, q_mn, r_nn, dx);
    let (q_nn, q_pn) = (rows(b, q_mn, 0..n), rows(b, q_mn, n..m));
    let q_mp = columns(b, q, n..m);
    let (dq_nn, dq_pn) = (rows(b, dq_mn, 0..n), rows(b, dq_mn, n..m));
    let ones = promoted(b, eye(b, b.dtype(q), n), b.rank(q));
    let factors = b.emit(Lu, &[b.sub(q_nn, ones)])?;
    let rhs = adjoint(b, q_pn);
    let z_pn_h = lu_solve(b, factors[0], factors[2], rhs, System::Adjoint)?;
    let z_pn = adjoint(b, z_pn_h);
    let first = matmul(b, dq_mn, z_pn_h, None);
    let left = b.add(q_mn, matmul(b, q_mp, z_pn, None));
    let right = b.sub(dq_pn, matmul(b, z_pn, dq_nn, None));
    let second = matmul(b, left, adjoint(b, right), None);
    let dq_mp = b.sub(first, second);
    let dq = b.concatenate(&[dq_mn, dq_mp], b.rank(q) - 1);
    let mut below = b.shape(dr_nn);
    let rank = below.len();
    below[rank - 2] = m - n;
    let zeros = b.full(&below, 0.0, b.dtype(r));
    Ok((dq, b.concatenate(&[dr_nn, zeros], rank - 2)))
}
