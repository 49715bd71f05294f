//! Eigenvalues and eigenvectors.

use super::super::*;
use super::matrices::*;
use super::solve::solve;
use super::*;

factorisations! {
    Eigh "eigh" |p, o| {
        let aval = one(o)?;
        let (batch, n) = square(aval)?;
        let k = subset_length(p.subset_by_index, n)?;
        Ok(smallvec![shaped(aval.dtype, batch, &[n, k]), shaped(aval.dtype.real(), batch, &[k])])
    }, |p, b, x, t| p.derivative(b, x[0], t[0]);
    Eig "eig" |p, o| {
        let aval = one(o)?;
        let (batch, n) = square(aval)?;
        let dtype = aval.dtype.complex().unwrap_or(aval.dtype);
        let vectors = usize::from(p.compute_left_eigenvectors) + usize::from(p.compute_right_eigenvectors);
        let mut out: Avals = smallvec![shaped(dtype, batch, &[n])];
        out.extend(std::iter::repeat_n(shaped(dtype, batch, &[n, n]), vectors));
        Ok(out)
    }, |p, b, x, t| match t[0] {
        Some(tangent) => p.derivative(b, x[0], tangent),
        None => {
            let answers = b.emit(p.clone(), x)?;
            Ok(JvpResult { tangents: smallvec![None; answers.len()], primals: answers })
        }
    };
}

impl Eigh {
    /// Perturbation theory for distinct eigenvalues (Giles, "An extended collection of matrix derivative results for forward
    /// and reverse mode", 2008, section 3.1).
    fn derivative(&self, b: &Builder, a: Atom, tangent: Option<Atom>) -> Result<JvpResult> {
        let (n, dtype, rank) = (rows_columns(b, a).0, b.dtype(a), b.rank(a));
        if self.subset_by_index.is_some_and(|subset| subset != (0, n)) {
            return Err(Error::no_rule(
                "eigh",
                "jvp",
                "JAX defines none for some of the eigenvalues",
            ));
        }
        let twice = b.add(a, adjoint(b, a));
        let symmetric = b.div(twice, b.number(2.0, dtype));
        let answers = b.emit(self.clone(), &[symmetric])?;
        let Some(tangent) = tangent else {
            return Ok(JvpResult {
                primals: answers,
                tangents: smallvec![None, None],
            });
        };
        let (v, w) = (answers[0], b.convert(answers[1], dtype));
        let ones = eye(b, dtype, n);
        let (row, column) = (with_axis(b, w, rank - 2), with_axis(b, w, rank - 1));
        let gaps = b.sub(row, column);
        let safe = b.add(gaps, promoted(b, ones, rank));
        let inverse = b.integer_pow(safe, -1);
        let inverse = b.sub(inverse, promoted(b, ones, rank));
        let rotated = dot(b, dot(b, adjoint(b, v), tangent), v);
        let dv = dot(b, v, b.mul(inverse, rotated));
        let dw = diagonal(b, real_part(b, rotated));
        Ok(JvpResult {
            primals: answers,
            tangents: smallvec![Some(dv), Some(dw)],
        })
    }
}

impl Eig {
    /// The derivative needs the right eigenvectors, asked for or not.
    fn derivative(&self, b: &Builder, a: Atom, tangent: Atom) -> Result<JvpResult> {
        let (left, right) = (
            self.compute_left_eigenvectors,
            self.compute_right_eigenvectors,
        );
        if (left || right) && !self.enable_eigvec_derivs {
            return Err(Error::no_rule(
                "eig",
                "jvp",
                "eigenvectors have derivatives only where the caller says so (enable_eigvec_derivs=True), as they assume \
                 distinct eigenvalues",
            ));
        }
        let prim = Eig {
            compute_right_eigenvectors: true,
            ..self.clone()
        };
        let outs = b.emit(prim, &[a])?;
        let (w, vr) = (outs[0], outs[outs.len() - 1]);
        let tangent = b.convert(tangent, b.dtype(vr));
        if !(left || right) {
            let turned = b.mul(solve(b, vr, tangent)?, transposed(b, vr));
            let dw = b.reduce_sum(turned, &[b.rank(turned) - 1]);
            return Ok(JvpResult::one(w, Some(dw)));
        }
        let (dw, dvr) = eigenvector_tangents(b, w, vr, tangent)?;
        let mut primals: crate::jaxpr::Atoms = smallvec![w];
        let mut tangents: SmallVec<[Option<Atom>; 2]> = smallvec![Some(dw)];
        if left {
            let vl = outs[1];
            let (_, dvl) = eigenvector_tangents(b, conjugate(b, w), vl, adjoint(b, tangent))?;
            primals.push(vl);
            tangents.push(Some(dvl));
        }
        if right {
            primals.push(vr);
            tangents.push(Some(dvr));
        }
        Ok(JvpResult { primals, tangents })
    }
}

/// Tangents of eigenvalues `w` and eigenvectors `v` (columns) when the matrix moves by `da`.
///
/// `A v = w v` fixes each column only up to a complex factor; LAPACK chooses it so that the column has norm 1 and a real
/// largest component, and its derivative follows from these two conditions.
fn eigenvector_tangents(b: &Builder, w: Atom, v: Atom, da: Atom) -> Result<(Atom, Atom)> {
    let (n, rank) = (rows_columns(b, v).0, b.rank(v));
    let rows = rank - 2;
    let ones = eye(b, b.dtype(w), n);
    let row = with_axis(b, w, rows);
    let shifted = b.add(promoted(b, ones, rank), row);
    let safe = b.sub(shifted, with_axis(b, w, rank - 1));
    let inverse = b.integer_pow(safe, -1);
    let inverse = b.sub(inverse, promoted(b, ones, rank));
    let rotated = dot(b, solve(b, v, da)?, v);
    let dw = diagonal(b, rotated);
    let free = dot(b, v, b.mul(inverse, rotated));
    let largest = Argmax {
        axes: smallvec![rows],
        index_dtype: DType::I32,
    };
    let largest = b.op(largest, &[b.abs(v)]);
    let numbers = b.iota(DType::I32, &b.shape(v), rows);
    let is_largest = b.eq(numbers, with_axis(b, largest, rows));
    let mask = b.convert(is_largest, b.dtype(v));
    let sum = |x: Atom| b.reduce_sum(x, &[rows]);
    let along = sum(b.mul(conjugate(b, v), free));
    let re = b.neg(b.real(along));
    let turn = b.neg(b.imag(sum(b.mul(mask, free))));
    let length = b.real(sum(b.mul(mask, v)));
    let factor = b.complex(re, b.div(turn, length));
    let dv = b.add(free, b.mul(v, with_axis(b, factor, rows)));
    Ok((dw, dv))
}
