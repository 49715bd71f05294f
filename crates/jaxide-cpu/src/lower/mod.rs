//! jaxpr → loop IR.
//!
//! ```text
//!  jaxpr ──simplify──▶ jaxpr ──graph──▶ values and nodes ──fuse──▶ plan ──assemble──▶ loop IR (program)
//!                                                           │                            ▲
//!                                                           └──────emit──▶ lane programs ┘
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
mod functions;
mod fuse;
pub(crate) mod graph;
mod library;
pub(crate) mod program;
mod text;

pub use text::Lowered;
pub(crate) use text::{program as program_for_text, text};

use crate::runtime::KernelCall;
use crate::stages::{Stage, StageTimes};
use fuse::LaneForms;
use graph::{Graph, Lanes};
use jaxide_core::simplify::simplify;
use jaxide_core::{ClosedJaxpr, Error, Result};

/// The kernel whose text an object has.
///
/// ```
/// use jaxide_cpu::runtime::Context;
///
/// let text = concat!("jaxide ", env!("CARGO_PKG_VERSION"), " transpose 4 [2,3] [1,0]");
/// let (x, mut y) = ([1, 2, 3, 4, 5, 6], [0; 6]);
/// let operands = (&[bytemuck::cast_slice(&x)], &mut [bytemuck::cast_slice_mut(&mut y)]);
/// jaxide_cpu::kernel(text)?.call(operands.0, operands.1, &Context::default())?;
/// assert_eq!(y, [1, 4, 2, 5, 3, 6]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// When it is none, or was written by another version.
pub fn kernel(text: &str) -> Result<Box<KernelCall>> {
    library::Recipe::read(text)?.kernel()
}

/// Lowers a closed jaxpr to the loop IR, which may overwrite the arguments at the positions `donated`. If it is to be `checked`, it is
/// verified, and temporaries have fences; if it is to be `named`, steps know their equations.
///
/// # Errors
/// When a primitive has no native form, values of constants are not known, or an array is too large.
pub(crate) fn lower(
    closed: &ClosedJaxpr,
    donated: &[usize],
    checked: bool,
    named: bool,
    times: &mut StageTimes,
) -> Result<program::Program> {
    let (graph, plan) = plan(closed, named, times)?;
    let mut program = assemble::assemble(&graph, &plan, donated, times)?;
    times.measure(Stage::Loops, || {
        program.plan_memory(checked);
        if checked || cfg!(debug_assertions) {
            program.verify()?;
        }
        Ok(program)
    })
}

/// The graph of a jaxpr, and its plan. Lanes of a loop stop one by one where all such loops can be parts of nests.
fn plan(closed: &ClosedJaxpr, named: bool, times: &mut StageTimes) -> Result<(Graph, fuse::Plan)> {
    let simple = times.measure(Stage::Simplify, || simplify(closed))?;
    let closed = &simple;
    let (mut graph, mut lane_forms) = graph_with(closed, Lanes::Apart, named, times)?;
    if !lane_forms.stop_apart(&graph) {
        (graph, lane_forms) = graph_with(closed, Lanes::Together, named, times)?;
    }
    let plan = times.measure(Stage::Plan, || fuse::plan(&graph, lane_forms));
    Ok((graph, plan))
}

fn graph_with(
    closed: &ClosedJaxpr,
    lanes: Lanes,
    named: bool,
    times: &mut StageTimes,
) -> Result<(Graph, LaneForms)> {
    let graph = times.measure(Stage::Graph, || {
        let mut graph = graph::build(closed, lanes, named)?;
        graph.turn_products();
        graph.drop_unread_factors();
        graph.accumulate_in_place();
        graph.combine_stacks();
        graph.turn_columns();
        graph.guard_updates();
        graph.sum_vector_products();
        graph.block_rows();
        Ok::<_, Error>(graph)
    })?;
    let lane_forms = times.measure(Stage::Plan, || LaneForms::of(&graph));
    Ok((graph, lane_forms))
}
