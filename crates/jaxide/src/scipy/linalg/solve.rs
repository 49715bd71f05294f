//! Solutions of linear equations.

use jaxide_core::{DType, Error};

use super::factor::{Schur, SchurOutput, cho_factor, schur};
use super::factored::{CholeskyFactor, LuFactor};
use crate::api::vmap_list;
use crate::array::{Array, as_dtype};
use crate::control::{cond, scan};
use crate::lax::{self, linalg::Triangular};
use crate::numpy::linalg::{self, matrix_vector};
use crate::numpy::parts::{adjoint, check_square, column, inexact, pick, refuse, sum, vectorized};
use crate::numpy::where_;
use crate::numpy::{self, matmul};
use crate::options::options;
use crate::trace::library::library_call;
use crate::trace::{library, raise};
use crate::{TransposeSolve, custom_linear_solve};

pub use crate::numpy::linalg::{det, inv};

/// The axes of a right-hand side that belong to one system: a vector, or a matrix.
#[track_caller]
fn right_hand_side(operation: &str, a: &Array, b: &Array) -> usize {
    check_square(operation, a);
    let last = |x: &Array| x.shape().last().copied();
    let vectors = b.ndim() == 1 || (a.ndim() == b.ndim() + 1 && last(a) == last(b));
    let core = if vectors { 1 } else { 2 };
    if b.ndim() < core || b.shape()[b.ndim() - core] != a.shape()[a.ndim() - 1] {
        refuse(
            operation,
            "the right-hand side must have as many rows as the matrix",
            &[a, b],
        );
    }
    core
}

/// The solution of `A x = b` from the factor of `A` that [`cho_factor`](super::cho_factor()) gives, and whether it is the lower one.
///
/// # Panics
/// When shapes do not fit.
///
/// ```
/// use jaxide::{Array, scipy::linalg};
/// let factor = linalg::cho_factor(&Array::from([[4.0f32, 0.0], [0.0, 1.0]]), ());
/// let x = linalg::cho_solve(&factor, &Array::from([8.0f32, 3.0]));
/// assert_eq!(x.to_vec::<f32>(), [2.0, 3.0]);
/// ```
#[track_caller]
pub fn cho_solve(c_and_lower: impl CholeskyFactor, b: &Array) -> Array {
    let _named = crate::trace::named("cho_solve");
    let (c, lower) = c_and_lower.parts();
    let core = right_hand_side("cho_solve", c, b);
    library("_cho_solve", &lower.to_string(), [c, b], |[c, b]| {
        let [c, b] = inexact("cho_solve", [c, b]);
        let solve = |b: &Array, adjoint: bool| {
            let how = Triangular {
                left_side: true,
                lower,
                transpose_a: adjoint,
                conjugate_a: adjoint,
                unit_diagonal: false,
            };
            let one = |own: &[Array]| vec![triangular(&own[0], &own[1], how)];
            vectorized("cho_solve", &[2, core], &[c.clone(), b.clone()], &one)[0].clone()
        };
        solve(&solve(&b, !lower), lower)
    })
}

/// The solution for a triangle and a vector or matrix.
#[track_caller]
fn triangular(a: &Array, b: &Array, how: Triangular) -> Array {
    if b.ndim() > 1 {
        return lax::linalg::triangular_solve(a, b, how);
    }
    let x = lax::linalg::triangular_solve(a, &column(b), how);
    pick(&x, &[(1, 0)])
}

/// Whether a matrix is taken as it is, transposed, or transposed and conjugated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Trans {
    /// As it is: 0, or `"N"`.
    #[default]
    None,
    /// Transposed: 1, or `"T"`.
    Transposed,
    /// Transposed and conjugated: 2, or `"C"`.
    Adjoint,
}

impl From<i32> for Trans {
    /// # Panics
    /// When it is none of the three.
    #[track_caller]
    fn from(trans: i32) -> Self {
        match trans {
            0 => Trans::None,
            1 => Trans::Transposed,
            2 => Trans::Adjoint,
            _ => raise(
                Error::parameter(format!("`trans` is 0, 1 or 2, not {trans}"))
                    .in_operation("solve"),
            ),
        }
    }
}

impl From<&str> for Trans {
    /// # Panics
    /// When it is none of the three.
    #[track_caller]
    fn from(trans: &str) -> Self {
        match trans {
            "N" => Trans::None,
            "T" => Trans::Transposed,
            "C" => Trans::Adjoint,
            _ => raise(
                Error::parameter(format!("`trans` is `N`, `T` or `C`, not `{trans}`"))
                    .in_operation("solve"),
            ),
        }
    }
}

