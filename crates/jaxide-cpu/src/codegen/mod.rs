//! Machine code.

// As in `lower`.
#![cfg_attr(not(test), deny(clippy::cast_possible_truncation))]

mod clif;
mod emit;
mod error;
mod executable;
pub mod lanes;
mod module;
mod object;
mod perf_map;
pub(crate) mod program;
#[cfg(all(target_arch = "x86_64", unix))]
mod x86;

pub use executable::{Executable, StepProfile};
pub use object::{Cpu, Object, ObjectOptions, RUNTIME_FUNCTION, Target, compile_object};
