//! Matrix products that are primitives of their own.

use super::matrix::{Entry, Matrix};

/// α A Aᵀ + β C for an n×k matrix A and an n×n matrix C, of which every entry is read and written.
pub fn symmetric_product<E: Entry<Wide = f64>>(
    a: &[E],
    n: usize,
    k: usize,
    c: &[E],
    alpha: f64,
    beta: f64,
) -> Vec<E> {
    let (a, c) = (Matrix::widen(a, n, k), Matrix::widen(c, n, n));
    let gram = a.product(&a.adjoint());
    Matrix::from_fn(n, n, |i, j| alpha * gram[(i, j)] + beta * c[(i, j)]).round()
}

#[cfg(test)]
mod tests {
    use super::symmetric_product;

    #[test]
    fn every_entry_of_c_counts() {
        let (a, c) = ([1.0f32, 2.0, 3.0, -1.0], [1.0, 10.0, 100.0, 1000.0]);
        assert_eq!(
            symmetric_product(&a, 2, 2, &c, 2.0, 0.5),
            [10.5, 7.0, 52.0, 520.0]
        );
        assert_eq!(symmetric_product::<f64>(&[], 1, 0, &[4.0], 1.0, 0.5), [2.0]);
    }
}
