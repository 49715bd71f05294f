// The derive macro that `jaxide` offers knows the leaf, and points at the fields; JAX finds out when a transformation
// meets the value.
extern crate self as jaxide;

pub mod tree {
    pub use jaxide_tree::*;
}

#[derive(Clone)]
pub struct Array;
tree::leaf!(Array);

use jaxide_tree::JaxidePytree as Pytree;

struct Logger;

#[derive(Pytree)]
struct Model {
    weights: Vec<Array>,
    logger: Logger,
    width: usize,
}

#[derive(Pytree)]
enum Layer<T> {
    Dense(T, Option<Array>),
    Named(Array, String),
}

#[derive(Pytree)]
struct Chain {
    first: Array,
    rest: Option<Box<Chain>>,
    #[pytree(static)]
    length: usize,
}

fn main() {}
