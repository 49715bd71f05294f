//! Pieces of functions, written as JAX writes them.

use jaxide_core::prims::{DotPrecision, GatherDimensionNumbers, GatherScatterMode, Precision};
use jaxide_core::{DType, Dims, Error};

use super::{broadcast_shapes, where_};
use crate::api::vmap_list;
use crate::array::{Array, as_dtype, check_number, result_dtype};
use crate::lax;
use crate::trace::{library, raise};

/// The float or complex element type that numbers of `dtype` have: `f64` of integers of 64 bits.
pub(crate) fn inexact_type(dtype: DType) -> DType {
    match dtype {
        dtype if dtype.is_inexact() => dtype,
        DType::I64 | DType::U64 => DType::F64,
        _ => DType::F32,
    }
}

/// The complex element type of numbers of `dtype`.
pub(crate) fn complex_type(dtype: DType) -> DType {
    match dtype {
        DType::F64 | DType::I64 | DType::U64 | DType::C128 => DType::C128,
        _ => DType::C64,
    }
}

/// The element type of the parts of numbers of `dtype`.
pub(crate) fn real_type(dtype: DType) -> DType {
    match dtype {
        DType::C64 => DType::F32,
        DType::C128 => DType::F64,
        other => other,
    }
}

/// The distance from one to the next number of a float or complex element type.
pub(crate) fn epsilon(dtype: DType) -> f64 {
    match dtype {
        DType::F64 | DType::C128 => f64::EPSILON,
        DType::F16 => f64::exp2(-10.0),
        DType::BF16 => f64::exp2(-7.0),
        _ => f64::from(f32::EPSILON),
    }
}

/// Operands with their common element type, changed by `change`; shapes stay.
#[track_caller]
fn promoted<const N: usize>(
    operation: &str,
    operands: [&Array; N],
    change: fn(DType) -> DType,
) -> [Array; N] {
    let (dtype, weak) = result_dtype(operation, &operands);
    for x in operands {
        check_number(operation, x, dtype);
    }
    operands.map(|x| as_dtype(x, change(dtype), weak))
}

/// Operands with a common element type that is at least float; shapes stay.
#[track_caller]
pub(crate) fn inexact<const N: usize>(operation: &str, operands: [&Array; N]) -> [Array; N] {
    promoted(operation, operands, inexact_type)
}

/// Operands with a common complex element type; shapes stay.
#[track_caller]
pub(crate) fn complex<const N: usize>(operation: &str, operands: [&Array; N]) -> [Array; N] {
    promoted(operation, operands, complex_type)
}

/// Conjugates; of real numbers themselves.
#[track_caller]
pub(crate) fn conj(x: &Array) -> Array {
    if x.dtype().is_complex() {
        lax::conj(x)
    } else {
        x.clone()
    }
}

/// The real parts; of real numbers themselves.
#[track_caller]
pub(crate) fn real(x: &Array) -> Array {
    if x.dtype().is_complex() {
        lax::real(x)
    } else {
        x.clone()
    }
}

/// The last two axes exchanged.
#[track_caller]
pub(crate) fn transposed(x: &Array) -> Array {
    let mut axes: Vec<usize> = (0..x.ndim()).collect();
    if let [.., row, column] = axes.as_mut_slice() {
        std::mem::swap(row, column);
    }
    lax::transpose(x, &axes)
}

/// The conjugate transpose.
#[track_caller]
pub(crate) fn adjoint(x: &Array) -> Array {
    conj(&transposed(x))
}

/// The slice at fixed indices of some axes, which disappear: `x[..., 1, 0]`.
#[track_caller]
pub(crate) fn pick(x: &Array, indices: &[(usize, usize)]) -> Array {
    let mut start = vec![0; x.ndim()];
    let mut limit = x.shape().to_vec();
    for &(axis, index) in indices {
        (start[axis], limit[axis]) = (index, index + 1);
    }
    let axes: Vec<usize> = indices.iter().map(|&(axis, _)| axis).collect();
    if limit == x.shape() && start.iter().all(|&start| start == 0) {
        return lax::squeeze(x, &axes);
    }
    lax::squeeze(&lax::slice(x, &start, &limit, None), &axes)
}

/// The slice at an index of the last axis: `x[..., i]`.
#[track_caller]
pub(crate) fn last(x: &Array, index: usize) -> Array {
    pick(x, &[(x.ndim() - 1, index)])
}

