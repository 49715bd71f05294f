//! Arrays from nothing.

mod fill;
mod grid;
mod matrix;
mod range;
mod window;

pub use fill::*;
pub use grid::*;
pub use matrix::*;
pub use range::*;
pub use window::*;
