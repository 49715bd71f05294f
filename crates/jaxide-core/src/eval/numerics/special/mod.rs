//! Special functions, for `f64`; narrower dtypes go through
//! [`through_f64`](super::float::through_f64).
//!
//! Domains, poles and limits are JAX's; inside the domain the values are meant to be right, also
//! where JAX loses digits (large arguments, cancellation), with the exceptions that the functions
//! name. Only what depends on the dtype's range takes a type parameter.

mod bessel;
mod double_double;
mod gamma;
mod incomplete_beta;
mod incomplete_gamma;
mod large_gamma;
mod zeta;

pub use bessel::{bessel_i0e, bessel_i1e};
pub use gamma::{DIGAMMA_AROUND_2, digamma, lgamma};
pub use incomplete_beta::regularized_incomplete_beta;
pub use incomplete_gamma::{igamma, igamma_grad_a, igammac, random_gamma_grad};
pub use zeta::{polygamma, zeta};
