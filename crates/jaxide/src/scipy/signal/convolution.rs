//! Convolutions, and signals without their trends.

use jaxide_core::Error;
use jaxide_core::prims::{DotPrecision, Precision};

use crate::api::vmap_list;
use crate::array::{Array, Axes, Integer, Numbers, as_dtype, normalize_axis};
use crate::idx;
use crate::lax::{self, Convolution, Padding};
use crate::numpy::fft::{self, Fftn};
use crate::numpy::linalg::{exact_matmul, lstsq};
use crate::numpy::parts::{conj, flipped, inexact, moveaxis, refuse};
use crate::numpy::{self, Reduction};
use crate::options::options;
use crate::scipy::linalg::ConvolutionMode;
use crate::trace::raise;

/// How [`convolve`] and [`correlate`] compute.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ConvolveMethod {
    /// By sums of products; what `"auto"` means too.
    #[default]
    Direct,
    /// By Fourier transforms.
    Fft,
}

impl From<&str> for ConvolveMethod {
    /// # Panics
    /// When there is no such method.
    #[track_caller]
    fn from(method: &str) -> Self {
        match method {
            "auto" | "direct" => ConvolveMethod::Direct,
            "fft" => ConvolveMethod::Fft,
            _ => raise(
                Error::parameter(format!(
                    "there is no method `{method}`: `auto`, `direct` and `fft` are"
                ))
                .in_operation("convolve"),
            ),
        }
    }
}

options! {
    /// What [`convolve`] and [`correlate`] take beside their operands: a mode alone is one too.
    pub struct Convolve {
        /// How much of the result.
        mode: ConvolutionMode = ConvolutionMode::Full, |mode: impl Into<ConvolutionMode>| mode.into();
        /// How it is computed.
        method: ConvolveMethod = ConvolveMethod::Direct, |method: impl Into<ConvolveMethod>| method.into();
        /// How exact products have to be.
        precision: Option<DotPrecision> = None, |precision: Precision| Some(DotPrecision::Operands(precision, precision));
    }

    /// What [`convolve2d`] and [`correlate2d`] take beside their operands: a mode alone is one too.
    pub struct Convolve2d {
        /// How much of the result.
        mode: ConvolutionMode = ConvolutionMode::Full, |mode: impl Into<ConvolutionMode>| mode.into();
        /// How exact products have to be.
        precision: Option<DotPrecision> = None, |precision: Precision| Some(DotPrecision::Operands(precision, precision));
    }

    /// What [`fftconvolve`] takes beside its operands: a mode alone is one too.
    pub struct FftConvolve {
        /// How much of the result.
        mode: ConvolutionMode = ConvolutionMode::Full, |mode: impl Into<ConvolutionMode>| mode.into();
        /// The axes that are convolved: all by default. Along the others, lengths must be equal.
        axes: Option<Numbers> = None, |axes: impl Axes| axes.numbers();
    }

    /// What [`detrend`] takes beside the array: a trend alone is one too.
    pub struct Detrend {
        /// The axis: the last by default.
        axis: i64 = -1, |axis: impl Integer| axis.to_i64();
        /// What is taken away.
        trend: Trend = Trend::Linear, |trend: impl Into<Trend>| trend.into();
        /// Where lines begin, beside the first element.
        bp: Vec<usize> = Vec::new(), |breakpoints: &[usize]| breakpoints.to_vec();
    }
}

impl From<&str> for Convolve {
    /// # Panics
    /// When there is no such mode.
    #[track_caller]
    fn from(mode: &str) -> Self {
        Convolve::new().mode(mode)
    }
}

impl From<&str> for Convolve2d {
    /// # Panics
    /// When there is no such mode.
    #[track_caller]
    fn from(mode: &str) -> Self {
        Convolve2d::new().mode(mode)
    }
}

impl From<&str> for FftConvolve {
    /// # Panics
    /// When there is no such mode.
    #[track_caller]
    fn from(mode: &str) -> Self {
        FftConvolve::new().mode(mode)
    }
}

impl From<Trend> for Detrend {
    fn from(trend: Trend) -> Self {
        Detrend::new().trend(trend)
    }
}

