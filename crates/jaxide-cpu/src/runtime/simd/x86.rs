//! Registers of x86: floats, and integers whose products wrap around.

use super::{BrainPair, Pair, Simd};
use crate::runtime::matmul::Truth;
use num_complex::Complex;
use std::arch::x86_64::*;

macro_rules! x86_vector {
    (
        $name:ident, $elem:ty, $lanes:literal, $register:ty, $mask:expr, $splat:expr, $load:ident,
        $store:ident, $masked_load:ident, $masked_store:ident, $fma:ident, $fnma:ident, $add:ident, $sub:ident, $sum:expr
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
                Self(unsafe { $load(from.cast()) })
            }
            #[inline(always)]
            unsafe fn store(self, to: *mut $elem) {
                // SAFETY: as for `load`.
                unsafe { $store(to.cast(), self.0) }
            }
            #[inline(always)]
            unsafe fn load_first(from: *const $elem, count: usize) -> Self {
                // SAFETY: the mask leaves out what lies behind `count`; masked-out lanes are
                // not accessed.
                Self(unsafe { $masked_load(from.cast(), $mask(count)) })
            }
            #[inline(always)]
            unsafe fn store_first(self, to: *mut $elem, count: usize) {
                // SAFETY: as for `load_first`.
                unsafe { $masked_store(to.cast(), $mask(count), self.0) }
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
            unsafe fn sum(self) -> $elem {
                // SAFETY: the caller has the instruction set.
                unsafe { $sum(self.0) }
            }
        }
    };
}

x86_vector!(
    F32x16,
    f32,
    16,
    __m512,
    |count: usize| (1u32 << count).wrapping_sub(1) as u16,
    _mm512_set1_ps,
    _mm512_loadu_ps,
    _mm512_storeu_ps,
    masked_load_ps,
    _mm512_mask_storeu_ps,
    _mm512_fmadd_ps,
    _mm512_fnmadd_ps,
    _mm512_add_ps,
    _mm512_sub_ps,
    _mm512_reduce_add_ps
);
x86_vector!(
    F64x8,
    f64,
    8,
    __m512d,
    |count: usize| (1u32 << count).wrapping_sub(1) as u8,
    _mm512_set1_pd,
    _mm512_loadu_pd,
    _mm512_storeu_pd,
    masked_load_pd,
    _mm512_mask_storeu_pd,
    _mm512_fmadd_pd,
    _mm512_fnmadd_pd,
    _mm512_add_pd,
    _mm512_sub_pd,
    _mm512_reduce_add_pd
);
x86_vector!(
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
    sum_ps
);
x86_vector!(
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
    sum_pd
);

