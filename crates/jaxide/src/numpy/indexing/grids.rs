//! Indices of diagonals, triangles and grids, and their numbers in row-major order.

use jaxide_core::{DType, Error};

use super::at::IndexMode;
use super::find::{Nonzero, nonzero};
use super::gather::literal;
use super::nested::{clip, divmod, triangle};
use super::pick::within;
use super::take::check_integers;
use crate::array::{Array, AsShape, as_dtype, lengths, result_dtype};
use crate::lax;
use crate::numpy::reductions::position_type;
use crate::numpy::{remainder, where_};
use crate::options::options;
use crate::trace::raise;

/// The indices of the diagonal of an array with `ndim` axes of length `n`: the numbers from 0 to `n - 1`, for each axis.
///
/// # Panics
/// When the array is too large to hold.
///
/// ```
/// use jaxide::{Array, numpy::{self, Index, Indices}};
/// let diagonal: Vec<Index> = numpy::diag_indices(2, 2).into_iter().map(Index::from).collect();
/// let x = Array::from([[1, 2], [3, 4]]);
/// assert_eq!(x.index(Indices::from(diagonal)).to_vec::<i32>(), [1, 4]);
/// ```
#[track_caller]
pub fn diag_indices(n: usize, ndim: usize) -> Vec<Array> {
    let _named = crate::trace::named("diag_indices");
    diagonal(n, ndim, DType::I32)
}

#[track_caller]
fn diagonal(n: usize, ndim: usize, dtype: DType) -> Vec<Array> {
    vec![lax::iota(dtype, n, 0); ndim]
}

/// [`diag_indices`] of an array, whose axes are of one length.
///
/// # Panics
/// When there are fewer than two axes, or their lengths differ.
#[track_caller]
pub fn diag_indices_from(x: &Array) -> Vec<Array> {
    let _named = crate::trace::named("diag_indices_from");
    let shape = x.shape();
    if shape.len() < 2 || shape.iter().any(|&length| length != shape[0]) {
        raise(
            Error::shape(format!(
                "{} has no diagonal: two or more axes of one length are needed",
                x.aval()
            ))
            .in_operation("diag_indices_from"),
        );
    }
    diagonal(shape[0], shape.len(), position_type(x))
}

options! {
    /// What [`tril_indices`] and [`triu_indices`] take beside the number of rows; a diagonal alone is one too.
    pub struct TriangleIndices {
        /// The diagonal where the triangle ends: those above the main one are positive, those below it negative.
        k: i64 = 0;
        /// Number of columns: as many as rows by default.
        m: Option<usize> = None, |m: impl Into<Option<usize>>| m.into();
    }

    /// What [`mask_indices`] takes beside the size and the function.
    pub struct MaskIndices {
        /// What the function is given beside the matrix.
        k: i64 = 0;
        /// How many indices there are, which must be known while a program is traced: by default as many as there are.
        size: Option<usize> = None, |size: usize| Some(size);
    }

    /// What [`ravel_multi_index`] takes beside indices and shape.
    pub struct RavelMultiIndex {
        /// What becomes of indices out of bounds: by default they are a mistake, and all must be known;
        /// [`IndexMode::Clip`], [`IndexMode::Wrap`] or [`IndexMode::Ignore`].
        mode: IndexMode = IndexMode::Raise;
        /// `'C'` for row-major order, `'F'` for column-major order.
        order: char = 'C';
        /// The element type of the result: by default that of the indices.
        dtype: Option<DType> = None, |dtype: DType| Some(dtype);
    }
}

impl From<i64> for TriangleIndices {
    fn from(k: i64) -> Self {
        TriangleIndices::new().k(k)
    }
}

impl From<i32> for TriangleIndices {
    fn from(k: i32) -> Self {
        TriangleIndices::new().k(k.into())
    }
}

impl From<IndexMode> for RavelMultiIndex {
    fn from(mode: IndexMode) -> Self {
        RavelMultiIndex::new().mode(mode)
    }
}

/// The indices of the lower triangle of a matrix of `n` rows: those of rows, and those of columns.
///
/// # Panics
/// When the matrix is too large to hold.
///
/// ```
/// use jaxide::numpy;
/// let (rows, columns) = numpy::tril_indices(3, -1);
/// assert_eq!(rows.to_vec::<i32>(), [1, 2, 2]);
/// assert_eq!(columns.to_vec::<i32>(), [0, 0, 1]);
/// ```
#[track_caller]
pub fn tril_indices(n: usize, options: impl Into<TriangleIndices>) -> (Array, Array) {
    let _named = crate::trace::named("tril_indices");
    triangle_indices(n, &options.into(), true, DType::F32)
}

/// The indices of the upper triangle of a matrix of `n` rows: those of rows, and those of columns.
///
/// # Panics
/// When the matrix is too large to hold.
#[track_caller]
pub fn triu_indices(n: usize, options: impl Into<TriangleIndices>) -> (Array, Array) {
    let _named = crate::trace::named("triu_indices");
    triangle_indices(n, &options.into(), false, DType::F32)
}

