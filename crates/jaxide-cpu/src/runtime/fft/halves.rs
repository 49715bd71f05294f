//! The step between the transform of a line of real numbers and that of its pairs, in both directions: elements as far from the start as from the end are
//! combined.

use bytemuck::Pod;
use num_complex::Complex;
use rustfft::FftNum;

use crate::runtime::simd::Isa;

/// Real numbers that are transformed.
pub trait Number: FftNum + Pod {
    /// From elements `a` at k and `b` at m - k of `from`, for all 0 < k < m, its length: `half (a + b*) + root (a - b*)` at k of `to`, and the conjugate of
    /// their difference at m - k; `roots` has those of 0 ≤ k ≤ m/2.
    ///
    /// # Panics
    /// If `from` and `to` do not have the same length, or there are fewer roots.
    fn combine_halves(
        half: Self,
        roots: &[Complex<Self>],
        from: &[Complex<Self>],
        to: &mut [Complex<Self>],
    );
}

/// [`Number::combine_halves`] for the pairs from `first` on, one at a time.
fn one_by_one<T: FftNum>(
    first: usize,
    half: T,
    roots: &[Complex<T>],
    from: &[Complex<T>],
    to: &mut [Complex<T>],
) {
    let m = from.len();
    for k in first..m / 2 + 1 {
        let (a, b) = (from[k], from[m - k].conj());
        let (sum, difference) = ((a + b).scale(half), (a - b) * roots[k]);
        to[k] = sum + difference;
        to[m - k] = (sum - difference).conj();
    }
}

fn check<T: FftNum>(roots: &[Complex<T>], from: &[Complex<T>], to: &[Complex<T>]) {
    assert!(
        from.len() == to.len() && roots.len() > from.len() / 2,
        "halves of {} and {} elements, {} roots",
        from.len(),
        to.len(),
        roots.len()
    );
}

macro_rules! number {
    ($t:ident, $vectors:path) => {
        impl Number for $t {
            fn combine_halves(
                half: Self,
                roots: &[Complex<Self>],
                from: &[Complex<Self>],
                to: &mut [Complex<Self>],
            ) {
                check(roots, from, to);
                #[cfg(target_arch = "x86_64")]
                let done = match Isa::detect() {
                    // SAFETY: the machine has the instruction set, and the lengths are as was checked.
                    Isa::Avx512 | Isa::Avx2 => unsafe { $vectors(half, roots, from, to) },
                    Isa::Portable => 1,
                };
                #[cfg(not(target_arch = "x86_64"))]
                let done = 1;
                one_by_one(done, half, roots, from, to);
            }
        }
    };
}

number!(f32, x86::singles);
number!(f64, x86::doubles);

#[cfg(target_arch = "x86_64")]
mod x86 {
    use num_complex::Complex;
    use std::arch::x86_64::*;

    /// [`combine_halves`](super::Number::combine_halves) for pairs from 1 on, four at a time; gives the first that is left.
    ///
    /// # Safety
    /// The machine has AVX2 and FMA; `from` and `to` have the same length, and there is a root for each pair.
    #[target_feature(enable = "avx2,fma")]
    pub(super) unsafe fn singles(
        half: f32,
        roots: &[Complex<f32>],
        from: &[Complex<f32>],
        to: &mut [Complex<f32>],
    ) -> usize {
        const STEP: usize = 4;
        let (m, mut k) = (from.len(), 1);
        let half = _mm256_set1_ps(half);
        let conjugate = _mm256_castsi256_ps(_mm256_set1_epi64x(1 << 63));
        while 2 * (k + STEP) <= m + 1 {
            // SAFETY: k + 3 < m - k - 3, the first and last of both ends, are elements, and the roots are no fewer.
            unsafe {
                let a = _mm256_loadu_ps(from.as_ptr().add(k).cast());
                let b = _mm256_loadu_pd(from.as_ptr().add(m - k - (STEP - 1)).cast());
                let root = _mm256_loadu_ps(roots.as_ptr().add(k).cast());
                let b = _mm256_castpd_ps(_mm256_permute4x64_pd::<0b00_01_10_11>(b));
                let b = _mm256_xor_ps(b, conjugate);
                let sum = _mm256_mul_ps(_mm256_add_ps(a, b), half);
                let difference = _mm256_sub_ps(a, b);
                let swapped = _mm256_permute_ps::<0b10_11_00_01>(difference);
                let (re, im) = (_mm256_moveldup_ps(root), _mm256_movehdup_ps(root));
                let turned = _mm256_fmaddsub_ps(difference, re, _mm256_mul_ps(swapped, im));
                _mm256_storeu_ps(to.as_mut_ptr().add(k).cast(), _mm256_add_ps(sum, turned));
                let last = _mm256_xor_ps(_mm256_sub_ps(sum, turned), conjugate);
                let last = _mm256_permute4x64_pd::<0b00_01_10_11>(_mm256_castps_pd(last));
                _mm256_storeu_pd(to.as_mut_ptr().add(m - k - (STEP - 1)).cast(), last);
            }
            k += STEP;
        }
        k
    }

