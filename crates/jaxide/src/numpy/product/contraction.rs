//! Products along some axes.

use jaxide_core::prims::{DotPrecision, Precision};
use jaxide_core::{DType, Error};

use super::super::parts::{column, conj, moveaxis, refuse, vectorized};
use super::{Product, check_contracted, contracting, matmul};
use crate::array::{Array, Integer, as_dtype, normalize_axis, promote_dtypes};
use crate::lax;
use crate::numpy;
use crate::options::options;
use crate::trace::library::library_call;
use crate::trace::{library, raise};

#[track_caller]
fn flat(x: &Array) -> Array {
    lax::reshape(x, &[x.size()])
}

/// The sum of the products of the elements of two arrays of one size, those of `x` conjugated.
///
/// # Panics
/// When the sizes differ.
///
/// ```
/// use jaxide::{Array, numpy};
/// let x = Array::from([[1.0f32, 2.0], [3.0, 4.0]]);
/// assert_eq!(numpy::vdot(&x, &x, ()).item::<f32>(), 30.0);
/// ```
#[track_caller]
pub fn vdot(x: &Array, y: &Array, product: impl Into<Product>) -> Array {
    let _named = crate::trace::named("vdot");
    let (x, y) = (flat(&conj(x)), flat(y));
    check_contracted("vdot", &x, &y, &[0], &[0]);
    product
        .into()
        .multiply("vdot", &x, &y, contracting(&[0], &[0]))
}

/// The sum of products over the last axes; the other axes of `x`, then those of `y`. With a scalar, the product by elements.
///
/// # Panics
/// When the last axes differ in length.
///
/// ```
/// use jaxide::{Array, DType, numpy};
/// let x = Array::ones([2, 3], DType::F32);
/// assert_eq!(numpy::inner(&x, &Array::ones([4, 3], DType::F32), ()).shape(), [2, 4]);
/// ```
#[track_caller]
pub fn inner(x: &Array, y: &Array, product: impl Into<Product>) -> Array {
    let _named = crate::trace::named("inner");
    let product = product.into();
    if x.ndim() > 0 && y.ndim() > 0 {
        let (of_x, of_y) = ([x.ndim() - 1], [y.ndim() - 1]);
        check_contracted("inner", x, y, &of_x, &of_y);
        return product.multiply("inner", x, y, contracting(&of_x, &of_y));
    }
    match product.preferred_element_type {
        Some(dtype) => numpy::multiply(&as_dtype(x, dtype, false), &as_dtype(y, dtype, false)),
        None => numpy::multiply(x, y),
    }
}

/// The products of each element of `x` with each of `y`: a matrix, whatever their shapes.
///
/// # Panics
/// When there is no common element type.
///
/// ```
/// use jaxide::{Array, numpy};
/// let table = numpy::outer(&Array::from([1, 2]), &Array::from([3, 4]));
/// assert_eq!(table.to_vec::<i32>(), [3, 4, 6, 8]);
/// ```
#[track_caller]
pub fn outer(x: &Array, y: &Array) -> Array {
    let _named = crate::trace::named("outer");
    let [x, y] = promote_dtypes("outer", [x, y]);
    numpy::multiply(&column(&flat(&x)), &lax::expand_dims(&flat(&y), &[0]))
}

/// Which axes of its operands [`tensordot`] sums over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ContractedAxes {
    /// So many: the last of the first operand, the first of the second.
    Count(i64),
    /// The axes of each, in pairs.
    Pairs(Vec<i64>, Vec<i64>),
}

options! {
    /// What [`tensordot`] takes beside its operands: the number of axes that are summed over, or a pair of lists of axes, are one
    /// too.
    pub struct Tensordot {
        /// A number of axes, or a pair of lists of axes.
        axes: ContractedAxes = ContractedAxes::Count(2), |axes: impl Into<Tensordot>| axes.into().axes;
        /// How exact the product has to be.
        precision: Option<DotPrecision> = None, |precision: Precision| Some(DotPrecision::Operands(precision, precision));
        /// The element type in which it is summed, and of the result.
        preferred_element_type: Option<DType> = None, |dtype: impl Into<Option<DType>>| dtype.into();
    }
}

