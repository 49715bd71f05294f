//! Factorisations.

use jaxide_core::prims::{self, GatherDimensionNumbers, GatherScatterMode, Opaque};
use jaxide_core::{DType, Dims, Error, Scalar};

use super::super::parts::{
    adjoint, check_square, from_front, inexact, refuse, transposed, vectorized,
};
use crate::array::{Array, as_dtype};
use crate::lax;
use crate::numpy::where_;
use crate::options::options;
use crate::trace::library::library_call;
use crate::trace::{bind_one, library, raise};

options! {
    /// What [`cholesky`] takes beside the matrix.
    pub struct Cholesky {
        /// Whether the factor is the upper one.
        upper: bool = false;
        /// Whether the mean of the matrix and its conjugate transpose is taken first; else the lower triangle is read alone.
        symmetrize_input: bool = true;
    }
}

/// The lower factor `L` of a Hermitian positive definite matrix `L Lᴴ`, or the upper one `Lᴴ`; NaN where there is none.
///
/// # Panics
/// When matrices are not square.
///
/// ```
/// use jaxide::{Array, numpy::linalg};
/// let l = linalg::cholesky(&Array::from([[4.0f32, 2.0], [2.0, 5.0]]), ());
/// assert_eq!(l.to_vec::<f32>(), [2.0, 0.0, 1.0, 2.0]);
/// ```
#[track_caller]
pub fn cholesky(a: &Array, options: impl Into<Cholesky>) -> Array {
    let _named = crate::trace::named("cholesky");
    let Cholesky {
        upper,
        symmetrize_input,
    } = options.into();
    check_square("cholesky", a);
    library(
        "cholesky",
        &format!("{upper} {symmetrize_input}"),
        [a],
        |[a]| {
            let [a] = inexact("cholesky", [a]);
            let lower = lax::linalg::cholesky(&a, symmetrize_input);
            if upper { adjoint(&lower) } else { lower }
        },
    )
}

/// What [`qr`] gives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum QrMode {
    /// As many columns of `Q` as the matrix has, or has rows if those are fewer.
    #[default]
    Reduced,
    /// A square `Q`.
    Complete,
    /// The transpose of the packed reflectors, and their scales.
    Raw,
}

options! {
    /// What [`qr`] takes beside the matrix: a mode alone is one too.
    pub struct Qr {
        /// What it gives.
        mode: QrMode = QrMode::Reduced, |mode: impl Into<QrMode>| mode.into();
    }
}

impl From<QrMode> for Qr {
    fn from(mode: QrMode) -> Self {
        Qr::new().mode(mode)
    }
}

impl From<&str> for QrMode {
    /// # Panics
    /// When there is no such mode.
    #[track_caller]
    fn from(mode: &str) -> Self {
        match mode {
            "reduced" | "full" => QrMode::Reduced,
            "complete" => QrMode::Complete,
            "raw" => QrMode::Raw,
            _ => raise(
                Error::parameter(format!(
                    "there is no mode `{mode}`: `reduced`, `complete` and `raw` are"
                ))
                .in_operation("qr"),
            ),
        }
    }
}

#[track_caller]
fn check_matrix(operation: &str, a: &Array) {
    if a.ndim() < 2 {
        refuse(operation, "a matrix is needed", &[a]);
    }
}

/// The factors `Q`, whose columns are orthonormal, and `R`, which is upper triangular, of a matrix `Q R`.
///
/// [`qr_r`] gives `R` alone.
///
/// # Panics
/// When there are less than two axes.
///
/// ```
/// use jaxide::{Array, DType, numpy::linalg};
/// let a = Array::ones([3, 2], DType::F32);
/// let (q, r) = linalg::qr(&a, ());
/// assert_eq!((q.shape(), r.shape()), (&[3, 2][..], &[2, 2][..]));
/// let (q, _) = linalg::qr(&a, linalg::QrMode::Complete);
/// assert_eq!(q.shape(), [3, 3]);
/// ```
#[track_caller]
pub fn qr(a: &Array, options: impl Into<Qr>) -> (Array, Array) {
    let _named = crate::trace::named("qr");
    let mode = options.into().mode;
    check_matrix("qr", a);
    let results = library_call("qr", &format!("{mode:?}"), std::slice::from_ref(a), |own| {
        let [a] = inexact("qr", [&own[0]]);
        let (first, second) = match mode {
            QrMode::Raw => {
                let (packed, scales) = lax::linalg::geqrf(&a);
                (transposed(&packed), scales)
            }
            QrMode::Reduced => lax::linalg::qr(&a, false),
            QrMode::Complete => lax::linalg::qr(&a, true),
        };
        vec![first, second]
    });
    (results[0].clone(), results[1].clone())
}

