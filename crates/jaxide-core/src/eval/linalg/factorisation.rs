//! Factorisations of matrices, matrix by matrix.

use super::matrices::{Batch, by_entry};
use super::product::dot_general;
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::eval::element::meaningless;
use crate::eval::elementwise::{add, convert_element_type, mul};
use crate::eval::numerics::linalg as numerics;
use crate::eval::numerics::linalg::Entry;
use crate::jaxpr::{Dims, Scalar};
use crate::prims::DotDimensionNumbers;
use crate::tensor::{Element, Tensor};

/// The lower triangular factor of a positive definite matrix.
pub(in crate::eval) fn cholesky(x: &Tensor) -> Result<Tensor> {
    by_entry!(x.dtype(), E => {
        let (batch, n) = Batch::<E>::square(x)?;
        batch.stack(&[n, n], (0..batch.len()).map(|i| numerics::cholesky(batch.get(i), n)))
    })
}

/// The upper triangular factor of `RᵀR + w wᵀ`.
pub(in crate::eval) fn cholesky_update(r: &Tensor, w: &Tensor) -> Result<Tensor> {
    fn update<E: Entry<Wide = f64> + Element>(r: &Tensor, w: &Tensor) -> Result<Tensor> {
        let (factors, n) = Batch::<E>::square(r)?;
        let vectors = Batch::<E>::fitting(w, &[n], &factors)?;
        factors.stack(
            &[n, n],
            (0..factors.len())
                .map(|i| numerics::cholesky_update(factors.get(i), n, vectors.get(i))),
        )
    }
    match r.dtype() {
        DType::F32 => update::<f32>(r, w),
        DType::F64 => update::<f64>(r, w),
        other => Err(meaningless(other)),
    }
}

/// `alpha * A * Aᵀ + beta * C`.
pub(in crate::eval) fn symmetric_product(
    a: &Tensor,
    c: &Tensor,
    alpha: f64,
    beta: f64,
) -> Result<Tensor> {
    fn product<E: Entry<Wide = f64> + Element>(
        a: &Tensor,
        c: &Tensor,
        alpha: f64,
        beta: f64,
    ) -> Result<Tensor> {
        let (sums, n) = Batch::<E>::square(c)?;
        let k = a.shape().last().copied().unwrap_or(0);
        let factors = Batch::<E>::fitting(a, &[n, k], &sums)?;
        let products = (0..sums.len())
            .map(|i| numerics::symmetric_product(factors.get(i), n, k, sums.get(i), alpha, beta));
        sums.stack(&[n, n], products)
    }
    match c.dtype() {
        DType::F32 => product::<f32>(a, c, alpha, beta),
        DType::F64 => product::<f64>(a, c, alpha, beta),
        dtype if dtype.is_complex() => {
            let rank = a.shape().len();
            let batch: Dims = (0..rank.saturating_sub(2)).collect();
            let last = Dims::from_elem(rank.saturating_sub(1), 1);
            let numbers = DotDimensionNumbers {
                lhs_contracting: last.clone(),
                rhs_contracting: last,
                lhs_batch: batch.clone(),
                rhs_batch: batch,
            };
            let times = |x: &Tensor, factor: f64| {
                mul(
                    x,
                    &Tensor::full(&[], dtype, Scalar::Complex(factor, 0.0))?,
                    None,
                )
            };
            let products = dot_general(a, a, &numbers, Some(dtype))?;
            add(&times(&products, alpha)?, &times(c, beta)?)
        }
        other => Err(meaningless(other)),
    }
}

/// Both factors in one matrix, the row exchanges, and the permutation they make.
pub(in crate::eval) fn lu(x: &Tensor) -> Result<Vec<Tensor>> {
    by_entry!(x.dtype(), E => {
        let batch = Batch::<E>::new(x, 2)?;
        let (m, n) = (batch.part[0], batch.part[1]);
        let factors: Vec<_> = (0..batch.len()).map(|i| numerics::lu(batch.get(i), m, n)).collect();
        Ok(vec![
            batch.stack(&[m, n], factors.iter().map(|lu| lu.lu.clone()))?,
            batch.stack(&[m.min(n)], factors.iter().map(|lu| lu.pivots.clone()))?,
            batch.stack(&[m], factors.into_iter().map(|lu| lu.permutation))?,
        ])
    })
}

