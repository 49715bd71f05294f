//! A transformer of letters.

use jaxide::{Array, DType, nn, numpy, random};
use jaxide_nnx::{
    AttentionCall, Embed, LayerNorm, Linear, List, MultiHeadAttention, Rngs, module, observed,
};

pub(crate) const CONTEXT: usize = 64;
const HEADS: usize = 4;
const LAYERS: usize = 2;

module! {
    struct Block(width: usize, rngs: &Rngs) {
        norm1: LayerNorm = LayerNorm::new(width, rngs, ()),
        attention: MultiHeadAttention = MultiHeadAttention::new(HEADS, width, rngs, ()),
        norm2: LayerNorm = LayerNorm::new(width, rngs, ()),
        up: Linear = Linear::new(width, 4 * width, rngs, ()),
        down: Linear = Linear::new(4 * width, width, rngs, ()),
    }

    #[observed]
    fn call(&self, x: &Array) -> Array {
        let x = x + self.attention.call(&self.norm1.call(x), AttentionCall::new().is_causal(true));
        &x + self.down.call(&nn::gelu(&self.up.call(&self.norm2.call(&x)), true))
    }
}

module! {
    /// A model of so many letters, of `width` numbers each.
    pub(crate) struct Model(letters: usize, width: usize, rngs: &Rngs) {
        embed: Embed = Embed::new(letters, width, rngs, ()),
        places: Embed = Embed::new(CONTEXT, width, rngs, ()),
        blocks: List<Block> = (0..LAYERS).map(|_| Block::new(width, rngs)).collect(),
        norm: LayerNorm = LayerNorm::new(width, rngs, ()),
        out: Linear = Linear::new(width, letters, rngs, ()),
    }

    #[observed]
    /// What follows each of the letters `[batch, length]`, which stand at `places`, of shape `[length]`: logits.
    pub(crate) fn call(&self, letters: &Array, places: &Array) -> Array {
        let x = self.embed.call(letters) + self.places.call(places);
        let x = self.blocks.iter().fold(x, |x, block| block.call(&x));
        self.out.call(&self.norm.call(&x))
    }

    /// From now on letters come one by one.
    pub(crate) fn decode(&self) {
        let width = self.out.kernel.get().shape()[0];
        for block in self.blocks.iter() {
            block.attention.decode.set(true);
            block.attention.init_cache([1, CONTEXT, width], DType::F32);
        }
    }
}

/// A letter that may follow one at a place, drawn by the chances that the model gives.
pub(crate) fn next_letter(model: Model, letter: Array, place: Array, key: Array) -> Array {
    let logits = model.call(&letter.reshape([1, 1]), &place.reshape([1]));
    random::categorical(&key, &(logits.reshape([-1]) / 0.5), -1)
}

/// The places of a whole context.
pub(crate) fn all_places() -> Array {
    numpy::arange(CONTEXT, DType::I32)
}
