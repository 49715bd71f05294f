//! Combining the slices of an array by segments: JAX's `ops`.

use jaxide_core::{DType, Error, Scalar};

use crate::array::{Array, as_dtype};
use crate::lax;
use crate::numpy::{Index, IndexMode, Indices, Update, WriteOptions, floor_divide, write};
use crate::options::options;
use crate::trace::raise;

options! {
    /// What [`segment_sum`] and the like take beside the arrays; a number of segments alone is one too.
    pub struct Segment {
        /// How many segments there are, which must be known while a program is traced: by default as many as numbers need.
        num_segments: Option<usize> = None, |count: usize| Some(count);
        /// A promise that numbers of segments ascend.
        indices_are_sorted: bool = false;
        /// A promise that no number is there twice.
        unique_indices: bool = false;
        /// So many slices are combined at a time, and what that gives after them: exacter for sums of many.
        bucket_size: Option<usize> = None, |size: usize| Some(size);
        /// What becomes of slices whose segment there is not: they are dropped by default.
        mode: IndexMode = IndexMode::Fill;
    }
}

impl From<usize> for Segment {
    fn from(count: usize) -> Self {
        Segment::new().num_segments(count)
    }
}

/// A segment operation is a scatter into what changes nothing.
macro_rules! segments {
    ($($(#[$doc:meta])* $name:ident $update:ident $reduce:ident $neutral:expr;)*) => { $(
        $(#[$doc])*
        ///
        /// # Panics
        /// When `segment_ids` are not integers, do not fit `data`, or without a number of segments are not known.
        #[track_caller]
        pub fn $name(data: &Array, segment_ids: &Array, options: impl Into<Segment>) -> Array {
            let _named = crate::trace::named(stringify!($name));
            let neutral: fn(DType) -> Scalar = $neutral;
            let reduce = |x: &Array| lax::$reduce(x, 0);
            combined(stringify!($name), data, segment_ids, &options.into(), Update::$update, neutral, reduce)
        }
    )* };
}

segments! {
    /// For each segment the sum of the slices of `data` whose number in `segment_ids` it is: `[segments, ...]`.
    ///
    /// ```
    /// use jaxide::{Array, ops};
    /// let data = Array::from([1.0f32, 2.0, 3.0, 4.0]);
    /// let sums = ops::segment_sum(&data, &Array::from([0, 0, 2, 2]), 3);
    /// assert_eq!(sums.to_vec::<f32>(), [3.0, 0.0, 7.0]);
    /// ```
    segment_sum Add reduce_sum |_| Scalar::Int(0);
    /// For each segment the product of the slices of `data` whose number in `segment_ids` it is.
    segment_prod Multiply reduce_prod |_| Scalar::Int(1);
    /// For each segment the smallest of the slices of `data` whose number in `segment_ids` it is; the largest number there is
    /// where there are none.
    segment_min Min reduce_min |dtype| end(dtype, true);
    /// For each segment the largest of the slices of `data` whose number in `segment_ids` it is; the smallest number there is
    /// where there are none.
    segment_max Max reduce_max |dtype| end(dtype, false);
}

/// The largest or smallest number of an element type.
fn end(dtype: DType, largest: bool) -> Scalar {
    let bits = 8 * dtype.size();
    if dtype == DType::Bool {
        Scalar::Bool(largest)
    } else if dtype.is_signed_integer() {
        let least = i64::MIN >> (64 - bits);
        Scalar::Int(if largest { !least } else { least })
    } else if dtype.is_unsigned_integer() {
        Scalar::UInt(if largest { u64::MAX >> (64 - bits) } else { 0 })
    } else {
        Scalar::Float(if largest {
            f64::INFINITY
        } else {
            f64::NEG_INFINITY
        })
    }
}

#[track_caller]
fn combined(
    operation: &str,
    data: &Array,
    segment_ids: &Array,
    options: &Segment,
    update: Update<'_>,
    neutral: fn(DType) -> Scalar,
    reduce: impl Fn(&Array) -> Array,
) -> Array {
    let how = WriteOptions {
        mode: Some(options.mode),
        unique_indices: options.unique_indices,
        indices_are_sorted: options.indices_are_sorted,
        wrap_negative_indices: false,
    };
    let count = match options.num_segments {
        Some(count) => count,
        None => needed(operation, segment_ids),
    };
    let dtype = data.dtype();
    let start = |lead: &[usize]| {
        let mut shape = lead.to_vec();
        shape.extend_from_slice(data.shape().get(1..).unwrap_or_default());
        lax::full(&shape, Array::weak(neutral(dtype), dtype), dtype)
    };
    let Some(size) = options.bucket_size else {
        let indices = Indices::from([Index::Array(segment_ids.clone())]);
        return write(operation, &start(&[count]), &indices, update, data, how);
    };
    let Some(&length) = segment_ids.shape().first().filter(|_| size > 0) else {
        raise(
            Error::parameter(format!(
                "{} cannot be put into buckets of {size}",
                segment_ids.aval()
            ))
            .in_operation(operation),
        )
    };
    let out = start(&[segment_ids.size().div_ceil(size), count]);
    let size = i32::try_from(size).unwrap_or(i32::MAX);
    let buckets = floor_divide(&lax::iota(DType::I32, length, 0), &Array::from(size));
    let indices = Indices::from([
        Index::Array(buckets),
        Index::Array(lax::expand_dims(segment_ids, 0)),
    ]);
    let out = write(operation, &out, &indices, update, data, how);
    as_dtype(&reduce(&out), dtype, false)
}

/// As many segments as the largest number needs.
#[track_caller]
fn needed(operation: &str, segment_ids: &Array) -> usize {
    let value = match segment_ids.try_value() {
        Ok(value) => value,
        Err(error) => raise(
            error
                .in_operation(operation)
                .note("how many segments there are must be known: give `num_segments`"),
        ),
    };
    let number = |at: usize| value.scalar_at(at).and_then(Scalar::as_integer);
    let largest = (0..value.len()).filter_map(number).max();
    usize::try_from(largest.map_or(0, |largest| largest + 1)).unwrap_or(0)
}
