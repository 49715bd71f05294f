//! jaxpr → loop IR.

pub(crate) mod graph;
