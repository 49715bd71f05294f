//! Reads and writes at run-time indices.

use super::{Emitted, Emitter, Ix, Ixs, Layout, Operand};
use crate::lanes::{BinOp, Ty, UnOp, Value};
use crate::lower::element::{self, Class, Element, class};
use crate::lower::graph::{GatherSpec, OobMode, ValueId};
use jaxide_core::DType;

impl Emitter<'_> {
    /// An integer element moved into `0..=most`, as an index.
    pub(super) fn clamped(&mut self, dtype: DType, value: Value, most: i64) -> Ix {
        if most <= 0 {
            return Ix::constant(0);
        }
        let signed = !matches!(class(dtype), Class::Int { signed: false, .. });
        let ty = self.b.ty(value);
        let (low, high) = (self.b.int(ty, 0), self.b.int(ty, most));
        let value = if signed {
            let above = self.b.bin(BinOp::MaxS, value, low);
            self.b.bin(BinOp::MinS, above, high)
        } else {
            self.b.bin(BinOp::MinU, value, high)
        };
        if let Some(known) = self.b.as_const(value) {
            return Ix::constant(known as i64);
        }
        let value = match (ty, self.index_type) {
            (Ty::I32, Ty::I64) => self.b.un(UnOp::ZExt, Ty::I64, value),
            (Ty::I64, Ty::I32) => self.b.un(UnOp::Low, Ty::I32, value),
            _ => value,
        };
        Ix {
            dynamic: Some(value),
            ..Ix::default()
        }
    }

    /// Starts of a box of `sizes`, moved inside `shape`.
    fn starts(&mut self, starts: &[ValueId], shape: &[usize], sizes: &[usize]) -> Emitted<Ixs> {
        starts
            .iter()
            .enumerate()
            .map(|(axis, &start)| {
                let most = shape[axis] as i64 - sizes[axis] as i64;
                if most == 0 {
                    return Ok(Ix::constant(0));
                }
                let element = self.element(start, &[])?;
                Ok(self.clamped(self.graph.dtype(start), element[0], most))
            })
            .collect()
    }

    pub(super) fn dynamic_slice(
        &mut self,
        value: ValueId,
        args: &[ValueId],
        at: &[Ix],
    ) -> Emitted<Element> {
        let graph = self.graph;
        if self.memory.is_window(value) {
            let layout = Layout::dense(graph.shape(args[0]));
            return Ok(self.load(Operand::Window(value), value, &layout, at));
        }
        let starts = self.starts(&args[1..], graph.shape(args[0]), graph.shape(value))?;
        let inner: Ixs = starts
            .into_iter()
            .zip(at)
            .map(|(start, ix)| self.sum(start, ix, 1))
            .collect();
        self.element(args[0], &inner)
    }

    pub(super) fn dynamic_update(&mut self, args: &[ValueId], at: &[Ix]) -> Emitted<Element> {
        let graph = self.graph;
        let (x, update) = (args[0], args[1]);
        let sizes = graph.shape(update);
        let starts = self.starts(&args[2..], graph.shape(x), sizes)?;
        let mut inside = self.b.mask(true);
        let mut inner = Ixs::new();
        for (axis, start) in starts.iter().enumerate() {
            let place = self.sum(at[axis].clone(), start, -1);
            let here = self.within(&place, 0, sizes[axis] as i64 - 1);
            inside = self.b.and(inside, here);
            inner.push(if sizes[axis] == 1 {
                Ix::constant(0)
            } else {
                place
            });
        }
        self.if_inside(
            inside,
            |emitter| emitter.element(update, &inner),
            |emitter| emitter.element(x, at),
        )
    }

    pub(super) fn gather(
        &mut self,
        spec: &GatherSpec,
        args: &[ValueId],
        at: &[Ix],
    ) -> Emitted<Element> {
        let graph = self.graph;
        let (x, indices) = (args[0], args[1]);
        let shape = graph.shape(x);
        let batch: Ixs = (0..at.len())
            .filter(|axis| !spec.offset_dims.contains(axis))
            .map(|axis| at[axis].clone())
            .collect();
        let mut offsets = spec.offset_dims.iter();
        let mut inner: Ixs = (0..shape.len())
            .map(|axis| {
                if spec.collapsed.contains(&axis) {
                    Ix::constant(0)
                } else if let Some(k) = spec
                    .operand_batching
                    .iter()
                    .position(|&other| other == axis)
                {
                    batch[spec.indices_batching[k]].clone()
                } else {
                    offsets
                        .next()
                        .map(|&dim| at[dim].clone())
                        .unwrap_or_default()
                }
            })
            .collect();
        let index_type = graph.dtype(indices);
        let mut inside = self.b.mask(true);
        for (component, &axis) in spec.start_index_map.iter().enumerate() {
            let mut place = batch.clone();
            place.push(Ix::constant(component as i64));
            let start = self.element(indices, &place)?[0];
            let most = shape[axis] as i64 - spec.slice_sizes[axis] as i64;
            if spec.mode == OobMode::Fill {
                let here = self.index_inside(index_type, start, most);
                inside = self.b.and(inside, here);
            }
            // Also where indices are promised to be inside: a broken promise must not read elsewhere.
            let start = self.clamped(index_type, start, most);
            inner[axis] = self.sum(inner[axis].clone(), &start, 1);
        }
        let element = self.element(x, &inner)?;
        if spec.mode != OobMode::Fill {
            return Ok(element);
        }
        let fill = self.constant(graph.dtype(x), &spec.fill);
        Ok(element::select(&mut self.b, inside, &element, &fill))
    }

    /// Whether an integer element lies in `0..=most`.
    pub(super) fn index_inside(&mut self, dtype: DType, value: Value, most: i64) -> Value {
        let ty = self.b.ty(value);
        if most < 0 {
            return self.b.mask(false);
        }
        let high = self.b.int(ty, most);
        // As unsigned numbers, negative ones are above every bound.
        match class(dtype) {
            Class::Int { bits, .. } if bits < 32 && most >= 1 << bits => {
                let low = self.b.int(ty, 0);
                self.b.ge(value, low)
            }
            _ => self.b.bin(BinOp::LeU, value, high),
        }
    }
}
