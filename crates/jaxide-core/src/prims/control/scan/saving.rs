//! Partial evaluation under a policy: the known side is a call that computes loop-invariant residuals and runs the
//! known loop; the unknown side is a loop over everything and the residuals.

use super::*;
use crate::jaxpr::{Eqn, Var};
use crate::marks::{keep, not};
use crate::transform::rearrange::reorder_arguments;
use crate::transform::{SavingRequest, bind_constants, partial_eval, partial_eval_saving};

impl Scan {
    pub(super) fn saving_rule(&self, saving: &mut Saving<'_>) -> Result<SavingResult> {
        let eqn = saving.eqn;
        let memo = saving.memo;
        let (consts, carry) = self.counts();
        let ys = self.stacked_results();
        let mut unknown_in = saving.unknown.to_vec();
        let all_in = vec![true; unknown_in.len()];
        let all_out = vec![true; carry + ys];
        // A carry is unknown if its start is or a step makes it so.
        let parts = loop {
            let mut ensure_unknown = unknown_in[consts..consts + carry].to_vec();
            ensure_unknown.resize(carry + ys, false);
            let request = SavingRequest {
                unknown: &unknown_in,
                instantiated: &all_in,
                ensure_unknown: &ensure_unknown,
                ensure_instantiated: &all_out,
                policy: saving.policy,
            };
            let parts = partial_eval_saving(memo, &self.jaxpr, request)?;
            if parts.unknown[..carry] == unknown_in[consts..consts + carry] {
                break parts;
            }
            let all = or(&unknown_in[consts..consts + carry], &parts.unknown[..carry]);
            unknown_in[consts..consts + carry].copy_from_slice(&all);
        };
        let count = |flags: &[bool]| flags.iter().filter(|flag| !**flag).count();
        let known_consts = count(&unknown_in[..consts]);
        let known_carry = count(&unknown_in[consts..consts + carry]);
        let known_results = count(&parts.unknown);
        // What depends on constants alone leaves the loop.
        let b = Builder::within(memo);
        let inputs = parts.known.jaxpr.invars.len();
        let mut in_loop = vec![false; known_consts];
        in_loop.resize(inputs, true);
        let mut instantiate = vec![true; known_results];
        instantiate.resize(known_results + parts.residuals, false);
        let hoisted = partial_eval(
            &b,
            &parts.known,
            &in_loop,
            &instantiate,
            &vec![false; inputs],
        )?;
        let stacked = &hoisted.unknown_results[known_results..];
        // The unknown side takes [invariant residuals, everything, stacked residuals].
        let residuals: Vec<usize> = (0..parts.residuals).collect();
        let operands = parts.residuals..parts.residuals + self.jaxpr.jaxpr.invars.len();
        let order: Vec<usize> = keep(&residuals, &not(stacked))
            .into_iter()
            .chain(operands)
            .chain(keep(&residuals, stacked))
            .collect();
        let staged = reorder_arguments(memo, &parts.staged, &order)?;
        let residual_avals = parts.staged.in_avals();
        let mut invariant: Vec<Var> = Vec::new();
        let mut extensive: Vec<Var> = Vec::new();
        for (aval, &stacked) in residual_avals.iter().zip(stacked) {
            if stacked {
                let aval = unmapped(aval, Some(0), self.length);
                extensive.push(saving.jaxpr.new_var(aval));
            } else {
                invariant.push(saving.jaxpr.new_var(aval.clone()));
            }
        }
        let call = {
            let b = Builder::within(memo);
            let inputs = keep(&eqn.inputs, &not(&unknown_in));
            let args: Vec<Atom> = inputs
                .iter()
                .map(|&atom| b.input(saving.jaxpr.aval(atom)))
                .collect();
            let own = bind_constants(&b, &hoisted.known);
            let before = b.inline(&hoisted.known.jaxpr, &own, &args[..known_consts])?;
            let (residuals, computed) = before.split_at(invariant.len());
            let loop_consts = restore_residuals(
                &b,
                &parts.known,
                &hoisted.forwarded,
                &args[..known_consts],
                computed,
            );
            let loop_ = self.with_body(hoisted.unknown.clone(), loop_consts.len(), known_carry);
            let operands = [&loop_consts, &args[known_consts..]].concat();
            let results = loop_.bind(&b, &operands);
            b.finish(&[residuals, &results].concat())?
        };
        let known_outputs = keep(&eqn.outputs, &not(&parts.unknown));
        let known = Eqn {
            prim: EvalJaxpr { call_jaxpr: call }.into(),
            inputs: keep(&eqn.inputs, &not(&unknown_in)).into(),
            outputs: invariant
                .iter()
                .copied()
                .chain(known_outputs)
                .chain(extensive.iter().copied())
                .collect(),
            source: eqn.source,
        };
        let saved = |vars: &[Var]| vars.iter().map(|&var| Atom::Var(var)).collect::<Vec<_>>();
        let staged = Eqn {
            prim: self
                .with_body(staged, invariant.len() + consts, carry)
                .into(),
            inputs: [
                &saved(&invariant),
                eqn.inputs.as_slice(),
                &saved(&extensive),
            ]
            .concat()
            .into(),
            outputs: eqn.outputs.clone(),
            source: eqn.source,
        };
        let mut residuals = saving.missing_operands();
        residuals.extend(invariant);
        residuals.extend(extensive);
        Ok(SavingResult {
            known: Some(known),
            staged: Some(staged),
            unknown: parts.unknown,
            instantiated: all_out,
            residuals,
        })
    }
}
