//! What the examples of training share.

mod digits;
mod stopwatch;

pub use digits::Digits;
pub use stopwatch::Stopwatch;
