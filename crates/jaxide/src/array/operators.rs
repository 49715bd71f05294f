//! Arithmetic operators on arrays, references to arrays and numbers.

use std::ops;

use super::Array;
use crate::numpy;

/// An operator and its assignment. The other operand is anything that becomes an array, so that the type of the result
/// is known before that of a literal; in front of an array, literals are `f64` and `i32`.
macro_rules! binary {
    ($($trait:ident $method:ident $assign_trait:ident $assign:ident $function:path;)*) => { $(
        impl<T: Into<Array>> ops::$trait<T> for Array {
            type Output = Array;
            #[track_caller]
            fn $method(self, other: T) -> Array { $function(&self, &other.into()) }
        }

        impl<T: Into<Array>> ops::$trait<T> for &Array {
            type Output = Array;
            #[track_caller]
            fn $method(self, other: T) -> Array { $function(self, &other.into()) }
        }

        impl<T: Into<Array>> ops::$assign_trait<T> for Array {
            #[track_caller]
            fn $assign(&mut self, other: T) { *self = $function(self, &other.into()); }
        }

        number_first!($trait $method $function, i32 f64);
    )* };
}

macro_rules! number_first {
    ($trait:ident $method:ident $function:path, $($number:ty)*) => { $(
        impl ops::$trait<Array> for $number {
            type Output = Array;
            #[track_caller]
            fn $method(self, other: Array) -> Array { $function(&self.into(), &other) }
        }

        impl ops::$trait<&Array> for $number {
            type Output = Array;
            #[track_caller]
            fn $method(self, other: &Array) -> Array { $function(&self.into(), other) }
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
