//! Transcendental functions as expressions of lane operations.
//!
//! Each function adds the operations of its formula to a [`Builder`](super::Builder), for [`Ty::F32`](super::Ty::F32) or [`Ty::F64`](super::Ty::F64) operands, so that it
//! fuses with what is around it and runs at any width, in scalar code too. The results are the same bits on every machine.
//!
//! Laws, which the tests check against a correctly rounded library: the whole range of arguments, infinities and NaN as IEEE 754 and C99
//! define them, signed zeros kept, subnormal arguments and results computed and not flushed. Errors are below 1 unit in the last
//! place for elementary functions, and below 2 for the others: `docs/accuracy.md` has the figures.
//!
//! Polynomials and rational functions are minimax approximations from a Remez exchange in 50 digits, their coefficients rounded
//! to the type one after the other from the lowest power, each time fitting the rest again.

#![allow(
    clippy::approx_constant,
    clippy::excessive_precision,
    reason = "coefficients are digits of their own, as published or as they came out"
)]

mod bessel;
pub mod complex;
mod erf;
mod exp;
mod expr;
mod gamma;
mod incomplete;
mod incomplete_double;
mod inverse_trig;
mod log;
mod pair;
mod power;
mod remainder;
mod small_integer;
mod trig;
mod wide;
mod zeta;

pub use bessel::{bessel_i0e, bessel_i1e};
pub use erf::{erf, erf_inv, erfc};
pub use exp::{cosh, exp, exp_f16, exp2, expm1, logistic, sinh, tanh};
pub use gamma::{digamma, lgamma};
pub use incomplete::{igamma, igamma_grad_a, igammac, incomplete_beta};
pub use inverse_trig::{acos, asin, atan, atan2};
pub use log::{acosh, asinh, atanh, log, log1p, log2};
pub use power::{cbrt, pow, rsqrt, rsqrt_16};
pub use remainder::rem;
pub use small_integer::{small_quotient, small_remainder};
pub use trig::{cos, sin, tan};
pub use zeta::{polygamma, polygamma_bf16, polygamma_f16, zeta};
