//! The Threefry-2x32 block cipher with 20 rounds.

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

#[cfg(test)]
mod tests {
    use super::threefry2x32;

    /// The known-answer vectors of the Random123 library.
    #[test]
    fn known_answers() {
        assert_eq!(threefry2x32([0, 0], [0, 0]), [0x6b20_0159, 0x99ba_4efe]);
        assert_eq!(threefry2x32([!0, !0], [!0, !0]), [0x1cb9_96fc, 0xbb00_2be7]);
        assert_eq!(
            threefry2x32([0x1319_8a2e, 0x0370_7344], [0x243f_6a88, 0x85a3_08d3]),
            [0xc492_3a9c, 0x483d_f7a0]
        );
    }
}
