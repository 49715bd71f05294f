//! Stable radix sort: eleven bits at a time, least significant digit first.
//!
//! One pass over the items counts all digits; each further pass moves every item to its place by
//! one digit. A digit in which all items agree needs no pass.

/// What is sorted: a key, or a key with the position of its element.
pub(super) trait Item: bytemuck::Pod + Ord {
    /// The bits by which to sort are in this word; `Ord` must agree with them.
    fn word(self) -> u64;
}

impl Item for u32 {
    #[inline(always)]
    fn word(self) -> u64 {
        u64::from(self)
    }
}

/// A key of 64 bits, or one of 32 bits above the position of its element.
impl Item for u64 {
    #[inline(always)]
    fn word(self) -> u64 {
        self
    }
}

/// A key and the position of its element.
impl Item for [u64; 2] {
    #[inline(always)]
    fn word(self) -> u64 {
        self[0]
    }
}

const DIGIT_BITS: u32 = 11;
const DIGITS: usize = 1 << DIGIT_BITS;
const MAX_PASSES: usize = 6;

/// Below this many items a comparison sort is faster.
const RADIX_MIN: usize = 1024;

/// Sorts by bits `low..high` of the items' words, stably. Bits outside that range must be in order
/// already among items that agree inside it, as positions are.
pub(super) fn sort<I: Item>(items: &mut [I], scratch: &mut [I], low: u32, high: u32) {
    if items.len() < RADIX_MIN {
        items.sort_unstable();
        return;
    }
    assert!(
        items.len() == scratch.len() && u32::try_from(items.len()).is_ok(),
        "items and scratch fit"
    );
    let passes = (high - low).div_ceil(DIGIT_BITS) as usize;
    let digit =
        |item: I, pass: usize| (item.word() >> (low + DIGIT_BITS * pass as u32)) as usize % DIGITS;
    let mut counts = vec![[0u32; DIGITS]; passes.min(MAX_PASSES)];
    for &item in &*items {
        for (pass, counts) in counts.iter_mut().enumerate() {
            counts[digit(item, pass)] += 1;
        }
    }
    let (mut from, mut to) = (&mut *items, &mut *scratch);
    let mut moved = false;
    for (pass, counts) in counts.iter_mut().enumerate() {
        if counts[digit(from[0], pass)] as usize == from.len() {
            continue;
        }
        let mut next = 0;
        for count in counts.iter_mut() {
            next += std::mem::replace(count, next);
        }
        for &item in &*from {
            let place = &mut counts[digit(item, pass)];
            // SAFETY: the places of a digit begin where those of the smaller digits end, and each
            // is used once for every item with that digit, so all are below the number of items.
            unsafe { *to.get_unchecked_mut(*place as usize) = item };
            *place += 1;
        }
        (from, to) = (to, from);
        moved = !moved;
    }
    if moved {
        items.copy_from_slice(scratch);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(count: usize) -> impl Iterator<Item = u64> {
        let mut state = 88172645463325252u64;
        std::iter::repeat_with(move || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state
        })
        .take(count)
    }

    #[track_caller]
    fn check<I: Item + std::fmt::Debug>(mut items: Vec<I>, low: u32, high: u32) {
        let mut expected = items.clone();
        expected.sort();
        let mut scratch = items.clone();
        sort(&mut items, &mut scratch, low, high);
        assert!(items == expected);
    }

    #[test]
    fn sorts_like_the_standard_library() {
        for count in [0, 1, 2, 1023, 1024, 5000, 70_000] {
            check(numbers(count).collect(), 0, 64);
            check(numbers(count).map(|x| x as u32).collect(), 0, 32);
            check(numbers(count).map(|x| x as u32 % 100).collect(), 0, 16);
            check(
                numbers(count)
                    .zip(0..)
                    .map(|(x, i)| (x % 1000) << 32 | i)
                    .collect(),
                32,
                64,
            );
            check(
                numbers(count).zip(0..).map(|(x, i)| [x % 77, i]).collect(),
                0,
                64,
            );
        }
    }
}
