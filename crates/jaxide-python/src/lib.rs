//! The compiled half of the Python package `jaxide`: programs that JAX has traced become native code and run on JAX's arrays.
//!
//! [`function`] is what a call goes through, [`leaf`] how arrays are read, [`memory`] how memory is shared with Python, [`program`] programs as
//! objects of Python, [`xla`] programs as what XLA calls, [`jax`] what is asked of JAX.

#![deny(unsafe_code)]

mod error;
mod function;
mod jax;
mod leaf;
mod memory;
mod program;
mod xla;

#[pyo3::pymodule]
mod _jaxide {
    #[pymodule_export]
    use crate::error::{JaxideError, UnsupportedError};
    #[pymodule_export]
    use crate::function::{Cache, Function};
    #[pymodule_export]
    use crate::memory::Memory;
    #[pymodule_export]
    use crate::program::{Code, Text};
    #[pymodule_export]
    use crate::xla::{call_targets, withdraw};
}
