//! Large matrices that are made only to be multiplied or reduced again: some rows of them at a time.
//!
//! The scores of attention have as many elements as there are pairs of positions, and go nowhere but into the product with the
//! values. All that is done to a row of them needs that row alone. So a loop goes through blocks of rows: it makes a block of the
//! scores, whatever is done to them, and the rows of the result that come of it. What was in memory whole is there a block at a
//! time, and is still in the cache when it is read. Distances of all pairs of points of which the least are wanted are the same.

use super::{Args, Call, Def, Graph, Node, NodeId, Op, Region, Routine, ValueId};
use crate::narrow;
use jaxide_core::prims::DotDimensionNumbers;
use jaxide_core::{DType, Dims};
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};
use smallvec::{SmallVec, smallvec};

/// Matrices of fewer bytes are left whole: they stay in the cache.
const LARGE: usize = 2 << 20;
/// A block of the largest matrix has about this many bytes.
const BLOCK: usize = 1 << 20;
/// A loop has at most so many nodes.
const MOST_NODES: usize = 128;

/// A value, and the axis of it that rows are counted along.
type Rows = (ValueId, usize);

/// How a block of rows of a value comes to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// By its node, from blocks.
    Made,
    /// It is an array outside, of which the block is a part.
    Read,
    /// It counts the rows.
    Counted,
}

/// Values that are made by blocks of rows, each behind those it needs.
#[derive(Default)]
struct Cluster {
    forms: HashMap<Rows, Form>,
    order: Vec<Rows>,
    /// What every block needs whole.
    whole: HashSet<ValueId>,
}

impl Graph {
    /// Makes loops over blocks of rows where a large matrix need not be in memory whole.
    pub(crate) fn block_rows(&mut self) {
        let mut root = std::mem::take(&mut self.root);
        self.block_rows_in(&mut root);
        self.root = root;
        self.eliminate_dead();
    }

    fn block_rows_in(&mut self, region: &mut Region) {
        for id in region.nodes.clone() {
            let mut op = std::mem::replace(&mut self.nodes[id.index()].op, Op::Reshape);
            op.visit_regions_mut(&mut |inner| self.block_rows_in(inner));
            self.nodes[id.index()].op = op;
        }
        if !region.nodes.iter().any(|&id| self.is_large_product(id)) {
            return;
        }
        let may_end = |id: &NodeId| {
            let node = self.node(*id);
            let ends = self.is_product(node)
                || matches!(node.op, Op::Reduce { .. } | Op::ArgReduce { .. });
            ends && self.has_large_product_before(*id)
        };
        let ends: Vec<NodeId> = region.nodes.iter().copied().filter(may_end).collect();
        if ends.is_empty() {
            return;
        }
        let mut uses = self.uses(region);
        for id in ends.into_iter().rev() {
            let Some((sink, cluster)) = self.cluster_to(id, region, &uses) else {
                continue;
            };
            self.replace(region, sink, &cluster);
            uses = self.uses(region);
        }
    }

    fn is_product(&self, node: &Node) -> bool {
        matches!(node.op, Op::Call(Call::Routine(Routine::DotGeneral(_))))
    }

    fn is_large_product(&self, id: NodeId) -> bool {
        let node = self.node(id);
        self.is_product(node) && self.value(node.results[0]).bytes() >= LARGE
    }

    /// Whether a large product is among the last steps that lead to an operand of a node.
    fn has_large_product_before(&self, id: NodeId) -> bool {
        let mut open: Vec<ValueId> = self.node(id).args.to_vec();
        let mut seen: HashSet<ValueId> = open.iter().copied().collect();
        while let Some(value) = open.pop() {
            let Some(id) = self.def(value) else {
                continue;
            };
            if self.is_large_product(id) {
                return true;
            }
            if seen.len() > MOST_NODES {
                return false;
            }
            let args = self.node(id).args.iter().copied();
            open.extend(args.filter(|&arg| seen.insert(arg)));
        }
        false
    }

