//! Matrices that are made from vectors.

use jaxide_core::prims::{
    self, DotPrecision, GatherDimensionNumbers, GatherScatterMode, NoConsts, OptionalJaxpr,
    Precision, ScatterDimensionNumbers,
};
use jaxide_core::{DType, Dims, Error};

use crate::array::{Array, as_dtype, check_number, promote_dtypes, result_dtype};
use crate::lax::{self, Convolution, Padding};
use crate::numpy::parts::{
    self, column, flipped, from_front, inexact, padded, pick, range, refuse, vectorized,
};
use crate::numpy::remainder;
use crate::numpy::{self};
use crate::trace::library::library_call;
use crate::trace::{bind_one, library, raise};

/// `x` with at least one axis.
#[track_caller]
fn at_least_1d(x: &Array) -> Array {
    library("atleast_1d", "", [x], |[x]| {
        if x.ndim() == 0 {
            lax::expand_dims(x, &[0])
        } else {
            x.clone()
        }
    })
}

/// One matrix for every index of the axes before.
#[track_caller]
fn each<const N: usize>(
    operation: &str,
    operands: [Array; N],
    f: impl Fn(&[Array]) -> Array,
) -> Array {
    vectorized(operation, &[1; N], &operands, &|own| vec![f(own)])[0].clone()
}

/// Arrays as blocks on the diagonal of a matrix; scalars and vectors are rows.
///
/// # Panics
/// When one has more than two axes, or there is no common element type.
///
/// ```
/// use jaxide::{Array, scipy::linalg};
/// let x = linalg::block_diag(&[Array::from([[1, 2]]), Array::from([[3], [4]])]);
/// assert_eq!(x.to_vec::<i32>(), [1, 2, 0, 0, 0, 3, 0, 0, 4]);
/// ```
#[track_caller]
pub fn block_diag(arrays: &[Array]) -> Array {
    let _named = crate::trace::named("block_diag");
    const OPERATION: &str = "block_diag";
    if let Some(x) = arrays.iter().find(|x| x.ndim() > 2) {
        refuse(OPERATION, "blocks have at most two axes", &[x]);
    }
    library_call(OPERATION, "", arrays, |own| {
        let nothing = own.is_empty().then(|| lax::full([1, 0], 0, DType::F32));
        let own = nothing.as_ref().map_or(own, std::slice::from_ref);
        let (dtype, weak) = result_dtype(OPERATION, &own.iter().collect::<Vec<_>>());
        let converted: Vec<Array> = own
            .iter()
            .map(|x| {
                check_number(OPERATION, x, dtype);
                as_dtype(x, dtype, weak)
            })
            .collect();
        let blocks: Vec<Array> = converted
            .iter()
            .map(|x| library("atleast_2d", "", [x], |[x]| lax::expand_rank(x, 2)))
            .collect();
        let total: usize = blocks.iter().map(|x| x.shape()[1]).sum();
        let mut before = 0;
        let rows: Vec<Array> = blocks
            .iter()
            .map(|x| {
                let behind = total - before - x.shape()[1];
                let config = [(0, 0, 0), (before as i64, behind as i64, 0)];
                before += x.shape()[1];
                lax::pad(x, 0, &config)
            })
            .collect();
        vec![lax::concatenate(&rows, 0)]
    })[0]
        .clone()
}

/// All windows of `width` elements of a vector, as rows.
#[track_caller]
fn windows(x: &Array, width: usize) -> Array {
    let own = lax::reshape(x, [1, x.size(), 1]);
    let index = |axis: usize| lax::iota(DType::I32, &[width, width], axis);
    let row = lax::add(&index(0), &Array::from(0));
    let eye = lax::convert_element_type(&lax::eq(&row, &index(1)), x.dtype());
    let eye = lax::broadcast_in_dim(&eye, [1, width, width], &[1, 2]);
    let eye = lax::transpose(&lax::reshape(&eye, [width, 1, width]), [1, 0, 2]);
    let mut how =
        Convolution::new([1], Padding::Explicit(vec![(0, 0)])).layout("NTC", "IOT", "NTC");
    how.precision = Some(DotPrecision::Operands(
        Precision::Highest,
        Precision::Default,
    ));
    let windows = lax::conv_general_dilated(&own, &eye, &how);
    lax::squeeze(&windows, &[0])
}

/// Vectors joined, in their common element type.
#[track_caller]
fn joined(operation: &str, x: &Array, y: &Array) -> Array {
    lax::concatenate(&promote_dtypes(operation, [x, y]), 0)
}

