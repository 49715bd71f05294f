//! Loop nests → lane programs: which axis becomes the lanes, and what happens to the others.
//!
//! The nest is emitted twice. The first time every axis is an opaque variable, and what the program mentions tells how memory
//! depends on each. Then neighbouring axes that memory treats as one are merged, the axis with the best access becomes the lanes, short ones are
//! unrolled, and the rest are loops: inside the lane program where the lanes are few, else outside.

use super::{Binding, Emitted, Emitter, Ix, Ixs, Layout, Memory, Mention, Operand, Refusal, Var};
use crate::lanes::{Addr, Body, Index, MemTy, Trip, Value};
use crate::lower::element::{self, Element};
use crate::lower::fuse::{Nest, Root, Stored};
use crate::lower::graph::{Combine, Graph, Op, ValueId};
use jaxide_core::DType;
use smallvec::SmallVec;
use std::ops::Range;

/// Axes that are not lanes are unrolled up to this length.
const UNROLL: usize = 4;
/// With fewer lanes than this, a further axis loops inside the lane program.
const FEW_LANES: usize = 128;
/// Elements computed for one nest.
const BUDGET: usize = 200_000;
/// Domains with fewer points are not cut into parts.
const CUT_FROM: usize = 256;
/// An axis is cut into at most this many parts.
const MOST_PARTS: usize = 8;
/// A domain is cut into at most this many parts.
const MOST_BLOCKS: usize = 12;

/// How a lane program is run over a domain.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Schedule {
    /// Loops around the lane program, outermost first: the first entries of its outer indices.
    pub(crate) outer: Vec<usize>,
    /// A loop inside the lane program over a part of this many rows; first row and count are its last two outer indices.
    pub(crate) rows: Option<usize>,
    pub(crate) lanes: usize,
}

/// A nest as a lane program.
#[derive(Clone, Debug)]
pub(crate) struct Kernel {
    pub(crate) body: Body,
    /// What the pointer table holds.
    pub(crate) operands: Vec<Operand>,
    pub(crate) schedule: Schedule,
}

/// Makes the lane programs of a nest: one, or one for each part of the domain in which conditions on the indices do not change.
pub(crate) fn nest_kernels(
    graph: &Graph,
    stored: &Stored,
    nest: &Nest,
    name: &str,
) -> Emitted<Vec<Kernel>> {
    let memory = NestMemory {
        graph,
        stored,
        nest,
    };
    let whole = Block::whole(&nest.domain);
    let trial = trial(graph, &memory, &whole, name)?;
    let blocks = trial.blocks(nest, &whole);
    if blocks.len() == 1 {
        return Ok(vec![kernel(graph, &memory, &whole, trial, name)?]);
    }
    let mut kernels = Vec::new();
    for (k, block) in blocks.iter().enumerate() {
        let name = format!("{name}_{k}");
        let trial = self::trial(graph, &memory, block, &name)?;
        kernels.push(kernel(graph, &memory, block, trial, &name)?);
    }
    Ok(kernels)
}

/// A part of a nest's domain.
#[derive(Clone, Debug)]
struct Block {
    start: Vec<usize>,
    lengths: Vec<usize>,
}

impl Block {
    fn whole(domain: &[usize]) -> Block {
        Block {
            start: vec![0; domain.len()],
            lengths: domain.to_vec(),
        }
    }
}

/// What a first emission tells.
struct Trial {
    axes: Axes,
    mentions: Vec<Mention>,
    cuts: Vec<(Var, i64)>,
}

fn trial(graph: &Graph, memory: &NestMemory<'_>, block: &Block, name: &str) -> Emitted<Trial> {
    let nest = memory.nest;
    let mut emitter = Emitter::new(graph, memory, name, BUDGET);
    let mut axes = Axes::default();
    for axis in 0..block.lengths.len() {
        let index = emitter.b.outer();
        axes.push(
            &mut emitter,
            block,
            axis,
            Binding::index(index),
            has_control(nest),
        );
    }
    let mut maker = Maker {
        nest,
        block,
        lane_reduced: false,
    };
    maker.points(&mut emitter, &axes, &reduced_axes(nest))?;
    Ok(Trial {
        axes,
        mentions: emitter.mentions,
        cuts: emitter.cuts,
    })
}