/// The permutation of `size` rows that row exchanges make.
pub(in crate::eval) fn lu_pivots_to_permutation(pivots: &Tensor, size: usize) -> Result<Tensor> {
    if pivots.dtype() != DType::I32 {
        return Err(meaningless(pivots.dtype()));
    }
    let batch = Batch::<i32>::new(pivots, 1)?;
    let permutations =
        (0..batch.len()).map(|i| numerics::lu_pivots_to_permutation(batch.get(i), size));
    batch.stack(&[size], permutations)
}

/// Q and R, and with `pivoting` the order of the columns.
pub(in crate::eval) fn qr(x: &Tensor, full_matrices: bool, pivoting: bool) -> Result<Vec<Tensor>> {
    by_entry!(x.dtype(), E => {
        let batch = Batch::<E>::new(x, 2)?;
        let (m, n) = (batch.part[0], batch.part[1]);
        let k = if full_matrices { m } else { m.min(n) };
        let factors: Vec<_> =
            (0..batch.len()).map(|i| numerics::qr(batch.get(i), m, n, full_matrices, pivoting)).collect();
        let mut results = vec![
            batch.stack(&[m, k], factors.iter().map(|qr| qr.q.clone()))?,
            batch.stack(&[k, n], factors.iter().map(|qr| qr.r.clone()))?,
        ];
        if pivoting {
            results.push(batch.stack(&[n], factors.into_iter().filter_map(|qr| qr.pivots))?);
        }
        Ok(results)
    })
}

/// R with the reflectors below it, and their factors.
pub(in crate::eval) fn geqrf(x: &Tensor) -> Result<Vec<Tensor>> {
    by_entry!(x.dtype(), E => {
        let batch = Batch::<E>::new(x, 2)?;
        let (m, n) = (batch.part[0], batch.part[1]);
        let (packed, taus): (Vec<_>, Vec<_>) = (0..batch.len()).map(|i| numerics::geqrf(batch.get(i), m, n)).unzip();
        Ok(vec![
            batch.stack(&[m, n], packed.into_iter())?,
            batch.stack(&[m.min(n)], taus.into_iter())?,
        ])
    })
}

/// As [`geqrf`] with column pivoting; the order of the columns is the second result.
pub(in crate::eval) fn geqp3(x: &Tensor, pivots: &Tensor) -> Result<Vec<Tensor>> {
    if pivots.dtype() != DType::I32 {
        return Err(meaningless(pivots.dtype()));
    }
    by_entry!(x.dtype(), E => {
        let batch = Batch::<E>::new(x, 2)?;
        let (m, n) = (batch.part[0], batch.part[1]);
        let pivots = Batch::<i32>::fitting(pivots, &[n], &batch)?;
        let factors: Vec<_> =
            (0..batch.len()).map(|i| numerics::geqp3(batch.get(i), m, n, pivots.get(i))).collect();
        Ok(vec![
            batch.stack(&[m, n], factors.iter().map(|(packed, _, _)| packed.clone()))?,
            batch.stack(&[n], factors.iter().map(|(_, pivots, _)| pivots.clone()))?,
            batch.stack(&[m.min(n)], factors.into_iter().map(|(_, _, taus)| taus))?,
        ])
    })
}

/// The first columns of the Q of packed reflectors.
pub(in crate::eval) fn householder_product(x: &Tensor, taus: &Tensor) -> Result<Tensor> {
    by_entry!(same_dtype(&[x, taus])?, E => {
        let batch = Batch::<E>::new(x, 2)?;
        let (m, n) = (batch.part[0], batch.part[1]);
        let k = taus.shape().last().copied().unwrap_or(0);
        let taus = Batch::<E>::fitting(taus, &[k], &batch)?;
        if k > n || n > m {
            return Err(Error::shape(format!("{k} reflectors make no {m} by {n} matrix")));
        }
        let products = (0..batch.len()).map(|i| numerics::householder_product(batch.get(i), m, n, taus.get(i)));
        batch.stack(&[m, n], products)
    })
}

/// The product of a matrix with the Q of packed reflectors.
pub(in crate::eval) fn ormqr(
    x: &Tensor,
    taus: &Tensor,
    c: &Tensor,
    left: bool,
    transpose: bool,
) -> Result<Tensor> {
    by_entry!(same_dtype(&[x, taus, c])?, E => {
        let batch = Batch::<E>::new(x, 2)?;
        let (m, n) = (batch.part[0], batch.part[1]);
        let k = taus.shape().last().copied().unwrap_or(0);
        let taus = Batch::<E>::fitting(taus, &[k], &batch)?;
        let right = Batch::<E>::new(c, 2)?;
        let (p, q) = (right.part[0], right.part[1]);
        if right.shape != batch.shape || m != if left { p } else { q } || k > n.min(m) {
            return Err(Error::shape(format!("{} cannot multiply {}", x.aval(), c.aval())));
        }
        let products = (0..batch.len()).map(|i| {
            numerics::ormqr((batch.get(i), m, n), taus.get(i), (right.get(i), p, q), left, transpose)
        });
        batch.stack(&[p, q], products)
    })
}

