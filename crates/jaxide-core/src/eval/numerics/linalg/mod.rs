//! Dense linear algebra on single matrices: row-major slices in, row-major vectors out.
//!
//! Everything is computed in `f64` or `Complex<f64>` and rounded once at the end ([`Entry`]).
//! Conventions are LAPACK's, which JAX calls on CPU: packed factors, Householder vectors and their
//! `tau`, pivots, orders of eigenvalues and singular values. Where a factor is unique only up to
//! signs or phases the choice made here is deterministic, but need not be LAPACK's. A factorisation
//! that fails (a matrix that is not positive definite, an iteration that does not converge, an
//! input that is not finite) gives NaN in every entry, as in JAX.
//!
//! Every function panics when a slice does not have the size that the given shape says; empty
//! matrices are allowed.

mod cholesky;
mod eig;
mod eigh;
mod hessenberg;
mod householder;
mod lu;
mod matrix;
mod products;
mod qr;
mod schur;
mod svd;
mod triangular;

pub use cholesky::{cholesky, cholesky_update};
pub use eig::{Eig, eig};
pub use eigh::{Eigh, eigh};
pub use hessenberg::{Tridiagonal, hessenberg, tridiagonal};
pub use householder::{householder_product, ormqr};
pub use lu::{Lu, lu, lu_pivots_to_permutation};
pub use matrix::{Entry, Field};
pub use products::symmetric_product;
pub use qr::{Qr, geqp3, geqrf, qr};
pub use schur::schur;
pub use svd::{Svd, singular_values, svd};
pub use triangular::{
    TriangularSolve, triangular_solve, tridiagonal_solve, tridiagonal_solve_perturbed,
};
