//! What becomes of an element and its update. Indices are random numbers for the processor, and so is which of two numbers is
//! larger: a branch would be foretold wrongly every other time, which takes longer than all else.

use half::{bf16, f16};
#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::__m128h;

use crate::runtime::cumulative::combine as vectors;
use crate::runtime::simd::{nearest_f16, widen_f16};

/// A function of an old element and its update.
pub trait Combining<T>: Send + Sync {
    /// The new element.
    fn combine(&self, old: T, update: T) -> T;

    /// The new elements of a run, in the fastest way for so many.
    ///
    /// # Safety
    /// The machine has AVX and converts numbers of 16 bits (F16C).
    #[inline(always)]
    unsafe fn combine_run<const N: usize>(&self, old: &mut [T; N], updates: &[T; N])
    where
        T: Copy,
    {
        for k in 0..N {
            old[k] = self.combine(old[k], updates[k]);
        }
    }

    /// The same of 1, 2, 4 or 8 elements on a machine that computes with numbers of 16 bits.
    ///
    /// # Safety
    /// As of [`combine_run`](Self::combine_run), and the machine has AVX512-FP16.
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    unsafe fn combine_native<const N: usize>(&self, old: &mut [T; N], updates: &[T; N])
    where
        T: Copy,
    {
        // SAFETY: the caller has the instructions.
        unsafe { self.combine_run(old, updates) }
    }

    /// The same of runs of equal lengths.
    ///
    /// # Safety
    /// As of [`combine_run`](Self::combine_run).
    #[inline(always)]
    unsafe fn combine_all(&self, old: &mut [T], updates: &[T])
    where
        T: Copy,
    {
        let updates = &updates[..old.len()];
        for k in 0..old.len() {
            old[k] = self.combine(old[k], updates[k]);
        }
    }
}

impl<T, F: Fn(T, T) -> T + Send + Sync> Combining<T> for F {
    #[inline(always)]
    fn combine(&self, old: T, update: T) -> T {
        self(old, update)
    }
}

/// The sum of two numbers.
pub(crate) struct Sum;

/// What is left of the old number without the update.
pub(crate) struct Difference;

/// The product of two numbers.
pub(crate) struct Product;

macro_rules! arithmetic {
    ($($name:ident $operator:tt $native:ident;)*) => { $(
        impl Combining<f32> for $name {
            #[inline(always)]
            fn combine(&self, old: f32, update: f32) -> f32 {
                old $operator update
            }
        }

        #[cfg(target_arch = "x86_64")]
        impl native::Operation for $name {
            #[inline(always)]
            unsafe fn of(old: __m128h, update: __m128h) -> __m128h {
                // SAFETY: the caller has the instructions.
                unsafe { native::$native(old, update) }
            }
        }
    )* };
}
arithmetic! { Sum + add; Difference - sub; Product * mul; }

#[cfg(target_arch = "x86_64")]
use native::Operation;
/// Nothing is asked of an operation where no processor has it.
#[cfg(not(target_arch = "x86_64"))]
pub(crate) trait Operation {}
#[cfg(not(target_arch = "x86_64"))]
impl<T> Operation for T {}

/// A function of numbers of 16 bits by way of wider ones.
pub(crate) struct Widened<F>(pub(crate) F);

impl<F: Combining<f32> + Operation> Combining<f16> for Widened<F> {
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    unsafe fn combine_native<const N: usize>(&self, old: &mut [f16; N], updates: &[f16; N]) {
        // SAFETY: the caller has the instructions.
        unsafe { native::combine::<F, N>(old, updates) }
    }

