//! Distributions and statistics of `jax.scipy.stats`.

use jaxide::prelude::*;
use jaxide::scipy::stats::{
    self, GaussianKde, GaussianKdeOptions, Loc, LocScale, Mode, RankMethod, Rankdata, Sem,
};

use crate::Area;
use crate::case::Case;
use crate::compare::Tolerance;

pub(crate) const AREA: Area = Area {
    cases: include_str!("../cases/stats.txt"),
    call,
    tolerance,
    written_differently: &[],
    different: &[
        (
            "scipy.stats.norm.ppf ; i32",
            "integers become floats, as in all distributions; JAX refuses them here",
        ),
        (
            "grad scipy.stats.gumbel_l.logpdf ; f32[2]:0.25,1.25 ; f32[]",
            "JAX refuses the tangent of the integer that it passes to `xlogy`",
        ),
        (
            "grad scipy.stats.gumbel_l.ppf",
            "JAX refuses the tangent of the integer that it passes to `xlogy`",
        ),
        (
            "grad scipy.stats.gumbel_r.logpdf ; f32[2]:0.25,1.25 ; f32[]",
            "JAX refuses the tangent of the integer that it passes to `xlogy`",
        ),
        (
            "grad scipy.stats.gumbel_r.ppf",
            "JAX refuses the tangent of the integer that it passes to `xlogy`",
        ),
    ],
    text,
};

/// Functions of distributions, each with its number of operands before location and scale.
macro_rules! distributions {
    ($case:expr, $x:ident: $($module:ident $kind:ident $count:tt: $($function:ident)*;)*) => {
        match $case {
            $($(
                concat!("scipy.stats.", stringify!($module), ".", stringify!($function)) => {
                    Some(distributions!(@$kind $module $function $count $x))
                }
            )*)*
            _ => None,
        }
    };
    (@both $module:ident $function:ident 1 $x:ident) => { stats::$module::$function(&$x[0], loc_scale(&$x[1..])) };
    (@both $module:ident $function:ident 2 $x:ident) => { stats::$module::$function(&$x[0], &$x[1], loc_scale(&$x[2..])) };
    (@both $module:ident $function:ident 3 $x:ident) => {
        stats::$module::$function(&$x[0], &$x[1], &$x[2], loc_scale(&$x[3..]))
    };
    (@loc $module:ident $function:ident 1 $x:ident) => { stats::$module::$function(&$x[0], loc(&$x[1..])) };
    (@loc $module:ident $function:ident 2 $x:ident) => { stats::$module::$function(&$x[0], &$x[1], loc(&$x[2..])) };
    (@loc $module:ident $function:ident 3 $x:ident) => {
        stats::$module::$function(&$x[0], &$x[1], &$x[2], loc(&$x[3..]))
    };
    (@loc $module:ident $function:ident 4 $x:ident) => {
        stats::$module::$function(&$x[0], &$x[1], &$x[2], &$x[3], loc(&$x[4..]))
    };
    (@none $module:ident $function:ident 2 $x:ident) => {
        match $x {
            [x, y] => stats::$module::$function(x, y),
            _ => panic!("two operands are expected, and {} are given", $x.len()),
        }
    };
    (@none $module:ident $function:ident 3 $x:ident) => { stats::$module::$function(&$x[0], &$x[1], &$x[2]) };
}

fn loc_scale(given: &[Array]) -> LocScale {
    match given {
        [] => LocScale::new(),
        [loc] => LocScale::new().loc(loc),
        [loc, scale] => (loc, scale).into(),
        _ => panic!("too many operands"),
    }
}

fn loc(given: &[Array]) -> Loc {
    match given {
        [] => Loc::new(),
        [loc] => Loc::new().loc(loc),
        _ => panic!("too many operands"),
    }
}

