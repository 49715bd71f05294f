//! Solutions of linear equations, and inverses.

use crate::numpy::nested::constant;
use jaxide_core::prims::DotDimensionNumbers;
use jaxide_core::{DType, Dims};

use super::super::parts::{
    adjoint, check_square, column, conj, epsilon, highest, inexact, last, number_of, pick, range,
    real_type, refuse, rows_at, transposed, vectorized,
};
use super::super::product::{Product, matmul_with};
use super::{Norm, Svd, norm, svd};
use crate::api::vmap_list;
use crate::array::{Array, Axes, Repr, as_dtype};
use crate::lax::{self, linalg::Triangular};
use crate::numpy::{position_type, where_};
use crate::options::options;
use crate::trace::library;
use crate::trace::library::library_call;
use crate::{TransposeSolve, custom_jvp, custom_linear_solve, numpy};

/// Matrices times vectors, as exact as the element type allows.
#[track_caller]
pub(crate) fn exact_matmul(x: &Array, y: &Array) -> Array {
    matmul_with(x, y, &Product::exactly(highest()))
}

/// The product of a matrix and a vector, in the element type of its operands.
#[track_caller]
pub(crate) fn matrix_vector(a: &Array, x: &Array) -> Array {
    let numbers = DotDimensionNumbers {
        lhs_contracting: Dims::from_slice(&[1]),
        rhs_contracting: Dims::from_slice(&[0]),
        ..Default::default()
    };
    // Leading axes are none: what is written of this broadcast is its transpose.
    let x = lax::broadcast_in_dim(x, x.shape(), 0);
    lax::dot_general(a, &x, numbers, highest(), None)
}

/// The solution of `A x = b` from the factors of `A`, with its transpose for `trans` 1, its adjoint for 2.
#[track_caller]
pub(crate) fn lu_solve(lu: &Array, permutation: &Array, b: &Array, trans: u8) -> Array {
    library(
        "_lu_solve",
        &trans.to_string(),
        [lu, permutation, b],
        |[lu, permutation, b]| {
            let vector = b.ndim() == 1;
            let x = if vector { column(b) } else { b.clone() };
            let solve = |x: &Array, lower: bool| {
                let how = Triangular {
                    left_side: true,
                    lower,
                    unit_diagonal: lower,
                    transpose_a: trans > 0,
                    conjugate_a: trans == 2,
                };
                lax::linalg::triangular_solve(lu, x, how)
            };
            let x = if trans == 0 {
                solve(&solve(&rows_at(&x, permutation, 0), true), false)
            } else {
                let x = solve(&solve(&x, false), true);
                let own = lax::iota(DType::I32, permutation.shape(), 0);
                let sorted = lax::sort(&[permutation.clone(), own], 0, 1);
                rows_at(&x, &sorted[1], 0)
            };
            if vector { pick(&x, &[(1, 0)]) } else { x }
        },
    )
}

/// The solution for one matrix and one vector or matrix.
#[track_caller]
fn solve_one(a: &Array, b: &Array) -> Array {
    let (lu, _, permutation) = lax::linalg::lu(&lax::stop_gradient(a));
    let one = |b: Array| {
        let backward = |_: &dyn Fn(Array) -> Array, x: Array| lu_solve(&lu, &permutation, &x, 1);
        custom_linear_solve(
            |x: Array| matrix_vector(a, &x),
            b,
            |_, x| lu_solve(&lu, &permutation, &x, 0),
            TransposeSolve::With(&backward),
        )
    };
    if b.ndim() == 1 {
        return one(b.clone());
    }
    let columns = |own: &[Array]| vec![one(own[0].clone())];
    vmap_list(&columns, &[Some(1)], 1, std::slice::from_ref(b))[0].clone()
}

/// The solution `x` of `A x = b`: of a vector where `b` has one axis, else of matrices; axes before broadcast.
///
/// # Panics
/// When matrices are not square, or shapes do not fit.
///
/// ```
/// use jaxide::{Array, numpy::linalg};
/// let a = Array::from([[2.0f32, 0.0], [1.0, 4.0]]);
/// let x = linalg::solve(&a, &Array::from([2.0f32, 9.0]));
/// assert_eq!(x.to_vec::<f32>(), [1.0, 2.0]);
/// ```
#[track_caller]
pub fn solve(a: &Array, b: &Array) -> Array {
    let _named = crate::trace::named("solve");
    check_square("solve", a);
    let core = if b.ndim() == 1 { 1 } else { 2 };
    if b.ndim() == 0 || b.shape()[b.ndim() - core] != a.shape()[a.ndim() - 1] {
        refuse(
            "solve",
            "the right-hand side must have as many rows as the matrix",
            &[a, b],
        );
    }
    library("solve", "", [a, b], |[a, b]| {
        let operands = inexact("solve", [a, b]);
        let one = |own: &[Array]| vec![solve_one(&own[0], &own[1])];
        vectorized("solve", &[2, core], &operands, &one)[0].clone()
    })
}

