//! How an operand's elements lie in its buffer: shape, strides and offset.

/// A strided view of a buffer. Element `(i₀, i₁, …)` is at `offset + Σ iₐ strides[a]`, in elements.
///
/// Transposes, slices, reversals and broadcasts of a dense array are views (strides that are
/// permuted, multiplied, negative, zero), so an operand of a kernel need not be copied for them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct View {
    /// Size of each dimension.
    pub shape: Vec<usize>,
    /// Distance between neighbours along each dimension, in elements.
    pub strides: Vec<isize>,
    /// Position of element (0, 0, …).
    pub offset: usize,
    /// Number of elements in the buffer.
    pub elements: usize,
}

impl View {
    /// A dense row-major array that fills its buffer.
    pub fn dense(shape: &[usize]) -> Self {
        let elements = shape.iter().product();
        Self {
            shape: shape.to_vec(),
            strides: dense_strides(shape),
            offset: 0,
            elements,
        }
    }

    /// Keeps every `step`-th element along a dimension from `first` on, `count` in all.
    pub(crate) fn take_every(&mut self, axis: usize, first: usize, step: usize, count: usize) {
        let start = self.offset as isize + first as isize * self.strides[axis];
        self.offset = start as usize;
        self.strides[axis] *= step as isize;
        self.shape[axis] = count;
    }

    /// The same elements with dimension `permutation[a]` as the new dimension `a`.
    ///
    /// # Panics
    /// If an entry of `permutation` is not a dimension.
    #[must_use]
    pub fn permuted(&self, permutation: &[usize]) -> Self {
        Self {
            shape: permutation.iter().map(|&a| self.shape[a]).collect(),
            strides: permutation.iter().map(|&a| self.strides[a]).collect(),
            ..*self
        }
    }

    /// The number of elements that the view shows.
    pub fn len(&self) -> usize {
        self.shape.iter().product()
    }

    /// Whether the view shows no element.
    pub fn is_empty(&self) -> bool {
        self.shape.contains(&0)
    }

    /// Whether the view is a dense row-major array from the start of its buffer.
    pub fn is_dense(&self) -> bool {
        let mut expected = 1;
        let in_order = self
            .shape
            .iter()
            .zip(&self.strides)
            .rev()
            .all(|(&size, &stride)| {
                let fits = size == 1 || stride == expected;
                expected *= size as isize;
                fits
            });
        self.offset == 0 && (in_order || self.is_empty())
    }

    /// Checks that every element lies inside the buffer.
    ///
    /// # Panics
    /// If one does not, or shape and strides differ in length: unsafe code relies on it.
    pub fn check(&self) {
        assert_eq!(
            self.shape.len(),
            self.strides.len(),
            "a stride for each dimension"
        );
        if self.is_empty() {
            return;
        }
        let (mut low, mut high) = (self.offset as isize, self.offset as isize);
        for (&size, &stride) in self.shape.iter().zip(&self.strides) {
            let reach = stride
                .checked_mul(size as isize - 1)
                .expect("strides reach too far");
            *if reach < 0 { &mut low } else { &mut high } += reach;
        }
        assert!(
            low >= 0 && high < self.elements as isize,
            "the view {self:?} leaves its buffer"
        );
    }
}

/// The strides of a dense row-major array.
pub fn dense_strides(shape: &[usize]) -> Vec<isize> {
    let mut strides = vec![1isize; shape.len()];
    for a in (1..shape.len()).rev() {
        strides[a - 1] = strides[a] * shape[a].max(1) as isize;
    }
    strides
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn views_know_whether_they_are_dense() {
        let array = View::dense(&[2, 3, 4]);
        assert_eq!(
            (array.strides.as_slice(), array.len(), array.is_dense()),
            (&[12, 4, 1][..], 24, true)
        );
        let transposed = array.permuted(&[0, 2, 1]);
        assert_eq!(
            (transposed.strides.as_slice(), transposed.is_dense()),
            (&[12, 1, 4][..], false)
        );
        assert!(View::dense(&[3, 1]).permuted(&[1, 0]).is_dense());
        assert!(View::dense(&[]).is_dense() && View::dense(&[0, 3]).permuted(&[1, 0]).is_dense());
    }

    #[test]
    fn reversed_views_stay_inside() {
        let reversed = View {
            strides: vec![-1],
            offset: 4,
            ..View::dense(&[5])
        };
        reversed.check();
        assert!(
            std::panic::catch_unwind(|| View {
                offset: 3,
                ..reversed
            }
            .check())
            .is_err()
        );
    }
}
