//! Numbers of about 32 digits, as unevaluated sums of two of double precision (T. Dekker, "A floating-point technique for extending the
//! available precision", 1971), for formulas whose terms cancel or whose exponentials magnify errors: the interpreter's, in lanes.
//!
//! Only finite numbers: where an operation overflows, the result is NaN.

use super::expr::{Expr, iterate};
use super::log::split;
use super::pair::Pair;
use crate::lanes::{Entries, Table, TableData};
use std::ops::{Add, Div, Mul, Neg, Sub};

/// `high + low`, where `high` is the sum rounded.
#[derive(Clone, Copy)]
pub(super) struct Wide<'a> {
    pub(super) high: Expr<'a>,
    pub(super) low: Expr<'a>,
}

impl<'a> From<Pair<'a>> for Wide<'a> {
    fn from(Pair { high, low }: Pair<'a>) -> Wide<'a> {
        Wide { high, low }
    }
}

impl<'a> From<Expr<'a>> for Wide<'a> {
    fn from(high: Expr<'a>) -> Wide<'a> {
        Pair::exact(high).into()
    }
}

impl<'a> Wide<'a> {
    pub(super) fn new(high: Expr<'a>, low: Expr<'a>) -> Wide<'a> {
        Wide { high, low }
    }

    /// A constant, rounded to double precision and what that misses.
    pub(super) fn constant(like: Expr<'a>, (high, low): (f64, f64)) -> Wide<'a> {
        Wide::new(like.constant(high), like.constant(low))
    }

    /// The sum of two numbers, exactly.
    pub(super) fn sum(a: Expr<'a>, b: Expr<'a>) -> Wide<'a> {
        Pair::sum(a, b).into()
    }

    /// `if mask { a } else { b }`.
    pub(super) fn select(mask: Expr<'a>, a: Wide<'a>, b: Wide<'a>) -> Wide<'a> {
        Wide::new(mask.select(a.high, b.high), mask.select(a.low, b.low))
    }

    /// Rounded to double precision.
    pub(super) fn value(self) -> Expr<'a> {
        self.high + self.low
    }

    /// Times a power of two.
    pub(super) fn scale(self, power: f64) -> Wide<'a> {
        Wide::new(self.high * power, self.low * power)
    }

    /// Plus a number of double precision.
    pub(super) fn plus(self, x: Expr<'a>) -> Wide<'a> {
        let high = Pair::sum(self.high, x);
        Pair::ordered_sum(high.high, high.low + self.low).into()
    }

    /// Times a number of double precision.
    pub(super) fn times(self, x: Expr<'a>) -> Wide<'a> {
        let product = Pair::product(self.high, x);
        Pair::ordered_sum(product.high, self.low.fma(x, product.low)).into()
    }

    /// The sum where both have one sign, or the result is not much smaller than they are.
    pub(super) fn near_sum(self, other: Wide<'a>) -> Wide<'a> {
        let high = Pair::sum(self.high, other.high);
        Pair::ordered_sum(high.high, high.low + (self.low + other.low)).into()
    }

    /// The quotient, with one division: neither the divisor nor its reciprocal is out of range.
    pub(super) fn over(self, other: Wide<'a>) -> Wide<'a> {
        let reciprocal = self.high.constant(1.0) / other.high;
        let first = self.high * reciprocal;
        let rest = self - other.times(first);
        let second = rest.high * reciprocal;
        let rest = rest - other.times(second);
        let third = rest.high * reciprocal;
        Wide::from(Pair::ordered_sum(first, second)).plus(third)
    }

    /// e to this number: 0 where that is below the smallest number, and infinite beyond the largest.
    pub(super) fn exp(self) -> Wide<'a> {
        let zero = self.high.constant(0.0);
        let (power, n, rest) = self.power_and_rest();
        let result = (power * rest).near_sum(power);
        // In two steps, for the ends of the range.
        let half = (n * 0.5).trunc();
        let (first, second) = (half.power_of_two(0), (n - half).power_of_two(0));
        let scaled = |x: Expr<'a>| x * first * second;
        let (below, above) = (self.high.lt(-746.0), self.high.gt(710.0));
        let high = above.select(f64::INFINITY, scaled(result.high));
        let high = below.select(zero, high);
        Wide::new(high, (below | above).select(zero, scaled(result.low)))
    }

    /// `e^self - 1`, relative to itself, for numbers up to 700.
    pub(super) fn expm1(self) -> Wide<'a> {
        let one = self.high.constant(1.0);
        let (power, n, rest) = self.power_and_rest();
        // Below, nothing is left beside -1.
        let scale = n.pick_gt(-200.0).power_of_two(0);
        let power = Wide::new(power.high * scale, power.low * scale);
        // The power is 1 where the result is small.
        let result = power.plus(-one) + power * rest;
        // Next to the smallest numbers there are no digits for the rest.
        Wide::select(self.high.abs().lt(1e-40), self, result)
    }

    /// e to this number as `power · 2^n · (1 + rest)`, where `n` is integral, the power between 1 and 2, and the rest at most a 128th of ln 2.
    fn power_and_rest(self) -> (Wide<'a>, Expr<'a>, Wide<'a>) {
        let steps = self.high.clamp(-746.0, 711.0) * (64.0 * std::f64::consts::LOG2_E);
        let steps = steps.round_even();
        let reduced = self - Wide::constant(steps, (LN_2.0 / 64.0, LN_2.1 / 64.0)).times(steps);
        let n = (steps * (1.0 / 64.0)).floor();
        // The place in the table stands in the last bits of this sum.
        let place = ((steps - n * 64.0) + 2f64.powi(52)).bits();
        let place = place & place.int(63);
        let from = |table| place.lookup(Table(table)).as_float();
        let power = Wide::new(from(&POWERS), from(&POWERS_REST));
        (
            power,
            n,
            series(reduced, &WIDE_FACTORIALS, &FACTORIALS) * reduced,
        )
    }

    /// The natural logarithm of a positive number.
    pub(super) fn log(self) -> Wide<'a> {
        // self = m 2^e with m between the roots of 1/2 and 2, and r = m c - 1 for a rounded reciprocal c of m's first digits.
        let (m, e) = split(self.high);
        let bits = m.bits();
        let place = (bits + bits.int(1 << (TABLE_SHIFT - 1))).shr_u(bits.int(TABLE_SHIFT));
        let place = place - bits.int(FIRST_OF_TABLE);
        let from = |table| place.lookup(Table(table)).as_float();
        // Few digits of c make both exact.
        let c = from(&RECIPROCALS);
        let product = Pair::product(m, c);
        let r = Pair::sum(product.high - 1.0, product.low);
        let r = Wide::from(r).plus(m * (self.low / self.high) * c);
        let log_r = series(r, &WIDE_LOG1P, &LOG1P) * r;
        let log_c = Wide::new(from(&LOGS_OF_RECIPROCALS), from(&LOGS_OF_RECIPROCALS_REST));
        Wide::constant(e, LN_2).times(e) + log_c + log_r
    }

    /// ln Γ of a positive number.
    pub(super) fn lgamma(self) -> Wide<'a> {
        // ln Γ(z) = ln Γ(z + n) - ln (z (z + 1) … (z + n - 1))
        let one = self.high.constant(1.0);
        let (z, product) = self.far(one.into(), |product, z| product * z);
        let y = Wide::from(one).over(z);
        // B₂ₖ / (2k (2k - 1)) (DLMF 5.11.1).
        let tail = series(y * y, &WIDE_STIRLING, &STIRLING);
        let log_z = z.log();
        let main = z.plus(one.constant(-0.5)) * log_z - z + Wide::constant(one, HALF_LN_2_PI);
        main + tail * y - product.log()
    }

    /// ψ of a positive number.
    pub(super) fn digamma(self) -> Wide<'a> {
        let one = self.high.constant(1.0);
        let (z, sum) = self.far(one.constant(0.0).into(), |sum, z| {
            sum.near_sum(Wide::from(one).over(z))
        });
        let y = Wide::from(one).over(z);
        let square = y * y;
        // B₂ₖ / 2k (DLMF 5.11.2).
        let tail = series(square, &WIDE_PSI, &PSI);
        z.log() - y.scale(0.5) - tail * square - sum
    }

    /// This number plus the whole number that makes it at least [`FAR`], and what `add` makes of the numbers on the way.
    fn far(
        self,
        start: Wide<'a>,
        add: impl Fn(Wide<'a>, Wide<'a>) -> Wide<'a>,
    ) -> (Wide<'a>, Wide<'a>) {
        let [zh, zl, h, l] = iterate(
            [self.high, self.low, start.high, start.low],
            |[z, ..]| z.lt(FAR),
            |[zh, zl, h, l]| {
                let z = Wide::new(zh, zl);
                let next = z.plus(zh.constant(1.0));
                let collected = add(Wide::new(h, l), z);
                [next.high, next.low, collected.high, collected.low]
            },
        );
        (Wide::new(zh, zl), Wide::new(h, l))
    }
}

