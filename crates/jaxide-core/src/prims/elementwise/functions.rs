//! Functions of one real or complex number: exponentials, roots, circular and hyperbolic functions, error functions.

use super::super::*;
use super::*;
use crate::error::Result;
use crate::jaxpr::Scalar;

elementwise! {
    Exp [INEXACT] same, |_, b, g, y, _| Some(b.mul(g, y));
    Exp2 [INEXACT] same, |_, b, g, y, x| Some(b.mul(b.log(constant(b, x[0], 2.0)), b.mul(g, y)));
    Expm1 [INEXACT] same, |p, b, g, _, x| Some(b.mul(g, b.op(Exp { accuracy: p.accuracy.clone() }, x)));
    Log [INEXACT] same, |_, b, g, _, x| Some(b.div(g, x[0]));
    Log2 [INEXACT] same, |_, b, g, _, x| Some(b.div(g, b.mul(x[0], b.log(constant(b, x[0], 2.0)))));
    Log1p [INEXACT] same, |_, b, g, _, x| Some(b.div(g, b.add(x[0], constant(b, x[0], 1.0))));
    Sqrt [INEXACT] same, |_, b, g, y, x| Some(b.mul(g, b.div(constant(b, x[0], 0.5), y)));
    Rsqrt [INEXACT] same, |_, b, g, y, x| Some(b.mul(g, b.mul(constant(b, x[0], -0.5), b.div(y, x[0]))));
    Cbrt [FLOAT] same, |_, b, g, y, x| Some(b.mul(g, b.mul(constant(b, x[0], 1.0 / 3.0), b.integer_pow(y, -2))));
    Sin [INEXACT] same, |p, b, g, _, x| Some(b.mul(g, b.op(Cos { accuracy: p.accuracy.clone() }, x)));
    Cos [INEXACT] same, |p, b, g, _, x| Some(b.neg(b.mul(g, b.op(Sin { accuracy: p.accuracy.clone() }, x))));
    Tan [INEXACT] same, |_, b, g, y, x| Some(b.mul(g, b.add(constant(b, x[0], 1.0), b.square(y))));
    Asin [INEXACT] same, |_, b, g, _, x| Some(b.mul(g, b.rsqrt(b.one_minus_square(x[0]))));
    Acos [INEXACT] same, |_, b, g, _, x| Some(b.mul(g, b.neg(b.rsqrt(b.one_minus_square(x[0])))));
    Atan [INEXACT] same, |_, b, g, _, x| Some(b.div(g, b.add(constant(b, x[0], 1.0), b.square(x[0]))));
    Sinh [INEXACT] same, |_, b, g, _, x| Some(b.mul(g, b.cosh(x[0])));
    Cosh [INEXACT] same, |_, b, g, _, x| Some(b.mul(g, b.sinh(x[0])));
    Tanh [INEXACT] same, |p, b, g, y, x| Some(tanh_tangent(p, b, g, y, x[0]));
    Asinh [INEXACT] same, |_, b, g, _, x| Some(b.mul(g, asinh_derivative(b, x[0])));
    Acosh [INEXACT] same, |_, b, g, _, x| {
        let one = constant(b, x[0], 1.0);
        let (below, above) = (b.rsqrt(b.sub(x[0], one)), b.rsqrt(b.add(x[0], one)));
        Some(b.mul(g, b.mul(below, above)))
    };
    Atanh [INEXACT] same, |_, b, g, _, x| Some(b.div(g, b.one_minus_square(x[0])));
    Logistic [INEXACT] same, |p, b, g, y, x| Some(if is_highest(&p.accuracy) {
        b.mul(g, b.mul(y, b.logistic(b.neg(x[0]))))
    } else {
        b.mul(g, b.mul(y, b.sub(constant(b, y, 1.0), y)))
    });
    Erf [FLOAT] same, |_, b, g, _, x| {
        let slope = b.mul(g, exp_neg_sq(b, x[0]));
        Some(b.mul(constant(b, x[0], std::f64::consts::FRAC_2_SQRT_PI), slope))
    };
    Erfc [FLOAT] same, |_, b, g, _, x| {
        let slope = b.mul(g, exp_neg_sq(b, x[0]));
        Some(b.mul(constant(b, x[0], -std::f64::consts::FRAC_2_SQRT_PI), slope))
    };
    ErfInv [FLOAT] same, |_, b, g, y, x| {
        let slope = b.mul(g, b.exp(b.square(y)));
        Some(b.mul(constant(b, x[0], std::f64::consts::PI.sqrt() / 2.0), slope))
    };
}

/// Whether the most accurate form was asked for.
fn is_highest(accuracy: &Option<Opaque>) -> bool {
    accuracy
        .as_ref()
        .is_some_and(|Opaque(value)| value.to_string() == "AccuracyMode.HIGHEST")
}

/// `1 - tanh²`, or the product of two logistics where full accuracy is asked for.
fn tanh_tangent(p: &Tanh, b: &Builder, g: Atom, y: Atom, x: Atom) -> Atom {
    if !is_highest(&p.accuracy) {
        return b.mul(g, b.one_minus_square(y));
    }
    let logistic = |factor| {
        b.op(
            Logistic {
                accuracy: p.accuracy.clone(),
            },
            &[b.mul(constant(b, x, factor), x)],
        )
    };
    let (up, down) = (logistic(2.0), logistic(-2.0));
    b.mul(g, b.mul(constant(b, x, 4.0), b.mul(up, down)))
}

