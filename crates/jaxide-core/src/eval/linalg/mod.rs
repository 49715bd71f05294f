//! Products, factorisations, Fourier transforms.

mod factorisation;
mod fourier;
mod matrices;
mod product;

pub(super) use factorisation::{
    cholesky, cholesky_update, eig, eigh, geqp3, geqrf, hessenberg, householder_product, lu,
    lu_pivots_to_permutation, ormqr, qr, schur, svd, symmetric_product, triangular_solve,
    tridiagonal, tridiagonal_solve,
};
pub(super) use fourier::fourier;
pub(super) use product::{dot_general, ragged_dot_general, scaled_dot};
