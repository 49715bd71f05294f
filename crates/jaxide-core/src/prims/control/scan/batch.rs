//! Batching: a loop over all lanes; the mapped axis of stacked values is behind the loop's.

use super::*;
use crate::transform::{OutDim, batch, broadcast, move_axis};

impl Scan {
    pub(super) fn batch_rule(
        &self,
        b: &Builder,
        operands: &[Batched],
        axis: &BatchAxis,
    ) -> Result<BatchedResults> {
        let (consts, carry) = self.counts();
        let const_dims = operands[..consts].iter().map(|operand| operand.dim);
        let x_dims = operands[consts + carry..]
            .iter()
            .map(|operand| operand.dim.map(|_| 0));
        let start_mapped = |operand: &Batched| operand.dim.is_some();
        let mut carried: Vec<bool> = operands[consts..consts + carry]
            .iter()
            .map(start_mapped)
            .collect();
        // A carry is mapped if its start is or a step makes it so.
        let out = loop {
            let dims: Vec<Option<usize>> = const_dims
                .clone()
                .chain(carried.iter().map(|&mapped| mapped.then_some(0)))
                .chain(x_dims.clone())
                .collect();
            let mut places: Vec<OutDim> = carried
                .iter()
                .map(|&mapped| {
                    if mapped {
                        OutDim::Front
                    } else {
                        OutDim::FrontIfMapped
                    }
                })
                .collect();
            places.resize(carry + self.stacked_results(), OutDim::FrontIfMapped);
            let out = batch(b, &self.jaxpr, axis, &dims, &places)?;
            let mapped = out.mapped();
            if mapped[..carry] == carried {
                break out;
            }
            carried = or(&carried, &mapped[..carry]);
        };
        let mut values: Vec<Atom> = operands[..consts]
            .iter()
            .map(|operand| operand.value)
            .collect();
        for (operand, &mapped) in operands[consts..consts + carry].iter().zip(&carried) {
            values.push(match operand.dim {
                None if mapped => broadcast(b, operand.value, axis.size, 0),
                None => operand.value,
                Some(dim) => move_axis(b, operand.value, dim, 0),
            });
        }
        for operand in &operands[consts + carry..] {
            values.push(match operand.dim {
                None => operand.value,
                Some(dim) => move_axis(b, operand.value, dim, 1),
            });
        }
        let results = self
            .with_body(out.jaxpr.clone(), consts, carry)
            .bind(b, &values);
        let dims: Vec<Option<usize>> = out
            .mapped()
            .iter()
            .enumerate()
            .map(|(result, &mapped)| mapped.then_some(usize::from(result >= carry)))
            .collect();
        Ok(batched(results, &dims))
    }
}
