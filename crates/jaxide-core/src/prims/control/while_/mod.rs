//! `while`: a body repeated while a condition holds.
//!
//! Operands are constants of the condition, constants of the body, then the carry.

mod batch;
mod jvp;
mod partial_eval;
mod saving;

use super::super::*;
use super::call::*;
use crate::dtype::DType;
use crate::error::{Error, ErrorKind, Result};
use crate::jaxpr::{Atom, Aval, Builder};
use crate::marks::or;
use crate::transform::dce_jaxpr;
use crate::transform::{Memo, Saving, SavingResult, Split};

impl Primitive for While {
    fn abstract_eval(&self, operands: &[Aval]) -> Result<Avals> {
        let nconsts = self.cond_nconsts + self.body_nconsts;
        let Some(carry) = operands.get(nconsts..) else {
            return Err(Error::new(
                ErrorKind::Arity,
                format!(
                    "{nconsts} constants are expected, and {} operands are given",
                    operands.len()
                ),
            ));
        };
        let cond_args = [&operands[..self.cond_nconsts], carry].concat();
        let body_args = &operands[self.cond_nconsts..];
        check_arguments("the condition", &self.cond_jaxpr, &cond_args)?;
        check_arguments("the body", &self.body_jaxpr, body_args)?;
        let predicate = self.cond_jaxpr.out_avals();
        if predicate.len() != 1 || predicate[0].dtype != DType::Bool {
            return Err(Error::dtype("the condition must give one bool"));
        }
        let lanes = &predicate[0].shape;
        let results = self.body_jaxpr.out_avals();
        if results.len() != carry.len() {
            return Err(Error::new(
                ErrorKind::Arity,
                format!(
                    "the body gives {} results for {} carries",
                    results.len(),
                    carry.len()
                ),
            ));
        }
        for (number, (before, after)) in carry.iter().zip(&results).enumerate() {
            if !before.matches(after) {
                return Err(Error::shape(format!(
                    "carry {number} is {before} before a step and {after} behind it"
                )));
            }
            if !after.shape.starts_with(lanes) {
                return Err(Error::shape(format!(
                    "the condition is {}, and carry {number} is {after}: its first axes must be the same",
                    predicate[0]
                )));
            }
        }
        Ok(results.into())
    }

    fn jvp(&self, b: &Builder, primals: &[Atom], tangents: &[Option<Atom>]) -> Result<JvpResult> {
        self.jvp_rule(b, primals, tangents)
    }

    fn batch(&self, b: &Builder, operands: &[Batched], axis: &BatchAxis) -> Result<BatchedResults> {
        self.batch_rule(b, operands, axis)
    }

    fn transpose(
        &self,
        _b: &Builder,
        _cotangents: &[Option<Atom>],
        _operands: &[TransposeArg],
    ) -> Result<Cotangents> {
        Err(Error::no_rule(
            "while",
            "reverse-mode",
            "the number of steps is not known before the loop runs, so that its values cannot be kept",
        )
        .note("use scan, or fori_loop with bounds that are known when the program is traced"))
    }

    fn partial_eval(&self, split: &Split<'_>, operands: &[Partial]) -> Result<Option<Partials>> {
        self.partial_eval_rule(split, operands)
    }

    fn partial_eval_saving(&self, saving: &mut Saving<'_>) -> Result<Option<SavingResult>> {
        self.saving_rule(saving).map(Some)
    }

    /// A carry is used if its result is, or if the condition or a step needs it.
    fn dce(&self, memo: &Memo, used: &[bool]) -> Result<Option<Trimmed>> {
        let (cond_consts, body_consts) = (self.cond_nconsts, self.body_nconsts);
        let cond_inputs = |carry: &[bool]| {
            let mut inputs = vec![false; cond_consts];
            inputs.extend(carry);
            inputs
        };
        let none = vec![false; used.len()];
        let cond = dce_jaxpr(memo, &self.cond_jaxpr, &[true], &cond_inputs(&none))?;
        let mut carry = or(used, &cond.inputs[cond_consts..]);
        let body = loop {
            let mut keep_inputs = vec![false; body_consts];
            keep_inputs.extend(&carry);
            let body = dce_jaxpr(memo, &self.body_jaxpr, &carry, &keep_inputs)?;
            if body.inputs[body_consts..] == carry {
                break body;
            }
            carry = or(&carry, &body.inputs[body_consts..]);
        };
        let cond = dce_jaxpr(memo, &self.cond_jaxpr, &[true], &cond_inputs(&carry))?;
        let inputs = [
            &cond.inputs[..cond_consts],
            &body.inputs[..body_consts],
            &carry,
        ]
        .concat();
        let same = cond.jaxpr.same(&self.cond_jaxpr) && body.jaxpr.same(&self.body_jaxpr);
        if same && !inputs.contains(&false) {
            return Ok(None);
        }
        let count = |flags: &[bool]| flags.iter().filter(|flag| **flag).count();
        let prim = While {
            cond_nconsts: count(&cond.inputs[..cond_consts]),
            body_nconsts: count(&body.inputs[..body_consts]),
            cond_jaxpr: cond.jaxpr,
            body_jaxpr: body.jaxpr,
        };
        Ok(Some(Trimmed {
            prim: prim.into(),
            inputs,
            outputs: carry,
        }))
    }
}

impl While {
    /// Writes the loop.
    fn bind(self, b: &Builder, operands: &[Atom]) -> Vec<Atom> {
        let results = self.body_jaxpr.out_avals();
        b.push(self.into(), operands, &results).into_vec()
    }
}
