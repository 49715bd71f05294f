//! Copies of strided views into dense arrays: transposes, reversals, broadcasts.
//!
//! Dimensions are merged where possible, then the two that matter are walked in tiles: the one
//! along which the source is (most nearly) adjacent and the last of the result. Tiles keep both the
//! lines read and the lines written in the first-level cache; rows of tiles are shared out over
//! threads.

mod turn;

use std::mem::MaybeUninit;

use turn::{turn, turned_at_once};
#[cfg(target_arch = "x86_64")]
use turn::{
    turn_bytes_twice, turn_eight, turn_eight_words, turn_four, turn_four_doubles, turn_pairs_twice,
    turn_sixteen, turn_two,
};

use super::simd::Isa;
use super::view::View;
use super::{Buffers, Context, Kernel, KernelError, Signature};

/// The kernel that copies a view into a dense row-major array. Elements are opaque, of 1, 2, 4, 8
/// or 16 bytes.
pub struct CopyView {
    plan: CopyPlan,
    view: View,
    element: usize,
}

impl CopyView {
    /// A copy of `view` whose elements have `element` bytes.
    ///
    /// # Panics
    /// If the view leaves its buffer, or the element size is not one of those above.
    pub fn new(view: &View, element: usize) -> Self {
        assert!(
            matches!(element, 1 | 2 | 4 | 8 | 16),
            "elements of {element} bytes"
        );
        Self {
            plan: CopyPlan::new(view),
            view: view.clone(),
            element,
        }
    }

    /// The transpose of a dense array of this shape: dimension `permutation[a]` becomes dimension
    /// `a`.
    ///
    /// # Panics
    /// As [`Self::new`], and if an entry of `permutation` is not a dimension.
    pub fn transpose(shape: &[usize], permutation: &[usize], element: usize) -> Self {
        Self::new(&View::dense(shape).permuted(permutation), element)
    }
}

impl Kernel for CopyView {
    fn signature(&self) -> Signature {
        Signature::of(
            &[(self.view.elements, self.element)],
            &[(self.view.len(), self.element)],
        )
    }

    fn run(&self, buffers: &mut Buffers<'_>, context: &Context<'_>) -> Result<(), KernelError> {
        let (from, to) = (buffers.input::<u8>(0), buffers.output::<u8>(0));
        self.plan.copy_bytes(self.element, from, to, context);
        Ok(())
    }
}

/// How to copy one view: a function of its shape and strides.
#[derive(Debug)]
pub(super) struct CopyPlan {
    offset: usize,
    elements: usize,
    len: usize,
    /// Dimensions that are walked one element at a time.
    outer: Vec<Dimension>,
    /// The two dimensions of a block: rows are cut into groups, columns are adjacent in the result.
    rows: Dimension,
    columns: Dimension,
    /// Whether neighbours in the source are neighbours along the rows rather than the columns.
    crosswise: bool,
}

/// A dimension of a copy: its size and the distances of neighbours in source and result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Dimension {
    size: usize,
    from: isize,
    to: usize,
}

/// Elements that make a chunk worth a thread's attention.
const CHUNK: usize = 1 << 14;

/// Bytes of a result that has no room beside its source in the second-level cache.
const FAR: usize = 3 << 19;

/// Elements that make up for the arithmetic of a group's place.
const FEW: usize = 1 << 11;

