//! Passes that make a jaxpr smaller or cheaper without changing what it computes.

mod dce;

pub use dce::{Dce, dce, dce_jaxpr};
pub(crate) use dce::{has_effect, keep};
