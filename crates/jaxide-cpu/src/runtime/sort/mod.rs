//! Sorting along an axis, of one array or of several by the first ones as keys, and the largest
//! elements of lines.
//!
//! Both sorts are stable. Keys become unsigned integers ([`keys`]); several short lines are sorted
//! side by side ([`network`]), others by comparison, long ones by radix ([`radix`]). Only if the keys of several operands together have
//! more than 64 bits are lines sorted by comparing positions.

mod keys;
mod network;
mod radix;
mod top_k;

use std::sync::OnceLock;

use jaxide_core::DType;
use smallvec::SmallVec;

use self::keys::{Keyed, key_bits, with_real_type, write_keys};
use self::network::Network;
use super::shared::SharedSlice;
use super::transpose::CopyPlan;
use super::{Buffers, Context, Kernel, KernelError, PoolBuffer, Signature, View};

pub use top_k::TopK;

/// The kernel that sorts arrays of one shape along an axis, in ascending order of the first
/// `num_keys` of them, lexicographically and stably.
///
/// The order is JAX's: -0.0 and 0.0 are equal, NaNs are equal and last, complex numbers are ordered
/// by real and then by imaginary part. Inputs and outputs are dense arrays.
pub struct Sort {
    lines: Lines,
    /// What sorts lines side by side, if they are such.
    network: Option<Network>,
    dtypes: Vec<DType>,
    num_keys: usize,
    strategy: Strategy,
}

/// How the lines of an array along an axis are reached: directly if the axis is the last one, or
/// else through a copy in which it is.
#[derive(Debug)]
struct Lines {
    /// Elements of a line, and of a line of the results.
    len: usize,
    out_len: usize,
    /// Number of lines.
    count: usize,
    /// Copies of operands into lines, and of lines into results.
    transposed: Option<(CopyPlan, CopyPlan)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Strategy {
    /// One operand of a real type: its keys say all, but for elements with equal keys.
    KeysOnly,
    /// Keys of this many bits, at most 32, sorted together with positions in one word.
    Narrow(u32),
    /// Keys of at most 64 bits beside positions.
    Wide,
    /// Several columns of keys, compared by position.
    Columns(usize),
}

/// What there is of each operand; few sorts are of more, and short ones take less time than an allocation.
type Each<T> = SmallVec<[T; 3]>;

/// Words of scratch space that need no buffer.
const FEW_WORDS: usize = 128;

/// Elements that make a chunk worth a thread's attention.
const CHUNK: usize = 1 << 12;

impl Sort {
    /// A sort of arrays of this shape and these types.
    ///
    /// # Errors
    /// If a key's type has no order here, or lines have 2³² elements or more.
    ///
    /// # Panics
    /// If `axis` is not a dimension or `num_keys` is not between 1 and the number of operands.
    pub fn new(
        shape: &[usize],
        axis: usize,
        dtypes: &[DType],
        num_keys: usize,
    ) -> Result<Self, KernelError> {
        assert!(
            (1..=dtypes.len()).contains(&num_keys),
            "{num_keys} keys of {} operands",
            dtypes.len()
        );
        let bits: Vec<u32> = dtypes[..num_keys]
            .iter()
            .map(|&dtype| key_bits(dtype))
            .collect::<Result<_, _>>()?;
        let strategy = match bits.iter().sum() {
            1..=64 if dtypes.len() == 1 && dtypes[0] != DType::C64 => Strategy::KeysOnly,
            bits @ 1..=32 => Strategy::Narrow(bits),
            33..=64 => Strategy::Wide,
            _ => Strategy::Columns(bits.iter().map(|&bits| bits.div_ceil(64) as usize).sum()),
        };
        let lines = Lines::new(shape, axis, shape[axis])?;
        let one_word = !matches!(strategy, Strategy::Columns(_));
        Ok(Self {
            lines,
            network: Network::new(shape, axis).filter(|_| one_word),
            dtypes: dtypes.to_vec(),
            num_keys,
            strategy,
        })
    }

