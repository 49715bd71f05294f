//! Which values are stored, and how.

use super::cost::{self, Costs};
use super::{Fuser, Root};
use crate::lower::emit::{Layout, UNROLL};
use crate::lower::graph::{Graph, Node, NodeId, Op, Region, ValueId};
use crate::lower::library;
use jaxide_core::Dims;
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};
use smallvec::{SmallVec, smallvec};
use std::hash::{DefaultHasher, Hash, Hasher};

/// How a stored value has its memory.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Storage {
    /// Memory of its own, row-major.
    Own,
    /// The memory of another value from this many bytes on, row-major.
    Alias { of: ValueId, offset: usize },
}

/// All stored values.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stored {
    map: HashMap<ValueId, Storage>,
}

impl Stored {
    pub(crate) fn get(&self, value: ValueId) -> Option<&Storage> {
        self.map.get(&value)
    }

    pub(crate) fn own(&mut self, value: ValueId) {
        self.map.insert(value, Storage::Own);
    }

    fn insert(&mut self, value: ValueId, storage: Storage) {
        self.map.insert(value, storage);
    }

    /// Whether a dynamic slice is a window into the memory of its operand.
    pub(crate) fn is_window(&self, graph: &Graph, value: ValueId) -> bool {
        let Some(node) = graph.def(value).map(|id| graph.node(id)) else {
            return false;
        };
        node.op == Op::DynamicSlice
            && self.get(node.args[0]).is_some()
            && node.args[1..]
                .iter()
                .all(|&start| self.get(start).is_some() || graph.splat(start).is_some())
    }

    /// The layout of a stored value.
    pub(crate) fn layout(&self, graph: &Graph, value: ValueId) -> Option<Layout> {
        self.get(value).map(|_| Layout::dense(graph.shape(value)))
    }

    /// The value whose own memory a stored value lies in.
    pub(crate) fn owner(&self, value: ValueId) -> ValueId {
        match self.get(value) {
            Some(Storage::Alias { of, .. }) => self.owner(*of),
            Some(Storage::Own) | None => value,
        }
    }
}

/// A consumer that would compute a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Use {
    /// The nest that does it, as far as it is known before nests are made: roots over one domain that wait for the same things are made
    /// together.
    nest: u64,
    /// The index maps on the way, 0 for none.
    moves: u64,
}

type Uses = SmallVec<[Use; 2]>;

/// Computing an element again may cost this many operations for each further consumer.
const CHEAP: usize = 6;
/// Reductions inside reductions are written out as long as they are so many elements together; the operand of one that is more is stored.
const MOST_COPIES: usize = 1024;
/// Lanes of a vector, about.
const VECTOR: usize = 16;
/// A nest of its own is worth it where it saves so many operations on vectors.
const WORTH_A_NEST: usize = 64;
/// Rows from this length on are worth a loop of their own.
const LONG_ROW: usize = 16;
/// Rows of so many elements are stored side by side from lanes that go through the axis before.
const WOVEN: std::ops::RangeInclusive<usize> = 2..=4;
/// Fewer elements of short rows that are turned are read where they are needed.
const MANY_ELEMENTS: usize = 256;
/// So many rows in turns are made one by one.
const MOST_BLOCKS: usize = 8;
/// Operations of a segment of a long region.
const SEGMENT: usize = 1024;
/// Broadcasting to this many times the elements is worth storing the operand, unless computing it is cheap.
const EXPANSION: usize = 8;
/// So are fewer elements if each is computed again at so many operations.
const REPEATED: usize = 56;
/// Values of so few elements are what they are, and not what they show.
pub(super) const FEW_TO_SEE: usize = 256;