x86_vector!(
    I32x16,
    i32,
    16,
    __m512i,
    |count: usize| (1u32 << count).wrapping_sub(1) as u16,
    _mm512_set1_epi32,
    _mm512_loadu_epi32,
    _mm512_storeu_epi32,
    masked_load_epi32,
    _mm512_mask_storeu_epi32,
    mul_add_epi32,
    neg_mul_add_epi32,
    _mm512_add_epi32,
    _mm512_sub_epi32,
    _mm512_reduce_add_epi32
);
x86_vector!(
    I64x8,
    i64,
    8,
    __m512i,
    |count: usize| (1u32 << count).wrapping_sub(1) as u8,
    _mm512_set1_epi64,
    _mm512_loadu_epi64,
    _mm512_storeu_epi64,
    masked_load_epi64,
    _mm512_mask_storeu_epi64,
    mul_add_epi64,
    neg_mul_add_epi64,
    _mm512_add_epi64,
    _mm512_sub_epi64,
    _mm512_reduce_add_epi64
);
x86_vector!(
    I16x32,
    i16,
    32,
    __m512i,
    |count: usize| (1u64 << count).wrapping_sub(1) as u32,
    _mm512_set1_epi16,
    _mm512_loadu_epi16,
    _mm512_storeu_epi16,
    masked_load_epi16,
    _mm512_mask_storeu_epi16,
    mul_add_epi16,
    neg_mul_add_epi16,
    _mm512_add_epi16,
    _mm512_sub_epi16,
    sum_epi16
);
x86_vector!(
    Pairs16,
    Pair,
    16,
    __m512i,
    |count: usize| (1u32 << count).wrapping_sub(1) as u16,
    |x: Pair| _mm512_set1_epi32(x.0),
    _mm512_loadu_epi32,
    _mm512_storeu_epi32,
    masked_load_epi32,
    _mm512_mask_storeu_epi32,
    add_pairs,
    subtract_pairs,
    _mm512_add_epi32,
    _mm512_sub_epi32,
    |x| Pair(_mm512_reduce_add_epi32(x))
);
x86_vector!(
    WidePairs16,
    Pair,
    16,
    __m512i,
    |count: usize| (1u32 << count).wrapping_sub(1) as u16,
    |x: Pair| _mm512_set1_epi32(x.0),
    _mm512_loadu_epi32,
    _mm512_storeu_epi32,
    masked_load_epi32,
    _mm512_mask_storeu_epi32,
    accumulate_pairs,
    subtract_pairs,
    _mm512_add_epi32,
    _mm512_sub_epi32,
    |x| Pair(_mm512_reduce_add_epi32(x))
);
x86_vector!(
    BrainPairs16,
    BrainPair,
    16,
    __m512,
    |count: usize| (1u32 << count).wrapping_sub(1) as u16,
    |x: BrainPair| _mm512_set1_ps(f32::from_bits(x.0)),
    _mm512_loadu_ps,
    _mm512_storeu_ps,
    masked_load_ps,
    _mm512_mask_storeu_ps,
    accumulate_brain_pairs,
    subtract_brain_pairs,
    _mm512_add_ps,
    _mm512_sub_ps,
    |x| BrainPair(_mm512_reduce_add_ps(x).to_bits())
);
x86_vector!(
    C64x8,
    Complex<f32>,
    8,
    __m512,
    |count: usize| (1u32 << (2 * count)).wrapping_sub(1) as u16,
    |z| _mm512_castsi512_ps(_mm512_set1_epi64(bytemuck::cast::<Complex<f32>, i64>(z))),
    _mm512_loadu_ps,
    _mm512_storeu_ps,
    masked_load_ps,
    _mm512_mask_storeu_ps,
    mul_add_c64_512,
    neg_mul_add_c64_512,
    _mm512_add_ps,
    _mm512_sub_ps,
    sum_c64_512
);
x86_vector!(
    C128x4,
    Complex<f64>,
    4,
    __m512d,
    |count: usize| (1u32 << (2 * count)).wrapping_sub(1) as u8,
    |z: Complex<f64>| _mm512_set4_pd(z.im, z.re, z.im, z.re),
    _mm512_loadu_pd,
    _mm512_storeu_pd,
    masked_load_pd,
    _mm512_mask_storeu_pd,
    mul_add_c128_512,
    neg_mul_add_c128_512,
    _mm512_add_pd,
    _mm512_sub_pd,
    sum_c128_512
);
x86_vector!(
    C64x4,
    Complex<f32>,
    4,
    __m256,
    |count: usize| mask_epi32(2 * count),
    |z| _mm256_castsi256_ps(_mm256_set1_epi64x(bytemuck::cast::<Complex<f32>, i64>(z))),
    _mm256_loadu_ps,
    _mm256_storeu_ps,
    _mm256_maskload_ps,
    _mm256_maskstore_ps,
    mul_add_c64_256,
    neg_mul_add_c64_256,
    _mm256_add_ps,
    _mm256_sub_ps,
    sum_c64_256
);
x86_vector!(
    C128x2,
    Complex<f64>,
    2,
    __m256d,
    |count: usize| mask_epi64(2 * count),
    |z: Complex<f64>| _mm256_setr_pd(z.re, z.im, z.re, z.im),
    _mm256_loadu_pd,
    _mm256_storeu_pd,
    _mm256_maskload_pd,
    _mm256_maskstore_pd,
    mul_add_c128_256,
    neg_mul_add_c128_256,
    _mm256_add_pd,
    _mm256_sub_pd,
    sum_c128_256
);
x86_vector!(
    I32x8,
    i32,
    8,
    __m256i,
    mask_epi32,
    _mm256_set1_epi32,
    load_si256,
    store_si256,
    _mm256_maskload_epi32,
    _mm256_maskstore_epi32,
    mul_add_epi32_256,
    neg_mul_add_epi32_256,
    _mm256_add_epi32,
    _mm256_sub_epi32,
    sum_epi32
);
x86_vector!(
    Pairs8,
    Pair,
    8,
    __m256i,
    mask_epi32,
    |x: Pair| _mm256_set1_epi32(x.0),
    load_si256,
    store_si256,
    _mm256_maskload_epi32,
    _mm256_maskstore_epi32,
    add_pairs_256,
    subtract_pairs_256,
    _mm256_add_epi32,
    _mm256_sub_epi32,
    |x| Pair(sum_epi32(x))
);
x86_vector!(
    I64x4,
    i64,
    4,
    __m256i,
    mask_epi64,
    _mm256_set1_epi64x,
    load_si256,
    store_si256,
    _mm256_maskload_epi64,
    _mm256_maskstore_epi64,
    mul_add_epi64_256,
    neg_mul_add_epi64_256,
    _mm256_add_epi64,
    _mm256_sub_epi64,
    sum_epi64
);

