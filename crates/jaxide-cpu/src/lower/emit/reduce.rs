//! Reductions inside one lane: short ones unrolled, others as loops.

use super::control::indices;
use super::{Bound, Emitted, Emitter, Ix, Ixs, Registers};
use crate::lanes::Value;
use crate::lower::element::{self, Element};
use crate::lower::graph::{Combine, Def, MapOp, NodeId, Region, ValueId};
use jaxide_core::DType;
use smallvec::{SmallVec, smallvec};

/// Reductions over at most this many elements are unrolled.
pub(crate) const UNROLL: usize = 16;
/// The same where the elements are in registers, which loops cannot index.
const UNROLL_REGISTERS: usize = 256;

/// Parts that a reduction is made in where it would wait for each of its steps: about as many as operations of floats take cycles.
const CHAINS: usize = 4;
/// So few results of a reduction are lanes of one vector.
const FEW_IN_LANES: usize = 16;
/// So few elements of state in registers are not made side by side already.
const FEW_IN_REGISTERS: usize = 4;

/// One step of a fold: from the indices and the accumulators to the next accumulators.
pub(super) type Step<'s, E> = &'s mut dyn FnMut(&mut E, &[Ix], &[Value]) -> Emitted<Vec<Value>>;

impl Emitter<'_> {
    /// Folds over all indices below `sizes`, the last one fastest: `step` gets the indices and the accumulators.
    pub(super) fn fold(
        &mut self,
        sizes: &[usize],
        unroll: bool,
        init: Vec<Value>,
        step: Step<'_, Self>,
    ) -> Emitted<Vec<Value>> {
        if !unroll {
            self.longest_fold = self.longest_fold.max(sizes.iter().product());
        }
        self.fold_from(sizes, unroll, &mut Ixs::new(), init, step)
    }

    fn fold_from(
        &mut self,
        sizes: &[usize],
        unroll: bool,
        prefix: &mut Ixs,
        init: Vec<Value>,
        step: Step<'_, Self>,
    ) -> Emitted<Vec<Value>> {
        let Some((&size, rest)) = sizes.split_first() else {
            return step(self, prefix, &init);
        };
        if unroll || size == 1 {
            let mut values = init;
            for k in 0..size {
                prefix.push(Ix::constant(k as i64));
                values = self.fold_from(rest, unroll, prefix, values, step)?;
                prefix.pop();
            }
            return Ok(values);
        }
        self.counted(size, &init, |emitter, var, params| {
            prefix.push(Ix::var(var));
            let values = emitter.fold_from(rest, unroll, prefix, params.to_vec(), step);
            prefix.pop();
            values
        })
    }

    /// Whether a fold over `sizes` of elements of these values is unrolled.
    pub(super) fn unrolls(&self, sizes: &[usize], values: &[ValueId]) -> bool {
        let count: usize = sizes.iter().product();
        count <= UNROLL
            || (count <= UNROLL_REGISTERS
                && values.iter().any(|&value| self.in_registers(value, 64)))
    }

    /// Whether a value is computed from registers, looking `depth` operations back.
    fn in_registers(&self, value: ValueId, depth: usize) -> bool {
        if let Some((bound, _)) = self.bound.get(&value) {
            return match bound {
                Bound::Registers(registers) => registers.elements.len() > 1,
                Bound::Slice(whole, _) => self.in_registers(*whole, depth),
            };
        }
        if depth == 0 || self.bound.is_empty() || self.memory.layout(value).is_some() {
            return false;
        }
        match self.graph.value(value).def {
            Def::Param => false,
            Def::Node(id, _) => {
                let node = self.graph.node(id);
                let control = !node.args.is_empty()
                    && self
                        .frames
                        .iter()
                        .any(|frame| frame.results.contains_key(&id));
                control
                    || node
                        .args
                        .iter()
                        .any(|&arg| self.in_registers(arg, depth - 1))
            }
        }
    }

    /// The indices of the operand of a reduction.
    fn reduced_index(axes: &[usize], rank: usize, outer: &[Ix], inner: &[Ix]) -> Ixs {
        let (mut outer, mut inner) = (outer.iter(), inner.iter());
        (0..rank)
            .map(|axis| {
                let next = if axes.contains(&axis) {
                    inner.next()
                } else {
                    outer.next()
                };
                next.cloned().unwrap_or_default()
            })
            .collect()
    }

    fn sizes(&self, value: ValueId, axes: &[usize]) -> SmallVec<[usize; 4]> {
        let mut sorted: SmallVec<[usize; 4]> = axes.into();
        sorted.sort_unstable();
        sorted
            .into_iter()
            .map(|axis| self.graph.shape(value)[axis])
            .collect()
    }

    pub(super) fn reduce(
        &mut self,
        combine: Combine,
        x: ValueId,
        axes: &[usize],
        at: &[Ix],
    ) -> Emitted<Element> {
        let (rank, dtype) = (self.graph.shape(x).len(), self.graph.dtype(x));
        let sizes = self.sizes(x, axes);
        let unroll = self.unrolls(&sizes, &[x]);
        let neutral = element::neutral(&mut self.b, combine, dtype);
        if unroll && self.waits(combine, x, axes) {
            return self.reduce_in_chains(combine, dtype, neutral, &sizes, |emitter, inner| {
                emitter.element(x, &Self::reduced_index(axes, rank, at, inner))
            });
        }
        let values = self.fold(
            &sizes,
            unroll,
            neutral.into_vec(),
            &mut |emitter, inner, sum| {
                let next = emitter.element(x, &Self::reduced_index(axes, rank, at, inner))?;
                let sum: Element = sum.into();
                Ok(element::combine(&mut emitter.b, combine, dtype, &sum, &next).into_vec())
            },
        )?;
        Ok(Element::from_vec(values))
    }

    /// Whether a reduction that is written out would wait for each of its steps: so few of them are made at once that there is nothing else to do.
    fn waits(&self, combine: Combine, x: ValueId, axes: &[usize]) -> bool {
        let shape = self.graph.shape(x);
        let kept = (0..shape.len()).filter(|axis| !axes.contains(axis));
        let results: usize = kept.map(|axis| shape[axis]).product();
        let at_once = if self.bound.is_empty() {
            FEW_IN_LANES
        } else {
            FEW_IN_REGISTERS
        };
        let slow = matches!(
            combine,
            Combine::Add | Combine::Mul | Combine::Min | Combine::Max
        );
        let dtype = self.graph.dtype(x);
        slow && (dtype.is_float() || dtype.is_complex()) && results <= at_once
    }

    /// A reduction that is written out as sums of every second or fourth element, which are made side by side. The last element is added at
    /// last: in recurrences it is the one that the turn before has made, and nothing else waits for it.
    fn reduce_in_chains(
        &mut self,
        combine: Combine,
        dtype: DType,
        neutral: Element,
        sizes: &[usize],
        mut element: impl FnMut(&mut Self, &[Ix]) -> Emitted<Element>,
    ) -> Emitted<Element> {
        let count: usize = sizes.iter().product();
        let chains = if count < 2 * CHAINS { 2 } else { CHAINS };
        let mut parts: SmallVec<[Element; CHAINS]> = smallvec![neutral];
        let mut last = None;
        for (k, inner) in indices(sizes).enumerate() {
            let next = element(self, &inner)?;
            if k + 1 == count {
                last = Some(next);
                break;
            }
            match parts.get_mut(k % chains) {
                Some(part) => *part = element::combine(&mut self.b, combine, dtype, part, &next),
                None => parts.push(next),
            }
        }
        while parts.len() > 1 {
            parts = (parts.chunks(2))
                .map(|pair| match pair {
                    [left, right] => element::combine(&mut self.b, combine, dtype, left, right),
                    single => single[0].clone(),
                })
                .collect();
        }
        let sum = parts.swap_remove(0);
        Ok(match last {
            Some(last) => element::combine(&mut self.b, combine, dtype, &sum, &last),
            None => sum,
        })
    }

    pub(super) fn arg_reduce(
        &mut self,
        largest: bool,
        x: ValueId,
        axis: usize,
        result: DType,
        at: &[Ix],
    ) -> Emitted<Element> {
        let (rank, dtype) = (self.graph.shape(x).len(), self.graph.dtype(x));
        let sizes = self.sizes(x, &[axis]);
        let unroll = self.unrolls(&sizes, &[x]);
        let first = self.element(
            x,
            &Self::reduced_index(&[axis], rank, at, &[Ix::constant(0)]),
        )?;
        let zero = self.b.int(self.index_type, 0);
        let init = vec![first[0], zero];
        let values = self.fold(&sizes, unroll, init, &mut |emitter, inner, best| {
            let next = emitter.element(x, &Self::reduced_index(&[axis], rank, at, inner))?;
            let index = emitter.index_value(&inner[0]);
            let better = emitter.better(largest, dtype, next[0], best[0]);
            Ok(vec![
                emitter.b.select(better, next[0], best[0]),
                emitter.b.select(better, index, best[1]),
            ])
        })?;
        Ok(self.index_element(values[1], result))
    }

    /// Whether `x` comes before `best`: it is beyond it, or the first NaN.
    pub(super) fn better(&mut self, largest: bool, dtype: DType, x: Value, best: Value) -> Value {
        let (one, other): (Element, Element) = (smallvec![x], smallvec![best]);
        let op = if largest { MapOp::Gt } else { MapOp::Lt };
        let beyond = element::map(&mut self.b, op, &[dtype, dtype], DType::Bool, &[one, other])[0];
        if !dtype.is_float() {
            return beyond;
        }
        let (nan, before) = (self.is_nan(dtype, x), self.is_nan(dtype, best));
        let fresh = self.b.not(before);
        let first = self.b.and(nan, fresh);
        self.b.or(beyond, first)
    }

    /// Whether a float of any type is NaN: that of a small one is known by its code.
    fn is_nan(&mut self, dtype: DType, x: Value) -> Value {
        let x: Element = smallvec![x];
        element::map(
            &mut self.b,
            MapOp::Ne,
            &[dtype, dtype],
            DType::Bool,
            &[x.clone(), x],
        )[0]
    }

    /// An index of the lane program as an element.
    pub(super) fn index_element(&mut self, index: Value, dtype: DType) -> Element {
        let own = if self.b.ty(index) == crate::lanes::Ty::I64 {
            DType::I64
        } else {
            DType::I32
        };
        element::map(
            &mut self.b,
            MapOp::Convert,
            &[own],
            dtype,
            &[smallvec![index]],
        )
    }

    pub(super) fn reduce_with(
        &mut self,
        id: NodeId,
        axes: &[usize],
        body: &Region,
        result: usize,
        at: &[Ix],
    ) -> Emitted<Element> {
        let graph = self.graph;
        let args = &graph.node(id).args;
        let (operands, inits) = args.split_at(args.len() / 2);
        let rank = graph.shape(operands[0]).len();
        let sizes = self.sizes(operands[0], axes);
        let unroll = self.unrolls(&sizes, operands);
        let mut init = Vec::new();
        for &value in inits {
            let place = if graph.shape(value).is_empty() {
                &[]
            } else {
                at
            };
            init.extend(self.element(value, place)?);
        }
        let values = self.fold(&sizes, unroll, init, &mut |emitter, inner, sum| {
            let mut elements = emitter.split_elements(inits, sum);
            for &operand in operands {
                elements
                    .push(emitter.element(operand, &Self::reduced_index(axes, rank, at, inner))?);
            }
            let next = emitter.scalar_call(body, elements)?;
            Ok(next.into_iter().flatten().collect())
        })?;
        let all = self.split_elements(inits, &values);
        self.remember(id, at, &all);
        Ok(all[result].clone())
    }

    /// Lane values of several elements, apart again.
    pub(super) fn split_elements(&self, like: &[ValueId], values: &[Value]) -> Vec<Element> {
        let mut rest = values;
        like.iter()
            .map(|&value| {
                let count = element::components(self.graph.dtype(value)).len();
                let (own, others) = rest.split_at(count);
                rest = others;
                own.into()
            })
            .collect()
    }

    /// Applies a function of scalars.
    pub(super) fn scalar_call(
        &mut self,
        body: &Region,
        args: Vec<Element>,
    ) -> Emitted<Vec<Element>> {
        self.frames.push(super::Frame::new(self.b.block()));
        for (&param, element) in body.params.iter().zip(args) {
            let registers = Registers {
                lanes: SmallVec::new(),
                shape: SmallVec::new(),
                elements: vec![element],
            };
            self.bind_to(param, Bound::Registers(registers));
        }
        let results = body
            .results
            .iter()
            .map(|&result| self.element(result, &[]))
            .collect();
        self.frames.pop();
        body.params.iter().for_each(|param| {
            self.bound.remove(param);
        });
        results
    }
}
