//! Sorting and selecting the largest.

use std::cmp::Ordering;

use num_complex::Complex;

use super::Reduction;
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::eval::element::{build, by_dtype, decode, elements, from_integers, meaningless};
use crate::eval::numerics::order;
use crate::eval::shape::no_axis;
use crate::jaxpr::Shape;
use crate::tensor::Tensor;

/// Compares elements at two positions.
pub(super) type Order<'a> = Box<dyn Fn(usize, usize) -> Ordering + 'a>;

/// The order of `sort` between an element of `x` and one of `y`, which have the same dtype: `-0.0` equals `0.0`, NaN
/// comes last, complex numbers go by real and then imaginary part.
pub(super) fn sort_order<'a>(x: &'a Tensor, y: &'a Tensor) -> Result<Order<'a>> {
    let dtype = x.dtype();
    macro_rules! by {
        ($ty:ty, $compare:expr) => {{
            let (a, b) = (elements::<$ty>(x)?, elements::<$ty>(y)?);
            Box::new(move |i, j| $compare(a[i], b[j]))
        }};
    }
    Ok(by_dtype!(dtype, T,
        bool => by!(u8, |a: u8, b| a.cmp(&b)),
        int => by!(T, |a: T, b| a.cmp(&b)),
        small => by!(u8, |a, b| order::sort_order(decode(dtype, a), decode(dtype, b))),
        real => by!(T, order::sort_order),
        complex => by!(Complex<T>, order::sort_order_complex),
        other => return Err(meaningless(dtype)),
    ))
}

/// The order of `top_k`: floats by the total order of their bits.
fn total_order(x: &Tensor) -> Result<Order<'_>> {
    Ok(by_dtype!(x.dtype(), T,
        real => {
            let values = elements::<T>(x)?;
            Box::new(move |i, j| order::total_order(values[i], values[j]))
        },
        other => sort_order(x, x)?,
    ))
}

/// Sorts all operands together along an axis by the first `num_keys` of them; equal keys keep their order.
pub(in crate::eval) fn sort(
    operands: &[Tensor],
    dimension: usize,
    num_keys: usize,
) -> Result<Vec<Tensor>> {
    let Some(first) = operands.first() else {
        return Err(Error::shape("at least one operand is needed"));
    };
    if let Some(odd) = operands
        .iter()
        .find(|operand| operand.shape() != first.shape())
    {
        return Err(Error::shape(format!(
            "operands {} and {} have different shapes",
            first.aval(),
            odd.aval()
        )));
    }
    if !(1..=operands.len()).contains(&num_keys) {
        return Err(Error::parameter(format!(
            "num_keys is {num_keys}, with {} operands",
            operands.len()
        )));
    }
    let keys: Vec<Order<'_>> = operands[..num_keys]
        .iter()
        .map(|key| sort_order(key, key))
        .collect::<Result<_>>()?;
    let compare = |&a: &usize, &b: &usize| {
        keys.iter()
            .map(|key| key(a, b))
            .find(|order| order.is_ne())
            .unwrap_or(Ordering::Equal)
    };
    // `sources[i]` is where the element that goes to position `i` comes from.
    let mut sources = vec![0usize; first.len()];
    for group in Reduction::new(first.shape(), &[dimension])?.groups() {
        let places: Vec<usize> = group.collect();
        let mut sorted = places.clone();
        sorted.sort_by(compare);
        for (place, source) in places.into_iter().zip(sorted) {
            sources[place] = source;
        }
    }
    operands
        .iter()
        .map(|operand| pick(operand, operand.shape(), &sources))
        .collect()
}

/// The `k` largest elements along an axis, in order, and their indices; ties go by index.
pub(in crate::eval) fn top_k(x: &Tensor, axis: usize, k: usize) -> Result<Vec<Tensor>> {
    let order = total_order(x)?;
    first_in_order(x, axis, k, order)
}

/// As [`top_k`], exact; of the smallest when `is_max_k` is false.
pub(in crate::eval) fn approx_top_k(
    x: &Tensor,
    axis: i64,
    k: usize,
    is_max_k: bool,
) -> Result<Vec<Tensor>> {
    let rank = x.shape().len();
    let axis = usize::try_from(if axis < 0 { axis + rank as i64 } else { axis })
        .map_err(|_| Error::parameter(format!("reduction_dimension {axis} is none of {rank}")))?;
    let order = total_order(x)?;
    first_in_order(
        x,
        axis,
        k,
        |i, j| if is_max_k { order(i, j) } else { order(j, i) },
    )
}

/// The `k` greatest elements of an order along an axis, and their indices as `i32`.
fn first_in_order(
    x: &Tensor,
    axis: usize,
    k: usize,
    order: impl Fn(usize, usize) -> Ordering,
) -> Result<Vec<Tensor>> {
    let &length = x
        .shape()
        .get(axis)
        .ok_or_else(|| no_axis(axis, x.shape().len()))?;
    if k > length {
        return Err(Error::parameter(format!(
            "k is {k}, and axis {axis} of {} is shorter",
            x.aval()
        )));
    }
    let mut shape = Shape::from_slice(x.shape());
    shape[axis] = k;
    let targets = Reduction::new(&shape, &[axis])?;
    let count = shape.iter().product();
    let (mut sources, mut indices) = (vec![0usize; count], vec![0i128; count]);
    for (group, targets) in Reduction::new(x.shape(), &[axis])?
        .groups()
        .zip(targets.groups())
    {
        let places: Vec<usize> = group.collect();
        let best = order::top_k(length, k, |i, j| order(places[i], places[j]));
        for (target, index) in targets.zip(best) {
            (sources[target], indices[target]) = (places[index], index as i128);
        }
    }
    Ok(vec![
        pick(x, &shape, &sources)?,
        from_integers(&shape, DType::I32, indices.into_iter())?,
    ])
}

/// An array of `shape` with the elements of `x` at `positions`.
fn pick(x: &Tensor, shape: &[usize], positions: &[usize]) -> Result<Tensor> {
    let size = x.dtype().size();
    build(shape, x.dtype(), |bytes| {
        for (element, position) in bytes.chunks_exact_mut(size.max(1)).zip(positions) {
            element.copy_from_slice(&x.bytes()[position * size..(position + 1) * size]);
        }
        Ok(())
    })
}
