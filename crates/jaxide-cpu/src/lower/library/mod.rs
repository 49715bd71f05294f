//! Runtime kernels for the calls of a graph.

use super::graph::{Call, Graph, ValueId};
use super::program::LibraryCall;
use crate::runtime::{Kernel, KernelCall};
use jaxide_core::prims::Prim;
use jaxide_core::{Error, Result};

/// The kernel that computes `call` on arrays of these types.
///
/// # Errors
/// When there is none.
pub(crate) fn kernel(
    graph: &Graph,
    call: &Call,
    args: &[ValueId],
    results: &[ValueId],
) -> Result<LibraryCall> {
    let _ = (graph, args, results);
    match call {
        Call::Map(op) => Err(Error::unsupported(format!("{op:?} has no kernel"))),
        Call::Prim(prim) => Err(Error::unsupported(format!("{} has no kernel", prim.name()))),
    }
}
