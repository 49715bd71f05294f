//! Products of block-scaled operands.

use super::super::*;
use super::dot::{numbers, product_aval};
use super::*;

impl Primitive for ScaledDot {
    fn abstract_eval(&self, operands: &[Aval]) -> Result<Avals> {
        let [lhs, rhs, lhs_scale, rhs_scale] = operands else {
            return Err(arity(4, operands.len()));
        };
        let contracting = &self.dimension_numbers.0;
        for (operand, scale, contracting) in [
            (lhs, lhs_scale, &contracting.0),
            (rhs, rhs_scale, &contracting.1),
        ] {
            if scale.dtype.is_key() || scale.dtype == DType::Float0 {
                return Err(Error::dtype(format!(
                    "the scales are {scale}, which are no numbers"
                )));
            }
            let lengths = operand.shape.iter().zip(&scale.shape).enumerate();
            let mut lengths = lengths.map(|(axis, (&length, &blocks))| {
                let in_blocks = contracting.contains(&axis) && blocks > 0;
                length == blocks || in_blocks && length % blocks == 0
            });
            let fits = operand.rank() == scale.rank() && lengths.all(|fits| fits);
            if !fits {
                return Err(Error::shape(format!(
                    "the scales {scale} do not divide {operand} into blocks"
                )));
            }
        }
        let preferred = Some(self.preferred_element_type.unwrap_or(DType::BF16));
        Ok(smallvec![product_aval(
            &numbers(&self.dimension_numbers),
            lhs,
            rhs,
            preferred
        )?])
    }

    no_rules! { "scaled_dot", "JAX defines none for block-scaled operands"; jvp }

    fn batch(&self, b: &Builder, operands: &[Batched], axis: &BatchAxis) -> Result<BatchedResults> {
        let atoms: Vec<Atom> = operands
            .iter()
            .map(|&operand| to_front(b, operand, axis.size))
            .collect();
        let ((lhs_contracting, rhs_contracting), (lhs_batch, rhs_batch)) = &self.dimension_numbers;
        let up = |axes: &Dims| -> Dims { axes.iter().map(|axis| axis + 1).collect() };
        let front = |axes: &Dims| -> Dims {
            std::iter::once(0)
                .chain(axes.iter().map(|axis| axis + 1))
                .collect()
        };
        let dimension_numbers = (
            (up(lhs_contracting), up(rhs_contracting)),
            (front(lhs_batch), front(rhs_batch)),
        );
        Ok(smallvec![Batched {
            value: b.op(
                ScaledDot {
                    dimension_numbers,
                    ..self.clone()
                },
                &atoms
            ),
            dim: Some(0)
        }])
    }

    no_rules! { "scaled_dot", "JAX defines none for block-scaled operands"; transpose }
}
