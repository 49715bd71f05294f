//! The Threefry block ciphers with 20 rounds.

/// Enciphers the counter block `(x0, x1)` under the key `(key0, key1)`.
///
/// J. K. Salmon et al., *Parallel random numbers: as easy as 1, 2, 3* (SC 2011).
///
/// ```
/// use jaxide_core::eval::numerics::random::threefry2x32;
/// assert_eq!(threefry2x32([0, 42], [0, 1]), [64467757, 2916123636]);
/// ```
pub fn threefry2x32(key: [u32; 2], [mut x0, mut x1]: [u32; 2]) -> [u32; 2] {
    const ROTATIONS: [[u32; 4]; 2] = [[13, 15, 26, 6], [17, 29, 16, 24]];
    const PARITY: u32 = 0x1BD1_1BDA;
    let schedule = [key[0], key[1], key[0] ^ key[1] ^ PARITY];
    x0 = x0.wrapping_add(schedule[0]);
    x1 = x1.wrapping_add(schedule[1]);
    for group in 0..5 {
        for rotation in ROTATIONS[group % 2] {
            x0 = x0.wrapping_add(x1);
            x1 = x1.rotate_left(rotation) ^ x0;
        }
        let injection = group as u32 + 1;
        x0 = x0.wrapping_add(schedule[(group + 1) % 3]);
        x1 = x1
            .wrapping_add(schedule[(group + 2) % 3])
            .wrapping_add(injection);
    }
    [x0, x1]
}

/// Enciphers the counter block of four words under a key of four; see [`threefry2x32`].
///
/// ```
/// use jaxide_core::eval::numerics::random::threefry4x32;
/// assert_eq!(threefry4x32([0; 4], [0; 4]), [0x9c6ca96a, 0xe17eae66, 0xfc10ecd4, 0x5256a7d8]);
/// ```
pub fn threefry4x32(key: [u32; 4], counter: [u32; 4]) -> [u32; 4] {
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
    const PARITY: u32 = 0x1BD1_1BDA;
    let [k0, k1, k2, k3] = key;
    let schedule = [k0, k1, k2, k3, k0 ^ k1 ^ k2 ^ k3 ^ PARITY];
    let mut x: [u32; 4] = std::array::from_fn(|i| counter[i].wrapping_add(schedule[i]));
    for round in 0..20 {
        let [first, second] = ROTATIONS[round % 8];
        // Words 1 and 3 change places from round to round.
        let (a, b) = if round % 2 == 0 { (1, 3) } else { (3, 1) };
        x[0] = x[0].wrapping_add(x[a]);
        x[a] = x[a].rotate_left(first) ^ x[0];
        x[2] = x[2].wrapping_add(x[b]);
        x[b] = x[b].rotate_left(second) ^ x[2];
        if round % 4 == 3 {
            let injection = round / 4 + 1;
            x = std::array::from_fn(|i| x[i].wrapping_add(schedule[(injection + i) % 5]));
            x[3] = x[3].wrapping_add(injection as u32);
        }
    }
    x
}

#[cfg(test)]
mod tests {
    use super::{threefry2x32, threefry4x32};

    /// The known-answer vectors of the Random123 library.
    #[test]
    fn known_answers() {
        assert_eq!(threefry2x32([0, 0], [0, 0]), [0x6b20_0159, 0x99ba_4efe]);
        assert_eq!(threefry2x32([!0, !0], [!0, !0]), [0x1cb9_96fc, 0xbb00_2be7]);
        assert_eq!(
            threefry2x32([0x1319_8a2e, 0x0370_7344], [0x243f_6a88, 0x85a3_08d3]),
            [0xc492_3a9c, 0x483d_f7a0]
        );
        assert_eq!(
            threefry4x32([!0; 4], [!0; 4]),
            [0x2a88_1696, 0x5701_2287, 0xf6c7_446e, 0xa16a_6732]
        );
        assert_eq!(
            threefry4x32(
                [0xa409_3822, 0x299f_31d0, 0x082e_fa98, 0xec4e_6c89],
                [0x243f_6a88, 0x85a3_08d3, 0x1319_8a2e, 0x0370_7344]
            ),
            [0x59cd_1dbb, 0xb887_9579, 0x86b5_d00c, 0xac8b_6d84]
        );
    }
}
