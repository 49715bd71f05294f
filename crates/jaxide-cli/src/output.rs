//! Standard output, which may be closed before everything is written: `jaxide fmt x.jaxpr | head -1`.

use std::fmt::Display;
use std::io::{ErrorKind, Write, stdout};

use jaxide_core::Error;

use crate::failure::Failure;

/// Writes to standard output. That nobody reads any more is no failure.
pub(crate) fn print(text: impl Display) -> Result<(), Failure> {
    let mut out = stdout().lock();
    match write!(out, "{text}").and_then(|()| out.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            let message = format!("standard output cannot be written: {error}");
            Err(Error::new(jaxide_core::ErrorKind::Io, message).into())
        }
        Ok(()) | Err(_) => Ok(()),
    }
}
