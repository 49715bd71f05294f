//! The innermost kernels: one tile of the product, kept in registers over the whole inner loop.
//!
//! A tile of `MR` rows and `NV` vectors of columns holds `MR * NV` accumulators; every step of the
//! inner dimension loads `NV` vectors of the right operand and broadcasts `MR` numbers of the left
//! one. With 14 × 2 of the 32 registers of AVX-512 (6 × 2 of 16 with AVX2) the loop is bound by
//! multiply-adds, not by loads. Complex tiles keep real and imaginary parts apart: 12 × 1 × 2.

use num_complex::Complex;

use super::gemv;
use super::pack::{self, Panel};
use crate::runtime::simd::{
    Arithmetic, BrainPair, Isa, Lanes, Pair, Simd, multiplies_brain_pairs, prefetch,
};
#[cfg(target_arch = "x86_64")]
use crate::runtime::simd::{
    BrainPairs16, C64x4, C64x8, C128x2, C128x4, F32x8, F32x16, F64x4, F64x8, I16x32, I32x8, I32x16,
    I64x4, I64x8, Pairs8, Pairs16, Truth64, WidePairs16,
};

/// One tile: `Σ_p a[i][p] * b[p][j]` over all segments of the inner dimension, put into, added to or subtracted from `c[i][j]`, for the rows of the function that is called.
pub(in crate::runtime) struct Tile<'a, T> {
    /// The length of one segment of the inner dimension.
    pub(in crate::runtime) depth: usize,
    /// Where each segment begins in `a`, relative to `a`; in `b` they follow one another.
    pub(in crate::runtime) segments: &'a [isize],
    pub(in crate::runtime) a: *const T,
    /// Distance between rows of `a`, in elements.
    pub(in crate::runtime) a_row: isize,
    /// Distance along the inner dimension of `a`.
    pub(in crate::runtime) a_step: isize,
    pub(in crate::runtime) b: *const T,
    /// Distance between rows of `b`, whose columns are adjacent.
    pub(in crate::runtime) b_step: isize,
    pub(in crate::runtime) c: *mut T,
    /// Distance between rows of `c`, whose columns are adjacent.
    pub(in crate::runtime) c_row: isize,
    /// Number of columns, within the range of the function that is called.
    pub(in crate::runtime) columns: usize,
    /// Whether `b` is a packed panel, which may be read up to the full width of the tile.
    pub(in crate::runtime) b_packed: bool,
    /// What happens to `c`.
    pub(in crate::runtime) update: Update,
}

/// What happens to the place of a product's result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::runtime) enum Update {
    /// It is overwritten.
    Set,
    /// The product is added.
    Add,
    /// The product is subtracted.
    Subtract,
}

impl Update {
    /// What stands in the place of `old` afterwards.
    ///
    /// # Safety
    /// The machine has the instruction set of `S`.
    #[inline(always)]
    unsafe fn of<S: Simd>(self, value: S, old: impl FnOnce() -> S) -> S {
        // SAFETY: the caller has the instruction set.
        unsafe {
            match self {
                Update::Set => value,
                Update::Add => old().add(value),
                Update::Subtract => old().sub(value),
            }
        }
    }
}

/// # Safety
/// The machine has the instruction set of the kernel set, and all elements that the tile names are
/// valid.
pub(in crate::runtime) type TileFunction<T> = unsafe fn(&Tile<'_, T>);

/// The innermost functions for one element type on one instruction set.
pub struct Kernels<T: 'static> {
    /// Columns of the widest tile, which is the width of packed panels of the right operand.
    pub(in crate::runtime) columns: usize,
    /// Columns up to which the narrow function is to be used.
    pub(in crate::runtime) narrow: usize,
    /// Narrow and wide tile functions by number of rows minus one.
    pub(in crate::runtime) tiles: &'static [[TileFunction<T>; 2]],
    /// Whether tiles can read the right operand in place.
    pub(in crate::runtime) reads_in_place: bool,
    /// Copies a panel of the left operand.
    pub(in crate::runtime) pack_left: unsafe fn(&Panel<T>),
    /// Copies a panel of the right operand.
    pub(in crate::runtime) pack_right: unsafe fn(&Panel<T>),
    /// Products of a matrix and a vector.
    pub(super) dot_rows: unsafe fn(&gemv::DotRows<T>),
    pub(super) combine_rows: unsafe fn(&gemv::CombineRows<T>),
    /// Matrices that are read once for a few vectors.
    pub(super) few_vectors: FewVectors,
}

