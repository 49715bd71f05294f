//! Products whose left rows fall in groups, each with its own right operand.

use super::super::*;
use super::dot::{numbers, product_aval};
use super::*;

/// What the ragged axis of the left operand is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RaggedMode {
    /// A free axis: each group of rows has its own right operand.
    Free,
    /// A contracted axis: the result has an axis of groups.
    Contracted,
    /// A batch axis.
    Batch,
}

impl RaggedDotGeneral {
    /// The numbers of the product of one group, as for `dot_general`.
    pub fn dot_numbers(&self) -> DotDimensionNumbers {
        numbers(&self.ragged_dot_dimension_numbers.dot_dimension_numbers)
    }

    /// What the ragged axis is.
    ///
    /// # Errors
    /// When there is not exactly one.
    pub fn mode(&self) -> Result<RaggedMode> {
        let dot = self.dot_numbers();
        let [axis] = self.ragged_dot_dimension_numbers.lhs_ragged_dimensions[..] else {
            return Err(Error::parameter("lhs_ragged_dimensions must name one axis"));
        };
        Ok(if dot.lhs_contracting.contains(&axis) {
            RaggedMode::Contracted
        } else if dot.lhs_batch.contains(&axis) {
            RaggedMode::Batch
        } else {
            RaggedMode::Free
        })
    }
}

impl Primitive for RaggedDotGeneral {
    fn abstract_eval(&self, operands: &[Aval]) -> Result<SmallVec<[Aval; 1]>> {
        let [lhs, rhs, sizes] = operands else {
            return Err(arity(3, operands.len()));
        };
        if sizes.rank() == 0 || !sizes.dtype.is_integer() {
            return Err(Error::shape(format!(
                "group sizes must be an integer array, and are {sizes}"
            )));
        }
        let groups = sizes.shape[sizes.rank() - 1];
        let dot = self.dot_numbers();
        let group_axes = &self.ragged_dot_dimension_numbers.rhs_group_dimensions;
        match self.mode()? {
            RaggedMode::Free => {
                check_axes(group_axes, rhs)?;
                let [group] = group_axes[..] else {
                    return Err(Error::parameter("rhs_group_dimensions must name one axis"));
                };
                if rhs.shape[group] != groups {
                    return Err(Error::shape(format!(
                        "axis {group} of {rhs} must have length {groups}, the number of groups"
                    )));
                }
                let drop = |axes: &Dims| {
                    axes.iter()
                        .map(|&axis| if axis > group { axis - 1 } else { axis })
                        .collect()
                };
                let inner = DotDimensionNumbers {
                    rhs_contracting: drop(&dot.rhs_contracting),
                    rhs_batch: drop(&dot.rhs_batch),
                    ..dot
                };
                let mut shape = rhs.shape.clone();
                shape.remove(group);
                Ok(smallvec![product_aval(
                    &inner,
                    lhs,
                    &rhs.with_shape(&shape),
                    self.preferred_element_type
                )?])
            }
            RaggedMode::Contracted => {
                let product = product_aval(&dot, lhs, rhs, self.preferred_element_type)?;
                let mut shape = product.shape.clone();
                shape.insert(0, groups);
                Ok(smallvec![product.with_shape(&shape)])
            }
            RaggedMode::Batch => Ok(smallvec![product_aval(
                &dot,
                lhs,
                rhs,
                self.preferred_element_type
            )?]),
        }
    }

    fn jvp(&self, b: &Builder, primals: &[Atom], tangents: &[Option<Atom>]) -> Result<JvpResult> {
        let answer = b.op(self.clone(), primals);
        let left = tangents[0].map(|g| b.op(self.clone(), &[g, primals[1], primals[2]]));
        let right = tangents[1].map(|g| b.op(self.clone(), &[primals[0], g, primals[2]]));
        Ok(JvpResult::one(
            answer,
            super::super::elementwise::add_tangents(b, left, right),
        ))
    }

    fn batch(
        &self,
        _b: &Builder,
        _operands: &[Batched],
        _axis: &BatchAxis,
    ) -> Result<SmallVec<[Batched; 1]>> {
        Err(Error::no_rule(
            "ragged_dot_general",
            "batching",
            "groups would differ between lanes",
        ))
    }

    fn transpose(
        &self,
        _b: &Builder,
        _cotangents: &[Option<Atom>],
        _operands: &[TransposeArg],
    ) -> Result<SmallVec<[Option<Atom>; 3]>> {
        Err(Error::no_rule(
            "ragged_dot_general",
            "transpose",
            "it is not written for ragged groups",
        ))
    }
}
