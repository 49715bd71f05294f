//! The native CPU backend.

pub mod codegen;
pub mod lanes;
mod lower;
pub mod runtime;
