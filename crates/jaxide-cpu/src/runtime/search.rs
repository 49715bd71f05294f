//! Places of many numbers in a sorted array, in vectors of them.
//!
//! What is left of the array is halved for all numbers of a vector at once, and several vectors go on together, so that one need not wait for the
//! other's memory. Of an array that is known to ascend any way of halving finds the place: the first elements that are asked for are the same few for
//! all numbers, which stay in registers where lanes are picked by a permutation, and only where these are too far apart the rest is gathered.
//! Another array is bisected just as the interpreter does, whatever it holds, and nothing is done to its elements before.
//!
//! Numbers are compared by their keys: integers with a sign, of as many bits. Both zeros have one key, and all NaN have the last.

use super::simd::Isa;

/// How the bits of a number become its key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// They are the key.
    Signed,
    Unsigned,
    Float,
}

/// Keys of a width that there are vectors of.
pub(crate) trait Word: Ord + Copy {
    /// The keys of numbers.
    fn keys(kind: Kind, numbers: &[Self]) -> Vec<Self>;
    /// For each wanted number how many of the keys, which ascend, are less than its own, or no greater if they may be `equal`; and whether this
    /// machine has vectors for that. There is at least one key, and fewer than [`MOST`].
    fn places(kind: Kind, keys: &[Self], wanted: &[Self], equal: bool, found: &mut [i32]) -> bool;
    /// For each wanted number its place as [`bisect`](jaxide_core::eval::numerics::order::bisect) finds it among numbers in any order; and whether this
    /// machine has vectors for that. There is at least one number, and fewer than [`MOST`].
    fn bisected(
        kind: Kind,
        numbers: &[Self],
        wanted: &[Self],
        equal: bool,
        found: &mut [i32],
    ) -> bool;
}

/// Places behind the end of shorter arrays are numbers of 32 bits.
pub(crate) const MOST: usize = 1 << 30;

/// Whether this machine has vectors that search.
pub(crate) fn has_vectors() -> bool {
    Isa::detect() != Isa::Portable
}

/// Whether keys ascend.
pub(crate) fn ascend<K: Ord + Copy>(keys: &[K]) -> bool {
    /// So many are compared without a branch.
    const TOGETHER: usize = 64;
    let pairs = keys.len().saturating_sub(1);
    (0..pairs.div_ceil(TOGETHER)).all(|k| {
        let end = pairs.min((k + 1) * TOGETHER);
        let neighbours = keys[k * TOGETHER..end]
            .iter()
            .zip(&keys[k * TOGETHER + 1..]);
        neighbours.fold(true, |ascend, (a, b)| ascend & (a <= b))
    })
}

macro_rules! word {
    ($word:ident, $float:ident, $avx512:ident, $avx2:ident) => {
        impl Word for $word {
            fn keys(kind: Kind, numbers: &[$word]) -> Vec<$word> {
                #[inline(always)]
                fn fill(kind: Kind, from: &[$word], to: &mut [$word]) {
                    let pairs = from.iter().zip(to);
                    match kind {
                        Kind::Signed => pairs.for_each(|(&x, key)| *key = x),
                        Kind::Unsigned => pairs.for_each(|(&x, key)| *key = x ^ $word::MIN),
                        Kind::Float => pairs.for_each(|(&x, key)| {
                            let x = $float::from_bits(x.cast_unsigned());
                            // Adding zero makes the negative zero positive; negative numbers grow with their magnitude bits.
                            let bits = (x + 0.0).to_bits().cast_signed();
                            let turned = bits ^ (bits >> ($word::BITS - 1) & $word::MAX);
                            *key = if x.is_nan() { $word::MAX } else { turned };
                        }),
                    }
                }
                super::simd::for_each_isa! {
                    fn fill_keys(kind: Kind, from: &[$word], to: &mut [$word]) = fill
                }
                let mut keys = vec![0; numbers.len()];
                fill_keys(kind, numbers, &mut keys);
                keys
            }

            fn places(
                kind: Kind,
                keys: &[$word],
                wanted: &[$word],
                equal: bool,
                found: &mut [i32],
            ) -> bool {
                match Isa::detect() {
                    #[cfg(target_arch = "x86_64")]
                    // SAFETY: the machine has the instruction set.
                    Isa::Avx512 => unsafe { x86::$avx512(kind, true, keys, wanted, equal, found) },
                    #[cfg(target_arch = "x86_64")]
                    // SAFETY: the machine has the instruction set.
                    Isa::Avx2 => unsafe { x86::$avx2(kind, true, keys, wanted, equal, found) },
                    Isa::Portable => return false,
                }
                true
            }

            fn bisected(
                kind: Kind,
                numbers: &[$word],
                wanted: &[$word],
                equal: bool,
                found: &mut [i32],
            ) -> bool {
                match Isa::detect() {
                    #[cfg(target_arch = "x86_64")]
                    // SAFETY: the machine has the instruction set.
                    Isa::Avx512 => unsafe {
                        x86::$avx512(kind, false, numbers, wanted, equal, found)
                    },
                    #[cfg(target_arch = "x86_64")]
                    // SAFETY: the machine has the instruction set.
                    Isa::Avx2 => unsafe { x86::$avx2(kind, false, numbers, wanted, equal, found) },
                    Isa::Portable => return false,
                }
                true
            }
        }
    };
}

