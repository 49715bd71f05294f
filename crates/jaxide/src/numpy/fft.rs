//! Discrete Fourier transforms.
//!
//! The transforms from real numbers (`rfft`, `ihfft`) give the first half of a spectrum, the others follow by symmetry;
//! those to real numbers (`irfft`, `hfft`) take it. Numbers that are not floating-point become `f32`, and `f64` those of 64 bits.

use jaxide_core::prims::FftType;
use jaxide_core::{DType, Error, Scalar, Tensor};

use super::parts::{complex_type, conj, inexact_type, moveaxis, padded, real_type, refuse, rolled};
use crate::array::{Array, AsShape, Axes, Integer, Numbers, as_dtype, normalize_axis};
use crate::lax;
use crate::numpy::remainder;
use crate::options::options;
use crate::trace::{OrRaise, library, raise};

/// How transforms are scaled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FftNorm {
    /// The inverse transform divides by the number of elements, as by default.
    Backward,
    /// Both divide by its square root.
    Ortho,
    /// The forward transform divides by the number of elements.
    Forward,
}

impl From<&str> for FftNorm {
    /// # Panics
    /// When there is no such scaling.
    #[track_caller]
    fn from(norm: &str) -> Self {
        match norm {
            "backward" => FftNorm::Backward,
            "ortho" => FftNorm::Ortho,
            "forward" => FftNorm::Forward,
            _ => raise(
                Error::parameter(format!(
                    "there is no norm `{norm}`: `backward`, `ortho` and `forward` are"
                ))
                .in_operation("fft"),
            ),
        }
    }
}

options! {
    /// What transforms along one axis take beside the array: a length alone is one too.
    pub struct Fft {
        /// The length of the result (for transforms from real numbers, of what is transformed): what is shorter is filled up with
        /// zeros, what is longer cut.
        n: Option<i64> = None, |n: impl Integer| Some(n.to_i64());
        /// The axis: the last by default.
        axis: i64 = -1, |axis: impl Integer| axis.to_i64();
        /// How the result is scaled.
        norm: Option<FftNorm> = None, |norm: impl Into<FftNorm>| Some(norm.into());
    }

    /// What transforms along several axes take beside the array.
    pub struct Fftn {
        /// The lengths along the axes: see [`Fft::n`].
        s: Option<Numbers> = None, |s: impl AsShape| Some(s.lengths());
        /// The axes: all by default, or the last ones where lengths are given; the last two of the functions of two axes.
        axes: Option<Numbers> = None, |axes: impl Axes| axes.numbers();
        /// How the result is scaled.
        norm: Option<FftNorm> = None, |norm: impl Into<FftNorm>| Some(norm.into());
    }

    /// What [`fftfreq`] and [`rfftfreq`] take beside the number of elements: a distance alone is one too.
    pub struct Fftfreq {
        /// The distance between samples.
        d: f64 = 1.0;
        /// The element type.
        dtype: DType = DType::F32;
    }
}

macro_rules! lengths {
    ($($ty:ty)*) => { $(
        impl From<$ty> for Fft {
            fn from(n: $ty) -> Self {
                Fft::new().n(n)
            }
        }
    )* };
}

lengths!(i32 i64 usize);

impl From<f64> for Fftfreq {
    fn from(d: f64) -> Self {
        Fftfreq::new().d(d)
    }
}

/// One equation for up to three of the last axes.
#[track_caller]
fn equation(x: &Array, kind: FftType, lengths: &[usize]) -> Array {
    library("fft", &format!("{kind:?} {lengths:?}"), [x], |[x]| {
        let dtype = match kind {
            FftType::Rfft => inexact_type(x.dtype()),
            FftType::Fft | FftType::Ifft | FftType::Irfft => complex_type(x.dtype()),
        };
        let x = as_dtype(x, dtype, false);
        if lengths.is_empty() {
            return x;
        }
        if let (FftType::Irfft, [outer @ .., 0]) = (kind, lengths) {
            let (leading, _) = x.shape().split_at(x.ndim() - lengths.len());
            return lax::full([leading, outer, &[0]].concat(), 0, real_type(x.dtype()));
        }
        lax::fft(&x, kind, lengths)
    })
}

