//! Elementary reflectors H = I - τ v vᴴ with v₀ = 1, and products of them, as LAPACK stores them: v
//! below the diagonal of a matrix, τ apart.

use super::matrix::{Entry, Field, LEAST, Matrix, norm};

/// The reflector with Hᴴ x = (β, 0, …, 0), β real.
pub(super) struct Reflector<F> {
    pub(super) beta: F,
    pub(super) tau: F,
}

/// Turns x into a reflector: `x[1..]` becomes v₁, v₂, …; `x[0]` is left to the caller, who stores β
/// there.
///
/// LAPACK's `larfg`: β has the opposite sign of Re x₀, and H = I when x is already a real multiple
/// of the first unit vector.
pub(super) fn reflector<F: Field>(x: &mut [F]) -> Reflector<F> {
    let alpha = *x.first().expect("a reflector of at least one entry");
    let rest_norm = norm(&x[1..]);
    if rest_norm == 0.0 && alpha.im() == 0.0 {
        return Reflector {
            beta: alpha,
            tau: F::default(),
        };
    }
    let beta = -norm(&[alpha, rest_norm.into()]).copysign(alpha.re());
    if beta.abs() < LEAST {
        x.iter_mut().for_each(|v| *v = v.scale(1.0 / LEAST));
        let Reflector { beta, tau } = reflector(x);
        let beta = beta.scale(LEAST);
        return Reflector { beta, tau };
    }
    for v in &mut x[1..] {
        *v = v.over(alpha - beta.into());
    }
    Reflector {
        beta: beta.into(),
        tau: (F::from(beta) - alpha).scale(1.0 / beta),
    }
}

/// C ← (I - τ v vᴴ) C on the rows from `row` and the columns from `col` on, v starting at `row`.
pub(super) fn apply_left<F: Field>(c: &mut Matrix<F>, v: &[F], tau: F, row: usize, col: usize) {
    // Row by row, as the entries lie in memory.
    let mut along = vec![F::default(); c.cols - col];
    for (i, &x) in v.iter().enumerate() {
        for (sum, &y) in along.iter_mut().zip(&c.row(row + i)[col..]) {
            *sum += x.conj() * y;
        }
    }
    for (i, &x) in v.iter().enumerate() {
        let factor = tau * x;
        for (y, &sum) in c.row_mut(row + i)[col..].iter_mut().zip(&along) {
            *y -= factor * sum;
        }
    }
}

/// C ← C (I - τ v vᴴ) on the rows from `row` and the columns from `col` on, v starting at `col`.
pub(super) fn apply_right<F: Field>(c: &mut Matrix<F>, v: &[F], tau: F, row: usize, col: usize) {
    for i in row..c.rows {
        let along: F = v
            .iter()
            .enumerate()
            .map(|(j, &x)| c[(i, col + j)] * x)
            .sum();
        for (j, &x) in v.iter().enumerate() {
            c[(i, col + j)] -= tau * along * x.conj();
        }
    }
}

/// The vector v of reflector k, from its leading one down.
pub(super) fn packed_vector<F: Field>(packed: &Matrix<F>, k: usize) -> Vec<F> {
    let mut v = packed.column(k).split_off(k);
    v[0] = 1.0.into();
    v
}

/// The first n columns of Q = H₀ H₁ … H_(k-1), from m×n packed reflectors and their k ≤ n ≤ m
/// factors (`householder_product`; LAPACK's `orgqr`).
pub fn householder_product<E: Entry>(a: &[E], m: usize, n: usize, taus: &[E]) -> Vec<E> {
    let taus: Vec<_> = taus.iter().map(|t| t.widen()).collect();
    leading_columns(&Matrix::widen(a, m, n), &taus, n).round()
}

/// The first `cols` columns of the product of packed reflectors.
pub(super) fn leading_columns<F: Field>(packed: &Matrix<F>, taus: &[F], cols: usize) -> Matrix<F> {
    let mut q = Matrix::identity(packed.rows, cols);
    for (k, &tau) in taus.iter().enumerate().rev() {
        apply_left(&mut q, &packed_vector(packed, k), tau, k, 0);
    }
    q
}

/// Multiplies the p×q matrix C by the Q of packed reflectors without forming it (`ormqr`): `Q C`,
/// `Qᴴ C` (with `transpose`), `C Q` or `C Qᴴ` (without `left`).
///
/// `a` is m×n with m = p for `left`, else m = q.
pub fn ormqr<E: Entry>(
    (a, m, n): (&[E], usize, usize),
    taus: &[E],
    (c, p, q): (&[E], usize, usize),
    left: bool,
    transpose: bool,
) -> Vec<E> {
    assert_eq!(m, if left { p } else { q }, "ormqr: rows of the reflectors");
    let packed = Matrix::widen(a, m, n);
    let mut c = Matrix::widen(c, p, q);
    let count = taus.len();
    for step in 0..count {
        // Q C applies the last reflector first, and so does C Qᴴ.
        let k = if left != transpose {
            count - 1 - step
        } else {
            step
        };
        let tau = taus[k].widen();
        let tau = if transpose { tau.conj() } else { tau };
        let v = packed_vector(&packed, k);
        if left {
            apply_left(&mut c, &v, tau, k, 0);
        } else {
            apply_right(&mut c, &v, tau, 0, k);
        }
    }
    c.round()
}

#[cfg(test)]
mod tests {
    use super::super::qr::geqrf;
    use super::*;
    use num_complex::Complex;

    type C = Complex<f64>;

    fn sample(m: usize, n: usize) -> Vec<C> {
        let part = |i: usize, s: f64| libm::sin(s * (3 * i * i + i + 1) as f64);
        (0..m * n)
            .map(|i| C::new(part(i, 0.7), part(i, 1.9)))
            .collect()
    }

    #[test]
    fn reflectors_map_to_a_real_multiple_of_the_first_unit_vector() {
        let x = sample(4, 1);
        let mut v = x.clone();
        let r = reflector(&mut v);
        v[0] = 1.0.into();
        let mut image = Matrix::widen(&x, 4, 1);
        apply_left(&mut image, &v, r.tau.conj(), 0, 0);
        assert!((image[(0, 0)] - r.beta).norm() < 1e-15 && r.beta.im == 0.0);
        assert!((1..4).all(|i| image[(i, 0)].norm() < 1e-15));
        assert_eq!(r.beta.re.signum(), -x[0].re.signum());
    }

    #[test]
    fn ormqr_multiplies_by_the_product() {
        let (packed, taus) = geqrf(&sample(4, 3), 4, 3);
        let q = leading_columns(&Matrix::widen(&packed, 4, 3), &taus, 4);
        let c = sample(4, 4);
        let wide = Matrix::widen(&c, 4, 4);
        for (left, transpose) in [(true, false), (true, true), (false, false), (false, true)] {
            let factor = if transpose { q.adjoint() } else { q.clone() };
            let want = if left {
                factor.product(&wide)
            } else {
                wide.product(&factor)
            };
            let got = ormqr((&packed, 4, 3), &taus, (&c, 4, 4), left, transpose);
            let error = got
                .iter()
                .zip(want.round::<C>())
                .map(|(a, b)| (a - b).norm());
            assert!(error.fold(0.0, f64::max) < 1e-14, "{left} {transpose}");
        }
    }

    #[test]
    fn products_of_no_reflectors_are_the_identity() {
        assert_eq!(householder_product(&[5.0f32, 6.0], 2, 1, &[]), [1.0, 0.0]);
        assert!(householder_product::<f32>(&[], 0, 0, &[]).is_empty());
    }
}
