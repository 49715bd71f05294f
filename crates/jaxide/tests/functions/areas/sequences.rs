//! Differences, interpolation, convolution, polynomials, and functions applied along axes.

use jaxide::numpy::{
    self, Convolve, ConvolveMode, Diff, Ediff1d, Gradient, Interp, Outside, Piece,
};
use jaxide::numpy::{Polyder, Polyfit, Polyint, Polynomials, Trapezoid, Unwrap};
use jaxide::prelude::*;

use crate::Area;
use crate::case::Case;
use crate::compare::Tolerance;

pub(crate) const AREA: Area = Area {
    cases: include_str!("../cases/sequences.txt"),
    call,
    tolerance,
    written_differently: &[
        ("numpy.polyadd ; f32[4]~1 ; i32", WHOLE),
        ("numpy.polysub ; f32[4]~1 ; i32", WHOLE),
    ],
    different: &[
        ("numpy.interp ; bf16", HALVES),
        ("numpy.interp_sides ; bf16", HALVES),
        ("numpy.interp_period ; bf16", HALVES),
        ("numpy.roots ; bf16", HALVES),
        ("numpy.roots ; f16", HALVES),
        ("numpy.roots_padded ; f16", HALVES),
    ],
    text,
};

const HALVES: &str = "JAX refuses floats of 16 bits, of which there are results here";
const WHOLE: &str = "JAX writes an update of the whole array as one without indices";

fn call(case: &Case, x: &[Array]) -> Option<Vec<Array>> {
    differences(case, x)
        .or_else(|| interpolated(case, x))
        .or_else(|| polynomials(case, x))
        .or_else(|| applied(case, x))
}

fn differences(case: &Case, x: &[Array]) -> Option<Vec<Array>> {
    let one = |array: Array| Some(vec![array]);
    let axis = case.integer("axis");
    let diff = || {
        let options = Diff::new().n(case.integer("n").unwrap_or(1));
        options.axis(axis.unwrap_or(-1))
    };
    let trapezoid = || Trapezoid::new().axis(axis.unwrap_or(-1));
    let unwrap = || Unwrap::new().axis(axis.unwrap_or(-1));
    match case.function.as_str() {
        "numpy.diff" => one(numpy::diff(&x[0], diff())),
        "numpy.diff_around" => one(numpy::diff(&x[0], diff().prepend(&x[1]).append(&x[2]))),
        "numpy.ediff1d" => one(numpy::ediff1d(&x[0], ())),
        "numpy.ediff1d_around" => {
            let around = Ediff1d::new().to_end(&x[1]).to_begin(&x[2]);
            one(numpy::ediff1d(&x[0], around))
        }
        "numpy.gradient" => {
            let options = Gradient::new().spacing(&x[1..]);
            Some(numpy::gradient(
                &x[0],
                match axis {
                    Some(axis) => options.axis(axis),
                    None => options,
                },
            ))
        }
        "numpy.trapezoid" => one(numpy::trapezoid(&x[0], trapezoid())),
        "numpy.trapezoid_at" => one(numpy::trapezoid(&x[0], trapezoid().x(&x[1]))),
        "numpy.trapezoid_by" => one(numpy::trapezoid(&x[0], trapezoid().dx(&x[1]))),
        "numpy.unwrap" => one(numpy::unwrap(&x[0], unwrap())),
        "numpy.unwrap_by" => one(numpy::unwrap(&x[0], unwrap().period(&x[1]))),
        "numpy.unwrap_from" => one(numpy::unwrap(&x[0], unwrap().discont(&x[1]))),
        _ => None,
    }
}

fn interpolated(case: &Case, x: &[Array]) -> Option<Vec<Array>> {
    let one = |array: Array| Some(vec![array]);
    let outside = |key: &str| match case.parameter(key) {
        Some("extrapolate") => Outside::Extrapolate,
        _ => Outside::Nearest,
    };
    let mode = || {
        Convolve::new().mode(case.parameter("how").map(|mode| match mode {
            "full" => ConvolveMode::Full,
            "same" => ConvolveMode::Same,
            _ => ConvolveMode::Valid,
        }))
    };
    match case.function.as_str() {
        "numpy.interp" => {
            let mut options = Interp::new();
            if case.parameter("left").is_some() || case.parameter("right").is_some() {
                options = options.left(outside("left")).right(outside("right"));
            }
            one(numpy::interp(&x[0], &x[1], &x[2], options))
        }
        "numpy.interp_sides" => {
            let options = Interp::new().left(&x[3]).right(&x[4]);
            one(numpy::interp(&x[0], &x[1], &x[2], options))
        }
        "numpy.interp_period" => {
            let options = Interp::new().period(&x[3]);
            one(numpy::interp(&x[0], &x[1], &x[2], options))
        }
        "numpy.convolve" => one(numpy::convolve(&x[0], &x[1], mode())),
        "numpy.correlate" => one(numpy::correlate(&x[0], &x[1], mode())),
        _ => None,
    }
}

