//! The jaxpr language: what programs are, how they are written, transformed and evaluated.
//!
//! ```text
//!  jaxpr ──transform──▶ jaxpr ──simplify──▶ jaxpr ──▶ compiled elsewhere
//!   │ ▲                    │
//!  print parse      eval (reference)
//! ```
//!
//! * [`Aval`]: types of arrays, [`Scalar`]: numbers;
//! * [`jaxpr`]: variables, literals, equations, builder, checker, printer, parser;
//! * [`prims`]: every primitive, one table row and its rules;
//! * [`transform`]: jvp, batching, partial evaluation, transposition, ...;
//! * [`eval`]: the reference interpreter;
//! * [`document`]: text laid out in lines;
//! * [`memory`]: how much of it may be taken;
//! * [`Tensor`]: concrete arrays, [`ArrayFormat`]: their text, [`DType`]: their element types, [`Error`]: what can go wrong.
#![forbid(unsafe_code)]

/// The code in the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}

mod aval;
mod cancel;
mod cost;
mod display;
pub mod document;
mod dtype;
mod error;
pub mod eval;
pub mod jaxpr;
mod marks;
pub mod memory;
mod pages;
pub mod prims;
mod scalar;
pub mod simplify;
pub mod small_float;
mod tensor;
pub mod transform;

pub use aval::{Annotations, Aval, AvalKind, Dims, Shape, byte_size, element_count, same_shape};
pub use cancel::Cancel;
pub use cost::{Cost, cost, primitive_cost};
pub use display::{Align, ArrayFormat};
pub use dtype::DType;
pub use error::{Error, ErrorKind, Result, Scope, Source};
pub use jaxpr::{
    Atom, Atoms, Builder, ClosedJaxpr, Diagnostic, Eqn, Jaxpr, Literal, ParseError, PrintOptions,
    Var, VarInfo, VarMap, Vars, check, debug_check, parse,
};
pub use prims::Prim;
pub use scalar::Scalar;
pub use tensor::{Element, Identity, Storage, Tensor, check_allocatable};
