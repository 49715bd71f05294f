//! One element of the result from one of each operand.

use std::cmp::Ordering;

use super::value::{unit, wrapped};
use super::{Evaluator, Outcome, Undecided, Value};
use crate::closures::number::Num;
use crate::closures::program::{Binary, Kind, Ty, Unary};

/// A number that a step function does not move within its error.
fn step(x: Num, f: impl Fn(f64) -> f64) -> Outcome<Num> {
    let error = 8.0 * x.e[0];
    let (below, above) = (f(x.value() - error), f(x.value() + error));
    if below == above {
        Ok(Num::exact(f(x.value())))
    } else {
        Err(Undecided)
    }
}

impl Evaluator {
    pub(super) fn unary(&mut self, op: Unary, x: &Value) -> Outcome<Value> {
        if x.is_float() {
            let unit = unit(x.ty.kind);
            let mut floats = Vec::with_capacity(x.floats.len());
            for &number in &x.floats {
                floats.push(self.float(op, number, unit)?);
            }
            return Ok(Value::from_floats(&x.ty, floats));
        }
        let truth = x.ty.kind == Kind::Bool;
        let number = |&x: &i64| match op {
            Unary::Neg => x.wrapping_neg(),
            Unary::Square => x.wrapping_mul(x),
            Unary::Cube => x.wrapping_mul(x).wrapping_mul(x),
            Unary::Abs => x.wrapping_abs(),
            Unary::Sign => x.signum(),
            Unary::Relu => x.max(0),
            Unary::Not if truth => 1 - x,
            Unary::Not => !x,
            Unary::StopGradient => x,
            _ => unreachable!("{op:?} of integers"),
        };
        Ok(Value::from_ints(&x.ty, x.ints.iter().map(number)))
    }

    fn float(&mut self, op: Unary, x: Num, unit: f64) -> Outcome<Num> {
        let v = x.value();
        Ok(match op {
            Unary::Neg => x.scaled(-1.0, 0.0),
            Unary::Sin => x.through([v.sin(), v.cos(), -v.sin()], unit),
            Unary::Cos => x.through([v.cos(), -v.sin(), -v.cos()], unit),
            Unary::Tanh => {
                let y = v.tanh();
                let slope = 1.0 - y * y;
                x.through([y, slope, -2.0 * y * slope], unit)
            }
            Unary::Sigmoid => {
                let y = 1.0 / (1.0 + (-v).exp());
                let slope = y * (1.0 - y);
                x.through([y, slope, slope * (1.0 - 2.0 * y)], unit)
            }
            Unary::Exp => x.through([v.exp(); 3], unit),
            Unary::Expm1 => x.through([v.exp_m1(), v.exp(), v.exp()], unit),
            Unary::Arctan => {
                let slope = 1.0 / (1.0 + v * v);
                x.through([v.atan(), slope, -2.0 * v * slope * slope], unit)
            }
            Unary::LogOnePlusSquare => {
                let y = x.times(x, unit).plus(Num::exact(1.0), unit);
                let (v, inverse) = (y.value(), 1.0 / y.value());
                y.through([v.ln(), inverse, -inverse * inverse], unit)
            }
            Unary::RootOnePlusSquare => {
                let y = x.times(x, unit).plus(Num::exact(1.0), unit);
                let root = y.value().sqrt();
                let f = [root, 0.5 / root, -0.25 / (root * root * root)];
                y.through(f, unit)
            }
            Unary::Square => x.times(x, unit),
            Unary::Cube => x.times(x, unit).times(x, unit),
            Unary::Abs | Unary::Relu => match Self::order(x, Num::exact(0.0)) {
                Ok(Ordering::Greater) => x,
                Ok(Ordering::Less) if op == Unary::Abs => x.scaled(-1.0, 0.0),
                Ok(Ordering::Less) => Num::exact(0.0),
                Ok(Ordering::Equal) | Err(Undecided) => {
                    if !x.is_constant() {
                        self.kink()?;
                    }
                    let value = if op == Unary::Abs {
                        v.abs()
                    } else {
                        v.max(0.0)
                    };
                    with_value(x, value)
                }
            },
            Unary::Sign => match Self::order(x, Num::exact(0.0))? {
                Ordering::Greater => Num::exact(1.0),
                Ordering::Less => Num::exact(-1.0),
                Ordering::Equal => Num::exact(0.0),
            },
            Unary::Floor => step(x, f64::floor)?,
            Unary::Ceil => step(x, f64::ceil)?,
            Unary::StopGradient => x.constant(),
            Unary::Not => unreachable!("not of floats"),
        })
    }

