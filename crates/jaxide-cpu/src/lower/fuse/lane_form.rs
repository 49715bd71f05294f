//! Which loops and branches run inside a lane program, with their state in registers.

use crate::lower::emit::{Binding, Emitter, Layout, Memory};
use crate::lower::graph::{Graph, MapOp, NodeId, Op, Region, ValueId, own_cost, turns as terms_of};
use jaxide_core::Dims;
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};

/// Lane programs with more values than this are not made; the state of such loops goes to memory.
const MOST_VALUES: usize = 8000;
/// Elements computed while trying.
const BUDGET: usize = 60_000;
/// A loop inside a lane that is longer than this is better run across lanes, unless there are lanes enough.
const LONGEST_FOLD: usize = 64;
/// So many lanes make up for loops inside them.
const MANY_LANES: usize = 8;
/// Simple operations that starting a nest costs.
const NEST: usize = 50;
/// A lane program with so many times more statements, for all vectors, than a turn in memory costs is not what it was taken for: each lane has elements that
/// others have too, because they are summed up.
const MISJUDGED: usize = 6;
/// Elements of a vector.
const VECTOR: usize = 16;
/// Without products, turns of so many simple operations are made in registers where they cost at most half as much again as in memory: what a loop keeps in
/// registers is at hand in its next turn.
const SHORT: usize = 500;
/// Registers for state: others hold what is made of it.
const REGISTERS: usize = 24;
/// Simple operations in which the lanes of a vector are combined.
const COMBINED: usize = 8;
/// Bytes of a line of the cache, bytes that stay in the first one, and what it costs to load and store a line elsewhere.
const LINE: usize = 64;
const NEAR: usize = 32 << 10;
const TRAFFIC: usize = 8;
/// Operations of a turn for each vector, up to which several of them advance together.
const LIGHT: usize = 12;
/// So many operations that all lanes share cost as much as one of a lane's own.
const SHARED: usize = 4;
/// What it costs to find out whether any lane of a vector goes on.
const GOES_ON: usize = 1;
/// How many times as long a loop takes, roughly, that reads from memory what another one makes for it.
const AROUND: usize = 2;
/// Values that are looked at for what one is made of; others are taken for state.
const MOST_SEEN: usize = 64;
/// Turns that a loop of unknown length is taken to have.
const TURNS: usize = 8;

/// The loops and branches that run inside lane programs, with the axes that they have as lanes.
#[derive(Clone, Debug, Default)]
pub(crate) struct LaneForms(HashMap<NodeId, Dims>);

impl LaneForms {
    /// Those of a graph. What is inside one of them is not looked at.
    pub(crate) fn of(graph: &Graph) -> LaneForms {
        let mut forms = LaneForms::default();
        forms.find(graph, &graph.root);
        forms
    }

    fn find(&mut self, graph: &Graph, region: &Region) {
        for &id in &region.nodes {
            let op = &graph.node(id).op;
            if !matches!(op, Op::Scan { .. } | Op::While { .. } | Op::Cond { .. }) {
                continue;
            }
            match lane_form(graph, id) {
                Some(axes) => {
                    self.0.insert(id, axes);
                }
                None => op.visit_regions(&mut |inner| self.find(graph, inner)),
            }
        }
    }

    /// The axes of a loop or branch that is one of them.
    pub(crate) fn get(&self, id: NodeId) -> Option<&Dims> {
        self.0.get(&id)
    }

    /// Whether all loops whose lanes stop one by one are among them: in memory, all lanes take each turn.
    pub(crate) fn stop_apart(&self, graph: &Graph) -> bool {
        self.stop_apart_in(graph, &graph.root)
    }

    fn stop_apart_in(&self, graph: &Graph, region: &Region) -> bool {
        region.nodes.iter().all(|&id| {
            let op = &graph.node(id).op;
            let scalar = match op {
                Op::While { cond, .. } => graph.shape(cond.results[0]).is_empty(),
                _ => true,
            };
            let mut inner = true;
            op.visit_regions(&mut |region| inner = inner && self.stop_apart_in(graph, region));
            self.get(id).is_some() || (scalar && inner)
        })
    }
}

/// The axes that a loop or branch has as lanes when its state is in registers; `None` when it cannot be.
fn lane_form(graph: &Graph, id: NodeId) -> Option<Dims> {
    if graph.has_effect(&graph.node(id).op) {
        return None;
    }
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
    let lanes: usize = axes.iter().product();
    if lanes == 0 {
        return false;
    }
    let mut inside = HashSet::default();
    let node = graph.node(id);
    node.op
        .visit_regions(&mut |region| define(graph, region, &mut inside));
    inside.extend(&node.results);
    let memory = Outside { graph, inside };
    let Some(in_memory) = worth_it(&memory, id, axes) else {
        return false;
    };
    let mut emitter = Emitter::new(graph, &memory, BUDGET);
    for &length in axes {
        let index = emitter.b.outer();
        emitter.add_lane_axis(length, Binding::index(index));
    }
    if emitter.emit_control(id).is_err()
        || (lanes < MANY_LANES && emitter.longest_fold > LONGEST_FOLD)
    {
        return false;
    }
    let most = in_memory.saturating_mul(MISJUDGED) / lanes.div_ceil(VECTOR);
    emitter.b.finish().is_ok_and(|body| {
        let statements: usize = body.blocks().iter().map(|block| block.stmts.len()).sum();
        body.values().len() <= MOST_VALUES && statements <= most
    })
}

