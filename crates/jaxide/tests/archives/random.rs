//! Random numbers.

/// A stream of pseudo-random numbers: the SplitMix64 generator of G. Steele et al. (2014).
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x6a61_7869_6465)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    /// A number below `end`, which is not 0.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }

    /// True once in so many times.
    pub(crate) fn one_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    pub(crate) fn pick<T: Clone>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())].clone()
    }

    /// A number that something may break at.
    pub(crate) fn odd_number(&mut self) -> u64 {
        const ODD: &[u64] = &[
            0,
            1,
            2,
            7,
            8,
            63,
            64,
            65,
            255,
            256,
            65_535,
            65_536,
            1 << 20,
            1 << 24,
            (1 << 24) + 1,
            1 << 30,
            0x7fff_ffff,
            0x8000_0000,
            0xffff_fff0,
            0xffff_ffff,
            1 << 32,
            1 << 40,
            1 << 46,
            1 << 61,
            (1 << 63) - 1,
            1 << 63,
            u64::MAX - 7,
            u64::MAX,
        ];
        match self.below(3) {
            0 => self.next() >> self.below(64),
            _ => self.pick(ODD),
        }
    }
}
