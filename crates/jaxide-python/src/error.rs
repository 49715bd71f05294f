//! Mistakes as Python sees them: with the words that they have in Rust.

use jaxide_core::{Error, ErrorKind};
use pyo3::create_exception;
use pyo3::exceptions::PyException;
use pyo3::prelude::*;

create_exception!(
    jaxide,
    JaxideError,
    PyException,
    "A mistake in a program, or in how it is used. `kind`, `operation` and `notes` tell its parts."
);
create_exception!(
    jaxide,
    UnsupportedError,
    JaxideError,
    "Something that JAX has and jaxide cannot do, with the reason."
);

/// The exception for an error.
pub(crate) fn raised(py: Python<'_>, error: &Error) -> PyErr {
    let message = error.to_string();
    let exception = match error.kind() {
        ErrorKind::Unsupported => UnsupportedError::new_err(message),
        _ => JaxideError::new_err(message),
    };
    let value = exception.value(py);
    let told = [
        value.setattr("kind", format!("{:?}", error.kind())),
        value.setattr("operation", error.operation()),
        value.setattr("notes", error.notes().to_vec()),
    ];
    told.into_iter().find_map(Result::err).unwrap_or(exception)
}
