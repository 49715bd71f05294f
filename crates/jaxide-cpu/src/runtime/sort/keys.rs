//! Sort keys: unsigned integers whose order is the order of the elements.
//!
//! Two orders are needed. `sort` compares as JAX does: -0.0 and 0.0 are equal, all NaNs are equal
//! and last. `top_k` compares by IEEE's total order: -NaN < -inf < … < -0.0 < 0.0 < … < inf < NaN.
//! Complex numbers are ordered by real part, then by imaginary part.

use half::{bf16, f16};
use jaxide_core::DType;

use crate::runtime::KernelError;

/// The number of bits in the key of a type: its width, 128 for the largest complex type.
///
/// # Errors
/// For types that have no order here.
pub(super) fn key_bits(dtype: DType) -> Result<u32, KernelError> {
    Ok(match dtype {
        DType::Bool | DType::I2 | DType::I4 | DType::I8 | DType::U2 | DType::U4 | DType::U8 => 8,
        DType::I16 | DType::U16 | DType::F16 | DType::BF16 => 16,
        DType::I32 | DType::U32 | DType::F32 => 32,
        DType::I64 | DType::U64 | DType::F64 | DType::C64 => 64,
        DType::C128 => 128,
        other => {
            return Err(KernelError::new(format!(
                "no order for elements of type {}",
                other.short_name()
            )));
        }
    })
}

/// An unsigned integer that a key is.
pub(super) trait Word: bytemuck::Pod + Ord {
    /// The word of a key that fits.
    fn from_key(key: u64) -> Self;
    fn key(self) -> u64;
    /// Both, the smaller one first, in a way that the compiler makes vectors of.
    fn in_order(self, other: Self) -> (Self, Self);
}

macro_rules! words {
    ($($t:ty)*) => { $(impl Word for $t {
        #[inline(always)]
        fn in_order(self, other: Self) -> (Self, Self) {
            if Self::BITS < 64 {
                return (self.min(other), self.max(other));
            }
            // Of minima of 64 bits it makes no vectors.
            let swap = Self::from(self > other).wrapping_neg();
            let both = (self ^ other) & swap;
            (self ^ both, other ^ both)
        }
        #[inline(always)]
        fn from_key(key: u64) -> Self {
            key as Self
        }
        #[inline(always)]
        fn key(self) -> u64 {
            u64::from(self)
        }
    })* };
}
words!(u8 u16 u32 u64);

/// An element type with keys.
pub(super) trait Keyed: bytemuck::Pod {
    /// The word of its width.
    type Bits: Word;
    /// The sort key that no element exceeds; that of all NaNs.
    const LAST_KEY: u64;
    /// Key in the order of `sort`.
    fn sort_key(self) -> u64;
    /// Key in the total order.
    fn total_key(self) -> u64;
    /// The element with this key in the total order.
    fn from_total_key(key: u64) -> Self;
    /// Whether the element shares its sort key with elements that have other bits.
    fn has_twins(self) -> bool;
}

macro_rules! unsigned_keys {
    ($($t:ty)*) => { $(impl Keyed for $t {
        type Bits = $t;
        const LAST_KEY: u64 = <$t>::MAX as u64;
        #[inline(always)]
        fn sort_key(self) -> u64 {
            u64::from(self)
        }
        #[inline(always)]
        fn total_key(self) -> u64 {
            u64::from(self)
        }
        #[inline(always)]
        fn from_total_key(key: u64) -> Self {
            key as Self
        }
        #[inline(always)]
        fn has_twins(self) -> bool {
            false
        }
    })* };
}
unsigned_keys!(u8 u16 u32 u64);

macro_rules! signed_keys {
    ($($t:ty as $bits:ty;)*) => { $(impl Keyed for $t {
        type Bits = $bits;
        const LAST_KEY: u64 = <$bits>::MAX as u64;
        #[inline(always)]
        fn sort_key(self) -> u64 {
            // Flipping the sign bit moves the negative numbers below the others.
            u64::from(self as $bits ^ (1 << (<$bits>::BITS - 1)))
        }
        #[inline(always)]
        fn total_key(self) -> u64 {
            self.sort_key()
        }
        #[inline(always)]
        fn from_total_key(key: u64) -> Self {
            (key as $bits ^ (1 << (<$bits>::BITS - 1))) as Self
        }
        #[inline(always)]
        fn has_twins(self) -> bool {
            false
        }
    })* };
}
signed_keys! { i8 as u8; i16 as u16; i32 as u32; i64 as u64; }

