//! Conversion between element types.

use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::eval::element::{
    build, complexes, from_complexes, from_integers, from_reals, integers, reals,
};
use crate::jaxpr::Shape;
use crate::small_float;
use crate::tensor::Tensor;

/// The elements as numbers of another type.
///
/// Integers keep their low bits; floats are rounded to nearest even, and saturate to integers, NaN to 0;
/// complex numbers lose their imaginary part; a truth value is whether the number is not 0.
pub(in crate::eval) fn convert_element_type(x: &Tensor, dtype: DType) -> Result<Tensor> {
    let shape = x.shape();
    if x.dtype() == dtype {
        Ok(x.clone())
    } else if dtype == DType::Float0 {
        Tensor::zeros(shape, dtype)
    } else if x.dtype().is_complex() {
        from_complexes(shape, dtype, complexes(x)?)
    } else if x.dtype() == DType::F4E2M1Fn && dtype.is_integer() {
        from_reals(shape, dtype, reals(x)?.map(small_float::for_integers))
    } else if x.dtype().is_float() {
        from_reals(shape, dtype, reals(x)?)
    } else if x.dtype() == DType::Float0 {
        Tensor::zeros(shape, dtype)
    } else {
        from_integers(shape, dtype, integers(x)?)
    }
}

/// The same bits as elements of another type.
///
/// A wider type takes the elements of the last axis together, low bits first; a narrower one makes a new last axis.
pub(in crate::eval) fn bitcast_convert_type(x: &Tensor, dtype: DType) -> Result<Tensor> {
    let (from, to) = (x.dtype().bits(), dtype.bits());
    let mut shape = Shape::from_slice(x.shape());
    if from > to {
        shape.push(from / to);
    } else if from < to && shape.pop() != Some(to / from) {
        return Err(Error::shape(format!(
            "{} cannot become {dtype}: the last axis must have length {}",
            x.aval(),
            to / from
        )));
    }
    let packed = pack(x)?;
    if to >= 8 {
        return Tensor::from_bytes(&shape, dtype, &packed);
    }
    build(&shape, dtype, |bytes| {
        for (index, byte) in bytes.iter_mut().enumerate() {
            let bit = index * to;
            let low = packed.get(bit / 8).copied().unwrap_or(0) >> (bit % 8) << (8 - to);
            *byte = if dtype.is_signed_integer() {
                (low as i8 >> (8 - to)) as u8
            } else {
                low >> (8 - to)
            };
        }
        Ok(())
    })
}

/// The bits of all elements one after another, those of 2 and 4 bits packed into bytes.
fn pack(x: &Tensor) -> Result<Vec<u8>> {
    let bits = x.dtype().bits();
    if bits >= 8 {
        return Ok(x.bytes().to_vec());
    }
    let mut packed = vec![0u8; (x.len() * bits).div_ceil(8)];
    for (index, byte) in x.bytes().iter().enumerate() {
        packed[index * bits / 8] |= (byte & ((1 << bits) - 1)) << (index * bits % 8);
    }
    Ok(packed)
}
