//! Signals: convolution, and spectra that change in time.

mod convolution;
mod spectral;

pub use convolution::{
    Convolve, Convolve2d, ConvolveMethod, Detrend, FftConvolve, Trend, convolve, convolve2d,
    correlate, correlate2d, detrend, fftconvolve,
};
pub use spectral::{
    Average, Boundary, Istft, Scaling, Spectrum, Stft, Window, csd, istft, stft, welch,
};
