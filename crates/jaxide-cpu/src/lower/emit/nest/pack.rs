//! Operands that the lanes would read with gaps, over and over: they are copied first, so that the lanes' axis comes last.

use super::plan::{LoopPlan, Role};
use super::{Block, Kernel, Schedule, Trial};
use crate::lanes::{Access, Index};
use crate::lower::emit::{Binding, Emitted, Emitter, Ix, Ixs, Layout, Memory, Operand, Refusal};
use crate::lower::graph::{Graph, ValueId};
use std::collections::HashMap;

/// Each element of a packed operand is read at least this often.
const REUSE: usize = 4;
/// Smaller domains are not worth a copy.
const SMALLEST: usize = 1 << 13;
/// Larger operands are not copied.
const LARGEST: usize = 1 << 20;

/// The operands to pack, with the axis that the lanes run along.
pub(super) fn packings(
    graph: &Graph,
    memory: &dyn Memory,
    plan: &LoopPlan,
    trial: &Trial,
    block: &Block,
) -> HashMap<ValueId, usize> {
    let mut packed = HashMap::new();
    let points: usize = block.lengths.iter().product();
    let lane = plan
        .groups
        .iter()
        .find(|group| group.role == Role::Lane && group.axes.len() == 1);
    let Some(var) = lane.and_then(|lane| trial.axes.vars[lane.axes.start]) else {
        return packed;
    };
    if points < SMALLEST {
        return packed;
    }
    for mention in &trial.mentions {
        let Some(value) = mention.value.filter(|_| !mention.store && !mention.dynamic) else {
            continue;
        };
        let gap = mention
            .terms
            .iter()
            .any(|&(own, step)| own == var && step.abs() > 1);
        let length = graph.value(value).len();
        // A window is read through a pointer of its own.
        let stored = memory.layout(value).is_some();
        if !gap
            || !stored
            || length > LARGEST
            || length * REUSE > points
            || packed.contains_key(&value)
        {
            continue;
        }
        let along = |ix: &Ix| ix.terms.iter().any(|term| term.0 == var);
        let mut axes = (0..mention.at.len()).filter(|&axis| along(&mention.at[axis]));
        if let (Some(axis), None) = (axes.next(), axes.next())
            && mention.at[axis]
                .terms
                .iter()
                .all(|&(own, step)| own != var || step == 1)
        {
            packed.insert(value, axis);
        }
    }
    packed
}

/// The layout with an axis last.
pub(super) fn layout(shape: &[usize], last: usize) -> Layout {
    let mut layout = Layout::dense(shape);
    let mut step = shape[last].max(1) as i64;
    for axis in (0..shape.len()).rev().filter(|&axis| axis != last) {
        layout.strides[axis] = step;
        step *= shape[axis].max(1) as i64;
    }
    layout.strides[last] = 1;
    layout
}

/// Copies a value into its packed layout.
pub(super) fn kernel(
    graph: &Graph,
    memory: &dyn Memory,
    value: ValueId,
    last: usize,
    name: &str,
) -> Emitted<Kernel> {
    let mut emitter = Emitter::new(graph, memory, name, 1);
    let shape = graph.shape(value);
    let mut outer = Vec::new();
    let at: Ixs = (0..shape.len())
        .map(|axis| {
            let index = if axis == last {
                Index::Lane
            } else if shape[axis] == 1 {
                return Ix::constant(0);
            } else {
                outer.push(shape[axis]);
                emitter.b.outer()
            };
            Ix::var(emitter.vars.add(shape[axis], Binding::index(index)))
        })
        .collect();
    let dense = Layout::dense(shape);
    let element = emitter.load(Operand::Value(value), value, &dense, &at);
    // Elsewhere the copy is only read.
    let pointer = emitter.b.pointer(Access::ReadWrite);
    emitter.operands.push(Operand::Packed(value));
    emitter.pointers.push(pointer);
    emitter.store(
        pointer,
        graph.dtype(value),
        &layout(shape, last),
        &at,
        &element,
    );
    let operands = emitter.operands;
    let body = emitter.b.finish().map_err(|_| Refusal::TooLarge)?;
    Ok(Kernel {
        body,
        operands,
        schedule: Schedule {
            outer,
            rows: None,
            chunk: None,
            parts: None,
            lanes: shape[last],
        },
    })
}
