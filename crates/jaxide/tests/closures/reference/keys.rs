//! Random numbers by keys: the cipher threefry2x32, from its paper, and JAX's ways to use it.

use super::Evaluator;
use crate::closures::program::{Key, Operand};

type Words = [u32; 2];

const ROTATIONS: [[u32; 4]; 2] = [[13, 15, 26, 6], [17, 29, 16, 24]];

fn threefry(key: Words, counter: Words) -> Words {
    let keys = [key[0], key[1], key[0] ^ key[1] ^ 0x1BD1_1BDA];
    let [mut a, mut b] = [
        counter[0].wrapping_add(keys[0]),
        counter[1].wrapping_add(keys[1]),
    ];
    for round in 0..5u32 {
        for rotation in ROTATIONS[round as usize % 2] {
            a = a.wrapping_add(b);
            b = b.rotate_left(rotation) ^ a;
        }
        let at = round as usize + 1;
        a = a.wrapping_add(keys[at % 3]);
        b = b.wrapping_add(keys[(at + 1) % 3]).wrapping_add(round + 1);
    }
    [a, b]
}

/// Numbers from 0 to 1 by 23 bits each.
pub(super) fn uniform(key: Words, count: usize) -> Vec<f64> {
    let number = |index: usize| {
        let [a, b] = threefry(key, [0, index as u32]);
        let bits = ((a ^ b) >> 9) | 0x3F80_0000;
        f64::from(f32::from_bits(bits) - 1.0)
    };
    (0..count).map(number).collect()
}

impl Evaluator {
    pub(super) fn key(&self, key: &Key) -> Words {
        match key {
            Key::Seed(seed, _) => [(seed >> 32) as u32, *seed as u32],
            Key::Fold(inner, data) => {
                let data = match data {
                    Operand::Var(id) => self.get(*id).ints[0],
                    Operand::Int(number) => *number,
                    Operand::Float(_) => unreachable!("integers are folded in"),
                };
                threefry(self.key(inner), [0, data as u32])
            }
            Key::Split(inner, _, index) => threefry(self.key(inner), [0, *index as u32]),
        }
    }
}
