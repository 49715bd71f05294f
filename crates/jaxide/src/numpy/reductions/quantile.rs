//! Quantiles.

mod inverse;

use jaxide_core::prims::{self, GatherDimensionNumbers, GatherScatterMode};
use jaxide_core::{DType, Dims, Error};

use super::folds::no_elements;
use super::{Reduction, any, position_type, sum};
use crate::array::{Array, Axes, Numbers, as_dtype, is_wide};
use crate::lax;
use crate::numpy::arithmetic::{constant, inexact_dtypes, real_only};
use crate::numpy::lookup::{points, reordered};
use crate::numpy::{divide, isnan, where_};
use crate::options::options;
use crate::trace::library::library_with;
use crate::trace::{bind_one, raise};

options! {
    /// What quantiles take beside the array and the probabilities; axes alone are one too.
    pub struct Quantile of axes {
        /// The axes that are combined: all by default.
        axis: Option<Numbers> = None, |axis: impl Axes| axis.numbers();
        /// What lies between two elements.
        method: Method = Method::Linear;
        /// Whether the axes stay, with length 1.
        keepdims: bool = false;
        /// How much each element counts, for [`Method::InvertedCdf`]: of the shape of the array, or of the axes.
        weights: Option<Array> = None, |weights: impl Into<Array>| Some(weights.into());
    }
}

/// What a quantile between two elements is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// Interpolated between them.
    Linear,
    /// The lower one.
    Lower,
    /// The higher one.
    Higher,
    /// Half way between them.
    Midpoint,
    /// The nearer one; the lower one half way.
    Nearest,
    /// The first element up to which the share of elements, or of their weights, is not below the probability.
    InvertedCdf,
}

/// The value below which a share `q` of the elements lies, along axes; several shares are the first axis of the result. NaN
/// if any element is.
///
/// # Panics
/// When an axis is out of range or empty, numbers are complex, or `q` has more than one axis.
///
/// ```
/// use jaxide::{Array, numpy};
/// let x = Array::from([4.0f32, 1.0, 3.0, 2.0]);
/// assert_eq!(numpy::quantile(&x, [0.0f32, 0.5], ()).to_vec::<f32>(), [1.0, 2.5]);
/// let higher = numpy::Quantile::new().method(numpy::Method::Higher);
/// assert_eq!(numpy::quantile(&x, 0.5, higher).item::<f32>(), 3.0);
/// ```
#[track_caller]
pub fn quantile(x: &Array, q: impl Into<Array>, options: impl Into<Quantile>) -> Array {
    let _named = crate::trace::named("quantile");
    call("quantile", x, &q.into(), options.into())
}

/// [`quantile`] of what is not NaN; NaN where all are.
///
/// # Panics
/// As [`quantile`], but for empty axes.
#[track_caller]
pub fn nanquantile(x: &Array, q: impl Into<Array>, options: impl Into<Quantile>) -> Array {
    let _named = crate::trace::named("nanquantile");
    call("nanquantile", x, &q.into(), options.into())
}

/// [`quantile`] of shares in hundredths.
///
/// # Panics
/// As [`quantile`].
#[track_caller]
pub fn percentile(x: &Array, q: impl Into<Array>, options: impl Into<Quantile>) -> Array {
    let _named = crate::trace::named("percentile");
    of_hundredths("percentile", "quantile", x, &q.into(), options.into())
}

/// [`nanquantile`] of shares in hundredths.
///
/// # Panics
/// As [`nanquantile`].
#[track_caller]
pub fn nanpercentile(x: &Array, q: impl Into<Array>, options: impl Into<Quantile>) -> Array {
    let _named = crate::trace::named("nanpercentile");
    of_hundredths("nanpercentile", "nanquantile", x, &q.into(), options.into())
}

/// A probability beside an array: a number of the program has 64 bits beside elements of 64.
#[track_caller]
fn beside(x: &Array, q: &Array) -> Array {
    if is_wide(x.dtype()) && q.weak_type() && q.dtype().is_float() {
        as_dtype(q, DType::F64, true)
    } else {
        q.clone()
    }
}

#[track_caller]
fn of_hundredths(name: &str, inner: &str, x: &Array, q: &Array, options: Quantile) -> Array {
    let q = &beside(x, q);
    let key = options.key();
    check(name, x, q, &options);
    library_with(
        name,
        &key,
        [x, q],
        [options.weights.clone()],
        |[x, q], [weights]| {
            let [q] = inexact_dtypes(name, [q]);
            let q = beside(x, &q);
            let share = divide(&q, &Array::from(100));
            call(inner, x, &share, Quantile { weights, ..options })
        },
    )
}

