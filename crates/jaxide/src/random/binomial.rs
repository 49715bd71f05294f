//! Binomial samples, and multinomial ones that are made of them.

use jaxide_core::{DType, Scalar, Tensor};

use super::given::{float_type, inexact, sampled_shape, single};
use super::{Multinomial, Sample, number, split, uniform};
use crate::array::{Array, as_dtype, lengths};
use crate::numpy::nested;
use crate::trace::OrRaise;
use crate::{lax, numpy, scan, while_loop};

/// What is drawn: the shape, the element type of computation and that of the samples.
struct Draw<'a> {
    shape: &'a [usize],
    computed: DType,
    dtype: DType,
}

impl Draw<'_> {
    fn c(&self, value: f64) -> Array {
        number(value, self.computed)
    }

    fn full(&self, value: f64) -> Array {
        lax::full(self.shape, value, self.computed)
    }

    /// Whether the count of rounds is below the largest number.
    fn may_go_on(&self, round: &Array) -> Array {
        let largest = match self.dtype {
            DType::F16 => half::f16::MAX.to_f64(),
            DType::BF16 => half::bf16::MAX.to_f64(),
            DType::F32 => f32::MAX.into(),
            _ => f64::MAX,
        };
        numpy::less(round, &number(largest, self.dtype))
    }
}

/// Numbers of successes among `n` trials of probability `p`, as floats. They are NaN where the parameters are, `n` is negative or `p`
/// is less than 0 or more than 1.
///
/// # Panics
/// When the element type is not floating-point, or the parameters do not broadcast to the shape.
///
/// ```
/// use jaxide::random;
/// let x = random::binomial(&random::key(0), 10, 0.25, [1000]);
/// assert!((x.mean().item::<f32>() - 2.5).abs() < 0.2);
/// ```
#[track_caller]
pub fn binomial(
    key: &Array,
    n: impl Into<Array>,
    p: impl Into<Array>,
    options: impl Into<Sample>,
) -> Array {
    let _named = crate::trace::named("binomial");
    let Sample { shape, dtype } = options.into();
    let (n, p) = (n.into(), p.into());
    let key = single("binomial", key);
    let dtype = float_type("binomial", dtype);
    let shape = sampled_shape("binomial", shape.as_ref(), &[n.shape(), p.shape()]);
    samples(&key, &n, &p, &shape, dtype)
}

#[track_caller]
fn samples(key: &Array, n: &Array, p: &Array, shape: &[usize], dtype: DType) -> Array {
    let [p] = inexact("binomial", [p]);
    let draw = &Draw {
        shape,
        computed: p.dtype(),
        dtype,
    };
    let n = as_dtype(n, draw.computed, false);
    let n = numpy::broadcast_to(&n, shape);
    let p = numpy::broadcast_to(&as_dtype(&p, draw.computed, false), shape);
    let is_rare = lax::lt(&p, &draw.c(0.5));
    let q = lax::select(&is_rare, &p, &(draw.c(1.0) - &p));
    let no_count = lax::bitwise_or(&lax::ne(&n, &n), &lax::lt(&n, &draw.c(0.0)));
    let is_infinite = numpy::isinf(&n);
    let is_nan = lax::ne(&q, &q);
    let is_negative = lax::lt(&q, &draw.c(0.0));
    let no_probability = lax::bitwise_or(&is_nan, &is_negative);
    let q = lax::select(&no_probability, &draw.full(0.01), &q);
    let is_small = lax::le(&(&n * &q), &draw.c(10.0));
    let is_small = lax::bitwise_or(&no_count, &is_small);
    let n = lax::floor(&n);
    let n_small = lax::select(&is_small, &n, &draw.full(0.0));
    let n_large = lax::select(&is_small, &draw.full(1e4), &n);
    let q_large = lax::select(&is_small, &draw.full(0.5), &q);
    let small = by_inversion(key, &n_small, &q, draw);
    let large = by_rejection(key, &n_large, &q_large, draw);
    let samples = lax::select(&is_small, &small, &large);
    let invalid = lax::bitwise_or(&is_negative, &is_nan);
    let invalid = lax::bitwise_or(&invalid, &no_count);
    let nan = lax::full(shape, f64::NAN, dtype);
    let samples = lax::select(&invalid, &nan, &samples);
    let without_end = lax::bitwise_and(&is_infinite, &lax::bitwise_not(&invalid));
    let infinity = lax::full(shape, f64::INFINITY, dtype);
    let samples = lax::select(&without_end, &infinity, &samples);
    let stays = lax::bitwise_or(&is_rare, &no_count);
    let stays = lax::bitwise_or(&stays, &is_nan);
    let stays = lax::bitwise_or(&stays, &is_infinite);
    let others = as_dtype(&n, dtype, false) - &samples;
    lax::select(&stays, &samples, &others)
}

