//! An array is no part of a structure: Flax's `nnx.static(array)`.

use jaxide::Array;
use jaxide_nnx::Module;

#[derive(Module)]
struct Fixed {
    #[nnx(static)]
    table: Array,
}

fn main() {}
