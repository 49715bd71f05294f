//! Choices read from bytes: fewer and smaller bytes make simpler programs, which is how proptest shrinks them.

/// One part of a program: what it is and what it is made of.
pub(crate) type Gene = [u8; 16];

/// Reads choices from a gene; when it is used up every choice is the first.
pub(crate) struct Draw<'g> {
    bytes: std::slice::Iter<'g, u8>,
}

impl<'g> Draw<'g> {
    pub(crate) fn new(gene: &'g Gene) -> Self {
        Draw { bytes: gene.iter() }
    }

    /// A number below `count`, 0 when that is 0.
    pub(crate) fn below(&mut self, count: usize) -> usize {
        let byte = usize::from(self.bytes.next().copied().unwrap_or(0));
        byte.checked_rem(count).unwrap_or(0)
    }

    /// A number in `low..=high`.
    pub(crate) fn between(&mut self, low: usize, high: usize) -> usize {
        low + self.below(high - low + 1)
    }

    /// One of several; the first is the simplest.
    pub(crate) fn choose<T: Clone>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())].clone()
    }

    /// Yes or no; no is simpler.
    pub(crate) fn flag(&mut self) -> bool {
        self.below(2) == 1
    }

    /// A bit per item.
    pub(crate) fn mask(&mut self) -> u8 {
        self.bytes.next().copied().unwrap_or(0)
    }
}
