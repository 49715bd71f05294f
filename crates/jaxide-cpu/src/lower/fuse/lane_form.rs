//! Which loops and branches run inside a lane program, with their state in registers.

use crate::lower::emit::{Binding, Emitter, Layout, Memory};
use crate::lower::graph::{Graph, NodeId, Op, Region, ValueId};
use jaxide_core::Dims;
use std::collections::HashSet;

/// Lane programs with more values than this are not made; the state of such loops goes to memory.
const MOST_VALUES: usize = 8000;
/// Elements computed while trying.
const BUDGET: usize = 60_000;
/// A loop inside a lane that is longer than this is better run across lanes, unless there are lanes enough.
const LONGEST_FOLD: usize = 64;
/// So many lanes make up for loops inside them.
const MANY_LANES: usize = 8;

/// The axes that a loop or branch has as lanes when its state is in registers; `None` when it cannot be.
pub(crate) fn lane_form(graph: &Graph, id: NodeId) -> Option<Dims> {
    candidates(graph, id)
        .into_iter()
        .find(|axes| fits(graph, id, axes))
}

/// Lane axes to try: first the most.
fn candidates(graph: &Graph, id: NodeId) -> Vec<Dims> {
    let node = graph.node(id);
    let carried: &[ValueId] = match &node.op {
        Op::Scan { carries, .. } => &node.results[..*carries],
        Op::While { cond, .. } => {
            let shape = graph.shape(cond.results[0]);
            if !shape.is_empty() {
                return vec![Dims::from_slice(shape)];
            }
            &node.results
        }
        _ => &node.results,
    };
    let largest = carried
        .iter()
        .max_by_key(|&&value| graph.value(value).len());
    let shape = largest.map_or(&[][..], |&value| graph.shape(value));
    (0..=shape.len())
        .rev()
        .map(|rank| Dims::from_slice(&shape[..rank]))
        .collect()
}

fn fits(graph: &Graph, id: NodeId, axes: &[usize]) -> bool {
    if axes.contains(&0) {
        return false;
    }
    let mut inside = HashSet::new();
    graph
        .node(id)
        .op
        .visit_regions(&mut |region| define(graph, region, &mut inside));
    let node = graph.node(id);
    inside.extend(&node.results);
    let memory = Outside { graph, inside };
    let mut emitter = Emitter::new(graph, &memory, "try", BUDGET);
    for &length in axes {
        let index = emitter.b.outer();
        emitter.add_lane_axis(length, Binding::index(index));
    }
    let lanes: usize = axes.iter().product();
    if emitter.emit_control(id).is_err()
        || (lanes < MANY_LANES && emitter.longest_fold > LONGEST_FOLD)
    {
        return false;
    }
    emitter
        .b
        .finish()
        .is_ok_and(|body| body.values().len() <= MOST_VALUES)
}

/// All values that a region defines.
fn define(graph: &Graph, region: &Region, inside: &mut HashSet<ValueId>) {
    inside.extend(&region.params);
    for &id in &region.nodes {
        let node = graph.node(id);
        inside.extend(&node.results);
        node.op
            .visit_regions(&mut |inner| define(graph, inner, inside));
    }
}

/// Everything outside the loop is in memory, but for what needs none.
struct Outside<'a> {
    graph: &'a Graph,
    inside: HashSet<ValueId>,
}

impl Memory for Outside<'_> {
    fn layout(&self, value: ValueId) -> Option<Layout> {
        let free = matches!(self.graph.op(value), Some(Op::Splat(_) | Op::Iota { .. }));
        (!free && !self.inside.contains(&value)).then(|| Layout::dense(self.graph.shape(value)))
    }

    fn is_window(&self, _value: ValueId) -> bool {
        false
    }
}