macro_rules! counts {
    ($($ty:ty)*) => { $(
        impl From<$ty> for Tensordot {
            fn from(count: $ty) -> Self {
                Tensordot { axes: ContractedAxes::Count(count.to_i64()), ..Tensordot::default() }
            }
        }

        impl From<($ty, $ty)> for Tensordot {
            fn from((x, y): ($ty, $ty)) -> Self {
                Tensordot::from(([x], [y]))
            }
        }
    )* };
}

counts!(i32 i64 usize);

impl<T: Integer, const N: usize, const M: usize> From<([T; N], [T; M])> for Tensordot {
    fn from((x, y): ([T; N], [T; M])) -> Self {
        Tensordot::from((&x[..], &y[..]))
    }
}

impl<T: Integer> From<(&[T], &[T])> for Tensordot {
    fn from((x, y): (&[T], &[T])) -> Self {
        let numbers = |axes: &[T]| axes.iter().map(|axis| axis.to_i64()).collect();
        Tensordot {
            axes: ContractedAxes::Pairs(numbers(x), numbers(y)),
            ..Tensordot::default()
        }
    }
}

/// The sum of products over axes: by default the last two of `x` and the first two of `y`, in their order.
///
/// # Panics
/// When there are no such axes, or their lengths differ.
///
/// ```
/// use jaxide::{Array, DType, numpy};
/// let (x, y) = (Array::ones([2, 3, 4], DType::F32), Array::ones([4, 5], DType::F32));
/// assert_eq!(numpy::tensordot(&x, &y, 1).shape(), [2, 3, 5]);
/// let z = Array::ones([3, 4, 6], DType::F32);
/// assert_eq!(numpy::tensordot(&x, &z, ()).shape(), [2, 6]);
/// assert_eq!(numpy::tensordot(&x, &z, ([2, 1], [1, 0])).shape(), [2, 6]);
/// ```
#[track_caller]
pub fn tensordot(x: &Array, y: &Array, options: impl Into<Tensordot>) -> Array {
    let _named = crate::trace::named("tensordot");
    const OPERATION: &str = "tensordot";
    let options = options.into();
    let (of_x, of_y): (Vec<usize>, Vec<usize>) = match &options.axes {
        ContractedAxes::Count(count) => match usize::try_from(*count) {
            Ok(count) if count <= x.ndim().min(y.ndim()) => {
                ((x.ndim() - count..x.ndim()).collect(), (0..count).collect())
            }
            _ => refuse(
                OPERATION,
                &format!("{count} axes are to be summed over"),
                &[x, y],
            ),
        },
        ContractedAxes::Pairs(of_x, of_y) => {
            if of_x.len() != of_y.len() {
                let what = format!("the lists of axes {of_x:?} and {of_y:?} differ in length");
                raise(Error::parameter(what).in_operation(OPERATION));
            }
            let axes = |axes: &[i64], rank: usize| {
                let axis = |&axis: &i64| normalize_axis(OPERATION, axis, rank);
                axes.iter().map(axis).collect()
            };
            (axes(of_x, x.ndim()), axes(of_y, y.ndim()))
        }
    };
    check_contracted(OPERATION, x, y, &of_x, &of_y);
    let product = Product {
        precision: options.precision,
        preferred_element_type: options.preferred_element_type,
    };
    product.multiply(OPERATION, x, y, contracting(&of_x, &of_y))
}

