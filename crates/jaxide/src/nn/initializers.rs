//! Initial weights, as in `jax.nn.initializers`: an initializer is a function of a key, a shape and an element type.
//!
//! ```
//! use jaxide::nn::initializers;
//! use jaxide::{DType, random};
//! let init = initializers::he_normal(());
//! let weights = init(&random::key(0), &[3, 4], DType::F32);
//! assert_eq!(weights.shape(), [3, 4]);
//! ```

use std::panic::Location;

use jaxide_core::{DType, Error};

use crate::array::{Array, Axes, Integer, Numbers, as_dtype};
use crate::numpy::{Index, Indices, nested};
use crate::options::options;
use crate::trace::raise;
use crate::{lax, numpy, random};

options! {
    /// What [`uniform`] takes: a number alone is one too.
    pub struct Uniform {
        /// The upper bound.
        scale: f64 = 0.01;
    }

    /// What [`normal`] takes: a number alone is one too.
    pub struct Normal {
        /// The standard deviation.
        stddev: f64 = 0.01;
    }

    /// What [`truncated_normal`] takes: a standard deviation alone is one too.
    pub struct TruncatedNormal {
        /// The standard deviation before the samples are truncated.
        stddev: f64 = 0.01;
        /// The lower bound, in standard deviations.
        lower: f64 = -2.0;
        /// The upper bound, in standard deviations.
        upper: f64 = 2.0;
    }

    /// Which axes of weights are what.
    pub struct Fans {
        /// The axes of inputs: the last but one by default.
        in_axis: Numbers = Numbers::from_slice(&[-2]), |axis: impl Axes| axis.numbers().unwrap_or_default();
        /// The axes of outputs: the last by default.
        out_axis: Numbers = Numbers::from_slice(&[-1]), |axis: impl Axes| axis.numbers().unwrap_or_default();
        /// The axes that are neither, nor within a receptive field: none by default.
        batch_axis: Numbers = Numbers::new(), |axis: impl Axes| axis.numbers().unwrap_or_default();
    }

    /// What [`orthogonal`] and [`delta_orthogonal`] take: a scale alone is one too.
    pub struct Orthogonal {
        /// The factor of all weights.
        scale: f64 = 1.0;
        /// The axis of the columns.
        column_axis: i64 = -1, |axis: impl Integer| axis.to_i64();
    }
}

/// A number alone.
macro_rules! alone {
    ($($name:ident $field:ident;)*) => { $(
        impl From<f64> for $name {
            fn from($field: f64) -> Self {
                $name::new().$field($field)
            }
        }
    )* };
}

alone! {
    Uniform scale;
    Normal stddev;
    TruncatedNormal stddev;
    Orthogonal scale;
}

/// What the variance of weights is divided by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fan {
    /// The number of inputs.
    In,
    /// The number of outputs.
    Out,
    /// The mean of both.
    Avg,
    /// The geometric mean of both.
    GeoAvg,
}

/// How weights are distributed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Distribution {
    /// Normal, without what is more than two standard deviations away.
    TruncatedNormal,
    /// Normal.
    Normal,
    /// Uniform.
    Uniform,
}

/// A number with the element type of the weights.
#[track_caller]
fn number(value: f64, dtype: DType) -> Array {
    let of = if dtype.is_complex() {
        part(dtype)
    } else {
        dtype
    };
    as_dtype(&nested::rounded(value, of), dtype, false)
}

/// The element type of the parts of complex numbers.
fn part(dtype: DType) -> DType {
    match dtype {
        DType::C64 => DType::F32,
        DType::C128 => DType::F64,
        real => real,
    }
}

/// Zeros.
///
/// # Panics
/// When the array is too large to hold.
#[track_caller]
pub fn zeros(_key: &Array, shape: &[usize], dtype: DType) -> Array {
    let _named = crate::trace::named("zeros");
    lax::full(shape, 0, dtype)
}

/// Ones.
///
/// # Panics
/// When the array is too large to hold.
#[track_caller]
pub fn ones(_key: &Array, shape: &[usize], dtype: DType) -> Array {
    let _named = crate::trace::named("ones");
    lax::full(shape, 1, dtype)
}

