//! `while`: a body repeated while a condition holds.
//!
//! Operands are constants of the condition, constants of the body, then the carry.

mod batch;
mod partial_eval;

use super::super::*;
use super::call::*;
use super::loops::Body;
use crate::dtype::DType;
use crate::error::{Error, ErrorKind, Result};
use crate::jaxpr::{Atom, Aval, Builder, ClosedJaxpr};
use crate::marks::{count, keep, not, or, present};
use crate::transform::{Dce, Memo, Saving, SavingResult, Split, dce_jaxpr};

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
        Body::check_carry(carry, &results)?;
        for (number, after) in results.iter().enumerate() {
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
        let (cond_values, values) = primals.split_at(self.cond_nconsts);
        let carry = values.len() - self.body_nconsts;
        let body = self.body().jvp(b, values, &tangents[self.cond_nconsts..])?;
        // The condition takes the tangents of the carry too, and ignores them.
        let new = body.operands[body.consts + carry..].iter();
        let new: Vec<Aval> = new.map(|&tangent| b.aval(tangent)).collect();
        let prim = While {
            cond_nconsts: self.cond_nconsts,
            cond_jaxpr: with_unused_arguments(
                &self.cond_jaxpr,
                primals.len() - self.body_nconsts,
                &new,
            ),
            body_nconsts: body.consts,
            body_jaxpr: body.jaxpr.clone(),
        };
        let results = prim.bind(b, &[cond_values, &body.operands].concat());
        Ok(body.derivative(&results))
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
        let body = self.body();
        let none = vec![false; used.len()];
        let dce_cond = |carry: &[bool]| {
            let kept = [&vec![false; self.cond_nconsts], carry].concat();
            dce_jaxpr(memo, &self.cond_jaxpr, &[true], &kept)
        };
        let carry = or(used, &dce_cond(&none)?.inputs[self.cond_nconsts..]);
        let (out, arguments) = body.fixpoint(
            [vec![false; body.consts], carry].concat(),
            |out: &Dce| out.inputs[body.carried()].to_vec(),
            |kept, required| dce_jaxpr(memo, &self.body_jaxpr, required, kept),
        )?;
        let carry = arguments[body.carried()].to_vec();
        let cond = dce_cond(&carry)?;
        let cond_inputs = &cond.inputs[..self.cond_nconsts];
        let inputs = [cond_inputs, &out.inputs].concat();
        let same = cond.jaxpr.same(&self.cond_jaxpr) && out.jaxpr.same(&self.body_jaxpr);
        if same && !inputs.contains(&false) {
            return Ok(None);
        }
        let prim = While {
            cond_nconsts: count(cond_inputs),
            body_nconsts: count(&out.inputs[..body.consts]),
            cond_jaxpr: cond.jaxpr,
            body_jaxpr: out.jaxpr,
        };
        Ok(Some(Trimmed {
            prim: prim.into(),
            inputs,
            outputs: carry,
        }))
    }
}

impl While {
    fn body(&self) -> Body<'_> {
        Body {
            jaxpr: &self.body_jaxpr,
            consts: self.body_nconsts,
            carry: self.body_jaxpr.jaxpr.outvars.len(),
        }
    }

    /// Writes the loop.
    fn bind(self, b: &Builder, operands: &[Atom]) -> Vec<Atom> {
        let results = self.body_jaxpr.out_avals();
        b.push(self.into(), operands, &results).into_vec()
    }
}
