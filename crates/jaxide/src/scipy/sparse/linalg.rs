//! Solutions of linear equations whose map is a function of trees of arrays, by iteration.

use jaxide_core::{DType, Error};
use jaxide_tree::Pytree;

use crate::api::flat::{flatten, unflatten};
use crate::array::{Array, as_dtype, result_dtype};
use crate::control::while_loop;
use crate::lax;
use crate::numpy::parts::{conj, epsilon, highest, last, real_type, total};
use crate::numpy::where_;
use crate::numpy::{self, Product, dot_with, vdot};
use crate::scipy::linalg;
use crate::trace::raise;
use crate::{TransposeSolve, custom_linear_solve};

/// A linear map of trees.
type Map<'f, T> = dyn Fn(T) -> T + 'f;

/// What [`cg`], [`bicgstab`] and [`gmres`] take beside map and right-hand side; `()` is all defaults.
pub struct Iterative<'f, T> {
    x0: Option<T>,
    tol: f64,
    atol: f64,
    maxiter: Option<usize>,
    restart: usize,
    preconditioner: Option<&'f Map<'f, T>>,
}

impl<T> Default for Iterative<'_, T> {
    fn default() -> Self {
        Iterative {
            x0: None,
            tol: 1e-5,
            atol: 0.0,
            maxiter: None,
            restart: 20,
            preconditioner: None,
        }
    }
}

impl<T> From<()> for Iterative<'_, T> {
    fn from((): ()) -> Self {
        Self::default()
    }
}

impl<'f, T> Iterative<'f, T> {
    /// Nothing but defaults.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Where iteration starts: at zeros by default.
    #[must_use]
    pub fn x0(mut self, x0: T) -> Self {
        self.x0 = Some(x0);
        self
    }

    /// Iteration ends when the residual is this times the right-hand side: 1e-5 by default.
    #[must_use]
    pub fn tol(mut self, tol: f64) -> Self {
        self.tol = tol;
        self
    }

    /// Iteration ends when the residual is this: 0 by default.
    #[must_use]
    pub fn atol(mut self, atol: f64) -> Self {
        self.atol = atol;
        self
    }

    /// How often is iterated at most: ten times the number of elements by default.
    #[must_use]
    pub fn maxiter(mut self, maxiter: usize) -> Self {
        self.maxiter = Some(maxiter);
        self
    }

    /// How many vectors [`gmres`] keeps: 20 by default.
    #[must_use]
    pub fn restart(mut self, restart: usize) -> Self {
        self.restart = restart;
        self
    }

    /// A map that is near the inverse, with which fewer iterations are needed: `M` of JAX.
    #[must_use]
    pub fn m(mut self, m: &'f Map<'f, T>) -> Self {
        self.preconditioner = Some(m);
        self
    }
}

/// The leaves of a tree.
type Leaves = Vec<Array>;

/// A map of leaves.
type LeafMap<'f> = dyn Fn(Leaves) -> Leaves + 'f;

/// What a solver is given.
struct Task<'f> {
    x0: Leaves,
    tol: f64,
    atol: f64,
    maxiter: usize,
    restart: usize,
    m: &'f LeafMap<'f>,
}

fn zip(x: &[Array], y: &[Array], f: impl Fn(&Array, &Array) -> Array) -> Leaves {
    x.iter().zip(y).map(|(x, y)| f(x, y)).collect()
}

#[track_caller]
fn add(x: &[Array], y: &[Array]) -> Leaves {
    zip(x, y, |x, y| x + y)
}

#[track_caller]
fn sub(x: &[Array], y: &[Array]) -> Leaves {
    zip(x, y, |x, y| x - y)
}

#[track_caller]
fn mul(by: &Array, x: &[Array]) -> Leaves {
    x.iter().map(|x| by * x).collect()
}

fn exact() -> Product {
    Product::exactly(highest())
}

#[track_caller]
fn none(what: &str) -> ! {
    raise(Error::shape(format!("{what} has no arrays")).in_operation("scipy::sparse::linalg"))
}

