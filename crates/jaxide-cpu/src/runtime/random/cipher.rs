//! The block ciphers Threefry-2x32, sixteen blocks at a time, and Philox-4x32, eight.
//!
//! The functions compute what those of [`jaxide_core::eval::numerics::random`] compute for one
//! block (Salmon et al., *Parallel random numbers: as easy as 1, 2, 3*, SC 2011), on arrays whose
//! loops the compiler turns into vector instructions. Each loop makes one array: functions of arrays that take closures are not inlined
//! in what is compiled for other instruction sets, and vectors that go through memory in parts wait for it.

#![expect(
    clippy::needless_range_loop,
    reason = "what iterators are made of is not inlined here"
)]

#[cfg(test)]
use crate::runtime::simd::Isa;
use crate::runtime::simd::for_each_isa;

/// Blocks of Threefry that are enciphered together.
pub(super) const LANES: usize = 16;

/// One word of each block.
pub(super) type Words = [u32; LANES];

/// Blocks of Philox that are enciphered together: with more, their words need more registers than there are.
const LONG_LANES: usize = 8;

/// One word of each block, with as many bits above it.
type Long = [u64; LONG_LANES];

/// Enciphers counters under keys, block by block.
#[inline(always)]
fn threefry(key: [Words; 2], [mut x0, mut x1]: [Words; 2]) -> [Words; 2] {
    const ROTATIONS: [[u32; 4]; 2] = [[13, 15, 26, 6], [17, 29, 16, 24]];
    let mut parity = [0; LANES];
    for i in 0..LANES {
        parity[i] = key[0][i] ^ key[1][i] ^ 0x1BD1_1BDA;
    }
    let schedule = [key[0], key[1], parity];
    for i in 0..LANES {
        x0[i] = x0[i].wrapping_add(schedule[0][i]);
        x1[i] = x1[i].wrapping_add(schedule[1][i]);
    }
    for group in 0..5 {
        for rotation in ROTATIONS[group % 2] {
            for i in 0..LANES {
                x0[i] = x0[i].wrapping_add(x1[i]);
                x1[i] = x1[i].rotate_left(rotation) ^ x0[i];
            }
        }
        for i in 0..LANES {
            x0[i] = x0[i].wrapping_add(schedule[(group + 1) % 3][i]);
            x1[i] = x1[i]
                .wrapping_add(schedule[(group + 2) % 3][i])
                .wrapping_add(group as u32 + 1);
        }
    }
    [x0, x1]
}

/// Enciphers counters under one key, whose words lie in the low halves of elements of 64 bits, as products take and leave them; what is in
/// the high halves counts for nothing. Each loop makes one array, which is what the compiler makes vectors of.
#[inline(always)]
fn philox(mut key: [u32; 2], [mut c0, mut c1, mut c2, mut c3]: [Long; 4]) -> [Long; 4] {
    const MULTIPLIERS: [u64; 2] = [0xD251_1F53, 0xCD9E_8D57];
    const WEYL: [u32; 2] = [0x9E37_79B9, 0xBB67_AE85];
    const LOW: u64 = 0xFFFF_FFFF;
    for _ in 0..10 {
        let (key0, key1) = (u64::from(key[0]), u64::from(key[1]));
        let (mut product0, mut product1) = ([0; LONG_LANES], [0; LONG_LANES]);
        for i in 0..LONG_LANES {
            product0[i] = MULTIPLIERS[0] * (c0[i] & LOW);
        }
        for i in 0..LONG_LANES {
            product1[i] = MULTIPLIERS[1] * (c2[i] & LOW);
        }
        for i in 0..LONG_LANES {
            c0[i] = (product1[i] >> 32) ^ c1[i] ^ key0;
        }
        for i in 0..LONG_LANES {
            c2[i] = (product0[i] >> 32) ^ c3[i] ^ key1;
        }
        (c1, c3) = (product1, product0);
        key = [key[0].wrapping_add(WEYL[0]), key[1].wrapping_add(WEYL[1])];
    }
    [c0, c1, c2, c3]
}

