//! Arrays for the arguments of random programs.

use jaxide_core::{Aval, ClosedJaxpr, DType, Scalar, Tensor};

use crate::random::Random;

/// Which numbers arrays hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Numbers {
    /// Tame: floats between -2 and 2, integers between -3 and 8.
    Tame,
    /// Numbers at which careless code fails among tame ones: zeros of both signs, infinities, NaN, extrema.
    Special,
    /// Zeros of both signs, infinities and NaN among powers of two: sums and products of a few are exact in every order.
    Exact,
    /// Any bits at all, often extrema of the type itself: the largest, the least normal and the least subnormal number.
    ///
    /// NaN has either sign, and carries nothing.
    Hostile,
}

const SPECIAL: [f64; 11] = [
    0.0,
    -0.0,
    f64::INFINITY,
    f64::NEG_INFINITY,
    f64::NAN,
    1e-40,
    -3e38,
    1e300,
    0.5,
    2147483648.0,
    -129.0,
];

impl Random {
    fn float(&mut self, numbers: Numbers) -> f64 {
        const EXACT: [f64; 13] = [
            1.0,
            -1.0,
            2.0,
            -2.0,
            0.5,
            1.0,
            -1.0,
            2.0,
            0.0,
            -0.0,
            f64::NAN,
            f64::INFINITY,
            f64::NEG_INFINITY,
        ];
        if numbers == Numbers::Exact {
            // Arrays without a number that swallows all others are wanted as well.
            let mostly = if self.next().is_multiple_of(4) {
                13
            } else {
                10
            };
            return EXACT[self.below(mostly)];
        }
        let number = self.unit() * 4.0 - 2.0;
        if numbers == Numbers::Special && self.next().is_multiple_of(3) {
            return SPECIAL[(self.next() % SPECIAL.len() as u64) as usize];
        }
        number
    }
}

/// The array of type `aval` that belongs to `seed`.
///
/// # Panics
/// For arrays that memory does not hold.
pub fn array(aval: &Aval, numbers: Numbers, seed: u64) -> Tensor {
    let mut stream = Random(seed);
    let mut bytes = Vec::new();
    for _ in 0..aval.size() {
        let dtype = aval.dtype;
        let any_bits = numbers == Numbers::Hostile && !stream.next().is_multiple_of(3);
        if dtype.is_key() || (any_bits && dtype.is_inexact()) {
            bytes.extend(hostile_bytes(dtype, &mut stream));
            continue;
        }
        let scalar = if dtype == DType::Float0 {
            continue;
        } else if dtype == DType::Bool {
            Scalar::Bool(stream.next().is_multiple_of(2))
        } else if dtype.is_complex() {
            let re = stream.float(numbers);
            Scalar::Complex(re, stream.float(numbers))
        } else if dtype.is_float() {
            Scalar::Float(stream.float(numbers))
        } else if any_bits && stream.next().is_multiple_of(2) {
            let least = i64::MIN >> (64 - dtype.bits());
            Scalar::Int([least, !least, -1, 0, 1, least + 1][stream.below(6)])
        } else if any_bits || (numbers != Numbers::Tame && stream.next().is_multiple_of(3)) {
            Scalar::Int(stream.next() as i64)
        } else if dtype.is_unsigned_integer() {
            Scalar::Int((stream.next() % 9) as i64)
        } else {
            Scalar::Int((stream.next() % 12) as i64 - 3)
        };
        bytes.extend(scalar.to_bytes(dtype).expect("a number"));
    }
    Tensor::from_bytes(&aval.shape, aval.dtype, &bytes).expect("as many bytes")
}

/// Any bits of an element whose type has a use for all of them, for floats often those beside which something changes.
fn hostile_bytes(dtype: DType, stream: &mut Random) -> Vec<u8> {
    let real = dtype.real();
    if !dtype.is_float() && real != dtype {
        let mut bytes = hostile_bytes(real, stream);
        bytes.extend(hostile_bytes(real, stream));
        return bytes;
    }
    let mantissa = match dtype {
        DType::F64 => 52,
        DType::F32 => 23,
        DType::F16 => 10,
        DType::BF16 => 7,
        _ => 0,
    };
    let bits = stream.next();
    let any = if mantissa == 0 {
        stream.next()
    } else if bits.is_multiple_of(2) {
        // What a NaN carries besides its sign is not kept anywhere.
        let any = stream.next() >> (64 - dtype.bits());
        let sign = 1u64 << (dtype.bits() - 1);
        let infinity = sign - (1 << mantissa);
        match any & !sign > infinity {
            true => any & sign | infinity | 1 << (mantissa - 1),
            false => any,
        }
    } else {
        let sign = 1u64 << (dtype.bits() - 1);
        let infinity = sign - (1 << mantissa);
        let one = (infinity >> (mantissa + 1)) << mantissa;
        let magnitude = [
            0,
            1,
            (1 << mantissa) - 1,
            1 << mantissa,
            one - 1,
            one,
            one + 1,
            infinity - 1,
            infinity,
            infinity | (1 << (mantissa - 1)),
            one + (1 << mantissa),
        ][stream.below(11)];
        magnitude
            | if stream.next().is_multiple_of(2) {
                sign
            } else {
                0
            }
    };
    let mut bytes = any.to_le_bytes().to_vec();
    bytes.extend(stream.next().to_le_bytes());
    bytes.truncate(dtype.size());
    if dtype.bits() < 8 {
        bytes[0] &= (1 << dtype.bits()) - 1;
    }
    bytes
}

/// An array per argument of a jaxpr.
pub fn arguments(jaxpr: &ClosedJaxpr, numbers: Numbers, seed: u64) -> Vec<Tensor> {
    let avals = jaxpr.in_avals();
    (avals.iter().zip(0u64..))
        .map(|(aval, index)| array(aval, numbers, seed.wrapping_mul(1009).wrapping_add(index)))
        .collect()
}

/// The slice of an array at `index` along `axis`, which disappears.
///
/// # Panics
/// When there is no such axis or index.
pub fn lane(array: &Tensor, axis: usize, index: usize) -> Tensor {
    let shape = array.shape();
    let item = array.dtype().size();
    let outer: usize = shape[..axis].iter().product();
    let inner: usize = shape[axis + 1..].iter().product::<usize>() * item;
    let mut bytes = Vec::with_capacity(outer * inner);
    for row in 0..outer {
        let start = (row * shape[axis] + index) * inner;
        bytes.extend_from_slice(&array.bytes()[start..start + inner]);
    }
    let left: Vec<usize> = (shape.iter().enumerate())
        .filter_map(|(k, &length)| (k != axis).then_some(length))
        .collect();
    Tensor::from_bytes(&left, array.dtype(), &bytes).expect("the bytes of a slice")
}

/// The real parts of all elements.
///
/// # Panics
/// For element types without numbers: keys and `float0`.
pub fn numbers(array: &Tensor) -> Vec<f64> {
    (0..array.len())
        .map(|index| array.scalar_at(index).expect("a number").as_complex().0)
        .collect()
}
