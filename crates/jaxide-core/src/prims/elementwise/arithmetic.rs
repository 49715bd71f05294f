//! Sums, products, powers, comparison, rounding and the parts of complex numbers.

use super::super::*;
use super::*;
use crate::error::{Error, Result};
use crate::transform::{broadcast, move_axis};

linear! {
    Neg [NUMBER] same, |_, b, ct, _| b.neg(ct);
    Real [COMPLEX] |_, d| d.real(), |_, b, ct, _| b.complex(ct, constant(b, ct, 0.0));
    Imag [COMPLEX] |_, d| d.real(), |_, b, ct, _| b.complex(constant(b, ct, 0.0), b.neg(ct));
    Conj [COMPLEX_PART] |_, d| d.complex().unwrap_or(d), |p, b, ct, _| {
        if p.input_dtype.is_complex() { b.op(Conj { input_dtype: b.dtype(ct) }, &[ct]) } else { b.real(ct) }
    };
    CopyArray [EQUATABLE] same, |_, b, ct, _| b.op(CopyArray, &[ct]);
    CopyP [EQUATABLE] same, |_, b, ct, _| b.op(CopyP, &[ct]);
    PlaceName [EQUATABLE] same, |_, _, ct, _| ct;
    ReducePrecision [FLOAT] same, |p, b, ct, _| b.op(p.clone(), &[ct]);
}

elementwise! {
    Floor [FLOAT] same, zero;
    Ceil [FLOAT] same, zero;
    Round [FLOAT] same, zero;
    IsFinite [FLOAT] truth, zero;
    StopGradient [EQUATABLE] same, zero;
    Sign [NUMBER] same, |_, b, g, y, x| b.dtype(x[0]).is_complex().then(|| {
        let turned = b.imag(b.mul(b.op(Conj { input_dtype: b.dtype(y) }, &[y]), g));
        let angle = b.div(turned, replace_zero(b, b.abs(x[0])));
        b.mul(y, b.complex(full_like(b, angle, 0.0, None), angle))
    });
    Abs [NUMBER] |_, d| d.real(), |_, b, g, y, x| Some(if b.dtype(x[0]).is_complex() {
        let dtype = b.dtype(x[0]);
        let conjugate = b.op(Conj { input_dtype: dtype }, x);
        let modulus = replace_zero(b, b.convert(y, dtype));
        b.real(b.mul(g, b.div(conjugate, modulus)))
    } else {
        let positive = b.ge(x[0], constant(b, x[0], 0.0));
        let negated = b.neg(g);
        b.select(positive, g, negated)
    });
    Square [NUMBER] same, |_, b, g, _, x| Some(b.mul(g, b.mul(constant(b, x[0], 2.0), x[0])));
    OneMinusSquare [NUMBER] same, |_, b, g, _, x| Some(b.mul(g, b.mul(constant(b, x[0], -2.0), x[0])));
    IntegerPow [NUMBER] same, |p, b, g, _, x| Some(match p.y {
        0 => full_like(b, g, 0.0, None),
        1 => g,
        2 => b.mul(g, b.mul(constant(b, x[0], 2.0), x[0])),
        y => b.mul(g, b.mul(constant(b, x[0], y as f64), b.integer_pow(x[0], y - 1))),
    });
    Rem [INTEGER_OR_FLOAT, INTEGER_OR_FLOAT] same,
        |_, b, g, y, _| Some(maybe_broadcast(b, g, &b.shape(y))),
        |_, b, g, _, x| {
            let negated = b.neg(g);
            let sign = b.sign(b.div(x[0], x[1]));
            Some(b.mul(negated, b.mul(sign, b.floor(b.abs(b.div(x[0], x[1]))))))
        };
    Max [ANY, ANY] same,
        |_, b, g, _, x| Some(b.mul(g, balanced_greater(b, x[0], x[1]))),
        |_, b, g, _, x| Some(b.mul(g, balanced_greater(b, x[1], x[0])));
    Min [ANY, ANY] same,
        |_, b, g, _, x| Some(b.mul(g, balanced_greater(b, x[1], x[0]))),
        |_, b, g, _, x| Some(b.mul(g, balanced_greater(b, x[0], x[1])));
    Atan2 [INEXACT, INEXACT] same,
        |_, b, g, _, x| {
            let norm = (b.square(x[0]), b.square(x[1]));
            Some(b.mul(g, b.div(x[1], b.add(norm.0, norm.1))))
        },
        |_, b, g, _, x| {
            let negated = b.neg(x[0]);
            let norm = (b.square(x[0]), b.square(x[1]));
            Some(b.mul(g, b.div(negated, b.add(norm.0, norm.1))))
        };
    NextAfter [FLOAT, FLOAT] same, |_, b, g, y, _| Some(maybe_broadcast(b, g, &b.shape(y))), zero;
    Equal [EQUATABLE, EQUATABLE] truth, zero, zero;
    NotEqual [EQUATABLE, EQUATABLE] truth, zero, zero;
    Less [ORDERED, ORDERED] truth, zero, zero;
    LessEqual [ORDERED, ORDERED] truth, zero, zero;
    Greater [ORDERED, ORDERED] truth, zero, zero;
    GreaterEqual [ORDERED, ORDERED] truth, zero, zero;
    EqualTotal [ANY, ANY] truth, zero, zero;
    LessTotal [ORDERED, ORDERED] truth, zero, zero;
    LessEqualTotal [ORDERED, ORDERED] truth, zero, zero;
}

