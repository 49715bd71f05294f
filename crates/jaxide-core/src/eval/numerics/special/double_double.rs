//! Numbers of about 32 digits, as unevaluated sums of two of double precision (T. Dekker, "A floating-point technique for extending the
//! available precision", 1971), for formulas whose terms cancel or whose exponentials magnify errors.
//!
//! Only finite numbers: where an operation overflows, the result is NaN.

use super::super::elementary::log;
use std::ops::{Add, Div, Mul, Neg, Sub};

/// `high + low`, where `high` is the sum rounded.
#[derive(Clone, Copy, Debug)]
pub(super) struct DoubleDouble {
    high: f64,
    low: f64,
}

impl DoubleDouble {
    /// A number whose second part is known.
    pub(super) const fn new(high: f64, low: f64) -> DoubleDouble {
        DoubleDouble { high, low }
    }

    /// The sum of two numbers, exactly.
    pub(super) fn sum(a: f64, b: f64) -> DoubleDouble {
        let sum = a + b;
        let part = sum - a;
        DoubleDouble::new(sum, (a - (sum - part)) + (b - part))
    }

    /// The product of two numbers, exactly unless it is next to the smallest numbers.
    fn product(a: f64, b: f64) -> DoubleDouble {
        let product = a * b;
        DoubleDouble::new(product, a.mul_add(b, -product))
    }

    /// `a + b` where |a| is the larger.
    fn ordered_sum(a: f64, b: f64) -> DoubleDouble {
        let sum = a + b;
        DoubleDouble::new(sum, b - (sum - a))
    }

    /// Rounded to double precision.
    pub(super) fn value(self) -> f64 {
        self.high + self.low
    }

    pub(super) fn abs(self) -> DoubleDouble {
        if self.high < 0.0 { -self } else { self }
    }

    /// Whether the magnitude is at most `factor` times that of `other`; not for NaN.
    pub(super) fn is_within(self, factor: f64, other: DoubleDouble) -> bool {
        self.high.abs() <= factor * other.high.abs()
    }

    pub(super) fn is_nan(self) -> bool {
        self.high.is_nan()
    }

    /// Times a power of two.
    pub(super) fn scale(self, power: f64) -> DoubleDouble {
        DoubleDouble::new(self.high * power, self.low * power)
    }

    /// e to this number: 0 where that is below the smallest number, and infinite beyond the largest.
    pub(super) fn exp(self) -> DoubleDouble {
        if self.high < -746.0 {
            return DoubleDouble::from(0.0);
        }
        if self.high > 710.0 {
            return DoubleDouble::new(f64::INFINITY, 0.0);
        }
        let n = (self.high * std::f64::consts::LOG2_E).round_ties_even();
        let reduced = self - LN_2 * n.into();
        let result = reduced.expm1_reduced() + 1.0.into();
        // In two steps, for the ends of the range.
        let half = (0.5 * n).trunc();
        result.scale(exp2_whole(half)).scale(exp2_whole(n - half))
    }

    /// `e^self - 1`, relative to itself, for numbers up to 700.
    pub(super) fn expm1(self) -> DoubleDouble {
        if self.high.abs() < 0.4 {
            self.expm1_reduced()
        } else {
            self.exp() - 1.0.into()
        }
    }

    /// `e^self - 1` for |self| < 0.4: the power series of a 512th, and e^2r - 1 = m (m + 2) nine times.
    fn expm1_reduced(self) -> DoubleDouble {
        let r = self.scale(1.0 / 512.0);
        // 1 / n! from n = 9 on down; what is left of e^r is below 10^-35.
        let sum = (1..9).rev().fold(DoubleDouble::from(1.0), |sum, n| {
            DoubleDouble::from(1.0) + sum * r / f64::from(n + 1).into()
        });
        (0..9).fold(sum * r, |m, _| m * (m + 2.0.into()))
    }

