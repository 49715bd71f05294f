//! Linearization and partial evaluation: the known side runs the branch for its results and residuals, the unknown
//! side the same branch of the linear or unknown halves.

use std::collections::HashMap;

use super::super::halves::{Halves, forwarded_residuals, separate, together, unknowns};
use super::residuals::{MergedResiduals, widen_arguments};
use super::*;
use crate::transform::{Linearized, PartialEval, linearize, partial_eval};

impl Cond {
    pub(super) fn linearize_rule(
        &self,
        split: &Split<'_>,
        primals: &[Atom],
        tangents: &[Option<Atom>],
    ) -> Result<JvpResult> {
        let tangents = &tangents[1..];
        let nonzero_in = present(tangents);
        let forward = vec![true; nonzero_in.len()];
        let (branches, nonzero) = self.alike(
            self.result_count(),
            |lin: &Linearized| lin.nonzero.clone(),
            |branch, nonzero| linearize(split.known, branch, &nonzero_in, nonzero, &forward),
        )?;
        let halves: Vec<Halves> = branches.into_iter().map(Halves::from).collect();
        let tangents = with_tangents(&[], tangents);
        let (results, new) = self.bind_halves(split, &halves, primals, &tangents)?;
        Ok(JvpResult::new(results, spread(new, &nonzero)))
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
        let unknown_in = unknowns(rest);
        let forward = vec![true; unknown_in.len()];
        let (branches, unknown) = self.alike(
            self.result_count(),
            |parts: &PartialEval| parts.unknown_results.clone(),
            |branch, unknown| partial_eval(split.known, branch, &unknown_in, unknown, &forward),
        )?;
        let halves: Vec<Halves> = branches.into_iter().map(Halves::from).collect();
        let (known_in, unknown_in) = separate(operands);
        let (results, new) = self.bind_halves(split, &halves, &known_in, &unknown_in)?;
        Ok(Some(together(&unknown, &results, &new)))
    }

    /// Writes both halves. `known_in` has the index in front; gives the known and the unknown results.
    fn bind_halves(
        &self,
        split: &Split<'_>,
        halves: &[Halves],
        known_in: &[Atom],
        unknown_in: &[Atom],
    ) -> Result<(Vec<Atom>, Vec<Atom>)> {
        let b = split.known;
        let known_count = halves.first().map_or(0, |half| half.results);
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
        let crossing = [&known_in[..1], residuals, &forwarded].concat();
        let mut operands: Vec<Atom> = crossing.iter().map(|&atom| split.residual(atom)).collect();
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
                        values.extend(forwarded_residuals(
                            b,
                            branch,
                            &[Some(index)],
                            arguments,
                            &[],
                        ));
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
