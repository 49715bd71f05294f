//! Special functions, as in `jax.scipy.special`.
//!
//! Operands are promoted to a common element type that is float, and broadcast: integers become `f32` (`f64` of 64 bits), other
//! floats keep their element type. Numbers of the program take that of the arrays beside them. The functions are differentiable in
//! what is continuous, with derivatives of their own where the formula would lose digits.

mod bessel;
mod entropy;
mod error;
mod expint;
mod gamma;
mod harmonics;
mod hyper;
mod logsumexp;
mod normal;
mod primitives;
mod rational;

pub use bessel::*;
pub use entropy::*;
pub use error::*;
pub use expint::*;
pub use gamma::*;
pub use harmonics::*;
pub use hyper::*;
pub use logsumexp::*;
pub use normal::*;
pub use primitives::*;
pub use rational::*;