fn kernel(
    graph: &Graph,
    memory: &NestMemory<'_>,
    block: &Block,
    trial: Trial,
    name: &str,
) -> Emitted<Kernel> {
    let nest = memory.nest;
    let plan = choose(
        nest,
        block,
        &reduced_axes(nest),
        &trial.axes,
        &trial.mentions,
    );
    let mut emitter = Emitter::new(graph, memory, name, BUDGET);
    let mut maker = Maker {
        nest,
        block,
        lane_reduced: plan
            .groups
            .iter()
            .any(|group| group.role == Role::Lane && group.reduced),
    };
    let schedule = maker.run(&mut emitter, &plan)?;
    let operands = emitter.operands;
    let body = emitter.b.finish().map_err(|_| Refusal::TooLarge)?;
    Ok(Kernel {
        body,
        operands,
        schedule,
    })
}

impl Trial {
    /// The parts of the domain between cuts, where there are few and the domain is worth it.
    fn blocks(&self, nest: &Nest, whole: &Block) -> Vec<Block> {
        let plain = nest
            .roots
            .iter()
            .all(|root| matches!(root, Root::Store(_) | Root::Update(_)));
        if !plain || whole.lengths.iter().product::<usize>() < CUT_FROM {
            return vec![whole.clone()];
        }
        let mut blocks = vec![whole.clone()];
        for (axis, &length) in whole.lengths.iter().enumerate() {
            let Some(var) = self.axes.vars[axis] else {
                continue;
            };
            let mut points: Vec<usize> = self
                .cuts
                .iter()
                .filter(|cut| cut.0 == var && cut.1 > 0 && cut.1 < length as i64)
                .map(|cut| cut.1 as usize)
                .collect();
            points.sort_unstable();
            points.dedup();
            if points.is_empty() {
                continue;
            }
            let parts = points.len() + 1;
            if parts > MOST_PARTS || blocks.len() * parts > MOST_BLOCKS {
                return vec![whole.clone()];
            }
            let ends = points.iter().copied().chain([length]);
            let starts = std::iter::once(0).chain(points.iter().copied());
            let ranges: Vec<(usize, usize)> = starts.zip(ends).collect();
            blocks = blocks
                .iter()
                .flat_map(|block| {
                    ranges.iter().map(move |&(start, end)| {
                        let mut part = block.clone();
                        part.start[axis] = start;
                        part.lengths[axis] = end - start;
                        part
                    })
                })
                .collect();
        }
        blocks
    }
}

/// What the roots make is computed, everything else that is stored is loaded.
struct NestMemory<'a> {
    graph: &'a Graph,
    stored: &'a Stored,
    nest: &'a Nest,
}

impl Memory for NestMemory<'_> {
    fn layout(&self, value: ValueId) -> Option<Layout> {
        let own = self.nest.roots.iter().any(|root| match root {
            Root::Store(made) => *made == value,
            Root::Control(id) => self.graph.node(*id).results.contains(&value),
            Root::Fold { .. } | Root::Update(_) | Root::Scatter(_) => false,
        });
        if own {
            None
        } else {
            self.stored.layout(self.graph, value)
        }
    }

    fn is_window(&self, value: ValueId) -> bool {
        self.stored.is_window(self.graph, value)
    }
}

/// The domain's indices at a point: a variable, or 0 for axes of length 1.
#[derive(Clone, Debug, Default)]
struct Axes {
    at: Ixs,
    vars: Vec<Option<Var>>,
}

