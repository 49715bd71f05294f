//! Penalties of a logistic regression, learnt through its solution: Newton's method finds the weights, with directions by
//! conjugate gradients, and the implicit function theorem says how they move with the penalties.

use jaxide::prelude::*;
use jaxide::{custom_root, lax, random, value_and_grad_with_aux};

use super::conjugate_gradients::conjugate_gradients;
use super::{Prepared, Size};

const TOLERANCE: f64 = 1e-9;
const RATE: f64 = 2.0;

/// Features `[n, d]` and signs `[n]`.
#[derive(Clone, Pytree)]
struct Data {
    features: Array,
    signs: Array,
}

/// The mean negative log-probability of the signs.
fn misfit(weights: &Array, data: &Data) -> Array {
    let margins = &data.signs * data.features.dot(weights);
    ((-margins.abs()).exp().log1p() - margins.minimum(0.0)).mean()
}

/// What the weights minimise: each has its own penalty.
fn objective(weights: Array, penalties: Array, data: Data) -> Array {
    misfit(&weights, &data) + 0.5 * (penalties.exp() * weights.square()).sum()
}

/// The weights that minimise the objective.
fn fit(penalties: &Array, data: &Data) -> Array {
    let gradient = {
        let (penalties, data) = (penalties.clone(), data.clone());
        move |weights: Array| grad(objective)(weights, penalties.clone(), data.clone())
    };
    let newton = |_: &dyn Fn(Array) -> Array, start: Array| {
        let unfinished = |(_, slope, count): (Array, Array, Array)| {
            slope.square().sum().gt(TOLERANCE * TOLERANCE) & count.lt(30)
        };
        let improve = |(weights, slope, count): (Array, Array, Array)| {
            let hessian =
                |direction: Array| jvp(gradient.clone(), (weights.clone(),), (direction,)).1;
            let direction = conjugate_gradients(&hessian, slope, 1e-6, 100);
            let weights = &weights - direction;
            (weights.clone(), gradient(weights), count + 1)
        };
        let slope = gradient(start.clone());
        while_loop(
            unfinished,
            improve,
            (start, slope, Array::zeros(&[], DType::I32)),
        )
        .0
    };
    let start = Array::zeros(penalties.shape(), DType::F64);
    let tangent_solve =
        |map: &dyn Fn(Array) -> Array, rhs: Array| conjugate_gradients(map, rhs, 1e-12, 200);
    custom_root(gradient.clone(), start, newton, tangent_solve)
}

/// The misfit of the fitted weights on other examples, and the weights.
fn validation(penalties: Array, training: Data, test: Data) -> (Array, Array) {
    let weights = fit(&penalties, &training);
    (misfit(&weights, &test), weights)
}

/// Penalties after steps against their gradient, with the misfits on the way and the last gradient and weights.
fn learn(
    penalties: Array,
    training: Data,
    test: Data,
    steps: usize,
) -> (Array, Array, Array, Array) {
    let step = |penalties: Array, (): ()| {
        let slope = value_and_grad_with_aux(validation);
        let ((value, weights), gradient) = slope(penalties.clone(), training.clone(), test.clone());
        (penalties - RATE * &gradient, (value, gradient, weights))
    };
    let (penalties, (values, gradients, weights)) = scan(step, penalties, (), steps);
    (penalties, values, gradients, weights)
}

pub(crate) fn prepare(size: Size) -> Prepared {
    let (count, features, steps) = size.pick((16, 3, 2), (500, 40, 5));
    let [for_training, for_test, for_noise] = random::split(&random::key(7), 3).unpack();
    let noise = random::normal(&for_noise, &[2, count], DType::F64);
    let data = |key: &Array, noise: Array| {
        let features = random::normal(key, &[count, features], DType::F64);
        // Only every second feature matters.
        let matters = lax::iota(DType::F64, &[features.shape()[1]], 0) % 2.0;
        let signs = (features.dot(&matters) + 2.0 * noise).sign();
        Data { features, signs }
    };
    let training = data(&for_training, noise.index(0));
    let test = data(&for_test, noise.index(1));
    let penalties = lax::full(&[features], -3.0, DType::F64);
    let learn =
        move |penalties: Array, training: Data, test: Data| learn(penalties, training, test, steps);
    Prepared::new(learn, (penalties, training, test))
}