/// Eigenvectors and, in ascending order, eigenvalues of Hermitian matrices; of those in `subset` only.
pub(in crate::eval) fn eigh(
    x: &Tensor,
    lower: bool,
    subset: Option<(usize, usize)>,
) -> Result<Vec<Tensor>> {
    by_entry!(x.dtype(), E => {
        let (batch, n) = Batch::<E>::square(x)?;
        let (first, end) = within(subset, n)?;
        let factors: Vec<_> = (0..batch.len()).map(|i| numerics::eigh(batch.get(i), n, lower)).collect();
        Ok(vec![
            batch.stack(
                &[n, end - first],
                factors.iter().map(|eigh| columns(&eigh.vectors, n, first, end)),
            )?,
            batch.stack(&[end - first], factors.iter().map(|eigh| eigh.values[first..end].to_vec()))?,
        ])
    })
}

/// Eigenvalues and, where asked for, left and right eigenvectors.
pub(in crate::eval) fn eig(x: &Tensor, left: bool, right: bool) -> Result<Vec<Tensor>> {
    by_entry!(x.dtype(), E => {
        let (batch, n) = Batch::<E>::square(x)?;
        let factors: Vec<_> = (0..batch.len()).map(|i| numerics::eig(batch.get(i), n)).collect();
        let mut results = vec![batch.stack(&[n], factors.iter().map(|eig| eig.values.clone()))?];
        if left {
            results.push(batch.stack(&[n, n], factors.iter().map(|eig| eig.left.clone()))?);
        }
        if right {
            results.push(batch.stack(&[n, n], factors.into_iter().map(|eig| eig.right))?);
        }
        Ok(results)
    })
}

/// Singular values in descending order, and with `vectors` both factors; of the values in `subset` only.
pub(in crate::eval) fn svd(
    x: &Tensor,
    full_matrices: bool,
    vectors: bool,
    subset: Option<(usize, usize)>,
) -> Result<Vec<Tensor>> {
    by_entry!(x.dtype(), E => {
        let batch = Batch::<E>::new(x, 2)?;
        let (m, n) = (batch.part[0], batch.part[1]);
        let k = m.min(n);
        let (first, end) = within(subset, k)?;
        if !vectors {
            let values = (0..batch.len()).map(|i| numerics::singular_values(batch.get(i), m, n)[first..end].to_vec());
            return Ok(vec![batch.stack(&[end - first], values)?]);
        }
        let factors: Vec<_> = (0..batch.len()).map(|i| numerics::svd(batch.get(i), m, n, full_matrices)).collect();
        let values = batch.stack(&[end - first], factors.iter().map(|svd| svd.s[first..end].to_vec()))?;
        let (left, right) = if full_matrices { ((0, m), (0, n)) } else { ((first, end), (first, end)) };
        Ok(vec![
            values,
            batch.stack(&[m, left.1 - left.0], factors.iter().map(|svd| columns(&svd.u, m, left.0, left.1)))?,
            batch.stack(&[right.1 - right.0, n], factors.iter().map(|svd| svd.vt[right.0 * n..right.1 * n].to_vec()))?,
        ])
    })
}

/// The triangular form and, with `vectors`, the unitary factor.
pub(in crate::eval) fn schur(x: &Tensor, vectors: bool, sorted: bool) -> Result<Vec<Tensor>> {
    if sorted {
        return Err(Error::unsupported("a Schur form with sorted eigenvalues"));
    }
    by_entry!(x.dtype(), E => {
        let (batch, n) = Batch::<E>::square(x)?;
        let (forms, factors): (Vec<_>, Vec<_>) = (0..batch.len()).map(|i| numerics::schur(batch.get(i), n)).unzip();
        let mut results = vec![batch.stack(&[n, n], forms.into_iter())?];
        if vectors {
            results.push(batch.stack(&[n, n], factors.into_iter())?);
        }
        Ok(results)
    })
}

