//! Programs of JAX in Rust crates: a build script compiles a jaxpr to machine code, and the crate calls it as a function of arrays.
//!
//! ```no_run
//! // build.rs, with `jaxide-build` among the [build-dependencies]
//! # #[cfg(feature = "compile")]
//! fn main() {
//!     jaxide_build::compile("model.jaxpr").unwrap();
//! }
//! # #[cfg(not(feature = "compile"))]
//! # fn main() {}
//! ```
//!
//! ```ignore
//! // src/main.rs, with `jaxide-build = { version = "0.1", default-features = false }` among the [dependencies]
//! jaxide_build::include_program!("model");
//!
//! fn main() {
//!     let mut scratch = model::Scratch::new();
//!     let mut scores = [0.0; 10];
//!     model::run(&[[0.0; 28]; 28], &mut scores, &mut scratch);
//! }
//! ```
//!
//! The function is typed by the shapes of the program, takes all memory that it works in, and neither allocates nor keeps anything. Programs that call kernels
//! of the runtime library (`docs/objects.md` lists them) need the crate `jaxide-runtime` beside, and their functions give a `Result`.

#![forbid(unsafe_code)]

#[cfg(feature = "compile")]
mod archive;
#[cfg(feature = "compile")]
mod bindings;
#[cfg(feature = "compile")]
mod program;

#[cfg(feature = "compile")]
pub use jaxide_cpu::{Cpu, Object, Target};
#[cfg(feature = "compile")]
pub use program::{Program, compile, emit};

/// The module that the build script wrote for a program, by its name: it has the function `run`, the type `Scratch` of its temporary memory, and the number
/// `STACK_BYTES`.
#[macro_export]
macro_rules! include_program {
    ($name:literal) => {
        include!(concat!(env!("OUT_DIR"), "/", $name, ".rs"));
    };
}