#[track_caller]
fn toeplitz_of(c: &Array, r: &Array) -> Array {
    let (c, r) = (at_least_1d(c), at_least_1d(r));
    each("toeplitz", [c, r], |own| {
        let (c, r) = (&own[0], &own[1]);
        let (rows, columns) = (c.size(), r.size());
        if rows == 0 || columns == 0 {
            let dtype = result_dtype("toeplitz", &[c, r]).0;
            return numpy::empty([rows, columns], dtype);
        }
        let elements = joined("toeplitz", &lax::rev(c, &[0]), &range(r, 0, 1, columns));
        flipped(&windows(&elements, columns), &[0])
    })
}

/// The matrix that is constant along diagonals, with a first column and a first row, whose first element is not looked at: the
/// conjugate of the column by default, for `()`.
///
/// # Panics
/// When axes before the last do not broadcast.
///
/// ```
/// use jaxide::{Array, scipy::linalg};
/// let x = linalg::toeplitz(&Array::from([1, 2]), &Array::from([1, 3, 4]));
/// assert_eq!(x.to_vec::<i32>(), [1, 3, 4, 2, 1, 3]);
/// assert_eq!(linalg::toeplitz(&Array::from([1, 2]), ()).to_vec::<i32>(), [1, 2, 2, 1]);
/// ```
#[track_caller]
pub fn toeplitz(c: &Array, r: impl Into<FirstRow>) -> Array {
    let _named = crate::trace::named("toeplitz");
    match r.into().0 {
        Some(r) => toeplitz_of(c, &r),
        None => toeplitz_of(c, &parts::conj(c)),
    }
}

/// A row or nothing: what [`toeplitz`] and [`hankel`] take beside the column.
#[derive(Clone, Debug, Default)]
pub struct FirstRow(Option<Array>);

impl From<()> for FirstRow {
    fn from((): ()) -> Self {
        FirstRow(None)
    }
}

impl From<&Array> for FirstRow {
    fn from(row: &Array) -> Self {
        FirstRow(Some(row.clone()))
    }
}

impl From<Array> for FirstRow {
    fn from(row: Array) -> Self {
        FirstRow(Some(row))
    }
}

/// The matrix that is constant along the other diagonals, with a first column and a last row, whose first element is not looked
/// at: zeros by default, for `()`.
///
/// # Panics
/// When an operand is a scalar, or axes before the last do not broadcast.
///
/// ```
/// use jaxide::{Array, scipy::linalg};
/// assert_eq!(linalg::hankel(&Array::from([1, 2]), ()).to_vec::<i32>(), [1, 2, 2, 0]);
/// ```
#[track_caller]
pub fn hankel(c: &Array, r: impl Into<FirstRow>) -> Array {
    let _named = crate::trace::named("hankel");
    let r = match r.into().0 {
        Some(r) => r,
        None => lax::full(c.shape(), 0, c.dtype()),
    };
    if c.ndim() == 0 || r.ndim() == 0 {
        refuse("hankel", "vectors are needed", &[c, &r]);
    }
    let rank = c.ndim().max(r.ndim());
    let (c, r) = (lax::expand_rank(c, rank), lax::expand_rank(&r, rank));
    each("hankel", [c, r], |own| {
        let (c, r) = (&own[0], &own[1]);
        let (rows, columns) = (c.size(), r.size());
        if rows == 0 || columns == 0 {
            let dtype = result_dtype("hankel", &[c, r]).0;
            return lax::full([rows, columns], 0, dtype);
        }
        windows(&joined("hankel", c, &range(r, 0, 1, columns)), columns)
    })
}

/// The elements of a vector at the indices of a matrix.
#[track_caller]
fn elements_at(x: &Array, indices: &Array) -> Array {
    let numbers = GatherDimensionNumbers {
        collapsed_slice_dims: Dims::from_slice(&[0]),
        start_index_map: Dims::from_slice(&[0]),
        ..Default::default()
    };
    let indices = column(&from_front(indices, x.size()));
    lax::gather(
        x,
        &indices,
        numbers,
        [1],
        GatherScatterMode::PromiseInBounds,
        None,
    )
}

/// The matrix whose columns are the vector, each moved one further down than the one before.
///
/// # Panics
/// Never for arrays that exist.
///
/// ```
/// use jaxide::{Array, scipy::linalg};
/// assert_eq!(linalg::circulant(&Array::from([1, 2])).to_vec::<i32>(), [1, 2, 2, 1]);
/// ```
#[track_caller]
pub fn circulant(c: &Array) -> Array {
    let _named = crate::trace::named("circulant");
    each("circulant", [at_least_1d(c)], |own| {
        let n = own[0].size();
        let index = || lax::iota(DType::I32, &[n], 0);
        let first = column(&index());
        let apart = first - lax::expand_dims(&index(), &[0]);
        elements_at(&own[0], &remainder(&apart, n as i64))
    })
}

