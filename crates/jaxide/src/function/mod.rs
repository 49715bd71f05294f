//! Functions of pytrees, and functions made of them.
//!
//! Closures and functions of up to eight arguments are [`Function`]s of the tuple of their arguments; transformations
//! take a function and give a [`Transformed`], which is called like one.

mod args;
mod functions;
mod transformed;

pub use args::{ArgList, Arguments};
pub use functions::Function;
pub(crate) use functions::{Erased, OfTuple, short_name};
pub use transformed::Transformed;
