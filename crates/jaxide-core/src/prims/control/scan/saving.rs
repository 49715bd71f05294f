//! Partial evaluation under a policy: the known side is a call that computes loop-invariant residuals and runs the
//! known loop; the unknown side is a loop over everything and the residuals.

use super::super::halves::Halves;
use super::*;
use crate::transform::rearrange::reorder_arguments;
use crate::transform::{SavedSplit, SavingRequest, inline, partial_eval, partial_eval_saving};

impl Scan {
    pub(super) fn saving_rule(&self, saving: &mut Saving<'_>) -> Result<SavingResult> {
        let (eqn, memo, body) = (saving.eqn, saving.memo, self.body());
        let arguments = vec![true; eqn.inputs.len()];
        let results = vec![true; eqn.outputs.len()];
        let (parts, unknown) = body.fixpoint(
            saving.unknown.to_vec(),
            |parts: &SavedSplit| parts.unknown.clone(),
            |unknown, required| {
                let request = SavingRequest {
                    unknown,
                    instantiated: &arguments,
                    ensure_unknown: required,
                    ensure_instantiated: &results,
                    policy: saving.policy,
                };
                partial_eval_saving(memo, &self.jaxpr, request)
            },
        )?;
        let known = not(&unknown);
        let (known_consts, known_carry) =
            (count(&known[..body.consts]), count(&known[body.carried()]));
        let known_in = keep(&eqn.inputs, &known);
        // What depends on constants alone leaves the loop.
        let b = Builder::within(memo);
        let avals = known_in.iter().map(|&atom| saving.jaxpr.aval(atom));
        let args: Vec<Atom> = avals.map(|aval| b.input(aval)).collect();
        let (const_args, loop_args) = args.split_at(known_consts);
        let known_results = count(&not(&parts.unknown));
        let in_loop = within(known_consts..args.len(), args.len());
        let instantiate = within(0..known_results, known_results + parts.residuals);
        let no_arguments = vec![false; args.len()];
        let hoisted = partial_eval(&b, &parts.known, &in_loop, &instantiate, &no_arguments)?;
        let stacked = hoisted.unknown_results[known_results..].to_vec();
        let halves = Halves::from(hoisted);
        let mut before = inline(&b, &halves.known, const_args)?.into_vec();
        let computed = before.split_off(halves.results);
        let consts = halves.residuals(&b, &parts.known, const_args, &computed);
        let results_in_loop = self
            .with_body(halves.unknown, consts.len(), known_carry)
            .bind(&b, &[&consts, loop_args].concat());
        let call_jaxpr = b.finish(&[before, results_in_loop].concat())?;
        // The unknown side takes [invariant residuals, everything, stacked residuals].
        let invariant = not(&stacked);
        let residuals: Vec<usize> = (0..parts.residuals).collect();
        let everything = (parts.residuals..parts.residuals + arguments.len()).collect();
        let order = [
            keep(&residuals, &invariant),
            everything,
            keep(&residuals, &stacked),
        ];
        let staged = reorder_arguments(memo, &parts.staged, &order.concat())?;
        let avals = parts.residual_avals();
        let invariant = saving.new_vars(keep(&avals, &invariant));
        let avals = keep(&avals, &stacked).into_iter();
        let stacked = saving.new_vars(avals.map(|aval| unmapped(&aval, Some(0), self.length)));
        let known_out = keep(&eqn.outputs, &not(&parts.unknown));
        let known_out = [invariant.as_slice(), &known_out, &stacked].concat();
        let saved = |vars: &[Var]| vars.iter().map(|&var| Atom::Var(var)).collect::<Vec<_>>();
        let staged_in = [&saved(&invariant), eqn.inputs.as_slice(), &saved(&stacked)].concat();
        let staged = self.with_body(staged, invariant.len() + body.consts, body.carry);
        Ok(SavingResult {
            known: Some(saving.side(EvalJaxpr { call_jaxpr }, known_in, known_out)),
            staged: Some(saving.side(staged, staged_in, eqn.outputs.to_vec())),
            unknown: parts.unknown,
            instantiated: results,
            residuals: [saving.missing_operands(), invariant, stacked].concat(),
        })
    }
}
