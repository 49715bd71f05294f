//! Discrete cosine transforms, of the second type.

use jaxide_core::prims::{
    self, GatherScatterMode, NoConsts, OptionalJaxpr, ScatterDimensionNumbers,
};
use jaxide_core::{DType, Dims, Error};
use num_complex::Complex;

use crate::array::{Array, AsShape, Axes, Integer, Numbers, as_dtype, normalize_axis};
use crate::lax;
use crate::numpy::fft::{self, Fft, Fftn};
use crate::numpy::parts::{complex_type, flipped, inexact, range, refuse, rolled};
use crate::options::options;
use crate::trace::{bind_one, raise};

/// How transforms are scaled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DctNorm {
    /// The inverse transform divides, as by default.
    #[default]
    Backward,
    /// Both are orthogonal.
    Ortho,
}

impl From<&str> for DctNorm {
    /// # Panics
    /// When there is no such scaling.
    #[track_caller]
    fn from(norm: &str) -> Self {
        match norm {
            "backward" => DctNorm::Backward,
            "ortho" => DctNorm::Ortho,
            _ => raise(
                Error::parameter(format!(
                    "there is no norm `{norm}`: `backward` and `ortho` are"
                ))
                .in_operation("dct"),
            ),
        }
    }
}

options! {
    /// What [`dct`] and [`idct`] take beside the array.
    pub struct Dct {
        /// The length: what is shorter is filled up with zeros, what is longer cut.
        n: Option<i64> = None, |n: impl Integer| Some(n.to_i64());
        /// The axis: the last by default.
        axis: i64 = -1, |axis: impl Integer| axis.to_i64();
        /// How the result is scaled.
        norm: DctNorm = DctNorm::Backward, |norm: impl Into<DctNorm>| norm.into();
    }

    /// What [`dctn`] and [`idctn`] take beside the array.
    pub struct Dctn {
        /// The lengths along the axes: see [`Dct::n`].
        s: Option<Numbers> = None, |s: impl AsShape| Some(s.lengths());
        /// The axes: all by default, or the last ones where lengths are given.
        axes: Option<Numbers> = None, |axes: impl Axes| axes.numbers();
        /// How the result is scaled.
        norm: DctNorm = DctNorm::Backward, |norm: impl Into<DctNorm>| norm.into();
    }
}

/// `e^(-i pi k / 2n)`.
#[track_caller]
fn twiddle(n: usize, k: &Array) -> Array {
    let dtype = complex_type(k.dtype());
    let k = as_dtype(k, dtype, false);
    let quarter = -std::f64::consts::FRAC_PI_2;
    let quarter = if dtype == DType::C64 {
        f64::from(quarter as f32)
    } else {
        quarter
    };
    let factor = as_dtype(&Array::from(Complex::new(0.0, quarter)), dtype, false);
    let angle = lax::div(
        &lax::mul(&factor, &k),
        &as_dtype(&Array::from(n as i64), dtype, false),
    );
    lax::exp(&angle)
}

/// The numbers 0, 1, 2, ... along an axis of an array of `rank` axes.
#[track_caller]
fn along(dtype: DType, n: usize, axis: usize, rank: usize) -> Array {
    let others: Vec<usize> = (0..rank).filter(|&other| other != axis).collect();
    lax::expand_dims(&lax::iota(dtype, &[n], 0), &others)
}

/// The elements at even places, then those at odd places in reverse order.
#[track_caller]
fn interleaved(x: &Array, axis: usize) -> Array {
    let length = x.shape()[axis];
    let even = lax::slice_in_dim(x, 0, length, 2, axis);
    let odd = lax::slice_in_dim(x, 1.min(length), length, 2, axis);
    lax::concatenate(&[even, lax::rev(&odd, &[axis])], axis)
}

/// The inverse of [`interleaved`].
#[track_caller]
fn deinterleaved(x: &Array, axis: usize) -> Array {
    let length = x.shape()[axis];
    let half = length.div_ceil(2);
    let even = range(x, axis, 0, half);
    let odd = lax::rev(&range(x, axis, half, length), &[axis]);
    let empty = lax::full(x.shape(), 0, x.dtype());
    every_second(&every_second(&empty, &even, 0, axis), &odd, 1, axis)
}

