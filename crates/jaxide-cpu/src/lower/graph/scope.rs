//! Construction of a [`Graph`].
//!
//! Equal pure nodes are one, and so are equal loops, branches and calls; what does nothing is left out, and a node lands in the
//! outermost loop body where its operands exist, so that loop-invariant work leaves loops by itself. It never leaves a branch, which
//! may be there because the work is rare; and what may not end does not leave the body of a loop that may make no turn.

use super::{Args, Bytes, Def, Graph, MapOp, NodeId, Op, Region, ValueId};
use crate::narrow;
use jaxide_core::{DType, Dims, Prim, Result, Scalar};
use rustc_hash::FxHashMap as HashMap;
use smallvec::SmallVec;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

/// What a region belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FrameKind {
    /// The program itself.
    Root,
    /// Runs many times: invariant nodes leave.
    Loop,
    /// Runs perhaps: nodes stay.
    Branch,
    /// Around a loop that may make no turn: what may not end stays.
    Guard,
}

struct Frame {
    kind: FrameKind,
    nodes: Vec<NodeId>,
    seen: HashMap<u64, Vec<NodeId>>,
    calls: HashMap<u64, Vec<Known>>,
}

/// An application of a primitive with jaxprs inside.
struct Known {
    prim: Prim,
    args: Vec<ValueId>,
    results: Vec<ValueId>,
}

/// Where a box is.
#[derive(Clone)]
struct BoxOf {
    x: ValueId,
    start: Dims,
    stride: Dims,
}

/// A graph under construction, with the regions that are open.
pub(crate) struct Scope {
    pub(crate) graph: Graph,
    frames: Vec<Frame>,
    /// Which frame holds the definition, by value.
    depth: Vec<u32>,
    /// The named scope that new nodes belong to.
    pub(super) named: Option<jaxide_core::Scope>,
    /// The equation that new nodes belong to, where that is wanted.
    pub(super) origin: Option<Arc<str>>,
}

impl Scope {
    /// An empty graph whose outermost region has these parameters.
    pub(crate) fn new(params: &[(DType, &[usize])]) -> Scope {
        let mut scope = Scope {
            graph: Graph::default(),
            frames: Vec::new(),
            depth: Vec::new(),
            named: None,
            origin: None,
        };
        scope.open(FrameKind::Root);
        for &(dtype, shape) in params {
            let param = scope.new_value(dtype, shape, Def::Param, 0);
            scope.graph.root.params.push(param);
        }
        scope
    }

    /// The finished graph.
    pub(crate) fn finish(mut self, results: Vec<ValueId>) -> Graph {
        let frame = self.frames.pop().expect("the root frame is open");
        self.graph.root.nodes = frame.nodes;
        self.graph.root.results = results;
        self.graph.eliminate_dead();
        self.graph
    }

    /// Opens a region and gives its parameters; [`Self::close`] ends it.
    pub(crate) fn open_region(
        &mut self,
        kind: FrameKind,
        params: &[(DType, &[usize])],
    ) -> Vec<ValueId> {
        self.open(kind);
        let depth = narrow(self.frames.len() - 1);
        params
            .iter()
            .map(|&(dtype, shape)| self.new_value(dtype, shape, Def::Param, depth))
            .collect()
    }

    /// The region that was opened last, with its results.
    pub(crate) fn close_region(&mut self, params: Vec<ValueId>, results: Vec<ValueId>) -> Region {
        let frame = self.frames.pop().expect("a region is open");
        Region {
            params,
            nodes: frame.nodes,
            results,
        }
    }

    fn open(&mut self, kind: FrameKind) {
        self.frames.push(Frame {
            kind,
            nodes: Vec::new(),
            seen: HashMap::default(),
            calls: HashMap::default(),
        });
    }

    fn new_value(&mut self, dtype: DType, shape: &[usize], def: Def, depth: u32) -> ValueId {
        self.depth.push(depth);
        self.graph.new_value(dtype, shape, def)
    }