impl CopyPlan {
    /// # Panics
    /// If the view leaves its buffer.
    pub(super) fn new(view: &View) -> Self {
        view.check();
        let mut dimensions: Vec<Dimension> = Vec::new();
        let mut to = 1;
        for (&size, &from) in view.shape.iter().zip(&view.strides).rev() {
            match dimensions.last_mut() {
                Some(inner) if from == inner.from * inner.size as isize => inner.size *= size,
                _ if size == 1 => {}
                _ => dimensions.push(Dimension { size, from, to }),
            }
            to *= size;
        }
        let one = Dimension {
            size: 1,
            from: 1,
            to: 1,
        };
        let columns = if dimensions.is_empty() {
            one
        } else {
            dimensions.remove(0)
        };
        // Now the dimension of smallest stride, unless the columns already are adjacent or repeat.
        let nearest = (0..dimensions.len()).min_by_key(|&a| dimensions[a].from.unsigned_abs());
        let crosswise = columns.from != 1
            && nearest
                .is_some_and(|a| dimensions[a].from.unsigned_abs() < columns.from.unsigned_abs());
        let rows = match nearest {
            Some(a) if crosswise => dimensions.remove(a),
            Some(_) => dimensions.remove(0),
            None => one,
        };
        dimensions.reverse();
        Self {
            offset: view.offset,
            elements: view.elements,
            len: view.len(),
            outer: dimensions,
            rows,
            columns,
            crosswise,
        }
    }

    /// Elements of the result.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Copies the view of `from` into `to`, arrays of elements of 1, 2, 4, 8 or 16 bytes.
    ///
    /// # Panics
    /// If the buffers do not have the sizes of the view, or are not aligned for their elements.
    pub(super) fn copy_bytes(
        &self,
        element: usize,
        from: &[u8],
        to: &mut [u8],
        context: &Context<'_>,
    ) {
        use bytemuck::{cast_slice, cast_slice_mut};
        match element {
            1 => self.copy::<u8>(from, to, context),
            2 => self.copy::<u16>(cast_slice(from), cast_slice_mut(to), context),
            4 => self.copy::<u32>(cast_slice(from), cast_slice_mut(to), context),
            8 => self.copy::<u64>(cast_slice(from), cast_slice_mut(to), context),
            16 => self.copy::<[u64; 2]>(cast_slice(from), cast_slice_mut(to), context),
            _ => unreachable!("elements of {element} bytes"),
        }
    }

    /// Copies the view of `from` into `to`.
    ///
    /// # Panics
    /// If the buffers do not have the sizes of the view.
    pub(super) fn copy<T: Copy + Send + Sync>(
        &self,
        from: &[T],
        to: &mut [T],
        context: &Context<'_>,
    ) {
        assert_eq!(
            from.len(),
            self.elements,
            "the source has the size of the view's buffer"
        );
        assert_eq!(to.len(), self.len, "the result has the size of the view");
        if self.len == 0 {
            return;
        }
        struct Target<T>(*mut T);
        // SAFETY: units write disjoint ranges of the result.
        unsafe impl<T> Sync for Target<T> {}
        let target = &Target(to.as_mut_ptr());
        // Crosswise, a group is some rows of tiles: two, so that lines of the source that are neighbours are read together (rows of it may be pages
        // apart), more where they are short. Else it is about a quarter of a chunk.
        let isa = Isa::detect();
        let far = self.len * size_of::<T>() >= FAR;
        let group = if self.crosswise {
            let side = 64 / size_of::<T>();
            side * (FEW / (side * self.columns.size)).clamp(2, 8)
        } else {
            (CHUNK / 4 / self.columns.size).clamp(1, self.rows.size)
        };
        // Rows that would be less than a group belong to the last one, whose tiles overlap.
        let whole = self.crosswise && self.rows.size >= group;
        let groups = if whole {
            self.rows.size / group
        } else {
            self.rows.size.div_ceil(group)
        };
        // Long rows are cut, so that few of them are work for several threads; what would be less than a block belongs to the last one.
        let block = (CHUNK / group).next_multiple_of(STRIP);
        let blocks = (self.columns.size / block).max(1);
        let units = groups * blocks * self.outer.iter().map(|d| d.size).product::<usize>();
        let per_chunk = CHUNK.div_ceil(group * self.columns.size.min(block));
        context.parallel_for(units.div_ceil(per_chunk), |chunk| {
            for unit in chunk * per_chunk..units.min((chunk + 1) * per_chunk) {
                let column = unit % blocks * block;
                let columns = if unit % blocks == blocks - 1 {
                    self.columns.size - column
                } else {
                    block
                };
                let (unit, mut rest) = (unit / blocks % groups, unit / blocks / groups);
                let first = unit * group;
                let rows = if whole && unit == groups - 1 {
                    self.rows.size - first
                } else {
                    group.min(self.rows.size - first)
                };
                let (mut source, mut place) = (self.offset as isize, 0);
                for dimension in self.outer.iter().rev() {
                    source += (rest % dimension.size) as isize * dimension.from;
                    place += rest % dimension.size * dimension.to;
                    rest /= dimension.size;
                }
                source += first as isize * self.rows.from + column as isize * self.columns.from;
                place += first * self.rows.to + column;
                // SAFETY: the view lies inside its buffer (checked when the plan was made), the
                // block inside the view, and its place inside the result, which has its size.
                unsafe {
                    let block = Block {
                        from: from.as_ptr().offset(source),
                        from_row: self.rows.from,
                        from_column: self.columns.from,
                        to: target.0.add(place),
                        to_row: self.rows.to,
                    };
                    if self.crosswise {
                        block.transpose(rows, columns, far, isa);
                    } else {
                        block.copy_rows(rows, columns);
                    }
                }
            }
        });
    }
}

