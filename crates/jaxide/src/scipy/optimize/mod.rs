//! Minimisation, as in `jax.scipy.optimize`.

mod bfgs;
mod lbfgs;
mod line_search;

use jaxide_core::Error;
use jaxide_tree::Pytree;

use crate::array::Array;
use crate::options::options;
use crate::trace::raise;
use crate::{lax, numpy};

/// How [`minimize`] goes about it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Method {
    /// The method of Broyden, Fletcher, Goldfarb and Shanno, with an approximation of the inverse Hessian.
    #[default]
    Bfgs,
    /// The same with limited memory: the last steps instead of a matrix. JAX calls it `l-bfgs-experimental-do-not-rely-on-this`.
    LBfgs,
}

options! {
    /// What [`minimize`] takes beside the function and where it starts; a method alone is one too.
    pub struct Minimize {
        /// How it goes about it.
        method: Method = Method::Bfgs;
        /// The largest number of steps: 200 for each number by default.
        maxiter: Option<usize> = None, |maxiter: impl Into<Option<usize>>| maxiter.into();
        /// The norm of gradients: infinity is the largest absolute value, others are the power in a sum.
        norm: f64 = f64::INFINITY;
        /// It ends when the norm of the gradient is below this.
        gtol: f64 = 1e-5;
        /// The largest number of steps of a line search: 10 of [`Method::Bfgs`], 20 of [`Method::LBfgs`] by default.
        line_search_maxiter: Option<usize> = None,
            |line_search_maxiter: impl Into<Option<usize>>| line_search_maxiter.into();
        /// How many steps [`Method::LBfgs`] remembers.
        maxcor: usize = 10;
        /// [`Method::LBfgs`] ends when the function decreases by less.
        ftol: f64 = 2.220_446_049_250_313e-9;
        /// The largest number of evaluations of the function in [`Method::LBfgs`].
        maxfun: Option<usize> = None, |maxfun: impl Into<Option<usize>>| maxfun.into();
        /// The largest number of evaluations of the gradient in [`Method::LBfgs`].
        maxgrad: Option<usize> = None, |maxgrad: impl Into<Option<usize>>| maxgrad.into();
    }
}

impl From<Method> for Minimize {
    fn from(method: Method) -> Self {
        Minimize::new().method(method)
    }
}

/// What [`minimize`] found: a tree of arrays.
#[derive(Clone, Debug, Pytree)]
pub struct OptimizeResults {
    /// Where the function is smallest.
    pub x: Array,
    /// Whether the gradient vanishes there.
    pub success: Array,
    /// Why it ended: 0 is success. Of [`Method::Bfgs`] 1 is too many steps, 3 and 5 a line search that failed; of [`Method::LBfgs`]
    /// 1, 2 and 3 are too many steps, evaluations and gradients, 4 too small a decrease, and 5 a line search that failed.
    pub status: Array,
    /// The value of the function.
    pub fun: Array,
    /// Its gradient.
    pub jac: Array,
    /// The approximation of the inverse Hessian, of [`Method::Bfgs`].
    pub hess_inv: Option<Array>,
    /// The number of evaluations of the function.
    pub nfev: Array,
    /// The number of evaluations of the gradient.
    pub njev: Array,
    /// The number of steps.
    pub nit: Array,
}

/// A local minimum of a function of a vector of floats, whose result is a number, from `x0` on.
///
/// What JAX takes as `args`, a closure captures. Forward-mode derivatives go through, as through
/// [`while_loop`](crate::while_loop).
///
/// # Panics
/// When `x0` is not a vector of floats, or the result of `fun` is not a number.
///
/// ```
/// use jaxide::{Array, scipy::optimize};
/// let valley = |x: Array| (x - Array::from([1.0f32, -2.0])).square().sum();
/// let found = optimize::minimize(valley, [0.0f32, 0.0], ());
/// assert!(found.success.truth());
/// assert!((found.x - Array::from([1.0f32, -2.0])).abs().max().lt(1e-5).truth());
/// ```
#[track_caller]
pub fn minimize(
    fun: impl Fn(Array) -> Array,
    x0: impl Into<Array>,
    options: impl Into<Minimize>,
) -> OptimizeResults {
    let _named = crate::trace::named("minimize");
    let (x0, options) = (x0.into(), options.into());
    if x0.ndim() != 1 || !x0.dtype().is_float() {
        let error = format!(
            "it starts from a vector of floats, and {} is given",
            x0.aval()
        );
        raise(Error::shape(error).in_operation("minimize"));
    }
    match options.method {
        Method::Bfgs => bfgs::minimize(&fun, x0, &options),
        Method::LBfgs => lbfgs::minimize(&fun, x0, &options),
    }
}

/// A norm of a vector: infinity is the largest absolute value, others are the power in a sum.
#[track_caller]
fn norm_of(x: &Array, order: f64) -> Array {
    let absolute = x.abs();
    if order == f64::INFINITY {
        absolute.max()
    } else if order == f64::NEG_INFINITY {
        absolute.min()
    } else if order == 1.0 {
        absolute.sum()
    } else if order == 2.0 {
        numpy::square(x).sum().sqrt()
    } else {
        absolute.pow(order).sum().pow(1.0 / order)
    }
}

/// The product of vectors.
#[track_caller]
fn dot(x: &Array, y: &Array) -> Array {
    lax::mul(x, y).sum()
}