    /// Adds a node, or finds an equal one.
    pub(crate) fn emit(
        &mut self,
        op: Op,
        args: &[ValueId],
        results: &[(DType, &[usize])],
    ) -> SmallVec<[ValueId; 1]> {
        let effect = self.graph.has_effect(&op);
        let mut key = DefaultHasher::new();
        hash_op(&op, &mut key);
        args.hash(&mut key);
        let key = key.finish();
        if !effect && let Some(found) = self.find(key, &op, args, results) {
            return self.graph.node(found).results.clone();
        }
        let home = if effect {
            self.frames.len() - 1
        } else {
            self.home(&op, args)
        };
        let node = NodeId(narrow(self.graph.nodes.len()));
        let results = results
            .iter()
            .enumerate()
            .map(|(k, &(dtype, shape))| {
                self.new_value(dtype, shape, Def::Node(node, narrow(k)), narrow(home))
            })
            .collect::<SmallVec<[ValueId; 1]>>();
        let made = super::Node {
            op,
            args: Args::from_slice(args),
            results: results.clone(),
        };
        let mut reach = self.graph.reach;
        reach.node(&self.graph, &made);
        self.graph.reach = reach;
        self.graph.nodes.push(made);
        if let Some(named) = self.named {
            self.graph.scopes.insert(node, named);
        }
        if let Some(origin) = &self.origin {
            self.graph.origins.insert(node, origin.clone());
        }
        self.frames[home].nodes.push(node);
        self.frames[home].seen.entry(key).or_default().push(node);
        results
    }

    /// Adds a node with one result.
    pub(crate) fn one(
        &mut self,
        op: Op,
        args: &[ValueId],
        dtype: DType,
        shape: &[usize],
    ) -> ValueId {
        self.emit(op, args, &[(dtype, shape)])[0]
    }

    fn find(
        &self,
        key: u64,
        op: &Op,
        args: &[ValueId],
        results: &[(DType, &[usize])],
    ) -> Option<NodeId> {
        let candidates = self
            .frames
            .iter()
            .rev()
            .filter_map(|frame| frame.seen.get(&key));
        candidates.flatten().copied().find(|&id| {
            let node = self.graph.node(id);
            node.op == *op
                && node.args.as_slice() == args
                && node.results.len() == results.len()
                && node
                    .results
                    .iter()
                    .zip(results)
                    .all(|(&value, &(dtype, shape))| {
                        self.graph.dtype(value) == dtype && self.graph.shape(value) == shape
                    })
        })
    }

    /// The outermost frame that a node may live in.
    fn home(&self, op: &Op, args: &[ValueId]) -> usize {
        let mut needs = args
            .iter()
            .map(|arg| self.depth[arg.index()] as usize)
            .max()
            .unwrap_or(0);
        op.visit_regions(&mut |region| needs = needs.max(self.region_depth(region)));
        let free = matches!(op, Op::Splat(_) | Op::Const(_) | Op::Iota { .. });
        let mut home = self.frames.len() - 1;
        while home > needs && (free || self.leaves(self.frames[home].kind, op)) {
            home -= 1;
        }
        home
    }

    fn leaves(&self, kind: FrameKind, op: &Op) -> bool {
        match kind {
            FrameKind::Root | FrameKind::Branch => false,
            FrameKind::Loop => true,
            FrameKind::Guard => !self.may_not_end(op),
        }
    }

    fn may_not_end(&self, op: &Op) -> bool {
        let mut found = matches!(op, Op::While { .. });
        op.visit_regions(&mut |region| {
            let mut ops = region.nodes.iter().map(|&id| &self.graph.node(id).op);
            found = found || ops.any(|op| self.may_not_end(op));
        });
        found
    }

    /// Whether the region that was opened last has nodes.
    pub(crate) fn has_nodes(&self) -> bool {
        self.frames
            .last()
            .is_some_and(|frame| !frame.nodes.is_empty())
    }

    /// The results of the same primitive, with jaxprs inside, on the same operands.
    pub(crate) fn known_call(&self, prim: &Prim, args: &[ValueId]) -> Option<&[ValueId]> {
        let key = call_key(prim, args);
        let known = self.frames.iter().rev();
        known
            .filter_map(|frame| frame.calls.get(&key))
            .flatten()
            .find(|known| known.args == args && known.prim == *prim)
            .map(|known| &known.results[..])
    }

    /// Remembers the results of a primitive for [`Self::known_call`], as long as they exist.
    pub(crate) fn remember_call(&mut self, prim: &Prim, args: &[ValueId], results: Vec<ValueId>) {
        let values = args.iter().chain(&results);
        let home = values.map(|value| self.depth[value.index()] as usize).max();
        let calls = &mut self.frames[home.unwrap_or(0)].calls;
        calls.entry(call_key(prim, args)).or_default().push(Known {
            prim: prim.clone(),
            args: args.to_vec(),
            results,
        });
    }

