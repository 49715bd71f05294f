//! Typed access to the elements of tensors, whatever their dtype.

use num_complex::Complex;

use super::numerics::complex;
use super::numerics::float::{Real, to_signed, to_unsigned};
use crate::aval::{byte_size, element_count};
use crate::dtype::DType;
use crate::error::{Error, ErrorKind, Result};
use crate::small_float;
use crate::tensor::{Element, Tensor, check_allocatable};

/// The dtypes of eight bits and less whose elements are codes of numbers.
macro_rules! small_floats {
    () => {
        $crate::dtype::DType::F4E2M1Fn
            | $crate::dtype::DType::F8E3M4
            | $crate::dtype::DType::F8E4M3
            | $crate::dtype::DType::F8E4M3B11Fnuz
            | $crate::dtype::DType::F8E4M3Fn
            | $crate::dtype::DType::F8E4M3Fnuz
            | $crate::dtype::DType::F8E5M2
            | $crate::dtype::DType::F8E5M2Fnuz
            | $crate::dtype::DType::F8E8M0Fnu
    };
}

/// Evaluates `int` with `$T` the Rust type of an integer dtype, `real` with that of `f16` and wider, and so on.
///
/// Arms that are left out give `other`.
macro_rules! by_dtype {
    ($dtype:expr, $T:ident,
     $(bool => $bool:expr,)? $(int => $int:expr,)? $(small => $small:expr,)? $(real => $real:expr,)?
     $(complex => $complex:expr,)? other => $other:expr $(,)?) => {{
        use $crate::dtype::DType;
        #[allow(unused_macros)]
        macro_rules! typed {
            ($ty:ty, $body:expr) => {{
                type $T = $ty;
                $body
            }};
        }
        match $dtype {
            $(DType::Bool => $bool,)?
            $(DType::I2 | DType::I4 | DType::I8 => { type $T = i8; $int }
            DType::I16 => { type $T = i16; $int }
            DType::I32 => { type $T = i32; $int }
            DType::I64 => { type $T = i64; $int }
            DType::U2 | DType::U4 | DType::U8 => { type $T = u8; $int }
            DType::U16 => { type $T = u16; $int }
            DType::U32 => { type $T = u32; $int }
            DType::U64 => { type $T = u64; $int })?
            $($crate::eval::element::small_floats!() => $small,)?
            $(DType::F16 => { type $T = half::f16; $real }
            DType::BF16 => { type $T = half::bf16; $real }
            DType::F32 => { type $T = f32; $real }
            DType::F64 => { type $T = f64; $real })?
            $(DType::C64 => { type $T = f32; $complex }
            DType::C128 => { type $T = f64; $complex })?
            #[allow(unreachable_patterns)]
            _ => $other,
        }
    }};
}

pub(super) use {by_dtype, small_floats};

/// The error of an operation that a dtype has no meaning in.
pub(super) fn meaningless(dtype: DType) -> Error {
    Error::dtype(format!("has no meaning for elements of type {dtype}"))
}

/// The elements of an array as `T`, which only has to have their size: truth values and 4-bit integers are bytes.
pub(super) fn elements<T: Element>(x: &Tensor) -> Result<&[T]> {
    bytemuck::try_cast_slice(x.bytes()).map_err(|error| {
        Error::new(
            ErrorKind::Internal,
            format!("elements of {} read as {}: {error}", x.aval(), T::DTYPE),
        )
    })
}

/// Room for the elements of an array.
///
/// # Errors
/// When there is no such memory.
pub(super) fn room_for<T>(shape: &[usize]) -> Result<Vec<T>> {
    let count = element_count(shape)?;
    let size = count.checked_mul(size_of::<T>()).ok_or_else(|| {
        Error::new(
            ErrorKind::TooLarge,
            "an array has more bytes than can be addressed",
        )
    })?;
    check_allocatable(size)?;
    Ok(Vec::with_capacity(count))
}

/// An array from its elements in memory, integers of 2 and 4 bits wrapped to their width.
pub(super) fn from_elements<T: Element>(
    shape: &[usize],
    dtype: DType,
    mut elements: Vec<T>,
) -> Result<Tensor> {
    if dtype.is_integer() && dtype.bits() < 8 {
        let unused = 8 - dtype.bits();
        for byte in bytemuck::cast_slice_mut::<T, u8>(&mut elements) {
            *byte = if dtype.is_signed_integer() {
                ((*byte << unused) as i8 >> unused) as u8
            } else {
                *byte << unused >> unused
            };
        }
    }
    Tensor::from_storage(shape, dtype, elements)
}

