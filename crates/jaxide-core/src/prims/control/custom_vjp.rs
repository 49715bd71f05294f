//! `custom_vjp_call`: a call with its own reverse derivative; `custom_lin`: its linear part.
//!
//! The forward rule's jaxpr takes the arguments behind the captured ones and gives the results, then residuals. The
//! backward rule's takes residuals and a cotangent for each result and gives a cotangent for each of those arguments.
//! Both are made for the mask of perturbed arguments.

use std::sync::Arc;

use super::super::*;
use super::call::*;
use super::inlined::*;
use crate::dtype::DType;
use crate::error::{Error, ErrorKind, Result};
use crate::jaxpr::{Atom, Aval, Builder, ClosedJaxpr};
use crate::marks::present;
use crate::transform::{Memo, OutDim, Split, batch, broadcast, dce_jaxpr, inline, move_axis};

const FORWARD_MODE: &str =
    "it has a custom_vjp rule, which knows reverse mode only: use custom_jvp, or take grad or vjp";

impl Primitive for CustomVjpCall {
    fn abstract_eval(&self, operands: &[Aval]) -> Result<Avals> {
        check_count("num_consts", self.num_consts, operands)?;
        check_call(&self.call_jaxpr, operands)
    }

    /// By the rules, the tangents being a `custom_lin`; without rules (the text names them only) the function itself is
    /// differentiated.
    fn jvp(&self, b: &Builder, primals: &[Atom], tangents: &[Option<Atom>]) -> Result<JvpResult> {
        if self.fwd.make.is_some() {
            let forward = self.forward(b, primals, tangents)?;
            let tangents = forward
                .linear
                .bind(b, &forward.residuals, &forward.tangents)?;
            return Ok(JvpResult::new(forward.results, tangents));
        }
        inlined_jvp(b, &self.call_jaxpr, primals, tangents)
    }

    fn linearize(
        &self,
        split: &Split<'_>,
        primals: &[Atom],
        tangents: &[Option<Atom>],
    ) -> Result<Option<JvpResult>> {
        if self.fwd.make.is_some() {
            let forward = self.forward(split.known, primals, tangents)?;
            let residuals: Vec<Atom> = forward
                .residuals
                .iter()
                .map(|&atom| split.residual(atom))
                .collect();
            let tangents = forward
                .linear
                .bind(&split.unknown, &residuals, &forward.tangents)?;
            return Ok(Some(JvpResult::new(forward.results, tangents)));
        }
        inlined_linearize(split, &self.call_jaxpr, primals, tangents).map(Some)
    }

    fn batch(&self, b: &Builder, operands: &[Batched], axis: &BatchAxis) -> Result<BatchedResults> {
        let dims = Batched::dims(operands);
        let call = batch_callee(&self.call_jaxpr, b, operands, axis, OutDim::AsIs)?;
        let prim = CustomVjpCall {
            call_jaxpr: call.jaxpr.clone(),
            ..self.batched_rules(axis, &dims[self.num_consts..], &call.dims)
        };
        let results = bind(b, prim, &call.jaxpr, &Batched::values(operands));
        Ok(Batched::all(results, &call.dims))
    }

    fn transpose(
        &self,
        b: &Builder,
        cotangents: &[Option<Atom>],
        operands: &[TransposeArg],
    ) -> Result<Cotangents> {
        inlined_transpose(b, &self.call_jaxpr, cotangents, operands)
    }

    /// All arguments stay: the rules may need them.
    fn dce(&self, memo: &Memo, used: &[bool]) -> Result<Option<Trimmed>> {
        if !used.contains(&false) {
            return Ok(None);
        }
        let inputs = vec![true; self.call_jaxpr.jaxpr.invars.len()];
        let out = dce_jaxpr(memo, &self.call_jaxpr, used, &inputs)?;
        let prim = CustomVjpCall {
            call_jaxpr: out.jaxpr,
            fwd: without_results(&self.fwd, used),
            bwd: without_cotangents(&self.bwd, used, &self.call_jaxpr.out_avals()),
            ..self.clone()
        };
        Ok(Some(Trimmed {
            prim: prim.into(),
            inputs,
            outputs: used.to_vec(),
        }))
    }
}