/// 1 where `x > y`, one half where they are equal, else 0.
fn balanced_greater(b: &Builder, x: Atom, y: Atom) -> Atom {
    let dtype = Some(b.dtype(x));
    let (greater, equal) = (b.gt(x, y), b.eq(x, y));
    let (ones, zeros) = (
        full_like(b, greater, 1.0, dtype),
        full_like(b, greater, 0.0, dtype),
    );
    let half = full_like(b, greater, 0.5, dtype);
    b.select(greater, ones, b.select(equal, half, zeros))
}

/// Checks two operands of one numeric element type.
fn two_numbers(operands: &[Aval]) -> Result<DType> {
    two_of(NUMBER, operands)
}

/// Checks two operands of one element type that `accepts` has.
fn two_of(accepts: Accepts, operands: &[Aval]) -> Result<DType> {
    match operands {
        [x, y] => {
            accepts.check(x)?;
            accepts.check(y)?;
            same_dtype(operands)
        }
        other => Err(arity(2, other.len())),
    }
}

/// Rules that addition, cotangent addition and subtraction share; `negate` is true for the second operand of `sub`.
macro_rules! additive {
    ($($prim:ident $negate:literal, $batch:expr;)*) => { $(
        impl Primitive for $prim {
            fn abstract_eval(&self, operands: &[Aval]) -> Result<Avals> {
                let dtype = two_numbers(operands)?;
                result(operands, dtype)
            }

            fn jvp(&self, b: &Builder, primals: &[Atom], tangents: &[Option<Atom>]) -> Result<JvpResult> {
                let answer = b.op(*self, primals);
                let shape = b.shape(answer);
                let tangent = match (tangents[0], tangents[1]) {
                    (Some(x), Some(y)) => Some(b.op(*self, &[x, y])),
                    (Some(x), None) => Some(maybe_broadcast(b, x, &shape)),
                    (None, Some(y)) => Some(maybe_broadcast(b, if $negate { b.neg(y) } else { y }, &shape)),
                    (None, None) => None,
                };
                Ok(JvpResult::one(answer, tangent))
            }

            fn batch(&self, b: &Builder, operands: &[Batched], axis: &BatchAxis) -> Result<BatchedResults> {
                let batch: fn(&Self, &Builder, &[Batched], &BatchAxis) -> Result<BatchedResults> = $batch;
                batch(self, b, operands, axis)
            }

            fn transpose(&self, b: &Builder, cotangents: &[Option<Atom>], operands: &[TransposeArg]) -> Result<Cotangents> {
                let Some(ct) = cotangents[0] else { return Ok(smallvec![None, None]) };
                let x = linear_aval(&operands[0]).map(|aval| unbroadcast(b, aval, ct));
                let y = linear_aval(&operands[1]).map(|aval| unbroadcast(b, aval, if $negate { b.neg(ct) } else { ct }));
                Ok(smallvec![x, y])
            }
        }
    )* };
}

additive! {
    Add false, |p, b, operands, _| batch_elementwise((*p).into(), b, operands);
    Sub true, |p, b, operands, _| batch_elementwise((*p).into(), b, operands);
}

/// The sum of tangents or cotangents: both operands have the type of the result. Of truth values it is whether either holds.
impl Primitive for AddAny {
    fn abstract_eval(&self, operands: &[Aval]) -> Result<Avals> {
        let dtype = two_of(ANY, operands)?;
        if operands[0].shape != operands[1].shape {
            return Err(Error::shape(format!(
                "operands of different shapes: {} and {}",
                operands[0], operands[1]
            )));
        }
        result(operands, dtype)
    }

    fn jvp(&self, b: &Builder, primals: &[Atom], tangents: &[Option<Atom>]) -> Result<JvpResult> {
        let answer = b.op(*self, primals);
        let zeros = b.aval(answer).tangent();
        let tangents: SmallVec<[Atom; 2]> = tangents
            .iter()
            .map(|tangent| tangent.unwrap_or_else(|| b.zeros(&zeros)))
            .collect();
        Ok(JvpResult::one(answer, Some(b.op(*self, &tangents))))
    }

