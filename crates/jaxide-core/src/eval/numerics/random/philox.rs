//! The Philox block ciphers with 10 rounds.

/// What keys are increased by between rounds: the golden ratio, and the square root of 3 minus 1.
const WEYL: [u32; 2] = [0x9E37_79B9, 0xBB67_AE85];

/// Enciphers the counter block of four words under a key of two.
///
/// J. K. Salmon et al., *Parallel random numbers: as easy as 1, 2, 3* (SC 2011).
///
/// ```
/// use jaxide_core::eval::numerics::random::philox4x32;
/// assert_eq!(philox4x32([0, 0], [0; 4]), [0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8]);
/// ```
pub fn philox4x32(mut key: [u32; 2], mut counter: [u32; 4]) -> [u32; 4] {
    const MULTIPLIERS: [u32; 2] = [0xD251_1F53, 0xCD9E_8D57];
    for _ in 0..10 {
        let [high0, low0] = product(MULTIPLIERS[0], counter[0]);
        let [high1, low1] = product(MULTIPLIERS[1], counter[2]);
        counter = [
            high1 ^ counter[1] ^ key[0],
            low1,
            high0 ^ counter[3] ^ key[1],
            low0,
        ];
        key = [key[0].wrapping_add(WEYL[0]), key[1].wrapping_add(WEYL[1])];
    }
    counter
}

/// Enciphers the counter block of two words under a key of one; see [`philox4x32`].
///
/// ```
/// use jaxide_core::eval::numerics::random::philox2x32;
/// assert_eq!(philox2x32([0], [0, 0]), [0xff1dae59, 0x6cd10df2]);
/// ```
pub fn philox2x32([mut key]: [u32; 1], mut counter: [u32; 2]) -> [u32; 2] {
    const MULTIPLIER: u32 = 0xD256_D193;
    for _ in 0..10 {
        let [high, low] = product(MULTIPLIER, counter[0]);
        counter = [high ^ counter[1] ^ key, low];
        key = key.wrapping_add(WEYL[0]);
    }
    counter
}

/// High and low word of a product.
fn product(a: u32, b: u32) -> [u32; 2] {
    let wide = u64::from(a) * u64::from(b);
    [(wide >> 32) as u32, wide as u32]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The known-answer vectors of the Random123 library.
    #[test]
    fn known_answers() {
        assert_eq!(
            philox4x32([!0; 2], [!0; 4]),
            [0x408f_276d, 0x41c8_3b0e, 0xa20b_c7c6, 0x6d54_51fd]
        );
        assert_eq!(
            philox4x32(
                [0xa409_3822, 0x299f_31d0],
                [0x243f_6a88, 0x85a3_08d3, 0x1319_8a2e, 0x0370_7344]
            ),
            [0xd16c_fe09, 0x94fd_cceb, 0x5001_e420, 0x2412_6ea1]
        );
        assert_eq!(philox2x32([!0], [!0; 2]), [0x2c3f_628b, 0xab4f_d7ad]);
        assert_eq!(
            philox2x32([0x1319_8a2e], [0x243f_6a88, 0x85a3_08d3]),
            [0xdd7c_e038, 0xf62a_4c12]
        );
    }
}
