//! The regression of the example `gaussian_process`: descent along the gradient of the misfit, then predictions.

use jaxide::prelude::*;
use jaxide::{lax, random, tree};

use super::gaussian_regression::{Kernel, misfit, predict};
use super::{Prepared, Size};

const RATE: f64 = 0.01;

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
    let y = (x.sum_axes(1) * 2.0).sin() + noise * 0.1;
    let kernel = Kernel {
        amplitude: Array::zeros(&[], DType::F64),
        lengths: Array::zeros(&[features], DType::F64),
        noise: lax::full(&[], -1.5, DType::F64),
    };
    let fit = move |kernel: Kernel, x: Array, y: Array, at: Array| fit(kernel, x, y, at, steps);
    Prepared::new(fit, (kernel, x, y, uniform(&for_places, places)))
}
