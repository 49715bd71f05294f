//! The native CPU backend.

pub mod runtime;
