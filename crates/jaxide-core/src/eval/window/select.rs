//! Choosing one element of each window.

use super::{Slide, Sliding};
use crate::error::{Error, Result};
use crate::eval::combiner::{combined, element};
use crate::eval::element::{elements, integers, reals, update};
use crate::eval::indexing::{Combine, combine_pairs};
use crate::eval::interpreter::{Interpreter, Values, values};
use crate::eval::reduction::{maximum, minimum};
use crate::eval::shape::pad;
use crate::eval::signature::operands;
use crate::jaxpr::Dims;
use crate::prims::{SelectAndScatter, SelectAndScatterAdd, SelectPrim};
use crate::tensor::Tensor;

/// The elements as they compare: floats with NaN, the others exactly.
enum Keys {
    Floats(Vec<f64>),
    Integers(Vec<i128>),
}

impl Keys {
    fn of(x: &Tensor) -> Result<Keys> {
        Ok(if x.dtype().is_float() {
            Keys::Floats(reals(x)?.collect())
        } else {
            Keys::Integers(integers(x)?.collect())
        })
    }

    /// The position that each window selects: a float must be beyond the number that `begin` says, if it says any.
    fn selected(&self, select: SelectPrim, sliding: &Sliding, begin: bool) -> Vec<Option<usize>> {
        let infinity = match select {
            SelectPrim::Ge => f64::NEG_INFINITY,
            SelectPrim::Le => f64::INFINITY,
        };
        match self {
            Keys::Floats(keys) => selected(keys, begin.then_some(infinity), select, sliding),
            Keys::Integers(keys) => selected(keys, None, select, sliding),
        }
    }
}

fn selected<T: PartialOrd + Copy>(
    keys: &[T],
    begin: Option<T>,
    select: SelectPrim,
    sliding: &Sliding,
) -> Vec<Option<usize>> {
    let stays = |best: T, next: T| match select {
        SelectPrim::Ge => best >= next,
        SelectPrim::Le => best <= next,
    };
    let of_window = |window: Vec<usize>| {
        let (mut best, mut place) = (begin, None);
        for next in window {
            if !best.is_some_and(|best| stays(best, keys[next])) {
                (best, place) = (Some(keys[next]), Some(next));
            }
        }
        place
    };
    sliding.windows().map(of_window).collect()
}

/// Adds each element of `source` to zeros of the shape of `operand`, where its window's selected element is.
///
/// Padding takes part with the number that is never selected beside another; where it is (beside NaN, or its equals),
/// the element of `source` is lost.
pub(in crate::eval) fn select_and_scatter_add(
    source: &Tensor,
    operand: &Tensor,
    params: &SelectAndScatterAdd,
) -> Result<Tensor> {
    let padding = &params.padding;
    if padding.iter().any(|&edges| edges != (0, 0)) {
        let nothing = Tensor::zeros(&[0], operand.dtype())?;
        let least = match params.select_prim {
            SelectPrim::Ge => maximum(&nothing, &[0])?,
            SelectPrim::Le => minimum(&nothing, &[0])?,
        };
        let edges = |sign: i64| -> Vec<(i64, i64, i64)> {
            padding
                .iter()
                .map(|&(low, high)| (sign * low, sign * high, 0))
                .collect()
        };
        let padded = SelectAndScatterAdd {
            padding: vec![(0, 0); padding.len()],
            ..params.clone()
        };
        let scattered = select_and_scatter_add(source, &pad(operand, &least, &edges(1))?, &padded)?;
        return pad(&scattered, &Tensor::zeros(&[], source.dtype())?, &edges(-1));
    }
    let slides = super::undilated(&params.window_dimensions, &params.window_strides, padding)?;
    let sliding = fitting(operand, source, &slides)?;
    let selected = Keys::of(operand)?.selected(params.select_prim, &sliding, false);
    let pairs: Vec<_> = (selected.into_iter().zip(0..))
        .filter_map(|(position, number)| Some((position?, number)))
        .collect();
    let zeros = Tensor::zeros(operand.shape(), source.dtype())?;
    combine_pairs(zeros, source, &pairs, Combine::Add)
}

/// For each window of `operand`, the element of `tangents` at the selected place; 0 where the window is empty or has
/// nothing beyond the least number there is.
pub(in crate::eval) fn select_and_gather_add(
    tangents: &Tensor,
    operand: &Tensor,
    select: SelectPrim,
    slides: &[Slide],
) -> Result<Tensor> {
    if tangents.shape() != operand.shape() {
        return Err(Error::shape(format!(
            "{} and {} have different shapes",
            tangents.aval(),
            operand.aval()
        )));
    }
    let sliding = Sliding::new(operand.shape(), slides)?;
    let selected = Keys::of(operand)?.selected(select, &sliding, true);
    let pairs: Vec<_> = (selected.into_iter().enumerate())
        .filter_map(|(number, position)| Some((number, position?)))
        .collect();
    let zeros = Tensor::zeros(&sliding.shape, tangents.dtype())?;
    combine_pairs(zeros, tangents, &pairs, Combine::Replace)
}

/// As [`select_and_scatter_add`], with functions that select and combine, beginning with an initial value everywhere.
pub(in crate::eval) fn select_and_scatter(
    interpreter: &mut Interpreter,
    params: &SelectAndScatter,
    slides: &[Slide],
    inputs: Values,
) -> Result<Values> {
    let [operand, source, start] = operands(inputs)?;
    let sliding = fitting(&operand, &source, slides)?;
    let mut result = crate::eval::shape::broadcast_in_dim(&start, operand.shape(), &Dims::new())?;
    for (number, window) in sliding.windows().enumerate() {
        let mut selected: Option<usize> = None;
        for next in window {
            let stays = match selected {
                None => false,
                Some(best) => {
                    let right = [element(&operand, next)?];
                    let verdict = combined(
                        interpreter,
                        &params.select_jaxpr,
                        vec![element(&operand, best)?],
                        right,
                    )?;
                    elements::<u8>(&verdict[0])?.first() == Some(&1)
                }
            };
            if !stays {
                selected = Some(next);
            }
        }
        let Some(position) = selected else {
            continue;
        };
        let old = vec![element(&result, position)?];
        let new = combined(
            interpreter,
            &params.scatter_jaxpr,
            old,
            [element(&source, number)?],
        )?;
        result = update(result, |bytes| {
            let new = new[0].bytes();
            bytes[position * new.len()..(position + 1) * new.len()].copy_from_slice(new);
            Ok(())
        })?;
    }
    Ok(values([result]))
}

/// The windows of `operand`, of which there are as many as `source` has elements.
fn fitting(operand: &Tensor, source: &Tensor, slides: &[Slide]) -> Result<Sliding> {
    let sliding = Sliding::new(operand.shape(), slides)?;
    if sliding.shape.as_slice() == source.shape() && source.dtype() == operand.dtype() {
        return Ok(sliding);
    }
    Err(Error::shape(format!(
        "{} has windows of shape {:?}, and the source is {}",
        operand.aval(),
        sliding.shape.as_slice(),
        source.aval()
    )))
}