word!(i32, f32, singles_avx512, singles_avx2);
word!(i64, f64, doubles_avx512, doubles_avx2);

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::Kind;
    use std::arch::x86_64::*;

    /// Vectors that go on together.
    const GROUPS: usize = 4;

    /// A vector of keys, or of places among them.
    ///
    /// # Safety
    /// Of each function: the machine has the vector's instruction set. Pointers are to as many numbers as a vector has, and places to gather from are
    /// those of elements.
    trait Lanes: Copy {
        type Elem: Copy + Default;
        type Mask: Copy;
        /// Keys in registers.
        type Top: Copy;
        const LANES: usize;
        /// How many keys registers have; 1 if no permutation picks them.
        const PARTS: usize;
        unsafe fn splat(n: usize) -> Self;
        unsafe fn load(from: *const Self::Elem) -> Self;
        /// The lanes as numbers of 32 bits.
        unsafe fn store(self, to: *mut i32);
        unsafe fn add(self, other: Self) -> Self;
        unsafe fn times(self, other: Self) -> Self;
        unsafe fn min(self, other: Self) -> Self;
        unsafe fn half(self) -> Self;
        unsafe fn less(self, other: Self) -> Self::Mask;
        unsafe fn no_greater(self, other: Self) -> Self::Mask;
        unsafe fn select(mask: Self::Mask, yes: Self, no: Self) -> Self;
        unsafe fn gather(from: *const Self::Elem, at: Self) -> Self;
        unsafe fn top(keys: *const Self::Elem) -> Self::Top;
        unsafe fn pick(top: Self::Top, at: Self) -> Self;
        unsafe fn key(self, kind: Kind) -> Self;
    }

    /// What can be said of a vector in a line.
    macro_rules! lanes {
        (
            $name:ident($register:ty) of $elem:ty, $mask:ty, $top:ty, $lanes:literal, $parts:literal;
            $($method:ident($($argument:ident: $ty:ty),*) -> $result:ty = $body:expr;)*
        ) => {
            #[derive(Clone, Copy)]
            struct $name($register);
            // SAFETY contract: see the trait; each body only forwards to intrinsics of the instruction set.
            impl Lanes for $name {
                type Elem = $elem;
                type Mask = $mask;
                type Top = $top;
                const LANES: usize = $lanes;
                const PARTS: usize = $parts;
                $(
                    #[inline(always)]
                    #[allow(unused_unsafe, reason = "a register may be had without an instruction")]
                    unsafe fn $method($($argument: $ty),*) -> $result {
                        // SAFETY: the caller's promises.
                        unsafe { $body }
                    }
                )*
                #[inline(always)]
                unsafe fn store(self, to: *mut i32) {
                    // SAFETY: the caller's promises.
                    unsafe { self.store_places(to) }
                }
                #[inline(always)]
                unsafe fn key(self, kind: Kind) -> Self {
                    // SAFETY: the caller's promises.
                    unsafe {
                        match kind {
                            Kind::Signed => self,
                            Kind::Unsigned => self.turned(),
                            Kind::Float => self.float_key(),
                        }
                    }
                }
            }
        };
    }

    lanes! {
        Singles16(__m512i) of i32, __mmask16, [__m512i; 2], 16, 32;
        splat(n: usize) -> Self = Self(_mm512_set1_epi32(n as i32));
        load(from: *const i32) -> Self = Self(_mm512_loadu_si512(from.cast()));
        add(self: Self, other: Self) -> Self = Self(_mm512_add_epi32(self.0, other.0));
        times(self: Self, other: Self) -> Self = Self(_mm512_mullo_epi32(self.0, other.0));
        min(self: Self, other: Self) -> Self = Self(_mm512_min_epi32(self.0, other.0));
        half(self: Self) -> Self = Self(_mm512_srli_epi32::<1>(self.0));
        less(self: Self, other: Self) -> __mmask16 = _mm512_cmplt_epi32_mask(self.0, other.0);
        no_greater(self: Self, other: Self) -> __mmask16 = _mm512_cmple_epi32_mask(self.0, other.0);
        select(mask: __mmask16, yes: Self, no: Self) -> Self = Self(_mm512_mask_mov_epi32(no.0, mask, yes.0));
        gather(from: *const i32, at: Self) -> Self = Self(_mm512_i32gather_epi32::<4>(at.0, from.cast()));
        top(keys: *const i32) -> [__m512i; 2] = [Self::load(keys).0, Self::load(keys.add(16)).0];
        pick(top: [__m512i; 2], at: Self) -> Self = Self(_mm512_permutex2var_epi32(top[0], at.0, top[1]));
    }

    impl Singles16 {
        #[inline(always)]
        unsafe fn store_places(self, to: *mut i32) {
            // SAFETY: the caller's promises.
            unsafe { _mm512_storeu_si512(to.cast(), self.0) }
        }

        #[inline(always)]
        unsafe fn turned(self) -> Self {
            // SAFETY: the caller's promises.
            unsafe { Self(_mm512_xor_si512(self.0, _mm512_set1_epi32(i32::MIN))) }
        }

        #[inline(always)]
        unsafe fn float_key(self) -> Self {
            // SAFETY: the caller's promises.
            unsafe {
                let x = _mm512_add_ps(_mm512_castsi512_ps(self.0), _mm512_setzero_ps());
                let bits = _mm512_castps_si512(x);
                let magnitude = _mm512_srli_epi32::<1>(_mm512_srai_epi32::<31>(bits));
                let nan = _mm512_cmp_ps_mask::<_CMP_UNORD_Q>(x, x);
                let key = _mm512_xor_si512(bits, magnitude);
                Self(_mm512_mask_mov_epi32(key, nan, _mm512_set1_epi32(i32::MAX)))
            }
        }
    }

    lanes! {
        Singles8(__m256i) of i32, __m256i, __m256i, 8, 8;
        splat(n: usize) -> Self = Self(_mm256_set1_epi32(n as i32));
        load(from: *const i32) -> Self = Self(_mm256_loadu_si256(from.cast()));
        add(self: Self, other: Self) -> Self = Self(_mm256_add_epi32(self.0, other.0));
        times(self: Self, other: Self) -> Self = Self(_mm256_mullo_epi32(self.0, other.0));
        min(self: Self, other: Self) -> Self = Self(_mm256_min_epi32(self.0, other.0));
        half(self: Self) -> Self = Self(_mm256_srli_epi32::<1>(self.0));
        less(self: Self, other: Self) -> __m256i = _mm256_cmpgt_epi32(other.0, self.0);
        no_greater(self: Self, other: Self) -> __m256i = _mm256_xor_si256(_mm256_cmpgt_epi32(self.0, other.0), _mm256_set1_epi32(-1));
        select(mask: __m256i, yes: Self, no: Self) -> Self = Self(_mm256_blendv_epi8(no.0, yes.0, mask));
        gather(from: *const i32, at: Self) -> Self = Self(_mm256_i32gather_epi32::<4>(from, at.0));
        top(keys: *const i32) -> __m256i = Self::load(keys).0;
        pick(top: __m256i, at: Self) -> Self = Self(_mm256_permutevar8x32_epi32(top, at.0));
    }

    impl Singles8 {
        #[inline(always)]
        unsafe fn store_places(self, to: *mut i32) {
            // SAFETY: the caller's promises.
            unsafe { _mm256_storeu_si256(to.cast(), self.0) }
        }

        #[inline(always)]
        unsafe fn turned(self) -> Self {
            // SAFETY: the caller's promises.
            unsafe { Self(_mm256_xor_si256(self.0, _mm256_set1_epi32(i32::MIN))) }
        }

        #[inline(always)]
        unsafe fn float_key(self) -> Self {
            // SAFETY: the caller's promises.
            unsafe {
                let x = _mm256_add_ps(_mm256_castsi256_ps(self.0), _mm256_setzero_ps());
                let bits = _mm256_castps_si256(x);
                let magnitude = _mm256_srli_epi32::<1>(_mm256_srai_epi32::<31>(bits));
                let nan = _mm256_castps_si256(_mm256_cmp_ps::<_CMP_UNORD_Q>(x, x));
                let key = _mm256_xor_si256(bits, magnitude);
                Self(_mm256_blendv_epi8(key, _mm256_set1_epi32(i32::MAX), nan))
            }
        }
    }

    lanes! {
        Doubles8(__m512i) of i64, __mmask8, [__m512i; 2], 8, 16;
        splat(n: usize) -> Self = Self(_mm512_set1_epi64(n as i64));
        load(from: *const i64) -> Self = Self(_mm512_loadu_si512(from.cast()));
        add(self: Self, other: Self) -> Self = Self(_mm512_add_epi64(self.0, other.0));
        // Places are numbers of 32 bits.
        times(self: Self, other: Self) -> Self = Self(_mm512_mul_epu32(self.0, other.0));
        min(self: Self, other: Self) -> Self = Self(_mm512_min_epi64(self.0, other.0));
        half(self: Self) -> Self = Self(_mm512_srli_epi64::<1>(self.0));
        less(self: Self, other: Self) -> __mmask8 = _mm512_cmplt_epi64_mask(self.0, other.0);
        no_greater(self: Self, other: Self) -> __mmask8 = _mm512_cmple_epi64_mask(self.0, other.0);
        select(mask: __mmask8, yes: Self, no: Self) -> Self = Self(_mm512_mask_mov_epi64(no.0, mask, yes.0));
        gather(from: *const i64, at: Self) -> Self = Self(_mm512_i64gather_epi64::<8>(at.0, from.cast()));
        top(keys: *const i64) -> [__m512i; 2] = [Self::load(keys).0, Self::load(keys.add(8)).0];
        pick(top: [__m512i; 2], at: Self) -> Self = Self(_mm512_permutex2var_epi64(top[0], at.0, top[1]));
    }

    impl Doubles8 {
        #[inline(always)]
        unsafe fn store_places(self, to: *mut i32) {
            // SAFETY: the caller's promises.
            unsafe { _mm256_storeu_si256(to.cast(), _mm512_cvtepi64_epi32(self.0)) }
        }

        #[inline(always)]
        unsafe fn turned(self) -> Self {
            // SAFETY: the caller's promises.
            unsafe { Self(_mm512_xor_si512(self.0, _mm512_set1_epi64(i64::MIN))) }
        }

        #[inline(always)]
        unsafe fn float_key(self) -> Self {
            // SAFETY: the caller's promises.
            unsafe {
                let x = _mm512_add_pd(_mm512_castsi512_pd(self.0), _mm512_setzero_pd());
                let bits = _mm512_castpd_si512(x);
                let magnitude = _mm512_srli_epi64::<1>(_mm512_srai_epi64::<63>(bits));
                let nan = _mm512_cmp_pd_mask::<_CMP_UNORD_Q>(x, x);
                let key = _mm512_xor_si512(bits, magnitude);
                Self(_mm512_mask_mov_epi64(key, nan, _mm512_set1_epi64(i64::MAX)))
            }
        }
    }

    lanes! {
        Doubles4(__m256i) of i64, __m256i, __m256i, 4, 1;
        splat(n: usize) -> Self = Self(_mm256_set1_epi64x(n as i64));
        load(from: *const i64) -> Self = Self(_mm256_loadu_si256(from.cast()));
        add(self: Self, other: Self) -> Self = Self(_mm256_add_epi64(self.0, other.0));
        // Places are numbers of 32 bits.
        times(self: Self, other: Self) -> Self = Self(_mm256_mul_epu32(self.0, other.0));
        min(self: Self, other: Self) -> Self = Self(_mm256_blendv_epi8(self.0, other.0, _mm256_cmpgt_epi64(self.0, other.0)));
        half(self: Self) -> Self = Self(_mm256_srli_epi64::<1>(self.0));
        less(self: Self, other: Self) -> __m256i = _mm256_cmpgt_epi64(other.0, self.0);
        no_greater(self: Self, other: Self) -> __m256i = _mm256_xor_si256(_mm256_cmpgt_epi64(self.0, other.0), _mm256_set1_epi32(-1));
        select(mask: __m256i, yes: Self, no: Self) -> Self = Self(_mm256_blendv_epi8(no.0, yes.0, mask));
        gather(from: *const i64, at: Self) -> Self = Self(_mm256_i64gather_epi64::<8>(from, at.0));
        top(keys: *const i64) -> __m256i = Self::splat(*keys as usize).0;
        pick(top: __m256i, _at: Self) -> Self = Self(top);
    }

    impl Doubles4 {
        #[inline(always)]
        unsafe fn store_places(self, to: *mut i32) {
            // SAFETY: the caller's promises.
            unsafe {
                let low =
                    _mm256_permutevar8x32_epi32(self.0, _mm256_setr_epi32(0, 2, 4, 6, 0, 2, 4, 6));
                _mm_storeu_si128(to.cast(), _mm256_castsi256_si128(low));
            }
        }

        #[inline(always)]
        unsafe fn turned(self) -> Self {
            // SAFETY: the caller's promises.
            unsafe { Self(_mm256_xor_si256(self.0, _mm256_set1_epi64x(i64::MIN))) }
        }

        #[inline(always)]
        unsafe fn float_key(self) -> Self {
            // SAFETY: the caller's promises.
            unsafe {
                let x = _mm256_add_pd(_mm256_castsi256_pd(self.0), _mm256_setzero_pd());
                let bits = _mm256_castpd_si256(x);
                let negative = _mm256_cmpgt_epi64(_mm256_setzero_si256(), bits);
                let nan = _mm256_castpd_si256(_mm256_cmp_pd::<_CMP_UNORD_Q>(x, x));
                let key = _mm256_xor_si256(bits, _mm256_srli_epi64::<1>(negative));
                Self(_mm256_blendv_epi8(key, _mm256_set1_epi64x(i64::MAX), nan))
            }
        }
    }

    /// Numbers that are searched, and in what.
    struct Search<'a, L: Lanes> {
        line: &'a [L::Elem],
        /// The last elements of as many equal parts as registers have keys, and the length of a part. Parts behind the end have the last element.
        top: L::Top,
        part: usize,
        kind: Kind,
    }

    impl<'a, L: Lanes> Search<'a, L> {
        /// # Safety
        /// The machine has the instruction set; the line is not empty, and shorter than [`MOST`](super::MOST).
        #[inline(always)]
        unsafe fn new(kind: Kind, line: &'a [L::Elem]) -> Self {
            let (last, part) = (line.len() - 1, line.len().div_ceil(L::PARTS));
            let mut ends = [L::Elem::default(); 32];
            for (k, end) in ends[..L::PARTS].iter_mut().enumerate() {
                *end = line[((k + 1) * part - 1).min(last)];
            }
            Search {
                line,
                // SAFETY: there are as many as registers hold.
                top: unsafe { L::top(ends.as_ptr()) },
                part,
                kind,
            }
        }

        /// All of the wanted numbers, block by block; the last one is filled up.
        ///
        /// # Safety
        /// As for [`new`](Self::new); `ascends` says that the line has keys that ascend.
        #[inline(always)]
        unsafe fn all<const ASCENDS: bool, const EQUAL: bool>(
            &self,
            wanted: &[L::Elem],
            found: &mut [i32],
        ) {
            let block = GROUPS * L::LANES;
            let mut next = 0;
            while next < wanted.len() {
                let count = block.min(wanted.len() - next);
                let (mut from, mut to) = ([wanted[next]; 64], [0; 64]);
                from[..count].copy_from_slice(&wanted[next..next + count]);
                // SAFETY: the arrays have room for a block.
                unsafe {
                    if ASCENDS {
                        self.halve::<EQUAL>(from.as_ptr(), to.as_mut_ptr());
                    } else {
                        self.bisect::<EQUAL>(from.as_ptr(), to.as_mut_ptr());
                    }
                }
                found[next..next + count].copy_from_slice(&to[..count]);
                next += count;
            }
        }

        /// # Safety
        /// As for [`new`](Self::new).
        #[inline(always)]
        unsafe fn before<const EQUAL: bool>(x: L, wanted: L) -> L::Mask {
            // SAFETY: the caller's promises.
            unsafe {
                if EQUAL {
                    x.no_greater(wanted)
                } else {
                    x.less(wanted)
                }
            }
        }

        /// The vectors of a block.
        ///
        /// # Safety
        /// As for [`new`](Self::new), for a block of numbers.
        #[inline(always)]
        unsafe fn block(&self, from: *const L::Elem) -> [L; GROUPS] {
            // SAFETY: the caller's promises.
            unsafe {
                let mut wanted = [L::splat(0); GROUPS];
                for (k, wanted) in wanted.iter_mut().enumerate() {
                    *wanted = L::load(from.add(k * L::LANES)).key(self.kind);
                }
                wanted
            }
        }

        /// Places among keys that ascend. What is asked for behind the end is the last key: where that is before a number, so are all.
        ///
        /// # Safety
        /// As for [`new`](Self::new), for a block of numbers and places.
        #[inline(always)]
        unsafe fn halve<const EQUAL: bool>(&self, from: *const L::Elem, to: *mut i32) {
            // SAFETY: the caller's promises; places are clamped to the last one.
            unsafe {
                let (line, part) = (self.line.as_ptr(), self.part);
                let (end, last) = (L::splat(self.line.len()), L::splat(self.line.len() - 1));
                let wanted = self.block(from);
                let mut start = [L::splat(0); GROUPS];
                // Of all parts but one the first that may end behind the place.
                let mut half = L::PARTS / 2;
                while half > 0 {
                    let (step, ahead) = (L::splat(half), L::splat(half - 1));
                    for k in 0..GROUPS {
                        let x = L::pick(self.top, start[k].add(ahead));
                        let is = Self::before::<EQUAL>(x, wanted[k]);
                        start[k] = L::select(is, start[k].add(step), start[k]);
                    }
                    half /= 2;
                }
                if part > 1 {
                    for start in &mut start {
                        *start = start.times(L::splat(part));
                    }
                }
                let mut left = part;
                while left > 1 {
                    let half = left / 2;
                    let (step, ahead) = (L::splat(half), L::splat(half - 1));
                    for k in 0..GROUPS {
                        let x = L::gather(line, start[k].add(ahead).min(last));
                        let is = Self::before::<EQUAL>(x, wanted[k]);
                        start[k] = L::select(is, start[k].add(step), start[k]);
                    }
                    left -= half;
                }
                for k in 0..GROUPS {
                    let x = if part > 1 {
                        L::gather(line, start[k].min(last))
                    } else {
                        L::pick(self.top, start[k])
                    };
                    let is = Self::before::<EQUAL>(x, wanted[k]);
                    let place = L::select(is, start[k].add(L::splat(1)), start[k]);
                    place.min(end).store(to.add(k * L::LANES));
                }
            }
        }

        /// Places among numbers in any order.
        ///
        /// # Safety
        /// As for [`new`](Self::new), for a block of numbers and places.
        #[inline(always)]
        unsafe fn bisect<const EQUAL: bool>(&self, from: *const L::Elem, to: *mut i32) {
            // SAFETY: the caller's promises; the middle of two places is before the second, which is at most the end.
            unsafe {
                let line = self.line.as_ptr();
                let wanted = self.block(from);
                let mut low = [L::splat(0); GROUPS];
                let mut high = [L::splat(self.line.len()); GROUPS];
                for _ in 0..usize::BITS - self.line.len().leading_zeros() {
                    for k in 0..GROUPS {
                        let middle = low[k].add(high[k]).half();
                        let x = L::gather(line, middle).key(self.kind);
                        let is = Self::before::<EQUAL>(x, wanted[k]);
                        low[k] = L::select(is, middle, low[k]);
                        high[k] = L::select(is, high[k], middle);
                    }
                }
                for (k, high) in high.into_iter().enumerate() {
                    high.store(to.add(k * L::LANES));
                }
            }
        }
    }

    macro_rules! entry {
        ($name:ident, $lanes:ident, $elem:ident, $features:literal) => {
            /// # Safety
            /// The machine has the instruction set; the line is not empty, shorter than [`MOST`](super::MOST), and `ascends` says that it is of keys, and
            /// that they ascend. There is a place for each number.
            #[target_feature(enable = $features)]
            pub(super) unsafe fn $name(
                kind: Kind,
                ascends: bool,
                line: &[$elem],
                wanted: &[$elem],
                equal: bool,
                found: &mut [i32],
            ) {
                // SAFETY: the caller's promises.
                unsafe {
                    let search = Search::<$lanes>::new(kind, line);
                    match (ascends, equal) {
                        (false, false) => search.all::<false, false>(wanted, found),
                        (false, true) => search.all::<false, true>(wanted, found),
                        (true, false) => search.all::<true, false>(wanted, found),
                        (true, true) => search.all::<true, true>(wanted, found),
                    }
                }
            }
        };
    }

    entry!(
        singles_avx512,
        Singles16,
        i32,
        "avx512f,avx512vl,avx512dq,avx512bw,avx2,fma"
    );
    entry!(
        doubles_avx512,
        Doubles8,
        i64,
        "avx512f,avx512vl,avx512dq,avx512bw,avx2,fma"
    );
    entry!(singles_avx2, Singles8, i32, "avx2,fma");
    entry!(doubles_avx2, Doubles4, i64, "avx2,fma");
}