/// A range of an axis: `x[..., a:b, :]`.
#[track_caller]
pub(crate) fn range(x: &Array, axis: usize, start: usize, limit: usize) -> Array {
    if start == 0 && limit == x.shape()[axis] {
        return x.clone();
    }
    let mut starts = vec![0; x.ndim()];
    let mut limits = x.shape().to_vec();
    (starts[axis], limits[axis]) = (start, limit);
    lax::slice(x, &starts, &limits, None)
}

/// `x` with a new last axis of length 1.
#[track_caller]
pub(crate) fn column(x: &Array) -> Array {
    lax::expand_dims(x, &[x.ndim()])
}

/// Axes moved from one place to another, the others staying in their order.
#[track_caller]
pub(crate) fn moveaxis(x: &Array, source: &[usize], destination: &[usize]) -> Array {
    let mut order: Vec<usize> = (0..x.ndim())
        .filter(|axis| !source.contains(axis))
        .collect();
    let mut moves: Vec<(usize, usize)> = destination
        .iter()
        .copied()
        .zip(source.iter().copied())
        .collect();
    moves.sort_unstable();
    for (to, from) in moves {
        order.insert(to, from);
    }
    lax::transpose(x, &order)
}

/// The element types in which numbers are summed, and of the sum.
fn summing_types(dtype: DType) -> (DType, DType) {
    match dtype {
        DType::Bool | DType::I8 | DType::I16 => (DType::I32, DType::I32),
        DType::U8 | DType::U16 => (DType::U32, DType::U32),
        DType::F16 | DType::BF16 => (DType::F32, dtype),
        other => (other, other),
    }
}

/// The sum along axes.
#[track_caller]
pub(crate) fn sum(x: &Array, axes: &[usize], keepdims: bool) -> Array {
    let (computed, result) = summing_types(x.dtype());
    let total = lax::reduce_sum(&as_dtype(x, computed, false), axes);
    as_dtype(&kept(&total, axes, keepdims), result, false)
}

/// How many of truth values hold along axes: `i32`, and `i64` where they say something of `beside`, whose elements have 64 bits.
#[track_caller]
pub(crate) fn number_of(held: &Array, axes: &[usize], beside: &Array) -> Array {
    match super::position_type(beside) {
        DType::I64 => sum(&as_dtype(held, DType::I64, false), axes, false),
        _ => sum(held, axes, false),
    }
}

/// The result of a reduction with its axes as axes of length 1, where they are kept.
#[track_caller]
pub(crate) fn kept(x: &Array, axes: &[usize], keepdims: bool) -> Array {
    if keepdims {
        lax::expand_dims(x, axes)
    } else {
        x.clone()
    }
}

/// How many are true along an axis.
#[track_caller]
pub(crate) fn count(x: &Array, axis: usize) -> Array {
    library("count_nonzero", &axis.to_string(), [x], |[x]| {
        sum(&lax::ne(x, &Array::from(false)), &[axis], false)
    })
}

/// Indices from the end become indices from the start.
#[track_caller]
pub(crate) fn from_front(index: &Array, length: usize) -> Array {
    let length = Array::from(i32::try_from(length).unwrap_or(i32::MAX));
    let negative = lax::lt(index, &Array::from(0));
    lax::select(&negative, &lax::add(index, &length), index)
}

/// The slices at a vector of indices along an axis.
#[track_caller]
pub(crate) fn rows_at(x: &Array, indices: &Array, axis: usize) -> Array {
    let mut sizes = x.shape().to_vec();
    sizes[axis] = 1;
    let numbers = GatherDimensionNumbers {
        offset_dims: (0..x.ndim()).filter(|&other| other != axis).collect(),
        collapsed_slice_dims: Dims::from_slice(&[axis]),
        start_index_map: Dims::from_slice(&[axis]),
        ..Default::default()
    };
    let indices = column(&from_front(indices, x.shape()[axis]));
    let mut shape = x.shape().to_vec();
    shape[axis] = indices.shape()[0];
    if shape.contains(&0) {
        return lax::full(&shape, 0, x.dtype());
    }
    lax::gather(
        x,
        &indices,
        numbers,
        &sizes,
        GatherScatterMode::PromiseInBounds,
        None,
    )
}

