// JAX finds out when it hashes the treedef.
use jaxide_tree::Pytree;

#[derive(Pytree)]
struct Dropout {
    mask: Vec<f32>,
    #[pytree(static)]
    rate: f32,
}

fn main() {}
