//! Samples of discrete distributions.

use jaxide_core::{DType, Error, Scalar, prims};

use super::keys::words;
use super::{gumbel, integer, number, split, uniform};
use crate::array::{Array, AsShape, Integer, Repr, as_dtype, is_wide, lengths};
use crate::trace::{bind_one, library, raise};
use crate::{lax, numpy};

/// Truth values, true with probability `p`.
///
/// # Panics
/// When `p` is not floating-point, or does not broadcast to `shape`.
///
/// ```
/// use jaxide::random;
/// let heads = random::bernoulli(&random::key(0), 0.25, &[1000]);
/// let count = heads.to_bools().iter().filter(|&&head| head).count();
/// assert!((200..300).contains(&count));
/// ```
#[track_caller]
pub fn bernoulli(key: &Array, p: impl Into<Array>, shape: impl AsShape) -> Array {
    let shape = &lengths("bernoulli", &shape)[..];
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
    numpy::check_broadcast_to("bernoulli", p.shape(), shape);
    library(
        "_bernoulli",
        &format!("{shape:?}"),
        [key, &p],
        |[key, p]| numpy::less(&uniform(key, shape, dtype, 0.0, 1.0), p),
    )
}

/// 1 or -1, as likely.
///
/// # Panics
/// When `dtype` is not a type of numbers.
#[track_caller]
pub fn rademacher(key: &Array, shape: impl AsShape, dtype: DType) -> Array {
    let shape = &lengths("rademacher", &shape)[..];
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
            let twice = lax::mul(&as_dtype(&Array::from(2), dtype, false), &heads);
            lax::sub(&twice, &as_dtype(&Array::from(1), dtype, false))
        },
    )
}

/// Integers from `min` to below `max`.
///
/// # Panics
/// When `dtype` is not an integer type, or bounds are not integers that broadcast to `shape`.
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
    dtype: DType,
) -> Array {
    let shape = &lengths("randint", &shape)[..];
    let (min, max) = (min.into(), max.into());
    for bound in [&min, &max] {
        if !bound.dtype().is_integer() {
            raise(
                Error::dtype(format!(
                    "a bound is an integer, and {} is given",
                    bound.aval()
                ))
                .in_operation("randint"),
            );
        }
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
            clip(
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

/// `x` between bounds of its type, whose order in the text is that of their names in JAX.
#[track_caller]
fn clip(x: &Array, min: &Array, max: &Array) -> Array {
    library("clip", "by name", [x, max, min], |[x, max, min]| {
        lax::min(max, &lax::max(min, x))
    })
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
    let moved = library("clip", "", [x, &min, &max], |[x, min, max]| {
        lax::min(max, &lax::max(min, x))
    });
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
fn limits(dtype: DType) -> (i128, i128) {
    let bits = dtype.size() * 8;
    if dtype.is_unsigned_integer() {
        (0, (1 << bits) - 1)
    } else {
        (-(1 << (bits - 1)), (1 << (bits - 1)) - 1)
    }
}

/// For each row along `axis` an index, with probabilities proportional to the exponentials of `logits`.
///
/// # Panics
/// When there is no such axis, or `logits` are not floating-point.
///
/// ```
/// use jaxide::{Array, random};
/// let logits = Array::from([[0.0f32, -1e9, -1e9], [-1e9, -1e9, 0.0]]);
/// assert_eq!(random::categorical(&random::key(0), &logits, -1).to_vec::<i32>(), [0, 2]);
/// ```
#[track_caller]
pub fn categorical(key: &Array, logits: &Array, axis: impl Integer) -> Array {
    // The largest of logits with Gumbel noise is distributed as wanted.
    let noise = gumbel(key, logits.shape(), logits.dtype());
    numpy::argmax(&numpy::add(&noise, logits), axis)
}