    /// Sorts one line of each operand.
    fn sort_line(&self, inputs: &[&[u8]], outputs: &mut [&mut [u8]], scratch: &mut [u64]) {
        let n = self.lines.len;
        if self.strategy == Strategy::KeysOnly {
            fn keys_only<T: Keyed>(from: &[u8], to: &mut [u8], scratch: &mut [u64]) {
                let (from, to) = (bytemuck::cast_slice(from), bytemuck::cast_slice_mut(to));
                if size_of::<T>() <= 4 {
                    sort_keys::<T, u32>(from, to, bytemuck::cast_slice_mut(scratch));
                } else {
                    sort_keys::<T, u64>(from, to, scratch);
                }
            }
            let dtype = self.dtypes[0];
            with_real_type!(dtype, T => keys_only::<T>(inputs[0], outputs[0], scratch), _ => unreachable!("complex keys"));
            return;
        }
        if let Strategy::Columns(columns) = self.strategy {
            let (keys, positions) = scratch.split_at_mut(columns * n);
            let mut rest = &mut *keys;
            for (dtype, line) in self.dtypes.iter().zip(inputs).take(self.num_keys) {
                let (column, others) =
                    rest.split_at_mut(n * if *dtype == DType::C128 { 2 } else { 1 });
                write_keys(*dtype, line, column);
                rest = others;
            }
            let positions = &mut positions[..n];
            positions
                .iter_mut()
                .zip(0..)
                .for_each(|(position, i)| *position = i);
            let key = |position: u64| keys[position as usize..].iter().step_by(n);
            positions.sort_by(|&a, &b| key(a).cmp(key(b)));
            return self.gather(inputs, outputs, positions.iter().copied());
        }
        // One word of keys: that of the first operand in the highest bits.
        let (words, rest) = scratch.split_at_mut(n);
        words.fill(0);
        let (column, rest) = rest.split_at_mut(n);
        for (&dtype, line) in self.dtypes.iter().zip(inputs).take(self.num_keys) {
            append_keys(dtype, line, words, column);
        }
        if let Strategy::Narrow(bits) = self.strategy {
            for (word, i) in words.iter_mut().zip(0..) {
                *word = *word << 32 | i;
            }
            radix::sort(words, column, 32, 32 + bits);
            self.gather(
                inputs,
                outputs,
                words.iter().map(|&word| word & 0xffff_ffff),
            );
        } else {
            let (pairs, more) = bytemuck::cast_slice_mut::<u64, [u64; 2]>(rest).split_at_mut(n);
            for ((pair, &word), i) in pairs.iter_mut().zip(&*words).zip(0..) {
                *pair = [word, i];
            }
            radix::sort(pairs, &mut more[..n], 0, 64);
            self.gather(inputs, outputs, pairs.iter().map(|&[_, position]| position));
        }
    }

    /// Words of scratch space that [`Self::sort_line`] needs.
    fn scratch_words(&self) -> usize {
        let n = self.lines.len;
        match self.strategy {
            Strategy::KeysOnly | Strategy::Narrow(_) => 2 * n,
            Strategy::Wide => 6 * n,
            Strategy::Columns(columns) => (columns + 1) * n,
        }
    }