/// Copies `count` rows of `width` elements, which are `from_step` elements apart, to as many columns, of which each is adjacent in memory and `to_step`
/// elements behind the one before.
///
/// # Safety
/// All elements are valid on both sides, and no element of one is one of the other.
pub(super) unsafe fn rows_to_columns<T: Copy>(
    (from, from_step): (*const T, isize),
    (to, to_step): (*mut T, usize),
    (count, width): (usize, usize),
    isa: Isa,
) {
    let block = Block {
        from,
        from_row: 1,
        from_column: from_step,
        to,
        to_row: to_step,
    };
    // SAFETY: promised by the caller.
    unsafe { block.transpose(width, count, false, isa) }
}

/// Columns of a strip.
const STRIP: usize = 256;

/// A tile's rows of a strip, each of which has whole lines.
#[repr(align(64))]
struct Strip([MaybeUninit<u8>; 64 * STRIP]);

/// Copies bytes so that all lines but the first and last are written at once.
///
/// # Safety
/// `bytes`, 64 at least, are valid on both sides, and none of one is of the other.
#[inline(always)]
unsafe fn copy_lines(from: *const u8, to: *mut u8, bytes: usize) {
    // SAFETY: the caller's promise, for lines from `at` to `at + 64 <= bytes`.
    let copy = |at: usize| unsafe {
        let line = from.add(at).cast::<[u8; 64]>().read_unaligned();
        to.add(at).cast::<[u8; 64]>().write_unaligned(line);
    };
    copy(0);
    (to.align_offset(64)..=bytes - 64)
        .step_by(64)
        .for_each(copy);
    copy(bytes - 64);
}

/// A block of rows and columns; in the result, columns are adjacent.
#[derive(Clone, Copy)]
struct Block<T> {
    from: *const T,
    from_row: isize,
    from_column: isize,
    to: *mut T,
    to_row: usize,
}

impl<T: Copy> Block<T> {
    /// # Safety
    /// All elements of the block are valid.
    unsafe fn copy_rows(self, rows: usize, columns: usize) {
        for i in 0..rows {
            // SAFETY: row `i` is inside the block.
            unsafe {
                let (from, to) = (
                    self.from.offset(i as isize * self.from_row),
                    self.to.add(i * self.to_row),
                );
                match self.from_column {
                    1 if columns * size_of::<T>() > 64 => {
                        std::ptr::copy_nonoverlapping(from, to, columns)
                    }
                    1 => (0..columns).for_each(|j| *to.add(j) = *from.add(j)),
                    0 => std::slice::from_raw_parts_mut(to.cast::<MaybeUninit<T>>(), columns)
                        .fill(MaybeUninit::new(*from)),
                    step => (0..columns).for_each(|j| *to.add(j) = *from.offset(j as isize * step)),
                }
            }
        }
    }