    #[inline(always)]
    fn combine(&self, old: f16, update: f16) -> f16 {
        nearest_f16(self.0.combine(widen_f16(old), widen_f16(update)))
    }

    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    unsafe fn combine_run<const N: usize>(&self, old: &mut [f16; N], updates: &[f16; N]) {
        // SAFETY: the caller has the instructions.
        unsafe {
            if N == 1 {
                let (mut wide, update) = conversions::widen_both(old[0], updates[0]);
                self.0.combine_run(&mut wide, &update);
                old[0] = conversions::nearest_one(wide);
                return;
            }
            let mut wide = conversions::widen(old);
            self.0.combine_run(&mut wide, &conversions::widen(updates));
            conversions::nearest(&wide, old);
        }
    }

    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    unsafe fn combine_all(&self, old: &mut [f16], updates: &[f16]) {
        let (eights, rest) = old.as_chunks_mut::<8>();
        let (by_eights, by_rest) = updates.as_chunks::<8>();
        for (k, eight) in eights.iter_mut().enumerate() {
            // SAFETY: the caller has the instructions.
            unsafe { self.combine_run(eight, &by_eights[k]) };
        }
        for (k, one) in rest.iter_mut().enumerate() {
            // SAFETY: the caller has the instructions.
            unsafe { self.combine_run(std::array::from_mut(one), &[by_rest[k]]) };
        }
    }
}

/// Arithmetic of numbers of 16 bits by the processor, with the bits that rounding the wider result gives.
#[cfg(target_arch = "x86_64")]
pub(crate) mod native {
    use half::f16;
    use std::arch::x86_64::*;
    use std::ptr::{read_unaligned, write_unaligned};

    /// What becomes of old numbers and their updates, of each pair in a lane.
    pub(crate) trait Operation {
        /// The new numbers.
        ///
        /// # Safety
        /// The machine has AVX512-FP16.
        unsafe fn of(old: __m128h, update: __m128h) -> __m128h;
    }

    /// The new numbers of a run of 1, 2, 4 or 8.
    ///
    /// # Safety
    /// The machine has AVX512-FP16.
    #[inline(always)]
    pub(super) unsafe fn combine<O: Operation, const N: usize>(
        old: &mut [f16; N],
        updates: &[f16; N],
    ) {
        // SAFETY: the caller has the instructions.
        unsafe { store(O::of(load(old), load(updates)), old) }
    }

    #[inline]
    #[target_feature(enable = "avx512fp16")]
    fn load<const N: usize>(x: &[f16; N]) -> __m128h {
        const { assert!(matches!(N, 1 | 2 | 4 | 8)) };
        let from = x.as_ptr();
        // SAFETY: what is read are all numbers of the array.
        _mm_castsi128_ph(unsafe {
            match N {
                1 => _mm_cvtsi16_si128(read_unaligned(from.cast())),
                2 => _mm_cvtsi32_si128(read_unaligned(from.cast())),
                4 => _mm_cvtsi64_si128(read_unaligned(from.cast())),
                _ => read_unaligned(from.cast()),
            }
        })
    }

    #[inline]
    #[target_feature(enable = "avx512fp16")]
    fn store<const N: usize>(x: __m128h, to: &mut [f16; N]) {
        const { assert!(matches!(N, 1 | 2 | 4 | 8)) };
        let (x, to) = (_mm_castph_si128(x), to.as_mut_ptr());
        // SAFETY: what is written are all numbers of the array.
        unsafe {
            match N {
                1 => write_unaligned(to.cast(), _mm_cvtsi128_si16(x)),
                2 => write_unaligned(to.cast(), _mm_cvtsi128_si32(x)),
                4 => write_unaligned(to.cast(), _mm_cvtsi128_si64(x)),
                _ => write_unaligned(to.cast(), x),
            }
        }
    }

    macro_rules! operations {
        ($($name:ident $instruction:ident;)*) => { $(
            #[inline]
            #[target_feature(enable = "avx512fp16,avx512vl")]
            pub(super) fn $name(a: __m128h, b: __m128h) -> __m128h {
                $instruction(a, b)
            }
        )* };
    }
    operations! { add _mm_add_ph; sub _mm_sub_ph; mul _mm_mul_ph; }

    macro_rules! extrema {
        ($($name:ident $instruction:ident $both:ident;)*) => { $(
            /// As of wider numbers: both orders differ in the signs of zeros and beside NaN alone.
            #[inline]
            #[target_feature(enable = "avx512fp16,avx512vl,avx512bw")]
            pub(super) fn $name(a: __m128h, b: __m128h) -> __m128h {
                let one = _mm_castph_si128($instruction(a, b));
                let other = _mm_castph_si128($instruction(b, a));
                let unordered = _mm_cmp_ph_mask::<_CMP_UNORD_Q>(a, b);
                let found = $both(one, other);
                _mm_castsi128_ph(_mm_mask_mov_epi16(found, unordered, _mm_set1_epi16(0x7e00)))
            }
        )* };
    }
    extrema! { larger _mm_max_ph _mm_and_si128; smaller _mm_min_ph _mm_or_si128; }
}

