//! Gamma samples and their derivative in the shape parameter.
//!
//! A sample `x` of the distribution with parameter `a` moves so that its rank `igamma(a, x)` stays: `dx/da` is minus the
//! derivative of `igamma` in `a` over that in `x` (Figurnov, Mohamed and Mnih, "Implicit reparameterization gradients", 2018).

use super::machine::{epsilon, largest, smallest_normal};
use super::*;

impl Primitive for RandomGamma {
    fn abstract_eval(&self, operands: &[Aval]) -> Result<Avals> {
        let [key, shape] = operands else {
            return Err(arity(2, operands.len()));
        };
        keys(operands)?;
        let fits = key.rank() == 0 || shape.shape.starts_with(&key.shape);
        if !shape.dtype.is_float() || !fits {
            return Err(Error::shape(format!(
                "{shape} must be floats whose first axes are those of {key}"
            )));
        }
        Ok(smallvec![shape.clone()])
    }

    fn jvp(&self, b: &Builder, primals: &[Atom], tangents: &[Option<Atom>]) -> Result<JvpResult> {
        let answer = b.op(self.clone(), primals);
        let tangent = match tangents[1] {
            None => None,
            Some(g) => Some(b.mul(g, self.derivative(b, answer, primals[1])?)),
        };
        Ok(JvpResult::one(answer, tangent))
    }

    fn batch(&self, b: &Builder, operands: &[Batched], axis: &BatchAxis) -> Result<BatchedResults> {
        leading(self, b, operands, axis)
    }

    no_rules! { "random_gamma", NOT_LINEAR; transpose }
}

impl RandomGamma {
    /// The derivative of each sample in its parameter, one after the other.
    fn derivative(&self, b: &Builder, sample: Atom, a: Atom) -> Result<Atom> {
        let (shape, dtype) = (b.shape(a), b.dtype(a));
        let length = b.aval(a).size();
        let mut samples = b.reshape(sample, &[length]);
        let parameters = b.reshape(a, &[length]);
        if self.log_space {
            samples = b.exp(samples);
            let tiny = b.full(&[length], smallest_normal(dtype), dtype);
            let underflown = b.eq(samples, b.number(0.0, dtype));
            samples = b.select(underflown, tiny, samples);
        }
        let one = b.nested();
        let (a, x) = (
            one.input(Aval::scalar(dtype)),
            one.input(Aval::scalar(dtype)),
        );
        let mut derivative = sample_derivative(&one, a, x)?;
        if self.log_space {
            derivative = one.div(derivative, x);
        }
        let map = Scan {
            ft_in: ScanInputs {
                consts: 0,
                carry: 0,
                xs: 2,
            },
            ft_out: ScanOutputs { carry: 0, ys: 1 },
            jaxpr: one.finish(&[derivative])?,
            length,
            reverse: false,
            unroll: 1,
        };
        Ok(b.reshape(b.op(map, &[parameters, samples]), &shape))
    }
}

/// The derivative in `a` of a sample `x` (scalars): by the continued fraction of the upper incomplete gamma function for
/// large `x`, by the series of the lower one otherwise.
fn sample_derivative(b: &Builder, a: Atom, x: Atom) -> Result<Atom> {
    let dtype = b.dtype(a);
    let number = |value: f64| b.number(value, dtype);
    let (a_nan, x_nan) = (b.ne(a, a), b.ne(x, x));
    let is_nan = b.or(a_nan, x_nan);
    let is_zero = b.eq(x, number(0.0));
    let (negative, not_positive) = (b.lt(x, number(0.0)), b.le(a, number(0.0)));
    let outside = b.or(negative, not_positive);
    let (above_one, above_a) = (b.gt(x, number(1.0)), b.gt(x, a));
    let is_large = b.and(above_one, above_a);
    let power = b.mul(a, b.log(x));
    let difference = b.sub(power, x);
    let log_density = b.sub(difference, b.op(Lgamma, &[a]));
    let limit = b.neg(b.log(number(largest(dtype))));
    let underflow = b.lt(log_density, limit);
    // JAX computes the density too, though nothing needs it.
    b.exp(log_density);
    let degenerate = b.or(is_zero, outside);
    let degenerate = b.or(degenerate, underflow);
    let enabled = b.not(b.or(degenerate, is_nan));
    let large = b.neg(by_continued_fraction(b, a, x, b.and(enabled, is_large))?);
    let small = by_series(b, a, x, b.and(enabled, b.not(is_large)))?;
    let result = b.select(is_large, large, small);
    let result = b.select(is_zero, number(0.0), result);
    let undefined = b.or(outside, is_nan);
    Ok(b.select(undefined, number(f64::NAN), result))
}