/// The polynomial with these coefficients, the constant first, whose last ones count little.
fn series<'a>(x: Wide<'a>, first: &[(f64, f64)], last: &[f64]) -> Wide<'a> {
    let last = Wide::from(x.high.nested(last));
    first.iter().rev().fold(last, |sum, &c| {
        (sum * x).near_sum(Wide::constant(x.high, c))
    })
}

impl<'a> Neg for Wide<'a> {
    type Output = Wide<'a>;

    fn neg(self) -> Wide<'a> {
        Wide::new(-self.high, -self.low)
    }
}

impl<'a> Add for Wide<'a> {
    type Output = Wide<'a>;

    fn add(self, other: Wide<'a>) -> Wide<'a> {
        let high = Pair::sum(self.high, other.high);
        let low = Pair::sum(self.low, other.low);
        let first = Pair::ordered_sum(high.high, high.low + low.high);
        Pair::ordered_sum(first.high, first.low + low.low).into()
    }
}

impl<'a> Sub for Wide<'a> {
    type Output = Wide<'a>;

    fn sub(self, other: Wide<'a>) -> Wide<'a> {
        self + -other
    }
}

impl<'a> Mul for Wide<'a> {
    type Output = Wide<'a>;

    fn mul(self, other: Wide<'a>) -> Wide<'a> {
        let product = Pair::product(self.high, other.high);
        let low = self
            .high
            .fma(other.low, self.low.fma(other.high, product.low));
        Pair::ordered_sum(product.high, low).into()
    }
}

impl<'a> Div for Wide<'a> {
    type Output = Wide<'a>;

