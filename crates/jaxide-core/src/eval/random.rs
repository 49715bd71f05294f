//! Random keys and bits.

use super::element::{by_dtype, collect, elements, from_integers, integers, meaningless};
use super::elementwise::{common_shape, spread};
use super::numerics::random::{self as numerics, BitGenerator, Prng};
use super::strides::Layout;
use crate::aval::{byte_size, element_count};
use crate::dtype::DType;
use crate::error::{Error, ErrorKind, Result};
use crate::jaxpr::Shape;
use crate::prims::{KeyImpl, RngAlgorithm};
use crate::tensor::{Tensor, check_allocatable};

/// A block cipher, element by element.
pub(super) fn cipher<const K: usize, const N: usize>(
    key: [Tensor; K],
    block: [Tensor; N],
    encipher: fn([u32; K], [u32; N]) -> [u32; N],
) -> Result<Vec<Tensor>> {
    let words: Vec<&Tensor> = key.iter().chain(&block).collect();
    let shape = common_shape(&words)?;
    let words = words.into_iter().map(|word| spread(word, &shape));
    let words: Vec<Tensor> = words.collect::<Result<_>>()?;
    let words: Vec<&[u32]> = words.iter().map(elements::<u32>).collect::<Result<_>>()?;
    let word =
        |which: usize, index: usize| words[which][if words[which].len() == 1 { 0 } else { index }];
    let blocks: Vec<[u32; N]> = (0..element_count(&shape)?)
        .map(|i| {
            let key = std::array::from_fn(|k| word(k, i));
            encipher(key, std::array::from_fn(|n| word(K + n, i)))
        })
        .collect();
    (0..N)
        .map(|n| collect(&shape, DType::U32, blocks.iter().map(|block| block[n])))
        .collect()
}

/// High and low words of the numbers 0, 1, ... in a shape.
pub(super) fn counters(shape: &[usize]) -> Result<Vec<Tensor>> {
    check_allocatable(byte_size(shape, DType::U64)?)?;
    let count = element_count(shape)? as u64;
    [32, 0]
        .map(|shift| collect(shape, DType::U32, (0..count).map(|i| (i >> shift) as u32)))
        .into_iter()
        .collect()
}

/// `bit_width` random bits for each key and each element of `shape`.
pub(super) fn bits(keys: &Tensor, bit_width: usize, shape: &[usize]) -> Result<Tensor> {
    let dtype = match bit_width {
        8 => DType::U8,
        16 => DType::U16,
        32 => DType::U32,
        64 => DType::U64,
        other => {
            return Err(Error::parameter(format!(
                "bit_width is {other}, not 8, 16, 32 or 64"
            )));
        }
    };
    let prng = prng(keys.dtype())?;
    let full = joined(keys.shape(), shape);
    check_allocatable(byte_size(&full, DType::U64)?)?;
    let values = prng.bits(elements(keys)?, bit_width as u32, element_count(shape)?);
    from_integers(&full, dtype, values.into_iter().map(i128::from))
}

/// A key for each integer.
pub(super) fn seed(seeds: &Tensor, kind: KeyImpl) -> Result<Tensor> {
    let (prng, width) = (prng(kind.dtype())?, seeds.dtype().bits() as u32);
    let words = integers(seeds)?
        .flat_map(|seed| prng.seed(seed as i64, width))
        .collect();
    keys(seeds.shape(), kind.dtype(), words)
}

/// Keys from their words, which are the last axis.
pub(super) fn wrap(words: &Tensor, kind: KeyImpl) -> Result<Tensor> {
    match (words.dtype(), words.shape().split_last()) {
        (DType::U32, Some((&length, shape))) if Some(length) == kind.dtype().key_words() => {
            words.reinterpreted(shape, kind.dtype())
        }
        _ => Err(Error::shape(format!(
            "{} are no words of {}",
            words.aval(),
            kind.dtype()
        ))),
    }
}

/// The words of keys, as a last axis.
pub(super) fn unwrap(keys: &Tensor) -> Result<Tensor> {
    let length = keys
        .dtype()
        .key_words()
        .ok_or_else(|| meaningless(keys.dtype()))?;
    keys.reinterpreted(&joined(keys.shape(), &[length]), DType::U32)
}

/// New keys of `shape` for each key.
pub(super) fn split(parents: &Tensor, shape: &[usize]) -> Result<Tensor> {
    let prng = prng(parents.dtype())?;
    let full = joined(parents.shape(), shape);
    check_allocatable(byte_size(&full, parents.dtype())?)?;
    let count = element_count(shape)?;
    keys(
        &full,
        parents.dtype(),
        prng.split(elements(parents)?, count),
    )
}