/// `x` with every second slice along an axis replaced.
#[track_caller]
fn every_second(x: &Array, values: &Array, start: i32, axis: usize) -> Array {
    let places = lax::iota(DType::I32, &[values.shape()[axis]], 0);
    let places = lax::add(&Array::from(start), &lax::mul(&Array::from(2), &places));
    let prim = prims::Scatter {
        dimension_numbers: ScatterDimensionNumbers {
            update_window_dims: (0..x.ndim()).filter(|&other| other != axis).collect(),
            inserted_window_dims: Dims::from_slice(&[axis]),
            scatter_dims_to_operand_dims: Dims::from_slice(&[axis]),
            ..Default::default()
        },
        indices_are_sorted: true,
        mode: GatherScatterMode::FillOrDrop,
        unique_indices: true,
        update_consts: NoConsts,
        update_jaxpr: OptionalJaxpr(None),
    };
    let values = lax::transpose(values, (0..x.ndim()).collect::<Vec<_>>());
    bind_one(prim, &[x.clone(), lax::expand_dims(&places, &[1]), values])
}

/// Divided by the lengths of the cosines.
#[track_caller]
fn normalized(x: &Array, axis: usize) -> Array {
    let length = x.shape()[axis];
    if length == 0 {
        refuse("dct", "the axis is empty", &[x]);
    }
    let factor = [
        lax::full([1], 4, x.dtype()),
        lax::full([length - 1], 2, x.dtype()),
    ];
    let others: Vec<usize> = (0..x.ndim()).filter(|&other| other != axis).collect();
    let factor = lax::expand_dims(&lax::concatenate(&factor, 0), &others);
    x / lax::sqrt(&(factor * length as i64))
}

/// The parts of a complex array transformed apart.
#[track_caller]
fn by_parts(x: &Array, f: impl Fn(&Array) -> Array) -> Array {
    lax::complex(&f(&lax::real(x)), &f(&lax::imag(x)))
}

/// `x` cut or filled up with zeros to a length.
#[track_caller]
fn resized(operation: &str, x: &Array, lengths: &[(usize, i64)]) -> Array {
    let mut config = vec![(0, 0, 0); x.ndim()];
    for &(axis, n) in lengths {
        if n < 1 {
            raise(
                Error::parameter(format!("the length {n} is not positive")).in_operation(operation),
            );
        }
        config[axis].1 = n - x.shape()[axis] as i64;
    }
    lax::pad(x, as_dtype(&Array::from(0), x.dtype(), false), &config)
}

/// The cosine transform along an axis; of complex numbers, of their parts.
///
/// # Panics
/// When the axis is out of range or empty, or the length is not positive.
///
/// ```
/// use jaxide::{Array, scipy::fft};
/// let x = fft::dct(&Array::from([1.0f32, 1.0]), ());
/// assert_eq!(x.to_vec::<f32>()[0], 4.0);
/// ```
#[track_caller]
pub fn dct(x: &Array, options: impl Into<Dct>) -> Array {
    let _named = crate::trace::named("dct");
    let options = options.into();
    if x.dtype().is_complex() {
        return by_parts(x, |x| dct(x, options.clone()));
    }
    let axis = normalize_axis("dct", options.axis, x.ndim());
    let x = match options.n {
        Some(n) => resized("dct", x, &[(axis, n)]),
        None => x.clone(),
    };
    let n = x.shape()[axis];
    if n == 0 {
        refuse("dct", "the axis is empty", &[&x]);
    }
    let spectrum = fft::fft(&interleaved(&x, axis), Fft::new().axis(axis));
    let k = along(lax::real(&spectrum).dtype(), n, axis, x.ndim());
    let out = 2 * lax::real(&(&spectrum * twiddle(n, &k)));
    match options.norm {
        DctNorm::Backward => out,
        DctNorm::Ortho => normalized(&out, axis),
    }
}

/// The inverse of [`dct`].
///
/// # Panics
/// As [`dct`].
///
/// ```
/// use jaxide::{Array, scipy::fft};
/// let x = fft::idct(&Array::from([4.0f32, 0.0]), ());
/// assert_eq!(x.shape(), [2]);
/// ```
#[track_caller]
pub fn idct(x: &Array, options: impl Into<Dct>) -> Array {
    let _named = crate::trace::named("idct");
    let options = options.into();
    if x.dtype().is_complex() {
        return by_parts(x, |x| idct(x, options.clone()));
    }
    let axis = normalize_axis("idct", options.axis, x.ndim());
    let x = match options.n {
        Some(n) => resized("idct", x, &[(axis, n)]),
        None => x.clone(),
    };
    let n = x.shape()[axis];
    let [mut x] = inexact("idct", [&x]);
    if options.norm == DctNorm::Backward {
        x = normalized(&x, axis);
    }
    x = normalized(&x, axis);
    let k = along(x.dtype(), n, axis, x.ndim());
    let unused = twiddle(n, &k);
    let x = as_dtype(&x, unused.dtype(), false) / twiddle(n, &k);
    let x = fft::ifft(&(x * 2 * n as i64), Fft::new().axis(axis));
    deinterleaved(&lax::real(&x), axis)
}

