//! What each step does to a flat function.

use std::sync::Arc;

use super::batch::{OutDim, eval_batch, place, unmapped};
use super::environment::{bind_constants, constants_as_arguments};
use super::jacobian;
use super::jvp::eval_jvp;
use super::linearize::{close_linear, eval_linearize};
use super::partial_eval::Split;
use super::transpose::backward_pass;
use crate::dtype::DType;
use crate::error::{Error, ErrorKind, Result};
use crate::jaxpr::{Atom, Aval, Builder, ClosedJaxpr, Jaxpr, Literal, Scalar};
use crate::prims::{BatchAxis, Batched, Jit, Name, Opaque, Remat, TransposeArg, adopt_combiners};

/// A flat function being transformed.
pub(super) struct FlatFunction<'a> {
    pub(super) jaxpr: &'a ClosedJaxpr,
}

/// A function linearized at its arguments.
struct Pullback {
    results: Vec<Atom>,
    linear: Arc<Jaxpr>,
    residuals: Vec<Atom>,
    /// Which results have a tangent.
    nonzero: Vec<bool>,
}

impl FlatFunction<'_> {
    /// An empty jaxpr for the result.
    fn builder(&self) -> Builder {
        let b = Builder::new();
        adopt_combiners(&b, self.jaxpr);
        b
    }

    fn inputs(&self, b: &Builder) -> Vec<Atom> {
        let avals = self.jaxpr.in_avals();
        avals.into_iter().map(|aval| b.input(aval)).collect()
    }

    pub(super) fn jvp(&self, argnums: &[usize], tangent_outs: &[usize]) -> Result<ClosedJaxpr> {
        self.check_arguments(argnums)?;
        self.check_results(tangent_outs)?;
        let b = self.builder();
        let consts = bind_constants(&b, self.jaxpr);
        let primals = self.inputs(&b);
        let tangents = self.tangent_inputs(&b, argnums);
        let (mut results, tangents) =
            eval_jvp(&b, &self.jaxpr.jaxpr, &consts, &primals, &tangents)?;
        results.extend(self.given_tangents(&b, &tangents, tangent_outs));
        b.finish(&results)
    }

    pub(super) fn linearize(
        &self,
        argnums: &[usize],
        tangent_outs: &[usize],
    ) -> Result<ClosedJaxpr> {
        self.check_arguments(argnums)?;
        self.check_results(tangent_outs)?;
        let b = self.builder();
        let primals = self.inputs(&b);
        let tangents: Vec<Atom> = self
            .tangent_inputs(&b, argnums)
            .into_iter()
            .flatten()
            .collect();
        let at = self.linearized(&b, &primals, argnums)?;
        let args: Vec<Atom> = at.residuals.iter().copied().chain(tangents).collect();
        let mut linear = b.inline(&at.linear, &[], &args)?.into_iter();
        let mut results = at.results.clone();
        let tangents: Vec<Option<Atom>> = at
            .nonzero
            .iter()
            .map(|&nonzero| if nonzero { linear.next() } else { None })
            .collect();
        results.extend(self.given_tangents(&b, &tangents, tangent_outs));
        b.finish(&results)
    }

    pub(super) fn vjp(&self, argnums: &[usize], cotangent_outs: &[usize]) -> Result<ClosedJaxpr> {
        self.check_arguments(argnums)?;
        self.check_results(cotangent_outs)?;
        let b = self.builder();
        let primals = self.inputs(&b);
        let mut cotangents = vec![None; self.jaxpr.jaxpr.outvars.len()];
        for &out in cotangent_outs {
            cotangents[out] = Some(b.input(self.jaxpr.out_avals()[out].tangent()));
        }
        let at = self.linearized(&b, &primals, argnums)?;
        let gradients = self.pull_back(&b, &at, argnums, &cotangents)?;
        let results: Vec<Atom> = at.results.iter().copied().chain(gradients).collect();
        b.finish(&results)
    }

    pub(super) fn grad(&self, argnums: &[usize], with_value: bool) -> Result<ClosedJaxpr> {
        self.check_arguments(argnums)?;
        self.check_results(&[0])?;
        let out = self.jaxpr.out_avals()[0].clone();
        if out.rank() != 0 {
            return Err(Error::shape(format!(
                "a gradient is that of a scalar, and the result is {out}: sum it, or use jacrev"
            ))
            .in_operation("grad"));
        }
        if out.dtype.is_complex() {
            return Err(Error::dtype(format!(
                "a gradient is that of a real number, and the result is {out}: take its real part, or use vjp"
            ))
            .in_operation("grad"));
        }
        let b = self.builder();
        let primals = self.inputs(&b);
        let at = self.linearized(&b, &primals, argnums)?;
        let one = Atom::Lit(Literal {
            value: Scalar::Float(1.0),
            dtype: out.dtype,
            weak_type: out.weak_type,
        });
        let mut cotangents = vec![None; at.results.len()];
        cotangents[0] = Some(one);
        let gradients = self.pull_back(&b, &at, argnums, &cotangents)?;
        let value = with_value.then(|| at.results[0]);
        let results: Vec<Atom> = value.into_iter().chain(gradients).collect();
        b.finish(&results)
    }

    pub(super) fn jacfwd(&self, argnums: &[usize]) -> Result<ClosedJaxpr> {
        self.check_arguments(argnums)?;
        self.check_results(&(0..self.jaxpr.jaxpr.outvars.len()).collect::<Vec<_>>())?;
        let b = self.builder();
        let primals = self.inputs(&b);
        let in_avals = self.jaxpr.in_avals();
        let leaves: Vec<Aval> = argnums.iter().map(|&arg| in_avals[arg].clone()).collect();
        let basis = jacobian::standard_basis(&b, &leaves)?;
        let pushforward = self.jvp(
            argnums,
            &(0..self.jaxpr.jaxpr.outvars.len()).collect::<Vec<_>>(),
        )?;
        let size = leaves.iter().map(Aval::size).sum();
        let args: Vec<Batched> = primals
            .iter()
            .map(|&value| Batched { value, dim: None })
            .chain(basis.iter().map(|&value| Batched {
                value,
                dim: Some(0),
            }))
            .collect();
        let axis = BatchAxis { size, name: None };
        let consts = bind_constants(&b, &pushforward);
        let out = eval_batch(&b, &pushforward.jaxpr, &consts, &args, &axis)?;
        let count = self.jaxpr.jaxpr.outvars.len();
        let mut columns = Vec::new();
        for (&column, aval) in out[count..].iter().zip(self.jaxpr.out_avals()) {
            columns.push(place(&b, column, OutDim::At(Some(aval.rank())), size)?.value);
        }
        let mut results = Vec::new();
        for (column, aval) in columns.into_iter().zip(self.jaxpr.out_avals()) {
            results.extend(jacobian::unravel(&b, column, aval.rank(), &leaves, &aval));
        }
        b.finish(&results)
    }

    pub(super) fn jacrev(&self, argnums: &[usize]) -> Result<ClosedJaxpr> {
        self.check_arguments(argnums)?;
        let outs: Vec<usize> = (0..self.jaxpr.jaxpr.outvars.len()).collect();
        self.check_results(&outs)?;
        let b = self.builder();
        let primals = self.inputs(&b);
        let at = self.linearized(&b, &primals, argnums)?;
        let leaves = self.jaxpr.out_avals();
        let basis = jacobian::standard_basis(&b, &leaves)?;
        let size = leaves.iter().map(Aval::size).sum();
        // The pullback as a function of residuals and cotangents, then for all rows of the basis at once.
        let inner = b.nested();
        let residuals: Vec<Atom> = at
            .residuals
            .iter()
            .map(|&atom| inner.input(b.aval(atom)))
            .collect();
        let cotangents: Vec<Option<Atom>> = leaves
            .iter()
            .map(|aval| Some(inner.input(aval.tangent())))
            .collect();
        let inner_at = Pullback {
            results: Vec::new(),
            linear: at.linear.clone(),
            residuals,
            nonzero: at.nonzero.clone(),
        };
        let gradients = self.pull_back(&inner, &inner_at, argnums, &cotangents)?;
        let pullback = inner.finish(&gradients)?;
        let args: Vec<Batched> = at
            .residuals
            .iter()
            .map(|&value| Batched { value, dim: None })
            .chain(basis.iter().map(|&value| Batched {
                value,
                dim: Some(0),
            }))
            .collect();
        let axis = BatchAxis { size, name: None };
        let rows = eval_batch(&b, &pullback.jaxpr, &[], &args, &axis)?;
        let rows: Vec<Batched> = rows
            .into_iter()
            .map(|row| place(&b, row, OutDim::Front, size))
            .collect::<Result<_>>()?;
        let in_avals = self.jaxpr.in_avals();
        let parts: Vec<Vec<Atom>> = rows
            .iter()
            .zip(argnums)
            .map(|(row, &arg)| jacobian::unravel(&b, row.value, 0, &leaves, &in_avals[arg]))
            .collect();
        let results: Vec<Atom> = outs
            .iter()
            .flat_map(|&out| parts.iter().map(move |part| part[out]))
            .collect();
        b.finish(&results)
    }

    pub(super) fn vmap(
        &self,
        in_axes: &[Option<i64>],
        out_axes: i64,
        axis: &BatchAxis,
    ) -> Result<ClosedJaxpr> {
        let avals = self.jaxpr.in_avals();
        if in_axes.len() != avals.len() {
            return Err(arity(format!(
                "there are {} arguments and {} input axes",
                avals.len(),
                in_axes.len()
            ))
            .in_operation("vmap"));
        }
        let b = self.builder();
        let consts = bind_constants(&b, self.jaxpr);
        let mut args = Vec::with_capacity(avals.len());
        for (index, (aval, in_axis)) in avals.iter().zip(in_axes).enumerate() {
            if in_axis.is_some() && aval.is_opaque() {
                return Err(Error::unsupported(format!(
                    "argument {index} has the type {aval}, of which only its text is known"
                ))
                .in_operation("vmap"));
            }
            let dim = in_axis
                .map(|in_axis| normalize_axis(in_axis, aval.rank() + 1))
                .transpose()?;
            let value = b.input(unmapped(aval, dim, axis.size));
            args.push(Batched { value, dim });
        }
        let out = eval_batch(&b, &self.jaxpr.jaxpr, &consts, &args, axis)?;
        let mut results = Vec::with_capacity(out.len());
        for (result, aval) in out.into_iter().zip(self.jaxpr.out_avals()) {
            let dim = normalize_axis(out_axes, aval.rank() + 1)?;
            results.push(place(&b, result, OutDim::At(Some(dim)), axis.size)?.value);
        }
        b.finish(&results)
    }

    pub(super) fn jit(&self, name: &Name) -> Result<ClosedJaxpr> {
        let b = self.builder();
        let args = self.inputs(&b);
        let prim = Jit::new(name.clone(), self.jaxpr.clone());
        let results = b.push(prim.into(), &args, &self.jaxpr.out_avals());
        b.finish(&results)
    }

    pub(super) fn checkpoint(&self) -> Result<ClosedJaxpr> {
        let b = self.builder();
        let mut args = bind_constants(&b, self.jaxpr);
        args.extend(self.inputs(&b));
        let prim = Remat {
            differentiated: false,
            jaxpr: constants_as_arguments(self.jaxpr),
            policy: Opaque::none(),
            prevent_cse: true,
        };
        let results = b.push(prim.into(), &args, &self.jaxpr.out_avals());
        b.finish(&results)
    }

    /// Writes the results into `b` and linearizes there in the listed arguments.
    fn linearized(&self, b: &Builder, primals: &[Atom], argnums: &[usize]) -> Result<Pullback> {
        let consts = bind_constants(b, self.jaxpr);
        let split = Split::new(b);
        let tangents = self.tangent_inputs(&split.unknown, argnums);
        let (results, tangents) =
            eval_linearize(&split, &self.jaxpr.jaxpr, &consts, primals, &tangents)?;
        let nonzero = crate::marks::present(&tangents);
        let tangents: Vec<Atom> = tangents.into_iter().flatten().collect();
        let (linear, residuals) = close_linear(split, &tangents)?;
        Ok(Pullback {
            results,
            linear: linear.jaxpr,
            residuals,
            nonzero,
        })
    }

    /// Gradients of the listed arguments from cotangents of the results.
    fn pull_back(
        &self,
        b: &Builder,
        at: &Pullback,
        argnums: &[usize],
        cotangents: &[Option<Atom>],
    ) -> Result<Vec<Atom>> {
        let in_avals = self.jaxpr.in_avals();
        let linear = argnums.iter().map(|&arg| in_avals[arg].tangent());
        let args: Vec<TransposeArg> = at
            .residuals
            .iter()
            .map(|&atom| TransposeArg::Known(atom))
            .chain(linear.clone().map(TransposeArg::Linear))
            .collect();
        let cotangents: Vec<Option<Atom>> = cotangents
            .iter()
            .zip(&at.nonzero)
            .filter(|(_, nonzero)| **nonzero)
            .map(|(&cotangent, _)| cotangent)
            .collect();
        let start = vec![None; args.len()];
        let out = backward_pass(b, &at.linear, &[], &args, start, &cotangents)?;
        Ok(out[at.residuals.len()..]
            .iter()
            .zip(linear)
            .map(|(gradient, aval)| gradient.unwrap_or_else(|| b.zeros(&aval)))
            .collect())
    }

    fn tangent_inputs(&self, b: &Builder, argnums: &[usize]) -> Vec<Option<Atom>> {
        let avals = self.jaxpr.in_avals();
        let mut tangents = vec![None; avals.len()];
        for &arg in argnums {
            tangents[arg] = Some(b.input(avals[arg].tangent()));
        }
        tangents
    }

    /// The tangents of the listed results. As in JAX, tangents of all results are written, those that are zero and those
    /// of integers included.
    fn given_tangents(
        &self,
        b: &Builder,
        tangents: &[Option<Atom>],
        listed: &[usize],
    ) -> Vec<Atom> {
        let all = tangents.iter().enumerate();
        let all: Vec<Atom> = all
            .map(|(out, tangent)| tangent.unwrap_or_else(|| self.zero_result(b, out)))
            .collect();
        listed.iter().map(|&out| all[out]).collect()
    }

    fn zero_result(&self, b: &Builder, out: usize) -> Atom {
        b.zeros(&self.jaxpr.out_avals()[out].tangent())
    }

    fn check_arguments(&self, argnums: &[usize]) -> Result<()> {
        check_differentiable("argument", &self.jaxpr.in_avals(), argnums)
    }

    fn check_results(&self, outs: &[usize]) -> Result<()> {
        check_differentiable("result", &self.jaxpr.out_avals(), outs)
    }
}

