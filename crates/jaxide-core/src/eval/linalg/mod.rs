//! Products, factorisations, Fourier transforms.

mod fourier;
mod product;

pub(super) use fourier::fourier;
pub(super) use product::{dot_general, ragged_dot_general, scaled_dot, symmetric_product};
