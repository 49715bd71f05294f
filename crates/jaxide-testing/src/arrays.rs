//! Arrays for the arguments of random programs.

use jaxide_core::{Aval, ClosedJaxpr, DType, Scalar, Tensor};

/// Which numbers arrays hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Numbers {
    /// Tame: floats between -2 and 2, integers between -3 and 8.
    Tame,
    /// Numbers at which careless code fails among tame ones: zeros of both signs, infinities, NaN, extrema.
    Special,
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

/// Numbers in the unit interval, always the same for a seed.
struct Stream(u64);

impl Stream {
    fn next(&mut self) -> u64 {
        // SplitMix64.
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    fn float(&mut self, numbers: Numbers) -> f64 {
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
/// For element types without numbers: keys and `float0`.
pub fn array(aval: &Aval, numbers: Numbers, seed: u64) -> Tensor {
    let mut stream = Stream(seed);
    let mut bytes = Vec::new();
    for _ in 0..aval.size() {
        let dtype = aval.dtype;
        let scalar = if dtype == DType::Bool {
            Scalar::Bool(stream.next().is_multiple_of(2))
        } else if dtype.is_complex() {
            let re = stream.float(numbers);
            Scalar::Complex(re, stream.float(numbers))
        } else if dtype.is_float() {
            Scalar::Float(stream.float(numbers))
        } else if numbers == Numbers::Special && stream.next().is_multiple_of(3) {
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
