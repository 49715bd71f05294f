//! `remat2`: a call whose intermediate values are computed again for the derivative.

use super::super::*;
use super::call::*;
use crate::error::Result;
use crate::jaxpr::{Atom, Aval, Builder, ClosedJaxpr, Eqn, Jaxpr, Var, flags};
use crate::marks::keep;
use crate::transform::dce_jaxpr;
use crate::transform::{
    Memo, MemoArgs, OutDim, Policy, Saving, SavingRequest, SavingResult, Split, backward_pass,
    batch, bind_constants, constants_as_arguments, partial_eval, partial_eval_saving,
};

impl Call for Remat {
    fn callee(&self) -> &ClosedJaxpr {
        &self.jaxpr
    }

    fn with_callee(&self, jaxpr: ClosedJaxpr) -> Self {
        Remat {
            jaxpr,
            ..self.clone()
        }
    }
}

impl Primitive for Remat {
    fn abstract_eval(&self, operands: &[Aval]) -> Result<Avals> {
        check_call(&self.jaxpr, operands)
    }

    fn jvp(&self, b: &Builder, primals: &[Atom], tangents: &[Option<Atom>]) -> Result<JvpResult> {
        call_jvp(self, b, primals, tangents)
    }

    fn batch(&self, b: &Builder, operands: &[Batched], axis: &BatchAxis) -> Result<BatchedResults> {
        let dims: Vec<Option<usize>> = operands.iter().map(|operand| operand.dim).collect();
        let places = vec![OutDim::FrontIfMapped; self.jaxpr.jaxpr.outvars.len()];
        let out = batch(b, &self.jaxpr, axis, &dims, &places)?;
        let values: Vec<Atom> = operands.iter().map(|operand| operand.value).collect();
        Ok(batched(self.bind_closed(b, &out.jaxpr, values), &out.dims))
    }

    fn transpose(
        &self,
        b: &Builder,
        cotangents: &[Option<Atom>],
        operands: &[TransposeArg],
    ) -> Result<Cotangents> {
        let linear: Vec<bool> = operands.iter().map(TransposeArg::is_linear).collect();
        let out = transpose_remat(b, &self.jaxpr, &linear, &nonzeros(cotangents))?;
        let known: Vec<Atom> = operands.iter().filter_map(TransposeArg::known).collect();
        let results = self.bind_closed(b, &out.jaxpr, with_tangents(&known, cotangents));
        Ok(spread(&results, &out.nonzero))
    }

    /// What the policy keeps and the known results are computed now, outside the call; the unknown side is a call that
    /// computes the rest again.
    fn partial_eval(&self, split: &Split<'_>, operands: &[Partial]) -> Result<Option<Partials>> {
        let b = split.known;
        let unknown: Vec<bool> = operands
            .iter()
            .map(|operand| operand.is_unknown())
            .collect();
        let none = vec![false; self.jaxpr.jaxpr.outvars.len()];
        let request = SavingRequest {
            unknown: &unknown,
            instantiated: &vec![true; unknown.len()],
            ensure_unknown: &none,
            ensure_instantiated: &none,
            policy: &Policy::read(&self.policy),
        };
        let parts = partial_eval_saving(b.memo(), &self.jaxpr, request)?;
        let arguments = vec![false; parts.staged.jaxpr.invars.len()];
        let wanted = keep(&parts.unknown, &parts.instantiated);
        let staged = dce_jaxpr(b.memo(), &parts.staged, &wanted, &arguments)?;
        let (used_residuals, used_operands) = staged.inputs.split_at(parts.residuals);
        let known_results = parts.unknown.iter().filter(|unknown| !**unknown).count();
        let mut used = vec![true; known_results];
        used.extend(used_residuals);
        let arguments = vec![false; parts.known.jaxpr.invars.len()];
        let known = dce_jaxpr(b.memo(), &parts.known, &used, &arguments)?;
        let (known_in, _) = separate(operands);
        let known_jaxpr = reduce_residual_precision(&known.jaxpr.jaxpr, known_results);
        let consts = bind_constants(b, &known.jaxpr);
        let results = b.inline(&known_jaxpr, &consts, &keep(&known_in, &known.inputs))?;
        let (known_out, residuals) = results.split_at(known_results);
        // Constants of the unknown side are known values, too.
        let constants = bind_constants(b, &staged.jaxpr);
        let crossing = constants.iter().chain(residuals);
        let mut inputs: Vec<Atom> = crossing.map(|&atom| split.residual(atom)).collect();
        let operands = keep(operands, used_operands);
        inputs.extend(operands.iter().map(|&operand| split.unknown(operand)));
        let backward = Remat {
            differentiated: true,
            ..self.clone()
        };
        let staged = constants_as_arguments(&staged.jaxpr);
        let new = backward.bind_closed(&split.unknown, &staged, inputs);
        Ok(Some(merge(&parts.unknown, known_out, &new)))
    }