    /// Copies with the widest registers there are: a line stored at once takes one place among the
    /// stores in flight, whose number limits the speed. The result is `far` if it is in no near cache.
    ///
    /// # Safety
    /// All elements of the block are valid.
    unsafe fn transpose(self, rows: usize, columns: usize, far: bool, isa: Isa) {
        #[cfg(target_arch = "x86_64")]
        #[target_feature(enable = "avx512f,avx512vl")]
        unsafe fn avx512<T: Copy>(block: Block<T>, rows: usize, columns: usize, far: bool) {
            // SAFETY: promised by the caller.
            unsafe { block.transpose_with_any(rows, columns, far, Isa::Avx512) }
        }
        #[cfg(target_arch = "x86_64")]
        #[target_feature(enable = "avx2")]
        unsafe fn avx2<T: Copy>(block: Block<T>, rows: usize, columns: usize, far: bool) {
            // SAFETY: promised by the caller.
            unsafe { block.transpose_with_any(rows, columns, far, Isa::Avx2) }
        }
        // SAFETY: promised by the caller; the machine has the instruction set.
        unsafe {
            match isa {
                #[cfg(target_arch = "x86_64")]
                Isa::Avx512 => avx512(self, rows, columns, far),
                #[cfg(target_arch = "x86_64")]
                Isa::Avx2 => avx2(self, rows, columns, far),
                Isa::Portable => self.transpose_with_any(rows, columns, far, isa),
            }
        }
    }

    /// # Safety
    /// All elements of the block are valid.
    #[inline(always)]
    unsafe fn transpose_with_any(self, rows: usize, columns: usize, far: bool, isa: Isa) {
        let side = 64 / size_of::<T>();
        let off_lines = !(self.to_row * size_of::<T>()).is_multiple_of(64);
        let fits = self.from_row == 1 && rows >= side && columns >= STRIP;
        // SAFETY: promised by the caller.
        unsafe {
            if far && off_lines && fits {
                self.transpose_by_strips(rows, columns, isa);
            } else {
                self.transpose_by_tiles(rows, columns, isa);
            }
        }
    }

    /// Copies strips of rows, which become adjacent in an array before they are written: where rows of the result do not begin with lines,
    /// every line of a tile lies in two of them, both of which would have to come from memory for it alone.
    ///
    /// # Safety
    /// All elements of the block are valid. It has the rows of a tile and the columns of a strip at least, and `from_row` is 1.
    #[inline(always)]
    unsafe fn transpose_by_strips(self, rows: usize, columns: usize, isa: Isa) {
        let side = 64 / size_of::<T>();
        let mut strip = Strip([MaybeUninit::uninit(); 64 * STRIP]);
        let turned = strip.0.as_mut_ptr().cast::<T>();
        for i in (0..rows).step_by(side).map(|i| i.min(rows - side)) {
            for j in (0..columns).step_by(STRIP).map(|j| j.min(columns - STRIP)) {
                // SAFETY: the strip is inside the block, and its tiles inside the array, whose rows have whole lines.
                unsafe {
                    let from = self.from.offset(j as isize * self.from_column).add(i);
                    let to = self.to.add(i * self.to_row + j);
                    let block = Self {
                        from,
                        to: turned,
                        to_row: STRIP,
                        ..self
                    };
                    block.transpose_by_tiles(side, STRIP, isa);
                    for r in 0..side {
                        copy_lines(
                            turned.add(r * STRIP).cast(),
                            to.add(r * self.to_row).cast(),
                            STRIP * size_of::<T>(),
                        );
                    }
                }
            }
        }
    }