x86_vector!(
    Truth64,
    Truth,
    64,
    __m512i,
    |count: usize| (1u128 << count).wrapping_sub(1) as u64,
    |x: Truth| _mm512_set1_epi8(x.0 as i8),
    _mm512_loadu_epi8,
    _mm512_storeu_epi8,
    masked_load_epi8,
    _mm512_mask_storeu_epi8,
    or_of_and,
    without_and,
    _mm512_or_si512,
    without,
    any_bits
);

macro_rules! masked_loads {
    ($($name:ident, $elem:ty, $mask:ty, $register:ty, $load:ident;)*) => { $(
        #[inline]
        #[target_feature(enable = "avx512f,avx512bw")]
        unsafe fn $name(from: *const $elem, mask: $mask) -> $register {
            // SAFETY: the caller's pointer is valid where the mask is set.
            unsafe { $load(mask, from) }
        }
    )* };
}
masked_loads! {
    masked_load_ps, f32, u16, __m512, _mm512_maskz_loadu_ps;
    masked_load_pd, f64, u8, __m512d, _mm512_maskz_loadu_pd;
    masked_load_epi32, i32, u16, __m512i, _mm512_maskz_loadu_epi32;
    masked_load_epi64, i64, u8, __m512i, _mm512_maskz_loadu_epi64;
    masked_load_epi8, i8, u64, __m512i, _mm512_maskz_loadu_epi8;
    masked_load_epi16, i16, u32, __m512i, _mm512_maskz_loadu_epi16;
}

/// `a b + c` and `c - a b` of integers, of a product, a sum and a difference.
macro_rules! integer_products {
    ($($plus:ident, $minus:ident, $features:literal, $register:ty, $product:ident, $add:ident, $sub:ident;)*) => { $(
        #[inline]
        #[target_feature(enable = $features)]
        fn $plus(a: $register, b: $register, c: $register) -> $register {
            $add(c, $product(a, b))
        }
        #[inline]
        #[target_feature(enable = $features)]
        fn $minus(a: $register, b: $register, c: $register) -> $register {
            $sub(c, $product(a, b))
        }
    )* };
}
integer_products! {
    mul_add_epi32, neg_mul_add_epi32, "avx512f", __m512i, _mm512_mullo_epi32, _mm512_add_epi32, _mm512_sub_epi32;
    mul_add_epi64, neg_mul_add_epi64, "avx512f,avx512dq", __m512i, _mm512_mullo_epi64, _mm512_add_epi64, _mm512_sub_epi64;
    mul_add_epi16, neg_mul_add_epi16, "avx512f,avx512bw", __m512i, _mm512_mullo_epi16, _mm512_add_epi16, _mm512_sub_epi16;
    add_pairs, subtract_pairs, "avx512f,avx512bw", __m512i, _mm512_madd_epi16, _mm512_add_epi32, _mm512_sub_epi32;
    mul_add_epi32_256, neg_mul_add_epi32_256, "avx2", __m256i, _mm256_mullo_epi32, _mm256_add_epi32, _mm256_sub_epi32;
    mul_add_epi64_256, neg_mul_add_epi64_256, "avx2", __m256i, product_epi64, _mm256_add_epi64, _mm256_sub_epi64;
    add_pairs_256, subtract_pairs_256, "avx2", __m256i, _mm256_madd_epi16, _mm256_add_epi32, _mm256_sub_epi32;
}