#[track_caller]
fn triangle_indices(
    n: usize,
    options: &TriangleIndices,
    lower: bool,
    dtype: DType,
) -> (Array, Array) {
    let (k, m) = (options.k, options.m.unwrap_or(n));
    let columns = |row: usize| {
        let upto = (row as i64).saturating_add(k);
        if lower {
            upto.saturating_add(1).clamp(0, m as i64) as usize
        } else {
            m - upto.clamp(0, m as i64) as usize
        }
    };
    let size = (0..n).map(columns).sum();
    let matrix = triangle(&lax::full([n, m], 1, dtype), k, lower);
    let mut found = nonzero(&matrix, Nonzero::new().size(size)).into_iter();
    match (found.next(), found.next()) {
        (Some(rows), Some(columns)) => (rows, columns),
        _ => raise(Error::shape("a matrix has two axes")),
    }
}

/// [`tril_indices`] for the shape of a matrix, from the diagonal `k`.
///
/// # Panics
/// When `x` is no matrix.
#[track_caller]
pub fn tril_indices_from(x: &Array, k: i64) -> (Array, Array) {
    let _named = crate::trace::named("tril_indices_from");
    let [n, m] = matrix("tril_indices_from", x);
    let options = TriangleIndices::new().k(k).m(m);
    triangle_indices(n, &options, true, beside(x))
}

/// [`triu_indices`] for the shape of a matrix, from the diagonal `k`.
///
/// # Panics
/// When `x` is no matrix.
#[track_caller]
pub fn triu_indices_from(x: &Array, k: i64) -> (Array, Array) {
    let _named = crate::trace::named("triu_indices_from");
    let [n, m] = matrix("triu_indices_from", x);
    let options = TriangleIndices::new().k(k).m(m);
    triangle_indices(n, &options, false, beside(x))
}

/// The element type of a matrix whose indices are of the type that they have beside `x`.
fn beside(x: &Array) -> DType {
    match position_type(x) {
        DType::I64 => DType::F64,
        _ => DType::F32,
    }
}

#[track_caller]
fn matrix(operation: &str, x: &Array) -> [usize; 2] {
    match *x.shape() {
        [n, m] => [n, m],
        _ => raise(
            Error::shape(format!("a matrix is needed, and {} is given", x.aval()))
                .in_operation(operation),
        ),
    }
}

/// The indices of the elements that a function like `triu` leaves of a matrix of ones with `n` rows and columns.
///
/// # Panics
/// When without a size the result of the function is not known, or it is no matrix.
///
/// ```
/// use jaxide::{Array, numpy};
/// let (rows, columns) = numpy::mask_indices(2, |x: &Array, _| x.at(0).set(0.0), ());
/// assert_eq!((rows.to_vec::<i32>(), columns.to_vec::<i32>()), (vec![1, 1], vec![0, 1]));
/// ```
#[track_caller]
pub fn mask_indices(
    n: usize,
    mask_func: impl FnOnce(&Array, i64) -> Array,
    options: impl Into<MaskIndices>,
) -> (Array, Array) {
    let _named = crate::trace::named("mask_indices");
    let MaskIndices { k, size } = options.into();
    let masked = mask_func(&lax::full([n, n], 1, DType::F32), k);
    matrix("mask_indices", &masked);
    let options = Nonzero {
        size,
        fill_value: None,
    };
    let found = nonzero(&masked, options);
    (found[0].clone(), found[1].clone())
}

/// Vectors of indices as arrays that broadcast to the grid of all their combinations: the vector of number `i` along axis `i`.
///
/// # Panics
/// When one is no vector, or has truth values.
///
/// ```
/// use jaxide::{Array, numpy::{self, Index, Indices}};
/// let x = Array::from([[1, 2, 3], [4, 5, 6], [7, 8, 9]]);
/// let grid = numpy::ix_(&[Array::from([0, 2]), Array::from([1, 0])]);
/// let grid: Vec<Index> = grid.into_iter().map(Index::from).collect();
/// assert_eq!(x.index(Indices::from(grid)).to_vec::<i32>(), [2, 1, 8, 7]);
/// ```
#[track_caller]
pub fn ix_(args: &[Array]) -> Vec<Array> {
    let _named = crate::trace::named("ix_");
    let mut grid = Vec::with_capacity(args.len());
    for (axis, x) in args.iter().enumerate() {
        if x.ndim() != 1 || x.dtype() == DType::Bool {
            raise(
                Error::shape(format!(
                    "a vector of indices is needed, and {} is given",
                    x.aval()
                ))
                .in_operation("ix_"),
            );
        }
        let mut shape = vec![1; args.len()];
        shape[axis] = x.size();
        grid.push(if x.size() == 0 {
            lax::full(&shape, 0, DType::I32)
        } else {
            lax::broadcast_in_dim(x, &shape, axis)
        });
    }
    grid
}

