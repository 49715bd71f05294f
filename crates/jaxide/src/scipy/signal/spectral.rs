//! Spectra of pieces of a signal.

use jaxide_core::{DType, Error};
use num_complex::Complex;

use super::{Detrend, Trend, detrend};
use crate::api::vmap_list;
use crate::array::{Array, Integer, as_dtype, normalize_axis};
use crate::idx;
use crate::lax;
use crate::numpy::fft::{self, Fft, Fftfreq};
use crate::numpy::parts::{complex_type, inexact, moveaxis, range, real, real_type, refuse, sum};
use crate::numpy::{self, Linspace, Pad, PadMode, Repeat, where_};
use crate::options::{options, words};
use crate::scipy::operands::numbers;
use crate::trace::raise;

/// By what pieces are multiplied.
#[derive(Clone, Debug)]
pub enum Window {
    /// A period of a squared sine.
    Hann,
    /// Ones.
    Boxcar,
    /// These numbers, as many as a piece has.
    Values(Array),
}

impl From<&str> for Window {
    /// # Panics
    /// When there is no window of that name.
    #[track_caller]
    fn from(window: &str) -> Self {
        match window {
            "hann" => Window::Hann,
            "boxcar" => Window::Boxcar,
            _ => raise(
                Error::parameter(format!("there is no window `{window}`: `hann` and `boxcar` are; others are given as numbers"))
                    .in_operation("stft"),
            ),
        }
    }
}

impl From<&Array> for Window {
    fn from(window: &Array) -> Self {
        Window::Values(window.clone())
    }
}

impl From<Array> for Window {
    fn from(window: Array) -> Self {
        Window::Values(window)
    }
}

words! {
    "scipy::signal";
    /// In which unit spectra are.
    Scaling "scaling" {
        /// By frequency.
        Density = "density";
        /// By element.
        Spectrum = "spectrum";
    }
    /// How pieces are averaged.
    Average "average" {
        /// By their mean.
        Mean = "mean";
        /// By their median, corrected for its bias.
        Median = "median";
    }
    /// How a signal goes on at its ends.
    Boundary "boundary" {
        /// Mirrored.
        Even = "even";
        /// Mirrored, and turned around the last element.
        Odd = "odd";
        /// With its last element.
        Constant = "constant";
        /// With zeros.
        Zeros = "zeros";
    }
}

options! {
    /// What [`csd`] and [`welch`] take beside signals.
    pub struct Spectrum {
        /// Samples per unit of time.
        fs: f64 = 1.0;
        /// By what pieces are multiplied.
        window: Window = Window::Hann, |window: impl Into<Window>| window.into();
        /// The length of a piece: 256 where the signal is that long.
        nperseg: Option<usize> = None, |length: usize| Some(length);
        /// By how much pieces overlap: half by default.
        noverlap: Option<usize> = None, |length: usize| Some(length);
        /// The length of transforms: that of a piece by default.
        nfft: Option<usize> = None, |length: usize| Some(length);
        /// What is taken away from each piece.
        detrend: Option<Trend> = Some(Trend::Constant), |trend: impl Into<Option<Trend>>| trend.into();
        /// Whether of real signals only the first half of the spectrum is given.
        return_onesided: bool = true;
        /// In which unit spectra are.
        scaling: Scaling = Scaling::Density, |scaling: impl Into<Scaling>| scaling.into();
        /// The axis of time: the last by default.
        axis: i64 = -1, |axis: impl Integer| axis.to_i64();
        /// How pieces are averaged.
        average: Average = Average::Mean, |average: impl Into<Average>| average.into();
    }

    /// What [`stft`] takes beside the signal.
    pub struct Stft {
        /// Samples per unit of time.
        fs: f64 = 1.0;
        /// By what pieces are multiplied.
        window: Window = Window::Hann, |window: impl Into<Window>| window.into();
        /// The length of a piece.
        nperseg: usize = 256;
        /// By how much pieces overlap: half by default.
        noverlap: Option<usize> = None, |length: usize| Some(length);
        /// The length of transforms: that of a piece by default.
        nfft: Option<usize> = None, |length: usize| Some(length);
        /// What is taken away from each piece.
        detrend: Option<Trend> = None, |trend: impl Into<Option<Trend>>| trend.into();
        /// Whether of real signals only the first half of the spectrum is given.
        return_onesided: bool = true;
        /// How the signal goes on at its ends, if it does.
        boundary: Option<Boundary> = Some(Boundary::Zeros), |boundary: impl Into<Option<Boundary>>| boundary.into();
        /// Whether zeros are added at the end so that pieces cover it.
        padded: bool = true;
        /// The axis of time: the last by default.
        axis: i64 = -1, |axis: impl Integer| axis.to_i64();
    }

    /// What [`istft`] takes beside the spectra.
    pub struct Istft {
        /// Samples per unit of time.
        fs: f64 = 1.0;
        /// By what pieces were multiplied.
        window: Window = Window::Hann, |window: impl Into<Window>| window.into();
        /// The length of a piece: what the spectrum says by default.
        nperseg: Option<usize> = None, |length: usize| Some(length);
        /// By how much pieces overlap: half by default.
        noverlap: Option<usize> = None, |length: usize| Some(length);
        /// The length of transforms.
        nfft: Option<usize> = None, |length: usize| Some(length);
        /// Whether spectra are the first half.
        input_onesided: bool = true;
        /// Whether the signal was extended at its ends.
        boundary: bool = true;
        /// The axis of pieces.
        time_axis: i64 = -1, |axis: impl Integer| axis.to_i64();
        /// The axis of frequencies.
        freq_axis: i64 = -2, |axis: impl Integer| axis.to_i64();
    }
}