    /// The natural logarithm of a positive number, by one step of Halley's iteration.
    pub(super) fn log(self) -> DoubleDouble {
        // Away from underflow and overflow.
        let (x, shift) = if self.high < 1e-290 {
            (self.scale(exp2_whole(200.0)), -200.0)
        } else if self.high > 1e290 {
            (self.scale(exp2_whole(-200.0)), 200.0)
        } else {
            (self, 0.0)
        };
        let start = DoubleDouble::from(log(x.high));
        let power = start.exp();
        start + ((x - power) / (x + power)).scale(2.0) + LN_2 * shift.into()
    }

    /// ln Γ of a positive number.
    pub(super) fn lgamma(self) -> DoubleDouble {
        // ln Γ(z) = ln Γ(z + n) - ln (z (z + 1) … (z + n - 1))
        let (z, product) = self.far(DoubleDouble::from(1.0), |product, z| product * z);
        let y = DoubleDouble::from(1.0) / z;
        let square = y * y;
        // B₂ₖ / (2k (2k - 1)) (DLMF 5.11.1).
        let tail = bernoulli_sum(square, |twice| twice * (twice - 1.0));
        let log_z = z.log();
        (z - 0.5.into()) * log_z - z + HALF_LN_2_PI + tail * y - product.log()
    }

    /// ψ of a positive number.
    pub(super) fn digamma(self) -> DoubleDouble {
        let (z, sum) = self.far(DoubleDouble::from(0.0), |sum, z| {
            sum + DoubleDouble::from(1.0) / z
        });
        let y = DoubleDouble::from(1.0) / z;
        let square = y * y;
        // B₂ₖ / 2k (DLMF 5.11.2).
        let tail = bernoulli_sum(square, |twice| twice);
        z.log() - y.scale(0.5) - tail * square - sum
    }

    /// This number plus the whole number that makes it at least 32, and what `add` makes of the numbers on the way.
    fn far(
        self,
        start: DoubleDouble,
        add: impl Fn(DoubleDouble, DoubleDouble) -> DoubleDouble,
    ) -> (DoubleDouble, DoubleDouble) {
        let (mut z, mut collected) = (self, start);
        while z.high < 32.0 {
            collected = add(collected, z);
            z = z + 1.0.into();
        }
        (z, collected)
    }
}

/// The sum of B₂ₖ / divisor(2k) y^(2k - 2) over all k from 1 on, of y squared.
fn bernoulli_sum(square: DoubleDouble, divisor: impl Fn(f64) -> f64) -> DoubleDouble {
    let terms = BERNOULLI.iter().enumerate().rev();
    terms.fold(DoubleDouble::from(0.0), |sum, (k, &(n, d))| {
        let divisor = d * divisor(2.0 * (k as f64 + 1.0));
        sum * square + DoubleDouble::from(n) / divisor.into()
    })
}

/// 2^n for a whole number of moderate size.
fn exp2_whole(n: f64) -> f64 {
    f64::from_bits(((n + 1023.0) as u64) << 52)
}

impl From<f64> for DoubleDouble {
    fn from(high: f64) -> DoubleDouble {
        DoubleDouble::new(high, 0.0)
    }
}

impl Neg for DoubleDouble {
    type Output = DoubleDouble;

    fn neg(self) -> DoubleDouble {
        DoubleDouble::new(-self.high, -self.low)
    }
}

impl Add for DoubleDouble {
    type Output = DoubleDouble;

    fn add(self, other: DoubleDouble) -> DoubleDouble {
        let high = DoubleDouble::sum(self.high, other.high);
        let low = DoubleDouble::sum(self.low, other.low);
        let first = DoubleDouble::ordered_sum(high.high, high.low + low.high);
        DoubleDouble::ordered_sum(first.high, first.low + low.low)
    }
}

impl Sub for DoubleDouble {
    type Output = DoubleDouble;

    fn sub(self, other: DoubleDouble) -> DoubleDouble {
        self + -other
    }
}

impl Mul for DoubleDouble {
    type Output = DoubleDouble;

    fn mul(self, other: DoubleDouble) -> DoubleDouble {
        let product = DoubleDouble::product(self.high, other.high);
        let low = product.low + (self.high * other.low + self.low * other.high);
        DoubleDouble::ordered_sum(product.high, low)
    }
}

