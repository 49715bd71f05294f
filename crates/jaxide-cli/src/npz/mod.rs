//! `.npz` archives: named arrays in a ZIP file, as NumPy writes and reads them.

mod npy;
mod zip;

use std::path::Path;

use jaxide_core::{Aval, DType, Error, ErrorKind, Result, Tensor};

/// The arrays of an archive, in its order.
#[derive(Default)]
pub(crate) struct Npz {
    members: Vec<(String, Tensor)>,
}

impl Npz {
    /// Reads the archive at `path`.
    ///
    /// # Errors
    /// When the file cannot be read, or is not an archive of arrays.
    pub(crate) fn read(path: &Path) -> Result<Self> {
        let bytes = std::fs::read(path).map_err(|error| io(path, &error))?;
        Self::parse(&bytes).map_err(|error| {
            Error::new(
                error.kind(),
                format!("{}: {}", path.display(), error.message()),
            )
        })
    }

    /// Reads an archive from its bytes.
    ///
    /// # Errors
    /// When they are no archive of arrays.
    pub(crate) fn parse(bytes: &[u8]) -> Result<Self> {
        let mut members = Vec::new();
        for member in zip::read(bytes)? {
            let name = member
                .name
                .strip_suffix(".npy")
                .unwrap_or(&member.name)
                .to_owned();
            let array = member.contents().and_then(|contents| npy::read(&contents));
            members.push((
                name.clone(),
                array.map_err(|error| {
                    Error::new(
                        error.kind(),
                        format!("member `{name}`: {}", error.message()),
                    )
                })?,
            ));
        }
        Ok(Npz { members })
    }

    /// Writes the archive to `path`.
    ///
    /// # Errors
    /// When the file cannot be written, or an array has no form in it.
    pub(crate) fn write(&self, path: &Path) -> Result<()> {
        std::fs::write(path, self.to_bytes()?).map_err(|error| io(path, &error))
    }

    /// The bytes of the archive.
    ///
    /// # Errors
    /// When an array has no form in it.
    pub(crate) fn to_bytes(&self) -> Result<Vec<u8>> {
        let members: Vec<(String, Vec<u8>)> = self
            .members
            .iter()
            .map(|(name, array)| Ok((format!("{name}.npy"), npy::write(array)?)))
            .collect::<Result<_>>()?;
        zip::write(&members)
    }

    /// Adds an array.
    pub(crate) fn push(&mut self, name: String, array: Tensor) {
        self.members.push((name, array));
    }

    /// The array `name` as one of type `aval`.
    ///
    /// # Errors
    /// When there is none, or it has another type.
    pub(crate) fn get(&self, name: &str, aval: &Aval) -> Result<Tensor> {
        let (_, array) = self
            .members
            .iter()
            .find(|(member, _)| member == name)
            .ok_or_else(|| {
                let names: Vec<&str> = self.members.iter().map(|(name, _)| name.as_str()).collect();
                Error::new(
                    ErrorKind::Io,
                    format!("there is no member `{name}`, only {}", names.join(", ")),
                )
            })?;
        fit(array, aval).map_err(|error| {
            Error::new(
                error.kind(),
                format!("member `{name}`: {}", error.message()),
            )
        })
    }

    /// Names of the members that are arguments: neither constants nor results. `in0`, `in1`, ... come first and in
    /// numerical order, the others as they are in the archive.
    pub(crate) fn arguments(&self) -> Vec<String> {
        let mut names: Vec<&str> = self
            .members
            .iter()
            .map(|(name, _)| name.as_str())
            .filter(|name| number(name, "const").is_none() && number(name, "out").is_none())
            .collect();
        names.sort_by_key(|name| number(name, "in").unwrap_or(usize::MAX));
        names.into_iter().map(str::to_owned).collect()
    }
}

/// The number in `in3`.
fn number(name: &str, prefix: &str) -> Option<usize> {
    name.strip_prefix(prefix)?.parse().ok()
}