/// Everywhere the same number, or an array that broadcasts.
///
/// ```
/// use jaxide::nn::initializers;
/// use jaxide::{DType, random};
/// let init = initializers::constant(0.5);
/// assert_eq!(init(&random::key(0), &[2], DType::F32).to_vec::<f32>(), [0.5, 0.5]);
/// ```
#[track_caller]
pub fn constant(
    value: impl Into<Array>,
) -> impl Fn(&Array, &[usize], DType) -> Array + Clone + Send + Sync + 'static {
    let value = value.into();
    let place = Location::caller();
    move |_, shape, dtype| {
        let _named = crate::trace::named_at("constant", place);
        let value = lax::convert_element_type(&value, dtype);
        numpy::broadcast_to(&value, shape)
    }
}

/// Uniform between 0 and the scale.
#[track_caller]
pub fn uniform(
    options: impl Into<Uniform>,
) -> impl Fn(&Array, &[usize], DType) -> Array + Clone + Send + Sync + 'static {
    let Uniform { scale } = options.into();
    let place = Location::caller();
    move |key, shape, dtype| {
        let _named = crate::trace::named_at("uniform", place);
        random::uniform(key, shape, dtype, 0.0, 1.0) * number(scale, dtype)
    }
}

/// Normal samples times a scale, which JAX multiplies with the root of two before it takes the inverse of the error function.
#[track_caller]
fn scaled_normal(key: &Array, shape: &[usize], dtype: DType, scale: &Array) -> Array {
    if !dtype.is_float() {
        return random::normal(key, shape, dtype) * scale;
    }
    let (least, most) = (random::above_minus_one(dtype), random::number(1.0, dtype));
    let u = random::uniform(key, shape, dtype, least, most);
    let root = random::number(std::f64::consts::SQRT_2, dtype);
    root * scale * lax::erf_inv(&u)
}

/// Normal with mean 0.
#[track_caller]
pub fn normal(
    options: impl Into<Normal>,
) -> impl Fn(&Array, &[usize], DType) -> Array + Clone + Send + Sync + 'static {
    let Normal { stddev } = options.into();
    let place = Location::caller();
    move |key, shape, dtype| {
        let _named = crate::trace::named_at("normal", place);
        scaled_normal(key, shape, dtype, &number(stddev, dtype))
    }
}

/// Normal with mean 0, without what is outside of bounds.
#[track_caller]
pub fn truncated_normal(
    options: impl Into<TruncatedNormal>,
) -> impl Fn(&Array, &[usize], DType) -> Array + Clone + Send + Sync + 'static {
    let TruncatedNormal {
        stddev,
        lower,
        upper,
    } = options.into();
    let place = Location::caller();
    move |key, shape, dtype| {
        let _named = crate::trace::named_at("truncated_normal", place);
        let samples = random::truncated_normal(key, lower, upper, (shape, dtype));
        samples * number(stddev, dtype)
    }
}

/// How many inputs and outputs a weight has.
#[track_caller]
fn fans(shape: &[usize], fans: &Fans) -> [f64; 2] {
    let size = |axes: &Numbers| -> f64 {
        let axes = axes[..].axes("variance_scaling", shape.len());
        axes.into_iter().map(|axis| shape[axis] as f64).product()
    };
    let [inputs, outputs] = [&fans.in_axis, &fans.out_axis].map(size);
    let others = inputs * outputs * size(&fans.batch_axis);
    let all: f64 = shape.iter().map(|&length| length as f64).product();
    let field = if others == 0.0 { 0.0 } else { all / others };
    [inputs * field, outputs * field]
}

