//! Machine code.

pub mod clif_lanes;
mod exec_memory;
pub mod lanes;
pub(crate) mod program;

pub use exec_memory::ExecMemory;