    fn partial_eval_saving(&self, saving: &mut Saving<'_>) -> Result<Option<SavingResult>> {
        let none = vec![false; self.jaxpr.jaxpr.outvars.len()];
        let request = SavingRequest {
            unknown: saving.unknown,
            instantiated: saving.instantiated,
            ensure_unknown: &none,
            ensure_instantiated: &none,
            policy: saving.policy,
        };
        let parts = partial_eval_saving(saving.memo, &self.jaxpr, request)?;
        let eqn = saving.eqn;
        let staged_avals = &parts.staged.in_avals()[..parts.residuals];
        let new: Vec<Var> = staged_avals
            .iter()
            .map(|aval| saving.jaxpr.new_var(aval.clone()))
            .collect();
        let not_unknown: Vec<bool> = saving.unknown.iter().map(|unknown| !unknown).collect();
        let known_out: Vec<bool> = parts.unknown.iter().map(|unknown| !unknown).collect();
        let known = Eqn {
            prim: self.with_callee(parts.known).into(),
            inputs: keep(&eqn.inputs, &not_unknown).into(),
            outputs: keep(&eqn.outputs, &known_out)
                .into_iter()
                .chain(new.iter().copied())
                .collect(),
            source: eqn.source,
        };
        let backward = Remat {
            differentiated: true,
            ..self.with_callee(parts.staged)
        };
        let given = keep(&eqn.inputs, saving.instantiated);
        let staged = Eqn {
            prim: backward.into(),
            inputs: new.iter().map(|&var| Atom::Var(var)).chain(given).collect(),
            outputs: keep(&eqn.outputs, &parts.instantiated).into(),
            source: eqn.source,
        };
        let mut residuals = saving.missing_operands();
        residuals.extend(new);
        Ok(Some(SavingResult {
            known: Some(known),
            staged: Some(staged),
            unknown: parts.unknown,
            instantiated: parts.instantiated,
            residuals,
        }))
    }

    fn dce(&self, memo: &Memo, used: &[bool]) -> Result<Option<Trimmed>> {
        call_dce(self, memo, used)
    }
}

impl Remat {
    /// Writes a call of `callee`, whose constants become leading operands.
    fn bind_closed(&self, b: &Builder, callee: &ClosedJaxpr, operands: Vec<Atom>) -> Vec<Atom> {
        let mut all = bind_constants(b, callee);
        all.extend(operands);
        let callee = constants_as_arguments(callee);
        bind(b, self.with_callee(callee.clone()), &callee, &all)
    }
}

#[derive(Clone)]
struct TransposedRemat {
    jaxpr: ClosedJaxpr,
    nonzero: Vec<bool>,
}

