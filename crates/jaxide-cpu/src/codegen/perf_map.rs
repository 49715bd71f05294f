//! Names of machine code for profilers, where the environment variable `JAXIDE_PERF_MAP` is set.
//!
//! Linux's `perf` looks for names of code that no file holds in `/tmp/perf-PID.map`: a line each with start and size in
//! hexadecimal digits, and the name. Code that is given back leaves its lines there; `perf` takes the last that fits.

use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::sync::{Mutex, OnceLock, PoisonError};

/// Whether names are asked for.
pub(super) fn is_wanted() -> bool {
    file().is_some()
}

/// Adds the names of pieces of code.
pub(super) fn add<'c>(pieces: impl Iterator<Item = (&'c [u8], String)>) {
    let Some(file) = file() else {
        return;
    };
    let lines: String = pieces
        .map(|(code, name)| format!("{:x} {:x} {name}\n", code.as_ptr().addr(), code.len()))
        .collect();
    // A profile without names is no reason to fail.
    let _ = file
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .write_all(lines.as_bytes());
}

fn file() -> Option<&'static Mutex<File>> {
    static FILE: OnceLock<Option<Mutex<File>>> = OnceLock::new();
    FILE.get_or_init(|| {
        std::env::var_os("JAXIDE_PERF_MAP").filter(|asked| !asked.is_empty() && asked != "0")?;
        let path = format!("/tmp/perf-{}.map", std::process::id());
        let file = OpenOptions::new().create(true).append(true).open(path);
        file.ok().map(Mutex::new)
    })
    .as_ref()
}
