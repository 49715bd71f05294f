//! Bits.

use jaxide_core::{DType, Error};

use super::super::arithmetic::{promote_numeric, zero};
use super::super::{abs, left_shift, sum};
use crate::array::{Array, Axes, Numbers, as_dtype};
use crate::options::options;
use crate::trace::{library, raise};
use crate::{lax, numpy};

/// Number of one bits of the absolute value, as `u8`.
///
/// # Panics
/// When `x` is not an integer.
///
/// ```
/// use jaxide::numpy;
/// assert_eq!(numpy::bitwise_count(&[7, -8, 0].into()).to_vec::<u8>(), [3, 1, 0]);
/// ```
#[track_caller]
pub fn bitwise_count(x: &Array) -> Array {
    let _named = crate::trace::named("bitwise_count");
    library("bitwise_count", "", [x], |[x]| {
        let [x] = promote_numeric("bitwise_count", [x]);
        as_dtype(&lax::population_count(&abs(&x)), DType::U8, false)
    })
}

options! {
    /// What [`packbits`] and [`unpackbits`] take beside the array; an axis alone is one too.
    pub struct Bits of axes {
        /// The axis along which eight bits are a byte: all elements in row-major order by default.
        axis: Option<Numbers> = None, |axis: impl Axes| axis.numbers();
        /// Of [`unpackbits`]: how many bits the result has along the axis.
        count: Option<usize> = None, |count: usize| Some(count);
        /// Which bit of a byte is the first: the highest one by default.
        bitorder: BitOrder = BitOrder::Big;
    }
}

/// Which bit of a byte is the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BitOrder {
    /// The highest.
    Big,
    /// The lowest.
    Little,
}

impl Bits {
    /// The axis, where there is one, must be there.
    #[track_caller]
    fn check(&self, operation: &str, x: &Array) {
        super::super::one_axis(operation, self.axis.as_deref(), x.ndim());
    }

    /// The array and the axis, the array flattened without one.
    #[track_caller]
    fn along(&self, operation: &str, x: &Array) -> (Array, usize) {
        match super::super::one_axis(operation, self.axis.as_deref(), x.ndim()) {
            None => (lax::reshape(x, x.size()), 0),
            Some(axis) => (x.clone(), axis),
        }
    }
}

/// The numbers of the bits of a byte.
#[track_caller]
fn places() -> Array {
    lax::iota(DType::U8, 8, 0)
}

/// `x` with an axis changed for the last one.
#[track_caller]
fn with_last(x: &Array, axis: usize) -> Array {
    let mut order: Vec<usize> = (0..x.ndim()).collect();
    order.swap(axis, x.ndim() - 1);
    lax::transpose(x, &order)
}

/// Bytes of eight truth values each, the first of them the highest bit; what is missing to the last byte is zero.
///
/// # Panics
/// When `x` is neither integer nor `bool`, or there is no such axis.
///
/// ```
/// use jaxide::numpy;
/// let bits = [true, false, false, false, false, true, true, false, true].into();
/// assert_eq!(numpy::packbits(&bits, ()).to_vec::<u8>(), [0b1000_0110, 0b1000_0000]);
/// ```
#[track_caller]
pub fn packbits(x: &Array, options: impl Into<Bits>) -> Array {
    let _named = crate::trace::named("packbits");
    let options = options.into();
    if x.dtype().is_inexact() || x.dtype().is_key() {
        let error = format!(
            "integers or truth values are needed, and {} is given",
            x.aval()
        );
        raise(Error::dtype(error).in_operation("packbits"));
    }
    if options.count.is_some() {
        raise(Error::parameter("it does not take `count`").in_operation("packbits"));
    }
    options.check("packbits", x);
    library("packbits", &format!("{options:?}"), [x], |[x]| {
        let bits = as_dtype(&lax::ne(x, &zero(x)), DType::U8, false);
        let mut places = places();
        if options.bitorder == BitOrder::Big {
            places = lax::rev(&places, 0);
        }
        let (bits, axis) = options.along("packbits", &bits);
        let mut bits = with_last(&bits, axis);
        let last = bits.ndim() - 1;
        let missing = (8 - bits.shape()[last] % 8) % 8;
        if missing > 0 {
            let mut config = vec![(0, 0, 0); last];
            config.push((0, missing as i64, 0));
            bits = lax::pad(&bits, 0, &config);
        }
        let mut shape = bits.shape().to_vec();
        shape[last] /= 8;
        shape.push(8);
        let bits = lax::reshape(&bits, &shape);
        let before: Vec<usize> = (0..=last).collect();
        let places = lax::expand_dims(&places, &before);
        let bytes = sum(&left_shift(&bits, &places), -1);
        with_last(&as_dtype(&bytes, DType::U8, false), axis)
    })
}

/// The bits of bytes, as `u8`, the highest one first.
///
/// # Panics
/// When `x` is not `u8`, or there is no such axis.
///
/// ```
/// use jaxide::{Array, numpy};
/// let bytes = Array::from([0b1010_0000u8]);
/// assert_eq!(numpy::unpackbits(&bytes, numpy::Bits::new().count(4)).to_vec::<u8>(), [1, 0, 1, 0]);
/// ```
#[track_caller]
pub fn unpackbits(x: &Array, options: impl Into<Bits>) -> Array {
    let _named = crate::trace::named("unpackbits");
    let options = options.into();
    if x.dtype() != DType::U8 {
        let error = format!("u8 is needed, and {} is given", x.aval());
        raise(Error::dtype(error).in_operation("unpackbits"));
    }
    options.check("unpackbits", x);
    library("unpackbits", &format!("{options:?}"), [x], |[x]| {
        let mut masks = left_shift(1, places());
        if options.bitorder == BitOrder::Big {
            masks = lax::rev(&masks, 0);
        }
        let (x, axis) = options.along("unpackbits", x);
        let x = with_last(&x, axis);
        let last = x.ndim() - 1;
        let before: Vec<usize> = (0..=last).collect();
        let x = lax::expand_dims(&x, &[last + 1]);
        let set = lax::bitwise_and(&x, &lax::expand_dims(&masks, &before));
        let set = lax::gt(&set, &Array::from(0));
        let bits = as_dtype(&set, DType::U8, false);
        let mut shape = x.shape()[..=last].to_vec();
        shape[last] *= 8;
        let mut bits = lax::reshape(&bits, &shape);
        if let Some(count) = options.count {
            let given = shape[last];
            if count > given {
                let mut widths = vec![(0, 0); last];
                widths.push((0, (count - given) as i64));
                bits = numpy::pad(&bits, widths, ());
            } else if count < given {
                let mut limits = shape;
                limits[last] = count;
                bits = lax::slice(&bits, &vec![0usize; last + 1], &limits, None);
            }
        }
        with_last(&bits, axis)
    })
}