    pub(super) fn binary(&mut self, op: Binary, x: &Value, y: &Value, ty: &Ty) -> Outcome<Value> {
        let kind = common(x.ty.kind, y.ty.kind);
        let (x, y) = (converted(x, kind)?, converted(y, kind)?);
        let (xs, ys) = (x.spread(&ty.shape), y.spread(&ty.shape));
        let pairs = xs.into_iter().zip(ys);
        if !kind.is_float() {
            let ints = pairs.map(|(a, b)| integer(op, kind, x.ints[a], y.ints[b]));
            return Ok(Value::from_ints(ty, ints));
        }
        let unit = unit(kind);
        if op.compares() {
            let mut ints = Vec::new();
            for (a, b) in pairs {
                let order = Self::order(x.floats[a], y.floats[b])?;
                ints.push(i64::from(holds(op, order)));
            }
            return Ok(Value::from_ints(ty, ints));
        }
        let mut floats = Vec::new();
        for (a, b) in pairs {
            let (a, b) = (x.floats[a], y.floats[b]);
            floats.push(match op {
                Binary::Add => a.plus(b, unit),
                Binary::Sub => a.plus(b.scaled(-1.0, 0.0), unit),
                Binary::Mul => a.times(b, unit),
                Binary::Div => a.times(b.inverse(unit), unit),
                Binary::Max => self.extreme(a, b, Ordering::Greater)?,
                Binary::Min => self.extreme(a, b, Ordering::Less)?,
                _ => unreachable!("{op:?} of floats"),
            });
        }
        Ok(Value::from_floats(ty, floats))
    }

    /// The one of two that comes first in an order.
    pub(super) fn extreme(&mut self, a: Num, b: Num, first: Ordering) -> Outcome<Num> {
        let order = Self::order(a, b);
        if let Ok(order) = order
            && order != Ordering::Equal
        {
            return Ok(if order == first { a } else { b });
        }
        if a.c[1..] != b.c[1..] {
            self.kink()?;
        }
        let a_first = a.value().partial_cmp(&b.value()) == Some(first);
        let mut out = if a_first { a } else { b };
        out.e = std::array::from_fn(|k| a.e[k].max(b.e[k]));
        Ok(out)
    }

    pub(super) fn clipped(&mut self, x: &Value, low: f64, high: f64) -> Outcome<Value> {
        let (low, high) = (
            Value::scalar(x.ty.kind, low),
            Value::scalar(x.ty.kind, high),
        );
        let raised = self.binary(Binary::Max, &low, x, &x.ty)?;
        self.binary(Binary::Min, &high, &raised, &x.ty)
    }
}

/// A number with another value and the same errors.
fn with_value(mut x: Num, value: f64) -> Num {
    x.c[0] = value;
    x
}

fn holds(op: Binary, order: Ordering) -> bool {
    match op {
        Binary::Lt => order == Ordering::Less,
        Binary::Le => order != Ordering::Greater,
        Binary::Gt => order == Ordering::Greater,
        Binary::Ge => order != Ordering::Less,
        Binary::Eq => order == Ordering::Equal,
        Binary::Ne => order != Ordering::Equal,
        _ => unreachable!("{op:?} does not compare"),
    }
}

fn integer(op: Binary, kind: Kind, a: i64, b: i64) -> i64 {
    match op {
        // Sums and products of truth values are or and and.
        Binary::Add if kind == Kind::Bool => a | b,
        Binary::Mul if kind == Kind::Bool => a & b,
        Binary::Add => a.wrapping_add(b),
        Binary::Sub => a.wrapping_sub(b),
        Binary::Mul => a.wrapping_mul(b),
        Binary::Max => a.max(b),
        Binary::Min => a.min(b),
        // Divisors are positive.
        Binary::Rem => a.rem_euclid(b),
        Binary::FloorDiv => a.div_euclid(b),
        Binary::And => a & b,
        Binary::Or => a | b,
        Binary::Xor => a ^ b,
        Binary::Shl => wrapped(kind, a << b),
        Binary::Shr => a >> b,
        Binary::Lt | Binary::Le | Binary::Gt | Binary::Ge | Binary::Eq | Binary::Ne => {
            i64::from(holds(op, a.cmp(&b)))
        }
        Binary::Div => unreachable!("true division of integers"),
    }
}

/// The common element type of two operands.
pub(crate) fn common(a: Kind, b: Kind) -> Kind {
    let rank = |kind| match kind {
        Kind::Bool => 0,
        Kind::U8 => 1,
        Kind::I32 => 2,
        Kind::I64 => 3,
        Kind::F32 => 4,
        Kind::F64 => 5,
    };
    if rank(a) > rank(b) { a } else { b }
}

pub(super) fn converted(x: &Value, kind: Kind) -> Outcome<Value> {
    if x.ty.kind == kind {
        return Ok(x.clone());
    }
    let ty = Ty::new(kind, &x.ty.shape);
    Ok(match (x.is_float(), kind.is_float()) {
        (true, true) => {
            let (own, unit) = (unit(x.ty.kind), unit(kind));
            // Numbers too small for the narrower type have lost digits, or are zero.
            let floor = f64::from(f32::MIN_POSITIVE);
            let floats = x
                .floats
                .iter()
                .map(|number| number.rounded(unit).contributed(own).within(floor));
            Value::from_floats(&ty, floats.collect())
        }
        (false, true) => {
            let numbers: Vec<f64> = x.ints.iter().map(|&number| number as f64).collect();
            Value::of(&ty, &numbers)
        }
        (true, false) => {
            let mut ints = Vec::new();
            for &number in &x.floats {
                // Any number but zero is true.
                ints.push(if kind == Kind::Bool {
                    i64::from(Evaluator::order(number, Num::exact(0.0))? != Ordering::Equal)
                } else {
                    step(number, f64::trunc)?.value() as i64
                });
            }
            Value::from_ints(&ty, ints)
        }
        (false, false) => Value::from_ints(&ty, x.ints.iter().copied()),
    })
}