impl Fuser<'_> {
    /// Decides for every value of the region whether it is stored; gives the roots that nests make, in order.
    pub(super) fn decide_storage(&mut self, region: &Region) -> Vec<Root> {
        let graph = self.graph;
        for &id in &region.nodes {
            if let Op::Const(_) = graph.node(id).op {
                let value = graph.node(id).results[0];
                if graph.value(value).len() > 1 {
                    self.stored.own(value);
                }
            }
        }
        let mut forced = HashSet::default();
        self.cut(region, &mut forced);
        for &result in &region.results {
            self.force(result, &mut forced);
        }
        let mut costs = Costs::of_region(graph, region);
        for &id in &region.nodes {
            self.force_operands(id, &costs, &mut forced);
            let node = graph.node(id);
            if self.is_long_fold(&node.op, node.args.first().copied()) {
                self.force(node.results[0], &mut forced);
            }
            self.cost_of_node(id, &forced, &mut costs);
            self.place_in_order(id, &forced, &mut costs);
        }
        let mut uses: HashMap<ValueId, Uses> = HashMap::default();
        let mut roots = Vec::new();
        for &id in region.nodes.iter().rev() {
            self.decide_node(id, &costs, &forced, &mut uses, &mut roots);
        }
        roots.reverse();
        roots
    }

    /// Cuts a long region into segments: what one of them computes and another reads is in memory. So nests are not longer than segments,
    /// and values that many of them read are not computed by each.
    fn cut(&self, region: &Region, forced: &mut HashSet<ValueId>) {
        if region.nodes.len() <= SEGMENT {
            return;
        }
        let mut segments: HashMap<ValueId, usize> = HashMap::default();
        for (place, &id) in region.nodes.iter().enumerate() {
            let node = self.graph.node(id);
            for &arg in &node.args {
                if segments.get(&arg).is_some_and(|&of| of != place / SEGMENT) {
                    self.force_source(arg, forced);
                }
            }
            segments.extend(node.results.iter().map(|&value| (value, place / SEGMENT)));
        }
    }

    /// A value that must be in memory. One that only looks at another's memory needs that one.
    fn force(&self, value: ValueId, forced: &mut HashSet<ValueId>) {
        if self.stored.get(value).is_some() || !forced.insert(value) {
            return;
        }
        let Some(id) = self.graph.def(value) else {
            return;
        };
        if let Some((of, _)) = self.shared_memory(value, forced) {
            self.force(of, forced);
        }
        let node = self.graph.node(id);
        if matches!(node.op, Op::Alias) || self.reshapes_rows(id) {
            self.force(node.args[0], forced);
        }
    }

    /// Whether a reshape is of long or very short rows that are moved about: computed row by row they need no division of indices, and the result is
    /// the same memory.
    fn reshapes_rows(&self, id: NodeId) -> bool {
        let node = self.graph.node(id);
        let Some(of) = node.args.first().and_then(|&arg| self.graph.def(arg)) else {
            return false;
        };
        let row = self.graph.shape(node.args[0]).last();
        let moves = matches!(
            self.graph.node(of).op,
            Op::Broadcast { .. }
                | Op::Transpose { .. }
                | Op::Slice { .. }
                | Op::Rev { .. }
                | Op::Pad { .. }
                | Op::Concat { .. }
                | Op::Map(_)
        );
        matches!(node.op, Op::Reshape)
            && moves
            && (row.is_some_and(|&length| length >= LONG_ROW || WOVEN.contains(&length))
                || self.is_woven(node.results[0]))
    }

    /// Whether a value is made of a few arrays in turns, their elements or rows of them: stored side by side they need no choice at every place.
    fn is_woven(&self, value: ValueId) -> bool {
        let graph = self.graph;
        let made = |value: ValueId| graph.def(value).map(|id| graph.node(id));
        let Some(Node {
            op: Op::Reshape,
            args,
            ..
        }) = made(value)
        else {
            return false;
        };
        // Short rows that are turned are made all at once, and not each element by dividing its index.
        if let Some(Node {
            op: Op::Transpose { .. },
            results,
            ..
        }) = made(args[0])
        {
            let row = graph.shape(results[0]).last();
            return row.is_some_and(|row| (2..LONG_ROW).contains(row))
                && graph.value(value).len() > MANY_ELEMENTS;
        }
        let Some(Node {
            op: Op::Concat { axis },
            args: parts,
            results,
            ..
        }) = made(args[0])
        else {
            return false;
        };
        let shape = graph.shape(results[0]);
        let many = if axis + 1 == shape.len() {
            graph.shape(value).last().is_some_and(|&row| row > VECTOR)
        } else {
            shape[..*axis].iter().product::<usize>() > MOST_BLOCKS
        };
        many && WOVEN.contains(&shape[*axis])
            && parts.iter().all(|&part| graph.shape(part)[*axis] == 1)
    }

    /// Whether a value will be in memory of its own whatever is decided for its users.
    fn has_place(&self, value: ValueId, forced: &HashSet<ValueId>) -> bool {
        self.stored.get(value).is_some()
            || forced.contains(&value)
            || self.graph.def(value).is_none_or(|id| self.is_opaque(id))
    }

    /// The value in memory that this one can look at, and from which byte on. Values between the two, which look at that
    /// memory too, need not have a place themselves.
    fn shared_memory(&self, value: ValueId, forced: &HashSet<ValueId>) -> Option<(ValueId, usize)> {
        let (mut of, mut offset) = self.alias_of(value)?;
        while !self.has_place(of, forced) {
            let (next, more) = self.alias_of(of)?;
            (of, offset) = (next, offset + more);
        }
        Some((of, offset))
    }

    /// A value without computation at hand: what it is computed from is needed instead.
    fn force_source(&self, value: ValueId, forced: &mut HashSet<ValueId>) {
        if self.stored.get(value).is_some() {
            return;
        }
        match self.graph.def(value).map(|id| self.graph.node(id)) {
            None => {}
            Some(node) => match &node.op {
                Op::Splat(_) | Op::Iota { .. } | Op::Const(_) => {}
                Op::Broadcast { .. }
                | Op::Reshape
                | Op::Transpose { .. }
                | Op::Slice { .. }
                | Op::Rev { .. } => self.force_source(node.args[0], forced),
                _ => self.force(value, forced),
            },
        }
    }

    /// The value that is computed where `value` is, behind broadcasts and other views of it.
    fn repeated(&self, value: ValueId, costs: &Costs, forced: &HashSet<ValueId>) -> ValueId {
        let mut first = value;
        while !forced.contains(&first) && costs.is_of_region(first) {
            let Some(id) = self.graph.def(first) else {
                break;
            };
            let node = self.graph.node(id);
            match &node.op {
                Op::Broadcast { .. } | Op::Reshape | Op::Transpose { .. } => first = node.args[0],
                _ => break,
            }
        }
        first
    }

    /// The value whose elements a value has, in the same order: behind views that only give them another shape. A value of few elements
    /// stands for itself: what is computed again is soon done, and rounded as it is where it is stored.
    pub(super) fn seen(&self, value: ValueId, costs: &Costs) -> ValueId {
        let graph = self.graph;
        let mut first = value;
        while costs.is_of_region(first)
            && graph.value(value).len() > FEW_TO_SEE
            && let Some(node) = graph.def(first).map(|id| graph.node(id))
            && let Op::Broadcast { .. } | Op::Reshape = node.op
            && graph.value(node.args[0]).len() == graph.value(first).len()
        {
            first = node.args[0];
        }
        first
    }

    fn force_operands(&self, id: NodeId, costs: &Costs, forced: &mut HashSet<ValueId>) {
        let graph = self.graph;
        let node = graph.node(id);
        let turns = cost::written_out(graph, node);
        for &arg in &node.args {
            if turns > 1 && turns.saturating_mul(costs.copies(arg)) > MOST_COPIES {
                self.force(arg, forced);
            }
        }
        match &node.op {
            Op::Call(_) => node.args.iter().for_each(|&arg| self.force(arg, forced)),
            Op::Gather(_) | Op::Transpose { .. } if self.is_opaque(id) => {
                node.args.iter().for_each(|&arg| self.force(arg, forced));
            }
            // The same memory by another type: there is no other way to compute it.
            Op::Alias => {
                self.force(node.args[0], forced);
                self.force(node.results[0], forced);
            }
            Op::Scan { .. } | Op::While { .. } | Op::Cond { .. } => {
                let in_lanes = self.lane_forms.get(id).is_some();
                let captured = self.captured(id);
                if in_lanes {
                    // What is expensive is computed before, across lanes.
                    for &value in node.args.iter().chain(&captured) {
                        if graph.value(value).len() > 64 && self.cost(value, costs, forced) > 4 {
                            self.force(value, forced);
                        }
                    }
                } else {
                    node.args.iter().for_each(|&arg| self.force(arg, forced));
                    let mut demanded = Vec::new();
                    node.op
                        .visit_regions(&mut |region| self.demanded(region, &mut demanded));
                    for &value in &captured {
                        if demanded.contains(&value) {
                            self.force(value, forced);
                        } else {
                            self.force_source(value, forced);
                        }
                    }
                }
            }
            Op::DynamicUpdate if self.is_opaque(id) => {
                self.force(node.args[0], forced);
                for &start in &node.args[2..] {
                    self.force_start(start, forced);
                }
                // What is written must not read elements that were written already.
                if self.reads_elsewhere(
                    node.args[1],
                    node.args[0],
                    &node.args[2..],
                    &mut HashSet::default(),
                ) {
                    self.force(node.args[1], forced);
                }
            }
            Op::Scatter(spec) => {
                self.force(node.args[0], forced);
                let stored = |value| forced.contains(&value) || self.stored.get(value).is_some();
                if let Some((_, operands)) = library::scatter(graph, node, spec, stored) {
                    // What is computed around the region, and is not stored there, is computed where it is read.
                    let can = |&arg: &ValueId| stored(arg) || costs.is_of_region(arg);
                    if operands.iter().all(can) {
                        operands.iter().for_each(|&arg| self.force(arg, forced));
                        return;
                    }
                }
                // One element is computed where it is written, once and before it is.
                if graph.value(node.args[2]).len() == 1 {
                    return;
                }
                for &arg in &node.args[1..] {
                    if self.cost(arg, costs, forced) > CHEAP
                        || self.reads_elsewhere(arg, node.args[0], &[], &mut HashSet::default())
                    {
                        self.force(arg, forced);
                    } else {
                        self.force_source(arg, forced);
                    }
                }
            }
            Op::DynamicSlice => {
                self.force_source(node.args[0], forced);
                if graph.value(node.results[0]).len() <= 1 {
                    return;
                }
                node.args[1..]
                    .iter()
                    .for_each(|&start| self.force_start(start, forced));
            }
            Op::Gather(_) => {
                self.force_source(node.args[0], forced);
                if self.cost(node.args[1], costs, forced) > CHEAP
                    && !costs.is_of_columns(node.args[1])
                {
                    self.force(node.args[1], forced);
                }
            }
            // The numbers of indices are read where they are; those of windows are made before, since each element asks for them.
            Op::Concat { .. } if costs.is_of_windows(node.results[0]) => {
                let cost: usize = node
                    .args
                    .iter()
                    .map(|&arg| self.cost(arg, costs, forced))
                    .sum();
                for &arg in &node.args {
                    if cost > CHEAP && self.cost(arg, costs, forced) > 1 {
                        self.force(arg, forced);
                    }
                }
            }
            Op::Broadcast { dims } => {
                let arg = node.args[0];
                let (before, after) = (
                    graph.value(arg).len().max(1),
                    graph.value(node.results[0]).len(),
                );
                // Along a short last axis each element is computed by a vector of its own.
                let shape = graph.shape(node.results[0]);
                let last = shape.last().copied().unwrap_or(1);
                let own = dims.iter().position(|&axis| axis + 1 == shape.len());
                let repeats = own.is_none_or(|own| graph.shape(arg)[own] == 1);
                let along = last > 1 && last < VECTOR && repeats;
                let saved = (after / last.max(1)).saturating_sub(before.div_ceil(VECTOR));
                let one_by_one =
                    along && before > 1 && saved * self.cost(arg, costs, forced) > WORTH_A_NEST;
                if self.cost(arg, costs, forced) <= CHEAP {
                    return;
                }
                if after / before > EXPANSION || one_by_one {
                    self.force(self.seen(arg, costs), forced);
                    return;
                }
                // What a chain of broadcasts repeats is computed as often as all of them say.
                let first = self.repeated(arg, costs, forced);
                let before = graph.value(first).len().max(1);
                let vectors = after
                    .div_ceil(VECTOR)
                    .saturating_sub(before.div_ceil(VECTOR));
                let again = (after / before).saturating_sub(1) * self.cost(first, costs, forced);
                if again > REPEATED && vectors * self.cost(first, costs, forced) > WORTH_A_NEST {
                    self.force(first, forced);
                }
            }
            Op::Slice { .. } | Op::Pad { .. } if self.is_woven(node.args[0]) => {
                self.force(node.args[0], forced);
            }
            Op::Map(_) => {
                let after = graph.value(node.results[0]).len();
                for &arg in &node.args {
                    if self.is_woven(arg) {
                        self.force(arg, forced);
                        continue;
                    }
                    if graph.shape(arg).is_empty()
                        && after > EXPANSION
                        && self.cost(arg, costs, forced) > CHEAP
                    {
                        self.force(arg, forced);
                    }
                }
            }
            Op::Reduce { axes, .. } => {
                // Terms that are written out are computed one after the other, in lanes for the results alone.
                let arg = node.args[0];
                let terms: usize = axes.iter().map(|&axis| graph.shape(arg)[axis]).product();
                let vectors = |lanes: usize| lanes.div_ceil(VECTOR);
                let one_by_one = terms * vectors(graph.value(node.results[0]).len());
                let together = vectors(graph.value(arg).len());
                let saved = one_by_one.saturating_sub(together) * costs.of_term(graph, arg);
                let few = one_by_one >= 2 * together;
                if few && terms <= UNROLL && saved > WORTH_A_NEST {
                    self.force(arg, forced);
                }
            }
            // Windows read every element several times.
            Op::ReduceWindow { .. }
            | Op::ReduceWindowWith { .. }
            | Op::SelectPlace { .. }
            | Op::SendToPlace { .. }
            | Op::SelectAndGather { .. } => {
                for &arg in &node.args {
                    if self.cost(arg, costs, forced) > 2 {
                        self.force(arg, forced);
                    }
                }
            }
            _ => {}
        }
    }

    /// Whether an update is better made as a new array: at a known place, of most of the array, and from elements that it would overwrite.
    pub(super) fn writes_whole(&self, id: NodeId) -> bool {
        let node = self.graph.node(id);
        let (x, update) = (node.args[0], node.args[1]);
        let known = node.args[2..]
            .iter()
            .all(|&start| self.graph.splat(start).is_some());
        known
            && 2 * self.graph.value(update).len() > self.graph.value(x).len()
            && self.reads_elsewhere(update, x, &node.args[2..], &mut HashSet::default())
    }

    /// Whether computing `value` in place reads `x` other than at the box that starts at `starts`, index by index.
    fn reads_elsewhere(
        &self,
        value: ValueId,
        x: ValueId,
        starts: &[ValueId],
        seen: &mut HashSet<(ValueId, bool)>,
    ) -> bool {
        if value == x || self.stored.owner(value) == x {
            return true;
        }
        if !seen.insert((value, starts.is_empty())) {
            return false;
        }
        let Some(id) = self.graph.def(value) else {
            return false;
        };
        if self.is_opaque(id) {
            return false;
        }
        let node = self.graph.node(id);
        let same_box = match &node.op {
            Op::DynamicSlice => node.args[0] == x && node.args[1..] == *starts,
            Op::Slice { start, stride } => {
                node.args[0] == x
                    && stride.iter().all(|&step| step == 1)
                    && start.len() == starts.len()
                    && start.iter().zip(starts).all(|(&own, &other)| {
                        self.graph.int_elements(other) == Some(vec![own as i64])
                    })
            }
            _ => false,
        };
        let elementwise = matches!(node.op, Op::Map(_));
        !same_box
            && node.args.iter().any(|&arg| {
                // An index map moves what is read away from its own place.
                let starts = if elementwise { starts } else { &[] };
                self.reads_elsewhere(arg, x, starts, seen)
            })
    }

    /// A start that is known stays where it is used.
    fn force_start(&self, start: ValueId, forced: &mut HashSet<ValueId>) {
        if self.graph.splat(start).is_none() {
            self.force(start, forced);
        }
    }

    fn decide_node(
        &mut self,
        id: NodeId,
        costs: &Costs,
        forced: &HashSet<ValueId>,
        uses: &mut HashMap<ValueId, Uses>,
        roots: &mut Vec<Root>,
    ) {
        let graph = self.graph;
        let node = graph.node(id);
        match &node.op {
            Op::Scan { .. } | Op::While { .. } | Op::Cond { .. } => {
                let in_lanes = self.lane_forms.get(id).is_some();
                let in_registers = match node.op {
                    Op::Scan { carries, .. } => carries,
                    _ => node.results.len(),
                };
                for (k, value) in node.results.iter().enumerate() {
                    // As a counter often is.
                    let unused = !uses.contains_key(value) && !forced.contains(value);
                    if !(in_lanes && k < in_registers && unused) {
                        self.stored.own(*value);
                    }
                }
                if in_lanes {
                    roots.push(Root::Control(id));
                    let own = Use {
                        nest: mix(1, u64::from(id.0)),
                        moves: 1,
                    };
                    for value in node.args.iter().copied().chain(self.captured(id)) {
                        add_use(uses, value, own);
                    }
                }
                return;
            }
            Op::DynamicUpdate | Op::Scatter(_) if self.is_opaque(id) => {
                let result = node.results[0];
                self.stored.own(result);
                let update = matches!(node.op, Op::DynamicUpdate);
                roots.push(if update {
                    Root::Update(id)
                } else {
                    Root::Scatter(id)
                });
                let own = Use {
                    nest: mix(1, u64::from(id.0)),
                    moves: 1,
                };
                node.args.iter().for_each(|&arg| add_use(uses, arg, own));
                return;
            }
            Op::Call(_) | Op::Gather(_) | Op::Transpose { .. } if self.is_opaque(id) => {
                node.results
                    .iter()
                    .for_each(|&value| self.stored.own(value));
                return;
            }
            _ => {}
        }
        for (k, &value) in node.results.iter().enumerate() {
            if self.stored.get(value).is_some() {
                continue;
            }
            let own = uses.remove(&value).unwrap_or_default();
            let must = forced.contains(&value);
            if own.is_empty() && !must {
                continue;
            }
            if must && let Some((of, offset)) = self.shared_memory(value, forced) {
                self.stored.insert(value, Storage::Alias { of, offset });
                continue;
            }
            let again = own.len().saturating_sub(1) * self.cost(value, costs, forced);
            let computed = !matches!(node.op, Op::Splat(_) | Op::Iota { .. });
            let store = must || (computed && (again > CHEAP || costs.is_deep(value)));
            if !store {
                self.pass_on(id, k, &own, uses);
                continue;
            }
            self.stored.own(value);
            let (root, domain) = match &node.op {
                Op::Reduce { axes, .. } => (
                    Root::Fold {
                        value,
                        axes: axes.clone(),
                    },
                    node.args[0],
                ),
                Op::ArgReduce { axis, .. } => {
                    let axes = std::iter::once(*axis).collect();
                    (Root::Fold { value, axes }, node.args[0])
                }
                _ => (Root::Store(value), value),
            };
            roots.push(root);
            let mut key = DefaultHasher::new();
            (graph.shape(domain), costs.level(domain)).hash(&mut key);
            let own = Use {
                nest: key.finish(),
                moves: 0,
            };
            if domain == value {
                self.pass_on(id, k, &smallvec![own], uses);
            } else {
                // A reduction reads each element of its operand once, at its own point of the domain.
                add_use(uses, domain, own);
            }
        }
    }

    /// The operands are computed for the same consumers.
    fn pass_on(&self, id: NodeId, result: usize, own: &Uses, uses: &mut HashMap<ValueId, Uses>) {
        let node = self.graph.node(id);
        let elementwise = matches!(node.op, Op::Map(_));
        for (k, &arg) in node.args.iter().enumerate() {
            for &user in own {
                let step = u64::from(id.0) * 64 + k as u64 + result as u64;
                let moves = if elementwise {
                    user.moves
                } else {
                    mix(user.moves, step)
                };
                add_use(uses, arg, Use { moves, ..user });
            }
        }
    }

    /// Whether a reduction is long enough to be a nest of its own.
    pub(super) fn is_long_fold(&self, op: &Op, arg: Option<ValueId>) -> bool {
        let Some(arg) = arg else { return false };
        let shape = self.graph.shape(arg);
        match op {
            Op::Reduce { axes, .. } => axes.iter().map(|&axis| shape[axis]).product::<usize>() > 16,
            Op::ArgReduce { axis, .. } => shape[*axis] > 32,
            Op::ReduceWith { .. } => true,
            _ => false,
        }
    }

    /// The value whose memory this one can share unchanged, and from which byte on.
    fn alias_of(&self, value: ValueId) -> Option<(ValueId, usize)> {
        let node = self.graph.node(self.graph.def(value)?);
        match &node.op {
            Op::Reshape | Op::Alias => Some((node.args[0], 0)),
            Op::Slice { start, stride } => {
                let (own, shape) = (self.graph.shape(node.args[0]), self.graph.shape(value));
                // Everything behind the first axis that is cut must be whole, and everything before it of length 1.
                let cut = (0..shape.len()).find(|&axis| shape[axis] != own[axis])?;
                let whole = shape[cut + 1..] == own[cut + 1..];
                let single = shape[..cut].iter().all(|&length| length == 1);
                let dense = stride[cut] == 1 || shape[cut] == 1;
                let behind: usize = own[cut + 1..].iter().product();
                let offset = start[cut] * behind * self.graph.dtype(value).size();
                (whole && single && dense).then_some((node.args[0], offset))
            }
            _ => None,
        }
    }
}

fn add_use(uses: &mut HashMap<ValueId, Uses>, value: ValueId, user: Use) {
    let list = uses.entry(value).or_default();
    if list.len() < 8 && !list.contains(&user) {
        list.push(user);
    }
}

fn mix(signature: u64, step: u64) -> u64 {
    (signature.rotate_left(5) ^ step).wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1
}

/// The domain of a root.
pub(super) fn domain(graph: &Graph, root: &Root, lane_axes: Option<&Dims>) -> Dims {
    match root {
        Root::Store(value) => Dims::from_slice(graph.shape(*value)),
        Root::Fold { value, .. } => {
            let arg = graph.def(*value).map(|id| graph.node(id).args[0]);
            Dims::from_slice(arg.map_or(&[], |arg| graph.shape(arg)))
        }
        Root::Control(_) => lane_axes.cloned().unwrap_or_default(),
        Root::Update(id) => Dims::from_slice(graph.shape(graph.node(*id).args[1])),
        Root::Scatter(_) => Dims::new(),
    }
}
