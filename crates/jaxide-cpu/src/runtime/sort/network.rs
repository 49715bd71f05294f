//! Many short lines at once: each lane of a vector sorts a line of its own.
//!
//! The lines of a group are laid side by side, element `i` of all of them in row `i`, and sorted by a
//! network: a fixed list of pairs of rows that are put in order, the same for whatever numbers. A
//! pair costs a minimum and a maximum of a vector, where a comparison sort waits for a branch that
//! nothing predicts. The network is Batcher's (Knuth, *The Art of Computer Programming* 3, 5.2.2,
//! algorithm M), of about n log²n / 4 pairs.

use std::sync::OnceLock;

use jaxide_core::DType;

use super::keys::{Keyed, Word, with_real_type};
use super::{CHUNK, Sort, Strategy, append_keys, with_bits};
use crate::runtime::shared::SharedSlice;
use crate::runtime::simd::for_each_isa;
use crate::runtime::{Context, KernelError, PoolBuffer};

/// Longer lines are sorted one by one.
const LONGEST: usize = 256;

/// Fewer lines do not fill what a network costs.
const FEWEST: usize = 4;

/// Bytes of a row.
const ROW: usize = 64;

/// Lines that are sorted together if their keys are words of 64 bits.
const WIDE: usize = lanes::<u64>();

/// The pairs of rows that sort lines of one length, and how the lines lie in memory.
#[derive(Debug)]
pub(super) struct Network {
    pairs: Vec<[u16; 2]>,
    len: usize,
    count: usize,
    /// Elements between neighbours of a line, which is the number of lines that lie side by side.
    stride: usize,
}

/// Some lines that are sorted together.
struct Group {
    /// The index of the first element of each line.
    starts: [usize; ROW],
    lines: usize,
    /// Whether each line begins one element behind the one before.
    adjacent: bool,
}

impl Network {
    /// The network for lines along an axis of an array of this shape; nothing where lines are sorted one by one.
    pub(super) fn new(shape: &[usize], axis: usize) -> Option<Self> {
        let len = shape[axis];
        let stride: usize = shape[axis + 1..].iter().product();
        let count = shape[..axis].iter().product::<usize>() * stride;
        ((2..=LONGEST).contains(&len) && count >= FEWEST).then(|| Self {
            pairs: pairs(len),
            len,
            count,
            stride,
        })
    }

    /// The lines `first..last`, at most as many as a row has bytes.
    fn group(&self, first: usize, last: usize) -> Group {
        let mut starts = [0; ROW];
        for (start, line) in starts.iter_mut().zip(first..last) {
            *start = line / self.stride * (self.len * self.stride) + line % self.stride;
        }
        Group {
            starts,
            lines: last - first,
            adjacent: self.stride > 1 && first / self.stride == (last - 1) / self.stride,
        }
    }

    /// Sorts all lines of these operands.
    pub(super) fn run(
        &self,
        sort: &Sort,
        inputs: &[&[u8]],
        outputs: Vec<&mut [u8]>,
        context: &Context<'_>,
    ) -> Result<(), KernelError> {
        let outputs: Vec<_> = outputs.into_iter().map(SharedSlice::new).collect();
        let keys_only = sort.strategy == Strategy::KeysOnly;
        let lanes = if keys_only {
            ROW / sort.dtypes[0].size()
        } else {
            WIDE
        };
        let lines = CHUNK.div_ceil(self.len).next_multiple_of(lanes);
        let error = OnceLock::new();
        context.parallel_for(self.count.div_ceil(lines), |chunk| {
            let mut scratch = match PoolBuffer::for_elements::<u64>(3 * WIDE * self.len) {
                Ok(buffer) => buffer,
                Err(e) => return error.set(e.into()).unwrap_or(()),
            };
            let scratch = scratch.as_mut_slice();
            let end = self.count.min((chunk + 1) * lines);
            for first in (chunk * lines..end).step_by(lanes) {
                let last = end.min(first + lanes);
                let group = self.group(first, last);
                if keys_only {
                    let (from, to) = (inputs[0], &outputs[0]);
                    // SAFETY: no other chunk has these lines.
                    if unsafe { self.sort_keys(sort, &group, from, to, scratch) } {
                        continue;
                    }
                }
                for first in (first..last).step_by(WIDE) {
                    let group = self.group(first, last.min(first + WIDE));
                    // SAFETY: no other chunk has these lines.
                    unsafe { self.sort_positions(sort, &group, inputs, &outputs, scratch) };
                }
            }
        });
        error.into_inner().map_or(Ok(()), Err)
    }

