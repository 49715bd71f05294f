//! The `jaxide` program.
#![forbid(unsafe_code)]
fn main() {}
