//! Rough costs of computing one element, in simple operations.

use super::Fuser;
use super::storage::FEW_TO_SEE;
use crate::lower::emit::UNROLL;
use crate::lower::graph::{Graph, Node, NodeId, Op, Region, ValueId, own_cost, turns};
use jaxide_core::DType;
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};

/// Costs are not told apart beyond this.
const MOST: usize = 400;

/// A value that is more operations than this away from stored ones is stored.
const DEEP: u32 = 150;

/// The cost of one element of each value of a region, with everything computed in place.
#[derive(Default)]
pub(super) struct Costs {
    of: HashMap<ValueId, usize>,
    /// Values all of whose elements are one constant.
    uniform: HashSet<ValueId>,
    depth: HashMap<ValueId, u32>,
    level: HashMap<ValueId, u32>,
    copies: HashMap<ValueId, usize>,
    /// Arrays of indices whose numbers are arrays side by side: of such a concatenation each element is of a part that is known.
    columns: HashSet<ValueId>,
    /// Those of them at whose indices windows of several elements are.
    of_windows: HashSet<ValueId>,
    /// Slices out of memory that start where memory says, and reshapes of them: each of their elements is a load.
    windows: HashSet<ValueId>,
}

impl Costs {
    /// Nothing is known yet but what is read as an array of indices.
    pub(super) fn of_region(graph: &Graph, region: &Region) -> Costs {
        let mut costs = Costs::default();
        for &id in &region.nodes {
            let node = graph.node(id);
            let Op::Gather(spec) = &node.op else { continue };
            let indices = node.args[1];
            let Some(made) = graph.def(indices).map(|id| graph.node(id)) else {
                continue;
            };
            let last = graph.shape(indices).len() - 1;
            let single = |&part: &ValueId| graph.shape(part)[last] == 1;
            if matches!(made.op, Op::Concat { axis } if axis == last)
                && made.args.iter().all(single)
            {
                costs.columns.insert(indices);
                if spec.slice_sizes.iter().any(|&size| size > 1) {
                    costs.of_windows.insert(indices);
                }
            }
        }
        costs
    }

    /// Whether a value is an array of indices made of columns.
    pub(super) fn is_of_columns(&self, value: ValueId) -> bool {
        self.columns.contains(&value)
    }

    /// Whether several elements are read at each index of such an array.
    pub(super) fn is_of_windows(&self, value: ValueId) -> bool {
        self.of_windows.contains(&value)
    }

    /// The cost of computing an element; that of a load where the value is not of this region.
    pub(super) fn of(&self, value: ValueId) -> usize {
        self.of.get(&value).copied().unwrap_or(1)
    }

    /// The cost of computing a term of a reduction where it is summed up: there a slice out of memory is a load.
    pub(super) fn of_term(&self, graph: &Graph, value: ValueId) -> usize {
        let load = |value: &ValueId| {
            if self.windows.contains(value) {
                1
            } else {
                self.of(*value)
            }
        };
        let node = graph.def(value).map(|id| graph.node(id));
        if let Some(Node {
            op: Op::Map(op),
            args,
            ..
        }) = node
            && self.is_of_region(value)
        {
            return op.cost() + args.iter().map(load).sum::<usize>();
        }
        load(&value)
    }

    /// Whether a step of this region computes a value.
    pub(super) fn is_of_region(&self, value: ValueId) -> bool {
        self.of.contains_key(&value)
    }

    /// The number of operations between a value and stored ones.
    pub(super) fn depth(&self, value: ValueId) -> u32 {
        self.depth.get(&value).copied().unwrap_or(0)
    }

    /// Whether a value is so far from stored ones that it is stored itself.
    pub(super) fn is_deep(&self, value: ValueId) -> bool {
        self.depth(value) == DEEP
    }

    /// How many elements of stored values an element is computed from, as far as reductions on the way are written out.
    pub(super) fn copies(&self, value: ValueId) -> usize {
        self.copies.get(&value).copied().unwrap_or(1)
    }

    /// How many steps a value waits for: reductions, calls, and stored values that are read at other places.
    pub(super) fn level(&self, value: ValueId) -> u32 {
        self.level.get(&value).copied().unwrap_or(0)
    }
}

