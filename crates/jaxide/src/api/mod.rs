//! Transformations of functions: `make_jaxpr`, `jit`, `vmap`, `grad` and their relatives.
//!
//! Each records its function as a jaxpr, transforms that, and writes the result into the trace around it, or runs it
//! where there is none.

mod custom;
mod differentiate;
pub(crate) mod flat;
mod jacobian;
mod jit;
mod make_jaxpr;
mod solve;
mod vmap;

pub use custom::{custom_jvp, custom_vjp};
pub use differentiate::{
    Argnum, Argnums, Linearized, Pullback, checkpoint, grad, grad_with_aux, jvp, linearize,
    value_and_grad, value_and_grad_with_aux, vjp,
};
pub use jacobian::{hessian, jacfwd, jacrev};
pub use jit::{JitOptions, jit};
pub use make_jaxpr::make_jaxpr;
pub use solve::{Solver, TransposeSolve, custom_linear_solve, custom_root, custom_root_with_aux};
pub use vmap::{VmapOptions, vmap};
