//! Graph → lane programs: the elements of fused values, computed where they are needed.
//!
//! The [`Emitter`] answers one question: *what is the element of this value at these indices?* Index maps change the indices, functions
//! of elements apply to the answers for their operands, reductions loop, and a value that has memory is loaded. An index is a
//! linear expression of loop variables ([`Ix`]), so that most index maps vanish into addresses. Loops and branches of the graph
//! whose state fits in registers become loops and branches of the lane program.

mod address;
mod control;
mod index;
mod indexing;
mod moves;
mod nest;
mod product;
mod reduce;
mod shape;
mod update;
mod window;

use super::element::{self, Element};
use super::graph::{Def, Graph, NodeId, Op, ValueId};
use crate::lanes::{self, Access, BlockId, Builder, Pointer, Ty, Value};
use crate::narrow;
use rustc_hash::FxHashMap as HashMap;
use smallvec::SmallVec;
use std::sync::Arc;

pub(crate) use address::{Layout, Mention};
pub(crate) use index::{Binding, Ix, Ixs, Var, Vars};
pub(crate) use nest::{Calls, Kernel, Partials, Schedule, nest_kernels};
pub(crate) use reduce::UNROLL;
pub(crate) use update::scatter;

/// Why a loop cannot be part of a lane program. Nests are planned so that they can be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// Something in it must be in memory.
    NeedsMemory,
    /// State in registers is indexed by something that is not known when the program is compiled.
    DynamicRegister,
    /// There is too much of it.
    TooLarge,
}

/// What is computed so far.
pub(crate) type Emitted<T> = std::result::Result<T, Refusal>;

/// Elements of an array held in lane values.
#[derive(Clone, Debug)]
struct Registers {
    /// The leading axes that the lanes run over: the variables an index must be.
    lanes: SmallVec<[Var; 2]>,
    /// The other axes.
    shape: SmallVec<[usize; 4]>,
    /// In row-major order.
    elements: Vec<Element>,
}

/// What a parameter of a region stands for.
#[derive(Clone, Debug)]
enum Bound {
    Registers(Registers),
    /// A slice of another value: its leading indices.
    Slice(ValueId, Ixs),
}

/// Where values live that the lane program may load.
pub(crate) trait Memory {
    /// The layout of a value that is in memory; `None` computes it in place.
    fn layout(&self, value: ValueId) -> Option<Layout>;

    /// Whether a dynamic slice is read through a pointer to its start, which the caller provides.
    fn is_window(&self, value: ValueId) -> bool;
}

/// What an entry of the pointer table points to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Operand {
    /// The first element of a stored value.
    Value(ValueId),
    /// The first element that a dynamic slice reads.
    Window(ValueId),
    /// Where results of the value go.
    Result(ValueId),
    /// Memory for what is found on the way to a result: one element of its operand's type for each of its own.
    Scratch(ValueId),
    /// Partial results of a reduction, so many for each element of the value.
    Partials(ValueId, usize),
}

/// Results known inside a block of the lane program.
struct Frame {
    block: BlockId,
    elements: HashMap<(ValueId, Ixs), Element>,
    results: HashMap<NodeId, Vec<Option<Registers>>>,
}

impl Frame {
    fn new(block: BlockId) -> Frame {
        Frame {
            block,
            elements: HashMap::default(),
            results: HashMap::default(),
        }
    }
}

