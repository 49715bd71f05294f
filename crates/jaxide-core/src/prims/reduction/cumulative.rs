//! Running sums, products and extrema.

use super::super::*;
use super::eval_jvp;
use super::*;

/// Checks axis and element type; the result is like the operand.
fn like_operand(operands: &[Aval], axis: usize) -> Result<Avals> {
    let aval = one(operands)?;
    check_axis(axis, aval)?;
    if !(aval.dtype.is_integer() || aval.dtype.is_inexact()) {
        return Err(Error::dtype(format!(
            "{aval} has element type {}, and a number is expected",
            aval.dtype
        )));
    }
    Ok(smallvec![aval.clone()])
}

/// The axis once another is mapped.
fn batched_axis(axis: usize, dim: Option<usize>) -> usize {
    match dim {
        Some(dim) if dim <= axis => axis + 1,
        _ => axis,
    }
}

impl Primitive for Cumsum {
    fn abstract_eval(&self, operands: &[Aval]) -> Result<Avals> {
        like_operand(operands, self.axis)
    }

    fn jvp(&self, b: &Builder, primals: &[Atom], tangents: &[Option<Atom>]) -> Result<JvpResult> {
        linear_jvp(&self.clone().into(), b, primals, tangents)
    }

    fn batch(
        &self,
        b: &Builder,
        operands: &[Batched],
        _axis: &BatchAxis,
    ) -> Result<BatchedResults> {
        let Batched { value, dim } = operands[0];
        let prim = Cumsum {
            axis: batched_axis(self.axis, dim),
            reverse: self.reverse,
        };
        Ok(smallvec![Batched {
            value: b.op(prim, &[value]),
            dim
        }])
    }

    fn transpose(
        &self,
        b: &Builder,
        cotangents: &[Option<Atom>],
        _operands: &[TransposeArg],
    ) -> Result<Cotangents> {
        let back = Cumsum {
            axis: self.axis,
            reverse: !self.reverse,
        };
        Ok(smallvec![cotangents[0].map(|ct| b.op(back, &[ct]))])
    }
}

/// Rules of running combinations that are not linear: the derivative is that of a parallel prefix scan.
macro_rules! running {
    ($($prim:ident $name:literal $combine:expr;)*) => { $(
        impl Primitive for $prim {
            fn abstract_eval(&self, operands: &[Aval]) -> Result<Avals> {
                like_operand(operands, self.axis)
            }

            fn jvp(&self, b: &Builder, primals: &[Atom], tangents: &[Option<Atom>]) -> Result<JvpResult> {
                let scan = prefix_scan_jaxpr(&b.aval(primals[0]), self.axis, self.reverse, $combine)?;
                let (primals, tangents) = eval_jvp(b, &scan.jaxpr, &[], primals, tangents)?;
                Ok(JvpResult { primals: primals.into(), tangents: tangents.into() })
            }

            fn batch(&self, b: &Builder, operands: &[Batched], _axis: &BatchAxis) -> Result<BatchedResults> {
                let Batched { value, dim } = operands[0];
                let prim = $prim { axis: batched_axis(self.axis, dim), reverse: self.reverse };
                Ok(smallvec![Batched { value: b.op(prim, &[value]), dim }])
            }

            no_rules! { $name, NOT_LINEAR; transpose }
        }
    )* };
}

running! {
    Cumprod "cumprod" Builder::mul;
    Cummax "cummax" Builder::max;
    Cummin "cummin" Builder::min;
    Cumlogsumexp "cumlogsumexp" logaddexp;
}

/// A running combination as a jaxpr of slices.
fn prefix_scan_jaxpr(
    aval: &Aval,
    axis: usize,
    reverse: bool,
    combine: fn(&Builder, Atom, Atom) -> Atom,
) -> Result<ClosedJaxpr> {
    let b = Builder::new();
    let mut x = b.input(aval.clone());
    let reversed = |x: Atom| {
        b.op(
            Rev {
                dimensions: Dims::from_slice(&[axis]),
            },
            &[x],
        )
    };
    if reverse {
        x = reversed(x);
    }
    let mut result = prefix_scan(&b, x, axis, combine);
    if reverse {
        result = reversed(result);
    }
    b.finish(&[result])
}

