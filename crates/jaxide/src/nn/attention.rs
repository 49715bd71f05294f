//! Attention.

use jaxide_core::prims::DotDimensionNumbers;
use jaxide_core::{DType, Dims, Error};

use super::{logsumexp, softmax};
use crate::array::{Array, as_dtype};
use crate::numpy::nested;
use crate::options::options;
use crate::trace::raise;
use crate::{lax, numpy};

options! {
    /// What [`dot_product_attention`] takes beside queries, keys and values.
    pub struct Attention {
        /// What is added to the logits: it broadcasts to `[batch, heads, queries, keys]`.
        bias: Option<Array> = None, |bias: impl Into<Array>| Some(bias.into());
        /// Which keys a query sees, as truth values: they broadcast to `[batch, heads, queries, keys]`.
        mask: Option<Array> = None, |mask: impl Into<Array>| Some(mask.into());
        /// The factor of the logits: one over the root of the length of a head by default.
        scale: Option<f64> = None, |scale: impl Into<Option<f64>>| scale.into();
        /// Whether a query sees only keys up to its own place.
        is_causal: bool = false;
        /// How many queries of each sequence count: `i32`.
        query_seq_lengths: Option<Array> = None, |lengths: impl Into<Array>| Some(lengths.into());
        /// How many keys and values of each sequence count: `i32`.
        key_value_seq_lengths: Option<Array> = None, |lengths: impl Into<Array>| Some(lengths.into());
        /// How many keys before and behind its own place a query sees.
        local_window_size: Option<(usize, usize)> = None, |window: impl Into<Window>| Some(window.into().0);
    }
}

/// How far a query sees: one number for both sides, or a pair.
pub struct Window((usize, usize));

impl From<usize> for Window {
    fn from(size: usize) -> Self {
        Window((size, size))
    }
}

impl From<(usize, usize)> for Window {
    fn from(sizes: (usize, usize)) -> Self {
        Window(sizes)
    }
}

/// Means of values, weighted by the softmax of the products of queries and keys.
///
/// Queries are `[batch, queries, heads, length]`, keys and values `[batch, keys, groups, length]`, or all without the batch; the number
/// of heads is a multiple of that of groups, and so many heads share keys and values. The result has the shape of the queries.
///
/// # Panics
/// When shapes or element types do not fit.
///
/// ```
/// use jaxide::{Array, DType, nn, random};
/// let x = random::normal(&random::key(0), [2, 5, 4, 8], DType::F32);
/// let y = nn::dot_product_attention(&x, &x, &x, nn::Attention::new().is_causal(true));
/// assert_eq!(y.shape(), [2, 5, 4, 8]);
/// // The first query sees the first value only.
/// let first = |x: &Array| x.index(0).index(0).to_vec::<f32>();
/// assert_eq!(first(&y), first(&x));
/// ```
#[track_caller]
pub fn dot_product_attention(
    query: &Array,
    key: &Array,
    value: &Array,
    options: impl Into<Attention>,
) -> Array {
    let _named = crate::trace::named("dot_product_attention");
    attend(query, key, value, options.into()).0
}

/// [`dot_product_attention`], and the logarithms of the sums of exponentials for each query and head, which have no derivative: JAX's
/// `return_residual`.
///
/// # Panics
/// When shapes or element types do not fit.
#[track_caller]
pub fn dot_product_attention_with_residual(
    query: &Array,
    key: &Array,
    value: &Array,
    options: impl Into<Attention>,
) -> (Array, Array) {
    let _named = crate::trace::named("dot_product_attention_with_residual");
    let (out, logits) = attend(query, key, value, options.into());
    let [batch, groups, heads, queries, _] = std::array::from_fn(|axis| logits.shape()[axis]);
    let sums = as_dtype(&logsumexp(&logits, -1), key.dtype(), false);
    let sums = lax::reshape(&sums, [batch, groups * heads, queries]);
    let sums = lax::stop_gradient(&lax::transpose(&sums, [0, 2, 1]));
    let shape = &query.shape()[..query.ndim() - 1];
    let sums = lax::reshape(&sums, shape);
    (out, sums)
}

/// A product over one axis each, with common batch axes.
fn product(
    [x, x_axis]: [usize; 2],
    [y, y_axis]: [usize; 2],
    lhs: &Array,
    rhs: &Array,
    dtype: DType,
) -> Array {
    let batch = |other: usize| Dims::from_slice(&[0, other]);
    let numbers = DotDimensionNumbers {
        lhs_contracting: Dims::from_slice(&[x_axis]),
        rhs_contracting: Dims::from_slice(&[y_axis]),
        lhs_batch: batch(x),
        rhs_batch: batch(y),
    };
    lax::dot_general(lhs, rhs, numbers, None, Some(dtype))
}

/// `x` with axes in front up to rank 4.
fn of_rank_4(x: &Array) -> Array {
    lax::expand_rank(x, 4)
}

#[track_caller]
fn check(holds: bool, text: impl FnOnce() -> String) {
    if !holds {
        raise(Error::shape(text()).in_operation("dot_product_attention"));
    }
}