/// The upper triangular factor alone: [`qr`] with the mode `"r"` of NumPy.
///
/// # Panics
/// When there are less than two axes.
#[track_caller]
pub fn qr_r(a: &Array) -> Array {
    let _named = crate::trace::named("qr_r");
    check_matrix("qr", a);
    library("qr", "r", [a], |[a]| {
        let [a] = inexact("qr", [a]);
        lax::linalg::qr(&a, false).1
    })
}

options! {
    /// What [`svd`] and [`singular_values`] take beside the matrix.
    pub struct Svd {
        /// Whether `U` and `Vᴴ` are square.
        full_matrices: bool = true;
        /// Whether the matrix is Hermitian, so that its eigenvectors serve.
        hermitian: bool = false;
    }
}

/// One equation for the singular values.
#[track_caller]
fn values(a: &Array, full_matrices: bool) -> Array {
    let prim = prims::Svd {
        algorithm: Opaque::none(),
        compute_uv: false,
        full_matrices,
        subset_by_index: None,
    };
    bind_one(prim, std::slice::from_ref(a))
}

/// The factors `U`, singular values from the largest, and `Vᴴ` of a matrix. [`singular_values`] gives those alone.
///
/// # Panics
/// When there are less than two axes.
///
/// ```
/// use jaxide::{Array, DType, numpy::linalg};
/// let a = Array::ones([3, 2], DType::F32);
/// let (u, s, vh) = linalg::svd(&a, ());
/// assert_eq!((u.shape(), s.shape(), vh.shape()), (&[3, 3][..], &[2][..], &[2, 2][..]));
/// let (u, _, _) = linalg::svd(&a, linalg::Svd::new().full_matrices(false));
/// assert_eq!(u.shape(), [3, 2]);
/// ```
#[track_caller]
pub fn svd(a: &Array, options: impl Into<Svd>) -> (Array, Array, Array) {
    let _named = crate::trace::named("svd");
    let Svd {
        full_matrices,
        hermitian,
    } = options.into();
    check_matrix("svd", a);
    let name = format!("vectors {full_matrices} {hermitian}");
    let results = library_call("svd", &name, std::slice::from_ref(a), |own| {
        let [a] = inexact("svd", [&own[0]]);
        let (u, s, vh) = if hermitian {
            hermitian_svd(&a)
        } else {
            lax::linalg::svd(&a, full_matrices)
        };
        vec![u, s, vh]
    });
    (results[0].clone(), results[1].clone(), results[2].clone())
}

#[track_caller]
fn hermitian_svd(a: &Array) -> (Array, Array, Array) {
    check_square("svd", a);
    let (vectors, eigenvalues) = lax::linalg::eigh(a, true, true);
    let s = lax::abs(&eigenvalues);
    let axis = s.ndim() - 1;
    let sign = where_(&lax::lt(&eigenvalues, &Array::from(0)), -1, 1);
    let order = lax::iota(DType::U32, s.shape(), axis);
    let sorted = lax::sort(&[s, order, sign], axis, 1);
    let [s, order, sign] = [0, 1, 2].map(|at: usize| lax::rev(&sorted[at], &[axis]));
    let row = |x: &Array| lax::expand_dims(x, &[axis]);
    let u = columns_in_order(&vectors, &row(&order));
    let sign = as_dtype(&row(&sign), u.dtype(), false);
    let vh = adjoint(&(&u * sign));
    (u, s, vh)
}

/// The columns of matrices in another order, each matrix in its own.
#[track_caller]
fn columns_in_order(x: &Array, order: &Array) -> Array {
    library("take_along_axis", "columns", [x, order], |[x, order]| {
        let order = as_dtype(order, DType::I32, false);
        let one = |own: &[Array]| {
            let row = from_front(&own[1], own[0].shape()[1]);
            vec![taken(&own[0], &row)]
        };
        vectorized("svd", &[2, 2], &[x.clone(), order], &one)[0].clone()
    })
}

/// The columns of a matrix at indices, NaN where there are none.
#[track_caller]
fn taken(x: &Array, indices: &Array) -> Array {
    let numbers = GatherDimensionNumbers {
        offset_dims: Dims::from_slice(&[0]),
        collapsed_slice_dims: Dims::from_slice(&[1]),
        start_index_map: Dims::from_slice(&[1]),
        ..Default::default()
    };
    let indices = lax::reshape(indices, &[indices.size(), 1]);
    let nan = Scalar::Float(f64::NAN);
    let mode = GatherScatterMode::FillOrDrop;
    lax::gather(x, &indices, numbers, &[x.shape()[0], 1], mode, Some(nan))
}

