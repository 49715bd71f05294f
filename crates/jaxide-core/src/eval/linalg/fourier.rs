//! Fourier transforms over the last axes.

use num_complex::Complex;

use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::eval::element::{elements, meaningless, room_for};
use crate::eval::numerics::fft::{fft, irfft, rfft};
use crate::eval::numerics::float::Real;
use crate::jaxpr::Shape;
use crate::prims::FftType;
use crate::tensor::{Element, Tensor};

/// The transform of `kind` over the last axes, which have the lengths `lengths` (in the real array, of those between a
/// real array and half a spectrum).
pub(in crate::eval) fn fourier(x: &Tensor, kind: FftType, lengths: &[usize]) -> Result<Tensor> {
    let misfit = || {
        Error::shape(format!(
            "{} has no {kind:?} of lengths {lengths:?} over its last axes",
            x.aval()
        ))
    };
    let axes = lengths.len();
    let first = x.shape().len().checked_sub(axes).ok_or_else(misfit)?;
    let mut expected = lengths.to_vec();
    let mut shape = Shape::from_slice(x.shape());
    match (kind, expected.last_mut(), shape.last_mut()) {
        (FftType::Rfft, Some(&mut length), Some(last)) => *last = half(length),
        (FftType::Irfft, Some(length), Some(last)) => {
            *last = *length;
            *length = half(*length);
        }
        (FftType::Fft | FftType::Ifft, _, _) => {}
        (FftType::Rfft | FftType::Irfft, _, _) => return Err(misfit()),
    }
    if x.shape()[first..] != expected {
        return Err(misfit());
    }
    // Twice as many numbers of twice the width are held on the way.
    room_for::<[Complex<f64>; 2]>(&shape)?;
    if x.is_empty() || shape.contains(&0) {
        let real = kind == FftType::Irfft;
        let dtype = if real {
            Some(x.dtype().real())
        } else {
            x.dtype().complex()
        };
        return Tensor::zeros(&shape, dtype.ok_or_else(|| meaningless(x.dtype()))?);
    }
    match (x.dtype(), kind) {
        (DType::F32, FftType::Rfft) => {
            Tensor::from_vec(&shape, rfft(elements::<f32>(x)?, x.shape(), axes))
        }
        (DType::F64, FftType::Rfft) => {
            Tensor::from_vec(&shape, rfft(elements::<f64>(x)?, x.shape(), axes))
        }
        (DType::C64, _) => complex::<f32>(x, kind, &shape, axes),
        (DType::C128, _) => complex::<f64>(x, kind, &shape, axes),
        (other, _) => Err(meaningless(other)),
    }
}

/// The length of half the spectrum of a real array.
fn half(length: usize) -> usize {
    if length == 0 { 0 } else { length / 2 + 1 }
}

/// A transform of complex numbers with parts `T`, with a result of `shape`.
fn complex<T: Real + Element>(
    x: &Tensor,
    kind: FftType,
    shape: &[usize],
    axes: usize,
) -> Result<Tensor>
where
    Complex<T>: Element,
{
    let values = elements::<Complex<T>>(x)?;
    match kind {
        FftType::Fft => Tensor::from_vec(shape, fft(values, x.shape(), axes, false)),
        FftType::Ifft => Tensor::from_vec(shape, fft(values, x.shape(), axes, true)),
        FftType::Irfft => {
            let length = shape.last().copied().unwrap_or(0);
            Tensor::from_vec(shape, irfft(values, x.shape(), axes, length))
        }
        FftType::Rfft => Err(meaningless(x.dtype())),
    }
}