/// The bytes of a new array of zeros, to be filled by `fill`.
pub(super) fn build(
    shape: &[usize],
    dtype: DType,
    fill: impl FnOnce(&mut [u8]) -> Result<()>,
) -> Result<Tensor> {
    check_allocatable(byte_size(shape, dtype)?)?;
    let mut result = Tensor::zeros(shape, dtype)?;
    fill(writable(&mut result)?)?;
    Ok(result)
}

/// The bytes of an array that nothing else holds.
fn writable(x: &mut Tensor) -> Result<&mut [u8]> {
    x.bytes_mut()
        .ok_or_else(|| Error::new(ErrorKind::Internal, "a new array is shared"))
}

/// `x` as an array that nothing else holds, copied when something does, and its bytes changed by `change`.
pub(super) fn update(
    mut x: Tensor,
    change: impl FnOnce(&mut [u8]) -> Result<()>,
) -> Result<Tensor> {
    if x.bytes_mut().is_none() {
        let bytes = x.bytes();
        x = build(x.shape(), x.dtype(), |copy| {
            copy.copy_from_slice(bytes);
            Ok(())
        })?;
    }
    change(writable(&mut x)?)?;
    Ok(x)
}

/// The value of a small float's code.
pub(super) fn decode(dtype: DType, code: u8) -> f64 {
    small_float::decode(dtype, code).unwrap_or(f64::NAN)
}

/// The code of the nearest small float, by way of `f32`.
pub(super) fn encode(dtype: DType, value: f64) -> u8 {
    small_float::encode(dtype, f64::from(value as f32)).unwrap_or(0)
}

/// A sequence of numbers of one class.
type Numbers<'a, N> = Box<dyn Iterator<Item = N> + 'a>;

/// The elements of an array of truth values or integers.
pub(super) fn integers(x: &Tensor) -> Result<Numbers<'_, i128>> {
    Ok(by_dtype!(x.dtype(), T,
        bool => Box::new(elements::<u8>(x)?.iter().map(|&v| v.into())),
        int => Box::new(elements::<T>(x)?.iter().map(|&v| v.into())),
        other => return Err(meaningless(x.dtype())),
    ))
}

/// The elements of an array of floats.
pub(super) fn reals(x: &Tensor) -> Result<Numbers<'_, f64>> {
    let dtype = x.dtype();
    Ok(by_dtype!(dtype, T,
        small => Box::new(elements::<u8>(x)?.iter().map(move |&v| decode(dtype, v))),
        real => Box::new(elements::<T>(x)?.iter().map(|&v| Real::to_f64(v))),
        other => return Err(meaningless(dtype)),
    ))
}

/// The elements of an array of complex numbers.
pub(super) fn complexes(x: &Tensor) -> Result<Numbers<'_, Complex<f64>>> {
    Ok(by_dtype!(x.dtype(), T,
        complex => Box::new(elements::<Complex<T>>(x)?.iter().map(|&v| complex::widen(v))),
        other => return Err(meaningless(x.dtype())),
    ))
}

/// The elements of a numeric array of any dtype as complex numbers.
pub(super) fn any_complexes(x: &Tensor) -> Result<Numbers<'_, Complex<f64>>> {
    let dtype = x.dtype();
    if dtype.is_complex() {
        complexes(x)
    } else if dtype.is_float() {
        Ok(Box::new(reals(x)?.map(|v| Complex::new(v, 0.0))))
    } else {
        Ok(Box::new(integers(x)?.map(|v| Complex::new(v as f64, 0.0))))
    }
}

/// An array of any numeric dtype from integers: wrapped to integers, rounded to floats, `!= 0` to bool.
pub(super) fn from_integers(
    shape: &[usize],
    dtype: DType,
    mut numbers: impl Iterator<Item = i128>,
) -> Result<Tensor> {
    each_from_integer(shape, dtype, &mut || numbers.next())
}

