//! Eigenvalues and eigenvectors of general matrices.

use super::eigh::fix_phase;
use super::matrix::{Entry, Field, Matrix, norm};
use super::schur::decompose;
use num_complex::Complex;

type C128 = Complex<f64>;

/// The result of [`eig`].
#[derive(Clone, PartialEq, Debug)]
pub struct Eig<R> {
    /// The eigenvalues; n entries.
    pub values: Vec<Complex<R>>,
    /// The left eigenvectors in the columns, uᴴ A = λ uᴴ; n×n.
    pub left: Vec<Complex<R>>,
    /// The right eigenvectors in the columns, A v = λ v; n×n.
    pub right: Vec<Complex<R>>,
}

/// The eigenvalues and eigenvectors of an n×n matrix.
///
/// The eigenvalues are in no particular order; of a real matrix, conjugate pairs stand together,
/// the one with the positive imaginary part first. Eigenvectors have norm 1, and their entry of
/// largest modulus is real and positive; a real eigenvalue of a real matrix has real ones.
pub fn eig<E: Entry>(a: &[E], n: usize) -> Eig<E::Real>
where
    Complex<E::Real>: Entry<Wide = C128>,
{
    let Some((t, z)) = decompose(Matrix::widen(a, n, n)) else {
        let vectors = || Matrix::nan(n, n).round();
        return Eig {
            values: Matrix::nan(n, 1).round(),
            left: vectors(),
            right: vectors(),
        };
    };
    let (mut t, mut z) = (complexified(&t), complexified(&z));
    let mut values = Vec::with_capacity(n);
    while values.len() < n {
        let k = values.len();
        if k + 1 < n && t[(k + 1, k)] != C128::default() {
            let imaginary = t[(k, k + 1)].abs().sqrt() * t[(k + 1, k)].abs().sqrt();
            let value = C128::new(t[(k, k)].re, imaginary);
            triangularise(&mut t, &mut z, k, value);
            values.extend([value, value.conj()]);
        } else {
            values.push(t[(k, k)]);
        }
    }
    let real_matrix = !E::Wide::COMPLEX;
    let vectors = |solve: fn(&Matrix<C128>, C128, usize) -> Vec<C128>| {
        let mut vectors = Matrix::identity(n, n);
        for (k, &value) in values.iter().enumerate() {
            let column = if real_matrix && value.im < 0.0 {
                vectors
                    .column(k - 1)
                    .into_iter()
                    .map(|x: C128| x.conj())
                    .collect()
            } else {
                let in_schur_basis = Matrix::widen(&solve(&t, value, k), n, 1);
                let drop_imaginary = real_matrix && value.im == 0.0;
                normalised(z.product(&in_schur_basis).column(0), drop_imaginary)
            };
            vectors.set_column(k, &column);
        }
        vectors.round()
    };
    Eig {
        left: vectors(left_vector),
        right: vectors(right_vector),
        values: values.iter().map(|&x| Entry::round_from(x)).collect(),
    }
}

fn complexified<F: Field>(a: &Matrix<F>) -> Matrix<C128> {
    Matrix::from_fn(a.rows, a.cols, |i, j| {
        C128::new(a[(i, j)].re(), a[(i, j)].im())
    })
}

/// Makes the 2×2 block at k, of which `value` is an eigenvalue, upper triangular with that
/// eigenvalue first.
fn triangularise(t: &mut Matrix<C128>, z: &mut Matrix<C128>, k: usize, value: C128) {
    // The block's eigenvector (value - d, c), as the first column of a rotation.
    let (x, y) = (value - t[(k + 1, k + 1)], t[(k + 1, k)]);
    let length = norm(&[x, y]);
    let phase = if x == C128::default() {
        C128::from(1.0)
    } else {
        x / x.abs()
    };
    let (c, s) = (x.abs() / length, y / phase / length);
    t.rotate_columns(k, k + 1, c, s);
    t.rotate_rows(k, k + 1, c, s.conj(), k);
    z.rotate_columns(k, k + 1, c, s);
    t[(k + 1, k)] = C128::default();
    (t[(k, k)], t[(k + 1, k + 1)]) = (value, value.conj());
}

/// The solution of (T - λ) x = 0 with x_k = 1 and zeros below, by back substitution.
fn right_vector(t: &Matrix<C128>, value: C128, k: usize) -> Vec<C128> {
    let mut x = vec![C128::default(); t.rows];
    x[k] = 1.0.into();
    let smallest = smallest_pivot(t);
    for i in (0..k).rev() {
        let rest: C128 = (i + 1..=k).map(|j| t[(i, j)] * x[j]).sum();
        x[i] = (-rest).over(pivot(t[(i, i)] - value, smallest));
        keep_in_range(&mut x, i);
    }
    x
}

