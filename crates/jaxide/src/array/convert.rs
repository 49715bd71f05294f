//! Arrays from Rust values.

use std::io::Write;

use jaxide_core::{Aval, DType, Error, Result, Scalar, Tensor};
use num_complex::Complex;

use super::Array;
use crate::trace::raise;

impl From<Tensor> for Array {
    fn from(tensor: Tensor) -> Self {
        Array::concrete(tensor, false)
    }
}

/// A specification, for `make_jaxpr`.
impl From<Aval> for Array {
    fn from(aval: Aval) -> Self {
        Array::of_type(aval)
    }
}

impl From<&Array> for Array {
    fn from(array: &Array) -> Self {
        array.clone()
    }
}

/// Numbers are weakly typed: they take the element type of the arrays they meet. Alone, integers are `i32`, floats `f32`
/// and complex numbers `c64`.
macro_rules! numbers {
    ($($ty:ty => $dtype:ident, $value:expr;)*) => { $(
        impl From<$ty> for Array {
            fn from(value: $ty) -> Self {
                let scalar: fn($ty) -> Scalar = $value;
                Array::weak(scalar(value), DType::$dtype)
            }
        }
    )* };
}

numbers! {
    i8 => I32, |x| Scalar::Int(x.into());
    i16 => I32, |x| Scalar::Int(x.into());
    i32 => I32, |x| Scalar::Int(x.into());
    i64 => I32, Scalar::Int;
    isize => I32, |x| Scalar::Int(x as i64);
    u8 => I32, |x| Scalar::Int(x.into());
    u16 => I32, |x| Scalar::Int(x.into());
    u32 => I32, |x| Scalar::Int(x.into());
    u64 => I32, unsigned;
    usize => I32, |x| unsigned(x as u64);
    half::f16 => F32, |x| Scalar::Float(shortest_half(x.to_f64(), |d| half::f16::from_f64(d) == x));
    half::bf16 => F32, |x| Scalar::Float(shortest_half(x.to_f64(), |d| half::bf16::from_f64(d) == x));
    f32 => F32, |x| Scalar::Float(shortest(x));
    f64 => F32, Scalar::Float;
    bool => Bool, Scalar::Bool;
    Complex<f32> => C64, |x| Scalar::Complex(shortest(x.re), shortest(x.im));
    Complex<f64> => C64, |x| Scalar::Complex(x.re, x.im);
}

fn unsigned(value: u64) -> Scalar {
    i64::try_from(value).map_or(Scalar::UInt(value), Scalar::Int)
}