/// Blocks of 64 bits from their low words and what has the high ones in its low halves.
#[inline(always)]
fn joined_words(low: &Long, high: &Long) -> Long {
    let mut both = [0; LONG_LANES];
    for i in 0..LONG_LANES {
        both[i] = high[i] << 32 | low[i] & 0xFFFF_FFFF;
    }
    both
}

for_each_isa! {
    /// `out[i] = a ^ b`, where (a, b) is the block of counter `first + i`.
    pub(super) fn threefry_folded(key: [u32; 2], first: u64, out: &mut [u32]) = folded
}
for_each_isa! {
    /// `out[i] = [a, b]`, the block of counter `first + i`.
    pub(super) fn threefry_words(key: [u32; 2], first: u64, out: &mut [[u32; 2]]) = words
}
for_each_isa! {
    /// `out[i] = a << 32 | b`, where (a, b) is the block of counter `first + i`.
    pub(super) fn threefry_joined(key: [u32; 2], first: u64, out: &mut [u64]) = joined
}
for_each_isa! {
    /// Enciphers `counter[..][i]` under `key[..][i]` for every `i`; all slices have one length.
    pub(super) fn threefry_each(key: [&[u32]; 2], counter: [&[u32]; 2], out: [&mut [u32]; 2]) = each
}
for_each_isa! {
    /// `out[i]` is the block of the 128-bit counter `first + i`, in halves, low words first.
    pub(super) fn philox_blocks(key: [u32; 2], first: u128, out: &mut [[u64; 2]]) = philox_run
}

#[inline(always)]
fn folded(key: [u32; 2], first: u64, out: &mut [u32]) {
    consecutive(key, first, out, |a, b| a ^ b);
}

#[inline(always)]
fn words(key: [u32; 2], first: u64, out: &mut [[u32; 2]]) {
    consecutive(key, first, out, |a, b| [a, b]);
}

#[inline(always)]
fn joined(key: [u32; 2], first: u64, out: &mut [u64]) {
    consecutive(key, first, out, |a, b| u64::from(a) << 32 | u64::from(b));
}

/// Blocks of consecutive counters, each made into one element.
#[inline(always)]
fn consecutive<T: Copy>(key: [u32; 2], first: u64, out: &mut [T], element: impl Fn(u32, u32) -> T) {
    let key = [[key[0]; LANES], [key[1]; LANES]];
    for (group, out) in (0..).zip(out.chunks_mut(LANES)) {
        let start = first.wrapping_add(group * LANES as u64);
        let (mut high, mut low) = ([0; LANES], [0; LANES]);
        for i in 0..LANES {
            high[i] = (start.wrapping_add(i as u64) >> 32) as u32;
        }
        for i in 0..LANES {
            low[i] = (start as u32).wrapping_add(i as u32);
        }
        let [a, b] = threefry(key, [high, low]);
        if let Ok(out) = <&mut [T; LANES]>::try_from(&mut *out) {
            for i in 0..LANES {
                out[i] = element(a[i], b[i]);
            }
        } else {
            for (i, out) in out.iter_mut().enumerate() {
                *out = element(a[i], b[i]);
            }
        }
    }
}

#[inline(always)]
fn each(key: [&[u32]; 2], counter: [&[u32]; 2], out: [&mut [u32]; 2]) {
    let [out0, out1] = out;
    for first in (0..out0.len()).step_by(LANES) {
        let count = LANES.min(out0.len() - first);
        let some = first..first + count;
        let key = [loaded(&key[0][some.clone()]), loaded(&key[1][some.clone()])];
        let counter = [
            loaded(&counter[0][some.clone()]),
            loaded(&counter[1][some.clone()]),
        ];
        let [a, b] = threefry(key, counter);
        out0[first..first + count].copy_from_slice(&a[..count]);
        out1[first..first + count].copy_from_slice(&b[..count]);
    }
}

/// At most so many words, and zeros after them.
#[inline(always)]
fn loaded(from: &[u32]) -> Words {
    let mut words = [0; LANES];
    if let Ok(from) = <&Words>::try_from(from) {
        words = *from;
    } else {
        for (word, &from) in words.iter_mut().zip(from) {
            *word = from;
        }
    }
    words
}

