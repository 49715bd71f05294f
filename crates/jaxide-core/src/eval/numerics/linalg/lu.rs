//! The LU factorisation with partial pivoting.

use super::matrix::{Entry, Field, Matrix};

/// The result of [`lu`].
#[derive(Clone, PartialEq, Debug)]
pub struct Lu<E> {
    /// L below the diagonal, its unit diagonal left out, and U on and above it; m×n.
    pub lu: Vec<E>,
    /// Row i was exchanged with row `pivots[i]` (from 0) before column i was eliminated; min(m, n)
    /// entries.
    pub pivots: Vec<i32>,
    /// The row exchanges as a permutation: row i of P A is row `permutation[i]` of A; m entries.
    pub permutation: Vec<i32>,
}

/// P A = L U of an m×n matrix.
///
/// The pivot is the first entry of the largest |Re| + |Im| in its column. A zero pivot is left in U
/// and its column is not eliminated.
pub fn lu<E: Entry>(a: &[E], m: usize, n: usize) -> Lu<E> {
    let mut a = Matrix::widen(a, m, n);
    let mut pivots = Vec::with_capacity(m.min(n));
    for k in 0..m.min(n) {
        let size = |x: E::Wide| x.re().abs() + x.im().abs();
        let mut pivot = k;
        for i in k + 1..m {
            if size(a[(i, k)]) > size(a[(pivot, k)]) {
                pivot = i;
            }
        }
        pivots.push(pivot as i32);
        a.swap_rows(k, pivot);
        if a[(k, k)] == E::Wide::default() {
            continue;
        }
        for i in k + 1..m {
            let factor = a[(i, k)].over(a[(k, k)]);
            a[(i, k)] = factor;
            for j in k + 1..n {
                let update = factor * a[(k, j)];
                a[(i, j)] -= update;
            }
        }
    }
    let permutation = lu_pivots_to_permutation(&pivots, m);
    Lu {
        lu: a.round(),
        pivots,
        permutation,
    }
}

/// The permutation of `size` rows that the exchanges `i ↔ pivots[i]` make, one after another.
///
/// Negative pivots count from the end. A pivot outside the rows reads the nearest one and writes
/// nothing, as JAX's indexing does.
pub fn lu_pivots_to_permutation(pivots: &[i32], size: usize) -> Vec<i32> {
    let mut permutation: Vec<i32> = (0..size as i32).collect();
    for (i, &pivot) in pivots.iter().enumerate().take(size) {
        let j = i64::from(pivot) + if pivot < 0 { size as i64 } else { 0 };
        let nearest = j.clamp(0, size as i64 - 1) as usize;
        let (x, y) = (permutation[i], permutation[nearest]);
        permutation[i] = y;
        if nearest as i64 == j {
            permutation[nearest] = x;
        }
    }
    permutation
}

#[cfg(test)]
mod tests {
    use super::*;
    use num_complex::Complex;

    #[test]
    fn rectangular_factors() {
        let f = lu(&[1.0, 2.0, 4.0, 2.0, 2.0, 8.0], 3, 2);
        assert_eq!(f.lu, [4.0, 2.0, 0.5, 7.0, 0.25, 1.5 / 7.0]);
        assert_eq!((f.pivots, f.permutation), (vec![1, 2], vec![1, 2, 0]));
        let f = lu(&[0.0f32, 1.0, 2.0, 3.0, 4.0, 5.0], 2, 3);
        assert_eq!(f.lu, [3.0, 4.0, 5.0, 0.0, 1.0, 2.0]);
        assert_eq!((f.pivots, f.permutation), (vec![1, 1], vec![1, 0]));
    }

    #[test]
    fn zero_pivots_and_empty_matrices() {
        assert_eq!(lu(&[0.0, 1.0, 0.0, 2.0], 2, 2).lu, [0.0, 1.0, 0.0, 2.0]);
        let f = lu::<f64>(&[], 2, 0);
        assert_eq!((f.pivots, f.permutation), (vec![], vec![0, 1]));
    }

    #[test]
    fn complex_pivots_compare_by_the_sum_of_parts() {
        let c = |re, im| Complex::<f32>::new(re, im);
        assert_eq!(lu(&[c(2.5, 0.0), c(2.0, 1.0)], 2, 1).pivots, [1]);
    }

    #[test]
    fn pivots_out_of_range() {
        assert_eq!(lu_pivots_to_permutation(&[2, -2, 9], 3), [2, 1, 0]);
        assert_eq!(lu_pivots_to_permutation(&[1, 1], 4), [1, 0, 2, 3]);
    }
}