/// `x` with its first row replaced.
#[track_caller]
fn with_first_row(x: &Array, row: &Array) -> Array {
    let prim = prims::Scatter {
        dimension_numbers: ScatterDimensionNumbers {
            update_window_dims: Dims::from_slice(&[0]),
            inserted_window_dims: Dims::from_slice(&[0]),
            scatter_dims_to_operand_dims: Dims::from_slice(&[0]),
            ..Default::default()
        },
        indices_are_sorted: true,
        mode: GatherScatterMode::FillOrDrop,
        unique_indices: true,
        update_consts: NoConsts,
        update_jaxpr: OptionalJaxpr(None),
    };
    let place = lax::full([1], 0, DType::I32);
    bind_one(prim, &[x.clone(), place, as_dtype(row, x.dtype(), false)])
}

/// The matrix of Leslie: the vector `f` as first row, `s` below the diagonal.
///
/// # Panics
/// When `f` has less than two elements, or `s` not one less than `f`.
///
/// ```
/// use jaxide::{Array, scipy::linalg};
/// let x = linalg::leslie(&Array::from([1.0f32, 2.0]), &Array::from([3.0f32]));
/// assert_eq!(x.to_vec::<f32>(), [1.0, 2.0, 3.0, 0.0]);
/// ```
#[track_caller]
pub fn leslie(f: &Array, s: &Array) -> Array {
    let _named = crate::trace::named("leslie");
    let fits = |f: &Array, s: &Array| {
        let last = |x: &Array| x.shape().last().copied().unwrap_or(1);
        last(f) >= 2 && last(s) + 1 == last(f)
    };
    if !fits(f, s) {
        refuse(
            "leslie",
            "the first row must have one element more than the diagonal, and two at least",
            &[f, s],
        );
    }
    each("leslie", [at_least_1d(f), at_least_1d(s)], |own| {
        let [f, s] = promote_dtypes("leslie", [&own[0], &own[1]]);
        let below = library("_diag", "-1", [&s], |[s]| {
            let zero = as_dtype(&Array::from(0), s.dtype(), false);
            let shifted = lax::pad(s, &zero, &[(1, 0, 0)]);
            let n = shifted.size();
            let on = numpy::eye(n, numpy::Eye::new().k(-1).dtype(DType::Bool));
            numpy::where_(&on, &column(&shifted), &zero)
        });
        with_first_row(&below, &f)
    })
}

/// The matrix whose characteristic polynomial has the coefficients `a`, the highest first.
///
/// # Panics
/// When there are less than two.
///
/// ```
/// use jaxide::{Array, scipy::linalg};
/// let x = linalg::companion(&Array::from([1.0f32, -3.0, 2.0]));
/// assert_eq!(x.to_vec::<f32>(), [3.0, -2.0, 1.0, 0.0]);
/// ```
#[track_caller]
pub fn companion(a: &Array) -> Array {
    let _named = crate::trace::named("companion");
    let [a] = inexact("companion", [a]);
    let a = at_least_1d(&a);
    if a.shape()[a.ndim() - 1] < 2 {
        refuse("companion", "two coefficients are needed", &[&a]);
    }
    each("companion", [a], |own| {
        let n = own[0].size();
        let row = lax::neg(&range(&own[0], 0, 1, n)) / pick(&own[0], &[(0, 0)]);
        let options = numpy::Eye::new().m(n - 1).k(-1).dtype(row.dtype());
        with_first_row(&numpy::eye(n - 1, options), &row)
    })
}

/// The matrix of the distances between the elements of a vector.
///
/// # Panics
/// When elements have no differences.
///
/// ```
/// use jaxide::{Array, scipy::linalg};
/// assert_eq!(linalg::fiedler(&Array::from([1, 4])).to_vec::<i32>(), [0, 3, 3, 0]);
/// ```
#[track_caller]
pub fn fiedler(a: &Array) -> Array {
    let _named = crate::trace::named("fiedler");
    let a = at_least_1d(a);
    let rank = a.ndim();
    numpy::abs(&(column(&a) - lax::expand_dims(&a, &[rank - 1])))
}

/// As [`companion`], with five diagonals.
///
/// # Panics
/// When there are no coefficients.
#[track_caller]
pub fn fiedler_companion(a: &Array) -> Array {
    let _named = crate::trace::named("fiedler_companion");
    let [a] = inexact("fiedler_companion", [a]);
    let a = at_least_1d(&a);
    if a.shape()[a.ndim() - 1] == 0 {
        refuse("fiedler_companion", "coefficients are needed", &[&a]);
    }
    each("fiedler_companion", [a], |own| five_diagonals(&own[0]))
}