/// The transform of the last axes, up to three at a time.
#[track_caller]
fn of_last(x: &Array, kind: FftType, lengths: &[usize]) -> Array {
    let count = lengths.len();
    if count <= 3 {
        return equation(x, kind, lengths);
    }
    let last = if count == 4 { 2 } else { 3 };
    let rank = x.ndim();
    let first: Vec<usize> = (rank - count..rank - last).collect();
    let behind: Vec<usize> = (rank - count + last..rank).collect();
    let (outer, inner) = lengths.split_at(count - last);
    match kind {
        FftType::Rfft | FftType::Fft => {
            let x = moveaxis(&equation(x, kind, inner), &first, &behind);
            moveaxis(&of_last(&x, FftType::Fft, outer), &behind, &first)
        }
        FftType::Ifft | FftType::Irfft => {
            let x = of_last(&moveaxis(x, &first, &behind), FftType::Ifft, outer);
            equation(&moveaxis(&x, &behind, &first), kind, inner)
        }
    }
}

#[track_caller]
fn transform(
    operation: &str,
    kind: FftType,
    x: &Array,
    s: Option<&[i64]>,
    axes: Option<&[i64]>,
    norm: Option<FftNorm>,
) -> Array {
    let rank = x.ndim();
    if kind == FftType::Rfft && x.dtype().is_complex() {
        let what = format!("numbers must be real, and {} is given", x.aval());
        raise(Error::dtype(what).in_operation(operation));
    }
    let lengths: Option<Vec<usize>> = s.map(|s| {
        let length = |&n: &i64| match usize::try_from(n) {
            Ok(n) if n > 0 => n,
            _ => raise(
                Error::parameter(format!("the length {n} is not positive")).in_operation(operation),
            ),
        };
        s.iter().map(length).collect()
    });
    if let (Some(s), Some(axes)) = (&lengths, axes)
        && s.len() != axes.len()
    {
        let what = format!("{} lengths are given for {} axes", s.len(), axes.len());
        raise(Error::parameter(what).in_operation(operation));
    }
    let given = axes.map(|axes| axes.axes(operation, rank));
    let count = match (&given, &lengths) {
        (Some(axes), _) => axes.len(),
        (None, Some(s)) => s.len(),
        (None, None) => rank,
    };
    if count > rank {
        refuse(operation, &format!("{count} axes are needed"), &[x]);
    }
    let last: Vec<usize> = (rank - count..rank).collect();
    let mut x = match &given {
        Some(axes) => moveaxis(x, axes, &last),
        None => x.clone(),
    };
    let to_real = kind == FftType::Irfft;
    let lengths = match lengths {
        Some(lengths) => {
            let mut shape = x.shape().to_vec();
            shape[rank - count..].copy_from_slice(&lengths);
            if let (true, Some(half)) = (to_real, shape.last_mut()) {
                *half = *half / 2 + 1;
            }
            x = resized(&x, &shape);
            lengths
        }
        None => {
            let mut lengths = x.shape()[rank - count..].to_vec();
            if let (true, Some(full)) = (to_real, lengths.last_mut()) {
                *full = (2 * *full).saturating_sub(2);
            }
            lengths
        }
    };
    let transformed = of_last(&x, kind, &lengths);
    let transformed = match norm {
        None => transformed,
        Some(norm) => {
            &transformed
                * scale(
                    norm,
                    operation.starts_with('i'),
                    &lengths,
                    transformed.dtype(),
                )
        }
    };
    match &given {
        Some(axes) => moveaxis(&transformed, &last, axes),
        None => transformed,
    }
}

/// `x` cut and filled up with zeros to a shape.
#[track_caller]
fn resized(x: &Array, shape: &[usize]) -> Array {
    let limit: Vec<usize> = x
        .shape()
        .iter()
        .zip(shape)
        .map(|(&own, &new)| own.min(new))
        .collect();
    let x = if limit == x.shape() {
        x.clone()
    } else {
        lax::slice(x, vec![0; limit.len()], &limit, None)
    };
    let widths: Vec<(i64, i64)> = limit
        .iter()
        .zip(shape)
        .map(|(&own, &new)| (0, (new - own) as i64))
        .collect();
    padded(&x, &widths)
}

