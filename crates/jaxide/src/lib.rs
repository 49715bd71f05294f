//! Composable function transformations and a native CPU JIT for array programs.
//!
//! A closure over arrays is traced into a jaxpr; [`grad`], [`vmap`], [`jvp`] and the like transform it; [`jit`] compiles
//! it to native code.
//!
//! ```
//! use jaxide::prelude::*;
//!
//! let f = |x: Array| (x.sin() * 2.0).sum();
//! println!("{}", make_jaxpr(f)(Array::spec(DType::F32, &[3]))?);
//! let df = jit(grad(f));
//! assert_eq!(df(Array::from([0.0f32, 0.0, 0.0])).to_vec::<f32>(), [2.0, 2.0, 2.0]);
//! # Ok::<(), Error>(())
//! ```
#![forbid(unsafe_code)]

mod api;
mod array;
mod control;
mod function;
pub mod lax;
pub mod numpy;
mod trace;

pub use api::*;
pub use array::{Array, Leaf, Nested};
pub use control::*;
pub use function::{ArgList, Function, Transformed};
pub use jaxide_core::{self as core, Aval, ClosedJaxpr, DType, Error, ErrorKind, Result, Tensor};
pub use jaxide_tree::axes;

/// Pytrees: [`jaxide_tree`] under this crate's name.
pub mod tree {
    pub use jaxide_tree::JaxidePytree as Pytree;
    pub use jaxide_tree::*;
}

/// Everything most programs need.
pub mod prelude {
    pub use crate::tree::Pytree;
    pub use crate::{
        Array, Aval, ClosedJaxpr, DType, Error, Result, checkpoint, cond, fori_loop, grad, hessian,
        jacfwd, jacrev, jit, jvp, linearize, make_jaxpr, scan, switch, value_and_grad, vjp, vmap,
        while_loop,
    };
    pub use jaxide_tree::axes;
}
