//! Numbers of the evaluator: a value with derivatives in two directions, and how far rounding may have moved each.
//!
//! The arithmetic is that of polynomials in ε₁ and ε₂ with ε₁² = ε₂² = 0. Every operation adds to the error what the
//! element type rounds, times a generous factor, and what the errors of its operands become.

/// The parts: of 1, ε₁, ε₂ and ε₁ε₂, by the bits of their position.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Num {
    pub(crate) c: [f64; 4],
    pub(crate) e: [f64; 4],
}

/// An operation rounds by so many units.
const ROUNDINGS: f64 = 4.0;

impl Num {
    /// An exact number.
    pub(crate) fn exact(value: f64) -> Num {
        Num {
            c: [value, 0.0, 0.0, 0.0],
            e: [0.0; 4],
        }
    }

    pub(crate) fn value(self) -> f64 {
        self.c[0]
    }

    /// A number with the parts and errors that `f` gives from those of one or two others.
    fn each(f: impl Fn(usize) -> (f64, f64)) -> Num {
        let mut out = Num::default();
        for k in 0..4 {
            (out.c[k], out.e[k]) = f(k);
        }
        out
    }

    pub(crate) fn plus(self, other: Num, unit: f64) -> Num {
        Num::each(|k| {
            let (a, b) = (self.c[k], other.c[k]);
            // Reverse mode rounds what each operand contributes before it adds: where they cancel, that is what is left.
            let rounded = match k {
                0 => (a + b).abs(),
                _ => ROUNDINGS * (a.abs() + b.abs()),
            };
            (a + b, self.e[k] + other.e[k] + unit * rounded)
        })
    }

    pub(crate) fn times(self, other: Num, unit: f64) -> Num {
        Num::each(|k| {
            let (mut part, mut error) = (0.0, 0.0);
            for i in (0..4).filter(|i| i & k == *i) {
                let (a, b) = (self.c[i], other.c[k ^ i]);
                let (da, db) = (self.e[i], other.e[k ^ i]);
                part += a * b;
                error += a.abs() * db + b.abs() * da + da * db + ROUNDINGS * unit * (a * b).abs();
            }
            (part, error)
        })
        .underflowing(unit)
    }

    /// Times a number without errors.
    pub(crate) fn scaled(self, by: f64, unit: f64) -> Num {
        Num::each(|k| {
            let part = self.c[k] * by;
            (part, self.e[k] * by.abs() + unit * part.abs())
        })
        .underflowing(unit)
    }

    /// A function with its first two derivatives at this number.
    pub(crate) fn through(self, f: [f64; 3], unit: f64) -> Num {
        let [f0, f1, f2] = f;
        let [_, a1, a2, a3] = self.c;
        let [d0, d1, d2, d3] = self.e;
        let unit = ROUNDINGS * unit;
        // What rounding makes of derivatives, and what they can change within the error.
        let (slack1, slack2) = (
            f2.abs() * d0 + unit * (1.0 + f1.abs()),
            (f2.abs() + f1.abs() + 1.0) * (d0 + unit),
        );
        let first = |a: f64, d: f64| (f1.abs() + slack1) * d + slack1 * a.abs();
        Num {
            c: [f0, f1 * a1, f1 * a2, f1 * a3 + f2 * a1 * a2],
            e: [
                f1.abs() * d0 + unit * (f0.abs() + d0 * d0 * f2.abs()) + f2.abs() * d0 * d0,
                first(a1, d1),
                first(a2, d2),
                first(a3, d3)
                    + slack2 * (a1 * a2).abs()
                    + (f2.abs() + slack2) * (d1 * a2.abs() + d2 * a1.abs() + d1 * d2),
            ],
        }
        .underflowing(unit)
    }

    /// What is too small for a normal number of the type that rounds so may as well be zero.
    fn underflowing(mut self, unit: f64) -> Num {
        let least = if unit > f64::from(f32::EPSILON) / 2.0 {
            f64::from(f32::MIN_POSITIVE)
        } else {
            f64::MIN_POSITIVE
        };
        if self.c[0] != 0.0 && self.c[0].abs() < least {
            self.e[0] += least;
        }
        self
    }

    /// `1 / self`.
    pub(crate) fn inverse(self, unit: f64) -> Num {
        let y = 1.0 / self.c[0];
        self.through([y, -y * y, 2.0 * y * y * y], unit)
    }

    /// With rounding to another type.
    pub(crate) fn rounded(self, unit: f64) -> Num {
        Num::each(|k| (self.c[k], self.e[k] + unit * self.c[k].abs()))
    }

    /// With derivatives rounded, as reverse mode rounds each contribution where a number was converted.
    pub(crate) fn contributed(self, unit: f64) -> Num {
        Num::each(|k| {
            let rounded = if k == 0 { 0.0 } else { ROUNDINGS * unit };
            (self.c[k], self.e[k] + rounded * self.c[k].abs())
        })
    }

    /// With an error of this size added.
    pub(crate) fn within(self, error: f64) -> Num {
        Num::each(|k| (self.c[k], self.e[k] + error))
    }

    /// Without derivatives.
    pub(crate) fn constant(self) -> Num {
        Num {
            c: [self.c[0], 0.0, 0.0, 0.0],
            e: [self.e[0], 0.0, 0.0, 0.0],
        }
    }

    /// Whether derivatives are zero.
    pub(crate) fn is_constant(self) -> bool {
        self.c[1..].iter().all(|&part| part == 0.0)
    }
}
