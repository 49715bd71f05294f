//! Partial evaluation under a policy: both sides run their part of the branch taken.

use super::residuals::{MergedResiduals, widen_arguments};
use super::*;
use crate::jaxpr::{Eqn, Var};
use crate::marks::{keep, not};
use crate::transform::{SavingRequest, partial_eval_saving};

impl Cond {
    pub(super) fn saving_rule(&self, saving: &mut Saving<'_>) -> Result<SavingResult> {
        let eqn = saving.eqn;
        let mut residuals = saving.missing_operands();
        let count = self.result_count();
        if saving.unknown[0] {
            return Ok(SavingResult {
                known: None,
                staged: Some(eqn.clone()),
                unknown: vec![true; count],
                instantiated: vec![true; count],
                residuals,
            });
        }
        let memo = saving.memo;
        let operands = &saving.unknown[1..];
        let all_operands = vec![true; operands.len()];
        let all_results = vec![true; count];
        let split = |branch: &ClosedJaxpr, unknown: &[bool]| {
            let request = SavingRequest {
                unknown: operands,
                instantiated: &all_operands,
                ensure_unknown: unknown,
                ensure_instantiated: &all_results,
                policy: saving.policy,
            };
            partial_eval_saving(memo, branch, request)
        };
        let mut unknown = vec![false; count];
        for branch in &self.branches.0 {
            unknown = or(&unknown, &split(branch, &vec![false; count])?.unknown);
        }
        let known_count = unknown.iter().filter(|unknown| !**unknown).count();
        let (mut known, mut staged, mut avals) = (Vec::new(), Vec::new(), Vec::new());
        for branch in &self.branches.0 {
            let parts = split(branch, &unknown)?;
            // Residuals are merged across branches below, where it no longer shows which branch needs which.
            let mut keep_inputs = vec![false; parts.residuals];
            keep_inputs.resize(parts.residuals + operands.len(), true);
            let trimmed = dce_jaxpr(memo, &parts.staged, &all_results, &keep_inputs)?;
            let used = &trimmed.inputs[..parts.residuals];
            let mut outputs = vec![true; known_count];
            outputs.extend(used);
            let inputs = vec![true; parts.known.jaxpr.invars.len()];
            known.push(dce_jaxpr(memo, &parts.known, &outputs, &inputs)?.jaxpr);
            let number = used.iter().filter(|used| **used).count();
            avals.push(trimmed.jaxpr.in_avals()[..number].to_vec());
            staged.push(trimmed.jaxpr);
        }
        let merged = MergedResiduals::new(&avals);
        let b = Builder::within(memo);
        let known = known
            .iter()
            .enumerate()
            .map(|(number, branch)| merged.widen_results(&b, branch, number, known_count))
            .collect::<Result<Vec<_>>>()?;
        let staged: Vec<ClosedJaxpr> = staged
            .iter()
            .zip(&merged.places)
            .map(|(branch, places)| widen_arguments(branch, &merged.avals, places))
            .collect();
        let new: Vec<Var> = merged
            .avals
            .iter()
            .map(|aval| saving.jaxpr.new_var(aval.clone()))
            .collect();
        let known_outputs = keep(&eqn.outputs, &not(&unknown));
        let known = Eqn {
            prim: self.with_branches(known).into(),
            inputs: keep(&eqn.inputs, &not(saving.unknown)).into(),
            outputs: known_outputs
                .into_iter()
                .chain(new.iter().copied())
                .collect(),
            source: eqn.source,
        };
        let (index, others) = (eqn.inputs[0], &eqn.inputs[1..]);
        let saved = new.iter().map(|&var| Atom::Var(var));
        let staged = Eqn {
            prim: self.with_branches(staged).into(),
            inputs: std::iter::once(index)
                .chain(saved)
                .chain(others.iter().copied())
                .collect(),
            outputs: eqn.outputs.clone(),
            source: eqn.source,
        };
        residuals.extend(new);
        Ok(SavingResult {
            known: Some(known),
            staged: Some(staged),
            unknown,
            instantiated: all_results,
            residuals,
        })
    }
}
