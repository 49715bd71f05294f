//! Factorisations.

use jaxide_core::{DType, Error};

use super::special::block;
use crate::array::{Array, as_dtype};
use crate::lax::{self, linalg::Triangular};
use crate::numpy::linalg::exact_matmul;
use crate::numpy::parts::{
    adjoint, check_square, column, complex_type, conj, inexact, range, real, refuse, transposed,
    vectorized,
};
use crate::numpy::{self};
use crate::options::{options, words};
use crate::trace::library::library_call;
use crate::trace::{library, raise};

#[track_caller]
fn check_matrix(operation: &str, a: &Array) {
    if a.ndim() < 2 {
        refuse(operation, "a matrix is needed", &[a]);
    }
}

fn pair(results: &[Array]) -> (Array, Array) {
    (results[0].clone(), results[1].clone())
}

fn triple(results: &[Array]) -> (Array, Array, Array) {
    (results[0].clone(), results[1].clone(), results[2].clone())
}

options! {
    /// Which triangle [`cholesky`] and [`cho_factor`] read and give: `true` alone, or `()`, are one too.
    pub struct Lower {
        /// Whether it is the lower one.
        lower: bool = false;
    }

    /// What [`svd`] takes beside the matrix.
    pub struct Svd {
        /// Whether `U` and `Vᴴ` are square.
        full_matrices: bool = true;
    }

    /// What [`eigh_generalized`] takes beside its matrices: a type alone is one too.
    pub struct GeneralizedEigh {
        /// Which triangle is read.
        lower: bool = true;
        /// Which problem: 1 is `A v = w B v`, 2 is `A B v = w v`, 3 is `B A v = w v`.
        kind: u8 = 1;
    }

    /// What [`schur`] takes beside the matrix: an output alone is one too.
    pub struct Schur {
        /// Of a real matrix, whether the form is real or complex.
        output: SchurOutput = SchurOutput::Real, |output: impl Into<SchurOutput>| output.into();
    }

    /// What [`qr`] and [`qr_pivoted`] take beside the matrix: a mode alone is one too.
    pub struct Qr {
        /// Which factors.
        mode: QrMode = QrMode::Full, |mode: impl Into<QrMode>| mode.into();
    }

    /// What [`qr_multiply`] and [`qr_multiply_pivoted`] take beside their operands: a side alone is one too.
    pub struct QrMultiply {
        /// On which side of `c` the factor stands.
        mode: QrSide = QrSide::Right, |mode: impl Into<QrSide>| mode.into();
        /// Whether it is conjugated.
        conjugate: bool = false;
    }

    /// What [`polar`] takes beside the matrix: a side alone is one too.
    pub struct Polar {
        /// On which side the Hermitian factor stands.
        side: QrSide = QrSide::Right, |side: impl Into<QrSide>| side.into();
    }
}

impl From<bool> for Lower {
    fn from(lower: bool) -> Self {
        Lower::new().lower(lower)
    }
}

impl From<u8> for GeneralizedEigh {
    fn from(kind: u8) -> Self {
        GeneralizedEigh::new().kind(kind)
    }
}

words! {
    "scipy::linalg";
    /// Which Schur form.
    SchurOutput "output" {
        /// Real, with blocks of two rows for pairs of complex eigenvalues.
        Real = "real";
        /// Complex and triangular.
        Complex = "complex";
    }
    /// Which factors [`qr`] gives.
    QrMode "mode" {
        /// A square `Q`.
        Full = "full";
        /// As many columns of `Q` as there are rows of `R`.
        Economic = "economic";
    }
    /// On which side something stands.
    QrSide "side" {
        /// Behind.
        Right = "right";
        /// In front.
        Left = "left";
    }
}

impl From<&str> for Schur {
    /// # Panics
    /// When there is no such output.
    #[track_caller]
    fn from(output: &str) -> Self {
        Schur::new().output(output)
    }
}

