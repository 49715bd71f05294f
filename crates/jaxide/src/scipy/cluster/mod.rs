//! Clusters, as in `jax.scipy.cluster`.

pub mod vq;
