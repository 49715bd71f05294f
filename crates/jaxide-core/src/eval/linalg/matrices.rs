//! Arrays as batches of matrices.

use crate::aval::element_count;
use crate::error::{Error, Result};
use crate::eval::element::elements;
use crate::jaxpr::Shape;
use crate::tensor::{Element, Tensor};

/// Evaluates an expression with `$E` the Rust type of a dtype that matrices are factorised in.
macro_rules! by_entry {
    ($dtype:expr, $E:ident => $body:expr) => {
        match $dtype {
            $crate::dtype::DType::F32 => {
                type $E = f32;
                $body
            }
            $crate::dtype::DType::F64 => {
                type $E = f64;
                $body
            }
            $crate::dtype::DType::C64 => {
                type $E = num_complex::Complex<f32>;
                $body
            }
            $crate::dtype::DType::C128 => {
                type $E = num_complex::Complex<f64>;
                $body
            }
            other => Err($crate::eval::element::meaningless(other)),
        }
    };
}

pub(super) use by_entry;

/// An array as a batch of smaller ones along its leading axes.
pub(super) struct Batch<'a, E> {
    /// The leading axes.
    pub(super) shape: &'a [usize],
    /// The axes of each part.
    pub(super) part: &'a [usize],
    elements: &'a [E],
}

impl<'a, E: Element> Batch<'a, E> {
    /// With parts of `rank` axes.
    pub(super) fn new(x: &'a Tensor, rank: usize) -> Result<Self> {
        let leading = x
            .shape()
            .len()
            .checked_sub(rank)
            .ok_or_else(|| Error::shape(format!("{} has fewer than {rank} axes", x.aval())))?;
        let (shape, part) = x.shape().split_at(leading);
        Ok(Batch {
            shape,
            part,
            elements: elements(x)?,
        })
    }

    /// As a batch of square matrices, and their number of rows.
    pub(super) fn square(x: &'a Tensor) -> Result<(Self, usize)> {
        let batch = Self::new(x, 2)?;
        match batch.part {
            &[rows, columns] if rows == columns => Ok((batch, rows)),
            _ => Err(Error::shape(format!(
                "{} is no batch of square matrices",
                x.aval()
            ))),
        }
    }

    /// With `part` as the parts' shape and the leading axes of another batch.
    pub(super) fn fitting<F>(x: &'a Tensor, part: &[usize], like: &Batch<'_, F>) -> Result<Self> {
        let batch = Self::new(x, part.len())?;
        if batch.shape != like.shape || batch.part != part {
            return Err(Error::shape(format!(
                "an operand is {}, and parts of shape {part:?} with leading axes {:?} are expected",
                x.aval(),
                like.shape
            )));
        }
        Ok(batch)
    }

    /// The number of parts.
    pub(super) fn len(&self) -> usize {
        self.shape.iter().product()
    }

    /// The elements of one part.
    pub(super) fn get(&self, index: usize) -> &'a [E] {
        let size: usize = self.part.iter().product();
        &self.elements[index * size..(index + 1) * size]
    }

    /// An array with the leading axes of this batch from a part for each.
    pub(super) fn stack<T: Element>(
        &self,
        part: &[usize],
        mut parts: impl Iterator<Item = Vec<T>>,
    ) -> Result<Tensor> {
        stacked(self.shape, part, &mut || parts.next())
    }
}

/// [`Batch::stack`], compiled for each type and not for each iterator.
fn stacked<T: Element>(
    leading: &[usize],
    part: &[usize],
    next: &mut dyn FnMut() -> Option<Vec<T>>,
) -> Result<Tensor> {
    let shape: Shape = leading.iter().chain(part).copied().collect();
    let mut elements = crate::eval::element::room_for(&shape)?;
    while let Some(part) = next() {
        elements.extend(part);
    }
    if elements.len() != element_count(&shape)? {
        return Err(Error::new(
            crate::error::ErrorKind::Internal,
            "parts have the wrong size",
        ));
    }
    Tensor::from_vec(&shape, elements)
}