impl From<&str> for Qr {
    /// # Panics
    /// When there is no such mode.
    #[track_caller]
    fn from(mode: &str) -> Self {
        Qr::new().mode(mode)
    }
}

impl From<&str> for QrMultiply {
    /// # Panics
    /// When there is no such side.
    #[track_caller]
    fn from(mode: &str) -> Self {
        QrMultiply::new().mode(mode)
    }
}

impl From<&str> for Polar {
    /// # Panics
    /// When there is no such side.
    #[track_caller]
    fn from(side: &str) -> Self {
        Polar::new().side(side)
    }
}

/// The upper factor `U` of a Hermitian positive definite matrix `Uᴴ U`, of which the upper triangle is read; or both lower.
///
/// # Panics
/// When matrices are not square.
///
/// ```
/// use jaxide::{Array, scipy::linalg};
/// let u = linalg::cholesky(&Array::from([[4.0f32, 2.0], [2.0, 5.0]]), ());
/// assert_eq!(u.to_vec::<f32>(), [2.0, 1.0, 0.0, 2.0]);
/// ```
#[track_caller]
pub fn cholesky(a: &Array, options: impl Into<Lower>) -> Array {
    let _named = crate::trace::named("cholesky");
    let lower = options.into().lower;
    check_square("cholesky", a);
    library("_cholesky", &lower.to_string(), [a], |[a]| {
        let [a] = inexact("cholesky", [a]);
        if lower {
            lax::linalg::cholesky(&a, false)
        } else {
            adjoint(&lax::linalg::cholesky(&adjoint(&a), false))
        }
    })
}

/// What [`cho_solve`](super::cho_solve) takes: the factor, and whether it is the lower one.
///
/// # Panics
/// When matrices are not square.
#[track_caller]
pub fn cho_factor(a: &Array, options: impl Into<Lower>) -> (Array, bool) {
    let _named = crate::trace::named("cho_factor");
    let options = options.into();
    let lower = options.lower;
    (cholesky(a, options), lower)
}

/// The factors `U`, singular values from the largest, and `Vᴴ` of a matrix.
///
/// # Panics
/// When there are less than two axes.
#[track_caller]
pub fn svd(a: &Array, options: impl Into<Svd>) -> (Array, Array, Array) {
    let _named = crate::trace::named("svd");
    let full = options.into().full_matrices;
    check_matrix("svd", a);
    let results = library_call("_svd", &full.to_string(), std::slice::from_ref(a), |own| {
        let [a] = inexact("svd", [&own[0]]);
        let (u, s, vh) = lax::linalg::svd(&a, full);
        vec![u, s, vh]
    });
    triple(&results)
}

/// Ascending eigenvalues, and eigenvectors as columns, of a Hermitian matrix.
///
/// # Panics
/// When matrices are not square.
#[track_caller]
pub fn eigh(a: &Array, options: impl Into<Lower>) -> (Array, Array) {
    let _named = crate::trace::named("eigh");
    let lower = options.into().lower;
    check_square("eigh", a);
    let results = library_call(
        "_eigh",
        &lower.to_string(),
        std::slice::from_ref(a),
        |own| {
            let [a] = inexact("eigh", [&own[0]]);
            let (v, w) = lax::linalg::eigh(&a, lower, true);
            vec![w, v]
        },
    );
    pair(&results)
}

/// Ascending eigenvalues of a Hermitian matrix: [`eigh`] with `eigvals_only`.
///
/// # Panics
/// When matrices are not square.
#[track_caller]
pub fn eigvalsh(a: &Array, options: impl Into<Lower>) -> Array {
    let _named = crate::trace::named("eigvalsh");
    let lower = options.into().lower;
    check_square("eigh", a);
    library("_eigh", &format!("values {lower}"), [a], |[a]| {
        let [a] = inexact("eigh", [a]);
        lax::linalg::eigh(&a, lower, true).1
    })
}

