//! What is accumulated, and how two of them become one.

use half::{bf16, f16};
use num_complex::Complex;

use crate::runtime::simd::Arithmetic;

/// An element in memory, and the type it is accumulated in.
pub(super) trait Stored: bytemuck::Pod + Send + Sync {
    type Acc: Copy + Default + Send + Sync + bytemuck::Pod;
    fn load(self) -> Self::Acc;
    fn store(acc: Self::Acc) -> Self;
}

macro_rules! stored {
    ($($t:ty)*) => { $(impl Stored for $t {
        type Acc = $t;
        #[inline(always)]
        fn load(self) -> $t {
            self
        }
        #[inline(always)]
        fn store(acc: $t) -> $t {
            acc
        }
    })* };
}
stored!(f32 f64 Complex<f32> Complex<f64> i8 i16 i32 i64 u8 u16 u32 u64);

macro_rules! stored_half {
    ($($t:ty)*) => { $(impl Stored for $t {
        type Acc = f32;
        #[inline(always)]
        fn load(self) -> f32 {
            self.to_f32()
        }
        #[inline(always)]
        fn store(acc: f32) -> $t {
            <$t>::from_f32(acc)
        }
    })* };
}
stored_half!(f16 bf16);

/// An associative operation; `a` comes before `b`.
pub(super) trait Combine<T> {
    fn combine(a: T, b: T) -> T;
}

pub(super) struct Sum;
pub(super) struct Prod;
pub(super) struct Max;
pub(super) struct Min;
pub(super) struct LogSumExp;

impl<T: Arithmetic> Combine<T> for Sum {
    #[inline(always)]
    fn combine(a: T, b: T) -> T {
        a.plus(b)
    }
}

impl<T: Arithmetic> Combine<T> for Prod {
    #[inline(always)]
    fn combine(a: T, b: T) -> T {
        a.times(b)
    }
}

macro_rules! float_extrema {
    ($($t:ty)*) => { $(
        impl Combine<$t> for Max {
            #[inline(always)]
            fn combine(a: $t, b: $t) -> $t {
                // Without branches: NaN stays, and 0 is larger than -0.
                let later = if (b > a) | b.is_nan() { b } else { a };
                let both = <$t>::from_bits(a.to_bits() & b.to_bits());
                if a == b { both } else { later }
            }
        }

        impl Combine<$t> for Min {
            #[inline(always)]
            fn combine(a: $t, b: $t) -> $t {
                let later = if (b < a) | b.is_nan() { b } else { a };
                let both = <$t>::from_bits(a.to_bits() | b.to_bits());
                if a == b { both } else { later }
            }
        }
    )* };
}
float_extrema!(f32 f64);

macro_rules! integer_extrema {
    ($($t:ty)*) => { $(
        impl Combine<$t> for Max {
            #[inline(always)]
            fn combine(a: $t, b: $t) -> $t {
                a.max(b)
            }
        }

        impl Combine<$t> for Min {
            #[inline(always)]
            fn combine(a: $t, b: $t) -> $t {
                a.min(b)
            }
        }
    )* };
}
integer_extrema!(i8 i16 i32 i64 u8 u16 u32 u64);

macro_rules! log_sum_exp {
    ($($t:ty)*) => { $(impl Combine<$t> for LogSumExp {
        #[inline(always)]
        fn combine(a: $t, b: $t) -> $t {
            let difference = a - b;
            if difference.is_nan() {
                // Equal infinities have no difference, and are their own result.
                return a + b;
            }
            a.max(b) + (-difference.abs()).exp().ln_1p()
        }
    })* };
}
log_sum_exp!(f32 f64);