impl Fuser<'_> {
    /// Adds the costs of a node's results; one that is in memory costs a load.
    pub(super) fn cost_of_node(&self, id: NodeId, forced: &HashSet<ValueId>, costs: &mut Costs) {
        if self.is_opaque(id) {
            return;
        }
        let node = self.graph.node(id);
        if self.will_be_window(node, forced)
            || matches!(node.op, Op::Reshape) && costs.windows.contains(&node.args[0])
        {
            costs.windows.insert(node.results[0]);
        }
        for &result in &node.results {
            if self.stored.get(result).is_some() || forced.contains(&result) {
                continue;
            }
            let args = node.args.iter();
            let args: usize = args.map(|&arg| self.cost(arg, costs, forced)).sum();
            // What is the same everywhere is computed once, before the lanes.
            let uniform = matches!(node.op, Op::Splat(_))
                || matches!(node.op, Op::Map(_) | Op::Broadcast { .. } | Op::Reshape)
                    && node.args.iter().all(|arg| costs.uniform.contains(arg));
            let cost = if uniform {
                costs.uniform.insert(result);
                0
            } else if costs.is_of_columns(result) {
                args
            } else {
                own_cost(self.graph, node, args)
            };
            costs.of.insert(result, cost.min(MOST));
        }
    }

    /// The cost of an element of a value: a load where a step behind it has wanted it in memory, or one of its other shapes.
    pub(super) fn cost(&self, value: ValueId, costs: &Costs, forced: &HashSet<ValueId>) -> usize {
        let few = self.graph.value(value).len() <= FEW_TO_SEE;
        if !few && forced.contains(&self.seen(value, costs)) {
            1
        } else {
            costs.of(value)
        }
    }

    /// Whether a node is a slice out of memory that starts where memory says: each of its elements is a load.
    fn will_be_window(&self, node: &Node, forced: &HashSet<ValueId>) -> bool {
        let stored = |value: ValueId| forced.contains(&value) || self.stored.get(value).is_some();
        // Halves are converted one by one.
        let half = |value| matches!(self.graph.dtype(value), DType::F16 | DType::BF16);
        node.op == Op::DynamicSlice
            && !half(node.args[0])
            && stored(node.args[0])
            && (node.args[1..].iter())
                .all(|&start| stored(start) || self.graph.splat(start).is_some())
    }

    /// Adds depth and level of a node's results.
    pub(super) fn place_in_order(&self, id: NodeId, forced: &HashSet<ValueId>, costs: &mut Costs) {
        let node = self.graph.node(id);
        let opaque = self.is_opaque(id);
        let elementwise = matches!(node.op, Op::Map(_));
        // Each operand counts for itself: all that lead far back are cut, not one of them.
        let behind = |arg: &ValueId| {
            let few = self.graph.value(*arg).len() <= FEW_TO_SEE;
            if costs.is_deep(*arg) || !few && forced.contains(arg) {
                0
            } else {
                costs.depth(*arg)
            }
        };
        let depth = node.args.iter().map(behind).max().unwrap_or(0) + 1;
        let mut level = 0;
        for value in node.args.iter().copied().chain(self.captured(id)) {
            let waits = !elementwise && forced.contains(&value);
            level = level.max(costs.level(value) + u32::from(waits));
        }
        let copies = node.args.iter().map(|&arg| costs.copies(arg)).max();
        let copies = written_out(self.graph, node).saturating_mul(copies.unwrap_or(1));
        let long = self.is_long_fold(&node.op, node.args.first().copied());
        for &result in &node.results {
            let stored = opaque || forced.contains(&result) || self.stored.get(result).is_some();
            costs.depth.insert(result, if stored { 0 } else { depth });
            if !stored && copies > 1 {
                costs.copies.insert(result, copies);
            }
            costs
                .level
                .insert(result, level + u32::from(opaque || long));
        }
    }
}

/// How many elements of its operands an element of a node's result is computed from in code for each.
pub(super) fn written_out(graph: &Graph, node: &Node) -> usize {
    let turns = turns(graph, node);
    if turns <= UNROLL { turns } else { 1 }
}