/// The inverse of a matrix; infinite or NaN where there is none.
///
/// # Panics
/// When matrices are not square.
///
/// ```
/// use jaxide::{Array, numpy::linalg};
/// let a = linalg::inv(&Array::from([[2.0f32, 0.0], [0.0, 4.0]]));
/// assert_eq!(a.to_vec::<f32>(), [0.5, 0.0, 0.0, 0.25]);
/// ```
#[track_caller]
pub fn inv(a: &Array) -> Array {
    let _named = crate::trace::named("inv");
    check_square("inv", a);
    library("inv", "", [a], |[a]| {
        let rank = a.ndim();
        let eye = numpy::eye(a.shape()[rank - 1], a.dtype());
        let eye = lax::broadcast_in_dim(&eye, a.shape(), &[rank - 2, rank - 1]);
        solve(a, &eye)
    })
}

options! {
    /// What [`pinv`] takes beside the matrix: a tolerance alone is one too.
    pub struct Pinv {
        /// Singular values below this times the largest count as zero: by default ten times the longer side times the
        /// distance between numbers at one.
        rtol: Option<Array> = None, |rtol: impl Into<Array>| Some(rtol.into());
        /// Whether the matrix is Hermitian.
        hermitian: bool = false;
    }
}

impl From<f64> for Pinv {
    fn from(rtol: f64) -> Self {
        Pinv::new().rtol(rtol)
    }
}

/// The pseudo-inverse of a matrix: the inverse on what it maps to, zero elsewhere.
///
/// # Panics
/// When there are less than two axes.
///
/// ```
/// use jaxide::{Array, numpy::linalg};
/// let a = linalg::pinv(&Array::from([[2.0f32, 0.0], [0.0, 0.0]]), ());
/// assert_eq!(a.to_vec::<f32>(), [0.5, 0.0, 0.0, 0.0]);
/// ```
#[track_caller]
pub fn pinv(a: &Array, options: impl Into<Pinv>) -> Array {
    let _named = crate::trace::named("pinv");
    let Pinv { rtol, hermitian } = options.into();
    if a.ndim() < 2 {
        refuse("pinv", "a matrix is needed", &[a]);
    }
    if hermitian {
        check_square("pinv", a);
    }
    /// The function of one or two arrays with its derivative, under JAX's names.
    macro_rules! with_derivative {
        ($hermitian:literal, [$($operand:ident)*], [$($ignored:tt)*], $rtol:expr, $options:expr) => {{
            fn _pinv(a: Array $(, $operand: Array)*) -> Array {
                inverse_of_part(&a, $rtol, $hermitian)
            }
            fn _pinv_jvp(
                (a, $($operand,)*): (Array, $(with_derivative!(@array $operand),)*),
                (dot, $($ignored,)*): (Array, $(with_derivative!(@array $operand),)*),
            ) -> (Array, Array) {
                pinv_jvp(&a, &dot, pinv(&a, $options), $hermitian)
            }
            custom_jvp(_pinv, _pinv_jvp)
        }};
        (@array $operand:ident) => { Array };
    }
    let a = a.clone();
    match (rtol, hermitian) {
        (None, false) => with_derivative!(false, [], [], None, ())(a),
        (None, true) => with_derivative!(true, [], [], None, Pinv::new().hermitian(true))(a),
        (Some(rtol), false) => {
            with_derivative!(false, [rtol], [_], Some(&rtol), Pinv::new().rtol(&rtol))(a, rtol)
        }
        (Some(rtol), true) => {
            let inverse = with_derivative!(
                true,
                [rtol],
                [_],
                Some(&rtol),
                Pinv::new().hermitian(true).rtol(&rtol)
            );
            inverse(a, rtol)
        }
    }
}