    /// [`singles`] of doubles, two pairs at a time.
    ///
    /// # Safety
    /// As for [`singles`].
    #[target_feature(enable = "avx2,fma")]
    pub(super) unsafe fn doubles(
        half: f64,
        roots: &[Complex<f64>],
        from: &[Complex<f64>],
        to: &mut [Complex<f64>],
    ) -> usize {
        const STEP: usize = 2;
        let (m, mut k) = (from.len(), 1);
        let half = _mm256_set1_pd(half);
        let conjugate = _mm256_set_pd(-0.0, 0.0, -0.0, 0.0);
        while 2 * (k + STEP) <= m + 1 {
            // SAFETY: as in `singles`.
            unsafe {
                let a = _mm256_loadu_pd(from.as_ptr().add(k).cast());
                let b = _mm256_loadu_pd(from.as_ptr().add(m - k - (STEP - 1)).cast());
                let root = _mm256_loadu_pd(roots.as_ptr().add(k).cast());
                let b = _mm256_permute2f128_pd::<1>(b, b);
                let b = _mm256_xor_pd(b, conjugate);
                let sum = _mm256_mul_pd(_mm256_add_pd(a, b), half);
                let difference = _mm256_sub_pd(a, b);
                let swapped = _mm256_permute_pd::<0b0101>(difference);
                let (re, im) = (
                    _mm256_permute_pd::<0b0000>(root),
                    _mm256_permute_pd::<0b1111>(root),
                );
                let turned = _mm256_fmaddsub_pd(difference, re, _mm256_mul_pd(swapped, im));
                _mm256_storeu_pd(to.as_mut_ptr().add(k).cast(), _mm256_add_pd(sum, turned));
                let last = _mm256_xor_pd(_mm256_sub_pd(sum, turned), conjugate);
                let last = _mm256_permute2f128_pd::<1>(last, last);
                _mm256_storeu_pd(to.as_mut_ptr().add(m - k - (STEP - 1)).cast(), last);
            }
            k += STEP;
        }
        k
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers<T: Number>(count: usize, seed: f64) -> Vec<Complex<T>> {
        let part = |x: f64| T::from_f64(x.sin()).unwrap();
        (0..count)
            .map(|k| Complex::new(part(seed + k as f64), part(seed - 1.7 * k as f64)))
            .collect()
    }

    /// Vectors and what they leave give what pairs give alone, at every length around theirs; other places are not written to.
    fn check_lengths<T: Number>(tolerance: f64) {
        for m in 1..40 {
            let (from, roots) = (numbers::<T>(m, 0.3), numbers::<T>(m / 2 + 1, 2.1));
            let (mut got, mut want) = (numbers::<T>(m, 5.0), numbers::<T>(m, 5.0));
            let half = T::from_f64(0.5).unwrap();
            T::combine_halves(half, &roots, &from, &mut got);
            one_by_one(1, half, &roots, &from, &mut want);
            for (&got, &want) in got.iter().zip(&want) {
                let difference = got - want;
                for part in [difference.re, difference.im] {
                    let bound = T::from_f64(tolerance).unwrap();
                    assert!((part.abs() - bound).is_negative(), "{m} {got:?} {want:?}");
                }
            }
        }
    }

    #[test]
    fn vectors_of_pairs() {
        check_lengths::<f32>(1e-6);
        check_lengths::<f64>(1e-14);
    }
}
