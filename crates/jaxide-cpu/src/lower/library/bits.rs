//! Bits of elements under another type, where an element is less than a byte.

use super::elements::meaningless;
use super::operands::Operands;
use super::routine::routine;
use crate::runtime::KernelCall;
use jaxide_core::{DType, Result};

/// A wider type takes the elements of the last axis together, low bits first; a narrower one makes a new last axis.
pub(super) fn bitcast(operands: &Operands) -> Result<Box<KernelCall>> {
    let (from, to) = (operands.inputs[0].dtype, operands.outputs[0].dtype);
    let numeric = |dtype: DType| !dtype.is_key() && dtype != DType::Float0 && dtype != DType::Bool;
    if !numeric(from) || !numeric(to) {
        return Err(meaningless(if numeric(from) { to } else { from }));
    }
    Ok(routine(operands, move |buffers, _| {
        let bytes = buffers.input::<u8>(0);
        let packed = pack(from, bytes);
        let out = buffers.output::<u8>(0);
        let bits = to.bits();
        if bits >= 8 {
            out.copy_from_slice(&packed);
            return Ok(());
        }
        for (index, byte) in out.iter_mut().enumerate() {
            let bit = index * bits;
            let low = packed[bit / 8] >> (bit % 8) << (8 - bits);
            *byte = if to.is_signed_integer() {
                (low as i8 >> (8 - bits)) as u8
            } else {
                low >> (8 - bits)
            };
        }
        Ok(())
    }))
}

/// The bits of all elements one after another, those of less than a byte packed.
fn pack(dtype: DType, bytes: &[u8]) -> Vec<u8> {
    let bits = dtype.bits();
    if bits >= 8 {
        return bytes.to_vec();
    }
    let mut packed = vec![0; (bytes.len() * bits).div_ceil(8)];
    for (index, byte) in bytes.iter().enumerate() {
        packed[index * bits / 8] |= (byte & ((1 << bits) - 1)) << (index * bits % 8);
    }
    packed
}
