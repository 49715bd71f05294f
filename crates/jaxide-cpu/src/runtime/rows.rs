//! Gathers of whole rows: runs of adjacent elements at indices.

use std::marker::PhantomData;

use bytemuck::Pod;

use super::simd::for_each_isa;
use super::{Buffers, Context, Kernel, KernelError, Signature};

/// What an index outside the rows means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outside {
    /// The nearest row.
    Nearest,
    /// The fill element (gather) or nothing (scatter).
    Nothing,
}

/// A Rust type that indices have in memory.
pub trait RowIndex: Pod + Send + Sync {
    /// Whether every index is a number of 32 bits with a sign.
    const FITS_I32: bool;

    /// The index, saturated; negative ones are below every row.
    fn row(self) -> i64;
}

macro_rules! row_index {
    ($($ty:ty)*) => { $(impl RowIndex for $ty {
        const FITS_I32: bool = size_of::<$ty>() < 4 || size_of::<$ty>() == 4 && <$ty>::MIN != 0;

        #[inline(always)]
        fn row(self) -> i64 {
            i64::try_from(self).unwrap_or(i64::MAX)
        }
    })* };
}
row_index! { i8 i16 i32 i64 u8 u16 u32 u64 }

/// Bytes that make a chunk worth a thread's attention.
const CHUNK: usize = 1 << 15;

/// The kernel that copies row `indices[k]` of a table to row `k` of the result.
pub struct GatherRows<I> {
    rows: usize,
    /// Bytes of a row.
    row: usize,
    count: usize,
    outside: Outside,
    /// The bytes of one element, which fills rows outside.
    fill: Vec<u8>,
    index: PhantomData<fn(I)>,
}

impl<I: RowIndex> GatherRows<I> {
    /// `count` rows of a table of `rows` rows of `row` bytes each; `fill` is one element.
    pub fn new(rows: usize, row: usize, count: usize, outside: Outside, fill: &[u8]) -> Self {
        Self {
            rows,
            row,
            count,
            outside,
            fill: fill.to_vec(),
            index: PhantomData,
        }
    }
}

impl<I: RowIndex> Kernel for GatherRows<I> {
    fn signature(&self) -> Signature {
        Signature::of(
            &[(self.rows * self.row, 1), (self.count, size_of::<I>())],
            &[(self.count * self.row, 1)],
        )
    }

    fn run(&self, buffers: &mut Buffers<'_>, context: &Context<'_>) -> Result<(), KernelError> {
        let (table, indices) = (buffers.input::<u8>(0), buffers.input::<I>(1));
        let result = buffers.output::<u8>(0);
        let per_chunk = (CHUNK / self.row.max(1)).max(1);
        let chunks: Vec<std::sync::Mutex<&mut [u8]>> = result
            .chunks_mut(per_chunk * self.row)
            .map(Into::into)
            .collect();
        context.parallel_for(chunks.len(), |chunk| {
            let mut rows = chunks[chunk]
                .lock()
                .unwrap_or_else(|poison| poison.into_inner());
            let indices = &indices[chunk * per_chunk..];
            match self.row {
                4 => self.copy_exact::<[u8; 4]>(table, indices, &mut rows),
                8 => self.copy_exact::<[u8; 8]>(table, indices, &mut rows),
                12 => self.copy_exact::<[u8; 12]>(table, indices, &mut rows),
                16 => self.copy_exact::<[u8; 16]>(table, indices, &mut rows),
                24 => self.copy_exact::<[u8; 24]>(table, indices, &mut rows),
                32 => self.copy_exact::<[u8; 32]>(table, indices, &mut rows),
                64 => self.copy_exact::<[u8; 64]>(table, indices, &mut rows),
                128 => self.copy_exact::<[u8; 128]>(table, indices, &mut rows),
                5..8 => copy_ends::<I, [u8; 4]>(self, table, indices, &mut rows),
                9..16 => copy_ends::<I, [u8; 8]>(self, table, indices, &mut rows),
                17..32 => copy_ends::<I, [u8; 16]>(self, table, indices, &mut rows),
                33..64 => copy_ends::<I, [u8; 32]>(self, table, indices, &mut rows),
                65..128 => copy_ends::<I, [u8; 64]>(self, table, indices, &mut rows),
                _ => self.copy(table, indices, &mut rows),
            }
        });
        Ok(())
    }
}

impl<I: RowIndex> GatherRows<I> {
    /// Where the row of an index is, or that there is none.
    #[inline(always)]
    fn place(&self, index: I) -> Option<usize> {
        let index = index.row();
        let inside = (0..self.rows as i64).contains(&index);
        (inside || self.outside == Outside::Nearest)
            .then(|| index.clamp(0, self.rows as i64 - 1) as usize)
    }

    fn fill(&self, to: &mut [u8]) {
        to.chunks_exact_mut(self.fill.len())
            .for_each(|element| element.copy_from_slice(&self.fill));
    }

