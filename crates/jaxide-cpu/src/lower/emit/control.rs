//! Loops and branches inside a lane, with their state in registers.
//!
//! A loop whose arrays share leading axes, and whose body works on each index of these axes alone, runs with
//! the lanes outside and time inside: the leading axes are the lanes of the program, and only what is left is state.

use super::address::Sink;
use super::{Bound, Emitted, Emitter, Frame, Ix, Ixs, Layout, Operand, Refusal, Registers, Var};
use crate::lanes::Value;
use crate::lower::element::{self, Element};
use crate::lower::graph::{NodeId, Op, Region, ValueId};
use rustc_hash::FxHashSet as HashSet;
use smallvec::SmallVec;
use std::cell::RefCell;

/// At most this many lane values are carried by one loop.
const MOST_CARRIED: usize = 160;
/// Loops of at most this many steps are unrolled when their stacked values are in registers.
const UNROLL_STEPS: usize = 32;
/// Regions with more nodes are computed in order.
const LONG_REGION: usize = 60;

impl Emitter<'_> {
    /// The results of a loop or branch, in registers; `None` for stacked results that are stored, or cannot be held.
    pub(super) fn control(&mut self, id: NodeId) -> Emitted<Vec<Option<Registers>>> {
        for (depth, frame) in self.frames.iter().enumerate().rev() {
            if let Some(known) = frame.results.get(&id) {
                self.reach = self.reach.max(depth);
                return Ok(known.clone());
            }
        }
        let around = std::mem::take(&mut self.reach);
        let results = self.compute_control(id);
        let reach = self.reach;
        self.reach = around.max(reach);
        let results = results?;
        let values = results.iter().flatten();
        let home = self.home(
            reach,
            values.flat_map(|registers| registers.elements.iter().flatten()),
        );
        self.frames[home].results.insert(id, results.clone());
        Ok(results)
    }

    fn compute_control(&mut self, id: NodeId) -> Emitted<Vec<Option<Registers>>> {
        let graph = self.graph;
        let node = graph.node(id);
        match &node.op {
            Op::Scan {
                body,
                carries,
                length,
                reverse,
            } => {
                self.prepare(id);
                self.scan(id, body, *carries, *length, *reverse)
            }
            Op::While { cond, body } => {
                self.prepare(id);
                self.while_loop(id, cond, body)
            }
            Op::Cond { branches } => self.cond(id, branches),
            _ => Err(Refusal::NeedsMemory),
        }
    }

    /// Computes the loops and branches around a loop whose results the loop uses, so that no turn does.
    fn prepare(&mut self, id: NodeId) {
        let graph = self.graph;
        let node = graph.node(id);
        let mut todo = node.args.to_vec();
        node.op
            .visit_regions(&mut |region| graph.captures(region, &mut todo));
        let mut seen: HashSet<ValueId> = HashSet::default();
        while let Some(value) = todo.pop() {
            if !seen.insert(value)
                || self.bound.contains_key(&value)
                || self.memory.layout(value).is_some()
            {
                continue;
            }
            let Some(source) = graph.def(value) else {
                continue;
            };
            let node = graph.node(source);
            if let Op::Scan { .. } | Op::While { .. } | Op::Cond { .. } = node.op {
                // What is refused here may not be needed; else it is refused again.
                let _ = self.control(source);
            } else {
                todo.extend(&node.args);
            }
        }
    }

    /// Emits a loop or branch whose results are not used further; its stacked results are stored.
    pub(crate) fn emit_control(&mut self, id: NodeId) -> Emitted<()> {
        self.make_sinks(id);
        let results = self.control(id)?;
        let missing = results
            .iter()
            .zip(&self.graph.node(id).results)
            .any(|(held, value)| held.is_none() && !self.sinks.contains_key(value));
        if missing {
            Err(Refusal::NeedsMemory)
        } else {
            Ok(())
        }
    }

    /// From here on, stacked results of a loop are stored as they are made.
    pub(crate) fn make_sinks(&mut self, id: NodeId) {
        let node = self.graph.node(id);
        if let Op::Scan { carries, .. } = node.op {
            for &stack in &node.results[carries..] {
                let pointer = self.pointer(Operand::Result(stack));
                let layout = Layout::dense(self.graph.shape(stack));
                self.sinks.insert(stack, Sink { pointer, layout });
            }
        }
    }

    /// The elements of a result that a loop or branch holds in registers, with their indices beyond the lanes.
    pub(crate) fn held(
        &mut self,
        id: NodeId,
        result: usize,
    ) -> Emitted<Option<Vec<(Ixs, Element)>>> {
        let results = self.control(id)?;
        Ok(results[result].as_ref().map(|registers| {
            let lanes: Ixs = registers.lanes.iter().map(|&var| Ix::var(var)).collect();
            indices(&registers.shape)
                .zip(&registers.elements)
                .map(|(inner, element)| {
                    (
                        lanes.iter().cloned().chain(inner).collect(),
                        element.clone(),
                    )
                })
                .collect()
        }))
    }

    /// Splits a shape into the axes of the lanes and the rest.
    fn split_shape(&self, shape: &[usize]) -> (SmallVec<[Var; 2]>, SmallVec<[usize; 4]>) {
        let lanes = &self.lane_axes;
        let fits = shape.len() >= lanes.len()
            && lanes
                .iter()
                .zip(shape)
                .all(|(&var, &length)| self.vars.get(var).size == length);
        if fits && !lanes.is_empty() {
            (lanes.clone(), shape[lanes.len()..].into())
        } else {
            (SmallVec::new(), shape.into())
        }
    }

    /// All elements that a lane has of a value.
    fn all_elements(&mut self, value: ValueId) -> Emitted<Registers> {
        let (lanes, shape) = self.split_shape(self.graph.shape(value));
        if shape.iter().product::<usize>() > MOST_CARRIED {
            return Err(Refusal::TooLarge);
        }
        let prefix: Ixs = lanes.iter().map(|&var| Ix::var(var)).collect();
        let elements = indices(&shape)
            .map(|inner| {
                let mut at = prefix.clone();
                at.extend(inner);
                self.element(value, &at)
            })
            .collect::<Emitted<Vec<Element>>>()?;
        Ok(Registers {
            lanes,
            shape,
            elements,
        })
    }

    /// Registers in the form of a value, from lane values.
    fn registers_from(&self, value: ValueId, values: &mut &[Value]) -> Registers {
        let (lanes, shape) = self.split_shape(self.graph.shape(value));
        let components = element::components(self.graph.dtype(value)).len();
        let count = shape.iter().product::<usize>();
        let (own, rest) = values.split_at(count * components);
        *values = rest;
        let elements = if components == 0 {
            vec![Element::new(); count]
        } else {
            own.chunks(components).map(Element::from).collect()
        };
        Registers {
            lanes,
            shape,
            elements,
        }
    }

    fn flatten(registers: &[Registers]) -> Vec<Value> {
        registers
            .iter()
            .flat_map(|r| r.elements.iter().flatten().copied())
            .collect()
    }

    fn bind(&mut self, params: &[ValueId], values: &[Value]) {
        let mut rest = values;
        for &param in params {
            let registers = self.registers_from(param, &mut rest);
            self.bind_to(param, Bound::Registers(registers));
        }
    }

    fn unbind(&mut self, params: &[ValueId]) {
        params.iter().for_each(|param| {
            self.bound.remove(param);
        });
    }

    fn initial(&mut self, values: &[ValueId]) -> Emitted<Vec<Value>> {
        let registers = values
            .iter()
            .map(|&value| self.all_elements(value))
            .collect::<Emitted<Vec<_>>>()?;
        let values = Self::flatten(&registers);
        if values.len() > MOST_CARRIED {
            Err(Refusal::TooLarge)
        } else {
            Ok(values)
        }
    }

    /// The lane values of results of a region, whose parameters are bound.
    ///
    /// In a long region elements are computed in order, so that the way from a result back to the parameters stays short;
    /// what turns out not to be used leaves the lane program at its end.
    fn region_values(&mut self, region: &Region, results: &[ValueId]) -> Emitted<Vec<Value>> {
        if region.nodes.len() > LONG_REGION {
            for &id in &region.nodes {
                let node = self.graph.node(id);
                if let Op::Map(_) = node.op {
                    // A refusal here may concern a value that no result needs.
                    let _ = self.all_elements(node.results[0]);
                }
            }
        }
        let registers = results
            .iter()
            .map(|&value| self.all_elements(value))
            .collect::<Emitted<Vec<_>>>()?;
        Ok(Self::flatten(&registers))
    }

    fn scan(
        &mut self,
        id: NodeId,
        body: &Region,
        carries: usize,
        length: usize,
        reverse: bool,
    ) -> Emitted<Vec<Option<Registers>>> {
        let graph = self.graph;
        let node = graph.node(id);
        let (init, stacked) = node.args.split_at(carries);
        let stacks = &node.results[carries..];
        let in_registers = stacks
            .iter()
            .filter(|value| !self.sinks.contains_key(value));
        let elements: usize = in_registers
            .clone()
            .map(|&value| graph.value(value).len())
            .sum();
        if self.lane_axes.is_empty() && elements > MOST_CARRIED {
            return Err(Refusal::TooLarge);
        }
        let held = in_registers.count() > 0 || stacked.iter().any(|&value| self.holds(value));
        if held && length <= UNROLL_STEPS {
            return self.unrolled_scan(id, body, carries, length, reverse);
        }
        let init = self.initial(init)?;
        let last = self.counted(length, &init, |emitter, var, params| {
            let step = if reverse {
                emitter.reversed(&Ix::var(var), length)
            } else {
                Ix::var(var)
            };
            emitter.bind(&body.params[..carries], params);
            for (&param, &whole) in body.params[carries..].iter().zip(stacked) {
                let leading = SmallVec::from_elem(step.clone(), 1);
                emitter.bind_to(param, Bound::Slice(whole, leading));
            }
            let next = emitter.region_values(body, &body.results[..carries])?;
            for (&stack, &slice) in stacks.iter().zip(&body.results[carries..]) {
                if emitter.sinks.contains_key(&stack) {
                    emitter.sink(stack, slice, &step)?;
                }
            }
            emitter.unbind(&body.params);
            Ok(next)
        })?;
        let mut rest = &last[..];
        let mut results: Vec<Option<Registers>> = node.results[..carries]
            .iter()
            .map(|&value| Some(self.registers_from(value, &mut rest)))
            .collect();
        results.resize(node.results.len(), None);
        Ok(results)
    }

    /// Whether a value is in registers itself.
    fn holds(&self, value: ValueId) -> bool {
        match self.bound.get(&value) {
            Some((Bound::Registers(_), _)) => true,
            Some((Bound::Slice(whole, _), _)) => self.holds(*whole),
            None => {
                self.memory.layout(value).is_none()
                    && self.graph.def(value).is_some_and(|id| {
                        self.frames
                            .iter()
                            .any(|frame| frame.results.contains_key(&id))
                    })
            }
        }
    }

    /// Stores one slice of a stacked result.
    fn sink(&mut self, stack: ValueId, slice: ValueId, step: &Ix) -> Emitted<()> {
        let registers = self.all_elements(slice)?;
        let sink = self.sinks[&stack].clone();
        let dtype = self.graph.dtype(stack);
        for (inner, element) in indices(&registers.shape).zip(&registers.elements) {
            let mut at: Ixs = SmallVec::from_elem(step.clone(), 1);
            at.extend(registers.lanes.iter().map(|&var| Ix::var(var)));
            at.extend(inner);
            self.store(sink.pointer, dtype, &sink.layout, &at, element);
        }
        Ok(())
    }

    fn unrolled_scan(
        &mut self,
        id: NodeId,
        body: &Region,
        carries: usize,
        length: usize,
        reverse: bool,
    ) -> Emitted<Vec<Option<Registers>>> {
        let graph = self.graph;
        let node = graph.node(id);
        let (init, stacked) = node.args.split_at(carries);
        let mut values = self.initial(init)?;
        let mut slices: Vec<Vec<Vec<Element>>> =
            vec![vec![Vec::new(); length]; node.results.len() - carries];
        for turn in 0..length {
            let step = if reverse { length - 1 - turn } else { turn };
            self.frames.push(Frame::new(self.b.block()));
            self.bind(&body.params[..carries], &values);
            for (&param, &whole) in body.params[carries..].iter().zip(stacked) {
                let leading = SmallVec::from_elem(Ix::constant(step as i64), 1);
                self.bind_to(param, Bound::Slice(whole, leading));
            }
            let next = self.region_values(body, &body.results[..carries])?;
            for (k, &slice) in body.results[carries..].iter().enumerate() {
                slices[k][step] = self.all_elements(slice)?.elements;
            }
            self.unbind(&body.params);
            self.frames.pop();
            values = next;
        }
        let mut rest = &values[..];
        let mut results: Vec<Option<Registers>> = node.results[..carries]
            .iter()
            .map(|&value| Some(self.registers_from(value, &mut rest)))
            .collect();
        for (k, slices) in slices.into_iter().enumerate() {
            let (value, slice) = (node.results[carries + k], body.results[carries + k]);
            let (lanes, inner) = self.split_shape(self.graph.shape(slice));
            if let Some(sink) = self.sinks.get(&value).cloned() {
                let dtype = self.graph.dtype(value);
                for (step, elements) in slices.iter().enumerate() {
                    for (inner, element) in indices(&inner).zip(elements) {
                        let mut at: Ixs = SmallVec::from_elem(Ix::constant(step as i64), 1);
                        at.extend(lanes.iter().map(|&var| Ix::var(var)));
                        at.extend(inner);
                        self.store(sink.pointer, dtype, &sink.layout, &at, element);
                    }
                }
                results.push(None);
                continue;
            }
            // The stacked axis stands before those of the lanes, which registers do not know.
            if !lanes.is_empty() {
                results.push(None);
                continue;
            }
            let mut shape = SmallVec::from_elem(length, 1);
            shape.extend(inner);
            let elements = slices.into_iter().flatten().collect();
            results.push(Some(Registers {
                lanes,
                shape,
                elements,
            }));
        }
        Ok(results)
    }

    fn while_loop(
        &mut self,
        id: NodeId,
        cond: &Region,
        body: &Region,
    ) -> Emitted<Vec<Option<Registers>>> {
        let node = self.graph.node(id);
        let init = self.initial(&node.args)?;
        let mut builder = self.take_builder();
        let mut outcome = Ok(());
        let this = RefCell::new((self, &mut outcome));
        let last = builder.while_loop(
            &init,
            |b, params| {
                let (emitter, outcome) = &mut *this.borrow_mut();
                let mask = emitter.inside(b, |emitter| {
                    emitter.bind(&cond.params, params);
                    let all = emitter.all_elements(cond.results[0])?;
                    emitter.unbind(&cond.params);
                    match all.elements.as_slice() {
                        [only] => Ok(only[0]),
                        _ => Err(Refusal::TooLarge),
                    }
                });
                mask.unwrap_or_else(|refusal| {
                    **outcome = Err(refusal);
                    b.mask(false)
                })
            },
            |b, params| {
                let (emitter, outcome) = &mut *this.borrow_mut();
                if outcome.is_err() {
                    return params.to_vec();
                }
                let next = emitter.inside(b, |emitter| {
                    emitter.bind(&body.params, params);
                    let next = emitter.region_values(body, &body.results);
                    emitter.unbind(&body.params);
                    next
                });
                next.unwrap_or_else(|refusal| {
                    **outcome = Err(refusal);
                    params.to_vec()
                })
            },
        );
        let (emitter, _) = this.into_inner();
        emitter.b = builder;
        outcome?;
        let mut rest = &last[..];
        Ok(node
            .results
            .iter()
            .map(|&value| Some(emitter.registers_from(value, &mut rest)))
            .collect())
    }

    fn cond(&mut self, id: NodeId, branches: &[Region]) -> Emitted<Vec<Option<Registers>>> {
        let node = self.graph.node(id);
        let index = self.element(node.args[0], &[])?[0];
        let values = self.branches(index, branches, 0)?;
        let mut rest = &values[..];
        Ok(node
            .results
            .iter()
            .map(|&value| Some(self.registers_from(value, &mut rest)))
            .collect())
    }

    /// The results of the branch at the index, counted from `first`; one outside means the nearest. The choices nest no deeper than
    /// the logarithm of the number of branches.
    fn branches(&mut self, index: Value, branches: &[Region], first: i64) -> Emitted<Vec<Value>> {
        if let [own] = branches {
            return self.region_values(own, &own.results);
        }
        let (left, right) = branches.split_at(branches.len() / 2);
        let middle = first + left.len() as i64;
        let number = self.b.int(self.b.ty(index), middle);
        let here = self.b.lt(index, number);
        self.branch(
            here,
            |emitter| emitter.branches(index, left, first),
            |emitter| emitter.branches(index, right, middle),
        )
    }
}

/// All indices below `shape` in row-major order.
pub(super) fn indices(shape: &[usize]) -> impl Iterator<Item = Ixs> {
    let count: usize = shape.iter().product();
    let shape: SmallVec<[usize; 4]> = shape.into();
    (0..count).map(move |mut position| {
        let mut at: Ixs = SmallVec::from_elem(Ix::default(), shape.len());
        for (ix, &length) in at.iter_mut().zip(&shape).rev() {
            *ix = Ix::constant((position % length) as i64);
            position /= length;
        }
        at
    })
}
