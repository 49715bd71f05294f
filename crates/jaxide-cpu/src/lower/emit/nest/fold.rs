//! Reductions as roots of a nest.

use crate::lanes::{Addr, Index, MemTy, Trip, Value};
use crate::lower::element::{self, Element};
use crate::lower::emit::{Emitted, Emitter, Ix, Ixs, Layout, Operand};
use crate::lower::fuse::Root;
use crate::lower::graph::{Combine, Graph, Op, ValueId};
use jaxide_core::DType;
use smallvec::SmallVec;

/// A reduction as a root.
#[derive(Clone, Debug)]
pub(super) struct FoldRoot {
    pub(super) value: ValueId,
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
    pub(super) fn of(graph: &Graph, root: &Root) -> Option<FoldRoot> {
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
    pub(super) fn components(&self, emitter: &Emitter<'_>) -> SmallVec<[MemTy; 4]> {
        let mut components = element::components(self.dtype(emitter));
        if let FoldKind::Arg { .. } = self.kind {
            components.extend(element::components(emitter.graph.dtype(self.value)));
        }
        components
    }

    pub(super) fn width(&self, emitter: &Emitter<'_>) -> usize {
        self.components(emitter).len()
    }

    pub(super) fn neutral(&self, emitter: &mut Emitter<'_>) -> Vec<Value> {
        let dtype = self.dtype(emitter);
        match self.kind {
            FoldKind::Combine(combine) => {
                element::neutral(&mut emitter.b, combine, dtype).into_vec()
            }
            FoldKind::Arg { largest } => {
                let extreme = if largest { Combine::Max } else { Combine::Min };
                let mut values = element::neutral(&mut emitter.b, extreme, dtype).into_vec();
                let index = element::components(emitter.graph.dtype(self.value))[0].lane();
                // What is not better than the extreme is all that there is where the first element is the result.
                values.push(emitter.b.int(index, 0));
                values
            }
        }
    }

    /// The indices of the result.
    fn kept(&self, at: &[Ix]) -> Ixs {
        (0..at.len())
            .filter(|axis| !self.axes.contains(axis))
            .map(|axis| at[axis].clone())
            .collect()
    }

    /// The accumulators at the start of a chunk: those that the chunk before has left in memory, neutral ones in the first.
    pub(super) fn resume(&self, emitter: &mut Emitter<'_>, at: &[Ix], first: Index) -> Vec<Value> {
        let held = self.held(emitter, at);
        let ty = emitter.index_type;
        let (turn, zero) = (emitter.b.index(ty, first), emitter.b.int(ty, 0));
        let fresh = emitter.b.eq(turn, zero);
        self.neutral(emitter)
            .into_iter()
            .zip(held)
            .map(|(neutral, held)| emitter.b.select(fresh, neutral, held))
            .collect()
    }

    /// The accumulators that are in memory.
    pub(super) fn held(&self, emitter: &mut Emitter<'_>, at: &[Ix]) -> Vec<Value> {
        let graph = emitter.graph;
        let layout = Layout::dense(graph.shape(self.value));
        let kept = self.kept(at);
        let mut held = Vec::new();
        if let FoldKind::Arg { .. } = self.kind {
            let scratch = Operand::Scratch(self.value);
            held.extend(emitter.load(scratch, self.arg, &layout, &kept));
        }
        let result = Operand::Result(self.value);
        held.extend(emitter.load(result, self.value, &layout, &kept));
        held
    }

    /// Leaves in memory what [`Self::resume`] needs and [`Self::finish`] does not store.
    pub(super) fn keep(&self, emitter: &mut Emitter<'_>, at: &[Ix], values: &[Value]) {
        if let FoldKind::Arg { .. } = self.kind {
            let graph = emitter.graph;
            let pointer = emitter.pointer(Operand::Scratch(self.value));
            let layout = Layout::dense(graph.shape(self.value));
            let extreme: Element = values[..1].into();
            emitter.store(
                pointer,
                graph.dtype(self.arg),
                &layout,
                &self.kept(at),
                &extreme,
            );
        }
    }

    /// The accumulators with the element at a point.
    pub(super) fn step(
        &self,
        emitter: &mut Emitter<'_>,
        at: &[Ix],
        values: &[Value],
    ) -> Emitted<Vec<Value>> {
        let right = self.element(emitter, at)?;
        let dtype = self.dtype(emitter);
        Ok(self.append(emitter, dtype, values, &right))
    }

    /// The accumulators with an element behind all that they have seen: of equals the first stays.
    fn append(
        &self,
        emitter: &mut Emitter<'_>,
        dtype: DType,
        left: &[Value],
        right: &[Value],
    ) -> Vec<Value> {
        match self.kind {
            FoldKind::Combine(_) => self.combine(emitter, dtype, left, right),
            FoldKind::Arg { largest } => {
                let better = emitter.better(largest, dtype, right[0], left[0]);
                vec![
                    emitter.b.select(better, right[0], left[0]),
                    emitter.b.select(better, right[1], left[1]),
                ]
            }
        }
    }

    /// The accumulators of a single point.
    pub(super) fn element(&self, emitter: &mut Emitter<'_>, at: &[Ix]) -> Emitted<Vec<Value>> {
        let next = emitter.element(self.arg, at)?;
        let mut right = next.into_vec();
        if let FoldKind::Arg { .. } = self.kind {
            let index = emitter.index_value(&at[self.axes[0]]);
            let lane = element::components(emitter.graph.dtype(self.value))[0].lane();
            right.push(emitter.resize_index(index, lane));
        }
        Ok(right)
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

    /// Where the accumulators go: to the result, or to the partial result of this number among so many.
    pub(super) fn address(
        &self,
        emitter: &mut Emitter<'_>,
        kept: &[Ix],
        partial: Option<(Index, usize)>,
    ) -> Vec<Addr> {
        let graph = emitter.graph;
        if let Some((number, count)) = partial {
            let layout = Layout::dense(graph.shape(self.value));
            let results = graph.value(self.value).len();
            let linear = emitter.linear(kept, &layout);
            return self.partial_addresses(emitter, (count, number), (results, &linear), false);
        }
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
        for mem in element::components(dtype) {
            addresses.push(first.clone().plus(offset));
            offset += mem.size();
        }
        addresses
    }

    /// Addresses of the accumulators of a partial result: those of a kind are together, in rows of a result's partial ones, or in rows of a partial one's results
    /// where the results are the lanes.
    pub(super) fn partial_addresses(
        &self,
        emitter: &mut Emitter<'_>,
        (count, number): (usize, Index),
        (results, result): (usize, &Ix),
        results_are_lanes: bool,
    ) -> Vec<Addr> {
        let pointer = emitter.pointer(Operand::Partials(self.value, count));
        let terms = emitter.lane_terms(&result.terms);
        let (per_result, per_partial) = if results_are_lanes {
            (1, results as i64)
        } else {
            (count as i64, 1)
        };
        let mut start = 0;
        self.components(emitter)
            .into_iter()
            .map(|mem| {
                let size = mem.size();
                let addr = Addr::uniform(pointer)
                    .plus(start + result.offset * per_result * size)
                    .term(number, per_partial * size);
                start += (results * count) as i64 * size;
                terms.iter().fold(addr, |addr, &(index, factor)| {
                    addr.term(index, factor * per_result * size)
                })
            })
            .collect()
    }

    /// Stores the accumulators of a partial result.
    pub(super) fn finish_partial(
        &self,
        emitter: &mut Emitter<'_>,
        at: &[Ix],
        values: &[Value],
        (number, count): (Index, usize),
    ) {
        let graph = emitter.graph;
        let kept = self.kept(at);
        let result = emitter.linear(&kept, &Layout::dense(graph.shape(self.value)));
        let results = graph.value(self.value).len();
        let to = self.partial_addresses(emitter, (count, number), (results, &result), true);
        for ((mem, addr), &value) in self.components(emitter).into_iter().zip(to).zip(values) {
            emitter.b.store(mem, addr, value);
        }
    }

    /// Combines the accumulators of so many partial results, in order, for the result of a lane.
    pub(super) fn combine_partials(
        &self,
        emitter: &mut Emitter<'_>,
        count: usize,
        (results, result): (usize, &Ix),
    ) -> Emitted<Vec<Value>> {
        let init = self.neutral(emitter);
        let dtype = self.dtype(emitter);
        emitter.repeated(
            Trip::Const(count as u64),
            &init,
            |emitter, number, params| {
                let from =
                    self.partial_addresses(emitter, (count, number), (results, result), true);
                let values: Vec<Value> = (self.components(emitter).into_iter().zip(from))
                    .map(|(mem, addr)| emitter.b.load(mem, addr))
                    .collect();
                Ok(self.combine(emitter, dtype, params, &values))
            },
        )
    }

    /// Stores the accumulators.
    pub(super) fn finish(&self, emitter: &mut Emitter<'_>, at: &[Ix], values: &[Value]) {
        let kept = self.kept(at);
        self.store(emitter, &kept, values);
    }

    /// Stores the accumulators of the result at `kept`.
    pub(super) fn store(&self, emitter: &mut Emitter<'_>, kept: &[Ix], values: &[Value]) {
        let result: Element = match self.kind {
            FoldKind::Combine(_) => values.into(),
            FoldKind::Arg { .. } => values[1..].into(),
        };
        let graph = emitter.graph;
        let pointer = emitter.pointer(Operand::Result(self.value));
        let layout = Layout::dense(graph.shape(self.value));
        emitter.store(pointer, graph.dtype(self.value), &layout, kept, &result);
    }

    /// Combines the accumulators of all lanes, and stores them.
    pub(super) fn reduce_lanes(
        &self,
        emitter: &mut Emitter<'_>,
        at: &[Ix],
        values: &[Value],
        partial: Option<(Index, usize)>,
    ) {
        let kept = self.kept(at);
        let addresses = self.address(emitter, &kept, partial);
        self.combine_lanes(emitter, values, addresses);
    }

    /// Combines the accumulators of all lanes, and stores them at the addresses.
    pub(super) fn combine_lanes(
        &self,
        emitter: &mut Emitter<'_>,
        values: &[Value],
        addresses: Vec<Addr>,
    ) {
        let (components, neutral, dtype) = (
            self.components(emitter),
            self.neutral(emitter),
            self.dtype(emitter),
        );
        let dests = neutral
            .into_iter()
            .zip(components)
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
                let next = self.append(emitter, dtype, params, values);
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
