//! `CustomRoot`: a root found by a solver, differentiated by the implicit function theorem.
//!
//! Operands are the solver's constants, guesses, the function's constants and those of the tangent solver. The
//! function's jaxpr takes its constants and the root; the tangent solver's takes its constants, the root and
//! right-hand sides. Text names neither: then the solver itself is differentiated.

use std::sync::Arc;

use super::super::*;
use super::call::*;
use super::inlined::inlined_jvp;
use crate::error::{Error, Result};
use crate::jaxpr::{Atom, Aval, Builder, ClosedJaxpr};
use crate::transform::{OutDim, batch, inline};

impl Primitive for CustomRoot {
    fn abstract_eval(&self, operands: &[Aval]) -> Result<Avals> {
        let count = self.solve_jaxpr.jaxpr.invars.len();
        let args = operands.get(..count).unwrap_or(operands);
        check_arguments("the solver", &self.solve_jaxpr, args)?;
        Ok(self.solve_jaxpr.out_avals().into())
    }

    /// From `f(p, x) = 0` follows `dx = -(∂f/∂x)⁻¹ (∂f/∂p) dp`.
    fn jvp(&self, b: &Builder, primals: &[Atom], tangents: &[Option<Atom>]) -> Result<JvpResult> {
        if self.f.make.is_none() {
            let count = self.solve_jaxpr.jaxpr.invars.len();
            return inlined_jvp(b, &self.solve_jaxpr, &primals[..count], &tangents[..count]);
        }
        let (consts, guesses, f_consts) = self.counts;
        let results = b.emit(self.clone(), primals)?;
        let root = &results[..guesses];
        let f_range = consts + guesses..consts + guesses + f_consts;
        if tangents[f_range.clone()].iter().all(Option::is_none) {
            let tangents = results.iter().map(|_| None).collect();
            return Ok(JvpResult::new(results, tangents));
        }
        let f = self.f.jaxpr(&[])?;
        let args = [&primals[f_range.clone()], root].concat();
        let mut dots = tangents[f_range.clone()].to_vec();
        dots.resize(args.len(), None);
        let residual_dots = inlined_jvp(b, &f, &args, &dots)?.tangents.into_iter();
        let rhs = residual_dots.zip(root);
        let rhs: Vec<Atom> = rhs
            .map(|(dot, &x)| b.instantiate(dot, &b.aval(x)))
            .collect();
        let solve = self.tangent_solve.jaxpr(&[])?;
        let args = [&primals[f_range.end..], root, &rhs].concat();
        let solved = inline(b, &solve, &args)?;
        let mut tangents: Tangents = solved.into_iter().map(|dot| Some(b.neg(dot))).collect();
        tangents.resize(results.len(), None);
        Ok(JvpResult::new(results, tangents))
    }

    fn batch(&self, b: &Builder, operands: &[Batched], axis: &BatchAxis) -> Result<BatchedResults> {
        let (consts, guesses, f_consts) = self.counts;
        let dims = Batched::dims(operands);
        let solver = self.solve_jaxpr.jaxpr.invars.len();
        // The root is mapped: even where its start is not, its tangents may be.
        let roots = if self.f.make.is_some() { guesses } else { 0 };
        let mut places = vec![OutDim::Front; roots];
        places.resize(self.solve_jaxpr.jaxpr.outvars.len(), OutDim::AsIs);
        let out = batch(b, &self.solve_jaxpr, axis, &dims[..solver], &places)?;
        let fronts = |count: usize| vec![Some(0); count];
        let batched_rule = |rule: &Rule, dims: Vec<Option<usize>>| {
            let axis = axis.clone();
            rule.map(move |jaxpr| {
                let places = vec![OutDim::Front; jaxpr.jaxpr.outvars.len()];
                Ok(batch(&Builder::new(), &jaxpr, &axis, &dims, &places)?.jaxpr)
            })
        };
        let f_end = (consts + guesses + f_consts).min(dims.len());
        let f_dims = [
            dims[(consts + guesses).min(f_end)..f_end].to_vec(),
            fronts(guesses),
        ]
        .concat();
        let solve_dims = [dims[f_end..].to_vec(), fronts(2 * guesses)].concat();
        let solver = as_call(out.jaxpr.clone())?;
        let prim = CustomRoot {
            solve_jaxpr: solver.clone(),
            f: batched_rule(&self.f, f_dims),
            tangent_solve: batched_rule(&self.tangent_solve, solve_dims),
            ..self.clone()
        };
        let results = bind(b, prim, &solver, &Batched::values(operands));
        Ok(Batched::all(results, &out.dims))
    }