/// Ascending eigenvalues, and eigenvectors as columns, of a Hermitian matrix beside a positive definite one.
///
/// # Panics
/// When matrices are not square, axes before do not broadcast, or there is no such problem.
#[track_caller]
pub fn eigh_generalized(
    a: &Array,
    b: &Array,
    options: impl Into<GeneralizedEigh>,
) -> (Array, Array) {
    let _named = crate::trace::named("eigh_generalized");
    let GeneralizedEigh { lower, kind } = options.into();
    check_square("eigh", a);
    check_square("eigh", b);
    if !matches!(kind, 1..=3) {
        raise(
            Error::parameter(format!("the problem is 1, 2 or 3, not {kind}")).in_operation("eigh"),
        );
    }
    let operands = [a.clone(), b.clone()];
    let results = library_call("_eigh", &format!("{lower} {kind}"), &operands, |own| {
        let own = inexact("eigh", [&own[0], &own[1]]);
        vectorized("eigh", &[2, 2], &own, &|own| {
            let l = lax::linalg::cholesky(&own[1], true);
            let a = (&own[0] + adjoint(&own[0])) / 2;
            let solve = |x: &Array, left: bool, adjoint: bool| {
                let how = Triangular {
                    left_side: left,
                    lower: true,
                    transpose_a: adjoint,
                    conjugate_a: adjoint,
                    unit_diagonal: false,
                };
                lax::linalg::triangular_solve(&l, x, how)
            };
            let c = if kind == 1 {
                solve(&solve(&a, true, false), false, true)
            } else {
                exact_matmul(&exact_matmul(&adjoint(&l), &a), &l)
            };
            let (v, w) = lax::linalg::eigh(&c, lower, true);
            let v = if kind == 3 {
                exact_matmul(&l, &v)
            } else {
                solve(&v, true, true)
            };
            vec![w, v]
        })
    });
    pair(&results)
}

/// The Schur form `T` and the vectors `Z` of a matrix `Z T Zᴴ`.
///
/// # Panics
/// When matrices are not square.
#[track_caller]
pub fn schur(a: &Array, options: impl Into<Schur>) -> (Array, Array) {
    let _named = crate::trace::named("schur");
    let output = options.into().output;
    check_square("schur", a);
    if !a.dtype().is_inexact() && output == SchurOutput::Real {
        refuse("schur", "floats are needed", &[a]);
    }
    let results = library_call(
        "_schur",
        &format!("{output:?}"),
        std::slice::from_ref(a),
        |own| {
            let a = match output {
                SchurOutput::Real => own[0].clone(),
                SchurOutput::Complex => as_dtype(&own[0], complex_type(own[0].dtype()), false),
            };
            let (t, z) = lax::linalg::schur(&a);
            vec![t, z]
        },
    );
    pair(&results)
}

/// The factors `L` and `U` in one matrix (ones on the diagonal of `L`), and the swaps of rows as `i32`.
///
/// # Panics
/// When there are less than two axes.
#[track_caller]
pub fn lu_factor(a: &Array) -> (Array, Array) {
    let _named = crate::trace::named("lu_factor");
    check_matrix("lu_factor", a);
    let results = library_call("lu_factor", "", std::slice::from_ref(a), |own| {
        let [a] = inexact("lu_factor", [&own[0]]);
        let (lu, pivots, _) = lax::linalg::lu(&a);
        vec![lu, pivots]
    });
    pair(&results)
}

/// The triangle below or above a diagonal, as a `jit` of that name.
#[track_caller]
fn triangle(x: &Array, upper: bool, k: i64) -> Array {
    library(
        if upper { "triu" } else { "tril" },
        &k.to_string(),
        [x],
        |[x]| {
            let rank = x.ndim();
            let shape = &x.shape()[rank - 2..];
            let offset = if upper { k - 1 } else { k };
            let row = lax::add(
                &lax::iota(DType::I32, shape, 0),
                &Array::from(offset as i32),
            );
            let below = lax::ge(&row, &lax::iota(DType::I32, shape, 1));
            let below = lax::broadcast_in_dim(&below, x.shape(), [rank - 2, rank - 1]);
            let zeros = lax::full(x.shape(), 0, x.dtype());
            if upper {
                lax::select(&below, &zeros, x)
            } else {
                lax::select(&below, x, &zeros)
            }
        },
    )
}

