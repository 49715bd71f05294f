//! The jaxpr language.
#![forbid(unsafe_code)]
