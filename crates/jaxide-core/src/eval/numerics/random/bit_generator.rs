//! XLA's `RngBitGenerator`: a state goes in, the advanced state and an array of bits come out.

use super::{philox4x32, threefry2x32};

/// The algorithm of `rng_bit_generator`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BitGenerator {
    /// `RNG_THREE_FRY`: Threefry-2x32.
    Threefry,
    /// `RNG_PHILOX`, and on CPU also `RNG_DEFAULT`: Philox-4x32.
    Philox,
}

/// Random bits as XLA's CPU backend generates them, and the advanced state.
///
/// `state` is `[key, counter]`; the primitive's `u32[4]` form is the same little-endian
/// ([`state_from_words`], [`state_to_words`]). `shape` is the shape of the result, in row-major
/// order; each value holds `bit_width` random low bits. Widths below 32 take the low bits of what a
/// width of 32 would give.
///
/// * Philox enciphers the 128-bit counter `key · 2⁶⁴ + counter + i` under `key`; a block gives four
///   32-bit or two 64-bit values (low word first). The layout does not depend on the shape.
/// * Threefry enciphers `counter + i`. A block gives one 64-bit value (low word first), or two
///   32-bit values that are neighbours along one axis of the result: the first axis of even length,
///   else the first longest one, padded to even length.
///
/// The counter advances by the number of blocks and wraps without a carry into the key.
///
/// # Panics
///
/// When `bit_width` is not 8, 16, 32 or 64.
pub fn rng_bit_generator(
    algorithm: BitGenerator,
    state: [u64; 2],
    bit_width: u32,
    shape: &[usize],
) -> ([u64; 2], Vec<u64>) {
    assert!(
        matches!(bit_width, 8 | 16 | 32 | 64),
        "rng_bit_generator: {bit_width} bits"
    );
    let size = shape.iter().product();
    let (blocks, mut values) = match (algorithm, bit_width) {
        (BitGenerator::Philox, 64) => philox_values(state, size, 2),
        (BitGenerator::Philox, _) => philox_values(state, size, 4),
        (BitGenerator::Threefry, 64) => {
            let values = (0..size).map(|i| join(threefry_block(state, i))).collect();
            (size, values)
        }
        (BitGenerator::Threefry, _) => threefry_pairs(state, shape),
    };
    let mask = u64::MAX >> (64 - bit_width);
    values.iter_mut().for_each(|v| *v &= mask);
    ([state[0], state[1].wrapping_add(blocks as u64)], values)
}

/// The state `u64[2]` held in the primitive's `u32[4]` operand.
pub fn state_from_words(words: [u32; 4]) -> [u64; 2] {
    [join([words[0], words[1]]), join([words[2], words[3]])]
}

/// The `u32[4]` form of a state.
pub fn state_to_words([key, counter]: [u64; 2]) -> [u32; 4] {
    let ([k0, k1], [c0, c1]) = (split(key), split(counter));
    [k0, k1, c0, c1]
}

/// `size` values, `per_block` of them from each Philox block, and the number of blocks.
fn philox_values([key, counter]: [u64; 2], size: usize, per_block: usize) -> (usize, Vec<u64>) {
    let blocks = size.div_ceil(per_block);
    let first = u128::from(key) << 64 | u128::from(counter);
    let mut values = Vec::with_capacity(blocks * per_block);
    for i in 0..blocks {
        let position = first.wrapping_add(i as u128);
        let ([c0, c1], [c2, c3]) = (split(position as u64), split((position >> 64) as u64));
        let words = philox4x32(split(key), [c0, c1, c2, c3]);
        if per_block == 4 {
            values.extend(words.map(u64::from));
        } else {
            values.extend([join([words[0], words[1]]), join([words[2], words[3]])]);
        }
    }
    values.truncate(size);
    (blocks, values)
}

