//! The program as one graph: calls inlined, sub-jaxprs as regions that refer to values around them.
//!
//! A [`Graph`] owns all values and nodes; a [`Region`] lists nodes in order of evaluation. A region inside a node (a loop body, a
//! branch) uses values of the regions around it directly, so that constants of loops need no
//! parameters and what does not change in a loop is visible as such. The operations are fewer than the primitives and come in
//! three sorts: [`MapOp`]s on elements, index maps, and operations with a plan of their own (loops, reductions, updates, calls of the runtime).

mod accumulate;
mod build;
mod columns;
mod combines;
mod cost;
mod display;
mod guarded;
mod known;
mod map_op;
mod op;
mod product;
mod reach;
mod reduction;
mod routine;
mod row_blocks;
mod scope;
mod stacks;
mod turned;
mod unread;

use crate::narrow;
use jaxide_core::{DType, Shape, Tensor};
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};
use smallvec::{SmallVec, smallvec};
use std::sync::Arc;

pub(crate) use build::{Lanes, build};
pub(crate) use cost::{own_cost, turns};
pub(crate) use known::read_int;
pub(crate) use map_op::MapOp;
pub(crate) use op::{Bytes, Call, Combine, GatherSpec, OobMode, Op, ScatterSpec, WindowSpec};
pub(crate) use reach::Reach;
pub(crate) use routine::Routine;
pub(crate) use scope::Scope;

/// A value: an array of known shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct ValueId(pub(crate) u32);

/// A node: one operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct NodeId(pub(crate) u32);

impl ValueId {
    /// Position in the graph's list of values.
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

impl NodeId {
    /// Position in the graph's list of nodes.
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

/// Where a value comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Def {
    /// A parameter of a region.
    Param,
    /// A result of a node.
    Node(NodeId, u32),
}

/// What is known of a value.
#[derive(Clone, Debug)]
pub(crate) struct ValueInfo {
    /// Element type.
    pub(crate) dtype: DType,
    /// Lengths of the axes.
    pub(crate) shape: Shape,
    /// Its origin.
    pub(crate) def: Def,
}

impl ValueInfo {
    /// The number of elements; more than can be addressed until [`Reach::check`] was asked.
    pub(crate) fn len(&self) -> usize {
        let lengths = self.shape.iter();
        lengths.fold(1, |len: usize, &length| len.saturating_mul(length))
    }

    /// The number of bytes, as [`Self::len`] counts.
    pub(crate) fn bytes(&self) -> usize {
        self.len().saturating_mul(self.dtype.size())
    }
}

/// Operands of a node.
pub(crate) type Args = SmallVec<[ValueId; 3]>;

/// One operation applied.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    /// What is computed.
    pub(crate) op: Op,
    /// From what.
    pub(crate) args: Args,
    /// The values it defines.
    pub(crate) results: SmallVec<[ValueId; 1]>,
}

/// A function body: parameters, nodes in order, results.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Region {
    /// Values bound when the region runs.
    pub(crate) params: Vec<ValueId>,
    /// Nodes in order of evaluation.
    pub(crate) nodes: Vec<NodeId>,
    /// Values it yields; they may belong to regions around it.
    pub(crate) results: Vec<ValueId>,
}

/// All values and nodes of a program, and its outermost region.
#[derive(Clone, Debug, Default)]
pub(crate) struct Graph {
    pub(crate) values: Vec<ValueInfo>,
    pub(crate) nodes: Vec<Node>,
    /// Arrays that [`Op::Const`] refers to.
    pub(crate) consts: Vec<Tensor>,
    pub(crate) root: Region,
    /// How far its offsets go.
    pub(crate) reach: Reach,
    /// The named scopes that nodes belong to.
    pub(crate) scopes: HashMap<NodeId, jaxide_core::Scope>,
    /// The equations that nodes come from, where they were asked for.
    pub(crate) origins: HashMap<NodeId, Arc<str>>,
}

impl Graph {
    pub(crate) fn value(&self, value: ValueId) -> &ValueInfo {
        &self.values[value.index()]
    }

    pub(crate) fn node(&self, node: NodeId) -> &Node {
        &self.nodes[node.index()]
    }

    pub(crate) fn shape(&self, value: ValueId) -> &[usize] {
        &self.value(value).shape
    }

    pub(crate) fn dtype(&self, value: ValueId) -> DType {
        self.value(value).dtype
    }

    /// The node that defines a value.
    pub(crate) fn def(&self, value: ValueId) -> Option<NodeId> {
        match self.value(value).def {
            Def::Param => None,
            Def::Node(node, _) => Some(node),
        }
    }

