//! Trees of arrays: [`jaxide_tree`] under this crate's name, and arithmetic of trees.
//!
//! Sums and products of trees of one type are trees of that type. They cannot fail for types that have one structure (tuples, arrays,
//! structs of such); where the structure is a value (vectors, maps, options), it must be the same.

pub use jaxide_tree::JaxidePytree as Pytree;
pub use jaxide_tree::*;

use jaxide_core::{Aval, DType, Error};

use crate::array::Array;
use crate::trace::OrRaise;
use crate::{lax, numpy};

/// The tree of a structure with these leaves: [`TreeDef::unflatten`] as a function, as in `jax.tree`.
///
/// ```
/// use jaxide::{Array, tree};
/// let (leaves, treedef) = tree::flatten::<Array, _>(&(Array::from(1.0), Array::from(2.0)));
/// let (x, _): (Array, Array) = tree::unflatten(&treedef, leaves)?;
/// assert_eq!(x.item::<f32>(), 1.0);
/// # Ok::<(), tree::StructureError>(())
/// ```
///
/// # Errors
/// When there are too many or too few leaves, or the type has another structure.
pub fn unflatten<T: jaxide_tree::Pytree<L>, L>(
    treedef: &TreeDef,
    leaves: impl IntoIterator<Item = L>,
) -> std::result::Result<T, StructureError> {
    treedef.unflatten(leaves)
}

/// Functions of the leaves of two trees of one type.
macro_rules! pairs {
    ($($(#[$doc:meta])* $name:ident $function:path;)*) => { $(
        $(#[$doc])*
        ///
        /// # Panics
        /// When structures differ, or leaves do not fit each other.
        #[track_caller]
        pub fn $name<T: jaxide_tree::Pytree<Array>>(x: &T, y: &T) -> T {
            map2(|x: &Array, y: &Array| $function(x, y), x, y)
                .map_err(Error::from)
                .or_raise()
        }
    )* };
}

pairs! {
    /// The sums of leaves.
    ///
    /// ```
    /// use jaxide::{Array, tree};
    /// let x = (Array::from([1.0f32, 2.0]), Array::from(3.0f32));
    /// let (first, second) = tree::add(&x, &x);
    /// assert_eq!((first.to_vec::<f32>(), second.item::<f32>()), (vec![2.0, 4.0], 6.0));
    /// ```
    add numpy::add;
    /// The differences of leaves.
    sub numpy::subtract;
}

/// The leaves times a number, or an array that broadcasts.
///
/// # Panics
/// When the product of a leaf is no leaf of the tree.
///
/// ```
/// use jaxide::{Array, tree};
/// let [x, y] = tree::scale(0.5, &[Array::from([2.0f32]), Array::from([4.0f32])]);
/// assert_eq!((x.to_vec::<f32>(), y.to_vec::<f32>()), (vec![1.0], vec![2.0]));
/// ```
#[track_caller]
pub fn scale<T: jaxide_tree::Pytree<Array>>(alpha: impl Into<Array>, x: &T) -> T {
    let alpha = alpha.into();
    map(|x: &Array| numpy::multiply(&alpha, x), x)
        .map_err(Error::from)
        .or_raise()
}

/// `alpha x + y`, leaf by leaf.
///
/// # Panics
/// When structures differ, or leaves do not fit each other.
///
/// ```
/// use jaxide::{Array, tree};
/// // A step of gradient descent.
/// let (weights, gradients) = ((Array::from([1.0f32]),), (Array::from([4.0f32]),));
/// let (weights,) = tree::axpy(-0.25, &gradients, &weights);
/// assert_eq!(weights.to_vec::<f32>(), [0.0]);
/// ```
#[track_caller]
pub fn axpy<T: jaxide_tree::Pytree<Array>>(alpha: impl Into<Array>, x: &T, y: &T) -> T {
    let alpha = alpha.into();
    let step = |x: &Array, y: &Array| numpy::add(&numpy::multiply(&alpha, x), y);
    map2(step, x, y).map_err(Error::from).or_raise()
}

/// The sum of the products of all elements, those of `x` conjugated where they are complex: a scalar, 0 for a tree without leaves.
///
/// # Panics
/// When structures differ, or leaves do not fit each other.
///
/// ```
/// use jaxide::{Array, tree};
/// let x = (Array::from([1.0f32, 2.0]), Array::from(3.0f32));
/// assert_eq!(tree::dot(&x, &x).item::<f32>(), 14.0);
/// ```
#[track_caller]
pub fn dot<T: jaxide_tree::Pytree<Array>>(x: &T, y: &T) -> Array {
    let product = |x: &Array, y: &Array| {
        let x = if x.dtype().is_complex() {
            lax::conj(x)
        } else {
            x.clone()
        };
        numpy::multiply(&x, y).sum()
    };
    let mut products = Vec::new();
    let collect = |x: &Array, y: &Array| {
        products.push(product(x, y));
        x.clone()
    };
    map2(collect, x, y).map_err(Error::from).or_raise();
    sum(products)
}

/// The sum of scalars.
fn sum(scalars: Vec<Array>) -> Array {
    let sum = scalars.into_iter().reduce(|x, y| numpy::add(&x, &y));
    sum.unwrap_or_else(|| lax::full((), 0.0, DType::F32))
}

/// The root of the sum of the squared moduli of all elements: a scalar.
///
/// # Panics
/// When a leaf is not made of numbers.
///
/// ```
/// use jaxide::{Array, tree};
/// assert_eq!(tree::norm(&[Array::from([3.0f32]), Array::from([4.0f32])]).item::<f32>(), 5.0);
/// ```
#[track_caller]
pub fn norm<T: jaxide_tree::Pytree<Array>>(x: &T) -> Array {
    let squares = leaves::<Array, T>(x).into_iter();
    let squares = squares.map(|x| numpy::square(&numpy::abs(&x)).sum());
    numpy::sqrt(&sum(squares.collect()))
}

/// Zeros of the shapes and element types of the leaves.
///
/// # Panics
/// When a leaf is not made of numbers.
///
/// ```
/// use jaxide::{Array, tree};
/// let (zeros,) = tree::zeros_like(&(Array::from([1, 2]),));
/// assert_eq!(zeros.to_vec::<i32>(), [0, 0]);
/// ```
#[track_caller]
pub fn zeros_like<T: jaxide_tree::Pytree<Array>>(x: &T) -> T {
    map(|x: &Array| numpy::full_like(x, 0), x)
        .map_err(Error::from)
        .or_raise()
}

/// The element type that all leaves have in common.
#[track_caller]
pub(crate) fn common_type(operation: &str, leaves: &[Array]) -> DType {
    let types: Vec<Array> = leaves
        .iter()
        .map(|leaf| Array::of_type(Aval::scalar(leaf.dtype())))
        .collect();
    let types: Vec<&Array> = types.iter().collect();
    crate::array::result_dtype(operation, &types).0
}
