//! Arrays of one number, and arrays from others.

use jaxide_core::prims::{EmptyArray, Opaque};
use jaxide_core::{DType, Dims};

use crate::array::{Array, AsShape, as_dtype, lengths};
use crate::lax;
use crate::numpy::alone::alone;
use crate::numpy::broadcast_to;
use crate::options::options;
use crate::trace::bind_one;

options! {
    /// What functions that make arrays take beside shapes and numbers; an element type alone is one too.
    pub struct Creation {
        /// The element type: `f32` by default, and where there are numbers to take it from, theirs.
        dtype: Option<DType> = None, |dtype: impl Into<Option<DType>>| dtype.into();
    }
    /// What [`zeros_like`] and its like take beside the array; an element type alone is one too.
    pub struct Like {
        /// The element type, that of the array by default.
        dtype: Option<DType> = None, |dtype: impl Into<Option<DType>>| dtype.into();
        /// The shape, that of the array by default.
        shape: Option<Dims> = None, |shape: impl AsShape| Some(lengths("shape", &shape));
    }
    /// What [`array()`] takes beside the array; an element type alone is one too.
    pub struct Copied {
        /// The element type, that of the array by default.
        dtype: Option<DType> = None, |dtype: impl Into<Option<DType>>| dtype.into();
        /// How many axes the result has at least: axes of length 1 are added in front.
        ndmin: usize = 0;
    }
}

alone!(Creation, dtype: DType);
alone!(Like, dtype: DType);
alone!(Copied, dtype: DType);

impl Creation {
    pub(super) fn or_f32(&self) -> DType {
        self.dtype.unwrap_or(DType::F32)
    }
}

/// Zeros, `f32` unless another element type is given.
///
/// # Panics
/// When the array is too large to hold.
#[track_caller]
pub fn zeros(shape: impl AsShape, options: impl Into<Creation>) -> Array {
    let _named = crate::trace::named("zeros");
    lax::full(shape, 0, options.into().or_f32())
}

/// Ones, `f32` unless another element type is given.
///
/// # Panics
/// When the array is too large to hold.
#[track_caller]
pub fn ones(shape: impl AsShape, options: impl Into<Creation>) -> Array {
    let _named = crate::trace::named("ones");
    lax::full(shape, 1, options.into().or_f32())
}

/// An array whose elements nobody should look at: zeros here. `f32` unless another element type is given.
///
/// # Panics
/// When the array is too large to hold.
#[track_caller]
pub fn empty(shape: impl AsShape, options: impl Into<Creation>) -> Array {
    let _named = crate::trace::named("empty");
    empty_of(lengths("empty", &shape), options.into().or_f32())
}

#[track_caller]
pub(crate) fn empty_of(shape: Dims, dtype: DType) -> Array {
    let prim = EmptyArray {
        dtype,
        out_sharding: Opaque::none(),
        shape,
    };
    bind_one(prim, &[])
}

/// An array filled with a number, or with an array that is repeated to `shape`. Its element type is that of what it is
/// filled with, and of a bare number as weak, unless one is given.
///
/// # Panics
/// When `fill_value` does not broadcast to `shape`.
///
/// ```
/// use jaxide::{DType, numpy};
/// assert_eq!(numpy::full([2], 2.5, ()).to_vec::<f32>(), [2.5, 2.5]);
/// assert_eq!(numpy::full([2, 2], [1, 2], DType::U8).to_vec::<u8>(), [1, 2, 1, 2]);
/// ```
#[track_caller]
pub fn full(
    shape: impl AsShape,
    fill_value: impl Into<Array>,
    options: impl Into<Creation>,
) -> Array {
    let _named = crate::trace::named("full");
    let shape = lengths("full", &shape);
    let value = fill_value.into();
    let value = match options.into().dtype {
        Some(dtype) => as_dtype(&value, dtype, false),
        None => value,
    };
    if value.ndim() == 0 {
        lax::broadcast_in_dim(&value, &shape, &[])
    } else {
        broadcast_to(&value, &shape)
    }
}

/// What [`full_like`] fills with: a number or an array, with other options where they are wanted.
#[derive(Clone)]
pub struct Filling {
    value: Array,
    like: Like,
}

impl Filling {
    /// A number or an array.
    pub fn new(value: impl Into<Array>) -> Self {
        Filling {
            value: value.into(),
            like: Like::new(),
        }
    }

    /// The element type, that of the array by default.
    #[must_use]
    pub fn dtype(mut self, dtype: impl Into<Option<DType>>) -> Self {
        self.like = self.like.dtype(dtype);
        self
    }

    /// The shape, that of the array by default.
    #[must_use]
    pub fn shape(mut self, shape: impl AsShape) -> Self {
        self.like = self.like.shape(shape);
        self
    }
}

impl<T: Into<Array>> From<T> for Filling {
    fn from(value: T) -> Self {
        Filling::new(value)
    }
}

