//! Forward-mode differentiation: every equation is followed by the equations of its tangent.

use super::environment::{Environment, bind_constants};
use crate::error::Result;
use crate::jaxpr::{Atom, Builder, ClosedJaxpr, Jaxpr, debug_check};
use crate::jaxpr::{MemoArgs, flags};
use crate::prims::{JvpResult, Prim};

/// A jaxpr from primals and non-zero tangents to results and non-zero tangents.
#[derive(Clone)]
pub struct Jvp {
    /// Takes all primals, then the tangents that are not zero; gives results likewise.
    pub jaxpr: ClosedJaxpr,
    /// Which results have a tangent.
    pub nonzero: Vec<bool>,
}

/// Differentiates `jaxpr` with respect to the arguments marked in `nonzero`; results marked in `instantiate` get a
/// tangent even where it is zero.
///
/// # Errors
/// When an equation has no derivative; the message names it.
pub fn jvp(
    b: &Builder,
    jaxpr: &ClosedJaxpr,
    nonzero: &[bool],
    instantiate: &[bool],
) -> Result<Jvp> {
    let mut args = MemoArgs::new();
    flags(&mut args, nonzero);
    flags(&mut args, instantiate);
    b.memo().of_jaxpr("jvp", jaxpr, args, || {
        let b = b.nested();
        let consts = bind_constants(&b, jaxpr);
        let avals = jaxpr.in_avals();
        let primals: Vec<Atom> = avals.iter().map(|aval| b.input(aval.clone())).collect();
        let tangents: Vec<Option<Atom>> = avals
            .iter()
            .zip(nonzero)
            .map(|(aval, &nonzero)| nonzero.then(|| b.input(aval.tangent())))
            .collect();
        let (mut results, tangents) = eval_jvp(&b, &jaxpr.jaxpr, &consts, &primals, &tangents)?;
        let tangents: Vec<Option<Atom>> = tangents
            .into_iter()
            .zip(jaxpr.out_avals())
            .zip(instantiate)
            .map(|((tangent, aval), &instantiate)| {
                tangent.or_else(|| instantiate.then(|| b.zeros(&aval.tangent())))
            })
            .collect();
        let nonzero = crate::marks::present(&tangents);
        results.extend(tangents.into_iter().flatten());
        let jaxpr = b.finish(&results)?;
        debug_check("jvp", &jaxpr)?;
        Ok(Jvp { jaxpr, nonzero })
    })
}

/// Writes the equations of `jaxpr` and of its tangents into `b`; gives results and tangents, `None` where zero.
pub(crate) fn eval_jvp(
    b: &Builder,
    jaxpr: &Jaxpr,
    consts: &[Atom],
    primals: &[Atom],
    tangents: &[Option<Atom>],
) -> Result<(Vec<Atom>, Vec<Option<Atom>>)> {
    let mut env = Environment::new(jaxpr);
    env.bind(&jaxpr.constvars, consts.iter().map(|&atom| (atom, None)));
    env.bind(
        &jaxpr.invars,
        primals.iter().copied().zip(tangents.iter().copied()),
    );
    for eqn in &jaxpr.eqns {
        let before = b.set_source(eqn.source);
        let (primals, tangents): (Vec<Atom>, Vec<Option<Atom>>) =
            eqn.inputs.iter().map(|&atom| env.read(atom)).unzip();
        if tangents.iter().all(Option::is_none) && !eqn.prim.rules().makes_reference() {
            let results = b.push(eqn.prim.clone(), &primals, &env.result_avals(eqn));
            env.bind(&eqn.outputs, results.iter().map(|&atom| (atom, None)));
        } else {
            let out = differentiate(b, &eqn.prim, &primals, &tangents)
                .map_err(|error| error.at(eqn.source))?;
            env.bind(&eqn.outputs, out.primals.into_iter().zip(out.tangents));
        }
        b.set_source(before);
    }
    b.check()?;
    Ok(jaxpr.outvars.iter().map(|&atom| env.read(atom)).unzip())
}

/// The rule of one equation, whose mistakes name it; tangents of integers are zero.
pub(crate) fn differentiate(
    b: &Builder,
    prim: &Prim,
    primals: &[Atom],
    tangents: &[Option<Atom>],
) -> Result<JvpResult> {
    let mut out = b
        .require_types(prim, primals)
        .and_then(|()| prim.rules().jvp(b, primals, tangents))
        .map_err(|error| error.in_operation(prim.name()))?;
    for (&primal, tangent) in out.primals.iter().zip(&mut out.tangents) {
        if b.aval(primal).dtype.tangent() == crate::DType::Float0 {
            *tangent = None;
        }
    }
    Ok(out)
}
