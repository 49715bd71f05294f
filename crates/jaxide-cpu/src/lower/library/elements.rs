//! Elements of any type as numbers of three classes, by the interpreter's laws: floats are computed in `f64` and rounded once,
//! integers wrap, truth values are 0 and 1.

pub(super) use bytemuck::Pod;

use crate::runtime::matmul::Convert;
use half::{bf16, f16};
use jaxide_core::eval::numerics::complex;
use jaxide_core::eval::numerics::float::{Real, to_signed, to_unsigned};
use jaxide_core::{DType, Error, small_float};
use num_complex::Complex;

/// A complex number in the working precision.
pub(super) type C128 = Complex<f64>;

/// The dtypes whose elements are codes of one byte.
macro_rules! small_floats {
    () => {
        jaxide_core::DType::F4E2M1Fn
            | jaxide_core::DType::F8E3M4
            | jaxide_core::DType::F8E4M3
            | jaxide_core::DType::F8E4M3B11Fnuz
            | jaxide_core::DType::F8E4M3Fn
            | jaxide_core::DType::F8E4M3Fnuz
            | jaxide_core::DType::F8E5M2
            | jaxide_core::DType::F8E5M2Fnuz
            | jaxide_core::DType::F8E8M0Fnu
    };
}

/// Evaluates one of the expressions with `$T` the Rust type of a dtype: of its elements or, for complex numbers, of their parts.
macro_rules! by_dtype {
    ($dtype:expr, $T:ident, int => $int:expr, small => $small:expr, real => $real:expr, complex => $complex:expr,
     other => $other:expr $(,)?) => {{
        use jaxide_core::DType;
        match $dtype {
            DType::I2 | DType::I4 | DType::I8 => {
                #[allow(dead_code)]
                type $T = i8;
                $int
            }
            DType::I16 => {
                #[allow(dead_code)]
                type $T = i16;
                $int
            }
            DType::I32 => {
                #[allow(dead_code)]
                type $T = i32;
                $int
            }
            DType::I64 => {
                #[allow(dead_code)]
                type $T = i64;
                $int
            }
            DType::Bool | DType::U2 | DType::U4 | DType::U8 => {
                #[allow(dead_code)]
                type $T = u8;
                $int
            }
            DType::U16 => {
                #[allow(dead_code)]
                type $T = u16;
                $int
            }
            DType::U32 => {
                #[allow(dead_code)]
                type $T = u32;
                $int
            }
            DType::U64 => {
                #[allow(dead_code)]
                type $T = u64;
                $int
            }
            $crate::lower::library::elements::small_floats!() => $small,
            DType::F16 => {
                #[allow(dead_code)]
                type $T = half::f16;
                $real
            }
            DType::BF16 => {
                #[allow(dead_code)]
                type $T = half::bf16;
                $real
            }
            DType::F32 => {
                #[allow(dead_code)]
                type $T = f32;
                $real
            }
            DType::F64 => {
                #[allow(dead_code)]
                type $T = f64;
                $real
            }
            DType::C64 => {
                #[allow(dead_code)]
                type $T = f32;
                $complex
            }
            DType::C128 => {
                #[allow(dead_code)]
                type $T = f64;
                $complex
            }
            DType::KeyFry | DType::KeyRbg | DType::KeyUnsafeRbg | DType::Float0 => $other,
        }
    }};
}

pub(super) use {by_dtype, small_floats};

/// The numbers that elements of a type are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    /// Truth values and integers.
    Integer,
    Real,
    Complex,
    /// Keys, and elements without bytes.
    Opaque,
}

impl Class {
    pub(super) fn of(dtype: DType) -> Class {
        match dtype {
            DType::KeyFry | DType::KeyRbg | DType::KeyUnsafeRbg | DType::Float0 => Class::Opaque,
            dtype if dtype.is_complex() => Class::Complex,
            dtype if dtype.is_float() => Class::Real,
            _ => Class::Integer,
        }
    }

    /// The class that holds numbers of both.
    pub(super) fn with(self, other: Class) -> Class {
        match (self, other) {
            (Class::Opaque, _) | (_, Class::Opaque) => Class::Opaque,
            (Class::Complex, _) | (_, Class::Complex) => Class::Complex,
            (Class::Real, _) | (_, Class::Real) => Class::Real,
            (Class::Integer, Class::Integer) => Class::Integer,
        }
    }
}

