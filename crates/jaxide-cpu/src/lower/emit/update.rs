//! Scatters: windows combined into an array, one after the other, so that windows that meet see each other's results.

use super::{Binding, Emitted, Emitter, Ix, Ixs, Layout, Memory, Operand, Refusal, Schedule};
use crate::lanes::{Index, Trip, Value};
use crate::lower::element;
use crate::lower::emit::Kernel;
use crate::lower::fuse::Stored;
use crate::lower::graph::{Graph, NodeId, OobMode, Op, ScatterSpec, ValueId};
use jaxide_core::DType;
use smallvec::SmallVec;

/// From this length on, the last axis of the windows becomes the lanes.
const LANES_FROM: usize = 4;
/// Elements computed for one scatter.
const BUDGET: usize = 100_000;

struct ScatterMemory<'a> {
    graph: &'a Graph,
    stored: &'a Stored,
    result: ValueId,
}

impl Memory for ScatterMemory<'_> {
    fn layout(&self, value: ValueId) -> Option<Layout> {
        if value == self.result {
            None
        } else {
            self.stored.layout(self.graph, value)
        }
    }

    fn is_window(&self, value: ValueId) -> bool {
        self.stored.is_window(self.graph, value)
    }
}

/// The lane program of a scatter into the result, which holds the operand when it starts.
pub(crate) fn scatter(graph: &Graph, stored: &Stored, id: NodeId, name: &str) -> Emitted<Kernel> {
    let node = graph.node(id);
    let memory = ScatterMemory {
        graph,
        stored,
        result: node.results[0],
    };
    let mut emitter = Emitter::new(graph, &memory, BUDGET);
    let lanes = match &node.op {
        Op::Scatter(spec) => emitter.scatter(spec, &node.args, node.results[0])?,
        _ => return Err(Refusal::NeedsMemory),
    };
    let schedule = Schedule {
        outer: Vec::new(),
        rows: None,
        chunk: None,
        partials: None,
        lanes,
        in_blocks: false,
        alone: false,
    };
    emitter.finish(name, schedule)
}

