//! Factorisations and solvers of matrices: the last two axes of each array, the axes before are lanes.

use jaxide_core::prims::{self, Opaque};
use jaxide_core::{DType, Error};

use crate::array::{Array, as_dtype, is_wide};
use crate::lax;
use crate::trace::{bind, bind_one, raise};

/// The mean of a matrix and its conjugate transpose.
#[track_caller]
fn symmetrized(operation: &str, x: &Array) -> Array {
    if !matches!(x.shape(), [.., rows, columns] if rows == columns) {
        let what = format!("matrices must be square, and {} is given", x.aval());
        raise(Error::shape(what).in_operation(operation));
    }
    let sum = lax::add(x, &conjugate_transposed(x));
    let sum = match x.dtype() {
        dtype if dtype.is_inexact() => sum,
        dtype if is_wide(dtype) => as_dtype(&sum, DType::F64, false),
        _ => as_dtype(&sum, DType::F32, false),
    };
    lax::div(&sum, &Array::from(2.0))
}

#[track_caller]
fn conjugate_transposed(x: &Array) -> Array {
    let mut permutation: Vec<usize> = (0..x.ndim()).collect();
    if let [.., row, column] = permutation.as_mut_slice() {
        std::mem::swap(row, column);
    }
    let transposed = lax::transpose(x, &permutation);
    if x.dtype().is_complex() {
        lax::conj(&transposed)
    } else {
        transposed
    }
}

/// The lower triangle, diagonal included, zeros above.
#[track_caller]
fn lower_triangle(x: &Array) -> Array {
    let &[.., rows, columns] = x.shape() else {
        return x.clone();
    };
    let index = |axis: usize| lax::iota(jaxide_core::DType::I32, &[rows, columns], axis);
    let kept = lax::ge(&lax::add(&index(0), &Array::from(0)), &index(1));
    let axes: Vec<usize> = (x.ndim() - 2..x.ndim()).collect();
    let kept = lax::broadcast_in_dim(&kept, x.shape(), &axes);
    lax::select(&kept, x, &lax::full(x.shape(), 0, x.dtype()))
}

fn first_two(mut results: impl Iterator<Item = Array>) -> Option<(Array, Array)> {
    Some((results.next()?, results.next()?))
}

/// Results of a primitive that has two.
#[track_caller]
fn pair(prim: impl Into<prims::Prim>, operands: &[Array]) -> (Array, Array) {
    first_two(bind(prim, operands).into_iter()).unwrap_or_else(|| {
        crate::trace::raise(jaxide_core::Error::new(
            jaxide_core::ErrorKind::Internal,
            "two results were expected",
        ))
    })
}

/// The lower factor `L` of a Hermitian positive definite matrix `L Lᴴ`; NaN where there is none.
///
/// With `symmetrize_input` the matrix is replaced by the mean of itself and its conjugate transpose first, so that
/// gradients are symmetric; else the lower triangle is read alone.
///
/// # Panics
/// When matrices are not square, or neither float nor complex.
///
/// ```
/// use jaxide::{Array, lax::linalg};
/// let l = linalg::cholesky(&Array::from([[4.0f32, 2.0], [2.0, 5.0]]), true);
/// assert_eq!(l.to_vec::<f32>(), [2.0, 0.0, 1.0, 2.0]);
/// ```
#[track_caller]
pub fn cholesky(x: &Array, symmetrize_input: bool) -> Array {
    let _named = crate::trace::named("cholesky");
    let x = if symmetrize_input {
        symmetrized("cholesky", x)
    } else {
        x.clone()
    };
    lower_triangle(&bind_one(prims::Cholesky, &[x]))
}

/// The factor of `R Rᵀ + w wᵀ` from the upper factor `R` and a vector `w`.
///
/// # Panics
/// When shapes do not fit, or elements are not real.
#[track_caller]
pub fn cholesky_update(r: &Array, w: &Array) -> Array {
    let _named = crate::trace::named("cholesky_update");
    bind_one(prims::CholeskyUpdate, &[r.clone(), w.clone()])
}

