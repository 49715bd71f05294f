//! Special functions of `jax.scipy.special`.

use jaxide::prelude::*;
use jaxide::scipy::special::{self, BesselJn, Comb, LogNdtr, LogSumExp, Softmax, SphHarmY};

use crate::Area;
use crate::case::Case;
use crate::compare::Tolerance;

pub(crate) const AREA: Area = Area {
    cases: include_str!("../cases/special.txt"),
    call,
    tolerance,
    written_differently: &[
        (
            "scipy.special.loggamma ; c64",
            "coefficients are sliced and steps counted in another way",
        ),
        (
            "scipy.special.gamma ; c64",
            "coefficients are sliced and steps counted in another way",
        ),
        (
            "scipy.special.gamma ; #",
            "of a number of the program alone, weak types are converted at other places",
        ),
        (
            "scipy.special.erfcinv ; #",
            "of a number of the program alone, weak types are converted at other places",
        ),
        (
            "scipy.special.erfcx ; #",
            "of a number of the program alone, weak types are converted at other places",
        ),
        (
            "scipy.special.gammasgn ; #",
            "of a number of the program alone, weak types are converted at other places",
        ),
        (
            "scipy.special.exp1",
            "operands are broadcast before the function is applied element by element; JAX broadcasts within",
        ),
        ("scipy.special.expi ;", "as `exp1`"),
        ("scipy.special.expn", "as `exp1`"),
        (
            "scipy.special.hyp",
            "operands are broadcast before the function is applied element by element; JAX broadcasts within",
        ),
        (
            "scipy.special.bessel_jn",
            "the loop carries its operand, where JAX finds out that it does not change, and writes the tree of results as filtered",
        ),
        (
            "scipy.special.sph_harm_y",
            "the recurrence is written out with its coefficients, where JAX loops over masked matrices",
        ),
    ],
    different: &[
        (
            "scipy.special.softmax ; u8",
            "JAX subtracts in 8 bits without sign, and divides infinities",
        ),
        (
            "scipy.special.log_softmax ; u8",
            "JAX subtracts in 8 bits without sign, and divides infinities",
        ),
    ],
    text,
};

/// A match from names to functions of as many operands as are named.
macro_rules! functions {
    ($name:expr, $x:ident: $($function:ident)*; $($function2:ident)*; $($function3:ident)*) => {
        match $name {
            $(stringify!($function) => Some(special::$function(&$x[0])),)*
            $(stringify!($function2) => Some(special::$function2(&$x[0], &$x[1])),)*
            $(stringify!($function3) => Some(special::$function3(&$x[0], &$x[1], &$x[2])),)*
            _ => None,
        }
    };
}

fn call(case: &Case, x: &[Array]) -> Option<Vec<Array>> {
    let name = case.function.rsplit('.').next().unwrap();
    if let Some(result) = functions!(name, x:
        gammaln gammasgn loggamma gamma digamma erf erfc erfinv erfcinv erfcx dawsn wofz logit expit entr i0 i0e i1 i1e exp1
        expi factorial ndtr ndtri spence;
        betaln beta gammainc gammaincc xlogy xlog1py boxcox boxcox1p kl_div rel_entr poch owens_t zeta expn polygamma;
        betainc hyp1f1
    ) {
        return Some(vec![result]);
    }
    let one = |array: Array| Some(vec![array]);
    let number = |key: &str| case.integer(key).map(|value| value as usize);
    let sums = || {
        let mut options = LogSumExp::new().keepdims(case.flag("keepdims").unwrap_or(false));
        if let Some(axis) = case.list("axis") {
            options = options.axis(axis);
        }
        options
    };
    let softmax = || match case.list("axis") {
        Some(axis) => Softmax::new().axis(axis),
        None => Softmax::new(),
    };
    match name {
        "log_ndtr" => match number("series_order") {
            Some(order) => one(special::log_ndtr(&x[0], LogNdtr::new().series_order(order))),
            None => one(special::log_ndtr(&x[0], ())),
        },
        "comb" => match case.flag("repetition") {
            Some(flag) => one(special::comb(&x[0], &x[1], Comb::new().repetition(flag))),
            None => one(special::comb(&x[0], &x[1], ())),
        },
        "hyp2f1" => one(special::hyp2f1(&x[0], &x[1], &x[2], &x[3])),
        "sici" | "fresnel" => {
            let (s, c) = match name {
                "sici" => special::sici(&x[0]),
                _ => special::fresnel(&x[0]),
            };
            Some(vec![s, c])
        }
        "bessel_jn" => {
            let options = BesselJn::new().n_iter(number("n_iter").unwrap_or(50));
            one(special::bessel_jn(&x[0], number("v").unwrap(), options))
        }
        "multigammaln" => one(special::multigammaln(&x[0], number("d").unwrap())),
        "bernoulli" => one(special::bernoulli(case.integer("n").unwrap())),
        "sph_harm_y" => {
            let options = SphHarmY::new().n_max(number("n_max"));
            one(special::sph_harm_y(&x[0], &x[1], &x[2], &x[3], options))
        }
        "logsumexp" => one(special::logsumexp(&x[0], sums())),
        "logsumexp_b" => one(special::logsumexp(&x[0], sums().b(&x[1]))),
        "logsumexp_where" => one(special::logsumexp(&x[0], sums().where_(&x[1]))),
        "logsumexp_sign" => {
            let (log, sign) = special::logsumexp_with_sign(&x[0], sums().b(&x[1]));
            Some(vec![log, sign])
        }
        "softmax" => one(special::softmax(&x[0], softmax())),
        "log_softmax" => one(special::log_softmax(&x[0], softmax())),
        _ => None,
    }
}

fn tolerance(case: &Case) -> Tolerance {
    // Near the zeros of the functions, errors are those of the numbers around.
    let name = case.function.rsplit('.').next().unwrap();
    Tolerance::ulps(match name {
        "gammaln" | "loggamma" | "gammaincc" => 128.0,
        "digamma" | "sici" => 64.0,
        _ => 16.0,
    })
}

fn text(_: &str, _: &[Array]) -> Option<Vec<Array>> {
    None
}
