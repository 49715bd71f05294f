//! Modules with shared state, layers and optimisers for [`jaxide`], as Flax's NNX has them.
//!
//! A *module* is a struct with `#[derive(Module)]` whose state stands in [`Variable`]s: shared references to arrays. Modules are
//! pytrees, so every transformation of `jaxide` takes them; the transformations of this crate ([`jit`], [`grad`], …) also carry
//! changes of variables back to the caller.
//!
//! ```
//! use jaxide_nnx::{self as nnx, Linear, Module, Param, Rngs, optim};
//! use jaxide::{Array, nn};
//!
//! #[derive(Clone, Module)]
//! struct Mlp { hidden: Linear, out: Linear }
//!
//! impl Mlp {
//!     fn new(rngs: &Rngs) -> Self {
//!         Mlp { hidden: Linear::new(2, 8, rngs, ()), out: Linear::new(8, 1, rngs, ()) }
//!     }
//!     fn call(&self, x: &Array) -> Array {
//!         self.out.call(&nn::relu(&self.hidden.call(x)))
//!     }
//! }
//!
//! let model = Mlp::new(&Rngs::new(0));
//! let optimizer = nnx::Optimizer::new(&model, optim::adam(1e-2), Param)?;
//! let step = nnx::jit(|model: Mlp, optimizer: nnx::Optimizer, x: Array, y: Array| {
//!     let loss = |model: Mlp, x: Array| (model.call(&x) - &y).square().mean();
//!     let (loss, gradient) = nnx::value_and_grad_of(&loss, (model.clone(), x));
//!     optimizer.update(&model, &gradient);
//!     loss
//! });
//! let (x, y) = (Array::from([[0.0f32, 1.0], [1.0, 0.0]]), Array::from([[1.0f32], [0.0]]));
//! let before = step(model.clone(), optimizer.clone(), x.clone(), y.clone()).item::<f32>();
//! let after = step(model.clone(), optimizer.clone(), x, y).item::<f32>();
//! assert!(after < before);
//! # Ok::<(), nnx::Error>(())
//! ```
#![forbid(unsafe_code)]

// The derive macro writes this name, here too.
extern crate self as jaxide_nnx;

/// The code in the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}

mod attr;
mod attribute;
mod call;
mod define;
mod ema;
mod filter;
pub mod graph;
mod kind;
pub mod layers;
pub mod metrics;
mod object;
#[doc(hidden)]
pub mod observe;
pub mod optim;
mod optimizer;
mod outputs;
mod path;
mod picture;
mod print;
mod rngs;
#[cfg(feature = "safetensors")]
mod save;
mod sow;
mod state;
#[cfg(feature = "tabulate")]
mod table;
pub mod training;
mod transform;
mod variable;

pub use attr::{Attr, Status, data, stat};
pub use attribute::{Attribute, Dict, List, Module, StaticAttribute, Switch};
pub use ema::Ema;
pub use filter::{Filter, Filters};
pub use graph::{
    GraphDef, clone, find_duplicates, graph_def, is_data, merge, pop, split, state, update,
};
pub use jaxide::{Error, Result};
pub use jaxide_nnx_derive::{Module, observed};
pub use kind::{
    BatchStat, Cache, Intermediate, Kind, KindRef, LoRAParam, MetricState, OptState, Param,
    Perturbation, RngCount, RngKey, RngState,
};
pub use layers::*;
pub use object::Object;
pub use optimizer::Optimizer;
pub use outputs::{capture_outputs, capture_outputs as capture_intermediates};
pub use path::{Key, Path};
pub use picture::picture;
pub use rngs::{IntoKey, RngStream, Rngs};
#[cfg(feature = "safetensors")]
pub use save::{load_state, read_state, save_state};
pub use sow::capture;
pub use state::{Entry, IntoState, State};
#[cfg(feature = "tabulate")]
pub use table::{Table, tabulate};
pub use transform::*;
pub use variable::{AnyVariable, Metadata, Value, Variable};
