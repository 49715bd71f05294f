//! Small matrix products inside a lane, where calling the library would cost more than the product.

use super::{Emitted, Emitter, Ix, Ixs, Refusal};
use crate::lower::element::{self, Element};
use crate::lower::graph::{Call, Combine, MapOp, NodeId, Routine, ValueId};
use smallvec::SmallVec;

/// Contractions longer than this are the library's.
const LONGEST: usize = 64;

impl Emitter<'_> {
    pub(super) fn small_product(
        &mut self,
        id: NodeId,
        call: &Call,
        args: &[ValueId],
        at: &[Ix],
    ) -> Emitted<Element> {
        let Call::Routine(Routine::DotGeneral(params)) = call else {
            return Err(Refusal::NeedsMemory(id));
        };
        let numbers = &params.dimension_numbers;
        let (lhs, rhs) = (args[0], args[1]);
        let lhs_shape = self.graph.shape(lhs);
        let sizes: SmallVec<[usize; 4]> = numbers
            .lhs_contracting
            .iter()
            .map(|&axis| lhs_shape[axis])
            .collect();
        if sizes.iter().product::<usize>() > LONGEST {
            return Err(Refusal::NeedsMemory(id));
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
        let values = self.fold(
            &sizes,
            unroll,
            zero.into_vec(),
            &mut |emitter, inner, sum| {
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
                let product =
                    element::map(&mut emitter.b, MapOp::Mul, &[dtype, dtype], dtype, &[x, y]);
                let sum: Element = sum.into();
                Ok(
                    element::combine(&mut emitter.b, Combine::Add, dtype, &sum, &product)
                        .into_vec(),
                )
            },
        )?;
        Ok(Element::from_vec(values))
    }
}
