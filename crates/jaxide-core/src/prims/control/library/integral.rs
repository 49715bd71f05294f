//! Functions defined by an integral: their derivative is the integrand.

use super::*;
use std::f64::consts::PI;

pub(super) const RULES: [LibraryRule; 4] = [
    LibraryRule {
        names: ("expi", "expi_jvp"),
        arity: (1, 1),
        equations: COMPILED,
        // exp(x) / x
        derivative: Derivative::Compiled(|b, _, x, t| {
            let slope = b.div(b.exp(x[0]), x[0]);
            Ok(vec![b.mul(slope, t[0])])
        }),
    },
    LibraryRule {
        names: ("_expn", "_expn_jvp"),
        arity: (2, 1),
        equations: COMPILED,
        derivative: Derivative::Whole(|b, call, x, t| {
            let args = [x, t].concat();
            let body = |b: &Builder, args: &[Atom]| expn(b, call, &args[..2], args[3]);
            Ok(call_named(b, "_expn_jvp", &[], &args, body)?.into_vec())
        }),
    },
    LibraryRule {
        names: ("sici", "sici_jvp"),
        arity: (1, 2),
        equations: COMPILED,
        // sin(x) / x and cos(x) / x
        derivative: Derivative::Compiled(|b, _, x, t| {
            let (one, zero) = (like(b, x[0], 1.0), like(b, x[0], 0.0));
            let at_zero = b.eq(x[0], zero);
            let safe = numpy::where_(b, at_zero, one, x[0])?;
            let ratio = b.div(b.sin(x[0]), safe);
            let sinc = numpy::where_(b, at_zero, one, ratio)?;
            let cosine = b.div(b.cos(x[0]), x[0]);
            Ok(vec![b.mul(sinc, t[0]), b.mul(cosine, t[0])])
        }),
    },
    LibraryRule {
        names: ("fresnel", "_fresnel_jvp"),
        arity: (1, 2),
        equations: NAMED,
        // sin(π x²/2) and cos(π x²/2)
        derivative: Derivative::Tangents(|b, _, x, t| {
            let (sine, cosine) = of_half_square(b, x[0])?;
            Ok(vec![b.mul(sine, t[0]), b.mul(cosine, t[0])])
        }),
    },
];

/// `Eₙ(x)` and its tangent: `Eₙ' = -Eₙ₋₁`, and `E₀ = exp(-x) / x`. The order is rounded down and has no derivative.
fn expn(b: &Builder, call: &CustomJvpCall, args: &[Atom], t: Atom) -> Result<Vec<Atom>> {
    let (n, x) = (b.floor(args[0]), args[1]);
    let number = |value: f64| like(b, x, value);
    let (zero, one) = (number(0.0), number(1.0));
    let largest = number(largest(b.dtype(x)).ln());
    let y = again(b, call, &[n, x])?;

    let negative = b.or(b.lt(n, zero), b.lt(x, zero));
    let undefined = b.or(b.ne(n, n), b.ne(x, x));
    let unbounded = b.eq(n, number(f64::INFINITY));
    let invalid = b.or(b.or(negative, undefined), unbounded);
    let in_range = b.and(b.gt(x, zero), b.le(x, largest));
    let safe = numpy::where_(b, in_range, x, one)?;
    let decay = b.mul(b.neg(b.add(safe, one)), b.exp(b.neg(safe)));
    let slope = b.div(decay, b.mul(safe, safe));
    let slope = numpy::where_(b, b.gt(x, largest), zero, slope)?;
    let of_zero = numpy::where_(b, b.eq(x, zero), number(f64::NEG_INFINITY), slope)?;

    let below = numpy::where_(b, b.ge(n, one), b.sub(n, one), zero)?;
    let of_others = b.neg(again(b, call, &[below, x])?[0]);
    let slope = numpy::where_(b, b.eq(n, zero), of_zero, of_others)?;
    let slope = numpy::where_(b, invalid, number(f64::NAN), slope)?;
    Ok(vec![y[0], b.mul(t, slope)])
}

/// `sin(π x²/2)` and `cos(π x²/2)`, by the remainder of `x²/2` modulo 2 so that large `x` keep their digits.
fn of_half_square(b: &Builder, x: Atom) -> Result<(Atom, Atom)> {
    let number = |value: f64| like(b, x, value);
    let x = b.abs(x);
    let s = b.rem(x, number(2.0));
    let product = b.mul(s, b.sub(x, b.div(s, number(2.0))));
    let r = b.rem(product, number(2.0));
    let sine = |shift: f64| b.sin(b.mul(number(PI), b.sub(r, number(shift))));
    let last = numpy::where_(b, b.gt(r, number(1.5)), sine(2.0), b.neg(sine(1.0)))?;
    let sine_part = numpy::where_(b, b.lt(r, number(0.5)), sine(0.0), last)?;
    let (falling, rising) = (b.neg(sine(0.5)), sine(1.5));
    let cosine = numpy::where_(b, b.lt(r, number(1.0)), falling, rising)?;
    let quarter = b.eq(r, number(0.5));
    let cosine_part = numpy::where_(b, quarter, number(0.0), cosine)?;
    Ok((sine_part, cosine_part))
}
