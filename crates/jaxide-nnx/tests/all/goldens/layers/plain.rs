//! Pooling, dropout and what else is made of few operations.

use jaxide::{Array, DType, lax::Padding, numpy};
use jaxide_nnx::{
    Dropout, DropoutOptions, Module, PReLU, Rngs, avg_pool, combine_masks, make_attention_mask,
    make_attention_mask_with, make_causal_mask, max_pool, min_pool,
};
use serde_json::Value;

use super::{Config, check};
use crate::goldens::case::Case;

/// A layer without variables.
#[derive(Clone, Module)]
struct Nothing {}

fn padding(value: &Value) -> Padding {
    match value.as_str() {
        Some("SAME") => Padding::Same,
        Some("VALID") => Padding::Valid,
        _ => {
            let edges = value.as_array().expect("edges").iter().map(|edges| {
                let edge = |place: usize| edges[place].as_i64().expect("an edge");
                (edge(0), edge(1))
            });
            Padding::Explicit(edges.collect())
        }
    }
}

pub(super) fn layer(case: &Case, config: &Config<'_>, rngs: &Rngs) {
    match case.str("layer") {
        "Pool" => {
            let (window, strides) = (config.sizes("window"), config.sizes("strides"));
            let (padding, all) = (
                padding(&config.0["padding"]),
                config.flag("count_include_pad", true),
            );
            let kind = config.0["kind"].as_str().expect("a kind");
            check(case, Nothing {}, |_, x| {
                vec![match kind {
                    "max" => max_pool(&x[0], &window, &strides, padding.clone()),
                    "min" => min_pool(&x[0], &window, &strides, padding.clone()),
                    "avg" => avg_pool(&x[0], &window, &strides, padding.clone(), all),
                    other => panic!("{other} is no kind of pooling"),
                }]
            });
        }
        "Dropout" => {
            let options = DropoutOptions::new()
                .broadcast_dims(config.axes("broadcast_dims").expect("axes"))
                .deterministic(config.flag("deterministic", false));
            let named = config.0["rng_collection"].as_str();
            let streams = named.map(|name| Rngs::new(0).with(name, 5));
            let options = match named {
                Some(name) => options.rng_collection(name),
                None => options,
            };
            let rate = config.number("rate", 0.0);
            let layer = Dropout::new(rate, streams.as_ref().unwrap_or(rngs), options);
            let calls = case.0["outputs"].as_array().expect("outputs").len();
            check(case, layer, |layer, x| {
                (1..=calls)
                    .map(|factor| layer.call(&(factor as f64 * &x[0])))
                    .collect()
            });
        }
        "PReLU" => {
            let slope = config.number("negative_slope", 0.01) as f32;
            let layer = PReLU::new(slope);
            if config.param_dtype() != DType::F32 {
                layer
                    .negative_slope
                    .update(|slope| slope.astype(config.param_dtype()));
            }
            check(case, layer, |layer, x| vec![layer.call(&x[0])]);
        }
        "Masks" => check(case, Nothing {}, |_, x| {
            let (queries, keys) = (&x[0], &x[1]);
            let causal = make_causal_mask(queries);
            let some = |x: &Array| numpy::greater(x, 0);
            let seen = make_attention_mask(&some(queries), &some(keys));
            let square = make_attention_mask_with(
                queries,
                queries,
                |q, k| numpy::greater_equal(q, k),
                0,
                DType::F32,
            );
            let both = combine_masks(
                &[Some(causal.clone()), None, Some(square.clone())],
                DType::F32,
            );
            vec![causal, seen, square, both.expect("a mask")]
        }),
        other => panic!("{other} is no plain layer"),
    }
}