    /// Copies rows of any length.
    fn copy(&self, table: &[u8], indices: &[I], to: &mut [u8]) {
        for (to, &index) in to.chunks_exact_mut(self.row).zip(indices) {
            match self.place(index) {
                Some(place) => to.copy_from_slice(&table[place * self.row..][..self.row]),
                None => self.fill(to),
            }
        }
    }

    /// Copies rows of a length that is known here.
    fn copy_exact<R: Pod>(&self, table: &[u8], indices: &[I], to: &mut [u8]) {
        let (table, to) = (
            bytemuck::cast_slice::<u8, R>(table),
            bytemuck::cast_slice_mut::<u8, R>(to),
        );
        copy_exact(self, table, indices, to);
    }
}

for_each_isa! {
    /// Copies rows that are arrays of bytes.
    fn copy_exact<I: RowIndex, R: Pod>(gather: &GatherRows<I>, table: &[R], indices: &[I], to: &mut [R]) = copy_exact_any
}

#[inline(always)]
fn copy_exact_any<I: RowIndex, R: Pod>(
    gather: &GatherRows<I>,
    table: &[R],
    indices: &[I],
    to: &mut [R],
) {
    for (to, &index) in to.iter_mut().zip(indices) {
        match gather.place(index) {
            Some(place) => *to = table[place],
            None => gather.fill(bytemuck::bytes_of_mut(to)),
        }
    }
}

for_each_isa! {
    /// Copies rows of at most twice as many bytes as an array has: the first of them and the last, which may meet.
    fn copy_ends<I: RowIndex, R: Pod>(gather: &GatherRows<I>, table: &[u8], indices: &[I], to: &mut [u8]) = copy_ends_any
}

#[inline(always)]
fn copy_ends_any<I: RowIndex, R: Pod>(
    gather: &GatherRows<I>,
    table: &[u8],
    indices: &[I],
    to: &mut [u8],
) {
    let row = gather.row;
    let behind = row - size_of::<R>();
    assert!(behind <= size_of::<R>() && gather.rows.checked_mul(row) == Some(table.len()));
    let count = indices.len().min(to.len() / row);
    // By number: an iterator is not always compiled for the same instruction set. And without comparisons with lengths, which take as long as all else.
    for (k, &index) in indices[..count].iter().enumerate() {
        let start = k * row;
        let Some(place) = gather.place(index) else {
            gather.fill(&mut to[start..start + row]);
            continue;
        };
        // SAFETY: the place is that of one of the table's rows, within which it is limited, and `k` that of one of the result's. Both have so many
        // bytes, not fewer than are copied from their beginning and up to their end; any bytes are a value of the type.
        unsafe {
            let from = table.as_ptr().add(place * row);
            let to = to.as_mut_ptr().add(start);
            let first = from.cast::<R>().read_unaligned();
            let last = from.add(behind).cast::<R>().read_unaligned();
            to.cast::<R>().write_unaligned(first);
            to.add(behind).cast::<R>().write_unaligned(last);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runtime::KernelCall;

    #[test]
    fn rows_of_every_length_are_copied() {
        for row in 1..140 {
            let table: Vec<u8> = (0..5 * row).map(|k| (k * 37 % 251) as u8).collect();
            let picked = [3i16, 0, 4, 4, 1];
            let call = KernelCall::new(GatherRows::<i16>::new(5, row, 5, Outside::Nearest, &[0]));
            let mut result = vec![0u8; 5 * row];
            let indices = bytemuck::cast_slice(&picked);
            call.call(&[&table, indices], &mut [&mut result], &Context::default())
                .unwrap();
            let rows = picked.iter().map(|&k| &table[k as usize * row..][..row]);
            assert_eq!(result, rows.collect::<Vec<_>>().concat(), "{row}");
        }
    }

    #[test]
    fn rows_outside_are_filled() {
        let table: Vec<u8> = bytemuck::cast_slice(&[1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0]).to_vec();
        let indices: Vec<u8> = bytemuck::cast_slice(&[2i32, -1, 0]).to_vec();
        let fill = f32::NAN.to_le_bytes();
        for (outside, second) in [(Outside::Nearest, 1.0), (Outside::Nothing, f32::NAN)] {
            let call = KernelCall::new(GatherRows::<i32>::new(3, 8, 3, outside, &fill));
            let mut result = vec![0u8; 24];
            call.call(&[&table, &indices], &mut [&mut result], &Context::default())
                .unwrap();
            let result: Vec<f32> = bytemuck::pod_collect_to_vec(&result);
            assert_eq!(result[..2], [5.0, 6.0]);
            assert!(result[2] == second || (result[2].is_nan() && second.is_nan()));
            assert_eq!(result[4..], [1.0, 2.0]);
        }
    }
}
