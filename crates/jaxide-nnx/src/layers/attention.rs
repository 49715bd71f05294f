//! Attention of several heads.

use jaxide::nn::initializers::{lecun_normal, zeros};
use jaxide::{Array, AsShape, DType, Error, lax, nn, numpy, raise, random};

use super::{
    Initializer, LayerNorm, LinearGeneral, LinearGeneralOptions, NormOptions, combine_masks,
    options, promote,
};
use crate::{Cache, Intermediate, Module, RngStream, Rngs, Switch, Variable, observed};

options! {
    /// What [`MultiHeadAttention`] takes beside the number of heads and of features.
    pub struct MultiHeadAttentionOptions {
        /// Features of queries, keys and values of all heads together; by default those of the input.
        qkv_features: Option<usize> = None;
        /// Features of the result; by default those of the input.
        out_features: Option<usize> = None;
        /// Heads of keys and values, of which each serves several heads of queries; by default as many as these.
        num_kv_heads: Option<usize> = None;
        /// Features of what keys and values are made of; by default those of the input.
        in_kv_features: Option<usize> = None;
        /// The element type to compute in; by default that of inputs and parameters.
        dtype: Option<DType> = None;
        /// The element type of the parameters.
        param_dtype: DType = DType::F32;
        /// Whether all heads and examples drop the same weights.
        broadcast_dropout: bool = true;
        /// The probability that a weight is dropped.
        dropout_rate: f64 = 0.0;
        /// Whether nothing is dropped.
        deterministic: bool = false;
        /// What kernels are at first.
        kernel_init: Initializer = lecun_normal(()).into();
        /// What the kernel that makes the result is at first; by default as the others.
        out_kernel_init: Option<Initializer> = None;
        /// What is added at first.
        bias_init: Initializer = zeros.into();
        /// What is added to the result at first; by default as elsewhere.
        out_bias_init: Option<Initializer> = None;
        /// Whether something is added.
        use_bias: bool = true;
        /// Whether positions come one by one, with keys and values of earlier ones in a cache.
        decode: bool = false;
        /// Whether queries and keys are normalised.
        normalize_qk: bool = false;
    }

    /// What a call of [`MultiHeadAttention`] takes beside its input.
    pub struct AttentionCall {
        /// What keys are made of, `[batch.., length, features]`; by default the input.
        keys: Option<Array> = None;
        /// What values are made of; by default as keys.
        values: Option<Array> = None;
        /// Which keys a query sees: truth values that broadcast to `[batch.., heads, queries, keys]`.
        mask: Option<Array> = None;
        /// Whether a query sees no later keys.
        is_causal: bool = false;
        /// Whether the weights are noted in [`MultiHeadAttention::attention_weights`].
        sow_weights: bool = false;
    }
}

/// Attention of several heads: of `[batch.., length, features]`, with kernels `[in, heads, depth]` and `[heads, depth, out]`.
///
/// With a cache, positions come one by one:
///
/// ```
/// use jaxide_nnx::{AttentionCall, MultiHeadAttention, Rngs};
/// use jaxide::{Array, numpy, random, DType};
/// let attention = MultiHeadAttention::new(2, 4, &Rngs::new(0), ());
/// let x = random::normal(&random::key(1), [1, 3, 4], DType::F32);
/// let whole = attention.call(&x, AttentionCall::new().is_causal(true));
/// attention.init_cache([1, 3, 4], DType::F32);
/// attention.decode.set(true);
/// let steps: Vec<Array> = (0..3).map(|t| attention.call(&numpy::take(&x, Array::from([t]), 1), ())).collect();
/// assert!((numpy::concatenate(&steps, 1) - whole).abs().max().item::<f32>() < 1e-6);
/// ```
#[derive(Clone, Debug, Module)]
pub struct MultiHeadAttention {
    /// Makes queries.
    pub query: LinearGeneral,
    /// Makes keys.
    pub key: LinearGeneral,
    /// Makes values.
    pub value: LinearGeneral,
    /// Normalises queries.
    pub query_ln: Option<LayerNorm>,
    /// Normalises keys.
    pub key_ln: Option<LayerNorm>,
    /// Makes the result.
    pub out: LinearGeneral,
    /// Where keys for what is dropped come from.
    pub rngs: Option<RngStream>,
    /// Keys of earlier positions, `[batch.., length, heads, depth]`.
    pub cached_key: Variable<Cache>,
    /// Values of earlier positions.
    pub cached_value: Variable<Cache>,
    /// How many there are.
    pub cache_index: Variable<Cache>,
    /// The weights that were noted.
    pub attention_weights: Variable<Intermediate>,
    /// Whether positions come one by one.
    pub decode: Switch,
    deterministic: Switch,
    in_features: usize,
    num_kv_heads: usize,
    head_dim: usize,
    dropout_rate: f64,
    broadcast_dropout: bool,
    dtype: Option<DType>,
}

#[track_caller]
fn mistake(text: String) -> ! {
    raise(Error::shape(text).in_operation("MultiHeadAttention"))
}

