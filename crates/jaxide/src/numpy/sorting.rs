//! Sorting, and the largest elements.

use jaxide_core::prims::{self, GatherScatterMode, ScatterDimensionNumbers};
use jaxide_core::{DType, Error};

use super::arithmetic::real_only;
use super::{normalize_axis, one_axis};
use crate::array::{Array, Axes, Integer, Numbers, as_dtype};
use crate::lax;
use crate::options::options;
use crate::trace::library::library_call;
use crate::trace::{bind, library, raise};

options! {
    /// What [`sort`] and [`argsort`] take beside the array; an axis alone is one too.
    pub struct Sort of axes {
        /// The axis: the last one by default, `()` for all elements in row-major order.
        axis: Option<Numbers> = Some(Numbers::from_slice(&[-1])), |axis: impl Axes| axis.numbers();
        /// Whether equal elements keep their order: so by default, and here always.
        stable: bool = true;
        /// Whether the largest comes first.
        descending: bool = false;
        /// Of [`argsort`]: the element type of the positions.
        dtype: Option<DType> = None, |dtype: DType| Some(dtype);
    }

    /// What functions along one axis take beside the array; an axis alone is one too.
    pub struct SortAlong of axes {
        /// The axis: the last one by default.
        axis: Option<Numbers> = Some(Numbers::from_slice(&[-1])), |axis: impl Axes| axis.numbers();
    }

    /// What [`top_k`] takes beside the array and the number; an axis alone is one too.
    pub struct TopK of axes {
        /// The axis: the last one by default.
        axis: Option<Numbers> = Some(Numbers::from_slice(&[-1])), |axis: impl Axes| axis.numbers();
        /// Whether the smallest elements are meant.
        smallest: bool = false;
    }
}

/// The array and the axis, the array flattened without one.
#[track_caller]
fn along(operation: &str, x: &Array, axis: Option<&Numbers>) -> (Array, usize) {
    match one_axis(operation, axis.map(|axis| &axis[..]), x.ndim()) {
        None => (lax::reshape(x, x.size()), 0),
        Some(axis) => (x.clone(), axis),
    }
}

/// The axis, the last one where none is given.
#[track_caller]
fn last_axis(operation: &str, x: &Array, axis: Option<&Numbers>) -> usize {
    one_axis(operation, axis.map(|axis| &axis[..]), x.ndim())
        .unwrap_or_else(|| normalize_axis(operation, -1, x.ndim()))
}

#[track_caller]
fn sorted(operands: &[Array], dimension: usize, num_keys: usize, stable: bool) -> Vec<Array> {
    let prim = prims::Sort {
        dimension,
        is_stable: stable,
        num_keys,
    };
    bind(prim, operands).into_vec()
}

/// `x` sorted along an axis, NaN last; with `stable`, `descending`.
///
/// # Panics
/// When the axis is out of range.
///
/// ```
/// use jaxide::{Array, numpy};
/// let x = Array::from([2, 3, 1]);
/// assert_eq!(numpy::sort(&x, ()).to_vec::<i32>(), [1, 2, 3]);
/// assert_eq!(numpy::sort(&x, numpy::Sort::new().descending(true)).to_vec::<i32>(), [3, 2, 1]);
/// ```
#[track_caller]
pub fn sort(x: &Array, options: impl Into<Sort>) -> Array {
    let _named = crate::trace::named("sort");
    let options = options.into();
    if options.dtype.is_some() {
        raise(Error::parameter("it does not take `dtype`").in_operation("sort"));
    }
    check_axis("sort", x, &options);
    library("sort", &format!("{options:?}"), [x], |[x]| {
        let (x, axis) = along("sort", x, options.axis.as_ref());
        let sorted = sorted(&[x], axis, 1, options.stable).remove(0);
        if options.descending {
            lax::rev(&sorted, axis)
        } else {
            sorted
        }
    })
}

#[track_caller]
fn check_axis(operation: &str, x: &Array, options: &Sort) {
    one_axis(operation, options.axis.as_deref(), x.ndim());
}