/// The real part of the inner product of trees.
#[track_caller]
fn real_product(x: &[Array], y: &[Array]) -> Array {
    let parts = x.iter().zip(y).map(|(x, y)| {
        if !x.dtype().is_complex() {
            return vdot(x, y, exact());
        }
        vdot(&lax::real(x), &lax::real(y), exact()) + vdot(&lax::imag(x), &lax::imag(y), exact())
    });
    total(parts).unwrap_or_else(|| none("the right-hand side"))
}

#[track_caller]
fn inner_product(x: &[Array], y: &[Array]) -> Array {
    let parts = x.iter().zip(y).map(|(x, y)| vdot(x, y, exact()));
    total(parts).unwrap_or_else(|| none("the right-hand side"))
}

#[track_caller]
fn norm(x: &[Array]) -> Array {
    lax::sqrt(&real_product(x, x))
}

fn dtype_of(x: &[Array]) -> DType {
    result_dtype("scipy::sparse::linalg", &x.iter().collect::<Vec<_>>()).0
}

#[track_caller]
fn number(value: f64, dtype: DType) -> Array {
    as_dtype(&Array::from(value), dtype, false)
}

/// Runs a solver of leaves on trees, with the derivatives of a solution.
#[track_caller]
fn solved<T: Pytree<Array>>(
    a: &Map<'_, T>,
    b: &T,
    options: Iterative<'_, T>,
    symmetric: bool,
    solver: impl Fn(&LeafMap<'_>, Leaves, &Task<'_>) -> Leaves,
) -> T {
    const OPERATION: &str = "scipy::sparse::linalg";
    let b = flatten(b);
    let treedef = &b.treedef;
    let inexact = |x: &Array| {
        let [x] = numpy::parts::inexact(OPERATION, [x]);
        as_dtype(&x, x.dtype(), false)
    };
    let leaves: Leaves = b.leaves.iter().map(inexact).collect();
    let x0 = match &options.x0 {
        None => leaves
            .iter()
            .map(|x| lax::full(x.shape(), 0, x.dtype()))
            .collect(),
        Some(x0) => {
            let x0 = flatten(x0);
            let shapes =
                |x: &[Array]| -> Vec<Vec<usize>> { x.iter().map(|x| x.shape().to_vec()).collect() };
            if &x0.treedef != treedef || shapes(&x0.leaves) != shapes(&leaves) {
                let what = format!(
                    "the start {:?} and the right-hand side {:?} differ in structure or shapes",
                    shapes(&x0.leaves),
                    shapes(&leaves)
                );
                raise(Error::shape(what).in_operation(OPERATION));
            }
            zip(&x0.leaves, &leaves, |x, b| as_dtype(x, b.dtype(), false))
        }
    };
    let size: usize = leaves.iter().map(Array::size).sum();
    let of_leaves = |f: &Map<'_, T>, x: Leaves| flatten(&f(unflatten(treedef, x))).leaves;
    let m = |x: Leaves| match options.preconditioner {
        Some(m) => of_leaves(m, x),
        None => x,
    };
    let task = Task {
        x0,
        tol: options.tol,
        atol: options.atol,
        maxiter: options.maxiter.unwrap_or(10 * size),
        restart: options.restart.min(size).max(1),
        m: &m,
    };
    let run = |a: &LeafMap<'_>, b: Leaves| solver(a, b, &task);
    let symmetric = symmetric && !leaves.iter().any(|x| x.dtype().is_complex());
    let backward = if symmetric {
        TransposeSolve::Symmetric
    } else {
        TransposeSolve::With(&run)
    };
    unflatten(
        treedef,
        custom_linear_solve(|x: Leaves| of_leaves(a, x), leaves, run, backward),
    )
}

