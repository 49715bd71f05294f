//! Index maps that are not linear everywhere: reshape, pad, concatenate, reverse and strided slices of run-time indices.

use super::{Emitted, Emitter, Ix, Ixs};
use crate::lanes::BinOp;
use crate::lower::element::Element;
use crate::lower::graph::ValueId;
use smallvec::SmallVec;

impl Emitter<'_> {
    /// The same position in row-major order. Leading and trailing axes that both shapes share stay as they are.
    pub(super) fn reshape(&mut self, x: ValueId, shape: &[usize], at: &[Ix]) -> Emitted<Element> {
        let own = self.graph.shape(x);
        let mut inner: Ixs = SmallVec::from_elem(Ix::constant(0), own.len());
        // Runs of axes with equal products are independent.
        let (mut i, mut j) = (0, 0);
        while i < own.len() || j < shape.len() {
            let (first_i, first_j) = (i, j);
            let (mut p, mut q) = (1usize, 1usize);
            loop {
                if p == q && (i, j) != (first_i, first_j) && p > 1 {
                    break;
                }
                if p <= q
                    && i < own.len()
                    && (p < q || own[i] == 1 || j >= shape.len() || shape[j] != 1)
                {
                    p *= own[i];
                    i += 1;
                } else if j < shape.len() {
                    q *= shape[j];
                    j += 1;
                } else if i < own.len() {
                    p *= own[i];
                    i += 1;
                } else {
                    break;
                }
            }
            self.reshape_run(
                &own[first_i..i],
                &shape[first_j..j],
                &at[first_j..j],
                &mut inner[first_i..i],
            );
        }
        self.element(x, &inner)
    }

    fn reshape_run(&mut self, own: &[usize], shape: &[usize], at: &[Ix], inner: &mut [Ix]) {
        let live: SmallVec<[usize; 4]> = (0..own.len()).filter(|&axis| own[axis] != 1).collect();
        let mut linear = Ix::constant(0);
        let mut step = 1i64;
        for (ix, &length) in at.iter().zip(shape).rev() {
            if length != 1 {
                linear = self.sum(linear, ix, step);
            }
            step *= length as i64;
        }
        for (k, &axis) in live.iter().enumerate().rev() {
            if k == 0 {
                inner[axis] = linear;
                return;
            }
            let (quotient, remainder) = self.div_rem(&linear, own[axis] as i64);
            inner[axis] = remainder;
            linear = quotient;
        }
    }

    /// Quotient and remainder of a non-negative index.
    pub(super) fn div_rem(&mut self, ix: &Ix, divisor: i64) -> (Ix, Ix) {
        if let Some(linear) = ix.div_rem(divisor, &self.vars) {
            return linear;
        }
        let value = self.index_value(ix);
        let divisor = self.b.int(self.index_type, divisor);
        let quotient = self.b.bin(BinOp::DivU, value, divisor);
        let remainder = self.b.bin(BinOp::RemU, value, divisor);
        let dynamic = |v| Ix {
            dynamic: Some(v),
            ..Ix::default()
        };
        (dynamic(quotient), dynamic(remainder))
    }

    pub(super) fn reversed(&mut self, ix: &Ix, length: usize) -> Ix {
        self.sum(Ix::constant(length as i64 - 1), ix, -1)
    }

    pub(super) fn strided(&mut self, at: &[Ix], start: &[usize], stride: &[usize]) -> Ixs {
        at.iter()
            .enumerate()
            .map(|(axis, ix)| self.sum(Ix::constant(start[axis] as i64), ix, stride[axis] as i64))
            .collect()
    }

    pub(super) fn pad(
        &mut self,
        args: &[ValueId],
        low: &[i64],
        interior: &[i64],
        at: &[Ix],
    ) -> Emitted<Element> {
        let (x, padding) = (args[0], args[1]);
        let shape = self.graph.shape(x);
        let mut inner = Ixs::new();
        let mut inside = self.b.mask(true);
        for (axis, ix) in at.iter().enumerate() {
            let shifted = self.sum(Ix::constant(-low[axis]), ix, 1);
            let step = interior[axis] + 1;
            let last = (shape[axis] as i64 - 1) * step;
            let here = self.within(&shifted, 0, last);
            inside = self.b.and(inside, here);
            if step == 1 {
                inner.push(shifted);
                continue;
            }
            // Negative positions are masked out already, whatever their quotient.
            let (quotient, remainder) = self.div_rem(&shifted, step);
            let zero = self.within(&remainder, 0, 0);
            inside = self.b.and(inside, zero);
            inner.push(quotient);
        }
        self.if_inside(
            inside,
            |emitter| emitter.element(x, &inner),
            |emitter| emitter.element(padding, &[]),
        )
    }

    pub(super) fn concat(
        &mut self,
        pieces: &[ValueId],
        axis: usize,
        at: &[Ix],
    ) -> Emitted<Element> {
        let mut start = 0;
        let mut placed = Vec::with_capacity(pieces.len());
        for &piece in pieces {
            placed.push((piece, start));
            start += self.graph.shape(piece)[axis] as i64;
        }
        if let &[(var, _)] = at[axis].terms.as_slice() {
            self.joins.push((var, pieces.len()));
        }
        self.concat_among(&placed, axis, at)
    }

    /// Elements of pieces that start at these indices. Branches halve them, so that they nest no deeper than the logarithm of
    /// their number.
    fn concat_among(
        &mut self,
        pieces: &[(ValueId, i64)],
        axis: usize,
        at: &[Ix],
    ) -> Emitted<Element> {
        if let &[(piece, start)] = pieces {
            let mut inner = Ixs::from(at);
            inner[axis] = self.sum(Ix::constant(-start), &at[axis], 1);
            return self.element(piece, &inner);
        }
        let (left, right) = pieces.split_at(pieces.len() / 2);
        let here = self.within(&at[axis], i64::MIN, right[0].1 - 1);
        self.if_inside(
            here,
            |emitter| emitter.concat_among(left, axis, at),
            |emitter| emitter.concat_among(right, axis, at),
        )
    }

    /// One of two elements by a mask; only what is needed is computed.
    pub(super) fn if_inside(
        &mut self,
        cond: crate::lanes::Value,
        then: impl FnOnce(&mut Self) -> Emitted<Element>,
        otherwise: impl FnOnce(&mut Self) -> Emitted<Element>,
    ) -> Emitted<Element> {
        let values = self.branch(
            cond,
            |emitter| then(emitter).map(SmallVec::into_vec),
            |emitter| otherwise(emitter).map(SmallVec::into_vec),
        )?;
        Ok(Element::from_vec(values))
    }
}
