//! Counter-based random numbers: keys, random bits, the bit generators of XLA, gamma samples.
//!
//! Everything here is exact: the same key gives the same bits as JAX 0.12 on CPU with its default
//! `jax_threefry_partitionable`.

mod bit_generator;
mod gamma;
mod philox;
mod threefry;
mod uniform;

pub use bit_generator::{BitGenerator, rng_bit_generator, state_from_words, state_to_words};
pub use gamma::random_gamma;
pub use philox::{philox2x32, philox4x32};
pub use threefry::{threefry2x32, threefry4x32};
pub use uniform::{normal, uniform};

/// The implementation behind a typed key: what its words mean and how bits come out of it.
///
/// Keys are slices of [`key_words`](Prng::key_words) words; arrays of keys lie one after another.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Prng {
    /// `threefry2x32`, tag `fry`: two words, everything from [`threefry2x32`].
    Threefry,
    /// `rbg`, tag `rbg`: four words, two Threefry keys for derivation; bits from Philox.
    Rbg,
    /// `unsafe_rbg`, tag `urbg`: four words; seeds as `rbg`, everything else from Philox.
    UnsafeRbg,
}

impl Prng {
    /// Every implementation.
    pub const ALL: [Prng; 3] = [Prng::Threefry, Prng::Rbg, Prng::UnsafeRbg];

    /// The tag that names the implementation in the text of a jaxpr, as in `key<fry>`.
    pub fn tag(self) -> &'static str {
        match self {
            Prng::Threefry => "fry",
            Prng::Rbg => "rbg",
            Prng::UnsafeRbg => "urbg",
        }
    }

    /// The implementation with a tag.
    pub fn from_tag(tag: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|p| p.tag() == tag)
    }

    /// The number of 32-bit words in a key.
    pub fn key_words(self) -> usize {
        match self {
            Prng::Threefry => 2,
            Prng::Rbg | Prng::UnsafeRbg => 4,
        }
    }

    /// The key for an integer seed of a dtype with `seed_bits` bits (`random_seed`).
    ///
    /// A 64-bit seed fills two words, high word first; a narrower one leaves the high word zero and
    /// is sign-extended into the low one.
    pub fn seed(self, seed: i64, seed_bits: u32) -> Vec<u32> {
        let high = if seed_bits == 64 {
            (seed >> 32) as u32
        } else {
            0
        };
        [high, seed as u32].repeat(self.key_words() / 2)
    }

    /// `count` new keys for each of the keys (`random_split`), row-major.
    ///
    /// Key i of Threefry and rbg enciphers the 64-bit counter i. Unsafe rbg takes every tenth block of four words from
    /// one run of the Philox generator on the *first* key, as JAX does under batching.
    ///
    /// # Panics
    ///
    /// When `keys` is not a whole number of keys.
    pub fn split(self, keys: &[u32], count: usize) -> Vec<u32> {
        let halves = self.halves(keys);
        if self == Prng::UnsafeRbg {
            return every_tenth(keys, 0, halves.len() / 2 * count);
        }
        halves
            .chunks_exact(self.key_words() / 2)
            .flat_map(|key| (0..count as u64).map(move |i| (key, words(i))))
            .flat_map(|(key, counter)| {
                key.iter()
                    .flat_map(move |&half| threefry2x32(half, counter))
            })
            .collect()
    }

    /// A key that depends on both arguments (`random_fold_in`).
    ///
    /// # Panics
    ///
    /// When `key` is not one key.
    pub fn fold_in(self, key: &[u32], data: u32) -> Vec<u32> {
        let halves = self.halves(key);
        if self == Prng::UnsafeRbg {
            let mask = Prng::fold_in_masks(&[data]);
            return key
                .iter()
                .zip(mask)
                .map(|(word, mask)| word ^ mask)
                .collect();
        }
        halves
            .iter()
            .flat_map(|&half| threefry2x32(half, [0, data]))
            .collect()
    }

    /// What unsafe rbg folds into the words of a key, by exclusive or, for each of an array of integers: every tenth
    /// block of four words from one run of the Philox generator on the key seeded by the *first* integer, as JAX does
    /// under batching.
    pub fn fold_in_masks(data: &[u32]) -> Vec<u32> {
        let first = data.first().copied().unwrap_or_default();
        every_tenth(&Prng::UnsafeRbg.seed(first.into(), 32), 9, data.len())
    }

    /// `count` random values of `bit_width` bits for each of the keys (`random_bits`), row-major.
    ///
    /// Threefry: value i of a key is made of the block `(a, b)` of the 64-bit counter i: `a ‖ b`
    /// for 64 bits, the low bits of `a ⊕ b` otherwise. Both rbg take all values, for all keys, from one
    /// run of the Philox generator on the *first* key, as JAX does under batching.
    ///
    /// # Panics
    ///
    /// When `bit_width` is not 8, 16, 32 or 64, or `keys` is not a whole number of keys.
    pub fn bits(self, keys: &[u32], bit_width: u32, count: usize) -> Vec<u64> {
        assert!(
            matches!(bit_width, 8 | 16 | 32 | 64),
            "random_bits: {bit_width} bits"
        );
        assert_eq!(
            keys.len() % self.key_words(),
            0,
            "random_bits: words of {self:?} keys"
        );
        match self {
            Prng::Threefry => {
                let (keys, _) = keys.as_chunks::<2>();
                let one = |key: [u32; 2], i| {
                    let [a, b] = threefry2x32(key, words(i));
                    match bit_width {
                        64 => u64::from(a) << 32 | u64::from(b),
                        _ => u64::from(a ^ b) & (u64::MAX >> (64 - bit_width)),
                    }
                };
                keys.iter()
                    .flat_map(|&key| (0..count as u64).map(move |i| one(key, i)))
                    .collect()
            }
            Prng::Rbg | Prng::UnsafeRbg => {
                let (keys, _) = keys.as_chunks::<4>();
                keys.first().map_or_else(Vec::new, |&key| {
                    let shape = [keys.len(), count];
                    let state = state_from_words(key);
                    rng_bit_generator(BitGenerator::Philox, state, bit_width, &shape).1
                })
            }
        }
    }

    /// The Threefry keys that keys consist of.
    fn halves(self, keys: &[u32]) -> &[[u32; 2]] {
        assert_eq!(keys.len() % self.key_words(), 0, "words of {self:?} keys");
        keys.as_chunks::<2>().0
    }
}

