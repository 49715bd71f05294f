//! `remat2`: a call whose intermediate values are computed again for the derivative.

use super::super::*;
use super::call::*;
use super::halves::{Halves, separate, together, unknowns};
use crate::error::Result;
use crate::jaxpr::{Atom, Aval, Builder, ClosedJaxpr, Eqn, Jaxpr, Var, flags};
use crate::marks::{count, keep, not, present, spread};
use crate::transform::{
    Memo, MemoArgs, OutDim, Policy, Saving, SavingRequest, SavingResult, Split, backward_pass,
    bind_constants, constants_as_arguments, dce_jaxpr, inline, partial_eval, partial_eval_saving,
};

impl Primitive for Remat {
    call_rules! { abstract_eval jvp dce }

    fn batch(&self, b: &Builder, operands: &[Batched], axis: &BatchAxis) -> Result<BatchedResults> {
        let out = batch_callee(&self.jaxpr, b, operands, axis, OutDim::FrontIfMapped)?;
        let results = self.bind_closed(b, &out.jaxpr, &Batched::values(operands));
        Ok(Batched::all(results, &out.dims))
    }

    fn transpose(
        &self,
        b: &Builder,
        cotangents: &[Option<Atom>],
        operands: &[TransposeArg],
    ) -> Result<Cotangents> {
        let linear = TransposeArg::linears(operands);
        let out = transpose_remat(b, &self.jaxpr, &linear, &present(cotangents))?;
        let results = self.bind_closed(b, &out.jaxpr, &with_cotangents(operands, cotangents));
        Ok(spread(results, &out.nonzero))
    }

    /// What the policy keeps and the known results are computed now, outside the call; the unknown side is a call that
    /// computes the rest again.
    fn partial_eval(&self, split: &Split<'_>, operands: &[Partial]) -> Result<Option<Partials>> {
        let b = split.known;
        let unknown = unknowns(operands);
        let none = no_results(&self.jaxpr);
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
        let known_results = count(&not(&parts.unknown));
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
        let new = backward.bind_closed(&split.unknown, &staged, &inputs);
        Ok(Some(together(&parts.unknown, known_out, &new)))
    }

    fn partial_eval_saving(&self, saving: &mut Saving<'_>) -> Result<Option<SavingResult>> {
        let parts = saving.split_callee(&self.jaxpr)?;
        let new = saving.new_vars(parts.residual_avals());
        let residuals = new.iter().map(|&var| Atom::Var(var)).collect();
        let known = self.with_callee(parts.known.clone());
        let backward = Remat {
            differentiated: true,
            ..self.with_callee(parts.staged.clone())
        };
        let sides = [known.into(), backward.into()];
        Ok(Some(saving.both_sides(parts, sides, &new, residuals)))
    }
}

impl Remat {
    /// Writes a call of `callee`, whose constants become leading operands.
    fn bind_closed(&self, b: &Builder, callee: &ClosedJaxpr, operands: &[Atom]) -> Vec<Atom> {
        let operands = [&bind_constants(b, callee), operands].concat();
        self.bind(b, &constants_as_arguments(callee), &operands)
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
        let known = keep(&avals, &not(linear)).into_iter();
        let known: Vec<Atom> = known.map(|aval| b.input(aval)).collect();
        let cotangents: Vec<Option<Atom>> = jaxpr
            .out_avals()
            .into_iter()
            .zip(cotangents)
            .map(|(aval, &nonzero)| nonzero.then(|| b.input(aval.tangent())))
            .collect();
        let forward = vec![true; linear.len()];
        let none = vec![false; cotangents.len()];
        let parts = partial_eval(&b, jaxpr, linear, &none, &forward)?;
        let unknown_results = parts.unknown_results.clone();
        let halves = Halves::from(parts);
        let computed = inline(&b, &halves.known, &known)?;
        let residuals = halves.residuals(&b, jaxpr, &known, &computed[halves.results..]);
        let cotangents = keep(&cotangents, &unknown_results);
        let linear_avals = halves.unknown.in_avals().split_off(residuals.len());
        let linear_args = linear_avals
            .iter()
            .map(|aval| TransposeArg::Linear(aval.tangent()));
        let mut args: Vec<TransposeArg> =
            residuals.iter().copied().map(TransposeArg::Known).collect();
        args.extend(linear_args);
        let start = vec![None; args.len()];
        let consts = bind_constants(&b, &halves.unknown);
        let callee = &halves.unknown.jaxpr;
        let out = backward_pass(&b, callee, &consts, &args, start, &cotangents)?;
        let all: Vec<Option<Option<Atom>>> = spread(out[residuals.len()..].iter().copied(), linear);
        let all: Vec<Option<Atom>> = all.into_iter().map(Option::flatten).collect();
        let results: Vec<Atom> = all.iter().flatten().copied().collect();
        Ok(TransposedRemat {
            jaxpr: b.finish(&results)?,
            nonzero: present(&all),
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