/// What a turn costs in memory, if a loop with its state in registers is better than one that keeps it there and works on whole vectors.
fn worth_it(memory: &Outside<'_>, id: NodeId, axes: &[usize]) -> Option<usize> {
    let graph = memory.graph;
    let mut cost = Cost::default();
    let op = &graph.node(id).op;
    op.visit_regions(&mut |region| cost.add(memory, region, axes));
    let registers = axes.iter().product::<usize>().div_ceil(VECTOR);
    cost.in_registers = cost.in_registers.saturating_add(cost.choices);
    if axes.is_empty() && works_on_wholes(graph, op) {
        cost.in_registers += spilled(graph, op);
        cost.in_memory -= cost.saved;
    }
    if let Op::While { cond, .. } = op {
        if graph.shape(cond.results[0]).is_empty() {
            cost.in_registers += GOES_ON * registers;
        } else {
            // In memory all lanes turn as long as one does, and choose what they keep.
            cost.in_memory = cost.in_memory.saturating_mul(2);
        }
    }
    // In a long turn each operation waits for the one before, while elements in memory do not wait for each other.
    if cost.terms == 0 && cost.in_registers <= LIGHT * registers {
        cost.in_memory += carried_through_memory(graph, op);
    }
    // The more terms are unrolled, the more of them live in memory all the same.
    let products = match cost.terms {
        0 if cost.in_registers <= SHORT.min(cost.in_memory + cost.in_memory / 2) => {
            return Some(cost.in_memory);
        }
        0 => 0,
        1..=500 => cost.products,
        501..=2000 => cost.products + cost.products / 2,
        2001..=4000 => cost.products * 2,
        _ => return None,
    };
    (cost.in_registers + products <= cost.in_memory).then_some(cost.in_memory)
}

/// What a turn costs to load and store elements of state for which there is no register.
fn spilled(graph: &Graph, op: &Op) -> usize {
    let state = carried(op).iter().map(|&value| graph.value(value).len());
    2 * state.sum::<usize>().saturating_sub(REGISTERS)
}

/// Whether a body computes nothing but arrays element by element, and single numbers of all their elements. Such a turn is a few nests of whole
/// vectors in memory, while elements that are moved about are only renamed in registers.
fn works_on_wholes(graph: &Graph, op: &Op) -> bool {
    let single = |&value: &ValueId| graph.value(value).len() == 1;
    let mut wholes = true;
    op.visit_regions(&mut |region| {
        let mut nodes = region.nodes.iter().map(|&id| graph.node(id));
        wholes = wholes
            && nodes.all(|node| match node.op {
                Op::Map(_) | Op::Splat(_) | Op::Iota { .. } | Op::Reshape => true,
                Op::Broadcast { .. } => single(&node.args[0]),
                Op::Reduce { .. } | Op::ArgReduce { .. } => single(&node.results[0]),
                _ => false,
            });
    });
    wholes
}

/// The parameters of a loop's body that it carries.
fn carried(op: &Op) -> &[ValueId] {
    match op {
        Op::Scan { body, carries, .. } => &body.params[..*carries],
        Op::While { body, .. } => &body.params,
        _ => &[],
    }
}

/// What a turn costs that reads and writes what a loop carries, in simple operations.
fn carried_through_memory(graph: &Graph, op: &Op) -> usize {
    let bytes: usize = carried(op)
        .iter()
        .map(|&value| graph.value(value).bytes())
        .sum();
    if bytes > NEAR {
        bytes.div_ceil(LINE).saturating_mul(TRAFFIC)
    } else {
        0
    }
}

/// What a turn costs, in simple operations.
#[derive(Default)]
struct Cost {
    /// With all elements of a lane in registers: all but products.
    in_registers: usize,
    /// Products, where each element is a sum of its own.
    products: usize,
    /// Terms of products, which are unrolled.
    terms: usize,
    /// Choices among elements in registers, of which one is read whose place is not known.
    choices: usize,
    /// With arrays in memory.
    in_memory: usize,
    /// How much less reductions take there if their terms are the lanes.
    saved: usize,
}