impl Axes {
    /// Adds an axis of a block; one of length 1 needs a variable only where lanes are told apart by it (`keep`).
    fn push(
        &mut self,
        emitter: &mut Emitter<'_>,
        block: &Block,
        axis: usize,
        binding: Binding,
        keep: bool,
    ) {
        let (start, length) = (block.start[axis] as i64, block.lengths[axis]);
        if length == 1 && !keep {
            self.at.push(Ix::constant(start));
            self.vars.push(None);
        } else {
            let var = emitter.vars.add(length, binding);
            self.at.push(Ix {
                offset: start,
                ..Ix::var(var)
            });
            self.vars.push(Some(var));
        }
    }

    /// Adds an axis that stands at the block's start until it is unrolled.
    fn push_fixed(&mut self, block: &Block, axis: usize) {
        self.at.push(Ix::constant(block.start[axis] as i64));
        self.vars.push(None);
    }
}

fn has_control(nest: &Nest) -> bool {
    nest.roots
        .iter()
        .any(|root| matches!(root, Root::Control(_)))
}

fn reduced_axes(nest: &Nest) -> SmallVec<[usize; 4]> {
    nest.roots
        .iter()
        .find_map(|root| match root {
            Root::Fold { axes, .. } => Some(axes.iter().copied().collect()),
            _ => None,
        })
        .unwrap_or_default()
}

/// What becomes of a group of axes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    Single,
    Unrolled,
    Outer,
    Rows,
    Lane,
    /// A loop inside the lane program that a reduction runs over.
    Fold,
}

/// Neighbouring axes that memory treats as one.
#[derive(Clone, Debug)]
struct Group {
    axes: Range<usize>,
    size: usize,
    reduced: bool,
    role: Role,
}

#[derive(Clone, Debug)]
struct LoopPlan {
    lengths: Vec<usize>,
    groups: Vec<Group>,
}

fn factor(mention: &Mention, var: Option<Var>) -> i64 {
    mention
        .terms
        .iter()
        .find(|term| Some(term.0) == var)
        .map_or(0, |term| term.1)
}

fn choose(
    nest: &Nest,
    block: &Block,
    reduced: &[usize],
    axes: &Axes,
    mentions: &[Mention],
) -> LoopPlan {
    let lengths = block.lengths.clone();
    let mut groups: Vec<Group> = Vec::new();
    for (axis, &length) in lengths.iter().enumerate() {
        let is_reduced = reduced.contains(&axis);
        if let Some(last) = groups.last_mut() {
            let before = last.axes.end - 1;
            let mergeable = last.reduced == is_reduced
                && axes.vars[axis].is_some()
                && axes.vars[before].is_some()
                && mentions.iter().all(|m| {
                    factor(m, axes.vars[before]) == factor(m, axes.vars[axis]) * length as i64
                });
            if mergeable {
                last.axes.end = axis + 1;
                last.size *= length;
                continue;
            }
        }
        groups.push(Group {
            axes: axis..axis + 1,
            size: length,
            reduced: is_reduced,
            role: if length == 1 && !has_control(nest) {
                Role::Single
            } else {
                Role::Outer
            },
        });
    }
    let score = |group: &Group| -> (i64, usize) {
        let var = axes.vars[group.axes.end - 1];
        let mut score: i64 = mentions
            .iter()
            .filter(|m| (m.value.is_some() || m.store) && !m.rare)
            .map(|m| match (factor(m, var), m.store) {
                (1, false) => 3,
                (1, true) => 5,
                (0, false) => 2,
                (0, true) => 0,
                (_, false) => -2,
                (_, true) => -4,
            })
            .sum();
        if group.size < 8 {
            score -= 1000 / group.size as i64;
        }
        (score - i64::from(group.reduced), group.size)
    };
    let lane = (0..groups.len())
        .filter(|&k| groups[k].role == Role::Outer)
        .max_by_key(|&k| score(&groups[k]));
    if let Some(lane) = lane {
        groups[lane].role = Role::Lane;
    }
    for group in groups.iter_mut().filter(|group| group.role == Role::Outer) {
        if group.size <= UNROLL && group.axes.len() == 1 && !has_control(nest) {
            group.role = Role::Unrolled;
        } else if group.reduced {
            group.role = Role::Fold;
        }
    }
    let lanes = lane.map_or(1, |lane| groups[lane].size);
    let lane_reduced = lane.is_some_and(|lane| groups[lane].reduced);
    if lanes < FEW_LANES && !lane_reduced {
        let rows = (0..groups.len())
            .filter(|&k| groups[k].role == Role::Outer)
            .max_by_key(|&k| groups[k].size);
        if let Some(rows) = rows {
            groups[rows].role = Role::Rows;
        }
    }
    LoopPlan { lengths, groups }
}

