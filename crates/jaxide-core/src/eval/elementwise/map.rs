//! Applying scalar functions to arrays. Operands have equal shapes; one of rank 0 stands beside any shape.

use num_complex::Complex;

use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::eval::element::{
    by_dtype, collect, collect_inlined, decode, elements, encode, meaningless,
};
use crate::eval::numerics::complex::{through_c128, through_c128_2};
use crate::eval::numerics::float::{Real, through_f64, through_f64_2};
use crate::eval::shape::broadcast_in_dim;
use crate::jaxpr::{Dims, Shape};
use crate::tensor::{Element, Tensor};

/// A function of a real number, computed in `f64` and rounded once.
pub(super) type RealFn = fn(f64) -> f64;
/// A function of two real numbers.
pub(super) type RealFn2 = fn(f64, f64) -> f64;
/// A function of a complex number, computed in `f64` parts, each rounded once.
pub(super) type ComplexFn = fn(Complex<f64>) -> Complex<f64>;
/// A function of two complex numbers.
pub(super) type ComplexFn2 = fn(Complex<f64>, Complex<f64>) -> Complex<f64>;

/// `f` of every element. It is a `dyn Fn`, here and below, so that a loop is compiled for each type and not for each
/// function.
pub(super) fn map<A: Element, R: Element>(
    x: &Tensor,
    dtype: DType,
    f: &dyn Fn(A) -> R,
) -> Result<Tensor> {
    map_inlined(x, dtype, f)
}

/// `f` of every pair of elements.
pub(super) fn map2<A: Element, R: Element>(
    x: &Tensor,
    y: &Tensor,
    dtype: DType,
    f: &dyn Fn(A, A) -> R,
) -> Result<Tensor> {
    map2_inlined(x, y, dtype, f)
}

/// [`map`] for functions of which there are few: pointers to functions of floats and complex numbers.
fn map_inlined<A: Element, R: Element>(
    x: &Tensor,
    dtype: DType,
    f: impl Fn(A) -> R,
) -> Result<Tensor> {
    collect_inlined(x.shape(), dtype, elements::<A>(x)?.iter().map(|&a| f(a)))
}

/// [`map2`] for functions of which there are few.
fn map2_inlined<A: Element, R: Element>(
    x: &Tensor,
    y: &Tensor,
    dtype: DType,
    f: impl Fn(A, A) -> R,
) -> Result<Tensor> {
    let shape = common_shape(&[x, y])?;
    let (x, y) = (spread(x, &shape)?, spread(y, &shape)?);
    let (a, b) = (elements::<A>(&x)?, elements::<A>(&y)?);
    let count = shape.iter().product();
    collect_inlined(&shape, dtype, (0..count).map(|i| f(at(a, i), at(b, i))))
}

/// The shape that operands have together: of the same rank, axes of length 1 stretch; operands of rank 0 fit any.
///
/// # Errors
/// When two of them differ otherwise.
pub(in crate::eval) fn common_shape(operands: &[&Tensor]) -> Result<Shape> {
    let mut common = Shape::new();
    for operand in operands {
        let shape = operand.shape();
        if common.is_empty() {
            common = Shape::from_slice(shape);
            continue;
        }
        let fits = shape.is_empty()
            || shape.len() == common.len()
                && shape
                    .iter()
                    .zip(&common)
                    .all(|(&a, &b)| a == b || a == 1 || b == 1);
        if !fits {
            return Err(Error::shape(format!(
                "operands have shapes {:?} and {shape:?}, which differ",
                common.as_slice()
            )));
        }
        for (all, &length) in common.iter_mut().zip(shape) {
            if *all == 1 {
                *all = length;
            }
        }
    }
    Ok(common)
}

/// An operand with its axes stretched to `shape`; one of rank 0 stays as it is.
pub(in crate::eval) fn spread(x: &Tensor, shape: &[usize]) -> Result<Tensor> {
    if x.shape().is_empty() || x.shape() == shape {
        return Ok(x.clone());
    }
    let places: Dims = (0..shape.len()).collect();
    broadcast_in_dim(x, shape, &places)
}

/// Element `index` of a spread operand.
pub(in crate::eval) fn at<T: Copy>(elements: &[T], index: usize) -> T {
    if let &[only] = elements {
        only
    } else {
        elements[index]
    }
}