/// The elements at pairs of indices of the last two axes: `x[..., i, j]`.
#[track_caller]
pub(crate) fn pairs_at(x: &Array, i: &Array, j: &Array) -> Array {
    let rank = x.ndim();
    let i = from_front(i, x.shape()[rank - 2]);
    let j = from_front(j, x.shape()[rank - 1]);
    let (i, j) = (column(&i), column(&j));
    let indices = lax::concatenate(&[i, j], 1);
    let mut sizes = x.shape().to_vec();
    (sizes[rank - 2], sizes[rank - 1]) = (1, 1);
    let shape = [&x.shape()[..rank - 2], &indices.shape()[..1]].concat();
    if shape.contains(&0) {
        return lax::full(&shape, 0, x.dtype());
    }
    let numbers = GatherDimensionNumbers {
        offset_dims: (0..rank - 2).collect(),
        collapsed_slice_dims: Dims::from_slice(&[rank - 2, rank - 1]),
        start_index_map: Dims::from_slice(&[rank - 2, rank - 1]),
        ..Default::default()
    };
    lax::gather(
        x,
        &indices,
        numbers,
        &sizes,
        GatherScatterMode::PromiseInBounds,
        None,
    )
}

/// Products as exact as the element type allows.
pub(crate) fn highest() -> Option<DotPrecision> {
    Some(DotPrecision::Operands(
        Precision::Highest,
        Precision::Highest,
    ))
}

/// Refuses operands, naming what they should be and their types.
#[track_caller]
pub(crate) fn refuse(operation: &str, what: &str, operands: &[&Array]) -> ! {
    let types: Vec<String> = operands.iter().map(|x| x.aval().to_string()).collect();
    raise(
        Error::shape(format!("{what}, and given {}", types.join(" and "))).in_operation(operation),
    )
}

/// Operands whose last two axes are a square matrix.
#[track_caller]
pub(crate) fn check_square(operation: &str, x: &Array) {
    if !matches!(x.shape(), [.., rows, columns] if rows == columns) {
        refuse(operation, "matrices must be square", &[x]);
    }
}

/// `f` of the last axes of operands, as many as `cores` says of each, for every index of the axes before, which broadcast.
#[track_caller]
pub(crate) fn vectorized(
    operation: &str,
    cores: &[usize],
    operands: &[Array],
    f: &dyn Fn(&[Array]) -> Vec<Array>,
) -> Vec<Array> {
    let mut outer: Vec<&[usize]> = Vec::new();
    for (x, &core) in operands.iter().zip(cores) {
        let Some(rank) = x.ndim().checked_sub(core) else {
            refuse(operation, &format!("{core} axes are needed"), &[x]);
        };
        outer.push(&x.shape()[..rank]);
    }
    let shape = broadcast_shapes(operation, &outer);
    let mut levels: Vec<Vec<Option<usize>>> = Vec::new();
    let mut expanded = Vec::new();
    for place in 0..shape.len() {
        let mapped: Vec<Option<usize>> = outer
            .iter()
            .map(|own| {
                let axis = (place + own.len()).checked_sub(shape.len())?;
                (own[axis] != 1).then_some(0)
            })
            .collect();
        if mapped.iter().all(Option::is_none) {
            expanded.push(place);
        } else {
            levels.push(mapped);
        }
    }
    let squeezed: Vec<Array> = operands
        .iter()
        .zip(&outer)
        .map(|(x, own)| {
            let ones: Vec<usize> = (0..own.len()).filter(|&axis| own[axis] == 1).collect();
            lax::squeeze(x, &ones)
        })
        .collect();
    let results = nested(&levels, &squeezed, f);
    if expanded.is_empty() {
        return results;
    }
    results
        .iter()
        .map(|x| lax::expand_dims(x, &expanded))
        .collect()
}

#[track_caller]
fn nested(
    levels: &[Vec<Option<usize>>],
    operands: &[Array],
    f: &dyn Fn(&[Array]) -> Vec<Array>,
) -> Vec<Array> {
    match levels.split_first() {
        None => f(operands),
        Some((axes, inner)) => vmap_list(&|own: &[Array]| nested(inner, own, f), axes, 0, operands),
    }
}