/// The solution of (Tᴴ - λ̄) x = 0 with x_k = 1 and zeros above, by forward substitution.
fn left_vector(t: &Matrix<C128>, value: C128, k: usize) -> Vec<C128> {
    let mut x = vec![C128::default(); t.rows];
    x[k] = 1.0.into();
    let smallest = smallest_pivot(t);
    for i in k + 1..t.rows {
        let rest: C128 = (k..i).map(|j| t[(j, i)].conj() * x[j]).sum();
        x[i] = (-rest).over(pivot((t[(i, i)] - value).conj(), smallest));
        keep_in_range(&mut x, i);
    }
    x
}

/// What two eigenvalues of a triangular matrix differ by at least, to rounding of its entries. (The eigenvalues
/// themselves may all be zero where the matrix is not.)
fn smallest_pivot(t: &Matrix<C128>) -> f64 {
    let largest = (0..t.rows)
        .flat_map(|i| (i..t.rows).map(move |j| t[(i, j)].l1_norm()))
        .fold(f64::MIN_POSITIVE, f64::max);
    f64::EPSILON * largest
}

/// A difference of eigenvalues, kept away from zero for multiple ones.
fn pivot(difference: C128, smallest: f64) -> C128 {
    if difference.l1_norm() < smallest {
        smallest.into()
    } else {
        difference
    }
}

/// Defective matrices make the entries grow by 1/ε at every step; the last one is x_i.
fn keep_in_range(x: &mut [C128], i: usize) {
    if x[i].l1_norm() > 1e100 {
        let factor = 1.0 / norm(x);
        x.iter_mut().for_each(|v| *v = v.scale(factor));
    }
}

fn normalised(mut v: Vec<C128>, drop_imaginary: bool) -> Vec<C128> {
    fix_phase(&mut v);
    if drop_imaginary {
        v.iter_mut().for_each(|x| x.im = 0.0);
    }
    let length = norm(&v);
    v.iter_mut().for_each(|x| *x = x.scale(1.0 / length));
    v
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(n: usize) -> Vec<f64> {
        (0..n * n)
            .map(|i| libm::sin((3 * i * i + i + 1) as f64))
            .collect()
    }

    fn check<E: Entry<Real = f64>>(a: &[E], n: usize) -> Eig<f64> {
        let f = eig(a, n);
        let wide = complexified(&Matrix::widen(a, n, n));
        let (left, right) = (Matrix::widen(&f.left, n, n), Matrix::widen(&f.right, n, n));
        let (av, ua) = (wide.product(&right), wide.adjoint().product(&left));
        for k in 0..n {
            for i in 0..n {
                assert!((av[(i, k)] - right[(i, k)] * f.values[k]).norm() < 1e-12);
                assert!((ua[(i, k)] - left[(i, k)] * f.values[k].conj()).norm() < 1e-12);
            }
            assert!((norm(&right.column(k)) - 1.0).abs() < 1e-14);
            assert!((norm(&left.column(k)) - 1.0).abs() < 1e-14);
        }
        f
    }

    #[test]
    fn real_matrices_have_conjugate_pairs() {
        for n in [0, 1, 2, 3, 9] {
            let f = check(&sample(n), n);
            let mut k = 0;
            while k < n {
                let column = |j: usize| f.right.iter().skip(j).step_by(n).collect::<Vec<_>>();
                if f.values[k].im == 0.0 {
                    assert!(column(k).iter().all(|x| x.im == 0.0));
                    k += 1;
                } else {
                    assert!(f.values[k].im > 0.0 && f.values[k + 1] == f.values[k].conj());
                    assert!(
                        column(k)
                            .iter()
                            .zip(column(k + 1))
                            .all(|(x, y)| x.conj() == *y)
                    );
                    k += 2;
                }
            }
        }
    }

    #[test]
    fn complex_matrices() {
        for n in [1, 2, 7] {
            let (re, im) = (sample(n), sample(2 * n));
            let a: Vec<C128> = (0..n * n).map(|i| C128::new(re[i], im[i])).collect();
            check(&a, n);
        }
    }

    #[test]
    fn defective_and_rotating_matrices() {
        let n = 24;
        let jordan: Vec<f64> = (0..n * n)
            .map(|i| f64::from(u8::from(i % n == i / n || i % n == i / n + 1)))
            .collect();
        let f = check(&jordan, n);
        assert!(f.values.iter().all(|&x| x == C128::from(1.0)));
        let f = check(&[0.0, -4.0, 4.0, 0.0], 2);
        assert_eq!(f.values, [C128::new(0.0, 4.0), C128::new(0.0, -4.0)]);
        assert!(eig(&[f32::NAN], 1).values[0].re.is_nan());
    }
}
