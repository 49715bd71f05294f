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
mod pmap;
mod solve;
mod vmap;

pub use argnums::{Argnum, Argnums};
pub use checkpoint::{CheckpointOptions, checkpoint, checkpoint_name};
pub use convert::{Converted, closure_convert, linear_call, linear_transpose};
pub use custom::{custom_jvp, custom_jvp_nondiff, custom_vjp, custom_vjp_nondiff};
pub use forward::jvp;
pub use gradient::{
    Differentiated, GradOptions, Gradient, GradientAndAux, GradientForm, ValueAndGradient,
    ValueAuxAndGradient, grad, grad_with_aux, value_and_grad, value_and_grad_with_aux,
};
pub use jacobian::{JacobianOptions, hessian, jacfwd, jacrev};
pub use jaxide_core::transform::Policy;
pub use jit::{JitOptions, Lowered, jit};
pub use linear::{Linearized, Pullback, linearize, vjp};
pub use make_jaxpr::{MakeJaxprOptions, make_jaxpr};
pub use pmap::{PmapOptions, local_device_count, pmap};
pub use solve::{Solver, TransposeSolve, custom_linear_solve, custom_root, custom_root_with_aux};
pub use vmap::{VmapOptions, vmap};