    /// The deepest frame that a finished region refers to.
    fn region_depth(&self, region: &Region) -> usize {
        let open = self.frames.len();
        let mut needs = 0;
        let mut look = |value: &ValueId| {
            let depth = self.depth[value.index()] as usize;
            if depth < open {
                needs = needs.max(depth);
            }
        };
        region.results.iter().for_each(&mut look);
        for &id in &region.nodes {
            self.graph.node(id).args.iter().for_each(&mut look);
        }
        for &id in &region.nodes {
            self.graph
                .node(id)
                .op
                .visit_regions(&mut |inner| needs = needs.max(self.region_depth(inner)));
        }
        needs
    }

    pub(crate) fn shape(&self, value: ValueId) -> Dims {
        Dims::from_slice(self.graph.shape(value))
    }

    pub(crate) fn dtype(&self, value: ValueId) -> DType {
        self.graph.dtype(value)
    }
}

fn call_key(prim: &Prim, args: &[ValueId]) -> u64 {
    let mut key = DefaultHasher::new();
    prim.hash(&mut key);
    args.hash(&mut key);
    key.finish()
}

/// Equal operations hash alike; parameters of operations that hardly ever repeat do not count.
fn hash_op(op: &Op, hasher: &mut DefaultHasher) {
    std::mem::discriminant(op).hash(hasher);
    match op {
        Op::Splat(bytes) => bytes.hash(hasher),
        Op::Map(map) => map.hash(hasher),
        Op::Const(index) => index.hash(hasher),
        Op::Slice { start, .. } => start.hash(hasher),
        _ => {}
    }
}

/// Short forms. What does nothing gives its operand.
impl Scope {
    /// An array of one element, given by its bytes.
    pub(crate) fn splat_bytes(&mut self, bytes: Bytes, dtype: DType, shape: &[usize]) -> ValueId {
        self.one(Op::Splat(bytes), &[], dtype, shape)
    }

    /// An array of one number, rounded to `dtype`.
    pub(crate) fn splat(
        &mut self,
        value: Scalar,
        dtype: DType,
        shape: &[usize],
    ) -> Result<ValueId> {
        let bytes = value.to_bytes(dtype)?;
        Ok(self.splat_bytes(bytes, dtype, shape))
    }

    /// An array of one integer.
    pub(crate) fn int(&mut self, value: i64, dtype: DType, shape: &[usize]) -> Result<ValueId> {
        self.splat(Scalar::Int(value), dtype, shape)
    }

    /// A function of elements; the result has the shape of the operands that are not of rank 0.
    pub(crate) fn map(&mut self, op: MapOp, args: &[ValueId], dtype: DType) -> ValueId {
        let shape = args
            .iter()
            .map(|&arg| self.shape(arg))
            .max_by_key(|shape| shape.len())
            .unwrap_or_default();
        if op == MapOp::Convert && self.dtype(args[0]) == dtype {
            return args[0];
        }
        if let Some(bytes) = self.graph.known_everywhere(op, args, dtype) {
            return self.splat_bytes(bytes, dtype, &shape);
        }
        self.one(Op::Map(op), args, dtype, &shape)
    }

    /// The elements converted.
    pub(crate) fn convert(&mut self, x: ValueId, dtype: DType) -> ValueId {
        self.map(MapOp::Convert, &[x], dtype)
    }

    /// Whether no region is open but the program's own.
    pub(crate) fn is_outermost(&self) -> bool {
        self.frames.len() == 1
    }

    /// What a value is a conversion of, if it is one.
    pub(crate) fn converted(&self, x: ValueId) -> Option<ValueId> {
        let Def::Node(id, _) = self.graph.value(x).def else {
            return None;
        };
        let node = self.graph.node(id);
        (node.op == Op::Map(MapOp::Convert)).then(|| node.args[0])
    }

    /// The axes placed at `dims` of `shape`, axes of length 1 repeated.
    pub(crate) fn broadcast(&mut self, x: ValueId, shape: &[usize], dims: &[usize]) -> ValueId {
        let dtype = self.dtype(x);
        if let Some(bytes) = self.graph.splat(x).cloned() {
            return self.splat_bytes(bytes, dtype, shape);
        }
        if self.graph.shape(x) == shape && dims.iter().copied().eq(0..shape.len()) {
            return x;
        }
        let dims = Dims::from_slice(dims);
        self.one(Op::Broadcast { dims }, &[x], dtype, shape)
    }

    /// A scalar repeated; an array of that shape stays.
    pub(crate) fn broadcast_scalar(&mut self, x: ValueId, shape: &[usize]) -> ValueId {
        if self.graph.shape(x).is_empty() {
            self.broadcast(x, shape, &[])
        } else {
            x
        }
    }

