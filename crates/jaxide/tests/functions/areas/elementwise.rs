//! Elementwise functions of `numpy`.

use jaxide::numpy::{self, Bits, Close, NanToNum};
use jaxide::prelude::*;

use crate::Area;
use crate::case::{Case, Mode};
use crate::compare::Tolerance;

pub(crate) const AREA: Area = Area {
    cases: include_str!("../cases/elementwise.txt"),
    call,
    tolerance,
    written_differently: &[],
    different: &[
        (
            "numpy.array_equiv ; f32[3]~1 ; f32[2]",
            "arrays that do not broadcast are not equivalent; JAX means to say so, and raises",
        ),
        (
            "numpy.arctan2 ; f32[19]@0",
            "XLA gives zero where the angle is subnormal",
        ),
    ],
    text,
};

/// Functions under their own names.
macro_rules! by_name {
    ($name:expr, $x:expr; unary $($unary:ident)*; binary $($binary:ident)*) => {
        match $name {
            $(stringify!($unary) => Some(numpy::$unary(&$x[0])),)*
            $(stringify!($binary) => Some(numpy::$binary(&$x[0], &$x[1])),)*
            _ => None,
        }
    };
}

fn plain(name: &str, x: &[Array]) -> Option<Array> {
    by_name! { name, x;
        unary sin cos tan sinh cosh tanh arctan arcsinh exp exp2 expm1 cbrt rad2deg deg2rad sinc square negative sign log log2
            log10 log1p sqrt reciprocal arcsin arccos arctanh arccosh fabs floor ceil trunc fix signbit spacing i0 isposinf isneginf
            positive absolute conjugate real imag isfinite isinf isnan isreal iscomplex logical_not rint abs acos acosh asin asinh
            atan atanh conj degrees radians bitwise_not bitwise_invert invert bitwise_count;
        binary add subtract multiply divide true_divide maximum minimum fmax fmin heaviside equal not_equal less less_equal greater
            greater_equal logical_and logical_or logical_xor remainder fmod floor_divide arctan2 atan2 float_power hypot
            logaddexp logaddexp2 copysign nextafter bitwise_and bitwise_or bitwise_xor left_shift right_shift bitwise_left_shift
            bitwise_right_shift gcd lcm power pow ldexp array_equiv
    }
}

fn call(case: &Case, x: &[Array]) -> Option<Vec<Array>> {
    let one = |array: Array| Some(vec![array]);
    let two = |(first, second): (Array, Array)| Some(vec![first, second]);
    let name = case.function.strip_prefix("numpy.")?;
    let round = || numpy::Round::new().decimals(case.integer("decimals").unwrap_or(0) as i32);
    let close = || Close::new().equal_nan(case.flag("equal_nan").unwrap_or(false));
    let bits = || {
        let mut bits = Bits::new();
        if let Some(axis) = case.integer("axis") {
            bits = bits.axis(axis);
        }
        if let Some(count) = case.integer("count") {
            bits = bits.count(count as usize);
        }
        match case.parameter("bitorder") {
            Some("little") => bits.bitorder(numpy::BitOrder::Little),
            _ => bits,
        }
    };
    let deg = numpy::Angle::new().deg(case.flag("deg").unwrap_or(false));
    match name {
        "mod" => one(numpy::mod_(&x[0], &x[1])),
        "divmod" => two(numpy::divmod(&x[0], &x[1])),
        "frexp" => two(numpy::frexp(&x[0])),
        "modf" => two(numpy::modf(&x[0])),
        "round" => one(numpy::round(&x[0], round())),
        "around" => one(numpy::around(&x[0], round())),
        "angle" => one(numpy::angle(&x[0], deg)),
        "isrealobj" => one(Array::scalar(numpy::isrealobj(&x[0]))),
        "iscomplexobj" => one(Array::scalar(numpy::iscomplexobj(&x[0]))),
        "isscalar" => one(Array::scalar(numpy::isscalar(&x[0]))),
        "where" => one(numpy::where_(&x[0], &x[1], &x[2])),
        "clip" => one(numpy::clip(&x[0], &x[1], &x[2])),
        "clip+min" => one(numpy::clip(&x[0], &x[1], ())),
        "clip+max" => one(numpy::clip(&x[0], (), &x[1])),
        "nan_to_num" => one(numpy::nan_to_num(&x[0], ())),
        "nan_to_num+nan" => one(numpy::nan_to_num(&x[0], NanToNum::new().nan(&x[1]))),
        "nan_to_num+infinities" => one(numpy::nan_to_num(
            &x[0],
            NanToNum::new().neginf(&x[1]).posinf(&x[2]),
        )),
        "isclose" => one(numpy::isclose(&x[0], &x[1], close())),
        "isclose+atol" => one(numpy::isclose(&x[0], &x[1], close().atol(&x[2]))),
        "isclose+rtol" => one(numpy::isclose(&x[0], &x[1], close().rtol(&x[2]))),
        "allclose" => one(numpy::allclose(&x[0], &x[1], close())),
        "allclose+rtol" => one(numpy::allclose(&x[0], &x[1], close().rtol(&x[2]))),
        "array_equal" => {
            let options =
                numpy::ArrayEqual::new().equal_nan(case.flag("equal_nan").unwrap_or(false));
            one(numpy::array_equal(&x[0], &x[1], options))
        }
        "packbits" => one(numpy::packbits(&x[0], bits())),
        "unpackbits" => one(numpy::unpackbits(&x[0], bits())),
        name => plain(name, x).map(|array| vec![array]),
    }
}

