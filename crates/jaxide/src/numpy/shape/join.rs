//! Arrays joined.

use jaxide_core::{DType, Error};

use super::reshape::{atleast_1d, atleast_2d, atleast_3d, ravel};
use crate::array::{Array, Integer, as_dtype, check_number, normalize_axis, result_dtype};
use crate::lax;
use crate::numpy::Creation;
use crate::numpy::alone::alone;
use crate::numpy::nested::named;
use crate::options::options;
use crate::trace::raise;

options! {
    /// What functions that join arrays take beside them; an axis alone is one too.
    pub struct Joined {
        /// The axis along which they are joined; `None` joins vectors of their elements.
        axis: Option<i64> = Some(0), |axis: impl Into<AxisOrNone>| axis.into().0;
        /// The element type, the common one by default.
        dtype: Option<DType> = None, |dtype: impl Into<Option<DType>>| dtype.into();
    }
}

alone!(Joined, axis: integers);

/// An axis of any integer type, or none.
#[derive(Clone, Copy, Debug)]
pub struct AxisOrNone(pub(crate) Option<i64>);

impl<T: Integer> From<T> for AxisOrNone {
    fn from(axis: T) -> Self {
        AxisOrNone(Some(axis.to_i64()))
    }
}

impl<T: Integer> From<Option<T>> for AxisOrNone {
    fn from(axis: Option<T>) -> Self {
        AxisOrNone(axis.map(Integer::to_i64))
    }
}

/// Arrays with an element type, or their common one.
#[track_caller]
fn of_one_dtype(operation: &str, arrays: &[Array], dtype: Option<DType>) -> Vec<Array> {
    if let Some(dtype) = dtype {
        return arrays.iter().map(|x| as_dtype(x, dtype, false)).collect();
    }
    if arrays.is_empty() {
        return Vec::new();
    }
    let (dtype, weak) = result_dtype(operation, &arrays.iter().collect::<Vec<_>>());
    for x in arrays {
        check_number(operation, x, dtype);
    }
    arrays.iter().map(|x| as_dtype(x, dtype, weak)).collect()
}

/// Arrays joined along a new axis, by default the first.
///
/// # Panics
/// When shapes differ, or there are no arrays.
#[track_caller]
pub fn stack(arrays: &[Array], options: impl Into<Joined>) -> Array {
    let _named = crate::trace::named("stack");
    let Joined { axis, dtype } = options.into();
    let rank = arrays.first().map_or(0, Array::ndim);
    let axis = normalize_axis("stack", axis.unwrap_or(0), rank + 1);
    lax::stack(&of_one_dtype("stack", arrays, dtype), axis)
}

/// Arrays joined along an axis, by default the first.
///
/// # Panics
/// When other axes differ, or there are no arrays.
///
/// ```
/// use jaxide::{Array, DType, numpy::{self, Joined}};
/// let (x, y) = (Array::from([1, 2]), Array::from([3.0f32]));
/// assert_eq!(numpy::concatenate(&[x.clone(), y], 0).to_vec::<f32>(), [1.0, 2.0, 3.0]);
/// let bytes = numpy::concatenate(&[x.clone(), x], Joined::new().dtype(DType::U8));
/// assert_eq!(bytes.to_vec::<u8>(), [1, 2, 1, 2]);
/// ```
#[track_caller]
pub fn concatenate(arrays: &[Array], options: impl Into<Joined>) -> Array {
    let _named = crate::trace::named("concatenate");
    join("concatenate", arrays, options.into())
}

/// [`concatenate`] under the name of the array API.
///
/// # Panics
/// As [`concatenate`].
#[track_caller]
pub fn concat(arrays: &[Array], options: impl Into<Joined>) -> Array {
    let _named = crate::trace::named("concat");
    join("concat", arrays, options.into())
}

#[track_caller]
fn join(operation: &str, arrays: &[Array], Joined { axis, dtype }: Joined) -> Array {
    let vectors: Vec<Array>;
    let (arrays, axis) = match axis {
        Some(axis) => (arrays, axis),
        None => {
            vectors = arrays.iter().map(|x| ravel(x, ())).collect();
            (&vectors[..], 0)
        }
    };
    let Some(first) = arrays.first() else {
        raise(Error::shape("there are no arrays to join").in_operation(operation))
    };
    let axis = normalize_axis(operation, axis, first.ndim());
    match of_one_dtype(operation, arrays, dtype).as_slice() {
        [one] => one.clone(),
        several => lax::concatenate(several, axis),
    }
}

/// `values` behind the elements of `arr` along an axis; with `axis` `None`, or `()`, as vectors of their elements.
///
/// # Panics
/// When other axes differ.
///
/// ```
/// use jaxide::{Array, numpy};
/// assert_eq!(numpy::append(&Array::from([1, 2]), [[3], [4]], ()).to_vec::<i32>(), [1, 2, 3, 4]);
/// ```
#[track_caller]
pub fn append(arr: &Array, values: impl Into<Array>, options: impl Into<Flat>) -> Array {
    let _named = crate::trace::named("append");
    let axis = options.into().axis;
    let key = format!("{axis:?}");
    named("append", &key, &[arr.clone(), values.into()], |arrays| {
        join("append", arrays, Joined::new().axis(axis))
    })
}

options! {
    /// What functions take beside their arrays that work on vectors of elements by default; an axis alone is one too.
    pub struct Flat {
        /// The axis; `None`, the default, is that of the vectors of the elements.
        axis: Option<i64> = None, |axis: impl Into<AxisOrNone>| axis.into().0;
    }
}

alone!(Flat, axis: integers);