    fn div(self, other: Wide<'a>) -> Wide<'a> {
        self.over(other)
    }
}

/// ln 2.
const LN_2: (f64, f64) = (std::f64::consts::LN_2, 2.3190468138462996e-17);

/// ½ ln 2π.
const HALF_LN_2_PI: (f64, f64) = (0.9189385332046728, -3.8782941580672416e-17);

/// 1 / (n + 1)! from n = 0 on.
const WIDE_FACTORIALS: [(f64, f64); 4] = [
    (1.0, 0.0),
    (0.5, 0.0),
    (0.16666666666666666, 9.25185853854297e-18),
    (0.041666666666666664, 2.3129646346357427e-18),
];

/// The same from n = 4 on: what follows is below 1e-33.
const FACTORIALS: [f64; 7] = [
    0.008333333333333333,
    0.001388888888888889,
    0.0001984126984126984,
    2.48015873015873e-05,
    2.7557319223985893e-06,
    2.755731922398589e-07,
    2.505210838544172e-08,
];

/// (-1)ⁿ / (n + 1) from n = 0 on.
const WIDE_LOG1P: [(f64, f64); 4] = [
    (1.0, 0.0),
    (-0.5, 0.0),
    (0.3333333333333333, 1.850371707708594e-17),
    (-0.25, 0.0),
];

/// The same from n = 4 on: what follows is below 1e-30.
const LOG1P: [f64; 10] = [
    0.2,
    -0.16666666666666666,
    0.14285714285714285,
    -0.125,
    0.1111111111111111,
    -0.1,
    0.09090909090909091,
    -0.08333333333333333,
    0.07692307692307693,
    -0.07142857142857142,
];

/// The digits that tables of the logarithm know a number by, and the first of them, which begin the root of 1/2.
const TABLE_SHIFT: i64 = 46;
const FIRST_OF_TABLE: i64 = 0xff9b;

/// From here on the first term that is left out is below 1e-27.
const FAR: f64 = 16.0;

/// B₂ₖ / (2k (2k - 1)) from k = 1 on.
const WIDE_STIRLING: [(f64, f64); 4] = [
    (0.08333333333333333, 4.625929269271485e-18),
    (-0.002777777777777778, 1.0601087908747154e-19),
    (0.0007936507936507937, 6.883823317368282e-22),
    (-0.0005952380952380953, 5.36938218754726e-20),
];

/// The same from k = 5 on.
const STIRLING: [f64; 9] = [
    0.0008417508417508417,
    -0.0019175269175269176,
    0.00641025641025641,
    -0.029550653594771242,
    0.17964437236883057,
    -1.3924322169059011,
    13.402864044168393,
    -156.84828462600203,
    2193.1033333333335,
];

/// B₂ₖ / 2k from k = 1 on.
const WIDE_PSI: [(f64, f64); 4] = [
    (0.08333333333333333, 4.625929269271485e-18),
    (-0.008333333333333333, -1.1564823173178714e-19),
    (0.003968253968253968, 2.20282346155785e-19),
    (-0.004166666666666667, -5.782411586589357e-20),
];

/// The same from k = 5 on.
const PSI: [f64; 9] = [
    0.007575757575757576,
    -0.021092796092796094,
    0.08333333333333333,
    -0.4432598039215686,
    3.0539543302701198,
    -26.456212121212122,
    281.46014492753625,
    -3607.5105463980462,
    54827.583333333336,
];

/// Reciprocals, of 12 bits behind the point, of the numbers from the first digits on, as bits.
static RECIPROCALS: TableData = TableData {
    name: "reciprocals",
    entries: Entries::Bits64(&[
        0x3ff6810000000000,
        0x3ff6430000000000,
        0x3ff6060000000000,
        0x3ff5ca0000000000,
        0x3ff58f0000000000,
        0x3ff5550000000000,
        0x3ff51d0000000000,
        0x3ff4e60000000000,
        0x3ff4b00000000000,
        0x3ff47b0000000000,
        0x3ff4470000000000,
        0x3ff4140000000000,
        0x3ff3e20000000000,
        0x3ff3b10000000000,
        0x3ff3810000000000,
        0x3ff3520000000000,
        0x3ff3240000000000,
        0x3ff2f70000000000,
        0x3ff2ca0000000000,
        0x3ff29e0000000000,
        0x3ff2730000000000,
        0x3ff2490000000000,
        0x3ff2200000000000,
        0x3ff1f70000000000,
        0x3ff1cf0000000000,
        0x3ff1a80000000000,
        0x3ff1810000000000,
        0x3ff15b0000000000,
        0x3ff1360000000000,
        0x3ff1110000000000,
        0x3ff0ed0000000000,
        0x3ff0c90000000000,
        0x3ff0a70000000000,
        0x3ff0840000000000,
        0x3ff0620000000000,
        0x3ff0410000000000,
        0x3ff0200000000000,
        0x3ff0000000000000,
        0x3fef820000000000,
        0x3fef080000000000,
        0x3fee920000000000,
        0x3fee1e0000000000,
        0x3fedae0000000000,
        0x3fed420000000000,
        0x3fecd80000000000,
        0x3fec720000000000,
        0x3fec0e0000000000,
        0x3febac0000000000,
        0x3feb4e0000000000,
        0x3feaf20000000000,
        0x3fea980000000000,
        0x3fea420000000000,
        0x3fe9ec0000000000,
        0x3fe99a0000000000,
        0x3fe9480000000000,
        0x3fe8fa0000000000,
        0x3fe8ac0000000000,
        0x3fe8620000000000,
        0x3fe8180000000000,
        0x3fe7d00000000000,
        0x3fe78a0000000000,
        0x3fe7460000000000,
        0x3fe7020000000000,
        0x3fe6c20000000000,
        0x3fe6820000000000,
    ]),
};

/// The negative logarithms of [`RECIPROCALS`], rounded, as bits.
static LOGS_OF_RECIPROCALS: TableData = TableData {
    name: "logs_of_reciprocals",
    entries: Entries::Bits64(&[
        0xbfd5d495dcacd6f1,
        0xbfd5234e0670a525,
        0xbfd472fdbe4fd3f2,
        0xbfd3c3b2736b3f61,
        0xbfd31579e142ddb0,
        0xbfd268620f34d63d,
        0xbfd1bf816355eb94,
        0xbfd117ee81dfe4c4,
        0xbfd071b85fcd590d,
        0xbfcf99dc6c23b409,
        0xbfce533effde1014,
        0xbfcd0fb7f2255e51,
        0xbfcbcf6736f7d6c7,
        0xbfca926d3a4ad563,
        0xbfc958eadae5fd89,
        0xbfc8230164c1a332,
        0xbfc6f0d28ae56b4c,
        0xbfc5c28060c46b76,
        0xbfc4915d832fb562,
        0xbfc3643cad0588f1,
        0xbfc23b412580b40d,
        0xbfc1168e8127e327,
        0xbfbfec9131dbeabb,
        0xbfbda6e7637c46a1,
        0xbfbb6a688d9b5b17,
        0xbfb9375e55595ede,
        0xbfb6ff7309f8c003,
        0xbfb4d1515b987ce3,
        0xbfb2ad449eff2316,
        0xbfb08498b51e39b1,
        0xbfacccb3cd79b2f5,
        0xbfa88729e70ee637,
        0xbfa475ee9a0b0b6f,
        0xbfa03d5d85e73eef,
        0xbf983624fba83bd7,
        0xbf901f5658735842,
        0xbf7fe02a6b106789,
        0x0000000000000000,
        0x3f8fbea8b13c03d9,
        0x3f9f7a9b16782856,
        0x3fa766d923c20ff8,
        0x3faf0c30c1116351,
        0x3fb345179b63dd42,
        0x3fb6ef528c056a2c,
        0x3fba956d3ecade63,
        0x3fbe2507702af03b,
        0x3fc0d79e7cd48e5a,
        0x3fc299d30c606ea7,
        0x3fc44f8b726f8efb,
        0x3fc601b076e7a8a9,
        0x3fc7b0091651528c,
        0x3fc9509aa0044f8f,
        0x3fcaf6895610dbae,
        0x3fcc8df7cb9a8f77,
        0x3fce2a877a6b2c12,
        0x3fcfb7d86eee3b90,
        0x3fd0a504e97bb40c,
        0x3fd1661caecb9ba4,
        0x3fd22981fbef797b,
        0x3fd2e9e2bce12286,
        0x3fd3a71c56bb48c6,
        0x3fd4610bc29c5e18,
        0x3fd51d1d9310456c,
        0x3fd5d01dc49ff2e8,
        0x3fd68518244cfb0e,
    ]),
};

/// What the rounding of [`LOGS_OF_RECIPROCALS`] misses.
static LOGS_OF_RECIPROCALS_REST: TableData = TableData {
    name: "logs_of_reciprocals_rest",
    entries: Entries::Bits64(&[
        0x3c028953dda2cca8,
        0xbc607a43681b2b27,
        0xbc7b2629fc10f5b7,
        0x3c6747a74f77e325,
        0xbc792d2c961708bd,
        0xbc52e662ed438b2e,
        0x3c70958a02185c47,
        0x3c610eba2e6869b7,
        0xbc5d1707f97bde80,
        0xbc6f3dd09792dd7b,
        0xbc6489af90893273,
        0x3c64ac818ceca4c4,
        0xbc376b0a6e1c43a2,
        0xbc6942f48aa70ea9,
        0xbc57a844e05c5048,
        0x3c614bad17a5bddb,
        0x3c6906d99184b992,
        0xbc6c6e9c1d0af78c,
        0x3c6dc00d79ec3456,
        0x3c5c37b3480acbdb,
        0x3c6d013c9e6fa1d4,
        0x3c6e487351a45ac2,
        0x3c55746b9981b36c,
        0x3c1536ae3e558707,
        0xbc57fcef8959605c,
        0x3c4e463f9e4dd920,
        0xbc3e33329e6eb569,
        0xbc17e8e050b54ada,
        0x3c4d72f82dc39ca0,
        0xbc49875409b62802,
        0xbc38b99b50357323,
        0xbc3384b6b371763c,
        0xbc41f75516ef3455,
        0xbc22c1da539d60ed,
        0xbc2c96b4004622b7,
        0x3c06c8368a59d82f,
        0x3bce44b7e3711ebf,
        0x0000000000000000,
        0x3c127b17e4e134e1,
        0xbc336c720c147756,
        0x3c4505e384982ab6,
        0x3c194ee90500a333,
        0x3c0e9b0a868391a8,
        0xbc58b5d9f2b77346,
        0x3c5e5300b12bd55e,
        0x3c50cff5bbb6e609,
        0x3c41423c24f1d3c1,
        0xbc6ff0c47ee4eafb,
        0x3c64886573767e0f,
        0x3c6afa9bf91ca867,
        0x3c64069f303518c8,
        0x3c59d6d34d717c19,
        0xbc3445fbd49bb184,
        0x3c50bd63879b9fb6,
        0xbc5fa21e3df99430,
        0xbc48736e025ebdae,
        0x3c629ccd218877e5,
        0xbc7fff9fc4aba901,
        0xbc40b04ac06cebe0,
        0x3c18251a3b83d97a,
        0x3c61bed6a2120b29,
        0xbc664f9886472e95,
        0x3c6f5441b391c5d0,
        0x3c55719f4bda516f,
        0x3c717fc45f88cbe6,
    ]),
};

/// 2 to the power of so many 64ths, rounded, as bits.
static POWERS: TableData = TableData {
    name: "powers",
    entries: Entries::Bits64(&[
        0x3ff0000000000000,
        0x3ff02c9a3e778061,
        0x3ff059b0d3158574,
        0x3ff0874518759bc8,
        0x3ff0b5586cf9890f,
        0x3ff0e3ec32d3d1a2,
        0x3ff11301d0125b51,
        0x3ff1429aaea92de0,
        0x3ff172b83c7d517b,
        0x3ff1a35beb6fcb75,
        0x3ff1d4873168b9aa,
        0x3ff2063b88628cd6,
        0x3ff2387a6e756238,
        0x3ff26b4565e27cdd,
        0x3ff29e9df51fdee1,
        0x3ff2d285a6e4030b,
        0x3ff306fe0a31b715,
        0x3ff33c08b26416ff,
        0x3ff371a7373aa9cb,
        0x3ff3a7db34e59ff7,
        0x3ff3dea64c123422,
        0x3ff4160a21f72e2a,
        0x3ff44e086061892d,
        0x3ff486a2b5c13cd0,
        0x3ff4bfdad5362a27,
        0x3ff4f9b2769d2ca7,
        0x3ff5342b569d4f82,
        0x3ff56f4736b527da,
        0x3ff5ab07dd485429,
        0x3ff5e76f15ad2148,
        0x3ff6247eb03a5585,
        0x3ff6623882552225,
        0x3ff6a09e667f3bcd,
        0x3ff6dfb23c651a2f,
        0x3ff71f75e8ec5f74,
        0x3ff75feb564267c9,
        0x3ff7a11473eb0187,
        0x3ff7e2f336cf4e62,
        0x3ff82589994cce13,
        0x3ff868d99b4492ed,
        0x3ff8ace5422aa0db,
        0x3ff8f1ae99157736,
        0x3ff93737b0cdc5e5,
        0x3ff97d829fde4e50,
        0x3ff9c49182a3f090,
        0x3ffa0c667b5de565,
        0x3ffa5503b23e255d,
        0x3ffa9e6b5579fdbf,
        0x3ffae89f995ad3ad,
        0x3ffb33a2b84f15fb,
        0x3ffb7f76f2fb5e47,
        0x3ffbcc1e904bc1d2,
        0x3ffc199bdd85529c,
        0x3ffc67f12e57d14b,
        0x3ffcb720dcef9069,
        0x3ffd072d4a07897c,
        0x3ffd5818dcfba487,
        0x3ffda9e603db3285,
        0x3ffdfc97337b9b5f,
        0x3ffe502ee78b3ff6,
        0x3ffea4afa2a490da,
        0x3ffefa1bee615a27,
        0x3fff50765b6e4540,
        0x3fffa7c1819e90d8,
    ]),
};

/// What the rounding of [`POWERS`] misses.
static POWERS_REST: TableData = TableData {
    name: "powers_rest",
    entries: Entries::Bits64(&[
        0x0000000000000000,
        0xbc719083535b085d,
        0x3c8d73e2a475b465,
        0x3c6186be4bb284ff,
        0x3c98a62e4adc610b,
        0x3c403a1727c57b53,
        0xbc96c51039449b3a,
        0xbc932fbf9af1369e,
        0xbc819041b9d78a76,
        0x3c8e5b4c7b4968e4,
        0x3c9e016e00a2643c,
        0x3c8dc775814a8495,
        0x3c99b07eb6c70573,
        0x3c82bd339940e9d9,
        0x3c8612e8afad1255,
        0x3c90024754db41d5,
        0x3c86f46ad23182e4,
        0x3c932721843659a6,
        0xbc963aeabf42eae2,
        0xbc75e436d661f5e3,
        0x3c8ada0911f09ebc,
        0xbc5ef3691c309278,
        0x3c489b7a04ef80d0,
        0x3c73c1a3b69062f0,
        0x3c7d4397afec42e2,
        0xbc94b309d25957e3,
        0xbc807abe1db13cad,
        0x3c99bb2c011d93ad,
        0x3c96324c054647ad,
        0x3c9ba6f93080e65e,
        0xbc9383c17e40b497,
        0xbc9bb60987591c34,
        0xbc9bdd3413b26456,
        0xbc6bbe3a683c88ab,
        0xbc816e4786887a99,
        0xbc90245957316dd3,
        0xbc841577ee04992f,
        0x3c705d02ba15797e,
        0xbc9d4c1dd41532d8,
        0xbc9fc6f89bd4f6ba,
        0x3c96e9f156864b27,
        0x3c85cc13a2e3976c,
        0xbc675fc781b57ebc,
        0xbc9d185b7c1b85d1,
        0x3c7c7c46b071f2be,
        0xbc9359495d1cd533,
        0xbc9d2f6edb8d41e1,
        0x3c90fac90ef7fd31,
        0x3c97a1cd345dcc81,
        0xbc62805e3084d708,
        0xbc75584f7e54ac3b,
        0x3c823dd07a2d9e84,
        0x3c811065895048dd,
        0x3c92884dff483cad,
        0x3c7503cbd1e949db,
        0xbc9cbc3743797a9c,
        0x3c82ed02d75b3707,
        0x3c9c2300696db532,
        0xbc91a5cd4f184b5c,
        0x3c839e8980a9cc8f,
        0xbc9e9c23179c2893,
        0x3c9dc7f486a4b6b0,
        0x3c99d3e12dd8a18b,
        0x3c874853f3a5931e,
    ]),
};
