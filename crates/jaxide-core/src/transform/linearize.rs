//! Linearization: results now, and a jaxpr of the tangents that is linear.
//!
//! Like forward-mode differentiation, with results and tangents on the two sides of a [`Split`].

use std::collections::HashMap;

use super::environment::{Environment, bind_constants};
use super::jvp::differentiate;
use super::partial_eval::{Split, close_unknown, eval_partial, forward_residuals};
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::jaxpr::{Atom, Builder, ClosedJaxpr, Jaxpr, debug_check};
use crate::jaxpr::{MemoArgs, flags};
use crate::marks::{keep, present};
use crate::prims::{JvpResult, Partial, Prim};
use crate::transform::dce_jaxpr;

/// A linearized jaxpr.
#[derive(Clone)]
pub struct Linearized {
    /// Arguments to results, then residuals that are not forwarded.
    pub primal: ClosedJaxpr,
    /// All residuals, then non-zero tangents, to non-zero tangents.
    pub linear: ClosedJaxpr,
    /// Which results have a tangent.
    pub nonzero: Vec<bool>,
    /// For each residual the constant or argument that it is, constants counted first.
    pub forwarded: Vec<Option<usize>>,
}

/// Linearizes `jaxpr` in the arguments marked in `nonzero`. Results marked in `instantiate` get a tangent in any case;
/// a residual that is one of the arguments marked in `forward` is named in [`Linearized::forwarded`] instead of
/// being a result.
///
/// # Errors
/// When an equation has no derivative; the message names it.
pub fn linearize(
    b: &Builder,
    jaxpr: &ClosedJaxpr,
    nonzero: &[bool],
    instantiate: &[bool],
    forward: &[bool],
) -> Result<Linearized> {
    let mut args = MemoArgs::new();
    flags(&mut args, nonzero);
    flags(&mut args, instantiate);
    flags(&mut args, forward);
    b.memo().of_jaxpr("linearize", jaxpr, args, || {
        let b = b.nested();
        let consts = bind_constants(&b, jaxpr);
        let avals = jaxpr.in_avals();
        let primals: Vec<Atom> = avals.iter().map(|aval| b.input(aval.clone())).collect();
        let split = Split::new(&b);
        let tangents: Vec<Option<Atom>> = avals
            .iter()
            .zip(nonzero)
            .map(|(aval, &nonzero)| nonzero.then(|| split.unknown.input(aval.tangent())))
            .collect();
        let (mut results, tangents) =
            eval_linearize(&split, &jaxpr.jaxpr, &consts, &primals, &tangents)?;
        let tangents: Vec<Option<Atom>> = tangents
            .into_iter()
            .zip(jaxpr.out_avals())
            .zip(instantiate)
            .map(|((tangent, aval), &instantiate)| {
                // The zero is a known value like any other.
                let zero = || split.residual(b.zeros(&aval.tangent()));
                tangent.or_else(|| instantiate.then(zero))
            })
            .collect();
        let nonzero = present(&tangents);
        let tangents: Vec<Atom> = tangents.into_iter().flatten().collect();
        let (linear, residuals) = close_linear(split, &tangents)?;
        let (forwarded, computed) = forward_residuals(&consts, &primals, forward, &residuals);
        results.extend(computed);
        let primal = super::dce(&b.finish(&results)?)?;
        debug_check("linearize", &primal)?;
        debug_check("linearize", &linear)?;
        Ok(Linearized {
            primal,
            linear,
            nonzero,
            forwarded,
        })
    })
}

