//! Linearization and partial evaluation: the known side runs the branch for its results and residuals, the unknown
//! side the same branch of the linear or unknown halves.

use std::collections::HashMap;

use super::residuals::{MergedResiduals, widen_arguments};
use super::*;
use crate::transform::{linearize, partial_eval};

/// A branch in two halves.
struct Halves {
    known: ClosedJaxpr,
    unknown: ClosedJaxpr,
    forwarded: Vec<Option<usize>>,
}

impl Cond {
    pub(super) fn linearize_rule(
        &self,
        split: &Split<'_>,
        primals: &[Atom],
        tangents: &[Option<Atom>],
    ) -> Result<JvpResult> {
        let b = split.known;
        let tangents = &tangents[1..];
        let nonzero_in = nonzeros(tangents);
        let forward = vec![true; nonzero_in.len()];
        let count = self.result_count();
        let mut nonzero = vec![false; count];
        for branch in &self.branches.0 {
            let lin = linearize(b, branch, &nonzero_in, &vec![false; count], &forward)?;
            nonzero = or(&nonzero, &lin.nonzero);
        }
        let mut halves = Vec::new();
        for branch in &self.branches.0 {
            let lin = linearize(b, branch, &nonzero_in, &nonzero, &forward)?;
            halves.push(Halves {
                known: lin.primal,
                unknown: lin.linear,
                forwarded: lin.forwarded,
            });
        }
        let tangents: Vec<Atom> = tangents.iter().flatten().copied().collect();
        let (results, new) = self.bind_halves(split, &halves, count, primals, &tangents)?;
        Ok(JvpResult {
            primals: results.into(),
            tangents: spread(&new, &nonzero),
        })
    }

    /// `None` when the index is unknown: then everything is.
    pub(super) fn partial_eval_rule(
        &self,
        split: &Split<'_>,
        operands: &[Partial],
    ) -> Result<Option<Partials>> {
        let [Partial::Known(_), rest @ ..] = operands else {
            return Ok(None);
        };
        let b = split.known;
        let unknown_in: Vec<bool> = rest.iter().map(|operand| operand.is_unknown()).collect();
        let forward = vec![true; unknown_in.len()];
        let count = self.result_count();
        let mut unknown = vec![false; count];
        for branch in &self.branches.0 {
            let parts = partial_eval(b, branch, &unknown_in, &vec![false; count], &forward)?;
            unknown = or(&unknown, &parts.unknown_results);
        }
        let mut halves = Vec::new();
        for branch in &self.branches.0 {
            let parts = partial_eval(b, branch, &unknown_in, &unknown, &forward)?;
            halves.push(Halves {
                known: parts.known,
                unknown: parts.unknown,
                forwarded: parts.forwarded,
            });
        }
        let known_count = unknown.iter().filter(|unknown| !**unknown).count();
        let (known_in, unknown_in) = separate(operands);
        let (results, new) =
            self.bind_halves(split, &halves, known_count, &known_in, &unknown_in)?;
        Ok(Some(merge(&unknown, &results, &new)))
    }

    /// Writes both halves. `known_in` has the index in front; gives the known and the unknown results.
    fn bind_halves(
        &self,
        split: &Split<'_>,
        halves: &[Halves],
        known_count: usize,
        known_in: &[Atom],
        unknown_in: &[Atom],
    ) -> Result<(Vec<Atom>, Vec<Atom>)> {
        let b = split.known;
        let residual_avals: Vec<Vec<Aval>> = halves
            .iter()
            .map(|half| half.known.out_avals()[known_count..].to_vec())
            .collect();
        let merged = MergedResiduals::new(&residual_avals);
        let known = halves
            .iter()
            .enumerate()
            .map(|(number, half)| merged.widen_results(b, &half.known, number, known_count))
            .collect::<Result<Vec<_>>>()?;
        let (forwarded, places) = self.forwarded(b, halves, &merged, &known_in[1..])?;
        let mut avals = merged.avals.clone();
        avals.extend(forwarded.iter().map(|&atom| b.aval(atom)));
        let unknown: Vec<ClosedJaxpr> = halves
            .iter()
            .zip(&places)
            .map(|(half, places)| widen_arguments(&half.unknown, &avals, places))
            .collect();
        let results = self.bind(b, known, known_in);
        let (results, residuals) = results.split_at(known_count);
        let mut operands = vec![split.residual(known_in[0])];
        operands.extend(
            residuals
                .iter()
                .chain(&forwarded)
                .map(|&atom| split.residual(atom)),
        );
        operands.extend(unknown_in);
        let new = self.bind(&split.unknown, unknown, &operands);
        Ok((results.to_vec(), new))
    }

    /// Residuals that are constants or arguments of branches, and where each branch has all its residuals among the
    /// merged ones and these.
    fn forwarded(
        &self,
        b: &Builder,
        halves: &[Halves],
        merged: &MergedResiduals,
        arguments: &[Atom],
    ) -> Result<(Vec<Atom>, Vec<Vec<usize>>)> {
        let mut values: Vec<Atom> = Vec::new();
        let mut index_of: HashMap<(Option<usize>, usize), usize> = HashMap::new();
        let mut places = Vec::new();
        for (number, (half, branch)) in halves.iter().zip(&self.branches.0).enumerate() {
            let constants = branch.jaxpr.constvars.len();
            let mut own = merged.places[number].iter().copied();
            let mut of_branch = Vec::new();
            for forwarded in &half.forwarded {
                let Some(index) = *forwarded else {
                    of_branch.extend(own.next());
                    continue;
                };
                let key = if index < constants {
                    (Some(number), index)
                } else {
                    (None, index - constants)
                };
                let place = match index_of.get(&key) {
                    Some(&place) => place,
                    None => {
                        values.extend(restore_residuals(b, branch, &[Some(index)], arguments, &[]));
                        let place = merged.avals.len() + values.len() - 1;
                        index_of.insert(key, place);
                        place
                    }
                };
                of_branch.push(place);
            }
            places.push(of_branch);
        }
        Ok((values, places))
    }
}
