//! Random keys and bits, exactly JAX's on CPU.
//!
//! Keys are arrays of `u32` words ([`Prng::key_words`] to a key) and bits are unsigned integers.
//! The meaning of every kernel is that of the function of the same purpose in
//! [`jaxide_core::eval::numerics::random`]; here the ciphers run on vectors ([`cipher`]) and large
//! results are shared out over threads.

mod cipher;

use half::{bf16, f16};
use jaxide_core::DType;
use jaxide_core::eval::numerics::float::Real;
use jaxide_core::eval::numerics::random::{self as reference, BitGenerator, Prng};

use super::shared::SharedSlice;
use super::{Buffers, Context, Kernel, KernelError, PoolBuffer, Signature};

/// Elements that make a chunk worth a thread's attention.
const CHUNK: usize = 1 << 13;

/// The kernel of `random_bits`: for each of a number of keys, `count` unsigned integers.
#[derive(Clone, Debug)]
pub struct RandomBits {
    prng: Prng,
    keys: usize,
    count: usize,
    bit_width: u32,
}

impl RandomBits {
    /// Bits in integers of 8, 16, 32 or 64 bits.
    ///
    /// # Panics
    /// If `bit_width` is another number.
    pub fn new(prng: Prng, keys: usize, count: usize, bit_width: u32) -> Self {
        assert!(
            matches!(bit_width, 8 | 16 | 32 | 64),
            "integers of {bit_width} bits"
        );
        Self {
            prng,
            keys,
            count,
            bit_width,
        }
    }
}

impl Kernel for RandomBits {
    fn signature(&self) -> Signature {
        let words = self.keys * self.prng.key_words();
        Signature::of(
            &[(words, 4)],
            &[(self.keys * self.count, self.bit_width as usize / 8)],
        )
    }

    fn run(&self, buffers: &mut Buffers<'_>, context: &Context<'_>) -> Result<(), KernelError> {
        let keys = buffers.input::<u32>(0);
        let count = self.keys * self.count;
        if self.prng != Prng::Threefry {
            // All values come from the first key, as in JAX under batching.
            let Some(words) = keys.first_chunk::<4>() else {
                return Ok(());
            };
            let [key, counter] = reference::state_from_words(*words);
            return match self.bit_width {
                8 => philox_narrow(key, counter, buffers.output::<u8>(0), context, |word| {
                    word as u8
                }),
                16 => philox_narrow(key, counter, buffers.output::<u16>(0), context, |word| {
                    word as u16
                }),
                32 => philox(key, counter, buffers.output::<u32>(0), context),
                _ => philox(key, counter, buffers.output::<u64>(0), context),
            };
        }
        let (keys, _) = keys.as_chunks::<2>();
        let fill = |out: &mut [u32], first: usize| self.folded(keys, first, out);
        match self.bit_width {
            8 => narrow(buffers.output::<u8>(0), context, fill, |word| word as u8),
            16 => narrow(buffers.output::<u16>(0), context, fill, |word| word as u16),
            32 => for_chunks(buffers.output::<u32>(0), CHUNK, context, |first, out| {
                fill(out, first);
                Ok(())
            }),
            _ => for_chunks(buffers.output::<u64>(0), CHUNK, context, |first, out| {
                for (key, counter, range) in self.runs(first, count.min(first + out.len())) {
                    cipher::threefry_joined(
                        keys[key],
                        counter,
                        &mut out[range.start - first..range.end - first],
                    );
                }
                Ok(())
            }),
        }
    }
}

impl RandomBits {
    /// Values `first..first + out.len()` of all keys' 32-bit values.
    fn folded(&self, keys: &[[u32; 2]], first: usize, out: &mut [u32]) {
        if self.count < cipher::LANES / 2 {
            return self.folded_for_many_keys(keys, first, out);
        }
        for (key, counter, range) in self.runs(first, first + out.len()) {
            cipher::threefry_folded(
                keys[key],
                counter,
                &mut out[range.start - first..range.end - first],
            );
        }
    }

