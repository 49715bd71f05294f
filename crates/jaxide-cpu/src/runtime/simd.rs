//! Vectors of numbers for the kernels that want registers of a definite width.
//!
//! A kernel is written once, generic over [`Simd`] and `#[inline(always)]`, and instantiated inside
//! functions with `#[target_feature]`, one for each instruction set. [`Isa::detect`] says which of
//! them may be called.

use std::ops::{Add, Mul, Sub};
use std::sync::OnceLock;

use num_complex::Complex;

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

    /// Runs `test` with kernels of this set chosen on this thread.
    pub(crate) fn assumed_in(self, test: impl FnOnce()) {
        ASSUMED.set(Some(self));
        test();
        ASSUMED.set(None);
    }
}

/// Defines a function that runs another, `#[inline(always)]` and safe, compiled for the widest
/// instruction set of this machine, so that the compiler turns its loops into vector instructions.
macro_rules! for_each_isa {
    (
        $(#[$doc:meta])*
        $visibility:vis fn $name:ident$(<$p:ident: $bound:path>)?($($argument:ident: $t:ty),* $(,)?) = $function:ident
    ) => {
        $(#[$doc])*
        $visibility fn $name$(<$p: $bound>)?($($argument: $t),*) {
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx512f,avx512vl,avx512dq,avx512bw,avx2,fma")]
            fn avx512$(<$p: $bound>)?($($argument: $t),*) {
                $function($($argument),*)
            }
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2,fma")]
            fn avx2$(<$p: $bound>)?($($argument: $t),*) {
                $function($($argument),*)
            }
            match $crate::runtime::simd::Isa::detect() {
                #[cfg(target_arch = "x86_64")]
                // SAFETY: the machine has the instruction set.
                $crate::runtime::simd::Isa::Avx512 => unsafe { avx512($($argument),*) },
                #[cfg(target_arch = "x86_64")]
                // SAFETY: the machine has the instruction set.
                $crate::runtime::simd::Isa::Avx2 => unsafe { avx2($($argument),*) },
                $crate::runtime::simd::Isa::Portable => $function($($argument),*),
            }
        }
    };
}
pub(crate) use for_each_isa;

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
    /// Reads four rows of four elements, `from_row` apart, and writes their transpose, `to_row`
    /// apart.
    #[inline(always)]
    unsafe fn transpose4(
        from: *const Self::Elem,
        from_row: isize,
        to: *mut Self::Elem,
        to_row: isize,
    ) {
        for i in 0..4 {
            for j in 0..4 {
                // SAFETY: the caller has pointers to all sixteen elements on both sides.
                unsafe {
                    to.offset(j * to_row + i)
                        .write(from.offset(i * from_row + j).read())
                };
            }
        }
    }
    /// The sum of all lanes, by halves.
    unsafe fn sum(self) -> Self::Elem;
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::Simd;
    use std::arch::x86_64::*;

    macro_rules! x86_float_vector {
        (
            $name:ident, $elem:ty, $lanes:literal, $register:ty, $mask:expr, $splat:ident, $load:ident,
            $store:ident, $masked_load:expr, $masked_store:expr, $fma:ident, $fnma:ident, $add:ident, $sub:ident, $sum:expr, $transpose:ident
        ) => {
            #[derive(Clone, Copy)]
            pub(crate) struct $name($register);

            // SAFETY contract: see the trait; each body only forwards to intrinsics of the named
            // instruction set.
            impl Simd for $name {
                type Elem = $elem;
                const LANES: usize = $lanes;

                #[inline(always)]
                unsafe fn splat(x: $elem) -> Self {
                    // SAFETY: the caller has the instruction set.
                    Self(unsafe { $splat(x) })
                }
                #[inline(always)]
                unsafe fn load(from: *const $elem) -> Self {
                    // SAFETY: the caller has the instruction set and a pointer to `LANES` elements.
                    Self(unsafe { $load(from) })
                }
                #[inline(always)]
                unsafe fn store(self, to: *mut $elem) {
                    // SAFETY: as for `load`.
                    unsafe { $store(to, self.0) }
                }
                #[inline(always)]
                unsafe fn load_first(from: *const $elem, count: usize) -> Self {
                    // SAFETY: the mask leaves out what lies behind `count`; masked-out lanes are
                    // not accessed.
                    Self(unsafe { $masked_load(from, $mask(count)) })
                }
                #[inline(always)]
                unsafe fn store_first(self, to: *mut $elem, count: usize) {
                    // SAFETY: as for `load_first`.
                    unsafe { $masked_store(to, $mask(count), self.0) }
                }
                #[inline(always)]
                unsafe fn mul_add(self, b: Self, c: Self) -> Self {
                    // SAFETY: the caller has the instruction set.
                    Self(unsafe { $fma(self.0, b.0, c.0) })
                }
                #[inline(always)]
                unsafe fn neg_mul_add(self, b: Self, c: Self) -> Self {
                    // SAFETY: the caller has the instruction set.
                    Self(unsafe { $fnma(self.0, b.0, c.0) })
                }
                #[inline(always)]
                unsafe fn add(self, b: Self) -> Self {
                    // SAFETY: the caller has the instruction set.
                    Self(unsafe { $add(self.0, b.0) })
                }
                #[inline(always)]
                unsafe fn sub(self, b: Self) -> Self {
                    // SAFETY: the caller has the instruction set.
                    Self(unsafe { $sub(self.0, b.0) })
                }
                #[inline(always)]
                unsafe fn transpose4(
                    from: *const $elem,
                    from_row: isize,
                    to: *mut $elem,
                    to_row: isize,
                ) {
                    // SAFETY: the caller has the instruction set and pointers to all sixteen
                    // elements.
                    unsafe { $transpose(from, from_row, to, to_row) }
                }
                #[inline(always)]
                unsafe fn sum(self) -> $elem {
                    // SAFETY: the caller has the instruction set.
                    unsafe { $sum(self.0) }
                }
            }
        };
    }

    x86_float_vector!(
        F32x16,
        f32,
        16,
        __m512,
        |count: usize| (1u32 << count).wrapping_sub(1) as u16,
        _mm512_set1_ps,
        _mm512_loadu_ps,
        _mm512_storeu_ps,
        |from, mask| _mm512_maskz_loadu_ps(mask, from),
        _mm512_mask_storeu_ps,
        _mm512_fmadd_ps,
        _mm512_fnmadd_ps,
        _mm512_add_ps,
        _mm512_sub_ps,
        _mm512_reduce_add_ps,
        transpose4_ps
    );
    x86_float_vector!(
        F64x8,
        f64,
        8,
        __m512d,
        |count: usize| (1u32 << count).wrapping_sub(1) as u8,
        _mm512_set1_pd,
        _mm512_loadu_pd,
        _mm512_storeu_pd,
        |from, mask| _mm512_maskz_loadu_pd(mask, from),
        _mm512_mask_storeu_pd,
        _mm512_fmadd_pd,
        _mm512_fnmadd_pd,
        _mm512_add_pd,
        _mm512_sub_pd,
        _mm512_reduce_add_pd,
        transpose4_pd
    );
    x86_float_vector!(
        F32x8,
        f32,
        8,
        __m256,
        mask_epi32,
        _mm256_set1_ps,
        _mm256_loadu_ps,
        _mm256_storeu_ps,
        _mm256_maskload_ps,
        _mm256_maskstore_ps,
        _mm256_fmadd_ps,
        _mm256_fnmadd_ps,
        _mm256_add_ps,
        _mm256_sub_ps,
        sum_ps,
        transpose4_ps
    );
    x86_float_vector!(
        F64x4,
        f64,
        4,
        __m256d,
        mask_epi64,
        _mm256_set1_pd,
        _mm256_loadu_pd,
        _mm256_storeu_pd,
        _mm256_maskload_pd,
        _mm256_maskstore_pd,
        _mm256_fmadd_pd,
        _mm256_fnmadd_pd,
        _mm256_add_pd,
        _mm256_sub_pd,
        sum_pd,
        transpose4_pd
    );

    #[inline]
    #[target_feature(enable = "avx2")]
    fn mask_epi32(count: usize) -> __m256i {
        _mm256_cmpgt_epi32(
            _mm256_set1_epi32(count as i32),
            _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7),
        )
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn mask_epi64(count: usize) -> __m256i {
        _mm256_cmpgt_epi64(
            _mm256_set1_epi64x(count as i64),
            _mm256_setr_epi64x(0, 1, 2, 3),
        )
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn transpose4_ps(from: *const f32, from_row: isize, to: *mut f32, to_row: isize) {
        // SAFETY: the caller has pointers to four elements in each of four rows on both sides.
        unsafe {
            let mut row0 = _mm_loadu_ps(from);
            let mut row1 = _mm_loadu_ps(from.offset(from_row));
            let mut row2 = _mm_loadu_ps(from.offset(2 * from_row));
            let mut row3 = _mm_loadu_ps(from.offset(3 * from_row));
            _MM_TRANSPOSE4_PS(&mut row0, &mut row1, &mut row2, &mut row3);
            _mm_storeu_ps(to, row0);
            _mm_storeu_ps(to.offset(to_row), row1);
            _mm_storeu_ps(to.offset(2 * to_row), row2);
            _mm_storeu_ps(to.offset(3 * to_row), row3);
        }
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn transpose4_pd(from: *const f64, from_row: isize, to: *mut f64, to_row: isize) {
        // SAFETY: the caller has pointers to four elements in each of four rows on both sides.
        unsafe {
            let row0 = _mm256_loadu_pd(from);
            let row1 = _mm256_loadu_pd(from.offset(from_row));
            let row2 = _mm256_loadu_pd(from.offset(2 * from_row));
            let row3 = _mm256_loadu_pd(from.offset(3 * from_row));
            let (low01, high01) = (
                _mm256_unpacklo_pd(row0, row1),
                _mm256_unpackhi_pd(row0, row1),
            );
            let (low23, high23) = (
                _mm256_unpacklo_pd(row2, row3),
                _mm256_unpackhi_pd(row2, row3),
            );
            _mm256_storeu_pd(to, _mm256_permute2f128_pd::<0x20>(low01, low23));
            _mm256_storeu_pd(
                to.offset(to_row),
                _mm256_permute2f128_pd::<0x20>(high01, high23),
            );
            _mm256_storeu_pd(
                to.offset(2 * to_row),
                _mm256_permute2f128_pd::<0x31>(low01, low23),
            );
            _mm256_storeu_pd(
                to.offset(3 * to_row),
                _mm256_permute2f128_pd::<0x31>(high01, high23),
            );
        }
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn sum_ps(x: __m256) -> f32 {
        let x = _mm_add_ps(_mm256_castps256_ps128(x), _mm256_extractf128_ps::<1>(x));
        let x = _mm_add_ps(x, _mm_movehl_ps(x, x));
        _mm_cvtss_f32(_mm_add_ss(x, _mm_shuffle_ps::<1>(x, x)))
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn sum_pd(x: __m256d) -> f64 {
        let x = _mm_add_pd(_mm256_castpd256_pd128(x), _mm256_extractf128_pd::<1>(x));
        _mm_cvtsd_f64(_mm_add_sd(x, _mm_unpackhi_pd(x, x)))
    }
}

#[cfg(target_arch = "x86_64")]
pub(crate) use x86::{F32x8, F32x16, F64x4, F64x8};

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
        Self(std::array::from_fn(|i| {
            self.0[i].times(b.0[i]).plus(c.0[i])
        }))
    }
    #[inline(always)]
    unsafe fn neg_mul_add(self, b: Self, c: Self) -> Self {
        Self(std::array::from_fn(|i| {
            c.0[i].minus(self.0[i].times(b.0[i]))
        }))
    }
    #[inline(always)]
    unsafe fn add(self, b: Self) -> Self {
        Self(std::array::from_fn(|i| self.0[i].plus(b.0[i])))
    }
    #[inline(always)]
    unsafe fn sub(self, b: Self) -> Self {
        Self(std::array::from_fn(|i| self.0[i].minus(b.0[i])))
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