/// Emits the roots of a nest.
struct Maker<'a> {
    nest: &'a Nest,
    block: &'a Block,
    lane_reduced: bool,
}

impl Maker<'_> {
    /// Sets up the loops of the plan around the points.
    fn run(&mut self, emitter: &mut Emitter<'_>, plan: &LoopPlan) -> Emitted<Schedule> {
        let mut bindings: Vec<Option<Binding>> = vec![None; plan.lengths.len()];
        let mut schedule = Schedule {
            outer: Vec::new(),
            rows: None,
            lanes: 1,
        };
        for group in &plan.groups {
            match group.role {
                Role::Outer => {
                    let index = emitter.b.outer();
                    schedule.outer.push(group.size);
                    bind(&mut bindings, group, Binding::index(index));
                }
                Role::Lane => {
                    schedule.lanes = group.size;
                    bind(&mut bindings, group, Binding::index(Index::Lane));
                }
                Role::Single | Role::Unrolled | Role::Rows | Role::Fold => {}
            }
        }
        let rows = plan.groups.iter().find(|group| group.role == Role::Rows);
        match rows {
            None => self.unrolled(emitter, plan, &bindings)?,
            Some(group) => {
                schedule.rows = Some(group.size);
                let base = emitter.b.outer();
                let Index::Outer(count) = emitter.b.outer() else {
                    unreachable!("an outer index")
                };
                emitter.repeated(Trip::Outer(count), &[], |emitter, index, _| {
                    let binding = Binding {
                        base: Some(base),
                        ..Binding::index(index)
                    };
                    bind(&mut bindings, group, binding);
                    self.unrolled(emitter, plan, &bindings)?;
                    Ok(Vec::new())
                })?;
            }
        }
        Ok(schedule)
    }

    /// Repeats the points for every index of the unrolled axes that are not reduced.
    fn unrolled(
        &mut self,
        emitter: &mut Emitter<'_>,
        plan: &LoopPlan,
        bindings: &[Option<Binding>],
    ) -> Emitted<()> {
        let mut axes = Axes::default();
        for (axis, binding) in bindings.iter().enumerate() {
            match *binding {
                Some(binding) => {
                    axes.push(emitter, self.block, axis, binding, has_control(self.nest))
                }
                None => axes.push_fixed(self.block, axis),
            }
        }
        let unrolled: Vec<usize> = plan
            .groups
            .iter()
            .filter(|group| group.role == Role::Unrolled && !group.reduced)
            .map(|group| group.axes.start)
            .collect();
        let sizes: Vec<usize> = unrolled.iter().map(|&axis| plan.lengths[axis]).collect();
        let loops: Vec<Group> = plan
            .groups
            .iter()
            .filter(|group| group.reduced && matches!(group.role, Role::Fold | Role::Unrolled))
            .cloned()
            .collect();
        let mut copies: Vec<Axes> = Vec::new();
        for inner in super::control::indices(&sizes) {
            let mut copy = axes.clone();
            for (&axis, ix) in unrolled.iter().zip(inner) {
                copy.at[axis].offset += ix.offset;
            }
            copies.push(copy);
        }
        self.copies(emitter, plan, &copies, &loops)
    }

    /// The points of the domain that all copies stand for, with the loops that reductions need.
    fn copies(
        &mut self,
        emitter: &mut Emitter<'_>,
        plan: &LoopPlan,
        copies: &[Axes],
        loops: &[Group],
    ) -> Emitted<()> {
        let folds: Vec<FoldRoot> = self
            .nest
            .roots
            .iter()
            .filter_map(|root| FoldRoot::of(emitter.graph, root))
            .collect();
        let mut init = Vec::new();
        for _ in copies {
            for fold in &folds {
                init.extend(fold.neutral(emitter));
            }
        }
        let width: usize = init.len() / copies.len().max(1);
        let values = self.fold_loops(emitter, plan, loops, copies.to_vec(), init, width, &folds)?;
        for (copy, values) in copies.iter().zip(values.chunks(width.max(1))) {
            let mut rest = values;
            for fold in &folds {
                let (own, others) = rest.split_at(fold.width(emitter));
                rest = others;
                fold.finish(emitter, &copy.at, own, self.lane_reduced);
            }
        }
        Ok(())
    }

    #[allow(clippy::too_many_arguments)]
    fn fold_loops(
        &mut self,
        emitter: &mut Emitter<'_>,
        plan: &LoopPlan,
        loops: &[Group],
        copies: Vec<Axes>,
        init: Vec<Value>,
        width: usize,
        folds: &[FoldRoot],
    ) -> Emitted<Vec<Value>> {
        let Some((group, rest)) = loops.split_first() else {
            let mut values = init;
            for (k, copy) in copies.iter().enumerate() {
                self.stores(emitter, &copy.at)?;
                let mut at = k * width;
                for fold in folds {
                    let end = at + fold.width(emitter);
                    let next = fold.step(emitter, &copy.at, &values[at..end])?;
                    values.splice(at..end, next);
                    at = end;
                }
            }
            return Ok(values);
        };
        if group.role == Role::Unrolled {
            let mut values = init;
            for k in 0..group.size {
                let mut here = copies.clone();
                here.iter_mut()
                    .for_each(|copy| copy.at[group.axes.start] = Ix::constant(k as i64));
                values = self.fold_loops(emitter, plan, rest, here, values, width, folds)?;
            }
            return Ok(values);
        }
        emitter.repeated(
            Trip::Const(group.size as u64),
            &init,
            |emitter, index, params| {
                let mut bindings = vec![None; plan.lengths.len()];
                bind(&mut bindings, group, Binding::index(index));
                let mut here = copies.clone();
                for axis in group.axes.clone() {
                    if let Some(binding) = bindings[axis] {
                        let var = emitter.vars.add(plan.lengths[axis], binding);
                        here.iter_mut()
                            .for_each(|copy| copy.at[axis] = Ix::var(var));
                    }
                }
                self.fold_loops(emitter, plan, rest, here, params.to_vec(), width, folds)
            },
        )
    }

    /// Emits each root once, for what it mentions.
    fn points(&mut self, emitter: &mut Emitter<'_>, axes: &Axes, reduced: &[usize]) -> Emitted<()> {
        emitter.lane_axes = axes.vars.iter().flatten().copied().collect();
        self.stores(emitter, &axes.at)?;
        for root in &self.nest.roots {
            if let Some(fold) = FoldRoot::of(emitter.graph, root) {
                let init: Vec<Value> = fold.neutral(emitter);
                fold.step(emitter, &axes.at, &init)?;
                let kept: Ixs = (0..axes.at.len())
                    .filter(|axis| !reduced.contains(axis))
                    .map(|axis| axes.at[axis].clone())
                    .collect();
                fold.address(emitter, &kept);
            }
        }
        Ok(())
    }

    /// Computes the elements of all roots that are not reductions, and then stores them: a result may share the memory of an operand.
    fn stores(&mut self, emitter: &mut Emitter<'_>, at: &[Ix]) -> Emitted<()> {
        let graph = emitter.graph;
        let mut results: Vec<(ValueId, Ixs, Element)> = Vec::new();
        for root in &self.nest.roots {
            match root {
                Root::Store(value) => {
                    results.push((*value, at.into(), emitter.element(*value, at)?))
                }
                Root::Update(id) => {
                    let node = graph.node(*id);
                    results.push((
                        node.results[0],
                        at.into(),
                        emitter.element(node.args[1], at)?,
                    ));
                }
                Root::Control(id) => {
                    emitter.lane_axes = at.iter().filter_map(Ix::as_var).collect();
                    emitter.make_sinks(*id);
                    for (k, &value) in graph.node(*id).results.iter().enumerate() {
                        let held = emitter.held(*id, k)?;
                        results.extend(
                            held.into_iter()
                                .flatten()
                                .map(|(at, element)| (value, at, element)),
                        );
                    }
                }
                Root::Fold { .. } => {}
                Root::Scatter(id) => return Err(Refusal::NeedsMemory(*id)),
            }
        }
        for (value, at, element) in results {
            let pointer = emitter.pointer(Operand::Result(value));
            let layout = Layout::dense(graph.shape(value));
            emitter.store(pointer, graph.dtype(value), &layout, &at, &element);
        }
        Ok(())
    }
}

