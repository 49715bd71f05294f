//! The roots of a nest inside the loops of its plan.

use super::fold::FoldRoot;
use super::plan::{Group, LoopPlan, Role};
use super::{Axes, Block, Schedule, has_control};
use crate::lanes::{Index, Trip, Value};
use crate::lower::element::Element;
use crate::lower::emit::control::indices;
use crate::lower::emit::{Binding, Emitted, Emitter, Ix, Ixs, Layout, Operand, Refusal};
use crate::lower::fuse::{Nest, Root, Stored};
use crate::lower::graph::ValueId;

/// Elements of copies that are made before the first of them is stored, so that loads are not parted by stores: what follows each other in
/// memory is loaded at once.
const TOGETHER: usize = 16;

/// Emits the roots of a nest.
pub(super) struct Maker<'a> {
    pub(super) nest: &'a Nest,
    pub(super) stored: &'a Stored,
    pub(super) block: &'a Block,
    pub(super) lane_reduced: bool,
    /// Whether reductions go on with what an earlier block has left.
    pub(super) goes_on: bool,
    /// First turn and number of turns of a chunk of a reduction.
    pub(super) chunk: Option<(Index, Index)>,
    /// Number of the partial result of a reduction, and how many there are.
    pub(super) partial: Option<(Index, usize)>,
}

