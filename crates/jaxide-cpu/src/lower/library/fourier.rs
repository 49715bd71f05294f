//! Fourier transforms.

use super::elements::meaningless;
use super::operands::Operands;
use crate::runtime::KernelCall;
use crate::runtime::fft::{Fft, FftKind};
use jaxide_core::prims::{self, FftType};
use jaxide_core::{DType, Result};

pub(super) fn fft(operands: &Operands, params: &prims::Fft) -> Result<Box<KernelCall>> {
    let input = &operands.inputs[0];
    let kind = match params.fft_type {
        FftType::Fft if matches!(input.dtype, DType::F32 | DType::F64) => FftKind::RealToWhole,
        FftType::Fft => FftKind::Forward,
        FftType::Ifft => FftKind::Inverse,
        FftType::Rfft => FftKind::RealForward,
        FftType::Irfft => FftKind::RealInverse,
    };
    match (input.dtype, kind) {
        (DType::F32, FftKind::RealForward | FftKind::RealToWhole)
        | (DType::C64, FftKind::Forward | FftKind::Inverse | FftKind::RealInverse) => Ok(
            KernelCall::new(Fft::<f32>::new(kind, &input.shape, &params.fft_lengths)),
        ),
        (DType::F64, FftKind::RealForward | FftKind::RealToWhole)
        | (DType::C128, FftKind::Forward | FftKind::Inverse | FftKind::RealInverse) => Ok(
            KernelCall::new(Fft::<f64>::new(kind, &input.shape, &params.fft_lengths)),
        ),
        (other, _) => Err(meaningless(other)),
    }
}