/// From how many elements on, and how many rows and columns at least, a matrix is better read once for a few vectors than multiplied by tiles.
pub(super) struct FewVectors {
    pub(super) elements: usize,
    pub(super) side: usize,
}

impl<T> Kernels<T> {
    /// The most rows of a tile.
    pub(in crate::runtime) fn rows(&self) -> usize {
        self.tiles.len()
    }

    /// The function for a tile of this many rows and columns.
    pub(in crate::runtime) fn tile(&self, rows: usize, columns: usize) -> TileFunction<T> {
        self.tiles[rows - 1][usize::from(columns > self.narrow)]
    }
}

/// Steps from which a tile is long enough to hide the way of its result from memory.
const LONG: usize = 64;

/// # Safety
/// As [`TileFunction`].
#[inline(always)]
unsafe fn real_tile<S: Simd, const MR: usize, const NV: usize>(t: &Tile<'_, S::Elem>) {
    // SAFETY: the caller promises the instruction set; all addresses are elements of the tile.
    unsafe {
        let last = t.columns - (NV - 1) * S::LANES;
        let mut acc = [[S::splat(S::Elem::ZERO); NV]; MR];
        let mut b = t.b;
        // The result is on its way while the sums are made; where its rows lie far apart, no other hint of it comes in time.
        if t.depth >= LONG {
            for i in 0..MR {
                let row = t.c.wrapping_offset(i as isize * t.c_row);
                for j in 0..NV {
                    prefetch(row.wrapping_add(j * S::LANES));
                }
            }
        }
        macro_rules! inner_loop {
            ($load_last:expr, $a_row:expr) => {
                for &segment in t.segments {
                    let mut a = t.a.wrapping_offset(segment);
                    for _ in 0..t.depth {
                        let mut row = [S::splat(S::Elem::ZERO); NV];
                        for j in 0..NV - 1 {
                            row[j] = S::load(b.add(j * S::LANES));
                        }
                        row[NV - 1] = $load_last(b.add((NV - 1) * S::LANES));
                        for i in 0..MR {
                            let x = S::splat(*a.offset(i as isize * $a_row));
                            for j in 0..NV {
                                acc[i][j] = x.mul_add(row[j], acc[i][j]);
                            }
                        }
                        // The last step may lead past the operand; such an address is not read.
                        a = a.wrapping_offset(t.a_step);
                        b = b.wrapping_offset(t.b_step);
                    }
                }
            };
        }
        // A row distance of 1 (a packed panel) is worth its own code: offsets become constants.
        match (t.b_packed || last == S::LANES, t.a_row) {
            (true, 1) => inner_loop!(|from| S::load(from), 1),
            (true, a_row) => inner_loop!(|from| S::load(from), a_row),
            (false, a_row) => inner_loop!(|from| S::load_first(from, last), a_row),
        }
        // A short loop for each case: a longer one is not unrolled, and indices that are not
        // constant would keep the accumulators in memory, in the inner loop too.
        macro_rules! write {
            ($whole:expr, $update:expr) => {
                for i in 0..MR {
                    let c = t.c.offset(i as isize * t.c_row);
                    for j in 0..$whole {
                        let to = c.add(j * S::LANES);
                        $update.of(acc[i][j], || S::load(to)).store(to);
                    }
                    if $whole < NV {
                        let to = c.add($whole * S::LANES);
                        let new = $update.of(acc[i][NV - 1], || S::load_first(to, last));
                        new.store_first(to, last);
                    }
                }
            };
        }
        match (t.update, last == S::LANES) {
            (Update::Set, true) => write!(NV, Update::Set),
            (Update::Set, false) => write!(NV - 1, Update::Set),
            (Update::Add, true) => write!(NV, Update::Add),
            (Update::Add, false) => write!(NV - 1, Update::Add),
            (Update::Subtract, true) => write!(NV, Update::Subtract),
            (Update::Subtract, false) => write!(NV - 1, Update::Subtract),
        }
    }
}

