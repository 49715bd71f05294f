//! Updates that a condition keeps or drops: made to write nothing where it drops them.
//!
//! `where(p, x.at[i].set(v), x)` in a loop is, as it is written, a copy of `x` with one element changed, and a choice between two arrays. The same
//! update at a place that does not exist unless `p` holds leaves `x` alone, so that it happens in the memory of `x`.

use super::{Args, Bytes, Graph, MapOp, Node, NodeId, OobMode, Op, Region, ScatterSpec, ValueId};
use jaxide_core::{DType, Dims};
use rustc_hash::FxHashMap as HashMap;
use smallvec::smallvec;

/// A choice between an array and the array updated.
struct Guarded {
    /// The condition: a scalar, or one for each index along axes of the array.
    condition: ValueId,
    /// Which axes of the array the condition's axes are; none for a scalar.
    axes: Dims,
    /// Whether the update stays where the condition holds.
    when: bool,
    /// The node that updates.
    update: NodeId,
}

impl Graph {
    /// Lets updates that are chosen, or the array before them, be updates of nothing.
    pub(crate) fn guard_updates(&mut self) {
        let mut root = std::mem::take(&mut self.root);
        let uses = self.uses(&root);
        self.guard_updates_in(&mut root, &uses);
        self.root = root;
        self.eliminate_dead();
    }

    fn guard_updates_in(&mut self, region: &mut Region, uses: &HashMap<ValueId, usize>) {
        let mut position = 0;
        while position < region.nodes.len() {
            let id = region.nodes[position];
            let mut op = std::mem::replace(&mut self.nodes[id.index()].op, Op::Reshape);
            op.visit_regions_mut(&mut |inner| self.guard_updates_in(inner, uses));
            self.nodes[id.index()].op = op;
            if let Some(guarded) = self.guarded(id, uses) {
                let mut new = Vec::new();
                if let Some((op, args)) = self.update_if(&guarded, &mut new) {
                    let node = &mut self.nodes[id.index()];
                    (node.op, node.args) = (op, args);
                    let count = new.len();
                    region.nodes.splice(position..position, new);
                    position += count;
                }
            }
            position += 1;
        }
    }

    /// The choice that a node is, if the updated array is used by it alone and an update touches a small part of it.
    fn guarded(&self, id: NodeId, uses: &HashMap<ValueId, usize>) -> Option<Guarded> {
        let node = self.node(id);
        if node.op != Op::Map(MapOp::Select) {
            return None;
        }
        let &[condition, otherwise, then] = node.args.as_slice() else {
            return None;
        };
        let (condition, axes) = self.spread(condition)?;
        [(otherwise, then, true), (then, otherwise, false)]
            .into_iter()
            .find_map(|(old, new, when)| {
                let update = self.def(new)?;
                let made = self.node(update);
                let small = match &made.op {
                    Op::Scatter(_) => made.args.get(2),
                    Op::DynamicUpdate => made.args.get(1),
                    _ => None,
                }?;
                let few = self.value(*small).len() < self.value(old).len();
                let alone = uses.get(&new) == Some(&1);
                (made.args[0] == old && few && alone).then(|| Guarded {
                    condition,
                    axes: axes.clone(),
                    when,
                    update,
                })
            })
    }

    /// What a condition of a choice repeats, and along which axes it does not.
    fn spread(&self, condition: ValueId) -> Option<(ValueId, Dims)> {
        if self.shape(condition).is_empty() {
            return Some((condition, Dims::new()));
        }
        let node = self.node(self.def(condition)?);
        let Op::Broadcast { dims } = &node.op else {
            return None;
        };
        // An axis of length 1 that is repeated would have to be so again.
        let (from, to) = (self.shape(node.args[0]), self.shape(condition));
        let whole = dims
            .iter()
            .zip(from)
            .all(|(&axis, &length)| to[axis] == length);
        whole.then(|| (node.args[0], dims.clone()))
    }

