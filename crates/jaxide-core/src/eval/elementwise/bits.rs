//! Bitwise and logical operations, shifts, and counts of bits.

use super::map::{integer, integer2, map, map2, same_dtype};
use crate::dtype::DType;
use crate::error::Result;
use crate::eval::element::{by_dtype, meaningless};
use crate::eval::numerics::integer::Int;
use crate::tensor::Tensor;

/// A bitwise operation of every pair of truth values or integers.
macro_rules! bitwise {
    ($(#[$doc:meta])* $name:ident, $f:expr) => {
        $(#[$doc])*
        pub(in crate::eval) fn $name(x: &Tensor, y: &Tensor) -> Result<Tensor> {
            let dtype = same_dtype(x, y)?;
            by_dtype!(dtype, T,
                bool => map2::<u8, u8>(x, y, dtype, &$f),
                int => map2::<T, T>(x, y, dtype, &$f),
                other => Err(meaningless(dtype)),
            )
        }
    };
}

bitwise! {
    /// Bits set in both.
    and, |a, b| a & b
}
bitwise! {
    /// Bits set in either.
    or, |a, b| a | b
}
bitwise! {
    /// Bits set in one.
    xor, |a, b| a ^ b
}

/// The opposite bits.
pub(in crate::eval) fn not(x: &Tensor) -> Result<Tensor> {
    by_dtype!(x.dtype(), T,
        bool => map::<u8, u8>(x, DType::Bool, &|a| a ^ 1),
        int => map::<T, T>(x, x.dtype(), &|a| !a),
        other => Err(meaningless(x.dtype())),
    )
}

/// The number of one bits; as XLA counts, of the eight in which integers of 2 and 4 bits lie.
pub(in crate::eval) fn population_count(x: &Tensor) -> Result<Tensor> {
    integer!(x, Int::population_count)
}

/// The number of leading zero bits.
pub(in crate::eval) fn clz(x: &Tensor) -> Result<Tensor> {
    let beyond = (x.dtype().size() * 8 - x.dtype().bits()) as u8;
    if beyond > 0 {
        return map::<u8, u8>(&unsigned(x)?, x.dtype(), &|a| {
            a.leading_zeros() as u8 - beyond
        });
    }
    integer!(x, Int::clz)
}

/// Bits moved up.
pub(in crate::eval) fn shift_left(x: &Tensor, count: &Tensor) -> Result<Tensor> {
    integer2!(x, count, Int::shift_left)
}

/// Bits moved down, zeros from above.
pub(in crate::eval) fn shift_right_logical(x: &Tensor, count: &Tensor) -> Result<Tensor> {
    let shifted = integer2!(&unsigned(x)?, &unsigned(count)?, Int::shift_right_logical)?;
    by_dtype!(x.dtype(), T, int => map::<T, T>(&shifted, x.dtype(), &|a| a), other => Ok(shifted))
}

/// Bits moved down, the sign from above.
pub(in crate::eval) fn shift_right_arithmetic(x: &Tensor, count: &Tensor) -> Result<Tensor> {
    let dtype = x.dtype();
    if !matches!(dtype, DType::U2 | DType::U4) {
        return integer2!(x, count, Int::shift_right_arithmetic);
    }
    // The highest of the type's own bits is the sign.
    let (bits, unused) = (dtype.bits() as u8, 8 - dtype.bits());
    map2::<u8, u8>(x, count, same_dtype(x, count)?, &|a, n| {
        ((a << unused) as i8 >> unused >> n.min(bits - 1)) as u8
    })
}

/// The same bits as unsigned integers: those of 2 and 4 bits lose the copies of the sign above them.
fn unsigned(x: &Tensor) -> Result<Tensor> {
    match x.dtype() {
        DType::I2 => map::<u8, u8>(x, DType::U2, &|a| a),
        DType::I4 => map::<u8, u8>(x, DType::U4, &|a| a),
        _ => Ok(x.clone()),
    }
}
