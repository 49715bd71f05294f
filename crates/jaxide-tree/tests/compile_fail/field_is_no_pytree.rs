// JAX finds out when a transformation meets the value.
use jaxide_tree::{self as tree, Pytree};

struct Logger;

#[derive(Pytree)]
struct Model {
    w: Vec<f32>,
    logger: Logger,
}

fn main() {
    let model = Model { w: vec![1.0], logger: Logger };
    tree::leaves::<f32, _>(&model);
}
