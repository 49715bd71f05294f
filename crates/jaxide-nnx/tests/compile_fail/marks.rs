//! Marks that mean nothing.

use jaxide::Array;
use jaxide_nnx::Module;

#[derive(Module)]
struct Twice {
    #[nnx(data, static)]
    table: Vec<Array>,
}

#[derive(Module)]
struct Unknown {
    #[nnx(frozen)]
    table: Vec<Array>,
}

#[derive(Module)]
struct Unnamed(Array);

#[derive(Module)]
enum Either {
    Left(Array),
}

fn main() {}