impl MultiHeadAttention {
    /// A layer of these sizes.
    ///
    /// # Panics
    /// When heads do not divide features or each other, or there is no stream for `params`, or for `dropout` where it is needed.
    #[track_caller]
    pub fn new(
        num_heads: usize,
        in_features: usize,
        rngs: &Rngs,
        options: impl Into<MultiHeadAttentionOptions>,
    ) -> Self {
        let o = options.into();
        let qkv_features = o.qkv_features.unwrap_or(in_features);
        let out_features = o.out_features.unwrap_or(in_features);
        let in_kv_features = o.in_kv_features.unwrap_or(in_features);
        let num_kv_heads = o.num_kv_heads.unwrap_or(num_heads);
        if num_heads == 0 || num_kv_heads == 0 || !num_heads.is_multiple_of(num_kv_heads) {
            mistake(format!(
                "{num_kv_heads} heads of keys do not divide {num_heads} heads of queries"
            ));
        }
        if !qkv_features.is_multiple_of(num_heads) {
            mistake(format!(
                "{num_heads} heads do not divide {qkv_features} features"
            ));
        }
        let head_dim = qkv_features / num_heads;
        let mut general = LinearGeneralOptions::new()
            .use_bias(o.use_bias)
            .dtype(o.dtype)
            .param_dtype(o.param_dtype);
        general.kernel_init = o.kernel_init.clone();
        general.bias_init = o.bias_init.clone();
        let make = |inputs: usize, heads: usize| {
            LinearGeneral::new([inputs], [heads, head_dim], rngs, general.clone())
        };
        let query = make(in_features, num_heads);
        let key = make(in_kv_features, num_kv_heads);
        let value = make(in_kv_features, num_kv_heads);
        let norm = || {
            let options = NormOptions::new()
                .use_bias(false)
                .dtype(o.dtype)
                .param_dtype(o.param_dtype);
            LayerNorm::new(head_dim, rngs, options)
        };
        let query_ln = o.normalize_qk.then(norm);
        let key_ln = o.normalize_qk.then(norm);
        let mut of_out = general.clone().axis([-2, -1]);
        of_out.kernel_init = o.out_kernel_init.unwrap_or(o.kernel_init);
        of_out.bias_init = o.out_bias_init.unwrap_or(o.bias_init);
        let out = LinearGeneral::new([num_heads, head_dim], [out_features], rngs, of_out);
        MultiHeadAttention {
            query,
            key,
            value,
            query_ln,
            key_ln,
            out,
            rngs: (o.dropout_rate > 0.0).then(|| rngs.found("dropout").fork()),
            cached_key: Variable::absent(),
            cached_value: Variable::absent(),
            cache_index: Variable::absent(),
            attention_weights: Variable::absent(),
            decode: Switch::new(o.decode),
            deterministic: Switch::new(o.deterministic),
            in_features,
            num_kv_heads,
            head_dim,
            dropout_rate: o.dropout_rate,
            broadcast_dropout: o.broadcast_dropout,
            dtype: o.dtype,
        }
    }

    /// Makes room for the keys and values of inputs of this shape, `[batch.., length, features]`.
    ///
    /// # Panics
    /// When the layer was made outside of the innermost trace.
    #[track_caller]
    pub fn init_cache(&self, input_shape: impl AsShape, dtype: DType) {
        let input: Vec<usize> = input_shape
            .lengths()
            .iter()
            .map(|&length| length as usize)
            .collect();
        let shape = [
            &input[..input.len().saturating_sub(1)],
            &[self.num_kv_heads, self.head_dim],
        ]
        .concat();
        self.cached_key.set(Array::zeros(&shape[..], dtype));
        self.cached_value.set(Array::zeros(&shape[..], dtype));
        self.cache_index.set(Array::zeros((), DType::I32));
    }

    /// The layer of `x`, whose queries see its own keys, or those that are given.
    ///
    /// # Panics
    /// When shapes do not fit, or positions come one by one without a cache.
    #[track_caller]
    #[observed]
    pub fn call(&self, x: &Array, options: impl Into<AttentionCall>) -> Array {
        let o = options.into();
        if x.shape().last() != Some(&self.in_features) {
            mistake(format!(
                "the last axis of {} must have length {}",
                x.aval(),
                self.in_features
            ));
        }
        if o.keys.is_none() && o.values.is_some() {
            mistake("values are given without keys; keys alone serve as both".to_owned());
        }
        let keys = o.keys.as_ref().unwrap_or(x);
        let values = o.values.as_ref().unwrap_or(keys);
        let mut query = self.query.call(x);
        let mut key = self.key.call(keys);
        let mut value = self.value.call(values);
        if let (Some(query_ln), Some(key_ln)) = (&self.query_ln, &self.key_ln) {
            (query, key) = (query_ln.call(&query), key_ln.call(&key));
        }
        let mut mask = o.mask;
        if self.decode.is_on() {
            let seen = self.remember(&mut key, &mut value);
            mask = combine_masks(&[mask, Some(seen)], DType::Bool);
        }
        let [query, key, value] = promote(self.dtype, [&query, &key, &value]);
        let is_causal = o.is_causal && !self.decode.is_on();
        let dropped = self.dropout_rate > 0.0 && !self.deterministic.is_on();
        let heads = if !dropped && !o.sow_weights {
            attend(&query, &key, &value, mask, is_causal)
        } else {
            self.attend_step_by_step(
                &query,
                &key,
                &value,
                mask,
                is_causal,
                dropped,
                o.sow_weights,
            )
        };
        self.out.call(&heads)
    }