/// The axes and lengths that are meant.
#[track_caller]
fn axes_of(operation: &str, x: &Array, options: &Dctn) -> Vec<usize> {
    match (&options.axes, &options.s) {
        (Some(axes), s) => {
            let axes = axes[..].axes(operation, x.ndim());
            if s.as_ref().is_some_and(|s| s.len() != axes.len()) {
                refuse(operation, "there must be as many lengths as axes", &[x]);
            }
            axes
        }
        (None, Some(s)) => match x.ndim().checked_sub(s.len()) {
            Some(first) => (first..x.ndim()).collect(),
            None => refuse(operation, &format!("{} axes are needed", s.len()), &[x]),
        },
        (None, None) => (0..x.ndim()).collect(),
    }
}

/// The array, cut and filled up, with the axes that are transformed, or the transform where there is but one.
#[track_caller]
fn prepared(
    operation: &str,
    x: &Array,
    options: &Dctn,
    one: impl Fn(&Array, Dct) -> Array,
) -> (Array, Vec<usize>) {
    let axes = axes_of(operation, x, options);
    if let [axis] = axes[..] {
        let n = options.s.as_ref().map(|s| s[0]);
        let own = Dct {
            n,
            axis: axis as i64,
            norm: options.norm,
        };
        return (one(x, own), Vec::new());
    }
    let x = match &options.s {
        None => x.clone(),
        Some(s) => {
            let lengths: Vec<(usize, i64)> = axes.iter().copied().zip(s.iter().copied()).collect();
            resized(operation, x, &lengths)
        }
    };
    (x, axes)
}

/// The cosine transform along axes.
///
/// # Panics
/// When an axis is out of range, named twice or empty, or there are not as many lengths as axes.
///
/// ```
/// use jaxide::{Array, DType, scipy::fft};
/// let x = fft::dctn(&Array::ones([2, 3], DType::F32), ());
/// assert_eq!(x.to_vec::<f32>()[0], 24.0);
/// ```
#[track_caller]
pub fn dctn(x: &Array, options: impl Into<Dctn>) -> Array {
    let _named = crate::trace::named("dctn");
    let options = options.into();
    if x.dtype().is_complex() {
        return by_parts(x, |x| dctn(x, options.clone()));
    }
    let (x, axes) = prepared("dctn", x, &options, |x, own| dct(x, own));
    axes.chunks(2).fold(x, |x, block| match *block {
        [first, second] => of_two(&x, first, second, options.norm),
        _ => dct(
            &x,
            Dct {
                n: None,
                axis: block[0] as i64,
                norm: options.norm,
            },
        ),
    })
}

#[track_caller]
fn of_two(x: &Array, first: usize, second: usize, norm: DctNorm) -> Array {
    let (n, m) = (x.shape()[first], x.shape()[second]);
    let v = interleaved(&interleaved(x, first), second);
    let spectrum = fft::fftn(&v, Fftn::new().axes([first, second]));
    let k = along(spectrum.dtype(), n, first, x.ndim());
    let l = along(spectrum.dtype(), m, second, x.ndim());
    let own = twiddle(n, &k);
    let forward = twiddle(m, &l) * &spectrum;
    let backward =
        twiddle(m, &lax::neg(&l)) * rolled(&flipped(&spectrum, &[second]), &[(second, 1)]);
    let out = 2 * lax::real(&(own * (forward + backward)));
    match norm {
        DctNorm::Backward => out,
        DctNorm::Ortho => normalized(&normalized(&out, first), second),
    }
}

/// The inverse of [`dctn`].
///
/// # Panics
/// As [`dctn`].
#[track_caller]
pub fn idctn(x: &Array, options: impl Into<Dctn>) -> Array {
    let _named = crate::trace::named("idctn");
    let options = options.into();
    if x.dtype().is_complex() {
        return by_parts(x, |x| idctn(x, options.clone()));
    }
    let (x, axes) = prepared("idctn", x, &options, |x, own| idct(x, own));
    axes.iter().fold(x, |x, &axis| {
        idct(
            &x,
            Dct {
                n: None,
                axis: axis as i64,
                norm: options.norm,
            },
        )
    })
}