    /// The rows that a node ends, or those behind it that lie in another order, and what makes them.
    fn cluster_to(
        &self,
        id: NodeId,
        region: &Region,
        uses: &HashMap<ValueId, usize>,
    ) -> Option<(Rows, Cluster)> {
        let mut sink = self.node(id).results[0];
        let at = region.nodes.iter().position(|&other| other == id)?;
        loop {
            let shape = self.shape(sink);
            let axis = shape.iter().position(|&length| length > 1)?;
            if let Some(cluster) = self.cluster((sink, axis), uses) {
                return Some(((sink, axis), cluster));
            }
            // A product whose rows are not the first axis, and that is turned next.
            if uses.get(&sink) != Some(&1) {
                return None;
            }
            let next = self.node(
                *region.nodes[at..]
                    .iter()
                    .find(|&&id| self.node(id).args.contains(&sink))?,
            );
            if !matches!(next.op, Op::Transpose { .. }) || next.args[0] != sink {
                return None;
            }
            sink = next.results[0];
        }
    }

    /// What is made by blocks for rows of a value, if that is worth a loop.
    fn cluster(&self, sink: Rows, uses: &HashMap<ValueId, usize>) -> Option<Cluster> {
        let mut read: HashSet<ValueId> = HashSet::default();
        loop {
            let mut cluster = Cluster::default();
            self.collect(sink, &read, &mut cluster);
            let made: HashSet<ValueId> = cluster.made().collect();
            let mut inside: HashMap<ValueId, usize> = HashMap::default();
            for &value in &made {
                for &arg in &self.def_node(value).args {
                    *inside.entry(arg).or_default() += 1;
                }
            }
            let needed_outside = |value: &ValueId| {
                *value != sink.0
                    && !self.is_cheap(*value)
                    && (cluster.whole.contains(value) || inside.get(value) < uses.get(value))
            };
            let outside: Vec<ValueId> = made.iter().copied().filter(needed_outside).collect();
            if outside.is_empty() {
                return self
                    .is_worth_a_loop(sink, &made, &cluster)
                    .then_some(cluster);
            }
            read.extend(outside);
        }
    }

    /// Notes what makes a block of rows of a value; `read` are values that something else needs whole.
    fn collect(&self, rows: Rows, read: &HashSet<ValueId>, cluster: &mut Cluster) {
        if cluster.forms.contains_key(&rows) {
            return;
        }
        let (value, axis) = rows;
        let form = match self.op(value) {
            Some(Op::Iota { axis: counted }) if *counted == axis => Form::Counted,
            _ if read.contains(&value) || cluster.forms.len() >= MOST_NODES => Form::Read,
            _ => match self.operands_of_rows(rows) {
                Some(operands) => {
                    let args = self.def_node(value).args.clone();
                    for (&arg, axis) in args.iter().zip(operands) {
                        match axis {
                            Some(axis) => self.collect((arg, axis), read, cluster),
                            None => {
                                cluster.whole.insert(arg);
                            }
                        }
                    }
                    Form::Made
                }
                None => Form::Read,
            },
        };
        cluster.forms.insert(rows, form);
        cluster.order.push(rows);
    }

    fn def_node(&self, value: ValueId) -> &Node {
        self.node(self.def(value).expect("what is made has a node"))
    }

