//! Arrays and trees of arrays in files.
//!
//! | | one array | named arrays | trees | feature |
//! |---|---|---|---|---|
//! | `.npy` | [`read_npy`], [`write_npy`] | | | |
//! | `.npz` | | [`Archive::read_npz`], [`Archive::write_npz`] | [`load_npz`], [`save_npz`] | `npz` |
//! | `.safetensors` | | [`Archive::read_safetensors`], [`Archive::write_safetensors`] | [`load_safetensors`], [`save_safetensors`] | `safetensors` |
//!
//! A tree is stored by the paths of its leaves, `layers.0.weight`: as PyTorch names them, so that files of the same structure
//! can be exchanged. It is read into a value of its type, whose arrays say which types are expected:
//!
//! ```
//! # #[cfg(feature = "safetensors")] {
//! use jaxide::prelude::*;
//! use jaxide::io;
//!
//! #[derive(Clone, Pytree)]
//! struct Line { slope: Array, offset: Array }
//!
//! let path = std::env::temp_dir().join(format!("line-{}.safetensors", std::process::id()));
//! let line = Line { slope: Array::from([2.0f32, 3.0]), offset: Array::scalar(1.0f32) };
//! io::save_safetensors(&path, &line)?;
//!
//! let like = Line { slope: Array::spec(DType::F32, 2), offset: Array::spec(DType::F32, ()) };
//! assert_eq!(io::load_safetensors(&path, &like)?.slope.to_vec::<f32>(), [2.0, 3.0]);
//!
//! let like = Line { slope: Array::spec(DType::F32, 3), offset: Array::spec(DType::F32, ()) };
//! let error = io::load_safetensors(&path, &like).map(|_| ()).unwrap_err();
//! assert_eq!(error.path(), Some(".slope"));
//! # std::fs::remove_file(&path)?;
//! # }
//! # Ok::<(), jaxide::Error>(())
//! ```
//!
//! # Element types without a name in a file
//!
//! `.npz` has no name for `bf16` and for floats and integers of 8 bits and fewer, and stores their bits as unsigned integers;
//! random keys are stored as their words. What is read as one of those becomes the type that the tree expects.

mod archive;
mod npy;
#[cfg(feature = "npz")]
mod npz;
#[cfg(feature = "safetensors")]
mod safetensors;
mod stored;

use std::path::Path;

use jaxide_core::{Error, ErrorKind, Result};

pub use archive::Archive;
#[cfg(feature = "npz")]
pub use npz::{load_npz, save_npz};
#[cfg(feature = "safetensors")]
pub use safetensors::{load_safetensors, save_safetensors};

use crate::array::Array;

/// Reads a `.npy` file.
///
/// # Errors
/// When the file cannot be read, or holds no array of numbers.
pub fn read_npy(path: impl AsRef<Path>) -> Result<Array> {
    read(path.as_ref(), npy::read).map(Array::from)
}

/// Writes a `.npy` file.
///
/// # Errors
/// When the file cannot be written, or the array is traced and has no value yet.
///
/// ```
/// use jaxide::{Array, io};
/// let path = std::env::temp_dir().join(format!("array-{}.npy", std::process::id()));
/// io::write_npy(&path, &Array::from([[1.0f32, 2.0], [3.0, 4.0]]))?;
/// assert_eq!(io::read_npy(&path)?.shape(), [2, 2]);
/// # std::fs::remove_file(&path)?;
/// # Ok::<(), jaxide::Error>(())
/// ```
pub fn write_npy(path: impl AsRef<Path>, array: &Array) -> Result<()> {
    let value = array.try_value()?;
    let stored = stored::npy(&value)?;
    write(path.as_ref(), &npy::write(&stored)?)
}

/// What `parse` makes of a file; errors name the file.
fn read<T>(path: &Path, parse: impl FnOnce(&[u8]) -> Result<T>) -> Result<T> {
    let bytes = std::fs::read(path).map_err(|error| in_file(path, &error.into()))?;
    parse(&bytes).map_err(|error| in_file(path, &error))
}

fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    std::fs::write(path, bytes).map_err(|error| in_file(path, &error.into()))
}

/// An error with the name of the file in front.
fn in_file(path: &Path, error: &Error) -> Error {
    prefixed(&path.display().to_string(), error)
}

/// An error about an array of a name.
fn in_member(name: &str, error: &Error) -> Error {
    prefixed(&format!("member `{name}`"), error)
}

fn prefixed(what: &str, error: &Error) -> Error {
    let named = Error::new(error.kind(), format!("{what}: {}", error.message()));
    let named = error
        .notes()
        .iter()
        .fold(named, |named, note| named.note(note));
    match error.path() {
        Some(path) => named.at_path(path),
        None => named,
    }
}

/// A file that is not what it should be.
fn broken(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::Io, message)
}