    no_rules! { "CustomRoot", "a root is not linear in anything"; transpose }
}

/// A function that calls this one, unless this one does nothing else but call.
fn as_call(solver: ClosedJaxpr) -> Result<ClosedJaxpr> {
    let calls =
        matches!(solver.jaxpr.eqns.as_slice(), [only] if matches!(only.prim, Prim::EvalJaxpr(_)));
    if calls {
        return Ok(solver);
    }
    let b = Builder::new();
    let avals = solver.in_avals();
    let args: Vec<Atom> = avals.into_iter().map(|aval| b.input(aval)).collect();
    let call = EvalJaxpr {
        call_jaxpr: solver.clone(),
    };
    let results = bind(&b, call, &solver, &args);
    b.finish(&results)
}

/// The map `v ↦ (∂f/∂x) v` at a point, or its transpose: operands are the function's constants, the point, then `v`.
/// The rule's jaxpr takes the constants and the point.
impl Primitive for RootLinearMap {
    fn abstract_eval(&self, operands: &[Aval]) -> Result<Avals> {
        // The function maps the space of the point to itself, so that the vector has as many parts as the point.
        let count = match &self.f.make {
            Some(_) => self.f.jaxpr(&[])?.jaxpr.outvars.len(),
            None => 1.min(operands.len()),
        };
        Ok(operands[operands.len() - count.min(operands.len())..]
            .iter()
            .map(Aval::tangent)
            .collect())
    }

    fn jvp(&self, b: &Builder, primals: &[Atom], tangents: &[Option<Atom>]) -> Result<JvpResult> {
        let count = self.f.jaxpr(&[])?.jaxpr.outvars.len();
        let place = primals.len() - count;
        if tangents[..place].iter().any(Option::is_some) {
            return inlined_jvp(b, &self.expand()?, primals, tangents);
        }
        let results = b.emit(self.clone(), primals)?;
        let mut operands = primals[..place].to_vec();
        for (tangent, &v) in tangents[place..].iter().zip(&primals[place..]) {
            operands.push(b.instantiate(*tangent, &b.aval(v)));
        }
        let tangents = b.emit(self.clone(), &operands)?;
        let tangents = tangents.into_iter().map(Some).collect();
        Ok(JvpResult::new(results, tangents))
    }

    fn batch(&self, b: &Builder, operands: &[Batched], axis: &BatchAxis) -> Result<BatchedResults> {
        let out = batch_callee(&self.expand()?, b, operands, axis, OutDim::AsIs)?;
        let results = inline(b, &out.jaxpr, &Batched::values(operands))?;
        Ok(Batched::all(results, &out.dims))
    }

    fn transpose(
        &self,
        b: &Builder,
        cotangents: &[Option<Atom>],
        operands: &[TransposeArg],
    ) -> Result<Cotangents> {
        let place = operands.len() - cotangents.len();
        let mut inputs: Vec<Atom> = operands[..place]
            .iter()
            .filter_map(TransposeArg::known)
            .collect();
        if inputs.len() != place {
            return Err(Error::no_rule(
                "_RootLinearMap",
                "transpose",
                "it is linear in its last operands only",
            ));
        }
        for (cotangent, operand) in cotangents.iter().zip(&operands[place..]) {
            inputs.push(b.instantiate(*cotangent, &operand.aval(b)));
        }
        let prim = RootLinearMap {
            transposed: !self.transposed,
            ..self.clone()
        };
        let out = b.emit(prim, &inputs)?;
        let known = operands[..place].iter().map(|_| None);
        Ok(known.chain(out.into_iter().map(Some)).collect())
    }
}

impl RootLinearMap {
    /// The map as equations of the function's derivative.
    ///
    /// # Errors
    /// When the function is known by name only, or has no derivative.
    pub fn expand(&self) -> Result<ClosedJaxpr> {
        use crate::transform::{Step, apply};
        let f = self.f.jaxpr(&[])?;
        let count = f.jaxpr.outvars.len();
        let all: Vec<usize> = (0..count).collect();
        let point: Vec<usize> = all
            .iter()
            .map(|index| f.jaxpr.invars.len() - count + index)
            .collect();
        let step = if self.transposed {
            Step::Vjp {
                argnums: point,
                cotangent_outs: all,
            }
        } else {
            Step::Jvp {
                argnums: point,
                tangent_outs: all,
            }
        };
        let whole = apply(&f, &step)?;
        let mut derivative = (*whole.jaxpr).clone();
        derivative.outvars.drain(..count);
        Ok(ClosedJaxpr {
            jaxpr: Arc::new(derivative),
            consts: whole.consts,
        })
    }
}
