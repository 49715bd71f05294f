//! Composable function transformations and a native CPU JIT for array programs.
//!
//! A closure over arrays is traced into a *jaxpr*, a small typed functional program. Transformations are functions from
//! jaxpr to jaxpr, and [`jit`] compiles a jaxpr to native code. Names, meaning and printed text are those of JAX.
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
//!
//! # What there is
//!
//! | | |
//! |---|---|
//! | [`Array`] | a shape, an element type and elements, or a stand-in for one inside a trace; operators, methods, indexing |
//! | [`numpy`], [`lax`], [`nn`] | functions of arrays: with promotion and broadcasting as in NumPy; the primitives as they are; those of networks |
//! | [`idx!`] | indices that read like NumPy's, for [`Array::index`] and [`Array::at`] |
//! | [`ops`] | slices combined by segments |
//! | [`scipy`] | special functions, distributions, interpolation, minimisation, rotations |
//! | [`random`] | random numbers by keys |
//! | [`grad`], [`value_and_grad`], [`vjp`], [`jacrev`] | reverse-mode derivatives |
//! | [`jvp`](jvp()), [`linearize`], [`jacfwd`] | forward-mode derivatives; [`hessian`] is both |
//! | [`vmap`], [`pmap`] | a function of one example as a function of a batch; its members may communicate along a named axis |
//! | [`jit`], [`make_jaxpr`], [`eval_shape`] | compile it; look at it; at its types |
//! | [`grad_of`], [`vmap_of`], [`jit_of`], … | the same of borrowed functions, at once |
//! | [`named_scope`], [`debug_nans`], [`disable_jit`] | names for parts; what made a NaN; step by step |
//! | [`with_cancel`], [`cache`] | runs that end in time; the code of the process |
//! | [`checkpoint`], [`custom_jvp`], [`custom_vjp`] | what derivatives keep, and what they are |
//! | [`custom_root`], [`custom_linear_solve`], [`linear_transpose`], [`linear_call`] | derivatives of solutions; linear maps |
//! | [`cond`], [`switch`], [`while_loop`], [`fori_loop`], [`scan`](scan()), [`map`](map()), [`associative_scan`] | control flow that becomes part of the program |
//! | [`Ref`] | references that a traced function writes to |
//! | [`io`] | arrays and trees in `.npy`, `.npz` and `.safetensors` files |
//! | [`image`] | images of other sizes |
//! | [`tree`], [`flatten_util`] | trees of arrays and their arithmetic, and `#[derive(Pytree)]` for your own structs; trees as vectors |
//!
//! # Functions
//!
//! A transformation takes a function or closure of up to eight arguments and gives a [`Transformed`], which is called like
//! a function and can be transformed again. Arguments and results are trees: arrays, tuples, vectors, maps, options and
//! structs with `#[derive(Pytree)]`, whose fields that are no arrays are marked `#[pytree(static)]`.
//!
//! A [`Transformed`] is `Clone`, and its type has a name for fields of structs ([`Jitted`], [`Grad`], [`Vmapped`], …). The function
//! it keeps must be `Send + Sync + 'static`. Functions that are only borrowed have transformations whose names end with
//! `_of`: `grad_of(&f, x)` is `grad(f)(x)` for a closure that may capture references.
//!
//! ```
//! use jaxide::prelude::*;
//!
//! #[derive(Clone, Pytree)]
//! struct Line { slope: Array, offset: Array }
//!
//! let loss = |line: Line, x: Array, y: Array| (line.slope * x + line.offset - y).square().mean();
//! let per_example = jit(vmap(grad(loss)).in_axes((None, 0, 0)));
//! let line = Line { slope: Array::from(2.0f32), offset: Array::from(0.0f32) };
//! let gradients = per_example(line, Array::from([1.0f32, 2.0]), Array::from([1.0f32, 2.0]));
//! assert_eq!(gradients.slope.to_vec::<f32>(), [2.0, 8.0]);
//! ```
//!
//! # Mistakes
//!
//! Operations on arrays panic when shapes or types do not fit, as slices do, and the panic names the operation, the types
//! and your line. [`Transformed::try_call`] and [`make_jaxpr`] give the same as an [`Error`].
#![forbid(unsafe_code)]

mod api;
mod array;
mod control;
mod execute;
pub mod flatten_util;
mod function;
pub mod image;
pub mod io;
pub mod lax;
pub mod nn;
pub mod numpy;
pub mod ops;
mod options;
pub mod random;
pub mod scipy;
mod state;
mod trace;
pub mod tree;

pub use api::*;
pub use array::{Array, AsShape, Axes, Integer, Leaf, Nested, Numbers, Values};
pub use control::*;
pub use execute::{Cache, CachedProgram, cache, debug_nans, with_cancel, with_interpreter};
pub use function::{ArgList, Arguments, Function, Transformed};
pub use jaxide_core::{
    self as core, Aval, Cancel, ClosedJaxpr, Cost, DType, Error, ErrorKind, Result, Tensor,
};
pub use jaxide_cpu::codegen::lanes::Isa;
pub use jaxide_cpu::{CompileStats, Cpu, Object, Target};
pub use jaxide_tree::axes;
pub use state::{Ref, RefAt};
pub use trace::{LibraryCall, TraceId, current_trace, library_call, named_scope, raise};

/// Everything most programs need.
pub mod prelude {
    pub use crate::idx;
    pub use crate::tree::Pytree;
    pub use crate::{
        Array, Aval, ClosedJaxpr, DType, Error, Result, checkpoint, cond, fori_loop, grad, hessian,
        jacfwd, jacrev, jit, jvp, linearize, make_jaxpr, pmap, scan, switch, value_and_grad, vjp,
        vmap, while_loop,
    };
    pub use jaxide_tree::axes;
}