/// The Hessenberg form with the reflectors below it, and their factors.
pub(in crate::eval) fn hessenberg(x: &Tensor) -> Result<Vec<Tensor>> {
    by_entry!(x.dtype(), E => {
        let (batch, n) = Batch::<E>::square(x)?;
        let (packed, taus): (Vec<_>, Vec<_>) = (0..batch.len()).map(|i| numerics::hessenberg(batch.get(i), n)).unzip();
        Ok(vec![
            batch.stack(&[n, n], packed.into_iter())?,
            batch.stack(&[n.saturating_sub(1)], taus.into_iter())?,
        ])
    })
}

/// The tridiagonal form with the reflectors, its diagonal, its off-diagonal, and the reflectors' factors.
pub(in crate::eval) fn tridiagonal(x: &Tensor, lower: bool) -> Result<Vec<Tensor>> {
    by_entry!(x.dtype(), E => {
        let (batch, n) = Batch::<E>::square(x)?;
        let off = n.saturating_sub(1);
        let forms: Vec<_> = (0..batch.len()).map(|i| numerics::tridiagonal(batch.get(i), n, lower)).collect();
        Ok(vec![
            batch.stack(&[n, n], forms.iter().map(|form| form.packed.clone()))?,
            batch.stack(&[n], forms.iter().map(|form| form.diagonal.clone()))?,
            batch.stack(&[off], forms.iter().map(|form| form.off_diagonal.clone()))?,
            batch.stack(&[off], forms.into_iter().map(|form| form.taus))?,
        ])
    })
}

/// The solution of systems with tridiagonal matrices.
pub(in crate::eval) fn tridiagonal_solve(
    operands: &[Tensor; 4],
    perturb_singular: bool,
) -> Result<Tensor> {
    let [lower, diagonal, upper, b] = operands;
    by_entry!(same_dtype(&operands.each_ref())?, E => {
        let right = Batch::<E>::new(b, 2)?;
        let (n, k) = (right.part[0], right.part[1]);
        let [lower, diagonal, upper] = [
            Batch::<E>::fitting(lower, &[n], &right)?,
            Batch::<E>::fitting(diagonal, &[n], &right)?,
            Batch::<E>::fitting(upper, &[n], &right)?,
        ];
        let solve = if perturb_singular {
            numerics::tridiagonal_solve_perturbed
        } else {
            numerics::tridiagonal_solve
        };
        let solutions = (0..right.len()).map(|i| {
            solve(lower.get(i), diagonal.get(i), upper.get(i), right.get(i), k)
        });
        right.stack(&[n, k], solutions)
    })
}

/// The solution of systems with triangular matrices. Floats of 16 bits are computed in 32 and rounded once.
pub(in crate::eval) fn triangular_solve(
    a: &Tensor,
    b: &Tensor,
    options: numerics::TriangularSolve,
) -> Result<Tensor> {
    let dtype = same_dtype(&[a, b])?;
    if matches!(dtype, DType::F16 | DType::BF16) {
        let wide = |x: &Tensor| convert_element_type(x, DType::F32);
        return convert_element_type(&triangular_solve(&wide(a)?, &wide(b)?, options)?, dtype);
    }
    by_entry!(dtype, E => {
        let right = Batch::<E>::new(b, 2)?;
        let (m, n) = (right.part[0], right.part[1]);
        let rows = if options.left_side { m } else { n };
        let factors = Batch::<E>::fitting(a, &[rows, rows], &right)?;
        let solutions =
            (0..right.len()).map(|i| numerics::triangular_solve(factors.get(i), right.get(i), m, n, options));
        right.stack(&[m, n], solutions)
    })
}

/// The range of values asked for, all of them when nothing is said.
fn within(subset: Option<(usize, usize)>, count: usize) -> Result<(usize, usize)> {
    let (first, end) = subset.unwrap_or((0, count));
    if first > end || end > count {
        return Err(Error::parameter(format!(
            "subset_by_index is ({first}, {end}), of {count}"
        )));
    }
    Ok((first, end))
}

/// Some columns of a row-major matrix.
fn columns<E: Copy>(matrix: &[E], rows: usize, first: usize, end: usize) -> Vec<E> {
    let width = matrix.len().checked_div(rows).unwrap_or(0);
    (0..rows)
        .flat_map(|row| &matrix[row * width + first..row * width + end])
        .copied()
        .collect()
}

/// All operands have the same dtype.
fn same_dtype(operands: &[&Tensor]) -> Result<DType> {
    let dtype = operands[0].dtype();
    match operands.iter().find(|operand| operand.dtype() != dtype) {
        None => Ok(dtype),
        Some(odd) => Err(Error::dtype(format!(
            "operands have types {dtype} and {}, which differ",
            odd.dtype()
        ))),
    }
}
