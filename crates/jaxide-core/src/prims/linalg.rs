//! Products, factorisations and Fourier transforms.

use super::*;

pending! { DotGeneral, RaggedDotGeneral, ScaledDot, Cholesky, CholeskyUpdate, Lu, LuPivotsToPermutation, Qr, Geqrf, Geqp3, HouseholderProduct, Ormqr, Eigh, Eig, Svd, Schur, Hessenberg, Tridiagonal, TridiagonalSolve, TriangularSolve, SymmetricProduct, Fft }