/// Geometric samples are added until there are more trials than `n`.
fn by_inversion(key: &Array, n: &Array, p: &Array, draw: &Draw) -> Array {
    type Carry = (Array, Array, Array, Array);
    let log_failure = &lax::log1p(&lax::neg(p));
    let goes_on = |(round, _, sum, _): Carry| {
        let any = lax::reduce_or(&lax::le(&sum, n), ());
        lax::bitwise_and(&any, &draw.may_go_on(&round))
    };
    let body = |(round, count, sum, key): Carry| {
        let [now, key] = split(&key, 2).unpack();
        let within = lax::le(&sum, n);
        let count = lax::select(&within, &(&count + draw.c(1.0)), &count);
        let u = uniform(&now, draw.shape, draw.computed, 0.0, 1.0);
        let trials = lax::ceil(&(lax::log(&u) / log_failure));
        let sum = sum + trials;
        (round + 1, count, sum, key)
    };
    let init = (Array::from(0), draw.full(0.0), draw.full(0.0), key.clone());
    let (_, count, _, _) = while_loop(goes_on, body, init);
    as_dtype(&(count - draw.c(1.0)), draw.dtype, false)
}

/// By transformed rejection (Hörmann, "The generation of binomial random variates", 1993).
fn by_rejection(key: &Array, n: &Array, p: &Array, draw: &Draw) -> Array {
    type Carry = (Array, Array, Array, Array);
    let c = |value: f64| draw.c(value);
    let deviation = &lax::sqrt(&(n * p * (c(1.0) - p)));
    let b = &(c(1.15) + c(2.53) * deviation);
    let a = &(c(-0.0873) + c(0.0248) * b + c(0.01) * p);
    let center = &(n * p + c(0.5));
    let v_r = &(c(0.92) - c(4.2) / b);
    let odds = &(p / (c(1.0) - p));
    let alpha = &((c(2.83) + c(5.1) / b) * deviation);
    let m = &lax::floor(&((n + c(1.0)) * p));
    let goes_on = |(round, _, accepted, _): Carry| {
        let any = lax::reduce_or(&lax::bitwise_not(&accepted), ());
        lax::bitwise_and(&any, &draw.may_go_on(&round))
    };
    let body = |(round, out, accepted, key): Carry| {
        let [key, for_u, for_v] = split(&key, 3).unpack();
        let u = uniform(&for_u, draw.shape, draw.computed, 0.0, 1.0);
        let v = uniform(&for_v, draw.shape, draw.computed, 0.0, 1.0);
        let u = u - c(0.5);
        let us = c(0.5) - lax::abs(&u);
        let first = lax::bitwise_and(&lax::ge(&us, &c(0.07)), &lax::le(&v, v_r));
        let k = &lax::floor(&((c(2.0) * a / &us + b) * u + center));
        let reject = lax::bitwise_or(&lax::lt(k, &c(0.0)), &lax::gt(k, n));
        let v = lax::log(&(v * alpha / (a / (&us * &us) + b)));
        let bound = (m + c(0.5)) * lax::log(&((m + c(1.0)) / (odds * (n - m + c(1.0)))));
        let bound = bound + (n + c(1.0)) * lax::log(&((n - m + c(1.0)) / (n - k + c(1.0))));
        let bound = bound + (k + c(0.5)) * lax::log(&(odds * (n - k + c(1.0)) / (k + c(1.0))));
        let bound = bound + stirling_rest(m, draw);
        let bound = bound + stirling_rest(&(n - m), draw);
        let bound = bound - stirling_rest(k, draw);
        let bound = bound - stirling_rest(&(n - k), draw);
        let second = lax::le(&v, &bound);
        let second = lax::bitwise_and(&lax::bitwise_not(&reject), &second);
        let accept = lax::bitwise_or(&first, &second);
        let out = lax::select(&accept, k, &out);
        let accepted = lax::bitwise_or(&accepted, &accept);
        (round + 1, out, accepted, key)
    };
    let init = (
        Array::from(0),
        draw.full(-1.0),
        lax::full(draw.shape, false, DType::Bool),
        key.clone(),
    );
    let (_, out, _, _) = while_loop(goes_on, body, init);
    as_dtype(&out, draw.dtype, false)
}

