//! Batching: a loop over all lanes; the mapped axis of stacked values is behind the loop's.

use super::*;
use crate::transform::{BatchedJaxpr, OutDim, batch, place};

impl Scan {
    pub(super) fn batch_rule(
        &self,
        b: &Builder,
        operands: &[Batched],
        axis: &BatchAxis,
    ) -> Result<BatchedResults> {
        let body = self.body();
        let dims = Batched::dims(operands);
        // The body takes constants as they are, and everything else with the mapped axis in front.
        let (out, mapped) =
            body.fixpoint(present(&dims), BatchedJaxpr::mapped, |mapped, required| {
                let mut in_dims = dims[..body.consts].to_vec();
                in_dims.extend(
                    mapped[body.consts..]
                        .iter()
                        .map(|mapped| mapped.then_some(0)),
                );
                batch(b, &self.jaxpr, axis, &in_dims, &OutDim::fronts(required))
            })?;
        let values = operands
            .iter()
            .enumerate()
            .map(|(index, &operand)| {
                let out = if index < body.consts {
                    OutDim::AsIs
                } else {
                    let front = usize::from(index >= body.carried().end);
                    OutDim::At(mapped[index].then_some(front))
                };
                Ok(place(b, operand, out, axis.size)?.value)
            })
            .collect::<Result<Vec<Atom>>>()?;
        let mapped = out.mapped();
        let results = self
            .with_body(out.jaxpr, body.consts, body.carry)
            .bind(b, &values);
        let dim =
            |(result, &mapped): (usize, &bool)| mapped.then_some(usize::from(result >= body.carry));
        let dims: Vec<Option<usize>> = mapped.iter().enumerate().map(dim).collect();
        Ok(Batched::all(results, &dims))
    }
}