/// Conversions by the processor, of 1, 2, 4, or a multiple of 8 numbers. Loops are written out, because closures are not inlined here.
#[cfg(target_arch = "x86_64")]
mod conversions {
    use half::f16;
    use std::arch::x86_64::*;

    /// Both in a wider type: at once, in a register of which nothing else is left, since a number that is inserted among older ones waits for
    /// them.
    #[inline]
    #[target_feature(enable = "avx,f16c")]
    pub(super) fn widen_both(old: f16, update: f16) -> ([f32; 1], [f32; 1]) {
        let both = u32::from(update.to_bits()) << 16 | u32::from(old.to_bits());
        let both = _mm_cvtph_ps(_mm_cvtsi32_si128(both.cast_signed()));
        let (old, update) = (_mm_cvtss_f32(both), _mm_cvtss_f32(_mm_movehdup_ps(both)));
        ([old], [update])
    }

    /// The nearest number, of two the even one.
    #[inline]
    #[target_feature(enable = "avx,f16c")]
    pub(super) fn nearest_one([x]: [f32; 1]) -> f16 {
        let bits = _mm_cvtps_ph::<_MM_FROUND_TO_NEAREST_INT>(_mm_set_ss(x));
        f16::from_bits(_mm_cvtsi128_si32(bits) as u16)
    }

    /// The numbers in a wider type.
    #[expect(
        clippy::needless_range_loop,
        reason = "what iterators are made of is not inlined here"
    )]
    #[inline]
    #[target_feature(enable = "avx,f16c")]
    pub(super) fn widen<const N: usize>(x: &[f16; N]) -> [f32; N] {
        const { assert!(N.is_multiple_of(8) || N <= 4) };
        let mut wide = [0.0; N];
        if N.is_multiple_of(8) {
            for k in (0..N).step_by(8) {
                // SAFETY: both have eight numbers from there on.
                unsafe {
                    let eight = _mm256_cvtph_ps(_mm_loadu_si128(x.as_ptr().add(k).cast()));
                    _mm256_storeu_ps(wide.as_mut_ptr().add(k), eight);
                }
            }
        } else {
            // Put together in registers: what is written in parts is not there yet when it is read as a whole.
            let mut bits = 0;
            for k in 0..N {
                bits |= i64::from(x[k].to_bits()) << (16 * k);
            }
            let four = _mm_cvtph_ps(_mm_cvtsi64_si128(bits));
            let lanes = [
                four,
                _mm_movehdup_ps(four),
                _mm_movehl_ps(four, four),
                _mm_shuffle_ps::<0b11_11_11_11>(four, four),
            ];
            for k in 0..N {
                wide[k] = _mm_cvtss_f32(lanes[k]);
            }
        }
        wide
    }

    /// The nearest numbers, of two the even one.
    #[expect(
        clippy::needless_range_loop,
        clippy::manual_memcpy,
        reason = "what iterators are made of is not inlined here, and a copy would be read back from memory in another size"
    )]
    #[inline]
    #[target_feature(enable = "avx,f16c")]
    pub(super) fn nearest<const N: usize>(x: &[f32; N], to: &mut [f16; N]) {
        const { assert!(N.is_multiple_of(8) || N <= 4) };
        const NEAREST: i32 = _MM_FROUND_TO_NEAREST_INT;
        if N.is_multiple_of(8) {
            for k in (0..N).step_by(8) {
                // SAFETY: both have eight numbers from there on.
                unsafe {
                    let eight = _mm256_loadu_ps(x.as_ptr().add(k));
                    _mm_storeu_si128(
                        to.as_mut_ptr().add(k).cast(),
                        _mm256_cvtps_ph::<NEAREST>(eight),
                    );
                }
            }
        } else {
            let mut four = [0.0; 4];
            for k in 0..N {
                four[k] = x[k];
            }
            let [a, b, c, d] = four;
            let four = _mm_cvtps_ph::<NEAREST>(_mm_setr_ps(a, b, c, d));
            let bits = _mm_cvtsi128_si64(four);
            for k in 0..N {
                to[k] = f16::from_bits((bits >> (16 * k)) as u16);
            }
        }
    }
}