/// The factors of one matrix: the permutation, `L` and `U`; or the first two multiplied.
#[track_caller]
fn lu_of(a: &Array, permuted: bool) -> Vec<Array> {
    library_call(
        "_lu",
        &permuted.to_string(),
        std::slice::from_ref(a),
        |own| {
            let [a] = inexact("lu", [&own[0]]);
            let (lu, _, permutation) = lax::linalg::lu(&a);
            let (rows, columns) = (a.shape()[0], a.shape()[1]);
            let least = rows.min(columns);
            let across = lax::expand_dims(&permutation, &[0]);
            let down = column(&lax::iota(DType::I32, &[rows], 0));
            let p = as_dtype(&lax::copy(&numpy::equal(&across, &down)), a.dtype(), false);
            let below = range(&triangle(&lu, false, -1), 1, 0, least);
            let l = below + numpy::eye(rows, numpy::Eye::new().m(least).dtype(a.dtype()));
            let u = range(&triangle(&lu, true, 0), 0, 0, least);
            if permuted {
                vec![exact_matmul(&p, &l), u]
            } else {
                vec![real(&p), l, u]
            }
        },
    )
}

#[track_caller]
fn lu_by(a: &Array, permuted: bool) -> Vec<Array> {
    check_matrix("lu", a);
    library_call(
        "lu",
        &permuted.to_string(),
        std::slice::from_ref(a),
        |own| vectorized("lu", &[2], own, &|own| lu_of(&own[0], permuted)),
    )
}

/// The factors of a matrix `P L U`: a permutation, a lower triangle with ones on its diagonal, an upper triangle.
///
/// # Panics
/// When there are less than two axes.
///
/// ```
/// use jaxide::{Array, scipy::linalg};
/// let (p, l, u) = linalg::lu(&Array::from([[0.0f32, 2.0], [1.0, 3.0]]));
/// assert_eq!(p.to_vec::<f32>(), [0.0, 1.0, 1.0, 0.0]);
/// assert_eq!(l.to_vec::<f32>(), [1.0, 0.0, 0.0, 1.0]);
/// assert_eq!(u.to_vec::<f32>(), [1.0, 3.0, 0.0, 2.0]);
/// ```
#[track_caller]
pub fn lu(a: &Array) -> (Array, Array, Array) {
    let _named = crate::trace::named("lu");
    triple(&lu_by(a, false))
}

/// The factors `P L` and `U`: [`lu`] with `permute_l`.
///
/// # Panics
/// When there are less than two axes.
#[track_caller]
pub fn lu_permuted(a: &Array) -> (Array, Array) {
    let _named = crate::trace::named("lu_permuted");
    pair(&lu_by(a, true))
}

/// The factors `Q`, whose columns are orthonormal, and `R`, which is upper triangular, of a matrix `Q R`.
///
/// # Panics
/// When there are less than two axes.
#[track_caller]
pub fn qr(a: &Array, options: impl Into<Qr>) -> (Array, Array) {
    let _named = crate::trace::named("qr");
    let full = options.into().mode == QrMode::Full;
    check_matrix("qr", a);
    let results = library_call("_qr", &full.to_string(), std::slice::from_ref(a), |own| {
        let [a] = inexact("qr", [&own[0]]);
        let (q, r) = lax::linalg::qr(&a, full);
        vec![q, r]
    });
    pair(&results)
}

