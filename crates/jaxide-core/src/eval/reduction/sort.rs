//! Sorting and selecting the largest.

use std::cmp::Reverse;

use smallvec::SmallVec;

use super::Reduction;
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::eval::element::{build, complexes, from_integers, integers, reals};
use crate::eval::shape::no_axis;
use crate::jaxpr::Shape;
use crate::tensor::Tensor;

/// Sorts all operands together along an axis by the first `num_keys` of them; equal keys keep their order.
///
/// `-0.0` equals `0.0`, NaN comes last, complex numbers are ordered by real and then imaginary part.
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
    let keys: Vec<Vec<u128>> = operands[..num_keys]
        .iter()
        .map(sort_keys)
        .collect::<Result<_>>()?;
    let key = |&position: &usize| -> SmallVec<[u128; 2]> {
        keys.iter().map(|keys| keys[position]).collect()
    };
    // `order[i]` is where the element that goes to position `i` comes from.
    let mut order = vec![0usize; first.len()];
    for group in Reduction::new(first.shape(), &[dimension])?.groups() {
        let places: Vec<usize> = group.collect();
        let mut sorted = places.clone();
        sorted.sort_by_key(key);
        for (place, source) in places.into_iter().zip(sorted) {
            order[place] = source;
        }
    }
    operands
        .iter()
        .map(|operand| pick(operand, operand.shape(), order.iter().copied()))
        .collect()
}

/// The `k` largest elements along an axis, in order, and their indices; NaN is largest, ties go by index.
pub(in crate::eval) fn top_k(x: &Tensor, axis: usize, k: usize) -> Result<Vec<Tensor>> {
    largest(x, axis, k, total_order_keys(x)?)
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
    let mut keys = total_order_keys(x)?;
    if !is_max_k {
        keys.iter_mut().for_each(|key| *key = !*key);
    }
    largest(x, axis, k, keys)
}

/// Elements with the largest keys, and their indices as `i32`.
fn largest(x: &Tensor, axis: usize, k: usize, keys: Vec<u128>) -> Result<Vec<Tensor>> {
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
        let mut candidates: Vec<(usize, usize)> = group.enumerate().collect();
        candidates.sort_by_key(|&(_, position)| Reverse(keys[position]));
        for (target, (index, position)) in targets.zip(candidates) {
            (sources[target], indices[target]) = (position, index as i128);
        }
    }
    Ok(vec![
        pick(x, &shape, sources.into_iter())?,
        from_integers(&shape, DType::I32, indices.into_iter())?,
    ])
}

/// An array of `shape` with the elements of `x` at `positions`.
fn pick(x: &Tensor, shape: &[usize], positions: impl Iterator<Item = usize>) -> Result<Tensor> {
    let size = x.dtype().size();
    build(shape, x.dtype(), |bytes| {
        for (element, position) in bytes.chunks_exact_mut(size.max(1)).zip(positions) {
            element.copy_from_slice(&x.bytes()[position * size..(position + 1) * size]);
        }
        Ok(())
    })
}

/// Integers in the order of the elements: `-0.0` is `0.0`, NaN is largest.
pub(super) fn sort_keys(x: &Tensor) -> Result<Vec<u128>> {
    let key = |value: f64| {
        if value.is_nan() {
            u64::MAX
        } else if value == 0.0 {
            ordered_bits(0.0)
        } else {
            ordered_bits(value)
        }
    };
    if x.dtype().is_float() {
        Ok(reals(x)?.map(|value| key(value).into()).collect())
    } else if x.dtype().is_complex() {
        Ok(complexes(x)?
            .map(|z| u128::from(key(z.re)) << 64 | u128::from(key(z.im)))
            .collect())
    } else {
        Ok(integers(x)?
            .map(|value| (value - i128::from(i64::MIN)) as u128)
            .collect())
    }
}

/// Integers in the total order of the elements: `-0.0` is less than `0.0`, NaN is largest.
fn total_order_keys(x: &Tensor) -> Result<Vec<u128>> {
    if !x.dtype().is_float() {
        return sort_keys(x);
    }
    let key = |value: f64| {
        if value.is_nan() {
            u64::MAX
        } else {
            ordered_bits(value)
        }
    };
    Ok(reals(x)?.map(|value| key(value).into()).collect())
}

/// Unsigned integers in the order of floats: flip all bits of negative ones, the sign of the others.
fn ordered_bits(value: f64) -> u64 {
    let bits = value.to_bits();
    if value.is_sign_negative() {
        !bits
    } else {
        bits | 1 << 63
    }
}
