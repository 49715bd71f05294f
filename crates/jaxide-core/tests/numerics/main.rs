//! What the interpreter computes, against numbers from elsewhere and against laws.

mod functions;
mod matrices;
mod products;

use jaxide_core::{Tensor, eval, parse};

/// The results of a program in text.
#[track_caller]
fn run(text: &str, args: &[Tensor]) -> Vec<Tensor> {
    let jaxpr = parse(text).unwrap_or_else(|error| panic!("{text}\n{error}"));
    eval::eval(&jaxpr, args).unwrap_or_else(|error| panic!("{text}\n{error}"))
}
