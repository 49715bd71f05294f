//! The Threefry-2x32 block cipher with 20 rounds on lane values (Salmon et al., *Parallel random numbers: as easy as 1, 2, 3*, 2011).

use crate::lanes::{Builder, Value};
use crate::narrow;

/// The block of the counter words `x` under the key words `key`.
pub(super) fn threefry(b: &mut Builder, key: [Value; 2], x: [Value; 2]) -> [Value; 2] {
    const ROTATIONS: [[i32; 4]; 2] = [[13, 15, 26, 6], [17, 29, 16, 24]];
    let parity = b.i32(0x1BD1_1BDA);
    let both = b.xor(key[0], key[1]);
    let schedule = [key[0], key[1], b.xor(both, parity)];
    let mut x0 = b.add(x[0], schedule[0]);
    let mut x1 = b.add(x[1], schedule[1]);
    for group in 0..5 {
        for rotation in ROTATIONS[group % 2] {
            x0 = b.add(x0, x1);
            let rotated = rotate_left(b, x1, rotation);
            x1 = b.xor(rotated, x0);
        }
        x0 = b.add(x0, schedule[(group + 1) % 3]);
        let number = b.i32(narrow(group + 1));
        let injection = b.add(schedule[(group + 2) % 3], number);
        x1 = b.add(x1, injection);
    }
    [x0, x1]
}

fn rotate_left(b: &mut Builder, x: Value, count: i32) -> Value {
    let (left, right) = (b.i32(count), b.i32(32 - count));
    let (high, low) = (b.shl(x, left), b.shr_u(x, right));
    b.or(high, low)
}