/// The positions that sort `x` along an axis, equal elements in their order; with `stable`, `descending`, `dtype`: `i32`, and
/// `i64` beside elements of 64 bits.
///
/// # Panics
/// When the axis is out of range.
///
/// ```
/// use jaxide::{Array, numpy};
/// assert_eq!(numpy::argsort(&Array::from([2, 3, 1]), ()).to_vec::<i32>(), [2, 0, 1]);
/// ```
#[track_caller]
pub fn argsort(x: &Array, options: impl Into<Sort>) -> Array {
    let _named = crate::trace::named("argsort");
    let options = options.into();
    check_axis("argsort", x, &options);
    library("argsort", &format!("{options:?}"), [x], |[x]| {
        let (mut x, axis) = along("argsort", x, options.axis.as_ref());
        let dtype = options.dtype.unwrap_or_else(|| super::position_type(&x));
        let mut positions = lax::iota(dtype, x.shape(), axis);
        let backwards = options.descending && options.stable;
        if backwards {
            x = lax::rev(&x, axis);
            positions = lax::rev(&positions, axis);
        }
        let positions = sorted(&[x, positions], axis, 1, options.stable).remove(1);
        if options.descending {
            lax::rev(&positions, axis)
        } else {
            positions
        }
    })
}

/// `x` sorted along its last axis by real parts, then by imaginary parts, as complex numbers.
///
/// # Panics
/// When `x` has no axis.
#[track_caller]
pub fn sort_complex(x: &Array) -> Array {
    let _named = crate::trace::named("sort_complex");
    normalize_axis("sort_complex", -1, x.ndim());
    library("sort_complex", "", [x], |[x]| {
        let sorted = sorted(std::slice::from_ref(x), x.ndim() - 1, 1, true).remove(0);
        let dtype = super::arithmetic::inexact(x.dtype());
        as_dtype(&sorted, dtype.complex().unwrap_or(DType::C64), false)
    })
}

/// The positions that sort by several keys along an axis, the last key first.
///
/// # Panics
/// When there are no keys, shapes differ, or the axis is out of range.
///
/// ```
/// use jaxide::{Array, numpy};
/// let (given, family) = (Array::from([2, 1, 3]), Array::from([1, 1, 0]));
/// assert_eq!(numpy::lexsort(&[given, family], ()).to_vec::<i32>(), [2, 1, 0]);
/// ```
#[track_caller]
pub fn lexsort(keys: &[Array], options: impl Into<SortAlong>) -> Array {
    let _named = crate::trace::named("lexsort");
    let options = options.into();
    let Some(first) = keys.first() else {
        raise(Error::parameter("at least one key is needed").in_operation("lexsort"));
    };
    if let Some(other) = keys.iter().find(|key| key.shape() != first.shape()) {
        let error = format!(
            "keys differ in shape: {} and {}",
            first.aval(),
            other.aval()
        );
        raise(Error::shape(error).in_operation("lexsort"));
    }
    let axis = (first.ndim() > 0).then(|| last_axis("lexsort", first, options.axis.as_ref()));
    let sort = |keys: &[Array]| {
        let dtype = super::position_type(&keys[0]);
        let Some(axis) = axis else {
            return vec![lax::full((), 0, dtype)];
        };
        let positions = lax::iota(dtype, keys[0].shape(), axis);
        let mut operands: Vec<Array> = keys.iter().rev().cloned().collect();
        operands.push(positions);
        vec![sorted(&operands, axis, keys.len(), true).remove(keys.len())]
    };
    library_call("lexsort", &format!("{axis:?}"), keys, sort).remove(0)
}

/// `x` with its axis last, and back.
#[track_caller]
fn swapped(x: &Array, axis: usize) -> Array {
    let mut order: Vec<usize> = (0..x.ndim()).collect();
    order.swap(axis, x.ndim() - 1);
    lax::transpose(x, &order)
}

/// What reverses the order of numbers.
#[track_caller]
fn reversing(x: &Array) -> Array {
    if x.dtype().is_inexact() {
        lax::neg(x)
    } else {
        lax::bitwise_not(x)
    }
}

#[track_caller]
fn largest(x: &Array, k: usize, axis: usize) -> [Array; 2] {
    let prim = prims::TopK {
        axis,
        is_stable: true,
        k,
    };
    let results = bind(prim, std::slice::from_ref(x));
    [results[0].clone(), results[1].clone()]
}

#[track_caller]
fn check_partition(operation: &str, x: &Array, kth: i64, options: &SortAlong) -> (usize, usize) {
    if x.dtype().is_complex() {
        raise(real_only(operation, x));
    }
    let axis = last_axis(operation, x, options.axis.as_ref());
    let length = x.shape()[axis];
    let place = if kth < 0 { kth + length as i64 } else { kth };
    match usize::try_from(place) {
        Ok(place) if place < length => (axis, place),
        _ => raise(
            Error::parameter(format!(
                "{kth} is no place along axis {axis} of {}",
                x.aval()
            ))
            .in_operation(operation),
        ),
    }
}