/// A call run forwards by its rule.
struct Forward {
    results: Vec<Atom>,
    residuals: Vec<Atom>,
    /// Tangents that are not zero.
    tangents: Vec<Atom>,
    linear: CustomLin,
}

impl CustomVjpCall {
    fn forward(&self, b: &Builder, primals: &[Atom], tangents: &[Option<Atom>]) -> Result<Forward> {
        let tangents = behind_captured("custom_vjp_call", "vjp", tangents, self.num_consts)?;
        let perturbed = present(tangents);
        let rule = self.fwd.jaxpr(&perturbed)?;
        let out = inline(b, &rule, &primals[self.num_consts..])?;
        let count = self.call_jaxpr.jaxpr.outvars.len();
        if out.len() < count {
            return Err(Error::new(
                ErrorKind::Arity,
                format!(
                    "the forward rule of {} gives {} values, and {count} results are expected before its residuals",
                    self.name,
                    out.len()
                ),
            ));
        }
        let (results, residuals) = out.split_at(count);
        let mask = perturbed.clone();
        let bwd = self.bwd.clone();
        // The linear part takes perturbed tangents only and gives cotangents of those.
        let of_perturbed = bwd.make.clone().map(|make| {
            let perturbed_only =
                move |_: &[bool]| -> Result<ClosedJaxpr> { Ok(with_results(&make(&mask)?, &mask)) };
            Arc::new(perturbed_only) as Arc<RuleFn>
        });
        Ok(Forward {
            results: results.to_vec(),
            residuals: residuals.to_vec(),
            tangents: tangents.iter().flatten().copied().collect(),
            linear: CustomLin {
                bwd: Rule {
                    name: bwd.name,
                    make: of_perturbed,
                },
                num_res: residuals.len(),
                out_avals: self
                    .call_jaxpr
                    .out_avals()
                    .iter()
                    .map(Aval::tangent)
                    .collect(),
                symbolic_zeros: self.symbolic_zeros,
            },
        })
    }

    /// The rules over all lanes. Cotangents of arguments that all lanes share are summed over the lanes.
    fn batched_rules(
        &self,
        axis: &BatchAxis,
        dims: &[Option<usize>],
        out_dims: &[Option<usize>],
    ) -> CustomVjpCall {
        let (Some(fwd), Some(bwd)) = (self.fwd.make.clone(), self.bwd.make.clone()) else {
            return self.clone();
        };
        let count = out_dims.len();
        let forward = {
            let (axis, dims, out_dims) = (axis.clone(), dims.to_vec(), out_dims.to_vec());
            move |perturbed: &[bool]| -> Result<(ClosedJaxpr, Vec<Option<usize>>)> {
                let rule = fwd(perturbed)?;
                let mut places: Vec<OutDim> = out_dims.iter().map(|&dim| OutDim::At(dim)).collect();
                places.resize(rule.jaxpr.outvars.len(), OutDim::AsIs);
                let out = batch(&Builder::new(), &rule, &axis, &dims, &places)?;
                Ok((out.jaxpr, out.dims[count..].to_vec()))
            }
        };
        let forward = Arc::new(forward);
        let backward = {
            let forward = forward.clone();
            let (axis, dims, out_dims) = (axis.clone(), dims.to_vec(), out_dims.to_vec());
            move |perturbed: &[bool]| -> Result<ClosedJaxpr> {
                let rule = bwd(perturbed)?;
                let (_, residual_dims) = forward(perturbed)?;
                let in_dims = [residual_dims, out_dims.clone()].concat();
                let b = Builder::new();
                let as_is = vec![OutDim::AsIs; rule.jaxpr.outvars.len()];
                let out = batch(&b, &rule, &axis, &in_dims, &as_is)?;
                let inner = b.nested();
                let avals = out.jaxpr.in_avals();
                let args: Vec<Atom> = avals.into_iter().map(|aval| inner.input(aval)).collect();
                let cotangents = inline(&inner, &out.jaxpr, &args)?;
                let results: Vec<Atom> = cotangents
                    .into_iter()
                    .zip(&out.dims)
                    .zip(&dims)
                    .map(|((value, from), to)| match (from, to) {
                        (None, None) => value,
                        (Some(from), Some(to)) => move_axis(&inner, value, *from, *to),
                        (None, Some(to)) => broadcast(&inner, value, axis.size, *to),
                        (Some(from), None) => inner.reduce_sum(value, &[*from]),
                    })
                    .collect();
                inner.finish(&results)
            }
        };
        CustomVjpCall {
            fwd: Rule {
                name: self.fwd.name.clone(),
                make: Some(Arc::new(
                    move |perturbed: &[bool]| Ok(forward(perturbed)?.0),
                )),
            },
            bwd: Rule {
                name: self.bwd.name.clone(),
                make: Some(Arc::new(backward)),
            },
            ..self.clone()
        }
    }
}

