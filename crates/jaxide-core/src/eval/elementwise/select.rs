//! Choosing between arrays element by element.

use super::map::{common_shape, spread};
use crate::dtype::DType;
use crate::error::{Error, ErrorKind, Result};
use crate::eval::element::{build, elements, integers};
use crate::tensor::Tensor;

/// The case that `which` selects: element by element, or one for all when `which` has rank 0.
///
/// `False` is case 0; an index out of range is the nearest case.
pub(in crate::eval) fn select_n(which: &Tensor, cases: &[Tensor]) -> Result<Tensor> {
    let (Some(first), Some(last)) = (cases.first(), cases.len().checked_sub(1)) else {
        return Err(Error::new(ErrorKind::Arity, "at least one case is needed"));
    };
    if let Some(odd) = cases.iter().find(|case| case.dtype() != first.dtype()) {
        return Err(Error::dtype(format!(
            "cases have types {} and {}, which differ",
            first.dtype(),
            odd.dtype()
        )));
    }
    let shape = common_shape(&cases.iter().collect::<Vec<_>>())?;
    let size = first.dtype().size();
    let cases: Vec<Tensor> =
        (cases.iter().map(|case| spread(case, &shape))).collect::<Result<_>>()?;
    if which.shape().is_empty() {
        let case = &cases[case_index(integers(which)?.next(), last)];
        if case.shape() == shape.as_slice() {
            return Ok(case.clone());
        }
    } else if which.shape() != shape.as_slice() && !shape.is_empty() {
        return Err(Error::shape(format!(
            "the selector has shape {:?}, and the cases have {:?}",
            which.shape(),
            shape.as_slice()
        )));
    }
    let shape = if shape.is_empty() {
        which.shape()
    } else {
        &shape
    };
    let mut selected: Box<dyn Iterator<Item = usize>> = match which.dtype() {
        DType::Bool => Box::new(
            elements::<u8>(which)?
                .iter()
                .map(|&w| usize::from(w != 0).min(last)),
        ),
        _ => Box::new(integers(which)?.map(|w| case_index(Some(w), last))),
    };
    let scalar = which
        .shape()
        .is_empty()
        .then(|| selected.next().unwrap_or(0));
    build(shape, first.dtype(), |bytes| {
        for (index, element) in bytes.chunks_exact_mut(size.max(1)).enumerate() {
            let Some(number) = scalar.or_else(|| selected.next()) else {
                break;
            };
            let case = &cases[number];
            let start = if case.shape().is_empty() {
                0
            } else {
                index * size
            };
            element.copy_from_slice(&case.bytes()[start..start + size]);
        }
        Ok(())
    })
}

fn case_index(which: Option<i128>, last: usize) -> usize {
    which.unwrap_or(0).clamp(0, last as i128) as usize
}
