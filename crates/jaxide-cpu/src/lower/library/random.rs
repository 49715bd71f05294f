//! Random bits and samples that are no arithmetic on single elements.

use super::elements::{by_dtype, meaningless};
use super::operands::Operands;
use super::routine::{in_chunks, routine};
use crate::narrow;
use crate::runtime::{KernelCall, random as runtime};
use jaxide_core::eval::numerics::random::{self, BitGenerator, Prng};
use jaxide_core::prims::{RandomBits, RandomSplit, RngAlgorithm, RngBitGenerator};
use jaxide_core::{DType, Error, Result};

type Call = Result<Box<KernelCall>>;

/// Samples that a thread draws at once.
const CHUNK: usize = 256;

fn prng(dtype: DType) -> Result<Prng> {
    match dtype {
        DType::KeyFry => Ok(Prng::Threefry),
        DType::KeyRbg => Ok(Prng::Rbg),
        DType::KeyUnsafeRbg => Ok(Prng::UnsafeRbg),
        other => Err(meaningless(other)),
    }
}

/// Bits for each key and each element of a shape.
pub(super) fn bits(operands: &Operands, params: &RandomBits) -> Call {
    let prng = prng(operands.inputs[0].dtype)?;
    let width = narrow(params.bit_width);
    let count: usize = params.shape.iter().product();
    if !matches!(width, 8 | 16 | 32 | 64) {
        return Err(Error::parameter(format!(
            "bit_width is {width}, not 8, 16, 32 or 64"
        )));
    }
    let keys = operands.inputs[0].len();
    Ok(KernelCall::new(runtime::RandomBits::new(
        prng, keys, count, width,
    )))
}

/// New keys for each key.
pub(super) fn split(operands: &Operands, params: &RandomSplit) -> Call {
    let keys = &operands.inputs[0];
    Ok(KernelCall::new(runtime::KeySplit {
        prng: prng(keys.dtype)?,
        keys: keys.len(),
        count: params.shape.iter().product(),
    }))
}

/// What keys of kind unsafe_rbg are mixed with for an array of integers, as keys.
pub(super) fn fold_in_masks(operands: &Operands) -> Call {
    Ok(routine(operands, |buffers, _| {
        let masks = Prng::fold_in_masks(buffers.input::<u32>(0));
        buffers.output::<u32>(0).copy_from_slice(&masks);
        Ok(())
    }))
}

/// The advanced state, and bits.
pub(super) fn bit_generator(operands: &Operands, params: &RngBitGenerator) -> Call {
    let algorithm = match params.algorithm {
        RngAlgorithm::Default | RngAlgorithm::Philox => BitGenerator::Philox,
        RngAlgorithm::ThreeFry => BitGenerator::Threefry,
    };
    if !matches!(
        params.dtype,
        DType::U8 | DType::U16 | DType::U32 | DType::U64
    ) {
        return Err(meaningless(params.dtype));
    }
    let state = &operands.inputs[0];
    match (state.dtype, &state.shape[..]) {
        (DType::U32, [4]) | (DType::U64, [2]) => {
            let bits = narrow(params.dtype.bits());
            Ok(KernelCall::new(runtime::RngBitGenerator::new(
                algorithm,
                bits,
                &params.shape,
            )))
        }
        (other, shape) => Err(Error::shape(format!(
            "the state is {other}{shape:?}, and u32[4] or u64[2] is expected"
        ))),
    }
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
            let split = prng.split(keys, per_key);
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
