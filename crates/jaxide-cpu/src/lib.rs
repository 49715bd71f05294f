//! The native CPU backend.

pub mod codegen;
pub mod lanes;
pub mod runtime;