fn bind(bindings: &mut [Option<Binding>], group: &Group, binding: Binding) {
    let last = group.axes.end - 1;
    for axis in group.axes.clone() {
        bindings[axis] = Some(Binding {
            leads: axis == last,
            ..binding
        });
    }
}

/// A reduction as a root.
#[derive(Clone, Debug)]
struct FoldRoot {
    value: ValueId,
    arg: ValueId,
    axes: SmallVec<[usize; 4]>,
    kind: FoldKind,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum FoldKind {
    Combine(Combine),
    Arg { largest: bool },
}

impl FoldRoot {
    fn of(graph: &Graph, root: &Root) -> Option<FoldRoot> {
        let Root::Fold { value, axes } = root else {
            return None;
        };
        let node = graph.node(graph.def(*value)?);
        let kind = match node.op {
            Op::Reduce { combine, .. } => FoldKind::Combine(combine),
            Op::ArgReduce { largest, .. } => FoldKind::Arg { largest },
            _ => return None,
        };
        Some(FoldRoot {
            value: *value,
            arg: node.args[0],
            axes: axes.iter().copied().collect(),
            kind,
        })
    }

    fn dtype(&self, emitter: &Emitter<'_>) -> DType {
        emitter.graph.dtype(self.arg)
    }

    /// The memory types of the accumulators.
    fn parts(&self, emitter: &Emitter<'_>) -> SmallVec<[MemTy; 4]> {
        let mut parts = element::parts(self.dtype(emitter));
        if let FoldKind::Arg { .. } = self.kind {
            parts.extend(element::parts(emitter.graph.dtype(self.value)));
        }
        parts
    }