    /// The same for keys with so few values that each vector holds several keys.
    fn folded_for_many_keys(&self, keys: &[[u32; 2]], first: usize, out: &mut [u32]) {
        const GROUP: usize = 8 * cipher::LANES;
        for (group, out) in out.chunks_mut(GROUP).enumerate() {
            let (mut words, mut counters, mut blocks) =
                ([[0; GROUP]; 2], [[0; GROUP]; 2], [[0; GROUP]; 2]);
            for i in 0..out.len() {
                let index = first + group * GROUP + i;
                let key = keys[index / self.count];
                (words[0][i], words[1][i], counters[1][i]) =
                    (key[0], key[1], (index % self.count) as u32);
            }
            let n = out.len();
            let [a, b] = &mut blocks;
            let (words, counters) = (
                [&words[0][..n], &words[1][..n]],
                [&counters[0][..n], &counters[1][..n]],
            );
            cipher::threefry_each(words, counters, [&mut a[..n], &mut b[..n]]);
            for ((out, a), b) in out.iter_mut().zip(a).zip(b) {
                *out = *a ^ *b;
            }
        }
    }

    /// Splits a range of all values into runs of one key: key, counter of the first value, values.
    fn runs(
        &self,
        first: usize,
        end: usize,
    ) -> impl Iterator<Item = (usize, u64, std::ops::Range<usize>)> {
        let count = self.count.max(1);
        (first / count..end.div_ceil(count)).map(move |key| {
            let start = first.max(key * count);
            (
                key,
                (start - key * count) as u64,
                start..end.min((key + 1) * count),
            )
        })
    }
}

/// The kernel of `threefry2x32`: enciphers two arrays of counter words under two arrays of key
/// words. Each input is an array of the results' size or a single word.
#[derive(Clone, Debug)]
pub struct Threefry2x32 {
    count: usize,
    inputs: [usize; 4],
}

impl Threefry2x32 {
    /// `count` blocks; `single[i]` says that input `i` is one word for all of them.
    pub fn new(count: usize, single: [bool; 4]) -> Self {
        Self {
            count,
            inputs: single.map(|single| if single { 1 } else { count }),
        }
    }
}

impl Kernel for Threefry2x32 {
    fn signature(&self) -> Signature {
        Signature::of(&self.inputs.map(|len| (len, 4)), &[(self.count, 4); 2])
    }

    fn run(&self, buffers: &mut Buffers<'_>, context: &Context<'_>) -> Result<(), KernelError> {
        let inputs: [&[u32]; 4] = std::array::from_fn(|i| buffers.input(i));
        let second = SharedSlice::new(buffers.output::<u32>(1));
        for_chunks(buffers.output::<u32>(0), CHUNK, context, |first, out| {
            let n = out.len();
            // SAFETY: this chunk of the second result belongs to no other call.
            let out1 = unsafe { second.range(first..first + n) };
            let mut repeated = PoolBuffer::for_elements::<u32>(4 * n)?;
            let mut rest = repeated.as_mut_slice::<u32>();
            let words = inputs.map(|words| {
                if words.len() == self.count {
                    return &words[first..first + n];
                }
                let (same, more) = std::mem::take(&mut rest).split_at_mut(n);
                rest = more;
                same.fill(words[0]);
                &*same
            });
            cipher::threefry_each([words[0], words[1]], [words[2], words[3]], [out, out1]);
            Ok(())
        })
    }
}

/// The kernel of `random_split`: `count` new keys for each of a number of keys.
#[derive(Clone, Debug)]
pub struct KeySplit {
    /// The kind of keys.
    pub prng: Prng,
    /// Number of keys given.
    pub keys: usize,
    /// Number of new keys for each.
    pub count: usize,
}

impl Kernel for KeySplit {
    fn signature(&self) -> Signature {
        let words = self.keys * self.prng.key_words();
        Signature::of(&[(words, 4)], &[(words * self.count, 4)])
    }