/// The squared sine of `n` steps through half a period, in the digits that numbers of a type have.
#[track_caller]
fn hann(n: usize, of: DType) -> Array {
    let dtype = match of {
        DType::F64 | DType::C128 => DType::F64,
        _ => DType::F32,
    };
    if n == 1 {
        return numbers(&[1.0], dtype);
    }
    let through = Linspace::new().num(n as i64).endpoint(false).dtype(dtype);
    let angles = numpy::linspace(0, std::f64::consts::PI, through);
    lax::integer_pow(&lax::sin(&angles), 2)
}

/// The window, and the length of a piece.
#[track_caller]
fn pieces(
    operation: &str,
    window: &Window,
    nperseg: Option<usize>,
    length: usize,
    dtype: DType,
) -> (Array, usize) {
    match window {
        Window::Hann => {
            let n = nperseg.unwrap_or(length).min(length);
            let values = hann(n, dtype);
            (as_dtype(&lax::copy(&values), dtype, false), n)
        }
        Window::Boxcar => {
            let n = nperseg.unwrap_or(length).min(length);
            (lax::full([n], 1, dtype), n)
        }
        Window::Values(values) => {
            if values.ndim() != 1
                || values.size() > length
                || nperseg.is_some_and(|n| n != values.size())
            {
                refuse(
                    operation,
                    "a window must be a vector as long as a piece, and no longer than the signal",
                    &[values],
                );
            }
            (as_dtype(values, dtype, false), values.size())
        }
    }
}

/// How spectra are made.
struct Plan {
    fs: f64,
    window: Window,
    nperseg: Option<usize>,
    noverlap: Option<usize>,
    nfft: Option<usize>,
    detrend: Option<Trend>,
    onesided: bool,
    scaling: Scaling,
    /// Whether spectra are squared.
    squared: bool,
    boundary: Option<Boundary>,
    padded: bool,
}

/// `x` extended at both ends of its last axis.
#[track_caller]
fn extended(x: &Array, n: usize, boundary: Boundary) -> Array {
    let axis = x.ndim() - 1;
    let length = x.shape()[axis];
    let mirrors = matches!(boundary, Boundary::Even | Boundary::Odd);
    if n == 0 {
        return x.clone();
    }
    if mirrors && n + 1 > length || length == 0 {
        refuse(
            "stft",
            &format!("{n} elements cannot be added at each end"),
            &[x],
        );
    }
    let widths = || {
        let mut widths = vec![(0, 0); x.ndim()];
        widths[axis] = (n as i64, n as i64);
        widths
    };
    let part = |start: usize, limit: usize| lax::slice_in_dim(x, start, limit, 1, axis);
    let turned = |x: &Array| numpy::flip(x, axis);
    match boundary {
        Boundary::Zeros => numpy::pad(x, widths(), Pad::new().constant_values(0.0)),
        Boundary::Constant => numpy::pad(x, widths(), PadMode::Edge),
        Boundary::Even => numpy::pad(x, widths(), PadMode::Reflect),
        Boundary::Odd => {
            let first = part(0, 1);
            let before = turned(&part(1, n + 1));
            let last = part(length - 1, length);
            let behind = turned(&part(length - n - 1, length - 1));
            let before = 2 * first - before;
            let behind = 2 * last - behind;
            lax::concatenate(&[before, x.clone(), behind], axis)
        }
    }
}