/// Whether the first of two shapes contains the second, and the second the first.
fn contains(x: &[usize], y: &[usize]) -> (bool, bool) {
    let pairs = || x.iter().zip(y);
    (pairs().all(|(x, y)| x >= y), pairs().all(|(x, y)| x <= y))
}

fn all_axes(x: &Array) -> Vec<usize> {
    (0..x.ndim()).collect()
}

#[track_caller]
fn direct(
    operation: &str,
    x: &Array,
    y: &Array,
    mode: ConvolutionMode,
    precision: Option<&DotPrecision>,
) -> Array {
    if x.ndim() != y.ndim() {
        refuse(operation, "both must have equally many axes", &[x, y]);
    }
    if x.size() == 0 || y.size() == 0 {
        refuse(
            operation,
            "arrays without elements have no convolution",
            &[x, y],
        );
    }
    let [x, y] = inexact(operation, [x, y]);
    let (larger, smaller) = contains(x.shape(), y.shape());
    if !larger && !smaller {
        refuse(
            operation,
            "one must be the shorter along every axis",
            &[&x, &y],
        );
    }
    let second = y.shape().to_vec();
    let (x, y) = if smaller { (y, x) } else { (x, y) };
    let padding = y.shape().iter().zip(&second).map(|(&length, &second)| {
        let (length, second) = (length as i64, second as i64);
        match mode {
            ConvolutionMode::Valid => (0, 0),
            ConvolutionMode::Full => (length - 1, length - 1),
            ConvolutionMode::Same => {
                let middle = (second - 1) / 2;
                (length - 1 - middle, length - second + middle)
            }
        }
    });
    let mut how = Convolution::new(vec![1; x.ndim()], Padding::Explicit(padding.collect()));
    how.precision = precision.cloned();
    let y = flipped(&y, &all_axes(&y));
    let in_front = |x: &Array| lax::expand_dims(x, [0, 1]);
    lax::squeeze(
        &lax::conv_general_dilated(&in_front(&x), &in_front(&y), &how),
        [0, 1],
    )
}

/// The convolution of two arrays: the sums of products of the elements of the first with those of the second in reverse order, at
/// every place.
///
/// # Panics
/// When they do not have equally many axes, one is empty, or neither is the shorter along every axis.
///
/// ```
/// use jaxide::{Array, scipy::signal};
/// let (x, y) = (Array::from([1.0f32, 2.0, 3.0]), Array::from([1.0f32, 10.0]));
/// assert_eq!(signal::convolve(&x, &y, ()).to_vec::<f32>(), [1.0, 12.0, 23.0, 30.0]);
/// assert_eq!(signal::convolve(&x, &y, "valid").to_vec::<f32>(), [12.0, 23.0]);
/// ```
#[track_caller]
pub fn convolve(in1: &Array, in2: &Array, options: impl Into<Convolve>) -> Array {
    let _named = crate::trace::named("convolve");
    let Convolve {
        mode,
        method,
        precision,
    } = options.into();
    match method {
        ConvolveMethod::Fft => fftconvolve(in1, in2, FftConvolve::new().mode(mode)),
        ConvolveMethod::Direct => direct("convolve", in1, in2, mode, precision.as_ref()),
    }
}

/// The convolution with the conjugate of the second in reverse order: products at every distance.
///
/// # Panics
/// As [`convolve`].
///
/// ```
/// use jaxide::{Array, scipy::signal};
/// let (x, y) = (Array::from([1.0f32, 2.0, 3.0]), Array::from([1.0f32, 10.0]));
/// assert_eq!(signal::correlate(&x, &y, "valid").to_vec::<f32>(), [21.0, 32.0]);
/// ```
#[track_caller]
pub fn correlate(in1: &Array, in2: &Array, options: impl Into<Convolve>) -> Array {
    let _named = crate::trace::named("correlate");
    let in2 = conj(in2);
    convolve(in1, &flipped(&in2, &all_axes(&in2)), options)
}

#[track_caller]
fn check_matrices(operation: &str, x: &Array, y: &Array) {
    if x.ndim() != 2 || y.ndim() != 2 {
        refuse(operation, "both must have two axes", &[x, y]);
    }
}

