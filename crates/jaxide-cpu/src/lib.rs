//! The native CPU backend.

pub mod lanes;
pub mod runtime;