/// Builds one lane program.
pub(crate) struct Emitter<'a> {
    pub(crate) graph: &'a Graph,
    memory: &'a dyn Memory,
    pub(crate) b: Builder,
    pub(crate) vars: Vars,
    /// The integer type of indices that are computed.
    index_type: Ty,
    frames: Vec<Frame>,
    /// What parameters stand for, and the frame from which on.
    bound: HashMap<ValueId, (Bound, usize)>,
    /// The innermost frame whose parameters what is being computed uses.
    reach: usize,
    /// The pointer table.
    pub(crate) operands: Vec<Operand>,
    pointers: Vec<Pointer>,
    /// What memory and index data depend on, for the choice of loops.
    pub(crate) mentions: Vec<Mention>,
    /// Values of variables at which a condition changes.
    pub(crate) cuts: Vec<(Var, i64)>,
    /// Variables along which pieces are joined, and how many.
    pub(crate) joins: Vec<(Var, usize)>,
    /// Stacked results of loops that are stored as they are made.
    sinks: HashMap<ValueId, address::Sink>,
    /// The axes that loops with their state in registers have as lanes.
    lane_axes: SmallVec<[Var; 2]>,
    depth: usize,
    /// The longest loop inside a lane that is a reduction.
    pub(crate) longest_fold: usize,
    /// How many elements were computed, against programs that grow without bound.
    budget: usize,
    /// Whether elements are only moved, so that their types matter by their size alone.
    moves: bool,
}