fn call(case: &Case, x: &[Array]) -> Option<Vec<Array>> {
    if let Some(result) = distributions!(case.function.as_str(), x:
        norm both 1: logpdf pdf cdf logcdf sf logsf ppf isf;
        cauchy both 1: logpdf pdf cdf logcdf sf logsf ppf isf;
        laplace both 1: logpdf pdf cdf;
        logistic both 1: logpdf pdf cdf sf ppf isf;
        expon both 1: logpdf pdf cdf logcdf sf logsf ppf;
        uniform both 1: logpdf pdf cdf ppf;
        gumbel_l both 1: logpdf pdf cdf logcdf sf logsf ppf;
        gumbel_r both 1: logpdf pdf cdf logcdf sf logsf ppf;
        t both 2: logpdf pdf;
        chi2 both 2: logpdf pdf cdf logcdf sf logsf;
        gamma both 2: logpdf pdf cdf logcdf sf logsf;
        pareto both 2: logpdf pdf cdf logcdf sf logsf ppf;
        beta both 3: logpdf pdf cdf logcdf sf logsf;
        truncnorm both 3: logpdf pdf cdf logcdf sf logsf;
        poisson loc 2: logpmf pmf cdf;
        poisson loc 1: entropy;
        geom loc 2: logpmf pmf;
        bernoulli loc 2: logpmf pmf;
        bernoulli none 2: cdf ppf;
        binom loc 3: logpmf pmf;
        nbinom loc 3: logpmf pmf;
        betabinom loc 4: logpmf pmf;
        gennorm none 2: logpdf pdf cdf;
        vonmises none 2: logpdf pdf;
        wrapcauchy none 2: logpdf pdf;
        dirichlet none 2: logpdf pdf;
        multinomial none 3: logpmf pmf;
        multivariate_normal none 3: logpdf pdf;
    ) {
        return Some(vec![result]);
    }
    let one = |array: Array| Some(vec![array]);
    let keepdims = case.flag("keepdims").unwrap_or(false);
    let kde = || {
        let mut options = GaussianKdeOptions::new();
        match case.parameter("bw_method") {
            None => {}
            Some("silverman") => options = options.bw_method(stats::Bandwidth::Silverman),
            Some(factor) => options = options.bw_method(factor.parse::<f64>().unwrap()),
        }
        if case.function == "stats.kde_weighted" {
            options = options.weights(&x[2]);
        }
        stats::gaussian_kde(&x[0], options)
    };
    match case.function.as_str() {
        "scipy.stats.mode" | "stats.mode_of_all" => {
            let mut options = Mode::new().keepdims(keepdims);
            if case.function == "stats.mode_of_all" {
                options = options.axis(None);
            } else if let Some(axis) = case.integer("axis") {
                options = options.axis(axis);
            }
            let (mode, count) = stats::mode(&x[0], options);
            Some(vec![mode, count])
        }
        "scipy.stats.rankdata" => {
            let method = match case.parameter("method").unwrap_or("average") {
                "average" => RankMethod::Average,
                "min" => RankMethod::Min,
                "max" => RankMethod::Max,
                "dense" => RankMethod::Dense,
                "ordinal" => RankMethod::Ordinal,
                other => panic!("{other}"),
            };
            let options = Rankdata::new().method(method).axis(case.integer("axis"));
            one(stats::rankdata(&x[0], options))
        }
        "scipy.stats.sem" => {
            let mut options = Sem::new().keepdims(keepdims);
            if let Some(axis) = case.integer("axis") {
                options = options.axis(axis);
            }
            if let Some(ddof) = case.integer("ddof") {
                options = options.ddof(ddof);
            }
            one(stats::sem(&x[0], options))
        }
        "stats.kde_pdf" | "stats.kde_weighted" => one(kde().pdf(&x[1])),
        "stats.kde_logpdf" => one(kde().logpdf(&x[1])),
        "stats.kde_box" => {
            let limit = |key: &str| match case.parameter(key).unwrap() {
                whole if !whole.contains('.') => Array::from(whole.parse::<i64>().unwrap()),
                _ => Array::from(case.float(key).unwrap()),
            };
            let [low, high] = ["low", "high"].map(limit);
            one(kde().integrate_box_1d(low, high))
        }
        "stats.kde_gaussian" => one(kde().integrate_gaussian(&x[1], &x[2])),
        "stats.kde_kde" => {
            let kde = kde();
            let other: GaussianKde = stats::gaussian_kde(&x[1], ());
            one(kde.integrate_kde(&other))
        }
        "stats.kde_resample" => one(kde().resample(&x[1], [case.integer("shape").unwrap()])),
        _ => None,
    }
}

fn tolerance(case: &Case) -> Tolerance {
    // Logarithms are sums, whose errors are those of the largest term; elsewhere they are those of exponents.
    let name = case.function.as_str();
    if name.contains(".log") || name == "scipy.stats.cauchy.cdf" {
        Tolerance::of_largest(64.0)
    } else {
        Tolerance::ulps(64.0)
    }
}

fn text(_: &str, _: &[Array]) -> Option<Vec<Array>> {
    None
}
