//! Batching: of each branch where all lanes take the same one, else of all branches and a selection.

use super::*;
use crate::transform::{BatchedJaxpr, OutDim, batch_front, inline, place};

impl Cond {
    pub(super) fn batch_rule(
        &self,
        b: &Builder,
        operands: &[Batched],
        axis: &BatchAxis,
    ) -> Result<BatchedResults> {
        let [index, operands @ ..] = operands else {
            return Err(Error::new(ErrorKind::Arity, "an index is needed"));
        };
        let mut index = *index;
        // The platform is the same for all lanes, whatever made the index look mapped.
        if let (Some(platforms), Some(_)) = (&self.branches_platforms, index.dim) {
            let prim = PlatformIndex {
                platforms: platforms.clone(),
            };
            index = Batched {
                value: b.op(prim, &[]),
                dim: None,
            };
        }
        if index.dim.is_some() {
            self.select(b, index, operands, axis)
        } else {
            self.batch_branches(b, index.value, operands, axis)
        }
    }

    fn batch_branches(
        &self,
        b: &Builder,
        index: Atom,
        operands: &[Batched],
        axis: &BatchAxis,
    ) -> Result<BatchedResults> {
        let mapped = present(&Batched::dims(operands));
        let mut values = vec![index];
        for &operand in operands {
            values.push(place(b, operand, OutDim::FrontIfMapped, axis.size)?.value);
        }
        let (branches, out) = self.alike(
            self.result_count(),
            BatchedJaxpr::mapped,
            |branch, front| batch_front(b, branch, axis, &mapped, front),
        )?;
        let branches = branches.into_iter().map(|out| out.jaxpr).collect();
        let dims: Vec<Option<usize>> = out.iter().map(|&mapped| mapped.then_some(0)).collect();
        Ok(Batched::all(self.bind(b, branches, &values), &dims))
    }

    /// Computes every branch for every lane. Lanes that do not take a branch see their operands without derivatives
    /// there, so that a branch that has none outside its domain does not spoil the gradient.
    fn select(
        &self,
        b: &Builder,
        index: Batched,
        operands: &[Batched],
        axis: &BatchAxis,
    ) -> Result<BatchedResults> {
        let index = place(b, index, OutDim::Front, axis.size)?.value;
        let mut values = Vec::with_capacity(operands.len());
        for &operand in operands {
            values.push(place(b, operand, OutDim::Front, axis.size)?.value);
        }
        let (mapped, all) = (vec![true; values.len()], vec![true; self.result_count()]);
        let branches = self
            .branches
            .0
            .iter()
            .map(|branch| Ok(batch_front(b, branch, axis, &mapped, &all)?.jaxpr))
            .collect::<Result<Vec<_>>>()?;
        let mut outs: Vec<Vec<Atom>> = Vec::with_capacity(branches.len());
        for (number, branch) in branches.iter().enumerate() {
            let taken = b.eq(index, b.integer(number as i64, DType::I32));
            let operands: Vec<Atom> = values
                .iter()
                .map(|&value| {
                    let constant = stop_gradient(b, value);
                    let taken = broadcast_to(b, taken, value);
                    b.select(taken, value, constant)
                })
                .collect();
            outs.push(inline(b, branch, &operands)?.into_vec());
        }
        let results = (0..self.result_count())
            .map(|result| {
                let cases: Vec<Atom> = outs.iter().map(|out| out[result]).collect();
                let which = broadcast_to(b, index, cases[0]);
                let operands: Vec<Atom> = std::iter::once(which).chain(cases).collect();
                Batched {
                    value: b.op(SelectN, &operands),
                    dim: Some(0),
                }
            })
            .collect();
        Ok(results)
    }
}

/// A value of the mapped axis repeated over the other axes of `like`.
fn broadcast_to(b: &Builder, x: Atom, like: Atom) -> Atom {
    if b.rank(x) == b.rank(like) {
        return x;
    }
    b.broadcast_in_dim(x, &b.shape(like), &[0])
}

fn stop_gradient(b: &Builder, x: Atom) -> Atom {
    if b.dtype(x).is_key() {
        x
    } else {
        b.op(StopGradient, &[x])
    }
}