/// The square of the residual at which iteration ends.
#[track_caller]
fn smallest(b: &[Array], task: &Task<'_>) -> Array {
    let size = real_product(b, b);
    let dtype = size.dtype();
    let relative = number(task.tol * task.tol, dtype) * size;
    lax::max(&relative, &number(task.atol * task.atol, dtype))
}

fn limit(task: &Task<'_>) -> Array {
    Array::from(i32::try_from(task.maxiter).unwrap_or(i32::MAX))
}

/// The solution of `a(x) = b` for a Hermitian positive definite map, by conjugate gradients.
///
/// # Panics
/// When the start or what the map gives has not the structure and the shapes of `b`.
///
/// ```
/// use jaxide::{Array, numpy, scipy::sparse::linalg};
/// let a = Array::from([[4.0f32, 1.0], [1.0, 3.0]]);
/// let b = Array::from([1.0f32, 2.0]);
/// let x = linalg::cg(|x: Array| numpy::matmul(&a, &x), &b, ());
/// assert!((numpy::matmul(&a, &x) - b).abs().max().item::<f32>() < 1e-5);
/// ```
#[track_caller]
pub fn cg<'f, T: Pytree<Array> + 'f>(
    a: impl Fn(T) -> T,
    b: &T,
    options: impl Into<Iterative<'f, T>>,
) -> T {
    let _named = crate::trace::named("cg");
    solved(&a, b, options.into(), true, |a, b, task| {
        let enough = smallest(&b, task);
        let preconditioned = |r: &[Array]| (task.m)(r.to_vec());
        let r = sub(&b, &a(task.x0.clone()));
        let z = preconditioned(&r);
        let dtype = dtype_of(&z);
        let gamma = as_dtype(&real_product(&r, &z), dtype, false);
        type State = (Leaves, Leaves, Array, Leaves, Array);
        let more = |(_, r, _, _, k): State| {
            lax::bitwise_and(
                &numpy::greater(&real_product(&r, &r), &enough),
                &lax::lt(&k, &limit(task)),
            )
        };
        let step = |(x, r, gamma, p, k): State| {
            let image = a(p.clone());
            let alpha = &gamma / as_dtype(&real_product(&p, &image), dtype, false);
            let x = add(&x, &mul(&alpha, &p));
            let r = sub(&r, &mul(&alpha, &image));
            let z = preconditioned(&r);
            let next = as_dtype(&real_product(&r, &z), dtype, false);
            let p = add(&z, &mul(&(&next / &gamma), &p));
            (x, r, next, p, k + 1)
        };
        while_loop(more, step, (task.x0.clone(), r, gamma, z, Array::from(0))).0
    })
}

/// The solution of `a(x) = b`, by stabilised biconjugate gradients.
///
/// # Panics
/// When the start or what the map gives has not the structure and the shapes of `b`.
#[track_caller]
pub fn bicgstab<'f, T: Pytree<Array> + 'f>(
    a: impl Fn(T) -> T,
    b: &T,
    options: impl Into<Iterative<'f, T>>,
) -> T {
    let _named = crate::trace::named("bicgstab");
    solved(&a, b, options.into(), false, |a, b, task| {
        let enough = smallest(&b, task);
        let m = |x: &[Array]| (task.m)(x.to_vec());
        let r0 = sub(&b, &a(task.x0.clone()));
        let one = number(1.0, dtype_of(&b));
        type State = (
            (Leaves, Leaves),
            (Array, Array, Array),
            (Leaves, Leaves),
            Array,
        );
        let more = |((_, r), _, _, k): State| {
            let left = numpy::greater(&real_product(&r, &r), &enough);
            left & lax::lt(&k, &limit(task)) & lax::ge(&k, &Array::from(0))
        };
        let step = |((x, r), (alpha, omega, rho), (p, q), k): State| {
            let next = inner_product(&r0, &r);
            let beta = &next / &rho * &alpha / &omega;
            let p = add(&r, &mul(&beta, &sub(&p, &mul(&omega, &q))));
            let p_hat = m(&p);
            let q = a(p_hat.clone());
            let alpha = &next / inner_product(&r0, &q);
            let s = sub(&r, &mul(&alpha, &q));
            let early = numpy::less(&real_product(&s, &s), &enough);
            let s_hat = m(&s);
            let t = a(s_hat.clone());
            let omega = inner_product(&t, &s) / inner_product(&t, &t);
            let choose = |x: &[Array], y: &[Array]| zip(x, y, |x, y| where_(&early, x, y));
            let moved = add(&x, &mul(&alpha, &p_hat));
            let further = add(&x, &add(&mul(&alpha, &p_hat), &mul(&omega, &s_hat)));
            let x = choose(&moved, &further);
            let r = choose(&s, &sub(&s, &mul(&omega, &t)));
            let zero = Array::from(0);
            let stuck = numpy::equal(&omega, &zero) | numpy::equal(&alpha, &zero);
            let k = where_(&stuck, -11, &(k + 1));
            let k = where_(&numpy::equal(&next, &zero), -10, &k);
            let k = as_dtype(&k, DType::I32, true);
            ((x, r), (alpha, omega, next), (p, q), k)
        };
        let start = (
            (task.x0.clone(), r0.clone()),
            (one.clone(), one.clone(), one),
            (r0.clone(), r0.clone()),
            Array::from(0),
        );
        while_loop(more, step, start).0.0
    })
}

