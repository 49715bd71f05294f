//! `.safetensors` files: a header in JSON, then the elements of all arrays, without gaps.

use std::cmp::Reverse;
use std::fmt;
use std::io::{Cursor, Read, Seek, SeekFrom};
use std::path::Path;

use ::safetensors::tensor::{Metadata, TensorInfo};
use ::safetensors::{Dtype, SafeTensorError};
use indexmap::IndexMap;
use jaxide_core::{Aval, DType, Error, Result, Tensor, byte_size};
use jaxide_tree::Pytree;
use serde::de::{Deserialize, Deserializer, Error as _, IgnoredAny, MapAccess, Visitor};

use super::replace::{Output, replace};
use super::{Archive, MOST_AXES, Reader, broken, in_member, largest_description, npy, stored};
use crate::array::Array;

/// Writes a tree to a `.safetensors` file; see [`Archive::from_tree`] for the names.
///
/// # Errors
/// When the file cannot be written, an array has no value yet, or two paths have one name.
pub fn save_safetensors<T: Pytree<Array>>(path: impl AsRef<Path>, tree: &T) -> Result<()> {
    Archive::from_tree(tree)?.write_safetensors(path)
}

/// Reads a tree from a `.safetensors` file; see [`Archive::to_tree`].
///
/// # Errors
/// When the file cannot be read or is damaged, or does not hold the tree: with the path of the leaf.
pub fn load_safetensors<T: Pytree<Array>>(path: impl AsRef<Path>, like: &T) -> Result<T> {
    Reader::open_safetensors(path)?.to_tree(like)
}

impl Archive {
    /// Reads all of a `.safetensors` file; see [`Reader::open_safetensors`] for parts of it.
    ///
    /// # Errors
    /// When the file cannot be read or is damaged, has arrays of element types that are not known here, or there is no
    /// memory for all of them.
    pub fn read_safetensors(path: impl AsRef<Path>) -> Result<Self> {
        Reader::open_safetensors(path)?.read_all()
    }

    /// Writes a `.safetensors` file, through [a temporary one](super::write_file).
    ///
    /// # Errors
    /// When the file cannot be written, or an array has no form in it.
    pub fn write_safetensors(&self, path: impl AsRef<Path>) -> Result<()> {
        replace(path.as_ref(), |file| self.write_tensors(file))
    }

    /// Reads the bytes of a `.safetensors` file; arrays are in the order of their data.
    ///
    /// # Errors
    /// When they are damaged, have arrays of element types that are not known here, or there is no memory for all of them.
    pub fn from_safetensors(bytes: &[u8]) -> Result<Self> {
        Reader::safetensors(Cursor::new(bytes))?.read_all()
    }

    /// The bytes of a `.safetensors` file.
    ///
    /// # Errors
    /// When an array has no form in it.
    pub fn to_safetensors(&self) -> Result<Vec<u8>> {
        let mut bytes = Cursor::new(Vec::new());
        self.write_tensors(&mut bytes)?;
        Ok(bytes.into_inner())
    }

    fn write_tensors(&self, output: &mut dyn Output) -> Result<()> {
        let arrays = self.members.iter().map(|(name, array)| {
            let array = match named(array.dtype()) {
                Some(_) => Ok(array.clone()),
                None => stored::bits(array),
            };
            let array = array.map_err(|error| in_member(name, &error))?;
            let dtype = named(array.dtype())
                .ok_or_else(|| broken(format!("{} has no name", array.dtype())))?;
            Ok((name, dtype, array))
        });
        let mut arrays = arrays.collect::<Result<Vec<_>>>()?;
        // The widest first, so that all are aligned.
        arrays.sort_by_key(|&(name, dtype, _)| (Reverse(dtype), name));
        let mut end = 0;
        let described = arrays.iter().map(|(name, dtype, array)| {
            let start = end;
            end += array.bytes().len();
            let info = TensorInfo {
                dtype: *dtype,
                shape: array.shape().to_vec(),
                data_offsets: (start, end),
            };
            ((*name).clone(), info)
        });
        let metadata = Metadata::new(None, described.collect()).map_err(|error| damaged(&error))?;
        let mut header = serde_json::to_vec(&metadata)
            .map_err(|error| broken(format!("the header cannot be written: {error}")))?;
        header.resize(header.len().next_multiple_of(8), b' ');
        output.write_all(&(header.len() as u64).to_le_bytes())?;
        output.write_all(&header)?;
        for (_, _, array) in &arrays {
            output.write_all(array.bytes())?;
        }
        Ok(())
    }
}

/// The members of an open file.
pub(super) struct Members<R> {
    source: R,
    /// Where the data begin.
    data: u64,
    infos: Vec<TensorInfo>,
}

impl<R: Read + Seek> Members<R> {
    /// Reads the header, and gives the places of the arrays by their names.
    pub(super) fn new(mut source: R) -> Result<(Self, IndexMap<String, usize>)> {
        let size = source.seek(SeekFrom::End(0))?;
        source.rewind()?;
        let mut length = [0u8; 8];
        source
            .read_exact(&mut length)
            .map_err(|_| broken("the file is too short for a header"))?;
        let length = u64::from_le_bytes(length);
        let data = length.saturating_add(8);
        if data > size {
            return Err(broken(format!(
                "the header claims {length} bytes, and the file has {size}"
            )));
        }
        let largest = largest_description();
        if length > largest {
            return Err(broken(format!(
                "the header claims {length} bytes, and {largest} are the most"
            )));
        }
        let mut header = Vec::new();
        source.by_ref().take(length).read_to_end(&mut header)?;
        let header: Header = serde_json::from_slice(&header)
            .map_err(|error| broken(format!("the header is damaged: {error}")))?;
        let mut arrays = header.0;
        arrays.sort_by(|(name, info), (other_name, other)| {
            (info.data_offsets, name).cmp(&(other.data_offsets, other_name))
        });
        contiguous(&arrays)?;
        let end = arrays.last().map_or(0, |(_, info)| info.data_offsets.1);
        if data.saturating_add(end as u64) != size {
            return Err(broken(format!(
                "the header declares {end} bytes of data, and the file has {}",
                size - data
            )));
        }
        let mut names = IndexMap::with_capacity(arrays.len());
        let mut infos = Vec::with_capacity(arrays.len());
        for (index, (name, info)) in arrays.into_iter().enumerate() {
            infos.push(info);
            if names.insert(name.clone(), index).is_some() {
                return Err(in_member(&name, &broken("it is there twice")));
            }
        }
        let members = Members {
            source,
            data,
            infos,
        };
        Ok((members, names))
    }

