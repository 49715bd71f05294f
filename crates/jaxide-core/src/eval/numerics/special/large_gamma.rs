//! The incomplete gamma functions of large order, by Temme's uniform asymptotic expansion.
//!
//! N. M. Temme, *The asymptotic expansion of the incomplete gamma functions* (SIAM J. Math. Anal.
//! 10, 1979); DLMF 8.12. With λ = x/a, μ = λ - 1 and ½η² = μ - ln(1 + μ), sign η = sign μ,
//!
//! ```text
//! P(a, x) = ½ erfc(-η √(a/2)) - R,    Q(a, x) = ½ erfc(η √(a/2)) + R,
//! R = e^(-aη²/2) / √(2πa) · Σ c_k(η) a^-k.
//! ```
//!
//! The c_k enter as Taylor polynomials. From order [`LARGE_ORDER`] on, R underflows long before η
//! leaves their range.

use super::super::elementary::{erfc, exp, log1p};
use super::gamma::minus_log1p;
use std::f64::consts::PI;

/// The order from which the expansion is used; below it the series and the continued fraction
/// converge in a few thousand steps.
pub(super) const LARGE_ORDER: f64 = 1e6;

/// P(a, x), Q(a, x) and their derivatives by a, for a ≥ [`LARGE_ORDER`] and x > 0, both finite.
pub(super) struct LargeOrder {
    a: f64,
    x: f64,
    /// ln λ.
    log_ratio: f64,
    /// ζ = η √(a/2).
    zeta: f64,
    /// Σ c_k(η) a^-k.
    sum: f64,
    /// Its derivative by η.
    sum_by_eta: f64,
}

impl LargeOrder {
    pub(super) fn new(a: f64, x: f64) -> Self {
        let mu = (x - a) / a;
        let eta = (2.0 * minus_log1p(mu)).sqrt().copysign(mu);
        let (c0, c0_by_eta) = polynomial(&C0, eta);
        let (c1, c1_by_eta) = polynomial(&C1, eta);
        let (c2, c2_by_eta) = polynomial(&C2, eta);
        Self {
            a,
            x,
            log_ratio: log1p(mu),
            zeta: eta * (a / 2.0).sqrt(),
            sum: c0 + (c1 + c2 / a) / a,
            sum_by_eta: c0_by_eta + (c1_by_eta + c2_by_eta / a) / a,
        }
    }

    /// P(a, x).
    pub(super) fn lower(&self) -> f64 {
        self.tail(-self.zeta, -1.0)
    }

    /// Q(a, x).
    pub(super) fn upper(&self) -> f64 {
        self.tail(self.zeta, 1.0)
    }

    fn tail(&self, zeta: f64, sign: f64) -> f64 {
        let gaussian = exp(-zeta * zeta);
        let correction = if gaussian == 0.0 {
            0.0
        } else {
            gaussian * self.sum
        };
        0.5 * erfc(zeta) + sign * correction / (2.0 * PI * self.a).sqrt()
    }

    /// ∂P/∂a at fixed x.
    pub(super) fn lower_by_order(&self) -> f64 {
        let gaussian = exp(-self.zeta * self.zeta);
        if gaussian == 0.0 {
            0.0
        } else {
            gaussian * self.scaled_derivative()
        }
    }

    /// The derivative by a of the x at which P(a, x) has its value: -(∂P/∂a) / (∂P/∂x).
    ///
    /// The exponentials cancel, so that only η must be in range.
    pub(super) fn quantile_by_order(&self) -> f64 {
        let stirling = 1.0 + (1.0 + 1.0 / (24.0 * self.a)) / (12.0 * self.a);
        -self.scaled_derivative() * self.x * (2.0 * PI / self.a).sqrt() * stirling
    }

    /// Whether η is within the range of the Taylor polynomials.
    pub(super) fn in_range(&self) -> bool {
        self.zeta.abs() < 40.0
    }

    /// ∂P/∂a · e^(ζ²). From ∂ζ²/∂a = -ln λ.
    fn scaled_derivative(&self) -> f64 {
        let Self {
            a,
            log_ratio,
            zeta,
            sum,
            sum_by_eta,
            ..
        } = *self;
        let zeta_by_a = if zeta == 0.0 {
            -1.0 / (2.0 * a).sqrt()
        } else {
            -log_ratio / (2.0 * zeta)
        };
        let eta_by_a = (2.0 / a).sqrt() * (zeta_by_a - zeta / (2.0 * a));
        let remainder = sum * (log_ratio - 0.5 / a) + sum_by_eta * eta_by_a - C1[0] / (a * a);
        zeta_by_a / PI.sqrt() - remainder / (2.0 * PI * a).sqrt()
    }
}

/// A polynomial and its derivative; coefficients from the constant up.
fn polynomial(coefficients: &[f64], x: f64) -> (f64, f64) {
    let step = |(p, dp): (f64, f64), c: &f64| (p * x + c, dp * x + p);
    coefficients.iter().rev().fold((0.0, 0.0), step)
}

const C0: [f64; 10] = [
    -0.3333333333333333,
    0.08333333333333333,
    -0.014814814814814815,
    0.0011574074074074073,
    0.0003527336860670194,
    -0.00017875514403292182,
    3.919263178522438e-5,
    -2.185448510679992e-6,
    -1.85406221071516e-6,
    8.296711340953086e-7,
];

const C1: [f64; 5] = [
    -0.001851851851851852,
    -0.003472222222222222,
    0.0026455026455026454,
    -0.0009902263374485596,
    0.00020576131687242798,
];

const C2: [f64; 2] = [0.004133597883597883, -0.0026813271604938273];
