//! Combining along axes: reductions, running combinations, sorting, searching.

use jaxide_core::prims::{self, Name, Opaque, PyValue};
use jaxide_core::{Aval, ClosedJaxpr, DType, Error, ErrorKind};
use smallvec::SmallVec;

use super::shape::dims;
use crate::array::{Array, Axes, Integer, as_dtype, normalize_axis};
use crate::options::options;
use crate::trace::{Captures, Known, bind, bind_one, raise, trace};

/// Reductions along axes.
macro_rules! reductions {
    ($($(#[$doc:meta])* $name:ident |$axes:ident| $prim:expr;)*) => { $(
        $(#[$doc])*
        ///
        /// # Panics
        /// When an axis is out of range or named twice, or the element type is not one it is defined for.
        #[track_caller]
        pub fn $name(x: &Array, axes: impl Axes) -> Array {
            let _named = crate::trace::named(stringify!($name));
            let $axes = dims(&axes.axes(stringify!($name), x.ndim()));
            bind_one($prim, std::slice::from_ref(x))
        }
    )* };
}

reductions! {
    /// Sum along axes.
    reduce_sum |axes| prims::ReduceSum { axes, out_sharding: Opaque::none() };
    /// Product along axes.
    reduce_prod |axes| prims::ReduceProd { axes };
    /// Largest along axes; NaN if any is.
    reduce_max |axes| prims::ReduceMax { axes, out_sharding: Opaque::none() };
    /// Smallest along axes; NaN if any is.
    reduce_min |axes| prims::ReduceMin { axes, out_sharding: Opaque::none() };
    /// And along axes.
    reduce_and |axes| prims::ReduceAnd { axes };
    /// Or along axes.
    reduce_or |axes| prims::ReduceOr { axes };
    /// Exclusive or along axes.
    reduce_xor |axes| prims::ReduceXor { axes };
}

/// Index of the first largest element along an axis.
///
/// # Panics
/// When the axis is empty or out of range.
#[track_caller]
pub fn argmax(x: &Array, axis: impl Integer, index_dtype: DType) -> Array {
    let _named = crate::trace::named("argmax");
    let axis = normalize_axis("argmax", axis, x.ndim());
    bind_one(
        prims::Argmax {
            axes: dims(&[axis]),
            index_dtype,
        },
        std::slice::from_ref(x),
    )
}

/// Index of the first smallest element along an axis.
///
/// # Panics
/// When the axis is empty or out of range.
#[track_caller]
pub fn argmin(x: &Array, axis: impl Integer, index_dtype: DType) -> Array {
    let _named = crate::trace::named("argmin");
    let axis = normalize_axis("argmin", axis, x.ndim());
    bind_one(
        prims::Argmin {
            axes: dims(&[axis]),
            index_dtype,
        },
        std::slice::from_ref(x),
    )
}

/// Running combinations along an axis, from the end when `reverse`.
macro_rules! cumulative {
    ($($(#[$doc:meta])* $name:ident $prim:ident;)*) => { $(
        $(#[$doc])*
        ///
        /// # Panics
        /// When the axis is out of range.
        #[track_caller]
        pub fn $name(x: &Array, axis: impl Integer, reverse: bool) -> Array {
            let _named = crate::trace::named(stringify!($name));
            let axis = normalize_axis(stringify!($name), axis, x.ndim());
            bind_one(prims::$prim { axis, reverse }, std::slice::from_ref(x))
        }
    )* };
}

cumulative! {
    /// Running sum.
    cumsum Cumsum;
    /// Running product.
    cumprod Cumprod;
    /// Running maximum.
    cummax Cummax;
    /// Running minimum.
    cummin Cummin;
    /// Running logarithm of the sum of exponentials.
    cumlogsumexp Cumlogsumexp;
}

/// Arrays sorted along an axis by the first `num_keys` of them, elements at equal keys in their order.
///
/// # Panics
/// When shapes differ or the axis is out of range.
#[track_caller]
pub fn sort(operands: &[Array], dimension: impl Integer, num_keys: usize) -> SmallVec<[Array; 1]> {
    let _named = crate::trace::named("sort");
    let dimension = normalize_axis("sort", dimension, operands.first().map_or(1, Array::ndim));
    bind(
        prims::Sort {
            dimension,
            is_stable: true,
            num_keys,
        },
        operands,
    )
}

options! {
    /// What [`sort_key_val`] takes beside the arrays.
    pub struct SortKeyVal {
        /// The axis, the last by default.
        dimension: i64 = -1, |axis: impl Integer| axis.to_i64();
        /// Whether elements at equal keys stay in their order. They always do here.
        is_stable: bool = true;
    }
}

/// Keys sorted along an axis, and values in the order of their keys.
///
/// # Panics
/// When shapes differ or the axis is out of range.
///
/// ```
/// use jaxide::{Array, lax};
/// let (keys, values) = lax::sort_key_val(&Array::from([3, 1, 2]), &Array::from([7, 8, 9]), ());
/// assert_eq!((keys.to_vec::<i32>(), values.to_vec::<i32>()), (vec![1, 2, 3], vec![8, 9, 7]));
/// ```
#[track_caller]
pub fn sort_key_val(
    keys: &Array,
    values: &Array,
    options: impl Into<SortKeyVal>,
) -> (Array, Array) {
    let _named = crate::trace::named("sort_key_val");
    let options = options.into();
    let dimension = normalize_axis("sort_key_val", options.dimension, keys.ndim());
    let prim = prims::Sort {
        dimension,
        is_stable: options.is_stable,
        num_keys: 1,
    };
    let sorted = bind(prim, &[keys.clone(), values.clone()]);
    (sorted[0].clone(), sorted[1].clone())
}

/// The `k` largest elements along the last axis, and their indices.
///
/// # Panics
/// When there are fewer.
#[track_caller]
pub fn top_k(x: &Array, k: usize) -> (Array, Array) {
    let _named = crate::trace::named("top_k");
    let axis = x.ndim().saturating_sub(1);
    let results = bind(
        prims::TopK {
            axis,
            is_stable: true,
            k,
        },
        std::slice::from_ref(x),
    );
    (results[0].clone(), results[1].clone())
}

/// The `k` smallest elements along the last axis, and their indices: exact here, where JAX may miss some.
///
/// # Panics
/// When there are fewer.
#[track_caller]
pub fn approx_min_k(x: &Array, k: usize) -> (Array, Array) {
    let _named = crate::trace::named("approx_min_k");
    approx_top_k(x, k, false)
}

/// The `k` largest elements along the last axis, and their indices: exact here, where JAX may miss some.
///
/// # Panics
/// When there are fewer.
#[track_caller]
pub fn approx_max_k(x: &Array, k: usize) -> (Array, Array) {
    let _named = crate::trace::named("approx_max_k");
    approx_top_k(x, k, true)
}

#[track_caller]
fn approx_top_k(x: &Array, k: usize, is_max_k: bool) -> (Array, Array) {
    let prim = prims::ApproxTopK {
        aggregate_to_topk: true,
        is_max_k,
        k,
        recall_target: prims::RealNumber(0.95),
        reduction_dimension: -1,
        reduction_input_size_override: -1,
    };
    let results = bind(prim, std::slice::from_ref(x));
    (results[0].clone(), results[1].clone())
}

/// Indices of the first `size` elements that are not zero, in row-major order, an array for each axis; where there are
/// fewer, `fill` stands for the rest.
///
/// # Panics
/// When `x` has no axes, or there are neither no fill values nor one for each axis.
#[track_caller]
pub fn nonzero(x: &Array, size: usize, fill: &[Array]) -> Vec<Array> {
    let _named = crate::trace::named("nonzero");
    nonzero_as(x, size, fill, DType::I32)
}

/// [`nonzero`] with indices of an element type, which is that of `fill` too.
#[track_caller]
pub(crate) fn nonzero_as(x: &Array, size: usize, fill: &[Array], dtype: DType) -> Vec<Array> {
    let prim = prims::Nonzero {
        size,
        axes: (0..x.ndim()).collect(),
        out_dtype: dtype,
    };
    let mut operands = vec![x.clone()];
    operands.extend_from_slice(fill);
    bind(prim, &operands).into_vec()
}

/// Where the elements of `query` would be inserted in the sorted vector `sorted`: before or after equal ones.
///
/// # Panics
/// When `sorted` is no vector, or the element types differ.
#[track_caller]
pub fn searchsorted(sorted: &Array, query: &Array, side: prims::SearchSide) -> Array {
    let _named = crate::trace::named("searchsorted");
    let prim = prims::SearchSorted {
        side,
        dimension: 0,
        batch_dims: 0,
        method: Name::new("scan"),
    };
    bind_one(prim, &[sorted.clone(), query.clone()])
}

/// Arrays reduced together along axes by any associative function of two lists of scalars: what is so far, and what
/// comes. Each array has an initial value, which must be neutral.
///
/// # Panics
/// When there are not as many initial values as arrays, shapes differ, an axis is out of range, or `computation` gives
/// other types than it takes, or captures a traced array.
///
/// ```
/// use jaxide::{Array, lax};
/// let x = Array::from([2.0f32, 3.0, 4.0]);
/// let product = lax::reduce(&[x], &[Array::from(1.0)], |so_far, new| vec![&so_far[0] * &new[0]], &[0]);
/// assert_eq!(product[0].item::<f32>(), 24.0);
/// ```
#[track_caller]
pub fn reduce(
    operands: &[Array],
    initial: &[Array],
    computation: impl Fn(&[Array], &[Array]) -> Vec<Array>,
    dimensions: impl Axes,
) -> Vec<Array> {
    let _named = crate::trace::named("reduce");
    let dimensions = dimensions.axes("reduce", operands.first().map_or(1, Array::ndim));
    let (jaxpr, operands) = recorded("reduce", operands, initial, computation);
    let prim = prims::Reduce {
        computation: Opaque(PyValue::Word("<lambda>".to_owned())),
        dimensions: dims(&dimensions),
        jaxpr,
    };
    bind(prim, &operands).into_vec()
}

/// The computation of a reduction as a jaxpr, and the operands of its equation.
#[track_caller]
pub(super) fn recorded(
    operation: &'static str,
    operands: &[Array],
    initial: &[Array],
    computation: impl Fn(&[Array], &[Array]) -> Vec<Array>,
) -> (ClosedJaxpr, Vec<Array>) {
    if operands.len() != initial.len() {
        raise(
            Error::new(
                ErrorKind::Arity,
                format!(
                    "{} arrays and {} initial values are given",
                    operands.len(),
                    initial.len()
                ),
            )
            .in_operation(operation),
        );
    }
    let dtypes: Vec<DType> = operands.iter().map(Array::dtype).collect();
    let initial = initial
        .iter()
        .zip(&dtypes)
        .map(|(value, &dtype)| as_dtype(value, dtype, false));
    let all = operands.iter().cloned().chain(initial).collect();
    let types = [dtypes.as_slice(), &dtypes].concat();
    let jaxpr = combiner(operation, &types, |args| {
        let (so_far, new) = args.split_at(operands.len());
        computation(so_far, new)
    });
    (jaxpr, all)
}

/// A function of scalars as a jaxpr, which may capture numbers only.
#[track_caller]
pub(crate) fn combiner(
    operation: &'static str,
    dtypes: &[DType],
    f: impl FnOnce(&[Array]) -> Vec<Array>,
) -> ClosedJaxpr {
    let avals: Vec<Aval> = dtypes.iter().map(|&dtype| Aval::scalar(dtype)).collect();
    let traced = trace(operation, &avals, Known::No, Captures::Inputs, |args| {
        (f(args), ())
    });
    if let Some(array) = traced.captured.first() {
        raise(
            Error::new(
                ErrorKind::LeakedTracer,
                format!("the function of scalars captures an array {}", array.aval()),
            )
            .in_operation(operation)
            .note("it may use its arguments and numbers only"),
        );
    }
    traced.jaxpr
}