/// LU factors in one matrix (unit lower below the diagonal), row swaps as `i32`, and the permutation they make.
///
/// # Panics
/// When elements are neither float nor complex.
#[track_caller]
pub fn lu(x: &Array) -> (Array, Array, Array) {
    let _named = crate::trace::named("lu");
    let results = bind(prims::Lu, std::slice::from_ref(x));
    (results[0].clone(), results[1].clone(), results[2].clone())
}

/// The permutation of `permutation_size` rows that row swaps make.
///
/// # Panics
/// When `pivots` are not `i32`, or there are more than rows.
#[track_caller]
pub fn lu_pivots_to_permutation(pivots: &Array, permutation_size: usize) -> Array {
    let _named = crate::trace::named("lu_pivots_to_permutation");
    bind_one(
        prims::LuPivotsToPermutation { permutation_size },
        std::slice::from_ref(pivots),
    )
}

/// The factors `Q` (orthonormal columns) and `R` (upper); a square `Q` when `full_matrices`.
///
/// # Panics
/// When elements are neither float nor complex.
#[track_caller]
pub fn qr(x: &Array, full_matrices: bool) -> (Array, Array) {
    let _named = crate::trace::named("qr");
    let prim = prims::Qr {
        full_matrices,
        pivoting: false,
        use_magma: Opaque::none(),
    };
    pair(prim, std::slice::from_ref(x))
}

/// As [`qr`], of the matrix with columns in the order of the third result, largest first.
///
/// # Panics
/// As [`qr`].
#[track_caller]
pub fn qr_pivoted(x: &Array, full_matrices: bool) -> (Array, Array, Array) {
    let _named = crate::trace::named("qr_pivoted");
    let prim = prims::Qr {
        full_matrices,
        pivoting: true,
        use_magma: Opaque::none(),
    };
    let results = bind(prim, std::slice::from_ref(x));
    (results[0].clone(), results[1].clone(), results[2].clone())
}

/// QR in packed form: `R` above, reflectors below the diagonal, and their scales.
///
/// # Panics
/// When elements are neither float nor complex.
#[track_caller]
pub fn geqrf(x: &Array) -> (Array, Array) {
    let _named = crate::trace::named("geqrf");
    pair(prims::Geqrf, std::slice::from_ref(x))
}

/// As [`geqrf`] with column pivoting; columns whose entry of `pivots` (`i32`) is not zero stay in front.
///
/// # Panics
/// When shapes or element types do not fit.
#[track_caller]
pub fn geqp3(x: &Array, pivots: &Array) -> (Array, Array, Array) {
    let _named = crate::trace::named("geqp3");
    let results = bind(
        prims::Geqp3 {
            use_magma: Opaque::none(),
        },
        &[x.clone(), pivots.clone()],
    );
    (results[0].clone(), results[1].clone(), results[2].clone())
}

/// The matrix `Q` from the reflectors below the diagonal of `a` and their scales.
///
/// # Panics
/// When there are more scales than columns, or more columns than rows.
#[track_caller]
pub fn householder_product(a: &Array, taus: &Array) -> Array {
    let _named = crate::trace::named("householder_product");
    bind_one(prims::HouseholderProduct, &[a.clone(), taus.clone()])
}

/// `c` multiplied with the matrix `Q` of reflectors and scales: from the left or the right, conjugate transposed or not.
///
/// # Panics
/// When shapes do not fit.
#[track_caller]
pub fn ormqr(a: &Array, taus: &Array, c: &Array, left: bool, transpose: bool) -> Array {
    let _named = crate::trace::named("ormqr");
    bind_one(
        prims::Ormqr { left, transpose },
        &[a.clone(), taus.clone(), c.clone()],
    )
}