/// Zeros at the end of the last axis.
#[track_caller]
fn lengthened(x: &Array, by: usize) -> Array {
    let mut shape = x.shape().to_vec();
    let axis = shape.len() - 1;
    shape[axis] = by;
    lax::concatenate(&[x.clone(), lax::full(&shape, 0, x.dtype())], axis)
}

/// The spectra of the pieces of `x`, along its last two axes: pieces, frequencies.
#[track_caller]
fn transformed(
    x: &Array,
    window: &Array,
    plan: &Plan,
    [n, step, nfft]: [usize; 3],
    onesided: bool,
) -> Array {
    let axis = x.ndim() - 1;
    let length = x.shape()[axis];
    if length < n {
        refuse(
            "stft",
            &format!("the signal is shorter than a piece of {n}"),
            &[x],
        );
    }
    let pieces = if n == 1 && step == 1 {
        lax::expand_dims(x, [axis + 1])
    } else {
        let starts = numpy::arange((0, (length - n + 1) as i32, step as i32), ());
        let piece = |start: &[Array]| vec![lax::dynamic_slice_in_dim(x, &start[0], n, axis)];
        vmap_list(&piece, &[Some(0)], axis, &[starts]).swap_remove(0)
    };
    let pieces = match plan.detrend {
        Some(trend) => detrend(&pieces, Detrend::new().trend(trend)),
        None => pieces,
    };
    let mut shape = vec![1; pieces.ndim()];
    shape[axis + 1] = n;
    let pieces = numpy::multiply(lax::reshape(window, shape), &pieces);
    if onesided {
        fft::rfft(&real(&pieces), Fft::new().n(nfft))
    } else {
        fft::fft(&pieces, Fft::new().n(nfft))
    }
}

