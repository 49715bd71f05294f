//! Squares of elements that are turned in registers.

/// Weaves the first half of all elements with the second, so many times: each round turns the bits of their places by one, and as many as a side has
/// bits swap row and column.
#[cfg(target_arch = "x86_64")]
macro_rules! weave {
    ($rows:ident, $rounds:literal rounds of $low:ident, $high:ident) => {
        for _ in 0..$rounds {
            let before = $rows;
            let half = before.len() / 2;
            for i in 0..half {
                $rows[2 * i] = $low(before[i], before[i + half]);
                $rows[2 * i + 1] = $high(before[i], before[i + half]);
            }
        }
    };
}

/// Writes the transpose of sixteen rows of sixteen numbers, `from_row` and `to_row` apart.
///
/// # Safety
/// All elements are valid on both sides.
#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx512f")]
pub(super) unsafe fn turn_sixteen(from: *const f32, from_row: isize, to: *mut f32, to_row: usize) {
    use std::arch::x86_64::*;
    // SAFETY: promised by the caller.
    unsafe {
        let mut rows = [_mm512_setzero_ps(); 16];
        for (r, row) in rows.iter_mut().enumerate() {
            *row = _mm512_loadu_ps(from.offset(r as isize * from_row));
        }
        // Four rounds; each joins what lies 1, 2, 4, 8 rows apart.
        for i in (0..16).step_by(2) {
            let (a, b) = (rows[i], rows[i + 1]);
            (rows[i], rows[i + 1]) = (_mm512_unpacklo_ps(a, b), _mm512_unpackhi_ps(a, b));
        }
        for i in [0, 1, 4, 5, 8, 9, 12, 13] {
            let (a, b) = (_mm512_castps_pd(rows[i]), _mm512_castps_pd(rows[i + 2]));
            rows[i] = _mm512_castpd_ps(_mm512_unpacklo_pd(a, b));
            rows[i + 2] = _mm512_castpd_ps(_mm512_unpackhi_pd(a, b));
        }
        for i in [0, 1, 2, 3, 8, 9, 10, 11] {
            let (a, b) = (rows[i], rows[i + 4]);
            rows[i] = _mm512_shuffle_f32x4::<0x88>(a, b);
            rows[i + 4] = _mm512_shuffle_f32x4::<0xdd>(a, b);
        }
        for i in 0..8 {
            let (a, b) = (rows[i], rows[i + 8]);
            rows[i] = _mm512_shuffle_f32x4::<0x88>(a, b);
            rows[i + 8] = _mm512_shuffle_f32x4::<0xdd>(a, b);
        }
        // Which column each register holds now.
        const COLUMN: [usize; 16] = [0, 2, 1, 3, 4, 6, 5, 7, 8, 10, 9, 11, 12, 14, 13, 15];
        #[allow(
            clippy::needless_range_loop,
            reason = "an iterator has the registers in memory"
        )]
        for r in 0..16 {
            _mm512_storeu_ps(to.add(COLUMN[r] * to_row), rows[r]);
        }
    }
}

/// Numbers of two rows in turn: those at even places, and those at odd ones.
#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx512f")]
fn in_turn(
    a: std::arch::x86_64::__m512d,
    b: std::arch::x86_64::__m512d,
) -> [std::arch::x86_64::__m512d; 2] {
    use std::arch::x86_64::*;
    [_mm512_unpacklo_pd(a, b), _mm512_unpackhi_pd(a, b)]
}

/// The quarters 0 and 2 of two rows, and their quarters 1 and 3.
#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx512f")]
fn every_other(
    a: std::arch::x86_64::__m512d,
    b: std::arch::x86_64::__m512d,
) -> [std::arch::x86_64::__m512d; 2] {
    use std::arch::x86_64::*;
    [
        _mm512_shuffle_f64x2::<0x88>(a, b),
        _mm512_shuffle_f64x2::<0xdd>(a, b),
    ]
}

