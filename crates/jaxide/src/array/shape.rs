//! Shapes and axes as users write them: numbers of any integer type, alone or in lists and tuples.

use std::ops::Range;

use jaxide_core::{Dims, Error};
use smallvec::SmallVec;

use crate::trace::raise;

/// A primitive integer, of any width and sign.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an integer",
    label = "an axis or a length is a number of a primitive integer type"
)]
pub trait Integer: Copy + AsShape + Axes {
    /// The number as an `i64`; those outside become the nearest end, which no shape or axis reaches.
    fn to_i64(self) -> i64;
}

/// What a shape can be written as: a length, or an array, slice, vector or tuple of lengths of any integer type; `()`
/// and `[]` are the shape of a scalar.
///
/// ```
/// use jaxide::{Array, DType};
/// let rows = 2u8;
/// assert_eq!(Array::zeros((rows, 3), DType::F32).shape(), [2, 3]);
/// assert_eq!(Array::zeros([2, 3], DType::F32).shape(), [2, 3]);
/// assert_eq!(Array::zeros(6, DType::F32).reshape([2, -1]).shape(), [2, 3]);
/// assert_eq!(Array::zeros((), DType::F32).ndim(), 0);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a shape",
    label = "not a shape",
    note = "shapes are integers, and arrays (of up to 16), slices, vectors and tuples of integers; `()` is that of a scalar"
)]
pub trait AsShape {
    /// The lengths as they are written; -1 is for the operations that say so.
    fn lengths(&self) -> Numbers;
}

/// Which axes an operation runs over: a number, several, or `()` for what the operation does by itself, most often all.
///
/// Negative axes count from the end.
///
/// ```
/// use jaxide::{Array, numpy};
/// let x = Array::from([[1.0f32, 2.0], [3.0, 4.0]]);
/// assert_eq!(numpy::sum(&x, ()).item::<f32>(), 10.0);
/// assert_eq!(numpy::sum(&x, -1).to_vec::<f32>(), [3.0, 7.0]);
/// assert_eq!(numpy::sum(&x, 0usize).to_vec::<f32>(), [4.0, 6.0]);
/// assert_eq!(numpy::sum(&x, (0, 1)).item::<f32>(), 10.0);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not say which axes",
    label = "not axes",
    note = "axes are an integer, an array (of up to 16), slice, vector, range or tuple of integers, or `()`"
)]
pub trait Axes {
    /// The axes as they are written; `None` for `()`.
    fn numbers(&self) -> Option<Numbers>;

    /// The axes of an array of `rank` axes, counted from the front, in the order in which they are written: all for `()`.
    ///
    /// # Panics
    /// When there is no such axis, or one is named twice; the message names `operation`.
    #[track_caller]
    fn axes(&self, operation: &str, rank: usize) -> Vec<usize> {
        match self.numbers() {
            Some(numbers) => normalized(operation, &numbers, rank),
            None => (0..rank).collect(),
        }
    }
}

/// Lengths or axes as they are written.
pub type Numbers = SmallVec<[i64; 6]>;

macro_rules! integers {
    ($($ty:ty)*) => { $(
        impl Integer for $ty {
            fn to_i64(self) -> i64 {
                // Only an unsigned number can be above, and only a signed one below.
                self.try_into().unwrap_or(if self > 0 { i64::MAX } else { i64::MIN })
            }
        }

        impl AsShape for $ty {
            fn lengths(&self) -> Numbers {
                Numbers::from_slice(&[self.to_i64()])
            }
        }

        impl Axes for $ty {
            fn numbers(&self) -> Option<Numbers> {
                Some(self.lengths())
            }
        }
    )* };
}

integers!(i8 i16 i32 i64 i128 isize u8 u16 u32 u64 u128 usize);

impl<S: AsShape + ?Sized> AsShape for &S {
    fn lengths(&self) -> Numbers {
        (**self).lengths()
    }
}

impl<S: Axes + ?Sized> Axes for &S {
    fn numbers(&self) -> Option<Numbers> {
        (**self).numbers()
    }
}

