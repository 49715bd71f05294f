//! Transformations of functions: `make_jaxpr`, `jit`, `vmap`, `grad` and their relatives.
//!
//! Each records its function as a jaxpr, transforms that, and writes the result into the trace around it, or runs it
//! where there is none.

mod argnums;
mod checkpoint;
mod convert;
mod custom;
pub(crate) mod flat;
mod forward;
mod gradient;
mod jacobian;
mod jit;
mod linear;
mod make_jaxpr;
mod partials;
mod pmap;
mod solve;
mod vmap;

pub use argnums::{Argnum, Argnums};
pub use checkpoint::{CheckpointOptions, Checkpointed, checkpoint, checkpoint_name, checkpoint_of};
pub use convert::{Converted, closure_convert, linear_call, linear_transpose};
pub(crate) use custom::{arrays_jvp, library_jvp};
pub use custom::{custom_jvp, custom_jvp_nondiff, custom_vjp, custom_vjp_nondiff};
pub use forward::{jvp, jvp_with_aux};
pub use gradient::{
    Differentiated, Grad, GradOptions, GradWithAux, Gradient, GradientAndAux, GradientForm,
    ValueAndGrad, ValueAndGradWithAux, ValueAndGradient, ValueAuxAndGradient, grad, grad_of,
    grad_with_aux, grad_with_aux_of, value_and_grad, value_and_grad_of, value_and_grad_with_aux,
    value_and_grad_with_aux_of,
};
pub use jacobian::{
    DerivativeForm, DerivativeMode, Forward, ForwardOverReverse, Hessian, Jacfwd, JacobianOptions,
    Jacrev, Reverse, Whole, WholeAndAux, WholeDerivative, hessian, hessian_of, hessian_with_aux,
    hessian_with_aux_of, jacfwd, jacfwd_of, jacfwd_with_aux, jacfwd_with_aux_of, jacrev, jacrev_of,
    jacrev_with_aux, jacrev_with_aux_of,
};
pub use jaxide_core::transform::Policy;
pub(crate) use jit::jit_is_disabled;
pub use jit::{Export, JitOptions, Jitted, Lowered, disable_jit, jit, jit_of};
pub use linear::{Linearized, Pullback, linearize, linearize_with_aux, vjp, vjp_with_aux};
pub use make_jaxpr::{MakeJaxprOptions, eval_shape, make_jaxpr, make_jaxpr_of};
pub use partials::{PartialRule, PartialRules, custom_jvps};
pub use pmap::{PmapOptions, Pmapped, local_device_count, pmap, pmap_of};
pub use solve::{Solver, TransposeSolve, custom_linear_solve, custom_root, custom_root_with_aux};
pub(crate) use vmap::vmap_axes;
pub(crate) use vmap::vmap_list;
pub use vmap::{VmapOptions, Vmapped, vmap, vmap_of};
