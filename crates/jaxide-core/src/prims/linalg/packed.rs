//! Factorisations in LAPACK's packed forms, and forms for which JAX defines no derivative.

use super::super::*;
use super::*;

factorisations! {
    Geqrf "geqrf" |_, o| {
        let aval = one(o)?;
        let (batch, m, n) = matrix(aval)?;
        Ok(smallvec![aval.clone(), shaped(aval.dtype, batch, &[m.min(n)])])
    }, |_, _, _, _| no_derivative("geqrf");
    Geqp3 "geqp3" |_, o| {
        let [a, jpvt] = operands_of(o)?;
        let (batch, m, n) = matrix(a)?;
        check_like(jpvt, DType::I32, batch, &[n])?;
        Ok(smallvec![a.clone(), jpvt.clone(), shaped(a.dtype, batch, &[m.min(n)])])
    }, |_, _, _, _| no_derivative("geqp3");
    HouseholderProduct "householder_product" |_, o| {
        let [a, taus] = operands_of(o)?;
        let (batch, m, n) = matrix(a)?;
        let k = taus.shape.last().copied().unwrap_or(0);
        check_like(taus, a.dtype, batch, &[k])?;
        if m < n || k > n {
            return Err(Error::shape(format!(
                "{a} must have at least as many rows as columns, and as columns {k} reflectors"
            )));
        }
        Ok(smallvec![a.clone()])
    }, |_, _, _, _| no_derivative("householder_product");
    Ormqr "ormqr" |p, o| {
        let [a, taus, c] = operands_of(o)?;
        let (batch, m, n) = matrix(a)?;
        let (_, rows, columns) = matrix(c)?;
        check_like(c, a.dtype, batch, &[rows, columns])?;
        let k = taus.shape.last().copied().unwrap_or(0);
        check_like(taus, a.dtype, batch, &[k])?;
        if k > n.min(m) || m != if p.left { rows } else { columns } {
            return Err(Error::shape(format!("the reflectors {a}, {taus} do not fit {c}")));
        }
        Ok(smallvec![c.clone()])
    }, |_, _, _, _| no_derivative("ormqr");
    Schur "schur" |p, o| {
        square(one(o)?)?;
        let count = 1 + usize::from(p.compute_schur_vectors);
        Ok(smallvec![o[0].clone(); count])
    }, |_, _, _, _| no_derivative("schur");
    Hessenberg "hessenberg" |_, o| {
        let aval = one(o)?;
        let (batch, n) = square(aval)?;
        Ok(smallvec![aval.clone(), shaped(aval.dtype, batch, &[n.saturating_sub(1)])])
    }, |_, _, _, _| no_derivative("hessenberg");
    Tridiagonal "tridiagonal" |_, o| {
        let aval = one(o)?;
        let (batch, n) = square(aval)?;
        let (real, off) = (aval.dtype.real(), n.saturating_sub(1));
        Ok(smallvec![
            aval.clone(),
            shaped(real, batch, &[n]),
            shaped(real, batch, &[off]),
            shaped(aval.dtype, batch, &[off])
        ])
    }, |_, _, _, _| no_derivative("tridiagonal");
    SymmetricProduct "symmetric_product" |_, o| {
        let [a, c] = operands_of(o)?;
        let (batch, n, _) = matrix(a)?;
        check_like(c, a.dtype, batch, &[n, n])?;
        Ok(smallvec![c.clone()])
    }, |_, _, _, _| no_derivative("symmetric_product");
}