    /// For each operand of the node that makes a value the axis of its rows, or `None` for all of it; `None` where a block of rows needs
    /// more than rows and what is whole.
    fn operands_of_rows(&self, (value, axis): Rows) -> Option<SmallVec<[Option<usize>; 3]>> {
        let node = self.node(self.def(value)?);
        let rows = self.shape(value)[axis];
        let of_shape = |k: usize| self.shape(node.args[k]);
        let all_but_scalars = || {
            let axis_of = |&arg: &ValueId| (!self.shape(arg).is_empty()).then_some(axis);
            node.args.iter().map(axis_of).collect()
        };
        Some(match &node.op {
            Op::Map(_) | Op::Call(Call::Map(_)) => all_but_scalars(),
            Op::Splat(_) | Op::Iota { .. } => SmallVec::new(),
            Op::Broadcast { dims } => {
                let from = dims.iter().position(|&to| to == axis);
                smallvec![from.filter(|&from| of_shape(0)[from] == rows)]
            }
            Op::Reshape => {
                let before = |shape: &[usize], axis: usize| shape[..axis].iter().product::<usize>();
                let (from, to) = (of_shape(0), self.shape(value));
                let same =
                    |&own: &usize| from[own] == rows && before(from, own) == before(to, axis);
                smallvec![Some((0..from.len()).find(same)?)]
            }
            Op::Transpose { permutation } => smallvec![Some(permutation[axis])],
            Op::Slice { start, stride } => {
                let all = start[axis] == 0 && stride[axis] == 1 && of_shape(0)[axis] == rows;
                smallvec![Some(Some(axis).filter(|_| all)?)]
            }
            Op::Rev { axes } => smallvec![Some(Some(axis).filter(|axis| !axes.contains(axis))?)],
            Op::Pad { low, interior } => {
                let none = low[axis] == 0 && interior[axis] == 0 && of_shape(0)[axis] == rows;
                smallvec![Some(Some(axis).filter(|_| none)?), None]
            }
            Op::Concat { axis: joined } => {
                Some(()).filter(|()| *joined != axis)?;
                all_but_scalars()
            }
            Op::Reduce { axes, .. } => smallvec![Some(kept(of_shape(0).len(), axes, axis)?)],
            Op::ArgReduce { axis: reduced, .. } => {
                smallvec![Some(kept(of_shape(0).len(), &[*reduced], axis)?)]
            }
            Op::Call(Call::Routine(Routine::DotGeneral(params))) => {
                let ranks = [of_shape(0).len(), of_shape(1).len()];
                product_operands(&params.dimension_numbers, ranks, axis)
            }
            Op::Const(_)
            | Op::Alias
            | Op::DynamicSlice
            | Op::DynamicUpdate
            | Op::Gather(_)
            | Op::Scatter(_)
            | Op::ReduceWith { .. }
            | Op::ReduceWindow { .. }
            | Op::ReduceWindowWith { .. }
            | Op::SelectPlace { .. }
            | Op::SendToPlace { .. }
            | Op::SelectAndGather { .. }
            | Op::Scan { .. }
            | Op::While { .. }
            | Op::Cond { .. }
            | Op::Call(Call::Routine(_)) => return None,
        })
    }

    /// Whether a value costs nothing where it is used.
    fn is_cheap(&self, value: ValueId) -> bool {
        match self.op(value) {
            Some(Op::Splat(_) | Op::Iota { .. }) => true,
            Some(Op::Broadcast { .. }) => self.shape(self.def_node(value).args[0]).is_empty(),
            _ => false,
        }
    }

    /// Whether the largest matrix that need not be whole is as large as all that is read and written together.
    fn is_worth_a_loop(&self, sink: Rows, made: &HashSet<ValueId>, cluster: &Cluster) -> bool {
        let products = made
            .iter()
            .filter(|&&value| self.is_product(self.def_node(value)));
        let inside = products.filter(|&&value| value != sink.0);
        let Some(largest) = inside.map(|&value| self.value(value).bytes()).max() else {
            return false;
        };
        let read = cluster
            .order
            .iter()
            .filter(|rows| cluster.forms[*rows] == Form::Read);
        let around: usize = read
            .map(|(value, _)| value)
            .chain(&cluster.whole)
            .chain([&sink.0])
            .map(|&value| self.value(value).bytes())
            .sum();
        largest >= LARGE && largest >= around && self.rows_of_block(sink, largest).is_some()
    }

    /// How many rows a block has; `None` where one block is about all.
    fn rows_of_block(&self, sink: Rows, largest: usize) -> Option<usize> {
        let rows = self.shape(sink.0)[sink.1];
        let most = (BLOCK / (largest / rows).max(1)).max(1);
        if most * 2 > rows {
            return None;
        }
        // Without rows that are left over, if blocks are not much smaller for it.
        let even = (most.div_ceil(2)..=most)
            .rev()
            .find(|&block| rows.is_multiple_of(block));
        Some(even.unwrap_or(most))
    }

