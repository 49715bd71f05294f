//! The commands, one module each.

pub(crate) mod bench;
pub(crate) mod check;
pub(crate) mod conformance;
pub(crate) mod eval;
pub(crate) mod fmt;
pub(crate) mod lower;
pub(crate) mod transform;