/// `x` with the element at `kth` along an axis where it would be if sorted, smaller ones before it and larger ones after it.
///
/// # Panics
/// When `kth` or the axis is out of range, or numbers are complex.
///
/// ```
/// use jaxide::{Array, numpy};
/// let x = Array::from([5, 1, 4, 2, 3]);
/// assert_eq!(numpy::partition(&x, 2, ()).to_vec::<i32>()[2], 3);
/// ```
#[track_caller]
pub fn partition(x: &Array, kth: impl Integer, options: impl Into<SortAlong>) -> Array {
    let _named = crate::trace::named("partition");
    let (axis, kth) = check_partition("partition", x, kth.to_i64(), &options.into());
    library("partition", &format!("{axis} {kth}"), [x], |[x]| {
        let x = swapped(x, axis);
        let last = x.ndim() - 1;
        let [bottom, _] = largest(&reversing(&x), kth + 1, last);
        let bottom = reversing(&bottom);
        let [top, _] = largest(&x, x.shape()[last] - kth - 1, last);
        swapped(&lax::concatenate(&[bottom, top], last), axis)
    })
}

/// The positions of the elements of [`partition`]: `i32`.
///
/// # Panics
/// When `kth` or the axis is out of range, or numbers are complex.
#[track_caller]
pub fn argpartition(x: &Array, kth: impl Integer, options: impl Into<SortAlong>) -> Array {
    let _named = crate::trace::named("argpartition");
    let (axis, kth) = check_partition("argpartition", x, kth.to_i64(), &options.into());
    library("argpartition", &format!("{axis} {kth}"), [x], |[x]| {
        let x = swapped(x, axis);
        let last = x.ndim() - 1;
        let [_, bottom] = largest(&reversing(&x), kth + 1, last);
        // What is below is marked, row by row, and the rest found by what is not.
        let ones = lax::full(x.shape(), 1.0, DType::F32);
        let batch = (0..last).collect::<jaxide_core::Dims>();
        let numbers = ScatterDimensionNumbers {
            inserted_window_dims: std::iter::once(last).collect(),
            scatter_dims_to_operand_dims: std::iter::once(last).collect(),
            operand_batching_dims: batch.clone(),
            scatter_indices_batching_dims: batch,
            ..Default::default()
        };
        let indices = super::lookup::from_front(&bottom, x.shape()[last]);
        let indices = lax::expand_dims(&indices, &[last + 1]);
        let row = lax::full([bottom.shape()[last]], 0.0, DType::F32);
        let outer = x.shape()[..last].iter().rev();
        let zeros = outer.fold(row, |zeros, &length| lax::broadcast(&zeros, [length]));
        let mode = GatherScatterMode::FillOrDrop;
        let marked = lax::scatter(&ones, &indices, &zeros, numbers, mode);
        let [_, top] = largest(&marked, x.shape()[last] - kth - 1, last);
        swapped(&lax::concatenate(&[bottom, top], last), axis)
    })
}

/// The `k` largest elements along an axis, in order, and their positions; the smallest ones with `smallest`.
///
/// # Panics
/// When there are fewer, the axis is out of range, or numbers are complex.
///
/// ```
/// use jaxide::{Array, numpy};
/// let (values, positions) = numpy::top_k(&Array::from([5, 1, 4]), 2, ());
/// assert_eq!((values.to_vec::<i32>(), positions.to_vec::<i32>()), (vec![5, 4], vec![0, 2]));
/// ```
#[track_caller]
pub fn top_k(x: &Array, k: usize, options: impl Into<TopK>) -> (Array, Array) {
    let _named = crate::trace::named("top_k");
    let TopK { axis, smallest } = options.into();
    if x.dtype().is_complex() {
        raise(real_only("top_k", x));
    }
    let axis = last_axis("top_k", x, axis.as_ref());
    if k > x.shape()[axis] {
        let error = format!(
            "{k} elements are asked for, along axis {axis} of {}",
            x.aval()
        );
        raise(Error::parameter(error).in_operation("top_k"));
    }
    let key = format!("{k} {axis} {smallest}");
    let mut results = library_call("top_k", &key, std::slice::from_ref(x), |x| {
        if !smallest {
            return largest(&x[0], k, axis).to_vec();
        }
        let [values, positions] = largest(&reversing(&x[0]), k, axis);
        vec![reversing(&values), positions]
    });
    (results.remove(0), results.remove(0))
}