    /// Sorts a single operand by its keys alone. Where several elements have one key and different
    /// bits, nothing is done, and the result is false.
    ///
    /// # Safety
    /// No other thread has the lines of the group.
    unsafe fn sort_keys(
        &self,
        sort: &Sort,
        group: &Group,
        from: &[u8],
        to: &SharedSlice<'_, u8>,
        scratch: &mut [u64],
    ) -> bool {
        let dtype = sort.dtypes[0];
        with_real_type!(dtype, T => {
            let lanes = lanes::<T>();
            let rows = &mut bytemuck::cast_slice_mut::<u64, T>(scratch)[..self.len * lanes];
            self.read(group, bytemuck::cast_slice(from), rows, lanes);
            if rows.iter().fold(false, |twins, x| twins | x.has_twins()) {
                return false;
            }
            let keys: &mut [<T as Keyed>::Bits] = bytemuck::cast_slice_mut(rows);
            to_keys::<T>(keys);
            sort_rows(keys, &self.pairs);
            from_keys::<T>(keys);
            // SAFETY: the caller's promise.
            unsafe { self.write(group, to, |row, lane| keys[row * lanes + lane]) };
            true
        }, _ => unreachable!("complex keys"))
    }

    /// Sorts operands by keys of at most 64 bits together and, where they are equal, by position.
    ///
    /// # Safety
    /// No other thread has the lines of the group.
    unsafe fn sort_positions(
        &self,
        sort: &Sort,
        group: &Group,
        inputs: &[&[u8]],
        outputs: &[SharedSlice<'_, u8>],
        scratch: &mut [u64],
    ) {
        let count = self.len * WIDE;
        let (words, rest) = scratch.split_at_mut(count);
        let (column, rest) = rest.split_at_mut(count);
        let mut bits = 0;
        words.fill(0);
        for (&dtype, from) in sort.dtypes.iter().zip(inputs).take(sort.num_keys) {
            let rows = &mut bytemuck::cast_slice_mut::<u64, u8>(rest)[..count * dtype.size()];
            with_bits!(dtype.size(), W => {
                let rows = bytemuck::cast_slice_mut::<u8, W>(rows);
                self.read(group, bytemuck::cast_slice(from), rows, WIDE);
            });
            bits += append_keys(dtype, rows, words, column);
        }
        for (i, positions) in (0..).zip(column.chunks_exact_mut(WIDE)) {
            positions.fill(i);
        }
        if bits <= 32 {
            for (word, position) in words.iter_mut().zip(&mut *column) {
                *word = *word << 32 | *position;
            }
            sort_rows(words, &self.pairs);
            for (word, position) in words.iter().zip(&mut *column) {
                *position = word & 0xffff_ffff;
            }
        } else {
            sort_wide_rows(words, column, &self.pairs);
        }
        for ((dtype, from), to) in sort.dtypes.iter().zip(inputs).zip(outputs) {
            with_bits!(dtype.size(), W => {
                let from = bytemuck::cast_slice::<u8, W>(from);
                let element = |row: usize, lane: usize| {
                    from[group.starts[lane] + column[row * WIDE + lane] as usize * self.stride]
                };
                // SAFETY: the caller's promise.
                unsafe { self.write(group, to, element) };
            });
        }
    }

    /// Lays the lines of a group side by side, `lanes` of them in a row; what no line is in is zero.
    fn read<W: bytemuck::Pod>(&self, group: &Group, from: &[W], rows: &mut [W], lanes: usize) {
        if group.lines < lanes {
            rows.fill(W::zeroed());
        }
        if group.adjacent {
            for (i, row) in rows.chunks_exact_mut(lanes).enumerate() {
                let start = group.starts[0] + i * self.stride;
                row[..group.lines].copy_from_slice(&from[start..start + group.lines]);
            }
        } else {
            for (lane, &start) in group.starts[..group.lines].iter().enumerate() {
                let line = &from[start..][..(self.len - 1) * self.stride + 1];
                for row in 0..self.len {
                    rows[row * lanes + lane] = line[row * self.stride];
                }
            }
        }
    }

    /// Writes `element(row, lane)` where it belongs.
    ///
    /// # Safety
    /// No other thread has the lines of the group.
    #[inline(always)]
    unsafe fn write<W: bytemuck::Pod>(
        &self,
        group: &Group,
        to: &SharedSlice<'_, u8>,
        element: impl Fn(usize, usize) -> W,
    ) {
        let size = size_of::<W>();
        // SAFETY: elements of lines of the group.
        let range = |start: usize, count: usize| unsafe {
            bytemuck::cast_slice_mut::<u8, W>(to.range(start * size..(start + count) * size))
        };
        if group.adjacent {
            for row in 0..self.len {
                let line = range(group.starts[0] + row * self.stride, group.lines);
                for (lane, x) in line.iter_mut().enumerate() {
                    *x = element(row, lane);
                }
            }
        } else if self.stride == 1 {
            for (lane, &start) in group.starts[..group.lines].iter().enumerate() {
                for (row, x) in range(start, self.len).iter_mut().enumerate() {
                    *x = element(row, lane);
                }
            }
        } else {
            for (lane, &start) in group.starts[..group.lines].iter().enumerate() {
                for row in 0..self.len {
                    range(start + row * self.stride, 1)[0] = element(row, lane);
                }
            }
        }
    }
}

/// The pairs of rows, the one that gets the smaller element first.
fn pairs(len: usize) -> Vec<[u16; 2]> {
    let mut pairs = Vec::new();
    let top = len.next_power_of_two() / 2;
    let mut p = top;
    while p > 0 {
        let (mut q, mut r, mut d) = (top, 0, p);
        loop {
            let first = (0..len - d).filter(|i| i & p == r);
            pairs.extend(first.map(|i| [i as u16, (i + d) as u16]));
            if q == p {
                break;
            }
            (d, q, r) = (q - p, q / 2, p);
        }
        p /= 2;
    }
    pairs
}

/// Elements in a row.
const fn lanes<K>() -> usize {
    ROW / size_of::<K>()
}

/// The rows of a pair.
#[inline(always)]
fn two<K, const LANES: usize>(
    rows: &mut [[K; LANES]],
    [low, high]: [u16; 2],
) -> (&mut [K; LANES], &mut [K; LANES]) {
    let (before, from_high) = rows.split_at_mut(usize::from(high));
    (&mut before[usize::from(low)], &mut from_high[0])
}

/// Loops are written out, because adapters of iterators are not inlined into functions for an instruction set.
#[inline(always)]
fn exchange<K: Word>(rows: &mut [K], pairs: &[[u16; 2]]) {
    #[inline(always)]
    fn rows_of<K: Word, const LANES: usize>(rows: &mut [K], pairs: &[[u16; 2]]) {
        let (rows, _) = rows.as_chunks_mut::<LANES>();
        for &pair in pairs {
            let (low, high) = two(rows, pair);
            let (a, b) = (*low, *high);
            for lane in 0..LANES {
                (low[lane], high[lane]) = a[lane].in_order(b[lane]);
            }
        }
    }
    match lanes::<K>() {
        64 => rows_of::<K, 64>(rows, pairs),
        32 => rows_of::<K, 32>(rows, pairs),
        16 => rows_of::<K, 16>(rows, pairs),
        _ => rows_of::<K, WIDE>(rows, pairs),
    }
}

#[inline(always)]
fn exchange_wide(keys: &mut [u64], positions: &mut [u64], pairs: &[[u16; 2]]) {
    let (keys, _) = keys.as_chunks_mut::<WIDE>();
    let (positions, _) = positions.as_chunks_mut::<WIDE>();
    for &pair in pairs {
        let (low, high) = two(keys, pair);
        let (low_at, high_at) = two(positions, pair);
        let (a, b, i, j) = (*low, *high, *low_at, *high_at);
        for lane in 0..WIDE {
            let (a, b, i, j) = (a[lane], b[lane], i[lane], j[lane]);
            // All bits, where both change places.
            let swap = u64::from((a > b) | ((a == b) & (i > j))).wrapping_neg();
            let (key, position) = ((a ^ b) & swap, (i ^ j) & swap);
            low[lane] = a ^ key;
            high[lane] = b ^ key;
            low_at[lane] = i ^ position;
            high_at[lane] = j ^ position;
        }
    }
}

for_each_isa! {
    /// Sorts each lane.
    fn sort_rows<K: Word>(rows: &mut [K], pairs: &[[u16; 2]]) = exchange
}
for_each_isa! {
    /// Sorts each lane by key, and equal ones by position; positions go with their keys.
    fn sort_wide_rows(keys: &mut [u64], positions: &mut [u64], pairs: &[[u16; 2]]) = exchange_wide
}

#[expect(clippy::needless_range_loop, reason = "as above")]
#[inline(always)]
fn all_to_keys<T: Keyed>(elements: &mut [T::Bits]) {
    for i in 0..elements.len() {
        let x: T = bytemuck::cast(elements[i]);
        elements[i] = T::Bits::from_key(x.sort_key());
    }
}

#[expect(clippy::needless_range_loop, reason = "as above")]
#[inline(always)]
fn all_from_keys<T: Keyed>(keys: &mut [T::Bits]) {
    for i in 0..keys.len() {
        keys[i] = bytemuck::cast(T::from_total_key(keys[i].key()));
    }
}

for_each_isa! {
    /// The sort keys of elements, in their place.
    fn to_keys<T: Keyed>(elements: &mut [T::Bits]) = all_to_keys
}
for_each_isa! {
    /// The elements of sort keys, in their place.
    fn from_keys<T: Keyed>(keys: &mut [T::Bits]) = all_from_keys
}