    /// The same elements in row-major order.
    pub(crate) fn reshape(&mut self, x: ValueId, shape: &[usize]) -> ValueId {
        let dtype = self.dtype(x);
        if self.graph.shape(x) == shape {
            return x;
        }
        if let Some(bytes) = self.graph.splat(x).cloned() {
            return self.splat_bytes(bytes, dtype, shape);
        }
        let node = self.graph.def(x).map(|id| self.graph.node(id));
        let x = match node {
            Some(node) if node.op == Op::Reshape => node.args[0],
            _ => x,
        };
        if self.graph.shape(x) == shape {
            return x;
        }
        if let Some(joined) = self.reshaped_parts(x, shape) {
            return joined;
        }
        self.one(Op::Reshape, &[x], dtype, shape)
    }

    /// The parts of an array that stand behind each other in memory, each in the shape of some rows of `shape`, behind each other: then no element asks
    /// which part it is of.
    fn reshaped_parts(&mut self, x: ValueId, shape: &[usize]) -> Option<ValueId> {
        let node = self.graph.node(self.graph.def(x)?);
        let Op::Concat { axis } = node.op else {
            return None;
        };
        let row: usize = shape.get(1..)?.iter().product();
        let one_by_one = self.graph.shape(x)[..axis]
            .iter()
            .all(|&length| length == 1);
        let parts = node.args.clone();
        let lengths: Vec<usize> = (parts.iter())
            .map(|&part| self.graph.value(part).len())
            .collect();
        if !one_by_one || row == 0 || lengths.iter().any(|length| !length.is_multiple_of(row)) {
            return None;
        }
        let mut own = Dims::from_slice(shape);
        let parts: Vec<ValueId> = (parts.iter().zip(&lengths))
            .map(|(&part, length)| {
                own[0] = length / row;
                self.reshape(part, &own)
            })
            .collect();
        Some(self.concat(&parts, 0))
    }

    /// Axis `k` of the result is axis `permutation[k]`.
    pub(crate) fn transpose(&mut self, x: ValueId, permutation: &[usize]) -> ValueId {
        let dtype = self.dtype(x);
        if permutation.iter().copied().eq(0..permutation.len()) {
            return x;
        }
        let shape: Dims = permutation
            .iter()
            .map(|&axis| self.graph.shape(x)[axis])
            .collect();
        if let Some(bytes) = self.graph.splat(x).cloned() {
            return self.splat_bytes(bytes, dtype, &shape);
        }
        if let Some(before) = self.turned_from(x, permutation) {
            return self.reshape(before, &shape);
        }
        let permutation = Dims::from_slice(permutation);
        self.one(Op::Transpose { permutation }, &[x], dtype, &shape)
    }

    /// The array that `x` is made of by a transposition, and perhaps axes of length 1 that come or go, if this permutation turns it back.
    fn turned_from(&self, x: ValueId, permutation: &[usize]) -> Option<ValueId> {
        let graph = &self.graph;
        let long = |value: ValueId| {
            graph
                .shape(value)
                .iter()
                .copied()
                .filter(|&length| length != 1)
        };
        let mut node = graph.node(graph.def(x)?);
        if node.op == Op::Reshape && long(node.args[0]).eq(long(x)) {
            node = graph.node(graph.def(node.args[0])?);
        }
        let Op::Transpose { permutation: first } = &node.op else {
            return None;
        };
        // Both as orders of the axes that are longer.
        let order = |value: ValueId, permutation: &[usize]| -> Dims {
            let shape = graph.shape(value);
            let kept = |axis: usize| shape[..axis].iter().filter(|&&length| length != 1).count();
            let axes = permutation.iter().copied();
            axes.filter(|&axis| shape[axis] != 1).map(kept).collect()
        };
        let (first, second) = (order(node.args[0], first), order(x, permutation));
        let both = second.iter().map(|&axis| first[axis]);
        both.eq(0..first.len()).then_some(node.args[0])
    }

