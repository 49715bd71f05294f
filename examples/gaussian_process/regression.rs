//! Regression by a Gaussian process: its covariance, the likelihood of observations, and predictions (Rasmussen and
//! Williams, 2006).

use jaxide::lax::linalg::{self, Triangular};
use jaxide::numpy;
use jaxide::prelude::*;

/// Logarithms of what the covariance is made of.
#[derive(Clone, Pytree)]
pub(crate) struct Kernel {
    pub(crate) amplitude: Array,
    /// One for each feature.
    pub(crate) lengths: Array,
    pub(crate) noise: Array,
}

impl Kernel {
    /// Covariances of the function at the rows of `x` and of `y`.
    fn covariance(&self, x: &Array, y: &Array) -> Array {
        let scale = (-&self.lengths).exp();
        let (x, y) = (x * &scale, y * scale);
        let distance = numpy::expand_dims(&x, 1) - numpy::expand_dims(&y, 0);
        (&self.amplitude * 2.0 - distance.square().sum_axes(-1) * 0.5).exp()
    }

    /// The lower factor of the covariance of what is observed at `x`.
    fn factor(&self, x: &Array) -> Array {
        let noise = numpy::eye(x.shape()[0], DType::F64) * ((&self.noise * 2.0).exp() + 1e-8);
        linalg::cholesky(&(self.covariance(x, x) + noise), true)
    }
}

fn diagonal(x: &Array) -> Array {
    (x * numpy::eye(x.shape()[0], x.dtype())).sum_axes(-1)
}

/// The negative logarithm of the density of the observations, per observation.
pub(crate) fn misfit(kernel: Kernel, x: Array, y: Array) -> Array {
    let lower = kernel.factor(&x);
    let white = solve_lower(&lower, &y);
    let half_log = 0.5 * (2.0 * std::f64::consts::PI).ln();
    (white.square() * 0.5 + diagonal(&lower).log() + half_log).mean()
}

/// Mean and variance of the function at new places.
pub(crate) fn predict(kernel: &Kernel, x: &Array, y: &Array, at: &Array) -> (Array, Array) {
    let lower = kernel.factor(x);
    let across = kernel.covariance(x, at);
    let mean = across.t().dot(&cho_solve(&lower, y));
    let explained = solve_lower(&lower, &across).square().sum_axes(0);
    (mean, (&kernel.amplitude * 2.0).exp() - explained)
}

/// The solution of `L y = b` for a lower triangle.
pub(crate) fn solve_lower(lower: &Array, b: &Array) -> Array {
    let how = Triangular {
        left_side: true,
        lower: true,
        ..Triangular::default()
    };
    linalg::triangular_solve(lower, b, how)
}

/// The solution of `L Lᵀ x = b`.
pub(crate) fn cho_solve(lower: &Array, b: &Array) -> Array {
    let how = Triangular {
        left_side: true,
        lower: true,
        transpose_a: true,
        ..Triangular::default()
    };
    linalg::triangular_solve(lower, &solve_lower(lower, b), how)
}
