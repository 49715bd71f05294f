// JAX puts whatever the function gives in the place of the leaf, containers too.
use jaxide_tree as tree;

fn main() {
    let _ = tree::map(|x: &f32| vec![*x], &(1.0f32, 2.0f32));
}