    /// Copies square tiles whose sides are a cache line of the result, from registers: by way of an array, loads would wait for the
    /// narrower stores that they read, and those for all stores before them, which miss the caches. The last tiles of a side overlap those
    /// before, and write the same again.
    ///
    /// # Safety
    /// All elements of the block are valid.
    #[inline(always)]
    unsafe fn transpose_by_tiles(self, rows: usize, columns: usize, isa: Isa) {
        let side = 64 / size_of::<T>();
        // Smaller tiles where a whole one has no room.
        let small = turned_at_once::<T>();
        let fits = self.from_row == 1 && rows >= small && columns >= small;
        let full = fits && rows >= side && columns >= side;
        let side = if full || !fits { side } else { small };
        let start = |at: usize, size: usize| if fits { at.min(size - side) } else { at };
        for j in (0..columns).step_by(side).map(|j| start(j, columns)) {
            for i in (0..rows).step_by(side).map(|i| start(i, rows)) {
                let (height, width) = (side.min(rows - i), side.min(columns - j));
                // SAFETY: the tile is inside the block.
                unsafe {
                    let tile = Self {
                        from: self
                            .from
                            .offset(i as isize * self.from_row + j as isize * self.from_column),
                        to: self.to.add(i * self.to_row + j),
                        ..self
                    };
                    if full {
                        tile.transpose_tile(isa);
                    } else if fits {
                        turn(tile.from, tile.from_column, tile.to, tile.to_row);
                    } else {
                        tile.copy_rows(height, width);
                    }
                }
            }
        }
    }