impl Emitter<'_> {
    /// Loops over `sizes`, the last one fastest.
    fn each(
        &mut self,
        sizes: &[usize],
        at: &mut Ixs,
        turn: &mut dyn FnMut(&mut Self, &Ixs) -> Emitted<()>,
    ) -> Emitted<()> {
        let Some((&size, rest)) = sizes.split_first() else {
            return turn(self, at);
        };
        if size == 1 {
            at.push(Ix::constant(0));
            self.each(rest, at, turn)?;
            at.pop();
            return Ok(());
        }
        self.repeated(Trip::Const(size as u64), &[], |emitter, index, _| {
            let var = emitter.vars.add(size, Binding::index(index));
            at.push(Ix::var(var));
            let done = emitter.each(rest, at, turn);
            at.pop();
            done.map(|()| Vec::new())
        })
        .map(|_| ())
    }

    /// Stores where a mask holds.
    fn store_if(
        &mut self,
        mask: Value,
        store: impl FnOnce(&mut Self) -> Emitted<()>,
    ) -> Emitted<()> {
        self.branch(
            mask,
            |emitter| store(emitter).map(|()| Vec::new()),
            |_| Ok(Vec::new()),
        )
        .map(|_| ())
    }

    fn scatter(&mut self, spec: &ScatterSpec, args: &[ValueId], result: ValueId) -> Emitted<usize> {
        let graph = self.graph;
        let (indices, updates) = (args[1], args[2]);
        let (shape, update_shape) = (graph.shape(result), graph.shape(updates));
        let batch: SmallVec<[usize; 4]> = (0..update_shape.len())
            .filter(|axis| !spec.update_window.contains(axis))
            .collect();
        let batch_sizes: SmallVec<[usize; 4]> =
            batch.iter().map(|&axis| update_shape[axis]).collect();
        let mut window_sizes: SmallVec<[usize; 4]> = spec
            .update_window
            .iter()
            .map(|&axis| update_shape[axis])
            .collect();
        // Lanes go through all windows for themselves. Where windows begin at different places along the axis of the lanes, one lane's element of
        // a window may be another's of the next, and their order would be lost.
        let last_axis = (0..shape.len())
            .rfind(|axis| !spec.inserted.contains(axis) && !spec.operand_batching.contains(axis));
        let one = batch_sizes.iter().all(|&size| size == 1);
        let apart = one || last_axis.is_some_and(|axis| !spec.scatter_dims.contains(&axis));
        // Bytes that lie apart are read and written one by one, and that takes longer for lanes than for one after the other.
        let step: usize = last_axis.map_or(1, |axis| shape[axis + 1..].iter().product());
        let dtype = graph.dtype(result);
        let together = step == 1 || dtype.size() > 1;
        let lanes = match window_sizes.last() {
            Some(&last) if last >= LANES_FROM && apart && together => {
                window_sizes.pop();
                last
            }
            _ => 1,
        };
        let lane = (lanes > 1).then(|| Ix::var(self.vars.add(lanes, Binding::index(Index::Lane))));
        let pointer = self.pointer(Operand::Result(result));
        let layout = Layout::dense(shape);
        let index_type = graph.dtype(indices);
        self.each(&batch_sizes, &mut Ixs::new(), &mut |emitter, at| {
            let (start, inside) =
                emitter.scatter_start(spec, indices, index_type, shape, update_shape, at)?;
            emitter.store_if(inside, |emitter| {
                emitter.each(&window_sizes, &mut Ixs::new(), &mut |emitter, window| {
                    let mut window = window.clone();
                    window.extend(lane.clone());
                    let mut from: Ixs = SmallVec::from_elem(Ix::default(), update_shape.len());
                    for (&axis, ix) in batch.iter().zip(at) {
                        from[axis] = ix.clone();
                    }
                    for (&axis, ix) in spec.update_window.iter().zip(&window) {
                        from[axis] = ix.clone();
                    }
                    let mut to = Ixs::new();
                    let mut own = window.iter();
                    for (axis, first) in start.iter().enumerate() {
                        let fixed =
                            spec.inserted.contains(&axis) || spec.operand_batching.contains(&axis);
                        let step = if fixed { None } else { own.next() };
                        to.push(match step {
                            Some(step) => emitter.sum(first.clone(), step, 1),
                            None => first.clone(),
                        });
                    }
                    let update = emitter.element(updates, &from)?;
                    let old = emitter.load(Operand::Result(result), result, &layout, &to);
                    let new = match &spec.apply {
                        Some(apply) => emitter
                            .scalar_call(apply, vec![old, update])?
                            .swap_remove(0),
                        None => {
                            element::combine(&mut emitter.b, spec.combine, dtype, &old, &update)
                        }
                    };
                    emitter.store(pointer, dtype, &layout, &to, &new);
                    Ok(())
                })
            })
        })?;
        Ok(lanes)
    }

    /// The first element of a window, and whether the whole window lies in the array.
    fn scatter_start(
        &mut self,
        spec: &ScatterSpec,
        indices: ValueId,
        index_type: DType,
        shape: &[usize],
        update_shape: &[usize],
        at: &Ixs,
    ) -> Emitted<(Ixs, Value)> {
        let mut windows = spec.update_window.iter().map(|&axis| update_shape[axis]);
        let sizes: SmallVec<[usize; 4]> = (0..shape.len())
            .map(|axis| {
                let fixed = spec.inserted.contains(&axis) || spec.operand_batching.contains(&axis);
                if fixed {
                    1
                } else {
                    windows.next().unwrap_or(1)
                }
            })
            .collect();
        let mut start: Ixs = SmallVec::from_elem(Ix::constant(0), shape.len());
        for (k, &axis) in spec.operand_batching.iter().enumerate() {
            start[axis] = at[spec.indices_batching[k]].clone();
        }
        let mut inside = self.b.mask(true);
        for (component, &axis) in spec.scatter_dims.iter().enumerate() {
            let mut place = at.clone();
            place.push(Ix::constant(component as i64));
            let index = self.element(indices, &place)?[0];
            let most = shape[axis] as i64 - sizes[axis] as i64;
            // A window that is promised to be inside and is not is dropped too, instead of written elsewhere.
            if spec.mode != OobMode::Clip || most < 0 {
                let here = self.index_inside(index_type, index, most);
                inside = self.b.and(inside, here);
            }
            start[axis] = self.clamped(index_type, index, most);
        }
        Ok((start, inside))
    }
}
