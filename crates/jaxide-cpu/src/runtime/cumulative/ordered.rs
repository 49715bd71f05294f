//! Floats as integers in the order of the numbers, so that the next of two is known one cycle after the last.

use super::combine::Stored;
use crate::runtime::matmul::{Convert, conversions};
use half::{bf16, f16};

/// A float of which the largest so far is asked for if `LARGEST`, and the smallest otherwise. -0 is below 0, and NaN, whichever it is,
/// is the number that stays.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(super) struct Ordered<T, const LARGEST: bool>(T);

// SAFETY: it is represented as the float.
unsafe impl<T: bytemuck::Zeroable, const LARGEST: bool> bytemuck::Zeroable for Ordered<T, LARGEST> {}
// SAFETY: as above, and all bits are floats.
unsafe impl<T: bytemuck::Pod, const LARGEST: bool> bytemuck::Pod for Ordered<T, LARGEST> {}

macro_rules! ordered {
    ($($t:ty as $key:ty: $largest:literal $nan:expr;)*) => { $(
        impl Ordered<$t, $largest> {
            /// The key of a float, and the bits of the float of a key: the bits behind the sign turn round below zero.
            #[inline(always)]
            fn turned(bits: $key) -> $key {
                bits ^ ((bits >> (<$key>::BITS - 1)) & <$key>::MAX)
            }
        }

        impl Stored for Ordered<$t, $largest> {
            type Acc = $key;
            const WIDENED: bool = true;
            #[inline(always)]
            fn load(self) -> $key {
                let nan = Self::turned($nan.to_bits().cast_signed());
                let key = Self::turned(self.0.to_bits().cast_signed());
                // Keys of numbers are between those of the infinities.
                let infinite = <$t>::INFINITY.to_bits().cast_signed();
                if (key > infinite) | (key < !infinite) { nan } else { key }
            }
            #[inline(always)]
            fn store(key: $key) -> Self {
                Self(<$t>::from_bits(Self::turned(key).cast_unsigned()))
            }
        }

        conversions! {
            Ordered<$t, $largest> => $key: Ordered::<$t, $largest>::load;
            $key => Ordered<$t, $largest>: Ordered::<$t, $largest>::store;
        }
    )* };
}
ordered! {
    f16 as i16: true f16::NAN;
    f16 as i16: false -f16::NAN;
    bf16 as i16: true bf16::NAN;
    bf16 as i16: false -bf16::NAN;
    f32 as i32: true f32::NAN;
    f32 as i32: false -f32::NAN;
    f64 as i64: true f64::NAN;
    f64 as i64: false -f64::NAN;
}
