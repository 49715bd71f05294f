//! The largest elements of lines, with their positions.

use jaxide_core::DType;

use super::keys::{Keyed, key_bits, with_real_type};
use super::radix::{self, Item};
use super::{CHUNK, Lines};
use crate::runtime::simd::for_each_isa;
use crate::runtime::{Buffers, Context, Kernel, KernelError, Signature};

/// The kernel that finds the `k` largest elements of each line along an axis, in descending order,
/// and their positions as `i32`.
///
/// Elements are compared by IEEE's total order, as JAX does on CPU: NaN is largest (with its sign
/// bit set, smallest) and -0.0 is less than 0.0. Of equal elements the first comes first.
pub struct TopK {
    lines: Lines,
    dtype: DType,
}

impl TopK {
    /// The `k` largest along `axis` of arrays of this shape and type.
    ///
    /// # Errors
    /// If the type has no order here (complex numbers have none for this purpose), or lines are too
    /// long for their positions.
    ///
    /// # Panics
    /// If `axis` is not a dimension or has fewer than `k` elements.
    pub fn new(shape: &[usize], axis: usize, dtype: DType, k: usize) -> Result<Self, KernelError> {
        assert!(
            k <= shape[axis],
            "the {k} largest of {} elements",
            shape[axis]
        );
        if dtype.is_complex() || key_bits(dtype)? > 64 || i32::try_from(shape[axis]).is_err() {
            return Err(KernelError::new(format!(
                "no positions of the largest elements of {} along an axis of {}",
                dtype.short_name(),
                shape[axis]
            )));
        }
        Ok(Self {
            lines: Lines::new(shape, axis, k)?,
            dtype,
        })
    }
}

impl Kernel for TopK {
    fn signature(&self) -> Signature {
        let (size, lines) = (self.dtype.size(), &self.lines);
        let out = lines.out_len * lines.count;
        Signature::of(
            &[(lines.len * lines.count, size)],
            &[(out, size), (out, size_of::<i32>())],
        )
    }

    fn run(&self, buffers: &mut Buffers<'_>, context: &Context<'_>) -> Result<(), KernelError> {
        let size = self.dtype.size();
        let inputs = [(size, buffers.input::<u8>(0))];
        let outputs = smallvec::smallvec![
            (size, buffers.output::<u8>(0)),
            (size_of::<i32>(), buffers.output::<u8>(1)),
        ];
        let (n, k) = (self.lines.len, self.lines.out_len);
        let scratch = 4 * kept_candidates(n, k) + 2 * n.div_ceil(block_length(n, k));
        self.lines.run(&inputs, outputs, scratch, context, &|inputs, outputs, scratch| {
            let [values, positions] = outputs else { unreachable!("two outputs") };
            let positions = bytemuck::cast_slice_mut(positions);
            fn typed<T: Keyed>(from: &[u8], values: &mut [u8], positions: &mut [i32], scratch: &mut [u64]) {
                let (from, values) = (bytemuck::cast_slice::<_, T>(from), bytemuck::cast_slice_mut(values));
                let blocks = from.len().div_ceil(block_length(from.len(), positions.len()));
                let (best, scratch) = scratch.split_at_mut(2 * blocks);
                if size_of::<T>() <= 4 {
                    largest::<T, u64>(from, values, positions, best, scratch);
                } else {
                    largest::<T, [u64; 2]>(from, values, positions, best, bytemuck::cast_slice_mut(scratch));
                }
            }
            with_real_type!(self.dtype, T => typed::<T>(inputs[0], values, positions, scratch), _ => unreachable!("complex"));
        })
    }
}

/// How many candidates are collected before all but the best `k` are thrown away.
fn kept_candidates(n: usize, k: usize) -> usize {
    (4 * k).clamp(256, CHUNK.max(2 * k)).min(n.max(k))
}

/// A candidate: its key turned round, so that the largest element comes first, and its position.
trait Candidate: Item {
    fn new(total_key: u64, position: usize) -> Self;
    fn position(self) -> usize;
    const LOW: u32;
}

impl Candidate for u64 {
    #[inline(always)]
    fn new(total_key: u64, position: usize) -> Self {
        (!total_key & 0xffff_ffff) << 32 | position as u64
    }
    fn position(self) -> usize {
        (self & 0xffff_ffff) as usize
    }
    const LOW: u32 = 32;
}

impl Candidate for [u64; 2] {
    #[inline(always)]
    fn new(total_key: u64, position: usize) -> Self {
        [!total_key, position as u64]
    }
    fn position(self) -> usize {
        self[1] as usize
    }
    const LOW: u32 = 0;
}

/// Elements looked at together before any is considered: few enough that there are several times as
/// many blocks as elements wanted.
fn block_length(n: usize, k: usize) -> usize {
    (n / (8 * k).max(64)).next_multiple_of(16).clamp(16, 1024)
}

for_each_isa! {
    /// The largest key of each block.
    fn best_of_blocks<T: Keyed>(from: &[T], block: usize, best: &mut [u64]) = best_of_blocks_any
}

#[inline(always)]
fn best_of_blocks_any<T: Keyed>(from: &[T], block: usize, best: &mut [u64]) {
    for (i, best) in best.iter_mut().enumerate() {
        let mut most = 0;
        for x in &from[i * block..from.len().min((i + 1) * block)] {
            most = most.max(x.total_key());
        }
        *best = most;
    }
}

/// Finds the largest elements of a line; `best` has two words for each block.
fn largest<T: Keyed, C: Candidate>(
    from: &[T],
    values: &mut [T],
    positions: &mut [i32],
    best: &mut [u64],
    scratch: &mut [C],
) {
    let k = values.len();
    let (candidates, other) = scratch.split_at_mut(kept_candidates(from.len(), k));
    let block = block_length(from.len(), k);
    let (best, ranked) = best.split_at_mut(best.len() / 2);
    best_of_blocks(from, block, best);
    // Keys below this one are not among the largest: so many blocks have an element that is.
    let mut least = 0;
    if k <= best.len() {
        ranked.copy_from_slice(best);
        least = match k {
            1 => ranked.iter().fold(0, |most, &key| key.max(most)),
            _ => *ranked.select_nth_unstable_by(k - 1, |a, b| b.cmp(a)).1,
        };
    }
    let mut count = 0;
    let mut in_order = true;
    for (number, &best) in best.iter().enumerate() {
        if best < least {
            continue;
        }
        let first = number * block;
        for (i, x) in from[first..].iter().take(block).enumerate() {
            let key = x.total_key();
            if key < least {
                continue;
            }
            if count == candidates.len() {
                candidates.select_nth_unstable(k - 1);
                in_order = false;
                count = k;
                // Elements that are equal came before; no key is larger than the largest of all.
                match from[candidates[k - 1].position()]
                    .total_key()
                    .checked_add(1)
                {
                    Some(next) => least = next,
                    None => break,
                }
                if key < least {
                    continue;
                }
            }
            candidates[count] = C::new(key, first + i);
            count += 1;
        }
    }
    let candidates = &mut candidates[..count];
    if count > k {
        candidates.select_nth_unstable(k - 1);
        in_order = false;
    }
    // Sorting by digits leaves equal keys as they are.
    if in_order {
        radix::sort(candidates, &mut other[..count], C::LOW, 64);
    } else {
        candidates[..k].sort_unstable();
    }
    for ((value, position), candidate) in values.iter_mut().zip(positions).zip(&*candidates) {
        *value = from[candidate.position()];
        *position = candidate.position() as i32;
    }
}
