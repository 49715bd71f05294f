//! Poisson samples.

use jaxide_core::{DType, Error};

use super::given::{integer_type, sampled_shape, single};
use super::whole::limits;
use super::{Gamma, Method, integer, key_impl, normal, number, split, uniform};
use crate::array::{Array, as_dtype, is_wide};
use crate::random::KeyImpl;
use crate::trace::{library, raise};
use crate::{lax, numpy, while_loop};

/// Samples of the Poisson distribution of mean `lam`.
///
/// # Panics
/// When the element type is not one of integers, `lam` does not broadcast to the shape, or exact samples are asked of a key that is not
/// of Threefry.
///
/// ```
/// use jaxide::random;
/// let x = random::poisson(&random::key(0), 3.0, [1000]);
/// assert!((x.mean().item::<f32>() - 3.0).abs() < 0.3);
/// ```
#[track_caller]
pub fn poisson(key: &Array, lam: impl Into<Array>, options: impl Into<Gamma>) -> Array {
    let _named = crate::trace::named("poisson");
    let lam = &lam.into();
    let Gamma {
        shape,
        dtype,
        method,
    } = options.into();
    let key = &single("poisson", key);
    let dtype = integer_type("poisson", dtype);
    let shape = &sampled_shape("poisson", shape.as_ref(), &[lam.shape()])[..];
    let of = format!("{shape:?} {dtype}");
    if method == Method::Approximate {
        return library("_poisson_approx", &of, [key, lam], |[key, lam]| {
            approximate(key, lam, shape, dtype)
        });
    }
    if key_impl(key) != KeyImpl::Fry {
        let error = format!(
            "exact samples need a key of Threefry, and {} is given",
            key.aval()
        );
        raise(Error::dtype(error).in_operation("poisson"));
    }
    let lam = as_dtype(&numpy::broadcast_to(lam, shape), DType::F32, false);
    library("_poisson", &of, [key, &lam], |[key, lam]| {
        exact(key, lam, shape, dtype)
    })
}

/// By multiplication where the mean is small, by rejection where it is large.
fn exact(key: &Array, lam: &Array, shape: &[usize], dtype: DType) -> Array {
    let c = |value: f64| number(value, DType::F32);
    let is_small = lax::bitwise_or(&lax::ne(lam, lam), &lax::lt(lam, &c(10.0)));
    let small = lax::select(&is_small, lam, &lax::full(shape, 0.0, DType::F32));
    let large = lax::select(&is_small, &lax::full(shape, 1e5, DType::F32), lam);
    let of = format!("{shape:?} {dtype}");
    let by_product = library("_poisson_knuth", &of, [key, &small], |[key, lam]| {
        by_multiplication(key, lam, shape, dtype)
    });
    let by_rejection = library("_poisson_rejection", &of, [key, &large], |[key, lam]| {
        by_rejection(key, lam, shape, dtype)
    });
    let samples = lax::select(&is_small, &by_product, &by_rejection);
    let is_zero = lax::eq(lam, &c(0.0));
    lax::select(&is_zero, &lax::full(shape, 0, dtype), &samples)
}

/// Whether the count of rounds is below the largest sample.
fn may_go_on(round: &Array, dtype: DType) -> Array {
    numpy::less(round, &integer(limits(dtype).1, dtype))
}

/// Uniform samples are multiplied until the product is below `exp(-lam)` (Knuth).
fn by_multiplication(key: &Array, lam: &Array, shape: &[usize], dtype: DType) -> Array {
    type Carry = (Array, Array, Array, Array);
    let init = (
        Array::from(0),
        lax::full(shape, 0, dtype),
        key.clone(),
        lax::full(shape, 0.0, DType::F32),
    );
    let goes_on = |(round, _, _, log): Carry| {
        let any = lax::reduce_or(&lax::gt(&log, &lax::neg(lam)), ());
        lax::bitwise_and(&any, &may_go_on(&round, dtype))
    };
    let body = |(round, count, key, log): Carry| {
        let [key, now] = split(&key, 2).unpack();
        let above = lax::gt(&log, &lax::neg(lam));
        let count = lax::select(&above, &(&count + integer(1, dtype)), &count);
        let u = uniform(&now, shape, DType::F32, 0.0, 1.0);
        (round + 1, count, key, log + lax::log(&u))
    };
    let (_, count, _, _) = while_loop(goes_on, body, init);
    count - integer(1, dtype)
}

/// By transformed rejection (Hörmann, "The transformed rejection method for generating Poisson random variables", 1993).
fn by_rejection(key: &Array, lam: &Array, shape: &[usize], dtype: DType) -> Array {
    type Carry = (Array, Array, Array, Array);
    let c = |value: f64| number(value, DType::F32);
    let log_lam = &lax::log(lam);
    let b = &(c(0.931) + c(2.53) * lax::sqrt(lam));
    let a = &(c(-0.059) + c(0.02483) * b);
    let inverse_alpha = &(c(1.1239) + c(1.1328) / (b - c(3.4)));
    let v_r = &(c(0.9277) - c(3.6224) / (b - c(2.0)));
    let init = (
        Array::from(0),
        lax::full(shape, -1.0, DType::F32),
        lax::full(shape, false, DType::Bool),
        key.clone(),
    );
    let goes_on = |(round, _, accepted, _): Carry| {
        let any = lax::reduce_or(&lax::bitwise_not(&accepted), ());
        lax::bitwise_and(&any, &may_go_on(&round, dtype))
    };
    let body = |(round, out, accepted, key): Carry| {
        let [key, for_u, for_v] = split(&key, 3).unpack();
        let u = uniform(&for_u, shape, DType::F32, 0.0, 1.0) - c(0.5);
        let v = uniform(&for_v, shape, DType::F32, 0.0, 1.0);
        let shifted = c(0.5) - lax::abs(&u);
        let k = lax::floor(&((c(2.0) * a / &shifted + b) * u + lam + c(0.43)));
        let s = lax::log(&(&v * inverse_alpha / (a / (&shifted * &shifted) + b)));
        let t = lax::neg(lam) + &k * log_lam - lax::lgamma(&(&k + c(1.0)));
        let first = lax::bitwise_and(&lax::ge(&shifted, &c(0.07)), &lax::le(&v, v_r));
        let negative = lax::lt(&k, &c(0.0));
        let outside = lax::bitwise_and(&lax::lt(&shifted, &c(0.013)), &lax::gt(&v, &shifted));
        let reject = lax::bitwise_or(&negative, &outside);
        let second = lax::le(&s, &t);
        let second = lax::bitwise_and(&lax::bitwise_not(&reject), &second);
        let accept = lax::bitwise_or(&first, &second);
        let out = lax::select(&accept, &k, &out);
        let accepted = lax::bitwise_or(&accepted, &accept);
        (round + 1, out, accepted, key)
    };
    let (_, out, _, _) = while_loop(goes_on, body, init);
    as_dtype(&out, dtype, false)
}