/// The diagonal of the last two axes that starts `offset` to the right of the corner.
#[track_caller]
pub(crate) fn diagonal(x: &Array, offset: i64) -> Array {
    let &[.., rows, columns] = x.shape() else {
        refuse("diagonal", "two axes are needed", &[x]);
    };
    let (down, right) = match usize::try_from(offset) {
        Ok(right) => (0, right),
        Err(_) => (
            usize::try_from(offset.unsigned_abs()).unwrap_or(usize::MAX),
            0,
        ),
    };
    let length = rows.saturating_sub(down).min(columns.saturating_sub(right));
    let along = move |x: &Array| {
        let i = lax::iota(DType::I32, &[length], 0);
        let j = lax::iota(DType::I32, &[length], 0);
        let shifted = |j: &Array, by: usize| match i32::try_from(by) {
            Ok(0) => j.clone(),
            Ok(by) => lax::add(&Array::from(by), j),
            Err(_) => j.clone(),
        };
        if right > 0 || down == 0 {
            pairs_at(x, &i, &shifted(&j, right))
        } else {
            pairs_at(x, &shifted(&j, down), &i)
        }
    };
    library("diagonal", &offset.to_string(), [x], |[x]| {
        let plain = x.ndim() == 2 && rows == columns && offset == 0 && x.dtype() != DType::Bool;
        if !plain {
            return along(x);
        }
        let eye = super::eye(rows, x.dtype());
        let masked = |x: Array| lax::reduce_sum(&lax::mul(&eye, &x), &[0]);
        lax::on_platform("mosaic", (x.clone(),), masked, |x: Array| along(&x))
    })
}

/// The sum of the diagonal of the last two axes that starts `offset` to the right of the corner; `offset` is an operand of the
/// equation where it is given.
#[track_caller]
pub(crate) fn trace(x: &Array, offset: Option<i64>, dtype: Option<DType>) -> Array {
    let &[.., rows, columns] = x.shape() else {
        refuse("trace", "two axes are needed", &[x]);
    };
    let index = |axis| lax::iota(DType::I32, &[rows, columns], axis);
    let sum_on = |x: &Array, on: &Array| {
        let zeros = lax::full(x.shape(), 0, x.dtype());
        let diagonal = where_(on, x, &zeros);
        let axes = [x.ndim() - 2, x.ndim() - 1];
        match dtype {
            None => sum(&diagonal, &axes, false),
            Some(dtype) => {
                let computed = summing_types(dtype).0;
                let computed = if dtype.is_float() { computed } else { dtype };
                let total = lax::reduce_sum(&as_dtype(&diagonal, computed, false), &axes);
                as_dtype(&total, dtype, false)
            }
        }
    };
    let name = format!("{dtype:?}");
    match offset {
        None => library("trace", &name, [x], |[x]| {
            let (row, column) = (index(0), index(1));
            sum_on(x, &lax::eq(&lax::add(&row, &Array::from(0)), &column))
        }),
        Some(offset) => library("trace", &name, [x, &Array::from(offset)], |[x, offset]| {
            let (row, column) = (index(0), index(1));
            let row = lax::add(&row, &as_dtype(offset, DType::I32, false));
            sum_on(x, &lax::eq(&row, &column))
        }),
    }
}

/// `x` with elements moved along axes by so many places, those that leave at the end coming in at the start.
#[track_caller]
pub(crate) fn rolled(x: &Array, moves: &[(usize, i64)]) -> Array {
    library("_roll_static", &format!("{moves:?}"), [x], |[x]| {
        moves.iter().fold(x.clone(), |x, &(axis, by)| {
            let length = x.shape()[axis];
            if length == 0 {
                return x;
            }
            let by = usize::try_from(by.rem_euclid(length.max(1) as i64)).unwrap_or(0);
            let end = lax::slice_in_dim(&x, length - by, length, 1, axis);
            let start = lax::slice_in_dim(&x, 0, length - by, 1, axis);
            lax::concatenate(&[end, start], axis)
        })
    })
}

/// `x` with the order of some axes reversed.
#[track_caller]
pub(crate) fn flipped(x: &Array, axes: &[usize]) -> Array {
    library("_flip", &format!("{axes:?}"), [x], |[x]| lax::rev(x, axes))
}

/// `x` with zeros in front of and behind each axis.
#[track_caller]
pub(crate) fn padded(x: &Array, widths: &[(i64, i64)]) -> Array {
    let config: Vec<(i64, i64, i64)> = widths.iter().map(|&(low, high)| (low, high, 0)).collect();
    library(
        "_pad",
        &format!("zeros {widths:?}"),
        [x, &Array::from(0)],
        |[x, zero]| lax::pad(x, as_dtype(zero, x.dtype(), false), &config),
    )
}
