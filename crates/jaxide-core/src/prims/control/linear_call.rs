//! `linear_call`: a call with its own transpose.
//!
//! Operands are captured constants, residuals, then linear operands. The rule's jaxpr takes residuals and cotangents
//! of the results and gives cotangents of the linear operands. Where text gives it by name only, the function itself is
//! transposed.

use std::sync::Arc;

use super::super::*;
use super::call::*;
use super::inlined::inlined_transpose;
use crate::error::{Error, Result};
use crate::jaxpr::{Atom, Aval, Builder};
use crate::transform::{bind_constants, constants_as_arguments};

impl Primitive for LinearCall {
    fn abstract_eval(&self, operands: &[Aval]) -> Result<Avals> {
        let known = self.num_callee_consts.saturating_add(self.num_res);
        check_count("num_callee_consts + num_res", known, operands)?;
        check_call(&self.callee, operands)
    }

    fn jvp(&self, b: &Builder, primals: &[Atom], tangents: &[Option<Atom>]) -> Result<JvpResult> {
        let known = self.num_callee_consts + self.num_res;
        if tangents[..known].iter().any(Option::is_some) {
            return Err(Error::no_rule(
                "linear_call",
                "jvp",
                "its residuals are differentiated, and only its linear operands can be",
            ));
        }
        let results = bind(b, self.clone(), &self.callee, primals);
        let mut operands = primals[..known].to_vec();
        for (tangent, &primal) in tangents[known..].iter().zip(&primals[known..]) {
            operands.push(b.instantiate(*tangent, &b.aval(primal)));
        }
        let tangents = bind(b, self.clone(), &self.callee, &operands);
        let tangents = tangents.into_iter().map(Some).collect();
        Ok(JvpResult::new(results, tangents))
    }

    no_rules! { "linear_call", "its transpose is a function of one lane: batch it with custom_vjp instead"; batch }

    fn transpose(
        &self,
        b: &Builder,
        cotangents: &[Option<Atom>],
        operands: &[TransposeArg],
    ) -> Result<Cotangents> {
        if self.transpose_thunk.make.is_none() {
            // Text names the rule only: what it is the transpose of is there.
            return inlined_transpose(b, &self.callee, cotangents, operands);
        }
        let rule = self.transpose_thunk.jaxpr(&[])?;
        let consts = bind_constants(b, &rule);
        let (captured, rest) = operands.split_at(self.num_callee_consts);
        let (residuals, linear) = rest.split_at(self.num_res);
        let captured_avals: Vec<Aval> = captured.iter().map(|operand| operand.aval(b)).collect();
        if linear.iter().any(|operand| !operand.is_linear()) {
            return Err(Error::no_rule(
                "linear_call",
                "transpose",
                "a linear operand is known, and its transpose takes all of them as linear",
            ));
        }
        // Captured operands become residuals of the transposed call, so that its own transpose has them.
        let mut inputs = consts;
        let constants = inputs.len();
        inputs.extend(
            captured
                .iter()
                .chain(residuals)
                .filter_map(TransposeArg::known),
        );
        for (cotangent, aval) in cotangents.iter().zip(self.callee.out_avals()) {
            inputs.push(b.instantiate(*cotangent, &aval));
        }
        let transposed =
            with_unused_arguments(&constants_as_arguments(&rule), constants, &captured_avals);
        let back = self.callee.clone();
        let prim = LinearCall {
            callee: transposed.clone(),
            num_callee_consts: constants,
            num_res: self.num_callee_consts + self.num_res,
            transpose_thunk: Rule {
                name: self.transpose_thunk.name.clone(),
                make: Some(Arc::new(move |_: &[bool]| Ok(back.clone()))),
            },
        };
        let results = bind(b, prim, &transposed, &inputs);
        let mut out: Cotangents = operands.iter().map(|_| None).collect();
        for (place, result) in out[operands.len() - linear.len()..].iter_mut().zip(results) {
            *place = Some(result);
        }
        Ok(out)
    }
}
