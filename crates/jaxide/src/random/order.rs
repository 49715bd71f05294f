//! Random orders and choices.

use jaxide_core::{DType, Error};

use super::keys::words;
use super::{randint, split};
use crate::array::{Array, AsShape};
use crate::trace::{library, raise};
use crate::{lax, numpy};

/// The numbers below `count` in random order, as `i32`.
///
/// # Panics
/// When `key` is not a key.
///
/// ```
/// use jaxide::random;
/// let mut order = random::permutation(&random::key(0), 5).to_vec::<i32>();
/// order.sort();
/// assert_eq!(order, [0, 1, 2, 3, 4]);
/// ```
#[track_caller]
pub fn permutation(key: &Array, count: usize) -> Array {
    shuffle(key, &numpy::arange(count, DType::I32))
}

/// The slices of `x` along the first axis in random order.
///
/// # Panics
/// When `x` has no axis.
#[track_caller]
pub fn permuted(key: &Array, x: &Array) -> Array {
    match x.ndim() {
        0 => raise(no_axis("permuted")),
        1 => shuffle(key, x),
        _ => numpy::take_rows(x, &permutation(key, x.shape()[0]), 0, true),
    }
}

/// Sorts by random words until ties are improbable: Tjablin's bound on the number of rounds.
fn shuffle(key: &Array, x: &Array) -> Array {
    library("_shuffle", "", [key, x], |[key, x]| {
        let count = x.size().max(1) as f64;
        let rounds = (3.0 * count.ln() / f64::from(u32::MAX).ln()).ceil() as usize;
        let (mut key, mut x) = (key.clone(), x.clone());
        for _ in 0..rounds {
            let [next, now] = split(&key, 2).unpack();
            let order = words(&now, x.shape(), 32);
            x = lax::sort(&[order, x], 0, 1)[1].clone();
            key = next;
        }
        x
    })
}

/// Slices of `x` along the first axis, drawn with replacement: an array of `shape` of them.
///
/// # Panics
/// When `x` has no slices.
#[track_caller]
pub fn choice(key: &Array, x: &Array, shape: impl AsShape) -> Array {
    let Some(&count) = x.shape().first().filter(|&&count| count > 0) else {
        raise(no_axis("choice"))
    };
    let positions = numpy::position_type(x);
    let drawn = randint(key, shape, 0, count as i64, positions);
    numpy::take(x, &drawn, 0)
}

fn no_axis(operation: &str) -> Error {
    Error::shape("an array with a first axis that is not empty is needed").in_operation(operation)
}
