//! Sets: vectors without repetitions. Sizes that depend on values are given, or taken from the values where they are known.

mod operations;
mod unique;

pub use operations::*;
pub use unique::*;

use jaxide_core::Error;

use super::sum;
use crate::array::Array;
use crate::lax;
use crate::trace::raise;

/// The number of true elements: `size`, or the count itself where it is known.
#[track_caller]
fn static_size(operation: &str, size: Option<usize>, mask: &Array) -> usize {
    if let Some(size) = size {
        return size;
    }
    let count = sum(mask, ()).try_value().ok();
    let count = count.and_then(|count| count.scalar_at(0)?.as_integer());
    match count.and_then(|count| usize::try_from(count).ok()) {
        Some(count) => count,
        None => raise(
            Error::parameter("the length of the result is not known while a function is traced")
                .in_operation(operation)
                .note("give it as `size`"),
        ),
    }
}

/// The positions of the first `size` true elements.
#[track_caller]
fn positions(mask: &Array, size: usize, fill: Option<i64>) -> Array {
    let fill: Vec<Array> = fill.map(Array::from).into_iter().collect();
    lax::nonzero(mask, size, &fill).remove(0)
}