    /// A full tile, its rows adjacent in the source.
    ///
    /// # Safety
    /// All elements of the tile are valid, and `from_row` is 1.
    #[inline(always)]
    unsafe fn transpose_tile(self, isa: Isa) {
        #[cfg(target_arch = "x86_64")]
        if isa == Isa::Avx512 {
            let (from_row, to_row) = (self.from_column, self.to_row);
            // SAFETY: as for this function; the machine has the instruction set.
            unsafe {
                match size_of::<T>() {
                    4 => return turn_sixteen(self.from.cast(), from_row, self.to.cast(), to_row),
                    8 => return turn_eight(self.from.cast(), from_row, self.to.cast(), to_row),
                    16 => return turn_four(self.from.cast(), from_row, self.to.cast(), to_row),
                    _ => {}
                }
            }
        }
        // Stores of 128 bits lie in one line more often where rows of pairs of bytes do not begin with lines.
        #[cfg(target_arch = "x86_64")]
        if isa != Isa::Portable && (size_of::<T>() != 2 || self.to_row.is_multiple_of(16)) {
            // Both halves of a line follow each other.
            let half = 32 / size_of::<T>();
            let (from_row, to_row) = (self.from_column, self.to_row);
            let rows = match size_of::<T>() {
                1 => 16,
                2 | 4 => 8,
                8 => 4,
                _ => 2,
            };
            for i in (0..2 * half).step_by(rows) {
                for j in [0, half] {
                    // SAFETY: as for this function; the machine has the instruction set.
                    unsafe {
                        let from = self.from.offset(j as isize * from_row).add(i);
                        let to = self.to.add(i * to_row + j);
                        match size_of::<T>() {
                            1 => turn_bytes_twice(from.cast(), from_row, to.cast(), to_row),
                            2 => turn_pairs_twice(from.cast(), from_row, to.cast(), to_row),
                            4 => turn_eight_words(from.cast(), from_row, to.cast(), to_row),
                            8 => turn_four_doubles(from.cast(), from_row, to.cast(), to_row),
                            _ => turn_two(from.cast(), from_row, to.cast(), to_row),
                        }
                    }
                }
            }
            return;
        }
        let (side, square) = (64 / size_of::<T>(), turned_at_once::<T>());
        // All of a line before the next one.
        for i in (0..side).step_by(square) {
            for j in (0..side).step_by(square) {
                // SAFETY: the tile has `side` rows and columns.
                unsafe {
                    let from = self.from.offset(j as isize * self.from_column).add(i);
                    turn(
                        from,
                        self.from_column,
                        self.to.add(i * self.to_row + j),
                        self.to_row,
                    );
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Copies the view through the kernel and through its definition.
    #[track_caller]
    fn check(view: &View) {
        fn typed<T: bytemuck::Pod + PartialEq + std::fmt::Debug>(
            view: &View,
            value: impl Fn(usize) -> T,
        ) {
            let from: Vec<T> = (0..view.elements).map(value).collect();
            let mut expected = Vec::new();
            for index in 0..view.len() {
                let (mut rest, mut place) = (index, view.offset as isize);
                for (&size, &stride) in view.shape.iter().zip(&view.strides).rev() {
                    place += (rest % size) as isize * stride;
                    rest /= size;
                }
                expected.push(from[place as usize]);
            }
            let mut to = vec![T::zeroed(); view.len()];
            let call = super::super::KernelCall::new(CopyView::new(view, size_of::<T>()));
            let context = Context::default();
            call.call(
                &[bytemuck::cast_slice(&from)],
                &mut [bytemuck::cast_slice_mut(&mut to)],
                &context,
            )
            .unwrap();
            assert!(to == expected, "{view:?} {}", size_of::<T>());
        }
        typed(view, |i| (i * 7) as u8);
        typed(view, |i| i as u16);
        typed(view, |i| i as u32);
        typed(view, |i| i as f64);
        typed(view, |i| num_complex::Complex::new(i as f64, -(i as f64)));
    }

    #[test]
    fn transposes() {
        for (m, n) in [
            (0, 3),
            (1, 1),
            (1, 9),
            (3, 5),
            (16, 16),
            (64, 64),
            (67, 130),
            (300, 201),
        ] {
            check(&View::dense(&[m, n]).permuted(&[1, 0]));
        }
        for permutation in [
            [0, 1, 2],
            [0, 2, 1],
            [1, 0, 2],
            [1, 2, 0],
            [2, 0, 1],
            [2, 1, 0],
        ] {
            check(&View::dense(&[5, 70, 9]).permuted(&permutation));
            check(&View::dense(&[33, 2, 65]).permuted(&permutation));
        }
        check(&View::dense(&[2, 3, 4, 5, 6]).permuted(&[3, 1, 4, 0, 2]));
        check(&View::dense(&[]));
    }

    #[test]
    fn every_instruction_set_gives_the_same() {
        // Around the sides of all tiles.
        let sides = [3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127];
        for isa in Isa::available() {
            isa.assumed_in(|| {
                for (m, n) in sides.iter().flat_map(|&m| sides.map(|n| (m, n))) {
                    check(&View::dense(&[2, m, n]).permuted(&[0, 2, 1]));
                }
                check(&View::dense(&[70, 150]).permuted(&[1, 0]));
                check(&View::dense(&[46, 46, 46]).permuted(&[2, 1, 0]));
                // By strips, whose result is far for elements of some sizes.
                for (m, n) in [(STRIP, 1600), (STRIP + 1, 1700), (3 * STRIP + 8, 1030)] {
                    check(&View::dense(&[m, n]).permuted(&[1, 0]));
                }
            });
        }
    }

    #[test]
    fn reversals_broadcasts_and_slices() {
        check(&View {
            shape: vec![7, 40],
            strides: vec![-40, -1],
            offset: 279,
            elements: 280,
        });
        check(&View {
            shape: vec![5, 6, 7],
            strides: vec![0, 1, 0],
            offset: 2,
            elements: 8,
        });
        check(&View {
            shape: vec![20, 30],
            strides: vec![3, 200],
            offset: 5,
            elements: 6000,
        });
        check(&View {
            shape: vec![70, 80],
            strides: vec![-1, 70],
            offset: 69,
            elements: 5600,
        });
        check(&View {
            shape: vec![4],
            strides: vec![0],
            offset: 0,
            elements: 1,
        });
    }
}
