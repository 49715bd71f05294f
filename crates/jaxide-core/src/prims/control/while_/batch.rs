//! Batching. Where all lanes stop together the mapped axis stands behind those of the condition; where each lane
//! stops on its own the condition has the mapped axis in front, and a lane that has stopped keeps its values.

use super::*;
use crate::transform::{BatchedJaxpr, OutDim, batch, batch_front, place};

impl While {
    pub(super) fn batch_rule(
        &self,
        b: &Builder,
        operands: &[Batched],
        axis: &BatchAxis,
    ) -> Result<BatchedResults> {
        let body = self.body();
        let dims = Batched::dims(operands);
        let (cond_dims, body_dims) = dims.split_at(self.cond_nconsts);
        let (_, mapped) = body.fixpoint(
            present(body_dims),
            BatchedJaxpr::mapped,
            |mapped, required| batch_front(b, &self.body_jaxpr, axis, mapped, required),
        )?;
        let carried = &mapped[body.carried()];
        let cond_mapped = [&present(cond_dims), carried].concat();
        let cond = batch_front(b, &self.cond_jaxpr, axis, &cond_mapped, &[false])?;
        let stops_alone = cond.mapped()[0];
        let (carry_dims, predicate): (Vec<Option<usize>>, _) = if stops_alone {
            (vec![Some(0); carried.len()], OutDim::Front)
        } else {
            let rank = self.cond_jaxpr.out_avals()[0].rank();
            let dims = carried.iter().map(|&mapped| mapped.then_some(rank));
            (dims.collect(), OutDim::At(None))
        };
        let places: Vec<OutDim> = carry_dims.iter().map(|&dim| OutDim::At(dim)).collect();
        let body_dims = [&body_dims[..body.consts], &carry_dims].concat();
        let body_jaxpr = batch(b, &self.body_jaxpr, axis, &body_dims, &places)?.jaxpr;
        let cond_dims = [cond_dims, &carry_dims].concat();
        let cond_jaxpr = batch(b, &self.cond_jaxpr, axis, &cond_dims, &[predicate])?.jaxpr;
        let (consts, carry) = operands.split_at(self.cond_nconsts + body.consts);
        let mut values = Batched::values(consts);
        for (&operand, &out) in carry.iter().zip(&places) {
            values.push(place(b, operand, out, axis.size)?.value);
        }
        let prim = While {
            cond_jaxpr,
            body_jaxpr,
            ..self.clone()
        };
        Ok(Batched::all(prim.bind(b, &values), &carry_dims))
    }
}
