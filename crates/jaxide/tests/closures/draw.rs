//! Choices from a seed: always the same ones for the same seed.

/// A stream of choices (SplitMix64).
pub(crate) struct Draw(u64);

impl Draw {
    pub(crate) fn new(seed: u64) -> Self {
        Draw(seed.wrapping_mul(0xD134_2543_DE82_EF95) ^ 0x6A61_7869_6465)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number below `count`.
    pub(crate) fn below(&mut self, count: usize) -> usize {
        (self.next() % count.max(1) as u64) as usize
    }

    /// A number in `low..=high`.
    pub(crate) fn between(&mut self, low: i64, high: i64) -> i64 {
        low + self.below((high - low + 1) as usize) as i64
    }

    /// Yes, once in `count` times.
    pub(crate) fn one_in(&mut self, count: usize) -> bool {
        self.below(count) == 0
    }

    pub(crate) fn choose<T: Clone>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())].clone()
    }

    /// A number in the unit interval.
    pub(crate) fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Numbers of an element type: floats between -2 and 2, some of them with few digits; small integers.
    pub(crate) fn numbers(&mut self, kind: super::program::Kind, count: usize) -> Vec<f64> {
        use super::program::Kind;
        let round = self.one_in(3);
        let number = |draw: &mut Draw| match kind {
            Kind::Bool => draw.below(2) as f64,
            Kind::U8 => draw.below(10) as f64,
            Kind::I32 | Kind::I64 => draw.between(-5, 9) as f64,
            Kind::F32 | Kind::F64 if round => draw.between(-8, 8) as f64 / 4.0,
            Kind::F32 => f64::from((draw.unit() * 4.0 - 2.0) as f32),
            Kind::F64 => draw.unit() * 4.0 - 2.0,
        };
        (0..count).map(|_| number(self)).collect()
    }
}