/// Frequencies, times, and the spectra of pieces: frequencies stand in the place of time, pieces last.
#[track_caller]
fn spectra(
    operation: &str,
    x: &Array,
    y: Option<&Array>,
    plan: &Plan,
    axis: i64,
) -> (Array, Array, Array) {
    let axis = normalize_axis(operation, axis, x.ndim());
    let (x, y) = match y {
        None => (inexact(operation, [x])[0].clone(), None),
        Some(y) => {
            if x.ndim() != y.ndim() {
                refuse(
                    operation,
                    "both signals must have equally many axes",
                    &[x, y],
                );
            }
            let [x, y] = inexact(operation, [x, y]);
            (x, Some(y))
        }
    };
    let result = complex_type(x.dtype());
    let frequency = real_type(result);
    if plan.nperseg == Some(0) {
        raise(Error::parameter("pieces must have elements").in_operation(operation));
    }
    let (window, n) = pieces(
        operation,
        &plan.window,
        plan.nperseg,
        x.shape()[axis],
        x.dtype(),
    );
    let overlap = plan.noverlap.unwrap_or(n / 2);
    let nfft = plan.nfft.unwrap_or(n);
    if let Some(y) = &y {
        let without = |x: &Array| -> Vec<usize> {
            let mut shape = x.shape().to_vec();
            shape.remove(axis);
            shape
        };
        numpy::broadcast_shapes(operation, &[&without(&x), &without(y)]);
    }
    if x.size() == 0 || y.as_ref().is_some_and(|y| y.size() == 0) {
        let zeros = |dtype: DType| lax::full(x.shape(), 0, dtype);
        return (zeros(frequency), zeros(frequency), zeros(result));
    }
    let at_end = |x: &Array| moveaxis(x, &[axis], &[x.ndim() - 1]);
    let (mut x, mut y) = (at_end(&x), y.map(|y| at_end(&y)));
    if let Some(y) = &mut y {
        let (own, other) = (x.shape()[x.ndim() - 1], y.shape()[y.ndim() - 1]);
        if own < other {
            x = lengthened(&x, other - own);
        } else if other < own {
            *y = lengthened(y, own - other);
        }
    }
    if nfft < n || overlap >= n {
        let what = format!(
            "pieces of {n} cannot overlap by {overlap} and be transformed with length {nfft}"
        );
        raise(Error::parameter(what).in_operation(operation));
    }
    let step = n - overlap;
    if let Some(boundary) = plan.boundary {
        x = extended(&x, n / 2, boundary);
        y = y.map(|y| extended(&y, n / 2, boundary));
    }
    let length = x.shape()[x.ndim() - 1];
    if plan.padded {
        let over = (length as i64 - n as i64).rem_euclid(step as i64) as usize;
        let missing = ((step - over) % step) % n;
        x = lengthened(&x, missing);
        y = y.map(|y| lengthened(&y, missing));
    }
    let scale = match plan.scaling {
        Scaling::Density => 1.0 / (plan.fs * sum(&(&window * &window), &[0], false)),
        Scaling::Spectrum => 1.0 / lax::integer_pow(&sum(&window, &[0], false), 2),
    };
    let scale = if plan.squared {
        scale
    } else {
        lax::sqrt(&scale)
    };
    let scale = as_dtype(&scale, complex_type(scale.dtype()), false);
    let complex = x.dtype().is_complex() || y.as_ref().is_some_and(|y| y.dtype().is_complex());
    let onesided = plan.onesided && !complex;
    let options = Fftfreq::new().d(1.0 / plan.fs).dtype(frequency);
    let frequencies = if onesided {
        fft::rfftfreq(nfft, options)
    } else {
        fft::fftfreq(nfft, options)
    };
    let lengths = [n, step, nfft];
    let own = transformed(&x, &window, plan, lengths, onesided);
    let mut spectrum = match &y {
        Some(y) => {
            let other = transformed(y, &window, plan, lengths, onesided);
            lax::conj(&own) * other
        }
        None if plan.squared => lax::conj(&own) * &own,
        None => own,
    };
    spectrum *= &scale;
    if onesided && plan.squared {
        // What the other half would have, but for the first, and the last where there is but one of it.
        let doubled = if nfft.is_multiple_of(2) {
            spectrum.at(idx![..., 1..-1])
        } else {
            spectrum.at(idx![..., 1..])
        };
        spectrum = doubled.multiply(2);
    }
    let length = x.shape()[x.ndim() - 1];
    let half = n as f64 / 2.0;
    let times = numpy::arange((half, length as f64 - half + 1.0, step as f64), frequency);
    let mut time = numpy::divide(times, plan.fs);
    if plan.boundary.is_some() {
        time = numpy::subtract(time, half / plan.fs);
    }
    let spectrum = as_dtype(&spectrum, result, false);
    let spectrum = if y.is_none() && plan.squared {
        lax::real(&spectrum)
    } else {
        spectrum
    };
    let last = spectrum.ndim() - 1;
    (frequencies, time, moveaxis(&spectrum, &[last], &[axis]))
}

/// Frequencies, times, and the spectrum of each piece of a signal: frequencies stand in the place of time, pieces along a new last
/// axis.
///
/// # Panics
/// When the axis is out of range, or lengths do not fit.
///
/// ```
/// use jaxide::{Array, DType, scipy::signal::{self, Stft}};
/// let (frequencies, times, spectra) = signal::stft(&Array::ones(8, DType::F32), Stft::new().nperseg(4));
/// assert_eq!((frequencies.shape(), times.shape(), spectra.shape()), (&[3][..], &[5][..], &[3, 5][..]));
/// ```
#[track_caller]
pub fn stft(x: &Array, options: impl Into<Stft>) -> (Array, Array, Array) {
    let _named = crate::trace::named("stft");
    let options = options.into();
    let plan = Plan {
        fs: options.fs,
        window: options.window,
        nperseg: Some(options.nperseg),
        noverlap: options.noverlap,
        nfft: options.nfft,
        detrend: options.detrend,
        onesided: options.return_onesided,
        scaling: Scaling::Spectrum,
        squared: false,
        boundary: options.boundary,
        padded: options.padded,
    };
    spectra("stft", x, None, &plan, options.axis)
}

