//! Functions of neural networks, as in `jax.nn`: activations, normalisation, attention, and [`initializers`] of weights.

mod activation;
mod attention;
pub mod initializers;
mod normal;
mod rectifier;
mod scaled;

pub use activation::*;
pub use attention::*;
pub use normal::*;
pub use rectifier::*;
pub use scaled::*;

pub use crate::numpy::tanh;
