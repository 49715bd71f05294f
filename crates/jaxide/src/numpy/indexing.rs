//! Reading and writing slices at indices: `x[i]` and `x.at[i].set(v)` of JAX.

use std::ops::{Bound, RangeBounds};

use jaxide_core::prims::{
    self, GatherDimensionNumbers, GatherScatterMode, ScatterDimensionNumbers,
};
use jaxide_core::{Aval, Builder, ClosedJaxpr, DType, Dims, Error, Literal, Scalar};

use super::{broadcast_to, check_broadcast_to, normalize_axis, where_};
use crate::array::{Array, Integer, Repr, as_dtype, check_number, promote_dtypes};
use crate::lax;
use crate::trace::{OrRaise, bind_one, library, raise};

impl Array {
    /// The slice at an index of the first axis, or for an array of indices the slices: `x[i]` of NumPy.
    ///
    /// Negative indices count from the end; what is out of range is moved to the nearest end. [`numpy::take`](take) marks
    /// it instead.
    ///
    /// # Panics
    /// When there is no axis or it is empty, or the index is not an integer.
    ///
    /// ```
    /// use jaxide::Array;
    /// let x = Array::from([[1.0f32, 2.0], [3.0, 4.0], [5.0, 6.0]]);
    /// assert_eq!(x.index(-1).to_vec::<f32>(), [5.0, 6.0]);
    /// assert_eq!(x.index([2, 0]).to_vec::<f32>(), [5.0, 6.0, 1.0, 2.0]);
    /// ```
    #[track_caller]
    pub fn index(&self, index: impl Into<Array>) -> Array {
        let index = index.into();
        check("index", self, &index);
        let index = match &index.0 {
            Repr::Number(literal) => match position(self, *literal) {
                Ok(at) => return lax::squeeze(&range(self, at, at + 1), &[0]),
                Err(_) => {
                    check_number("index", &index, index.dtype());
                    index
                }
            },
            _ => index,
        };
        if self.shape()[0] == 0 && index.size() > 0 {
            raise(
                Error::shape(format!("{} has nothing to index", self.aval())).in_operation("index"),
            );
        }
        if index.ndim() == 0 {
            let start = from_front(&index, self.shape()[0], where_);
            let zero = integer(0, start.dtype());
            let mut starts = vec![start];
            starts.extend(
                self.shape()[1..]
                    .iter()
                    .map(|&length| from_front(&zero, length, where_)),
            );
            let mut sizes = self.shape().to_vec();
            sizes[0] = 1;
            return lax::squeeze(&lax::dynamic_slice(self, &starts, &sizes), &[0]);
        }
        let indices = from_front(&index, self.shape()[0], where_);
        rows(
            self,
            &at_least_i32(&indices),
            0,
            GatherScatterMode::PromiseInBounds,
            None,
            false,
        )
    }

    /// The slices in a range of the first axis: `x[a:b]` of NumPy.
    ///
    /// # Panics
    /// When there is no axis, or the range does not lie in it.
    ///
    /// ```
    /// use jaxide::Array;
    /// let x = Array::from([1, 2, 3, 4]);
    /// assert_eq!(x.slice(1..3).to_vec::<i32>(), [2, 3]);
    /// assert_eq!(x.slice(3..).to_vec::<i32>(), [4]);
    /// ```
    #[track_caller]
    pub fn slice(&self, within: impl RangeBounds<usize>) -> Array {
        let length = self.shape().first().copied().unwrap_or(0);
        let start = match within.start_bound() {
            Bound::Included(&start) => start,
            Bound::Excluded(&before) => before.saturating_add(1),
            Bound::Unbounded => 0,
        };
        let limit = match within.end_bound() {
            Bound::Included(&last) => last.saturating_add(1),
            Bound::Excluded(&limit) => limit,
            Bound::Unbounded => length,
        };
        if self.ndim() == 0 || start > limit || limit > length {
            raise(
                Error::parameter(format!(
                    "{start}..{limit} does not lie in the first axis of {}",
                    self.aval()
                ))
                .in_operation("slice"),
            );
        }
        range(self, start, limit)
    }

    /// The place of an index, or of an array of indices, along the first axis, to make an array that differs there:
    /// `x.at(i).set(v)`. Negative indices count from the end; what is written outside is dropped.
    ///
    /// # Panics
    /// When there is no axis, or the index is not an integer.
    ///
    /// ```
    /// use jaxide::Array;
    /// let x = Array::from([1.0f32, 2.0, 3.0]);
    /// assert_eq!(x.at(1).set(9.0).to_vec::<f32>(), [1.0, 9.0, 3.0]);
    /// assert_eq!(x.at([0, 0]).add(1.0).to_vec::<f32>(), [3.0, 2.0, 3.0]);
    /// ```
    #[track_caller]
    pub fn at(&self, index: impl Into<Array>) -> At {
        let index = index.into();
        check("at", self, &index);
        At {
            x: self.clone(),
            index,
        }
    }
}

/// A place in an array: see [`Array::at`].
#[must_use]
pub struct At {
    x: Array,
    index: Array,
}

