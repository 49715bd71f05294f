//! Coordinates of the points of grids.

use jaxide_core::{DType, Error};

use super::fill::Creation;
use super::range::{Span, arange};
use crate::api::vmap_axes;
use crate::array::{Array, AsShape, as_dtype, lengths, result_dtype};
use crate::lax;
use crate::numpy::alone::alone;
use crate::options::options;
use crate::trace::raise;

/// Which axis of a grid the first coordinate runs along.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Indexing {
    /// The second one, as in pictures.
    Xy,
    /// The first one, as in matrices.
    Ij,
}

options! {
    /// What [`meshgrid`] takes beside the coordinates; an order alone is one too.
    pub struct Meshgrid {
        /// Which axis the first coordinates run along.
        indexing: Indexing = Indexing::Xy;
        /// Whether the other axes have length 1.
        sparse: bool = false;
    }
}

alone!(Meshgrid, indexing: Indexing);

/// The coordinates of a grid's points, an array for each axis, from vectors of coordinates.
///
/// # Panics
/// When one is no vector.
///
/// ```
/// use jaxide::{Array, numpy};
/// let grid = numpy::meshgrid(&[Array::from([1, 2]), Array::from([3, 4, 5])], ());
/// assert_eq!(grid[0].to_vec::<i32>(), [1, 2, 1, 2, 1, 2]);
/// assert_eq!(grid[1].shape(), [3, 2]);
/// ```
#[track_caller]
pub fn meshgrid(xi: &[Array], options: impl Into<Meshgrid>) -> Vec<Array> {
    let _named = crate::trace::named("meshgrid");
    let Meshgrid { indexing, sparse } = options.into();
    if let Some(wrong) = xi.iter().find(|x| x.ndim() != 1) {
        raise(
            Error::shape(format!("vectors are needed, and {} is given", wrong.aval()))
                .in_operation("meshgrid"),
        );
    }
    let swaps = indexing == Indexing::Xy && xi.len() >= 2;
    let mut vectors = xi.to_vec();
    if swaps {
        vectors.swap(0, 1);
    }
    let full: Vec<usize> = vectors.iter().map(Array::size).collect();
    let mut grid: Vec<Array> = vectors
        .iter()
        .enumerate()
        .map(|(axis, x)| {
            let mut shape = full.clone();
            if sparse {
                shape.fill(1);
                shape[axis] = x.size();
            }
            lax::broadcast_in_dim(x, &shape, axis)
        })
        .collect();
    if swaps {
        grid.swap(0, 1);
    }
    grid
}

/// The numbers of spans, in their common element type.
#[track_caller]
fn axes_of(operation: &str, spans: &[Span]) -> Vec<Array> {
    let numbers: Vec<Array> = spans.iter().map(Span::numbers).collect();
    if numbers.is_empty() {
        return numbers;
    }
    let (dtype, weak) = result_dtype(operation, &numbers.iter().collect::<Vec<_>>());
    numbers.iter().map(|x| as_dtype(x, dtype, weak)).collect()
}

/// The coordinates of a dense grid, stacked along the first axis: `mgrid[a:b, c:d]` of NumPy is `mgrid(&[(a..b).into(), (c..d).into()])`.
///
/// # Panics
/// As [`arange`].
///
/// ```
/// use jaxide::numpy;
/// let grid = numpy::mgrid(&[(0..2).into(), (0..3).into()]);
/// assert_eq!(grid.shape(), [2, 2, 3]);
/// ```
#[track_caller]
pub fn mgrid(spans: &[Span]) -> Array {
    let _named = crate::trace::named("mgrid");
    if spans.is_empty() {
        return arange(0, ());
    }
    let numbers = axes_of("mgrid", spans);
    lax::stack(&meshgrid(&numbers, Indexing::Ij), 0)
}

/// The coordinates of an open grid: an array for each axis, whose other axes have length 1.
///
/// # Panics
/// As [`arange`].
///
/// ```
/// use jaxide::numpy::{self, Span};
/// let grid = numpy::ogrid(&[(0..2).into(), Span::count(0, 1, 5)]);
/// assert_eq!((grid[0].shape(), grid[1].shape()), (&[2, 1][..], &[1, 5][..]));
/// ```
#[track_caller]
pub fn ogrid(spans: &[Span]) -> Vec<Array> {
    let _named = crate::trace::named("ogrid");
    let numbers = axes_of("ogrid", spans);
    meshgrid(
        &numbers,
        Meshgrid::new().indexing(Indexing::Ij).sparse(true),
    )
}

/// The indices of an array's elements along each axis, stacked along the first axis, `i32` unless another element type is given.
///
/// # Panics
/// When the array is too large to hold.
///
/// ```
/// use jaxide::numpy;
/// assert_eq!(numpy::indices([2, 2], ()).to_vec::<i32>(), [0, 0, 1, 1, 0, 1, 0, 1]);
/// ```
#[track_caller]
pub fn indices(dimensions: impl AsShape, options: impl Into<Creation>) -> Array {
    let _named = crate::trace::named("indices");
    let dtype = options.into().dtype.unwrap_or(DType::I32);
    let shape = lengths("indices", &dimensions);
    if shape.is_empty() {
        return lax::full([0], 0, dtype);
    }
    lax::stack(&along_axes(&shape, dtype, false), 0)
}

/// [`indices`] of an open grid: an array for each axis, whose other axes have length 1; `sparse=True` of JAX.
///
/// # Panics
/// When the array is too large to hold.
#[track_caller]
pub fn indices_sparse(dimensions: impl AsShape, options: impl Into<Creation>) -> Vec<Array> {
    let _named = crate::trace::named("indices_sparse");
    let dtype = options.into().dtype.unwrap_or(DType::I32);
    along_axes(&lengths("indices", &dimensions), dtype, true)
}

#[track_caller]
fn along_axes(shape: &[usize], dtype: DType, sparse: bool) -> Vec<Array> {
    let along = |axis: usize| {
        let index = lax::iota(dtype, &[shape[axis]], 0);
        let mut own = shape.to_vec();
        if sparse {
            own.fill(1);
            own[axis] = shape[axis];
        }
        lax::broadcast_in_dim(&index, &own, axis)
    };
    (0..shape.len()).map(along).collect()
}

/// An array whose elements are a function of their indices, `f32` unless another element type is given. The function gets a
/// scalar for each axis, and is mapped over them.
///
/// # Panics
/// Where `function` does.
///
/// ```
/// use jaxide::{DType, numpy};
/// let table = numpy::fromfunction(|at| &at[0] * 10 + &at[1], [2, 3], DType::I32);
/// assert_eq!(table.to_vec::<i32>(), [0, 1, 2, 10, 11, 12]);
/// ```
#[track_caller]
pub fn fromfunction(
    function: impl Fn(&[Array]) -> Array,
    shape: impl AsShape,
    options: impl Into<Creation>,
) -> Array {
    let _named = crate::trace::named("fromfunction");
    let dtype = options.into().or_f32();
    let shape = lengths("fromfunction", &shape);
    let index = |&length: &usize| arange(length, dtype);
    mapped(&function, 0, shape.iter().map(index).collect())
}

/// `f` mapped over its arguments from `first` on, one after the other.
#[track_caller]
fn mapped(f: &dyn Fn(&[Array]) -> Array, first: usize, args: Vec<Array>) -> Array {
    if first == args.len() {
        return f(&args);
    }
    let axes = (0..args.len())
        .map(|at| (at == first).then_some(0))
        .collect();
    let lane = |args: Vec<Array>| vec![mapped(f, first + 1, args)];
    vmap_axes(&lane, args, axes, 0).swap_remove(0)
}
