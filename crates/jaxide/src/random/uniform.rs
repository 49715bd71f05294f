//! Uniform samples, of which all others are made.

use jaxide_core::{DType, Error};

use super::given::single;
use super::keys::words;
use super::{SampleType, integer, number};
use crate::array::{Array, AsShape, as_dtype, lengths};
use crate::trace::{Captures, Known, aval_of, inline, library, raise, trace, tracing};
use crate::{lax, numpy};

/// How the samples of a type are made: its words, the bits of its mantissa, and its special numbers.
pub(super) struct Format {
    /// The unsigned integers of the same width.
    words: DType,
    /// Bits behind the point.
    pub(super) mantissa: usize,
    /// The bits of 1.0.
    one: i128,
    /// The largest number below 1.
    pub(super) below_one: f64,
    /// The smallest positive normal number.
    pub(super) tiny: f64,
}

#[track_caller]
pub(super) fn format(operation: &str, dtype: DType) -> Format {
    let (words, mantissa, exponent): (_, usize, _) = match dtype {
        DType::F16 => (DType::U16, 10, 14),
        DType::BF16 => (DType::U16, 7, 126),
        DType::F32 => (DType::U32, 23, 126),
        DType::F64 => (DType::U64, 52, 1022),
        other => raise(
            Error::dtype(format!(
                "samples are f16, bf16, f32 or f64, and {other} is asked for"
            ))
            .in_operation(operation),
        ),
    };
    Format {
        words,
        mantissa,
        one: i128::from(exponent + 1) << mantissa,
        below_one: 1.0 - 0.5_f64.powi(mantissa as i32 + 1),
        tiny: 0.5_f64.powi(exponent),
    }
}

/// A name for what the trace of a sampler depends on beside its operands.
pub(super) fn parameters(shape: &[usize], dtype: DType) -> String {
    format!("{shape:?} {dtype}")
}

/// Uniform samples from `min` to below `max`, `f32` with `()` for the element type.
///
/// # Panics
/// When `dtype` is not floating-point, or the bounds do not broadcast to `shape`.
///
/// ```
/// use jaxide::{DType, random};
/// let x = random::uniform(&random::key(0), &[1000], DType::F32, -1.0, 1.0);
/// assert!(x.to_vec::<f32>().iter().all(|x| (-1.0..1.0).contains(x)));
/// ```
#[track_caller]
pub fn uniform(
    key: &Array,
    shape: impl AsShape,
    dtype: impl Into<SampleType>,
    min: impl Into<Array>,
    max: impl Into<Array>,
) -> Array {
    let _named = crate::trace::named("uniform");
    let dtype = dtype.into().or(DType::F32);
    let shape = &lengths("uniform", &shape)[..];
    let key = &single("uniform", key);
    format("uniform", dtype);
    let (min, max) = (min.into(), max.into());
    for bound in [&min, &max] {
        numpy::check_broadcast_to("uniform", bound.shape(), shape);
    }
    if tracing() {
        return library(
            "_uniform",
            &parameters(shape, dtype),
            [key, &min, &max],
            |[key, min, max]| between(key, shape, dtype, min, max),
        );
    }
    // As one program, in which the product and the sum of the bounds are rounded once.
    let given = [key.clone(), min, max];
    let avals = given.each_ref().map(aval_of);
    let record = |x: &[Array]| (vec![between(&x[0], shape, dtype, &x[1], &x[2])], ());
    let traced = trace("jit", &avals, Known::No, Captures::Constants, record);
    inline(&traced.jaxpr, &given).remove(0)
}

/// Random bits behind the point of numbers from 1 to 2, moved and scaled.
fn between(key: &Array, shape: &[usize], dtype: DType, min: &Array, max: &Array) -> Array {
    let Format {
        words: unsigned,
        mantissa,
        one,
        ..
    } = format("uniform", dtype);
    let (min, max) = (as_dtype(min, dtype, false), as_dtype(max, dtype, false));
    let (min, max) = (
        lax::expand_rank(&min, shape.len()),
        lax::expand_rank(&max, shape.len()),
    );
    // Where few bits are needed, few are made.
    let made = mantissa.next_power_of_two().max(8);
    let random = as_dtype(&words(key, shape, made), unsigned, false);
    let behind = lax::shift_right_logical(&random, &integer((made - mantissa) as i128, unsigned));
    let pattern = lax::bitwise_or(&behind, &integer(one, unsigned));
    let fraction = lax::sub(
        &lax::bitcast_convert_type(&pattern, dtype),
        &number(1.0, dtype),
    );
    let scaled = lax::mul(&fraction, &lax::sub(&max, &min));
    lax::max(&min, &lax::reshape(&lax::add(&scaled, &min), shape))
}

/// [`uniform`] up to 1 where JAX passes the bounds by name, which are in alphabetical order then.
#[track_caller]
pub(super) fn uniform_by_name(
    key: &Array,
    shape: &[usize],
    dtype: DType,
    min: impl Into<Array>,
) -> Array {
    library(
        "_uniform",
        &format!("by name {}", parameters(shape, dtype)),
        [key, &Array::from(1.0), &min.into()],
        |[key, max, min]| between(key, shape, dtype, min, max),
    )
}
