//! Small matrix products inside a lane, where calling the library would cost more than the product.

use super::reduce::{Step, UNROLL};
use super::{Emitted, Emitter, Ix, Ixs, Refusal};
use crate::lanes::Value;
use crate::lower::element::{self, Element};
use crate::lower::graph::{Call, Combine, MapOp, Routine, ValueId};
use jaxide_core::DType;
use smallvec::SmallVec;

/// Contractions longer than this are not part of a lane's own loop.
const LONGEST: usize = 64;
/// So many sums are made side by side, since each waits for its last term.
const SUMS: usize = 4;

impl Emitter<'_> {
    pub(super) fn small_product(
        &mut self,
        call: &Call,
        args: &[ValueId],
        at: &[Ix],
    ) -> Emitted<Element> {
        let Call::Routine(Routine::DotGeneral(params)) = call else {
            return Err(Refusal::NeedsMemory);
        };
        let numbers = &params.dimension_numbers;
        let (lhs, rhs) = (args[0], args[1]);
        let lhs_shape = self.graph.shape(lhs);
        let sizes: SmallVec<[usize; 4]> = numbers
            .lhs_contracting
            .iter()
            .map(|&axis| lhs_shape[axis])
            .collect();
        let in_lane = !self.bound.is_empty();
        if in_lane && sizes.iter().product::<usize>() > LONGEST {
            return Err(Refusal::NeedsMemory);
        }
        let batch = numbers.lhs_batch.len();
        let left_free = lhs_shape.len() - batch - sizes.len();
        let index = |rank: usize,
                     batch_axes: &[usize],
                     contracting: &[usize],
                     free: &[Ix],
                     inner: &[Ix]|
         -> Ixs {
            let mut free = free.iter();
            (0..rank)
                .map(|axis| {
                    if let Some(k) = batch_axes.iter().position(|&other| other == axis) {
                        at[k].clone()
                    } else if let Some(k) = contracting.iter().position(|&other| other == axis) {
                        inner[k].clone()
                    } else {
                        free.next().cloned().unwrap_or_default()
                    }
                })
                .collect()
        };
        let dtype = self.graph.dtype(lhs);
        let unroll = self.unrolls(&sizes, args);
        let zero = element::neutral(&mut self.b, Combine::Add, dtype);
        let rhs_rank = self.graph.shape(rhs).len();
        let mut step = |emitter: &mut Self, inner: &[Ix], sum: &[Value]| -> Emitted<Vec<Value>> {
            let left = index(
                lhs_shape.len(),
                &numbers.lhs_batch,
                &numbers.lhs_contracting,
                &at[batch..batch + left_free],
                inner,
            );
            let right = index(
                rhs_rank,
                &numbers.rhs_batch,
                &numbers.rhs_contracting,
                &at[batch + left_free..],
                inner,
            );
            let (x, y) = (emitter.element(lhs, &left)?, emitter.element(rhs, &right)?);
            let product = element::map(&mut emitter.b, MapOp::Mul, &[dtype, dtype], dtype, &[x, y]);
            let sum: Element = sum.into();
            Ok(element::combine(&mut emitter.b, Combine::Add, dtype, &sum, &product).into_vec())
        };
        let values = match sizes.as_slice() {
            &[length] if !in_lane && zero.len() == 1 && length >= 2 * SUMS => {
                self.several_sums(length, dtype, zero[0], &mut step)?
            }
            _ => self.fold(&sizes, unroll, zero.into_vec(), &mut step)?,
        };
        Ok(Element::from_vec(values))
    }

    /// A sum made as four, each of every fourth term.
    fn several_sums(
        &mut self,
        length: usize,
        dtype: DType,
        zero: Value,
        step: Step<'_, Self>,
    ) -> Emitted<Vec<Value>> {
        let turns = length / SUMS;
        let mut sums = vec![zero; SUMS];
        if length <= UNROLL {
            for k in 0..turns * SUMS {
                let sum = &mut sums[k % SUMS];
                *sum = step(self, &[Ix::constant(k as i64)], &[*sum])?[0];
            }
        } else {
            sums = self.counted(turns, &sums, |emitter, var, params| {
                let mut next = Vec::with_capacity(SUMS);
                for (k, &sum) in params.iter().enumerate() {
                    let at = Ix::constant(k as i64)
                        .add_scaled(&Ix::var(var), SUMS as i64)
                        .unwrap_or_default();
                    next.push(step(emitter, &[at], &[sum])?[0]);
                }
                Ok(next)
            })?;
        }
        for k in turns * SUMS..length {
            let sum = &mut sums[k % SUMS];
            *sum = step(self, &[Ix::constant(k as i64)], &[*sum])?[0];
        }
        while sums.len() > 1 {
            let pairs = sums.chunks(2).map(|pair| {
                let (a, b): (Element, Element) = (pair[..1].into(), pair[1..].into());
                element::combine(&mut self.b, Combine::Add, dtype, &a, &b)[0]
            });
            sums = pairs.collect();
        }
        Ok(sums)
    }
}