#[track_caller]
fn inverse_of_part(a: &Array, rtol: Option<&Array>, hermitian: bool) -> Array {
    let operands: Vec<Array> = [Some(a), rtol].into_iter().flatten().cloned().collect();
    let results = library_call("_pinv", &hermitian.to_string(), &operands, |own| {
        let [a] = inexact("pinv", [&own[0]]);
        let rank = a.ndim();
        let (rows, columns) = (a.shape()[rank - 2], a.shape()[rank - 1]);
        if rows == 0 || columns == 0 {
            let shape = [&a.shape()[..rank - 2], &[columns, rows]].concat();
            return vec![numpy::empty(&shape, a.dtype())];
        }
        let a = conj(&a);
        let real = real_type(a.dtype());
        let rtol = match own.get(1) {
            Some(rtol) => rtol.clone(),
            None => {
                let longer = as_dtype(&Array::from(10.0 * rows.max(columns) as f64), real, false);
                lax::mul(&longer, &constant(epsilon(a.dtype()), real))
            }
        };
        let (u, s, vh) = svd(&a, Svd::new().full_matrices(false).hermitian(hermitian));
        let rtol = lax::expand_rank(&column(&rtol), s.ndim());
        let largest = range(&s, s.ndim() - 1, 0, 1);
        let cutoff = rtol * largest;
        let s = where_(&numpy::greater(&s, &cutoff), &s, f64::INFINITY);
        let s = as_dtype(&s, u.dtype(), false);
        let scaled = (transposed(&vh), transposed(&u) / column(&s));
        let result = exact_matmul(&scaled.0, &scaled.1);
        vec![as_dtype(&result, a.dtype(), false)]
    });
    results[0].clone()
}

#[track_caller]
fn pinv_jvp(a: &Array, dot: &Array, p: Array, hermitian: bool) -> (Array, Array) {
    let symmetrized = |x: &Array| (x + adjoint(x)) / 2.0;
    let (a, dot) = if hermitian {
        (symmetrized(a), symmetrized(dot))
    } else {
        (a.clone(), dot.clone())
    };
    let product = |x: &Array, y: &Array| numpy::matmul(x, y);
    let rank = a.ndim();
    let (ph, doth) = (adjoint(&p), adjoint(&dot));
    let change = if a.shape()[rank - 2] >= a.shape()[rank - 1] {
        let s = product(&product(&p, &ph), &doth);
        let t = product(&product(&doth, &ph), &p);
        lax::neg(&product(&product(&p, &dot), &p)) + &s - product(&product(&s, &a), &p) + &t
            - product(&product(&p, &a), &t)
    } else {
        let s = product(&p, &product(&ph, &doth));
        let t = product(&doth, &product(&ph, &p));
        product(&lax::neg(&p), &product(&dot, &p)) + &s - product(&s, &product(&a, &p)) + &t
            - product(&p, &product(&a, &t))
    };
    (p, change)
}

options! {
    /// What [`lstsq`] takes beside its operands: a tolerance alone is one too.
    pub struct Lstsq {
        /// Singular values below this times the largest count as zero: by default the longer side times the distance between
        /// numbers at one, and where it is negative that distance.
        rcond: Option<Array> = None, |rcond: impl Into<Array>| Some(rcond.into());
        /// Whether there are no residuals where NumPy gives none: when the rank is not full, or there are no more rows than
        /// columns. The rank must have a value then.
        numpy_resid: bool = false;
    }
}

impl From<f64> for Lstsq {
    fn from(rcond: f64) -> Self {
        Lstsq::new().rcond(rcond)
    }
}

/// The shortest `x` for which `A x` is nearest to `b`, the squared distances, the rank of `A`, and its singular values.
///
/// # Panics
/// When `a` is no matrix, `b` neither vector nor matrix, or their numbers of rows differ.
///
/// ```
/// use jaxide::{Array, numpy::linalg};
/// let a = Array::from([[1.0f32, 0.0], [0.0, 2.0], [0.0, 0.0]]);
/// let (x, distance, rank, _) = linalg::lstsq(&a, &Array::from([3.0f32, 4.0, 5.0]), ());
/// assert_eq!(x.to_vec::<f32>(), [3.0, 2.0]);
/// assert_eq!((distance.to_vec::<f32>(), rank.item::<i32>()), (vec![25.0], 2));
/// ```
#[track_caller]
pub fn lstsq(a: &Array, b: &Array, options: impl Into<Lstsq>) -> (Array, Array, Array, Array) {
    let _named = crate::trace::named("lstsq");
    let Lstsq { rcond, numpy_resid } = options.into();
    if a.ndim() != 2 || !matches!(b.ndim(), 1 | 2) || a.shape()[0] != b.shape()[0] {
        refuse("lstsq", "a matrix and as many rows are needed", &[a, b]);
    }
    let mut operands = vec![a.clone(), b.clone()];
    operands.extend(rcond);
    let given = operands.len() > 2;
    let full = |own: &[Array]| nearest(&own[0], &own[1], own.get(2).filter(|_| given));
    let results = if numpy_resid {
        let mut results = full(&operands);
        let (rows, columns) = (a.shape()[0], a.shape()[1]);
        if rows <= columns
            || (as_dtype(&results[2], DType::I32, false).item::<i32>() as usize) < columns
        {
            let dtype = match position_type(&results[0]) {
                DType::I64 => DType::F64,
                _ => DType::F32,
            };
            results[1] = lax::full([0], 0, dtype);
        }
        results
    } else {
        library_call("_lstsq", "", &operands, full)
    };
    let part = |at: usize| results[at].clone();
    (part(0), part(1), part(2), part(3))
}

