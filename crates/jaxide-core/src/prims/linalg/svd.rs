//! The singular value decomposition.

use super::super::*;
use super::matrices::*;
use super::*;

factorisations! {
    Svd "svd" |p, o| {
        let aval = one(o)?;
        let (batch, m, n) = matrix(aval)?;
        let k = subset_length(p.subset_by_index, m.min(n))?;
        let mut out: Avals = smallvec![shaped(aval.dtype.real(), batch, &[k])];
        if p.compute_uv {
            let (u, v) = if p.full_matrices { (m, n) } else { (k, k) };
            out.push(shaped(aval.dtype, batch, &[m, u]));
            out.push(shaped(aval.dtype, batch, &[v, n]));
        }
        Ok(out)
    }, |p, b, x, t| match t[0] {
        Some(tangent) => p.derivative(b, x[0], tangent),
        None => {
            let answers = b.emit(p.clone(), x)?;
            Ok(JvpResult { tangents: smallvec![None; answers.len()], primals: answers })
        }
    };
}

impl Svd {
    /// Perturbation theory for distinct singular values (Giles, "An extended collection of matrix derivative results for
    /// forward and reverse mode", 2008, section 3.2).
    fn derivative(&self, b: &Builder, a: Atom, da: Atom) -> Result<JvpResult> {
        let (m, n) = rows_columns(b, a);
        let no_rule = |reason| Err(Error::no_rule("svd", "jvp", reason));
        if self.compute_uv && self.full_matrices && m != n {
            return no_rule("JAX defines none for full matrices");
        }
        let all = (0, m.min(n));
        if self.compute_uv && self.subset_by_index.is_some_and(|subset| subset != all) {
            return no_rule("JAX defines none for some of the singular vectors");
        }
        let thin = Svd {
            full_matrices: false,
            compute_uv: true,
            ..self.clone()
        };
        let factors = b.emit(thin, &[a])?;
        let (s, u, vt) = (factors[0], factors[1], factors[2]);
        let product = |x: Atom, y: Atom| matmul(b, x, y, HIGHEST);
        let (ut, v) = (adjoint(b, u), adjoint(b, vt));
        let s_row = with_axis(b, s, b.rank(s) - 1);
        let ds_matrix = product(product(ut, da), v);
        let ds = diagonal(b, real_part(b, ds_matrix));
        if !self.compute_uv {
            return Ok(JvpResult::one(s, Some(ds)));
        }
        let (dtype, real, rank) = (b.dtype(a), b.dtype(s), b.rank(a));
        let scaled = |x: Atom| b.convert(x, dtype);
        // 1 / (s_j² - s_i²) off the diagonal and 0 on it.
        let sums = b.add(s_row, transposed(b, s_row));
        let gaps = b.sub(s_row, transposed(b, s_row));
        let gaps = b.mul(sums, gaps);
        let ones = promoted(b, eye(b, real, m.min(n)), rank);
        let inverse = b.div(b.number(1.0, real), b.add(gaps, ones));
        let inverse = b.sub(inverse, ones);
        let from_right = b.mul(scaled(s_row), ds_matrix);
        let from_left = b.mul(transposed(b, scaled(s_row)), ds_matrix);
        let s_zeros = b.convert(b.eq(s, b.number(0.0, real)), real);
        let s_inverse = b.div(b.number(1.0, real), b.add(s, s_zeros));
        let s_inverse = diagonal_matrix(b, b.sub(s_inverse, s_zeros));
        let skew = b.sub(ds_matrix, adjoint(b, ds_matrix));
        let half = match b.number(0.5, dtype) {
            Atom::Lit(half) => b.computed(half),
            half @ Atom::Var(_) => half,
        };
        let skew = b.mul(half, skew);
        let on_diagonal = b.mul(skew, scaled(s_inverse));
        let hermitian = |x: Atom| {
            let factor = scaled(inverse);
            b.mul(factor, b.add(x, adjoint(b, x)))
        };
        let inside = hermitian(from_right);
        let mut du = product(u, b.add(inside, on_diagonal));
        let mut dv = product(v, hermitian(from_left));
        let outside = |x: Atom, own: Atom, own_adjoint: Atom| {
            let inside = product(own, product(own_adjoint, x));
            let outside = b.sub(x, inside);
            b.div(outside, scaled(s_row))
        };
        if m > n {
            du = b.add(du, outside(product(da, v), u, ut));
        }
        if n > m {
            dv = b.add(dv, outside(product(adjoint(b, da), u), v, vt));
        }
        Ok(JvpResult {
            primals: smallvec![s, u, vt],
            tangents: smallvec![Some(ds), Some(du), Some(adjoint(b, dv))],
        })
    }
}
