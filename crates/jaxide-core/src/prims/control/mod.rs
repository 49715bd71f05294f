//! Calls, branches, loops, custom rules and placement.

mod call;
mod cond;
mod custom_jvp;
mod custom_linear_solve;
mod custom_root;
mod custom_vjp;
mod identity;
mod jit;
mod library;
mod linear_call;
mod metadata;
mod opaque;
mod remat;
mod remat_opt;
mod scan;
mod while_;