/// A tile of complex numbers; the right operand is a panel of [`pack::pack_split`].
///
/// # Safety
/// As [`TileFunction`].
#[inline(always)]
unsafe fn complex_tile<S: Simd, const MR: usize>(t: &Tile<'_, Complex<S::Elem>>) {
    const MAX_LANES: usize = 16;
    // SAFETY: the caller promises the instruction set; all addresses are elements of the tile.
    unsafe {
        let zero = S::splat(S::Elem::ZERO);
        let (mut re, mut im) = ([zero; MR], [zero; MR]);
        let mut b = t.b.cast::<S::Elem>();
        for &segment in t.segments {
            let mut a = t.a.wrapping_offset(segment);
            for _ in 0..t.depth {
                let (b_re, b_im) = (S::load(b), S::load(b.add(S::LANES)));
                for i in 0..MR {
                    let x = a.offset(i as isize * t.a_row).cast::<S::Elem>();
                    let (x_re, x_im) = (S::splat(*x), S::splat(*x.add(1)));
                    re[i] = x_im.neg_mul_add(b_im, x_re.mul_add(b_re, re[i]));
                    im[i] = x_im.mul_add(b_re, x_re.mul_add(b_im, im[i]));
                }
                a = a.wrapping_offset(t.a_step);
                b = b.wrapping_add(2 * S::LANES);
            }
        }
        // A loop of its own, so short that it is unrolled: an index that is not constant would keep the sums in memory, in the inner loop too.
        let mut sums = [[[S::Elem::ZERO; MAX_LANES]; 2]; MR];
        for i in 0..MR {
            re[i].store(sums[i][0].as_mut_ptr());
            im[i].store(sums[i][1].as_mut_ptr());
        }
        for (i, [re, im]) in sums.iter().enumerate() {
            let c = t.c.offset(i as isize * t.c_row);
            for j in 0..t.columns {
                let to = &mut *c.add(j);
                let value = Complex {
                    re: re[j],
                    im: im[j],
                };
                *to = match t.update {
                    Update::Set => value,
                    Update::Add => to.plus(value),
                    Update::Subtract => to.minus(value),
                };
            }
        }
    }
}

