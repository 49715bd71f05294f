//! `.npz` archives: `.npy` files in a ZIP file, as NumPy writes and reads them.

mod directory;
mod failing;

use std::io::{Cursor, Read, Seek};
use std::path::Path;

use indexmap::IndexMap;
use jaxide_core::{Aval, Error, Result, Tensor};
use jaxide_tree::Pytree;
use zip::read::{ArchiveOffset, Config, ZipFile};
use zip::result::ZipError;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipReadOptions, ZipWriter};

use super::replace::{Output, replace};
use super::{Archive, Reader, broken, in_member, npy, stored};
use crate::array::Array;
use directory::Metered;
use failing::UntilFailure;

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
    Reader::open_npz(path)?.to_tree(like)
}

impl Archive {
    /// Reads all of an `.npz` file; see [`Reader::open_npz`] for parts of it.
    ///
    /// # Errors
    /// When the file cannot be read, is no archive of arrays, or there is no memory for all of them.
    pub fn read_npz(path: impl AsRef<Path>) -> Result<Self> {
        Reader::open_npz(path)?.read_all()
    }

    /// Writes an `.npz` file without compression, through [a temporary one](super::write_file).
    ///
    /// # Errors
    /// When the file cannot be written, or an array has no form in it.
    pub fn write_npz(&self, path: impl AsRef<Path>) -> Result<()> {
        replace(path.as_ref(), |file| self.write_zip(file))
    }

    /// Reads the bytes of an `.npz` file.
    ///
    /// # Errors
    /// When they are no archive of arrays, or there is no memory for all of them.
    pub fn from_npz(bytes: &[u8]) -> Result<Self> {
        Reader::npz(Cursor::new(bytes))?.read_all()
    }

    /// The bytes of an `.npz` file.
    ///
    /// # Errors
    /// When an array has no form in it.
    pub fn to_npz(&self) -> Result<Vec<u8>> {
        let mut bytes = Cursor::new(Vec::new());
        self.write_zip(&mut bytes)?;
        Ok(bytes.into_inner())
    }

    fn write_zip(&self, output: &mut dyn Output) -> Result<()> {
        let mut zip = ZipWriter::new(UntilFailure::new(output));
        for (name, array) in &self.members {
            let mut write = || {
                let stored = stored::npy(array)?;
                let options = SimpleFileOptions::default()
                    .compression_method(CompressionMethod::Stored)
                    .large_file(stored.bytes().len() >= u32::MAX as usize - (1 << 16));
                zip.start_file(format!("{name}.npy"), options)
                    .map_err(|error| unwritten(&error))?;
                npy::write(&stored, &mut zip)
            };
            write().map_err(|error| in_member(name, &error))?;
        }
        zip.finish().map(drop).map_err(|error| unwritten(&error))
    }
}

/// The members of an open archive.
pub(super) struct Members<R> {
    zip: ZipArchive<Metered<R>>,
    /// Where the data of each member have to end: where the next one begins.
    ends: Vec<u64>,
}

impl<R: Read + Seek> Members<R> {
    /// Reads the directory, and gives the places of the arrays by their names.
    pub(super) fn new(source: R) -> Result<(Self, IndexMap<String, usize>)> {
        let mut source = Metered::new(source);
        directory::check(&mut source)?;
        let spent = source.meter();
        // Archives begin where their file does: what stands in front of others is not searched for.
        let config = Config {
            archive_offset: ArchiveOffset::Known(0),
        };
        let zip = ZipArchive::with_config(config, source).map_err(|error| damaged(&error))?;
        if zip.has_duplicate_names() {
            return Err(broken("two members of the archive have one name"));
        }
        spent.stop();
        let mut names = IndexMap::with_capacity(zip.len());
        let mut starts = Vec::with_capacity(zip.len());
        for index in 0..zip.len() {
            let member = zip.by_index_data(index).map_err(|error| damaged(&error))?;
            let file = member.name().map_err(|error| damaged(&error))?;
            let name = file.strip_suffix(".npy").unwrap_or(&file).to_owned();
            if member.is_dir() {
                return Err(in_member(&name, &broken("it is a folder, and no array")));
            }
            starts.push((member.header_start(), member.compressed_size(), index));
            if names.insert(name.clone(), index).is_some() {
                return Err(in_member(&name, &broken("it is there twice")));
            }
        }
        let ends = ends(&zip, starts)?;
        Ok((Members { zip, ends }, names))
    }

    /// The type that a member declares, and the memory that reading it takes.
    pub(super) fn declared(&mut self, index: usize) -> Result<(Aval, usize)> {
        let (header, _) = self.open(index)?;
        Ok((header.aval(), header.memory()?))
    }

    /// The array of a member.
    pub(super) fn read(&mut self, index: usize) -> Result<Tensor> {
        let (header, mut file) = self.open(index)?;
        let array = npy::elements(&header, &mut file)?;
        npy::end(&mut file)?;
        Ok(array)
    }

    /// A member whose header has been read, and has the size that the archive says.
    fn open(&mut self, index: usize) -> Result<(npy::Header, ZipFile<'_, Metered<R>>)> {
        let options = ZipReadOptions::new().enforce_header_consistency(true);
        let mut file = self
            .zip
            .by_index_with_options(index, options)
            .map_err(|error| damaged(&error))?;
        let (size, compressed) = (file.size(), file.compressed_size());
        let end = file.data_start().and_then(|at| at.checked_add(compressed));
        if end.is_none_or(|end| end > self.ends[index]) {
            return Err(broken("it overlaps with what follows"));
        }
        let largest = match file.compression() {
            CompressionMethod::Stored => compressed,
            _ => compressed.saturating_mul(LARGEST_EXPANSION),
        };
        if size > largest {
            return Err(broken(format!(
                "it claims {size} bytes, which its {compressed} bytes in the archive cannot hold"
            )));
        }
        let header = npy::Header::read(&mut file)?;
        let declared = header.file_size()?;
        if declared != size {
            return Err(broken(format!(
                "it has {size} bytes, and its header declares {declared}"
            )));
        }
        Ok((header, file))
    }
}

/// Where the data of each member have to end.
fn ends<R: Read + Seek>(
    zip: &ZipArchive<R>,
    mut starts: Vec<(u64, u64, usize)>,
) -> Result<Vec<u64>> {
    starts.sort_unstable();
    let mut ends = vec![0; starts.len()];
    let mut next = zip.central_directory_start();
    for &(start, size, index) in starts.iter().rev() {
        // The data follow the fixed part of a header and a name.
        const HEADER: u64 = 30;
        let end = start
            .checked_add(HEADER)
            .and_then(|at| at.checked_add(size));
        if end.is_none_or(|end| end > next) {
            let member = zip.by_index_data(index).map_err(|error| damaged(&error))?;
            let file = member.name().map_err(|error| damaged(&error))?;
            let name = file.strip_suffix(".npy").unwrap_or(&file);
            return Err(in_member(name, &broken("it overlaps with what follows")));
        }
        ends[index] = next;
        next = start;
    }
    Ok(ends)
}

fn damaged(error: &ZipError) -> Error {
    match error {
        ZipError::UnsupportedArchive(what) => {
            Error::unsupported(format!("the archive cannot be read: {what}"))
        }
        ZipError::CompressionMethodNotSupported(_) => {
            Error::unsupported(format!("the archive cannot be read: {error}"))
        }
        _ => broken(format!("the archive is damaged: {error}")),
    }
}

fn unwritten(error: &ZipError) -> Error {
    match error {
        ZipError::Io(error) => broken(error.to_string()),
        other => broken(other.to_string()),
    }
}