macro_rules! lists {
    ($([$($generics:tt)*] $ty:ty;)*) => { $(
        impl<$($generics)*> AsShape for $ty {
            fn lengths(&self) -> Numbers {
                self.iter().map(|number| number.to_i64()).collect()
            }
        }

        impl<$($generics)*> Axes for $ty {
            fn numbers(&self) -> Option<Numbers> {
                Some(self.lengths())
            }
        }
    )* };
}

// An array without numbers has one implementation, so that `[]` needs no type.
lists! {
    [T: Integer] [T];
    [T: Integer] Vec<T>;
    [] Dims;
    [] [usize; 0];
    [T: Integer] [T; 1]; [T: Integer] [T; 2]; [T: Integer] [T; 3]; [T: Integer] [T; 4];
    [T: Integer] [T; 5]; [T: Integer] [T; 6]; [T: Integer] [T; 7]; [T: Integer] [T; 8];
    [T: Integer] [T; 9]; [T: Integer] [T; 10]; [T: Integer] [T; 11]; [T: Integer] [T; 12];
    [T: Integer] [T; 13]; [T: Integer] [T; 14]; [T: Integer] [T; 15]; [T: Integer] [T; 16];
}

impl AsShape for () {
    fn lengths(&self) -> Numbers {
        Numbers::new()
    }
}

impl Axes for () {
    fn numbers(&self) -> Option<Numbers> {
        None
    }
}

impl<T: Integer> Axes for Range<T>
where
    Range<T>: Iterator<Item = T> + Clone,
{
    fn numbers(&self) -> Option<Numbers> {
        Some(self.clone().map(Integer::to_i64).collect())
    }
}

macro_rules! tuples {
    ($(($($ty:ident $index:tt)*))*) => { $(
        impl<$($ty: Integer),*> AsShape for ($($ty,)*) {
            fn lengths(&self) -> Numbers {
                Numbers::from_slice(&[$(self.$index.to_i64()),*])
            }
        }

        impl<$($ty: Integer),*> Axes for ($($ty,)*) {
            fn numbers(&self) -> Option<Numbers> {
                Some(self.lengths())
            }
        }
    )* };
}

tuples! {
    (A 0)
    (A 0 B 1)
    (A 0 B 1 C 2)
    (A 0 B 1 C 2 D 3)
    (A 0 B 1 C 2 D 3 E 4)
    (A 0 B 1 C 2 D 3 E 4 F 5)
    (A 0 B 1 C 2 D 3 E 4 F 5 G 6)
    (A 0 B 1 C 2 D 3 E 4 F 5 G 6 H 7)
}

/// The lengths of a shape that an operation is given.
///
/// # Panics
/// When one is negative.
#[track_caller]
pub(crate) fn lengths(operation: &str, shape: &(impl AsShape + ?Sized)) -> Dims {
    let numbers = shape.lengths();
    let lengths: Option<Dims> = numbers.iter().map(|&n| usize::try_from(n).ok()).collect();
    match lengths {
        Some(lengths) => lengths,
        None => raise(
            Error::shape(format!("the shape {numbers:?} has a negative length"))
                .in_operation(operation),
        ),
    }
}

/// The axis counted from the front; negative ones count from the end.
///
/// # Panics
/// When there is no such axis.
#[track_caller]
pub(crate) fn normalize_axis(operation: &str, axis: impl Integer, rank: usize) -> usize {
    let axis = axis.to_i64();
    let from_front = if axis < 0 {
        axis.saturating_add_unsigned(rank as u64)
    } else {
        axis
    };
    match usize::try_from(from_front) {
        Ok(axis) if axis < rank => axis,
        _ => raise(
            Error::parameter(format!("axis {axis} is out of range for rank {rank}"))
                .in_operation(operation),
        ),
    }
}

#[track_caller]
fn normalized(operation: &str, numbers: &[i64], rank: usize) -> Vec<usize> {
    let mut found = Vec::with_capacity(numbers.len());
    for &number in numbers {
        let axis = normalize_axis(operation, number, rank);
        if found.contains(&axis) {
            raise(
                Error::parameter(format!("axis {number} is named twice in {numbers:?}"))
                    .in_operation(operation),
            );
        }
        found.push(axis);
    }
    found
}
