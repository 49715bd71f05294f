//! Pytrees for Rust.
#![forbid(unsafe_code)]