/// A tree divided by its norm, and that; zeros where it is not above `least`.
#[track_caller]
fn normalized(x: &[Array], least: Option<&Array>) -> (Leaves, Array) {
    let norm = norm(x);
    let dtype = norm.dtype();
    let least = match least {
        Some(least) => least.clone(),
        None => number(epsilon(dtype), dtype),
    };
    let enough = numpy::greater(&norm, &least);
    let unit = |x: &Array| where_(&enough, &(x / as_dtype(&norm, x.dtype(), false)), 0.0);
    (x.iter().map(unit).collect(), where_(&enough, &norm, 0.0))
}

/// The map of vectors to combinations of what stands along last axes.
#[track_caller]
fn combined(basis: &[Array], by: &Array) -> Leaves {
    basis
        .iter()
        .map(|basis| dot_with(basis, by, exact()))
        .collect()
}

/// A slice along the last axis, replaced.
#[track_caller]
fn with_slice(x: &Array, slice: &Array, at: &Array) -> Array {
    let axis = x.ndim() - 1;
    let mut starts = vec![Array::from(0); x.ndim()];
    starts[axis] = at.clone();
    lax::dynamic_update_slice(x, &lax::expand_dims(slice, &[axis]), &starts)
}

#[track_caller]
fn slice_at(x: &Array, at: &Array) -> Array {
    let axis = x.ndim() - 1;
    let mut starts = vec![Array::from(0); x.ndim()];
    starts[axis] = at.clone();
    let mut sizes = x.shape().to_vec();
    sizes[axis] = 1;
    lax::squeeze(&lax::dynamic_slice(x, &starts, &sizes), &[axis])
}