    /// Gives a node of a region that is closed a result of another shape, of which the old one is the beginning: what cuts it goes behind the node.
    pub(crate) fn cut_result(&mut self, node: NodeId, shape: &[usize]) -> NodeId {
        let result = self.graph.node(node).results[0];
        let (dtype, depth) = (self.dtype(result), self.depth[result.index()]);
        let whole = self.new_value(dtype, shape, Def::Node(node, 0), depth);
        self.graph.nodes[node.index()].results[0] = whole;
        let cut = NodeId(narrow(self.graph.nodes.len()));
        self.graph.nodes.push(super::Node {
            op: Op::Slice {
                start: Dims::from_elem(0, shape.len()),
                stride: Dims::from_elem(1, shape.len()),
            },
            args: Args::from_slice(&[whole]),
            results: SmallVec::from_slice(&[result]),
        });
        self.graph.values[result.index()].def = Def::Node(cut, 0);
        if let Some(scope) = self.graph.scopes.get(&node).cloned() {
            self.graph.scopes.insert(cut, scope);
        }
        if let Some(origin) = self.graph.origins.get(&node).cloned() {
            self.graph.origins.insert(cut, origin);
        }
        cut
    }

    /// A box of `sizes` from `start` with steps `stride`, of the first array that has all of its elements.
    pub(crate) fn slice(
        &mut self,
        x: ValueId,
        start: &[usize],
        sizes: &[usize],
        stride: &[usize],
    ) -> ValueId {
        let dtype = self.dtype(x);
        let mut place = BoxOf {
            x,
            start: Dims::from_slice(start),
            stride: Dims::from_slice(stride),
        };
        while let Some(origin) = self.origin_of_box(&place, sizes) {
            place = origin;
        }
        let BoxOf { x, start, stride } = place;
        if self.graph.shape(x) == sizes {
            return x;
        }
        if let Some(bytes) = self.graph.splat(x).cloned() {
            return self.splat_bytes(bytes, dtype, sizes);
        }
        self.one(Op::Slice { start, stride }, &[x], dtype, sizes)
    }

    /// The same box as one of an operand: of a box, of what lies inside of edges, or of a part.
    fn origin_of_box(&self, place: &BoxOf, sizes: &[usize]) -> Option<BoxOf> {
        if sizes.contains(&0) {
            return None;
        }
        let last = |axis: usize| place.start[axis] + (sizes[axis] - 1) * place.stride[axis];
        let node = self.graph.node(self.graph.def(place.x)?);
        let x = node.args.first().copied()?;
        let BoxOf {
            mut start,
            mut stride,
            ..
        } = place.clone();
        if let Op::Slice {
            start: from,
            stride: by,
        } = &node.op
        {
            for axis in 0..sizes.len() {
                start[axis] = from[axis] + start[axis] * by[axis];
                stride[axis] *= by[axis];
            }
            return Some(BoxOf { x, start, stride });
        }
        if let Op::Pad { low, interior } = &node.op {
            let shape = self.graph.shape(x);
            for axis in 0..sizes.len() {
                let inside = |at: usize| {
                    let at = i64::try_from(at).ok()?.checked_sub(low[axis])?;
                    usize::try_from(at).ok().filter(|&at| at < shape[axis])
                };
                start[axis] = inside(start[axis])?;
                inside(last(axis)).filter(|_| interior[axis] == 0)?;
            }
            return Some(BoxOf { x, start, stride });
        }
        let Op::Concat { axis } = node.op else {
            return None;
        };
        let mut before = 0;
        for &x in &node.args {
            let after = before + self.graph.shape(x)[axis];
            if before <= start[axis] && last(axis) < after {
                start[axis] -= before;
                return Some(BoxOf { x, start, stride });
            }
            before = after;
        }
        None
    }

    /// Elements counted along an axis.
    pub(crate) fn iota(&mut self, dtype: DType, shape: &[usize], axis: usize) -> ValueId {
        self.one(Op::Iota { axis }, &[], dtype, shape)
    }

    /// Arrays joined along an axis; empty ones do not count.
    pub(crate) fn concat(&mut self, operands: &[ValueId], axis: usize) -> ValueId {
        let dtype = self.dtype(operands[0]);
        let mut shape = self.shape(operands[0]);
        shape[axis] = operands
            .iter()
            .map(|&operand| self.graph.shape(operand)[axis])
            .sum();
        let used: Args = operands
            .iter()
            .copied()
            .filter(|&operand| self.graph.shape(operand)[axis] > 0)
            .collect();
        match used.as_slice() {
            [] => operands[0],
            [only] => *only,
            operands => self.one(Op::Concat { axis }, operands, dtype, &shape),
        }
    }

    /// The same bytes as another element type or shape.
    pub(crate) fn alias(&mut self, x: ValueId, dtype: DType, shape: &[usize]) -> ValueId {
        self.one(Op::Alias, &[x], dtype, shape)
    }
}
