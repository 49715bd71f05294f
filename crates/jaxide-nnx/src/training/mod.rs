//! What a loop of training has beside its steps: an order of examples, a bar that moves, curves.

mod batches;
#[cfg(feature = "curves")]
mod curves;
#[cfg(feature = "progress")]
mod progress;

pub use batches::{Batches, batches};
#[cfg(feature = "curves")]
pub use curves::Curves;
#[cfg(feature = "progress")]
pub use progress::Progress;