#[track_caller]
fn averaged(operation: &str, x: &Array, y: Option<&Array>, options: Spectrum) -> (Array, Array) {
    let average = options.average;
    let plan = Plan {
        fs: options.fs,
        window: options.window,
        nperseg: options.nperseg,
        noverlap: options.noverlap,
        nfft: options.nfft,
        detrend: options.detrend,
        onesided: options.return_onesided,
        scaling: options.scaling,
        squared: true,
        boundary: None,
        padded: false,
    };
    let (frequencies, _, spectrum) = spectra(operation, x, y, &plan, options.axis);
    let spectrum = match y {
        Some(_) => spectrum + Array::from(Complex::new(0.0, 0.0)),
        None => spectrum,
    };
    if spectrum.ndim() < 2 || spectrum.size() == 0 {
        return (frequencies, spectrum);
    }
    let last = spectrum.ndim() - 1;
    let count = spectrum.shape()[last];
    let spectrum = match average {
        _ if count == 1 => lax::reshape(&spectrum, &spectrum.shape()[..last]),
        Average::Mean => numpy::mean(&spectrum, last),
        Average::Median => {
            let even = numpy::arange((2.0, count as f64, 2.0), ());
            let terms = 1.0 / (&even + 1) - 1.0 / even;
            let bias = as_dtype(&(1 + sum(&terms, &[0], false)), spectrum.dtype(), false);
            let median = if spectrum.dtype().is_complex() {
                let real = numpy::median(&lax::real(&spectrum), last);
                let imaginary = numpy::median(&lax::imag(&spectrum), last);
                real + Array::from(Complex::new(0.0, 1.0)) * imaginary
            } else {
                numpy::median(&spectrum, last)
            };
            numpy::divide(&median, &bias)
        }
    };
    (frequencies, spectrum)
}

/// Frequencies, and the cross spectral density of two signals by the method of Welch: the mean over pieces.
///
/// # Panics
/// When the axis is out of range, or lengths do not fit.
#[track_caller]
pub fn csd(x: &Array, y: &Array, options: impl Into<Spectrum>) -> (Array, Array) {
    let _named = crate::trace::named("csd");
    let (frequencies, spectrum) = averaged("csd", x, Some(y), options.into());
    (
        frequencies,
        as_dtype(&spectrum, complex_type(spectrum.dtype()), false),
    )
}

/// Frequencies, and the power spectral density of a signal by the method of Welch: the mean over pieces.
///
/// # Panics
/// When the axis is out of range, or lengths do not fit.
///
/// ```
/// use jaxide::{Array, DType, scipy::signal::{self, Spectrum}};
/// let (frequencies, power) = signal::welch(&Array::ones(8, DType::F32), Spectrum::new().nperseg(4));
/// assert_eq!((frequencies.shape(), power.shape()), (&[3][..], &[3][..]));
/// ```
#[track_caller]
pub fn welch(x: &Array, options: impl Into<Spectrum>) -> (Array, Array) {
    let _named = crate::trace::named("welch");
    let (frequencies, spectrum) = averaged("welch", x, None, options.into());
    (frequencies, real(&spectrum))
}

/// The sum of pieces that overlap: the last axis but one goes.
#[track_caller]
fn overlapped(x: &Array, step: usize) -> Array {
    let &[ref outer @ .., count, length] = x.shape() else {
        refuse("istft", "pieces are needed", &[x]);
    };
    let batch: usize = outer.iter().product();
    let total = step * count.saturating_sub(1) + length;
    if count == 0 {
        return lax::full([outer, &[total]].concat(), 0, x.dtype());
    }
    // Each piece in parts as long as a step. Part `s` of piece `t` is added at step `s + t`: with as many zeros behind the pieces
    // as there are pieces, or parts if these are more, and rows that are one step shorter, each row is moved by one step against
    // the one before.
    let parts = length.div_ceil(step);
    let behind = count.max(parts);
    let x = lax::reshape(x, [batch, count, length]);
    let missing = (parts * step - length) as i64;
    let x = numpy::pad(&x, [(0, 0), (0, 0), (0, missing)], ());
    let x = lax::reshape(&x, [batch, count, parts, step]);
    let x = lax::transpose(&x, [0, 2, 1, 3]);
    let x = numpy::pad(&x, [(0, 0), (0, 0), (0, behind as i64), (0, 0)], ());
    let row = (count + behind - 1) * step;
    let x = lax::reshape(&x, [batch, parts * (count + behind) * step]);
    let x = x.index(idx![.., ..(parts * row) as i64]);
    let x = lax::reshape(&x, [batch, parts, row]);
    let x = sum(&x, &[1], false).index(idx![.., ..total as i64]);
    lax::reshape(&x, [outer, &[total]].concat())
}