    fn run(&self, buffers: &mut Buffers<'_>, context: &Context<'_>) -> Result<(), KernelError> {
        let (keys, out) = (buffers.input::<u32>(0), buffers.output::<u32>(0));
        if self.prng == Prng::Threefry {
            let (keys, _) = keys.as_chunks::<2>();
            let bits = RandomBits {
                prng: self.prng,
                keys: self.keys,
                count: self.count,
                bit_width: 64,
            };
            return for_chunks(out.as_chunks_mut::<2>().0, CHUNK, context, |first, out| {
                for (key, counter, range) in bits.runs(first, first + out.len()) {
                    cipher::threefry_words(
                        keys[key],
                        counter,
                        &mut out[range.start - first..range.end - first],
                    );
                }
                Ok(())
            });
        }
        out.copy_from_slice(&self.prng.split(keys, self.count));
        Ok(())
    }
}

/// The kernel of `random_fold_in`: a new key from each key and `u32`. Either input may be single.
#[derive(Clone, Debug)]
pub struct KeyFoldIn {
    /// The kind of keys.
    pub prng: Prng,
    /// Number of keys given: 1 or that of the results.
    pub keys: usize,
    /// Number of integers given: 1 or that of the results.
    pub integers: usize,
}

impl Kernel for KeyFoldIn {
    fn signature(&self) -> Signature {
        let words = self.prng.key_words();
        let count = if self.keys == 1 {
            self.integers
        } else {
            self.keys
        };
        Signature::of(
            &[(self.keys * words, 4), (self.integers, 4)],
            &[(count * words, 4)],
        )
    }

    fn run(&self, buffers: &mut Buffers<'_>, context: &Context<'_>) -> Result<(), KernelError> {
        let (keys, integers) = (buffers.input::<u32>(0), buffers.input::<u32>(1));
        let words = self.prng.key_words();
        let out = buffers.output::<u32>(0);
        let masks = match self.prng {
            Prng::Threefry | Prng::Rbg => Vec::new(),
            Prng::UnsafeRbg => Prng::fold_in_masks(integers),
        };
        for_chunks(out, CHUNK.next_multiple_of(words), context, |first, out| {
            for (i, out) in (first / words..).zip(out.chunks_exact_mut(words)) {
                let key = if self.keys == 1 {
                    keys
                } else {
                    &keys[i * words..(i + 1) * words]
                };
                let integer = if self.integers == 1 { 0 } else { i };
                if masks.is_empty() {
                    out.copy_from_slice(&self.prng.fold_in(key, integers[integer]));
                    continue;
                }
                let mask = &masks[integer * words..(integer + 1) * words];
                for (word, (key, mask)) in out.iter_mut().zip(key.iter().zip(mask)) {
                    *word = key ^ mask;
                }
            }
            Ok(())
        })
    }
}

/// The kernel of `random_seed`: a key from each integer.
#[derive(Clone, Debug)]
pub struct KeySeed {
    prng: Prng,
    dtype: DType,
    count: usize,
}

impl KeySeed {
    /// Keys from `count` integers of this type.
    ///
    /// # Errors
    /// If the type is no integer type of 8 to 64 bits.
    pub fn new(prng: Prng, dtype: DType, count: usize) -> Result<Self, KernelError> {
        match dtype {
            DType::I8
            | DType::I16
            | DType::I32
            | DType::I64
            | DType::U8
            | DType::U16
            | DType::U32
            | DType::U64 => Ok(Self { prng, dtype, count }),
            other => Err(KernelError::new(format!(
                "no key from seeds of type {}",
                other.short_name()
            ))),
        }
    }
}

impl Kernel for KeySeed {
    fn signature(&self) -> Signature {
        Signature::of(
            &[(self.count, self.dtype.size())],
            &[(self.count * self.prng.key_words(), 4)],
        )
    }

    fn run(&self, buffers: &mut Buffers<'_>, _: &Context<'_>) -> Result<(), KernelError> {
        let out = buffers
            .output::<u32>(0)
            .chunks_exact_mut(self.prng.key_words());
        macro_rules! seed {
            ($t:ty) => {
                for (out, &seed) in out.zip(buffers.input::<$t>(0)) {
                    out.copy_from_slice(&self.prng.seed(seed as i64, <$t>::BITS));
                }
            };
        }
        match self.dtype {
            DType::I8 => seed!(i8),
            DType::I16 => seed!(i16),
            DType::I32 => seed!(i32),
            DType::I64 => seed!(i64),
            DType::U8 => seed!(u8),
            DType::U16 => seed!(u16),
            DType::U32 => seed!(u32),
            _ => seed!(u64),
        }
        Ok(())
    }
}