/// Repeats `body` while its first value, or what `condition` makes of all, holds.
fn repeat(
    b: &Builder,
    start: &[Atom],
    condition: impl FnOnce(&Builder, &[Atom]) -> Atom,
    body: impl FnOnce(&Builder, &[Atom]) -> Vec<Atom>,
) -> Result<crate::jaxpr::Atoms> {
    let with_inputs = || {
        let inner = b.nested();
        let inputs: Vec<Atom> = start
            .iter()
            .map(|&atom| inner.input(b.aval(atom)))
            .collect();
        (inner, inputs)
    };
    let (inner, inputs) = with_inputs();
    let holds = condition(&inner, &inputs);
    let cond_jaxpr = inner.finish(&[holds])?;
    let (inner, inputs) = with_inputs();
    let next = body(&inner, &inputs);
    let body_jaxpr = inner.finish(&next)?;
    let prim = While {
        body_jaxpr,
        body_nconsts: 0,
        cond_jaxpr,
        cond_nconsts: 0,
    };
    b.emit(prim, start)
}

/// The series of the lower incomplete gamma function with its derivative in `a`: the sample's derivative.
fn by_series(b: &Builder, a: Atom, x: Atom, enabled: Atom) -> Result<Atom> {
    let dtype = b.dtype(a);
    let tolerance = b.number(epsilon(dtype), dtype);
    let (one, zero) = (b.number(1.0, dtype), b.number(0.0, dtype));
    let start = [enabled, a, one, one, x, zero, zero];
    let body = |b: &Builder, old: &[Atom]| {
        let &[enabled, r, c, sum, x, dc, dsum] = old else {
            return old.to_vec();
        };
        let r = b.add(r, one);
        let first = b.mul(dc, b.div(x, r));
        let (numerator, square) = (b.mul(c, x), b.mul(r, r));
        let dc = b.sub(first, b.div(numerator, square));
        let dsum = b.add(dsum, dc);
        let c = b.mul(c, b.div(x, r));
        let sum = b.add(sum, c);
        let change = b.abs(b.div(dc, dsum));
        let goes_on = b.and(enabled, b.gt(change, tolerance));
        let mut next = vec![goes_on];
        for (new, &old) in [r, c, sum, x, dc, dsum].into_iter().zip(&old[1..]) {
            next.push(b.select(enabled, new, old));
        }
        next
    };
    let any = |b: &Builder, values: &[Atom]| b.op(ReduceOr { axes: Dims::new() }, &values[..1]);
    let end = repeat(b, &start, any, body)?;
    let (sum, dsum) = (end[3], end[6]);
    let log = b.log(x);
    let slope = b.sub(log, b.op(Digamma, &[b.add(a, one)]));
    let total = b.add(dsum, b.mul(sum, slope));
    Ok(b.div(b.mul(b.neg(total), x), a))
}

