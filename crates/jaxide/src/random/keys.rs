//! Keys, and the bits they give.

use jaxide_core::prims::{self, KeyImpl};
use jaxide_core::{DType, Dims, Error, Literal, Scalar};

use super::given::single;
use super::{SampleType, integer};
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
    let _named = crate::trace::named("key");
    seeded("key", seed.into(), KeyImpl::Fry)
}

/// [`key`] of a generator that is named: Threefry, as by itself, or the bit generator with its splitting or a cheaper one.
///
/// # Panics
/// When the seed is not an integer.
///
/// ```
/// use jaxide::random::{self, KeyImpl};
/// let key = random::key_with_impl(42, KeyImpl::Rbg);
/// assert_eq!(random::key_impl(&key), KeyImpl::Rbg);
/// assert_eq!(random::key_data(&key).to_vec::<u32>(), [0, 42, 0, 42]);
/// ```
#[track_caller]
pub fn key_with_impl(seed: impl Into<Array>, impl_: KeyImpl) -> Array {
    let _named = crate::trace::named("key_with_impl");
    seeded("key", seed.into(), impl_)
}

/// The words of the key of a seed, which stand for it: JAX's `PRNGKey`.
///
/// # Panics
/// When the seed is not an integer.
///
/// ```
/// use jaxide::random;
/// assert_eq!(random::prng_key(42).to_vec::<u32>(), [0, 42]);
/// ```
#[track_caller]
pub fn prng_key(seed: impl Into<Array>) -> Array {
    let _named = crate::trace::named("prng_key");
    key_data(&key(seed))
}

#[track_caller]
fn seeded(operation: &str, seed: Array, impl_: KeyImpl) -> Array {
    if !seed.dtype().is_integer() {
        let error = format!("a seed is an integer, and {} is given", seed.aval());
        raise(Error::dtype(error).in_operation(operation));
    }
    let seed = match seed {
        Array(Repr::Number(Literal {
            value: Scalar::Int(number),
            ..
        })) => integer((number as i32).into(), DType::I32),
        seed => as_dtype(&seed, seed.dtype(), false),
    };
    bind_one(prims::RandomSeed { impl_ }, &[seed])
}

/// The element type of keys of a generator.
///
/// ```
/// use jaxide::{DType, random};
/// assert_eq!(random::key_dtype(random::KeyImpl::Fry), DType::KeyFry);
/// ```
#[must_use]
pub fn key_dtype(impl_: KeyImpl) -> DType {
    impl_.dtype()
}

/// The generator that keys are of.
///
/// # Panics
/// When `keys` are no keys.
///
/// ```
/// use jaxide::random::{self, KeyImpl};
/// assert_eq!(random::key_impl(&random::key(0)), KeyImpl::Fry);
/// ```
#[track_caller]
pub fn key_impl(keys: &Array) -> KeyImpl {
    let _named = crate::trace::named("key_impl");
    match keys.dtype() {
        DType::KeyFry => KeyImpl::Fry,
        DType::KeyRbg => KeyImpl::Rbg,
        DType::KeyUnsafeRbg => KeyImpl::UnsafeRbg,
        // The words of keys stand for them.
        DType::U32 if keys.shape().last() == Some(&2) => KeyImpl::Fry,
        _ => {
            let error = format!("keys are needed, and {} is given", keys.aval());
            raise(Error::dtype(error).in_operation("key_impl"))
        }
    }
}

/// New keys from a key, which is not to be used any more: an array of keys of that shape, most often a length.
///
/// # Panics
/// When `key` is not a key.
///
/// ```
/// use jaxide::random;
/// let [for_weights, for_data] = random::split(&random::key(0), 2).unpack();
/// # let _ = (for_weights, for_data);
/// ```
#[track_caller]
pub fn split(key: &Array, num: impl AsShape) -> Array {
    let _named = crate::trace::named("split");
    let shape = lengths("split", &num);
    as_given(
        key,
        bind_one(prims::RandomSplit { shape }, &[single("split", key)]),
    )
}

/// Keys as words, where the words of a key were given.
#[track_caller]
fn as_given(given: &Array, keys: Array) -> Array {
    if given.dtype().is_key() {
        keys
    } else {
        key_data(&keys)
    }
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
    let _named = crate::trace::named("fold_in");
    let data = data.into();
    let one = single("fold_in", key);
    if data.ndim() > 0 {
        let error = format!("one integer is folded in, and {} is given", data.aval());
        raise(
            Error::shape(error)
                .in_operation("fold_in")
                .note("map over several with `vmap`"),
        );
    }
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
    as_given(key, bind_one(prims::RandomFoldIn, &[one, data]))
}

/// The words of keys: a `u32` array with one more axis, of length 2, and of the bit generator 4.
///
/// # Panics
/// When `key` is not an array of keys.
#[track_caller]
pub fn key_data(key: &Array) -> Array {
    let _named = crate::trace::named("key_data");
    if key.dtype() == DType::U32 && key.shape().last() == Some(&2) {
        return bind_one(prims::RandomUnwrap, &[wrap_key_data(key)]);
    }
    bind_one(prims::RandomUnwrap, std::slice::from_ref(key))
}

/// Keys of words that [`key_data`] gave.
///
/// # Panics
/// When `data` is not a `u32` array with a last axis of length 2.
#[track_caller]
pub fn wrap_key_data(data: &Array) -> Array {
    let _named = crate::trace::named("wrap_key_data");
    wrap_key_data_with_impl(data, KeyImpl::Fry)
}

/// [`wrap_key_data`] of words of another generator.
///
/// # Panics
/// When `data` is not a `u32` array whose last axis is as long as the keys of the generator.
///
/// ```
/// use jaxide::random::{self, KeyImpl};
/// let key = random::key_with_impl(1, KeyImpl::Rbg);
/// let again = random::wrap_key_data_with_impl(&random::key_data(&key), KeyImpl::Rbg);
/// assert_eq!(again.dtype(), key.dtype());
/// ```
#[track_caller]
pub fn wrap_key_data_with_impl(data: &Array, impl_: KeyImpl) -> Array {
    let _named = crate::trace::named("wrap_key_data_with_impl");
    bind_one(prims::RandomWrap { impl_ }, std::slice::from_ref(data))
}

/// Random bits: unsigned integers of any value, `u8`, `u16`, `u32` or `u64`; `u32` with `()`.
///
/// # Panics
/// When `dtype` is none of these, or `key` is not a key.
#[track_caller]
pub fn bits(key: &Array, shape: impl AsShape, dtype: impl Into<SampleType>) -> Array {
    let _named = crate::trace::named("bits");
    let dtype = dtype.into().or(DType::U32);
    if !dtype.is_unsigned_integer() {
        raise(
            Error::dtype(format!(
                "bits are unsigned integers, and {dtype} is asked for"
            ))
            .in_operation("bits"),
        );
    }
    let key = single("bits", key);
    words(&key, &lengths("bits", &shape), dtype.size() * 8)
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