macro_rules! instantiate {
    ($module:ident $(, $cfg:meta, $features:literal)?) => {
        $(#[cfg($cfg)])?
        mod $module {
            //! The kernels, compiled for one instruction set.
            use super::*;

            $(#[target_feature(enable = $features)])?
            pub(super) unsafe fn real_tile<S: Simd, const MR: usize, const NV: usize>(t: &Tile<'_, S::Elem>) {
                // SAFETY: the caller's promise, passed on.
                unsafe { super::real_tile::<S, MR, NV>(t) }
            }

            $(#[target_feature(enable = $features)])?
            pub(super) unsafe fn pack<S: Simd>(panel: &Panel<S::Elem>) {
                // SAFETY: the caller's promise, passed on.
                unsafe { pack::pack_panel::<S>(panel) }
            }

            $(#[target_feature(enable = $features)])?
            pub(super) unsafe fn dot_rows<S: Simd>(call: &gemv::DotRows<S::Elem>) {
                // SAFETY: the caller's promise, passed on.
                unsafe { gemv::dot_rows::<S>(call) }
            }

            $(#[target_feature(enable = $features)])?
            pub(super) unsafe fn combine_rows<S: Simd>(call: &gemv::CombineRows<S::Elem>) {
                // SAFETY: the caller's promise, passed on.
                unsafe { gemv::combine_rows::<S>(call) }
            }
        }
    };
}
instantiate!(
    avx512,
    target_arch = "x86_64",
    "avx512f,avx512vl,avx512dq,avx512bw,avx2,fma"
);
instantiate!(
    avx512vnni,
    target_arch = "x86_64",
    "avx512f,avx512vl,avx512dq,avx512bw,avx512vnni,avx2,fma"
);
instantiate!(
    avx512bf16,
    target_arch = "x86_64",
    "avx512f,avx512vl,avx512dq,avx512bw,avx512bf16,avx2,fma"
);
instantiate!(avx2, target_arch = "x86_64", "avx2,fma");
instantiate!(portable);

macro_rules! instantiate_complex {
    ($module:ident $(, $cfg:meta, $features:literal)?) => {
        $(#[cfg($cfg)])?
        mod $module {
            //! The kernels of complex numbers alone, compiled for one instruction set.
            use super::*;

            $(#[target_feature(enable = $features)])?
            pub(super) unsafe fn complex_tile<S: Simd, const MR: usize>(t: &Tile<'_, Complex<S::Elem>>) {
                // SAFETY: the caller's promise, passed on.
                unsafe { super::complex_tile::<S, MR>(t) }
            }

            $(#[target_feature(enable = $features)])?
            pub(super) unsafe fn pack_split<S: Simd>(panel: &Panel<Complex<S::Elem>>) {
                // SAFETY: the caller's promise, passed on.
                unsafe { pack::pack_split(panel) }
            }
        }
    };
}
instantiate_complex!(
    complex_avx512,
    target_arch = "x86_64",
    "avx512f,avx512vl,avx512dq,avx512bw,avx2,fma"
);
instantiate_complex!(complex_avx2, target_arch = "x86_64", "avx2,fma");
instantiate_complex!(complex_portable);

/// Element types that can be multiplied.
pub trait HasKernels: Sized + 'static {
    /// The innermost functions for this machine.
    fn kernels() -> &'static Kernels<Self>;
}

macro_rules! real_kernels {
    ($isa:ident, $vector:ty, $($rows:literal)*) => {
        &Kernels {
            columns: 2 * <$vector as Simd>::LANES,
            narrow: <$vector as Simd>::LANES,
            tiles: &[$([$isa::real_tile::<$vector, $rows, 1>, $isa::real_tile::<$vector, $rows, 2>]),*],
            reads_in_place: true,
            pack_left: $isa::pack::<$vector>,
            pack_right: $isa::pack::<$vector>,
            dot_rows: $isa::dot_rows::<$vector>,
            combine_rows: $isa::combine_rows::<$vector>,
            few_vectors: FewVectors { elements: 1 << 15, side: 64 },
        }
    };
}

macro_rules! complex_kernels {
    ($isa:ident, $complex:ident, $vector:ty, $numbers:ty, $t:ty, $($rows:literal)*) => {
        &Kernels {
            columns: <$vector as Simd>::LANES,
            narrow: <$vector as Simd>::LANES,
            tiles: &[$([$complex::complex_tile::<$vector, $rows>; 2]),*],
            reads_in_place: false,
            pack_left: $isa::pack::<Lanes<Complex<$t>, 2>>,
            pack_right: $complex::pack_split::<$vector>,
            dot_rows: $isa::dot_rows::<$numbers>,
            combine_rows: $isa::combine_rows::<$numbers>,
            few_vectors: FewVectors { elements: 1 << 10, side: 16 },
        }
    };
}

macro_rules! float_kernels {
    ($t:ty, $wide:ident, $narrow:ident, $portable:ty, $complex_wide:ident, $complex_narrow:ident) => {
        impl HasKernels for $t {
            fn kernels() -> &'static Kernels<Self> {
                match Isa::detect() {
                    #[cfg(target_arch = "x86_64")]
                    Isa::Avx512 => real_kernels!(avx512, $wide, 1 2 3 4 5 6 7 8 9 10 11 12 13 14),
                    #[cfg(target_arch = "x86_64")]
                    Isa::Avx2 => real_kernels!(avx2, $narrow, 1 2 3 4 5 6),
                    Isa::Portable => real_kernels!(portable, $portable, 1 2 3 4),
                }
            }
        }

        impl HasKernels for Complex<$t> {
            fn kernels() -> &'static Kernels<Self> {
                match Isa::detect() {
                    #[cfg(target_arch = "x86_64")]
                    Isa::Avx512 => complex_kernels!(avx512, complex_avx512, $wide, $complex_wide, $t, 1 2 3 4 5 6 7 8 9 10 11 12),
                    #[cfg(target_arch = "x86_64")]
                    Isa::Avx2 => complex_kernels!(avx2, complex_avx2, $narrow, $complex_narrow, $t, 1 2 3 4 5),
                    Isa::Portable => complex_kernels!(portable, complex_portable, $portable, Lanes<Complex<$t>, 4>, $t, 1 2 3 4),
                }
            }
        }
    };
}
float_kernels!(f32, F32x16, F32x8, Lanes<f32, 4>, C64x8, C64x4);
float_kernels!(f64, F64x8, F64x4, Lanes<f64, 2>, C128x4, C128x2);

macro_rules! array_kernels {
    ($($t:ty, ($wide:ty, $($wide_rows:literal)*), ($narrow:ty, $($rows:literal)*), $portable:ty;)*) => { $(
        impl HasKernels for $t {
            fn kernels() -> &'static Kernels<Self> {
                match Isa::detect() {
                    #[cfg(target_arch = "x86_64")]
                    Isa::Avx512 => real_kernels!(avx512, $wide, $($wide_rows)*),
                    #[cfg(target_arch = "x86_64")]
                    Isa::Avx2 => real_kernels!(avx2, $narrow, $($rows)*),
                    Isa::Portable => real_kernels!(portable, $portable, 1 2 3 4),
                }
            }
        }
    )* };
}
// Unsigned integers are multiplied as signed ones: what is left of the products is the same.
array_kernels! {
    i8, (Lanes<i8, 64>, 1 2 3 4 5 6 7 8), (Lanes<i8, 32>, 1 2 3 4), Lanes<i8, 16>;
    i16, (I16x32, 1 2 3 4 5 6 7 8 9 10 11 12 13 14), (Lanes<i16, 16>, 1 2 3 4), Lanes<i16, 8>;
    i32, (I32x16, 1 2 3 4 5 6 7 8 9 10 11 12 13 14), (I32x8, 1 2 3 4 5 6), Lanes<i32, 4>;
    i64, (I64x8, 1 2 3 4 5 6 7 8 9 10 11 12 13 14), (I64x4, 1 2 3 4), Lanes<i64, 2>;
    super::Truth, (Truth64, 1 2 3 4 5 6 7 8 9 10 11 12 13 14), (Lanes<super::Truth, 16>, 1 2 3 4), Lanes<super::Truth, 16>;
}

impl HasKernels for Pair {
    fn kernels() -> &'static Kernels<Self> {
        match Isa::detect() {
            #[cfg(target_arch = "x86_64")]
            Isa::Avx512 if is_x86_feature_detected!("avx512vnni") => {
                real_kernels!(avx512vnni, WidePairs16, 1 2 3 4 5 6 7 8 9 10 11 12 13 14)
            }
            #[cfg(target_arch = "x86_64")]
            Isa::Avx512 => real_kernels!(avx512, Pairs16, 1 2 3 4 5 6 7 8 9 10 11 12 13 14),
            #[cfg(target_arch = "x86_64")]
            Isa::Avx2 => real_kernels!(avx2, Pairs8, 1 2 3 4 5 6),
            Isa::Portable => real_kernels!(portable, Lanes<Pair, 4>, 1 2 3 4),
        }
    }
}

impl HasKernels for BrainPair {
    fn kernels() -> &'static Kernels<Self> {
        #[cfg(target_arch = "x86_64")]
        if multiplies_brain_pairs() {
            return real_kernels!(avx512bf16, BrainPairs16, 1 2 3 4 5 6 7 8 9 10 11 12 13 14);
        }
        real_kernels!(portable, Lanes<BrainPair, 4>, 1 2 3 4)
    }
}
