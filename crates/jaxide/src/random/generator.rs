//! What other generators are made of: the cipher, the bit generator, keys as they are.

use jaxide_core::DType;
use jaxide_core::prims::{self, Opaque, RngAlgorithm};

use crate::array::{Array, AsShape, lengths};
use crate::trace::{bind, bind_one};

/// The Threefry block cipher on two key words and two words of counters: `u32` arrays of one shape, or scalars.
///
/// # Panics
/// When words are not `u32`, or shapes differ.
///
/// ```
/// use jaxide::{Array, DType, random};
/// let zeros = Array::zeros(&[1], DType::U32);
/// let [x, y] = random::threefry2x32([&zeros, &zeros], [&zeros, &zeros]);
/// assert_eq!((x.to_vec::<u32>(), y.to_vec::<u32>()), (vec![0x6b20_0159], vec![0x99ba_4efe]));
/// ```
#[track_caller]
pub fn threefry2x32(key: [&Array; 2], counters: [&Array; 2]) -> [Array; 2] {
    let _named = crate::trace::named("threefry2x32");
    let operands = [key[0], key[1], counters[0], counters[1]].map(Array::clone);
    let out = bind(prims::Threefry2x32, &operands);
    [out[0].clone(), out[1].clone()]
}

/// A new state and random bits from the state of a bit generator: `u32` words, as many as the algorithm has.
///
/// # Panics
/// When the state is not that of the algorithm, or `dtype` is not unsigned.
#[track_caller]
pub fn rng_bit_generator(
    state: &Array,
    shape: impl AsShape,
    dtype: DType,
    algorithm: RngAlgorithm,
) -> (Array, Array) {
    let _named = crate::trace::named("rng_bit_generator");
    let prim = prims::RngBitGenerator {
        algorithm,
        dtype,
        out_sharding: Opaque::none(),
        shape: lengths("rng_bit_generator", &shape),
    };
    let out = bind(prim, std::slice::from_ref(state));
    (out[0].clone(), out[1].clone())
}

/// The same keys as new ones, for those who check that no key is used twice.
///
/// # Panics
/// When `keys` are no keys.
#[track_caller]
pub fn clone(keys: &Array) -> Array {
    let _named = crate::trace::named("clone");
    bind_one(prims::RandomClone, std::slice::from_ref(keys))
}
