// JAX finds out when two treedefs are compared.
use jaxide_tree::Pytree;

#[derive(Clone, Pytree)]
#[pytree(leaf)]
struct Array(Vec<f32>);

#[derive(Pytree)]
struct Linear {
    w: Array,
    #[pytree(static)]
    mask: Option<Array>,
}

fn main() {}