/// Writes the transpose of eight rows of eight numbers, `from_row` and `to_row` apart.
///
/// # Safety
/// All elements are valid on both sides.
#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx512f")]
pub(super) unsafe fn turn_eight(from: *const f64, from_row: isize, to: *mut f64, to_row: usize) {
    use std::arch::x86_64::*;
    // SAFETY: promised by the caller.
    unsafe {
        let row = |r: isize| _mm512_loadu_pd(from.offset(r * from_row));
        let store = |r: usize, row: __m512d| _mm512_storeu_pd(to.add(r * to_row), row);
        // Three rounds; each joins what lies 1, 2, 4 rows apart. Each register has a name: an array of them would be in memory.
        let [a, b] = in_turn(row(0), row(1));
        let [c, d] = in_turn(row(2), row(3));
        let [e, f] = in_turn(row(4), row(5));
        let [g, h] = in_turn(row(6), row(7));
        let [a, c] = every_other(a, c);
        let [b, d] = every_other(b, d);
        let [e, g] = every_other(e, g);
        let [f, h] = every_other(f, h);
        let [a, e] = every_other(a, e);
        let [b, f] = every_other(b, f);
        let [c, g] = every_other(c, g);
        let [d, h] = every_other(d, h);
        store(0, a);
        store(1, b);
        store(2, c);
        store(3, d);
        store(4, e);
        store(5, f);
        store(6, g);
        store(7, h);
    }
}

/// Writes the transpose of four rows of four elements of sixteen bytes, here pairs of numbers, `from_row` and `to_row` elements apart.
///
/// # Safety
/// All elements are valid on both sides.
#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx512f")]
pub(super) unsafe fn turn_four(
    from: *const [f64; 2],
    from_row: isize,
    to: *mut [f64; 2],
    to_row: usize,
) {
    use std::arch::x86_64::*;
    // SAFETY: promised by the caller.
    unsafe {
        let row = |r: isize| _mm512_loadu_pd(from.offset(r * from_row).cast());
        let store = |r: usize, row: __m512d| _mm512_storeu_pd(to.add(r * to_row).cast(), row);
        let [a, b] = every_other(row(0), row(1));
        let [c, d] = every_other(row(2), row(3));
        let [a, c] = every_other(a, c);
        let [b, d] = every_other(b, d);
        store(0, a);
        store(1, b);
        store(2, c);
        store(3, d);
    }
}

/// Writes the transpose of eight rows of eight numbers, `from_row` and `to_row` apart.
///
/// # Safety
/// All elements are valid on both sides.
#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx2")]
pub(super) unsafe fn turn_eight_words(
    from: *const f32,
    from_row: isize,
    to: *mut f32,
    to_row: usize,
) {
    use std::arch::x86_64::*;
    // SAFETY: promised by the caller.
    unsafe {
        // Rows four apart share a register from the start, so that their halves need no round of their own.
        let pair = |r: isize, half: usize| {
            let row = |r: isize| _mm_loadu_ps(from.offset(r * from_row).add(4 * half));
            _mm256_insertf128_ps::<1>(_mm256_castps128_ps256(row(r)), row(r + 4))
        };
        for half in [0, 1] {
            let (a, b, c, d) = (pair(0, half), pair(1, half), pair(2, half), pair(3, half));
            let low = |a, b| _mm256_castps_pd(_mm256_unpacklo_ps(a, b));
            let high = |a, b| _mm256_castps_pd(_mm256_unpackhi_ps(a, b));
            let (ab, cd) = (low(a, b), low(c, d));
            let store = |r: usize, row: __m256d| {
                _mm256_storeu_pd(to.add((4 * half + r) * to_row).cast(), row);
            };
            store(0, _mm256_unpacklo_pd(ab, cd));
            store(1, _mm256_unpackhi_pd(ab, cd));
            let (ab, cd) = (high(a, b), high(c, d));
            store(2, _mm256_unpacklo_pd(ab, cd));
            store(3, _mm256_unpackhi_pd(ab, cd));
        }
    }
}

/// Writes the transpose of four rows of four numbers, `from_row` and `to_row` apart.
///
/// # Safety
/// All elements are valid on both sides.
#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx2")]
pub(super) unsafe fn turn_four_doubles(
    from: *const f64,
    from_row: isize,
    to: *mut f64,
    to_row: usize,
) {
    use std::arch::x86_64::*;
    // SAFETY: promised by the caller.
    unsafe {
        let pair = |r: isize, half: usize| {
            let row = |r: isize| _mm_loadu_pd(from.offset(r * from_row).add(2 * half));
            _mm256_insertf128_pd::<1>(_mm256_castpd128_pd256(row(r)), row(r + 2))
        };
        for half in [0, 1] {
            let (a, b) = (pair(0, half), pair(1, half));
            let store = |r: usize, row: __m256d| {
                _mm256_storeu_pd(to.add((2 * half + r) * to_row), row);
            };
            store(0, _mm256_unpacklo_pd(a, b));
            store(1, _mm256_unpackhi_pd(a, b));
        }
    }
}