/// 32-bit values in pairs along the split axis of `shape`, and the number of blocks.
fn threefry_pairs(state: [u64; 2], shape: &[usize]) -> (usize, Vec<u64>) {
    let axis = split_axis(shape);
    let length = axis.map_or(1, |a| shape[a]);
    let inner: usize = axis.map_or(1, |a| shape[a + 1..].iter().product());
    let outer: usize = axis.map_or(1, |a| shape[..a].iter().product());
    let pairs = length.div_ceil(2);
    let mut values = Vec::with_capacity(outer * length * inner);
    for i in 0..outer {
        for j in 0..length {
            for k in 0..inner {
                let block = (i * pairs + j / 2) * inner + k;
                values.push(threefry_block(state, block)[j % 2].into());
            }
        }
    }
    (outer * pairs * inner, values)
}

/// The axis along which the two words of a Threefry block lie; none for a scalar.
fn split_axis(shape: &[usize]) -> Option<usize> {
    let even = shape.iter().position(|n| n % 2 == 0);
    even.or_else(|| (0..shape.len()).rev().max_by_key(|&axis| shape[axis]))
}

fn threefry_block([key, counter]: [u64; 2], i: usize) -> [u32; 2] {
    threefry2x32(split(key), split(counter.wrapping_add(i as u64)))
}

/// Low and high word.
fn split(x: u64) -> [u32; 2] {
    [x as u32, (x >> 32) as u32]
}

fn join([low, high]: [u32; 2]) -> u64 {
    u64::from(high) << 32 | u64::from(low)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Results of `lax.rng_bit_generator` on CPU.
    #[test]
    fn philox_matches_xla() {
        let run =
            |state, width, n: usize| rng_bit_generator(BitGenerator::Philox, state, width, &[n]);
        let words = vec![2624491802, 3865826212, 2369117307, 3756717838, 1745368373];
        assert_eq!(run([7, 9], 32, 5), ([7, 11], words));
        assert_eq!(run([7, 9], 16, 3), ([7, 10], vec![37146, 54180, 56443]));
        assert_eq!(run([7, 9], 64, 1), ([7, 10], vec![16603597155184054554]));
        let (state, values) = run([u64::MAX, u64::MAX - 1], 64, 6);
        assert_eq!(state, [u64::MAX, 1]);
        assert_eq!(values[5], 2484186383481155615);
        assert_eq!(run([1, 2], 32, 0), ([1, 2], vec![]));
    }

    #[test]
    fn threefry_matches_xla() {
        let run = |width, shape: &[usize]| {
            rng_bit_generator(BitGenerator::Threefry, [7, 9], width, shape)
        };
        let words = vec![2148922066, 1218255668, 17873132, 884161837, 2218545827];
        assert_eq!(run(32, &[5]), ([7, 12], words));
        assert_eq!(run(8, &[5]).1, [210, 52, 236, 45, 163]);
        assert_eq!(run(32, &[]), ([7, 10], vec![2148922066]));
        let (state, values) = run(64, &[2, 3]);
        assert_eq!((state, values[3]), ([7, 15], 8140961982469889147));
    }

    /// Which axis holds the pairs, seen from the order of the words of consecutive blocks.
    #[test]
    fn threefry_pairs_follow_the_shape() {
        let order = |shape: &[usize]| {
            let (_, values) = rng_bit_generator(BitGenerator::Threefry, [7, 9], 32, shape);
            let word =
                |v: &u64| (0..64).find(|&i| threefry_block([7, 9], i / 2)[i % 2] as u64 == *v);
            values.iter().map(|v| word(v).unwrap()).collect::<Vec<_>>()
        };
        assert_eq!(order(&[2, 3]), [0, 2, 4, 1, 3, 5]);
        assert_eq!(order(&[3, 2]), [0, 1, 2, 3, 4, 5]);
        assert_eq!(order(&[3, 3]), [0, 2, 4, 1, 3, 5, 6, 8, 10]);
        assert_eq!(order(&[3, 1, 5])[..6], [0, 1, 2, 3, 4, 6]);
    }

    #[test]
    fn states_are_little_endian_words() {
        assert_eq!(
            state_from_words([1, 2, 3, 4]),
            [0x2_0000_0001, 0x4_0000_0003]
        );
        assert_eq!(state_to_words(state_from_words([1, 2, 3, 4])), [1, 2, 3, 4]);
    }
}
