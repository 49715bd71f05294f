//! Derive macros for pytrees.
#![forbid(unsafe_code)]
