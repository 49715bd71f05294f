//! Indices: reading and writing at them, finding and making them.

mod along;
mod at;
mod find;
mod gather;
mod grids;
mod index;
mod nested;
mod parse;
mod pick;
mod put;
mod search;
mod slices;
mod take;
mod write;

pub use along::*;
pub use at::{At, IndexMode, IndexingStrategy};
pub use find::*;
pub use grids::*;
pub use index::*;
pub use pick::*;
pub use put::*;
pub use search::*;
pub use take::{Take, take};

pub(crate) use at::Options as WriteOptions;
pub(crate) use gather::{from_front, outside};
pub(crate) use take::take_rows;
pub(crate) use write::{Update, write};
