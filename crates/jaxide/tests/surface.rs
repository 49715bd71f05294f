//! What Rust code may write in front of, behind and between arrays: numbers, shapes, axes, errors, static arguments.

#[path = "surface/axes.rs"]
mod axes;
#[path = "surface/errors.rs"]
mod errors;
#[path = "surface/numbers.rs"]
mod numbers;
#[path = "surface/statics.rs"]
mod statics;
#[path = "surface/trees.rs"]
mod trees;