/// Runs of fewer bytes are no vectors.
const VECTOR: usize = 16;

/// The larger one of two numbers: NaN stays, and 0 is larger than -0.
pub(crate) struct Larger;

/// The smaller one.
pub(crate) struct Smaller;

macro_rules! extrema {
    ($($t:ty { $($native:tt)* })*) => { $(
        impl Combining<$t> for Larger {
            $($native)*
            #[inline(always)]
            fn combine(&self, old: $t, update: $t) -> $t {
                vectors::max::<$t>(old, update)
            }
            #[inline(always)]
            unsafe fn combine_run<const N: usize>(&self, old: &mut [$t; N], updates: &[$t; N]) {
                if N == 1 {
                    // SAFETY: the caller has the instructions.
                    old[0] = unsafe { old[0].larger_alone(updates[0]) };
                    return;
                }
                for k in 0..N {
                    old[k] = if size_of::<[$t; N]>() < VECTOR {
                        old[k].larger(updates[k])
                    } else {
                        self.combine(old[k], updates[k])
                    };
                }
            }
        }

        impl Combining<$t> for Smaller {
            $($native)*
            #[inline(always)]
            fn combine(&self, old: $t, update: $t) -> $t {
                vectors::min::<$t>(old, update)
            }
            #[inline(always)]
            unsafe fn combine_run<const N: usize>(&self, old: &mut [$t; N], updates: &[$t; N]) {
                if N == 1 {
                    // SAFETY: the caller has the instructions.
                    old[0] = unsafe { old[0].smaller_alone(updates[0]) };
                    return;
                }
                for k in 0..N {
                    old[k] = if size_of::<[$t; N]>() < VECTOR {
                        old[k].smaller(updates[k])
                    } else {
                        self.combine(old[k], updates[k])
                    };
                }
            }
        }
    )* };
}
extrema! {
    f16 {
        #[cfg(target_arch = "x86_64")]
        #[inline(always)]
        unsafe fn combine_native<const N: usize>(&self, old: &mut [f16; N], updates: &[f16; N]) {
            // SAFETY: the caller has the instructions.
            unsafe { native::combine::<Self, N>(old, updates) }
        }
    }
    bf16 {}
    f32 {}
    f64 {}
}

#[cfg(target_arch = "x86_64")]
impl native::Operation for Larger {
    #[inline(always)]
    unsafe fn of(old: __m128h, update: __m128h) -> __m128h {
        // SAFETY: the caller has the instructions.
        unsafe { native::larger(old, update) }
    }
}

#[cfg(target_arch = "x86_64")]
impl native::Operation for Smaller {
    #[inline(always)]
    unsafe fn of(old: __m128h, update: __m128h) -> __m128h {
        // SAFETY: the caller has the instructions.
        unsafe { native::smaller(old, update) }
    }
}

/// What [`Larger`] and [`Smaller`] are, without branches.
trait Extrema: Copy {
    /// The larger one.
    fn larger(self, other: Self) -> Self;
    /// The smaller one.
    fn smaller(self, other: Self) -> Self;

    /// [`larger`](Self::larger) of numbers that are not among others.
    ///
    /// # Safety
    /// The machine has AVX and converts numbers of 16 bits (F16C).
    #[inline(always)]
    unsafe fn larger_alone(self, other: Self) -> Self {
        self.larger(other)
    }

    /// [`smaller`](Self::smaller) of numbers that are not among others.
    ///
    /// # Safety
    /// As of [`larger_alone`](Self::larger_alone).
    #[inline(always)]
    unsafe fn smaller_alone(self, other: Self) -> Self {
        self.smaller(other)
    }
}

