//! How the functions of each area are called.

pub(crate) mod arrays;
pub(crate) mod elementwise;
pub(crate) mod fft;
pub(crate) mod image;
pub(crate) mod indexing;
pub(crate) mod lax;
pub(crate) mod linalg;
pub(crate) mod nn;
pub(crate) mod reductions;
pub(crate) mod sampling;
pub(crate) mod scipy_linalg;
pub(crate) mod sequences;
pub(crate) mod shapes;
pub(crate) mod signals;
pub(crate) mod solvers;
pub(crate) mod special;
pub(crate) mod stats;
pub(crate) mod trees;