#[cfg(test)]
mod tests {
    use super::*;
    use jaxide_core::eval::numerics::order::bisect;
    use jaxide_testing::Random;
    use std::fmt::Debug;

    /// Arrays around all numbers of parts, with equal elements and the ends of what there is; as many numbers as are in a block, fewer and more.
    fn places_are_counts<T: Word + Debug>(make: impl Fn(i64) -> T, least: T, most: T) {
        let mut random = Random(3);
        for isa in Isa::available() {
            isa.assumed_in(|| {
                for length in (1..70).chain([95, 96, 97, 127, 128, 129, 500, 1023, 1024, 5000]) {
                    let wide = [3, 40, 1 << 20][random.below(3)];
                    let mut value = || make(random.below(wide) as i64 - wide as i64 / 2);
                    let mut line: Vec<T> = (0..length).map(|_| value()).collect();
                    let mut wanted: Vec<T> = (0..length % 7 * 11 + 60).map(|_| value()).collect();
                    wanted.extend([least, most]);
                    wanted.extend_from_slice(&line[..length.min(20)]);
                    if length % 3 == 0 {
                        line.extend([most, most, least]);
                    }
                    for kind in [Kind::Signed, Kind::Unsigned, Kind::Float] {
                        let keys = T::keys(kind, &line);
                        let sought = T::keys(kind, &wanted);
                        let mut sorted = keys.clone();
                        sorted.sort_unstable();
                        assert_eq!(ascend(&keys), keys.is_sorted());
                        assert!(ascend(&sorted));
                        for equal in [false, true] {
                            let before = |x: T, y: T| if equal { x <= y } else { x < y };
                            let mut found = vec![-1; wanted.len()];
                            if T::places(kind, &sorted, &wanted, equal, &mut found) {
                                for (&y, &place) in sought.iter().zip(&found) {
                                    let count = sorted.partition_point(|&x| before(x, y));
                                    assert_eq!(
                                        place as usize, count,
                                        "{length} {y:?} {kind:?} {isa:?}"
                                    );
                                }
                            }
                            if T::bisected(kind, &line, &wanted, equal, &mut found) {
                                for (&y, &place) in sought.iter().zip(&found) {
                                    let there = bisect(keys.len(), |k| before(keys[k], y));
                                    assert_eq!(
                                        place as usize, there,
                                        "{length} {y:?} {kind:?} {isa:?}"
                                    );
                                }
                            }
                        }
                    }
                }
            });
        }
    }

    #[test]
    fn places_of_singles() {
        // Bits of all kinds of floats, too.
        places_are_counts(|x| (x as i32).wrapping_mul(0x10_0001), i32::MIN, i32::MAX);
    }

    #[test]
    fn places_of_doubles() {
        places_are_counts(|x| x.wrapping_mul(0x10_0000_0000_0001), i64::MIN, i64::MAX);
    }
}