    fn width(&self, emitter: &Emitter<'_>) -> usize {
        self.parts(emitter).len()
    }

    fn neutral(&self, emitter: &mut Emitter<'_>) -> Vec<Value> {
        let dtype = self.dtype(emitter);
        match self.kind {
            FoldKind::Combine(combine) => {
                element::neutral(&mut emitter.b, combine, dtype).into_vec()
            }
            FoldKind::Arg { largest } => {
                let extreme = if largest { Combine::Max } else { Combine::Min };
                let mut values = element::neutral(&mut emitter.b, extreme, dtype).into_vec();
                let index = element::parts(emitter.graph.dtype(self.value))[0].lane();
                // Behind every index, so that any element wins a tie against it.
                values.push(emitter.b.int(index, i64::from(i32::MAX)));
                values
            }
        }
    }

    /// The accumulators with the element at a point.
    fn step(&self, emitter: &mut Emitter<'_>, at: &[Ix], values: &[Value]) -> Emitted<Vec<Value>> {
        let next = emitter.element(self.arg, at)?;
        let mut right = next.into_vec();
        if let FoldKind::Arg { .. } = self.kind {
            let index = emitter.index_value(&at[self.axes[0]]);
            let lane = element::parts(emitter.graph.dtype(self.value))[0].lane();
            right.push(emitter.resize_index(index, lane));
        }
        let dtype = self.dtype(emitter);
        Ok(self.combine(emitter, dtype, values, &right))
    }

