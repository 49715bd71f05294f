//! Addresses of elements, and indices as data.

use super::{Emitter, Ix, Ixs, Operand, Var};
use crate::lanes::{self, Addr, Index, LaneStep, Pointer, Ty, Value};
use crate::lower::element::{self, Element};
use crate::lower::graph::ValueId;
use jaxide_core::DType;
use smallvec::SmallVec;

/// How an array lies in memory: the distance between neighbours along each axis, in elements.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Layout {
    pub(crate) strides: SmallVec<[i64; 4]>,
    /// Elements before the first.
    pub(crate) offset: i64,
}

impl Layout {
    /// Row-major without gaps.
    pub(crate) fn dense(shape: &[usize]) -> Layout {
        let mut step = 1i64;
        let mut strides: SmallVec<[i64; 4]> = SmallVec::from_elem(1, shape.len());
        for (stride, &length) in strides.iter_mut().zip(shape).rev() {
            *stride = step;
            step *= length.max(1) as i64;
        }
        Layout { strides, offset: 0 }
    }
}

/// Something that depends on loop variables: an address, by element, or an index as data.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Mention {
    /// The value that is accessed; `None` for data.
    pub(crate) value: Option<ValueId>,
    /// Factors of variables, in elements.
    pub(crate) terms: SmallVec<[(Var, i64); 2]>,
    /// Whether a term of it is known at run time only.
    pub(crate) dynamic: bool,
    /// Whether it is a store.
    pub(crate) store: bool,
    /// Whether it happens once for many points.
    pub(crate) rare: bool,
    /// The indices, for loads.
    pub(crate) at: Ixs,
}

/// A stacked result that a loop stores step by step.
#[derive(Clone, Debug)]
pub(super) struct Sink {
    pub(super) pointer: Pointer,
    pub(super) layout: Layout,
}