/// Both operands have the same dtype.
pub(super) fn same_dtype(x: &Tensor, y: &Tensor) -> Result<DType> {
    if x.dtype() == y.dtype() {
        return Ok(x.dtype());
    }
    Err(Error::dtype(format!(
        "operands have types {} and {}, which differ",
        x.dtype(),
        y.dtype()
    )))
}

/// `f` of every float.
pub(super) fn real(x: &Tensor, f: RealFn) -> Result<Tensor> {
    let dtype = x.dtype();
    by_dtype!(dtype, T,
        small => map_inlined::<u8, u8>(x, dtype, |a| encode(dtype, f(decode(dtype, a)))),
        real => map_inlined::<T, T>(x, dtype, |a| through_f64(f, a)),
        other => Err(meaningless(dtype)),
    )
}

/// `f` of every pair of floats.
pub(super) fn real2(x: &Tensor, y: &Tensor, f: RealFn2) -> Result<Tensor> {
    let dtype = same_dtype(x, y)?;
    by_dtype!(dtype, T,
        small => map2_inlined::<u8, u8>(x, y, dtype, |a, b| encode(dtype, f(decode(dtype, a), decode(dtype, b)))),
        real => map2_inlined::<T, T>(x, y, dtype, |a, b| through_f64_2(f, a, b)),
        other => Err(meaningless(dtype)),
    )
}

/// `f` of every triple of floats.
pub(super) fn real3(
    x: &Tensor,
    y: &Tensor,
    z: &Tensor,
    f: fn(f64, f64, f64) -> f64,
) -> Result<Tensor> {
    let dtype = same_dtype(x, y)?;
    same_dtype(y, z)?;
    let shape = common_shape(&[x, y, z])?;
    let [x, y, z] = [spread(x, &shape)?, spread(y, &shape)?, spread(z, &shape)?];
    by_dtype!(dtype, T,
        small => {
            let (a, b, c) = (elements::<u8>(&x)?, elements::<u8>(&y)?, elements::<u8>(&z)?);
            let number = |codes, i| decode(dtype, at(codes, i));
            let count = shape.iter().product();
            collect(&shape, dtype, (0..count).map(|i| encode(dtype, f(number(a, i), number(b, i), number(c, i)))))
        },
        real => {
            let (a, b, c) = (elements::<T>(&x)?, elements::<T>(&y)?, elements::<T>(&z)?);
            let triple = |i| f(at(a, i).to_f64(), at(b, i).to_f64(), at(c, i).to_f64());
            let count = shape.iter().product();
            collect(&shape, dtype, (0..count).map(|i| <T as Real>::round_from(triple(i))))
        },
        other => Err(meaningless(dtype)),
    )
}

/// `f` of every complex number.
pub(super) fn complex(x: &Tensor, f: ComplexFn) -> Result<Tensor> {
    by_dtype!(x.dtype(), T,
        complex => map_inlined::<Complex<T>, Complex<T>>(x, x.dtype(), |z| through_c128(f, z)),
        other => Err(meaningless(x.dtype())),
    )
}

/// `f` of every pair of complex numbers.
pub(super) fn complex2(x: &Tensor, y: &Tensor, f: ComplexFn2) -> Result<Tensor> {
    let dtype = same_dtype(x, y)?;
    by_dtype!(dtype, T,
        complex => map2_inlined::<Complex<T>, Complex<T>>(x, y, dtype, |a, b| through_c128_2(f, a, b)),
        other => Err(meaningless(dtype)),
    )
}

/// `f` of every float, `g` of every complex number.
pub(super) fn inexact(x: &Tensor, f: RealFn, g: ComplexFn) -> Result<Tensor> {
    if x.dtype().is_complex() {
        complex(x, g)
    } else {
        real(x, f)
    }
}

/// An integer function of every element.
macro_rules! integer {
    ($x:expr, $f:expr) => {
        integer!($x, $f, other => Err(meaningless($x.dtype())))
    };
    ($x:expr, $f:expr, other => $other:expr) => {
        by_dtype!($x.dtype(), T, int => map::<T, T>($x, $x.dtype(), &$f), other => $other)
    };
}

/// An integer function of every pair of elements.
macro_rules! integer2 {
    ($x:expr, $y:expr, $f:expr) => {
        integer2!($x, $y, $f, other => Err(meaningless($x.dtype())))
    };
    ($x:expr, $y:expr, $f:expr, other => $other:expr) => {{
        let dtype = same_dtype($x, $y)?;
        by_dtype!(dtype, T, int => map2::<T, T>($x, $y, dtype, &$f), other => $other)
    }};
}

pub(super) use {integer, integer2};
