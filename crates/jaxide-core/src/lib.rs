//! The jaxpr language.
#![forbid(unsafe_code)]

pub mod eval;
