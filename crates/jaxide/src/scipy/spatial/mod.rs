//! Geometry, as in `jax.scipy.spatial`.

pub mod transform;
