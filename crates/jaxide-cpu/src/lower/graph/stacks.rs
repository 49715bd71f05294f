//! Stacks that are only combined along the axis that they have been stacked along: the arrays are combined with each other.
//!
//! An element of a stack asks which array it is of, and where the others lie side by side in memory lanes run along the stack, each with another
//! array's formula. Combined with each other, the arrays are formulas of the same place.

use super::{Args, Combine, Graph, NodeId, Op, Region, ValueId};
use jaxide_core::Dims;
use rustc_hash::FxHashSet as HashSet;

/// More arrays are a loop.
const MOST: usize = 16;

impl Graph {
    /// Combines the arrays of stacks, where nothing else is done with these.
    pub(crate) fn combine_stacks(&mut self) {
        let mut root = std::mem::take(&mut self.root);
        self.combine_stacks_in(&mut root);
        self.root = root;
        self.eliminate_dead();
    }

    fn combine_stacks_in(&mut self, region: &mut Region) {
        for &id in &region.nodes {
            let mut op = std::mem::replace(&mut self.nodes[id.index()].op, Op::Reshape);
            op.visit_regions_mut(&mut |inner| self.combine_stacks_in(inner));
            self.nodes[id.index()].op = op;
        }
        let found = region.nodes.iter();
        let mut found: HashSet<NodeId> = found
            .copied()
            .filter(|&id| self.combines_stack(id))
            .collect();
        if found.is_empty() {
            return;
        }
        let inside: HashSet<NodeId> = region.nodes.iter().copied().collect();
        let uses = self.uses(region);
        found.retain(|&id| {
            let stack = self.node(id).args[0];
            let maker = self.def(stack);
            maker.is_some_and(|maker| inside.contains(&maker)) && uses.get(&stack) == Some(&1)
        });
        let mut nodes = Vec::with_capacity(region.nodes.len());
        for &id in &region.nodes {
            if found.contains(&id) {
                self.combine_stack(id, &mut nodes);
            }
            nodes.push(id);
        }
        region.nodes = nodes;
    }

    /// Whether a node combines few arrays that have been stacked.
    fn combines_stack(&self, id: NodeId) -> bool {
        let node = self.node(id);
        let Op::Reduce { combine, axes } = &node.op else {
            return false;
        };
        // The order of differences counts, and of replacements only the last.
        let any_order = match combine {
            Combine::Add | Combine::Mul | Combine::Min | Combine::Max => true,
            Combine::And | Combine::Or | Combine::Xor => true,
            Combine::Sub | Combine::Replace => false,
        };
        let Some((axis, parts)) = self.stacked(node.args[0]) else {
            return false;
        };
        any_order
            && axes.contains(&axis)
            && parts.len() <= MOST
            && parts.iter().all(|&part| self.shape(part)[axis] == 1)
    }

    /// The axis along which arrays have been joined, and these.
    fn stacked(&self, value: ValueId) -> Option<(usize, &Args)> {
        let node = self.node(self.def(value)?);
        match node.op {
            Op::Concat { axis } => Some((axis, &node.args)),
            _ => None,
        }
    }

    /// Makes a node combine the arrays of its stack with each other, one after the other, and the axes that are left afterwards.
    fn combine_stack(&mut self, id: NodeId, nodes: &mut Vec<NodeId>) {
        let node = self.node(id);
        let Op::Reduce { combine, axes } = &node.op else {
            return;
        };
        let (combine, axes, stack) = (*combine, axes.clone(), node.args[0]);
        let (Some(map), Some((axis, parts))) = (combine.map(), self.stacked(stack)) else {
            return;
        };
        let parts = parts.clone();
        let dtype = self.dtype(stack);
        let mut shape = Dims::from_slice(self.shape(stack));
        shape.remove(axis);
        let parts: Vec<ValueId> = (parts.into_iter())
            .map(|part| {
                let args = Args::from_slice(&[part]);
                self.insert(nodes, Op::Reshape, args, dtype, &shape)
            })
            .collect();
        let [first, middle @ .., last] = &parts[..] else {
            return;
        };
        let sum = middle.iter().fold(*first, |sum, &part| {
            let args = Args::from_slice(&[sum, part]);
            self.insert(nodes, Op::Map(map), args, dtype, &shape)
        });
        let left: Dims = (axes.iter())
            .filter(|&&gone| gone != axis)
            .map(|&gone| gone - usize::from(gone > axis))
            .collect();
        let pair = Args::from_slice(&[sum, *last]);
        let (op, args) = if left.is_empty() {
            (Op::Map(map), pair)
        } else {
            let all = self.insert(nodes, Op::Map(map), pair, dtype, &shape);
            let axes = left;
            (Op::Reduce { combine, axes }, Args::from_slice(&[all]))
        };
        let node = &mut self.nodes[id.index()];
        (node.op, node.args) = (op, args);
    }
}
