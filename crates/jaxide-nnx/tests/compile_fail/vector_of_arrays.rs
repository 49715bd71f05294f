//! Flax finds data in a static container when it is assigned.

use jaxide::Array;
use jaxide_nnx::Module;

#[derive(Module)]
struct Masks {
    masks: Vec<Array>,
}

fn main() {}
