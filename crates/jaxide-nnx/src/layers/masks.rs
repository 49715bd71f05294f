//! Masks of attention.

use jaxide::{Array, DType, Error, numpy, raise};

/// The mask in which each query sees each key by the product of what is said of them: with truth values, where both are true.
/// Of `[batch.., queries]` and `[batch.., keys]` it gives `[batch.., 1, queries, keys]`, with `f32` for truth values as Flax has it.
///
/// ```
/// use jaxide_nnx::make_attention_mask;
/// use jaxide::Array;
/// let mask = make_attention_mask(&Array::from([1.0f32, 1.0]), &Array::from([1.0f32, 0.0, 1.0]));
/// assert_eq!(mask.shape(), [1, 2, 3]);
/// assert_eq!(mask.to_vec::<f32>(), [1.0, 0.0, 1.0, 1.0, 0.0, 1.0]);
/// ```
///
/// # Panics
/// When the two do not broadcast.
#[track_caller]
pub fn make_attention_mask(queries: &Array, keys: &Array) -> Array {
    make_attention_mask_with(queries, keys, |q, k| q * k, 0, DType::F32)
}

/// [`make_attention_mask`] with another function of queries and keys, axes of length 1 in front, and an element type.
///
/// ```
/// use jaxide_nnx::make_attention_mask_with;
/// use jaxide::{Array, DType, numpy};
/// let places = Array::from([0, 1]);
/// let mask = make_attention_mask_with(&places, &places, |q, k| numpy::equal(q, k), 1, DType::Bool);
/// assert_eq!(mask.shape(), [1, 1, 2, 2]);
/// ```
///
/// # Panics
/// When the function does.
#[track_caller]
pub fn make_attention_mask_with(
    queries: &Array,
    keys: &Array,
    pairwise: impl FnOnce(&Array, &Array) -> Array,
    extra_batch_dims: usize,
    dtype: DType,
) -> Array {
    let pairs = pairwise(
        &numpy::expand_dims(queries, -1),
        &numpy::expand_dims(keys, -2),
    );
    let mask = numpy::expand_dims(&pairs, -3);
    let front: Vec<i64> = (0..extra_batch_dims as i64).collect();
    numpy::expand_dims(&mask, &front[..]).astype(dtype)
}

/// The mask in which nothing sees what comes later, for sequences `[batch.., length]`: `[batch.., 1, length, length]`.
///
/// ```
/// use jaxide_nnx::make_causal_mask;
/// use jaxide::{Array, DType};
/// let mask = make_causal_mask(&Array::ones([1, 2], DType::F32));
/// assert_eq!(mask.shape(), [1, 1, 2, 2]);
/// assert_eq!(mask.to_vec::<f32>(), [1.0, 0.0, 1.0, 1.0]);
/// ```
///
/// # Panics
/// When `x` is a scalar.
#[track_caller]
pub fn make_causal_mask(x: &Array) -> Array {
    let Some(&length) = x.shape().last() else {
        raise(Error::shape("a scalar is no sequence".to_owned()).in_operation("make_causal_mask"));
    };
    let places = numpy::arange(length as i64, DType::I32).broadcast_to(x.shape());
    make_attention_mask_with(
        &places,
        &places,
        |q, k| numpy::greater_equal(q, k),
        0,
        DType::F32,
    )
}

/// What all masks let through, of those that there are, as ones and zeros or truth values of an element type.
///
/// ```
/// use jaxide_nnx::{combine_masks, make_causal_mask};
/// use jaxide::{Array, DType};
/// let causal = make_causal_mask(&Array::ones([2], DType::F32));
/// let first = Array::from([[[1.0f32, 0.0]]]);
/// let both = combine_masks(&[Some(causal), None, Some(first)], DType::I32).unwrap();
/// assert_eq!(both.to_vec::<i32>(), [1, 0, 1, 0]);
/// assert!(combine_masks(&[None], DType::Bool).is_none());
/// ```
///
/// # Panics
/// When their ranks differ, or they do not broadcast.
#[track_caller]
pub fn combine_masks(masks: &[Option<Array>], dtype: DType) -> Option<Array> {
    let masks: Vec<&Array> = masks.iter().flatten().collect();
    let (first, others) = masks.split_first()?;
    if others.iter().any(|mask| mask.ndim() != first.ndim()) {
        let avals: Vec<String> = masks.iter().map(|mask| mask.aval().to_string()).collect();
        raise(
            Error::shape(format!("masks of several ranks: {}", avals.join(", ")))
                .in_operation("combine_masks"),
        );
    }
    let all = others
        .iter()
        .fold(first.astype(DType::Bool), |x, &y| numpy::logical_and(x, y));
    Some(all.astype(dtype))
}