/// The middle element along axes, with `keepdims`, and the mean of the two in the middle of an even number; NaN if any is.
///
/// # Panics
/// When an axis is out of range or empty, or a keyword is given that it does not take.
///
/// ```
/// use jaxide::{Array, numpy};
/// assert_eq!(numpy::median(&Array::from([4.0f32, 1.0, 3.0, 2.0]), ()).item::<f32>(), 2.5);
/// ```
#[track_caller]
pub fn median(x: &Array, options: impl Into<Reduction>) -> Array {
    let _named = crate::trace::named("median");
    middle("median", "quantile", x, options.into())
}

/// [`median`] of what is not NaN; NaN where all are.
///
/// # Panics
/// When an axis is out of range, or a keyword is given that it does not take.
#[track_caller]
pub fn nanmedian(x: &Array, options: impl Into<Reduction>) -> Array {
    let _named = crate::trace::named("nanmedian");
    middle("nanmedian", "nanquantile", x, options.into())
}

#[track_caller]
fn middle(name: &str, inner: &str, x: &Array, options: Reduction) -> Array {
    let options = options.taking(name, &["keepdims"]);
    let quantile = Quantile {
        axis: options.axis.clone(),
        keepdims: options.keepdims,
        method: Method::Midpoint,
        weights: None,
    };
    check(name, x, &Array::from(0.5), &quantile);
    library_with(name, &options.key(), [x], [], |[x], []| {
        call(inner, x, &Array::from(0.5), quantile)
    })
}

impl Quantile {
    fn key(&self) -> String {
        format!("{:?} {:?} {}", self.axis, self.method, self.keepdims)
    }
}

/// Arguments that no quantile takes.
#[track_caller]
fn check(operation: &str, x: &Array, q: &Array, options: &Quantile) {
    if let Some(complex) = [x, q].into_iter().find(|x| x.dtype().is_complex()) {
        raise(real_only(operation, complex));
    }
    if q.ndim() > 1 {
        let error = format!("`q` is a scalar or a vector, and {} is given", q.aval());
        raise(Error::shape(error).in_operation(operation));
    }
    let axes = match &options.axis {
        Some(axes) => axes[..].axes(operation, x.ndim()),
        None => (0..x.ndim()).collect(),
    };
    let empty = axes.iter().find(|&&axis| x.shape()[axis] == 0);
    if let Some(&axis) = empty
        && !operation.starts_with("nan")
    {
        raise(no_elements(operation, x, axis));
    }
    let Some(weights) = &options.weights else {
        return;
    };
    if options.method != Method::InvertedCdf {
        let error = Error::parameter("only `Method::InvertedCdf` takes `weights`");
        raise(error.in_operation(operation));
    }
    if weights.dtype().is_complex() {
        raise(real_only(operation, weights));
    }
    let lengths: Vec<usize> = axes.iter().map(|&axis| x.shape()[axis]).collect();
    let fits =
        weights.shape() == x.shape() || (options.axis.is_some() && weights.shape() == lengths);
    if !fits {
        let error = format!(
            "weights {} fit neither {} nor its axes {axes:?}",
            weights.aval(),
            x.aval()
        );
        raise(Error::shape(error).in_operation(operation));
    }
}

#[track_caller]
fn call(operation: &str, x: &Array, q: &Array, options: Quantile) -> Array {
    let q = &beside(x, q);
    check(operation, x, q, &options);
    let key = options.key();
    library_with(
        operation,
        &key,
        [x, q],
        [options.weights.clone()],
        |[x, q], [weights]| {
            let along = Along::new(operation, x, weights, &options);
            let result = along.quantile(operation.starts_with("nan"), q, options.method);
            let result = match &along.kept {
                Some(kept) => {
                    let mut shape = q.shape().to_vec();
                    shape.extend_from_slice(kept);
                    lax::reshape(&result, &shape)
                }
                None => result,
            };
            as_dtype(&result, along.x.dtype(), false)
        },
    )
}