/// Writes the transpose of two rows of two elements of sixteen bytes, here pairs of numbers, `from_row` and `to_row` elements apart.
///
/// # Safety
/// All elements are valid on both sides.
#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx2")]
pub(super) unsafe fn turn_two(
    from: *const [f64; 2],
    from_row: isize,
    to: *mut [f64; 2],
    to_row: usize,
) {
    use std::arch::x86_64::*;
    // SAFETY: promised by the caller.
    unsafe {
        let row = |r: isize| _mm256_loadu_pd(from.offset(r * from_row).cast());
        let (a, b) = (row(0), row(1));
        _mm256_storeu_pd(to.cast(), _mm256_permute2f128_pd::<0x20>(a, b));
        _mm256_storeu_pd(to.add(to_row).cast(), _mm256_permute2f128_pd::<0x31>(a, b));
    }
}

/// Writes the transpose of 32 rows of sixteen bytes, `from_row` and `to_row` apart: [`turn_bytes`] on both halves of registers.
///
/// # Safety
/// All elements are valid on both sides.
#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx2")]
pub(super) unsafe fn turn_bytes_twice(
    from: *const u8,
    from_row: isize,
    to: *mut u8,
    to_row: usize,
) {
    use std::arch::x86_64::*;
    // SAFETY: promised by the caller.
    unsafe {
        let mut rows = [_mm256_setzero_si256(); 16];
        for (r, row) in rows.iter_mut().enumerate() {
            let row_at = |r: usize| _mm_loadu_si128(from.offset(r as isize * from_row).cast());
            *row = _mm256_inserti128_si256::<1>(_mm256_castsi128_si256(row_at(r)), row_at(r + 16));
        }
        weave!(rows, 4 rounds of _mm256_unpacklo_epi8, _mm256_unpackhi_epi8);
        for (r, row) in rows.iter().enumerate() {
            _mm256_storeu_si256(to.add(r * to_row).cast(), *row);
        }
    }
}

/// Writes the transpose of sixteen rows of eight elements of 16 bits, `from_row` and `to_row` apart: [`turn_pairs`] on both halves of registers.
///
/// # Safety
/// All elements are valid on both sides.
#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx2")]
pub(super) unsafe fn turn_pairs_twice(
    from: *const u16,
    from_row: isize,
    to: *mut u16,
    to_row: usize,
) {
    use std::arch::x86_64::*;
    // SAFETY: promised by the caller.
    unsafe {
        let mut rows = [_mm256_setzero_si256(); 8];
        for (r, row) in rows.iter_mut().enumerate() {
            let row_at = |r: usize| _mm_loadu_si128(from.offset(r as isize * from_row).cast());
            *row = _mm256_inserti128_si256::<1>(_mm256_castsi128_si256(row_at(r)), row_at(r + 8));
        }
        weave!(rows, 3 rounds of _mm256_unpacklo_epi16, _mm256_unpackhi_epi16);
        for (r, row) in rows.iter().enumerate() {
            _mm256_storeu_si256(to.add(r * to_row).cast(), *row);
        }
    }
}

/// The side of the squares that [`turn`] turns: what a register of 128 bits holds, four at least.
pub(super) const fn turned_at_once<T>() -> usize {
    match size_of::<T>() {
        1 => 16,
        2 => 8,
        _ => 4,
    }
}

/// Writes the transpose of a square of elements, [`turned_at_once`] on each side, whose rows are
/// `from_row` and `to_row` apart.
///
/// # Safety
/// All elements of the square are valid on both sides.
#[inline(always)]
pub(super) unsafe fn turn<T: Copy>(from: *const T, from_row: isize, to: *mut T, to_row: usize) {
    // SAFETY: the caller's promise; loads and stores are unaligned.
    unsafe {
        #[cfg(target_arch = "x86_64")]
        match size_of::<T>() {
            1 => return turn_bytes(from.cast(), from_row, to.cast(), to_row),
            2 => return turn_pairs(from.cast(), from_row, to.cast(), to_row),
            4 => return turn_words(from.cast(), from_row, to.cast(), to_row),
            8 => return turn_doubles(from.cast(), from_row, to.cast(), to_row),
            _ => {}
        }
        let side = turned_at_once::<T>();
        for i in 0..side {
            for j in 0..side {
                *to.add(i * to_row + j) = *from.offset(j as isize * from_row).add(i);
            }
        }
    }
}