impl From<()> for Trans {
    fn from((): ()) -> Self {
        Trans::None
    }
}

/// The solution of `A x = b` from what [`lu_factor`](super::lu_factor) gives; `trans` is `()` for the matrix as it is.
///
/// # Panics
/// When shapes do not fit.
///
/// ```
/// use jaxide::{Array, scipy::linalg};
/// let factors = linalg::lu_factor(&Array::from([[0.0f32, 2.0], [1.0, 0.0]]));
/// let x = linalg::lu_solve(&factors, &Array::from([2.0f32, 3.0]), ());
/// assert_eq!(x.to_vec::<f32>(), [3.0, 1.0]);
/// ```
#[track_caller]
pub fn lu_solve(lu_and_piv: impl LuFactor, b: &Array, trans: impl Into<Trans>) -> Array {
    let _named = crate::trace::named("lu_solve");
    let (lu, pivots) = lu_and_piv.parts();
    let trans = trans.into() as u8;
    let core = right_hand_side("lu_solve", lu, b);
    library(
        "lu_solve",
        &trans.to_string(),
        [lu, pivots, b],
        |[lu, pivots, b]| {
            let [lu, b] = inexact("lu_solve", [lu, b]);
            let rows = lu.shape()[lu.ndim() - 1];
            let permutation = lax::linalg::lu_pivots_to_permutation(pivots, rows);
            let one = |own: &[Array]| vec![linalg::lu_solve(&own[0], &own[1], &own[2], trans)];
            vectorized("lu_solve", &[2, 1, core], &[lu, permutation, b], &one)[0].clone()
        },
    )
}

/// What is known of a matrix.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Assume {
    /// Nothing; or that it is symmetric or Hermitian, of which no use is made.
    #[default]
    General,
    /// That it is positive definite.
    Positive,
}

impl From<&str> for Assume {
    /// # Panics
    /// When there is no such word.
    #[track_caller]
    fn from(assume: &str) -> Self {
        match assume {
            "gen" | "sym" | "her" => Assume::General,
            "pos" => Assume::Positive,
            _ => raise(
                Error::parameter(format!(
                    "`assume_a` is `gen`, `sym`, `her` or `pos`, not `{assume}`"
                ))
                .in_operation("solve"),
            ),
        }
    }
}

options! {
    /// What [`solve`] takes beside its operands: what is known of the matrix is one too.
    pub struct Solve {
        /// Of a positive definite matrix, whether the lower triangle is read.
        lower: bool = false;
        /// What is known of the matrix.
        assume_a: Assume = Assume::General, |assume: impl Into<Assume>| assume.into();
    }

    /// What [`solve_triangular`] takes beside its operands.
    pub struct SolveTriangular {
        /// Whether the matrix is taken as it is.
        trans: Trans = Trans::None, |trans: impl Into<Trans>| trans.into();
        /// Whether it is the lower triangle.
        lower: bool = false;
        /// Whether its diagonal is ones, whatever it holds.
        unit_diagonal: bool = false;
    }

    /// What [`solve_sylvester`] takes beside its operands: a method alone is one too.
    pub struct SolveSylvester {
        /// How it is solved.
        method: SylvesterMethod = SylvesterMethod::Schur, |method: impl Into<SylvesterMethod>| method.into();
        /// Eigenvalues of the two matrices whose sum is smaller than this have no solution.
        tol: f64 = 1e-8;
    }
}

impl From<&str> for Solve {
    /// # Panics
    /// When there is no such word.
    #[track_caller]
    fn from(assume: &str) -> Self {
        Solve::new().assume_a(assume)
    }
}

impl From<&str> for SolveSylvester {
    /// # Panics
    /// When there is no such method.
    #[track_caller]
    fn from(method: &str) -> Self {
        SolveSylvester::new().method(method)
    }
}