    /// Writes the elements of a line in the order of these positions.
    fn gather(
        &self,
        inputs: &[&[u8]],
        outputs: &mut [&mut [u8]],
        positions: impl Iterator<Item = u64> + Clone,
    ) {
        for ((dtype, from), to) in self.dtypes.iter().zip(inputs).zip(outputs) {
            with_bits!(dtype.size(), W => {
                let from = bytemuck::cast_slice::<u8, W>(from);
                let to = bytemuck::cast_slice_mut::<u8, W>(to);
                for (to, position) in to.iter_mut().zip(positions.clone()) {
                    *to = from[position as usize];
                }
            });
        }
    }
}

/// Evaluates an expression with `$w` as a type of so many bytes; nothing if there are none.
macro_rules! with_bits {
    ($size:expr, $w:ident => $body:expr) => {
        match $size {
            0 => {}
            1 => with_bits!(@ $w, u8, $body),
            2 => with_bits!(@ $w, u16, $body),
            4 => with_bits!(@ $w, u32, $body),
            8 => with_bits!(@ $w, u64, $body),
            _ => with_bits!(@ $w, [u64; 2], $body),
        }
    };
    (@ $w:ident, $type:ty, $body:expr) => {{
        type $w = $type;
        $body
    }};
}
use with_bits;

/// Puts the keys of elements behind those that the words have already, and gives their bits; `column` is scratch space.
fn append_keys(dtype: DType, elements: &[u8], words: &mut [u64], column: &mut [u64]) -> u32 {
    write_keys(dtype, elements, column);
    let bits = key_bits(dtype).unwrap_or(64);
    for (word, &key) in words.iter_mut().zip(&*column) {
        *word = word.unbounded_shl(bits) | key;
    }
    bits
}

/// Sorts elements by their keys alone.
fn sort_keys<T: Keyed, I: radix::Item + TryFrom<u64>>(from: &[T], to: &mut [T], scratch: &mut [I])
where
    u64: From<I>,
{
    let (items, other) = scratch.split_at_mut(from.len());
    let mut twins = false;
    for (item, &x) in items.iter_mut().zip(from) {
        twins |= x.has_twins();
        *item =
            I::try_from(x.sort_key()).unwrap_or_else(|_| unreachable!("the key of a narrow type"));
    }
    radix::sort(
        items,
        &mut other[..from.len()],
        0,
        8 * size_of::<T>() as u32,
    );
    for (x, &item) in to.iter_mut().zip(&*items) {
        *x = T::from_total_key(item.into());
    }
    if twins {
        // Elements with equal keys and different bits, zeros and NaNs, come in their old order.
        let zero = T::zeroed().sort_key();
        let mut next_zero = items.partition_point(|&item| u64::from(item) < zero);
        let mut next_nan = items.partition_point(|&item| u64::from(item) < T::LAST_KEY);
        for &x in from {
            let key = x.sort_key();
            let next = if key == zero {
                &mut next_zero
            } else {
                &mut next_nan
            };
            if key == zero || key == T::LAST_KEY {
                to[*next] = x;
                *next += 1;
            }
        }
    }
}

impl Kernel for Sort {
    fn signature(&self) -> Signature {
        let elements = self.lines.len * self.lines.count;
        let operands: Vec<_> = self
            .dtypes
            .iter()
            .map(|dtype| (elements, dtype.size()))
            .collect();
        Signature::of(&operands, &operands)
    }

    fn run(&self, buffers: &mut Buffers<'_>, context: &Context<'_>) -> Result<(), KernelError> {
        let sizes: Each<usize> = self.dtypes.iter().map(|dtype| dtype.size()).collect();
        let inputs: Each<_> = sizes
            .iter()
            .enumerate()
            .map(|(i, &size)| (size, buffers.input::<u8>(i)))
            .collect();
        let outputs: Each<_> = sizes
            .iter()
            .enumerate()
            .map(|(i, &size)| (size, buffers.output::<u8>(i)))
            .collect();
        if let Some(network) = &self.network {
            let inputs: Vec<&[u8]> = inputs.iter().map(|&(_, from)| from).collect();
            let outputs = outputs.into_iter().map(|(_, to)| to).collect();
            return network.run(self, &inputs, outputs, context);
        }
        self.lines.run(
            &inputs,
            outputs,
            self.scratch_words(),
            context,
            &|inputs, outputs, scratch| {
                self.sort_line(inputs, outputs, scratch);
            },
        )
    }
}

/// What is done with one line of each operand, as bytes, and scratch space.
type LineBody<'a> = &'a (dyn Fn(&[&[u8]], &mut [&mut [u8]], &mut [u64]) + Sync);

impl Lines {
    /// The lines of arrays of this shape; those of results have `out_len` elements.
    fn new(shape: &[usize], axis: usize, out_len: usize) -> Result<Self, KernelError> {
        let len = shape[axis];
        if u32::try_from(len).is_err() {
            return Err(KernelError::new(format!(
                "cannot sort along an axis of {len} elements"
            )));
        }
        let others: Vec<usize> = (0..shape.len()).filter(|&a| a != axis).collect();
        let sizes: Vec<usize> = others.iter().map(|&a| shape[a]).collect();
        let transposed = shape[axis + 1..].iter().any(|&size| size != 1).then(|| {
            let to_lines = View::dense(shape).permuted(&[&others[..], &[axis]].concat());
            let mut back: Vec<usize> = (0..others.len()).collect();
            back.insert(axis, others.len());
            let from_lines = View::dense(&[&sizes[..], &[out_len]].concat()).permuted(&back);
            (CopyPlan::new(&to_lines), CopyPlan::new(&from_lines))
        });
        Ok(Self {
            len,
            out_len,
            count: sizes.iter().product(),
            transposed,
        })
    }

