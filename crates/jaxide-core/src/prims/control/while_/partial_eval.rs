//! Partial evaluation: the known loop runs for the known results; the unknown loop runs everything again, since
//! values of a loop of unknown length cannot be kept, whatever a policy says.

use super::super::halves::{together, unknowns};
use super::*;
use crate::transform::{Policy, SavingRequest, partial_eval, partial_eval_saving};

/// The loop of what is known.
struct KnownPart {
    prim: While,
    /// Which operands it takes.
    operands: Vec<bool>,
    /// Which carries it leaves to the unknown side.
    unknown: Vec<bool>,
}

impl While {
    /// `None` when nothing can be known.
    pub(super) fn partial_eval_rule(
        &self,
        split: &Split<'_>,
        operands: &[Partial],
    ) -> Result<Option<Partials>> {
        let b = split.known;
        let unknown = unknowns(operands);
        let cut = |jaxpr: &ClosedJaxpr, unknown: &[bool], required: &[bool]| {
            let parts = partial_eval(b, jaxpr, unknown, required, &vec![true; unknown.len()])?;
            Ok((parts.known, parts.unknown_results))
        };
        let Some(mut known) = self.known_part(&unknown, cut)? else {
            return Ok(None);
        };
        if !unknown.contains(&false) {
            return Ok(None);
        }
        let results = count(&not(&known.unknown));
        known.prim.body_jaxpr = without_residuals(&known.prim.body_jaxpr, results);
        let known_in = keep(operands, &known.operands);
        let known_in: Vec<Atom> = known_in.into_iter().filter_map(Partial::known).collect();
        let results = known.prim.bind(b, &known_in);
        let all: Vec<Atom> = operands
            .iter()
            .map(|&operand| split.unknown(operand))
            .collect();
        let new = self.clone().bind(&split.unknown, &all);
        Ok(Some(together(
            &known.unknown,
            &results,
            &keep(&new, &known.unknown),
        )))
    }

    pub(super) fn saving_rule(&self, saving: &Saving<'_>) -> Result<SavingResult> {
        let cut = |jaxpr: &ClosedJaxpr, unknown: &[bool], required: &[bool]| {
            let request = SavingRequest {
                unknown,
                instantiated: &vec![true; unknown.len()],
                ensure_unknown: required,
                ensure_instantiated: &vec![true; required.len()],
                policy: &Policy::NothingSaveable,
            };
            let parts = partial_eval_saving(saving.memo, jaxpr, request)?;
            Ok((parts.known, parts.unknown))
        };
        let Some(known) = self.known_part(saving.unknown, cut)? else {
            return Ok(saving.all_unknown());
        };
        let inputs = keep(&saving.eqn.inputs, &known.operands);
        let outputs = keep(&saving.eqn.outputs, &not(&known.unknown));
        Ok(SavingResult {
            known: Some(saving.side(known.prim, inputs, outputs)),
            unknown: known.unknown,
            ..saving.all_unknown()
        })
    }

    /// The known part, where `cut` gives the known half of a function, and which of its results are unknown.
    /// `None` when the condition is unknown.
    fn known_part(
        &self,
        unknown: &[bool],
        cut: impl Fn(&ClosedJaxpr, &[bool], &[bool]) -> Result<(ClosedJaxpr, Vec<bool>)>,
    ) -> Result<Option<KnownPart>> {
        let body = self.body();
        let (cond_consts, body_arguments) = unknown.split_at(self.cond_nconsts);
        let ((body_jaxpr, _), arguments) = body.fixpoint(
            body_arguments.to_vec(),
            |(_, unknown): &(ClosedJaxpr, Vec<bool>)| unknown.clone(),
            |unknown, required| cut(&self.body_jaxpr, unknown, required),
        )?;
        let carry = &arguments[body.carried()];
        let cond_arguments = [cond_consts, carry].concat();
        let (cond_jaxpr, predicate) = cut(&self.cond_jaxpr, &cond_arguments, &[false])?;
        if predicate[0] {
            return Ok(None);
        }
        let prim = While {
            cond_nconsts: count(&not(cond_consts)),
            cond_jaxpr,
            body_nconsts: count(&not(&arguments[..body.consts])),
            body_jaxpr,
        };
        Ok(Some(KnownPart {
            prim,
            operands: not(&[cond_consts, &arguments].concat()),
            unknown: carry.to_vec(),
        }))
    }
}

fn without_residuals(known: &ClosedJaxpr, results: usize) -> ClosedJaxpr {
    let mut new = (*known.jaxpr).clone();
    new.outvars.truncate(results);
    ClosedJaxpr::new(new, known.consts.clone())
}