    /// Lanes that share an operand each get a copy of it.
    fn batch(&self, b: &Builder, operands: &[Batched], axis: &BatchAxis) -> Result<BatchedResults> {
        let (x, y) = (operands[0], operands[1]);
        let (x, y, dim) = match (x.dim, y.dim) {
            (None, None) => (x.value, y.value, None),
            (None, Some(dim)) => (broadcast(b, x.value, axis.size, dim), y.value, Some(dim)),
            (Some(dim), None) => (x.value, broadcast(b, y.value, axis.size, dim), Some(dim)),
            (Some(from), Some(to)) => (move_axis(b, x.value, from, to), y.value, Some(to)),
        };
        Ok(smallvec![Batched {
            value: b.add_any(x, y),
            dim
        }])
    }

    fn transpose(
        &self,
        _b: &Builder,
        cotangents: &[Option<Atom>],
        operands: &[TransposeArg],
    ) -> Result<Cotangents> {
        let of = |operand: &TransposeArg| operand.is_linear().then_some(cotangents[0]).flatten();
        Ok(operands.iter().map(of).collect())
    }
}

/// The type of an operand that is linear.
fn linear_aval(operand: &TransposeArg) -> Option<&Aval> {
    match operand {
        TransposeArg::Linear(aval) => Some(aval),
        TransposeArg::Known(_) => None,
    }
}

impl Primitive for Mul {
    fn abstract_eval(&self, operands: &[Aval]) -> Result<Avals> {
        match self.out_dtype {
            None => {
                let dtype = two_numbers(operands)?;
                result(operands, dtype)
            }
            Some(dtype) => {
                let [x, y] = operands else {
                    return Err(arity(2, operands.len()));
                };
                NUMBER.check(x)?;
                NUMBER.check(y)?;
                result(operands, dtype)
            }
        }
    }

    fn jvp(&self, b: &Builder, primals: &[Atom], tangents: &[Option<Atom>]) -> Result<JvpResult> {
        let answer = b.op(self.clone(), primals);
        let x = tangents[0].map(|g| b.op(self.clone(), &[g, primals[1]]));
        let y = tangents[1].map(|g| b.op(self.clone(), &[primals[0], g]));
        Ok(JvpResult::one(answer, add_tangents(b, x, y)))
    }

    fn batch(
        &self,
        b: &Builder,
        operands: &[Batched],
        _axis: &BatchAxis,
    ) -> Result<BatchedResults> {
        batch_elementwise(self.clone().into(), b, operands)
    }

    fn transpose(
        &self,
        b: &Builder,
        cotangents: &[Option<Atom>],
        operands: &[TransposeArg],
    ) -> Result<Cotangents> {
        let Some(ct) = cotangents[0] else {
            return Ok(smallvec![None, None]);
        };
        let mul = |aval: &Aval, x, y| {
            let prim = Mul {
                out_dtype: self.out_dtype.map(|_| aval.dtype),
            };
            unbroadcast(b, aval, b.op(prim, &[x, y]))
        };
        match (&operands[0], &operands[1]) {
            (TransposeArg::Linear(aval), TransposeArg::Known(y)) => {
                Ok(smallvec![Some(mul(aval, ct, *y)), None])
            }
            (TransposeArg::Known(x), TransposeArg::Linear(aval)) => {
                Ok(smallvec![None, Some(mul(aval, *x, ct))])
            }
            _ => Err(not_linear("mul")),
        }
    }
}

impl Primitive for Div {
    fn abstract_eval(&self, operands: &[Aval]) -> Result<Avals> {
        let dtype = two_numbers(operands)?;
        result(operands, dtype)
    }

    fn jvp(&self, b: &Builder, primals: &[Atom], tangents: &[Option<Atom>]) -> Result<JvpResult> {
        let answer = b.op(*self, primals);
        let (x, y) = (primals[0], primals[1]);
        let first = tangents[0].map(|g| b.div(g, y));
        let second = tangents[1].map(|g| {
            let scaled = b.mul(b.neg(g), x);
            b.mul(scaled, b.integer_pow(y, -2))
        });
        Ok(JvpResult::one(answer, add_tangents(b, first, second)))
    }

    fn batch(
        &self,
        b: &Builder,
        operands: &[Batched],
        _axis: &BatchAxis,
    ) -> Result<BatchedResults> {
        batch_elementwise((*self).into(), b, operands)
    }

