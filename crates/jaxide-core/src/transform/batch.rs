//! Batching (`vmap`): every equation is applied to all lanes at once.

use super::environment::{Environment, FromConstant, bind_constants};
use crate::error::{Error, Result};
use crate::jaxpr::{Atom, Aval, Builder, ClosedJaxpr, Jaxpr, debug_check};
use crate::jaxpr::{MemoArgs, options};
use crate::prims::{BatchAxis, Batched, Prim};

/// Where a result of a batched jaxpr has its mapped axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutDim {
    /// Wherever the equations leave it; nowhere if the result is not mapped.
    AsIs,
    /// In front if the result is mapped.
    FrontIfMapped,
    /// In front, results that are not mapped being repeated.
    Front,
    /// There; `None` asks for a result that is not mapped.
    At(Option<usize>),
}

impl OutDim {
    /// In front where it is required, and where the result is mapped.
    pub(crate) fn fronts(required: &[bool]) -> Vec<OutDim> {
        let front = |&required: &bool| {
            if required {
                OutDim::Front
            } else {
                OutDim::FrontIfMapped
            }
        };
        required.iter().map(front).collect()
    }
}

/// A jaxpr over all lanes.
#[derive(Clone)]
pub struct BatchedJaxpr {
    /// The jaxpr.
    pub jaxpr: ClosedJaxpr,
    /// The mapped axis of each result.
    pub dims: Vec<Option<usize>>,
}

impl BatchedJaxpr {
    /// Which results are mapped.
    pub fn mapped(&self) -> Vec<bool> {
        self.dims.iter().map(Option::is_some).collect()
    }
}

/// Batches `jaxpr` over arguments that are mapped at `in_dims`.
///
/// # Errors
/// When an equation cannot be batched, or a mapped result is asked for as not mapped.
pub fn batch(
    b: &Builder,
    jaxpr: &ClosedJaxpr,
    axis: &BatchAxis,
    in_dims: &[Option<usize>],
    out_dims: &[OutDim],
) -> Result<BatchedJaxpr> {
    let mut args = MemoArgs::new();
    args.push(axis.size as i64);
    options(&mut args, in_dims);
    for out in out_dims {
        args.push(match out {
            OutDim::AsIs => -4,
            OutDim::FrontIfMapped => -3,
            OutDim::Front => 0,
            OutDim::At(dim) => dim.map_or(-1, |dim| dim as i64),
        });
    }
    if let Some(name) = &axis.name {
        args.extend(name.0.bytes().map(i64::from));
    }
    b.memo().of_jaxpr("batch", jaxpr, args, || {
        let b = b.nested();
        let consts = bind_constants(&b, jaxpr);
        let operands: Vec<Batched> = jaxpr
            .in_avals()
            .iter()
            .zip(in_dims)
            .map(|(aval, &dim)| Batched {
                value: b.input(unmapped(aval, dim, axis.size)),
                dim,
            })
            .collect();
        let results = eval_batch(&b, &jaxpr.jaxpr, &consts, &operands, axis)?;
        let results: Vec<Batched> = results
            .into_iter()
            .zip(out_dims)
            .map(|(result, &out)| place(&b, result, out, axis.size))
            .collect::<Result<_>>()?;
        let values: Vec<Atom> = results.iter().map(|result| result.value).collect();
        let jaxpr = b.finish(&values)?;
        debug_check("batch", &jaxpr)?;
        Ok(BatchedJaxpr {
            jaxpr,
            dims: results.iter().map(|result| result.dim).collect(),
        })
    })
}

/// Batches `jaxpr` with mapped arguments and results in front; results are mapped where the equations make them so
/// or `instantiate` asks for it.
///
/// # Errors
/// As [`batch`].
pub(crate) fn batch_front(
    b: &Builder,
    jaxpr: &ClosedJaxpr,
    axis: &BatchAxis,
    mapped: &[bool],
    instantiate: &[bool],
) -> Result<BatchedJaxpr> {
    let in_dims: Vec<Option<usize>> = mapped.iter().map(|&mapped| mapped.then_some(0)).collect();
    batch(b, jaxpr, axis, &in_dims, &OutDim::fronts(instantiate))
}

