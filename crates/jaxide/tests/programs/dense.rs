//! Affine layers.

use jaxide::prelude::*;
use jaxide::random;

#[derive(Clone, Pytree)]
pub(crate) struct Dense {
    pub(crate) weight: Array,
    pub(crate) bias: Array,
}

impl Dense {
    pub(crate) fn new(key: &Array, inputs: usize, outputs: usize) -> Self {
        Dense {
            weight: random::normal(key, &[inputs, outputs], DType::F32)
                * (1.0 / inputs as f64).sqrt(),
            bias: Array::zeros(&[outputs], DType::F32),
        }
    }

    pub(crate) fn forward(&self, x: &Array) -> Array {
        x.dot(&self.weight) + &self.bias
    }
}