    /// The type that the header declares, and the memory that reading it takes.
    pub(super) fn declared(&mut self, index: usize) -> Result<(Aval, usize)> {
        let aval = self.aval(index)?;
        let size = byte_size(&aval.shape, aval.dtype)?;
        Ok((aval, size))
    }

    fn aval(&self, index: usize) -> Result<Aval> {
        let info = &self.infos[index];
        let dtype = DType::ALL
            .iter()
            .find(|&&dtype| named(dtype) == Some(info.dtype));
        let Some(&dtype) = dtype else {
            return Err(Error::unsupported(format!(
                "arrays of element type {} cannot be read",
                info.dtype
            )));
        };
        Ok(Aval::new(dtype, &info.shape))
    }

    /// The array of a member.
    pub(super) fn read(&mut self, index: usize) -> Result<Tensor> {
        let aval = self.aval(index)?;
        let start = self.infos[index].data_offsets.0 as u64;
        self.source
            .seek(SeekFrom::Start(self.data.saturating_add(start)))?;
        let mut array = Tensor::from_reader(&aval.shape, aval.dtype, &mut self.source)?;
        if aval.dtype == DType::Bool {
            npy::make_truth_values(npy::own_bytes(&mut array)?);
        }
        Ok(array)
    }
}

/// Each array has the bytes of its type, and begins where the one before ends.
fn contiguous(arrays: &[(String, TensorInfo)]) -> Result<()> {
    let mut next = 0;
    for (name, info) in arrays {
        let (start, end) = info.data_offsets;
        let wrong = |message: String| Err(in_member(name, &broken(message)));
        if info.shape.len() > MOST_AXES {
            return wrong(format!("it has more than {MOST_AXES} axes"));
        }
        if start != next || end < start {
            let what = if start < next { "an overlap" } else { "a gap" };
            return wrong(format!(
                "its data are at {start} to {end}, where {next} is free: {what}"
            ));
        }
        let count = byte_size(&info.shape, DType::U8).map_err(|error| in_member(name, &error))?;
        let bits = count.checked_mul(info.dtype.bitsize());
        if bits.is_none_or(|bits| bits != (end - start).saturating_mul(8)) {
            return wrong(format!(
                "its {} bytes are not those of {} with shape {:?}",
                end - start,
                info.dtype,
                info.shape
            ));
        }
        next = end;
    }
    Ok(())
}

/// The arrays of a header, as they stand there: also those with one name.
struct Header(Vec<(String, TensorInfo)>);

impl<'de> Deserialize<'de> for Header {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        deserializer.deserialize_map(Entries)
    }
}

struct Entries;

impl<'de> Visitor<'de> for Entries {
    type Value = Header;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object with an entry for each array")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<Header, A::Error> {
        let mut arrays = Vec::new();
        let mut described = false;
        while let Some(name) = map.next_key::<String>()? {
            if name == "__metadata__" {
                if std::mem::replace(&mut described, true) {
                    return Err(A::Error::duplicate_field("__metadata__"));
                }
                map.next_value::<IgnoredAny>()?;
            } else {
                let info = map
                    .next_value()
                    .map_err(|error| A::Error::custom(format!("member `{name}`: {error}")))?;
                arrays.push((name, info));
            }
        }
        Ok(Header(arrays))
    }
}
/// The name of an element type in the file.
fn named(dtype: DType) -> Option<Dtype> {
    Some(match dtype {
        DType::Bool => Dtype::BOOL,
        DType::I8 => Dtype::I8,
        DType::I16 => Dtype::I16,
        DType::I32 => Dtype::I32,
        DType::I64 => Dtype::I64,
        DType::U8 => Dtype::U8,
        DType::U16 => Dtype::U16,
        DType::U32 => Dtype::U32,
        DType::U64 => Dtype::U64,
        DType::F8E4M3Fn => Dtype::F8_E4M3,
        DType::F8E4M3Fnuz => Dtype::F8_E4M3FNUZ,
        DType::F8E5M2 => Dtype::F8_E5M2,
        DType::F8E5M2Fnuz => Dtype::F8_E5M2FNUZ,
        DType::F8E8M0Fnu => Dtype::F8_E8M0,
        DType::BF16 => Dtype::BF16,
        DType::F16 => Dtype::F16,
        DType::F32 => Dtype::F32,
        DType::F64 => Dtype::F64,
        DType::C64 => Dtype::C64,
        DType::I2
        | DType::I4
        | DType::U2
        | DType::U4
        | DType::F4E2M1Fn
        | DType::F8E3M4
        | DType::F8E4M3
        | DType::F8E4M3B11Fnuz
        | DType::C128
        | DType::Float0
        | DType::KeyFry
        | DType::KeyRbg
        | DType::KeyUnsafeRbg => return None,
    })
}

fn damaged(error: &SafeTensorError) -> Error {
    broken(format!("the file is damaged: {error}"))
}