/// `count` blocks of four words, from block `first` on every tenth that Philox makes of the first of `keys`.
fn every_tenth(keys: &[u32], first: usize, count: usize) -> Vec<u32> {
    let (keys, _) = keys.as_chunks::<4>();
    keys.first().map_or_else(Vec::new, |&key| {
        let shape = [10 * count, 4];
        let (_, words) = rng_bit_generator(BitGenerator::Philox, state_from_words(key), 32, &shape);
        let blocks = words.chunks_exact(4).skip(first).step_by(10);
        blocks.flatten().map(|&word| word as u32).collect()
    })
}

/// High and low word of a 64-bit counter.
fn words(i: u64) -> [u32; 2] {
    [(i >> 32) as u32, i as u32]
}

#[cfg(test)]
mod tests {
    use super::*;

    const FRY: Prng = Prng::Threefry;

    #[test]
    fn seeds() {
        assert_eq!(FRY.seed(42, 32), [0, 42]);
        assert_eq!(FRY.seed(-5, 32), [0, 4294967291]);
        assert_eq!(FRY.seed(-5, 64), [4294967295, 4294967291]);
        assert_eq!(FRY.seed((1 << 40) + 3, 64), [256, 3]);
        assert_eq!(Prng::Rbg.seed(7, 32), [0, 7, 0, 7]);
    }

    /// Results of `jax.random` with the default implementation.
    #[test]
    fn threefry_keys_and_bits() {
        assert_eq!(
            FRY.split(&[0, 1], 2),
            [507451445, 1853169794, 1948878966, 4237131848]
        );
        assert_eq!(FRY.fold_in(&[0, 1], 1000), [1260481763, 3492864707]);
        assert_eq!(
            FRY.bits(&[0, 1], 32, 3),
            [1883912375, 2292451390, 1915204986]
        );
        assert_eq!(FRY.bits(&[0, 1], 16, 2), [14519, 2110]);
        assert_eq!(FRY.bits(&[0, 1], 8, 2), [183, 62]);
        assert_eq!(
            FRY.bits(&[0, 7], 64, 2),
            [0xd817648b74864d80, 0x0ba028bff22056bf]
        );
        let two_keys = FRY.bits(&[0, 1, 0, 0], 32, 1);
        assert_eq!(two_keys, [1883912375, 4070199207]);
    }

    /// Results of `jax.random` with `impl="rbg"`.
    #[test]
    fn rbg_keys_and_bits() {
        let key = Prng::Rbg.seed(7, 32);
        let keys = Prng::Rbg.split(&key, 2);
        let (a, b) = ([3625411723, 1954958720], [195045567, 4062205631]);
        assert_eq!(keys, [a, a, b, b].concat());
        assert_eq!(
            Prng::Rbg.fold_in(&key, 5),
            [3583082021, 1947592014].repeat(2)
        );
        assert_eq!(Prng::Rbg.bits(&key, 64, 1), [5872034270353486769]);
        let batch = Prng::Rbg.bits(&keys, 64, 2);
        assert_eq!(batch[0], 5707310650327277264);
        assert_eq!(batch[2], 13826258832401958376);
        assert!(Prng::Rbg.bits(&[], 32, 5).is_empty());
    }

    #[test]
    fn tags() {
        for prng in Prng::ALL {
            assert_eq!(Prng::from_tag(prng.tag()), Some(prng));
        }
        assert_eq!(Prng::from_tag("fry4"), None);
    }
}