/// Writes the equations of `jaxpr` for all lanes into `b`.
pub(crate) fn eval_batch(
    b: &Builder,
    jaxpr: &Jaxpr,
    consts: &[Atom],
    args: &[Batched],
    axis: &BatchAxis,
) -> Result<Vec<Batched>> {
    let mut env = Environment::new(jaxpr);
    let constants = consts.iter().map(|&atom| Batched::from_constant(atom));
    env.bind(&jaxpr.constvars, constants);
    env.bind(&jaxpr.invars, args.iter().copied());
    for eqn in &jaxpr.eqns {
        let before = b.set_source(eqn.source);
        let operands: Vec<Batched> = eqn.inputs.iter().map(|&atom| env.read(atom)).collect();
        let values: Vec<Atom> = operands.iter().map(|operand| operand.value).collect();
        if operands.iter().any(|operand| operand.dim.is_some())
            || eqn.prim.rules().makes_reference()
            || uses_axis(&eqn.prim, axis)
        {
            let results = b
                .require_types(&eqn.prim, &values)
                .and_then(|()| eqn.prim.rules().batch(b, &operands, axis))
                .map_err(|error| error.in_operation(eqn.prim.name()).at(eqn.source))?;
            env.bind(&eqn.outputs, results);
        } else {
            let results = b.push(eqn.prim.clone(), &values, &env.result_avals(eqn));
            env.bind(
                &eqn.outputs,
                results.into_iter().map(Batched::from_constant),
            );
        }
        b.set_source(before);
    }
    b.check()?;
    Ok(jaxpr.outvars.iter().map(|&atom| env.read(atom)).collect())
}

/// `x` with its mapped axis where it is asked for; a value that is not mapped is repeated.
pub(crate) fn place(b: &Builder, x: Batched, out: OutDim, size: usize) -> Result<Batched> {
    let dim = match out {
        OutDim::AsIs => x.dim,
        OutDim::FrontIfMapped => x.dim.map(|_| 0),
        OutDim::Front => Some(0),
        OutDim::At(dim) => dim,
    };
    let value = match (x.dim, dim) {
        (None, None) => x.value,
        (Some(from), Some(to)) => move_axis(b, x.value, from, to),
        (None, Some(to)) => broadcast(b, x.value, size, to),
        (Some(_), None) => {
            return Err(Error::parameter(
                "a mapped result is asked for as not mapped: give it an output axis, or reduce it over the mapped axis",
            ));
        }
    };
    Ok(Batched { value, dim })
}

/// `x` with axis `from` at `to`, the others in order.
pub(crate) fn move_axis(b: &Builder, x: Atom, from: usize, to: usize) -> Atom {
    if from == to {
        return x;
    }
    let mut permutation: Vec<usize> = (0..b.rank(x)).filter(|&axis| axis != from).collect();
    permutation.insert(to, from);
    b.transpose(x, &permutation)
}

/// `x` repeated `size` times along a new axis at `dim`.
pub(crate) fn broadcast(b: &Builder, x: Atom, size: usize, dim: usize) -> Atom {
    let mut shape = b.shape(x);
    shape.insert(dim, size);
    let dims: Vec<usize> = (0..shape.len()).filter(|&axis| axis != dim).collect();
    b.broadcast_in_dim(x, &shape, &dims)
}

/// The type with a mapped axis of length `size` at `dim`.
pub(crate) fn unmapped(aval: &Aval, dim: Option<usize>, size: usize) -> Aval {
    let Some(dim) = dim else {
        return aval.clone();
    };
    let mut shape = aval.shape.clone();
    shape.insert(dim, size);
    aval.with_shape(&shape)
}

/// The type of one lane or one slice: without the axis at `dim`.
pub(crate) fn mapped(aval: &Aval, dim: usize) -> Aval {
    let mut shape = aval.shape.clone();
    shape.remove(dim);
    aval.with_shape(&shape)
}

impl FromConstant for Batched {
    fn from_constant(value: Atom) -> Self {
        Batched { value, dim: None }
    }
}

/// Whether the primitive communicates along the mapped axis, itself or in a sub-jaxpr.
fn uses_axis(prim: &Prim, axis: &BatchAxis) -> bool {
    let Some(name) = &axis.name else {
        return false;
    };
    let mut found = prim.rules().axis_names().contains(name);
    prim.visit(&mut |jaxpr| {
        found = found
            || jaxpr
                .jaxpr
                .eqns
                .iter()
                .any(|eqn| uses_axis(&eqn.prim, axis));
    });
    found
}
