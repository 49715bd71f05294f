//! Several modules stand in a `List`.

use jaxide_nnx::{Linear, Module};

#[derive(Module)]
struct Stack {
    layers: Vec<Linear>,
}

fn main() {}