/// A new key from each key and integer.
pub(super) fn fold_in(parents: &Tensor, data: &Tensor) -> Result<Tensor> {
    let prng = prng(parents.dtype())?;
    let shape = common_shape(&[parents, data])?;
    let words: Vec<&[u32]> = elements::<u32>(parents)?
        .chunks_exact(prng.key_words())
        .collect();
    let integers: Vec<u32> = integers(data)?.map(|value| value as u32).collect();
    let positions = |x: &Tensor| Layout::repeating(x.shape(), &shape).positions(&shape);
    let pairs = positions(parents).zip(positions(data));
    let folded: Vec<u32> = if prng == Prng::UnsafeRbg {
        let masks = Prng::fold_in_masks(&integers);
        let masks: Vec<&[u32]> = masks.chunks_exact(prng.key_words()).collect();
        let mixed = pairs.flat_map(|(key, mask)| words[key].iter().zip(masks[mask]));
        mixed.map(|(word, mask)| word ^ mask).collect()
    } else {
        pairs
            .flat_map(|(key, integer)| prng.fold_in(words[key], integers[integer]))
            .collect()
    };
    keys(&shape, parents.dtype(), folded)
}

/// A gamma sample for each element of `alpha`, whose leading axes are those of the keys.
pub(super) fn gamma(parents: &Tensor, alpha: &Tensor, log_space: bool) -> Result<Tensor> {
    let prng = prng(parents.dtype())?;
    let per_key = match alpha.shape().strip_prefix(parents.shape()) {
        Some(rest) => element_count(rest)?,
        None => {
            return Err(Error::shape(format!(
                "{} does not begin with the axes of {}",
                alpha.aval(),
                parents.aval()
            )));
        }
    };
    let split = prng.split(elements(parents)?, per_key);
    let dtype = alpha.dtype();
    by_dtype!(dtype, T,
        real => {
            let keys = split.chunks_exact(prng.key_words());
            let samples = keys.zip(elements::<T>(alpha)?);
            collect(alpha.shape(), dtype, samples.map(|(key, &alpha)| numerics::random_gamma(prng, key, alpha, log_space)))
        },
        other => Err(meaningless(dtype)),
    )
}

/// The advanced state, and an array of bits.
pub(super) fn bit_generator(
    state: &Tensor,
    algorithm: RngAlgorithm,
    dtype: DType,
    shape: &[usize],
) -> Result<Vec<Tensor>> {
    let algorithm = match algorithm {
        RngAlgorithm::Default | RngAlgorithm::Philox => BitGenerator::Philox,
        RngAlgorithm::ThreeFry => BitGenerator::Threefry,
    };
    if !matches!(dtype, DType::U8 | DType::U16 | DType::U32 | DType::U64) {
        return Err(meaningless(dtype));
    }
    check_allocatable(byte_size(shape, DType::U64)?)?;
    let words: [u64; 2] = match (state.dtype(), state.shape()) {
        (DType::U32, &[4]) => {
            let words = elements::<u32>(state)?;
            numerics::state_from_words([words[0], words[1], words[2], words[3]])
        }
        (DType::U64, &[2]) => [elements::<u64>(state)?[0], elements::<u64>(state)?[1]],
        _ => {
            return Err(Error::shape(format!(
                "the state is {}, and u32[4] or u64[2] is expected",
                state.aval()
            )));
        }
    };
    let (next, values) = numerics::rng_bit_generator(algorithm, words, dtype.bits() as u32, shape);
    let next = if state.dtype() == DType::U32 {
        Tensor::from_vec(&[4], numerics::state_to_words(next).to_vec())?
    } else {
        Tensor::from_vec(&[2], next.to_vec())?
    };
    Ok(vec![
        next,
        from_integers(shape, dtype, values.into_iter().map(i128::from))?,
    ])
}

fn prng(dtype: DType) -> Result<Prng> {
    match dtype {
        DType::KeyFry => Ok(Prng::Threefry),
        DType::KeyRbg => Ok(Prng::Rbg),
        DType::KeyUnsafeRbg => Ok(Prng::UnsafeRbg),
        other => Err(meaningless(other)),
    }
}

fn keys(shape: &[usize], dtype: DType, words: Vec<u32>) -> Result<Tensor> {
    if Some(words.len())
        != dtype
            .key_words()
            .map(|per_key| per_key * shape.iter().product::<usize>())
    {
        return Err(Error::new(
            ErrorKind::Internal,
            "the wrong number of key words",
        ));
    }
    Tensor::from_storage(shape, dtype, words)
}

fn joined(a: &[usize], b: &[usize]) -> Shape {
    a.iter().chain(b).copied().collect()
}
