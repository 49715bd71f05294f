//! Distributions and statistics, as in `jax.scipy.stats`.
//!
//! A distribution is a module with its functions: `logpdf`, `pdf`, `cdf` and what else JAX has of it. Operands are promoted to a
//! common element type that is float, and broadcast. Location and scale are the last argument: `()` for the standard
//! distribution, `(loc, scale)`, or a [`LocScale`] with one of them ([`Loc`] where there is no scale).
//!
//! ```
//! use jaxide::Array;
//! use jaxide::scipy::stats::{LocScale, norm};
//! let x = Array::from([0.0f32, 2.0]);
//! assert_eq!(norm::cdf(&x, ()).to_vec::<f32>()[0], 0.5);
//! assert_eq!(norm::cdf(&x, LocScale::new().loc(2.0)).to_vec::<f32>()[1], 0.5);
//! assert_eq!(norm::pdf(&x, (2.0, 4.0)).to_vec::<f32>()[1], norm::pdf(0.0, (0.0, 4.0)).item::<f32>());
//! ```

mod bounded;
mod discrete;
mod extreme;
mod kde;
mod multivariate;
mod statistics;
mod symmetric;
mod table;

pub use bounded::{beta, chi2, expon, gamma, pareto, uniform};
pub use discrete::{bernoulli, betabinom, binom, geom, nbinom, poisson};
pub use extreme::{gumbel_l, gumbel_r, vonmises, wrapcauchy};
pub use kde::{Bandwidth, GaussianKde, GaussianKdeOptions, gaussian_kde};
pub use multivariate::{dirichlet, multinomial, multivariate_normal};
pub use statistics::{Mode, RankMethod, Rankdata, Sem, mode, rankdata, sem};
pub use symmetric::{cauchy, gennorm, laplace, logistic, norm, t, truncnorm};

use jaxide_core::DType;

use crate::array::Array;
use crate::options::options;

options! {
    /// Where a distribution is, and how wide.
    pub struct LocScale {
        /// What is subtracted from the operand.
        loc: Array = Array::from(0), |loc: impl Into<Array>| loc.into();
        /// What the operand is divided by.
        scale: Array = Array::from(1), |scale: impl Into<Array>| scale.into();
    }

    /// Where a distribution is.
    pub struct Loc {
        /// What is subtracted from the operand.
        loc: Array = Array::from(0), |loc: impl Into<Array>| loc.into();
    }
}

impl<L: Into<Array>, S: Into<Array>> From<(L, S)> for LocScale {
    fn from((loc, scale): (L, S)) -> Self {
        LocScale::new().loc(loc).scale(scale)
    }
}

/// A number of the program, in `f64` beside such numbers.
fn beside(x: &Array, value: f64) -> Array {
    if x.dtype() == DType::F64 {
        crate::scipy::operands::constant(x, value)
    } else {
        Array::from(value)
    }
}

/// The number 2π, as [`beside`].
fn turn(x: &Array) -> Array {
    beside(x, 2.0 * std::f64::consts::PI)
}
