//! Recurrent layers.

use jaxide::Array;
use jaxide::tree::{self, Pytree};
use jaxide_nnx::{
    Bidirectional, Cell, CellOptions, GRUCell, LSTMCell, Module, OptimizedLSTMCell, RNN, RNNCall,
    RNNOptions, Rngs, SimpleCell,
};

use super::{Config, check};
use crate::goldens::case::Case;

type Pair = (Array, Array);

fn step<C: Cell<Carry = Array>>(cell: &C, x: &[Array]) -> Vec<Array> {
    let (h, y) = cell.step(x[0].clone(), &x[1]);
    vec![h, y]
}

fn pair_step<C: Cell<Carry = Pair>>(cell: &C, x: &[Array]) -> Vec<Array> {
    let ((c, h), y) = cell.step((x[0].clone(), x[1].clone()), &x[2]);
    vec![c, h, y]
}

/// The arrays of a carry, and an output.
fn flat<Carry: Pytree<Array>>((carry, outputs): (Carry, Array), carries: bool) -> Vec<Array> {
    if !carries {
        return vec![outputs];
    }
    let mut arrays = tree::leaves::<Array, Carry>(&carry);
    arrays.push(outputs);
    arrays
}

fn lengths(x: &[Array]) -> RNNCall {
    RNNCall::new().seq_lengths(x.get(1).cloned())
}

fn rnn<C: Cell + Module + 'static>(case: &Case, config: &Config<'_>, cell: C) {
    let options = RNNOptions::new()
        .time_major(config.flag("time_major", false))
        .reverse(config.flag("reverse", false))
        .keep_order(config.flag("keep_order", false));
    // Cases that name no cell give outputs alone.
    let carries = config.0["cell"].is_string();
    check(case, RNN::new(cell, options), |rnn, x| {
        flat(rnn.call_with(&x[0], None, lengths(x)), carries)
    });
}

pub(super) fn layer(case: &Case, config: &Config<'_>, rngs: &Rngs) {
    let (inputs, hidden) = (config.size("in_features"), config.size("hidden_features"));
    let options = CellOptions::new()
        .residual(config.flag("residual", false))
        .dtype(config.dtype("dtype"))
        .param_dtype(config.param_dtype());
    match case.str("layer") {
        "LSTMCell" => check(
            case,
            LSTMCell::new(inputs, hidden, rngs, options),
            pair_step,
        ),
        "OptimizedLSTMCell" => {
            let cell = OptimizedLSTMCell::new(inputs, hidden, rngs, options);
            check(case, cell, pair_step);
        }
        "GRUCell" => check(case, GRUCell::new(inputs, hidden, rngs, options), step),
        "SimpleCell" => check(case, SimpleCell::new(inputs, hidden, rngs, options), step),
        "RNN" => match config.0["cell"].as_str() {
            Some("LSTMCell") => rnn(case, config, LSTMCell::new(inputs, hidden, rngs, ())),
            _ => rnn(case, config, SimpleCell::new(inputs, hidden, rngs, ())),
        },
        "RNN(GRUCell)" => rnn(case, config, GRUCell::new(inputs, hidden, rngs, ())),
        "Bidirectional" => {
            let rnn = || RNN::new(GRUCell::new(inputs, hidden, rngs, ()), ());
            let carries = config.flag("carries", false);
            check(case, Bidirectional::new(rnn(), rnn(), ()), |both, x| {
                flat(both.call_with(&x[0], None, lengths(x)), carries)
            });
        }
        other => panic!("{other} is not recurrent"),
    }
}
