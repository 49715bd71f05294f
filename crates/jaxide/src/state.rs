//! Mutable references inside traced functions.

use jaxide_core::prims::{
    FreezeRef, NewRef, Opaque, RefAddUpdate, RefGet, RefIndex, RefIndexer, RefIndices, RefSwap,
};
use jaxide_core::{Error, ErrorKind};

use crate::array::{Array, as_dtype};
use crate::trace::{bind, bind_one, raise, tracing};

/// How a reference is indexed along one axis.
#[derive(Clone, Debug)]
pub enum RefAt {
    /// The element of a number, which may be computed; the axis disappears.
    Index(Array),
    /// The elements from the first number to before the second.
    Range(usize, usize),
    /// All elements.
    All,
}

impl From<usize> for RefAt {
    fn from(index: usize) -> Self {
        RefAt::Index(Array::from(index as i32))
    }
}

impl From<Array> for RefAt {
    fn from(index: Array) -> Self {
        RefAt::Index(index)
    }
}

impl From<std::ops::Range<usize>> for RefAt {
    fn from(range: std::ops::Range<usize>) -> Self {
        RefAt::Range(range.start, range.end)
    }
}

impl From<std::ops::RangeFull> for RefAt {
    fn from(_: std::ops::RangeFull) -> Self {
        RefAt::All
    }
}

/// An array that can be written to, inside a traced function. Clones are the same reference.
///
/// Transformations see through it: a function that uses references inside is as pure as any other.
///
/// ```
/// use jaxide::{Array, Ref, grad, jit};
/// let square_sum = |x: Array| {
///     let total = Ref::new(&x);
///     total.set(&(total.get() * &x));
///     total.add_at(&[0.into()], &Array::from(1.0));
///     total.freeze().sum()
/// };
/// let x = Array::from([1.0f32, 2.0, 3.0]);
/// assert_eq!(jit(square_sum)(x.clone()).item::<f32>(), 15.0);
/// assert_eq!(grad(square_sum)(x).to_vec::<f32>(), [2.0, 4.0, 6.0]);
/// ```
#[derive(Clone, Debug)]
pub struct Ref(Array);

impl Ref {
    /// A reference that starts as `initial`.
    ///
    /// # Panics
    /// Outside traced functions.
    #[track_caller]
    pub fn new(initial: &Array) -> Self {
        if !tracing() {
            raise(
                Error::new(
                    ErrorKind::Unsupported,
                    "a reference is made outside a traced function",
                )
                .in_operation("new_ref")
                .note(
                    "use it inside a function that `jit`, `grad` or another transformation traces",
                ),
            );
        }
        let prim = NewRef {
            kind: Opaque::none(),
            memory_space: Opaque::none(),
            pin: false,
        };
        Ref(bind_one(prim, &[as_dtype(initial, initial.dtype(), false)]))
    }

    /// What it holds.
    #[track_caller]
    pub fn get(&self) -> Array {
        self.get_at(&[])
    }

    /// Part of what it holds; axes behind the last index are taken whole.
    ///
    /// # Panics
    /// When there are more indices than axes, a range is out of bounds, or an index is no integer.
    #[track_caller]
    pub fn get_at(&self, at: &[RefAt]) -> Array {
        let (indices, operands) = self.indices(at);
        bind_one(
            RefGet { indices },
            &[vec![self.0.clone()], operands].concat(),
        )
    }

    /// Overwrites it.
    ///
    /// # Panics
    /// When shapes or element types differ.
    #[track_caller]
    pub fn set(&self, value: &Array) {
        self.swap_at(&[], value);
    }

    /// Overwrites part of it.
    ///
    /// # Panics
    /// As [`Ref::get_at`], and when shapes or element types differ.
    #[track_caller]
    pub fn set_at(&self, at: &[RefAt], value: &Array) {
        self.swap_at(at, value);
    }

    /// Overwrites part of it and gives what was there.
    ///
    /// # Panics
    /// As [`Ref::set_at`].
    #[track_caller]
    pub fn swap_at(&self, at: &[RefAt], value: &Array) -> Array {
        let (indices, operands) = self.indices(at);
        let value = as_dtype(value, self.0.dtype(), false);
        bind_one(
            RefSwap { indices },
            &[vec![self.0.clone(), value], operands].concat(),
        )
    }

    /// Adds to part of it.
    ///
    /// # Panics
    /// As [`Ref::set_at`].
    #[track_caller]
    pub fn add_at(&self, at: &[RefAt], value: &Array) {
        let (indices, operands) = self.indices(at);
        let value = as_dtype(value, self.0.dtype(), false);
        bind(
            RefAddUpdate { indices },
            &[vec![self.0.clone(), value], operands].concat(),
        );
    }

    /// Its last value: it must not be used after.
    #[track_caller]
    pub fn freeze(self) -> Array {
        bind_one(FreezeRef, &[self.0])
    }

    #[track_caller]
    fn indices(&self, at: &[RefAt]) -> (RefIndices, Vec<Array>) {
        let shape = self.0.shape();
        if at.len() > shape.len() {
            raise(
                Error::shape(format!(
                    "{} indices are given for {}",
                    at.len(),
                    self.0.aval()
                ))
                .in_operation("get"),
            );
        }
        if at.is_empty() {
            return (RefIndices::new(), Vec::new());
        }
        let mut operands = Vec::new();
        let mut indexer = RefIndexer::new();
        for (axis, &length) in shape.iter().enumerate() {
            let (start, end) = match at.get(axis) {
                Some(RefAt::Index(index)) => {
                    operands.push(as_dtype(index, index.dtype(), false));
                    indexer.push(RefIndex::Operand);
                    continue;
                }
                Some(&RefAt::Range(start, end)) => (start, end),
                Some(RefAt::All) | None => (0, length),
            };
            if start > end || end > length {
                raise(
                    Error::shape(format!(
                        "{start}..{end} is not within axis {axis} of {}",
                        self.0.aval()
                    ))
                    .in_operation("get"),
                );
            }
            indexer.push(RefIndex::Slice {
                start,
                size: end - start,
                stride: 1,
            });
        }
        (RefIndices::from_iter([indexer]), operands)
    }
}
