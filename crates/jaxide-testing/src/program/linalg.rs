//! Genes that multiply matrices.

use jaxide_core::Dims;
use jaxide_core::prims::*;

use super::scope::{Scope, length};
use crate::draw::Draw;

impl Scope {
    /// A product with any batch and contracted axes.
    pub(super) fn product(&mut self, draw: &mut Draw<'_>) {
        let x = self.summable(draw);
        let aval = self.b.aval(x);
        let mut numbers = DotDimensionNumbers::default();
        let mut shape = Dims::new();
        let mut free = Dims::new();
        // The right operand has the shared axes in the order of the left one, free ones among them.
        for (axis, &size) in aval.shape.iter().enumerate() {
            match draw.below(4) {
                0 | 3 => {
                    numbers.lhs_contracting.push(axis);
                    numbers.rhs_contracting.push(shape.len());
                    shape.push(size);
                }
                1 => {
                    numbers.lhs_batch.push(axis);
                    numbers.rhs_batch.push(shape.len());
                    shape.push(size);
                }
                _ => free.push(size),
            }
            if draw.below(3) == 1 && shape.len() < 4 {
                let new = length(draw);
                free.push(new);
                shape.push(new);
            }
        }
        let mut result: Vec<usize> = free.to_vec();
        result.extend(numbers.lhs_batch.iter().map(|&axis| aval.shape[axis]));
        if !self.fits(&shape) || !self.fits(&result) {
            return;
        }
        let y = self.pick_like(draw, &aval.with_shape(&shape));
        let product = self.b.dot_general(x, y, numbers, None, Some(aval.dtype));
        self.add(product);
    }
}
