//! Lane bodies: every emitter against the reference evaluator, and the printed form.

mod bytes;
mod complex;
mod control;
mod folding;
mod machine;
mod math;
mod memory;
mod ops;
mod random;
