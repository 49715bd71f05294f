//! Integer arithmetic as XLA's CPU backend defines it: everything wraps, nothing traps.

/// An integer dtype, `i8` … `i64` or `u8` … `u64`, with the operations whose meaning Rust's
/// operators leave to panics.
///
/// ```
/// use jaxide_core::eval::numerics::integer::Int;
/// assert_eq!(7i32.div(0), -1);
/// assert_eq!(200u8.shift_right_arithmetic(1), 228);
/// ```
pub trait Int: Copy + Ord + std::fmt::Debug + Send + Sync + 'static {
    /// Width in bits.
    const BITS: u32;

    /// The sum, wrapped.
    fn add(self, rhs: Self) -> Self;
    /// The difference, wrapped.
    fn sub(self, rhs: Self) -> Self;
    /// The product, wrapped.
    fn mul(self, rhs: Self) -> Self;
    /// The negative, wrapped: the smallest signed number is its own negative.
    fn neg(self) -> Self;
    /// The absolute value, wrapped: of the smallest signed number, itself.
    fn abs(self) -> Self;
    /// -1, 0 or 1.
    fn sign(self) -> Self;
    /// The quotient truncated towards zero; all ones (-1, or the largest unsigned) for a zero
    /// divisor; the smallest signed number divided by -1 is itself.
    fn div(self, rhs: Self) -> Self;
    /// The remainder with the sign of the dividend; the dividend itself for a zero divisor.
    fn rem(self, rhs: Self) -> Self;
    /// The product without its lowest `bits` bits: the upper half for numbers of so many bits, which are at most
    /// [`Int::BITS`].
    fn mulhi(self, rhs: Self, bits: u32) -> Self;
    /// Shifts left; the count is read as unsigned, and a count of at least the width gives 0.
    fn shift_left(self, count: Self) -> Self;
    /// Shifts right filling with zeros; the count is read as unsigned, and a count of at least the
    /// width gives 0.
    fn shift_right_logical(self, count: Self) -> Self;
    /// Shifts right filling with copies of the top bit, for unsigned dtypes too; the count is read
    /// as unsigned, and a count of at least the width leaves only that bit.
    fn shift_right_arithmetic(self, count: Self) -> Self;
    /// The number of one bits.
    fn population_count(self) -> Self;
    /// The number of leading zero bits; the width for zero.
    fn clz(self) -> Self;
}

macro_rules! int {
    ($t:ident, $signed:ident, $unsigned:ident, $wide:ident, $abs:expr) => {
        impl Int for $t {
            const BITS: u32 = $t::BITS;

            fn add(self, rhs: Self) -> Self {
                self.wrapping_add(rhs)
            }

            fn sub(self, rhs: Self) -> Self {
                self.wrapping_sub(rhs)
            }

            fn mul(self, rhs: Self) -> Self {
                self.wrapping_mul(rhs)
            }

            fn neg(self) -> Self {
                self.wrapping_neg()
            }

            fn abs(self) -> Self {
                $abs(self)
            }

            fn sign(self) -> Self {
                self.cmp(&0) as i8 as $t
            }

            fn div(self, rhs: Self) -> Self {
                if rhs == 0 { !0 } else { self.wrapping_div(rhs) }
            }

            fn rem(self, rhs: Self) -> Self {
                if rhs == 0 {
                    self
                } else {
                    self.wrapping_rem(rhs)
                }
            }

            fn mulhi(self, rhs: Self, bits: u32) -> Self {
                ((self as $wide * rhs as $wide) >> bits) as $t
            }

            fn shift_left(self, count: Self) -> Self {
                match bounded::<$t>(count as $unsigned as u64) {
                    Some(n) => self << n,
                    None => 0,
                }
            }

            fn shift_right_logical(self, count: Self) -> Self {
                match bounded::<$t>(count as $unsigned as u64) {
                    Some(n) => (self as $unsigned >> n) as $t,
                    None => 0,
                }
            }

            fn shift_right_arithmetic(self, count: Self) -> Self {
                let n = bounded::<$t>(count as $unsigned as u64).unwrap_or($t::BITS - 1);
                (self as $signed >> n) as $t
            }

            fn population_count(self) -> Self {
                self.count_ones() as $t
            }

            fn clz(self) -> Self {
                self.leading_zeros() as $t
            }
        }
    };
}

int!(i8, i8, u8, i128, i8::wrapping_abs);
int!(i16, i16, u16, i128, i16::wrapping_abs);
int!(i32, i32, u32, i128, i32::wrapping_abs);
int!(i64, i64, u64, i128, i64::wrapping_abs);
int!(u8, i8, u8, u128, std::convert::identity);
int!(u16, i16, u16, u128, std::convert::identity);
int!(u32, i32, u32, u128, std::convert::identity);
int!(u64, i64, u64, u128, std::convert::identity);

/// A shift count below the width of `T`, if it is one.
fn bounded<T: Int>(count: u64) -> Option<u32> {
    (count < u64::from(T::BITS)).then_some(count as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn division_by_zero_and_overflow() {
        assert_eq!(Int::div(7i8, 0), -1);
        assert_eq!(Int::div(7u16, 0), u16::MAX);
        assert_eq!(Int::rem(-7i32, 0), -7);
        assert_eq!(Int::div(i64::MIN, -1), i64::MIN);
        assert_eq!(Int::rem(i64::MIN, -1), 0);
        assert_eq!(Int::div(-7i32, 2), -3);
        assert_eq!(Int::rem(-7i32, 2), -1);
    }

    #[test]
    fn shifts_read_counts_as_unsigned() {
        assert_eq!(5i8.shift_left(8), 0);
        assert_eq!(5i8.shift_left(-1), 0);
        assert_eq!((-5i8).shift_right_logical(1), 125);
        assert_eq!((-5i8).shift_right_arithmetic(-128), -1);
        assert_eq!(250u8.shift_right_arithmetic(1), 253);
        assert_eq!(250u8.shift_right_arithmetic(255), 255);
        assert_eq!(1u64.shift_left(63), 1 << 63);
    }

    #[test]
    fn high_products() {
        assert_eq!(127i8.mulhi(-128, 8), -64);
        assert_eq!(250u8.mulhi(255, 8), 249);
        assert_eq!(3u8.mulhi(3, 2), 2);
        assert_eq!((-8i8).mulhi(-8, 4), 4);
        assert_eq!(i32::MIN.mulhi(i32::MIN, 32), 1 << 30);
        assert_eq!(u64::MAX.mulhi(u64::MAX, 64), u64::MAX - 1);
    }

    #[test]
    fn wrapping_and_counts() {
        assert_eq!(Int::abs(i8::MIN), i8::MIN);
        assert_eq!(Int::neg(1u8), 255);
        assert_eq!((-5i32).sign(), -1);
        assert_eq!(0u8.sign(), 0);
        assert_eq!(Int::clz(5i8), 5);
        assert_eq!(Int::clz(0u64), 64);
        assert_eq!((-5i32).population_count(), 31);
    }
}
