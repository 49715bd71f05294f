//! `.safetensors` files.

use std::path::Path;

use ::safetensors::tensor::TensorView;
use ::safetensors::{Dtype, SafeTensorError, SafeTensors};
use jaxide_core::{DType, Error, Result, Tensor};
use jaxide_tree::Pytree;

use super::{Archive, broken, in_member, npy, stored};
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
    let path = path.as_ref();
    let archive = Archive::read_safetensors(path)?;
    archive
        .to_tree(like)
        .map_err(|error| super::in_file(path, &error))
}

impl Archive {
    /// Reads a `.safetensors` file.
    ///
    /// # Errors
    /// When the file cannot be read or is damaged, or has arrays of element types that are not known here.
    pub fn read_safetensors(path: impl AsRef<Path>) -> Result<Self> {
        super::read(path.as_ref(), Self::from_safetensors)
    }

    /// Writes a `.safetensors` file.
    ///
    /// # Errors
    /// When the file cannot be written, or an array has no form in it.
    pub fn write_safetensors(&self, path: impl AsRef<Path>) -> Result<()> {
        super::write(path.as_ref(), &self.to_safetensors()?)
    }

    /// Reads the bytes of a `.safetensors` file; arrays are in the order of their data.
    ///
    /// # Errors
    /// When they are damaged, or have arrays of element types that are not known here.
    pub fn from_safetensors(bytes: &[u8]) -> Result<Self> {
        let file = SafeTensors::deserialize(bytes).map_err(|error| damaged(&error))?;
        let mut views: Vec<(&str, TensorView<'_>)> = file.iter().collect();
        views.sort_by_key(|(name, view)| (view.data().as_ptr() as usize, *name));
        let mut archive = Archive::new();
        for (name, view) in views {
            let array = array(&view).map_err(|error| in_member(name, &error))?;
            archive.add(name, array)?;
        }
        Ok(archive)
    }

    /// The bytes of a `.safetensors` file.
    ///
    /// # Errors
    /// When an array has no form in it.
    pub fn to_safetensors(&self) -> Result<Vec<u8>> {
        let arrays = self.members.iter().map(|(name, array)| {
            let array = match named(array.dtype()) {
                Some(_) => Ok(array.clone()),
                None => stored::bits(array),
            };
            Ok((name, array.map_err(|error| in_member(name, &error))?))
        });
        let arrays = arrays.collect::<Result<Vec<_>>>()?;
        let views = arrays.iter().map(|(name, array)| {
            let dtype = named(array.dtype())
                .ok_or_else(|| broken(format!("{} has no name", array.dtype())))?;
            let view = TensorView::new(dtype, array.shape().to_vec(), array.bytes());
            Ok((
                *name,
                view.map_err(|error| in_member(name, &damaged(&error)))?,
            ))
        });
        let views = views.collect::<Result<Vec<_>>>()?;
        ::safetensors::serialize(views, None).map_err(|error| damaged(&error))
    }
}

/// The array of a view.
fn array(view: &TensorView<'_>) -> Result<Tensor> {
    let dtype = DType::ALL
        .iter()
        .find(|&&dtype| named(dtype) == Some(view.dtype()));
    let Some(&dtype) = dtype else {
        return Err(Error::unsupported(format!(
            "arrays of element type {} cannot be read",
            view.dtype()
        )));
    };
    if dtype == DType::Bool {
        return Tensor::from_bytes(view.shape(), dtype, &npy::truth_values(view.data()));
    }
    Tensor::from_bytes(view.shape(), dtype, view.data())
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