/// Writes the equations of `jaxpr` into the known side of `split` and those of its tangents into the unknown side.
pub(crate) fn eval_linearize(
    split: &Split<'_>,
    jaxpr: &Jaxpr,
    consts: &[Atom],
    primals: &[Atom],
    tangents: &[Option<Atom>],
) -> Result<(Vec<Atom>, Vec<Option<Atom>>)> {
    let b = split.known;
    let mut env = Environment::new(jaxpr);
    env.bind(&jaxpr.constvars, consts.iter().map(|&atom| (atom, None)));
    env.bind(
        &jaxpr.invars,
        primals.iter().copied().zip(tangents.iter().copied()),
    );
    for eqn in &jaxpr.eqns {
        let before = b.set_source(eqn.source);
        split.unknown.set_source(eqn.source);
        let (primals, tangents): (Vec<Atom>, Vec<Option<Atom>>) =
            eqn.inputs.iter().map(|&atom| env.read(atom)).unzip();
        let rules = eqn.prim.rules();
        if tangents.iter().all(Option::is_none) && !rules.makes_reference() {
            let results = b.push(eqn.prim.clone(), &primals, &env.result_avals(eqn));
            env.bind(&eqn.outputs, results.iter().map(|&atom| (atom, None)));
        } else {
            let own = b
                .require_types(&eqn.prim, &primals)
                .and_then(|()| rules.linearize(split, &primals, &tangents))
                .map_err(|error| error.in_operation(eqn.prim.name()).at(eqn.source))?;
            let out = match own {
                Some(out) => out,
                None => linearize_by_jvp(split, &eqn.prim, &primals, &tangents)
                    .map_err(|error| error.at(eqn.source))?,
            };
            env.bind(&eqn.outputs, out.primals.into_iter().zip(out.tangents));
        }
        b.set_source(before);
    }
    b.check()?;
    split.unknown.check()?;
    Ok(jaxpr.outvars.iter().map(|&atom| env.read(atom)).unzip())
}

/// Linearizes one equation by splitting what its jvp rule writes.
pub(crate) fn linearize_by_jvp(
    split: &Split<'_>,
    prim: &Prim,
    primals: &[Atom],
    tangents: &[Option<Atom>],
) -> Result<JvpResult> {
    split_jvp(
        split,
        prim.name(),
        primals,
        tangents,
        |b, primals, tangents| differentiate(b, prim, primals, tangents),
    )
}

/// Splits what `rule` writes into what depends on the primals alone and the linear rest.
pub(crate) fn split_jvp(
    split: &Split<'_>,
    name: &str,
    primals: &[Atom],
    tangents: &[Option<Atom>],
    rule: impl FnOnce(&Builder, &[Atom], &[Option<Atom>]) -> Result<JvpResult>,
) -> Result<JvpResult> {
    // The rule sees variables of its own; operands that are the same stay the same.
    let scratch = split.known.nested().computed_as_arguments();
    let mut places: HashMap<Atom, Atom> = HashMap::new();
    let mut arguments = Vec::new();
    let mut argument = |atom: Atom, aval: crate::jaxpr::Aval, value: Partial| {
        *places.entry(atom).or_insert_with(|| {
            arguments.push(value);
            scratch.input(aval)
        })
    };
    let inner_primals: Vec<Atom> = primals
        .iter()
        .map(|&atom| match atom {
            literal @ Atom::Lit(_) => literal,
            Atom::Var(_) => argument(atom, split.known.aval(atom), Partial::Known(atom)),
        })
        .collect();
    let inner = Split::new(split.known);
    let mut outer_tangents = Vec::new();
    let inner_tangents: Vec<Option<Atom>> = tangents
        .iter()
        .zip(primals)
        .map(|(&tangent, &primal)| {
            let tangent = tangent?;
            let aval = split.unknown.aval(tangent);
            if split.known.aval(primal).dtype.tangent() == DType::Float0 {
                return None;
            }
            outer_tangents.push(tangent);
            let inner = inner.unknown.input(aval.clone());
            arguments.push(Partial::Unknown(inner));
            Some(scratch.input(aval))
        })
        .collect();
    let out = rule(&scratch, &inner_primals, &inner_tangents)?;
    let mut results: Vec<Atom> = out.primals.to_vec();
    results.extend(out.tangents.iter().flatten());
    let computed = scratch.computed_literals().into_iter();
    arguments.extend(computed.map(|literal| Partial::Known(split.known.computed(literal))));
    let written = scratch.finish(&results)?;
    let consts = bind_constants(split.known, &written);
    let results = eval_partial(&inner, &written.jaxpr, &consts, &arguments)?;
    let (results, linear) = results.split_at(out.primals.len());
    let primals = results
        .iter()
        .map(|&result| match result {
            Partial::Known(atom) => Ok(atom),
            Partial::Unknown(_) => Err(Error::no_rule(
                name,
                "reverse-mode",
                "its results cannot be computed without its tangents",
            )),
        })
        .collect::<Result<_>>()?;
    let unknown: Vec<Partial> = linear.iter().copied().filter(|l| l.is_unknown()).collect();
    let (linear_jaxpr, residuals, _) = close_unknown(inner, &unknown, &vec![false; unknown.len()])?;
    let (linear_jaxpr, residuals) = trim_residuals(split.known, &linear_jaxpr, residuals)?;
    let mut new =
        inline_linear(split, &linear_jaxpr.jaxpr, &residuals, &outer_tangents)?.into_iter();
    let mut linear = linear.iter();
    let tangents = out
        .tangents
        .iter()
        .map(|tangent| {
            let _ = tangent.as_ref()?;
            linear
                .next()
                .filter(|l| l.is_unknown())
                .and_then(|_| new.next())
        })
        .collect();
    Ok(JvpResult { primals, tangents })
}

