//! jaxpr → loop IR.

mod element;
mod emit;
pub(crate) mod graph;
