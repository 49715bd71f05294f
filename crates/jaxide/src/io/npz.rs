//! `.npz` archives: `.npy` files in a ZIP file, as NumPy writes and reads them.

use std::io::{Cursor, Read, Write};
use std::path::Path;

use jaxide_core::{Error, Result, check_allocatable};
use jaxide_tree::Pytree;
use zip::read::ZipFile;
use zip::result::ZipError;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

use super::{Archive, broken, in_member, npy, stored};
use crate::array::Array;

/// More than this many times its compressed size no deflated stream can grow.
const LARGEST_EXPANSION: u64 = 1032;

/// Writes a tree to an `.npz` file; see [`Archive::from_tree`] for the names.
///
/// # Errors
/// When the file cannot be written, an array has no value yet, or two paths have one name.
pub fn save_npz<T: Pytree<Array>>(path: impl AsRef<Path>, tree: &T) -> Result<()> {
    Archive::from_tree(tree)?.write_npz(path)
}

/// Reads a tree from an `.npz` file; see [`Archive::to_tree`].
///
/// # Errors
/// When the file cannot be read or is damaged, or does not hold the tree: with the path of the leaf.
pub fn load_npz<T: Pytree<Array>>(path: impl AsRef<Path>, like: &T) -> Result<T> {
    let path = path.as_ref();
    let archive = Archive::read_npz(path)?;
    archive
        .to_tree(like)
        .map_err(|error| super::in_file(path, &error))
}

impl Archive {
    /// Reads an `.npz` file.
    ///
    /// # Errors
    /// When the file cannot be read, or is no archive of arrays.
    pub fn read_npz(path: impl AsRef<Path>) -> Result<Self> {
        super::read(path.as_ref(), Self::from_npz)
    }

    /// Writes an `.npz` file, without compression.
    ///
    /// # Errors
    /// When the file cannot be written, or an array has no form in it.
    pub fn write_npz(&self, path: impl AsRef<Path>) -> Result<()> {
        super::write(path.as_ref(), &self.to_npz()?)
    }

    /// Reads the bytes of an `.npz` file.
    ///
    /// # Errors
    /// When they are no archive of arrays.
    pub fn from_npz(bytes: &[u8]) -> Result<Self> {
        let mut zip = ZipArchive::new(Cursor::new(bytes)).map_err(|error| zipped(&error))?;
        let mut archive = Archive::new();
        let mut compressed = 0u64;
        for index in 0..zip.len() {
            let file = zip.by_index(index).map_err(|error| zipped(&error))?;
            compressed = compressed.saturating_add(file.compressed_size());
            if compressed > bytes.len() as u64 {
                return Err(broken("members of the archive overlap"));
            }
            let member = file.name().map_err(|error| zipped(&error))?;
            let name = member.strip_suffix(".npy").unwrap_or(&member).to_owned();
            let array = contents(file).and_then(|contents| npy::read(&contents));
            archive.add(&name, array.map_err(|error| in_member(&name, &error))?)?;
        }
        Ok(archive)
    }

    /// The bytes of an `.npz` file.
    ///
    /// # Errors
    /// When an array has no form in it.
    pub fn to_npz(&self) -> Result<Vec<u8>> {
        let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
        for (name, array) in &self.members {
            let array = stored::npy(array).and_then(|stored| npy::write(&stored));
            let contents = array.map_err(|error| in_member(name, &error))?;
            let options = SimpleFileOptions::default()
                .compression_method(CompressionMethod::Stored)
                .large_file(contents.len() >= u32::MAX as usize);
            zip.start_file(format!("{name}.npy"), options)
                .map_err(|error| in_member(name, &zipped(&error)))?;
            zip.write_all(&contents)?;
        }
        let written = zip.finish().map_err(|error| zipped(&error))?;
        Ok(written.into_inner())
    }
}

/// The contents of a member, decompressed.
fn contents(mut file: ZipFile<'_, Cursor<&[u8]>>) -> Result<Vec<u8>> {
    let size = file.size();
    let largest = match file.compression() {
        CompressionMethod::Stored => file.compressed_size(),
        _ => file.compressed_size().saturating_mul(LARGEST_EXPANSION),
    };
    if size > largest {
        return Err(broken("a member claims an impossible size"));
    }
    check_allocatable(usize::try_from(size).unwrap_or(usize::MAX))?;
    let mut contents = Vec::new();
    file.by_ref()
        .take(size.saturating_add(1))
        .read_to_end(&mut contents)
        .map_err(|error| broken(format!("the data are damaged: {error}")))?;
    if contents.len() as u64 != size {
        return Err(broken("a member does not have the size it claims"));
    }
    Ok(contents)
}

fn zipped(error: &ZipError) -> Error {
    broken(format!("the archive is damaged: {error}"))
}
