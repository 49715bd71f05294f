//! The language model of the example `language_model`, trained with Adam.

use jaxide::prelude::*;
use jaxide::{lax, numpy, random};

use super::adam::Adam;
use super::language_model::{Model, Shape, State, step};
use super::{Prepared, Size};

/// One step for each batch of texts, `[steps, batch, context + 1]`.
fn train(mut state: State, batches: Array) -> (State, Array) {
    let mut losses = Vec::new();
    for text in lax::unstack(&batches, 0) {
        let (next, loss) = step(state, text);
        state = next;
        losses.push(loss);
    }
    (state, numpy::stack(&losses, 0))
}

pub(crate) fn prepare(size: Size) -> Prepared {
    let shape = size.pick(
        Shape {
            vocabulary: 11,
            context: 5,
            width: 8,
            heads: 2,
            layers: 2,
        },
        Shape {
            vocabulary: 256,
            context: 64,
            width: 128,
            heads: 4,
            layers: 2,
        },
    );
    let (steps, batch) = size.pick((3, 2), (1, 16));
    let [for_model, for_texts] = random::split(&random::key(0), 2).unpack();
    let model = Model::new(&for_model, shape);
    let optimizer = Adam::new(&model);
    let texts = random::randint(
        &for_texts,
        &[steps, batch, model.context() + 1],
        0,
        shape.vocabulary as i64,
        DType::I32,
    );
    Prepared::new(train, (State { model, optimizer }, texts))
}