    /// Runs `body` for every line. Operands come with the size of their elements.
    fn run(
        &self,
        inputs: &[(usize, &[u8])],
        mut outputs: Each<(usize, &mut [u8])>,
        scratch_words: usize,
        context: &Context<'_>,
        body: LineBody<'_>,
    ) -> Result<(), KernelError> {
        if self.count == 0 || self.out_len == 0 {
            return Ok(());
        }
        let Some((to_lines, from_lines)) = &self.transposed else {
            return self.run_adjacent(inputs, &mut outputs, scratch_words, context, body);
        };
        let mut lines = Vec::new();
        for &(size, from) in inputs {
            let mut buffer = PoolBuffer::new(from.len())?;
            to_lines.copy_bytes(size, from, buffer.bytes_mut(), context);
            lines.push((size, buffer));
        }
        let mut results = Vec::new();
        for (size, to) in &outputs {
            results.push((*size, PoolBuffer::new(to.len())?));
        }
        let inputs: Vec<_> = lines
            .iter()
            .map(|(size, buffer)| (*size, buffer.bytes()))
            .collect();
        let mut adjacent: Vec<_> = results
            .iter_mut()
            .map(|(size, buffer)| (*size, buffer.bytes_mut()))
            .collect();
        self.run_adjacent(&inputs, &mut adjacent, scratch_words, context, body)?;
        for ((size, to), (_, from)) in outputs.iter_mut().zip(&results) {
            from_lines.copy_bytes(*size, from.bytes(), to, context);
        }
        Ok(())
    }

    /// The same for arrays whose last axis is that of the lines.
    fn run_adjacent(
        &self,
        inputs: &[(usize, &[u8])],
        outputs: &mut [(usize, &mut [u8])],
        scratch_words: usize,
        context: &Context<'_>,
        body: LineBody<'_>,
    ) -> Result<(), KernelError> {
        let targets: Each<_> = (outputs.iter_mut())
            .map(|(size, to)| (self.out_len * *size, SharedSlice::new(to)))
            .collect();
        let group = CHUNK.div_ceil(self.len.max(1)).min(self.count);
        let error = OnceLock::new();
        context.parallel_for(self.count.div_ceil(group), |chunk| {
            let (mut few, mut buffer);
            let scratch = if scratch_words <= FEW_WORDS {
                few = [0; FEW_WORDS];
                &mut few[..scratch_words]
            } else {
                buffer = match PoolBuffer::for_elements::<u64>(scratch_words) {
                    Ok(buffer) => buffer,
                    Err(e) => return error.set(e.into()).unwrap_or(()),
                };
                buffer.as_mut_slice()
            };
            for line in chunk * group..self.count.min((chunk + 1) * group) {
                let inputs: Each<&[u8]> = inputs
                    .iter()
                    .map(|(size, from)| &from[line * self.len * size..][..self.len * size])
                    .collect();
                let mut outputs: Each<&mut [u8]> = targets
                    .iter()
                    // SAFETY: every line of a result is written by one chunk only.
                    .map(|(bytes, to)| unsafe { to.range(line * bytes..(line + 1) * bytes) })
                    .collect();
                body(&inputs, &mut outputs, scratch);
            }
        });
        error.into_inner().map_or(Ok(()), Err)
    }
}

#[cfg(test)]
mod tests;