    /// Puts a loop in the place of the node that makes the rows.
    fn replace(&mut self, region: &mut Region, sink: Rows, cluster: &Cluster) {
        let largest = cluster
            .made()
            .filter(|&value| value != sink.0 && self.is_product(self.def_node(value)))
            .map(|value| self.value(value).bytes())
            .max()
            .expect("a cluster has a product");
        let block = self
            .rows_of_block(sink, largest)
            .expect("a cluster has blocks");
        let rows = self.shape(sink.0)[sink.1];
        let (turns, rest) = (rows / block, rows % block);
        let mut new = Vec::new();
        // What is read, with its rows in front.
        let inputs: Vec<Rows> = cluster
            .order
            .iter()
            .copied()
            .filter(|rows| cluster.forms[rows] != Form::Made)
            .collect();
        let fronts: Vec<ValueId> = inputs
            .iter()
            .map(|&input| self.rows_in_front(&mut new, input, cluster.forms[&input]))
            .collect();
        let mut stacked = Args::new();
        let mut body = Region::default();
        for &front in &fronts {
            let part = self.rows_between(&mut new, front, 0, turns * block);
            let mut shape = Dims::from_slice(self.shape(part));
            shape[0] = block;
            let dtype = self.dtype(part);
            body.params.push(self.new_value(dtype, &shape, Def::Param));
            shape.insert(0, turns);
            stacked.push(self.add(&mut new, Op::Reshape, &[part], &shape, dtype));
        }
        let slices: HashMap<Rows, ValueId> =
            inputs.iter().copied().zip(body.params.clone()).collect();
        let result = self.block(&mut body.nodes, sink, cluster, &slices, block);
        body.results.push(result);
        let dtype = self.dtype(sink.0);
        let mut shape = Dims::from_slice(self.shape(result));
        let tail: Dims = shape[1..].into();
        shape.insert(0, turns);
        let scan = Op::Scan {
            body,
            carries: 0,
            length: turns,
            reverse: false,
        };
        let mut all = self.add(&mut new, scan, &stacked, &shape, dtype);
        if rest > 0 {
            let slices = inputs
                .iter()
                .zip(&fronts)
                .map(|(&input, &front)| {
                    (
                        input,
                        self.rows_between(&mut new, front, turns * block, rows),
                    )
                })
                .collect();
            let last = self.block(&mut new, sink, cluster, &slices, rest);
            let mut shape = tail;
            shape.insert(0, turns * block);
            let first = self.add(&mut new, Op::Reshape, &[all], &shape, dtype);
            shape[0] = rows;
            all = self.add(
                &mut new,
                Op::Concat { axis: 0 },
                &[first, last],
                &shape,
                dtype,
            );
        }
        let id = self.def(sink.0).expect("what is made has a node");
        for &own in &new {
            self.belongs_like(own, id);
        }
        let node = &mut self.nodes[id.index()];
        node.op = Op::Reshape;
        node.args = smallvec![all];
        let at = region.nodes.iter().position(|&other| other == id);
        let at = at.expect("the node is one of the region's");
        region.nodes.splice(at..at, new);
        let mut live = vec![false; self.values.len()];
        self.sweep(region, &mut live);
    }

    /// The array that blocks of rows are taken from, with rows as the first axis.
    fn rows_in_front(
        &mut self,
        into: &mut Vec<NodeId>,
        (value, axis): Rows,
        form: Form,
    ) -> ValueId {
        let dtype = self.dtype(value);
        let mut shape = Dims::from_slice(self.shape(value));
        let rows = shape.remove(axis);
        if form == Form::Counted {
            return self.add(into, Op::Iota { axis: 0 }, &[], &[rows], dtype);
        }
        let op = moved(&shape, axis, |permutation| {
            let own = permutation.remove(axis);
            permutation.insert(0, own);
        });
        shape.insert(0, rows);
        self.add(into, op, &[value], &shape, dtype)
    }

    fn rows_between(
        &mut self,
        into: &mut Vec<NodeId>,
        front: ValueId,
        from: usize,
        to: usize,
    ) -> ValueId {
        let mut shape = Dims::from_slice(self.shape(front));
        let mut start: Dims = shape.iter().map(|_| 0).collect();
        let stride = shape.iter().map(|_| 1).collect();
        (start[0], shape[0]) = (from, to - from);
        let dtype = self.dtype(front);
        self.add(into, Op::Slice { start, stride }, &[front], &shape, dtype)
    }