#[track_caller]
fn five_diagonals(a: &Array) -> Array {
    let n = a.size() - 1;
    if n == 0 {
        return numpy::empty([0, 0], a.dtype());
    }
    let a = a / pick(a, &[(0, 0)]);
    if n == 1 {
        return lax::neg(&lax::reshape(&range(&a, 0, 1, 2), [1, 1]));
    }
    let i = column(&lax::iota(DType::I32, &[n], 0));
    let j = lax::expand_dims(&lax::iota(DType::I32, &[n], 0), &[0]);
    let largest = Array::from(n as i64);
    let above = lax::neg(&elements_at(&a, &numpy::minimum(&(&i + 2), &largest)));
    let below = lax::neg(&elements_at(&a, &numpy::minimum(&(&i + 1), &largest)));
    let is = |x: &Array, y: Array| numpy::equal(x, &y);
    let even = is(&remainder(&i, 2), 0.into());
    let odd = is(&remainder(&i, 2), 1.into());
    let corner = is(&i, 0.into()) & is(&j, 0.into());
    let second = is(&i, 1.into()) & is(&j, 0.into());
    let conditions = [
        corner,
        second,
        is(&j, &i + 1) & &even,
        is(&j, &i + 2) & &even,
        is(&j, &i - 1) & &even & numpy::greater_equal(&i, &Array::from(2)),
        is(&j, &i - 2) & &odd & numpy::greater_equal(&i, &Array::from(3)),
    ];
    let first = lax::neg(&pick(&a, &[(0, 1)]));
    let number = |value: i32| as_dtype(&Array::from(value), a.dtype(), false);
    // The first condition that holds chooses.
    let mut all = vec![lax::full([n, n], false, DType::Bool)];
    all.extend(conditions);
    let choice = lax::argmax(&lax::stack(&all, 0), 0, DType::I32);
    let choices = [
        number(0),
        first,
        number(1),
        above,
        number(1),
        below,
        number(1),
    ];
    let choices = choices.map(|x| numpy::broadcast_to(&x, [n, n]));
    lax::select_n(&choice, &choices)
}

/// How much of a convolution a matrix is of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ConvolutionMode {
    /// All of it.
    #[default]
    Full,
    /// The part without edges.
    Valid,
    /// As many elements as the longer operand has.
    Same,
}

impl From<()> for ConvolutionMode {
    fn from((): ()) -> Self {
        ConvolutionMode::Full
    }
}

impl From<&str> for ConvolutionMode {
    /// # Panics
    /// When there is no such mode.
    #[track_caller]
    fn from(mode: &str) -> Self {
        match mode {
            "full" => ConvolutionMode::Full,
            "valid" => ConvolutionMode::Valid,
            "same" => ConvolutionMode::Same,
            _ => raise(
                Error::parameter(format!(
                    "there is no mode `{mode}`: `full`, `valid` and `same` are"
                ))
                .in_operation("convolve"),
            ),
        }
    }
}

/// The matrix whose product with a vector of `n` elements is its convolution with `a`; `mode` is `()` for all of it.
///
/// # Panics
/// When `n` is 0, or `a` has no elements.
///
/// ```
/// use jaxide::{Array, scipy::linalg};
/// let x = linalg::convolution_matrix(&Array::from([1, 2]), 2, ());
/// assert_eq!(x.to_vec::<i32>(), [1, 0, 2, 1, 0, 2]);
/// ```
#[track_caller]
pub fn convolution_matrix(a: &Array, n: usize, mode: impl Into<ConvolutionMode>) -> Array {
    let _named = crate::trace::named("convolution_matrix");
    let mode = mode.into();
    let length = a.shape().last().copied().unwrap_or(0);
    if n == 0 || length == 0 {
        refuse(
            "convolution_matrix",
            &format!("a vector with elements and a positive size are needed, not {n}"),
            &[a],
        );
    }
    library(
        "convolution_matrix",
        &format!("{n} {mode:?}"),
        [a],
        |[a]| {
            let axis = a.ndim() - 1;
            let mut widths = vec![(0, 0); a.ndim()];
            widths[axis].1 = n as i64 - 1;
            let column = padded(a, &widths);
            let row = padded(&flipped(a, &[axis]), &widths);
            let total = length + n - 1;
            let less = n.min(length) - 1;
            let (before, behind) = match mode {
                ConvolutionMode::Full => (0, 0),
                ConvolutionMode::Valid => (less, less),
                ConvolutionMode::Same => (less / 2, less - less / 2),
            };
            let column = lax::slice_in_dim(&column, before, total - behind, 1, axis);
            let row = lax::slice_in_dim(&row, total - n - before, total - before, 1, axis);
            toeplitz_of(&column, &row)
        },
    )
}
