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
//! # Large files and hostile ones
//!
//! [`Reader`] opens an archive without its data: the names of the arrays, then the type of one, then its elements, each when
//! it is asked for. Nothing is decompressed that is not wanted, the type that a file declares is held against the one that
//! is expected before that, and memory is [asked for](jaxide_core::memory). Whatever the bytes are, reading gives arrays or
//! an error that names file and array.
//!
//! Files are written beside the one of the name, which the finished file then replaces: there is the old one or the new one
//! at any time. See [`write_file`].
//!
//! # Element types without a name in a file
//!
//! `.npz` has no name for `bf16` and for floats and integers of 8 bits and fewer, and stores their bits as unsigned integers;
//! random keys are stored as their words. What is read as one of those becomes the type that the tree expects.

mod archive;
mod npy;
#[cfg(feature = "npz")]
mod npz;
#[cfg(any(feature = "npz", feature = "safetensors"))]
mod reader;
mod replace;
#[cfg(feature = "safetensors")]
mod safetensors;
mod stored;

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use jaxide_core::{Error, ErrorKind, Result};

pub use archive::Archive;
#[cfg(feature = "npz")]
pub use npz::{load_npz, save_npz};
#[cfg(any(feature = "npz", feature = "safetensors"))]
pub use reader::Reader;
pub use replace::{abandon_writes, write_file};
#[cfg(feature = "safetensors")]
pub use safetensors::{load_safetensors, save_safetensors};

use crate::array::Array;

/// More axes no array in a file has; NumPy's have at most 64.
const MOST_AXES: usize = 64;

/// The most bytes that the description of the arrays of a file may have, which takes up to nine times the memory: room for
/// more than a hundred thousand arrays, or less where little memory may be taken.
#[cfg(any(feature = "npz", feature = "safetensors"))]
fn largest_description() -> u64 {
    let allowed = jaxide_core::memory::limit() / 32;
    (allowed as u64).min(16 << 20)
}

/// Reads a `.npy` file.
///
/// # Errors
/// When the file cannot be read, holds no array of numbers, or there is no memory for the array.
pub fn read_npy(path: impl AsRef<Path>) -> Result<Array> {
    let path = path.as_ref();
    let read = || {
        let (mut file, size) = open(path)?;
        npy::read(&mut file, Some(size))
    };
    read()
        .map(Array::from)
        .map_err(|error| in_file(path, &error))
}

/// Writes a `.npy` file, through [a temporary one](write_file).
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
    replace::replace(path.as_ref(), |file| npy::write(&stored, file))
}

/// A file that can be read in any order, and its size.
fn open(path: &Path) -> Result<(BufReader<File>, u64)> {
    // Opening a pipe that nobody writes to would wait for ever.
    let kind = std::fs::metadata(path)?.file_type();
    if kind.is_dir() {
        return Err(broken("it is a directory"));
    }
    if !kind.is_file() {
        return Err(broken(
            "it is no regular file: arrays are not read in order",
        ));
    }
    let file = File::open(path)?;
    let size = file.metadata()?.len();
    Ok((BufReader::new(file), size))
}

/// An error with the name of the file in front.
fn in_file(path: &Path, error: &Error) -> Error {
    prefixed(&path.display().to_string(), error)
}

/// An error about an array of a name.
fn in_member(name: &str, error: &Error) -> Error {
    prefixed(&format!("member `{}`", shortened(name)), error)
}

/// A name as messages show it: those of hostile files have any length.
fn shortened(name: &str) -> std::borrow::Cow<'_, str> {
    const SHOWN: usize = 100;
    match name.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}...", &name[..end]).into(),
        None => name.into(),
    }
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