/// As [`qr`], of the matrix with its columns in the order of the third result.
///
/// # Panics
/// When there are less than two axes.
#[track_caller]
pub fn qr_pivoted(a: &Array, options: impl Into<Qr>) -> (Array, Array, Array) {
    let _named = crate::trace::named("qr_pivoted");
    let full = options.into().mode == QrMode::Full;
    check_matrix("qr", a);
    let results = library_call(
        "_qr",
        &format!("pivoted {full}"),
        std::slice::from_ref(a),
        |own| {
            let [a] = inexact("qr", [&own[0]]);
            let (q, r, p) = lax::linalg::qr_pivoted(&a, full);
            vec![q, r, p]
        },
    );
    triple(&results)
}

#[track_caller]
fn multiplied(a: &Array, c: &Array, options: &QrMultiply, pivoting: bool) -> Vec<Array> {
    const OPERATION: &str = "qr_multiply";
    check_matrix(OPERATION, a);
    let [a, c] = inexact(OPERATION, [a, c]);
    let left = options.mode == QrSide::Left;
    let vector = c.ndim() == 1;
    let c = match (vector, left) {
        (false, _) => c,
        (true, true) => column(&c),
        (true, false) => lax::expand_dims(&c, &[0]),
    };
    let &[.., rows, columns] = a.shape() else {
        refuse(OPERATION, "a matrix is needed", &[&a]);
    };
    let least = rows.min(columns);
    let fits = match c.shape() {
        [.., own, _] if left => *own == least,
        [.., own] => c.ndim() > 1 && *own == rows,
        [] => false,
    };
    if !fits {
        refuse(
            OPERATION,
            "the factor does not fit the matrix beside it",
            &[&a, &c],
        );
    }
    let outer = numpy::broadcast_shapes(
        OPERATION,
        &[&a.shape()[..a.ndim() - 2], &c.shape()[..c.ndim() - 2]],
    );
    let broadcast =
        |x: &Array| numpy::broadcast_to(x, [&outer[..], &x.shape()[x.ndim() - 2..]].concat());
    let (a, mut c) = (broadcast(&a), broadcast(&c));
    let mut permutation = None;
    let (r, taus) = if pivoting {
        let free = lax::full([&outer[..], &[columns]].concat(), 0, DType::I32);
        let (r, p, taus) = lax::linalg::geqp3(&a, &free);
        permutation = Some(p - 1);
        (r, taus)
    } else {
        lax::linalg::geqrf(&a)
    };
    let rank = c.ndim();
    if rows > columns && left {
        let mut shape = c.shape().to_vec();
        shape[rank - 2] = rows - least;
        let zeros = lax::full(&shape, 0, c.dtype());
        c = lax::concatenate(&[c, zeros], rank - 2);
    }
    if options.conjugate {
        c = transposed(&c);
    }
    let mut product =
        lax::linalg::ormqr(&r, &taus, &c, left != options.conjugate, options.conjugate);
    if options.conjugate {
        product = transposed(&product);
    }
    if !left {
        product = range(&product, rank - 1, 0, least);
    }
    if vector {
        product = lax::reshape(&product, [product.size()]);
    }
    let r = triangle(&range(&r, rank - 2, 0, least), true, 0);
    [Some(product), Some(r), permutation]
        .into_iter()
        .flatten()
        .collect()
}

/// The product of `c` with the factor `Q` of a matrix, which is never made, and the factor `R`. `c` may be a vector.
///
/// # Panics
/// When shapes do not fit.
#[track_caller]
pub fn qr_multiply(a: &Array, c: &Array, options: impl Into<QrMultiply>) -> (Array, Array) {
    let _named = crate::trace::named("qr_multiply");
    pair(&multiplied(a, c, &options.into(), false))
}

/// As [`qr_multiply`], of the matrix with its columns in the order of the third result.
///
/// # Panics
/// When shapes do not fit.
#[track_caller]
pub fn qr_multiply_pivoted(
    a: &Array,
    c: &Array,
    options: impl Into<QrMultiply>,
) -> (Array, Array, Array) {
    let _named = crate::trace::named("qr_multiply_pivoted");
    triple(&multiplied(a, c, &options.into(), true))
}

