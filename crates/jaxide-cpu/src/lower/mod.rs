//! jaxpr → loop IR.

mod element;
mod emit;
mod fuse;
pub(crate) mod graph;
