//! Partial evaluation under a policy: both sides run their part of the branch taken.

use super::residuals::{MergedResiduals, widen_arguments};
use super::*;
use crate::marks::{count, not};
use crate::transform::{SavedSplit, SavingRequest, partial_eval_saving};

impl Cond {
    pub(super) fn saving_rule(&self, saving: &mut Saving<'_>) -> Result<SavingResult> {
        let eqn = saving.eqn;
        if saving.unknown[0] {
            return Ok(saving.all_unknown());
        }
        let memo = saving.memo;
        let operands = &saving.unknown[1..];
        let all_operands = vec![true; operands.len()];
        let all_results = vec![true; self.result_count()];
        let (branches, unknown) = self.alike(
            all_results.len(),
            |parts: &SavedSplit| parts.unknown.clone(),
            |branch, unknown| {
                let request = SavingRequest {
                    unknown: operands,
                    instantiated: &all_operands,
                    ensure_unknown: unknown,
                    ensure_instantiated: &all_results,
                    policy: saving.policy,
                };
                partial_eval_saving(memo, branch, request)
            },
        )?;
        let known_count = count(&not(&unknown));
        let (mut known, mut staged, mut avals) = (Vec::new(), Vec::new(), Vec::new());
        for parts in branches {
            // Residuals are merged across branches below, where it no longer shows which branch needs which.
            let mut keep_inputs = vec![false; parts.residuals];
            keep_inputs.resize(parts.residuals + operands.len(), true);
            let trimmed = dce_jaxpr(memo, &parts.staged, &all_results, &keep_inputs)?;
            let used = &trimmed.inputs[..parts.residuals];
            let mut outputs = vec![true; known_count];
            outputs.extend(used);
            let inputs = vec![true; parts.known.jaxpr.invars.len()];
            known.push(dce_jaxpr(memo, &parts.known, &outputs, &inputs)?.jaxpr);
            let number = count(used);
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
        let new = saving.new_vars(merged.avals);
        let saved: Vec<Atom> = new.iter().map(|&var| Atom::Var(var)).collect();
        let (index, others) = eqn.inputs.split_at(1);
        let known = saving.known_side(self.with_branches(known), &unknown, &new);
        let inputs = [index, &saved, others].concat();
        let staged = saving.side(self.with_branches(staged), inputs, eqn.outputs.to_vec());
        Ok(SavingResult {
            known: Some(known),
            staged: Some(staged),
            unknown,
            instantiated: all_results,
            residuals: [saving.missing_operands(), new].concat(),
        })
    }
}
