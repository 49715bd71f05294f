//! Element types that files have no name for, as those that they have.

use jaxide_core::{Aval, DType, Error, Result, Tensor};

/// An array as one of a type that `.npy` files have.
pub(super) fn npy(array: &Tensor) -> Result<Tensor> {
    use DType as D;
    match array.dtype() {
        D::Bool
        | D::I8
        | D::I16
        | D::I32
        | D::I64
        | D::U8
        | D::U16
        | D::U32
        | D::U64
        | D::F16
        | D::F32
        | D::F64
        | D::C64
        | D::C128 => Ok(array.clone()),
        _ => bits(array),
    }
}

/// An array as its bits: unsigned integers, for small signed integers signed ones, the words of keys and the parts of
/// complex numbers along a last axis.
pub(super) fn bits(array: &Tensor) -> Result<Tensor> {
    match form(array.shape(), array.dtype()) {
        Some(form) => array.reinterpreted(&form.shape, form.dtype),
        None => Err(Error::unsupported(format!(
            "arrays of {} cannot be written",
            array.dtype()
        ))),
    }
}

/// The type of the bits of an array; `None` for those without bits.
fn form(shape: &[usize], dtype: DType) -> Option<Aval> {
    let parts = |dtype: DType, count: usize| {
        let shape: Vec<usize> = shape.iter().copied().chain([count]).collect();
        Aval::new(dtype, &shape)
    };
    if let Some(words) = dtype.key_words() {
        return Some(parts(DType::U32, words));
    }
    match dtype {
        DType::C64 | DType::C128 => Some(parts(dtype.real(), 2)),
        DType::I2 | DType::I4 => Some(Aval::new(DType::I8, shape)),
        _ => Some(Aval::new(dtype.unsigned_of_same_size()?, shape)),
    }
}

/// Whether an array of one type can be one of type `aval`: it has that type, or its bits.
///
/// # Errors
/// When it cannot.
pub(super) fn can_be(declared: &Aval, aval: &Aval) -> Result<()> {
    let is =
        |dtype: DType, shape: &[usize]| declared.dtype == dtype && declared.shape[..] == *shape;
    if is(aval.dtype, &aval.shape) {
        return Ok(());
    }
    let form = form(&aval.shape, aval.dtype).filter(|form| {
        // Numbers of a type that every file has are never bits of others.
        let named = matches!(
            aval.dtype,
            DType::Bool | DType::F16 | DType::F32 | DType::F64
        ) || (aval.dtype.is_integer() && aval.dtype.bits() >= 8)
            || aval.dtype == DType::C64;
        !named && is(form.dtype, &form.shape)
    });
    if form.is_none() {
        return Err(Error::shape(format!(
            "the array is {declared}, and {aval} is expected"
        )));
    }
    Ok(())
}

/// An array as one of type `aval`: the same, or the one whose bits it is.
///
/// # Errors
/// When it is neither, or a number does not fit.
pub(super) fn restored(array: &Tensor, aval: &Aval) -> Result<Tensor> {
    can_be(&array.aval(), aval)?;
    if array.dtype() == aval.dtype {
        return Ok(array.clone());
    }
    let unused = 8 - aval.dtype.bits().min(8);
    let fits = |&byte: &u8| match aval.dtype.is_signed_integer() {
        true => ((byte << unused) as i8 >> unused) as u8 == byte,
        false => byte << unused >> unused == byte,
    };
    if unused > 0 && !array.bytes().iter().all(fits) {
        return Err(Error::dtype(format!(
            "a number does not fit {}",
            aval.dtype
        )));
    }
    array.reinterpreted(&aval.shape, aval.dtype)
}
