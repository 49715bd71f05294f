//! Optimisers as chains of transformations of gradients, in optax's way: they work on any pytree of arrays.
//!
//! ```
//! use jaxide_nnx::optim::{self, apply_updates};
//! use jaxide::Array;
//! let optimizer = optim::chain([optim::clip_by_global_norm(1.0), optim::adam(0.1)]);
//! let params = (Array::from([1.0f32, 2.0]), Array::from(3.0f32));
//! let state = optimizer.init(&params);
//! let gradients = params.clone();
//! let (updates, state) = optimizer.update(&gradients, &state, &params);
//! let params = apply_updates(&params, &updates);
//! assert!((params.1.item::<f32>() - 2.9).abs() < 1e-5);
//! # let _ = state;
//! ```

mod alias;
mod clip;
mod factored;
mod inject;
mod lbfgs;
mod leafwise;
mod linesearch;
pub mod losses;
mod mask;
mod scale;
pub mod schedules;
mod sm3;
mod steps;
mod transform;
pub mod tree;

pub use alias::*;
pub use clip::{
    adaptive_grad_clip, adaptive_grad_clip_along, clip, clip_by_block_rms, clip_by_global_norm,
    global_norm,
};
pub use factored::{Factored, scale_by_factored_rms};
pub use inject::{Hyperparams, inject_hyperparams};
pub use lbfgs::scale_by_lbfgs;
pub use linesearch::{
    InitialGuess, ZoomLinesearch, scale_by_zoom_linesearch, value_and_grad_from_state,
};
pub use mask::{Mask, masked, partition, partition as multi_transform};
pub use scale::*;
pub use schedules::Rate;
pub use sm3::scale_by_sm3;
pub use steps::{MultiSteps, Skip, apply_if_finite, multi_steps};
pub use transform::{
    ExtraArgs, GradientTransformation, TransformState, apply_updates, chain, identity,
    incremental_update, set_to_zero,
};