    /// Whether values are made of nothing but what the program says.
    pub(crate) fn are_constant(&self, values: &[ValueId]) -> bool {
        let mut seen: HashSet<ValueId> = values.iter().copied().collect();
        let mut left = values.to_vec();
        while let Some(value) = left.pop() {
            let Some(maker) = self.def(value).map(|id| self.node(id)) else {
                return false;
            };
            let mut repeats = false;
            maker.op.visit_regions(&mut |_| repeats = true);
            if repeats {
                return false;
            }
            left.extend(maker.args.iter().filter(|&&arg| seen.insert(arg)));
        }
        true
    }

    /// The operation that defines a value.
    pub(crate) fn op(&self, value: ValueId) -> Option<&Op> {
        self.def(value).map(|node| &self.node(node).op)
    }

    /// The element that all of a value's elements equal, if it is defined so.
    pub(crate) fn splat(&self, value: ValueId) -> Option<&Bytes> {
        match self.op(value) {
            Some(Op::Splat(bytes)) => Some(bytes),
            _ => None,
        }
    }

    pub(crate) fn new_value(&mut self, dtype: DType, shape: &[usize], def: Def) -> ValueId {
        self.reach.array(shape, dtype.size());
        let value = ValueId(narrow(self.values.len()));
        self.values.push(ValueInfo {
            dtype,
            shape: Shape::from_slice(shape),
            def,
        });
        value
    }

    /// A new node with one result, which goes to `into`.
    fn insert(
        &mut self,
        into: &mut Vec<NodeId>,
        op: Op,
        args: Args,
        dtype: DType,
        shape: &[usize],
    ) -> ValueId {
        let id = NodeId(narrow(self.nodes.len()));
        let result = self.new_value(dtype, shape, Def::Node(id, 0));
        self.nodes.push(Node {
            op,
            args,
            results: smallvec![result],
        });
        into.push(id);
        result
    }

    /// Adds the values from outside that a region uses, its inner regions included.
    pub(crate) fn captures(&self, region: &Region, found: &mut Vec<ValueId>) {
        let mut inside = HashSet::default();
        let from = found.len();
        self.mentions(region, &mut inside, found);
        let mut outside = found.split_off(from);
        outside.retain(|value| !inside.contains(value));
        found.append(&mut outside);
    }

    /// Whether there is a call of the library in a region, its inner regions included.
    pub(crate) fn calls_library(&self, region: &Region) -> bool {
        region.nodes.iter().any(|&id| {
            let op = &self.node(id).op;
            let mut found = matches!(op, Op::Call(_));
            op.visit_regions(&mut |inner| found = found || self.calls_library(inner));
            found
        })
    }

    /// How often a region uses each value, its inner regions included.
    pub(crate) fn uses(&self, region: &Region) -> HashMap<ValueId, usize> {
        let mut used = Vec::new();
        self.mentions(region, &mut HashSet::default(), &mut used);
        let mut uses = HashMap::default();
        for value in used {
            *uses.entry(value).or_default() += 1;
        }
        uses
    }

    fn mentions(&self, region: &Region, inside: &mut HashSet<ValueId>, used: &mut Vec<ValueId>) {
        inside.extend(&region.params);
        for &id in &region.nodes {
            let node = self.node(id);
            inside.extend(&node.results);
            used.extend(&node.args);
            node.op
                .visit_regions(&mut |inner| self.mentions(inner, inside, used));
        }
        used.extend(&region.results);
    }

    /// Removes nodes whose results nothing uses, in all regions.
    pub(crate) fn eliminate_dead(&mut self) {
        let mut root = std::mem::take(&mut self.root);
        let mut live = vec![false; self.values.len()];
        self.sweep(&mut root, &mut live);
        self.root = root;
    }

    /// Whether an operation, or one inside of it, does something besides giving its results.
    pub(crate) fn has_effect(&self, op: &Op) -> bool {
        let mut effect = op.is_effect();
        op.visit_regions(&mut |inner| {
            let nodes = inner.nodes.iter();
            effect = effect
                || nodes
                    .map(|&id| &self.node(id).op)
                    .any(|op| self.has_effect(op));
        });
        effect
    }

    /// `live` says which values code behind the region uses; afterwards also what the region uses.
    fn sweep(&mut self, region: &mut Region, live: &mut [bool]) {
        region
            .results
            .iter()
            .for_each(|value| live[value.index()] = true);
        let mut kept = Vec::with_capacity(region.nodes.len());
        for &id in region.nodes.iter().rev() {
            let node = &self.nodes[id.index()];
            let used = node.results.iter().any(|value| live[value.index()]);
            if !used && !self.has_effect(&node.op) {
                continue;
            }
            kept.push(id);
            let node = &mut self.nodes[id.index()];
            node.args
                .iter()
                .for_each(|value| live[value.index()] = true);
            let mut op = std::mem::replace(&mut node.op, Op::Reshape);
            op.visit_regions_mut(&mut |inner| self.sweep(inner, live));
            self.nodes[id.index()].op = op;
        }
        kept.reverse();
        region.nodes = kept;
    }
}
