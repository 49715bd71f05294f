//! The numerics behind the reference interpreter: pure functions over scalars and slices.
//!
//! Nothing here knows jaxprs, avals or arrays. Every function says which law or source it follows
//! and what it does at NaN, the infinities, signed zeros and poles, because those are what the
//! compiled code is checked against.
//!
//! Two rules hold throughout:
//!
//! * **Wide inside, rounded once.** Real functions are written for `f64`; narrower floats are
//!   widened, computed and rounded back ([`float::through_f64`]), so an `f32` result is the
//!   correctly rounded one in all but a handful of cases. A function takes a type parameter only
//!   where JAX's semantics depend on the dtype itself.
//! * **Subnormals are kept.** XLA's CPU backend flushes them to zero in most compiled kernels; IEEE
//!   754 does not.
//!
//! | module | what |
//! |---|---|
//! | [`float`] | the float dtypes as bits: conversion, `nextafter`, `reduce_precision` |
//! | [`elementary`] | `exp` … `atanh`, `erf`, rounding, `rem`, `pow`, `integer_pow` |
//! | [`complex`] | the same for complex numbers |
//! | [`integer`] | wrapping arithmetic, division, shifts, `mulhi`, bit counts |
//! | [`order`] | the orders of `sort`, `top_k` and the total-order comparisons |
//! | [`random`] | Threefry, keys, `rng_bit_generator`, gamma samples |
//! | [`special`] | `lgamma`, `digamma`, `zeta`, incomplete gamma and beta, Bessel |
//! | [`linalg`] | factorisations, eigenvalues, solves |
//! | [`fft`] | Fourier transforms of any length |

pub mod complex;
pub mod elementary;
pub mod fft;
pub mod float;
pub mod integer;
pub mod linalg;
pub mod order;
pub mod random;
pub mod special;
