//! Archives that are read array by array.

use std::fs::File;
use std::io::{BufReader, Read, Seek};
use std::path::{Path, PathBuf};

use indexmap::IndexMap;
use jaxide_core::{Aval, Result, Tensor, byte_size, memory};
use jaxide_tree::Pytree;

#[cfg(feature = "npz")]
use super::npz;
#[cfg(feature = "safetensors")]
use super::safetensors;
use super::{Archive, archive, in_file, in_member, stored};
use crate::array::Array;

/// An open archive: the names of its arrays are known, and each array is read when it is asked for.
///
/// Memory is taken for what is asked for alone, and at most as [`memory::limit`] says.
///
/// ```
/// # #[cfg(feature = "npz")] {
/// use jaxide::{Array, DType, Aval, io::{Archive, Reader}};
/// let path = std::env::temp_dir().join(format!("open-{}.npz", std::process::id()));
/// let mut archive = Archive::new();
/// archive.insert("large", &Array::zeros([1000, 1000], DType::F32))?;
/// archive.insert("small", &Array::scalar(3i32))?;
/// archive.write_npz(&path)?;
///
/// let mut reader = Reader::open_npz(&path)?;
/// assert_eq!(reader.names().collect::<Vec<_>>(), ["large", "small"]);
/// assert_eq!(reader.aval("large")?.to_string(), "f32[1000,1000]");
/// assert_eq!(reader.value("small", &Aval::new(DType::I32, &[]))?.item::<i32>()?, 3);
/// # std::fs::remove_file(&path)?;
/// # }
/// # Ok::<(), jaxide::Error>(())
/// ```
pub struct Reader<R = BufReader<File>> {
    path: Option<PathBuf>,
    /// The place of each array among the members.
    names: IndexMap<String, usize>,
    members: Members<R>,
}

/// The arrays of a format.
enum Members<R> {
    #[cfg(feature = "npz")]
    Npz(npz::Members<R>),
    #[cfg(feature = "safetensors")]
    Safetensors(safetensors::Members<R>),
}

impl Reader {
    /// Opens an `.npz` file.
    ///
    /// # Errors
    /// When the file cannot be read, or its directory is damaged: members that overlap or have one name included.
    #[cfg(feature = "npz")]
    pub fn open_npz(path: impl AsRef<Path>) -> Result<Self> {
        Self::open(path.as_ref(), Self::npz)
    }

    /// Opens a `.safetensors` file.
    ///
    /// # Errors
    /// When the file cannot be read, or its header is damaged.
    #[cfg(feature = "safetensors")]
    pub fn open_safetensors(path: impl AsRef<Path>) -> Result<Self> {
        Self::open(path.as_ref(), Self::safetensors)
    }

    fn open(path: &Path, read: impl FnOnce(BufReader<File>) -> Result<Self>) -> Result<Self> {
        let opened = super::open(path).and_then(|(file, _)| read(file));
        let mut reader = opened.map_err(|error| in_file(path, &error))?;
        reader.path = Some(path.to_owned());
        Ok(reader)
    }
}

impl<R: Read + Seek> Reader<R> {
    /// Reads the directory of an `.npz` archive.
    ///
    /// # Errors
    /// As [`Reader::open_npz`].
    #[cfg(feature = "npz")]
    pub fn npz(source: R) -> Result<Self> {
        let (members, names) = npz::Members::new(source)?;
        Ok(Reader {
            path: None,
            names,
            members: Members::Npz(members),
        })
    }

    /// Reads the header of a `.safetensors` file; arrays are in the order of their data.
    ///
    /// # Errors
    /// As [`Reader::open_safetensors`].
    #[cfg(feature = "safetensors")]
    pub fn safetensors(source: R) -> Result<Self> {
        let (members, names) = safetensors::Members::new(source)?;
        Ok(Reader {
            path: None,
            names,
            members: Members::Safetensors(members),
        })
    }

