//! jaxpr → loop IR.

mod element;
mod assemble;
mod emit;
mod fuse;
mod library;
mod program;
pub(crate) mod graph;
