//! Block ciphers and counters as equations, for compiled programs.

use super::*;
use crate::jaxpr::{ClosedJaxpr, Scalar};

/// 32-bit words as equations.
struct Words<'a> {
    b: &'a Builder,
}

impl Words<'_> {
    fn literal(&self, value: u32) -> Atom {
        self.b.literal(Scalar::Int(value.into()), DType::U32)
    }

    fn rotate_left(&self, x: Atom, count: u32) -> Atom {
        let left = self.b.op(ShiftLeft, &[x, self.literal(count)]);
        let right = self.b.op(ShiftRightLogical, &[x, self.literal(32 - count)]);
        self.b.or(left, right)
    }

    /// High and low word of a product.
    fn product(&self, factor: u32, x: Atom) -> [Atom; 2] {
        let factor = self.literal(factor);
        [self.b.op(Mulhi, &[x, factor]), self.b.mul(x, factor)]
    }
}

/// A jaxpr of `N` words of one shape, those of rank 0 repeated.
fn of_words<const N: usize>(
    operands: &[Aval],
    body: impl FnOnce(&Words<'_>, [Atom; N]) -> Vec<Atom>,
) -> Result<ClosedJaxpr> {
    let shape = cipher(operands, N, 1)?.remove(0).shape;
    let b = Builder::new();
    let mut inputs = operands.iter().map(|aval| b.input(aval.clone()));
    let inputs: [Option<Atom>; N] = std::array::from_fn(|_| inputs.next());
    let zero = b.integer(0, DType::U32);
    let words = inputs.map(|word| b.broadcast_in_dim_to(word.unwrap_or(zero), &shape));
    let results = body(&Words { b: &b }, words);
    b.finish(&results)
}

impl Builder {
    /// `x` as it is, or repeated when it is of rank 0.
    fn broadcast_in_dim_to(&self, x: Atom, shape: &[usize]) -> Atom {
        if self.rank(x) == shape.len() {
            x
        } else {
            self.broadcast_in_dim(x, shape, &[])
        }
    }
}

impl Threefry4x32 {
    /// The cipher as equations on operands of these types.
    ///
    /// # Errors
    /// When the operands are not eight `u32` arrays of rank 0 or of one shape.
    pub fn expand(&self, operands: &[Aval]) -> Result<ClosedJaxpr> {
        const ROTATIONS: [[u32; 2]; 8] = [
            [10, 26],
            [11, 21],
            [13, 27],
            [23, 5],
            [6, 20],
            [17, 11],
            [25, 10],
            [18, 20],
        ];
        of_words(operands, |w, [k0, k1, k2, k3, x0, x1, x2, x3]| {
            let b = w.b;
            let mixed = b.xor(b.xor(k0, k1), b.xor(k2, k3));
            let schedule = [k0, k1, k2, k3, b.xor(mixed, w.literal(0x1BD1_1BDA))];
            let counter = [x0, x1, x2, x3];
            let mut x: [Atom; 4] = std::array::from_fn(|i| b.add(counter[i], schedule[i]));
            for round in 0..20 {
                let [first, second] = ROTATIONS[round % 8];
                let (p, q) = if round % 2 == 0 { (1, 3) } else { (3, 1) };
                x[0] = b.add(x[0], x[p]);
                x[p] = b.xor(w.rotate_left(x[p], first), x[0]);
                x[2] = b.add(x[2], x[q]);
                x[q] = b.xor(w.rotate_left(x[q], second), x[2]);
                if round % 4 == 3 {
                    let injection = round / 4 + 1;
                    x = std::array::from_fn(|i| b.add(x[i], schedule[(injection + i) % 5]));
                    x[3] = b.add(x[3], w.literal(injection as u32));
                }
            }
            x.to_vec()
        })
    }
}

impl Philox4x32 {
    /// The cipher as equations on operands of these types.
    ///
    /// # Errors
    /// When the operands are not six `u32` arrays of rank 0 or of one shape.
    pub fn expand(&self, operands: &[Aval]) -> Result<ClosedJaxpr> {
        of_words(operands, |w, [mut k0, mut k1, x0, x1, x2, x3]| {
            let b = w.b;
            let mut x = [x0, x1, x2, x3];
            for _ in 0..10 {
                let [high0, low0] = w.product(0xD251_1F53, x[0]);
                let [high1, low1] = w.product(0xCD9E_8D57, x[2]);
                x = [
                    b.xor(b.xor(high1, x[1]), k0),
                    low1,
                    b.xor(b.xor(high0, x[3]), k1),
                    low0,
                ];
                k0 = b.add(k0, w.literal(0x9E37_79B9));
                k1 = b.add(k1, w.literal(0xBB67_AE85));
            }
            x.to_vec()
        })
    }
}

impl Philox2x32 {
    /// The cipher as equations on operands of these types.
    ///
    /// # Errors
    /// When the operands are not three `u32` arrays of rank 0 or of one shape.
    pub fn expand(&self, operands: &[Aval]) -> Result<ClosedJaxpr> {
        of_words(operands, |w, [mut k, x0, x1]| {
            let b = w.b;
            let mut x = [x0, x1];
            for _ in 0..10 {
                let [high, low] = w.product(0xD256_D193, x[0]);
                x = [b.xor(b.xor(high, x[1]), k), low];
                k = b.add(k, w.literal(0x9E37_79B9));
            }
            x.to_vec()
        })
    }
}

impl Iota2x32Shape {
    /// The counters as equations.
    ///
    /// # Errors
    /// When there are more than can be addressed.
    pub fn expand(&self) -> Result<ClosedJaxpr> {
        let size = crate::aval::element_count(&self.shape)?;
        let b = Builder::new();
        let flat = b.iota(DType::U64, &[size], 0);
        let counts = b.reshape(flat, &self.shape);
        let shift = b.integer(32, DType::U64);
        let high = b.op(ShiftRightLogical, &[counts, shift]);
        let words = [high, counts].map(|word| b.convert(word, DType::U32));
        b.finish(&words)
    }
}
