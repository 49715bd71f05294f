//! `scan`: a body over slices, with values carried from step to step.
//!
//! Operands are constants, initial carry, stacked inputs; the body takes constants, carry, one slice of each input and
//! gives carry, one slice of each result.

mod batch;
mod partial_eval;
mod saving;
mod transpose;

use super::super::*;
use super::call::*;
use super::loops::{Body, instantiate};
use crate::error::{Error, ErrorKind, Result};
use crate::jaxpr::{Atom, Aval, Builder, ClosedJaxpr, Var};
use crate::marks::{count, keep, not, or, present, spread, within};
use crate::transform::{Dce, Memo, Saving, SavingResult, Split, dce_jaxpr, mapped, unmapped};

impl Primitive for Scan {
    fn abstract_eval(&self, operands: &[Aval]) -> Result<Avals> {
        let ScanInputs { consts, carry, xs } = self.ft_in;
        let expected = consts + carry + xs;
        if operands.len() != expected {
            return Err(Error::new(
                ErrorKind::Arity,
                format!(
                    "{consts} constants, {carry} carries and {xs} inputs are expected, and {} operands are given",
                    operands.len()
                ),
            ));
        }
        let mut slices = operands[..consts + carry].to_vec();
        for (number, stacked) in operands[consts + carry..].iter().enumerate() {
            if stacked.shape.first() != Some(&self.length) {
                return Err(Error::shape(format!(
                    "input {number} is {stacked}, and its first axis must have length {}",
                    self.length
                )));
            }
            slices.push(mapped(stacked, 0));
        }
        check_arguments("the body", &self.jaxpr, &slices)?;
        let results = self.jaxpr.out_avals();
        if results.len() < carry {
            return Err(Error::new(
                ErrorKind::Arity,
                format!(
                    "the body gives {} results for {carry} carries",
                    results.len()
                ),
            ));
        }
        Body::check_carry(&slices[consts..], &results[..carry])?;
        Ok(self.stack_results(results).into())
    }

    /// The number of stacked results is that of the equation's results without carries, whatever the text says.
    fn complete(&mut self, _operands: &[Aval], results: &[Aval]) {
        self.ft_out = ScanOutputs {
            carry: self.ft_in.carry,
            ys: results.len().saturating_sub(self.ft_in.carry),
        };
    }

    fn jvp(&self, b: &Builder, primals: &[Atom], tangents: &[Option<Atom>]) -> Result<JvpResult> {
        let out = self.body().jvp(b, primals, tangents)?;
        let results = self
            .with_body(out.jaxpr.clone(), out.consts, out.carry)
            .bind(b, &out.operands);
        Ok(out.derivative(&results))
    }

    fn batch(&self, b: &Builder, operands: &[Batched], axis: &BatchAxis) -> Result<BatchedResults> {
        self.batch_rule(b, operands, axis)
    }

    fn transpose(
        &self,
        b: &Builder,
        cotangents: &[Option<Atom>],
        operands: &[TransposeArg],
    ) -> Result<Cotangents> {
        self.transpose_rule(b, cotangents, operands)
    }

    fn linearize(
        &self,
        split: &Split<'_>,
        primals: &[Atom],
        tangents: &[Option<Atom>],
    ) -> Result<Option<JvpResult>> {
        self.linearize_rule(split, primals, tangents).map(Some)
    }

    fn partial_eval(&self, split: &Split<'_>, operands: &[Partial]) -> Result<Option<Partials>> {
        self.partial_eval_rule(split, operands).map(Some)
    }

    fn partial_eval_saving(&self, saving: &mut Saving<'_>) -> Result<Option<SavingResult>> {
        self.saving_rule(saving).map(Some)
    }

    /// A carry is used if its result is, or if a step needs it.
    fn dce(&self, memo: &Memo, used: &[bool]) -> Result<Option<Trimmed>> {
        let body = self.body();
        let mut start = vec![false; body.consts];
        start.extend(&used[..body.carry]);
        start.resize(self.jaxpr.jaxpr.invars.len(), false);
        let (out, arguments) = body.fixpoint(
            start,
            |out: &Dce| out.inputs[body.carried()].to_vec(),
            |kept, required| dce_jaxpr(memo, &self.jaxpr, &or(required, used), kept),
        )?;
        let outputs = [&arguments[body.carried()], &used[body.carry..]].concat();
        let all = !out.inputs.contains(&false) && !outputs.contains(&false);
        if all && out.jaxpr.same(&self.jaxpr) {
            return Ok(None);
        }
        let consts = count(&out.inputs[..body.consts]);
        let carry = count(&out.inputs[body.carried()]);
        Ok(Some(Trimmed {
            prim: self.with_body(out.jaxpr, consts, carry).into(),
            inputs: out.inputs,
            outputs,
        }))
    }
}

impl Scan {
    fn body(&self) -> Body<'_> {
        Body {
            jaxpr: &self.jaxpr,
            consts: self.ft_in.consts,
            carry: self.ft_in.carry,
        }
    }

    /// Types of the results from those of the body.
    fn stack_results(&self, mut results: Vec<Aval>) -> Vec<Aval> {
        for slice in &mut results[self.ft_in.carry..] {
            *slice = unmapped(slice, Some(0), self.length);
        }
        results
    }

    /// The same loop with another body.
    fn with_body(&self, jaxpr: ClosedJaxpr, consts: usize, carry: usize) -> Scan {
        let xs = jaxpr.jaxpr.invars.len() - consts - carry;
        let ys = jaxpr.jaxpr.outvars.len() - carry;
        Scan {
            ft_in: ScanInputs { consts, carry, xs },
            ft_out: ScanOutputs { carry, ys },
            jaxpr,
            ..self.clone()
        }
    }

    /// Writes the loop.
    fn bind(self, b: &Builder, operands: &[Atom]) -> Vec<Atom> {
        let results = self.stack_results(self.jaxpr.out_avals());
        b.push(self.into(), operands, &results).into_vec()
    }
}