macro_rules! float_keys {
    ($($t:ty as $bits:ty, infinity $infinity:expr;)*) => { $(impl Keyed for $t {
        type Bits = $bits;
        const LAST_KEY: u64 = <$bits>::MAX as u64;
        #[inline(always)]
        fn sort_key(self) -> u64 {
            const SIGN: $bits = 1 << (<$bits>::BITS - 1);
            let bits = self.to_bits();
            if bits & !SIGN > $infinity {
                return u64::from(<$bits>::MAX);
            }
            let bits = if bits == SIGN { 0 } else { bits };
            u64::from(if bits & SIGN != 0 { !bits } else { bits | SIGN })
        }
        #[inline(always)]
        fn total_key(self) -> u64 {
            const SIGN: $bits = 1 << (<$bits>::BITS - 1);
            let bits = self.to_bits();
            u64::from(if bits & SIGN != 0 { !bits } else { bits | SIGN })
        }
        #[inline(always)]
        fn from_total_key(key: u64) -> Self {
            const SIGN: $bits = 1 << (<$bits>::BITS - 1);
            let key = key as $bits;
            Self::from_bits(if key & SIGN != 0 { key & !SIGN } else { !key })
        }
        #[inline(always)]
        fn has_twins(self) -> bool {
            const SIGN: $bits = 1 << (<$bits>::BITS - 1);
            let bits = self.to_bits();
            bits == SIGN || bits & !SIGN > $infinity
        }
    })* };
}
float_keys! {
    f16 as u16, infinity 0x7c00;
    bf16 as u16, infinity 0x7f80;
    f32 as u32, infinity 0x7f80_0000;
    f64 as u64, infinity 0x7ff0_0000_0000_0000;
}

/// Evaluates an expression with `$t` as the element type of a dtype whose key is one word; complex
/// types are for the other arm.
macro_rules! with_real_type {
    ($dtype:expr, $t:ident => $body:expr, _ => $other:expr) => {
        match $dtype {
            DType::Bool | DType::U2 | DType::U4 | DType::U8 => with_real_type!(@ $t, u8, $body),
            DType::I2 | DType::I4 | DType::I8 => with_real_type!(@ $t, i8, $body),
            DType::U16 => with_real_type!(@ $t, u16, $body),
            DType::I16 => with_real_type!(@ $t, i16, $body),
            DType::U32 => with_real_type!(@ $t, u32, $body),
            DType::I32 => with_real_type!(@ $t, i32, $body),
            DType::U64 => with_real_type!(@ $t, u64, $body),
            DType::I64 => with_real_type!(@ $t, i64, $body),
            DType::F16 => with_real_type!(@ $t, half::f16, $body),
            DType::BF16 => with_real_type!(@ $t, half::bf16, $body),
            DType::F32 => with_real_type!(@ $t, f32, $body),
            DType::F64 => with_real_type!(@ $t, f64, $body),
            _ => $other,
        }
    };
    (@ $t:ident, $type:ty, $body:expr) => {{
        type $t = $type;
        $body
    }};
}
pub(super) use with_real_type;

/// Writes the sort keys of a line, one column of `line.len()` words after the other: two columns
/// for C128, one for every other type.
pub(super) fn write_keys(dtype: DType, line: &[u8], keys: &mut [u64]) {
    fn write<T: Keyed>(line: &[u8], keys: &mut [u64]) {
        for (key, &x) in keys.iter_mut().zip(bytemuck::cast_slice::<u8, T>(line)) {
            *key = x.sort_key();
        }
    }
    with_real_type!(dtype, T => write::<T>(line, keys), _ => {
        if dtype == DType::C64 {
            for (key, &[re, im]) in keys.iter_mut().zip(bytemuck::cast_slice::<u8, [f32; 2]>(line)) {
                *key = re.sort_key() << 32 | im.sort_key();
            }
        } else {
            let (re, im) = keys.split_at_mut(keys.len() / 2);
            for ((re, im), x) in re.iter_mut().zip(im).zip(bytemuck::cast_slice::<u8, [f64; 2]>(line)) {
                (*re, *im) = (x[0].sort_key(), x[1].sort_key());
            }
        }
    });
}
