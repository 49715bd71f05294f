//! `custom_jvp_call`: a call with its own forward derivative.
//!
//! The rule's jaxpr takes the arguments behind the captured ones, then their tangents (all of them, or the perturbed
//! ones where the rule sees symbolic zeros), and gives the results, then a tangent for each.

use std::sync::Arc;

use super::super::elementwise::to_front;
use super::super::*;
use super::call::*;
use super::inlined::*;
use super::library;
use crate::error::{Error, ErrorKind, Result};
use crate::jaxpr::{Atom, Aval, Builder, ClosedJaxpr};
use crate::marks::present;
use crate::transform::{Memo, OutDim, Split, batch, dce_jaxpr, inline, split_jvp};

/// Results and tangents from primals and tangents.
type Derivative<'a> = Box<dyn Fn(&Builder, &[Atom], &[Option<Atom>]) -> Result<JvpResult> + 'a>;

impl Primitive for CustomJvpCall {
    fn abstract_eval(&self, operands: &[Aval]) -> Result<Avals> {
        check_count("num_consts", self.num_consts, operands)?;
        check_call(&self.call_jaxpr, operands)
    }

    /// By the rule; without one (text names it only, and it is none that JAX brings along) the function itself is
    /// differentiated.
    fn jvp(&self, b: &Builder, primals: &[Atom], tangents: &[Option<Atom>]) -> Result<JvpResult> {
        if let Some(derivative) = self.derivative() {
            return derivative(b, primals, tangents);
        }
        inlined_jvp(b, &self.call_jaxpr, primals, tangents)
    }

    fn linearize(
        &self,
        split: &Split<'_>,
        primals: &[Atom],
        tangents: &[Option<Atom>],
    ) -> Result<Option<JvpResult>> {
        if let Some(derivative) = self.derivative() {
            return split_jvp(split, "custom_jvp_call", primals, tangents, derivative).map(Some);
        }
        inlined_linearize(split, &self.call_jaxpr, primals, tangents).map(Some)
    }

    fn batch(&self, b: &Builder, operands: &[Batched], axis: &BatchAxis) -> Result<BatchedResults> {
        let mut operands = operands.to_vec();
        let (_, own) = operands.split_at_mut(self.num_consts);
        let mapped = own.iter().filter(|operand| operand.dim.is_some()).count();
        if library::captured(self).is_some() && mapped > 0 && mapped < own.len() {
            // The rule is found by name again: its arguments must go together as they did.
            for operand in own {
                *operand = Batched {
                    value: to_front(b, *operand, axis.size),
                    dim: Some(0),
                };
            }
        }
        let dims = Batched::dims(&operands);
        let call = batch_callee(&self.call_jaxpr, b, &operands, axis, OutDim::AsIs)?;
        let prim = CustomJvpCall {
            call_jaxpr: call.jaxpr.clone(),
            jvp: self.batched_rule(axis, &dims, &call.dims),
            ..self.clone()
        };
        let results = bind(b, prim, &call.jaxpr, &Batched::values(&operands));
        Ok(Batched::all(results, &call.dims))
    }

    /// Of the function itself, which is linear where it is transposed.
    fn transpose(
        &self,
        b: &Builder,
        cotangents: &[Option<Atom>],
        operands: &[TransposeArg],
    ) -> Result<Cotangents> {
        inlined_transpose(b, &self.call_jaxpr, cotangents, operands)
    }

    /// All arguments stay: the rule may need them.
    fn dce(&self, memo: &Memo, used: &[bool]) -> Result<Option<Trimmed>> {
        let inputs = vec![true; self.call_jaxpr.jaxpr.invars.len()];
        let out = dce_jaxpr(memo, &self.call_jaxpr, used, &inputs)?;
        let jvp = if used.contains(&false) {
            let results = used.repeat(2);
            let rule = self.rule().unwrap_or_else(|| self.jvp.clone());
            rule.map(move |jaxpr| Ok(with_results(&jaxpr, &results)))
        } else {
            self.jvp.clone()
        };
        let prim = CustomJvpCall {
            call_jaxpr: out.jaxpr,
            jvp,
            ..self.clone()
        };
        Ok(Some(Trimmed {
            prim: prim.into(),
            inputs,
            outputs: used.to_vec(),
        }))
    }
}

impl CustomJvpCall {
    /// The rule that the call carries, or one that its name stands for.
    fn rule(&self) -> Option<Rule> {
        match self.jvp.make {
            Some(_) => Some(self.jvp.clone()),
            None => library::rule(self),
        }
    }

