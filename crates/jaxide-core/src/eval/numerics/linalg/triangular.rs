//! Linear systems with triangular and tridiagonal matrices.

use super::matrix::{Entry, Field, Matrix};
use crate::eval::numerics::float::Real;

/// The parameters of `triangular_solve`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct TriangularSolve {
    /// Solve `op(A) X = B` rather than `X op(A) = B`.
    pub left_side: bool,
    /// Read the lower triangle of A rather than the upper.
    pub lower: bool,
    /// `op` transposes.
    pub transpose_a: bool,
    /// `op` conjugates.
    pub conjugate_a: bool,
    /// Take the diagonal of A for ones without reading it.
    pub unit_diagonal: bool,
}

/// Solves a triangular system for the m×n matrix X; A is m×m for `left_side`, else n×n.
///
/// The other triangle of A is not read. A zero on the diagonal gives infinities or NaN.
pub fn triangular_solve<E: Entry>(
    a: &[E],
    b: &[E],
    m: usize,
    n: usize,
    options: TriangularSolve,
) -> Vec<E> {
    let TriangularSolve {
        left_side,
        lower,
        transpose_a,
        conjugate_a,
        unit_diagonal,
    } = options;
    let size = if left_side { m } else { n };
    let a = Matrix::widen(a, size, size);
    let mut x = Matrix::widen(b, m, n);
    // X op(A) = B is op(A)ᵀ Xᵀ = Bᵀ: the coefficient of unknown j in equation i.
    let swapped = transpose_a == left_side;
    let coefficient = |i: usize, j: usize| {
        let entry = if swapped { a[(j, i)] } else { a[(i, j)] };
        if conjugate_a { entry.conj() } else { entry }
    };
    // Substitution starts where an equation has a single unknown.
    let forward = lower != swapped;
    for column in 0..if left_side { n } else { m } {
        let at = |k: usize| if left_side { (k, column) } else { (column, k) };
        for step in 0..size {
            let i = if forward { step } else { size - 1 - step };
            let solved = if forward { 0..i } else { i + 1..size };
            let known: E::Wide = solved.map(|j| coefficient(i, j) * x[at(j)]).sum();
            let rest = x[at(i)] - known;
            x[at(i)] = if unit_diagonal {
                rest
            } else {
                rest.over(coefficient(i, i))
            };
        }
    }
    x.round()
}

/// Solves T X = B for a tridiagonal n×n matrix T and an n×k matrix B, by Gaussian elimination with
/// partial pivoting.
///
/// The diagonals have n entries each: `lower[0]` and `upper[n - 1]` lie outside T and are not read.
/// NaN everywhere when T is singular.
pub fn tridiagonal_solve<E: Entry>(
    lower: &[E],
    diagonal: &[E],
    upper: &[E],
    b: &[E],
    k: usize,
) -> Vec<E> {
    let n = diagonal.len();
    let zero = E::Wide::default();
    let mut x = Matrix::widen(b, n, k);
    let mut rows = tridiagonal_rows(lower, diagonal, upper);
    for i in 0..n {
        if i + 1 < n {
            let below = lower[i + 1].widen();
            let mut next = [below, rows[i + 1][0], rows[i + 1][1]];
            if below.abs() > rows[i][0].abs() {
                std::mem::swap(&mut next, &mut rows[i]);
                x.swap_rows(i, i + 1);
            }
            if rows[i][0] == zero {
                return Matrix::nan(n, k).round();
            }
            let factor = next[0].over(rows[i][0]);
            rows[i + 1] = [
                next[1] - factor * rows[i][1],
                next[2] - factor * rows[i][2],
                zero,
            ];
            take_from_next(&mut x, i, k, factor);
        } else if rows[i][0] == zero {
            return Matrix::nan(n, k).round();
        }
    }
    for i in (0..n).rev() {
        for j in 0..k {
            x[(i, j)] = unsolved(&rows, &x, i, j).over(rows[i][0]);
        }
    }
    x.round()
}

/// Three diagonals of the upper factor, of which elimination fills the third, before it begins.
fn tridiagonal_rows<E: Entry>(lower: &[E], diagonal: &[E], upper: &[E]) -> Vec<[E::Wide; 3]> {
    let n = diagonal.len();
    assert!(
        lower.len() == n && upper.len() == n,
        "tridiagonal_solve: lengths of the diagonals"
    );
    let zero = E::Wide::default();
    (0..n)
        .map(|i| {
            let next = if i + 1 < n { upper[i].widen() } else { zero };
            [diagonal[i].widen(), next, zero]
        })
        .collect()
}

/// Subtracts a multiple of a row of `k` entries from the next one.
fn take_from_next<F: Field>(x: &mut Matrix<F>, row: usize, k: usize, factor: F) {
    for j in 0..k {
        let update = factor * x[(row, j)];
        x[(row + 1, j)] -= update;
    }
}

