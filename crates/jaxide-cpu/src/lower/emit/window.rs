//! Reductions over windows inside one lane.

use super::{Emitted, Emitter, Ix, Ixs, Layout};
use crate::lanes::Value;
use crate::lower::element::{self, Element};
use crate::lower::graph::{Combine, MapOp, NodeId, Region, ValueId, WindowSpec};
use jaxide_core::DType;
use smallvec::smallvec;

impl Emitter<'_> {
    /// The element of `x` that place `inner` of the window at `at` covers, and whether there is one.
    pub(super) fn covered(
        &mut self,
        x: ValueId,
        window: &WindowSpec,
        at: &[Ix],
        inner: &[Ix],
    ) -> (Ixs, Value) {
        let shape = self.graph.shape(x);
        let mut place = Ixs::new();
        let mut inside = self.b.mask(true);
        for axis in 0..shape.len() {
            let start = self.sum(
                Ix::constant(-window.low[axis]),
                &at[axis],
                window.stride[axis] as i64,
            );
            let position = self.sum(start, &inner[axis], window.dilation[axis] as i64);
            let step = window.base_dilation[axis] as i64;
            let here = self.within(&position, 0, (shape[axis] as i64 - 1) * step);
            inside = self.b.and(inside, here);
            if step == 1 {
                place.push(position);
                continue;
            }
            let (quotient, remainder) = self.div_rem(&position, step);
            let whole = self.within(&remainder, 0, 0);
            inside = self.b.and(inside, whole);
            place.push(quotient);
        }
        (place, inside)
    }

    pub(super) fn reduce_window(
        &mut self,
        combine: Combine,
        x: ValueId,
        window: &WindowSpec,
        dtype: DType,
        at: &[Ix],
    ) -> Emitted<Element> {
        let neutral = element::neutral(&mut self.b, combine, dtype);
        if self.graph.value(x).len() == 0 {
            return Ok(neutral);
        }
        let unroll = self.unrolls(&window.size, &[x]);
        let values = self.fold(
            &window.size,
            unroll,
            neutral.to_vec(),
            &mut |emitter, inner, sum| {
                let (place, inside) = emitter.covered(x, window, at, inner);
                let next = emitter.if_inside(
                    inside,
                    |emitter| emitter.element(x, &place),
                    |_| Ok(neutral.clone()),
                )?;
                let sum: Element = sum.into();
                let both = element::combine(&mut emitter.b, combine, dtype, &sum, &next);
                if !dtype.is_complex() {
                    return Ok(both.into_vec());
                }
                // Nothing is beyond a complex NaN, so that padding would replace it.
                let both = element::select(&mut emitter.b, inside, &both, &sum);
                Ok(both.into_vec())
            },
        )?;
        Ok(Element::from_vec(values))
    }

    pub(super) fn reduce_window_with(
        &mut self,
        id: NodeId,
        window: &WindowSpec,
        body: &Region,
        result: usize,
        at: &[Ix],
    ) -> Emitted<Element> {
        let graph = self.graph;
        let args = &graph.node(id).args;
        let (operands, inits) = args.split_at(args.len() / 2);
        let mut init: Vec<Element> = Vec::new();
        for &value in inits {
            init.push(self.element(value, &[])?);
        }
        if graph.value(operands[0]).len() == 0 {
            return Ok(init[result].clone());
        }
        let unroll = self.unrolls(&window.size, operands);
        let start = init.iter().flatten().copied().collect();
        let values = self.fold(&window.size, unroll, start, &mut |emitter, inner, sum| {
            let mut elements = emitter.split_elements(inits, sum);
            // Operands have one shape, so that the window covers the same places of all.
            let (place, inside) = emitter.covered(operands[0], window, at, inner);
            for (k, &operand) in operands.iter().enumerate() {
                let outside = init[k].clone();
                elements.push(emitter.if_inside(
                    inside,
                    |emitter| emitter.element(operand, &place),
                    |_| Ok(outside),
                )?);
            }
            // Padding is passed over: the initial value need not be neutral.
            let next = emitter.scalar_call(body, elements)?;
            let next = next.into_iter().flatten().zip(sum);
            Ok(next
                .map(|(next, &sum)| emitter.b.select(inside, next, sum))
                .collect())
        })?;
        let all = self.split_elements(inits, &values);
        self.remember(id, at, &all);
        Ok(all[result].clone())
    }

    /// The place of the window that is selected, -1 where it covers nothing.
    pub(super) fn select_place(
        &mut self,
        x: ValueId,
        window: &WindowSpec,
        select: &Region,
        place_type: DType,
        at: &[Ix],
    ) -> Emitted<Element> {
        let ty = element::components(place_type)[0].lane();
        let nowhere = self.b.int(ty, -1);
        if self.graph.value(x).len() == 0 {
            return Ok(smallvec![nowhere]);
        }
        let own_type = self.graph.dtype(x);
        let none = element::neutral(&mut self.b, Combine::Add, own_type);
        let places = Layout::dense(&window.size);
        let unroll = self.unrolls(&window.size, &[x]);
        let mut start = vec![self.b.mask(false), nowhere];
        start.extend(none.iter().copied());
        let best = self.fold(&window.size, unroll, start, &mut |emitter, inner, best| {
            let (place, inside) = emitter.covered(x, window, at, inner);
            let none = none.clone();
            let value =
                emitter.if_inside(inside, |emitter| emitter.element(x, &place), |_| Ok(none))?;
            let old: Element = best[2..].into();
            let keep = emitter.scalar_call(select, vec![old.clone(), value.clone()])?[0][0];
            let keep = emitter.b.and(keep, best[0]);
            let loses = emitter.b.not(keep);
            let take = emitter.b.and(inside, loses);
            let place = emitter.linear(inner, &places);
            let place = emitter.index_value(&place);
            let place = emitter.resize_index(place, ty);
            let mut next = vec![
                emitter.b.or(best[0], inside),
                emitter.b.select(take, place, best[1]),
            ];
            next.extend(element::select(&mut emitter.b, take, &value, &old));
            Ok(next)
        })?;
        Ok(smallvec![best[1]])
    }

    /// What the windows over an element that have selected it send there, in their order.
    pub(super) fn send_to_place(
        &mut self,
        window: &WindowSpec,
        combine: &Region,
        args: &[ValueId],
        at: &[Ix],
    ) -> Emitted<Element> {
        let (selected, source, init) = (args[0], args[1], args[2]);
        let init = self.element(init, &[])?;
        let windows = self.graph.shape(source);
        if self.graph.value(source).len() == 0 {
            return Ok(init);
        }
        let ty = element::components(self.graph.dtype(selected))[0].lane();
        let nowhere = self.b.int(ty, -1);
        let none = element::neutral(&mut self.b, Combine::Add, self.graph.dtype(source));
        let places = Layout::dense(&window.size);
        // The last window along each axis that begins at or before the element, and how far before.
        let mut last = Ixs::new();
        let mut distance = Ixs::new();
        for (axis, ix) in at.iter().enumerate() {
            let (low, stride) = (window.low[axis], window.stride[axis] as i64);
            let before = (-low.min(0) + stride - 1) / stride;
            let from_first = self.sum(Ix::constant(low + before * stride), ix, 1);
            let (quotient, remainder) = self.div_rem(&from_first, stride);
            last.push(self.sum(Ix::constant(-before), &quotient, 1));
            distance.push(remainder);
        }
        let over = window.most_over_one();
        let unroll = self.unrolls(&over, &[selected, source]);
        let sent = self.fold(&over, unroll, init.into_vec(), &mut |emitter, turn, sum| {
            let mut inside = emitter.b.mask(true);
            let (mut from, mut place) = (Ixs::new(), Ixs::new());
            for axis in 0..turn.len() {
                let back = emitter.reversed(&turn[axis], over[axis]);
                let window_at = emitter.sum(last[axis].clone(), &back, -1);
                let here = emitter.within(&window_at, 0, windows[axis] as i64 - 1);
                inside = emitter.b.and(inside, here);
                let stride = window.stride[axis] as i64;
                let inner = emitter.sum(distance[axis].clone(), &back, stride);
                let here = emitter.within(&inner, 0, window.size[axis] as i64 - 1);
                inside = emitter.b.and(inside, here);
                from.push(window_at);
                place.push(inner);
            }
            let chosen = emitter.if_inside(
                inside,
                |emitter| emitter.element(selected, &from),
                |_| Ok(smallvec![nowhere]),
            )?;
            let none = none.clone();
            let update = emitter.if_inside(
                inside,
                |emitter| emitter.element(source, &from),
                |_| Ok(none),
            )?;
            let place = emitter.linear(&place, &places);
            let place = emitter.index_value(&place);
            let place = emitter.resize_index(place, ty);
            let hit = emitter.b.eq(chosen[0], place);
            let hit = emitter.b.and(hit, inside);
            let sum: Element = sum.into();
            let new = emitter.scalar_call(combine, vec![sum.clone(), update])?;
            Ok(element::select(&mut emitter.b, hit, &new[0], &sum).into_vec())
        })?;
        Ok(Element::from_vec(sent))
    }

    /// The first operand where the second is extreme: the first such place of the window. Padding is passed over. Zero
    /// where the window is empty, or has nothing beyond the number that comparisons begin with: infinity, where the type
    /// has it.
    pub(super) fn select_and_gather(
        &mut self,
        largest: bool,
        args: &[ValueId],
        window: &WindowSpec,
        at: &[Ix],
    ) -> Emitted<Element> {
        let (tangent, x) = (args[0], args[1]);
        let dtype = self.graph.dtype(x);
        let (combine, op) = match largest {
            true => (Combine::Max, MapOp::Ge),
            false => (Combine::Min, MapOp::Le),
        };
        let nothing = element::neutral(&mut self.b, Combine::Add, dtype);
        if self.graph.value(x).len() == 0 {
            return Ok(nothing);
        }
        let outside = element::neutral(&mut self.b, combine, dtype);
        let unroll = self.unrolls(&window.size, &[tangent, x]);
        let begun = self.b.mask(element::has_infinity(dtype));
        let start = vec![begun, outside[0], nothing[0]];
        let values = self.fold(&window.size, unroll, start, &mut |emitter, inner, best| {
            let (place, inside) = emitter.covered(x, window, at, inner);
            let (far, none) = (outside.clone(), nothing.clone());
            let key =
                emitter.if_inside(inside, |emitter| emitter.element(x, &place), |_| Ok(far))?;
            let value = emitter.if_inside(
                inside,
                |emitter| emitter.element(tangent, &place),
                |_| Ok(none),
            )?;
            let pair = [smallvec![best[1]], key.clone()];
            let b = &mut emitter.b;
            let holds = element::map(b, op, &[dtype, dtype], DType::Bool, &pair)[0];
            let stays = b.and(best[0], holds);
            let padding = b.not(inside);
            let keep = b.or(stays, padding);
            Ok(vec![
                b.or(best[0], inside),
                b.select(keep, best[1], key[0]),
                b.select(keep, best[2], value[0]),
            ])
        })?;
        Ok(values[2..].into())
    }
}