    /// How its results and tangents are computed, if there is more to it than the function itself.
    fn derivative(&self) -> Option<Derivative<'_>> {
        if self.jvp.make.is_some() {
            return Some(Box::new(move |b, primals, tangents| {
                let rule = self.jvp.jaxpr(&present(&tangents[self.num_consts..]))?;
                self.apply(&rule, b, primals, tangents)
            }));
        }
        if let Some(known) = library::find(self) {
            // Written as part of this transformation, so that the functions it calls are the same each time.
            return Some(Box::new(move |b, primals, tangents| {
                let rule = known.jaxpr(self, b.nested())?;
                self.apply(&rule, b, primals, tangents)
            }));
        }
        let tangents_of = library::captured(self)?;
        Some(Box::new(move |b, primals, tangents| {
            let results = b.emit(self.clone(), primals)?;
            let x = &primals[self.num_consts..];
            let tangents = tangents[self.num_consts..].iter().zip(x);
            let tangents = tangents.map(|(&tangent, &x)| b.instantiate(tangent, &b.aval(x)));
            let tangents = tangents_of(b, &results, x, &tangents.collect::<Vec<_>>())?;
            Ok(JvpResult::new(
                results,
                tangents.into_iter().map(Some).collect(),
            ))
        }))
    }

    fn apply(
        &self,
        rule: &ClosedJaxpr,
        b: &Builder,
        primals: &[Atom],
        tangents: &[Option<Atom>],
    ) -> Result<JvpResult> {
        let tangents = behind_captured("custom_jvp_call", "jvp", tangents, self.num_consts)?;
        let primals = &primals[self.num_consts..];
        let count = self.call_jaxpr.jaxpr.outvars.len();
        let mut args = primals.to_vec();
        for (&primal, &tangent) in primals.iter().zip(tangents) {
            if self.symbolic_zeros {
                args.extend(tangent);
            } else {
                args.push(b.instantiate(tangent, &b.aval(primal)));
            }
        }
        let results = inline(b, rule, &args)?;
        if results.len() != 2 * count {
            return Err(Error::new(
                ErrorKind::Arity,
                format!(
                    "the rule of {} gives {} values, and {count} results with a tangent each are expected",
                    self.name,
                    results.len()
                ),
            ));
        }
        Ok(JvpResult::split(&results, &vec![true; count]))
    }

    /// The rule over all lanes: tangents are mapped as their primals are.
    fn batched_rule(
        &self,
        axis: &BatchAxis,
        dims: &[Option<usize>],
        out_dims: &[Option<usize>],
    ) -> Rule {
        let Some(make) = self.rule().and_then(|rule| rule.make) else {
            return self.jvp.clone();
        };
        let primal_dims = dims[self.num_consts..].to_vec();
        let out_dims: Vec<OutDim> = out_dims
            .iter()
            .chain(out_dims)
            .map(|&dim| OutDim::At(dim))
            .collect();
        let (axis, symbolic) = (axis.clone(), self.symbolic_zeros);
        let batched = move |perturbed: &[bool]| -> Result<ClosedJaxpr> {
            let rule = make(perturbed)?;
            let tangents = primal_dims
                .iter()
                .zip(perturbed)
                .filter(|(_, perturbed)| !symbolic || **perturbed)
                .map(|(&dim, _)| dim);
            let dims: Vec<Option<usize>> = primal_dims.iter().copied().chain(tangents).collect();
            Ok(batch(&Builder::new(), &rule, &axis, &dims, &out_dims)?.jaxpr)
        };
        Rule {
            name: self.jvp.name.clone(),
            make: Some(Arc::new(batched)),
        }
    }
}

impl Rule {
    /// The rule's jaxpr for a mask of perturbed inputs.
    pub(super) fn jaxpr(&self, perturbed: &[bool]) -> Result<ClosedJaxpr> {
        match &self.make {
            Some(make) => make(perturbed),
            None => Err(Error::unsupported(format!(
                "the rule {} is known by name only, as text does not carry it",
                self.name
            ))),
        }
    }

    /// The same rule with its jaxpr changed by `f`.
    pub(super) fn map(
        &self,
        f: impl Fn(ClosedJaxpr) -> Result<ClosedJaxpr> + Send + Sync + 'static,
    ) -> Rule {
        let make = self.make.clone().map(|make| {
            let changed = move |perturbed: &[bool]| f(make(perturbed)?);
            Arc::new(changed) as Arc<RuleFn>
        });
        Rule {
            name: self.name.clone(),
            make,
        }
    }
}