/// [`convolve`] of matrices, with zeros around them.
///
/// # Panics
/// When they do not have two axes, one is empty, or neither is the shorter along both.
#[track_caller]
pub fn convolve2d(in1: &Array, in2: &Array, options: impl Into<Convolve2d>) -> Array {
    let _named = crate::trace::named("convolve2d");
    let Convolve2d { mode, precision } = options.into();
    check_matrices("convolve2d", in1, in2);
    direct("convolve2d", in1, in2, mode, precision.as_ref())
}

/// [`correlate`] of matrices, with zeros around them.
///
/// # Panics
/// As [`convolve2d`].
#[track_caller]
pub fn correlate2d(in1: &Array, in2: &Array, options: impl Into<Convolve2d>) -> Array {
    let _named = crate::trace::named("correlate2d");
    const OPERATION: &str = "correlate2d";
    let Convolve2d { mode, precision } = options.into();
    check_matrices(OPERATION, in1, in2);
    let flip = |x: &Array| flipped(x, &[0, 1]);
    let run = |x: &Array, y: &Array| direct(OPERATION, x, y, mode, precision.as_ref());
    let (_, smaller) = contains(in1.shape(), in2.shape());
    let turned = match mode {
        ConvolutionMode::Same => false,
        ConvolutionMode::Valid => smaller && in1.shape() != in2.shape(),
        ConvolutionMode::Full => smaller,
    };
    match (turned, mode) {
        (false, _) => flip(&run(&flip(in1), &conj(in2))),
        (true, ConvolutionMode::Full) => conj(&run(&flip(in2), &conj(in1))),
        (true, _) => run(&flip(in2), &conj(in1)),
    }
}

/// [`convolve`] by Fourier transforms, along some axes.
///
/// # Panics
/// When they do not have equally many axes, lengths along axes that are not convolved differ, or for the valid part neither is the
/// shorter along every axis.
///
/// ```
/// use jaxide::{Array, scipy::signal};
/// let (x, y) = (Array::from([1.0f32, 2.0, 3.0]), Array::from([1.0f32, 10.0]));
/// assert_eq!(signal::fftconvolve(&x, &y, ()).shape(), [4]);
/// ```
#[track_caller]
pub fn fftconvolve(in1: &Array, in2: &Array, options: impl Into<FftConvolve>) -> Array {
    let _named = crate::trace::named("fftconvolve");
    const OPERATION: &str = "fftconvolve";
    let FftConvolve { mode, axes } = options.into();
    let [x, y] = inexact(OPERATION, [in1, in2]);
    if x.ndim() != y.ndim() {
        refuse(OPERATION, "both must have equally many axes", &[&x, &y]);
    }
    let axes = match &axes {
        None => all_axes(&x),
        Some(axes) => axes[..].axes(OPERATION, x.ndim()),
    };
    let shared: Vec<usize> = (0..x.ndim()).filter(|axis| !axes.contains(axis)).collect();
    if shared
        .iter()
        .any(|&axis| x.shape()[axis] != y.shape()[axis])
    {
        refuse(
            OPERATION,
            &format!("axes beside {axes:?} must have equal lengths"),
            &[&x, &y],
        );
    }
    mapped(&shared, &[x, y], mode)
}

/// Maps over the last of some axes, and inside over those before.
#[track_caller]
fn mapped(shared: &[usize], operands: &[Array], mode: ConvolutionMode) -> Array {
    match shared.split_last() {
        None => transformed(&operands[0], &operands[1], mode),
        Some((&axis, before)) => {
            let one = |own: &[Array]| vec![mapped(before, own, mode)];
            vmap_list(&one, &[Some(axis); 2], axis, operands)[0].clone()
        }
    }
}