/// An array like `x` filled with a number, or with an array that is repeated. Where an element type or another shape is wanted,
/// the number is in a [`Filling`].
///
/// # Panics
/// When an array to fill with does not broadcast.
///
/// ```
/// use jaxide::{Array, DType, numpy};
/// let x = Array::from([1.0f32, 2.0]);
/// assert_eq!(numpy::full_like(&x, 3).to_vec::<f32>(), [3.0, 3.0]);
/// let counts = numpy::full_like(&x, numpy::Filling::new(7).dtype(DType::I32).shape([1]));
/// assert_eq!(counts.to_vec::<i32>(), [7]);
/// ```
#[track_caller]
pub fn full_like(x: &Array, fill_value: impl Into<Filling>) -> Array {
    let _named = crate::trace::named("full_like");
    let Filling { value, like } = fill_value.into();
    filled(x, &value, like)
}

#[track_caller]
fn filled(x: &Array, value: &Array, like: Like) -> Array {
    let shape = like.shape.unwrap_or_else(|| Dims::from_slice(x.shape()));
    let weak = like.dtype.is_none() && value.ndim() == 0 && x.weak_type();
    let value = as_dtype(value, like.dtype.unwrap_or(x.dtype()), weak);
    if value.ndim() == 0 {
        lax::broadcast_in_dim(&value, &shape, &[])
    } else {
        broadcast_to(&value, &shape)
    }
}

/// Zeros of the shape and element type of `x`, unless others are given.
///
/// # Panics
/// When the array is too large to hold.
///
/// ```
/// use jaxide::{Array, DType, numpy};
/// let x = Array::from([1.0f32, 2.0]);
/// assert_eq!(numpy::zeros_like(&x, ()).to_vec::<f32>(), [0.0, 0.0]);
/// assert_eq!(numpy::zeros_like(&x, numpy::Like::new().shape([2, 3])).shape(), [2, 3]);
/// ```
#[track_caller]
pub fn zeros_like(x: &Array, options: impl Into<Like>) -> Array {
    let _named = crate::trace::named("zeros_like");
    filled(x, &Array::from(0), options.into())
}

/// Ones of the shape and element type of `x`, unless others are given.
///
/// # Panics
/// When the array is too large to hold.
#[track_caller]
pub fn ones_like(x: &Array, options: impl Into<Like>) -> Array {
    let _named = crate::trace::named("ones_like");
    filled(x, &Array::from(1), options.into())
}

/// An array of the shape and element type of `x` whose elements nobody should look at: zeros here.
///
/// # Panics
/// When the array is too large to hold.
#[track_caller]
pub fn empty_like(x: &Array, options: impl Into<Like>) -> Array {
    let _named = crate::trace::named("empty_like");
    let like = options.into();
    let shape = like.shape.unwrap_or_else(|| Dims::from_slice(x.shape()));
    empty_of(shape, like.dtype.unwrap_or(x.dtype()))
}

/// A new array of the elements of `x`.
///
/// # Panics
/// When the conversion to the element type has no meaning (random keys).
///
/// ```
/// use jaxide::{DType, numpy};
/// let x = numpy::array([1, 2], numpy::Copied::new().dtype(DType::F32).ndmin(2));
/// assert_eq!((x.shape(), x.to_vec::<f32>()), (&[1, 2][..], vec![1.0, 2.0]));
/// ```
#[track_caller]
pub fn array(x: impl Into<Array>, options: impl Into<Copied>) -> Array {
    let _named = crate::trace::named("array");
    let x = x.into();
    let copy = if x.is_tracer() { lax::copy(&x) } else { x };
    as_array(&copy, options.into())
}

/// `x` as an array, with another element type or more axes where they are asked for.
///
/// # Panics
/// When the conversion to the element type has no meaning (random keys).
#[track_caller]
pub fn asarray(x: impl Into<Array>, options: impl Into<Copied>) -> Array {
    let _named = crate::trace::named("asarray");
    as_array(&x.into(), options.into())
}

#[track_caller]
fn as_array(x: &Array, options: Copied) -> Array {
    let x = match options.dtype {
        Some(dtype) => as_dtype(x, dtype, false),
        None => x.clone(),
    };
    lax::expand_rank(&x, options.ndmin)
}

/// A new array of the elements of `x`.
///
/// # Panics
/// Never for arrays that exist.
#[track_caller]
pub fn copy(x: &Array) -> Array {
    let _named = crate::trace::named("copy");
    if x.is_tracer() {
        lax::copy(x)
    } else {
        x.clone()
    }
}

/// `x` with another element type; complex numbers are true where they are not zero, and real numbers are their real parts.
///
/// # Panics
/// When the conversion has no meaning (random keys).
#[track_caller]
pub fn astype(x: &Array, dtype: DType) -> Array {
    let _named = crate::trace::named("astype");
    if x.dtype().is_complex() && dtype == DType::Bool {
        return lax::ne(x, &Array::from(0));
    }
    as_dtype(x, dtype, false)
}
