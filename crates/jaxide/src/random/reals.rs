//! Samples of continuous distributions without parameters: functions of uniform samples, mostly the inverse of the distribution
//! function.

use jaxide_core::{DType, Scalar};

use super::given::single;
use super::keys::words;
use super::uniform::{Format, format, parameters, uniform_by_name};
use super::{Bits, Gumbel, SampleType, integer, literal, number, split, uniform};
use crate::array::{Array, AsShape, as_dtype, lengths};
use crate::trace::library;
use crate::{lax, numpy};

/// A sampler of a shape and a type: one named function of the key.
macro_rules! samplers {
    ($($(#[$doc:meta])* $name:ident $text:literal $sample:path;)*) => { $(
        $(#[$doc])*
        ///
        /// They are `f32` with `()` for the element type.
        ///
        /// # Panics
        /// When `dtype` is not floating-point, or `key` is not a key.
        #[track_caller]
        pub fn $name(key: &Array, shape: impl AsShape, dtype: impl Into<SampleType>) -> Array {
            let _named = crate::trace::named(stringify!($name));
            let dtype = dtype.into().or(DType::F32);
            let shape = &lengths(stringify!($name), &shape)[..];
            let key = &single(stringify!($name), key);
            format(stringify!($name), dtype);
            library($text, &parameters(shape, dtype), [key], |[key]| $sample(key, shape, dtype))
        }
    )* };
}

samplers! {
    /// Samples of the exponential distribution of mean 1.
    exponential "_exponential" exponential_samples;
    /// Samples of the Laplace distribution of mean 0 and scale 1.
    laplace "_laplace" laplace_samples;
    /// Samples of the logistic distribution of mean 0 and scale 1.
    logistic "_logistic" logistic_samples;
    /// Samples of the Cauchy distribution of location 0 and scale 1.
    cauchy "_cauchy" cauchy_samples;
    /// Samples of the Maxwell distribution of scale 1: lengths of normal vectors of three elements.
    maxwell "_maxwell" maxwell_samples;
}

/// Samples of the normal distribution of mean 0 and standard deviation 1, `f32` with `()`. Complex ones have that deviation from 0 as a whole, half of
/// the variance in each part.
///
/// # Panics
/// When `dtype` is neither floating-point nor complex, or `key` is not a key.
///
/// ```
/// use jaxide::{DType, random};
/// let z = random::normal(&random::key(0), 1000, DType::C64);
/// assert!((z.abs().square().mean().item::<f32>() - 1.0).abs() < 0.1);
/// assert_eq!(random::normal(&random::key(0), [2, 3], ()).dtype(), DType::F32);
/// ```
#[track_caller]
pub fn normal(key: &Array, shape: impl AsShape, dtype: impl Into<SampleType>) -> Array {
    let _named = crate::trace::named("normal");
    let dtype = dtype.into().or(DType::F32);
    let shape = &lengths("normal", &shape)[..];
    let key = &single("normal", key);
    let part = match dtype {
        DType::C64 => DType::F32,
        DType::C128 => DType::F64,
        real => real,
    };
    format("normal", part);
    library("_normal", &parameters(shape, dtype), [key], |[key]| {
        if part == dtype {
            return named_normal(key, shape, dtype);
        }
        let [re, im] = split(key, 2).unpack();
        let re = as_dtype(&named_normal(&re, shape, part), dtype, false);
        let im = as_dtype(&named_normal(&im, shape, part), dtype, false);
        let sum = re + literal(Scalar::Complex(0.0, 1.0), dtype) * im;
        let root = match part {
            DType::F32 => f64::from(std::f32::consts::SQRT_2),
            _ => std::f64::consts::SQRT_2,
        };
        sum / literal(Scalar::Complex(root, 0.0), dtype)
    })
}

/// Samples of the Gumbel distribution of location 0 and scale 1.
///
/// # Panics
/// When the element type is not floating-point, or `key` is not a key.
///
/// ```
/// use jaxide::{DType, random};
/// let key = random::key(0);
/// let fine = random::gumbel(&key, 4, random::Gumbel::new().mode(random::Bits::Highest));
/// assert_eq!((fine.shape(), fine.dtype()), (&[4][..], DType::F32));
/// ```
#[track_caller]
pub fn gumbel(key: &Array, shape: impl AsShape, options: impl Into<Gumbel>) -> Array {
    let _named = crate::trace::named("gumbel");
    let Gumbel { dtype, mode } = options.into();
    let shape = &lengths("gumbel", &shape)[..];
    let key = &single("gumbel", key);
    format("gumbel", dtype);
    let of = format!("{} {mode:?}", parameters(shape, dtype));
    library("_gumbel", &of, [key], |[key]| match mode {
        Bits::Low => gumbel_samples(key, shape, dtype),
        Bits::Highest if dtype == DType::F32 => gumbel_of_two_words(key, shape),
        Bits::High | Bits::Highest => gumbel_of_two_samples(key, shape, dtype),
    })
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
    // JAX has no numbers of `bf16` here.
    let of = if dtype == DType::BF16 {
        DType::F32
    } else {
        dtype
    };
    let min = number(-format("laplace", dtype).below_one, of);
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
    let tiny = format("gumbel", dtype).tiny;
    twice_log(&uniform_by_name(key, shape, dtype, number(tiny, dtype)))
}

/// `-log(-log x)`.
fn twice_log(x: &Array) -> Array {
    lax::neg(&lax::log(&lax::neg(&lax::log(x))))
}

/// `-log(-log(1 - x))`.
fn twice_log_of_rest(x: &Array) -> Array {
    lax::neg(&lax::log(&lax::neg(&lax::log1p(&lax::neg(x)))))
}

/// Uniform samples below a half have a second sample behind their last bit.
fn gumbel_of_two_samples(key: &Array, shape: &[usize], dtype: DType) -> Array {
    let Format { mantissa, tiny, .. } = format("gumbel", dtype);
    let pairs = uniform_by_name(key, &[&[2], shape].concat(), dtype, 0.0);
    let [high, low] = pairs.unpack();
    let is_large = high.ge(number(0.5, dtype));
    let last = 0.5_f64.powi(mantissa as i32);
    let least = (last * last / 2.0).max(tiny);
    let fine = &high + number(last, dtype) * low + number(least, dtype);
    twice_log_of_rest(&numpy::where_(&is_large, &high, &fine))
}

/// From 64 bits, of which `x` or `1 - x` is a float with all its bits, whichever is below a half.
fn gumbel_of_two_words(key: &Array, shape: &[usize]) -> Array {
    let word = |value: u32| integer(value.into(), DType::U32);
    let bits = words(key, &[&[2], shape].concat(), 32);
    let inverse = lax::bitwise_not(&bits);
    // The negative of a number of two words: the inverse and one, carried.
    let carries = lax::eq(&inverse.index(1), &word(u32::MAX));
    let ones = lax::full(shape, 1, DType::U32);
    let carries = as_dtype(&carries, DType::U32, false);
    let summands = [carries, ones].map(|x| lax::expand_dims(&x, [0]));
    let negative = inverse + lax::concatenate(&summands, 0);
    let below_half = bits.index(0).lt(word(1 << 31));
    let x = float_of_words(&numpy::where_(&below_half, &bits, &negative), &word);
    let small = twice_log_of_rest(&x);
    let large = twice_log(&x);
    numpy::where_(&below_half, &small, &large)
}

/// The float nearest below a number between 0 and 1 with 64 bits behind the point, in two words.
fn float_of_words(words: &Array, word: &dyn Fn(u32) -> Array) -> Array {
    let [high_zeros, low_zeros] = lax::clz(words).unpack();
    let [high, low] = words.unpack();
    let first = lax::shift_left(&high, &high_zeros);
    let high_empty = lax::eq(&high_zeros, &word(32));
    let of_low = lax::shift_left(&low, &low_zeros);
    let behind = lax::shift_right_logical(&low, &(word(32) - &high_zeros));
    let second = numpy::where_(&high_empty, &of_low, &behind);
    let mantissa = lax::shift_right_logical(&lax::bitwise_or(&first, &second), &word(8));
    let mantissa = lax::bitwise_and(&mantissa, &word((1 << 23) - 1));
    let high_empty = lax::eq(&high_zeros, &word(32));
    let zeros = numpy::where_(&high_empty, &(word(32) + low_zeros), &high_zeros);
    let exponent = lax::shift_left(&(word(126) - zeros), &word(23));
    let exponent = lax::bitwise_and(&exponent, &word((1 << 30) - (1 << 22)));
    lax::bitcast_convert_type(&lax::bitwise_or(&exponent, &mantissa), DType::F32)
}

/// The lengths of vectors of three normal samples.
fn maxwell_samples(key: &Array, shape: &[usize], dtype: DType) -> Array {
    let vectors = normal(key, &[shape, &[3]].concat(), dtype);
    library("norm", "last axis", [&vectors], |[vectors]| {
        // Halves are added in 32 bits.
        let squares = vectors * vectors;
        let computed = if dtype.size() < 4 { DType::F32 } else { dtype };
        let sum = lax::reduce_sum(&as_dtype(&squares, computed, false), shape.len());
        lax::sqrt(&as_dtype(&sum, dtype, false))
    })
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
