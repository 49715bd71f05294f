// A typed tree has leaves of one type; `Tree` with an enum as leaf type takes any.
use jaxide_tree as tree;

fn main() {
    tree::leaves::<f32, _>(&(1.0f32, "two"));
}