/// The indices along the axes of a shape for numbers in row-major order, an array for each axis. Numbers behind the end give
/// the last indices, those before the start the first; negative ones count from the end.
///
/// # Panics
/// When `indices` are not integers.
///
/// ```
/// use jaxide::{Array, numpy};
/// let places = numpy::unravel_index(&Array::from([0, 4, 5]), [2, 3]);
/// assert_eq!(places[0].to_vec::<i32>(), [0, 1, 1]);
/// assert_eq!(places[1].to_vec::<i32>(), [0, 1, 2]);
/// ```
#[track_caller]
pub fn unravel_index(indices: &Array, shape: impl AsShape) -> Vec<Array> {
    let _named = crate::trace::named("unravel_index");
    const OPERATION: &str = "unravel_index";
    check_integers(OPERATION, indices);
    let shape = lengths(OPERATION, &shape);
    let mut rest = as_dtype(indices, indices.dtype(), false);
    let mut places = Vec::with_capacity(shape.len());
    for &length in shape.iter().rev() {
        let (quotient, place) = divmod(&rest, length as i64);
        rest = quotient;
        places.push(place);
    }
    places.reverse();
    let dtype = rest.dtype();
    let behind = lax::gt(&rest, &literal(0, dtype, false));
    let before = if dtype.is_unsigned_integer() {
        as_dtype(&Array::from(false), DType::Bool, false)
    } else {
        lax::lt(&rest, &literal(-1, dtype, false))
    };
    let number = |value: i64| literal(value, DType::I32, true);
    places
        .iter()
        .zip(&shape)
        .map(|(place, &length)| {
            let first = where_(&before, &number(0), place);
            where_(&behind, &number(length as i64 - 1), &first)
        })
        .collect()
}

/// The numbers in row-major order of elements whose indices along the axes are given.
///
/// # Panics
/// When there are not as many indices as lengths, they are not integers or do not broadcast, or with the mode
/// [`IndexMode::Raise`] one is out of bounds, or not known.
///
/// ```
/// use jaxide::{Array, numpy};
/// let places = [Array::from([0, 1]), Array::from([2, 0])];
/// assert_eq!(numpy::ravel_multi_index(&places, [2, 3], ()).to_vec::<i32>(), [2, 3]);
/// ```
#[track_caller]
pub fn ravel_multi_index(
    multi_index: &[Array],
    dims: impl AsShape,
    options: impl Into<RavelMultiIndex>,
) -> Array {
    let _named = crate::trace::named("ravel_multi_index");
    const OPERATION: &str = "ravel_multi_index";
    let dims = lengths(OPERATION, &dims);
    let RavelMultiIndex { mode, order, dtype } = options.into();
    if multi_index.len() != dims.len() || !matches!(order, 'C' | 'F') {
        raise(
            Error::parameter(format!(
                "{} arrays of indices are given for {} axes, in the order {order:?}",
                multi_index.len(),
                dims.len()
            ))
            .in_operation(OPERATION)
            .note("there is one for each axis, and orders are 'C' and 'F'"),
        );
    }
    for index in multi_index {
        check_integers(OPERATION, index);
    }
    let mut operands: Vec<&Array> = multi_index.iter().collect();
    let one = Array::from(1);
    operands.push(&one);
    let dtype = dtype.unwrap_or_else(|| result_dtype(OPERATION, &operands).0);
    let size = dims
        .iter()
        .try_fold(1i128, |size, &length| size.checked_mul(length as i128));
    let bits = 8 * dtype.size() - usize::from(dtype.is_signed_integer());
    if !dtype.is_integer() || size.is_none_or(|size| size > 1i128 << bits) {
        raise(
            Error::dtype(format!(
                "{dtype} does not hold the numbers of the elements of {dims:?}"
            ))
            .in_operation(OPERATION),
        );
    }
    let mut indices = Vec::with_capacity(dims.len());
    for (index, &length) in multi_index.iter().zip(&dims) {
        indices.push(match mode {
            IndexMode::Raise => {
                within(OPERATION, index, length);
                index.clone()
            }
            IndexMode::Clip => clip(index, 0, length as i64 - 1),
            IndexMode::Wrap => remainder(index, &literal(length as i64, DType::I32, true)),
            IndexMode::Ignore => index.clone(),
            other => other.refused(OPERATION),
        });
    }
    let stride = |axis: usize| -> i64 {
        let inner = if order == 'C' {
            &dims[axis + 1..]
        } else {
            &dims[..axis]
        };
        inner.iter().map(|&length| length as i64).product()
    };
    let mut sum = literal(0, dtype, false);
    for (axis, index) in indices.iter().enumerate() {
        let index = as_dtype(index, dtype, false);
        let part = lax::mul(&index, &literal(stride(axis), dtype, false));
        sum = crate::numpy::add(&sum, &part);
    }
    sum
}