impl Maker<'_> {
    /// Sets up the loops of the plan around the points.
    pub(super) fn run(&mut self, emitter: &mut Emitter<'_>, plan: &LoopPlan) -> Emitted<Schedule> {
        let mut bindings: Vec<Option<Binding>> = vec![None; plan.lengths.len()];
        let mut schedule = Schedule {
            outer: Vec::new(),
            rows: None,
            chunk: None,
            partials: plan.partials,
            lanes: 1,
            in_blocks: false,
            alone: false,
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
                Role::Single | Role::Unrolled | Role::Rows | Role::Fold | Role::Chunks(_) => {}
            }
        }
        let chunks = plan.groups.iter().find_map(|group| match group.role {
            Role::Chunks(turns) => Some((group.size, turns)),
            _ => None,
        });
        if let Some((size, turns)) = chunks {
            schedule.rows = Some(size);
            schedule.chunk = Some(turns);
            self.chunk = Some((emitter.b.outer(), emitter.b.outer()));
        }
        if schedule.partials.is_some() {
            self.partial = Some((emitter.b.outer(), schedule.partial_count()));
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
            .filter(|group| {
                group.reduced && matches!(group.role, Role::Fold | Role::Chunks(_) | Role::Unrolled)
            })
            .cloned()
            .collect();
        let mut copies: Vec<Axes> = Vec::new();
        for inner in indices(&sizes) {
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
        for copy in copies {
            for fold in &folds {
                init.extend(match self.resumed() {
                    None if self.goes_on => fold.held(emitter, &copy.at),
                    None => fold.neutral(emitter),
                    Some(first) => fold.resume(emitter, &copy.at, first),
                });
            }
        }
        let width: usize = init.len() / copies.len().max(1);
        let values = if self.lane_reduced && loops.is_empty() {
            let mut values = Vec::new();
            for copy in copies {
                self.stores(emitter, &copy.at)?;
                for fold in &folds {
                    values.extend(fold.element(emitter, &copy.at)?);
                }
            }
            values
        } else {
            self.fold_loops(emitter, plan, loops, copies.to_vec(), init, width, &folds)?
        };
        for (copy, values) in copies.iter().zip(values.chunks(width.max(1))) {
            let mut rest = values;
            for fold in &folds {
                let (own, others) = rest.split_at(fold.width(emitter));
                rest = others;
                if self.lane_reduced {
                    fold.reduce_lanes(emitter, &copy.at, own, self.partial);
                    continue;
                }
                if let Some(partial) = self.partial {
                    fold.finish_partial(emitter, &copy.at, own, partial);
                    continue;
                }
                fold.finish(emitter, &copy.at, own);
                if self.resumed().is_some() {
                    fold.keep(emitter, &copy.at, own);
                }
            }
        }
        Ok(())
    }

    /// The first turn of a chunk that goes on with the results of the one before.
    fn resumed(&self) -> Option<Index> {
        let in_partials = self.partial.is_some();
        self.chunk.map(|(first, _)| first).filter(|_| !in_partials)
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
            let mut made = Vec::new();
            for (k, copy) in copies.iter().enumerate() {
                self.elements(emitter, &copy.at, &mut made)?;
                if made.len() >= TOGETHER {
                    store(emitter, &mut made);
                }
                let mut at = k * width;
                for fold in folds {
                    let end = at + fold.width(emitter);
                    let next = fold.step(emitter, &copy.at, &values[at..end])?;
                    values.splice(at..end, next);
                    at = end;
                }
            }
            store(emitter, &mut made);
            return Ok(values);
        };
        if group.role == Role::Unrolled {
            let mut values = init;
            for k in 0..group.size {
                let mut here = copies.clone();
                let axis = group.axes.start;
                let index = Ix::constant((self.block.start[axis] + k) as i64);
                here.iter_mut()
                    .for_each(|copy| copy.at[axis] = index.clone());
                values = self.fold_loops(emitter, plan, rest, here, values, width, folds)?;
            }
            return Ok(values);
        }
        if let (Role::Chunks(turns), true, Some((first, _))) =
            (group.role, plan.unrolled, self.chunk)
        {
            let axis = group.axes.start;
            let var = emitter
                .vars
                .add(group.size + 1 - turns, Binding::index(first));
            let mut values = init;
            for k in 0..turns {
                let mut here = copies.clone();
                let index = Ix {
                    offset: k as i64,
                    ..Ix::var(var)
                };
                here.iter_mut()
                    .for_each(|copy| copy.at[axis] = index.clone());
                values = self.fold_loops(emitter, plan, rest, here, values, width, folds)?;
            }
            return Ok(values);
        }
        let (trip, base) = match (group.role, self.chunk) {
            (Role::Chunks(_), Some((first, Index::Outer(count)))) => {
                (Trip::Outer(count), Some(first))
            }
            _ => (Trip::Const(group.size as u64), None),
        };
        emitter.repeated(trip, &init, |emitter, index, params| {
            let mut bindings = vec![None; plan.lengths.len()];
            let binding = Binding {
                base,
                ..Binding::index(index)
            };
            bind(&mut bindings, group, binding);
            let mut here = copies.clone();
            for axis in group.axes.clone() {
                if let Some(binding) = bindings[axis] {
                    let index = Ix {
                        offset: self.block.start[axis] as i64,
                        ..Ix::var(emitter.vars.add(plan.lengths[axis], binding))
                    };
                    here.iter_mut()
                        .for_each(|copy| copy.at[axis] = index.clone());
                }
            }
            self.fold_loops(emitter, plan, rest, here, params.to_vec(), width, folds)
        })
    }

    /// Emits each root once, for what it mentions.
    pub(super) fn points(
        &mut self,
        emitter: &mut Emitter<'_>,
        axes: &Axes,
        reduced: &[usize],
    ) -> Emitted<()> {
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
                fold.address(emitter, &kept, None);
            }
        }
        Ok(())
    }

    /// Computes the elements of all roots that are not reductions, and then stores them: a result may share the memory of an operand.
    fn stores(&mut self, emitter: &mut Emitter<'_>, at: &[Ix]) -> Emitted<()> {
        let mut made = Vec::new();
        self.elements(emitter, at, &mut made)?;
        store(emitter, &mut made);
        Ok(())
    }

    /// Computes the elements of all roots that are not reductions.
    fn elements(
        &mut self,
        emitter: &mut Emitter<'_>,
        at: &[Ix],
        results: &mut Vec<Made>,
    ) -> Emitted<()> {
        let graph = emitter.graph;
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
                        // What nothing reads has no memory.
                        if self.stored.get(value).is_none() {
                            continue;
                        }
                        let held = emitter.held(*id, k)?;
                        results.extend(
                            held.into_iter()
                                .flatten()
                                .map(|(at, element)| (value, at, element)),
                        );
                    }
                }
                Root::Fold { .. } => {}
                Root::Scatter(_) => return Err(Refusal::NeedsMemory),
            }
        }
        Ok(())
    }
}

/// An element of a result, and where it goes.
type Made = (ValueId, Ixs, Element);

/// Stores elements, each in the place of its result.
fn store(emitter: &mut Emitter<'_>, made: &mut Vec<Made>) {
    for (value, at, element) in made.drain(..) {
        let pointer = emitter.pointer(Operand::Result(value));
        let layout = Layout::dense(emitter.graph.shape(value));
        emitter.store(pointer, emitter.graph.dtype(value), &layout, &at, &element);
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