/// Writes a linear jaxpr into the unknown side; residuals cross over where they are first used.
fn inline_linear(
    split: &Split<'_>,
    jaxpr: &Jaxpr,
    residuals: &[Atom],
    tangents: &[Atom],
) -> Result<Vec<Atom>> {
    let (residual_vars, tangent_vars) = jaxpr.invars.split_at(residuals.len());
    let mut env: Environment<'_, Partial> = Environment::new(jaxpr);
    env.bind(
        residual_vars,
        residuals.iter().map(|&atom| Partial::Known(atom)),
    );
    env.bind(
        tangent_vars,
        tangents.iter().map(|&atom| Partial::Unknown(atom)),
    );
    for eqn in &jaxpr.eqns {
        split.unknown.set_source(eqn.source);
        let operands: Vec<Atom> = eqn
            .inputs
            .iter()
            .map(|&atom| split.unknown(env.read(atom)))
            .collect();
        let avals = env.result_avals(eqn);
        let results = split.unknown.push(eqn.prim.clone(), &operands, &avals);
        env.bind(&eqn.outputs, results.into_iter().map(Partial::Unknown));
    }
    Ok(jaxpr
        .outvars
        .iter()
        .map(|&atom| split.unknown(env.read(atom)))
        .collect())
}

/// Ends the unknown side of a linearization: residuals become leading arguments, and what nothing needs goes.
pub(crate) fn close_linear(
    split: Split<'_>,
    tangents: &[Atom],
) -> Result<(ClosedJaxpr, Vec<Atom>)> {
    let b = split.known;
    let (jaxpr, residuals) = split.finish(tangents)?;
    let mut jaxpr = std::sync::Arc::unwrap_or_clone(jaxpr.jaxpr);
    let arguments = std::mem::take(&mut jaxpr.invars);
    jaxpr.invars = std::mem::take(&mut jaxpr.constvars);
    jaxpr.invars.extend(arguments);
    trim_residuals(b, &ClosedJaxpr::new(jaxpr, Vec::new()), residuals)
}

/// Removes dead equations and the leading arguments that only they use.
fn trim_residuals(
    b: &Builder,
    jaxpr: &ClosedJaxpr,
    residuals: Vec<Atom>,
) -> Result<(ClosedJaxpr, Vec<Atom>)> {
    let outputs = vec![true; jaxpr.jaxpr.outvars.len()];
    let mut kept = vec![false; residuals.len()];
    kept.resize(jaxpr.jaxpr.invars.len(), true);
    let trimmed = dce_jaxpr(b.memo(), jaxpr, &outputs, &kept)?;
    let residuals = keep(&residuals, &trimmed.inputs[..residuals.len()]);
    Ok((trimmed.jaxpr, residuals))
}
