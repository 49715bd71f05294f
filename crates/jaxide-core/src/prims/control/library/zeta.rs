//! The Hurwitz zeta function.

use super::*;
use crate::transform::eval_jvp;

pub(super) const RULES: [LibraryRule; 1] = [LibraryRule {
    names: ("zeta", "_zeta_jvp"),
    arity: (2, 1),
    equations: NAMED,
    // That of its expansion, undefined where the function is.
    derivative: Derivative::Tangents(|b, y, x, t| {
        let inner = b.nested();
        let args: Vec<Atom> = x.iter().map(|&atom| inner.input(b.aval(atom))).collect();
        let value = expansion(&inner, args[0], args[1]);
        let jaxpr = inner.finish(&[value])?;
        let tangents: Vec<Option<Atom>> = t.iter().copied().map(Some).collect();
        let (_, tangents) = eval_jvp(b, &jaxpr.jaxpr, &[], x, &tangents)?;
        let tangent = tangents[0].unwrap_or_else(|| b.zeros_like(y[0]));
        let undefined = b.ne(y[0], y[0]);
        let number = |value: f64| like(b, y[0], value);
        let mask = numpy::where_(b, undefined, number(f64::NAN), number(1.0))?;
        Ok(vec![b.mul(tangent, mask)])
    }),
}];

/// `(2k)! / B₂ₖ` with `B` the Bernoulli numbers, for `k` from 1.
const COEFFICIENTS: [f64; 16] = [
    12.0,
    -720.0,
    30240.0,
    -1209600.0,
    47900160.0,
    -1307674368000.0 / 691.0,
    74724249600.0,
    -10670622842880000.0 / 3617.0,
    5109094217170944000.0 / 43867.0,
    -802857662698291200000.0 / 174611.0,
    14101100039391805440000.0 / 77683.0,
    -1693824136731743669452800000.0 / 236364091.0,
    186134520519971831808000000.0 / 657931.0,
    -37893265687455865519472640000000.0 / 3392780147.0,
    759790291646040068357842010112000000.0 / 1723168255201.0,
    -134196726836183700385281186201600000000.0 / 7709321041217.0,
];

/// `Σ_{k<N} (a+k)^-s + (a+N)^(1-s)/(s-1) + (a+N)^-s (1/2 + Σ_k B₂ₖ/(2k)! s(s+1)…(s+2k-2)/(a+N)^(2k-1))`, by Euler and
/// Maclaurin (Johansson, "Rigorous high-precision computation of the Hurwitz zeta function and its derivatives", 2015).
fn expansion(b: &Builder, s: Atom, a: Atom) -> Atom {
    let dtype = b.dtype(a);
    let terms = if dtype == DType::F32 { 8 } else { 16 };
    let number = |value: f64| b.number(value, dtype);
    let minus_s = b.neg(s);
    let power = |k: usize| b.pow(b.add(a, number(k as f64)), minus_s);
    let sum = (1..terms).fold(power(0), |sum, k| b.add(sum, power(k)));
    let end = b.add(a, number(terms as f64));
    let tail = b.pow(end, b.sub(number(1.0), s));
    let tail = b.div(tail, b.sub(s, number(1.0)));
    let mut product = b.div(s, end);
    let mut series = b.add(number(0.5), b.div(product, number(COEFFICIENTS[0])));
    for (k, &coefficient) in COEFFICIENTS[..terms].iter().enumerate().skip(1) {
        for m in [2 * k - 1, 2 * k] {
            product = b.mul(product, b.div(b.add(s, number(m as f64)), end));
        }
        let bounded = b.min(product, number(largest(dtype)));
        series = b.add(series, b.div(bounded, number(coefficient)));
    }
    let rest = b.mul(power(terms), series);
    b.add(b.add(sum, tail), rest)
}