#[track_caller]
fn nearest(a: &Array, b: &Array, rcond: Option<&Array>) -> Vec<Array> {
    let [a, b] = inexact("lstsq", [a, b]);
    let vector = b.ndim() == 1;
    let b = if vector { column(&b) } else { b };
    let (rows, columns) = (a.shape()[0], a.shape()[1]);
    let (x, rank, s) = if a.size() == 0 {
        let s = numpy::empty(0, a.dtype());
        let x = lax::full([columns, b.shape()[1]], 0, a.dtype());
        (x, lax::full((), 0, position_type(&a)), s)
    } else {
        let real = real_type(a.dtype());
        let eps = epsilon(a.dtype());
        let rcond = match rcond {
            None => as_dtype(&Array::from(eps * rows.max(columns) as f64), real, false),
            Some(rcond) => {
                let negative = lax::lt(rcond, &Array::from(0));
                where_(&negative, &constant(eps, real), rcond)
            }
        };
        let (u, s, vt) = svd(&a, Svd::new().full_matrices(false));
        let positive = lax::gt(&s, &Array::from(0));
        let rcond = if matches!(rcond.0, Repr::Number(_)) {
            rcond
        } else {
            as_dtype(&lax::copy(&rcond), real, false)
        };
        let mask = lax::bitwise_and(&positive, &lax::ge(&s, &(rcond * last(&s, 0))));
        let rank = number_of(&mask, &[0], &a);
        let safe = as_dtype(&where_(&mask, &s, 1), a.dtype(), false);
        let inverse = column(&where_(&mask, &(1 / safe), 0));
        let projected = exact_matmul(&transposed(&conj(&u)), &b);
        let v = transposed(&conj(&vt));
        (exact_matmul(&v, &(inverse * projected)), rank, s)
    };
    let left = norm(&(&b - exact_matmul(&a, &x)), Norm::new().axis(0));
    let left = lax::integer_pow(&left, 2);
    let x = if vector {
        lax::reshape(&x, [x.size()])
    } else {
        x
    };
    vec![x, left, rank, s]
}

/// The inverse of an array as a linear map: from its axes behind the first `ind` to those. `ind` is 2 where JAX's default is
/// meant.
///
/// # Panics
/// When `ind` is 0, or the axes on both sides do not have equally many elements.
#[track_caller]
pub fn tensorinv(a: &Array, ind: usize) -> Array {
    let _named = crate::trace::named("tensorinv");
    let sides = a.shape().split_at_checked(ind).filter(|_| ind > 0);
    let Some((rows, columns)) = sides else {
        refuse(
            "tensorinv",
            &format!("the first {ind} axes are to be one side"),
            &[a],
        );
    };
    let sizes: [usize; 2] = [rows.iter().product(), columns.iter().product()];
    if sizes[0] != sizes[1] {
        refuse(
            "tensorinv",
            &format!("the first {ind} axes must have as many elements as the others"),
            &[a],
        );
    }
    lax::reshape(&inv(&lax::reshape(a, sizes)), [columns, rows].concat())
}

/// The solution of `tensordot(a, x, x.ndim()) = b`. The axes of `a` that `axes` names are moved to its end first; `()` moves none.
///
/// # Panics
/// When shapes do not fit.
#[track_caller]
pub fn tensorsolve(a: &Array, b: &Array, axes: impl Axes) -> Array {
    let _named = crate::trace::named("tensorsolve");
    let a = match axes.numbers() {
        None => a.clone(),
        Some(_) => {
            let mut order: Vec<usize> = (0..a.ndim()).collect();
            for axis in axes.axes("tensorsolve", a.ndim()) {
                order.retain(|&own| own != axis);
                order.push(axis);
            }
            lax::transpose(a, &order)
        }
    };
    let fits = a.shape().starts_with(b.shape()) && a.size() == b.size() * b.size();
    if !fits {
        refuse(
            "tensorsolve",
            "the first axes of the map must be those of the right-hand side, and the others as many elements",
            &[&a, b],
        );
    }
    let shape = a.shape()[b.ndim()..].to_vec();
    let map = lax::reshape(&a, [b.size(), b.size()]);
    lax::reshape(&solve(&map, &lax::reshape(b, [b.size()])), shape)
}
