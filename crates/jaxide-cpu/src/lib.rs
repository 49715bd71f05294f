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

pub mod codegen;
mod executable;
pub mod lanes;
mod lower;
pub mod runtime;

/// A place in a list as a number of 32 bits.
///
/// # Panics
/// When the list has more than 2³² entries, for which there is no memory.
fn index32(place: usize) -> u32 {
    u32::try_from(place).expect("a list is shorter than the memory")
}

pub use executable::{CompileOptions, CompileStats, Executable, compile};