/// The parallel prefix scan of Blelloch: combine neighbours, scan the half as many results, which are the odd elements,
/// and combine those with the even elements.
fn prefix_scan(
    b: &Builder,
    x: Atom,
    axis: usize,
    combine: fn(&Builder, Atom, Atom) -> Atom,
) -> Atom {
    let length = b.shape(x)[axis];
    if length < 2 {
        return x;
    }
    let (left, right) = (
        b.slice_in_dim(x, axis, 0, length - 1, 2),
        b.slice_in_dim(x, axis, 1, length, 2),
    );
    let odd = prefix_scan(b, combine(b, left, right), axis, combine);
    let before = if length.is_multiple_of(2) {
        let count = b.shape(odd)[axis];
        b.slice_in_dim(odd, axis, 0, count - 1, 1)
    } else {
        odd
    };
    let rest = b.slice_in_dim(x, axis, 2, length, 2);
    let even = combine(b, before, rest);
    let first = b.slice_in_dim(x, axis, 0, 1, 1);
    let even = b.concatenate(&[first, even], axis);
    interleave(b, even, odd, axis)
}

/// Elements of two arrays in turn, by padding both with zeros in between and adding.
fn interleave(b: &Builder, even: Atom, odd: Atom, axis: usize) -> Atom {
    let same = b.shape(even)[axis] == b.shape(odd)[axis];
    let spread = |x: Atom, low: i64, high: i64| {
        let mut config = vec![(0, 0, 0); b.rank(x)];
        config[axis] = (low, high, 1);
        let zero = b.number(0.0, b.dtype(x));
        b.pad(x, zero, &config)
    };
    let (even, odd) = (
        spread(even, 0, i64::from(same)),
        spread(odd, 1, i64::from(!same)),
    );
    b.add(even, odd)
}

/// `log(exp(x) + exp(y))` as a call with its own derivative, which stays finite where both are infinite.
pub(crate) fn logaddexp(b: &Builder, x: Atom, y: Atom) -> Atom {
    let aval = b.aval(x);
    let call_jaxpr = match logaddexp_jaxpr(&aval) {
        Ok(jaxpr) => jaxpr,
        Err(error) => {
            b.fail(error);
            return x;
        }
    };
    let prim = CustomJvpCall {
        name: Name::new("logaddexp"),
        call_jaxpr,
        jvp: Rule {
            name: Name::new("_logaddexp_jvp"),
            make: None,
        },
        num_consts: 0,
        symbolic_zeros: false,
    };
    b.op(prim, &[x, y])
}

fn logaddexp_jaxpr(aval: &Aval) -> Result<ClosedJaxpr> {
    let b = Builder::new();
    let (x, y) = (b.input(aval.clone()), b.input(aval.clone()));
    let largest = b.max(x, y);
    if aval.dtype.is_complex() {
        let twice = b.mul(largest, b.number(2.0, aval.dtype));
        let delta = b.sub(b.add(x, y), twice);
        let sum = b.add(largest, b.log1p(b.exp(delta)));
        let (re, im) = (b.real(sum), b.imag(sum));
        let result = b.complex(re, wrap_angle(&b, im));
        return b.finish(&[result]);
    }
    let delta = b.sub(x, y);
    let is_nan = b.ne(delta, delta);
    let sum = b.add(x, y);
    let result = b.add(largest, b.log1p(b.exp(b.neg(b.abs(delta)))));
    let result = b.select(is_nan, sum, result);
    b.finish(&[result])
}

/// An angle moved to `[-π, π)`.
fn wrap_angle(b: &Builder, x: Atom) -> Atom {
    let dtype = b.dtype(x);
    let (pi, period) = (
        b.number(std::f64::consts::PI, dtype),
        b.number(std::f64::consts::TAU, dtype),
    );
    let shifted = b.rem(b.add(x, pi), period);
    let negative = b.lt(shifted, b.number(0.0, dtype));
    let wrapped = b.select(negative, b.add(shifted, period), shifted);
    b.sub(wrapped, pi)
}
