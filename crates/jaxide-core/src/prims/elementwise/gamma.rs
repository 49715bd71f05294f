//! The gamma function and its relatives, Bessel functions.

use super::super::*;
use super::*;
use crate::error::Result;

elementwise! {
    Lgamma [FLOAT] same, |_, b, g, _, x| Some(b.mul(g, b.op(Digamma, x)));
    Digamma [FLOAT] same, |_, b, g, _, x| Some(b.mul(g, b.op(Polygamma, &[constant(b, x[0], 1.0), x[0]])));
    Polygamma [FLOAT, FLOAT] same,
        |_, b, _, _, x| no_derivative(b, "polygamma", "the order is discrete", x[0]),
        |_, b, g, _, x| Some(b.mul(g, b.op(Polygamma, &[b.add(x[0], constant(b, x[0], 1.0)), x[1]])));
    Zeta [FLOAT, FLOAT] same,
        |_, b, _, _, x| no_derivative(b, "zeta", "JAX defines none", x[0]),
        |_, b, _, _, x| no_derivative(b, "zeta", "JAX defines none", x[0]);
    BesselI0e [FLOAT] same, |_, b, g, y, x| {
        let first = b.op(BesselI1e, x);
        let second = b.mul(b.sign(x[0]), y);
        Some(b.mul(g, b.sub(first, second)))
    };
    BesselI1e [FLOAT] same, |_, b, g, y, x| Some(b.mul(g, bessel_i1e_derivative(b, y, x[0])));
    Igamma [FLOAT, FLOAT] same,
        |_, b, g, _, x| Some(b.mul(g, b.op(IgammaGradA, x))),
        |_, b, g, _, x| Some(igamma_x_tangent(b, g, x));
    Igammac [FLOAT, FLOAT] same,
        |_, b, g, _, x| Some(b.neg(b.mul(g, b.op(IgammaGradA, x)))),
        |_, b, g, _, x| Some(b.neg(igamma_x_tangent(b, g, x)));
    IgammaGradA [FLOAT, FLOAT] same,
        |_, b, _, _, x| no_derivative(b, "igamma_grad_a", "JAX defines none", x[0]),
        |_, b, _, _, x| no_derivative(b, "igamma_grad_a", "JAX defines none", x[0]);
    RegularizedIncompleteBeta [FLOAT, FLOAT, FLOAT] same,
        |_, b, _, _, x| no_derivative(b, "regularized_incomplete_beta", "only the last operand has one", x[0]),
        |_, b, _, _, x| no_derivative(b, "regularized_incomplete_beta", "only the last operand has one", x[0]),
        |_, b, g, _, x| Some(b.mul(beta_density(b, x), g));
}

/// Reports that an operand has no derivative.
fn no_derivative(b: &Builder, prim: &str, reason: &str, x: Atom) -> Option<Atom> {
    b.fail(Error::no_rule(prim, "jvp", reason));
    Some(x)
}

/// `d/dx igamma(a, x) = exp(-x + (a - 1) log x - lgamma(a))`.
fn igamma_x_tangent(b: &Builder, g: Atom, operands: &[Atom]) -> Atom {
    let (a, x) = (operands[0], operands[1]);
    let negated = b.neg(x);
    let shape = b.sub(a, full_like(b, a, 1.0, None));
    let power = b.mul(shape, b.log(x));
    let exponent = b.sub(b.add(negated, power), b.op(Lgamma, &[a]));
    b.mul(g, b.exp(exponent))
}

/// The density of the beta distribution, the derivative of its distribution function.
fn beta_density(b: &Builder, operands: &[Atom]) -> Atom {
    let (alpha, beta, x) = (operands[0], operands[1], operands[2]);
    let (first, second) = (b.op(Lgamma, &[alpha]), b.op(Lgamma, &[beta]));
    let sum = b.add(first, second);
    let log_beta = b.sub(sum, b.op(Lgamma, &[b.add(alpha, beta)]));
    let right = b.sub(beta, constant(b, beta, 1.0));
    let right = b.mul(right, b.log1p(b.neg(x)));
    let left = b.sub(alpha, constant(b, alpha, 1.0));
    let left = b.mul(left, b.log(x));
    b.exp(b.sub(b.add(right, left), log_beta))
}

/// `i0e(x) - i1e(x) (sign(x) + 1/x)`, and one half near zero.
fn bessel_i1e_derivative(b: &Builder, y: Atom, x: Atom) -> Atom {
    let epsilon = super::super::machine::epsilon(b.dtype(x));
    let not_tiny = b.gt(b.abs(x), constant(b, x, epsilon));
    let safe = b.select(not_tiny, x, full_like(b, x, epsilon, None));
    let i0e = b.op(BesselI0e, &[safe]);
    let (sign, reciprocal) = (b.sign(safe), b.integer_pow(safe, -1));
    let correction = b.mul(y, b.add(sign, reciprocal));
    let slope = b.sub(i0e, correction);
    b.select(not_tiny, slope, full_like(b, x, 0.5, None))
}