/// An array whose axes that are combined are one.
struct Along {
    x: Array,
    weights: Option<Array>,
    axis: usize,
    /// Whether that axis stays, with length 1.
    keepdims: bool,
    /// The shape of the result, where the axes that stay were joined.
    kept: Option<Vec<usize>>,
}

impl Along {
    #[track_caller]
    fn new(operation: &str, x: &Array, weights: Option<Array>, options: &Quantile) -> Along {
        let keepdims = options.keepdims;
        let rank = x.ndim();
        let (x, weights) = match weights {
            None => (inexact_dtypes(operation, [x])[0].clone(), None),
            Some(weights) => {
                let [x, weights] = inexact_dtypes(operation, [x, &weights]);
                let axes = match &options.axis {
                    Some(axes) => axes[..].axes(operation, rank),
                    None => (0..rank).collect(),
                };
                let weights = if weights.shape() == x.shape() {
                    weights
                } else {
                    lax::broadcast_in_dim(&weights, x.shape(), &axes)
                };
                (x, Some(weights))
            }
        };
        let Some(axes) = &options.axis else {
            let flat = |x: &Array| lax::reshape(x, x.size());
            return Along {
                x: flat(&x),
                weights: weights.as_ref().map(flat),
                axis: 0,
                keepdims,
                kept: keepdims.then(|| vec![1; rank]),
            };
        };
        let axes = axes[..].axes(operation, rank);
        if let [axis] = axes[..] {
            return Along {
                x,
                weights,
                axis,
                keepdims,
                kept: None,
            };
        }
        let stay: Vec<usize> = (0..rank).filter(|axis| !axes.contains(axis)).collect();
        let mut order: Vec<usize> = (0..rank).collect();
        for (at, &axis) in stay.iter().enumerate() {
            order.swap(at, axis);
        }
        let mut shape: Vec<usize> = stay.iter().map(|&axis| x.shape()[axis]).collect();
        shape.push(axes.iter().map(|&axis| x.shape()[axis]).product());
        let mut kept = x.shape().to_vec();
        axes.iter().for_each(|&axis| kept[axis] = 1);
        let joined = |x: &Array| reordered(x, &order, &shape);
        Along {
            x: joined(&x),
            weights: weights.as_ref().map(joined),
            axis: stay.len(),
            keepdims,
            kept: keepdims.then_some(kept),
        }
    }

    /// The same axis of a reduction.
    fn reduction(&self) -> Reduction {
        Reduction::new().axis(self.axis).keepdims(self.keepdims)
    }

    #[track_caller]
    fn quantile(&self, skip_nan: bool, q: &Array, method: Method) -> Array {
        let length = self.x.shape()[self.axis];
        if skip_nan && length == 0 {
            let mut shape = self.x.shape().to_vec();
            if self.keepdims {
                shape[self.axis] = 1;
            } else {
                shape.remove(self.axis);
            }
            return lax::full(&shape, f64::NAN, self.x.dtype());
        }
        let undefined = isnan(&self.x);
        let undefined = if skip_nan {
            undefined
        } else {
            any(&undefined, self.reduction().keepdims(true))
        };
        let x = where_(undefined, f64::NAN, &self.x);
        let (x, weights) = sorted(&x, self.weights.as_ref(), self.axis);
        let around = if skip_nan {
            self.around_counted(&x, q)
        } else {
            self.around(&x, q)
        };
        let [low, high, low_weight, high_weight] = around;
        let q_dtype = low_weight.dtype();
        match method {
            Method::Linear => {
                let part =
                    |x: &Array, weight: &Array| lax::mul(&as_dtype(x, q_dtype, false), weight);
                lax::add(&part(&low, &low_weight), &part(&high, &high_weight))
            }
            Method::Lower => low,
            Method::Higher => high,
            Method::Nearest => {
                let nearer = lax::le(&high_weight, &constant(&high_weight, 0.5));
                lax::select(&nearer, &low, &high)
            }
            Method::Midpoint => lax::mul(&lax::add(&low, &high), &constant(&low, 0.5)),
            Method::InvertedCdf => self.inverted(skip_nan, &x, weights, q),
        }
    }

