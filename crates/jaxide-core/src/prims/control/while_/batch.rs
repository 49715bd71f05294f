//! Batching. Where all lanes stop together the mapped axis stands behind those of the condition; where each lane
//! stops on its own the condition has the mapped axis in front, and a lane that has stopped keeps its values.

use super::*;
use crate::transform::{OutDim, batch, batch_front, broadcast, move_axis};

impl While {
    pub(super) fn batch_rule(
        &self,
        b: &Builder,
        operands: &[Batched],
        axis: &BatchAxis,
    ) -> Result<BatchedResults> {
        let (cond_consts, body_consts) = (self.cond_nconsts, self.body_nconsts);
        let dims: Vec<Option<usize>> = operands.iter().map(|operand| operand.dim).collect();
        let mapped: Vec<bool> = dims.iter().map(Option::is_some).collect();
        let mut carried = mapped[cond_consts + body_consts..].to_vec();
        // A carry is mapped if its start is or a step makes it so.
        loop {
            let inputs = [&mapped[cond_consts..cond_consts + body_consts], &carried].concat();
            let out = batch_front(b, &self.body_jaxpr, axis, &inputs, &carried)?.mapped();
            if out == carried {
                break;
            }
            carried = or(&carried, &out);
        }
        let cond_inputs = [&mapped[..cond_consts], &carried].concat();
        let stops_alone =
            batch_front(b, &self.cond_jaxpr, axis, &cond_inputs, &[false])?.mapped()[0];
        let (carry_dims, predicate): (Vec<Option<usize>>, _) = if stops_alone {
            (vec![Some(0); carried.len()], OutDim::Front)
        } else {
            let rank = self.cond_jaxpr.out_avals()[0].rank();
            let dims = carried.iter().map(|&mapped| mapped.then_some(rank));
            (dims.collect(), OutDim::At(None))
        };
        let body_dims = [&dims[cond_consts..cond_consts + body_consts], &carry_dims].concat();
        let places: Vec<OutDim> = carry_dims.iter().map(|&dim| OutDim::At(dim)).collect();
        let body = batch(b, &self.body_jaxpr, axis, &body_dims, &places)?;
        let cond_dims = [&dims[..cond_consts], &carry_dims].concat();
        let cond = batch(b, &self.cond_jaxpr, axis, &cond_dims, &[predicate])?;
        let (consts, carry) = operands.split_at(cond_consts + body_consts);
        let mut values: Vec<Atom> = consts.iter().map(|operand| operand.value).collect();
        for (operand, &dim) in carry.iter().zip(&carry_dims) {
            values.push(match (operand.dim, dim) {
                (None, Some(to)) => broadcast(b, operand.value, axis.size, to),
                (Some(from), Some(to)) => move_axis(b, operand.value, from, to),
                (_, None) => operand.value,
            });
        }
        let prim = While {
            cond_jaxpr: cond.jaxpr,
            body_jaxpr: body.jaxpr,
            ..self.clone()
        };
        Ok(batched(prim.bind(b, &values), &carry_dims))
    }
}