/// What is left of a right-hand side in a row of the upper factor without the unknowns behind it, which `x` has.
fn unsolved<F: Field>(rows: &[[F; 3]], x: &Matrix<F>, i: usize, j: usize) -> F {
    let mut rest = x[(i, j)];
    for (offset, &coefficient) in rows[i].iter().enumerate().skip(1) {
        if i + offset < rows.len() {
            rest -= coefficient * x[(i + offset, j)];
        }
    }
    rest
}

/// As [`tridiagonal_solve`], finite for a singular matrix too: pivots so small that a quotient would overflow are moved by
/// ε max |U| times a power of two, with ε the distance from 1 to the next number of type `E`, and U the upper factor. That is
/// what inverse iteration wants of a matrix from which its eigenvalue was taken.
///
/// Rows are exchanged where that makes the pivot larger relative to its row, and max |U| is taken of the entries that LAPACK's
/// `lagtf` looks at, so that what is moved, and how far, is as in JAX.
pub fn tridiagonal_solve_perturbed<E: Entry>(
    lower: &[E],
    diagonal: &[E],
    upper: &[E],
    b: &[E],
    k: usize,
) -> Vec<E> {
    let n = diagonal.len();
    let zero = E::Wide::default();
    let mut x = Matrix::widen(b, n, k);
    let mut rows = tridiagonal_rows(lower, diagonal, upper);
    let size = |row: &[E::Wide; 3]| row.iter().map(|entry| entry.abs()).sum::<f64>();
    let mut largest = rows
        .first()
        .map_or(0.0, |row| row[0].abs().max(row[1].abs()));
    // Of the row that is the next pivot's.
    let mut scale = rows.first().map_or(0.0, size);
    for i in 0..n.saturating_sub(1) {
        let below = lower[i + 1].widen();
        let scale_below = below.abs() + size(&rows[i + 1]);
        if below == zero {
            scale = scale_below;
        } else if below.abs() / scale_below <= rows[i][0].abs() / scale {
            scale = scale_below;
            let factor = below.over(rows[i][0]);
            let moved = factor * rows[i][1];
            rows[i + 1][0] -= moved;
            take_from_next(&mut x, i, k, factor);
        } else {
            let [pivot, beside, _] = rows[i];
            let factor = pivot.over(below);
            rows[i] = [below, rows[i + 1][0], rows[i + 1][1]];
            rows[i + 1] = [beside - factor * rows[i][1], -(factor * rows[i][2]), zero];
            scale = size(&rows[i + 1]);
            x.swap_rows(i, i + 1);
            take_from_next(&mut x, i, k, factor);
        }
        if i + 2 < n {
            largest = rows[i]
                .iter()
                .map(|entry| entry.abs())
                .fold(largest, f64::max);
        }
    }
    largest = rows.last().map_or(largest, |row| largest.max(row[0].abs()));
    let limits = Limits::of::<E::Real>(largest);
    for i in (0..n).rev() {
        let mut right: Vec<E::Wide> = (0..k).map(|j| unsolved(&rows, &x, i, j)).collect();
        let pivot = limits.pivot(rows[i][0], &mut right);
        for (j, &rest) in right.iter().enumerate() {
            x[(i, j)] = rest.over(pivot);
        }
    }
    x.round()
}

/// What bounds the pivots of a system.
struct Limits {
    /// The least number whose reciprocal is finite.
    least: f64,
    /// By how much a pivot is moved first.
    step: f64,
}

impl Limits {
    /// For an upper factor of a type whose largest entry is given.
    fn of<R: Real>(largest: f64) -> Limits {
        let least = R::from_bits64(1 << R::MANTISSA_BITS).to_f64();
        let step = 0.5f64.powi(R::MANTISSA_BITS as i32) * largest;
        Limits {
            least,
            step: step.max(least),
        }
    }

