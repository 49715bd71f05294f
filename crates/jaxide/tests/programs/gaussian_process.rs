//! Regression by a Gaussian process: the gradient of the marginal likelihood, ascent along it, and predictions.

use jaxide::lax::linalg;
use jaxide::prelude::*;
use jaxide::{lax, numpy, random, tree};

use super::linear_algebra::{cho_solve, solve_lower};
use super::{Prepared, Size};

const RATE: f64 = 0.01;

/// Logarithms of what the covariance is made of.
#[derive(Clone, Pytree)]
struct Kernel {
    amplitude: Array,
    /// One for each feature.
    lengths: Array,
    noise: Array,
}

impl Kernel {
    /// Covariances of the function at the rows of `x` and of `y`.
    fn covariance(&self, x: &Array, y: &Array) -> Array {
        let scale = (-&self.lengths).exp();
        let (x, y) = (x * &scale, y * scale);
        let distance = numpy::expand_dims(&x, 1) - numpy::expand_dims(&y, 0);
        (2.0 * &self.amplitude - 0.5 * distance.square().sum_axes(-1)).exp()
    }

    /// The lower factor of the covariance of what is observed at `x`.
    fn factor(&self, x: &Array) -> Array {
        let noise = numpy::eye(x.shape()[0], DType::F64) * ((2.0 * &self.noise).exp() + 1e-8);
        linalg::cholesky(&(self.covariance(x, x) + noise), true)
    }
}

fn diagonal(x: &Array) -> Array {
    (x * numpy::eye(x.shape()[0], x.dtype())).sum_axes(-1)
}

/// The negative logarithm of the density of the observations, per observation.
fn misfit(kernel: Kernel, x: Array, y: Array) -> Array {
    let lower = kernel.factor(&x);
    let white = solve_lower(&lower, &y);
    let half_log = 0.5 * (2.0 * std::f64::consts::PI).ln();
    (0.5 * white.square() + diagonal(&lower).log() + half_log).mean()
}

/// Mean and variance of the function at new places.
fn predict(kernel: &Kernel, x: &Array, y: &Array, at: &Array) -> (Array, Array) {
    let lower = kernel.factor(x);
    let across = kernel.covariance(x, at);
    let mean = across.t().dot(&cho_solve(&lower, y));
    let explained = solve_lower(&lower, &across).square().sum_axes(0);
    (mean, (2.0 * &kernel.amplitude).exp() - explained)
}

/// The kernel after steps against the gradient, the misfits on the way, and predictions.
fn fit(
    kernel: Kernel,
    x: Array,
    y: Array,
    at: Array,
    steps: usize,
) -> (Kernel, Array, Array, Array) {
    let (kernel, misfits) = scan(
        |kernel: Kernel, (): ()| {
            let (value, gradient) = value_and_grad(misfit)(kernel.clone(), x.clone(), y.clone());
            let next = tree::map2(|k, g| k - RATE * g, &kernel, &gradient);
            (next.expect("a gradient is like its argument"), value)
        },
        kernel,
        (),
        steps,
    );
    let (mean, variance) = predict(&kernel, &x, &y, &at);
    (kernel, misfits, mean, variance)
}

pub(crate) fn prepare(size: Size) -> Prepared {
    let (count, features, places, steps) = size.pick((9, 2, 4, 3), (256, 3, 64, 10));
    let [for_x, for_noise, for_places] = random::split(&random::key(4), 3).unpack();
    let uniform =
        |key: &Array, rows: usize| random::uniform(key, &[rows, features], DType::F64, -2.0, 2.0);
    let x = uniform(&for_x, count);
    let noise = random::normal(&for_noise, &[count], DType::F64);
    let y = (2.0 * x.sum_axes(1)).sin() + 0.1 * noise;
    let kernel = Kernel {
        amplitude: Array::zeros(&[], DType::F64),
        lengths: Array::zeros(&[features], DType::F64),
        noise: lax::full(&[], -1.5, DType::F64),
    };
    let fit = move |kernel: Kernel, x: Array, y: Array, at: Array| fit(kernel, x, y, at, steps);
    Prepared::new(fit, (kernel, x, y, uniform(&for_places, places)))
}