/// How old and new elements become one.
#[derive(Clone, Copy)]
enum Update {
    Set,
    Add,
    Multiply,
    Min,
    Max,
}

/// The ways to write.
macro_rules! updates {
    ($($(#[$doc:meta])* $name:ident $update:ident;)*) => {
        impl At {
            $(
                $(#[$doc])*
                ///
                /// # Panics
                /// When `value` does not broadcast to the slices.
                #[track_caller]
                pub fn $name(&self, value: impl Into<Array>) -> Array {
                    self.updated(Update::$update, &value.into())
                }
            )*
        }
    };
}

updates! {
    /// The array with the slices replaced. Where an index is given twice, either may win.
    set Set;
    /// The array with `value` added to the slices, as often as an index is given.
    add Add;
    /// The array with the slices multiplied by `value`, as often as an index is given.
    multiply Multiply;
    /// The array with the slices no larger than `value`.
    min Min;
    /// The array with the slices no smaller than `value`.
    max Max;
}

impl At {
    #[track_caller]
    fn updated(&self, update: Update, value: &Array) -> Array {
        let (x, index) = (&self.x, &self.index);
        let length = x.shape()[0];
        let start = match index.0 {
            Repr::Number(literal) => match position(x, literal) {
                Ok(at) => integer(at, index.dtype()),
                Err(outside) => {
                    let outside = outside.clamp(i32::MIN.into(), i32::MAX.into());
                    number(outside as i64, DType::I32)
                }
            },
            _ => from_front(index, length, where_),
        };
        let indices = lax::expand_dims(&at_least_i32(&start), &[index.ndim()]);
        let mut shape = index.shape().to_vec();
        shape.extend_from_slice(&x.shape()[1..]);
        check_broadcast_to("at", value.shape(), &shape);
        check_number("at", value, x.dtype());
        // What is combined is combined in the common element type; what replaces takes the type of what it replaces.
        let [x, value] = match update {
            Update::Set => [x.clone(), as_dtype(value, x.dtype(), false)],
            Update::Add | Update::Multiply | Update::Min | Update::Max => {
                promote_dtypes("at", [x, value])
            }
        };
        let value = broadcast_to(&value, &shape);
        let dimension_numbers = ScatterDimensionNumbers {
            update_window_dims: (index.ndim()..shape.len()).collect(),
            inserted_window_dims: Dims::from_slice(&[0]),
            scatter_dims_to_operand_dims: Dims::from_slice(&[0]),
            ..Default::default()
        };
        // One index is in order, and there once.
        let one = index.ndim() == 0;
        let written = scatter(update, one, dimension_numbers, &[x, indices, value]);
        as_dtype(&written, self.x.dtype(), self.x.weak_type())
    }
}

/// One scatter equation.
#[track_caller]
fn scatter(
    update: Update,
    one: bool,
    dimension_numbers: ScatterDimensionNumbers,
    operands: &[Array],
) -> Array {
    macro_rules! combining {
        ($prim:ident $combine:expr) => {
            bind_one(
                prims::$prim {
                    dimension_numbers,
                    indices_are_sorted: one,
                    mode: GatherScatterMode::FillOrDrop,
                    unique_indices: one,
                    update_consts: prims::NoConsts,
                    update_jaxpr: prims::OptionalJaxpr($combine),
                },
                operands,
            )
        };
    }
    let combiner = |prim: prims::Prim| Some(combiner(prim, operands[0].dtype()));
    match update {
        Update::Set => combining!(Scatter None),
        Update::Add => combining!(ScatterAdd combiner(prims::Add.into())),
        Update::Multiply => {
            combining!(ScatterMul combiner(prims::Mul { out_dtype: None }.into()))
        }
        Update::Min => combining!(ScatterMin combiner(prims::Min.into())),
        Update::Max => combining!(ScatterMax combiner(prims::Max.into())),
    }
}

/// A primitive of two scalars as a jaxpr.
#[track_caller]
fn combiner(prim: prims::Prim, dtype: DType) -> ClosedJaxpr {
    let b = Builder::new();
    let scalars = [b.input(Aval::scalar(dtype)), b.input(Aval::scalar(dtype))];
    b.emit(prim, &scalars)
        .and_then(|results| b.finish(&results))
        .or_raise()
}

/// The slices of `x` at indices along an axis, whose place the axes of `indices` take. Slices outside are NaN, or the
/// largest integer.
///
/// # Panics
/// When there is no such axis, or `indices` are not integers.
///
/// ```
/// use jaxide::{Array, numpy};
/// let x = Array::from([[1.0f32, 2.0, 3.0]]);
/// let y = numpy::take(&x, &Array::from([[0, 2]]), 1);
/// assert_eq!((y.shape(), y.to_vec::<f32>()), (&[1, 1, 2][..], vec![1.0, 3.0]));
/// ```
#[track_caller]
pub fn take(x: &Array, indices: &Array, axis: impl Integer) -> Array {
    let axis = normalize_axis("take", axis, x.ndim());
    check("take", x, indices);
    take_rows(x, indices, axis, false)
}

/// The function behind [`take`]; `unique` promises that no index is there twice.
#[track_caller]
pub(crate) fn take_rows(x: &Array, indices: &Array, axis: usize, unique: bool) -> Array {
    let choose = |condition: &Array, x: &Array, y: &Array| {
        library("_where", "", [condition, x, y], |[condition, x, y]| {
            where_(condition, x, y)
        })
    };
    library(
        "_take",
        &format!("{axis} {unique}"),
        [x, indices],
        |[x, indices]| {
            let indices = from_front(indices, x.shape()[axis], choose);
            let fill = outside(x.dtype());
            rows(
                x,
                &indices,
                axis,
                GatherScatterMode::FillOrDrop,
                fill,
                unique,
            )
        },
    )
}

/// What is read outside.
fn outside(dtype: DType) -> Option<Scalar> {
    if dtype.is_inexact() {
        return Some(Scalar::Float(f64::NAN));
    }
    if dtype.is_signed_integer() {
        return Some(Scalar::Int(i64::MIN >> (64 - 8 * dtype.size())));
    }
    if dtype.is_unsigned_integer() {
        return Scalar::from_integer((1_i128 << (8 * dtype.size())) - 1);
    }
    (dtype == DType::Bool).then_some(Scalar::Bool(true))
}

/// Whole slices at indices along an axis.
#[track_caller]
fn rows(
    x: &Array,
    indices: &Array,
    axis: usize,
    mode: GatherScatterMode,
    fill_value: Option<Scalar>,
    unique_indices: bool,
) -> Array {
    let rank = indices.ndim();
    let indices = lax::expand_dims(indices, &[rank]);
    let mut slice_sizes = Dims::from_slice(x.shape());
    slice_sizes[axis] = 1;
    let behind = axis + rank..x.ndim() - 1 + rank;
    let dimension_numbers = GatherDimensionNumbers {
        offset_dims: (0..axis).chain(behind).collect(),
        collapsed_slice_dims: Dims::from_slice(&[axis]),
        start_index_map: Dims::from_slice(&[axis]),
        ..Default::default()
    };
    let prim = prims::Gather {
        dimension_numbers,
        fill_value,
        indices_are_sorted: false,
        mode,
        slice_sizes,
        unique_indices,
    };
    bind_one(prim, &[x.clone(), indices])
}

/// Negative indices counted from the front; `choose` is `where`. Indices of a type that does not hold the length are widened.
#[track_caller]
fn from_front(
    index: &Array,
    length: usize,
    choose: impl Fn(&Array, &Array, &Array) -> Array,
) -> Array {
    if index.dtype().is_unsigned_integer() {
        return index.clone();
    }
    let most = (1u64 << (8 * index.dtype().size() - 1)) - 1;
    let index = if (length as u64) <= most {
        index.clone()
    } else {
        let wider = i32::try_from(length).map_or(DType::I64, |_| DType::I32);
        as_dtype(index, wider, false)
    };
    let negative = lax::lt(&index, &Array::from(0));
    let moved = lax::add(&index, &integer(length, index.dtype()));
    choose(&negative, &moved, &index)
}

/// Indices of 8 and 16 bits as `i32`, as gathers and scatters in JAX have them.
#[track_caller]
fn at_least_i32(indices: &Array) -> Array {
    if indices.dtype().size() < 4 {
        as_dtype(indices, DType::I32, false)
    } else {
        indices.clone()
    }
}

/// The slices in a range of the first axis.
#[track_caller]
fn range(x: &Array, start: usize, limit: usize) -> Array {
    let mut starts = vec![0; x.ndim()];
    let mut limits = x.shape().to_vec();
    (starts[0], limits[0]) = (start, limit);
    lax::slice(x, &starts, &limits, None)
}

/// A length as a number of an element type.
fn integer(value: usize, dtype: DType) -> Array {
    number(i64::try_from(value).unwrap_or(i64::MAX), dtype)
}

fn number(value: i64, dtype: DType) -> Array {
    Array(Repr::Number(Literal {
        value: Scalar::Int(value),
        dtype,
        weak_type: false,
    }))
}

/// The position of a number of the program; what it is counted from the front when it is outside.
fn position(x: &Array, index: Literal) -> Result<usize, i128> {
    let length = x.shape()[0];
    let given = index.value.as_integer().unwrap_or(0);
    let from_front = if given < 0 {
        given + length as i128
    } else {
        given
    };
    match usize::try_from(from_front) {
        Ok(position) if position < length => Ok(position),
        _ => Err(from_front),
    }
}

/// Indices are integers, and there is something to index.
#[track_caller]
fn check(operation: &str, x: &Array, index: &Array) {
    if x.ndim() == 0 {
        raise(Error::shape(format!("{} has no axis to index", x.aval())).in_operation(operation));
    }
    if !index.dtype().is_integer() {
        raise(
            Error::dtype(format!(
                "an index is an integer, and {} is given",
                index.aval()
            ))
            .in_operation(operation),
        );
    }
}