/// The error of an operation on elements that it has no meaning for.
pub(super) fn meaningless(dtype: DType) -> Error {
    Error::dtype(format!("has no meaning for elements of type {dtype}"))
}

/// Bytes as elements.
pub(super) fn typed<T: Pod>(bytes: &[u8]) -> &[T] {
    if bytes.is_empty() {
        &[]
    } else {
        bytemuck::cast_slice(bytes)
    }
}

/// Bytes as elements, for writing.
pub(super) fn typed_mut<T: Pod>(bytes: &mut [u8]) -> &mut [T] {
    if bytes.is_empty() {
        &mut []
    } else {
        bytemuck::cast_slice_mut(bytes)
    }
}

/// A class of numbers that elements are read as and rounded from.
pub(super) trait Number: Copy + Default + Send + Sync + 'static {
    /// Reads as many elements as `to` has.
    fn read(dtype: DType, bytes: &[u8], to: &mut [Self]);

    /// Writes numbers as elements: wrapped to integers, floats saturated to integers (NaN is 0), rounded to floats,
    /// `!= 0` to bool.
    fn write(dtype: DType, from: &[Self], bytes: &mut [u8]);

    /// All elements of an operand.
    fn read_all(dtype: DType, bytes: &[u8]) -> Vec<Self> {
        let mut numbers = vec![Self::default(); bytes.len().checked_div(dtype.size()).unwrap_or(0)];
        Self::read(dtype, bytes, &mut numbers);
        numbers
    }
}

fn put<A: Copy, B>(from: &[A], to: &mut [B], f: impl Fn(A) -> B) {
    to.iter_mut()
        .zip(from)
        .for_each(|(to, &from)| *to = f(from));
}

/// The value of a small float's code.
fn decode(dtype: DType, code: u8) -> f64 {
    small_float::decode(dtype, code).unwrap_or(f64::NAN)
}

/// The code of the nearest small float, by way of `f32`.
fn encode(dtype: DType, value: f64) -> u8 {
    small_float::encode(dtype, f64::from(value as f32)).unwrap_or(0)
}

impl Number for i128 {
    fn read(dtype: DType, bytes: &[u8], to: &mut [i128]) {
        by_dtype!(dtype, T,
            int => put(typed::<T>(bytes), to, i128::from),
            small => put(bytes, to, |code| decode(dtype, code) as i128),
            real => put(typed::<T>(bytes), to, |v| v.to_f64() as i128),
            complex => put(typed::<Complex<T>>(bytes), to, |v| v.re as i128),
            other => to.fill(0),
        );
    }

    fn write(dtype: DType, from: &[i128], bytes: &mut [u8]) {
        by_dtype!(dtype, T,
            int => {
                if dtype == DType::Bool {
                    return put(from, bytes, |v| u8::from(v != 0));
                }
                put(from, typed_mut::<T>(bytes), |v| v as T);
                extend(dtype, bytes);
            },
            small => put(from, bytes, |v| encode(dtype, v as f64)),
            real => put(from, typed_mut::<T>(bytes), round_integer::<T>),
            complex => put(from, typed_mut::<Complex<T>>(bytes), |v| Complex::new(round_integer::<T>(v), 0.0)),
            other => bytes.fill(0),
        );
    }
}

impl Number for f64 {
    fn read(dtype: DType, bytes: &[u8], to: &mut [f64]) {
        by_dtype!(dtype, T,
            int => put(typed::<T>(bytes), to, |v| v as f64),
            small => {
                let values: Vec<f64> = (0..=u8::MAX).map(|code| decode(dtype, code)).collect();
                put(bytes, to, |code| values[usize::from(code)]);
            },
            real => put(typed::<T>(bytes), to, Real::to_f64),
            complex => put(typed::<Complex<T>>(bytes), to, |v| v.re.to_f64()),
            other => to.fill(0.0),
        );
    }

    fn write(dtype: DType, from: &[f64], bytes: &mut [u8]) {
        let bits = dtype.bits() as u32;
        by_dtype!(dtype, T,
            int => match dtype {
                DType::Bool => put(from, bytes, |v| u8::from(v != 0.0)),
                _ if dtype.is_signed_integer() => put(from, typed_mut::<T>(bytes), |v| to_signed(v, bits) as T),
                _ => put(from, typed_mut::<T>(bytes), |v| to_unsigned(v, bits) as T),
            },
            small => put(from, bytes, |v| encode(dtype, v)),
            real => put(from, typed_mut::<T>(bytes), <T as Real>::round_from),
            complex => put(from, typed_mut::<Complex<T>>(bytes), |v| Complex::new(<T as Real>::round_from(v), 0.0)),
            other => bytes.fill(0),
        );
    }
}