    /// The pivot, moved or scaled (with the right-hand sides) until no quotient by it overflows.
    fn pivot<F: Field>(&self, mut pivot: F, right: &mut [F]) -> F {
        let mut step = self.step.copysign(pivot.re());
        let largest = right.iter().map(|entry| entry.abs()).fold(0.0, f64::max);
        let bound = 1.0 / self.least;
        loop {
            let size = pivot.abs();
            let small = size < self.least;
            // Also where something is no number.
            if !(size < 1.0 && (small || largest > size * bound)) {
                return pivot;
            }
            if small && size != 0.0 && largest * self.least <= size {
                right
                    .iter_mut()
                    .for_each(|entry| *entry = entry.scale(bound));
                return pivot.scale(bound);
            }
            pivot += step.into();
            step *= 2.0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use num_complex::Complex;

    type C = Complex<f64>;

    /// Every combination of flags solves the equation that it names.
    #[test]
    fn all_flags() {
        let c = Complex::new;
        let a = [c(2.0, 1.0), c(3.0, -1.0), c(-1.0, 2.0), c(4.0, 0.5)];
        let b = [c(1.0, 0.0), c(0.0, 2.0), c(3.0, 1.0), c(-1.0, 1.0)];
        for bits in 0..32 {
            let flag = |k: i32| bits >> k & 1 == 1;
            let options = TriangularSolve {
                left_side: flag(0),
                lower: flag(1),
                transpose_a: flag(2),
                conjugate_a: flag(3),
                unit_diagonal: flag(4),
            };
            let triangle = Matrix::from_fn(2, 2, |i, j| match (i == j, (i > j) == flag(1)) {
                (true, _) if flag(4) => C::from(1.0),
                (true, _) | (false, true) => a[2 * i + j],
                (false, false) => C::from(0.0),
            });
            let op = Matrix::from_fn(2, 2, |i, j| {
                let entry = if flag(2) {
                    triangle[(j, i)]
                } else {
                    triangle[(i, j)]
                };
                if flag(3) { entry.conj() } else { entry }
            });
            let x = Matrix::widen(&triangular_solve(&a, &b, 2, 2, options), 2, 2);
            let back = if flag(0) {
                op.product(&x)
            } else {
                x.product(&op)
            };
            let error = (0..4)
                .map(|i| (back[(i / 2, i % 2)] - b[i]).norm())
                .fold(0.0, f64::max);
            assert!(error < 1e-14, "{options:?}: {error}");
        }
    }

    #[test]
    fn rectangular_right_hand_sides() {
        let left = TriangularSolve {
            left_side: true,
            lower: true,
            ..Default::default()
        };
        assert_eq!(
            triangular_solve(&[2.0f32], &[4.0, 6.0], 1, 2, left),
            [2.0, 3.0]
        );
        let right = TriangularSolve {
            lower: true,
            ..Default::default()
        };
        assert_eq!(
            triangular_solve(&[2.0f32], &[4.0, 6.0], 2, 1, right),
            [2.0, 3.0]
        );
        assert!(triangular_solve::<f32>(&[], &[], 0, 3, left).is_empty());
    }

    #[test]
    fn tridiagonal_systems_with_pivoting() {
        let (lower, diagonal, upper) = ([9.0, 4.0, 1.0], [1e-20, 2.0, 3.0], [2.0, 5.0, 9.0]);
        let b = [1.0, 2.0, 3.0];
        let x = tridiagonal_solve(&lower, &diagonal, &upper, &b, 1);
        assert!((2.0 * x[1] + 1e-20 * x[0] - 1.0).abs() < 1e-15);
        assert!((4.0 * x[0] + 2.0 * x[1] + 5.0 * x[2] - 2.0).abs() < 1e-15);
        assert!((x[1] + 3.0 * x[2] - 3.0).abs() < 1e-15);
        let singular = tridiagonal_solve(&[0.0f32], &[0.0], &[0.0], &[1.0, 2.0], 2);
        assert!(singular.iter().all(|v| v.is_nan()));
        assert_eq!(
            tridiagonal_solve(&[7.0f32], &[2.0], &[7.0], &[1.0, 2.0], 2),
            [0.5, 1.0]
        );
    }

    /// As `jax.lax.linalg.tridiagonal_solve(..., perturb_singular=True)`, which gives ±1/(3 ε) and the like.
    #[test]
    fn singular_tridiagonal_systems_have_large_solutions() {
        let zeros = [0.0f32; 3];
        let x = tridiagonal_solve_perturbed(&zeros, &zeros, &zeros, &[1.0, 1.0, 1.0], 1);
        assert_eq!(x, [1.0 / f32::MIN_POSITIVE; 3]);
        let x =
            tridiagonal_solve_perturbed(&[0.0f32, 1.0], &[1.0, 3.0], &[3.0, 0.0], &[1.0, 4.0], 1);
        assert_eq!(x, [1.0 - 3.0 / f32::EPSILON, 1.0 / f32::EPSILON]);
        assert!(tridiagonal_solve_perturbed::<f64>(&[], &[], &[], &[], 1).is_empty());
    }

    /// Where nothing is singular, the solution is the same.
    #[test]
    fn regular_tridiagonal_systems_are_not_perturbed() {
        let number = |i: usize| (i as f64 * 1.7).sin();
        for (n, k) in [(1, 1), (2, 1), (3, 2), (20, 3)] {
            let [lower, diagonal, upper]: [Vec<f64>; 3] =
                [0, 100, 200].map(|from| (from..from + n).map(number).collect());
            let b: Vec<f64> = (300..300 + n * k).map(number).collect();
            let expected = tridiagonal_solve(&lower, &diagonal, &upper, &b, k);
            let x = tridiagonal_solve_perturbed(&lower, &diagonal, &upper, &b, k);
            for (x, expected) in x.iter().zip(&expected) {
                assert!(
                    (x - expected).abs() < 1e-10 * expected.abs().max(1.0),
                    "{n} {k}"
                );
            }
        }
    }
}