options! {
    /// What [`vecdot`] takes beside its operands: an axis alone is one too.
    pub struct Vecdot {
        /// The axis of the vectors: the last by default.
        axis: i64 = -1, |axis: impl Integer| axis.to_i64();
        /// How exact the product has to be.
        precision: Option<DotPrecision> = None, |precision: Precision| Some(DotPrecision::Operands(precision, precision));
        /// The element type in which it is summed, and of the result.
        preferred_element_type: Option<DType> = None, |dtype: impl Into<Option<DType>>| dtype.into();
    }
}

macro_rules! axes {
    ($($ty:ty)*) => { $(
        impl From<$ty> for Vecdot {
            fn from(axis: $ty) -> Self {
                Vecdot::new().axis(axis)
            }
        }
    )* };
}

axes!(i32 i64 usize);

/// The inner products of vectors along an axis, those of `x` conjugated; other axes broadcast.
///
/// # Panics
/// When the vectors differ in length, or other axes do not broadcast.
///
/// ```
/// use jaxide::{Array, numpy};
/// let x = Array::from([[1.0f32, 2.0], [3.0, 4.0]]);
/// let y = Array::from([10.0f32, 1.0]);
/// assert_eq!(numpy::vecdot(&x, &y, ()).to_vec::<f32>(), [12.0, 34.0]);
/// ```
#[track_caller]
pub fn vecdot(x: &Array, y: &Array, options: impl Into<Vecdot>) -> Array {
    let _named = crate::trace::named("vecdot");
    const OPERATION: &str = "vecdot";
    let options = options.into();
    let of_x = normalize_axis(OPERATION, options.axis, x.ndim());
    let of_y = normalize_axis(OPERATION, options.axis, y.ndim());
    check_contracted(OPERATION, x, y, &[of_x], &[of_y]);
    let operands = [
        moveaxis(x, &[of_x], &[x.ndim() - 1]),
        moveaxis(y, &[of_y], &[y.ndim() - 1]),
    ];
    let product = Product {
        precision: options.precision,
        preferred_element_type: options.preferred_element_type,
    };
    let one = |own: &[Array]| vec![vdot(&own[0], &own[1], product.clone())];
    vectorized(OPERATION, &[1, 1], &operands, &one)[0].clone()
}

/// The products of matrices with vectors: the last two axes of `x` with the last of `y`; other axes broadcast.
///
/// # Panics
/// When lengths do not fit, or there are too few axes.
#[track_caller]
pub fn matvec(x: &Array, y: &Array) -> Array {
    let _named = crate::trace::named("matvec");
    if x.ndim() < 2 || y.ndim() < 1 || x.shape()[x.ndim() - 1] != y.shape()[y.ndim() - 1] {
        refuse(
            "matvec",
            "a matrix and a vector of its number of columns are needed",
            &[x, y],
        );
    }
    library("matvec", "", [x, y], |[x, y]| {
        let product = |own: &[Array]| vec![matmul(&own[0], &own[1])];
        vectorized("matvec", &[2, 1], &[x.clone(), y.clone()], &product)[0].clone()
    })
}

/// The products of vectors, conjugated, with matrices: the last axis of `x` with the last two of `y`; other axes broadcast.
///
/// # Panics
/// When lengths do not fit, or there are too few axes.
#[track_caller]
pub fn vecmat(x: &Array, y: &Array) -> Array {
    let _named = crate::trace::named("vecmat");
    if x.ndim() < 1 || y.ndim() < 2 || x.shape()[x.ndim() - 1] != y.shape()[y.ndim() - 2] {
        refuse(
            "vecmat",
            "a vector and a matrix of its number of rows are needed",
            &[x, y],
        );
    }
    library("vecmat", "", [x, y], |[x, y]| {
        let product = |own: &[Array]| vec![matmul(&own[0], &own[1])];
        vectorized("vecmat", &[1, 2], &[conj(x), y.clone()], &product)[0].clone()
    })
}