/// How many terms the sum of probabilities has where the mean is below [`SMALL`].
const TERMS: usize = 20;

/// Up to which mean probabilities are summed.
const SMALL: f64 = 7.0;

/// The sample of the same rank as a normal one.
fn approximate(key: &Array, lam: &Array, shape: &[usize], dtype: DType) -> Array {
    let computed = if is_wide(dtype) || lam.dtype() == DType::F64 {
        DType::F64
    } else {
        DType::F32
    };
    let lam = &as_dtype(lam, computed, false);
    let lam = &lax::expand_rank(lam, shape.len());
    let z = &normal(key, shape, computed);
    let c = |value: f64| number(value, computed);
    let small = by_inversion(&normal_distribution(z, &c), lam, &c);
    let large = by_normal(z, lam, &c);
    let sample = numpy::where_(&lax::lt(lam, &c(SMALL)), &small, &large);
    as_dtype(&sample, dtype, false)
}

/// The distribution function of the normal distribution.
fn normal_distribution(x: &Array, c: &dyn Fn(f64) -> Array) -> Array {
    let half_root = c(std::f64::consts::FRAC_1_SQRT_2);
    let w = x * &half_root;
    let z = lax::abs(&w);
    let is_small = lax::lt(&z, &half_root);
    let small = c(1.0) + lax::erf(&w);
    let positive = lax::gt(&w, &c(0.0));
    let above = c(2.0) - lax::erfc(&z);
    let large = lax::select(&positive, &above, &lax::erfc(&z));
    c(0.5) * lax::select(&is_small, &small, &large)
}

/// How many sums of probabilities are below `u`.
fn by_inversion(u: &Array, lam: &Array, c: &dyn Fn(f64) -> Array) -> Array {
    let below = |sum: &Array| as_dtype(&numpy::less(sum, u), u.dtype(), false);
    let mut probability = lax::exp(&lax::neg(lam));
    let mut sum = probability.clone();
    let mut count = below(&sum);
    for k in 1..TERMS - 1 {
        probability *= lam / c(k as f64);
        sum += &probability;
        count += below(&sum);
    }
    count
}

/// By the normal approximation of Peizer and Pratt: nearly its root, then whichever of the integers around has the rank.
fn by_normal(z: &Array, lam: &Array, c: &dyn Fn(f64) -> Array) -> Array {
    let root = &lax::sqrt(lam);
    let start = lam + root * z - c(2.0 / 3.0) + lax::square(z) / c(6.0);
    let start = start + z * (c(1.0) - lax::square(z)) / (c(72.0) * root);
    let x = start + c(0.6);
    let above = &lax::ceil(&x);
    let reaches = |count: &Array| {
        let negative = lax::lt(count, &c(0.0));
        let count = numpy::maximum(count, &c(0.0));
        let rank = rank(&count, lam, c);
        let rank = numpy::where_(&negative, &Array::from(f64::NEG_INFINITY), &rank);
        as_dtype(&lax::ge(&rank, z), z.dtype(), false)
    };
    let out = above + c(1.0);
    let out = out - reaches(above);
    let out = out - reaches(&(above - c(1.0)));
    numpy::maximum(&out, &c(0.0))
}

/// The normal rank of a count.
fn rank(x: &Array, lam: &Array, c: &dyn Fn(f64) -> Array) -> Array {
    let t = correction(&((x + c(0.5)) / lam), c);
    let distance = x - lam + c(2.0 / 3.0) + c(0.02) / (x + c(1.0));
    distance * lax::sqrt(&((c(1.0) + t) / lam))
}

/// `(1 - y^2 + 2 y log y) / (1 - y)^2`, by its series where `y` is near 1.
fn correction(y: &Array, c: &dyn Fn(f64) -> Array) -> Array {
    let d = &(y - c(1.0));
    let is_near = lax::lt(&lax::abs(d), &c(0.25));
    let mut series = lax::full(d.shape(), 0.0, d.dtype());
    for k in (1..10).rev() {
        let sign = if k % 2 == 0 { 2.0 } else { -2.0 };
        series = d * (c(sign / f64::from((k + 1) * (k + 2))) + series);
    }
    let y = &numpy::where_(&is_near, &Array::from(2.0), y);
    let d = &numpy::where_(&is_near, &Array::from(1.0), d);
    let direct = c(1.0) - lax::square(y) + c(2.0) * y * lax::log(y);
    let direct = direct / lax::square(d);
    numpy::where_(&is_near, &series, &direct)
}