#[track_caller]
fn hessenberg_by(a: &Array, with_q: bool) -> Vec<Array> {
    check_square("hessenberg", a);
    library_call(
        "hessenberg",
        &with_q.to_string(),
        std::slice::from_ref(a),
        |own| {
            let a = &own[0];
            let rank = a.ndim();
            let n = a.shape()[rank - 1];
            if n == 0 {
                let zeros = lax::full(a.shape(), 0, a.dtype());
                return if with_q {
                    vec![zeros.clone(), zeros]
                } else {
                    vec![zeros]
                };
            }
            let (packed, taus) = lax::linalg::hessenberg(a);
            let h = triangle(&packed, true, -1);
            if !with_q {
                return vec![h];
            }
            let below = {
                let mut start = vec![0; rank];
                let mut limit = a.shape().to_vec();
                (start[rank - 2], limit[rank - 1]) = (1, n - 1);
                lax::slice(&packed, &start, &limit, None)
            };
            let q = lax::linalg::householder_product(&below, &taus);
            let outer = &a.shape()[..rank - 2];
            let full = |rows: usize, columns: usize, value: i32| {
                lax::full([outer, &[rows, columns]].concat(), value, packed.dtype())
            };
            let blocks = [full(1, 1, 1), full(1, n - 1, 0), full(n - 1, 1, 0), q];
            vec![h, block(&blocks)]
        },
    )
}

/// The Hessenberg form of a matrix: zero below the first diagonal under the main one.
///
/// # Panics
/// When matrices are not square.
#[track_caller]
pub fn hessenberg(a: &Array) -> Array {
    let _named = crate::trace::named("hessenberg");
    hessenberg_by(a, false)[0].clone()
}

/// The Hessenberg form `H` and the unitary `Q` of a matrix `Q H Qᴴ`: [`hessenberg`] with `calc_q`.
///
/// # Panics
/// When matrices are not square.
#[track_caller]
pub fn hessenberg_with_q(a: &Array) -> (Array, Array) {
    let _named = crate::trace::named("hessenberg_with_q");
    pair(&hessenberg_by(a, true))
}

/// The unitary factor `U` and the positive semidefinite `P` of a matrix `U P`, or `P U`, by singular values.
///
/// # Panics
/// When there are less than two axes.
///
/// ```
/// use jaxide::{Array, scipy::linalg};
/// let (u, p) = linalg::polar(&Array::from([[0.0f32, 2.0], [1.0, 0.0]]), ());
/// assert_eq!(u.abs().to_vec::<f32>(), [0.0, 1.0, 1.0, 0.0]);
/// assert_eq!(p.shape(), [2, 2]);
/// ```
#[track_caller]
pub fn polar(a: &Array, options: impl Into<Polar>) -> (Array, Array) {
    let _named = crate::trace::named("polar");
    let side = options.into().side;
    check_matrix("polar", a);
    let results = library_call(
        "polar",
        &format!("{side:?}"),
        std::slice::from_ref(a),
        |own| {
            vectorized("polar", &[2], own, &|own| {
                library_call("_polar_2d", &format!("{side:?}"), own, |own| {
                    let [a] = inexact("polar", [&own[0]]);
                    let (u, s, vh) = lax::linalg::svd(&a, false);
                    let s = as_dtype(&s, u.dtype(), false);
                    let unitary = exact_matmul(&u, &vh);
                    let scaled = |x: &Array| x * lax::expand_dims(&s, &[0]);
                    let hermitian = match side {
                        QrSide::Right => exact_matmul(&scaled(&conj(&transposed(&vh))), &vh),
                        QrSide::Left => exact_matmul(&scaled(&u), &conj(&transposed(&u))),
                    };
                    vec![unitary, hermitian]
                })
            })
        },
    );
    pair(&results)
}
