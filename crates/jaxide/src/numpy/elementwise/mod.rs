//! Elementwise functions of more than one equation.

mod bits;
mod choice;
mod close;
mod division;
mod floats;
mod integers;
mod power;
mod special;

pub use bits::*;
pub use choice::*;
pub use close::*;
pub use division::*;
pub use floats::*;
pub use integers::*;
pub use power::*;
pub use special::*;