fn check_differentiable(what: &str, avals: &[Aval], listed: &[usize]) -> Result<()> {
    for (position, &index) in listed.iter().enumerate() {
        let Some(aval) = avals.get(index) else {
            return Err(arity(format!(
                "{what} {index} is differentiated, and there are {}",
                avals.len()
            )));
        };
        if aval.is_opaque() {
            return Err(Error::unsupported(format!(
                "{what} {index} has the type {aval}, of which only its text is known"
            )));
        }
        if aval.dtype.tangent() == DType::Float0 {
            return Err(Error::dtype(format!(
                "{what} {index} is {aval}, and only floats and complex numbers have derivatives"
            )));
        }
        if listed[..position].contains(&index) {
            return Err(Error::parameter(format!("{what} {index} is listed twice")));
        }
    }
    Ok(())
}

fn normalize_axis(axis: i64, rank: usize) -> Result<usize> {
    let from_end = if axis < 0 { axis + rank as i64 } else { axis };
    usize::try_from(from_end)
        .ok()
        .filter(|&axis| axis < rank)
        .ok_or_else(|| {
            Error::parameter(format!("axis {axis} is outside an array of rank {rank}"))
                .in_operation("vmap")
        })
}

fn arity(message: String) -> Error {
    Error::new(ErrorKind::Arity, message)
}
