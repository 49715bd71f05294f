//! Comparisons, and what is chosen by comparing.

use std::cmp::Ordering;

use num_complex::Complex;

use super::map::{at, common_shape, map2, real2, same_dtype, spread};
use crate::dtype::DType;
use crate::error::Result;
use crate::eval::element::{by_dtype, collect, decode, encode, meaningless};
use crate::eval::numerics::elementary;
use crate::tensor::Tensor;

/// A comparison.
#[derive(Clone, Copy)]
pub(in crate::eval) enum Comparison {
    /// `==`
    Equal,
    /// `!=`
    NotEqual,
    /// `<`
    Less,
    /// `<=`
    LessEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterEqual,
}

impl Comparison {
    /// Whether it holds for values so ordered; `None` is a comparison with NaN.
    pub(in crate::eval) fn holds(self, order: Option<Ordering>) -> bool {
        match self {
            Comparison::Equal => order == Some(Ordering::Equal),
            Comparison::NotEqual => order != Some(Ordering::Equal),
            Comparison::Less => order == Some(Ordering::Less),
            Comparison::LessEqual => order.is_some_and(Ordering::is_le),
            Comparison::Greater => order == Some(Ordering::Greater),
            Comparison::GreaterEqual => order.is_some_and(Ordering::is_ge),
        }
    }
}

/// Truth values of a comparison: numbers as such, complex numbers by real and then imaginary part, keys by words.
pub(in crate::eval) fn compare(x: &Tensor, y: &Tensor, comparison: Comparison) -> Result<Tensor> {
    let dtype = same_dtype(x, y)?;
    let holds = |order| u8::from(comparison.holds(order));
    by_dtype!(dtype, T,
        bool => map2::<u8, u8>(x, y, DType::Bool, &|a, b| holds(Some(a.cmp(&b)))),
        int => map2::<T, u8>(x, y, DType::Bool, &|a, b| holds(Some(a.cmp(&b)))),
        small => map2::<u8, u8>(x, y, DType::Bool, &|a, b| holds(decode(dtype, a).partial_cmp(&decode(dtype, b)))),
        real => map2::<T, u8>(x, y, DType::Bool, &|a, b| holds(a.partial_cmp(&b))),
        complex => map2::<Complex<T>, u8>(x, y, DType::Bool, &|a, b| holds(complex_order(a, b))),
        other => compare_keys(x, y, holds),
    )
}

/// Real part first; unordered when NaN decides.
fn complex_order<T: PartialOrd>(a: Complex<T>, b: Complex<T>) -> Option<Ordering> {
    match a.re.partial_cmp(&b.re) {
        Some(Ordering::Equal) => a.im.partial_cmp(&b.im),
        other => other,
    }
}

fn compare_keys(x: &Tensor, y: &Tensor, holds: impl Fn(Option<Ordering>) -> u8) -> Result<Tensor> {
    let size = x.dtype().size();
    if !x.dtype().is_key() {
        return Err(meaningless(x.dtype()));
    }
    let shape = common_shape(&[x, y])?;
    let (x, y) = (spread(x, &shape)?, spread(y, &shape)?);
    let (a, b): (Vec<&[u8]>, Vec<&[u8]>) = (
        x.bytes().chunks(size).collect(),
        y.bytes().chunks(size).collect(),
    );
    let count = shape.iter().product();
    collect(
        &shape,
        DType::Bool,
        (0..count).map(|i| holds(Some(at(&a, i).cmp(at(&b, i))))),
    )
}

/// Truth values of a comparison in the total order: negative NaN, -∞, ..., -0.0, 0.0, ..., ∞, NaN.
pub(in crate::eval) fn compare_total(
    x: &Tensor,
    y: &Tensor,
    comparison: Comparison,
) -> Result<Tensor> {
    let dtype = same_dtype(x, y)?;
    let holds = |order| u8::from(comparison.holds(Some(order)));
    by_dtype!(dtype, T,
        small => map2::<u8, u8>(x, y, DType::Bool, &|a, b| holds(total_key(dtype, a).cmp(&total_key(dtype, b)))),
        real => map2::<T, u8>(x, y, DType::Bool, &|a, b| holds(a.total_cmp(&b))),
        complex => map2::<Complex<T>, u8>(x, y, DType::Bool, &|a, b| {
            holds(a.re.total_cmp(&b.re).then(a.im.total_cmp(&b.im)))
        }),
        other => compare(x, y, comparison),
    )
}

/// The place of a small float's code in the total order: its bits are a sign and a magnitude, where there is a sign.
fn total_key(dtype: DType, code: u8) -> i16 {
    let sign = 1 << (dtype.bits() - 1);
    if dtype == DType::F8E8M0Fnu || code & sign == 0 {
        return code.into();
    }
    -1 - i16::from(code & (sign - 1))
}

/// The larger; NaN if either is.
pub(in crate::eval) fn max(x: &Tensor, y: &Tensor) -> Result<Tensor> {
    extremum(x, y, Comparison::Greater, elementary::max)
}

/// The smaller; NaN if either is.
pub(in crate::eval) fn min(x: &Tensor, y: &Tensor) -> Result<Tensor> {
    extremum(x, y, Comparison::Less, elementary::min)
}

fn extremum(
    x: &Tensor,
    y: &Tensor,
    better: Comparison,
    real: fn(f64, f64) -> f64,
) -> Result<Tensor> {
    let dtype = same_dtype(x, y)?;
    macro_rules! choose {
        ($ty:ty, $order:expr) => {
            map2::<$ty, $ty>(x, y, dtype, &|a, b| {
                if better.holds($order(a, b)) { a } else { b }
            })
        };
    }
    by_dtype!(dtype, T,
        bool => choose!(u8, |a: u8, b: u8| a.partial_cmp(&b)),
        int => choose!(T, |a: T, b: T| a.partial_cmp(&b)),
        small => map2::<u8, u8>(x, y, dtype, &|a, b| encode(dtype, real(decode(dtype, a), decode(dtype, b)))),
        complex => choose!(Complex<T>, complex_order),
        other => real2(x, y, real),
    )
}

/// `x` moved up to `low`, then down to `high`; NaN stays.
pub(in crate::eval) fn clamp(low: &Tensor, x: &Tensor, high: &Tensor) -> Result<Tensor> {
    min(&max(x, low)?, high)
}
