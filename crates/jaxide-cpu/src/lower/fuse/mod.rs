//! What gets memory, and which values are computed together.
//!
//! Values that a loop, the library or the caller needs are *stored*; all others are computed where they are used, inside the loop
//! nest of a stored one. A value that several nests would compute again is stored too when that costs more than a load. Stored values that run
//! over the same domain become one [`Nest`].

mod cost;
mod group;
mod lane_form;
mod storage;

use super::graph::{Graph, NodeId, Op, Region, ValueId};
use super::library;
use jaxide_core::Dims;
use rustc_hash::FxHashSet as HashSet;

pub(crate) use lane_form::LaneForms;
pub(crate) use storage::{Storage, Stored};

/// What a nest makes.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Root {
    /// All elements of a value.
    Store(ValueId),
    /// A reduction of the domain along axes.
    Fold { value: ValueId, axes: Dims },
    /// The results of a loop or branch whose state is in registers; the domain is its lanes.
    Control(NodeId),
    /// A box written into an array that is updated in place.
    Update(NodeId),
    /// Windows combined into an array that is updated in place.
    Scatter(NodeId),
}

/// A loop nest: a domain, and what is made at each of its points.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Nest {
    pub(crate) domain: Dims,
    pub(crate) roots: Vec<Root>,
}

/// One step of a region.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Item {
    Nest(Nest),
    /// A call of the runtime.
    Call(NodeId),
    /// A loop over regions with their own steps, in the order of the node's regions.
    Loop(NodeId, Vec<Steps>),
    /// A branch, in the order of the node's regions.
    Branch(NodeId, Vec<Steps>),
}

/// The steps of a region.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Steps {
    pub(crate) items: Vec<Item>,
}

/// The plan of a program.
#[derive(Debug, Default)]
pub(crate) struct Plan {
    pub(crate) steps: Steps,
    pub(crate) stored: Stored,
}

/// Plans a graph, whose loops and branches of `lane_forms` are parts of nests.
pub(crate) fn plan(graph: &Graph, lane_forms: LaneForms) -> Plan {
    let mut fuser = Fuser {
        graph,
        stored: Stored::default(),
        lane_forms,
        whole_updates: HashSet::default(),
        copies: HashSet::default(),
        products: HashSet::default(),
    };
    for &param in &graph.root.params {
        fuser.stored.own(param);
    }
    let steps = fuser.region(&graph.root);
    Plan {
        steps,
        stored: fuser.stored,
    }
}

struct Fuser<'a> {
    graph: &'a Graph,
    stored: Stored,
    lane_forms: LaneForms,
    /// Updates that write their whole result, because most of it is new and is computed from what it replaces.
    whole_updates: HashSet<NodeId>,
    /// Gathers and transposes that the runtime copies.
    copies: HashSet<NodeId>,
    /// Products that nests make.
    products: HashSet<NodeId>,
}

impl Fuser<'_> {
    /// Plans a region whose parameters are stored.
    fn region(&mut self, region: &Region) -> Steps {
        self.find_copies(region);
        self.find_products(region);
        for &id in &region.nodes {
            if self.graph.node(id).op == Op::DynamicUpdate && self.writes_whole(id) {
                self.whole_updates.insert(id);
            }
        }
        let roots = self.decide_storage(region);
        self.group(region, roots)
    }

    /// Finds the gathers and transposes that are better copied than read in place. A reduction chooses its lanes so that a transposed
    /// operand costs nothing.
    fn find_copies(&mut self, region: &Region) {
        let mut other_use: HashSet<ValueId> = region.results.iter().copied().collect();
        for &id in &region.nodes {
            let node = self.graph.node(id);
            if !matches!(node.op, Op::Reduce { .. } | Op::ArgReduce { .. }) {
                other_use.extend(&node.args);
            }
            other_use.extend(self.captured(id));
        }
        for &id in &region.nodes {
            let node = self.graph.node(id);
            let used = node
                .results
                .first()
                .is_some_and(|result| other_use.contains(result));
            if used && library::has_kernel(self.graph, node) {
                self.copies.insert(id);
            }
        }
    }

    /// Finds the products that nests make: outside of loops and branches, where a call is not made again and again, only those of many
    /// tiny matrices.
    fn find_products(&mut self, region: &Region) {
        let graph = self.graph;
        let inside = !std::ptr::eq(region, &graph.root);
        let products = region.nodes.iter().filter(|id| {
            let node = graph.node(**id);
            graph.is_many_tiny(node) || inside && graph.is_nest_product(node)
        });
        self.products.extend(products);
    }

    /// Whether a node has loops, calls or updates of its own instead of being part of a nest.
    fn is_opaque(&self, id: NodeId) -> bool {
        match &self.graph.node(id).op {
            Op::Call(_) => !self.products.contains(&id),
            Op::Scatter(_) => true,
            Op::DynamicUpdate => !self.whole_updates.contains(&id),
            Op::Gather(_) | Op::Transpose { .. } => self.copies.contains(&id),
            Op::Scan { .. } | Op::While { .. } | Op::Cond { .. } => true,
            Op::Const(_)
            | Op::Splat(_)
            | Op::Iota { .. }
            | Op::Map(_)
            | Op::Broadcast { .. }
            | Op::Reshape
            | Op::Slice { .. }
            | Op::Rev { .. }
            | Op::Pad { .. }
            | Op::Concat { .. }
            | Op::Alias
            | Op::DynamicSlice
            | Op::Reduce { .. }
            | Op::ArgReduce { .. }
            | Op::ReduceWith { .. }
            | Op::ReduceWindow { .. }
            | Op::ReduceWindowWith { .. }
            | Op::SelectPlace { .. }
            | Op::SendToPlace { .. }
            | Op::SelectAndGather { .. } => false,
        }
    }

    /// Values from outside that the regions of a node use.
    fn captured(&self, id: NodeId) -> Vec<ValueId> {
        let mut used = Vec::new();
        self.graph
            .node(id)
            .op
            .visit_regions(&mut |region| self.graph.captures(region, &mut used));
        used
    }

    /// Values that steps of a region need in memory: operands of calls and loops, results.
    fn demanded(&self, region: &Region, used: &mut Vec<ValueId>) {
        for &id in &region.nodes {
            let node = self.graph.node(id);
            // Which gathers and transposes are copied is not known before the region is planned.
            let copied = matches!(node.op, Op::Gather(_) | Op::Transpose { .. })
                && library::has_kernel(self.graph, node);
            if copied || self.is_opaque(id) {
                // Of an update, what is known needs no memory: but it is written into the first operand.
                let known = |(k, arg): &(usize, &ValueId)| {
                    *k > 0 && node.op == Op::DynamicUpdate && self.graph.splat(**arg).is_some()
                };
                let read = node.args.iter().enumerate().filter(|arg| !known(arg));
                used.extend(read.map(|(_, &arg)| arg));
            }
            node.op
                .visit_regions(&mut |inner| self.demanded(inner, used));
        }
        used.extend(&region.results);
    }
}