/// The solution `x` of `A x = b`.
///
/// # Panics
/// When shapes do not fit.
///
/// ```
/// use jaxide::{Array, scipy::linalg};
/// let a = Array::from([[4.0f32, 0.0], [0.0, 1.0]]);
/// let x = linalg::solve(&a, &Array::from([8.0f32, 3.0]), "pos");
/// assert_eq!(x.to_vec::<f32>(), [2.0, 3.0]);
/// ```
#[track_caller]
pub fn solve(a: &Array, b: &Array, options: impl Into<Solve>) -> Array {
    let _named = crate::trace::named("solve");
    let Solve { lower, assume_a } = options.into();
    check_square("solve", a);
    let positive = assume_a == Assume::Positive;
    let rows = a.shape()[a.ndim() - 1];
    if positive
        && (!matches!(a.ndim().checked_sub(b.ndim()), Some(0 | 1))
            || b.shape()[a.ndim() - 2] != rows)
    {
        refuse(
            "solve",
            "the right-hand side must have as many rows as the matrix",
            &[a, b],
        );
    }
    library(
        "_solve",
        &format!("{lower} {assume_a:?}"),
        [a, b],
        |[a, b]| {
            if !positive {
                return linalg::solve(a, b);
            }
            let [a, b] = inexact("solve", [a, b]);
            let (factor, _) = cho_factor(&lax::stop_gradient(&a), lower);
            let rank = a.ndim();
            let one = |b: Array| {
                custom_linear_solve(
                    |x: Array| {
                        if rank == 2 {
                            matrix_vector(&a, &x)
                        } else {
                            numpy::matvec(&a, &x)
                        }
                    },
                    b,
                    |_, x| {
                        let x = cho_solve((&factor, lower), &column(&x));
                        lax::squeeze(&x, &[x.ndim() - 1])
                    },
                    TransposeSolve::Symmetric,
                )
            };
            if b.ndim() + 1 == rank {
                return one(b);
            }
            let columns = |own: &[Array]| vec![one(own[0].clone())];
            vmap_list(&columns, &[Some(rank - 1)], rank - 1, &[b])[0].clone()
        },
    )
}

/// The solution `x` of `A x = b` for a triangular matrix.
///
/// # Panics
/// When shapes do not fit.
///
/// ```
/// use jaxide::{Array, scipy::linalg::{self, SolveTriangular}};
/// let a = Array::from([[2.0f32, 0.0], [1.0, 4.0]]);
/// let x = linalg::solve_triangular(&a, &Array::from([2.0f32, 9.0]), SolveTriangular::new().lower(true));
/// assert_eq!(x.to_vec::<f32>(), [1.0, 2.0]);
/// ```
#[track_caller]
pub fn solve_triangular(a: &Array, b: &Array, options: impl Into<SolveTriangular>) -> Array {
    let _named = crate::trace::named("solve_triangular");
    let SolveTriangular {
        trans,
        lower,
        unit_diagonal,
    } = options.into();
    let core = right_hand_side("solve_triangular", a, b);
    let how = Triangular {
        left_side: true,
        lower,
        transpose_a: trans != Trans::None,
        conjugate_a: trans == Trans::Adjoint,
        unit_diagonal,
    };
    library(
        "_solve_triangular",
        &format!("{how:?}"),
        [a, b],
        |[a, b]| {
            let operands = inexact("solve_triangular", [a, b]);
            let one = |own: &[Array]| vec![triangular(&own[0], &own[1], how)];
            vectorized("solve_triangular", &[2, core], &operands, &one)[0].clone()
        },
    )
}

/// How [`solve_sylvester`] solves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SylvesterMethod {
    /// By Schur forms.
    Schur,
    /// By eigenvectors: faster, of matrices that have enough of them.
    Eigen,
}

impl From<&str> for SylvesterMethod {
    /// # Panics
    /// When there is no such method.
    #[track_caller]
    fn from(method: &str) -> Self {
        match method {
            "schur" => SylvesterMethod::Schur,
            "eigen" => SylvesterMethod::Eigen,
            _ => raise(
                Error::parameter(format!(
                    "there is no method `{method}`: `schur` and `eigen` are"
                ))
                .in_operation("solve_sylvester"),
            ),
        }
    }
}