    /// A block of so many rows of a value, with rows as the first axis; `slices` are the blocks of what is read.
    fn block(
        &mut self,
        into: &mut Vec<NodeId>,
        sink: Rows,
        cluster: &Cluster,
        slices: &HashMap<Rows, ValueId>,
        rows: usize,
    ) -> ValueId {
        let mut blocks: HashMap<Rows, ValueId> = HashMap::default();
        for &(value, axis) in &cluster.order {
            let dtype = self.dtype(value);
            let mut shape = Dims::from_slice(self.shape(value));
            shape[axis] = rows;
            let made = match cluster.forms[&(value, axis)] {
                Form::Counted => {
                    let op = Op::Broadcast {
                        dims: Dims::from_slice(&[axis]),
                    };
                    self.add(into, op, &[slices[&(value, axis)]], &shape, dtype)
                }
                Form::Read => {
                    let rest: Dims = shape
                        .iter()
                        .enumerate()
                        .filter(|&(k, _)| k != axis)
                        .map(|(_, &length)| length)
                        .collect();
                    let op = moved(&rest, axis, |permutation| {
                        let own = permutation.remove(0);
                        permutation.insert(axis, own);
                    });
                    self.add(into, op, &[slices[&(value, axis)]], &shape, dtype)
                }
                Form::Made => {
                    let id = self.def(value).expect("what is made has a node");
                    let operands = self.operands_of_rows((value, axis));
                    let operands = operands.expect("what is made is made of rows");
                    let node = self.node(id).clone();
                    let args: Args = node
                        .args
                        .iter()
                        .zip(operands)
                        .map(|(&arg, axis)| axis.map_or(arg, |axis| blocks[&(arg, axis)]))
                        .collect();
                    let made = self.add(into, node.op, &args, &shape, dtype);
                    let own = *into.last().expect("a node was added");
                    self.belongs_like(own, id);
                    made
                }
            };
            blocks.insert((value, axis), made);
        }
        let made = blocks[&sink];
        // All axes before the rows have length 1.
        let front = Dims::from_slice(&self.shape(made)[sink.1..]);
        let dtype = self.dtype(made);
        self.add(into, Op::Reshape, &[made], &front, dtype)
    }

    /// A new node with one result.
    fn add(
        &mut self,
        into: &mut Vec<NodeId>,
        op: Op,
        args: &[ValueId],
        shape: &[usize],
        dtype: DType,
    ) -> ValueId {
        if self.is_nothing(&op, args, shape) {
            return args[0];
        }
        let id = NodeId(narrow(self.nodes.len()));
        let result = self.new_value(dtype, shape, Def::Node(id, 0));
        self.nodes.push(Node {
            op,
            args: Args::from_slice(args),
            results: smallvec![result],
        });
        into.push(id);
        result
    }

    /// Whether an index map gives its operand.
    fn is_nothing(&self, op: &Op, args: &[ValueId], shape: &[usize]) -> bool {
        matches!(op, Op::Reshape | Op::Slice { .. }) && self.shape(args[0]) == shape
    }

    /// Says of a new node that it belongs to the scope and the equation of another, if it has none.
    fn belongs_like(&mut self, new: NodeId, old: NodeId) {
        if let Some(origin) = self.origins.get(&old).cloned() {
            self.origins.entry(new).or_insert(origin);
        }
        if let Some(&scope) = self.scopes.get(&old) {
            self.scopes.entry(new).or_insert(scope);
        }
    }
}

impl Cluster {
    fn made(&self) -> impl Iterator<Item = ValueId> {
        let made = self
            .order
            .iter()
            .filter(|rows| self.forms[*rows] == Form::Made);
        made.map(|rows| rows.0)
    }
}

/// What moves an axis of rows to the front, or from there to its place; `rest` are the other axes.
fn moved(rest: &[usize], axis: usize, change: impl FnOnce(&mut Dims)) -> Op {
    if rest[..axis].iter().all(|&length| length == 1) {
        return Op::Reshape;
    }
    let mut permutation: Dims = (0..=rest.len()).collect();
    change(&mut permutation);
    Op::Transpose { permutation }
}

/// The axis of an operand that becomes an axis of the result when others are reduced.
fn kept(rank: usize, reduced: &[usize], axis: usize) -> Option<usize> {
    (0..rank).filter(|own| !reduced.contains(own)).nth(axis)
}

/// For both operands of a product the axis that becomes an axis of the result.
fn product_operands(
    numbers: &DotDimensionNumbers,
    ranks: [usize; 2],
    axis: usize,
) -> SmallVec<[Option<usize>; 3]> {
    let batch = numbers.lhs_batch.len();
    if axis < batch {
        return smallvec![Some(numbers.lhs_batch[axis]), Some(numbers.rhs_batch[axis])];
    }
    let free = |rank: usize, contracting: &[usize], batch: &[usize]| -> Dims {
        (0..rank)
            .filter(|own| !contracting.contains(own) && !batch.contains(own))
            .collect()
    };
    let left = free(ranks[0], &numbers.lhs_contracting, &numbers.lhs_batch);
    let right = free(ranks[1], &numbers.rhs_contracting, &numbers.rhs_batch);
    match left.get(axis - batch) {
        Some(&own) => smallvec![Some(own), None],
        None => smallvec![None, Some(right[axis - batch - left.len()])],
    }
}
