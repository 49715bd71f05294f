//! Keys, and the bits they give.

use jaxide_core::prims::{self, KeyImpl};
use jaxide_core::{DType, Dims, Error, Literal, Scalar};

use super::integer;
use crate::array::{Array, AsShape, Repr, as_dtype, check_fits, lengths};
use crate::trace::{bind_one, raise};

/// The key of a seed. Seeds in an array give an array of keys; of a number of the program, 32 bits count.
///
/// # Panics
/// When the seed is not an integer.
///
/// ```
/// use jaxide::random;
/// assert_eq!(random::key_data(&random::key(42)).to_vec::<u32>(), [0, 42]);
/// ```
#[track_caller]
pub fn key(seed: impl Into<Array>) -> Array {
    let seed = match seed.into() {
        Array(Repr::Number(Literal {
            value: Scalar::Int(number),
            ..
        })) => integer((number as i32).into(), DType::I32),
        seed => as_dtype(&seed, seed.dtype(), false),
    };
    let impl_ = KeyImpl::Fry;
    bind_one(prims::RandomSeed { impl_ }, &[seed])
}

/// `count` new keys from a key, which is not to be used any more: an array of keys with that length.
///
/// # Panics
/// When `key` is not an array of keys.
///
/// ```
/// use jaxide::random;
/// let [for_weights, for_data] = random::split(&random::key(0), 2).unpack();
/// # let _ = (for_weights, for_data);
/// ```
#[track_caller]
pub fn split(key: &Array, count: usize) -> Array {
    let shape = Dims::from_slice(&[count]);
    bind_one(prims::RandomSplit { shape }, std::slice::from_ref(key))
}

/// A new key from a key and a number, such as that of a step or an epoch.
///
/// # Panics
/// When `key` is not a key, `data` is not an integer, or a number of the program does not fit `u32`.
///
/// ```
/// use jaxide::random;
/// let key = random::key(0);
/// let (first, second) = (random::fold_in(&key, 1), random::fold_in(&key, 2));
/// assert_ne!(random::key_data(&first).to_vec::<u32>(), random::key_data(&second).to_vec::<u32>());
/// ```
#[track_caller]
pub fn fold_in(key: &Array, data: impl Into<Array>) -> Array {
    let data = data.into();
    if !data.dtype().is_integer() {
        raise(
            Error::dtype(format!(
                "an integer is folded in, and {} is given",
                data.aval()
            ))
            .in_operation("fold_in"),
        );
    }
    check_fits("fold_in", &data, DType::U32);
    let data = as_dtype(&data, DType::U32, false);
    bind_one(prims::RandomFoldIn, &[key.clone(), data])
}

/// The words of keys: a `u32` array with one more axis, of length 2.
///
/// # Panics
/// When `key` is not an array of keys.
#[track_caller]
pub fn key_data(key: &Array) -> Array {
    bind_one(prims::RandomUnwrap, std::slice::from_ref(key))
}

/// Keys of words that [`key_data`] gave.
///
/// # Panics
/// When `data` is not a `u32` array with a last axis of length 2.
#[track_caller]
pub fn wrap_key_data(data: &Array) -> Array {
    let impl_ = KeyImpl::Fry;
    bind_one(prims::RandomWrap { impl_ }, std::slice::from_ref(data))
}

/// Random bits: unsigned integers of any value, `u8`, `u16`, `u32` or `u64`.
///
/// # Panics
/// When `dtype` is none of these, or `key` is not a key.
#[track_caller]
pub fn bits(key: &Array, shape: impl AsShape, dtype: DType) -> Array {
    if !dtype.is_unsigned_integer() {
        raise(
            Error::dtype(format!(
                "bits are unsigned integers, and {dtype} is asked for"
            ))
            .in_operation("bits"),
        );
    }
    words(key, &lengths("bits", &shape), dtype.size() * 8)
}

/// Unsigned integers of `bit_width` bits.
#[track_caller]
pub(super) fn words(key: &Array, shape: &[usize], bit_width: usize) -> Array {
    let shape = Dims::from_slice(shape);
    bind_one(
        prims::RandomBits { bit_width, shape },
        std::slice::from_ref(key),
    )
}