/// `a b + c` of truth values, whose bytes have one bit or none.
#[inline]
#[target_feature(enable = "avx512f")]
fn or_of_and(a: __m512i, b: __m512i, c: __m512i) -> __m512i {
    _mm512_or_si512(_mm512_and_si512(a, b), c)
}

#[inline]
#[target_feature(enable = "avx512f")]
fn without_and(a: __m512i, b: __m512i, c: __m512i) -> __m512i {
    _mm512_andnot_si512(_mm512_and_si512(a, b), c)
}

#[inline]
#[target_feature(enable = "avx512f")]
fn without(a: __m512i, b: __m512i) -> __m512i {
    _mm512_andnot_si512(b, a)
}

#[inline]
#[target_feature(enable = "avx512f")]
fn any_bits(x: __m512i) -> Truth {
    let lanes = _mm512_reduce_or_epi64(x).to_ne_bytes();
    Truth(lanes.into_iter().fold(0, |any, byte| any | byte))
}

/// Products of pairs and their sums in one instruction.
#[inline]
#[target_feature(enable = "avx512f,avx512vnni")]
fn accumulate_pairs(a: __m512i, b: __m512i, c: __m512i) -> __m512i {
    _mm512_dpwssd_epi32(c, a, b)
}

/// Products of pairs of `bf16` and their sums in one instruction; both are in registers of other types, whose bits they are.
#[inline]
#[target_feature(enable = "avx512f,avx512bf16")]
fn accumulate_brain_pairs(a: __m512, b: __m512, c: __m512) -> __m512 {
    // SAFETY: types of the same size of which all bits are valid.
    let (a, b) = unsafe {
        (
            std::mem::transmute::<__m512, __m512bh>(a),
            std::mem::transmute::<__m512, __m512bh>(b),
        )
    };
    _mm512_dpbf16_ps(c, a, b)
}

#[inline]
#[target_feature(enable = "avx512f,avx512bf16")]
fn subtract_brain_pairs(a: __m512, b: __m512, c: __m512) -> __m512 {
    let zero = _mm512_setzero_ps();
    _mm512_sub_ps(c, accumulate_brain_pairs(a, b, zero))
}

/// The low halves of products: AVX2 multiplies no 64-bit integers.
#[inline]
#[target_feature(enable = "avx2")]
fn product_epi64(a: __m256i, b: __m256i) -> __m256i {
    let crosswise = _mm256_add_epi64(
        _mm256_mul_epu32(_mm256_srli_epi64::<32>(a), b),
        _mm256_mul_epu32(a, _mm256_srli_epi64::<32>(b)),
    );
    _mm256_add_epi64(_mm256_mul_epu32(a, b), _mm256_slli_epi64::<32>(crosswise))
}

#[inline]
#[target_feature(enable = "avx2")]
unsafe fn load_si256(from: *const __m256i) -> __m256i {
    // SAFETY: the caller's pointer is valid for a register.
    unsafe { _mm256_loadu_si256(from) }
}

#[inline]
#[target_feature(enable = "avx2")]
unsafe fn store_si256(to: *mut __m256i, x: __m256i) {
    // SAFETY: the caller's pointer is valid for a register.
    unsafe { _mm256_storeu_si256(to, x) }
}

