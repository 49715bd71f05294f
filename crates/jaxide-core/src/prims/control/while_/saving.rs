//! Partial evaluation under a policy: values of a loop of unknown length cannot be kept, so that the unknown side runs
//! the whole loop again.

use super::*;
use crate::jaxpr::{ClosedJaxpr, Eqn};
use crate::marks::{keep, not};
use crate::transform::{Policy, SavedSplit, SavingRequest, partial_eval_saving};

impl While {
    pub(super) fn saving_rule(&self, saving: &mut Saving<'_>) -> Result<SavingResult> {
        let eqn = saving.eqn;
        let residuals = saving.missing_operands();
        let (cond_consts, body_consts) = (self.cond_nconsts, self.body_nconsts);
        let consts = cond_consts + body_consts;
        let body_unknown = &saving.unknown[cond_consts..consts];
        let split =
            |jaxpr: &ClosedJaxpr, unknown: &[bool], ensure: &[bool]| -> Result<SavedSplit> {
                let request = SavingRequest {
                    unknown,
                    instantiated: &vec![true; unknown.len()],
                    ensure_unknown: ensure,
                    ensure_instantiated: &vec![true; ensure.len()],
                    policy: &Policy::NothingSaveable,
                };
                partial_eval_saving(saving.memo, jaxpr, request)
            };
        let mut carry = saving.unknown[consts..].to_vec();
        let body = loop {
            let body = split(&self.body_jaxpr, &[body_unknown, &carry].concat(), &carry)?;
            if body.unknown == carry {
                break body;
            }
            carry = or(&carry, &body.unknown);
        };
        let cond_unknown = [&saving.unknown[..cond_consts], &carry].concat();
        let cond = split(&self.cond_jaxpr, &cond_unknown, &[false])?;
        let all = vec![true; carry.len()];
        if cond.unknown[0] {
            return Ok(SavingResult {
                known: None,
                staged: Some(eqn.clone()),
                unknown: all.clone(),
                instantiated: all,
                residuals,
            });
        }
        let unknown = [&saving.unknown[..consts], &carry].concat();
        let count = |flags: &[bool]| flags.iter().filter(|flag| !**flag).count();
        let prim = While {
            cond_nconsts: count(&unknown[..cond_consts]),
            cond_jaxpr: cond.known,
            body_nconsts: count(body_unknown),
            body_jaxpr: body.known,
        };
        let known = Eqn {
            prim: prim.into(),
            inputs: keep(&eqn.inputs, &not(&unknown)).into(),
            outputs: keep(&eqn.outputs, &not(&carry)).into(),
            source: eqn.source,
        };
        Ok(SavingResult {
            known: Some(known),
            staged: Some(eqn.clone()),
            unknown: carry,
            instantiated: all,
            residuals,
        })
    }
}