fn polynomials(case: &Case, x: &[Array]) -> Option<Vec<Array>> {
    let one = |array: Array| Some(vec![array]);
    let trim = || {
        let trims = case.flag("trim_leading_zeros").unwrap_or(false);
        Polynomials::new().trim_leading_zeros(trims)
    };
    let m = case.integer("m").unwrap_or(1) as usize;
    let deg = || case.integer("deg").unwrap() as usize;
    match case.function.as_str() {
        "numpy.poly" => one(numpy::poly(&x[0])),
        "numpy.polyadd" => one(numpy::polyadd(&x[0], &x[1])),
        "numpy.polysub" => one(numpy::polysub(&x[0], &x[1])),
        "numpy.polymul" if case.flag("trim_leading_zeros").is_some() => {
            // Of traced arrays nobody knows the zeros.
            let x = case.arrays();
            one(numpy::polymul(&x[0], &x[1], trim()))
        }
        "numpy.polymul" => one(numpy::polymul(&x[0], &x[1], trim())),
        "numpy.polydiv" => {
            let (quotient, remainder) = numpy::polydiv(&x[0], &x[1], trim());
            Some(vec![quotient, remainder])
        }
        "numpy.polyder" => one(numpy::polyder(&x[0], Polyder::new().m(m))),
        "numpy.polyint" => one(numpy::polyint(&x[0], Polyint::new().m(m))),
        "numpy.polyint_from" => one(numpy::polyint(&x[0], Polyint::new().m(m).k(&x[1]))),
        "numpy.polyval" => one(numpy::polyval(&x[0], &x[1])),
        "numpy.roots" if x[0].size() > 1 => one(numpy::roots(&case.arrays()[0])),
        "numpy.roots" => one(numpy::roots(&x[0])),
        "numpy.roots_padded" => one(numpy::roots_padded(&x[0])),
        "numpy.polyfit" => {
            let options = Polyfit::new().rcond(case.float("rcond"));
            one(numpy::polyfit(&x[0], &x[1], deg(), options))
        }
        "numpy.polyfit_weights" => {
            one(numpy::polyfit(&x[0], &x[1], deg(), Polyfit::new().w(&x[2])))
        }
        "numpy.polyfit_cov" | "numpy.polyfit_cov_weights" => {
            let options = Polyfit::new().unscaled(case.flag("unscaled").unwrap_or(false));
            let options = match x.get(2) {
                Some(w) => options.w(w),
                None => options,
            };
            let (coefficients, covariances) = numpy::polyfit_cov(&x[0], &x[1], deg(), options);
            Some(vec![coefficients, covariances])
        }
        "numpy.polyfit_full" => {
            let fit = numpy::polyfit_full(&x[0], &x[1], deg(), ());
            Some(vec![
                fit.coefficients,
                fit.residuals,
                fit.rank,
                fit.singular_values,
                fit.rcond,
            ])
        }
        _ => None,
    }
}

fn applied(case: &Case, x: &[Array]) -> Option<Vec<Array>> {
    let one = |array: Array| Some(vec![array]);
    let kind = case.parameter("kind").unwrap_or("");
    match case.function.as_str() {
        "numpy.apply_along_axis" => {
            let f = |vector: &Array| match kind {
                "sum" => numpy::sum(vector, ()),
                "flip" => jaxide::lax::rev(vector, 0),
                _ => numpy::stack(&[vector.clone(), vector * 2], 0),
            };
            one(numpy::apply_along_axis(
                f,
                case.integer("axis").unwrap(),
                &x[0],
            ))
        }
        "numpy.apply_over_axes" => {
            let f = |x: &Array, axis: i64| match kind {
                "sum" => numpy::sum(x, axis),
                "flip" => numpy::flip(x, axis),
                _ => numpy::expand_dims(&numpy::sum(x, ()), (0, 1, 2)),
            };
            one(numpy::apply_over_axes(f, &x[0], case.list("axes").unwrap()))
        }
        "numpy.vectorize" => Some(match kind {
            "scalar" => numpy::vectorize(|x: &[Array]| vec![&x[0] * &x[1] + 1], ())(x),
            "dot" => numpy::vectorize(
                |x: &[Array]| vec![numpy::sum(&(&x[0] * &x[1]), ())],
                "(n),(n)->()",
            )(x),
            "outer" => {
                let outer =
                    |x: &[Array]| vec![numpy::expand_dims(&x[0], 1) * numpy::expand_dims(&x[1], 0)];
                numpy::vectorize(outer, "(n),(m)->(n,m)")(x)
            }
            "two" => {
                let two = |x: &[Array]| vec![&x[0] * 2, numpy::sum(&x[1], ())];
                numpy::vectorize(two, "(),(n)->(),()")(x)
            }
            _ => numpy::vectorize(|x: &[Array]| vec![x[0].clone()], "(n),(n)->()")(x),
        }),
        "numpy.piecewise" => {
            let conditions = [x[0].lt(0), x[0].gt(1)];
            let functions: Vec<Piece<'_>> = match (kind, &x[1..]) {
                ("values", []) => vec![Piece::from(1), Piece::from(2)],
                ("values", values) => values.iter().map(Piece::from).collect(),
                ("default", _) => vec![
                    Piece::Function(&|v| -v),
                    Piece::from(2.0),
                    Piece::Function(&|v| v * 10),
                ],
                ("functions", _) => vec![Piece::Function(&|v| -v), Piece::Function(&|v| v * 2)],
                _ => vec![Piece::from(1.0)],
            };
            one(numpy::piecewise(&x[0], &conditions, &functions))
        }
        "numpy.select" => {
            let (default, lists) = x.split_last().unwrap();
            let (conditions, choices) = lists.split_at(lists.len() / 2);
            one(numpy::select(conditions, choices, default))
        }
        _ => None,
    }
}