/// Defines `a b + c` and `c - a b` of complex numbers whose parts lie beside each other. Each part of the sum takes the real part of `a` first. What is done
/// to `a` alone is done once where it is the same for many.
macro_rules! complex_products {
    (
        $features:literal, $register:ty, $plus:ident, $minus:ident,
        $real:expr, $imaginary:expr, $swapped:expr, $turned:expr, $fma:ident, $fnma:ident
    ) => {
        #[inline]
        #[target_feature(enable = $features)]
        fn $plus(a: $register, b: $register, c: $register) -> $register {
            $fma($turned($imaginary(a)), $swapped(b), $fma($real(a), b, c))
        }

        #[inline]
        #[target_feature(enable = $features)]
        fn $minus(a: $register, b: $register, c: $register) -> $register {
            $fnma($turned($imaginary(a)), $swapped(b), $fnma($real(a), b, c))
        }
    };
}
complex_products!(
    "avx512f,avx512dq",
    __m512,
    mul_add_c64_512,
    neg_mul_add_c64_512,
    _mm512_moveldup_ps,
    _mm512_movehdup_ps,
    _mm512_permute_ps::<0xb1>,
    |x| _mm512_xor_ps(x, _mm512_castsi512_ps(_mm512_set1_epi64(SIGN_BELOW))),
    _mm512_fmadd_ps,
    _mm512_fnmadd_ps
);
complex_products!(
    "avx512f,avx512dq",
    __m512d,
    mul_add_c128_512,
    neg_mul_add_c128_512,
    _mm512_movedup_pd,
    _mm512_permute_pd::<0xff>,
    _mm512_permute_pd::<0x55>,
    |x| _mm512_xor_pd(x, _mm512_set4_pd(0.0, -0.0, 0.0, -0.0)),
    _mm512_fmadd_pd,
    _mm512_fnmadd_pd
);
complex_products!(
    "avx2,fma",
    __m256,
    mul_add_c64_256,
    neg_mul_add_c64_256,
    _mm256_moveldup_ps,
    _mm256_movehdup_ps,
    _mm256_permute_ps::<0xb1>,
    |x| _mm256_xor_ps(x, _mm256_castsi256_ps(_mm256_set1_epi64x(SIGN_BELOW))),
    _mm256_fmadd_ps,
    _mm256_fnmadd_ps
);
complex_products!(
    "avx2,fma",
    __m256d,
    mul_add_c128_256,
    neg_mul_add_c128_256,
    _mm256_movedup_pd,
    _mm256_permute_pd::<0xf>,
    _mm256_permute_pd::<0x5>,
    |x| _mm256_xor_pd(x, _mm256_setr_pd(-0.0, 0.0, -0.0, 0.0)),
    _mm256_fmadd_pd,
    _mm256_fnmadd_pd
);

/// The sign of the first of two floats.
const SIGN_BELOW: i64 = 1 << 31;

#[inline]
#[target_feature(enable = "avx2")]
fn sum_c64_256(x: __m256) -> Complex<f32> {
    let x = _mm_add_ps(_mm256_castps256_ps128(x), _mm256_extractf128_ps::<1>(x));
    let x = _mm_add_ps(x, _mm_movehl_ps(x, x));
    Complex::new(_mm_cvtss_f32(x), _mm_cvtss_f32(_mm_shuffle_ps::<1>(x, x)))
}

#[inline]
#[target_feature(enable = "avx2")]
fn sum_c128_256(x: __m256d) -> Complex<f64> {
    let x = _mm_add_pd(_mm256_castpd256_pd128(x), _mm256_extractf128_pd::<1>(x));
    Complex::new(_mm_cvtsd_f64(x), _mm_cvtsd_f64(_mm_unpackhi_pd(x, x)))
}

#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx2")]
fn sum_c64_512(x: __m512) -> Complex<f32> {
    sum_c64_256(_mm256_add_ps(
        _mm512_castps512_ps256(x),
        _mm512_extractf32x8_ps::<1>(x),
    ))
}

#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx2")]
fn sum_c128_512(x: __m512d) -> Complex<f64> {
    sum_c128_256(_mm256_add_pd(
        _mm512_castpd512_pd256(x),
        _mm512_extractf64x4_pd::<1>(x),
    ))
}

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

#[inline]
#[target_feature(enable = "avx2")]
fn sum_epi32(x: __m256i) -> i32 {
    let x = _mm_add_epi32(_mm256_castsi256_si128(x), _mm256_extracti128_si256::<1>(x));
    let x = _mm_add_epi32(x, _mm_shuffle_epi32::<0b01_00_11_10>(x));
    _mm_cvtsi128_si32(_mm_add_epi32(x, _mm_shuffle_epi32::<0b10_11_00_01>(x)))
}

#[inline]
#[target_feature(enable = "avx2")]
fn sum_epi64(x: __m256i) -> i64 {
    let x = _mm_add_epi64(_mm256_castsi256_si128(x), _mm256_extracti128_si256::<1>(x));
    _mm_cvtsi128_si64(_mm_add_epi64(x, _mm_unpackhi_epi64(x, x)))
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn sum_epi16(x: __m512i) -> i16 {
    // Sums of neighbours, in 32 bits; what is above the lower 16 goes.
    _mm512_reduce_add_epi32(_mm512_madd_epi16(x, _mm512_set1_epi16(1))) as i16
}