impl Div for DoubleDouble {
    type Output = DoubleDouble;

    fn div(self, other: DoubleDouble) -> DoubleDouble {
        let first = self.high / other.high;
        let rest = self - other * first.into();
        let second = rest.high / other.high;
        let rest = rest - other * second.into();
        let third = rest.high / other.high;
        DoubleDouble::ordered_sum(first, second) + third.into()
    }
}

/// ln 2.
const LN_2: DoubleDouble = DoubleDouble::new(std::f64::consts::LN_2, 2.3190468138462996e-17);

/// ½ ln 2π.
const HALF_LN_2_PI: DoubleDouble = DoubleDouble::new(0.9189385332046728, -3.8782941580672416e-17);

/// The Bernoulli numbers from B₂ on, as fractions.
const BERNOULLI: [(f64, f64); 13] = [
    (1.0, 6.0),
    (-1.0, 30.0),
    (1.0, 42.0),
    (-1.0, 30.0),
    (5.0, 66.0),
    (-691.0, 2730.0),
    (7.0, 6.0),
    (-3617.0, 510.0),
    (43867.0, 798.0),
    (-174611.0, 330.0),
    (854513.0, 138.0),
    (-236364091.0, 2730.0),
    (8553103.0, 6.0),
];

#[cfg(test)]
mod tests {
    use super::*;

    /// Within 1e-29 of a value by mpmath, in two parts, relative to it.
    fn close(got: DoubleDouble, high: f64, low: f64) {
        let error = ((got.high - high) + (got.low - low)) / high;
        assert!(error.abs() < 1e-29, "{got:?} is off {high} by {error}");
    }

    fn dd(x: f64) -> DoubleDouble {
        x.into()
    }

    #[test]
    fn exponentials() {
        close(dd(1.0).exp(), std::f64::consts::E, 1.4456468917292502e-16);
        close(
            dd(-300.5).exp(),
            3.1225412772322846e-131,
            2.3777947889417906e-147,
        );
        close(dd(1e-10).expm1(), 1.00000000005e-10, 3.3900133221217734e-27);
        close(dd(0.3).expm1(), 0.3498588075760031, 1.6549155728191776e-17);
        assert_eq!(dd(-745.0).exp().value(), 5e-324);
        assert_eq!(dd(-1e9).exp().value(), 0.0);
        assert_eq!(dd(1e9).exp().value(), f64::INFINITY);
        assert!(dd(f64::NAN).exp().is_nan());
    }

    #[test]
    fn logarithms() {
        close(
            dd(10.0).log(),
            std::f64::consts::LN_10,
            -2.1707562233822494e-16,
        );
        close(
            dd(1e-300).log(),
            -690.7755278982137,
            -2.3670096176709832e-14,
        );
        assert_eq!(dd(1.0).log().value(), 0.0);
    }

    #[test]
    fn gamma_functions() {
        close(dd(0.3).lgamma(), 1.0957979948180756, -4.412082839547077e-17);
        close(
            dd(123.25).lgamma(),
            468.6144829505166,
            2.7062354933449967e-14,
        );
        close(
            dd(500000.5).lgamma(),
            6061182.607640615,
            -4.644151706692e-10,
        );
        close(dd(0.3).digamma(), -3.502524222200133, 2.776725952349014e-17);
        close(
            dd(50.5).digamma(),
            3.912039670928392,
            -1.431872189577817e-17,
        );
    }

    /// Quotients undo products, whatever cancels.
    #[test]
    fn arithmetic() {
        let third = dd(1.0) / dd(3.0);
        close(third, 1.0 / 3.0, 1.850371707708594e-17);
        let difference = third * dd(3.0) - dd(1.0);
        assert!(difference.is_within(1e-31, dd(1.0)));
        let sum = DoubleDouble::sum(1.0, 1e-25) - dd(1.0);
        close(sum, 1e-25, 0.0);
    }
}
