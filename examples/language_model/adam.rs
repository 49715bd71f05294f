//! The optimiser Adam for parameters of any structure.

use jaxide::prelude::*;
use jaxide::tree;

const MEAN_DECAY: f64 = 0.9;
const SQUARE_DECAY: f64 = 0.999;
const EPSILON: f64 = 1e-8;

/// Moving means of gradients and of their squares (Kingma and Ba, 2015).
#[derive(Clone, Pytree)]
pub(crate) struct Adam<P> {
    step: Array,
    mean: P,
    square: P,
}

impl<P: Pytree<Array>> Adam<P> {
    pub(crate) fn new(params: &P) -> Self {
        let zeros = || tree::map(|p| p * 0.0, params).expect("zeros have the same structure");
        Adam {
            step: Array::zeros(&[], DType::I32),
            mean: zeros(),
            square: zeros(),
        }
    }

    /// Parameters and means after a step against the gradient.
    pub(crate) fn update(&self, params: &P, gradient: &P, rate: f64) -> (P, Self) {
        let same = "gradients and means have the structure of the parameters";
        let step = &self.step + 1;
        let mean = tree::map2(
            |m, g| MEAN_DECAY * m + (1.0 - MEAN_DECAY) * g,
            &self.mean,
            gradient,
        )
        .expect(same);
        let square = tree::map2(
            |s, g| SQUARE_DECAY * s + (1.0 - SQUARE_DECAY) * g.square(),
            &self.square,
            gradient,
        )
        .expect(same);
        let time = step.astype(DType::F32);
        let bias = |decay: f64| 1.0 - Array::from(decay).pow(&time);
        let (mean_bias, square_bias) = (bias(MEAN_DECAY), bias(SQUARE_DECAY));
        let params = tree::map3(
            |p, m, s| p - rate * (m / &mean_bias) / ((s / &square_bias).sqrt() + EPSILON),
            params,
            &mean,
            &square,
        )
        .expect(same);
        (params, Adam { step, mean, square })
    }
}
