//! The native CPU backend: jaxprs become machine code.
//!
//! ```
//! use jaxide_core::{Aval, Builder, DType, Tensor};
//! use jaxide_cpu::{CompileOptions, compile};
//!
//! let b = Builder::new();
//! let x = b.input(Aval::new(DType::F32, &[3]));
//! let y = b.add(b.mul(x, x), x);
//! let program = compile(&b.finish(&[y])?, &CompileOptions::default())?;
//! let results = program.run(&[Tensor::from_vec(&[3], vec![1.0f32, 2.0, 3.0])?])?;
//! assert_eq!(results[0].to_vec::<f32>()?, [2.0, 6.0, 12.0]);
//! # Ok::<(), jaxide_core::Error>(())
//! ```

#![deny(unsafe_code)]
// Without code generation there is nothing that asks for most of lowering.
#![cfg_attr(
    not(feature = "codegen"),
    allow(dead_code, unused_imports, unreachable_pub)
)]

/// The code in the README.
#[cfg(all(doctest, feature = "codegen"))]
#[doc = include_str!("../README.md")]
mod readme {}

#[allow(unsafe_code)]
#[cfg(feature = "codegen")]
pub mod codegen;
mod compile;
mod isa;
pub mod lanes;
mod lower;
mod options;
#[allow(unsafe_code)]
pub mod runtime;
mod stages;

/// A number in a type that it is known to fit: a place in a list that is in memory, an offset in a frame or a table.
///
/// # Panics
/// When it does not fit. Sizes that programs state are refused before.
fn narrow<T, N: TryFrom<T>>(number: T) -> N {
    N::try_from(number).unwrap_or_else(|_| panic!("a number does not fit its type"))
}

#[cfg(feature = "codegen")]
pub use codegen::{
    Cpu, Executable, Object, ObjectOptions, RUNTIME_FUNCTION, StepProfile, Target, compile_object,
};
#[cfg(feature = "codegen")]
pub use compile::compile;
pub use compile::{MemoryPlan, lowered, plan, planned_loops};
pub use lower::{Lowered, kernel};
pub use options::{CompileOptions, CompileStats};
pub use stages::StageTimes;