/// [`turn`] for sixteen rows of sixteen bytes.
///
/// # Safety
/// As for [`turn`].
#[cfg(target_arch = "x86_64")]
#[inline(always)]
unsafe fn turn_bytes(from: *const u8, from_row: isize, to: *mut u8, to_row: usize) {
    use std::arch::x86_64::*;
    // SAFETY: promised by the caller; all processors of this architecture have the instructions.
    unsafe {
        let mut rows = [_mm_setzero_si128(); 16];
        for (r, row) in rows.iter_mut().enumerate() {
            *row = _mm_loadu_si128(from.offset(r as isize * from_row).cast());
        }
        weave!(rows, 4 rounds of _mm_unpacklo_epi8, _mm_unpackhi_epi8);
        for (r, row) in rows.iter().enumerate() {
            _mm_storeu_si128(to.add(r * to_row).cast(), *row);
        }
    }
}

/// [`turn`] for eight rows of eight elements of 16 bits.
///
/// # Safety
/// As for [`turn`].
#[cfg(target_arch = "x86_64")]
#[inline(always)]
unsafe fn turn_pairs(from: *const u16, from_row: isize, to: *mut u16, to_row: usize) {
    use std::arch::x86_64::*;
    // SAFETY: promised by the caller; all processors of this architecture have the instructions.
    unsafe {
        let mut rows = [_mm_setzero_si128(); 8];
        for (r, row) in rows.iter_mut().enumerate() {
            *row = _mm_loadu_si128(from.offset(r as isize * from_row).cast());
        }
        weave!(rows, 3 rounds of _mm_unpacklo_epi16, _mm_unpackhi_epi16);
        for (r, row) in rows.iter().enumerate() {
            _mm_storeu_si128(to.add(r * to_row).cast(), *row);
        }
    }
}

/// [`turn`] for four rows of four elements of 32 bits.
///
/// # Safety
/// As for [`turn`].
#[cfg(target_arch = "x86_64")]
#[inline(always)]
unsafe fn turn_words(from: *const f32, from_row: isize, to: *mut f32, to_row: usize) {
    use std::arch::x86_64::*;
    // SAFETY: promised by the caller; all processors of this architecture have the instructions.
    unsafe {
        let mut row0 = _mm_loadu_ps(from);
        let mut row1 = _mm_loadu_ps(from.offset(from_row));
        let mut row2 = _mm_loadu_ps(from.offset(2 * from_row));
        let mut row3 = _mm_loadu_ps(from.offset(3 * from_row));
        _MM_TRANSPOSE4_PS(&mut row0, &mut row1, &mut row2, &mut row3);
        _mm_storeu_ps(to, row0);
        _mm_storeu_ps(to.add(to_row), row1);
        _mm_storeu_ps(to.add(2 * to_row), row2);
        _mm_storeu_ps(to.add(3 * to_row), row3);
    }
}

/// [`turn`] for four rows of four elements of 64 bits.
///
/// # Safety
/// As for [`turn`].
#[cfg(target_arch = "x86_64")]
#[inline(always)]
unsafe fn turn_doubles(from: *const f64, from_row: isize, to: *mut f64, to_row: usize) {
    use std::arch::x86_64::*;
    // SAFETY: promised by the caller; all processors of this architecture have the instructions.
    unsafe {
        for j in [0, 2] {
            for i in [0, 2] {
                let from = from.offset(j as isize * from_row).add(i);
                let to = to.add(i * to_row + j);
                let (a, b) = (_mm_loadu_pd(from), _mm_loadu_pd(from.offset(from_row)));
                _mm_storeu_pd(to, _mm_unpacklo_pd(a, b));
                _mm_storeu_pd(to.add(to_row), _mm_unpackhi_pd(a, b));
            }
        }
    }
}
