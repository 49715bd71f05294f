//! A transformer language model (Vaswani et al., 2017), and a step of its training.

use jaxide::prelude::*;
use jaxide::{lax, nn, numpy, random};

use super::adam::Adam;

const RATE: f64 = 1e-3;

#[derive(Clone, Copy)]
pub(crate) struct Shape {
    pub(crate) vocabulary: usize,
    pub(crate) context: usize,
    pub(crate) width: usize,
    pub(crate) heads: usize,
    pub(crate) layers: usize,
}

#[derive(Clone, Pytree)]
struct Norm {
    scale: Array,
    offset: Array,
}

#[derive(Clone, Pytree)]
struct Block {
    attention_norm: Norm,
    qkv: Array,
    merge: Array,
    mlp_norm: Norm,
    up: Array,
    down: Array,
}

#[derive(Clone, Pytree)]
pub(crate) struct Model {
    tokens: Array,
    positions: Array,
    blocks: Vec<Block>,
    norm: Norm,
    #[pytree(static)]
    heads: usize,
}

#[derive(Clone, Pytree)]
pub(crate) struct State {
    pub(crate) model: Model,
    pub(crate) optimizer: Adam<Model>,
}

impl Norm {
    fn new(width: usize) -> Self {
        Norm {
            scale: Array::ones(&[width], DType::F32),
            offset: Array::zeros(&[width], DType::F32),
        }
    }

    fn forward(&self, x: &Array) -> Array {
        let centered = x - numpy::expand_dims(&x.mean_axes(-1), -1);
        let variance = numpy::expand_dims(&centered.square().mean_axes(-1), -1);
        centered * lax::rsqrt(&(variance + 1e-5)) * &self.scale + &self.offset
    }
}

impl Block {
    fn new(key: &Array, width: usize) -> Self {
        let [qkv, merge, up, down] = random::split(key, 4).unpack();
        let weight = |key: &Array, rows: usize, columns: usize| {
            random::normal(key, &[rows, columns], DType::F32) * 0.02
        };
        Block {
            attention_norm: Norm::new(width),
            qkv: weight(&qkv, width, 3 * width),
            merge: weight(&merge, width, width),
            mlp_norm: Norm::new(width),
            up: weight(&up, width, 4 * width),
            down: weight(&down, 4 * width, width),
        }
    }

    /// Every position looks at itself and those before it; `x` has shape `[batch, context, width]`.
    fn attention(&self, x: &Array, heads: usize) -> Array {
        let &[batch, context, width] = x.shape() else {
            panic!("three axes are needed")
        };
        let by_head = |x: &Array| {
            let shape = [batch, context, heads, width / heads].map(|length| length as i64);
            x.reshape(&shape).transpose(&[0, 2, 1, 3])
        };
        let qkv = lax::split(&x.matmul(&self.qkv), &[width; 3], 2);
        let [queries, keys, values] = [0, 1, 2].map(|part| by_head(&qkv[part]));

        let scale = 1.0 / ((width / heads) as f64).sqrt();
        let scores = queries.matmul(keys.transpose(&[0, 1, 3, 2])) * scale;
        let rows = lax::iota(DType::I32, &[context, context], 0);
        let visible = rows.ge(lax::iota(DType::I32, &[context, context], 1));
        let weights = nn::softmax(&numpy::where_(&visible, &scores, &Array::from(-1e9)), -1);

        let mixed = weights.matmul(values).transpose(&[0, 2, 1, 3]);
        let shape = [batch, context, width].map(|length| length as i64);
        mixed.reshape(&shape).matmul(&self.merge)
    }

    fn forward(&self, x: Array, heads: usize) -> Array {
        let x = &x + self.attention(&self.attention_norm.forward(&x), heads);
        let hidden = nn::gelu(&self.mlp_norm.forward(&x).matmul(&self.up), ());
        x + hidden.matmul(&self.down)
    }
}

impl Model {
    pub(crate) fn new(key: &Array, shape: Shape) -> Self {
        let [tokens, positions, blocks] = random::split(key, 3).unpack();
        let table =
            |key: &Array, rows: usize| random::normal(key, &[rows, shape.width], DType::F32) * 0.02;
        Model {
            tokens: table(&tokens, shape.vocabulary),
            positions: table(&positions, shape.context),
            blocks: lax::unstack(&random::split(&blocks, shape.layers), 0)
                .iter()
                .map(|key| Block::new(key, shape.width))
                .collect(),
            norm: Norm::new(shape.width),
            heads: shape.heads,
        }
    }

    /// How many tokens it looks at.
    pub(crate) fn context(&self) -> usize {
        self.positions.shape()[0]
    }

    /// Logits of the next token at each position of `ids`, `[batch, context]`.
    pub(crate) fn forward(&self, ids: &Array) -> Array {
        let start = self.tokens.index(ids) + &self.positions;
        let x = (self.blocks.iter()).fold(start, |x, block| block.forward(x, self.heads));
        self.norm.forward(&x).matmul(self.tokens.t())
    }
}

/// The mean negative log-probability of each next token.
fn loss(model: Model, text: Array) -> Array {
    let (context, classes) = (text.shape()[1] - 1, model.tokens.shape()[0]);
    let inputs = lax::slice_in_dim(&text, 0, context, 1, 1);
    let targets = lax::slice_in_dim(&text, 1, context + 1, 1, 1);
    let log_probabilities = nn::log_softmax(&model.forward(&inputs), -1);
    let right = nn::one_hot(&targets, classes, DType::F32);
    -(log_probabilities * right).sum_axes(-1).mean()
}

/// The state after a step on texts `[batch, context + 1]`, and the loss before it.
pub(crate) fn step(state: State, text: Array) -> (State, Array) {
    let (loss, gradient) = value_and_grad(loss)(state.model.clone(), text);
    let (model, optimizer) = state.optimizer.update(&state.model, &gradient, RATE);
    (State { model, optimizer }, loss)
}