/// `log(k!)` less Stirling's approximation, for 0 to 9.
const STIRLING_RESTS: [f64; 10] = [
    0.081_061_466_795_327_2,
    0.041_340_695_955_409_2,
    0.027_677_925_684_998_3,
    0.020_790_672_103_765_09,
    0.016_644_691_189_821_1,
    0.013_876_128_823_070_7,
    0.011_896_709_945_891_7,
    0.010_411_265_261_972,
    0.009_255_462_182_712_73,
    0.008_330_563_433_362_87,
];

/// `log(k!)` less Stirling's approximation.
fn stirling_rest(k: &Array, draw: &Draw) -> Array {
    let c = |value: f64| draw.c(value);
    let rests = STIRLING_RESTS.iter();
    let rests = rests.flat_map(|&rest| Scalar::Float(rest).to_bytes(draw.computed).or_raise());
    let rests: Vec<u8> = rests.collect();
    let table = Tensor::from_bytes(&[STIRLING_RESTS.len()], draw.computed, &rests).or_raise();
    let table = Array::from(table);
    let tabulated = lax::le(k, &c(9.0));
    let k = lax::clamp(&c(0.0), k, &c(9.0));
    let square = (&k + c(1.0)) * (&k + c(1.0));
    let inner = c(1.0 / 360.0) - c(1.0 / 1260.0) / &square;
    let series = (c(1.0 / 12.0) - inner / square) / (&k + c(1.0));
    let index = lax::convert_element_type(&lax::floor(&k), DType::I32);
    lax::select(&tabulated, &table.index(index), &series)
}

/// How often each category is drawn in `n` draws, where the last axis of `p` has the probabilities of the categories.
///
/// # Panics
/// When `p` has no axis, or the parameters do not broadcast to the shape.
///
/// ```
/// use jaxide::random;
/// let x = random::multinomial(&random::key(0), 10, [0.5f32, 0.25, 0.25], ());
/// assert_eq!(x.shape(), [3]);
/// assert_eq!(x.sum().item::<f32>(), 10.0);
/// ```
#[track_caller]
pub fn multinomial(
    key: &Array,
    n: impl Into<Array>,
    p: impl Into<Array>,
    options: impl Into<Multinomial>,
) -> Array {
    let _named = crate::trace::named("multinomial");
    let Multinomial { shape, dtype } = options.into();
    let key = single("multinomial", key);
    let [n, p] = inexact("multinomial", [&n.into(), &p.into()]);
    let (batch, categories) = super::vectors::last_axis("multinomial", &p);
    let shape = match shape {
        None => batch.to_vec(),
        Some(shape) => lengths("multinomial", &shape[..]).to_vec(),
    };
    for given in [n.shape(), batch] {
        numpy::check_broadcast_to("multinomial", given, &shape);
    }
    let n = numpy::broadcast_to(&n, &shape);
    let p = numpy::broadcast_to(&p, &[&shape[..], &[categories]].concat());
    let rank = shape.len();
    let front: Vec<usize> = std::iter::once(rank).chain(0..rank).collect();
    let p = lax::transpose(&p, &front);
    let rest = lax::cumsum(&p, 0, true);
    let nothing = lax::eq(&rest, &number(0.0, p.dtype()));
    let ratios = &p / numpy::where_(&nothing, &Array::from(1), &rest);
    let keys = split(&key, categories);
    let draw = |rest: Array, (ratio, key): (Array, Array)| {
        let ratio = nested::clip_by_name(&ratio, &Array::from(0), &Array::from(1));
        let count = samples(&key, &rest, &ratio, &shape, rest.dtype());
        (&rest - &count, count)
    };
    let (_, counts) = scan(draw, n, (ratios, keys), None);
    let last: Vec<usize> = (1..=rank).chain([0]).collect();
    as_dtype(&lax::transpose(&counts, &last), dtype, false)
}
