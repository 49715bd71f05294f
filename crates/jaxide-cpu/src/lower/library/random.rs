//! Random bits and samples that are no arithmetic on single elements.

use super::elements::{Number, by_dtype, meaningless, typed, typed_mut};
use super::operands::Operands;
use super::routine::{in_chunks, routine};
use crate::runtime::KernelCall;
use jaxide_core::eval::numerics::random::{self, BitGenerator, Prng};
use jaxide_core::prims::{RandomBits, RngAlgorithm, RngBitGenerator};
use jaxide_core::{DType, Error, Result};

type Call = Result<Box<KernelCall>>;

/// Samples that a thread draws at once.
const CHUNK: usize = 256;

fn prng(dtype: DType) -> Result<Prng> {
    match dtype {
        DType::KeyFry => Ok(Prng::Threefry),
        DType::KeyRbg => Ok(Prng::Rbg),
        DType::KeyUnsafeRbg => Err(Error::unsupported("keys of kind unsafe_rbg")),
        other => Err(meaningless(other)),
    }
}

/// Bits for each key and each element of a shape.
pub(super) fn bits(operands: &Operands, params: &RandomBits) -> Call {
    let prng = prng(operands.inputs[0].dtype)?;
    let dtype = operands.outputs[0].dtype;
    let width = params.bit_width as u32;
    let count: usize = params.shape.iter().product();
    if !matches!(width, 8 | 16 | 32 | 64) {
        return Err(Error::parameter(format!(
            "bit_width is {width}, not 8, 16, 32 or 64"
        )));
    }
    Ok(routine(operands, move |buffers, _| {
        let values = prng.bits(buffers.input(0), width, count);
        write_bits(dtype, &values, buffers.output(0));
        Ok(())
    }))
}

/// The advanced state, and bits.
pub(super) fn bit_generator(operands: &Operands, params: &RngBitGenerator) -> Call {
    let algorithm = match params.algorithm {
        RngAlgorithm::Default | RngAlgorithm::Philox => BitGenerator::Philox,
        RngAlgorithm::ThreeFry => BitGenerator::Threefry,
    };
    let (dtype, shape) = (params.dtype, params.shape.to_vec());
    if !matches!(dtype, DType::U8 | DType::U16 | DType::U32 | DType::U64) {
        return Err(meaningless(dtype));
    }
    let state = &operands.inputs[0];
    let narrow = match (state.dtype, &state.shape[..]) {
        (DType::U32, [4]) => true,
        (DType::U64, [2]) => false,
        (other, shape) => {
            return Err(Error::shape(format!(
                "the state is {other}{shape:?}, and u32[4] or u64[2] is expected"
            )));
        }
    };
    Ok(routine(operands, move |buffers, _| {
        let bytes = buffers.input::<u8>(0);
        let state = if narrow {
            let words = typed::<u32>(bytes);
            random::state_from_words([words[0], words[1], words[2], words[3]])
        } else {
            let words = typed::<u64>(bytes);
            [words[0], words[1]]
        };
        let (next, values) =
            random::rng_bit_generator(algorithm, state, dtype.bits() as u32, &shape);
        let out = buffers.output::<u8>(0);
        if narrow {
            typed_mut(out).copy_from_slice(&random::state_to_words(next));
        } else {
            typed_mut(out).copy_from_slice(&next);
        }
        write_bits(dtype, &values, buffers.output(1));
        Ok(())
    }))
}

fn write_bits(dtype: DType, values: &[u64], out: &mut [u8]) {
    let wide: Vec<i128> = values.iter().map(|&value| value.into()).collect();
    i128::write(dtype, &wide, out);
}

/// A gamma sample for each element of alpha, whose leading axes are those of the keys.
pub(super) fn gamma(operands: &Operands, log_space: bool) -> Call {
    let [keys, alpha] = &operands.inputs[..] else {
        return Err(Error::shape("keys and alpha are expected"));
    };
    let (prng, words) = (prng(keys.dtype)?, keys.dtype.size() / 4);
    let Some(rest) = alpha.shape.strip_prefix(&keys.shape[..]) else {
        return Err(Error::shape(format!(
            "alpha of shape {:?} does not begin with the axes {:?} of the keys",
            alpha.shape, keys.shape
        )));
    };
    let per_key: usize = rest.iter().product();
    let dtype = alpha.dtype;
    by_dtype!(dtype, T,
        int => Err(meaningless(dtype)),
        small => Err(meaningless(dtype)),
        real => Ok(routine(operands, move |buffers, context| {
            let (keys, alpha) = (buffers.input::<u32>(0), buffers.input::<T>(1));
            let split: Vec<u32> = keys.chunks_exact(words).flat_map(|key| prng.split(key, per_key)).collect();
            in_chunks(context, buffers.output::<T>(0), CHUNK, |start, samples| {
                for (i, sample) in (start..).zip(samples) {
                    let key = &split[i * words..(i + 1) * words];
                    *sample = random::random_gamma(prng, key, alpha[i], log_space);
                }
            });
            Ok(())
        })),
        complex => Err(meaningless(dtype)),
        other => Err(meaningless(dtype)),
    )
}
