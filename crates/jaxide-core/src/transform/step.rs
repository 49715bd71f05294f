//! Transformations of whole flat functions: lists of arrays in, lists of arrays out.

use super::flat::FlatFunction;
use crate::error::{Error, Result};
use crate::jaxpr::{CAPTURES, ClosedJaxpr, debug_check};
use crate::prims::{BatchAxis, Name};

/// One transformation of a flat function `g` with results `y0`, `y1`, ...
///
/// Numbers of arguments count from 0. Integer arguments and results have no tangents: they must not be listed.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// Arguments of `g`, then a tangent per listed argument, to results of `g`, then tangents of the listed results.
    Jvp {
        /// Arguments with a tangent.
        argnums: Vec<usize>,
        /// Results whose tangents are given.
        tangent_outs: Vec<usize>,
    },
    /// As [`Step::Jvp`], linearizing first and applying the linear map to the tangents then.
    Linearize {
        /// Arguments with a tangent.
        argnums: Vec<usize>,
        /// Results whose tangents are given.
        tangent_outs: Vec<usize>,
    },
    /// Arguments of `g`, then a cotangent per listed result, to results of `g`, then a gradient per listed argument.
    Vjp {
        /// Arguments whose gradients are given.
        argnums: Vec<usize>,
        /// Results with a cotangent.
        cotangent_outs: Vec<usize>,
    },
    /// Gradients of the scalar `y0`, one per listed argument.
    Grad {
        /// Arguments whose gradients are given.
        argnums: Vec<usize>,
    },
    /// `y0`, then its gradients.
    ValueAndGrad {
        /// Arguments whose gradients are given.
        argnums: Vec<usize>,
    },
    /// For each result, for each listed argument, the derivative: the result's shape, then the argument's. By
    /// forward mode.
    Jacfwd {
        /// Arguments differentiated by.
        argnums: Vec<usize>,
    },
    /// As [`Step::Jacfwd`], by reverse mode.
    Jacrev {
        /// Arguments differentiated by.
        argnums: Vec<usize>,
    },
    /// For each result, for each listed argument twice, the second derivative: forward over reverse.
    Hessian {
        /// Arguments differentiated by.
        argnums: Vec<usize>,
    },
    /// All lanes at once.
    Vmap {
        /// Where each argument has its mapped axis; `None` is shared, negative counts from the end.
        in_axes: Vec<Option<i64>>,
        /// Where the results have it; negative counts from the end.
        out_axes: i64,
        /// Number of lanes.
        axis_size: usize,
        /// The name that collectives inside use.
        axis_name: Option<Name>,
    },
    /// One call of a named function.
    Jit {
        /// The name.
        name: Name,
    },
    /// One call whose intermediate values are computed again for the derivative.
    Checkpoint,
}

impl Step {
    /// What it is called in messages.
    fn name(&self) -> &'static str {
        match self {
            Step::Jvp { .. } => "jvp",
            Step::Linearize { .. } => "linearize",
            Step::Vjp { .. } => "vjp",
            Step::Grad { .. } => "grad",
            Step::ValueAndGrad { .. } => "value_and_grad",
            Step::Jacfwd { .. } => "jacfwd",
            Step::Jacrev { .. } => "jacrev",
            Step::Hessian { .. } => "hessian",
            Step::Vmap { .. } => "vmap",
            Step::Jit { .. } => "jit",
            Step::Checkpoint => "checkpoint",
        }
    }
}

/// Applies one transformation to a flat function. Builds with debug assertions check what it gives.
///
/// ```
/// use jaxide_core::transform::{Step, apply};
/// use jaxide_core::{Aval, Builder, DType};
/// let b = Builder::new();
/// let x = b.input(Aval::new(DType::F32, &[]));
/// let square = b.finish(&[x])?;
/// let grad = apply(&square, &Step::Grad { argnums: vec![0] })?;
/// assert_eq!(grad.jaxpr.outvars.len(), 1);
/// # Ok::<(), jaxide_core::Error>(())
/// ```
///
/// # Errors
/// When an argument or result number does not exist or has no tangent, an axis does not fit, or an equation has no
/// rule; the message names it.
pub fn apply(jaxpr: &ClosedJaxpr, step: &Step) -> Result<ClosedJaxpr> {
    if jaxpr.jaxpr.has_captures() {
        return Err(Error::unsupported(CAPTURES).in_operation(step.name()));
    }
    let f = FlatFunction { jaxpr };
    let result = match step {
        Step::Jvp {
            argnums,
            tangent_outs,
        } => f.jvp(argnums, tangent_outs),
        Step::Linearize {
            argnums,
            tangent_outs,
        } => f.linearize(argnums, tangent_outs),
        Step::Vjp {
            argnums,
            cotangent_outs,
        } => f.vjp(argnums, cotangent_outs),
        Step::Grad { argnums } => f.grad(argnums, false),
        Step::ValueAndGrad { argnums } => f.grad(argnums, true),
        Step::Jacfwd { argnums } => f.jacfwd(argnums),
        Step::Jacrev { argnums } => f.jacrev(argnums),
        Step::Hessian { argnums } => {
            let jacobian = f.jacrev(argnums)?;
            FlatFunction { jaxpr: &jacobian }.jacfwd(argnums)
        }
        Step::Vmap {
            in_axes,
            out_axes,
            axis_size,
            axis_name,
        } => {
            let axis = BatchAxis {
                size: *axis_size,
                name: axis_name.clone(),
            };
            f.vmap(in_axes, *out_axes, &axis)
        }
        Step::Jit { name } => f.jit(name),
        Step::Checkpoint => f.checkpoint(),
    }?;
    debug_check(step.name(), &result)?;
    Ok(result)
}