/// Known arguments, then non-zero cotangents, to cotangents: computes what is known again, then goes backwards.
fn transpose_remat(
    b: &Builder,
    jaxpr: &ClosedJaxpr,
    linear: &[bool],
    cotangents: &[bool],
) -> Result<TransposedRemat> {
    let mut args = MemoArgs::new();
    flags(&mut args, linear);
    flags(&mut args, cotangents);
    b.memo().of_jaxpr("transpose_remat", jaxpr, args, || {
        let b = b.nested();
        let avals = jaxpr.in_avals();
        let known: Vec<Atom> = avals
            .iter()
            .zip(linear)
            .filter(|(_, linear)| !**linear)
            .map(|(aval, _)| b.input(aval.clone()))
            .collect();
        let cotangents: Vec<Option<Atom>> = jaxpr
            .out_avals()
            .into_iter()
            .zip(cotangents)
            .map(|(aval, &nonzero)| nonzero.then(|| b.input(aval.tangent())))
            .collect();
        let forward = vec![true; linear.len()];
        let none = vec![false; cotangents.len()];
        let parts = partial_eval(&b, jaxpr, linear, &none, &forward)?;
        let consts = bind_constants(&b, &parts.known);
        let computed = b.inline(&parts.known.jaxpr, &consts, &known)?;
        let known_results = parts
            .unknown_results
            .iter()
            .filter(|unknown| !**unknown)
            .count();
        let residuals = restore_residuals(
            &b,
            jaxpr,
            &parts.forwarded,
            &known,
            &computed[known_results..],
        );
        let cotangents = keep(&cotangents, &parts.unknown_results);
        let linear_avals = parts.unknown.in_avals().split_off(residuals.len());
        let args: Vec<TransposeArg> = residuals
            .iter()
            .map(|&atom| TransposeArg::Known(atom))
            .chain(
                linear_avals
                    .iter()
                    .map(|aval| TransposeArg::Linear(aval.tangent())),
            )
            .collect();
        let start = vec![None; args.len()];
        let consts = bind_constants(&b, &parts.unknown);
        let out = backward_pass(&b, &parts.unknown.jaxpr, &consts, &args, start, &cotangents)?;
        let mut of_linear = out[residuals.len()..].iter().copied();
        let all: Vec<Option<Atom>> = linear
            .iter()
            .map(|&linear| {
                if linear {
                    of_linear.next().flatten()
                } else {
                    None
                }
            })
            .collect();
        let results: Vec<Atom> = all.iter().flatten().copied().collect();
        Ok(TransposedRemat {
            jaxpr: b.finish(&results)?,
            nonzero: all.iter().map(Option::is_some).collect(),
        })
    })
}

/// Rounds residuals that the known side uses itself to the precision of their type, so that both sides see the same
/// number whatever the compiler keeps in wider registers.
fn reduce_residual_precision(jaxpr: &Jaxpr, results: usize) -> Jaxpr {
    let mut new = jaxpr.clone();
    let used: Vec<Var> = jaxpr
        .eqns
        .iter()
        .flat_map(|eqn| eqn.inputs.iter().filter_map(|atom| atom.var()))
        .collect();
    for var in jaxpr.outvars[results..]
        .iter()
        .filter_map(|atom| atom.var())
    {
        let aval = jaxpr.aval_of(var).clone();
        let Some((exponent_bits, mantissa_bits)) = format_bits(aval.dtype) else {
            continue;
        };
        if !used.contains(&var) {
            continue;
        }
        let wide = new.new_var(aval);
        let prim = ReducePrecision {
            exponent_bits,
            mantissa_bits,
        };
        let eqn = |source| Eqn {
            prim: prim.clone().into(),
            inputs: [Atom::Var(wide)].into_iter().collect(),
            outputs: [var].into_iter().collect(),
            source,
        };
        if let Some(place) = new.invars.iter().position(|&invar| invar == var) {
            new.invars[place] = wide;
            new.eqns.insert(0, eqn(crate::error::Source::Unknown));
            continue;
        }
        let Some(place) = new.eqns.iter().position(|eqn| eqn.outputs.contains(&var)) else {
            continue;
        };
        if new.eqns[place].prim == Prim::from(prim.clone()) {
            continue;
        }
        let source = new.eqns[place].source;
        for output in &mut new.eqns[place].outputs {
            if *output == var {
                *output = wide;
            }
        }
        new.eqns.insert(place + 1, eqn(source));
    }
    new
}

/// Bits of exponent and mantissa of the real part of an inexact type.
fn format_bits(dtype: crate::DType) -> Option<(u32, u32)> {
    match dtype.real() {
        crate::DType::F64 => Some((11, 52)),
        crate::DType::F32 => Some((8, 23)),
        crate::DType::F16 => Some((5, 10)),
        crate::DType::BF16 => Some((8, 7)),
        _ => None,
    }
}
