//! Products, factorisations, Fourier transforms.

mod product;

pub(super) use product::{dot_general, ragged_dot_general, scaled_dot, symmetric_product};
