//! jaxpr → loop IR.
//!
//! ```text
//!  jaxpr ──graph──▶ values and nodes ──fuse──▶ plan ──assemble──▶ loop IR (program)
//!                                        │                            ▲
//!                                        └──────emit──▶ lane programs ┘
//! ```
//!
//! * [`graph`]: calls inlined, primitives as few operations, loops as regions that add to sums in place;
//! * [`fuse`]: which values get memory, and which are computed by the same loops;
//! * [`emit`]: elements of fused values as lane programs, [`element`]: what operations are on each element type;
//! * [`assemble`]: places, in-place updates, loops and branches; [`library`]: the runtime's kernels;
//! * [`program`]: the result, printable.

// Sizes, offsets and counts have 64 bits; what must be narrower is checked where it becomes so.
#![cfg_attr(not(test), deny(clippy::cast_possible_truncation))]

mod assemble;
mod element;
pub(crate) mod emit;
mod fuse;
pub(crate) mod graph;
mod library;
pub(crate) mod program;
mod text;

pub use text::Lowered;
pub(crate) use text::text;

use crate::stages::{Stage, StageTimes};
use graph::Lanes;
use jaxide_core::{ClosedJaxpr, Error, ErrorKind, Result};

/// Lowers a closed jaxpr to the loop IR, which may overwrite the arguments at the positions `donated`. If it is to be `checked`, it is
/// verified, temporaries have fences, and steps know their equations.
///
/// # Errors
/// When a primitive has no native form, values of constants are not known, or an array is too large.
pub(crate) fn lower(
    closed: &ClosedJaxpr,
    donated: &[usize],
    checked: bool,
    times: &mut StageTimes,
) -> Result<program::Program> {
    for lanes in [Lanes::Apart, Lanes::Together] {
        let graph = times.measure(Stage::Graph, || {
            let mut graph = graph::build(closed, lanes, checked)?;
            graph.accumulate_in_place();
            Ok::<_, Error>(graph)
        })?;
        if let Some(mut program) = assemble::assemble(&graph, donated, times)? {
            times.measure(Stage::Loops, || {
                program.plan_memory(checked);
                if checked || cfg!(debug_assertions) {
                    program.verify()?;
                }
                Ok::<_, Error>(())
            })?;
            return Ok(program);
        }
    }
    Err(Error::new(
        ErrorKind::Internal,
        "a loop whose lanes stop together has lanes that stop on their own",
    ))
}