impl Number for C128 {
    fn read(dtype: DType, bytes: &[u8], to: &mut [C128]) {
        by_dtype!(dtype, T,
            int => put(typed::<T>(bytes), to, |v| Complex::new(v as f64, 0.0)),
            small => put(bytes, to, |code| Complex::new(decode(dtype, code), 0.0)),
            real => put(typed::<T>(bytes), to, |v| Complex::new(v.to_f64(), 0.0)),
            complex => put(typed::<Complex<T>>(bytes), to, complex::widen::<T>),
            other => to.fill(Complex::default()),
        );
    }

    fn write(dtype: DType, from: &[C128], bytes: &mut [u8]) {
        by_dtype!(dtype, T,
            int => if dtype == DType::Bool {
                put(from, bytes, |z| u8::from(z.re != 0.0 || z.im != 0.0));
            } else {
                let real: Vec<f64> = from.iter().map(|z| z.re).collect();
                put(&real, typed_mut::<T>(bytes), |v| {
                    let bits = dtype.bits() as u32;
                    if dtype.is_signed_integer() { to_signed(v, bits) as T } else { to_unsigned(v, bits) as T }
                });
            },
            small => put(from, bytes, |z| encode(dtype, z.re)),
            real => put(from, typed_mut::<T>(bytes), |z| <T as Real>::round_from(z.re)),
            complex => put(from, typed_mut::<Complex<T>>(bytes), complex::round_from::<T>),
            other => bytes.fill(0),
        );
    }
}

/// Brings integers of 2 and 4 bits, whose low bits are right, into their extended form.
fn extend(dtype: DType, bytes: &mut [u8]) {
    if dtype.bits() >= 8 {
        return;
    }
    let unused = 8 - dtype.bits();
    for byte in bytes {
        *byte = if dtype.is_signed_integer() {
            ((*byte << unused) as i8 >> unused) as u8
        } else {
            *byte << unused >> unused
        };
    }
}

/// An integer rounded once to a float of 32 bits and more, by way of `f32` to the narrower.
fn round_integer<T: Real>(value: i128) -> T {
    if T::MANTISSA_BITS == 23 {
        T::round_from(f64::from(value as f32))
    } else {
        T::round_from(value as f64)
    }
}

/// Elements converted at once.
const BLOCK: usize = 512;

/// Converts elements to another type, as `convert_element_type` does. Keys and elements without bytes give zeros.
pub(super) fn convert(from: DType, bytes: &[u8], to: DType, out: &mut [u8]) {
    fn through<N: Number>(from: DType, bytes: &[u8], to: DType, out: &mut [u8]) {
        let mut numbers = [N::default(); BLOCK];
        let blocks = bytes
            .chunks(BLOCK * from.size())
            .zip(out.chunks_mut(BLOCK * to.size()));
        for (bytes, out) in blocks {
            let numbers = &mut numbers[..bytes.len() / from.size()];
            N::read(from, bytes, numbers);
            N::write(to, numbers, out);
        }
    }
    if from == to {
        out.copy_from_slice(bytes);
        return;
    }
    if from.size() == 0 || to.size() == 0 {
        out.fill(0);
        return;
    }
    // What products are often made of and become.
    match (from, to) {
        (DType::F16, DType::F32) => return f16::convert(typed(bytes), typed_mut::<f32>(out)),
        (DType::BF16, DType::F32) => return bf16::convert(typed(bytes), typed_mut::<f32>(out)),
        (DType::F32, DType::F16) => return f32::convert(typed(bytes), typed_mut::<f16>(out)),
        (DType::F32, DType::BF16) => return f32::convert(typed(bytes), typed_mut::<bf16>(out)),
        _ => {}
    }
    if from == DType::F4E2M1Fn && to.is_integer() {
        let mut numbers = f64::read_all(from, bytes);
        for number in &mut numbers {
            *number = small_float::for_integers(*number);
        }
        return f64::write(to, &numbers, out);
    }
    match Class::of(from) {
        Class::Integer => through::<i128>(from, bytes, to, out),
        Class::Real => through::<f64>(from, bytes, to, out),
        Class::Complex => through::<C128>(from, bytes, to, out),
        Class::Opaque => out.fill(0),
    }
}