    fn combine(
        &self,
        emitter: &mut Emitter<'_>,
        dtype: DType,
        left: &[Value],
        right: &[Value],
    ) -> Vec<Value> {
        match self.kind {
            FoldKind::Combine(combine) => {
                element::combine(&mut emitter.b, combine, dtype, &left.into(), &right.into())
                    .into_vec()
            }
            FoldKind::Arg { largest } => {
                let better = emitter.better(largest, dtype, right[0], left[0]);
                // Equal, or both NaN: the lower index.
                let worse = emitter.better(largest, dtype, left[0], right[0]);
                let either = emitter.b.or(better, worse);
                let tie = emitter.b.not(either);
                let lower = emitter.b.lt(right[1], left[1]);
                let tie = emitter.b.and(tie, lower);
                let take = emitter.b.or(better, tie);
                vec![
                    emitter.b.select(take, right[0], left[0]),
                    emitter.b.select(take, right[1], left[1]),
                ]
            }
        }
    }

    /// Where the accumulators go.
    fn address(&self, emitter: &mut Emitter<'_>, kept: &[Ix]) -> Vec<Addr> {
        let graph = emitter.graph;
        let layout = Layout::dense(graph.shape(self.value));
        let mut addresses = Vec::new();
        if let FoldKind::Arg { .. } = self.kind {
            let pointer = emitter.pointer(Operand::Scratch(self.value));
            addresses.push(emitter.uniform_address(pointer, graph.dtype(self.arg), &layout, kept));
        }
        let pointer = emitter.pointer(Operand::Result(self.value));
        let dtype = graph.dtype(self.value);
        let first = emitter.uniform_address(pointer, dtype, &layout, kept);
        let mut offset = 0;
        for mem in element::parts(dtype) {
            addresses.push(first.clone().plus(offset));
            offset += mem.size();
        }
        addresses
    }

    /// Stores the accumulators, after those of all lanes became one where the lanes are reduced.
    fn finish(&self, emitter: &mut Emitter<'_>, at: &[Ix], values: &[Value], lane_reduced: bool) {
        let kept: Ixs = (0..at.len())
            .filter(|axis| !self.axes.contains(axis))
            .map(|axis| at[axis].clone())
            .collect();
        if !lane_reduced {
            let result: Element = match self.kind {
                FoldKind::Combine(_) => values.into(),
                FoldKind::Arg { .. } => values[1..].into(),
            };
            let graph = emitter.graph;
            let pointer = emitter.pointer(Operand::Result(self.value));
            let layout = Layout::dense(graph.shape(self.value));
            emitter.store(pointer, graph.dtype(self.value), &layout, &kept, &result);
            return;
        }
        let addresses = self.address(emitter, &kept);
        let (parts, neutral, dtype) = (
            self.parts(emitter),
            self.neutral(emitter),
            self.dtype(emitter),
        );
        let dests = neutral
            .into_iter()
            .zip(parts)
            .zip(addresses)
            .map(|((init, mem), addr)| (init, mem, addr))
            .collect();
        let mut builder = emitter.take_builder();
        let this = std::cell::RefCell::new(emitter);
        builder.reduce(
            dests,
            |b, params| {
                let emitter = &mut *this.borrow_mut();
                std::mem::swap(&mut emitter.b, b);
                let next = self.combine(emitter, dtype, params, values);
                std::mem::swap(&mut emitter.b, b);
                next
            },
            |b, left, right| {
                let emitter = &mut *this.borrow_mut();
                std::mem::swap(&mut emitter.b, b);
                let next = self.combine(emitter, dtype, left, right);
                std::mem::swap(&mut emitter.b, b);
                next
            },
        );
        this.into_inner().b = builder;
    }
}