#[inline(always)]
fn philox_run(key: [u32; 2], first: u128, out: &mut [[u64; 2]]) {
    for (group, out) in (0..).zip(out.chunks_mut(LONG_LANES)) {
        let start = first.wrapping_add(group * LONG_LANES as u128);
        let (mut low, mut high): (Long, Long) = ([0; LONG_LANES], [0; LONG_LANES]);
        for i in 0..LONG_LANES {
            low[i] = (start as u64).wrapping_add(i as u64);
        }
        // A carry out of the low half reaches the high one.
        for i in 0..LONG_LANES {
            high[i] = ((start >> 64) as u64).wrapping_add(u64::from(low[i] < start as u64));
        }
        let (mut above_low, mut above_high) = ([0; LONG_LANES], [0; LONG_LANES]);
        for i in 0..LONG_LANES {
            above_low[i] = low[i] >> 32;
        }
        for i in 0..LONG_LANES {
            above_high[i] = high[i] >> 32;
        }
        let [c0, c1, c2, c3] = philox(key, [low, above_low, high, above_high]);
        let (first, second) = (joined_words(&c0, &c1), joined_words(&c2, &c3));
        if let Ok(out) = <&mut [[u64; 2]; LONG_LANES]>::try_from(&mut *out) {
            for i in 0..LONG_LANES {
                out[i] = [first[i], second[i]];
            }
        } else {
            for (i, out) in out.iter_mut().enumerate() {
                *out = [first[i], second[i]];
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use jaxide_core::eval::numerics::random::{BitGenerator, rng_bit_generator, threefry2x32};

    #[test]
    fn blocks_are_those_of_the_reference() {
        for isa in Isa::available() {
            isa.assumed_in(|| {
                let key = [0x1234_5678, 0x9abc_def0];
                for (first, count) in [
                    (0, 0),
                    (5, 1),
                    (u32::MAX as u64 - 20, 50),
                    (u64::MAX - 3, 16),
                ] {
                    let block = |i: usize| {
                        let counter = first.wrapping_add(i as u64);
                        threefry2x32(key, [(counter >> 32) as u32, counter as u32])
                    };
                    let (mut small, mut pairs, mut large) =
                        (vec![0; count], vec![[0; 2]; count], vec![0; count]);
                    threefry_folded(key, first, &mut small);
                    threefry_words(key, first, &mut pairs);
                    threefry_joined(key, first, &mut large);
                    for i in 0..count {
                        let [a, b] = block(i);
                        assert_eq!(
                            (small[i], pairs[i], large[i]),
                            (a ^ b, [a, b], u64::from(a) << 32 | u64::from(b))
                        );
                    }
                }
                let arrays: Vec<Vec<u32>> = (1..5)
                    .map(|seed| {
                        (0..37u32)
                            .map(|i| i.wrapping_mul(0x9E37_79B9u32.wrapping_mul(seed)))
                            .collect()
                    })
                    .collect();
                let (mut a, mut b) = (vec![0; 37], vec![0; 37]);
                threefry_each(
                    [&arrays[0], &arrays[1]],
                    [&arrays[2], &arrays[3]],
                    [&mut a, &mut b],
                );
                for i in 0..37 {
                    let expected =
                        threefry2x32([arrays[0][i], arrays[1][i]], [arrays[2][i], arrays[3][i]]);
                    assert_eq!([a[i], b[i]], expected);
                }
                for state in [[7u64, 9], [u64::MAX, u64::MAX - 1]] {
                    let mut blocks = vec![[0; 2]; 35];
                    let key = [state[0] as u32, (state[0] >> 32) as u32];
                    philox_blocks(
                        key,
                        u128::from(state[0]) << 64 | u128::from(state[1]),
                        &mut blocks,
                    );
                    let (_, expected) = rng_bit_generator(BitGenerator::Philox, state, 64, &[70]);
                    assert_eq!(blocks.as_flattened(), expected);
                }
            });
        }
    }
}
