//! Standard output and standard error, which may be closed or full.

use std::fmt::Display;
use std::io::{ErrorKind, Write, stderr, stdout};

use jaxide_core::Error;

/// Writes to standard output. That nobody reads any more is no failure: `jaxide fmt x.jaxpr | head -1`.
pub(crate) fn print(text: impl Display) -> Result<(), Error> {
    let mut out = stdout().lock();
    match write!(out, "{text}").and_then(|()| out.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            let message = format!("standard output cannot be written: {error}");
            Err(Error::new(jaxide_core::ErrorKind::Io, message))
        }
        Ok(()) | Err(_) => Ok(()),
    }
}

/// Writes a line to standard error. If that is impossible there is nobody to tell, and the exit status tells enough.
pub(crate) fn complain(text: impl Display) {
    let _ = writeln!(stderr().lock(), "{text}");
}