    /// Puts a position into the cache, gives all that are there, and says which are.
    #[track_caller]
    fn remember(&self, key: &mut Array, value: &mut Array) -> Array {
        if self.cached_key.value().arrays().is_empty() {
            mistake("there is no cache: `init_cache` makes one".to_owned());
        }
        let (keys, values, index) = (
            self.cached_key.get(),
            self.cached_value.get(),
            self.cache_index.get(),
        );
        let batch = keys.ndim() - 3;
        let mut expected = keys.shape().to_vec();
        expected[batch] = 1;
        if key.shape() != expected {
            mistake(format!(
                "the cache takes keys of shape {expected:?}, and they are {}",
                key.aval()
            ));
        }
        let zero = Array::zeros((), DType::I32);
        let start: Vec<Array> = (0..keys.ndim())
            .map(|axis| {
                if axis == batch {
                    index.clone()
                } else {
                    zero.clone()
                }
            })
            .collect();
        *key = lax::dynamic_update_slice(&keys, &key.astype(keys.dtype()), &start);
        *value = lax::dynamic_update_slice(&values, &value.astype(values.dtype()), &start);
        self.cached_key.set(key.clone());
        self.cached_value.set(value.clone());
        self.cache_index.set(&index + 1);
        let length = keys.shape()[batch];
        let seen = numpy::less_equal(numpy::arange(length as i64, DType::I32), index);
        let shape = [&keys.shape()[..batch], &[1, 1, length]].concat();
        seen.broadcast_to(&shape[..])
    }

    #[allow(clippy::too_many_arguments)]
    #[track_caller]
    fn attend_step_by_step(
        &self,
        query: &Array,
        key: &Array,
        value: &Array,
        mask: Option<Array>,
        is_causal: bool,
        dropped: bool,
        sow: bool,
    ) -> Array {
        let dtype = query.dtype();
        let groups = query.shape()[query.ndim() - 2] / key.shape()[key.ndim() - 2];
        let spread = |x: &Array| {
            if groups == 1 {
                x.clone()
            } else {
                numpy::repeat(x, groups, numpy::Repeat::new().axis(-2))
            }
        };
        let (key, value) = (spread(key), spread(value));
        let depth = query.shape()[query.ndim() - 1];
        let query = query / lax::sqrt(&Array::from(depth as f32)).astype(dtype);
        let mut weights = numpy::einsum("...qhd,...khd->...hqk", &[query, key.clone()], ());
        let causal = is_causal.then(|| {
            let (queries, keys) = (
                weights.shape()[weights.ndim() - 2],
                weights.shape()[weights.ndim() - 1],
            );
            numpy::tril(&Array::ones([queries, keys], DType::Bool), ())
                .broadcast_to(weights.shape())
        });
        let full = mask.map(|mask| mask.broadcast_to(weights.shape()));
        if let Some(mask) = combine_masks(&[full, causal], DType::Bool) {
            let least = numpy::finfo(dtype).min;
            weights = numpy::where_(mask, &weights, Array::from(least).astype(dtype));
        }
        weights = nn::softmax(&weights, ()).astype(dtype);
        if sow {
            self.attention_weights.sow(&weights);
        }
        if dropped && let Some(rngs) = &self.rngs {
            let kept = 1.0 - self.dropout_rate;
            let mut shape = weights.shape().to_vec();
            if self.broadcast_dropout {
                let front = shape.len() - 2;
                shape[..front].fill(1);
            }
            let keep = random::bernoulli(
                &rngs.next(),
                kept,
                random::Bernoulli::new().shape(&shape[..]),
            );
            weights *= keep.astype(dtype) / Array::from(kept).astype(dtype);
        }
        numpy::einsum("...hqk,...khd->...qhd", &[weights, value], ())
    }
}

/// Attention without what is dropped, of any number of batch axes.
#[track_caller]
fn attend(
    query: &Array,
    key: &Array,
    value: &Array,
    mask: Option<Array>,
    is_causal: bool,
) -> Array {
    let shape = query.shape().to_vec();
    let one_batch_axis = |x: &Array| {
        let (front, rest) = x.shape().split_at(x.ndim() - 3);
        x.reshape(&[&[front.iter().product::<usize>()], rest].concat()[..])
    };
    let flat = query.ndim() > 4;
    let take = |x: &Array| if flat { one_batch_axis(x) } else { x.clone() };
    let mut options = nn::Attention::new().is_causal(is_causal);
    if let Some(mask) = mask {
        options = options.mask(take(&mask.astype(DType::Bool)));
    }
    nn::dot_product_attention(&take(query), &take(key), &take(value), options).reshape(&shape[..])
}