/// An array as one of type `aval`: the same, or its raw bits where `.npy` has no name for the dtype.
fn fit(array: &Tensor, aval: &Aval) -> Result<Tensor> {
    let stored = stored_dtype(aval.dtype);
    let same_width = array.dtype() == aval.dtype || array.dtype() == stored;
    if !same_width || array.shape() != aval.shape.as_slice() {
        return Err(Error::shape(format!(
            "the array is {}, and {aval} is expected",
            array.aval()
        )));
    }
    if aval.dtype.is_integer() && aval.dtype.bits() < 8 && array.dtype() != aval.dtype {
        return narrow(array, aval.dtype);
    }
    array.reinterpreted(&aval.shape, aval.dtype)
}

/// Bytes as integers of 2 or 4 bits, which they must fit.
fn narrow(array: &Tensor, dtype: DType) -> Result<Tensor> {
    let unused = 8 - dtype.bits();
    let fits = |&byte: &u8| match dtype.is_signed_integer() {
        true => ((byte << unused) as i8 >> unused) as u8 == byte,
        false => byte << unused >> unused == byte,
    };
    if !array.bytes().iter().all(fits) {
        return Err(Error::dtype(format!("a number does not fit {dtype}")));
    }
    array.reinterpreted(array.shape(), dtype)
}

/// The dtype whose name stands in a `.npy` header for arrays of `dtype`.
fn stored_dtype(dtype: DType) -> DType {
    match dtype {
        DType::BF16 => DType::U16,
        DType::I2 | DType::I4 => DType::I8,
        other if other.size() == 1 && other != DType::Bool && other != DType::I8 => DType::U8,
        other => other,
    }
}

fn io(path: &Path, error: &std::io::Error) -> Error {
    Error::new(ErrorKind::Io, format!("{}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn archive(arrays: &[(&str, Tensor)]) -> Npz {
        let mut npz = Npz::default();
        for (name, array) in arrays {
            npz.push((*name).to_owned(), array.clone());
        }
        npz
    }

    fn bytes(npz: &Npz) -> Vec<u8> {
        let members: Vec<_> = npz
            .members
            .iter()
            .map(|(name, array)| (format!("{name}.npy"), npy::write(array).unwrap()))
            .collect();
        zip::write(&members).unwrap()
    }

    #[test]
    fn arrays_of_every_dtype_survive() {
        for &dtype in DType::ALL {
            if dtype.is_key() || dtype == DType::Float0 {
                continue;
            }
            let array = Tensor::full(&[2, 3], dtype, jaxide_core::Scalar::Int(1)).unwrap();
            let read = Npz::parse(&bytes(&archive(&[("a", array.clone())]))).unwrap();
            assert_eq!(read.get("a", &array.aval()).unwrap(), array, "{dtype}");
        }
    }

    #[test]
    fn arguments_are_in_numerical_order() {
        let one = || Tensor::scalar(1.0f32);
        let names = ["in10", "ct0", "in2", "const0", "out0", "tan0"];
        let npz = archive(&names.map(|name| (name, one())));
        assert_eq!(npz.arguments(), ["in2", "in10", "ct0", "tan0"]);
    }

    #[test]
    fn a_wrong_type_is_named() {
        let npz = archive(&[("in0", Tensor::scalar(1.0f32))]);
        let error = npz.get("in0", &Aval::new(DType::F64, &[3])).unwrap_err();
        assert_eq!(
            error.message(),
            "member `in0`: the array is f32[], and f64[3] is expected"
        );
        let error = npz.get("in1", &Aval::scalar(DType::F32)).unwrap_err();
        assert_eq!(error.message(), "there is no member `in1`, only in0");
    }

    /// Cut short, or with any byte changed, an archive gives an array or an error.
    #[test]
    fn damaged_archives_are_errors() {
        let whole = bytes(&archive(&[
            ("a", Tensor::from_vec(&[3], vec![1.0f32, 2.0, 3.0]).unwrap()),
            ("b", Tensor::scalar(7i64)),
        ]));
        for length in 0..whole.len() {
            assert!(Npz::parse(&whole[..length]).is_err(), "{length} bytes");
        }
        for index in 0..whole.len() {
            for change in [1u8, 0x80, 0xff] {
                let mut damaged = whole.clone();
                damaged[index] ^= change;
                if let Ok(npz) = Npz::parse(&damaged) {
                    assert!(npz.members.len() <= 2, "byte {index}");
                }
            }
        }
    }
}
