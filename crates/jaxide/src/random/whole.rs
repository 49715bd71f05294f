//! Samples of discrete distributions.

use jaxide_core::{DType, Error, Scalar, prims};

use super::given::{inexact, integer_type, sampled_shape, single};
use super::keys::words;
use super::{Bernoulli, Bits, Sample, SampleType, integer, number, split, uniform};
use crate::array::{Array, AsShape, Repr, as_dtype, is_wide, lengths};
use crate::numpy::nested;
use crate::trace::{bind_one, library, raise};
use crate::{lax, numpy};

/// Truth values, true with probability `p`.
///
/// # Panics
/// When `p` is not floating-point, or does not broadcast to the shape.
///
/// ```
/// use jaxide::random;
/// let heads = random::bernoulli(&random::key(0), 0.25, &[1000]);
/// let count = heads.to_bools().iter().filter(|&&head| head).count();
/// assert!((200..300).contains(&count));
/// ```
#[track_caller]
pub fn bernoulli(key: &Array, p: impl Into<Array>, options: impl Into<Bernoulli>) -> Array {
    let _named = crate::trace::named("bernoulli");
    let Bernoulli { shape, mode } = options.into();
    let key = &single("bernoulli", key);
    let p = p.into();
    let dtype = p.dtype();
    if !dtype.is_float() {
        raise(
            Error::dtype(format!(
                "a probability is a float, and {} is given",
                p.aval()
            ))
            .in_operation("bernoulli"),
        );
    }
    let p = match p.0 {
        Repr::Number(literal) => number(literal.value.as_f64().unwrap_or(0.0), dtype),
        _ => as_dtype(&p, dtype, false),
    };
    let shape = &sampled_shape("bernoulli", shape.as_ref(), &[p.shape()])[..];
    let of = format!("{shape:?} {mode:?}");
    library("_bernoulli", &of, [key, &p], |[key, p]| {
        if mode == Bits::Low {
            return numpy::less(&uniform(key, shape, dtype, 0.0, 1.0), p);
        }
        let pairs = uniform(key, &[&[2], shape].concat(), dtype, 0.0, 1.0);
        let [first, second] = pairs.unpack();
        let last = 0.5_f64.powi(super::uniform::format("bernoulli", dtype).mantissa as i32);
        let behind = second * number(last, dtype);
        numpy::less(&behind, &(p - first))
    })
}

/// 1 or -1, as likely, `i32` with `()` for the element type.
///
/// # Panics
/// When `dtype` is not a type of numbers.
#[track_caller]
pub fn rademacher(key: &Array, shape: impl AsShape, dtype: impl Into<SampleType>) -> Array {
    let _named = crate::trace::named("rademacher");
    let dtype = dtype.into().or(DType::I32);
    let shape = &lengths("rademacher", &shape)[..];
    let key = &single("rademacher", key);
    library(
        "_rademacher",
        &format!("{shape:?} {dtype}"),
        [key],
        |[key]| {
            let half = number(
                0.5,
                if is_wide(dtype) {
                    DType::F64
                } else {
                    DType::F32
                },
            );
            let heads = as_dtype(&bernoulli(key, half, shape), dtype, false);
            // Of truth values both signs are true.
            let counted = numpy::numeric(dtype);
            let number = |value: i64| as_dtype(&Array::from(value), counted, false);
            let twice = lax::mul(&number(2), &as_dtype(&heads, counted, false));
            as_dtype(&lax::sub(&twice, &number(1)), dtype, false)
        },
    )
}

/// Integers from `min` to below `max`, `i32` with `()` for the element type.
///
/// # Panics
/// When `dtype` is not an integer type, or bounds do not broadcast to `shape`.
///
/// ```
/// use jaxide::{DType, random};
/// let dice = random::randint(&random::key(0), &[100], 1, 7, DType::I32);
/// assert!(dice.to_vec::<i32>().iter().all(|eyes| (1..=6).contains(eyes)));
/// ```
#[track_caller]
pub fn randint(
    key: &Array,
    shape: impl AsShape,
    min: impl Into<Array>,
    max: impl Into<Array>,
    dtype: impl Into<SampleType>,
) -> Array {
    let _named = crate::trace::named("randint");
    let dtype = dtype.into().or(DType::I32);
    let shape = &lengths("randint", &shape)[..];
    let key = &single("randint", key);
    // Other bounds are cut to integers.
    let whole = |bound: Array| match bound.dtype() {
        of if of.is_integer() => bound,
        of if is_wide(of) || is_wide(dtype) => as_dtype(&bound, DType::I64, false),
        _ => as_dtype(&bound, DType::I32, false),
    };
    let (min, max) = (whole(min.into()), whole(max.into()));
    for bound in [&min, &max] {
        numpy::check_broadcast_to("randint", bound.shape(), shape);
    }
    let Some(unsigned) = unsigned(dtype) else {
        raise(
            Error::dtype(format!("integers are i8 to u64, and {dtype} is asked for"))
                .in_operation("randint"),
        )
    };
    // Eight and sixteen bits are drawn from 32, nearly without bias.
    let (least, most) = limits(dtype);
    let (drawn, unsigned, min, max) = if dtype.size() < 4 {
        let number = |value: i128| Array::weak(Scalar::Int(value as i64), DType::I32);
        let bound = |x: &Array, most: i128| {
            nested::clip_by_name(
                &as_dtype(x, DType::I32, false),
                &number(least),
                &number(most),
            )
        };
        (
            DType::I32,
            DType::U32,
            bound(&min, most),
            bound(&max, most + 1),
        )
    } else {
        (dtype, unsigned, min, max)
    };
    let numbers = library(
        "_randint",
        &format!("{shape:?} {drawn}"),
        [key, &min, &max],
        |[key, min, max]| integers(key, shape, min, max, drawn, unsigned),
    );
    as_dtype(&numbers, dtype, false)
}

