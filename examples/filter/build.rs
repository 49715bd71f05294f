//! Compiles the filter.

fn main() {
    jaxide_build::compile("filter.jaxpr").expect("the filter is a program");
}