/// Of two numbers that are equal, the processor's instruction gives the second, and of a number and NaN as well. So both orders
/// are of the same bits but for zeros, whose signs are what is left to choose, and NaN, which all bits set are.
#[cfg(target_arch = "x86_64")]
macro_rules! float_extrema {
    ($($t:ty, $set:ident, $get:ident, $max:ident, $min:ident, $unordered:ident, $and:ident, $or:ident;)*) => { $(
        impl Extrema for $t {
            #[inline(always)]
            fn larger(self, other: Self) -> Self {
                use std::arch::x86_64::*;
                // SAFETY: every processor of this architecture has the instructions.
                unsafe {
                    let (a, b) = ($set(self), $set(other));
                    let larger = $and($max(a, b), $max(b, a));
                    $get($or(larger, $unordered(a, b)))
                }
            }
            #[inline(always)]
            fn smaller(self, other: Self) -> Self {
                use std::arch::x86_64::*;
                // SAFETY: every processor of this architecture has the instructions.
                unsafe {
                    let (a, b) = ($set(self), $set(other));
                    let smaller = $or($min(a, b), $min(b, a));
                    $get($or(smaller, $unordered(a, b)))
                }
            }
        }
    )* };
}
#[cfg(target_arch = "x86_64")]
float_extrema! {
    f32, _mm_set_ss, _mm_cvtss_f32, _mm_max_ss, _mm_min_ss, _mm_cmpunord_ss, _mm_and_ps, _mm_or_ps;
    f64, _mm_set_sd, _mm_cvtsd_f64, _mm_max_sd, _mm_min_sd, _mm_cmpunord_sd, _mm_and_pd, _mm_or_pd;
}

#[cfg(not(target_arch = "x86_64"))]
macro_rules! float_extrema {
    ($($t:ty)*) => { $(
        impl Extrema for $t {
            #[inline(always)]
            fn larger(self, other: Self) -> Self {
                vectors::max::<$t>(self, other)
            }
            #[inline(always)]
            fn smaller(self, other: Self) -> Self {
                vectors::min::<$t>(self, other)
            }
        }
    )* };
}
#[cfg(not(target_arch = "x86_64"))]
float_extrema!(f32 f64);

/// Of the upper half of an `f32`.
impl Extrema for bf16 {
    #[inline(always)]
    fn larger(self, other: Self) -> Self {
        upper_half(widen_bf16(self).larger(widen_bf16(other)))
    }
    #[inline(always)]
    fn smaller(self, other: Self) -> Self {
        upper_half(widen_bf16(self).smaller(widen_bf16(other)))
    }
}

/// The number itself; the library's function makes a NaN a quiet one, which takes longer than what is computed with it.
#[inline(always)]
pub(crate) fn widen_bf16(x: bf16) -> f32 {
    f32::from_bits(u32::from(x.to_bits()) << 16)
}

#[inline(always)]
fn upper_half(x: f32) -> bf16 {
    bf16::from_bits((x.to_bits() >> 16) as u16)
}

/// As integers in the order of the numbers, beyond all of which is NaN.
impl Extrema for f16 {
    #[inline(always)]
    fn larger(self, other: Self) -> Self {
        let place = |x: f16| place_of_half(x, i32::from(i16::MAX));
        half_at(place(self).max(place(other)))
    }
    #[inline(always)]
    fn smaller(self, other: Self) -> Self {
        let place = |x: f16| place_of_half(x, i32::from(i16::MIN));
        half_at(place(self).min(place(other)))
    }

    /// As wider numbers, by fewer instructions.
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    unsafe fn larger_alone(self, other: Self) -> Self {
        // SAFETY: the caller has the instructions.
        unsafe {
            let ([a], [b]) = conversions::widen_both(self, other);
            conversions::nearest_one([a.larger(b)])
        }
    }

    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    unsafe fn smaller_alone(self, other: Self) -> Self {
        // SAFETY: as above.
        unsafe {
            let ([a], [b]) = conversions::widen_both(self, other);
            conversions::nearest_one([a.smaller(b)])
        }
    }
}

/// The place of a number among all, of which -0 is below 0; and of NaN.
#[inline(always)]
fn place_of_half(x: f16, nan: i32) -> i32 {
    const INFINITY: i32 = 0x7c00;
    let signed = i32::from(x.to_bits() as i16);
    // All bits, where there is a NaN.
    let is_nan = (INFINITY - (signed & 0x7fff)) >> 31;
    let place = signed ^ ((signed >> 31) & 0x7fff);
    place & !is_nan | nan & is_nan
}