/// Eigenvectors as columns, and ascending eigenvalues, of a Hermitian matrix; `symmetrize_input` as in [`cholesky`], and
/// `lower` says which triangle is read.
///
/// # Panics
/// When matrices are not square, or neither float nor complex.
#[track_caller]
pub fn eigh(x: &Array, lower: bool, symmetrize_input: bool) -> (Array, Array) {
    let _named = crate::trace::named("eigh");
    let x = if symmetrize_input {
        symmetrized("eigh", x)
    } else {
        x.clone()
    };
    let prim = prims::Eigh {
        algorithm: Opaque::none(),
        lower,
        sort_eigenvalues: true,
        subset_by_index: None,
    };
    pair(prim, &[x])
}

/// Complex eigenvalues of a matrix, then its left and right eigenvectors as columns where they are asked for.
///
/// # Panics
/// When matrices are not square, or neither float nor complex.
#[track_caller]
pub fn eig(
    x: &Array,
    compute_left_eigenvectors: bool,
    compute_right_eigenvectors: bool,
) -> Vec<Array> {
    let _named = crate::trace::named("eig");
    let prim = prims::Eig {
        compute_left_eigenvectors,
        compute_right_eigenvectors,
        enable_eigvec_derivs: false,
        implementation: Opaque::none(),
    };
    bind(prim, std::slice::from_ref(x)).into_vec()
}

/// The factors `U`, singular values from the largest, and `Vᴴ` of a matrix; square factors when `full_matrices`.
///
/// # Panics
/// When elements are neither float nor complex.
#[track_caller]
pub fn svd(x: &Array, full_matrices: bool) -> (Array, Array, Array) {
    let _named = crate::trace::named("svd");
    let results = bind(svd_of(full_matrices, true), std::slice::from_ref(x));
    (results[1].clone(), results[0].clone(), results[2].clone())
}

/// The singular values of a matrix, from the largest.
///
/// # Panics
/// As [`svd`].
#[track_caller]
pub fn singular_values(x: &Array) -> Array {
    let _named = crate::trace::named("singular_values");
    bind_one(svd_of(false, false), std::slice::from_ref(x))
}

fn svd_of(full_matrices: bool, compute_uv: bool) -> prims::Svd {
    prims::Svd {
        algorithm: Opaque::none(),
        compute_uv,
        full_matrices,
        subset_by_index: None,
    }
}

/// The Schur form `T` and the vectors `Z` of a matrix `Z T Zᴴ`.
///
/// # Panics
/// When matrices are not square, or neither float nor complex.
#[track_caller]
pub fn schur(x: &Array) -> (Array, Array) {
    let _named = crate::trace::named("schur");
    let prim = prims::Schur {
        compute_schur_vectors: true,
        select_callable: Opaque::none(),
        sort_eig_vals: false,
    };
    pair(prim, std::slice::from_ref(x))
}

/// The Hessenberg form in packed form, reflectors below the first subdiagonal, and their scales.
///
/// # Panics
/// When matrices are not square, or neither float nor complex.
#[track_caller]
pub fn hessenberg(x: &Array) -> (Array, Array) {
    let _named = crate::trace::named("hessenberg");
    pair(prims::Hessenberg, std::slice::from_ref(x))
}

/// The tridiagonal form of a Hermitian matrix: packed with its reflectors, the diagonal, the off-diagonal, and the scales.
///
/// # Panics
/// As [`hessenberg`].
#[track_caller]
pub fn tridiagonal(x: &Array, lower: bool) -> (Array, Array, Array, Array) {
    let _named = crate::trace::named("tridiagonal");
    let results = bind(prims::Tridiagonal { lower }, std::slice::from_ref(x));
    let part = |index: usize| results[index].clone();
    (part(0), part(1), part(2), part(3))
}

/// `x` with `A x = b` for a tridiagonal matrix of the diagonals `dl` (first element unused), `d` and `du` (last element
/// unused).
///
/// # Panics
/// When shapes or element types do not fit.
#[track_caller]
pub fn tridiagonal_solve(dl: &Array, d: &Array, du: &Array, b: &Array) -> Array {
    solve_tridiagonal([dl, d, du, b], false)
}

