//! Vectors of numbers for the kernels that want registers of a definite width.
//!
//! A kernel is written once, generic over [`Simd`] and `#[inline(always)]`, and instantiated inside
//! functions with `#[target_feature]`, one for each instruction set. [`Isa::detect`] says which of
//! them may be called.

use std::ops::{Add, Mul, Sub};
use std::sync::OnceLock;

use bytemuck::{Pod, Zeroable};
use num_complex::Complex;

use super::linalg::RealScalar;

/// The instruction sets that kernels are compiled for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Isa {
    /// 512-bit vectors (AVX-512 F, VL, DQ and BW).
    #[cfg(target_arch = "x86_64")]
    Avx512,
    /// 256-bit vectors with fused multiply-add.
    #[cfg(target_arch = "x86_64")]
    Avx2,
    /// What the compiler makes of arrays on the build target.
    Portable,
}

impl Isa {
    /// The widest set that this machine has and the environment variable `JAXIDE_ISA` allows.
    pub(crate) fn detect() -> Self {
        #[cfg(test)]
        if let Some(assumed) = ASSUMED.get() {
            return assumed;
        }
        static DETECTED: OnceLock<Isa> = OnceLock::new();
        *DETECTED.get_or_init(Self::detect_now)
    }

    fn detect_now() -> Self {
        #[cfg(target_arch = "x86_64")]
        {
            let allowed = crate::isa::Isa::allowed();
            if allowed >= crate::isa::Isa::Avx512
                && is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512vl")
                && is_x86_feature_detected!("avx512dq")
                && is_x86_feature_detected!("avx512bw")
                && is_x86_feature_detected!("avx2")
                && is_x86_feature_detected!("fma")
            {
                return Self::Avx512;
            }
            if allowed >= crate::isa::Isa::Avx2
                && is_x86_feature_detected!("avx2")
                && is_x86_feature_detected!("fma")
            {
                return Self::Avx2;
            }
        }
        Self::Portable
    }
}

#[cfg(test)]
thread_local! {
    static ASSUMED: std::cell::Cell<Option<Isa>> = const { std::cell::Cell::new(None) };
}

#[cfg(test)]
impl Isa {
    /// All sets that this machine has.
    pub(crate) fn available() -> Vec<Self> {
        match Self::detect() {
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => vec![Self::Avx512, Self::Avx2, Self::Portable],
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => vec![Self::Avx2, Self::Portable],
            Self::Portable => vec![Self::Portable],
        }
    }

    /// Whether other threads choose kernels of the same set as this one does.
    pub(crate) fn is_everywhere() -> bool {
        Self::detect() == Self::detect_now()
    }

    /// Runs `test` with kernels of this set chosen on this thread.
    pub(crate) fn assumed_in(self, test: impl FnOnce()) {
        ASSUMED.set(Some(self));
        test();
        ASSUMED.set(None);
    }
}

/// Products that are added to a number: rounded once where the instruction set has such an instruction, which the compiler
/// does not choose by itself, and twice elsewhere, where a function would be called.
pub(crate) trait Products {
    /// `c + a * b`.
    fn plus<R: RealScalar>(c: R, a: R, b: R) -> R;
    /// `c - a * b`.
    fn minus<R: RealScalar>(c: R, a: R, b: R) -> R;
}

/// Products that are rounded with the sum.
#[cfg(target_arch = "x86_64")]
pub(crate) struct RoundedOnce;

/// Products that are rounded before they are added.
pub(crate) struct RoundedTwice;

#[cfg(target_arch = "x86_64")]
impl Products for RoundedOnce {
    #[inline(always)]
    fn plus<R: RealScalar>(c: R, a: R, b: R) -> R {
        a.times_plus(b, c)
    }
    #[inline(always)]
    fn minus<R: RealScalar>(c: R, a: R, b: R) -> R {
        (-a).times_plus(b, c)
    }
}

impl Products for RoundedTwice {
    #[inline(always)]
    fn plus<R: RealScalar>(c: R, a: R, b: R) -> R {
        c + a * b
    }
    #[inline(always)]
    fn minus<R: RealScalar>(c: R, a: R, b: R) -> R {
        c - a * b
    }
}

