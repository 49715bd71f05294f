//! Linear algebra: what SciPy has beyond [`numpy::linalg`](crate::numpy::linalg), and special matrices.
//!
//! Where SciPy has arguments for memory and checks (`overwrite_a`, `check_finite`), there are none here.

mod factor;
mod factored;
mod function;
mod solve;
mod special;
mod structured;
mod tridiagonal;

pub use factor::{
    GeneralizedEigh, Lower, Polar, Qr, QrMode, QrMultiply, QrSide, Schur, SchurOutput, Svd,
    cho_factor, cholesky, eigh, eigh_generalized, eigvalsh, hessenberg, hessenberg_with_q, lu,
    lu_factor, lu_permuted, polar, qr, qr_multiply, qr_multiply_pivoted, qr_pivoted, schur, svd,
};
pub use factored::{CholeskyFactor, LuFactor};
pub use function::{Expm, expm, expm_frechet, funm, rsf2csf, sqrtm};
pub use solve::{
    Assume, Solve, SolveSylvester, SolveTriangular, SylvesterMethod, Trans, cho_solve, det, inv,
    lu_solve, solve, solve_sylvester, solve_triangular,
};
pub use special::{
    Dft, DftScale, Hadamard, Pascal, PascalKind, dft, hadamard, helmert, hilbert, invhilbert,
    invpascal, pascal,
};
pub use structured::{
    ConvolutionMode, FirstRow, block_diag, circulant, companion, convolution_matrix, fiedler,
    fiedler_companion, hankel, leslie, toeplitz,
};
pub use tridiagonal::{EighTridiagonal, eigh_tridiagonal, eigvalsh_tridiagonal};