/// The Kronecker product: each element of `x` in the place of which stands its product with `y`.
///
/// # Panics
/// When there is no common element type.
///
/// ```
/// use jaxide::{Array, numpy};
/// let x = numpy::kron(&Array::from([1, 10]), &Array::from([1, 2]));
/// assert_eq!(x.to_vec::<i32>(), [1, 2, 10, 20]);
/// ```
#[track_caller]
pub fn kron(x: &Array, y: &Array) -> Array {
    let _named = crate::trace::named("kron");
    library("kron", "", [x, y], |[x, y]| {
        let [x, y] = promote_dtypes("kron", [x, y]);
        let rank = x.ndim().max(y.ndim());
        let (x, y) = (lax::expand_rank(&x, rank), lax::expand_rank(&y, rank));
        let shape: Vec<usize> = x
            .shape()
            .iter()
            .zip(y.shape())
            .map(|(a, b)| a * b)
            .collect();
        let odd: Vec<usize> = (0..rank).map(|axis| 2 * axis + 1).collect();
        let even: Vec<usize> = (0..rank).map(|axis| 2 * axis).collect();
        let product = lax::mul(&lax::expand_dims(&x, &odd), &lax::expand_dims(&y, &even));
        lax::reshape(&product, &shape)
    })
}

options! {
    /// Where the vectors of [`cross`] are: an axis alone is one too.
    pub struct Cross {
        /// The axis of the vectors of the first operand: the last by default.
        axisa: i64 = -1, |axis: impl Integer| axis.to_i64();
        /// The axis of the vectors of the second operand.
        axisb: i64 = -1, |axis: impl Integer| axis.to_i64();
        /// The axis of the vectors of the result.
        axisc: i64 = -1, |axis: impl Integer| axis.to_i64();
        /// All three at once.
        axis: Option<i64> = None, |axis: impl Integer| Some(axis.to_i64());
    }
}

impl From<i32> for Cross {
    fn from(axis: i32) -> Self {
        Cross::new().axis(axis)
    }
}

/// The vector products of vectors of three elements; other axes broadcast.
///
/// # Panics
/// When vectors do not have three elements, or other axes do not broadcast.
///
/// ```
/// use jaxide::{Array, numpy};
/// let z = numpy::cross(&Array::from([1, 0, 0]), &Array::from([0, 1, 0]), ());
/// assert_eq!(z.to_vec::<i32>(), [0, 0, 1]);
/// ```
#[track_caller]
pub fn cross(x: &Array, y: &Array, options: impl Into<Cross>) -> Array {
    let _named = crate::trace::named("cross");
    let options = options.into();
    let [of_x, of_y, of_result] = match options.axis {
        Some(axis) => [axis; 3],
        None => [options.axisa, options.axisb, options.axisc],
    };
    let of_x = normalize_axis("cross", of_x, x.ndim());
    let of_y = normalize_axis("cross", of_y, y.ndim());
    if x.shape()[of_x] != 3 || y.shape()[of_y] != 3 {
        refuse("cross", "vectors must have three elements", &[x, y]);
    }
    let results = library_call(
        "cross",
        &format!("{of_x} {of_y} {of_result}"),
        &[x.clone(), y.clone()],
        |operands| {
            let x = moveaxis(&operands[0], &[of_x], &[x.ndim() - 1]);
            let y = moveaxis(&operands[1], &[of_y], &[y.ndim() - 1]);
            let [x, y] = [x, y].map(|x| [0, 1, 2].map(|at| numpy::parts::last(&x, at)));
            let minor = |i: usize, j: usize| &x[i] * &y[j] - &x[j] * &y[i];
            let minors = [minor(1, 2), minor(2, 0), minor(0, 1)];
            let [a, b, c] = [0, 1, 2].map(|at: usize| &minors[at]);
            let [a, b, c] = promote_dtypes("cross", [a, b, c]).map(|x| lax::expand_dims(&x, &[0]));
            let joined = lax::concatenate(&[a, b, c], 0);
            let at = normalize_axis("cross", of_result, joined.ndim());
            vec![moveaxis(&joined, &[0], &[at])]
        },
    );
    results[0].clone()
}
