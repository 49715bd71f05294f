//! Flax finds data assigned to a static attribute at run time; here the attribute has a type.

use jaxide::Array;
use jaxide_nnx::Module;

#[derive(Module)]
struct Named {
    name: &'static str,
}

fn main() {
    let mut named = Named { name: "first" };
    named.name = Array::from(1.0f32);
}