fn tolerance(case: &Case) -> Tolerance {
    let name = case.function.trim_start_matches("numpy.");
    match name {
        "add" | "subtract" | "multiply" | "where" | "clip" | "remainder" | "mod" | "fmod"
        | "floor_divide" | "divmod" | "ldexp" | "frexp" | "nextafter" | "copysign" | "signbit"
        | "maximum" | "minimum"
            if case.mode != Mode::Grad =>
        {
            Tolerance::EXACT
        }
        // XLA divides by a row of numbers by multiplying with their inverses.
        "divide" | "true_divide" => Tolerance::ulps(1.0),
        "sinh" | "cosh" => Tolerance::ulps(8.0),
        _ => Tolerance::ulps(4.0),
    }
}

fn text(name: &str, x: &[Array]) -> Option<Vec<Array>> {
    let one = |array: Array| Some(vec![array]);
    let two = |(first, second): (Array, Array)| Some(vec![first, second]);
    let name = name.trim_end_matches("_x64");
    match name {
        "trim_zeros_like" => one(numpy::where_(x[0].gt(0), &x[0], 0)),
        "absolute_complex" => one(numpy::absolute(&x[0])),
        "add_broadcast" => one(numpy::add(&x[0], &x[1])),
        "allclose" => one(numpy::allclose(&x[0], &x[1], ())),
        "angle" => one(numpy::angle(&x[0], ())),
        "around" => one(numpy::around(&x[0], 1)),
        "array_equal" => one(numpy::array_equal(&x[0], &x[1], ())),
        "clip" => one(numpy::clip(&x[0], -0.5, 0.5)),
        "divmod" | "divmod_float" => two(numpy::divmod(&x[0], &x[1])),
        "floor_divide_float" | "floor_divide_int" => one(numpy::floor_divide(&x[0], &x[1])),
        "frexp" => two(numpy::frexp(&x[0])),
        "isclose" => one(numpy::isclose(&x[0], &x[1], ())),
        "mod_int_neg" => one(numpy::mod_(&x[0], &x[1])),
        "modf" => two(numpy::modf(&x[0])),
        "multiply_mixed" => one(numpy::multiply(&x[0], &x[1])),
        "nan_to_num" => one(numpy::nan_to_num(&x[0], ())),
        "packbits" => one(numpy::packbits(&x[0], ())),
        "unpackbits" => one(numpy::unpackbits(&x[0], ())),
        "power_int" => one(numpy::power(&x[0], &x[1])),
        "power_static" => {
            let powers = numpy::add(numpy::power(&x[0], 3), numpy::power(&x[0], 0.5));
            one(numpy::add(powers, numpy::power(&x[0], -2)))
        }
        "remainder_float" => one(numpy::remainder(&x[0], &x[1])),
        "round_decimals" => one(numpy::round(&x[0], 2)),
        "subtract_bool_int" => one(numpy::subtract(&x[0], &x[1])),
        "true_divide_int" => one(numpy::true_divide(&x[0], &x[1])),
        "where" => one(numpy::where_(&x[0], &x[1], &x[2])),
        name => plain(name, x).map(|array| vec![array]),
    }
}