/// The solution of `a(x) = b`, and 0, or -1 where it is NaN, by generalised minimal residuals.
///
/// The vectors of a restart are made orthogonal first, and then the smallest residual is found: JAX's `solve_method="batched"`.
///
/// # Panics
/// When the start or what the map gives has not the structure and the shapes of `b`.
///
/// ```
/// use jaxide::{Array, numpy, scipy::sparse::linalg};
/// let a = Array::from([[4.0f32, 1.0], [-1.0, 3.0]]);
/// let b = Array::from([1.0f32, 2.0]);
/// let (x, info) = linalg::gmres(|x: Array| numpy::matmul(&a, &x), &b, ());
/// assert!((numpy::matmul(&a, &x) - b).abs().max().item::<f32>() < 1e-5);
/// assert_eq!(info.item::<i32>(), 0);
/// ```
#[track_caller]
pub fn gmres<'f, T: Pytree<Array> + 'f>(
    a: impl Fn(T) -> T,
    b: &T,
    options: impl Into<Iterative<'f, T>>,
) -> (T, Array) {
    let _named = crate::trace::named("gmres");
    let x = solved(&a, b, options.into(), false, |a, b, task| {
        let residual = |x: &[Array]| (task.m)(sub(&b, &a(x.to_vec())));
        let size = norm(&b);
        let dtype = size.dtype();
        let enough = lax::max(&(number(task.tol, dtype) * size), &number(task.atol, dtype));
        let (unit, left) = normalized(&residual(&task.x0), None);
        type State = (Leaves, Array, Leaves, Array);
        let more = |(_, k, _, left): State| {
            lax::bitwise_and(&lax::lt(&k, &limit(task)), &numpy::greater(&left, &enough))
        };
        let step = |(x, k, unit, left): State| {
            let x = add(&x, &correction(a, &unit, &left, task));
            let (unit, left) = normalized(&residual(&x), None);
            (x, k + 1, unit, left)
        };
        while_loop(more, step, (task.x0.clone(), Array::from(0), unit, left)).0
    });
    let failed = numpy::isnan(&norm(&flatten(&x).leaves));
    (x, where_(&failed, -1, 0))
}

/// The change that makes the residual the smallest, among combinations of the images of one vector.
#[track_caller]
fn correction(a: &LeafMap<'_>, unit: &[Array], left: &Array, task: &Task<'_>) -> Leaves {
    let count = task.restart;
    let dtype = dtype_of(unit);
    let basis: Leaves = unit
        .iter()
        .map(|x| {
            let mut config = vec![(0, 0, 0); x.ndim() + 1];
            config[x.ndim()].1 = count as i64;
            lax::pad(&lax::expand_dims(x, &[x.ndim()]), 0, &config)
        })
        .collect();
    let images = numpy::eye(count, numpy::Eye::new().m(count + 1).dtype(dtype));
    type State = (Leaves, Array, Array, Array);
    let more = |(_, _, done, k): State| {
        let some = lax::lt(&k, &Array::from(count as i32));
        lax::bitwise_and(&some, &lax::bitwise_not(&done))
    };
    let step = |(basis, images, _, k): State| {
        let v: Leaves = basis.iter().map(|basis| slice_at(basis, &k)).collect();
        let v = (task.m)(a(v));
        let (_, before) = normalized(&v, None);
        let parts = basis.iter().zip(&v).map(|(basis, v)| {
            let rows = conj(&lax::reshape(basis, [v.size(), count + 1]));
            dot_with(&lax::reshape(v, [v.size()]), &rows, exact())
        });
        let parts = total(parts).unwrap_or_else(|| none("the right-hand side"));
        let v = sub(&v, &combined(&basis, &parts));
        let (next, length) = normalized(
            &v,
            Some(&(number(epsilon(dtype), real_type(dtype)) * before)),
        );
        let after = &k + 1;
        let basis = zip(&basis, &next, |basis, v| with_slice(basis, v, &after));
        let parts = with_slice(
            &as_dtype(&parts, dtype, false),
            &as_dtype(&length, dtype, false),
            &after,
        );
        let row = lax::expand_dims(&parts, &[0]);
        let images = lax::dynamic_update_slice(&images, &row, &[k.clone(), Array::from(0)]);
        let done = numpy::equal(&length, &Array::from(0.0));
        (basis, images, done, after)
    };
    let start = (basis, images, Array::from(false), Array::from(0));
    let (basis, images, _, _) = while_loop(more, step, start);
    let map = lax::transpose(&images, [1, 0]);
    let adjoint = conj(&images);
    let first = last(&adjoint, 0) * as_dtype(left, dtype, false);
    let normal = dot_with(&adjoint, &map, exact());
    let by = linalg::solve(&normal, &first, "pos");
    let known: Leaves = basis
        .iter()
        .map(|basis| numpy::parts::range(basis, basis.ndim() - 1, 0, count))
        .collect();
    combined(&known, &by)
}
