//! Samples of continuous distributions.
//!
//! All but the uniform one are functions of uniform samples, mostly the inverse of the distribution function.

use jaxide_core::{DType, Error};

use super::keys::words;
use super::{integer, number};
use crate::array::{Array, AsShape, as_dtype, lengths};
use crate::trace::{library, raise};
use crate::{lax, numpy};

/// How the samples of a type are made: its words, the bits of its mantissa, and its special numbers.
struct Format {
    /// The unsigned integers of the same width.
    words: DType,
    /// Bits behind the point.
    mantissa: usize,
    /// The bits of 1.0.
    one: i128,
    /// The largest number below 1.
    below_one: f64,
    /// The smallest positive normal number.
    tiny: f64,
}

#[track_caller]
fn format(operation: &str, dtype: DType) -> Format {
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
fn parameters(shape: &[usize], dtype: DType) -> String {
    format!("{shape:?} {dtype}")
}

/// Uniform samples from `min` to below `max`.
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
    dtype: DType,
    min: impl Into<Array>,
    max: impl Into<Array>,
) -> Array {
    let shape = &lengths("uniform", &shape)[..];
    format("uniform", dtype);
    let (min, max) = (min.into(), max.into());
    for bound in [&min, &max] {
        numpy::check_broadcast_to("uniform", bound.shape(), shape);
    }
    library(
        "_uniform",
        &parameters(shape, dtype),
        [key, &min, &max],
        |[key, min, max]| between(key, shape, dtype, min, max),
    )
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
    lax::max(&min, &lax::add(&scaled, &min))
}

/// A sampler of a shape and a type: one named function of the key.
macro_rules! samplers {
    ($($(#[$doc:meta])* $name:ident $text:literal $sample:path;)*) => { $(
        $(#[$doc])*
        ///
        /// # Panics
        /// When `dtype` is not floating-point, or `key` is not a key.
        #[track_caller]
        pub fn $name(key: &Array, shape: impl AsShape, dtype: DType) -> Array {
            let shape = &lengths(stringify!($name), &shape)[..];
            format(stringify!($name), dtype);
            library($text, &parameters(shape, dtype), [key], |[key]| $sample(key, shape, dtype))
        }
    )* };
}

samplers! {
    /// Samples of the normal distribution of mean 0 and standard deviation 1.
    normal "_normal" named_normal;
    /// Samples of the exponential distribution of mean 1.
    exponential "_exponential" exponential_samples;
    /// Samples of the Laplace distribution of mean 0 and scale 1.
    laplace "_laplace" laplace_samples;
    /// Samples of the logistic distribution of mean 0 and scale 1.
    logistic "_logistic" logistic_samples;
    /// Samples of the Gumbel distribution of location 0 and scale 1.
    gumbel "_gumbel" gumbel_samples;
    /// Samples of the Cauchy distribution of location 0 and scale 1.
    cauchy "_cauchy" cauchy_samples;
}

fn named_normal(key: &Array, shape: &[usize], dtype: DType) -> Array {
    library("_normal_real", &parameters(shape, dtype), [key], |[key]| {
        normal_samples(key, shape, dtype)
    })
}

/// The inverse error function of uniform samples, times the square root of two.
fn normal_samples(key: &Array, shape: &[usize], dtype: DType) -> Array {
    let below_one = format("normal", dtype).below_one;
    let (min, max) = (number(-below_one, dtype), number(1.0, dtype));
    let inverse = lax::erf_inv(&uniform(key, shape, dtype, min, max));
    lax::mul(&number(std::f64::consts::SQRT_2, dtype), &inverse)
}

/// `-log(1 - u)`.
fn exponential_samples(key: &Array, shape: &[usize], dtype: DType) -> Array {
    let u = uniform(key, shape, dtype, 0.0, 1.0);
    lax::neg(&lax::log1p(&lax::neg(&u)))
}

/// `sign(u) log(1 - |u|)` for `u` between -1 and 1.
fn laplace_samples(key: &Array, shape: &[usize], dtype: DType) -> Array {
    let min = number(-format("laplace", dtype).below_one, dtype);
    let u = uniform(key, shape, dtype, min, 1.0);
    lax::mul(&lax::sign(&u), &lax::log1p(&lax::neg(&lax::abs(&u))))
}

/// `log u - log(1 - u)`.
fn logistic_samples(key: &Array, shape: &[usize], dtype: DType) -> Array {
    let tiny = number(format("logistic", dtype).tiny, dtype);
    let u = uniform(key, shape, dtype, tiny, 1.0);
    lax::sub(&lax::log(&u), &lax::log1p(&lax::neg(&u)))
}

/// `-log(-log u)`.
fn gumbel_samples(key: &Array, shape: &[usize], dtype: DType) -> Array {
    let (min, max) = (
        number(format("gumbel", dtype).tiny, dtype),
        Array::from(1.0),
    );
    // JAX passes these bounds by name, and names are in alphabetical order.
    let u = library(
        "_uniform",
        &format!("by name {}", parameters(shape, dtype)),
        [key, &max, &min],
        |[key, max, min]| between(key, shape, dtype, min, max),
    );
    lax::neg(&lax::log(&lax::neg(&lax::log(&u))))
}

/// `tan(pi (u - 1/2))`.
fn cauchy_samples(key: &Array, shape: &[usize], dtype: DType) -> Array {
    let epsilon = 2.0 * (1.0 - format("cauchy", dtype).below_one);
    let u = uniform(key, shape, dtype, number(epsilon, dtype), 1.0);
    let angle = lax::mul(
        &number(std::f64::consts::PI, dtype),
        &lax::sub(&u, &number(0.5, dtype)),
    );
    lax::tan(&angle)
}