/// As [`tridiagonal_solve`], finite for a singular matrix too: tiny pivots are moved away from zero, by about the distance of two numbers at the
/// largest entry of the upper factor.
///
/// ```
/// use jaxide::{Array, lax::linalg};
///
/// let d = Array::from(vec![1.0f32, 3.0]);
/// let (dl, du) = (Array::from(vec![0.0f32, 1.0]), Array::from(vec![3.0f32, 0.0]));
/// let b = Array::from_vec(&[2, 1], vec![1.0f32, 4.0]);
/// let x = linalg::tridiagonal_solve_perturbed(&dl, &d, &du, &b);
/// assert!(x.to_vec::<f32>().iter().all(|x| x.is_finite() && x.abs() > 1e5));
/// ```
///
/// # Panics
/// When shapes or element types do not fit.
#[track_caller]
pub fn tridiagonal_solve_perturbed(dl: &Array, d: &Array, du: &Array, b: &Array) -> Array {
    solve_tridiagonal([dl, d, du, b], true)
}

#[track_caller]
fn solve_tridiagonal(operands: [&Array; 4], perturb_singular: bool) -> Array {
    let _named = crate::trace::named("tridiagonal_solve");
    let prim = prims::TridiagonalSolve { perturb_singular };
    bind_one(prim, &operands.map(Array::clone))
}

/// How a triangular matrix is read; all false by default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Triangular {
    /// Solve `A x = b` instead of `x A = b`.
    pub left_side: bool,
    /// Read the lower triangle instead of the upper.
    pub lower: bool,
    /// Solve with the transpose.
    pub transpose_a: bool,
    /// Solve with the conjugate.
    pub conjugate_a: bool,
    /// Take the diagonal as ones.
    pub unit_diagonal: bool,
}

/// `x` with `A x = b` or `x A = b` for a triangular matrix; `b` may be a vector.
///
/// # Panics
/// When shapes or element types do not fit.
///
/// ```
/// use jaxide::{Array, lax::linalg::{self, Triangular}};
/// let a = Array::from([[2.0f32, 0.0], [1.0, 4.0]]);
/// let how = Triangular { left_side: true, lower: true, ..Triangular::default() };
/// let x = linalg::triangular_solve(&a, &Array::from([2.0f32, 9.0]), how);
/// assert_eq!(x.to_vec::<f32>(), [1.0, 2.0]);
/// ```
#[track_caller]
pub fn triangular_solve(a: &Array, b: &Array, how: Triangular) -> Array {
    let _named = crate::trace::named("triangular_solve");
    let prim = prims::TriangularSolve {
        conjugate_a: how.conjugate_a && a.dtype().is_complex(),
        left_side: how.left_side,
        lower: how.lower,
        transpose_a: how.transpose_a,
        unit_diagonal: how.unit_diagonal,
    };
    if b.ndim() + 1 != a.ndim() {
        return bind_one(prim, &[a.clone(), b.clone()]);
    }
    let axis = if how.left_side {
        b.ndim()
    } else {
        b.ndim() - 1
    };
    let x = bind_one(prim, &[a.clone(), lax::expand_dims(b, &[axis])]);
    lax::squeeze(&x, &[axis])
}

/// `alpha A Aᵀ + beta C` for `a: [n, k]` and a symmetric `c: [n, n]`.
///
/// # Panics
/// When shapes do not fit, or elements are not real.
#[track_caller]
pub fn symmetric_product(a: &Array, c: &Array, alpha: f64, beta: f64) -> Array {
    let _named = crate::trace::named("symmetric_product");
    bind_one(
        prims::SymmetricProduct {
            alpha: prims::RealNumber(alpha),
            beta: prims::RealNumber(beta),
        },
        &[a.clone(), c.clone()],
    )
}