/// The solution `X` of `A X + X B = C`; NaN where there is none.
///
/// # Panics
/// When shapes do not fit.
///
/// ```
/// use jaxide::{Array, scipy::linalg};
/// let one = Array::from([[1.0f32]]);
/// let x = linalg::solve_sylvester(&one, &one, &Array::from([[6.0f32]]), ());
/// assert_eq!(x.to_vec::<f32>(), [3.0]);
/// ```
#[track_caller]
pub fn solve_sylvester(
    a: &Array,
    b: &Array,
    c: &Array,
    options: impl Into<SolveSylvester>,
) -> Array {
    let _named = crate::trace::named("solve_sylvester");
    const OPERATION: &str = "solve_sylvester";
    let SolveSylvester { method, tol } = options.into();
    check_square(OPERATION, a);
    check_square(OPERATION, b);
    let sides = (a.shape()[a.ndim() - 1], b.shape()[b.ndim() - 1]);
    if !matches!(c.shape(), [.., rows, columns] if (*rows, *columns) == sides) {
        refuse(
            OPERATION,
            "the right-hand side must have the rows of the first and the columns of the second",
            &[a, b, c],
        );
    }
    let operands = [a.clone(), b.clone(), c.clone()];
    library_call(OPERATION, &format!("{method:?} {tol}"), &operands, |own| {
        let own = inexact(OPERATION, [&own[0], &own[1], &own[2]]);
        vectorized(OPERATION, &[2, 2, 2], &own, &|own| {
            library_call(
                "_solve_sylvester_2d",
                &format!("{method:?} {tol}"),
                own,
                |own| vec![sylvester(&own[0], &own[1], &own[2], method, tol)],
            )
        })
    })[0]
        .clone()
}

#[track_caller]
fn sylvester(a: &Array, b: &Array, c: &Array, method: SylvesterMethod, tol: f64) -> Array {
    let x = match method {
        SylvesterMethod::Schur => {
            let form = Schur::new().output(SchurOutput::Complex);
            let (r, u) = schur(a, form.clone());
            let (s, v) = schur(&adjoint(b), form);
            let f = matmul(&matmul(&adjoint(&u), &as_dtype(c, r.dtype(), false)), &v);
            let y = triangular_sylvester(&r, &adjoint(&s), &f);
            matmul(&matmul(&u, &y), &adjoint(&v))
        }
        SylvesterMethod::Eigen => {
            let (ra, ua) = linalg::eig(a);
            let (rb, ub) = linalg::eig(b);
            let f = linalg::solve(&ua, &matmul(&as_dtype(c, ra.dtype(), false), &ub));
            let y = f / (column(&ra) + lax::expand_dims(&rb, &[0]));
            matmul(&matmul(&ua, &y), &linalg::inv(&ub))
        }
    };
    let x = if c.dtype().is_complex() {
        x
    } else {
        lax::real(&x)
    };
    let sums = column(&linalg::eigvals(a)) + lax::expand_dims(&linalg::eigvals(b), &[0]);
    let none = lax::reduce_or(&numpy::less(&lax::abs(&sums), &Array::from(tol)), [0, 1]);
    let nan = |x: Array| numpy::full_like(&x, f64::NAN);
    cond(none, nan, |x: Array| x, x)
}

/// The solution of `R Y + Y S = F` for upper triangles, element by element from the last row's end to its start, and up.
#[track_caller]
fn triangular_sylvester(r: &Array, s: &Array, f: &Array) -> Array {
    let (rows, columns) = (f.shape()[0], f.shape()[1]);
    let index = |x: usize| Array::from(x as i32);
    let order = lax::rev(&lax::iota(DType::I32, &[rows * columns], 0), &[0]);
    let zero = || Array::from(0);
    let step = |y: Array, at: Array| {
        let i = lax::div(&at, &index(columns));
        let j = lax::rem(&at, &index(columns));
        let row = |x: &Array, i: &Array| {
            lax::squeeze(
                &lax::dynamic_slice(x, &[i.clone(), zero()], [1, x.shape()[1]]),
                &[0],
            )
        };
        let col = |x: &Array, j: &Array| {
            lax::squeeze(
                &lax::dynamic_slice(x, &[zero(), j.clone()], [x.shape()[0], 1]),
                &[1],
            )
        };
        let one = |x: &Array, i: &Array, j: &Array| {
            lax::squeeze(
                &lax::dynamic_slice(x, &[i.clone(), j.clone()], [1, 1]),
                &[0, 1],
            )
        };
        let behind = |count: usize, at: &Array, x: Array| {
            let later = lax::gt(&lax::iota(DType::I32, &[count], 0), at);
            sum(&where_(&later, &x, 0.0), &[0], false)
        };
        let below = behind(rows, &i, row(r, &i) * col(&y, &j));
        let right = behind(columns, &j, row(&y, &i) * col(s, &j));
        let value = (one(f, &i, &j) - (below + right)) / (one(r, &i, &i) + one(s, &j, &j));
        let value = lax::reshape(&value, [1, 1]);
        (lax::dynamic_update_slice(&y, &value, &[i, j]), ())
    };
    scan(step, lax::full([rows, columns], 0, f.dtype()), order, None).0
}
