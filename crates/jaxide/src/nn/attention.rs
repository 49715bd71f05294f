//! Attention.

use jaxide_core::prims::{DotPrecision, Name};
use jaxide_core::{DType, Error};

use super::{logsumexp, softmax};
use crate::api::vmap_list;
use crate::array::{Array, as_dtype};
use crate::numpy::{Einsum, nested};
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
    attend(query, key, value, options.into(), false).remove(0)
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
    let results = attend(query, key, value, options.into(), true);
    (results[0].clone(), results[1].clone())
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

/// The result, and with `residual` the logarithms of the sums of exponentials.
#[track_caller]
fn attend(
    query: &Array,
    key: &Array,
    value: &Array,
    options: Attention,
    residual: bool,
) -> Vec<Array> {
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
            let x = lax::expand_dims(&x, &[2]);
            numpy::broadcast_to(&x, [batch, 1, shared, queries, keys])
        } else {
            lax::reshape(&x, [batch, groups, shared, queries, keys])
        }
    };
    let fits = |x: &Array| {
        let logits = [batch, groups, shared, queries, keys];
        numpy::check_broadcast_to("dot_product_attention", x.shape(), &logits);
    };
    for lengths in [&options.query_seq_lengths, &options.key_value_seq_lengths] {
        let Some(lengths) = lengths else { continue };
        check(
            lengths.shape() == [batch] && lengths.dtype() == DType::I32,
            || format!("lengths are i32[{batch}], and {} is given", lengths.aval()),
        );
    }
    // What is mapped over the heads of a group: queries, and what differs between them.
    let mut mapped = vec![lax::reshape(q, [batch, queries, groups, shared, length])];
    let mut axes = vec![Some(3)];
    let bias = options.bias.as_ref().map(|bias| grouped(bias, "bias"));
    let mask = options.mask.as_ref().map(|mask| {
        check(mask.dtype() == DType::Bool, || {
            format!("a mask is bool, and {} is given", mask.aval())
        });
        grouped(mask, "mask")
    });
    for x in bias.iter().chain(&mask) {
        fits(x);
        mapped.push(x.clone());
        axes.push(Some(2));
    }
    let of_group = |own: &[Array]| {
        let mut rest = own[1..].iter();
        let bias = bias.as_ref().and_then(|_| rest.next());
        let mask = mask.as_ref().and_then(|_| rest.next());
        attend_in_group([&own[0], k, v], bias, mask, &options, residual)
    };
    let results = vmap_list(&of_group, &axes, 3, &mapped);
    let shapes = [query.shape(), &query.shape()[..query.ndim() - 1]];
    let with_heads = [batch, queries, heads, length];
    let results = results.iter().zip(shapes).zip([4, 3]);
    let reshaped = results
        .map(|((x, shape), rank)| lax::reshape(&lax::reshape(x, &with_heads[..rank]), shape));
    reshaped.collect()
}

/// Attention of one head of each group, the queries of which are `[batch, queries, groups, length]`.
#[track_caller]
fn attend_in_group(
    [q, k, v]: [&Array; 3],
    bias: Option<&Array>,
    mask: Option<&Array>,
    options: &Attention,
    residual: bool,
) -> Vec<Array> {
    // Products are taken in `f32` at least.
    let (computed, precision) = match q.dtype() {
        DType::BF16 => (DType::F32, Some("BF16_BF16_F32")),
        DType::F16 => (DType::F32, Some("F16_F16_F32")),
        dtype if dtype.is_inexact() => (dtype, None),
        _ => (DType::F32, None),
    };
    let mut how = Einsum::new().preferred_element_type(computed);
    how.precision = precision.map(|name| DotPrecision::Algorithm(Name::new(name)));
    let logits = numpy::einsum("BTNH,BSNH->BNTS", &[q.clone(), k.clone()], how);
    let length = q.shape()[3];
    let scale = options.scale.unwrap_or(1.0 / (length as f64).sqrt());
    let mut logits = logits * nested::rounded(scale, computed);
    if let Some(bias) = bias {
        logits = as_dtype(&numpy::add(&logits, bias), computed, false);
    }
    if let Some(seen) = visible(options, mask, logits.shape()) {
        // It stays finite when it becomes an `f32`.
        let hidden = as_dtype(&Array::from(-0.7 * f64::from(f32::MAX)), computed, false);
        logits = numpy::where_(&seen, &logits, &hidden);
    }
    let logits = as_dtype(&logits, DType::F32, false);
    let weights = as_dtype(&softmax(&logits, -1), k.dtype(), false);
    let mut means = numpy::einsum("BNTS,BSNH->BTNH", &[weights, v.clone()], ());
    if let Some(lengths) = &options.query_seq_lengths {
        let places = lax::iota(DType::I32, [means.shape()[1]], 0);
        let counts = numpy::less(
            &lax::expand_dims(&places, &[0]),
            &lax::expand_dims(lengths, &[1]),
        );
        means *= as_dtype(&lax::expand_dims(&counts, &[2, 3]), means.dtype(), false);
    }
    if !residual {
        return vec![means];
    }
    let sums = as_dtype(&logsumexp(&logits, -1), k.dtype(), false);
    let sums = lax::stop_gradient(&lax::transpose(&sums, [0, 2, 1]));
    vec![means, sums]
}

/// Which keys the queries see: truth values like the logits `[batch, groups, queries, keys]`.
#[track_caller]
fn visible(options: &Attention, mask: Option<&Array>, shape: &[usize]) -> Option<Array> {
    let lengths = [&options.query_seq_lengths, &options.key_value_seq_lengths];
    let window = options.local_window_size;
    let given = options.is_causal || lengths.iter().any(|lengths| lengths.is_some());
    if mask.is_none() && window.is_none() && !given {
        return None;
    }
    let (queries, keys) = (shape[2], shape[3]);
    let mut seen = lax::full(shape, true, DType::Bool);
    let mut also = |x: &Array| seen = numpy::logical_and(&seen, x);
    if let Some(mask) = mask {
        also(mask);
    }
    if options.is_causal {
        let all = lax::full([queries, keys], true, DType::Bool);
        also(&lax::expand_dims(&numpy::tril(&all, 0), &[0, 1]));
    }
    if let Some((before, behind)) = window {
        let number = |value: usize| Array::from(value);
        let numbers = |count: usize| Array::from((0..count as i32).collect::<Vec<i32>>());
        let (rows, columns) = (numbers(queries), numbers(keys));
        let row = || lax::expand_dims(&rows, &[1]);
        let column = || lax::expand_dims(&columns, &[0]);
        let left = numpy::less_equal(&row(), &(column() + number(before)));
        let right = numpy::greater_equal(&row(), &(column() - number(behind)));
        also(&lax::expand_dims(
            &numpy::logical_and(&right, &left),
            &[0, 1],
        ));
    }
    let below = |lengths: &Array, count: usize, axis: usize| {
        let other = 3 - axis;
        let places = lax::expand_dims(&lax::iota(DType::I32, [count], 0), &[0, other]);
        numpy::less(&places, &lax::expand_dims(lengths, &[1, 2]))
    };
    let counted = [(lengths[0], queries, 1), (lengths[1], keys, 2)];
    let counted = counted.map(|(lengths, count, axis)| {
        let lengths = lengths.as_ref()?;
        Some(below(lengths, count, axis))
    });
    if counted.iter().any(Option::is_some) {
        let [queries, keys] = counted.map(|x| x.unwrap_or_else(|| Array::from(true)));
        also(&lax::expand_dims(
            &numpy::logical_and(&queries, &keys),
            &[1],
        ));
    }
    Some(seen)
}
