//! A variable is no part of a structure: Flax's `nnx.static(param)`.

use jaxide_nnx::{Module, Param, Variable};

#[derive(Module)]
struct Fixed {
    #[nnx(static)]
    weight: Variable<Param>,
}

fn main() {}
