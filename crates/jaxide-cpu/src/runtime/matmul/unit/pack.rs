//! The right operand as the unit reads it: in a tile, row `r` has for each of sixteen columns the elements of the four bytes
//! `4r..4r + 4` of the column's part of the inner dimension.

use std::arch::x86_64::*;

use super::amx::{BYTES, COLUMNS, ROWS};

/// Bytes of a tile.
pub(super) const TILE: usize = ROWS * BYTES;

/// Up to 32 columns of the right operand, of all steps; elements of one byte or two.
pub(super) struct Panel {
    /// The first element of the first column.
    pub(super) from: *const u8,
    /// The distance, in bytes, of columns or of steps of one element along them; the other is that of neighbours.
    pub(super) stride: isize,
    /// Columns that there are.
    pub(super) columns: usize,
    /// Elements of each column.
    pub(super) depth: usize,
    /// Tiles for each step of 64 bytes.
    pub(super) to: *mut u8,
}

impl Panel {
    fn tiles(&self) -> usize {
        self.columns.div_ceil(COLUMNS)
    }
}

/// Packs columns whose own elements are neighbours: words of four bytes are transposed.
///
/// # Safety
/// The machine has AVX-512 with BW. `depth` elements of each column are valid, and the tiles that they fill.
#[target_feature(enable = "avx512f,avx512bw")]
pub(super) unsafe fn pack_columns(panel: &Panel, element: usize) {
    let bytes = panel.depth * element;
    for (step, start) in (0..bytes).step_by(BYTES).enumerate() {
        let mask = first(BYTES.min(bytes - start));
        for tile in 0..panel.tiles() {
            let columns = COLUMNS.min(panel.columns - tile * COLUMNS);
            let mut rows = [_mm512_setzero_si512(); ROWS];
            for (column, row) in rows.iter_mut().enumerate() {
                if column < columns {
                    let column = (tile * COLUMNS + column) as isize;
                    // SAFETY: the mask leaves out what lies behind the column.
                    *row = unsafe {
                        let from = panel.from.offset(column * panel.stride).add(start);
                        _mm512_maskz_loadu_epi8(mask, from.cast())
                    };
                }
            }
            turn(&mut rows);
            let to = panel
                .to
                .wrapping_add((step * panel.tiles() + tile) * TILE)
                .cast::<__m512i>();
            for (row, value) in rows.into_iter().enumerate() {
                // SAFETY: the row is one of the panel's tiles.
                unsafe { _mm512_storeu_si512(to.add(row), value) };
            }
        }
    }
}

/// Packs columns of which the elements of one step are neighbours: rows are woven.
///
/// # Safety
/// As [`pack_columns`].
#[target_feature(enable = "avx512f,avx512bw")]
pub(super) unsafe fn pack_rows<const ELEMENT: usize>(panel: &Panel) {
    let mask = first(panel.columns) as u32;
    let row = |p: usize| {
        if p >= panel.depth {
            return _mm512_setzero_si512();
        }
        // SAFETY: the row is one of the operand's, and the mask leaves out columns that are not.
        unsafe {
            let from = panel.from.offset(p as isize * panel.stride);
            if ELEMENT == 2 {
                _mm512_maskz_loadu_epi16(mask, from.cast())
            } else {
                _mm512_maskz_cvtepi8_epi16(!0, load_bytes(from, mask))
            }
        }
    };
    let low_half = _mm512_set1_epi16(0xff);
    // Two rows of bytes as one of words, the first in the lower half.
    let words = |p: usize| {
        if ELEMENT == 2 {
            return row(p);
        }
        let (low, high) = (row(2 * p), row(2 * p + 1));
        _mm512_or_si512(
            _mm512_and_si512(low, low_half),
            _mm512_slli_epi16::<8>(high),
        )
    };
    let (left, right) = weaving();
    let steps = (panel.depth * ELEMENT).div_ceil(BYTES);
    let tiles = panel.tiles();
    for step in 0..steps {
        for r in 0..ROWS {
            let p = 2 * (step * ROWS + r);
            let (even, odd) = (words(p), words(p + 1));
            let to = panel.to.wrapping_add(step * tiles * TILE + r * BYTES);
            // SAFETY: the rows are those of the panel's tiles.
            unsafe {
                _mm512_storeu_si512(to.cast(), _mm512_permutex2var_epi16(even, left, odd));
                if tiles > 1 {
                    let second = _mm512_permutex2var_epi16(even, right, odd);
                    _mm512_storeu_si512(to.add(TILE).cast(), second);
                }
            }
        }
    }
}

/// Up to 32 bytes.
///
/// # Safety
/// As [`pack_columns`]; bytes in the mask are valid.
#[target_feature(enable = "avx512f,avx512bw")]
unsafe fn load_bytes(from: *const u8, mask: u32) -> __m256i {
    // SAFETY: the caller's promise.
    unsafe { _mm512_castsi512_si256(_mm512_maskz_loadu_epi8(u64::from(mask), from.cast())) }
}

/// The places in two rows of words from which the first and the second sixteen pairs of neighbours come.
#[target_feature(enable = "avx512f")]
fn weaving() -> (__m512i, __m512i) {
    let mut places = [[0i16; 32]; 2];
    for (half, places) in places.iter_mut().enumerate() {
        for (i, place) in places.iter_mut().enumerate() {
            *place = (16 * half + i / 2 + 32 * (i % 2)) as i16;
        }
    }
    // SAFETY: an array is as large as a register.
    places
        .map(|places| unsafe { _mm512_loadu_si512(places.as_ptr().cast()) })
        .into()
}

/// The lowest `count` bits.
pub(super) fn first(count: usize) -> u64 {
    if count >= 64 { !0 } else { (1 << count) - 1 }
}

/// Transposes a square of words of four bytes.
#[target_feature(enable = "avx512f")]
fn turn(rows: &mut [__m512i; 16]) {
    for i in (0..16).step_by(2) {
        let (a, b) = (rows[i], rows[i + 1]);
        (rows[i], rows[i + 1]) = (_mm512_unpacklo_epi32(a, b), _mm512_unpackhi_epi32(a, b));
    }
    for i in (0..16).step_by(4) {
        let [a, b, c, d] = [rows[i], rows[i + 1], rows[i + 2], rows[i + 3]];
        rows[i] = _mm512_unpacklo_epi64(a, c);
        rows[i + 1] = _mm512_unpackhi_epi64(a, c);
        rows[i + 2] = _mm512_unpacklo_epi64(b, d);
        rows[i + 3] = _mm512_unpackhi_epi64(b, d);
    }
    for i in 0..4 {
        let [a, b, c, d] = [rows[i], rows[i + 4], rows[i + 8], rows[i + 12]];
        let even = [
            _mm512_shuffle_i32x4::<0x88>(a, b),
            _mm512_shuffle_i32x4::<0x88>(c, d),
        ];
        let odd = [
            _mm512_shuffle_i32x4::<0xdd>(a, b),
            _mm512_shuffle_i32x4::<0xdd>(c, d),
        ];
        rows[i] = _mm512_shuffle_i32x4::<0x88>(even[0], even[1]);
        rows[i + 4] = _mm512_shuffle_i32x4::<0x88>(odd[0], odd[1]);
        rows[i + 8] = _mm512_shuffle_i32x4::<0xdd>(even[0], even[1]);
        rows[i + 12] = _mm512_shuffle_i32x4::<0xdd>(odd[0], odd[1]);
    }
}
