use jaxide_tree::IntoAxes;

fn vmap(in_axes: impl IntoAxes) {
    in_axes.into_axes();
}

fn main() {
    vmap((0, None, [1, -1]));
    vmap((0, "batch"));
}