/// Numbers that are leaves of trees of arrays. Those that Rust counts with are not: a width in a struct is static, and a
/// compiler that says so is better than a trace that cannot ask its value.
macro_rules! leaf_numbers {
    ($($ty:ty)*) => { $(
        impl jaxide_tree::Pytree<Array> for $ty {
            fn visit<'a, V: jaxide_tree::Visitor<'a, Array>>(&'a self, visitor: &mut V)
            where
                Array: 'a,
            {
                visitor.made_leaf(Array::from(*self));
            }

            fn unflatten<I: Iterator<Item = Array>>(
                from: &mut jaxide_tree::Unflatten<'_, I>,
            ) -> Result<Self, jaxide_tree::StructureError> {
                let leaf = from.leaf()?;
                let number = leaf.try_value().ok().filter(|value| value.len() == 1).and_then(|value| value.scalar_at(0));
                match number.and_then(<$ty as FromScalar>::from_scalar) {
                    Some(number) => Ok(number),
                    None => Err(from.leaf_error(stringify!($ty), &leaf.aval().to_string())),
                }
            }
        }
    )* };
}

/// Rust numbers from numbers of a jaxpr.
trait FromScalar: Sized {
    fn from_scalar(scalar: Scalar) -> Option<Self>;
}

macro_rules! from_scalar {
    ($($ty:ty => $value:expr;)*) => { $(
        impl FromScalar for $ty {
            fn from_scalar(scalar: Scalar) -> Option<Self> {
                let value: fn(Scalar) -> Option<$ty> = $value;
                value(scalar)
            }
        }
    )* };
}

from_scalar! {
    bool => |s| s.as_f64().map(|x| x != 0.0);
    i32 => |s| s.as_integer().and_then(|x| x.try_into().ok());
    i64 => |s| s.as_integer().and_then(|x| x.try_into().ok());
    f32 => |s| s.as_f64().map(|x| x as f32);
    f64 => |s| s.as_f64();
}

leaf_numbers!(i32 i64 f32 f64 bool);

/// The double with the fewest digits that is still the same number of 16 bits.
fn shortest_half(value: f64, same: impl Fn(f64) -> bool) -> f64 {
    if !value.is_finite() {
        return value;
    }
    let digits = (0..6).map(|digits| format!("{value:.digits$e}").parse().unwrap_or(value));
    digits.into_iter().find(|&d| same(d)).unwrap_or(value)
}

/// The double with the same shortest digits: `0.1f32` stays `0.1` in the text.
fn shortest(value: f32) -> f64 {
    // In scientific notation every `f32` fits, and no string is allocated for a number in an expression.
    let mut text = [0u8; 32];
    let mut rest = &mut text[..];
    let fits = write!(rest, "{value:e}").is_ok();
    let length = 32 - rest.len();
    str::from_utf8(&text[..length])
        .ok()
        .filter(|_| fits)
        .and_then(|text| text.parse().ok())
        .unwrap_or_else(|| value.into())
}

/// An element of a nested array.
pub trait Leaf: Copy {
    /// The array of these elements.
    ///
    /// # Errors
    /// When the number of elements is not the product of `shape`.
    fn build(shape: &[usize], elements: Vec<Self>) -> Result<Tensor>;
}

/// Rust arrays, vectors and slices, nested to any depth.
pub trait Nested {
    /// What they are made of.
    type Leaf: Leaf;

    /// Appends the lengths of the axes, taken from the first rows.
    fn shape(&self, shape: &mut Vec<usize>);

    /// Appends the elements in order.
    fn elements(&self, out: &mut Vec<Self::Leaf>);
}

macro_rules! leaves {
    ($($ty:ty),* $(,)?) => { $(
        impl Leaf for $ty {
            fn build(shape: &[usize], elements: Vec<Self>) -> Result<Tensor> {
                Tensor::from_vec(shape, elements)
            }
        }
        single!($ty);
    )* };
}

/// An element is a nested array of rank 0.
macro_rules! single {
    ($ty:ty) => {
        impl Nested for $ty {
            type Leaf = $ty;

            fn shape(&self, _shape: &mut Vec<usize>) {}

            fn elements(&self, out: &mut Vec<$ty>) {
                out.push(*self);
            }
        }
    };
}

leaves!(
    i8,
    i16,
    i32,
    i64,
    u8,
    u16,
    u32,
    u64,
    half::f16,
    half::bf16,
    f32,
    f64,
    Complex<f32>,
    Complex<f64>
);
single!(bool);

/// Numbers as wide as an address are those of 64 bits.
macro_rules! address_sized {
    ($($ty:ty => $wide:ty;)*) => { $(
        impl Leaf for $ty {
            fn build(shape: &[usize], elements: Vec<Self>) -> Result<Tensor> {
                Tensor::from_vec(shape, elements.into_iter().map(|x| x as $wide).collect())
            }
        }
        single!($ty);
    )* };
}

address_sized! {
    isize => i64;
    usize => u64;
}

impl Leaf for bool {
    fn build(shape: &[usize], elements: Vec<Self>) -> Result<Tensor> {
        Tensor::from_bools(shape, elements)
    }
}

macro_rules! sequences {
    ($([$($generics:tt)*] $ty:ty;)*) => { $(
        impl<$($generics)*> Nested for $ty {
            type Leaf = R::Leaf;

            fn shape(&self, shape: &mut Vec<usize>) {
                shape.push(self.len());
                if let Some(row) = self.first() {
                    row.shape(shape);
                }
            }

            fn elements(&self, out: &mut Vec<R::Leaf>) {
                self.iter().for_each(|row| row.elements(out));
            }
        }

        /// Strongly typed, with the element type of the Rust type.
        ///
        /// # Panics
        /// When rows have different lengths.
        impl<$($generics)*> From<$ty> for Array {
            #[track_caller]
            fn from(value: $ty) -> Self {
                let (mut shape, mut elements) = (Vec::new(), Vec::new());
                Nested::shape(&value, &mut shape);
                Nested::elements(&value, &mut elements);
                <R::Leaf as Leaf>::build(&shape, elements).map_or_else(
                    |_| raise(Error::shape("the rows of a nested array have different lengths")),
                    Array::from,
                )
            }
        }
    )* };
}

sequences! {
    [R: Nested, const N: usize] [R; N];
    [R: Nested] Vec<R>;
    [R: Nested] &[R];
}
