//! The network.

use jaxide::lax::Padding::Valid;
use jaxide::{Array, nn::relu};
use jaxide_nnx::{BatchNorm, Conv, Dropout, Linear, Rngs, max_pool, module};

module! {
    pub(crate) struct Cnn(rngs: &Rngs) {
        conv1: Conv = Conv::new(1, 16, [3, 3], rngs, ()),
        norm1: BatchNorm = BatchNorm::new(16, rngs, ()),
        conv2: Conv = Conv::new(16, 32, [3, 3], rngs, ()),
        norm2: BatchNorm = BatchNorm::new(32, rngs, ()),
        dropout: Dropout = Dropout::new(0.25, rngs, ()),
        hidden: Linear = Linear::new(128, 64, rngs, ()),
        out: Linear = Linear::new(64, 10, rngs, ()),
    }

    /// For each image of `[n, 8, 8, 1]` the logits of the ten digits.
    pub(crate) fn call(&self, images: &Array) -> Array {
        let x = max_pool(&relu(&self.norm1.call(&self.conv1.call(images))), &[2, 2], &[2, 2], Valid);
        let x = max_pool(&relu(&self.norm2.call(&self.conv2.call(&x))), &[2, 2], &[2, 2], Valid);
        let x = self.dropout.call(&x.reshape([x.shape()[0] as i64, -1]));
        self.out.call(&relu(&self.hidden.call(&x)))
    }
}
