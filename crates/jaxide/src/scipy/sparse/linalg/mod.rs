//! Solutions of linear equations whose map is a function of trees of arrays, by iteration.

mod gmres;

use jaxide_core::{DType, Error};
use jaxide_tree::Pytree;

use crate::api::flat::{flatten, unflatten};
use crate::array::{Array, as_dtype, result_dtype};
use crate::control::while_loop;
use crate::lax;
use crate::numpy::parts::{highest, real};
use crate::numpy::where_;
use crate::numpy::{self, Product, vdot};
pub use gmres::gmres;

use crate::options::words;
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
    solve_method: SolveMethod,
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
            solve_method: SolveMethod::Batched,
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

    /// How [`gmres`] makes the residual small: [`SolveMethod::Batched`] by default.
    #[must_use]
    pub fn solve_method(mut self, method: impl Into<SolveMethod>) -> Self {
        self.solve_method = method.into();
        self
    }
}

words! {
    "scipy::sparse::linalg";
    /// How [`gmres`] finds the smallest residual.
    SolveMethod "method of solution" {
        /// When all vectors of a restart are made: one system of equations is solved, which suits accelerators.
        Batched = "batched";
        /// With each vector, by one more rotation, so that it ends as soon as the residual is small.
        Incremental = "incremental";
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
    solve_method: SolveMethod,
    m: &'f LeafMap<'f>,
    /// Whether `m` is a map of the caller.
    preconditioned: bool,
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

/// The sum of numbers, of which there must be one, beginning with 0.
#[track_caller]
fn sum(parts: impl Iterator<Item = Array>) -> Array {
    let sum = parts.fold(None, |sum: Option<Array>, part| {
        Some(sum.unwrap_or_else(|| Array::from(0)) + part)
    });
    sum.unwrap_or_else(|| none("the right-hand side"))
}

/// The real part of the inner product of trees.
#[track_caller]
fn real_product(x: &[Array], y: &[Array]) -> Array {
    sum(x.iter().zip(y).map(|(x, y)| {
        if !x.dtype().is_complex() {
            return vdot(x, y, exact());
        }
        vdot(&lax::real(x), &lax::real(y), exact()) + vdot(&lax::imag(x), &lax::imag(y), exact())
    }))
}

#[track_caller]
fn inner_product(x: &[Array], y: &[Array]) -> Array {
    sum(x.iter().zip(y).map(|(x, y)| vdot(x, y, exact())))
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
fn solved<T: Pytree<Array>, Setup>(
    a: &Map<'_, T>,
    b: &T,
    options: Iterative<'_, T>,
    symmetric: bool,
    setup: impl FnOnce(&[Array], &Task<'_>) -> Setup,
    solver: impl Fn(&LeafMap<'_>, Leaves, &Task<'_>, &Setup) -> Leaves,
) -> T {
    const OPERATION: &str = "scipy::sparse::linalg";
    let preconditioned = options.preconditioner.is_some();
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
    let (leaves, x0): (Leaves, Leaves) = lax::device_put((leaves, x0));
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
        solve_method: options.solve_method,
        m: &m,
        preconditioned,
    };
    let known = setup(&leaves, &task);
    let run = |a: &LeafMap<'_>, b: Leaves| solver(a, b, &task, &known);
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
    let relative = numpy::square(&Array::from(task.tol)) * size;
    numpy::maximum(&relative, &numpy::square(&Array::from(task.atol)))
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
    solved(
        &a,
        b,
        options.into(),
        true,
        |_, _| (),
        |a, b, task, ()| {
            let enough = smallest(&b, task);
            let preconditioned = |r: &[Array]| (task.m)(r.to_vec());
            let r = sub(&b, &a(task.x0.clone()));
            let z = preconditioned(&r);
            let dtype = dtype_of(&z);
            let gamma = as_dtype(&real_product(&r, &z), dtype, false);
            type State = (Leaves, Leaves, Array, Leaves, Array);
            let more = |(_, r, gamma, _, k): State| {
                let left = if task.preconditioned {
                    real_product(&r, &r)
                } else {
                    real(&gamma)
                };
                left.gt(&enough) & k.lt(limit(task))
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
        },
    )
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
    solved(
        &a,
        b,
        options.into(),
        false,
        |_, _| (),
        |a, b, task, ()| {
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
                let left = real_product(&r, &r).gt(&enough);
                left & k.lt(limit(task)) & k.ge(0)
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
        },
    )
}