fn tolerance(case: &Case) -> Tolerance {
    match case.function.as_str() {
        "numpy.convolve" | "numpy.correlate" | "numpy.polymul" | "numpy.poly" => {
            Tolerance::of_largest(4.0)
        }
        "numpy.trapezoid" | "numpy.trapezoid_at" | "numpy.trapezoid_by" => {
            Tolerance::of_largest(4.0)
        }
        "numpy.gradient" | "numpy.polydiv" | "numpy.polyval" => Tolerance::of_largest(2.0),
        "numpy.interp" | "numpy.interp_sides" | "numpy.interp_period" => Tolerance::of_largest(2.0),
        "numpy.unwrap" | "numpy.unwrap_by" | "numpy.unwrap_from" => Tolerance::of_largest(2.0),
        "numpy.apply_along_axis" | "numpy.apply_over_axes" | "numpy.vectorize" => {
            Tolerance::of_largest(2.0)
        }
        "numpy.polyint" | "numpy.polyint_from" => Tolerance::ulps(2.0),
        "numpy.roots" | "numpy.roots_padded" => Tolerance::of_largest(16.0),
        "numpy.polyfit" | "numpy.polyfit_weights" | "numpy.polyfit_full" => {
            Tolerance::of_largest(64.0)
        }
        "numpy.polyfit_cov" | "numpy.polyfit_cov_weights" => Tolerance::of_largest(256.0),
        _ => Tolerance::EXACT,
    }
}

fn text(name: &str, x: &[Array]) -> Option<Vec<Array>> {
    let one = |array: Array| Some(vec![array]);
    match name {
        "apply_along_axis" => {
            let f = |v: &Array| v * numpy::sum(v, ());
            one(numpy::apply_along_axis(f, 1, &x[0]))
        }
        "convolve_full" => one(numpy::convolve(&x[0], &x[1], ())),
        "convolve_same" => one(numpy::convolve(&x[0], &x[1], ConvolveMode::Same)),
        "correlate" => one(numpy::correlate(&x[0], &x[1], ())),
        "diff" => one(numpy::diff(&x[0], 2)),
        "ediff1d" => one(numpy::ediff1d(&x[0], ())),
        "gradient" => Some(numpy::gradient(&x[0], ())),
        "interp" => one(numpy::interp(&x[0], &x[1], &x[2], ())),
        "piecewise" => {
            let conditions = [x[0].lt(0.0), x[0].ge(0.0)];
            let cases = [Piece::Function(&|v| -v), Piece::Function(&|v| v * 2.0)];
            one(numpy::piecewise(&x[0], &conditions, &cases))
        }
        "polyadd" => one(numpy::polyadd(&x[0], &x[1])),
        "polyder" => one(numpy::polyder(&x[0], ())),
        "polyfit" => one(numpy::polyfit(&x[0], &x[1], 1, ())),
        "polyint" => one(numpy::polyint(&x[0], ())),
        "polymul" => one(numpy::polymul(&x[0], &x[1], ())),
        "polyval" => one(numpy::polyval(&x[0], &x[1])),
        "roots" => one(numpy::roots_padded(&x[0])),
        "select" => {
            let conditions = [x[0].lt(-0.5), x[0].gt(0.5)];
            one(numpy::select(&conditions, &[&x[0] * 2.0, &x[0] * 3.0], 7.0))
        }
        "trapezoid" => one(numpy::trapezoid(&x[0], ())),
        "unwrap" => one(numpy::unwrap(&x[0], ())),
        "vectorize" => {
            let dot = |x: &[Array]| vec![numpy::dot(&x[0], &x[1])];
            Some(numpy::vectorize(dot, "(n),(n)->()")(x))
        }
        _ => None,
    }
}