    /// The elements around the place of a quantile, and how much each counts: of a number of elements that is known.
    #[track_caller]
    fn around(&self, x: &Array, q: &Array) -> [Array; 4] {
        let length = x.shape()[self.axis];
        let count = as_dtype(&Array::from(length), q.dtype(), false);
        let last = || lax::sub(&count, &constant(&count, 1));
        let place = product(q, &last());
        let [low, high, low_weight, high_weight] = neighbours(&place);
        let zero = constant(&low, 0);
        let low = lax::clamp(&zero, &low, &last());
        let high = lax::clamp(&zero, &high, &last());
        let index_type = position_type(x);
        let low = as_dtype(&low, index_type, false);
        let high = as_dtype(&high, index_type, false);
        let many = q.ndim();
        let rank = x.ndim();
        let mut sizes = x.shape().to_vec();
        sizes[self.axis] = 1;
        let behind = if self.keepdims { rank } else { rank - 1 };
        let collapsed: &[usize] = if self.keepdims { &[] } else { &[self.axis] };
        let at = |index: &Array| {
            let numbers = GatherDimensionNumbers {
                offset_dims: (many..behind + many).collect(),
                collapsed_slice_dims: Dims::from_slice(collapsed),
                start_index_map: Dims::from_slice(&[self.axis]),
                ..Default::default()
            };
            let index = lax::expand_dims(index, &[many]);
            let mode = GatherScatterMode::PromiseInBounds;
            lax::gather(x, &index, numbers, &sizes, mode, None)
        };
        let (low, high) = (at(&low), at(&high));
        if many == 0 {
            return [low, high, low_weight, high_weight];
        }
        let low_weight = lax::broadcast_in_dim(&low_weight, low.shape(), &[0]);
        let high_weight = lax::broadcast_in_dim(&high_weight, high.shape(), &[0]);
        [low, high, low_weight, high_weight]
    }

    /// The same where each row has its own number of elements that are not NaN.
    #[track_caller]
    fn around_counted(&self, x: &Array, q: &Array) -> [Array; 4] {
        let defined = lax::bitwise_not(&isnan(x));
        let counts = sum(&defined, self.reduction().dtype(q.dtype()));
        let (many, rank) = (q.ndim(), counts.ndim());
        let behind: Vec<usize> = (many..rank + many).collect();
        let before: Vec<usize> = (0..many).collect();
        let q_shape = q.shape().to_vec();
        let q = lax::expand_dims(q, &behind);
        let mut shape = q_shape;
        shape.extend_from_slice(counts.shape());
        let counts = lax::expand_dims(&counts, &before);
        let one = constant(&counts, 1);
        let place = product(&q, &lax::sub(&counts, &one));
        let [low, high, low_weight, high_weight] = neighbours(&place);
        let inside = |at: &Array| {
            let last = lax::sub(&counts, &one);
            lax::max(&constant(at, 0), &lax::min(at, &last))
        };
        let (low, high) = (inside(&low), inside(&high));
        let index_type = position_type(x);
        let low = as_dtype(&low, index_type, false);
        let high = as_dtype(&high, index_type, false);
        let mut index: Vec<Array> = (0..rank)
            .map(|axis| lax::iota(index_type, &shape, axis + many))
            .collect();
        let mut at = |place: Array, first: bool| {
            if self.keepdims || !first {
                index[self.axis] = place;
            } else {
                index.insert(self.axis, place);
            }
            points(x, &index)
        };
        let low = at(low, true);
        let high = at(high, false);
        [low, high, low_weight, high_weight]
    }
}

/// A product of arrays of one element type, one of which may be weak.
#[track_caller]
fn product(x: &Array, y: &Array) -> Array {
    bind_one(prims::Mul { out_dtype: None }, &[x.clone(), y.clone()])
}

/// The whole numbers around a place, and how near each is.
#[track_caller]
fn neighbours(place: &Array) -> [Array; 4] {
    let (low, high) = (lax::floor(place), lax::ceil(place));
    let high_weight = lax::sub(place, &low);
    let low_weight = lax::sub(&constant(&high_weight, 1), &high_weight);
    [low, high, low_weight, high_weight]
}

/// `x` sorted along an axis, and the weights with it.
#[track_caller]
fn sorted(x: &Array, weights: Option<&Array>, axis: usize) -> (Array, Option<Array>) {
    if let Some(weights) = weights {
        let sorted = lax::sort(&[x.clone(), weights.clone()], axis, 1);
        return (sorted[0].clone(), Some(sorted[1].clone()));
    }
    let prim = prims::Sort {
        dimension: axis,
        is_stable: false,
        num_keys: 1,
    };
    (bind_one(prim, std::slice::from_ref(x)), None)
}