#[inline(always)]
fn half_at(place: i32) -> f16 {
    f16::from_bits((place ^ ((place >> 31) & 0x7fff)) as u16)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All signs, NaNs, neighbours, and what is smallest and largest.
    const BITS: [u16; 17] = [
        0, 1, 0x3ff, 0x400, 0x3c00, 0x3c01, 0x7bff, 0x7c00, 0x7c01, 0x7e00, 0x7f7f, 0x7f80, 0x7f81,
        0x7fc0, 0x7fff, 0x0080, 0x007f,
    ];

    /// By comparisons alone.
    fn expected<T: Copy + PartialOrd>(
        a: T,
        b: T,
        larger: bool,
        is_negative: impl Fn(T) -> bool,
    ) -> Option<T> {
        a.partial_cmp(&b)?;
        let first = if a == b {
            is_negative(b) == larger
        } else {
            (a > b) == larger
        };
        Some(if first { a } else { b })
    }

    macro_rules! compare {
        ($t:ty, $from:expr, $bits:expr) => {
            for a in BITS.iter().flat_map(|&x| [x, x | 0x8000]) {
                for b in BITS.iter().flat_map(|&x| [x, x | 0x8000]) {
                    let (a, b): ($t, $t) = ($from(a), $from(b));
                    let negative = |x: $t| x.is_sign_negative();
                    for (got, larger) in [(a.larger(b), true), (a.smaller(b), false)] {
                        match expected(a, b, larger, negative) {
                            Some(want) => assert_eq!($bits(got), $bits(want), "{a} {b} {larger}"),
                            None => assert!(got.is_nan(), "{a} {b} {larger}"),
                        }
                    }
                }
            }
        };
    }

    #[test]
    fn extrema_are_those_of_comparisons() {
        compare!(f16, f16::from_bits, f16::to_bits);
        compare!(bf16, bf16::from_bits, bf16::to_bits);
        compare!(
            f32,
            |x: u16| f32::from_bits(u32::from(x) << 16),
            f32::to_bits
        );
        compare!(
            f64,
            |x: u16| f64::from(f32::from_bits(u32::from(x) << 16)),
            f64::to_bits
        );
    }

    /// Runs of `N` numbers, combined by the processor's conversions, or by its arithmetic if that is `native`, and by formulas.
    #[cfg(target_arch = "x86_64")]
    fn runs_are_alike<const N: usize>(what: &impl Combining<f16>, native: bool) {
        for a in 0..=u16::MAX {
            for b in BITS {
                let updates: [f16; N] =
                    std::array::from_fn(|k| f16::from_bits(b ^ (k as u16) << 13));
                let old: [f16; N] =
                    std::array::from_fn(|k| f16::from_bits(a.wrapping_add(k as u16)));
                let mut run = old;
                // SAFETY: the machine has the instructions.
                unsafe {
                    if native {
                        what.combine_native(&mut run, &updates);
                    } else {
                        what.combine_run(&mut run, &updates);
                    }
                }
                for k in 0..N {
                    let plain = what.combine(old[k], updates[k]);
                    assert!(
                        run[k].to_bits() == plain.to_bits() || run[k].is_nan() && plain.is_nan(),
                        "{} {}: {} for {plain}",
                        old[k],
                        updates[k],
                        run[k],
                    );
                }
            }
        }
    }

    #[test]
    #[cfg(target_arch = "x86_64")]
    fn the_processor_widens_and_rounds_as_the_formulas_do() {
        if !is_x86_feature_detected!("f16c") || !is_x86_feature_detected!("avx") {
            return;
        }
        for native in [false, is_x86_feature_detected!("avx512fp16")] {
            runs_are_alike::<1>(&Widened(Sum), native);
            runs_are_alike::<2>(&Widened(Sum), native);
            runs_are_alike::<4>(&Widened(Difference), native);
            runs_are_alike::<8>(&Widened(Sum), native);
            runs_are_alike::<1>(&Widened(Product), native);
            runs_are_alike::<1>(&Larger, native);
            runs_are_alike::<1>(&Smaller, native);
            runs_are_alike::<2>(&Larger, native);
            runs_are_alike::<2>(&Smaller, native);
            runs_are_alike::<8>(&Smaller, native);
        }
    }
}