/// Weights whose variance is the scale divided by a number of inputs or outputs.
///
/// The function that it gives panics when an axis is out of range.
///
/// ```
/// use jaxide::nn::initializers::{Distribution, Fan, variance_scaling};
/// use jaxide::{DType, random};
/// let init = variance_scaling(1.0, Fan::In, Distribution::Normal, ());
/// let weights = init(&random::key(0), &[100, 50], DType::F32);
/// assert!((weights.square().mean().item::<f32>() - 0.01).abs() < 1e-3);
/// ```
#[track_caller]
pub fn variance_scaling(
    scale: f64,
    mode: Fan,
    distribution: Distribution,
    axes: impl Into<Fans>,
) -> impl Fn(&Array, &[usize], DType) -> Array + Clone + Send + Sync + 'static {
    let axes = axes.into();
    let place = Location::caller();
    move |key, shape, dtype| {
        let _named = crate::trace::named_at("variance_scaling", place);
        let [inputs, outputs] = fans(shape, &axes);
        let denominator = match mode {
            Fan::In => inputs,
            Fan::Out => outputs,
            Fan::Avg => f64::midpoint(inputs, outputs),
            Fan::GeoAvg => (inputs * outputs).sqrt(),
        };
        let variance = if denominator == 0.0 {
            0.0
        } else {
            scale / denominator
        };
        let variance = number(variance, dtype);
        match (distribution, dtype.is_float()) {
            (Distribution::Normal, _) => scaled_normal(key, shape, dtype, &numpy::sqrt(&variance)),
            (Distribution::TruncatedNormal, true) => {
                // The standard deviation of what is left of the normal distribution.
                let left = number(0.879_625_661_034_239_8, dtype);
                let deviation = numpy::sqrt(&variance) / left;
                random::truncated_normal(key, -2, 2, (shape, dtype)) * deviation
            }
            (Distribution::TruncatedNormal, false) => {
                let left = number(0.953_111_643_804_912_1, dtype);
                let deviation = numpy::sqrt(&variance) / left;
                complex_truncated_normal(key, shape, dtype) * deviation
            }
            (Distribution::Uniform, true) => {
                let samples = random::uniform(key, shape, dtype, -1, 1.0);
                samples * numpy::sqrt(&(number(3.0, dtype) * &variance))
            }
            (Distribution::Uniform, false) => {
                complex_uniform(key, shape, dtype) * numpy::sqrt(&variance)
            }
        }
    }
}

/// Points of the circle of radius 1 at an angle.
fn on_circle(key: &Array, shape: &[usize], dtype: DType) -> Array {
    let angle = random::uniform(key, shape, part(dtype), 0.0, 1.0);
    let angle = number(std::f64::consts::TAU, dtype) * as_dtype(&angle, dtype, false);
    let turn = Array::from(num_complex::Complex::new(0.0, 1.0)) * angle;
    lax::exp(&turn)
}

/// Uniform in the circle of radius 1.
fn complex_uniform(key: &Array, shape: &[usize], dtype: DType) -> Array {
    let [for_radius, for_angle] = random::split(key, 2).unpack();
    let u = random::uniform(&for_radius, shape, part(dtype), 0.0, 1.0);
    let radius = as_dtype(&lax::sqrt(&(2.0 * u)), dtype, false);
    radius * on_circle(&for_angle, shape, dtype)
}

/// Normal in the circle of radius 2.
fn complex_truncated_normal(key: &Array, shape: &[usize], dtype: DType) -> Array {
    let [for_radius, for_angle] = random::split(key, 2).unpack();
    let most = number(1.0, dtype) - numpy::exp(&number(-4.0, dtype));
    let u = random::uniform(&for_radius, shape, part(dtype), 0.0, 1.0);
    let t = most * as_dtype(&u, dtype, false);
    let radius = lax::sqrt(&lax::neg(&lax::log(&(number(1.0, dtype) - t))));
    radius * on_circle(&for_angle, shape, dtype)
}