    fn transpose(
        &self,
        b: &Builder,
        cotangents: &[Option<Atom>],
        operands: &[TransposeArg],
    ) -> Result<Cotangents> {
        match (&operands[0], &operands[1]) {
            (TransposeArg::Linear(aval), TransposeArg::Known(y)) => Ok(smallvec![
                cotangents[0].map(|ct| unbroadcast(b, aval, b.div(ct, *y))),
                None
            ]),
            _ => Err(not_linear("div")),
        }
    }
}

impl Primitive for Pow {
    fn abstract_eval(&self, operands: &[Aval]) -> Result<Avals> {
        let [x, y] = operands else {
            return Err(arity(2, operands.len()));
        };
        INEXACT.check(x)?;
        NUMBER.check(y)?;
        if x.dtype != y.dtype && !y.dtype.is_integer() {
            return Err(Error::dtype(format!(
                "the base is {} and the exponent {}: they must match, or the exponent be an integer",
                x.dtype, y.dtype
            )));
        }
        result(operands, x.dtype)
    }

    fn jvp(&self, b: &Builder, primals: &[Atom], tangents: &[Option<Atom>]) -> Result<JvpResult> {
        let answer = b.op(*self, primals);
        let (x, y) = (primals[0], primals[1]);
        let first = tangents[0].map(|g| {
            let integer = b.dtype(y).is_integer();
            let (mut x, mut y) = (x, convert_if_needed(b, y, b.dtype(x)));
            if integer && b.shape(x) != b.shape(y) {
                let shape = b.shape(answer);
                x = maybe_broadcast(b, x, &shape);
                y = maybe_broadcast(b, y, &shape);
            }
            let slope = if integer {
                let constant_power = b.eq(y, constant(b, y, 0.0));
                let zeros = full_like(b, y, 0.0, None);
                let factor = replace_zero(b, y);
                let power = b.pow(x, b.sub(y, full_like(b, y, 1.0, None)));
                b.select(constant_power, zeros, b.mul(factor, power))
            } else {
                b.mul(y, b.pow(x, b.sub(y, full_like(b, y, 1.0, None))))
            };
            b.mul(g, slope)
        });
        let second = tangents[1].map(|g| {
            let log = b.log(replace_zero(b, x));
            b.mul(g, b.mul(log, answer))
        });
        Ok(JvpResult::one(answer, add_tangents(b, first, second)))
    }

    fn batch(
        &self,
        b: &Builder,
        operands: &[Batched],
        _axis: &BatchAxis,
    ) -> Result<BatchedResults> {
        batch_elementwise((*self).into(), b, operands)
    }

    fn transpose(
        &self,
        _b: &Builder,
        _cotangents: &[Option<Atom>],
        _operands: &[TransposeArg],
    ) -> Result<Cotangents> {
        Err(not_linear("pow"))
    }
}

impl Primitive for Complex {
    fn abstract_eval(&self, operands: &[Aval]) -> Result<Avals> {
        let [x, y] = operands else {
            return Err(arity(2, operands.len()));
        };
        FLOAT.check(x)?;
        FLOAT.check(y)?;
        let dtype = same_dtype(operands)?;
        let dtype = dtype.complex().ok_or_else(|| {
            Error::dtype(format!(
                "there are no complex numbers with parts of type {dtype}"
            ))
        })?;
        result(operands, dtype)
    }

    fn jvp(&self, b: &Builder, primals: &[Atom], tangents: &[Option<Atom>]) -> Result<JvpResult> {
        let answer = b.op(*self, primals);
        if tangents.iter().all(Option::is_none) {
            return Ok(JvpResult::one(answer, None));
        }
        let parts: SmallVec<[Atom; 2]> = primals
            .iter()
            .zip(tangents)
            .map(|(&x, t)| t.unwrap_or_else(|| full_like(b, x, 0.0, None)))
            .collect();
        Ok(JvpResult::one(answer, Some(b.op(*self, &parts))))
    }

    fn batch(
        &self,
        b: &Builder,
        operands: &[Batched],
        _axis: &BatchAxis,
    ) -> Result<BatchedResults> {
        batch_elementwise((*self).into(), b, operands)
    }

    fn transpose(
        &self,
        b: &Builder,
        cotangents: &[Option<Atom>],
        operands: &[TransposeArg],
    ) -> Result<Cotangents> {
        let Some(ct) = cotangents[0] else {
            return Ok(smallvec![None, None]);
        };
        let re = linear_aval(&operands[0]).map(|aval| unbroadcast(b, aval, b.real(ct)));
        let im = linear_aval(&operands[1]).map(|aval| unbroadcast(b, aval, b.imag(b.neg(ct))));
        Ok(smallvec![re, im])
    }
}
