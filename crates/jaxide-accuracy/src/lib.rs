//! How exact the elementwise functions are.
//!
//! Every function is run through the interfaces that users have, by the interpreter and as native code of each instruction set, and
//! compared with the correctly rounded functions of the CORE-MATH project; where that has none, with formulas of another kind
//! ([`mod@reference`]) in single precision and with samples of 50 digits ([`samples`]) in double precision. The program of this crate writes
//! `docs/accuracy.md`.
#![forbid(unsafe_code)]

pub mod arguments;
pub mod format;
pub mod functions;
pub mod measure;
pub mod program;
pub mod reference;
pub mod results;
pub mod samples;
