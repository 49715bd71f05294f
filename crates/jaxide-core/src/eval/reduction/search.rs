//! Searching: where elements are not zero, and where values belong in a sorted array.

use smallvec::SmallVec;

use super::Reduction;
use super::sort::sort_order;
use crate::aval::element_count;
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::eval::element::{any_complexes, from_integers, integers};
use crate::eval::numerics::order::bisect;
use crate::eval::shape::{broadcast_in_dim, no_axis};
use crate::jaxpr::{Dims, Shape};
use crate::prims::SearchSide;
use crate::tensor::Tensor;

/// For each of `axes`, the coordinates of the elements that are not zero, in row-major order over these axes.
///
/// The results have the other axes and a last one of length `size`. Places that are left over hold the axis's
/// entry of `fill` (whose shape broadcasts to the other axes), or 0. An array without elements gives zeros.
pub(in crate::eval) fn nonzero(
    x: &Tensor,
    fill: &[Tensor],
    size: usize,
    axes: &[usize],
    out_dtype: DType,
) -> Result<Vec<Tensor>> {
    let mut axes = Dims::from_slice(axes);
    axes.sort_unstable();
    if !fill.is_empty() && fill.len() != axes.len() {
        return Err(Error::parameter(format!(
            "{} fill values are given for {} axes",
            fill.len(),
            axes.len()
        )));
    }
    let reduction = Reduction::new(x.shape(), &axes)?;
    let mut shape = reduction.shape.clone();
    shape.push(size);
    crate::tensor::check_allocatable(element_count(&shape)?.saturating_mul(16))?;
    let fill: Vec<Vec<i128>> = fill
        .iter()
        .map(|value| spread(value, &reduction.shape))
        .collect::<Result<_>>()?;
    let truth: Vec<bool> = any_complexes(x)?
        .map(|z| z.re != 0.0 || z.im != 0.0)
        .collect();
    let mut coordinates: Vec<Vec<i128>> = vec![Vec::new(); axes.len()];
    for (batch, group) in reduction.groups().enumerate() {
        let found: Vec<usize> = group
            .enumerate()
            .filter(|&(_, position)| truth[position])
            .map(|(index, _)| index)
            .take(size)
            .collect();
        // The index in the group, taken apart along the axes.
        let mut inner = axes.iter().map(|&axis| x.shape()[axis]).product::<usize>();
        for (number, &axis) in axes.iter().enumerate() {
            let length = x.shape()[axis];
            inner = inner.checked_div(length).unwrap_or(0);
            let filler = match fill.get(number) {
                Some(values) if !x.is_empty() => values[batch],
                _ => 0,
            };
            coordinates[number].extend(found.iter().map(|index| (index / inner % length) as i128));
            coordinates[number].extend(std::iter::repeat_n(filler, size - found.len()));
        }
    }
    coordinates
        .into_iter()
        .map(|numbers| from_integers(&shape, out_dtype, numbers.into_iter()))
        .collect()
}

/// The elements of a fill value broadcast to the shape of the batch.
fn spread(value: &Tensor, shape: &[usize]) -> Result<Vec<i128>> {
    let missing = shape
        .len()
        .checked_sub(value.shape().len())
        .ok_or_else(|| {
            Error::shape(format!("the fill value {} has too many axes", value.aval()))
        })?;
    let places: Dims = (missing..shape.len()).collect();
    Ok(integers(&broadcast_in_dim(value, shape, &places)?)?.collect())
}

/// For each query, the index in the sorted axis before (or after) equal elements, as `i32`.
///
/// The result has the `batch_dims` leading axes that both have in common, the other axes of the sorted array, and
/// the other axes of the queries. NaN sorts last. An array that is not sorted gives what binary search finds.
pub(in crate::eval) fn search_sorted(
    sorted: &Tensor,
    query: &Tensor,
    side: SearchSide,
    dimension: usize,
    batch_dims: usize,
) -> Result<Tensor> {
    let rank = sorted.shape().len();
    if dimension >= rank {
        return Err(no_axis(dimension, rank));
    }
    let common = batch_dims <= dimension
        && query.shape().len() >= batch_dims
        && query.shape()[..batch_dims] == sorted.shape()[..batch_dims]
        && query.dtype() == sorted.dtype();
    if !common {
        return Err(Error::shape(format!(
            "{} cannot be searched for {} with {batch_dims} leading axes in common",
            sorted.aval(),
            query.aval()
        )));
    }
    let order = sort_order(sorted, query)?;
    let rows = Reduction::new(sorted.shape(), &[dimension])?;
    let mut shape = Shape::from_slice(&rows.shape);
    shape.extend_from_slice(&query.shape()[batch_dims..]);
    let batches = element_count(&sorted.shape()[..batch_dims])?;
    let per_batch = element_count(&query.shape()[batch_dims..])?;
    let rows: Vec<SmallVec<[usize; 8]>> = rows.groups().map(Iterator::collect).collect();
    let mut found = Vec::new();
    for (number, row) in rows.iter().enumerate() {
        let batch = number * batches / rows.len();
        for wanted in batch * per_batch..(batch + 1) * per_batch {
            let index = bisect(row.len(), |index| match side {
                SearchSide::Left => order(row[index], wanted).is_lt(),
                SearchSide::Right => order(row[index], wanted).is_le(),
            });
            found.push(index as i128);
        }
    }
    from_integers(&shape, DType::I32, found.into_iter())
}