/// The forward rule without the results that are not used.
fn without_results(rule: &Rule, used: &[bool]) -> Rule {
    let used = used.to_vec();
    rule.map(move |jaxpr| {
        let mut marks = used.clone();
        marks.resize(jaxpr.jaxpr.outvars.len(), true);
        Ok(with_results(&jaxpr, &marks))
    })
}

/// The backward rule with zeros for the cotangents of results that are not used.
fn without_cotangents(rule: &Rule, used: &[bool], results: &[Aval]) -> Rule {
    let (used, results) = (used.to_vec(), results.to_vec());
    rule.map(move |jaxpr| {
        let b = Builder::new();
        let avals = jaxpr.in_avals();
        let residuals = avals.len() - used.len();
        let mut args: Vec<Atom> = avals[..residuals]
            .iter()
            .map(|aval| b.input(aval.clone()))
            .collect();
        for (aval, &used) in results.iter().zip(&used) {
            let aval = aval.tangent();
            args.push(if used { b.input(aval) } else { b.zeros(&aval) });
        }
        let out = inline(&b, &jaxpr, &args)?;
        b.finish(&out)
    })
}

impl CustomLin {
    /// Writes the linear part on residuals and non-zero tangents; integers have no tangents.
    fn bind(&self, b: &Builder, residuals: &[Atom], tangents: &[Atom]) -> Result<Tangents> {
        let operands = [residuals, tangents].concat();
        let results = b.emit(self.clone(), &operands)?;
        let differentiable = |aval: &Aval| aval.dtype != DType::Float0;
        Ok(results
            .into_iter()
            .zip(&self.out_avals)
            .map(|(result, aval)| differentiable(aval).then_some(result))
            .collect())
    }
}

impl Primitive for CustomLin {
    fn abstract_eval(&self, operands: &[Aval]) -> Result<Avals> {
        check_count("num_res", self.num_res, operands)?;
        Ok(self.out_avals.as_slice().into())
    }

    fn complete(&mut self, _operands: &[Aval], results: &[Aval]) {
        self.out_avals = results.to_vec();
    }

    no_rules! { "custom_lin", FORWARD_MODE; jvp batch }

    /// By the backward rule.
    fn transpose(
        &self,
        b: &Builder,
        cotangents: &[Option<Atom>],
        operands: &[TransposeArg],
    ) -> Result<Cotangents> {
        let rule = self.bwd.jaxpr(&[])?;
        let (residuals, linear) = operands.split_at(self.num_res);
        let mut args: Vec<Atom> = residuals.iter().filter_map(TransposeArg::known).collect();
        for (cotangent, aval) in cotangents.iter().zip(&self.out_avals) {
            args.push(b.instantiate(*cotangent, aval));
        }
        let out = inline(b, &rule, &args)?;
        if out.len() != linear.len() {
            return Err(Error::new(
                ErrorKind::Arity,
                format!(
                    "the backward rule {} gives {} cotangents, and {} are expected",
                    self.bwd.name,
                    out.len(),
                    linear.len()
                ),
            ));
        }
        let mut all: Cotangents = residuals.iter().map(|_| None).collect();
        for (atom, operand) in out.into_iter().zip(linear) {
            all.push(operand.is_linear().then_some(atom));
        }
        Ok(all)
    }
}
