//! Linear algebra: factorisations, solutions, norms and products of matrices, which are the last two axes of an array.
//!
//! Numbers that are not floating-point become `f32`, and `f64` those of 64 bits.

mod determinant;
mod factor;
mod norm;
mod product;
mod solve;

pub use determinant::{Slogdet, det, slogdet};
pub use factor::{
    Cholesky, Eigh, Qr, QrMode, Svd, cholesky, eig, eigh, eigvals, eigvalsh, qr, qr_r,
    singular_values, svd, svdvals,
};
pub use norm::{
    MatrixNorm, MatrixRank, Norm, NormOrder, VectorNorm, cond, matrix_norm, matrix_rank, norm,
    vector_norm,
};
pub use product::{
    Diagonal, MultiDot, Trace, cross, diagonal, matmul, matrix_power, matrix_transpose, multi_dot,
    outer, tensordot, trace, vecdot,
};
pub use solve::{Lstsq, Pinv, inv, lstsq, pinv, solve, tensorinv, tensorsolve};

pub(crate) use solve::{exact_matmul, lu_solve, matrix_vector};
