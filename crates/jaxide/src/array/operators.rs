//! Arithmetic operators on arrays, references to arrays and numbers.

use std::ops;

use num_complex::Complex;

use super::Array;
use crate::numpy;

/// An operator and its assignment. The other operand is anything that becomes an array, so that the type of the result
/// is known before that of a literal. In front of an array stands any primitive number: a literal there is `f64` or `i32`,
/// which Rust decides last, so that a method called on `2.0 * x` at once needs the type: `2.0f64 * x`, or `x * 2.0`.
macro_rules! binary {
    ($($trait:ident $method:ident $assign_trait:ident $assign:ident $function:path;)*) => { $(
        impl<T: Into<Array>> ops::$trait<T> for Array {
            type Output = Array;
            #[track_caller]
            fn $method(self, other: T) -> Array { $function(self, other) }
        }

        impl<T: Into<Array>> ops::$trait<T> for &Array {
            type Output = Array;
            #[track_caller]
            fn $method(self, other: T) -> Array { $function(self, other) }
        }

        impl<T: Into<Array>> ops::$assign_trait<T> for Array {
            #[track_caller]
            fn $assign(&mut self, other: T) { *self = $function(&*self, other); }
        }

        number_first!($trait $method $function,
            i8 i16 i32 i64 isize u8 u16 u32 u64 usize half::f16 half::bf16 f32 f64 bool Complex<f32> Complex<f64>
        );
    )* };
}

macro_rules! number_first {
    ($trait:ident $method:ident $function:path, $($number:ty)*) => { $(
        impl ops::$trait<Array> for $number {
            type Output = Array;
            #[track_caller]
            fn $method(self, other: Array) -> Array { $function(self, other) }
        }

        impl ops::$trait<&Array> for $number {
            type Output = Array;
            #[track_caller]
            fn $method(self, other: &Array) -> Array { $function(self, other) }
        }
    )* };
}

binary! {
    Add add AddAssign add_assign numpy::add;
    Sub sub SubAssign sub_assign numpy::subtract;
    Mul mul MulAssign mul_assign numpy::multiply;
    Div div DivAssign div_assign numpy::divide;
    Rem rem RemAssign rem_assign numpy::remainder;
    BitAnd bitand BitAndAssign bitand_assign numpy::bitwise_and;
    BitOr bitor BitOrAssign bitor_assign numpy::bitwise_or;
    BitXor bitxor BitXorAssign bitxor_assign numpy::bitwise_xor;
    Shl shl ShlAssign shl_assign numpy::left_shift;
    Shr shr ShrAssign shr_assign numpy::right_shift;
}

macro_rules! unary {
    ($($trait:ident $method:ident $function:path;)*) => { $(
        impl ops::$trait for Array {
            type Output = Array;
            #[track_caller]
            fn $method(self) -> Array { $function(&self) }
        }

        impl ops::$trait for &Array {
            type Output = Array;
            #[track_caller]
            fn $method(self) -> Array { $function(self) }
        }
    )* };
}

unary! {
    Neg neg numpy::negative;
    Not not numpy::bitwise_not;
}