#[track_caller]
fn transformed(x: &Array, y: &Array, mode: ConvolutionMode) -> Array {
    let full: Vec<usize> = x
        .shape()
        .iter()
        .zip(y.shape())
        .map(|(x, y)| (x + y).saturating_sub(1))
        .collect();
    let (larger, smaller) = contains(x.shape(), y.shape());
    if mode == ConvolutionMode::Valid && !larger && !smaller {
        refuse(
            "fftconvolve",
            "for the valid part one must be the shorter along every axis",
            &[x, y],
        );
    }
    let (x, y) = if mode == ConvolutionMode::Valid && smaller {
        (y, x)
    } else {
        (x, y)
    };
    let single = x
        .shape()
        .iter()
        .zip(y.shape())
        .all(|(&x, &y)| x == 1 || y == 1);
    let options = || Fftn::new().s(&full[..]);
    let product = if single {
        x * y
    } else if x.dtype().is_complex() {
        fft::ifftn(
            &(fft::fftn(x, options()) * fft::fftn(y, options())),
            options(),
        )
    } else {
        fft::irfftn(
            &(fft::rfftn(x, options()) * fft::rfftn(y, options())),
            options(),
        )
    };
    let shape: Vec<usize> = match mode {
        ConvolutionMode::Full => full.clone(),
        ConvolutionMode::Same => x.shape().to_vec(),
        ConvolutionMode::Valid => x
            .shape()
            .iter()
            .zip(y.shape())
            .map(|(x, y)| x - y + 1)
            .collect(),
    };
    let starts: Vec<Array> = full
        .iter()
        .zip(&shape)
        .map(|(full, own)| Array::from(((full - own) / 2) as i32))
        .collect();
    lax::dynamic_slice(&product, &starts, &shape)
}

/// What [`detrend`] takes away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trend {
    /// The mean.
    Constant,
    /// The nearest line.
    Linear,
}

impl From<&str> for Trend {
    /// # Panics
    /// When there is no such trend.
    #[track_caller]
    fn from(trend: &str) -> Self {
        match trend {
            "constant" => Trend::Constant,
            "linear" => Trend::Linear,
            _ => raise(
                Error::parameter(format!(
                    "there is no trend `{trend}`: `constant` and `linear` are"
                ))
                .in_operation("detrend"),
            ),
        }
    }
}

/// An array without its mean, or the line that is nearest, along an axis.
///
/// # Panics
/// When the axis is out of range, or a line would begin outside.
///
/// ```
/// use jaxide::{Array, scipy::signal::{self, Trend}};
/// let x = signal::detrend(&Array::from([1.0f32, 3.0]), Trend::Constant);
/// assert_eq!(x.to_vec::<f32>(), [-1.0, 1.0]);
/// ```
#[track_caller]
pub fn detrend(data: &Array, options: impl Into<Detrend>) -> Array {
    let _named = crate::trace::named("detrend");
    const OPERATION: &str = "detrend";
    let Detrend {
        axis,
        trend,
        mut bp,
    } = options.into();
    let [x] = inexact(OPERATION, [data]);
    let axis = normalize_axis(OPERATION, axis, x.ndim());
    let length = x.shape()[axis];
    if trend == Trend::Constant {
        let over = Reduction::new().axis(axis).keepdims(true);
        return &x - numpy::mean(&x, over);
    }
    bp.extend([0, length]);
    bp.sort_unstable();
    bp.dedup();
    if bp.last() != Some(&length) {
        refuse(OPERATION, &format!("lines cannot begin at {bp:?}"), &[&x]);
    }
    let moved = moveaxis(&x, &[axis], &[0]);
    let shape = moved.shape().to_vec();
    let mut flat = lax::reshape(&moved, [length, x.size() / length.max(1)]);
    for ends in bp.windows(2) {
        let count = ends[1] - ends[0];
        let ones = lax::full([count], 1, x.dtype());
        let steps = numpy::arange(1..count as i32 + 1, x.dtype());
        let number = as_dtype(&Array::from(count as f64), x.dtype(), false);
        let line = numpy::vstack(&[ones, steps / number], ()).t();
        let within = idx![ends[0] as i64..ends[1] as i64];
        let coefficients = lstsq(&line, &flat.index(&within), ()).0;
        flat = flat.at(&within).add(-exact_matmul(&line, &coefficients));
    }
    moveaxis(&lax::reshape(&flat, shape), &[0], &[axis])
}
