//! Calls, branches, loops, custom rules and placement.
//!
//! What their rules share: `call`, the rules of calls; `halves`, a jaxpr cut in two by `linearize` or `partial_eval`; `loops`, the
//! carry of `scan` and `while`; `inlined`, functions whose own rule is known by name only.

mod call;
mod cond;
mod custom_jvp;
mod custom_linear_solve;
mod custom_root;
mod custom_vjp;
mod halves;
mod identity;
mod inlined;
mod jit;
mod library;
mod linear_call;
mod loops;
mod metadata;
mod opaque;
mod remat;
mod remat_opt;
mod scan;
mod while_;