/// Defines a function that runs another, `#[inline(always)]` and safe, compiled for the widest
/// instruction set of this machine, so that the compiler turns its loops into vector instructions. A function `with products` has, as its
/// first type, the [`Products`] of that set.
macro_rules! for_each_isa {
    (
        $(#[$doc:meta])*
        $visibility:vis fn $name:ident$(<$($p:ident: $bound:path),+>)?($($argument:ident: $t:ty),* $(,)?) = $function:ident
    ) => {
        $crate::runtime::simd::for_each_isa! {
            @ $(#[$doc])* $visibility fn $name [$($($p: $bound),+)?] ($($argument: $t),*) = $function [] []
        }
    };
    (
        $(#[$doc:meta])*
        $visibility:vis fn $name:ident$(<$($p:ident: $bound:path),+>)?($($argument:ident: $t:ty),* $(,)?) = $function:ident with products
    ) => {
        $crate::runtime::simd::for_each_isa! {
            @ $(#[$doc])* $visibility fn $name [$($($p: $bound),+)?] ($($argument: $t),*) = $function
            [$crate::runtime::simd::RoundedOnce] [$crate::runtime::simd::RoundedTwice]
        }
    };
    (
        @ $(#[$doc:meta])*
        $visibility:vis fn $name:ident [$($p:ident: $bound:path),*] ($($argument:ident: $t:ty),*) = $function:ident
        [$($once:ty)?] [$($twice:ty)?]
    ) => {
        $(#[$doc])*
        $visibility fn $name<$($p: $bound),*>($($argument: $t),*) {
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx512f,avx512vl,avx512dq,avx512bw,avx2,fma")]
            fn avx512<$($p: $bound),*>($($argument: $t),*) {
                $function::<$($once,)? $($p),*>($($argument),*)
            }
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2,fma")]
            fn avx2<$($p: $bound),*>($($argument: $t),*) {
                $function::<$($once,)? $($p),*>($($argument),*)
            }
            match $crate::runtime::simd::Isa::detect() {
                #[cfg(target_arch = "x86_64")]
                // SAFETY: the machine has the instruction set.
                $crate::runtime::simd::Isa::Avx512 => unsafe { avx512::<$($p),*>($($argument),*) },
                #[cfg(target_arch = "x86_64")]
                // SAFETY: the machine has the instruction set.
                $crate::runtime::simd::Isa::Avx2 => unsafe { avx2::<$($p),*>($($argument),*) },
                $crate::runtime::simd::Isa::Portable => $function::<$($twice,)? $($p),*>($($argument),*),
            }
        }
    };
}
pub(crate) use for_each_isa;

/// The nearest `bf16`, of two the even one; without branches, which random digits would mislead.
#[inline(always)]
pub(crate) fn nearest_bf16(x: f32) -> half::bf16 {
    let bits = x.to_bits();
    let quiet = (bits >> 16) | 0x40;
    let nearest = bits.wrapping_add(0x7fff + (bits >> 16 & 1)) >> 16;
    half::bf16::from_bits(if x.is_nan() { quiet } else { nearest } as u16)
}

/// The number as an `f32`; without branches and questions after the machine, so that loops over many are vectors.
#[inline(always)]
pub(crate) fn widen_f16(x: half::f16) -> f32 {
    // The exponents of the smallest normal number, and of infinity, beside those of the same bits as an `f32`.
    const SMALLEST: u32 = 113 << 23;
    const INFINITY: u32 = 224 << 23;
    let bits = u32::from(x.to_bits());
    let (sign, moved) = ((bits & 0x8000) << 16, (bits & 0x7fff) << 13);
    let subnormal = (f32::from_bits(moved + SMALLEST) - f32::from_bits(SMALLEST)).to_bits();
    let normal = moved + (112 << 23);
    let magnitude = match bits & 0x7c00 {
        0 => subnormal,
        0x7c00 => moved + INFINITY,
        _ => normal,
    };
    f32::from_bits(sign | magnitude)
}

/// The nearest `f16`, of two the even one; NaN stays one, and is quiet.
#[inline(always)]
pub(crate) fn nearest_f16(x: f32) -> half::f16 {
    /// The first that is rounded to infinity or beyond, as if exponents went on.
    const LARGE: u32 = 143 << 23;
    const SMALLEST: u32 = 113 << 23;
    /// The unit of a sum with it is the smallest `f16`.
    const HALF: f32 = 0.5;
    let magnitude = x.to_bits() & 0x7fff_ffff;
    let subnormal = (f32::from_bits(magnitude) + HALF)
        .to_bits()
        .wrapping_sub(HALF.to_bits());
    let rounded = magnitude.wrapping_add(0xfff + (magnitude >> 13 & 1));
    let normal = rounded.wrapping_sub(112 << 23) >> 13;
    let large = if x.is_nan() {
        0x7e00 | (magnitude >> 13 & 0x3ff)
    } else {
        0x7c00
    };
    let small = if magnitude < SMALLEST {
        subnormal
    } else {
        normal
    };
    let result = if magnitude >= LARGE { large } else { small };
    half::f16::from_bits((x.to_bits() >> 16 & 0x8000 | result) as u16)
}

/// A vector register's worth of numbers.
///
/// # Safety
/// Every function requires that the machine has the instruction set of the implementing type, and
/// pointers valid for the stated number of elements. No alignment is needed.
pub(crate) trait Simd: Copy {
    type Elem: Arithmetic;
    const LANES: usize;

    unsafe fn splat(x: Self::Elem) -> Self;
    unsafe fn load(from: *const Self::Elem) -> Self;
    unsafe fn store(self, to: *mut Self::Elem);
    /// The first `count` elements, zeros after them; reads no others.
    unsafe fn load_first(from: *const Self::Elem, count: usize) -> Self;
    /// Writes the first `count` elements only.
    unsafe fn store_first(self, to: *mut Self::Elem, count: usize);
    /// `self * b + c`.
    unsafe fn mul_add(self, b: Self, c: Self) -> Self;
    /// `c - self * b`.
    unsafe fn neg_mul_add(self, b: Self, c: Self) -> Self;
    unsafe fn add(self, b: Self) -> Self;
    unsafe fn sub(self, b: Self) -> Self;
    /// The sum of all lanes, by halves.
    unsafe fn sum(self) -> Self::Elem;
}

/// Asks for the line of memory that holds `at`, without waiting for it; a wrong address has no effect.
#[inline(always)]
pub(crate) fn prefetch<T>(at: *const T) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: part of every x86-64, and never faults.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(at.cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = at;
}

#[cfg(target_arch = "x86_64")]
mod x86;

#[cfg(target_arch = "x86_64")]
pub(crate) use x86::{
    BrainPairs16, C64x4, C64x8, C128x2, C128x4, F32x8, F32x16, F64x4, F64x8, I16x32, I32x8, I32x16,
    I64x4, I64x8, Pairs8, Pairs16, Truth64, WidePairs16,
};

/// Numbers that [`Lanes`] can compute with; integers wrap around.
pub trait Arithmetic: Copy {
    /// The sum of nothing.
    const ZERO: Self;
    /// `self + b`.
    fn plus(self, b: Self) -> Self;
    /// `self - b`.
    fn minus(self, b: Self) -> Self;
    /// `self * b`.
    fn times(self, b: Self) -> Self;
}

macro_rules! float_arithmetic {
    ($($t:ty)*) => { $(impl Arithmetic for $t {
        const ZERO: Self = 0.0;
        #[inline(always)] fn plus(self, b: Self) -> Self { Add::add(self, b) }
        #[inline(always)] fn minus(self, b: Self) -> Self { Sub::sub(self, b) }
        #[inline(always)] fn times(self, b: Self) -> Self { Mul::mul(self, b) }
    })* };
}
float_arithmetic!(f32 f64);

macro_rules! integer_arithmetic {
    ($($t:ty)*) => { $(impl Arithmetic for $t {
        const ZERO: Self = 0;
        #[inline(always)] fn plus(self, b: Self) -> Self { self.wrapping_add(b) }
        #[inline(always)] fn minus(self, b: Self) -> Self { self.wrapping_sub(b) }
        #[inline(always)] fn times(self, b: Self) -> Self { self.wrapping_mul(b) }
    })* };
}
integer_arithmetic!(i8 i16 i32 i64 u8 u16 u32 u64);

/// Two neighbouring 16-bit integers of an inner dimension, whose product with another pair is the
/// sum of both products in 32 bits; and such sums.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(transparent)]
pub struct Pair(pub(crate) i32);

impl Pair {
    /// The pair of these numbers, the first of which lies first in memory.
    #[inline(always)]
    pub(crate) fn new(first: i16, second: i16) -> Self {
        Self(i32::from(second) << 16 | i32::from(first as u16))
    }
}

// SAFETY: a transparent wrapper of a plain integer.
unsafe impl Zeroable for Pair {}
// SAFETY: as above.
unsafe impl Pod for Pair {}

impl Arithmetic for Pair {
    const ZERO: Self = Self(0);
    #[inline(always)]
    fn plus(self, b: Self) -> Self {
        Self(self.0.wrapping_add(b.0))
    }
    #[inline(always)]
    fn minus(self, b: Self) -> Self {
        Self(self.0.wrapping_sub(b.0))
    }
    #[inline(always)]
    fn times(self, b: Self) -> Self {
        let first = i32::from(self.0 as i16) * i32::from(b.0 as i16);
        Self((self.0 >> 16).wrapping_mul(b.0 >> 16).wrapping_add(first))
    }
}

/// Two neighbouring `bf16` of an inner dimension, whose product with another pair is the sum of both products in `f32`; and the bits of
/// such sums.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(transparent)]
pub struct BrainPair(pub(crate) u32);

impl BrainPair {
    /// The pair of these numbers, the first of which lies first in memory.
    #[inline(always)]
    pub(crate) fn new(first: half::bf16, second: half::bf16) -> Self {
        Self(u32::from(second.to_bits()) << 16 | u32::from(first.to_bits()))
    }

    fn sum(self) -> f32 {
        f32::from_bits(self.0)
    }
}

// SAFETY: a transparent wrapper of a plain integer.
unsafe impl Zeroable for BrainPair {}
// SAFETY: as above.
unsafe impl Pod for BrainPair {}

impl Arithmetic for BrainPair {
    const ZERO: Self = Self(0);
    #[inline(always)]
    fn plus(self, b: Self) -> Self {
        Self((self.sum() + b.sum()).to_bits())
    }
    #[inline(always)]
    fn minus(self, b: Self) -> Self {
        Self((self.sum() - b.sum()).to_bits())
    }
    #[inline(always)]
    fn times(self, b: Self) -> Self {
        let first = f32::from_bits(self.0 << 16) * f32::from_bits(b.0 << 16);
        let second = f32::from_bits(self.0 & 0xffff_0000) * f32::from_bits(b.0 & 0xffff_0000);
        Self((first + second).to_bits())
    }
}

/// Whether there is an instruction for [products of such pairs](BrainPair), which takes subnormal numbers for zero.
pub(crate) fn multiplies_brain_pairs() -> bool {
    #[cfg(target_arch = "x86_64")]
    return Isa::detect() == Isa::Avx512 && is_x86_feature_detected!("avx512bf16");
    #[cfg(not(target_arch = "x86_64"))]
    false
}

/// Complex products by the plain formula, as compiled arithmetic computes them.
impl<T: Arithmetic> Arithmetic for Complex<T> {
    const ZERO: Self = Complex {
        re: T::ZERO,
        im: T::ZERO,
    };
    #[inline(always)]
    fn plus(self, b: Self) -> Self {
        Complex {
            re: self.re.plus(b.re),
            im: self.im.plus(b.im),
        }
    }
    #[inline(always)]
    fn minus(self, b: Self) -> Self {
        Complex {
            re: self.re.minus(b.re),
            im: self.im.minus(b.im),
        }
    }
    #[inline(always)]
    fn times(self, b: Self) -> Self {
        let re = self.re.times(b.re).minus(self.im.times(b.im));
        Complex {
            re,
            im: self.re.times(b.im).plus(self.im.times(b.re)),
        }
    }
}

/// An array as a vector, for every machine and element type; the compiler vectorises the loops.
#[derive(Clone, Copy)]
pub(crate) struct Lanes<T, const N: usize>([T; N]);

impl<T: Arithmetic, const N: usize> Simd for Lanes<T, N> {
    type Elem = T;
    const LANES: usize = N;

    #[inline(always)]
    unsafe fn splat(x: T) -> Self {
        Self([x; N])
    }
    #[inline(always)]
    unsafe fn load(from: *const T) -> Self {
        // SAFETY: the caller has a pointer to `N` elements.
        Self(unsafe { from.cast::<[T; N]>().read_unaligned() })
    }
    #[inline(always)]
    unsafe fn store(self, to: *mut T) {
        // SAFETY: the caller has a pointer to `N` elements.
        unsafe { to.cast::<[T; N]>().write_unaligned(self.0) }
    }
    #[inline(always)]
    unsafe fn load_first(from: *const T, count: usize) -> Self {
        let mut lanes = [T::ZERO; N];
        for (i, lane) in lanes.iter_mut().enumerate().take(count) {
            // SAFETY: the caller has a pointer to `count` elements.
            *lane = unsafe { from.add(i).read() };
        }
        Self(lanes)
    }
    #[inline(always)]
    unsafe fn store_first(self, to: *mut T, count: usize) {
        for (i, &lane) in self.0.iter().enumerate().take(count) {
            // SAFETY: the caller has a pointer to `count` elements.
            unsafe { to.add(i).write(lane) };
        }
    }
    #[inline(always)]
    unsafe fn mul_add(self, b: Self, c: Self) -> Self {
        let mut sums = c;
        for i in 0..N {
            sums.0[i] = self.0[i].times(b.0[i]).plus(sums.0[i]);
        }
        sums
    }
    #[inline(always)]
    unsafe fn neg_mul_add(self, b: Self, c: Self) -> Self {
        let mut rest = c;
        for i in 0..N {
            rest.0[i] = rest.0[i].minus(self.0[i].times(b.0[i]));
        }
        rest
    }
    #[inline(always)]
    unsafe fn add(self, b: Self) -> Self {
        let mut sums = self;
        for i in 0..N {
            sums.0[i] = sums.0[i].plus(b.0[i]);
        }
        sums
    }
    #[inline(always)]
    unsafe fn sub(self, b: Self) -> Self {
        let mut rest = self;
        for i in 0..N {
            rest.0[i] = rest.0[i].minus(b.0[i]);
        }
        rest
    }
    #[inline(always)]
    unsafe fn sum(self) -> T {
        let mut lanes = self.0;
        let mut count = N;
        while count > 1 {
            count /= 2;
            for i in 0..count {
                lanes[i] = lanes[i].plus(lanes[i + count]);
            }
        }
        lanes[0]
    }
}

#[cfg(test)]
mod tests {
    use super::{nearest_f16, widen_f16};
    use half::f16;

    #[test]
    fn halves_are_widened_and_rounded_as_by_the_library() {
        let same = |a: u32, b: u32, nan: bool| nan || a == b;
        for bits in 0..=u16::MAX {
            let x = f16::from_bits(bits);
            let wide = widen_f16(x);
            assert!(
                same(wide.to_bits(), x.to_f32().to_bits(), x.is_nan()),
                "{bits:#x}"
            );
            assert_eq!(wide.is_nan(), x.is_nan());
            // The number, those half way to its neighbours, and what is next to them.
            for step in [0u32, 1, 0xfff, 0x1000, 0x1001, 0x1fff] {
                let near = f32::from_bits(wide.to_bits().wrapping_add(step));
                let (own, library) = (nearest_f16(near), f16::from_f32(near));
                assert!(
                    own.to_bits() == library.to_bits() || own.is_nan() && library.is_nan(),
                    "{near:e}"
                );
            }
        }
        // Below the smallest number, where all is zero or the smallest.
        for x in [
            0.0,
            1e-45,
            2.9e-8,
            2.980_232_2e-8,
            2.980_233e-8,
            5.9e-8,
            6e-8,
            65_519.99,
            65_520.0,
            3e38,
        ] {
            for x in [x, -x] {
                assert_eq!(nearest_f16(x), f16::from_f32(x), "{x:e}");
                assert_eq!(
                    nearest_f16(x).to_bits() >> 15,
                    u16::from(x.is_sign_negative())
                );
            }
        }
    }
}