impl Emitter<'_> {
    /// An element in memory; `value` gives its type.
    pub(super) fn load(
        &mut self,
        operand: Operand,
        value: ValueId,
        layout: &Layout,
        at: &[Ix],
    ) -> Element {
        let pointer = self.pointer(operand);
        let dtype = self.graph.dtype(value);
        let linear = self.linear(at, layout);
        self.mention(Some(value), &linear, false, at);
        let addr = self.address(pointer, dtype, &linear);
        let mut offset = 0;
        let mut components = Element::new();
        for mem in element::components(self.held_as(dtype)) {
            components.push(self.b.load(mem, addr.clone().plus(offset)));
            offset += mem.size();
        }
        components
    }

    /// The element with these bytes.
    pub(super) fn constant(&mut self, dtype: DType, bytes: &[u8]) -> Element {
        let dtype = self.held_as(dtype);
        element::constant(&mut self.b, dtype, bytes)
    }

    /// Writes an element.
    pub(crate) fn store(
        &mut self,
        pointer: Pointer,
        dtype: DType,
        layout: &Layout,
        at: &[Ix],
        element: &Element,
    ) {
        let linear = self.linear(at, layout);
        self.mention(None, &linear, true, at);
        let addr = self.address(pointer, dtype, &linear);
        let mut offset = 0;
        for (mem, &component) in element::components(self.held_as(dtype))
            .into_iter()
            .zip(element)
        {
            self.b.store(mem, addr.clone().plus(offset), component);
            offset += mem.size();
        }
    }

    /// The address of an element of an accumulator's result, the same in all lanes.
    pub(crate) fn uniform_address(
        &mut self,
        pointer: Pointer,
        dtype: DType,
        layout: &Layout,
        at: &[Ix],
    ) -> Addr {
        let linear = self.linear(at, layout);
        self.mention(None, &linear, true, at);
        if let Some(mention) = self.mentions.last_mut() {
            mention.rare = true;
        }
        self.address(pointer, dtype, &linear)
    }

    /// The position in memory, in elements.
    pub(super) fn linear(&mut self, at: &[Ix], layout: &Layout) -> Ix {
        let mut linear = Ix::constant(layout.offset);
        for (ix, &stride) in at.iter().zip(&layout.strides) {
            linear = self.sum(linear, ix, stride);
        }
        linear
    }

    /// `x + y * factor`, computed at run time where it must be.
    pub(super) fn sum(&mut self, x: Ix, y: &Ix, factor: i64) -> Ix {
        if let Some(sum) = x.add_scaled(y, factor) {
            return sum;
        }
        let mut fixed = y.clone();
        let dynamic = fixed
            .dynamic
            .take()
            .expect("only terms known at run time do not add");
        let step = self.b.int(self.index_type, factor);
        let scaled = self.b.mul(dynamic, step);
        let mut sum = x
            .add_scaled(&fixed, factor)
            .expect("no term known at run time is left");
        sum.dynamic = Some(match sum.dynamic {
            Some(before) => self.b.add(before, scaled),
            None => scaled,
        });
        sum
    }

    fn mention(&mut self, value: Option<ValueId>, linear: &Ix, store: bool, at: &[Ix]) {
        self.mentions.push(Mention {
            value,
            terms: linear.terms.clone(),
            dynamic: linear.dynamic.is_some(),
            store,
            rare: false,
            at: Ixs::from(at),
        });
    }

    /// Terms in the lane program's indices; merged variables become their common index.
    pub(super) fn lane_terms(&self, terms: &[(Var, i64)]) -> SmallVec<[(Index, i64); 2]> {
        let mut result: SmallVec<[(Index, i64); 2]> = SmallVec::new();
        for &(var, factor) in terms {
            let binding = self.vars.get(var).binding;
            if binding.leads {
                result.push((binding.index, factor));
                result.extend(binding.base.map(|base| (base, factor)));
            }
        }
        result
    }

    fn address(&mut self, pointer: Pointer, dtype: DType, linear: &Ix) -> Addr {
        let size = dtype.size() as i64;
        let mut addr = Addr::uniform(pointer).plus(linear.offset * size);
        let terms = self.lane_terms(&linear.terms);
        let Some(dynamic) = linear.dynamic else {
            return terms
                .into_iter()
                .fold(addr, |addr, (index, step)| addr.term(index, step * size));
        };
        // A run-time index differs between lanes, and takes the lane's own step with it.
        let mut gathered = dynamic;
        for (index, step) in terms {
            if index == Index::Lane {
                let lane = self.b.index(self.index_type, Index::Lane);
                let step = self.b.int(self.index_type, step);
                let scaled = self.b.mul(lane, step);
                gathered = self.b.add(gathered, scaled);
            } else {
                addr = addr.term(index, step * size);
            }
        }
        addr.lane = LaneStep::Gather(gathered, size);
        addr
    }

    /// An index as an integer of the lane program.
    pub(crate) fn index_value(&mut self, ix: &Ix) -> Value {
        let ty = self.index_type;
        self.index_as(ty, ix)
    }

    fn index_as(&mut self, ty: Ty, ix: &Ix) -> Value {
        if ix.as_constant().is_none() {
            self.mention(None, ix, false, &[]);
        }
        let mut sum = self.b.int(ty, ix.offset);
        for (index, factor) in self.lane_terms(&ix.terms) {
            let own = self.b.index(ty, index);
            let step = self.b.int(ty, factor);
            let scaled = self.b.mul(own, step);
            sum = self.b.add(scaled, sum);
        }
        if let Some(dynamic) = ix.dynamic {
            let dynamic = self.resize_index(dynamic, ty);
            sum = self.b.add(sum, dynamic);
        }
        sum
    }

    /// A signed integer of another width.
    pub(super) fn resize_index(&mut self, value: Value, ty: Ty) -> Value {
        match (self.b.ty(value), ty) {
            (Ty::I32, Ty::I64) => self.b.un(lanes::UnOp::SExt, Ty::I64, value),
            (Ty::I64, Ty::I32) => self.b.un(lanes::UnOp::Low, Ty::I32, value),
            _ => value,
        }
    }

    /// An index as an element of `dtype`.
    pub(super) fn iota(&mut self, dtype: DType, ix: &Ix) -> Element {
        let wide = dtype.size() == 8 && dtype != DType::C64 || self.index_type == Ty::I64;
        let (ty, own) = if wide {
            (Ty::I64, DType::I64)
        } else {
            (Ty::I32, DType::I32)
        };
        let value = self.index_as(ty, ix);
        let element: Element = smallvec::smallvec![value];
        element::map(
            &mut self.b,
            crate::lower::graph::MapOp::Convert,
            &[own],
            dtype,
            &[element],
        )
    }

    /// The position of an element of a dense array, if all indices are known.
    pub(super) fn constant_offset(&self, value: ValueId, at: &[Ix]) -> Option<usize> {
        let shape = self.graph.shape(value);
        at.iter()
            .zip(shape)
            .try_fold(0usize, |offset, (ix, &length)| {
                Some(offset * length + usize::try_from(ix.as_constant()?).ok()?)
            })
    }

    /// `low <= index <= high` at run time; what the ranges tell is not asked.
    pub(super) fn within(&mut self, ix: &Ix, low: i64, high: i64) -> Value {
        // Where the answer changes along an axis, a nest can be cut in two.
        if let (&[(var, coefficient)], None) = (ix.terms.as_slice(), ix.dynamic)
            && coefficient > 0
        {
            let first_from = |bound: i64| {
                let distance = bound.saturating_sub(ix.offset);
                distance.div_euclid(coefficient) + i64::from(distance.rem_euclid(coefficient) > 0)
            };
            self.cuts.push((var, first_from(low)));
            self.cuts.push((var, first_from(high.saturating_add(1))));
        }
        let range = ix.range(&self.vars);
        if range.is_some_and(|(least, most)| most < low || least > high) {
            return self.b.mask(false);
        }
        let mut result = self.b.mask(true);
        let mut value = None;
        if range.is_none_or(|(least, _)| least < low) {
            let own = *value.get_or_insert_with(|| self.index_value(ix));
            let bound = self.b.int(self.index_type, low);
            result = self.b.ge(own, bound);
        }
        if range.is_none_or(|(_, most)| most > high) {
            let own = match value {
                Some(own) => own,
                None => self.index_value(ix),
            };
            let bound = self.b.int(self.index_type, high);
            let below = self.b.le(own, bound);
            result = self.b.and(result, below);
        }
        result
    }
}