/// Times, and the signal whose pieces have the spectra `zxx`: the inverse of [`stft`].
///
/// # Panics
/// When axes are out of range or equal, or lengths do not fit.
///
/// ```
/// use jaxide::{Array, DType, scipy::signal::{self, Istft, Stft}};
/// let (_, _, spectra) = signal::stft(&Array::ones(8, DType::F32), Stft::new().nperseg(4));
/// let (_, x) = signal::istft(&spectra, Istft::new().nperseg(4));
/// assert!(x.to_vec::<f32>().iter().all(|x| (x - 1.0).abs() < 1e-5));
/// let one_piece = spectra.index(jaxide::idx![.., ..1]);
/// assert_eq!(signal::istft(&one_piece, Istft::new().boundary(false)).1.shape(), [4]);
/// ```
#[track_caller]
pub fn istft(zxx: &Array, options: impl Into<Istft>) -> (Array, Array) {
    let _named = crate::trace::named("istft");
    const OPERATION: &str = "istft";
    let options = options.into();
    if zxx.ndim() < 2 {
        refuse(OPERATION, "two axes are needed", &[zxx]);
    }
    let rank = zxx.ndim();
    let of_frequency = normalize_axis(OPERATION, options.freq_axis, rank);
    let mut of_time = normalize_axis(OPERATION, options.time_axis, rank);
    if of_frequency == of_time {
        refuse(
            OPERATION,
            &format!("axis {of_time} cannot be both of time and of frequency"),
            &[zxx],
        );
    }
    let zxx = as_dtype(zxx, complex_type(zxx.dtype()), false);
    let count = zxx.shape()[of_frequency];
    let default = if options.input_onesided {
        (2 * count).saturating_sub(2)
    } else {
        count
    };
    let n = options.nperseg.filter(|&n| n > 0).unwrap_or(default);
    let nfft = match options.nfft {
        Some(nfft) => nfft,
        None if options.input_onesided && n == default + 1 => n,
        None => default,
    };
    let overlap = options.noverlap.filter(|&n| n > 0).unwrap_or(n / 2);
    if n == 0 || nfft < n || overlap >= n {
        let what = format!(
            "pieces of {n} cannot overlap by {overlap} and come from transforms of length {nfft}"
        );
        raise(Error::parameter(what).in_operation(OPERATION));
    }
    let step = n - overlap;
    let mut order: Vec<usize> = (0..rank)
        .filter(|axis| ![of_time, of_frequency].contains(axis))
        .collect();
    order.extend([of_frequency, of_time]);
    let zxx = lax::transpose(&zxx, &order);
    let mut how = Fft::new().axis(-2);
    how.n = options.nfft.map(|n| n as i64);
    let pieces = if options.input_onesided {
        fft::irfft(&zxx, how)
    } else {
        fft::ifft(&zxx, how)
    };
    let available = pieces.shape()[rank - 2];
    let pieces = range(&pieces, rank - 2, 0, n.min(available));
    let window = match &options.window {
        Window::Hann => as_dtype(&hann(n, pieces.dtype()), pieces.dtype(), false),
        Window::Boxcar => lax::full([n], 1, pieces.dtype()),
        Window::Values(values) => {
            if values.ndim() != 1 || values.size() != n {
                refuse(
                    OPERATION,
                    &format!("a window must be a vector of {n}"),
                    &[values],
                );
            }
            values.clone()
        }
    };
    let pieces = numpy::multiply(pieces, sum(&window, &[0], false));
    let across: Vec<usize> = (0..rank).filter(|&axis| axis != rank - 2).collect();
    let window = lax::expand_dims(&window, across);
    let times = pieces.shape()[rank - 1];
    let mut x = overlapped(&numpy::multiply(&pieces, &window).swapaxes(-2, -1), step);
    let squares = numpy::repeat(&(&window * &window), times, Repeat::new().axis(-1));
    let mut norm = overlapped(&squares.swapaxes(-2, -1), step);
    if options.boundary && n > 1 {
        let ends = (n / 2) as i64;
        x = x.index(idx![..., ends..-ends]);
        norm = norm.index(idx![..., ends..-ends]);
    }
    let enough = norm.gt(1e-10);
    x = numpy::divide(&x, &where_(&enough, &norm, 1.0));
    if x.ndim() > 1 && of_time != rank - 1 {
        if of_frequency < of_time {
            of_time -= 1;
        }
        x = moveaxis(&x, &[x.ndim() - 1], &[of_time]);
    }
    let dtype = real_type(x.dtype());
    (
        numpy::divide(lax::iota(dtype, [x.shape()[0]], 0), options.fs),
        x,
    )
}