/// The kernel of `rng_bit_generator`: from a state the advanced state and an array of bits. The
/// state is `u32[4]` or `u64[2]`, which are the same bytes.
#[derive(Clone, Debug)]
pub struct RngBitGenerator {
    algorithm: BitGenerator,
    bit_width: u32,
    shape: Vec<usize>,
}

impl RngBitGenerator {
    /// Bits in an array of this shape of integers of 8, 16, 32 or 64 bits.
    ///
    /// # Panics
    /// If `bit_width` is another number.
    pub fn new(algorithm: BitGenerator, bit_width: u32, shape: &[usize]) -> Self {
        assert!(
            matches!(bit_width, 8 | 16 | 32 | 64),
            "integers of {bit_width} bits"
        );
        Self {
            algorithm,
            bit_width,
            shape: shape.to_vec(),
        }
    }
}

impl Kernel for RngBitGenerator {
    fn signature(&self) -> Signature {
        let count = self.shape.iter().product();
        Signature::of(&[(4, 4)], &[(4, 4), (count, self.bit_width as usize / 8)])
    }

    fn run(&self, buffers: &mut Buffers<'_>, context: &Context<'_>) -> Result<(), KernelError> {
        let words = buffers.input::<u32>(0);
        let state = reference::state_from_words(std::array::from_fn(|i| words[i]));
        let [key, counter] = state;
        let next = buffers.output::<u32>(0);
        if self.algorithm == BitGenerator::Threefry {
            let (state, values) =
                reference::rng_bit_generator(self.algorithm, state, self.bit_width, &self.shape);
            next.copy_from_slice(&reference::state_to_words(state));
            macro_rules! store {
                ($t:ty) => {
                    for (out, &value) in buffers.output::<$t>(1).iter_mut().zip(&values) {
                        *out = value as $t;
                    }
                };
            }
            match self.bit_width {
                8 => store!(u8),
                16 => store!(u16),
                32 => store!(u32),
                _ => store!(u64),
            }
            return Ok(());
        }
        let count: usize = self.shape.iter().product();
        let blocks = count.div_ceil(if self.bit_width == 64 { 2 } else { 4 });
        next.copy_from_slice(&reference::state_to_words([
            key,
            counter.wrapping_add(blocks as u64),
        ]));
        match self.bit_width {
            8 => philox_narrow(key, counter, buffers.output::<u8>(1), context, |word| {
                word as u8
            }),
            16 => philox_narrow(key, counter, buffers.output::<u16>(1), context, |word| {
                word as u16
            }),
            32 => philox(key, counter, buffers.output::<u32>(1), context),
            _ => philox(key, counter, buffers.output::<u64>(1), context),
        }
    }
}

/// The kernel of `random_gamma`: a sample for each element of an array of shape parameters, whose
/// leading dimensions are those of the keys.
#[derive(Clone, Debug)]
pub struct RandomGamma {
    prng: Prng,
    dtype: DType,
    keys: usize,
    per_key: usize,
    log_space: bool,
}

impl RandomGamma {
    /// Samples, or their logarithms with `log_space`, for `per_key` parameters for each key.
    ///
    /// # Errors
    /// If the type is none of the floating-point types of 16 bits or more.
    pub fn new(
        prng: Prng,
        dtype: DType,
        keys: usize,
        per_key: usize,
        log_space: bool,
    ) -> Result<Self, KernelError> {
        match dtype {
            DType::F16 | DType::BF16 | DType::F32 | DType::F64 => Ok(Self {
                prng,
                dtype,
                keys,
                per_key,
                log_space,
            }),
            other => Err(KernelError::new(format!(
                "no gamma samples of type {}",
                other.short_name()
            ))),
        }
    }

