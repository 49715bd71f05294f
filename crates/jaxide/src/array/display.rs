//! Arrays as text: `array([1. 2. 3.], f32)`-like rows, summarised when long.

use std::fmt;

use jaxide_core::{Scalar, Tensor};

use super::{Array, Repr};

/// Rows longer than this are summarised by their first and last elements.
const SUMMARY: usize = 6;

/// Elements in nested brackets, as NumPy prints them; a traced array prints its type.
impl fmt::Display for Array {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Repr::Tracer(tracer) => write!(f, "Traced<{}>", tracer.aval),
            Repr::Spec(aval) => write!(f, "Spec<{aval}>"),
            Repr::Number(literal) => write!(f, "{}", literal.value),
            Repr::Concrete { elements, .. } => match elements.tensor() {
                Ok(tensor) => rows(f, &tensor, 0, 0, 0),
                Err(_) => f.write_str("<donated>"),
            },
        }
    }
}

/// The elements of axis `axis` from flat position `start`.
fn rows(
    f: &mut fmt::Formatter<'_>,
    tensor: &Tensor,
    axis: usize,
    start: usize,
    indent: usize,
) -> fmt::Result {
    let shape = tensor.shape();
    if axis == shape.len() {
        return match tensor.scalar_at(start) {
            Some(Scalar::Float(value)) if tensor.dtype() == jaxide_core::DType::F32 => {
                write!(f, "{:?}", value as f32)
            }
            Some(value) => write!(f, "{value}"),
            None => f.write_str("key"),
        };
    }
    let stride: usize = shape[axis + 1..].iter().product();
    let length = shape[axis];
    let summarised = tensor.len() > 1000 && length > SUMMARY;
    f.write_str("[")?;
    let mut index = 0;
    while index < length {
        if index > 0 {
            if axis + 1 == shape.len() {
                f.write_str(", ")?;
            } else {
                write!(f, ",\n{:1$}", "", indent + 1)?;
            }
        }
        if summarised && index == SUMMARY / 2 {
            f.write_str("...")?;
            index = length - SUMMARY / 2;
            continue;
        }
        rows(f, tensor, axis + 1, start + index * stride, indent + 1)?;
        index += 1;
    }
    f.write_str("]")
}

impl fmt::Debug for Array {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Repr::Tracer(_) | Repr::Spec(_) => write!(f, "{self}"),
            Repr::Number(_) | Repr::Concrete { .. } => write!(f, "Array({self}, {})", self.dtype()),
        }
    }
}