    /// The names, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.names.keys().map(String::as_str)
    }

    /// The number of arrays.
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// The type of the array of a name, as the file declares it. No elements are read.
    ///
    /// # Errors
    /// When there is no such array, its header is damaged, or its element type is not known here.
    pub fn aval(&mut self, name: &str) -> Result<Aval> {
        let declared = self.index(name).and_then(|index| {
            self.declared(index)
                .map_err(|error| in_member(name, &error))
        });
        let declared = declared.map(|(aval, _)| aval);
        declared.map_err(|error| self.named(&error))
    }

    /// The array of a name, with the element type that the file has for it.
    ///
    /// # Errors
    /// When there is no such array, it is damaged, or there is no memory for it.
    pub fn read(&mut self, name: &str) -> Result<Tensor> {
        let read = self.index(name).and_then(|index| {
            self.elements(index)
                .map_err(|error| in_member(name, &error))
        });
        read.map_err(|error| self.named(&error))
    }

    /// The array of a name as one of type `aval`: whether it can be is seen before its elements are read.
    ///
    /// # Errors
    /// As [`Reader::read`]; also when the array has another type.
    pub fn value(&mut self, name: &str, aval: &Aval) -> Result<Tensor> {
        self.unnamed_value(name, aval)
            .map_err(|error| self.named(&error))
    }

    /// A tree of the structure and with the types of `like`; see [`Archive::to_tree`].
    ///
    /// # Errors
    /// As [`Archive::to_tree`], and as [`Reader::read`].
    pub fn to_tree<T: Pytree<Array>>(&mut self, like: &T) -> Result<T> {
        let names: Vec<String> = self.names().map(str::to_owned).collect();
        archive::tree(like, &names, |name, aval| self.unnamed_value(name, aval))
            .map_err(|error| self.named(&error))
    }

    /// All arrays.
    ///
    /// # Errors
    /// When one of them is damaged, or there is no memory for all.
    pub fn read_all(&mut self) -> Result<Archive> {
        self.unnamed_all().map_err(|error| self.named(&error))
    }

    fn unnamed_all(&mut self) -> Result<Archive> {
        let names: Vec<(String, usize)> = self.names.clone().into_iter().collect();
        let (mut total, mut scratch) = (0usize, 0);
        for (name, index) in &names {
            let declared = self.declared(*index).and_then(|(aval, memory)| {
                let size = byte_size(&aval.shape, aval.dtype)?;
                Ok((size, memory - size))
            });
            let (size, more) = declared.map_err(|error| in_member(name, &error))?;
            total = total.saturating_add(size);
            scratch = scratch.max(more);
        }
        memory::check(total.saturating_add(scratch))?;
        let mut archive = Archive::new();
        for (name, index) in names {
            let array = self
                .elements(index)
                .map_err(|error| in_member(&name, &error))?;
            archive.members.insert(name, array);
        }
        Ok(archive)
    }

    fn unnamed_value(&mut self, name: &str, aval: &Aval) -> Result<Tensor> {
        let index = self.index(name)?;
        let mut read = || {
            stored::can_be(&self.declared(index)?.0, aval)?;
            stored::restored(&self.elements(index)?, aval)
        };
        read().map_err(|error| in_member(name, &error))
    }

    fn index(&self, name: &str) -> Result<usize> {
        match self.names.get(name) {
            Some(&index) => Ok(index),
            None => Err(archive::missing(name, self.names())),
        }
    }

    /// The type of an array, and the memory that reading it takes.
    fn declared(&mut self, index: usize) -> Result<(Aval, usize)> {
        match &mut self.members {
            #[cfg(feature = "npz")]
            Members::Npz(members) => members.declared(index),
            #[cfg(feature = "safetensors")]
            Members::Safetensors(members) => members.declared(index),
        }
    }

    fn elements(&mut self, index: usize) -> Result<Tensor> {
        match &mut self.members {
            #[cfg(feature = "npz")]
            Members::Npz(members) => members.read(index),
            #[cfg(feature = "safetensors")]
            Members::Safetensors(members) => members.read(index),
        }
    }

    /// An error with the name of the file in front, if there is one.
    fn named(&self, error: &jaxide_core::Error) -> jaxide_core::Error {
        match &self.path {
            Some(path) => in_file(path, error),
            None => error.clone(),
        }
    }
}

impl<R> std::fmt::Debug for Reader<R> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Reader")
            .field("path", &self.path)
            .field("names", &self.names.keys())
            .finish_non_exhaustive()
    }
}
