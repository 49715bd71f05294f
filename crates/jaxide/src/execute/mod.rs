//! Running: single operations, recorded programs and jitted functions, as native code that is compiled once.
//!
//! Everything that computes comes through here. What is to run is looked up in one [`cache`] of the process, by what it
//! says: an operation by its primitive, parameters and types, a program by its equations. So it does not matter who
//! asks, or how often the same closure is made again.

mod cache;
mod cancel;
mod interpreter;
mod key;
mod log;
mod nans;
mod operation;
mod program;
mod shared;

pub use cache::{Cache, CachedProgram, cache};
pub(crate) use cancel::check_cancelled;
pub use cancel::with_cancel;
pub use interpreter::with_interpreter;
pub(crate) use log::{logs_compilation, report};
pub use nans::debug_nans;
pub(crate) use operation::{equation, operation};
pub(crate) use program::{Native, run};
pub(crate) use shared::Shared;