/// Random words of twice as many bits, reduced to the span: nearly without bias.
fn integers(
    key: &Array,
    shape: &[usize],
    min: &Array,
    max: &Array,
    dtype: DType,
    unsigned: DType,
) -> Array {
    let largest = integer(limits(dtype).1, dtype);
    let most = converted(&largest, max.dtype());
    let max_beyond = bind_one(prims::Greater, &[max.clone(), most]);
    let (min, max) = (converted(min, dtype), converted(max, dtype));
    let (min, max) = (
        lax::expand_rank(&min, shape.len()),
        lax::expand_rank(&max, shape.len()),
    );
    let bit_width = dtype.size() * 8;
    let [first, second] = split(key, 2).unpack();
    let (high, low) = (
        words(&first, shape, bit_width),
        words(&second, shape, bit_width),
    );
    let span = lax::convert_element_type(&lax::sub(&max, &min), unsigned);
    // An empty range gives `min`; one that ends beyond the type is one longer, and wraps to zero when it is everything.
    let empty = lax::le(&max, &min);
    let span = lax::select(&empty, &lax::full(span.shape(), 1, unsigned), &span);
    let longer = lax::bitwise_and(&max_beyond, &lax::gt(&max, &min));
    let span = lax::select(&longer, &lax::add(&span, &integer(1, unsigned)), &span);
    // 2^bits modulo the span, by its root: (a b) % n = ((a % n) (b % n)) % n.
    let root = lax::rem(&integer(1 << (bit_width / 2), unsigned), &span);
    let power = lax::rem(&lax::mul(&root, &root), &span);
    let offset = lax::add(
        &lax::mul(&lax::rem(&high, &span), &power),
        &lax::rem(&low, &span),
    );
    let offset = lax::convert_element_type(&lax::rem(&offset, &span), dtype);
    lax::add(&min, &offset)
}

/// An integer moved into the range of another type.
#[track_caller]
fn converted(x: &Array, dtype: DType) -> Array {
    let ((low, high), (least, most)) = (limits(x.dtype()), limits(dtype));
    let weak = x.weak_type();
    let bound = |value: i128| as_dtype(&integer(value, x.dtype()), x.dtype(), weak);
    let (min, max) = (bound(low.max(least)), bound(high.min(most)));
    let moved = numpy::clip(x, &min, &max);
    as_dtype(&moved, dtype, false)
}

/// The unsigned type of the same width.
fn unsigned(dtype: DType) -> Option<DType> {
    Some(match dtype {
        DType::I8 | DType::U8 => DType::U8,
        DType::I16 | DType::U16 => DType::U16,
        DType::I32 | DType::U32 => DType::U32,
        DType::I64 | DType::U64 => DType::U64,
        _ => return None,
    })
}

/// The smallest and the largest integer of a type.
pub(super) fn limits(dtype: DType) -> (i128, i128) {
    let bits = dtype.size() * 8;
    if dtype.is_unsigned_integer() {
        (0, (1 << bits) - 1)
    } else {
        (-(1 << (bits - 1)), (1 << (bits - 1)) - 1)
    }
}

/// Numbers of trials of probability `p` up to the first success.
///
/// # Panics
/// When the element type is not one of integers, or `p` does not broadcast to the shape.
///
/// ```
/// use jaxide::random;
/// assert!(random::geometric(&random::key(0), 0.5, [10]).to_vec::<i32>().iter().all(|&x| x > 0));
/// ```
#[track_caller]
pub fn geometric(key: &Array, p: impl Into<Array>, options: impl Into<Sample>) -> Array {
    let _named = crate::trace::named("geometric");
    let p = &p.into();
    let Sample { shape, dtype } = options.into();
    let key = &single("geometric", key);
    let dtype = integer_type("geometric", dtype);
    let shape = &sampled_shape("geometric", shape.as_ref(), &[p.shape()])[..];
    let of = format!("{shape:?} {dtype}");
    library("_geometric", &of, [key, p], |[key, p]| {
        let [p] = inexact("geometric", [p]);
        let c = |value: f64| number(value, p.dtype());
        let u = uniform(key, shape, p.dtype(), 0.0, 1.0);
        let u = numpy::where_(&lax::eq(&u, &c(0.0)), &Array::from(1), &u);
        let log = lax::log(&u);
        let log_failure = lax::log1p(&lax::neg(&p));
        let log_failure = numpy::broadcast_to(&log_failure, shape);
        let count = lax::floor(&lax::div(&log, &log_failure)) + c(1.0);
        as_dtype(&count, dtype, false)
    })
}