    fn sample<T: Real + bytemuck::Pod + Send + Sync>(
        &self,
        buffers: &mut Buffers<'_>,
        context: &Context<'_>,
    ) -> Result<(), KernelError> {
        let (keys, alpha) = (buffers.input::<u32>(0), buffers.input::<T>(1));
        let words = self.prng.key_words();
        for_chunks(buffers.output::<T>(0), CHUNK / 64, context, |first, out| {
            let mut split = Vec::new();
            for (i, out) in (first..).zip(out) {
                let (key, place) = (i / self.per_key, i % self.per_key);
                if split.is_empty() || place == 0 {
                    split = self
                        .prng
                        .split(&keys[key * words..(key + 1) * words], self.per_key);
                }
                let key = &split[place * words..(place + 1) * words];
                *out = reference::random_gamma(self.prng, key, alpha[i], self.log_space);
            }
            Ok(())
        })
    }
}

impl Kernel for RandomGamma {
    fn signature(&self) -> Signature {
        let operand = (self.keys * self.per_key, self.dtype.size());
        Signature::of(
            &[(self.keys * self.prng.key_words(), 4), operand],
            &[operand],
        )
    }

    fn run(&self, buffers: &mut Buffers<'_>, context: &Context<'_>) -> Result<(), KernelError> {
        match self.dtype {
            DType::F16 => self.sample::<f16>(buffers, context),
            DType::BF16 => self.sample::<bf16>(buffers, context),
            DType::F32 => self.sample::<f32>(buffers, context),
            _ => self.sample::<f64>(buffers, context),
        }
    }
}

/// Calls `fill(first, chunk)` for chunks of `out` of `size` elements (the last may have fewer).
fn for_chunks<T: Send>(
    out: &mut [T],
    size: usize,
    context: &Context<'_>,
    fill: impl Fn(usize, &mut [T]) -> Result<(), KernelError> + Sync,
) -> Result<(), KernelError> {
    let (len, out) = (out.len(), SharedSlice::new(out));
    let error = std::sync::OnceLock::new();
    context.parallel_for(len.div_ceil(size), |chunk| {
        let first = chunk * size;
        // SAFETY: chunks are disjoint ranges of `out`.
        let chunk = unsafe { out.range(first..len.min(first + size)) };
        if let Err(e) = fill(first, chunk) {
            let _ = error.set(e);
        }
    });
    error.into_inner().map_or(Ok(()), Err)
}

/// Elements of fewer than 32 bits from 32-bit ones.
fn narrow<T: Send>(
    out: &mut [T],
    context: &Context<'_>,
    fill: impl Fn(&mut [u32], usize) + Sync,
    element: impl Fn(u32) -> T + Sync,
) -> Result<(), KernelError> {
    for_chunks(out, CHUNK, context, |first, out| {
        let mut words = PoolBuffer::for_elements::<u32>(out.len())?;
        let words = words.as_mut_slice::<u32>();
        fill(words, first);
        for (out, &word) in out.iter_mut().zip(&*words) {
            *out = element(word);
        }
        Ok(())
    })
}

/// Elements of fewer than 32 bits, four from each Philox block.
fn philox_narrow<T: Send>(
    key: u64,
    counter: u64,
    out: &mut [T],
    context: &Context<'_>,
    element: impl Fn(u32) -> T + Sync,
) -> Result<(), KernelError> {
    for_chunks(out, CHUNK, context, |first, out| {
        let mut blocks = PoolBuffer::for_elements::<[u64; 2]>(out.len().div_ceil(4))?;
        let blocks = blocks.as_mut_slice::<[u64; 2]>();
        cipher::philox_blocks(split(key), first_block(key, counter, first / 4), blocks);
        let words: &[u32] = bytemuck::cast_slice(blocks);
        for (out, &word) in out.iter_mut().zip(words) {
            *out = element(word);
        }
        Ok(())
    })
}