/// Binary exponent of the largest finite number plus one, as `frexp` counts.
fn max_exponent(dtype: DType) -> i32 {
    match dtype {
        DType::F64 | DType::C128 => 1024,
        DType::F16 => 16,
        _ => 128,
    }
}

/// `1 / sqrt(x² + 1)` without overflow: `x` is first scaled by a power of two near `1 / |x|`.
///
/// For complex numbers the real part of `x² + 1` is `re² + (1 - im²)`, exact near the branch points `±i`.
fn asinh_derivative(b: &Builder, x: Atom) -> Atom {
    let exponent = max_exponent(b.dtype(x)) / 2;
    let (inverse_limit, max_scale) = (2f64.powi(-(exponent - 2)), 2f64.powi(exponent + 2));
    let scale_of = |magnitude: Atom| {
        let scaled = b.mul(magnitude, constant(b, magnitude, inverse_limit));
        let clamped = b.op(
            Clamp,
            &[
                constant(b, magnitude, 1.0),
                scaled,
                constant(b, magnitude, max_scale),
            ],
        );
        b.integer_pow(b.op(StopGradient, &[clamped]), -1)
    };
    if !b.dtype(x).is_complex() {
        let inverse = scale_of(b.abs(x));
        let scaled = b.mul(x, inverse);
        let (a, c) = (b.square(scaled), b.square(inverse));
        return b.mul(inverse, b.rsqrt(b.add(a, c)));
    }
    let (re, im) = (b.real(x), b.imag(x));
    let (abs_re, abs_im) = (b.abs(re), b.abs(im));
    let largest = b.max(abs_re, abs_im);
    let inverse = scale_of(largest);
    let (re_scaled, im_scaled) = (b.mul(re, inverse), b.mul(im, inverse));
    let (square, rest) = (b.square(re_scaled), b.one_minus_square(im_scaled));
    let re_sum = b.add(square, rest);
    let im_sum = b.mul(constant(b, re_scaled, 2.0), b.mul(re_scaled, im_scaled));
    let root = b.rsqrt(b.complex(re_sum, im_sum));
    let infinite = b.eq(largest, constant(b, re, f64::INFINITY));
    let zeros = full_like(b, x, 0.0, None);
    let (out_re, out_im) = (b.mul(b.real(root), inverse), b.mul(b.imag(root), inverse));
    b.select(infinite, zeros, b.complex(out_re, out_im))
}

/// `exp(-x²)` as a call with its own derivative `-2 x exp(-x²)`.
///
/// The square is split into a part without rounding error and a small rest, so that large `x` lose no digits.
fn exp_neg_sq(b: &Builder, x: Atom) -> Atom {
    let aval = b.aval(x);
    if !matches!(aval.dtype, DType::F32 | DType::F64) {
        return b.exp(b.neg(b.square(x)));
    }
    let call_jaxpr = match exp_neg_sq_jaxpr(&aval) {
        Ok(jaxpr) => jaxpr,
        Err(error) => {
            b.fail(error);
            return x;
        }
    };
    let prim = CustomJvpCall {
        name: Name::new("exp_neg_sq"),
        call_jaxpr,
        jvp: Rule {
            name: Name::new("_exp_neg_sq_jvp"),
            make: None,
        },
        num_consts: 0,
        symbolic_zeros: false,
    };
    b.op(prim, &[x])
}

/// Where `exp(-x²)` underflows to zero.
fn exp_neg_sq_limit(dtype: DType) -> f64 {
    if dtype == DType::F32 { 11.0 } else { 28.0 }
}

fn exp_neg_sq_jaxpr(aval: &Aval) -> Result<ClosedJaxpr> {
    let b = Builder::new();
    let x = b.input(aval.clone());
    let magnitude = b.min(b.abs(x), constant(&b, x, exp_neg_sq_limit(aval.dtype)));
    let (bits, mask) = match aval.dtype {
        DType::F64 => (DType::U64, Scalar::UInt(0xffff_ffff_f800_0000)),
        _ => (DType::U32, Scalar::Int(0xffff_f000)),
    };
    let integer = b.op(BitcastConvertType { new_dtype: bits }, &[magnitude]);
    let masked = b.and(integer, b.literal(mask, bits));
    let high = b.op(
        BitcastConvertType {
            new_dtype: aval.dtype,
        },
        &[masked],
    );
    let low = b.sub(magnitude, high);
    let square_high = b.mul(high, high);
    let square_low = b.mul(low, b.add(magnitude, high));
    let highest = Some(Opaque(PyValue::Word("AccuracyMode.HIGHEST".to_owned())));
    let e = b.op(Exp { accuracy: highest }, &[b.neg(square_high)]);
    let u = b.neg(square_low);
    let degree = if aval.dtype == DType::F32 { 5 } else { 4 };
    let factorials = [1.0, 2.0, 6.0, 24.0, 120.0];
    let mut operands = vec![u];
    operands.extend(
        factorials[..degree]
            .iter()
            .map(|factorial| constant(&b, u, 1.0 / factorial)),
    );
    let series = b.mul(u, b.op(Polynomial { unroll: None }, &operands));
    let correction = b.mul(e, series);
    let y = b.add(e, correction);
    b.finish(&[y])
}