impl Cost {
    fn add(&mut self, memory: &Outside<'_>, region: &Region, axes: &[usize]) {
        let graph = memory.graph;
        self.in_memory += NEST;
        let lanes: usize = axes.iter().product();
        let registers = lanes.div_ceil(VECTOR);
        for &id in &region.nodes {
            let node = graph.node(id);
            let mut inner = Cost::default();
            node.op
                .visit_regions(&mut |region| inner.add(memory, region, axes));
            let turns = match &node.op {
                Op::Scan { length, .. } => *length,
                Op::While { .. } => TURNS,
                _ => 1,
            };
            let inner_in_registers = inner.in_registers.saturating_mul(turns);
            self.in_registers += inner_in_registers;
            self.products += inner.products.saturating_mul(turns);
            self.choices += inner.choices.saturating_mul(turns);
            self.terms += inner.terms;
            let mut in_memory = inner.in_memory.saturating_mul(turns);
            if inner.terms == 0 {
                // With arrays in memory, an inner loop may still have its own state in registers.
                let own_state = inner_in_registers.saturating_mul(AROUND) + NEST;
                in_memory = in_memory.min(own_state);
            }
            self.in_memory += in_memory;
            let read = match &node.op {
                Op::Scan { carries, .. } => turns * memory.choices(&node.args[*carries..], axes),
                Op::DynamicSlice | Op::Gather(_) if !graph.are_constant(&node.args[1..]) => {
                    let results = own_elements(graph.shape(node.results[0]), axes);
                    results.saturating_mul(memory.choices(&node.args[..1], axes))
                }
                _ => 0,
            };
            self.choices += read.saturating_mul(registers);
            let each = own_cost(graph, node, 0).saturating_mul(parts(graph, &node.op, &node.args));
            let nest = match node.op {
                Op::Call(_)
                | Op::Reduce { .. }
                | Op::ArgReduce { .. }
                | Op::Concat { .. }
                | Op::DynamicUpdate
                | Op::Scatter(_) => NEST,
                _ => 0,
            };
            for &result in &node.results {
                let len = graph.value(result).len();
                let own = own_elements(graph.shape(result), axes);
                let terms = own.saturating_mul(each);
                if let Op::Call(_) = node.op {
                    self.products += terms.saturating_mul(registers);
                    self.terms += terms;
                } else if len == 1 && lanes > 1 {
                    // What all lanes share waits for nothing, and is a part of what is done beside it.
                    self.in_registers += each.saturating_mul(registers.div_ceil(SHARED));
                } else {
                    self.in_registers += terms.saturating_mul(registers);
                }
                let in_vectors = len.div_ceil(VECTOR).saturating_mul(each);
                if let Op::Reduce { .. } | Op::ArgReduce { .. } = node.op {
                    let terms = terms_of(graph, node);
                    let vectors = terms.div_ceil(VECTOR) * (each / terms.max(1)) + COMBINED;
                    self.saved += in_vectors.saturating_sub(len.saturating_mul(vectors));
                }
                self.in_memory += in_vectors + nest;
            }
        }
    }
}

/// How many elements of an array each lane has: those along axes that are, by their lengths, none of the lanes'. Inside of a loop they may stand in another
/// order.
fn own_elements(shape: &[usize], axes: &[usize]) -> usize {
    let mut rest = Dims::from_slice(axes);
    let mut own = 1;
    for &length in shape {
        match rest.iter().position(|&axis| axis == length) {
            Some(at) => drop(rest.remove(at)),
            None => own *= length,
        }
    }
    own
}

/// Operations on real numbers that one on complex numbers is, roughly.
fn parts(graph: &Graph, op: &Op, args: &[ValueId]) -> usize {
    if !args.iter().any(|&arg| graph.dtype(arg).is_complex()) {
        return 1;
    }
    match op {
        Op::Map(MapOp::Mul | MapOp::Square) => 4,
        // Moduli, quotients and functions, which are kept from overflowing.
        Op::Map(
            MapOp::Abs
            | MapOp::Sign
            | MapOp::Div
            | MapOp::Function(_)
            | MapOp::Pow
            | MapOp::IntegerPow(_),
        ) => 16,
        _ => 2,
    }
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

impl Outside<'_> {
    /// Elements of the loops' state that each lane has, of which those values are made: one is chosen among all of them where its place is
    /// not known.
    fn choices(&self, values: &[ValueId], axes: &[usize]) -> usize {
        let mut seen: HashSet<ValueId> = values.iter().copied().collect();
        let mut left = values.to_vec();
        let mut choices = 0;
        while let Some(value) = left.pop() {
            if !self.inside.contains(&value) {
                continue;
            }
            let maker = self.graph.def(value).map(|id| self.graph.node(id));
            match maker {
                Some(node)
                    if seen.len() <= MOST_SEEN
                        && !matches!(
                            node.op,
                            Op::Scan { .. } | Op::While { .. } | Op::Cond { .. }
                        ) =>
                {
                    left.extend(node.args.iter().filter(|&&arg| seen.insert(arg)));
                }
                _ => match own_elements(self.graph.shape(value), axes) {
                    0 | 1 => {}
                    elements => choices += elements,
                },
            }
        }
        choices
    }
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