/// Initializers that are [`variance_scaling`] with other names.
macro_rules! scalings {
    ($($(#[$doc:meta])* $name:ident $scale:literal $fan:ident $distribution:ident;)*) => { $(
        $(#[$doc])*
        ///
        /// The function that it gives panics when an axis is out of range.
        #[track_caller]
        pub fn $name(
            axes: impl Into<Fans>,
        ) -> impl Fn(&Array, &[usize], DType) -> Array + Clone + Send + Sync + 'static {
            let place = Location::caller();
            let init = variance_scaling($scale, Fan::$fan, Distribution::$distribution, axes);
            move |key, shape, dtype| {
                let _named = crate::trace::named_at(stringify!($name), place);
                init(key, shape, dtype)
            }
        }
    )* };
}

scalings! {
    /// Uniform, of variance one over the mean of inputs and outputs.
    glorot_uniform 1.0 Avg Uniform;
    /// Truncated normal, of variance one over the mean of inputs and outputs.
    glorot_normal 1.0 Avg TruncatedNormal;
    /// [`glorot_uniform`] under its other name.
    xavier_uniform 1.0 Avg Uniform;
    /// [`glorot_normal`] under its other name.
    xavier_normal 1.0 Avg TruncatedNormal;
    /// Uniform, of variance one over the inputs.
    lecun_uniform 1.0 In Uniform;
    /// Truncated normal, of variance one over the inputs.
    lecun_normal 1.0 In TruncatedNormal;
    /// Uniform, of variance two over the inputs.
    he_uniform 2.0 In Uniform;
    /// Truncated normal, of variance two over the inputs.
    he_normal 2.0 In TruncatedNormal;
    /// [`he_uniform`] under its other name.
    kaiming_uniform 2.0 In Uniform;
    /// [`he_normal`] under its other name.
    kaiming_normal 2.0 In TruncatedNormal;
}

#[track_caller]
fn refuse(operation: &str, text: String) -> ! {
    raise(Error::shape(text).in_operation(operation))
}

/// Uniform among matrices whose shorter side is orthonormal, where all axes but that of the columns are rows.
///
/// The function that it gives panics when a shape has less than two axes, or there is no such axis.
///
/// ```
/// use jaxide::nn::initializers;
/// use jaxide::{DType, numpy, random};
/// let q = initializers::orthogonal(())(&random::key(0), &[4, 3], DType::F32);
/// let product = numpy::matmul(&q.t(), &q) - numpy::eye(3, ());
/// assert!(product.abs().max().item::<f32>() < 1e-6);
/// ```
#[track_caller]
pub fn orthogonal(
    options: impl Into<Orthogonal>,
) -> impl Fn(&Array, &[usize], DType) -> Array + Clone + Send + Sync + 'static {
    let options = options.into();
    let place = Location::caller();
    move |key, shape, dtype| {
        let _named = crate::trace::named_at("orthogonal", place);
        orthogonal_weights(key, shape, dtype, &options)
    }
}

#[track_caller]
fn orthogonal_weights(key: &Array, shape: &[usize], dtype: DType, options: &Orthogonal) -> Array {
    if shape.len() < 2 {
        refuse(
            "orthogonal",
            format!("a shape with two axes is needed, and {shape:?} is given"),
        );
    }
    if shape.contains(&0) {
        return lax::full(shape, 0, dtype);
    }
    let axis = crate::array::normalize_axis("orthogonal", options.column_axis, shape.len());
    let columns = shape[axis];
    let rows: usize = shape.iter().product::<usize>() / columns;
    let of = random::Orthogonal::new().dtype(dtype).m(columns);
    let mut ending = shape.to_vec();
    ending.remove(axis);
    ending.push(columns);
    let q = lax::reshape(&random::orthogonal(key, rows, of), &ending);
    let last = shape.len() - 1;
    let mut order: Vec<usize> = (0..last).collect();
    order.insert(axis, last);
    number(options.scale, dtype) * lax::transpose(&q, &order)
}

/// Weights of a convolution that does nothing but multiply with an orthogonal matrix: that in the middle of the window, zeros elsewhere.
///
/// The function that it gives panics when a shape has not 3 to 5 axes, or the last axis is shorter than the one before.
///
/// ```
/// use jaxide::nn::initializers;
/// use jaxide::{DType, random};
/// let w = initializers::delta_orthogonal(())(&random::key(0), &[3, 2, 2], DType::F32);
/// assert_eq!(w.index(0).to_vec::<f32>(), [0.0; 4]);
/// ```
#[track_caller]
pub fn delta_orthogonal(
    options: impl Into<Orthogonal>,
) -> impl Fn(&Array, &[usize], DType) -> Array + Clone + Send + Sync + 'static {
    let options = options.into();
    let place = Location::caller();
    move |key, shape, dtype| {
        let _named = crate::trace::named_at("delta_orthogonal", place);
        let Some((window, [inputs, outputs])) = shape.split_last_chunk::<2>() else {
            refuse(
                "delta_orthogonal",
                format!("{shape:?} has less than three axes"),
            );
        };
        if !(1..=3).contains(&window.len()) || outputs < inputs {
            let text = format!(
                "{shape:?} is no window of up to three axes, inputs and at least as many outputs"
            );
            refuse("delta_orthogonal", text);
        }
        let matrix = orthogonal_weights(key, &[*inputs, *outputs], dtype, &options);
        let middle = window
            .iter()
            .map(|&length| Index::from(length.saturating_sub(1) / 2));
        let middle: Vec<Index> = middle.collect();
        lax::full(shape, 0, dtype)
            .at(Indices::from(middle))
            .set(matrix)
    }
}