/// Elements of 32 or 64 bits, which are the bytes of blocks, low words first.
fn philox<T: bytemuck::Pod + Send>(
    key: u64,
    counter: u64,
    out: &mut [T],
    context: &Context<'_>,
) -> Result<(), KernelError> {
    let per_block = size_of::<[u64; 2]>() / size_of::<T>();
    for_chunks(out, CHUNK, context, |first, out| {
        let first = first_block(key, counter, first / per_block);
        let whole = out.len() / per_block;
        let (blocks, rest) = out.split_at_mut(whole * per_block);
        // Bytes that are aligned for elements alone are written by way of a buffer.
        match bytemuck::try_cast_slice_mut(blocks) {
            Ok(blocks) => cipher::philox_blocks(split(key), first, blocks),
            Err(_) => {
                let mut buffer = PoolBuffer::for_elements::<[u64; 2]>(whole)?;
                let buffer = buffer.as_mut_slice::<[u64; 2]>();
                cipher::philox_blocks(split(key), first, buffer);
                blocks.copy_from_slice(bytemuck::cast_slice(buffer));
            }
        }
        if rest.is_empty() {
            return Ok(());
        }
        let mut last = [[0u64; 2]];
        cipher::philox_blocks(split(key), first.wrapping_add(whole as u128), &mut last);
        rest.copy_from_slice(&bytemuck::cast_slice(&last)[..rest.len()]);
        Ok(())
    })
}

/// The 128-bit counter of a block of Philox as XLA runs it: the key is its high half at the start.
fn first_block(key: u64, counter: u64, block: usize) -> u128 {
    (u128::from(key) << 64 | u128::from(counter)).wrapping_add(block as u128)
}

