//! One element of the result from one element of each operand.

use jaxide_core::prims;
use jaxide_core::{DType, Error};

use crate::array::{Array, as_dtype, as_dtype_exactly, promote_dtypes};
use crate::trace::{bind, bind_one, raise};

/// Functions of one operand.
macro_rules! unary {
    ($($(#[$doc:meta])* $name:ident $prim:expr;)*) => { $(
        $(#[$doc])*
        ///
        /// # Panics
        /// When the element type is not one it is defined for.
        #[track_caller]
        pub fn $name(x: &Array) -> Array {
            let _named = crate::trace::named(stringify!($name));
            bind_one($prim, std::slice::from_ref(x))
        }
    )* };
}

/// Functions of two operands of one element type, of equal shape or one of them a scalar.
macro_rules! binary {
    ($($(#[$doc:meta])* $name:ident $prim:expr;)*) => { $(
        $(#[$doc])*
        ///
        /// A bare number takes the element type of the other operand.
        ///
        /// # Panics
        /// When shapes or element types do not fit.
        #[track_caller]
        pub fn $name(x: &Array, y: &Array) -> Array {
            let _named = crate::trace::named(stringify!($name));
            let [x, y] = numbers_like([x, y]);
            bind_one($prim, &[x, y])
        }
    )* };
}

/// Bare numbers take the element type of the arrays beside them; arrays stay as they are.
#[track_caller]
fn numbers_like<const N: usize>(operands: [&Array; N]) -> [Array; N] {
    let strong = operands.iter().find(|x| !x.weak_type()).map(|x| x.dtype());
    match strong {
        None => promote_dtypes("lax", operands),
        Some(dtype) => operands.map(|x| {
            if x.weak_type() && x.ndim() == 0 {
                as_dtype_exactly(x, dtype, false)
            } else {
                x.clone()
            }
        }),
    }
}

unary! {
    /// `-x`.
    neg prims::Neg;
    /// -1, 0 or 1, keeping -0.0 and NaN; `z / |z|` for complex numbers.
    sign prims::Sign;
    /// Absolute value.
    abs prims::Abs;
    /// Largest integer not above.
    floor prims::Floor;
    /// Smallest integer not below.
    ceil prims::Ceil;
    /// Whether neither infinite nor NaN.
    is_finite prims::IsFinite;
    /// `e^x`.
    exp prims::Exp { accuracy: None };
    /// `2^x`.
    exp2 prims::Exp2 { accuracy: None };
    /// `e^x - 1`, exact near zero.
    expm1 prims::Expm1 { accuracy: None };
    /// Natural logarithm.
    log prims::Log { accuracy: None };
    /// Logarithm to base two.
    log2 prims::Log2 { accuracy: None };
    /// `log(1 + x)`, exact near zero.
    log1p prims::Log1p { accuracy: None };
    /// Square root.
    sqrt prims::Sqrt { accuracy: None };
    /// Reciprocal square root.
    rsqrt prims::Rsqrt { accuracy: None };
    /// Cube root.
    cbrt prims::Cbrt { accuracy: None };
    /// Sine; `x` in radians.
    sin prims::Sin { accuracy: None };
    /// Cosine; `x` in radians.
    cos prims::Cos { accuracy: None };
    /// Tangent; `x` in radians.
    tan prims::Tan { accuracy: None };
    /// Inverse sine, in radians.
    asin prims::Asin;
    /// Inverse cosine, in radians.
    acos prims::Acos;
    /// Inverse tangent, in radians.
    atan prims::Atan;
    /// Hyperbolic sine.
    sinh prims::Sinh;
    /// Hyperbolic cosine.
    cosh prims::Cosh;
    /// Hyperbolic tangent.
    tanh prims::Tanh { accuracy: None };
    /// Inverse hyperbolic sine.
    asinh prims::Asinh;
    /// Inverse hyperbolic cosine.
    acosh prims::Acosh;
    /// Inverse hyperbolic tangent.
    atanh prims::Atanh;
    /// `1 / (1 + e^-x)`.
    logistic prims::Logistic { accuracy: None };
    /// `x * x`.
    square prims::Square;
    /// `1 - x * x`, exact near one.
    one_minus_square prims::OneMinusSquare;
    /// Error function.
    erf prims::Erf;
    /// `1 - erf(x)`, exact where that is small.
    erfc prims::Erfc { accuracy: None };
    /// The inverse of `erf`.
    erf_inv prims::ErfInv;
    /// Logarithm of the absolute value of the gamma function.
    lgamma prims::Lgamma;
    /// Derivative of `lgamma`.
    digamma prims::Digamma;
    /// Exponentially scaled modified Bessel function of order 0.
    bessel_i0e prims::BesselI0e;
    /// Exponentially scaled modified Bessel function of order 1.
    bessel_i1e prims::BesselI1e;
    /// Real part.
    real prims::Real;
    /// Imaginary part.
    imag prims::Imag;
    /// Bitwise or logical negation.
    bitwise_not prims::Not;
    /// Number of one bits.
    population_count prims::PopulationCount;
    /// Number of leading zero bits.
    clz prims::Clz;
    /// The identity, with derivative zero.
    stop_gradient prims::StopGradient;
    /// The identity, as a new array.
    copy prims::CopyArray;
}

binary! {
    /// Sum.
    add prims::Add;
    /// Difference.
    sub prims::Sub;
    /// Product.
    mul prims::Mul { out_dtype: None };
    /// Quotient; integers truncate towards zero.
    div prims::Div;
    /// Remainder with the sign of the dividend.
    rem prims::Rem;
    /// Larger of two; NaN if either is.
    max prims::Max;
    /// Smaller of two; NaN if either is.
    min prims::Min;
    /// `x` to the power `y`.
    pow prims::Pow;
    /// Angle of the point `(y, x)`, in radians.
    atan2 prims::Atan2;
    /// Next representable number from `x` towards `y`.
    nextafter prims::NextAfter;
    /// Complex number from real and imaginary part.
    complex prims::Complex;
    /// Bitwise or logical and.
    bitwise_and prims::And;
    /// Bitwise or logical or.
    bitwise_or prims::Or;
    /// Bitwise or logical exclusive or.
    bitwise_xor prims::Xor;
    /// Shift to the left.
    shift_left prims::ShiftLeft;
    /// Shift to the right that keeps the sign.
    shift_right_arithmetic prims::ShiftRightArithmetic;
    /// Shift to the right that fills with zeros.
    shift_right_logical prims::ShiftRightLogical;
    /// Upper half of the product of integers.
    mulhi prims::Mulhi;
    /// Whether equal in the total order of floats, in which NaN equals itself and -0.0 is less than 0.0.
    eq_to prims::EqualTotal;
    /// Whether less in the total order of floats.
    lt_to prims::LessTotal;
    /// Whether less or equal in the total order of floats.
    le_to prims::LessEqualTotal;
    /// Whether equal.
    eq prims::Equal;
    /// Whether different.
    ne prims::NotEqual;
    /// Whether less.
    lt prims::Less;
    /// Whether less or equal.
    le prims::LessEqual;
    /// Whether greater.
    gt prims::Greater;
    /// Whether greater or equal.
    ge prims::GreaterEqual;
    /// Regularised lower incomplete gamma function `P(a, x)`.
    igamma prims::Igamma;
    /// Regularised upper incomplete gamma function `Q(a, x)`.
    igammac prims::Igammac;
    /// Derivative of `igamma` in its first argument.
    igamma_grad_a prims::IgammaGradA;
    /// Polygamma function of order `m`.
    polygamma prims::Polygamma;
    /// Hurwitz zeta function.
    zeta prims::Zeta;
}

/// Integers have no inverses.
///
/// # Panics
/// When one is asked for.
#[track_caller]
pub(crate) fn check_exponent(operation: &str, x: &Array, y: i64) {
    if y < 0 && !x.dtype().is_inexact() {
        let error = format!("{} cannot be raised to the negative power {y}", x.aval());
        raise(
            Error::dtype(error)
                .in_operation(operation)
                .note("convert it to a float with `astype`"),
        );
    }
}

/// `x` to a fixed integer power, by repeated multiplication.
///
/// # Panics
/// When an integer is raised to a negative power.
#[track_caller]
pub fn integer_pow(x: &Array, y: i64) -> Array {
    let _named = crate::trace::named("integer_pow");
    check_exponent("integer_pow", x, y);
    bind_one(prims::IntegerPow { y }, std::slice::from_ref(x))
}

/// `1 / x`.
///
/// # Panics
/// When `x` is neither float nor complex.
#[track_caller]
pub fn reciprocal(x: &Array) -> Array {
    let _named = crate::trace::named("reciprocal");
    integer_pow(x, -1)
}

/// Complex conjugate.
///
/// # Panics
/// When `x` is neither float nor complex.
#[track_caller]
pub fn conj(x: &Array) -> Array {
    let _named = crate::trace::named("conj");
    bind_one(
        prims::Conj {
            input_dtype: x.dtype(),
        },
        std::slice::from_ref(x),
    )
}

/// Nearest integer, halves as `method` says.
///
/// # Panics
/// When `x` is not float.
#[track_caller]
pub fn round(x: &Array, method: prims::RoundingMethod) -> Array {
    let _named = crate::trace::named("round");
    bind_one(
        prims::Round {
            rounding_method: method,
        },
        std::slice::from_ref(x),
    )
}

/// Rounds to a float format with fewer bits.
///
/// # Panics
/// When `x` is not float.
#[track_caller]
pub fn reduce_precision(x: &Array, exponent_bits: u32, mantissa_bits: u32) -> Array {
    let _named = crate::trace::named("reduce_precision");
    bind_one(
        prims::ReducePrecision {
            exponent_bits,
            mantissa_bits,
        },
        std::slice::from_ref(x),
    )
}

/// `x` moved between `min` and `max`, which are scalars or of its shape.
///
/// # Panics
/// When shapes or element types do not fit.
#[track_caller]
pub fn clamp(min: &Array, x: &Array, max: &Array) -> Array {
    let _named = crate::trace::named("clamp");
    let [min, x, max] = numbers_like([min, x, max]);
    bind_one(prims::Clamp, &[min, x, max])
}

/// `on_true` where `which`, else `on_false`.
///
/// # Panics
/// When shapes or element types do not fit.
#[track_caller]
pub fn select(which: &Array, on_true: &Array, on_false: &Array) -> Array {
    let _named = crate::trace::named("select");
    bind_one(
        prims::SelectN,
        &[which.clone(), on_false.clone(), on_true.clone()],
    )
}

/// The case that `which` selects: `bool` between two, an integer between any number.
///
/// # Panics
/// When shapes or element types do not fit.
#[track_caller]
pub fn select_n(which: &Array, cases: &[Array]) -> Array {
    let _named = crate::trace::named("select_n");
    let mut operands = vec![which.clone()];
    operands.extend_from_slice(cases);
    bind_one(prims::SelectN, &operands)
}

/// Regularised incomplete beta function.
///
/// # Panics
/// When shapes or element types do not fit.
#[track_caller]
pub fn betainc(a: &Array, b: &Array, x: &Array) -> Array {
    let _named = crate::trace::named("betainc");
    let operands = numbers_like([a, b, x]);
    bind_one(prims::RegularizedIncompleteBeta, &operands)
}

/// `x` with another element type, strongly typed: floats to integers saturate, integers wrap, anything to `bool` by
/// `!= 0`.
///
/// # Panics
/// When the conversion has no meaning (random keys).
#[track_caller]
pub fn convert_element_type(x: &Array, dtype: DType) -> Array {
    let _named = crate::trace::named("convert_element_type");
    as_dtype(x, dtype, false)
}

/// The same bits as another element type. A narrower type adds a last axis, a wider one takes it.
///
/// # Panics
/// When the widths do not fit.
#[track_caller]
pub fn bitcast_convert_type(x: &Array, dtype: DType) -> Array {
    let _named = crate::trace::named("bitcast_convert_type");
    bind_one(
        prims::BitcastConvertType { new_dtype: dtype },
        std::slice::from_ref(x),
    )
}

/// Mantissa in [0.5, 1) and exponent, an `i32`: `x = mantissa * 2^exponent`.
///
/// # Panics
/// When `x` is not float.
#[track_caller]
pub fn frexp(x: &Array) -> (Array, Array) {
    let _named = crate::trace::named("frexp");
    let results = bind(prims::Frexp::of(&x.aval()), std::slice::from_ref(x));
    (results[0].clone(), results[1].clone())
}

/// `x * 2^exponent`.
///
/// # Panics
/// When `x` is not float, `exponent` no integer, or shapes differ.
#[track_caller]
pub fn ldexp(x: &Array, exponent: &Array) -> Array {
    let _named = crate::trace::named("ldexp");
    let prim = prims::Ldexp::of(&x.aval(), &exponent.aval());
    bind_one(prim, &[x.clone(), exponent.clone()])
}

/// The polynomial of `x` whose coefficients, numbers or arrays of its shape, are given from the lowest degree up.
///
/// # Panics
/// When `x` is not a number, or shapes do not fit.
///
/// ```
/// use jaxide::{Array, lax};
/// let x = Array::from([1.0f32, 2.0]);
/// let y = lax::polynomial(&x, &[Array::from(1.0), Array::from(0.0), Array::from(3.0)]);
/// assert_eq!(y.to_vec::<f32>(), [4.0, 13.0]);
/// ```
#[track_caller]
pub fn polynomial(x: &Array, coeffs: &[Array]) -> Array {
    let _named = crate::trace::named("polynomial");
    let mut operands = vec![x.clone()];
    for coefficient in coeffs {
        operands.push(as_dtype(coefficient, x.dtype(), false));
    }
    match &operands[..] {
        [x] => super::full_like(x, 0, ()),
        [x, one] => crate::numpy::broadcast_to(
            one,
            &crate::numpy::broadcast_shapes("polynomial", &[x.shape(), one.shape()])[..],
        ),
        operands => bind_one(prims::Polynomial { unroll: None }, operands),
    }
}

/// How a number drawn from the gamma distribution with scale 1 changes with its shape parameter `a`.
///
/// # Panics
/// When the operands are not floats of one type, or shapes do not broadcast.
///
/// ```
/// use jaxide::{Array, lax};
/// // The exponential distribution: a = 1.
/// let change = lax::random_gamma_grad(&Array::scalar(1.0f32), &Array::scalar(1.0f32));
/// assert!((change.item::<f32>() - 1.1736).abs() < 1e-3);
/// ```
#[track_caller]
pub fn random_gamma_grad(a: &Array, sample: &Array) -> Array {
    let _named = crate::trace::named("random_gamma_grad");
    let shape = crate::numpy::broadcast_shapes("random_gamma_grad", &[a.shape(), sample.shape()]);
    let [a, x] = [a, sample].map(|x| crate::numpy::broadcast_to(x, &shape[..]));
    let dtype = a.dtype();
    let narrow = dtype.size() < 4;
    let [a, x] = [a, x].map(|x| {
        if narrow {
            as_dtype(&x, DType::F32, false)
        } else {
            x
        }
    });
    // The derivative of the distribution function by `a` over its density.
    let density = exp(&sub(
        &sub(&mul(&sub(&a, &Array::from(1.0)), &log(&x)), &x),
        &lgamma(&a),
    ));
    let change = neg(&div(&igamma_grad_a(&a, &x), &density));
    let zero = super::full_like(&x, 0, ());
    let change = select(&eq(&x, &zero), &zero, &change);
    as_dtype(&change, dtype, false)
}

/// The value as one of the trace that runs: itself, since every array is one when it is used.
#[must_use]
pub fn stage(x: &Array) -> Array {
    x.clone()
}