#[track_caller]
fn scale(norm: FftNorm, inverse: bool, lengths: &[usize], dtype: DType) -> Array {
    let product = || {
        let bytes = lengths
            .iter()
            .filter_map(|&length| Scalar::Float(length as f64).to_bytes(dtype).ok())
            .flat_map(|bytes| bytes.to_vec());
        let bytes: Vec<u8> = bytes.collect();
        let lengths = Tensor::from_bytes(&[lengths.len()], dtype, &bytes).or_raise();
        lax::reduce_prod(&Array::from(lengths), &[0])
    };
    match (norm, inverse) {
        (FftNorm::Backward, _) => as_dtype(&Array::from(1), dtype, false),
        (FftNorm::Ortho, true) => lax::sqrt(&product()),
        (FftNorm::Ortho, false) => 1 / lax::sqrt(&product()),
        (FftNorm::Forward, true) => product(),
        (FftNorm::Forward, false) => 1 / product(),
    }
}

macro_rules! along_one_axis {
    ($($(#[$doc:meta])* $name:ident $kind:ident;)*) => { $(
        $(#[$doc])*
        ///
        /// # Panics
        /// When the axis is out of range, a length is not positive, or numbers are complex that must be real.
        #[track_caller]
        pub fn $name(a: &Array, options: impl Into<Fft>) -> Array {
            let _named = crate::trace::named(stringify!($name));
            let Fft { n, axis, norm } = options.into();
            let n = n.map(|n| [n]);
            transform(stringify!($name), FftType::$kind, a, n.as_ref().map(|n| &n[..]), Some(&[axis]), norm)
        }
    )* };
}

along_one_axis! {
    /// The transform along an axis.
    ///
    /// ```
    /// use jaxide::{Array, lax, numpy::fft};
    /// let spectrum = fft::fft(&Array::from([1.0f32, 0.0, 0.0]), ());
    /// assert_eq!(lax::real(&spectrum).to_vec::<f32>(), [1.0, 1.0, 1.0]);
    /// assert_eq!(fft::fft(&Array::from([1.0f32]), 4).shape(), [4]);
    /// ```
    fft Fft;
    /// The inverse transform along an axis.
    ifft Ifft;
    /// The transform of real numbers along an axis: the first half of the spectrum.
    ///
    /// ```
    /// use jaxide::{Array, numpy::fft};
    /// let x = Array::from([1.0f32, 2.0, 3.0]);
    /// let spectrum = fft::rfft(&x, ());
    /// assert_eq!(spectrum.shape(), [2]);
    /// assert_eq!(fft::irfft(&spectrum, 3).shape(), [3]);
    /// ```
    rfft Rfft;
    /// The inverse of [`rfft`]; `n` says how many real numbers there were, an even number by default.
    irfft Irfft;
}

macro_rules! along_axes {
    ($($(#[$doc:meta])* $name:ident $kind:ident $axes:expr;)*) => { $(
        $(#[$doc])*
        ///
        /// # Panics
        /// When an axis is out of range or named twice, there are not as many lengths as axes, a length is not positive, or
        /// numbers are complex that must be real.
        #[track_caller]
        pub fn $name(a: &Array, options: impl Into<Fftn>) -> Array {
            let _named = crate::trace::named(stringify!($name));
            let Fftn { s, axes, norm } = options.into();
            let axes: Option<Numbers> = axes.or($axes);
            transform(stringify!($name), FftType::$kind, a, s.as_deref(), axes.as_deref(), norm)
        }
    )* };
}

along_axes! {
    /// The transform along axes.
    fftn Fft None;
    /// The inverse transform along axes.
    ifftn Ifft None;
    /// The transform of real numbers along axes: of the last one the first half.
    rfftn Rfft None;
    /// The inverse of [`rfftn`].
    irfftn Irfft None;
    /// The transform along two axes.
    ///
    /// ```
    /// use jaxide::{Array, DType, numpy::fft::{self, Fftn}};
    /// let x = Array::ones([3, 4, 2], DType::F32);
    /// assert_eq!(fft::fft2(&x, Fftn::new().s([5, 6]).axes([0, 1])).shape(), [5, 6, 2]);
    /// ```
    fft2 Fft two_axes();
    /// The inverse transform along two axes.
    ifft2 Ifft two_axes();
    /// The transform of real numbers along two axes: of the second the first half.
    rfft2 Rfft two_axes();
    /// The inverse of [`rfft2`].
    irfft2 Irfft two_axes();
}

fn two_axes() -> Option<Numbers> {
    Some(Numbers::from_slice(&[-2, -1]))
}

/// The transform to real numbers of the first half of something whose second half follows by symmetry: as [`irfft`], but
/// forward.
///
/// # Panics
/// When the axis is out of range, or a length is not positive.
#[track_caller]
pub fn hfft(a: &Array, options: impl Into<Fft>) -> Array {
    let _named = crate::trace::named("hfft");
    let Fft { n, axis, norm } = options.into();
    let a = conj(a);
    let place = normalize_axis("hfft", axis, a.ndim());
    let length = n.unwrap_or(2 * (a.shape()[place] as i64 - 1));
    let n = n.map(|n| [n]);
    let transformed = transform(
        "hfft",
        FftType::Irfft,
        &a,
        n.as_ref().map(|n| &n[..]),
        Some(&[axis]),
        norm,
    );
    transformed * length
}

/// The inverse of [`hfft`].
///
/// # Panics
/// When the axis is out of range, a length is not positive, or numbers are complex.
#[track_caller]
pub fn ihfft(a: &Array, options: impl Into<Fft>) -> Array {
    let _named = crate::trace::named("ihfft");
    let Fft { n, axis, norm } = options.into();
    let place = normalize_axis("ihfft", axis, a.ndim());
    let length = n.unwrap_or(a.shape()[place] as i64);
    let n = n.map(|n| [n]);
    let transformed = transform(
        "ihfft",
        FftType::Rfft,
        a,
        n.as_ref().map(|n| &n[..]),
        Some(&[axis]),
        norm,
    );
    conj(&transformed) * (1.0 / length as f64)
}

/// The frequencies of the elements of a transform of `n` samples: zero and up, then those below zero.
///
/// # Panics
/// When the array is too large to hold.
///
/// ```
/// use jaxide::numpy::fft;
/// assert_eq!(fft::fftfreq(4, 0.5).to_vec::<f32>(), [0.0, 0.5, -1.0, -0.5]);
/// ```
#[track_caller]
pub fn fftfreq(n: usize, options: impl Into<Fftfreq>) -> Array {
    let _named = crate::trace::named("fftfreq");
    let Fftfreq { d, dtype } = options.into();
    let computed = inexact_type(dtype);
    let half = Array::from((n / 2) as i64);
    let index = lax::iota(computed, &[n], 0);
    let shifted = remainder(&(index + &half), n as i64) - &half;
    as_dtype(
        &(shifted / as_dtype(&Array::from(d * n as f64), computed, false)),
        dtype,
        false,
    )
}

/// The frequencies of the elements of an [`rfft`] of `n` samples.
///
/// # Panics
/// When the array is too large to hold.
#[track_caller]
pub fn rfftfreq(n: usize, options: impl Into<Fftfreq>) -> Array {
    let _named = crate::trace::named("rfftfreq");
    let Fftfreq { d, dtype } = options.into();
    let index = lax::iota(dtype, &[n / 2 + 1], 0);
    index / as_dtype(&Array::from(d * n as f64), dtype, false)
}

#[track_caller]
fn shifted(operation: &str, x: &Array, axes: impl Axes, sign: i64) -> Array {
    let axes = axes.axes(operation, x.ndim());
    let moves: Vec<(usize, i64)> = axes
        .iter()
        .map(|&axis| (axis, sign * (x.shape()[axis] / 2) as i64))
        .collect();
    rolled(x, &moves)
}

/// The elements of a spectrum in the order of their frequencies, the smallest first; along all axes with `()`.
///
/// # Panics
/// When an axis is out of range.
///
/// ```
/// use jaxide::{Array, numpy::fft};
/// let x = fft::fftshift(&Array::from([0, 1, -2, -1]), ());
/// assert_eq!(x.to_vec::<i32>(), [-2, -1, 0, 1]);
/// assert_eq!(fft::ifftshift(&x, ()).to_vec::<i32>(), [0, 1, -2, -1]);
/// ```
#[track_caller]
pub fn fftshift(x: &Array, axes: impl Axes) -> Array {
    let _named = crate::trace::named("fftshift");
    shifted("fftshift", x, axes, 1)
}

/// The inverse of [`fftshift`].
///
/// # Panics
/// When an axis is out of range.
#[track_caller]
pub fn ifftshift(x: &Array, axes: impl Axes) -> Array {
    let _named = crate::trace::named("ifftshift");
    shifted("ifftshift", x, axes, -1)
}