/// Low and high word.
fn split(x: u64) -> [u32; 2] {
    [x as u32, (x >> 32) as u32]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runtime::KernelCall;

    #[track_caller]
    fn run<T: bytemuck::Pod>(kernel: impl Kernel + 'static, inputs: &[&[u8]]) -> Vec<Vec<T>> {
        let call = KernelCall::new(kernel);
        let sizes = call.signature().outputs.iter();
        let mut out: Vec<Vec<T>> = sizes
            .map(|bytes| vec![T::zeroed(); bytes / size_of::<T>()])
            .collect();
        let mut slices: Vec<&mut [u8]> = out
            .iter_mut()
            .map(|out| bytemuck::cast_slice_mut(out))
            .collect();
        call.call(inputs, &mut slices, &Context::default()).unwrap();
        out
    }

    fn key_words(prng: Prng, keys: usize) -> Vec<u32> {
        (0..keys)
            .flat_map(|i| prng.seed(i as i64 * 77 - 3, 64))
            .collect()
    }

    #[test]
    fn bits() {
        for prng in Prng::ALL {
            for (keys, count) in [
                (1, 0),
                (0, 5),
                (1, 1),
                (1, 30_000),
                (3, 10_001),
                (500, 3),
                (7, 20),
            ] {
                let words = key_words(prng, keys);
                let inputs: &[&[u8]] = &[bytemuck::cast_slice(&words)];
                macro_rules! check {
                    ($t:ty) => {
                        let expected = prng.bits(&words, <$t>::BITS, count);
                        let got = run::<$t>(RandomBits::new(prng, keys, count, <$t>::BITS), inputs);
                        assert!(
                            got[0].iter().map(|&x| u64::from(x)).eq(expected),
                            "{prng:?} {keys} {count}"
                        );
                    };
                }
                check!(u8);
                check!(u16);
                check!(u32);
                check!(u64);
            }
        }
    }

    fn folded(prng: Prng, words: &[u32], integers: &[u32]) -> Vec<u32> {
        if prng == Prng::UnsafeRbg {
            let masks = Prng::fold_in_masks(integers);
            return words
                .iter()
                .zip(masks)
                .map(|(word, mask)| word ^ mask)
                .collect();
        }
        let keys = words.chunks(prng.key_words()).zip(integers);
        keys.flat_map(|(key, &integer)| prng.fold_in(key, integer))
            .collect()
    }

    #[test]
    fn keys_from_keys() {
        for prng in Prng::ALL {
            for (keys, count) in [(1, 2), (3, 100), (2, 0), (1, 10_000)] {
                let words = key_words(prng, keys);
                let bytes = bytemuck::cast_slice(&words);
                assert_eq!(
                    run::<u32>(KeySplit { prng, keys, count }, &[bytes])[0],
                    prng.split(&words, count)
                );
                let integers: Vec<u32> = (0..keys as u32).map(|i| i * 1000).collect();
                let expected = folded(prng, &words, &integers);
                let kernel = KeyFoldIn {
                    prng,
                    keys,
                    integers: keys,
                };
                assert_eq!(
                    run::<u32>(kernel, &[bytes, bytemuck::cast_slice(&integers)])[0],
                    expected
                );
            }
            let (words, integers) = (key_words(prng, 1), [5u32, 6, 7]);
            let kernel = KeyFoldIn {
                prng,
                keys: 1,
                integers: 3,
            };
            let got = run::<u32>(
                kernel,
                &[
                    bytemuck::cast_slice(&words),
                    bytemuck::cast_slice(&integers),
                ],
            );
            assert_eq!(got[0], folded(prng, &words.repeat(3), &integers));
            let got = run::<u32>(
                KeySeed::new(prng, DType::I32, 2).unwrap(),
                &[bytemuck::cast_slice(&[5i32, -5])],
            );
            assert_eq!(got[0], [prng.seed(5, 32), prng.seed(-5, 32)].concat());
            let got = run::<u32>(
                KeySeed::new(prng, DType::I64, 1).unwrap(),
                &[bytemuck::cast_slice(&[-5i64])],
            );
            assert_eq!(got[0], prng.seed(-5, 64));
        }
        assert!(KeySeed::new(Prng::Rbg, DType::F32, 1).is_err());
    }

    #[test]
    fn blocks_with_single_words() {
        let counters: Vec<u32> = (0..20_000).map(|i| i * 3).collect();
        let kernel = Threefry2x32::new(counters.len(), [true, true, false, true]);
        let word = |x: &'static [u32; 1]| bytemuck::cast_slice::<u32, u8>(x);
        let got = run::<u32>(
            kernel,
            &[
                word(&[1]),
                word(&[2]),
                bytemuck::cast_slice(&counters),
                word(&[9]),
            ],
        );
        for (i, &counter) in counters.iter().enumerate() {
            assert_eq!(
                [got[0][i], got[1][i]],
                reference::threefry2x32([1, 2], [counter, 9])
            );
        }
    }

    #[test]
    fn bit_generators() {
        for algorithm in [BitGenerator::Philox, BitGenerator::Threefry] {
            for shape in [&[][..], &[5], &[0], &[3, 4], &[20_001]] {
                let words = [7u32, 1, u32::MAX, u32::MAX];
                let state = reference::state_from_words(words);
                macro_rules! check {
                    ($t:ty) => {
                        let (next, values) =
                            reference::rng_bit_generator(algorithm, state, <$t>::BITS, shape);
                        let call =
                            KernelCall::new(RngBitGenerator::new(algorithm, <$t>::BITS, shape));
                        let (mut state, mut bits) =
                            ([0u32; 4], vec![<$t>::default(); values.len()]);
                        let outputs = &mut [
                            bytemuck::cast_slice_mut(&mut state),
                            bytemuck::cast_slice_mut(&mut bits),
                        ];
                        call.call(
                            &[bytemuck::cast_slice(&words)],
                            outputs,
                            &Context::default(),
                        )
                        .unwrap();
                        assert_eq!(state, reference::state_to_words(next));
                        assert!(
                            bits.iter().map(|&x| u64::from(x)).eq(values),
                            "{algorithm:?} {shape:?}"
                        );
                    };
                }
                check!(u8);
                check!(u16);
                check!(u32);
                check!(u64);
            }
        }
    }

    #[test]
    fn gamma_samples() {
        let words = key_words(Prng::Threefry, 2);
        let alpha: Vec<f32> = (1..=600).map(|i| i as f32 * 0.01).collect();
        let kernel = RandomGamma::new(Prng::Threefry, DType::F32, 2, 300, false).unwrap();
        let got = run::<f32>(
            kernel,
            &[bytemuck::cast_slice(&words), bytemuck::cast_slice(&alpha)],
        );
        for (i, &alpha) in alpha.iter().enumerate() {
            let split = Prng::Threefry.split(&words[i / 300 * 2..][..2], 300);
            let key = &split[i % 300 * 2..][..2];
            assert_eq!(
                got[0][i],
                reference::random_gamma(Prng::Threefry, key, alpha, false)
            );
        }
        assert!(RandomGamma::new(Prng::Rbg, DType::C64, 1, 1, false).is_err());
    }
}