    /// The update that happens where the condition says so; nodes before it go to `new`.
    fn update_if(&mut self, guarded: &Guarded, new: &mut Vec<NodeId>) -> Option<(Op, Args)> {
        let Node { op, args, .. } = self.node(guarded.update).clone();
        match op {
            Op::Scatter(mut spec) => {
                let indices = args[1];
                let spread = self.condition_of_indices(guarded, &spec, indices)?;
                if spec.scatter_dims.is_empty() {
                    // Indices of no numbers have no place outside.
                    return None;
                }
                let nowhere = self.nowhere(args[0], indices)?;
                match spec.mode {
                    OobMode::Fill => {}
                    OobMode::InBounds => spec.mode = OobMode::Fill,
                    OobMode::Clip => return None,
                }
                let (dtype, shape) = (self.dtype(indices), self.shape(indices).to_vec());
                let condition = match spread {
                    None => guarded.condition,
                    Some(dims) => {
                        let args = smallvec![guarded.condition];
                        self.insert(new, Op::Broadcast { dims }, args, DType::Bool, &shape)
                    }
                };
                let nowhere = self.insert(new, Op::Splat(nowhere), Args::new(), dtype, &shape);
                let places = self.insert_choice(new, (condition, guarded.when), indices, nowhere);
                Some((Op::Scatter(spec), smallvec![args[0], places, args[2]]))
            }
            Op::DynamicUpdate if guarded.axes.is_empty() => {
                let (x, update) = (args[0], args[1]);
                let (dtype, shape) = (self.dtype(update), self.shape(update).to_vec());
                let from: Args = [x].into_iter().chain(args[2..].iter().copied()).collect();
                let before = self.insert(new, Op::DynamicSlice, from, dtype, &shape);
                let condition = (guarded.condition, guarded.when);
                let update = self.insert_choice(new, condition, update, before);
                let mut args = args;
                args[1] = update;
                Some((Op::DynamicUpdate, args))
            }
            _ => None,
        }
    }

    /// Along which axes of a scatter's indices a condition goes that is one for each index along some axes of the array: those that indices and array
    /// have in common. Nothing for a scalar.
    #[allow(
        clippy::option_option,
        reason = "there may be no such axes, or no need of them"
    )]
    fn condition_of_indices(
        &self,
        guarded: &Guarded,
        spec: &ScatterSpec,
        indices: ValueId,
    ) -> Option<Option<Dims>> {
        if self.shape(guarded.condition).is_empty() {
            return Some(None);
        }
        let common = |axis: &usize| {
            let mut pairs = spec.operand_batching.iter().zip(&spec.indices_batching);
            pairs.find(|(own, _)| *own == axis).map(|(_, &other)| other)
        };
        let dims: Dims = guarded.axes.iter().map(common).collect::<Option<_>>()?;
        let rising = dims.windows(2).all(|pair| pair[0] < pair[1]);
        (rising && !self.shape(indices).is_empty()).then_some(Some(dims))
    }

    /// An index outside of an array, in the type of some indices.
    fn nowhere(&self, array: ValueId, indices: ValueId) -> Option<Bytes> {
        let dtype = self.dtype(indices);
        let bits = 8 * dtype.size();
        let longest = self.shape(array).iter().copied().max().unwrap_or(1);
        let outside = dtype.is_signed_integer() || bits >= 64 || longest as u64 >> bits == 0;
        outside.then(|| smallvec![0xff; dtype.size()])
    }

    fn insert_choice(
        &mut self,
        into: &mut Vec<NodeId>,
        (condition, when): (ValueId, bool),
        a: ValueId,
        b: ValueId,
    ) -> ValueId {
        let args = if when {
            smallvec![condition, b, a]
        } else {
            smallvec![condition, a, b]
        };
        let (dtype, shape) = (self.dtype(a), self.shape(a).to_vec());
        self.insert(into, Op::Map(MapOp::Select), args, dtype, &shape)
    }
}
