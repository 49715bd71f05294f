//! An order of examples that follows from a key.

use jaxide::{Array, Error, raise, random};

/// Places of examples, batch by batch: what [`batches`] gives.
#[derive(Clone, Debug)]
pub struct Batches {
    order: Array,
    size: usize,
    next: usize,
}

/// The places of `count` examples in random order, in batches of `size`, each an array of `i32`. A batch that would not be full is left
/// out. The order follows from the key alone and is that of `jax.random.permutation`, so that training which goes on from a file
/// sees what it would have seen.
///
/// ```
/// use jaxide_nnx::training::batches;
/// use jaxide::{Array, random};
/// let images = Array::zeros([10, 8], jaxide::DType::F32);
/// let seed = random::key(0);
/// for epoch in 0..2 {
///     for places in batches(&random::fold_in(&seed, epoch), 10, 4) {
///         assert_eq!(images.index(&places).shape(), [4, 8]);
///     }
/// }
/// assert_eq!(batches(&seed, 10, 4).len(), 2);
/// ```
///
/// # Panics
/// When `size` is 0, or `key` is no key.
#[track_caller]
pub fn batches(key: &Array, count: usize, size: usize) -> Batches {
    if size == 0 {
        raise(Error::parameter("a batch has at least one example").in_operation("batches"));
    }
    Batches {
        order: random::permutation(key, count, ()),
        size,
        next: 0,
    }
}

impl Iterator for Batches {
    type Item = Array;

    fn next(&mut self) -> Option<Array> {
        let end = self.next + self.size;
        if end > self.order.size() {
            return None;
        }
        let places = self.order.slice(self.next..end);
        self.next = end;
        Some(places)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = (self.order.size() - self.next) / self.size;
        (left, Some(left))
    }
}

impl ExactSizeIterator for Batches {}