fn each_from_integer(shape: &[usize], dtype: DType, next: Source<'_, i128>) -> Result<Tensor> {
    let numbers = std::iter::from_fn(next);
    by_dtype!(dtype, T,
        bool => collect_inlined(shape, dtype, numbers.map(|v| u8::from(v != 0))),
        int => collect_inlined(shape, dtype, numbers.map(|v| v as T)),
        small => collect_inlined(shape, dtype, numbers.map(|v| encode(dtype, v as f64))),
        real => collect_inlined(shape, dtype, numbers.map(round_integer::<T>)),
        complex => collect_inlined(shape, dtype, numbers.map(|v| Complex::new(round_integer::<T>(v), 0.0))),
        other => Err(meaningless(dtype)),
    )
}

/// An array of any numeric dtype from floats: saturated to integers (NaN is 0), `!= 0` to bool.
pub(super) fn from_reals(
    shape: &[usize],
    dtype: DType,
    mut numbers: impl Iterator<Item = f64>,
) -> Result<Tensor> {
    each_from_real(shape, dtype, &mut || numbers.next())
}

fn each_from_real(shape: &[usize], dtype: DType, next: Source<'_, f64>) -> Result<Tensor> {
    let numbers = std::iter::from_fn(next);
    let bits = dtype.bits() as u32;
    if dtype.is_signed_integer() {
        return from_integers(shape, dtype, numbers.map(|v| to_signed(v, bits).into()));
    }
    if dtype.is_unsigned_integer() {
        return from_integers(shape, dtype, numbers.map(|v| to_unsigned(v, bits).into()));
    }
    by_dtype!(dtype, T,
        bool => collect_inlined(shape, dtype, numbers.map(|v| u8::from(v != 0.0))),
        small => collect_inlined(shape, dtype, numbers.map(|v| encode(dtype, v))),
        real => collect_inlined(shape, dtype, numbers.map(<T as Real>::round_from)),
        complex => collect_inlined(shape, dtype, numbers.map(|v| Complex::new(<T as Real>::round_from(v), 0.0))),
        other => Err(meaningless(dtype)),
    )
}

/// An array of any numeric dtype from complex numbers: real types take the real part.
pub(super) fn from_complexes(
    shape: &[usize],
    dtype: DType,
    mut numbers: impl Iterator<Item = Complex<f64>>,
) -> Result<Tensor> {
    each_from_complex(shape, dtype, &mut || numbers.next())
}

fn each_from_complex(
    shape: &[usize],
    dtype: DType,
    next: Source<'_, Complex<f64>>,
) -> Result<Tensor> {
    let numbers = std::iter::from_fn(next);
    by_dtype!(dtype, T,
        bool => collect_inlined(shape, dtype, numbers.map(|z| u8::from(z.re != 0.0 || z.im != 0.0))),
        complex => collect_inlined(shape, dtype, numbers.map(complex::round_from::<T>)),
        other => from_reals(shape, dtype, numbers.map(|z| z.re)),
    )
}

/// Where elements come from, one at a time. What takes elements of many iterators takes this, so that it is compiled
/// once for each type of elements, not for each iterator.
type Source<'a, T> = &'a mut dyn FnMut() -> Option<T>;

/// Collects elements into an array.
pub(super) fn collect<T: Element>(
    shape: &[usize],
    dtype: DType,
    mut numbers: impl Iterator<Item = T>,
) -> Result<Tensor> {
    collect_from(shape, dtype, &mut || numbers.next())
}

fn collect_from<T: Element>(shape: &[usize], dtype: DType, next: Source<'_, T>) -> Result<Tensor> {
    collect_inlined(shape, dtype, std::iter::from_fn(next))
}

/// [`collect`] for the few iterators that go through the elements of large arrays: compiled for each of them.
pub(super) fn collect_inlined<T: Element>(
    shape: &[usize],
    dtype: DType,
    numbers: impl Iterator<Item = T>,
) -> Result<Tensor> {
    let mut elements = room_for(shape)?;
    elements.extend(numbers);
    from_elements(shape, dtype, elements)
}

/// An integer rounded once to a float of 32 bits and more, by way of `f32` to the narrower.
fn round_integer<T: Real>(value: i128) -> T {
    if T::MANTISSA_BITS == 23 {
        T::round_from(f64::from(value as f32))
    } else {
        T::round_from(value as f64)
    }
}