/// Arrays with more axes, joined along one of them.
macro_rules! stacks {
    ($($(#[$doc:meta])* $name:ident |$arrays:ident| $grown:expr, $axis:expr;)*) => { $(
        $(#[$doc])*
        ///
        /// # Panics
        /// When other axes differ, or there are no arrays.
        #[track_caller]
        pub fn $name($arrays: &[Array], options: impl Into<Creation>) -> Array {
            let _named = crate::trace::named(stringify!($name));
            let grown: Vec<Array> = $grown;
            let options = Joined::new().dtype(options.into().dtype);
            let axis: fn(&[Array]) -> i64 = $axis;
            join(stringify!($name), &grown, options.axis(axis(&grown)))
        }
    )* };
}

stacks! {
    /// Arrays as rows above each other: joined along the first axis, vectors as matrices of one row.
    vstack |arrays| arrays.iter().map(atleast_2d).collect(), |_| 0;
    /// Arrays beside each other: joined along the second axis, vectors along their only one.
    hstack |arrays| arrays.iter().map(atleast_1d).collect(),
        |grown| i64::from(grown.first().is_some_and(|x| x.ndim() != 1));
    /// Arrays behind each other: joined along the third axis, with axes of length 1 where there is none.
    dstack |arrays| arrays.iter().map(atleast_3d).collect(), |_| 2;
}

/// Vectors as columns beside each other, and matrices beside them.
///
/// # Panics
/// When lengths differ, or there are no arrays.
///
/// ```
/// use jaxide::{Array, numpy};
/// let x = numpy::column_stack(&[Array::from([1, 2]), Array::from([3, 4])]);
/// assert_eq!(x.to_vec::<i32>(), [1, 3, 2, 4]);
/// ```
#[track_caller]
pub fn column_stack(arrays: &[Array]) -> Array {
    let _named = crate::trace::named("column_stack");
    let column = |x: &Array| {
        if x.ndim() < 2 {
            lax::transpose(&atleast_2d(x), ())
        } else {
            x.clone()
        }
    };
    let columns: Vec<Array> = arrays.iter().map(column).collect();
    join("column_stack", &columns, Joined::new().axis(1))
}

/// An array, or a list of blocks, which are joined along an axis that their depth says.
#[derive(Clone)]
pub enum Block {
    /// An array.
    Array(Array),
    /// Blocks beside each other.
    List(Vec<Block>),
}

impl From<Array> for Block {
    fn from(array: Array) -> Self {
        Block::Array(array)
    }
}

impl From<&Array> for Block {
    fn from(array: &Array) -> Self {
        Block::Array(array.clone())
    }
}

impl<T: Into<Block>, const N: usize> From<[T; N]> for Block {
    fn from(blocks: [T; N]) -> Self {
        Block::List(blocks.into_iter().map(Into::into).collect())
    }
}

impl<T: Into<Block>> From<Vec<T>> for Block {
    fn from(blocks: Vec<T>) -> Self {
        Block::List(blocks.into_iter().map(Into::into).collect())
    }
}

impl Block {
    fn arrays(&self, out: &mut Vec<Array>) {
        match self {
            Block::Array(array) => out.push(array.clone()),
            Block::List(blocks) => blocks.iter().for_each(|block| block.arrays(out)),
        }
    }

    /// What a call depends on beside its arrays.
    fn structure(&self) -> String {
        match self {
            Block::Array(_) => "*".to_owned(),
            Block::List(blocks) => {
                let blocks: Vec<String> = blocks.iter().map(Block::structure).collect();
                format!("[{}]", blocks.join(","))
            }
        }
    }

    /// The blocks as one array, and how deep the lists are.
    #[track_caller]
    fn joined(&self, arrays: &mut impl Iterator<Item = Array>) -> (Array, usize) {
        let mistake = |text: &str| raise(Error::parameter(text).in_operation("block"));
        let blocks = match self {
            Block::Array(array) => return (arrays.next().unwrap_or_else(|| array.clone()), 0),
            Block::List(blocks) => blocks,
        };
        let parts: Vec<(Array, usize)> = blocks.iter().map(|block| block.joined(arrays)).collect();
        let Some(&(_, depth)) = parts.first() else {
            mistake("a list of blocks is empty")
        };
        if parts.iter().any(|&(_, own)| own != depth) {
            mistake("lists of blocks of different depths stand beside each other");
        }
        let depth = depth + 1;
        let rank = parts
            .iter()
            .map(|(x, _)| x.ndim())
            .max()
            .unwrap_or(0)
            .max(depth);
        let parts: Vec<Array> = parts
            .iter()
            .map(|(x, _)| lax::expand_rank(x, rank))
            .collect();
        let joined = join("block", &parts, Joined::new().axis(-(depth as i64)));
        (joined, depth)
    }
}

/// Nested lists of blocks as one array: the innermost lists are joined along the last axis, those around them along the one before.
///
/// # Panics
/// When lengths do not fit, or lists are empty or nested to different depths.
///
/// ```
/// use jaxide::{Array, numpy};
/// let (x, y) = (Array::from([[1]]), Array::from([[2]]));
/// let whole = numpy::block([[&x, &y], [&y, &x]]);
/// assert_eq!(whole.to_vec::<i32>(), [1, 2, 2, 1]);
/// ```
#[track_caller]
pub fn block(arrays: impl Into<Block>) -> Array {
    let _named = crate::trace::named("block");
    let blocks = arrays.into();
    let mut given = Vec::new();
    blocks.arrays(&mut given);
    named("block", &blocks.structure(), &given, |arrays| {
        blocks.joined(&mut arrays.iter().cloned()).0
    })
}