/// The singular values of a matrix, from the largest: [`svd`] without its vectors.
///
/// # Panics
/// When there are less than two axes.
#[track_caller]
pub fn singular_values(a: &Array, options: impl Into<Svd>) -> Array {
    let _named = crate::trace::named("singular_values");
    let Svd {
        full_matrices,
        hermitian,
    } = options.into();
    check_matrix("svd", a);
    library(
        "svd",
        &format!("values {full_matrices} {hermitian}"),
        [a],
        |[a]| {
            let [a] = inexact("svd", [a]);
            if !hermitian {
                return values(&a, full_matrices);
            }
            check_square("svd", &a);
            let (_, eigenvalues) = lax::linalg::eigh(&a, true, true);
            let s = lax::abs(&eigenvalues);
            let axis = s.ndim() - 1;
            lax::rev(&lax::sort(&[s], axis, 1)[0], &[axis])
        },
    )
}

/// The singular values of a matrix, from the largest.
///
/// # Panics
/// When there are less than two axes.
///
/// ```
/// use jaxide::{Array, numpy::linalg};
/// let a = Array::from([[3.0f32, 0.0], [0.0, 4.0]]);
/// assert_eq!(linalg::svdvals(&a).to_vec::<f32>(), [4.0, 3.0]);
/// ```
#[track_caller]
pub fn svdvals(x: &Array) -> Array {
    let _named = crate::trace::named("svdvals");
    singular_values(x, ())
}

/// Complex eigenvalues, and eigenvectors of length 1 as columns, of a matrix.
///
/// # Panics
/// When matrices are not square.
#[track_caller]
pub fn eig(a: &Array) -> (Array, Array) {
    let _named = crate::trace::named("eig");
    check_square("eig", a);
    let [a] = inexact("eig", [a]);
    let results = lax::linalg::eig(&a, false, true);
    (results[0].clone(), results[1].clone())
}

/// Complex eigenvalues of a matrix.
///
/// # Panics
/// When matrices are not square.
#[track_caller]
pub fn eigvals(a: &Array) -> Array {
    let _named = crate::trace::named("eigvals");
    check_square("eigvals", a);
    library("eigvals", "", [a], |[a]| {
        let [a] = inexact("eigvals", [a]);
        lax::linalg::eig(&a, false, false)[0].clone()
    })
}

options! {
    /// What [`eigh`] and [`eigvalsh`] take beside the matrix.
    pub struct Eigh {
        /// Which triangle is read: `'L'`, the lower, or `'U'`.
        uplo: char = 'L';
        /// Whether the mean of the matrix and its conjugate transpose is taken first.
        symmetrize_input: bool = true;
    }
}

impl From<char> for Eigh {
    fn from(uplo: char) -> Self {
        Eigh::new().uplo(uplo)
    }
}

/// Ascending eigenvalues, and eigenvectors as columns, of a Hermitian matrix.
///
/// # Panics
/// When matrices are not square, or the triangle is neither `'L'` nor `'U'`.
///
/// ```
/// use jaxide::{Array, numpy::linalg};
/// let (w, _) = linalg::eigh(&Array::from([[2.0f32, 0.0], [0.0, 1.0]]), ());
/// assert_eq!(w.to_vec::<f32>(), [1.0, 2.0]);
/// ```
#[track_caller]
pub fn eigh(a: &Array, options: impl Into<Eigh>) -> (Array, Array) {
    let _named = crate::trace::named("eigh");
    let Eigh {
        uplo,
        symmetrize_input,
    } = options.into();
    check_square("eigh", a);
    if !matches!(uplo, 'L' | 'U') {
        let what = format!("the triangle is `L` or `U`, not `{uplo}`");
        raise(Error::parameter(what).in_operation("eigh"));
    }
    let name = format!("{uplo} {symmetrize_input}");
    let results = library_call("eigh", &name, std::slice::from_ref(a), |own| {
        let [a] = inexact("eigh", [&own[0]]);
        let (v, w) = lax::linalg::eigh(&a, uplo == 'L', symmetrize_input);
        vec![w, v]
    });
    (results[0].clone(), results[1].clone())
}

/// Ascending eigenvalues of a Hermitian matrix.
///
/// # Panics
/// As [`eigh`].
#[track_caller]
pub fn eigvalsh(a: &Array, options: impl Into<Eigh>) -> Array {
    let _named = crate::trace::named("eigvalsh");
    let options = options.into();
    check_square("eigvalsh", a);
    let name = format!("{} {}", options.uplo, options.symmetrize_input);
    library("eigvalsh", &name, [a], |[a]| {
        let [a] = inexact("eigvalsh", [a]);
        eigh(&a, options).0
    })
}