/// The result, and the logits `[batch, groups, heads of a group, queries, keys]`.
#[track_caller]
fn attend(query: &Array, key: &Array, value: &Array, options: Attention) -> (Array, Array) {
    let shape = query.shape();
    let [q, k, v] = &[query, key, value].map(of_rank_4);
    let fits = [q, k, v].iter().all(|x| x.ndim() == 4)
        && k.shape() == v.shape()
        && [q.shape()[0], q.shape()[3]] == [k.shape()[0], k.shape()[3]]
        && [q.dtype(), v.dtype()] == [k.dtype(); 2];
    let texts = || [query, key, value].map(|x| x.aval().to_string()).join(", ");
    check(fits, || format!("{} do not fit", texts()));
    let [batch, queries, heads, length] = std::array::from_fn(|axis| q.shape()[axis]);
    let (keys, groups) = (k.shape()[1], k.shape()[2]);
    check(groups > 0 && heads % groups == 0, || {
        format!("{heads} heads of queries are no multiple of {groups} of keys")
    });
    let shared = heads / groups;
    let grouped = |x: &Array, name: &str| {
        let x = of_rank_4(x);
        check(x.ndim() == 4 && [1, heads].contains(&x.shape()[1]), || {
            format!(
                "the {name} {} is not [batch, {heads} heads, queries, keys]",
                x.aval()
            )
        });
        let [batch, own, queries, keys] = std::array::from_fn(|axis| x.shape()[axis]);
        if own == 1 {
            lax::expand_dims(&x, &[2])
        } else {
            lax::reshape(&x, [batch, groups, shared, queries, keys])
        }
    };
    // Products are taken in `f32` at least.
    let computed = if q.dtype().size() < 4 {
        DType::F32
    } else {
        q.dtype()
    };
    let q = lax::reshape(q, [batch, queries, groups, shared, length]);
    let logits = product([2, 4], [2, 3], &q, k, computed);
    let mut logits = lax::transpose(&logits, [0, 1, 3, 2, 4]);
    let scale = options.scale.unwrap_or(1.0 / (length as f64).sqrt());
    logits *= nested::rounded(scale, computed);
    if let Some(bias) = &options.bias {
        logits = as_dtype(
            &numpy::add(&logits, &grouped(bias, "bias")),
            computed,
            false,
        );
    }
    let seen = visible(&options, [batch, queries, keys], &grouped);
    if let Some(seen) = seen {
        numpy::check_broadcast_to("dot_product_attention", seen.shape(), logits.shape());
        let largest = match computed {
            DType::F16 => 65504.0,
            _ => f64::from(f32::MAX),
        };
        let hidden = as_dtype(&Array::from(-0.7 * largest), computed, false);
        logits = numpy::where_(&seen, &logits, &hidden);
    }
    let logits = as_dtype(&logits, DType::F32, false);
    let weights = as_dtype(&softmax(&logits, -1), k.dtype(), false);
    let weights = lax::reshape(&weights, [batch, groups, shared * queries, keys]);
    let means = product([1, 3], [2, 1], &weights, v, v.dtype());
    let means = lax::reshape(&means, [batch, groups, shared, queries, length]);
    let means = lax::transpose(&means, [0, 3, 1, 2, 4]);
    let mut out = lax::reshape(&means, [batch, queries, heads, length]);
    if let Some(lengths) = &options.query_seq_lengths {
        let places = lax::iota(DType::I32, [1, queries, 1, 1], 1);
        let counts = numpy::less(&places, &lax::reshape(lengths, [batch, 1, 1, 1]));
        out *= as_dtype(&counts, v.dtype(), false);
    }
    (lax::reshape(&out, shape), logits)
}

/// Which keys the queries see: truth values that broadcast to the logits.
#[track_caller]
fn visible(
    options: &Attention,
    [batch, queries, keys]: [usize; 3],
    grouped: &dyn Fn(&Array, &str) -> Array,
) -> Option<Array> {
    let shape = [1, 1, 1, queries, keys];
    let number = |value: usize| Array::from(value);
    let rows = || lax::iota(DType::I32, shape, 3);
    let columns = || lax::iota(DType::I32, shape, 4);
    let mut all: Vec<Array> = Vec::new();
    if let Some(mask) = &options.mask {
        check(mask.dtype() == DType::Bool, || {
            format!("a mask is bool, and {} is given", mask.aval())
        });
        all.push(grouped(mask, "mask"));
    }
    if options.is_causal {
        all.push(lax::ge(&rows(), &columns()));
    }
    if let Some((before, behind)) = options.local_window_size {
        all.push(numpy::less_equal(&rows(), &(columns() + number(before))));
        all.push(numpy::greater_equal(&rows(), &(columns() - number(behind))));
    }
    for (lengths, places) in [
        (&options.query_seq_lengths, rows()),
        (&options.key_value_seq_lengths, columns()),
    ] {
        let Some(lengths) = lengths else { continue };
        check(
            lengths.shape() == [batch] && lengths.dtype() == DType::I32,
            || format!("lengths are i32[{batch}], and {} is given", lengths.aval()),
        );
        let lengths = lax::reshape(lengths, [batch, 1, 1, 1, 1]);
        all.push(numpy::less(&places, &lengths));
    }
    all.into_iter().reduce(|x, y| numpy::bitwise_and(&x, &y))
}