impl<'a> Emitter<'a> {
    /// An empty lane program.
    pub(crate) fn new(graph: &'a Graph, memory: &'a dyn Memory, budget: usize) -> Emitter<'a> {
        let mut b = Builder::new("kernel");
        b.contract_fma(true);
        Emitter {
            graph,
            memory,
            b,
            vars: Vars::default(),
            index_type: if graph.reach.is_wide() {
                Ty::I64
            } else {
                Ty::I32
            },
            frames: vec![Frame::new(BlockId::LANES)],
            bound: HashMap::default(),
            reach: 0,
            operands: Vec::new(),
            pointers: Vec::new(),
            mentions: Vec::new(),
            cuts: Vec::new(),
            joins: Vec::new(),
            sinks: HashMap::default(),
            lane_axes: SmallVec::new(),
            depth: 0,
            longest_fold: 0,
            budget,
            moves: false,
        }
    }

    /// The lane program, run by this schedule.
    fn finish(self, name: &str, schedule: Schedule) -> Emitted<Kernel> {
        Ok(Kernel {
            name: name.into(),
            body: Arc::new(self.b.finish().map_err(|_| Refusal::TooLarge)?),
            operands: self.operands,
            schedule,
        })
    }

    /// The element of `value` at `at`.
    pub(crate) fn element(&mut self, value: ValueId, at: &[Ix]) -> Emitted<Element> {
        let key = (value, Ixs::from(at));
        for (depth, frame) in self.frames.iter().enumerate().rev() {
            if let Some(found) = frame.elements.get(&key) {
                self.reach = self.reach.max(depth);
                return Ok(found.clone());
            }
        }
        self.budget = self.budget.checked_sub(1).ok_or(Refusal::TooLarge)?;
        let around = std::mem::take(&mut self.reach);
        let element = self.compute(value, at);
        let reach = self.reach;
        self.reach = around.max(reach);
        let element = element?;
        let home = self.home(reach, element.iter());
        self.frames[home].elements.insert(key, element.clone());
        Ok(element)
    }

    /// All results of a node at an index, of which one was asked for: the others need not be computed again.
    fn remember(&mut self, id: NodeId, at: &[Ix], elements: &[Element]) {
        let home = self.home(self.reach, elements.iter().flatten());
        for (&value, element) in self.graph.node(id).results.iter().zip(elements) {
            let key = (value, Ixs::from(at));
            self.frames[home].elements.insert(key, element.clone());
        }
    }

    /// The outermost frame, from `reach` on, in whose block these values are known, and all that they were made with is supposed.
    fn home<'v>(&self, reach: usize, values: impl Iterator<Item = &'v Value> + Clone) -> usize {
        let last = self.frames.len() - 1;
        (reach..last)
            .find(|&depth| {
                let block = self.frames[depth].block;
                self.b.is_supposed_in(block)
                    && values
                        .clone()
                        .all(|&value| self.b.is_known_in(value, block))
            })
            .unwrap_or(last)
    }

    /// What a parameter stands for.
    fn bound(&mut self, value: ValueId) -> Option<Bound> {
        let (bound, depth) = self.bound.get(&value)?;
        self.reach = self.reach.max(*depth);
        Some(bound.clone())
    }

    /// From here on a parameter stands for this.
    fn bind_to(&mut self, param: ValueId, bound: Bound) {
        self.bound.insert(param, (bound, self.frames.len() - 1));
    }

    fn compute(&mut self, value: ValueId, at: &[Ix]) -> Emitted<Element> {
        if let Some(bound) = self.bound(value) {
            return match bound {
                Bound::Registers(registers) => self.register(&registers, at),
                Bound::Slice(whole, leading) => {
                    let mut full = leading;
                    full.extend(at.iter().cloned());
                    self.element(whole, &full)
                }
            };
        }
        // What is one constant is that, though it may be in memory for others.
        if let Some(bytes) = self.graph.splat(value) {
            return Ok(self.constant(self.graph.dtype(value), bytes));
        }
        if let Some(layout) = self.memory.layout(value) {
            return Ok(self.load(Operand::Value(value), value, &layout, at));
        }
        let Def::Node(id, result) = self.graph.value(value).def else {
            return Err(Refusal::TooLarge);
        };
        self.depth += 1;
        if self.depth > 2000 {
            return Err(Refusal::TooLarge);
        }
        let element = self.node(id, result as usize, value, at);
        self.depth -= 1;
        element
    }

    fn node(&mut self, id: NodeId, result: usize, value: ValueId, at: &[Ix]) -> Emitted<Element> {
        let graph = self.graph;
        let node = graph.node(id);
        let args = &node.args;
        let dtype = graph.dtype(value);
        match &node.op {
            Op::Const(index) => {
                let tensor = &graph.consts[*index as usize];
                match self.constant_offset(value, at) {
                    Some(offset) => {
                        let size = dtype.size();
                        let bytes = &tensor.bytes()[offset * size..(offset + 1) * size];
                        Ok(self.constant(dtype, bytes))
                    }
                    None => Err(Refusal::NeedsMemory),
                }
            }
            Op::Splat(bytes) => Ok(self.constant(dtype, bytes)),
            Op::Iota { axis } => Ok(self.iota(dtype, &at[*axis])),
            Op::Map(op) => {
                let mut elements: SmallVec<[Element; 3]> = SmallVec::new();
                for &arg in args {
                    let own: &[Ix] = if graph.shape(arg).is_empty() { &[] } else { at };
                    elements.push(self.element(arg, own)?);
                }
                let dtypes: SmallVec<[_; 3]> = args.iter().map(|&arg| graph.dtype(arg)).collect();
                Ok(element::map(&mut self.b, *op, &dtypes, dtype, &elements))
            }
            Op::Broadcast { dims } => {
                let own = graph.shape(args[0]);
                let inner: Ixs = dims
                    .iter()
                    .enumerate()
                    .map(|(axis, &dim)| {
                        if own[axis] == 1 {
                            Ix::constant(0)
                        } else {
                            at[dim].clone()
                        }
                    })
                    .collect();
                self.element(args[0], &inner)
            }
            Op::Reshape => self.reshape(args[0], graph.shape(value), at),
            Op::Transpose { permutation } => {
                let mut inner: Ixs = SmallVec::from_elem(Ix::default(), permutation.len());
                for (axis, &from) in permutation.iter().enumerate() {
                    inner[from] = at[axis].clone();
                }
                self.element(args[0], &inner)
            }
            Op::Slice { start, stride } => {
                let inner: Option<Ixs> = at
                    .iter()
                    .enumerate()
                    .map(|(axis, ix)| {
                        Ix::constant(start[axis] as i64).add_scaled(ix, stride[axis] as i64)
                    })
                    .collect();
                let inner = match inner {
                    Some(inner) => inner,
                    None => self.strided(at, start, stride),
                };
                self.element(args[0], &inner)
            }
            Op::Rev { axes } => {
                let shape = graph.shape(value);
                let mut inner = Ixs::from(at);
                for &axis in axes {
                    inner[axis] = self.reversed(&at[axis], shape[axis]);
                }
                self.element(args[0], &inner)
            }
            Op::Pad { low, interior } => self.pad(args, low, interior, at),
            Op::Concat { axis } => self.concat(args, *axis, at),
            Op::DynamicSlice => self.dynamic_slice(value, args, at),
            Op::DynamicUpdate => self.dynamic_update(args, at),
            Op::Gather(spec) => self.gather(spec, args, at),
            Op::Reduce { combine, axes } => self.reduce(*combine, args[0], axes, at),
            Op::ArgReduce { largest, axis } => self.arg_reduce(*largest, args[0], *axis, dtype, at),
            Op::ReduceWith { axes, body } => self.reduce_with(id, axes, body, result, at),
            Op::ReduceWindow { combine, window } => {
                self.reduce_window(*combine, args[0], window, dtype, at)
            }
            Op::ReduceWindowWith { window, body } => {
                self.reduce_window_with(id, window, body, result, at)
            }
            Op::SelectPlace { window, select } => {
                self.select_place(args[0], window, select, dtype, at)
            }
            Op::SendToPlace { window, combine } => self.send_to_place(window, combine, args, at),
            Op::SelectAndGather { largest, window } => {
                self.select_and_gather(*largest, args, window, at)
            }
            Op::Call(call) => self.small_product(call, args, at),
            Op::Scan { .. } | Op::While { .. } | Op::Cond { .. } => {
                let results = self.control(id)?;
                match &results[result] {
                    Some(registers) => self.register(registers, at),
                    None => Err(Refusal::NeedsMemory),
                }
            }
            Op::Alias | Op::Scatter(_) => Err(Refusal::NeedsMemory),
        }
    }

    /// An element of an array in registers. An index that is not a constant is resolved by selecting among all.
    fn register(&mut self, registers: &Registers, at: &[Ix]) -> Emitted<Element> {
        let (lanes, inner) = at.split_at(registers.lanes.len());
        for (ix, &var) in lanes.iter().zip(&registers.lanes) {
            let single = self.vars.get(var).size == 1 && ix.as_constant() == Some(0);
            if ix.as_var() != Some(var) && !single {
                return Err(Refusal::DynamicRegister);
            }
        }
        let mut candidates: Vec<(usize, Option<Value>)> = vec![(0, None)];
        for (ix, &size) in inner.iter().zip(&registers.shape) {
            match ix.as_constant() {
                Some(index) => candidates.iter_mut().for_each(|candidate| {
                    candidate.0 = candidate.0 * size + narrow::<_, usize>(index)
                }),
                None => {
                    if candidates.len() * size > 32 {
                        return Err(Refusal::DynamicRegister);
                    }
                    let index = self.index_value(ix);
                    let mut next = Vec::new();
                    for (offset, mask) in candidates {
                        for k in 0..size {
                            let number = self.b.int(self.index_type, k as i64);
                            let here = self.b.eq(index, number);
                            let both = match mask {
                                Some(mask) => self.b.and(mask, here),
                                None => here,
                            };
                            next.push((offset * size + k, Some(both)));
                        }
                    }
                    candidates = next;
                }
            }
        }
        let (last, rest) = candidates.split_last().ok_or(Refusal::TooLarge)?;
        let mut result = registers.elements[last.0].clone();
        for (offset, mask) in rest.iter().rev() {
            if let Some(mask) = mask {
                result = element::select(&mut self.b, *mask, &registers.elements[*offset], &result);
            }
        }
        Ok(result)
    }

    /// The entry of the pointer table for an operand.
    pub(crate) fn pointer(&mut self, operand: Operand) -> Pointer {
        if let Some(at) = self.operands.iter().position(|&other| other == operand) {
            return self.pointers[at];
        }
        let access = match operand {
            Operand::Value(_) | Operand::Window(_) => Access::ReadOnly,
            Operand::Result(_) | Operand::Scratch(_) | Operand::Partials(..) => Access::ReadWrite,
        };
        let pointer = self.b.pointer(access);
        self.operands.push(operand);
        self.pointers.push(pointer);
        pointer
    }

    /// Adds an axis that loops with their state in registers have as lanes.
    pub(crate) fn add_lane_axis(&mut self, size: usize, binding: Binding) -> Var {
        let var = self.vars.add(size, binding);
        self.lane_axes.push(var);
        var
    }

    /// Runs `f` in an inner block of the lane program, whose values are not known outside.
    fn inside<R>(&mut self, builder: &mut Builder, f: impl FnOnce(&mut Self) -> R) -> R {
        std::mem::swap(&mut self.b, builder);
        self.frames.push(Frame::new(self.b.block()));
        let result = f(self);
        self.frames.pop();
        std::mem::swap(&mut self.b, builder);
        result
    }

    /// Takes the builder out, so that its methods can be given closures that use this emitter.
    fn take_builder(&mut self) -> Builder {
        std::mem::replace(&mut self.b, Builder::new(""))
    }

    /// A counted loop in the lane program; `turn` gets the variable and the carried values and gives the next ones.
    pub(crate) fn counted(
        &mut self,
        count: usize,
        init: &[Value],
        turn: impl FnOnce(&mut Self, Var, &[Value]) -> Emitted<Vec<Value>>,
    ) -> Emitted<Vec<Value>> {
        self.repeated(
            lanes::Trip::Const(count as u64),
            init,
            |emitter, index, params| {
                let var = emitter.vars.add(count, Binding::index(index));
                turn(emitter, var, params)
            },
        )
    }

    /// As [`Self::counted`], by the loop's index.
    pub(crate) fn repeated(
        &mut self,
        trip: lanes::Trip,
        init: &[Value],
        turn: impl FnOnce(&mut Self, lanes::Index, &[Value]) -> Emitted<Vec<Value>>,
    ) -> Emitted<Vec<Value>> {
        let mut builder = self.take_builder();
        let mut outcome = Ok(());
        let results = builder.for_loop(trip, init, |b, index, params| {
            self.inside(b, |emitter| turn(emitter, index, params))
                .unwrap_or_else(|refusal| {
                    outcome = Err(refusal);
                    params.to_vec()
                })
        });
        self.b = builder;
        outcome.map(|()| results)
    }

    /// A branch per lane.
    fn branch(
        &mut self,
        cond: Value,
        then: impl FnOnce(&mut Self) -> Emitted<Vec<Value>>,
        otherwise: impl FnOnce(&mut Self) -> Emitted<Vec<Value>>,
    ) -> Emitted<Vec<Value>> {
        match self.b.as_const(cond) {
            Some(0) => return otherwise(self),
            Some(_) => return then(self),
            None => {}
        }
        let mut builder = self.take_builder();
        let mut outcome = Ok(());
        let this = std::cell::RefCell::new((self, Vec::new(), &mut outcome));
        let results = builder.if_lanes(
            cond,
            |b| {
                let (emitter, kept, outcome) = &mut *this.borrow_mut();
                let values = emitter.inside(b, then).unwrap_or_else(|refusal| {
                    **outcome = Err(refusal);
                    Vec::new()
                });
                *kept = values.clone();
                values
            },
            |b| {
                let (emitter, kept, outcome) = &mut *this.borrow_mut();
                if outcome.is_err() {
                    return Vec::new();
                }
                emitter.inside(b, otherwise).unwrap_or_else(|refusal| {
                    **outcome = Err(refusal);
                    kept.clone()
                })
            },
        );
        let (emitter, _, _) = this.into_inner();
        emitter.b = builder;
        outcome.map(|()| results)
    }
}