/// The continued fraction of the upper incomplete gamma function with its derivative in `a`: minus the sample's derivative.
fn by_continued_fraction(b: &Builder, a: Atom, x: Atom, enabled: Atom) -> Result<Atom> {
    let dtype = b.dtype(a);
    let tolerance = b.number(epsilon(dtype), dtype);
    let (one, zero) = (b.number(1.0, dtype), b.number(0.0, dtype));
    let y = b.sub(one, a);
    let z = b.add(b.add(x, y), one);
    let p1 = b.add(x, one);
    let q1 = b.mul(z, x);
    let ratio = b.div(p1, q1);
    let dq1 = b.neg(x);
    let numerator = b.sub(zero, b.mul(ratio, dq1));
    let dratio = b.div(numerator, q1);
    let start = [
        enabled, ratio, one, y, z, zero, p1, q1, one, x, zero, zero, zero, dq1, dratio,
    ];
    let condition = |b: &Builder, values: &[Atom]| {
        let few = b.lt(values[5], b.number(2000.0, dtype));
        b.and(few, b.op(ReduceOr { axes: Dims::new() }, &values[..1]))
    };
    let body = |b: &Builder, old: &[Atom]| {
        let &[
            enabled,
            ratio,
            _,
            y,
            z,
            c,
            p1,
            q1,
            p2,
            q2,
            dp2,
            dq2,
            dp1,
            dq1,
            dratio,
        ] = old
        else {
            return old.to_vec();
        };
        let (c, y, z) = (b.add(c, one), b.add(y, one), b.add(z, b.number(2.0, dtype)));
        let yc = b.mul(y, c);
        // The recurrence of numerators and denominators, and its derivative.
        let step = |x1: Atom, x2: Atom| {
            let first = b.mul(x1, z);
            b.sub(first, b.mul(x2, yc))
        };
        let (p, q) = (step(p1, p2), step(q1, q2));
        let defined = b.ne(q, zero);
        let quotient = b.div(p, q);
        let error = b.abs(b.div(b.sub(ratio, quotient), quotient));
        let error = b.select(defined, error, one);
        let ratio = b.select(defined, quotient, ratio);
        let dstep = |dx1: Atom, x1: Atom, dx2: Atom, x2: Atom| {
            let first = b.sub(b.mul(dx1, z), x1);
            let second = b.sub(first, b.mul(dx2, yc));
            b.add(second, b.mul(x2, c))
        };
        let (dp, dq) = (dstep(dp1, p1, dp2, p2), dstep(dq1, q1, dq2, q2));
        let numerator = b.sub(dp, b.mul(ratio, dq));
        let new_dratio = b.select(defined, b.div(numerator, q), dratio);
        let change = b.abs(b.sub(new_dratio, dratio));
        let change = b.select(defined, change, one);
        let (size, limit) = (b.abs(p), b.integer_pow(tolerance, -1));
        let too_large = b.gt(size, limit);
        let rescaled = |x: Atom| {
            let small = b.mul(x, tolerance);
            b.select(too_large, small, x)
        };
        let [p2, p1, q2, q1] = [p1, p, q1, q].map(rescaled);
        let [dp2, dq2, dp1, dq1] = [dp1, dq1, dp, dq].map(rescaled);
        let goes_on = b.and(enabled, b.gt(change, tolerance));
        let new = [
            goes_on, ratio, error, y, z, c, p1, q1, p2, q2, dp2, dq2, dp1, dq1, new_dratio,
        ];
        let mut next = Vec::new();
        for (index, (new, &old)) in new.into_iter().zip(old).enumerate() {
            // The first value is masked already, and the counter counts on.
            let kept = index == 0 || index == 5;
            next.push(if kept {
                new
            } else {
                b.select(enabled, new, old)
            });
        }
        next
    };
    let end = repeat(b, &start, condition, body)?;
    let (ratio, dratio) = (end[1], end[14]);
    let log = b.log(x);
    let slope = b.sub(log, b.op(Digamma, &[a]));
    let total = b.add(dratio, b.mul(ratio, slope));
    Ok(b.neg(b.mul(total, x)))
}
