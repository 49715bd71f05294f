// JAX rebuilds whatever the treedef says; here the type says it, and the leaves must fit.
use jaxide_tree as tree;

fn main() {
    let (leaves, treedef) = tree::flatten::<f32, _>(&vec![1.0f32]);
    let _: Result<Vec<String>, _> = treedef.unflatten(leaves);
}
