//! What is accumulated, and how two of them become one.

use half::{bf16, f16};
use num_complex::Complex;

use crate::runtime::matmul::Convert;
use crate::runtime::simd::{Arithmetic, nearest_bf16, nearest_f16, widen_f16};

/// An element in memory, and the type it is accumulated in.
pub(super) trait Stored: bytemuck::Pod + Send + Sync + Convert<Self::Acc> {
    type Acc: Stored<Acc = Self::Acc> + Default + Convert<Self>;
    /// Whether that is another type.
    const WIDENED: bool;
    fn load(self) -> Self::Acc;
    fn store(acc: Self::Acc) -> Self;
}

macro_rules! stored {
    ($($t:ty)*) => { $(impl Stored for $t {
        type Acc = $t;
        const WIDENED: bool = false;
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
    ($($t:ty: $widen:expr, $nearest:expr;)*) => { $(impl Stored for $t {
        type Acc = f32;
        const WIDENED: bool = true;
        #[inline(always)]
        fn load(self) -> f32 {
            $widen(self)
        }
        #[inline(always)]
        fn store(acc: f32) -> $t {
            $nearest(acc)
        }
    })* };
}
stored_half! { f16: widen_f16, nearest_f16; bf16: bf16::to_f32, nearest_bf16; }

/// An associative operation; `a` comes before `b`.
pub(crate) trait Combine<T> {
    fn combine(a: T, b: T) -> T;
}

pub(super) struct Sum;
pub(super) struct Prod;
pub(crate) struct Max;
pub(crate) struct Min;
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

/// Of sixteen bits, compared as integers.
macro_rules! half_extrema {
    ($($t:ty)*) => { $(
        impl Combine<$t> for Max {
            #[inline(always)]
            fn combine(a: $t, b: $t) -> $t {
                let later = (half_key(b.to_bits()) > half_key(a.to_bits())) & !a.is_nan();
                if later | b.is_nan() { b } else { a }
            }
        }

        impl Combine<$t> for Min {
            #[inline(always)]
            fn combine(a: $t, b: $t) -> $t {
                let later = (half_key(b.to_bits()) < half_key(a.to_bits())) & !a.is_nan();
                if later | b.is_nan() { b } else { a }
            }
        }
    )* };
}
half_extrema!(f16 bf16);

/// An integer in the order of the numbers, of which -0 is below 0.
#[inline(always)]
fn half_key(bits: u16) -> i16 {
    let signed = bits as i16;
    signed ^ ((signed >> 15) & 0x7fff)
}

/// Complex numbers are ordered by their real parts, then by their imaginary ones; where NaN is compared the later stays.
macro_rules! complex_extrema {
    ($($t:ty)*) => { $(
        impl Combine<Complex<$t>> for Max {
            #[inline(always)]
            fn combine(a: Complex<$t>, b: Complex<$t>) -> Complex<$t> {
                if (a.re, a.im) > (b.re, b.im) { a } else { b }
            }
        }

        impl Combine<Complex<$t>> for Min {
            #[inline(always)]
            fn combine(a: Complex<$t>, b: Complex<$t>) -> Complex<$t> {
                if (a.re, a.im) < (b.re, b.im) { a } else { b }
            }
        }
    )* };
}
complex_extrema!(f32 f64);

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

/// The larger of two numbers; of floats NaN if there is one, and 0 rather than -0.
#[inline(always)]
pub(crate) fn max<T>(a: T, b: T) -> T
where
    Max: Combine<T>,
{
    Max::combine(a, b)
}

/// The smaller of two numbers; of floats NaN if there is one, and -0 rather than 0.
#[inline(always)]
pub(crate) fn min<T>(a: T, b: T) -> T
where
    Min: Combine<T>,
{
    Min::combine(a, b)
}
