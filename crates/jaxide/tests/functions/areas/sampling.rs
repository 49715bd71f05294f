//! Random numbers.

use jaxide::prelude::*;
use jaxide::random::{self, Bits, KeyImpl, Method, Root};

use crate::Area;
use crate::case::{Case, Mode};
use crate::compare::Tolerance;

pub(crate) const AREA: Area = Area {
    cases: include_str!("../cases/sampling.txt"),
    call,
    tolerance,
    written_differently: &[
        (
            "random.ball d=3 shape=2 ; key:7 ; #2",
            "JAX converts an exponent that it does not use then",
        ),
        (
            "random.ball d=2",
            "JAX converts an exponent that it does not use then",
        ),
        (
            "random.binomial",
            "equal tables are one constant here, and four in JAX",
        ),
        (
            "random.multinomial",
            "equal tables are one constant here, and four in JAX",
        ),
        (
            "random.orthogonal n=3 ;",
            "JAX chooses how a diagonal is read by the platform",
        ),
        ("random.orthogonal n=2 m=3 ;", "as above"),
        ("random.orthogonal n=3 m=2 ;", "as above"),
        ("random.orthogonal n=1 m=1 ;", "as above"),
        ("random.orthogonal n=0 ;", "as above"),
        (
            "random.multivariate_normal ; key:7 ; f32[2,3]~5",
            "stacks of matrices are multiplied with columns",
        ),
        ("random.multivariate_normal shape=4,2", "as above"),
    ],
    different: &[
        (
            "random.fold_in ; key:7 ; #1.5",
            "a float is refused, where JAX cuts it",
        ),
        (
            "random.multivariate_normal method=svd",
            "the signs of singular vectors are free, and with them the samples",
        ),
        ("vmap random.multivariate_normal method=svd", "as above"),
        (
            "random.multivariate_normal method=eigh",
            "the signs of eigenvectors are free, and with them the samples",
        ),
        ("vmap random.multivariate_normal method=eigh", "as above"),
    ],
    text,
};

fn bits(case: &Case) -> Bits {
    match case.parameter("bits") {
        Some("high") => Bits::High,
        Some("highest") => Bits::Highest,
        _ => Bits::Low,
    }
}

fn shape(case: &Case) -> Vec<i64> {
    case.list("shape").unwrap_or_default()
}

fn sample(case: &Case) -> random::Sample {
    let mut options = random::Sample::new().dtype(case.dtype());
    if let Some(shape) = case.list("shape") {
        options = options.shape(shape);
    }
    options
}

fn gamma(case: &Case) -> random::Gamma {
    let mut options = random::Gamma::new().dtype(case.dtype());
    if let Some(shape) = case.list("shape") {
        options = options.shape(shape);
    }
    match case.parameter("method") {
        Some("approximate") => options.method(Method::Approximate),
        _ => options,
    }
}

fn impl_(case: &Case) -> Option<KeyImpl> {
    Some(match case.parameter("impl")? {
        "rbg" => KeyImpl::Rbg,
        "unsafe_rbg" => KeyImpl::UnsafeRbg,
        _ => KeyImpl::Fry,
    })
}

fn call(case: &Case, x: &[Array]) -> Option<Vec<Array>> {
    let name = case.function.strip_prefix("random.")?;
    let result = of_keys(case, name, x)
        .or_else(|| without_parameters(case, name, x))
        .or_else(|| with_parameters(case, name, x))
        .or_else(|| chosen(case, name, x))?;
    Some(vec![result])
}

fn of_keys(case: &Case, name: &str, x: &[Array]) -> Option<Array> {
    Some(match name {
        "key" => match impl_(case) {
            None => random::key(&x[0]),
            Some(kind) => random::key_with_impl(&x[0], kind),
        },
        "PRNGKey" => match impl_(case) {
            None => random::prng_key(&x[0]),
            Some(kind) => random::key_data(&random::key_with_impl(&x[0], kind)),
        },
        "wrap_key_data" => match impl_(case) {
            None => random::wrap_key_data(&x[0]),
            Some(kind) => random::wrap_key_data_with_impl(&x[0], kind),
        },
        "key_data" => random::key_data(&x[0]),
        "clone" => random::clone(&x[0]),
        "split" => random::split(&x[0], case.list("num").unwrap_or(vec![2])),
        "fold_in" => random::fold_in(&x[0], &x[1]),
        _ => return None,
    })
}

fn without_parameters(case: &Case, name: &str, x: &[Array]) -> Option<Array> {
    let (shape, dtype) = (shape(case), case.dtype().unwrap_or(DType::F32));
    Some(match name {
        "bits" => random::bits(&x[0], shape, dtype),
        "uniform" => {
            let bound = |index: usize, default: f64| match x.get(index) {
                Some(bound) => bound.clone(),
                None => Array::from(default),
            };
            random::uniform(&x[0], shape, dtype, bound(1, 0.0), bound(2, 1.0))
        }
        "normal" => random::normal(&x[0], shape, dtype),
        "exponential" => random::exponential(&x[0], shape, dtype),
        "laplace" => random::laplace(&x[0], shape, dtype),
        "logistic" => random::logistic(&x[0], shape, dtype),
        "cauchy" => random::cauchy(&x[0], shape, dtype),
        "maxwell" => random::maxwell(&x[0], shape, dtype),
        "rademacher" => random::rademacher(&x[0], shape, dtype),
        "gumbel" => {
            let options = random::Gumbel::new().dtype(dtype).mode(bits(case));
            random::gumbel(&x[0], shape, options)
        }
        _ => return None,
    })
}

fn with_parameters(case: &Case, name: &str, x: &[Array]) -> Option<Array> {
    let key = &x[0];
    Some(match name {
        "beta" => random::beta(key, &x[1], &x[2], gamma(case)),
        "gamma" => random::gamma(key, &x[1], gamma(case)),
        "loggamma" => random::loggamma(key, &x[1], gamma(case)),
        "chisquare" => random::chisquare(key, &x[1], gamma(case)),
        "poisson" => random::poisson(key, &x[1], gamma(case)),
        "pareto" => random::pareto(key, &x[1], sample(case)),
        "rayleigh" => random::rayleigh(key, &x[1], sample(case)),
        "t" => random::t(key, &x[1], sample(case)),
        "wald" => random::wald(key, &x[1], sample(case)),
        "lognormal" => random::lognormal(key, &x[1], sample(case)),
        "dirichlet" => random::dirichlet(key, &x[1], sample(case)),
        "geometric" => random::geometric(key, &x[1], sample(case)),
        "generalized_normal" => random::generalized_normal(key, &x[1], sample(case)),
        "f" => random::f(key, &x[1], &x[2], sample(case)),
        "double_sided_maxwell" => random::double_sided_maxwell(key, &x[1], &x[2], sample(case)),
        "weibull_min" => random::weibull_min(key, &x[1], &x[2], sample(case)),
        "truncated_normal" => random::truncated_normal(key, &x[1], &x[2], sample(case)),
        "binomial" => random::binomial(key, &x[1], &x[2], sample(case)),
        "triangular" => random::triangular(key, &x[1], &x[2], &x[3], sample(case)),
        "ball" => {
            let d = case.integer("d").unwrap() as usize;
            random::ball(key, d, &x[1], sample(case))
        }
        "multinomial" => {
            let mut options = random::Multinomial::new();
            if let Some(shape) = case.list("shape") {
                options = options.shape(shape);
            }
            if let Some(dtype) = case.dtype() {
                options = options.dtype(dtype);
            }
            random::multinomial(key, &x[1], &x[2], options)
        }
        "multivariate_normal" => {
            let mut options = random::MultivariateNormal::new().dtype(case.dtype());
            if let Some(shape) = case.list("shape") {
                options = options.shape(shape);
            }
            options = match case.parameter("method") {
                Some("svd") => options.method(Root::Svd),
                Some("eigh") => options.method(Root::Eigh),
                _ => options,
            };
            random::multivariate_normal(key, &x[1], &x[2], options)
        }
        "orthogonal" => {
            let mut options = random::Orthogonal::new().shape(shape(case));
            options = options.m(case.integer("m").map(|m| m as usize));
            if let Some(dtype) = case.dtype() {
                options = options.dtype(dtype);
            }
            random::orthogonal(key, case.integer("n").unwrap() as usize, options)
        }
        _ => return None,
    })
}

fn chosen(case: &Case, name: &str, x: &[Array]) -> Option<Array> {
    let key = &x[0];
    let axis = case.integer("axis");
    Some(match name {
        "bernoulli" => {
            let mut options = random::Bernoulli::new().mode(bits(case));
            if let Some(shape) = case.list("shape") {
                options = options.shape(shape);
            }
            match x.get(1) {
                Some(p) => random::bernoulli(key, p, options),
                None => random::bernoulli(key, 0.5, options),
            }
        }
        "randint" => random::randint(key, shape(case), &x[1], &x[2], case.dtype().unwrap()),
        "permutation" => {
            let options = random::Permutation::new().axis(axis.unwrap_or(0));
            let independent = case.flag("independent").unwrap_or(false);
            random::permutation(key, &x[1], options.independent(independent))
        }
        "choice" => {
            let options = random::Choice::new().shape(shape(case));
            let options = options.axis(axis.unwrap_or(0)).mode(bits(case));
            let options = options.replace(case.flag("replace").unwrap_or(true));
            match x.get(2) {
                Some(p) => random::choice(key, &x[1], options.p(p)),
                None => random::choice(key, &x[1], options),
            }
        }
        "categorical" => {
            let options = random::Categorical::new().axis(axis.unwrap_or(-1));
            let options = options.replace(case.flag("replace").unwrap_or(true));
            let options = options.mode(bits(case));
            match case.list("shape") {
                Some(shape) => random::categorical(key, &x[1], options.shape(shape)),
                None => random::categorical(key, &x[1], options),
            }
        }
        _ => return None,
    })
}

/// Bits, integers, orders and uniform samples are JAX's, and functions of them as exact as the functions.
///
/// What is made of many operations, or makes the error of an operand larger, JAX does not give twice itself: samples from one key, compiled and
/// operation by operation, differ by so many units of the last place: 14 of `gamma`, 512 of `loggamma`, 17 of `chisquare`, 13 of
/// `beta`, 50 of `pareto`, 4 of `t`, 25 of `wald`, 16 of `f`, 17 of `dirichlet`, 6 of `generalized_normal`, 13 of `ball`, 118 of
/// `truncated_normal`. Bounds of these are what is seen here, below that.
fn tolerance(case: &Case) -> Tolerance {
    match case.function.strip_prefix("random.").unwrap_or_default() {
        // Bounds that differ are added by one rounding in compiled code, and by two in the interpreter.
        "uniform" if case.mode == Mode::Vmap => Tolerance::ulps(1.0),
        // Logarithms are near to zero.
        "gumbel" if case.parameter("bits").is_some() => Tolerance::of_largest(1.0),
        // Parts of complex numbers have errors of their own.
        "normal" if case.dtype().is_some_and(|dtype| dtype.is_complex()) => Tolerance::ulps(2.5),
        "exponential" | "laplace" | "logistic" | "gumbel" | "cauchy" | "maxwell" | "rayleigh"
        | "triangular" | "normal" => Tolerance::ulps(2.0),
        "weibull_min" => Tolerance::ulps(2.5),
        "t" => Tolerance::ulps(4.0),
        // One unit of an exponent of 2.5 times a normal sample is up to eight of its power.
        "lognormal" => Tolerance::ulps(8.5),
        "gamma" | "loggamma" | "chisquare" | "beta" | "pareto" | "wald" | "generalized_normal" => {
            Tolerance::ulps(9.0)
        }
        "f" => Tolerance::ulps(17.0),
        "dirichlet" | "double_sided_maxwell" | "ball" | "truncated_normal" => {
            Tolerance::of_largest(2.0)
        }
        "multivariate_normal" => Tolerance::of_largest(4.0),
        "orthogonal" => Tolerance::of_largest(8.0),
        _ => Tolerance::EXACT,
    }
}

fn text(_: &str, _: &[Array]) -> Option<Vec<Array>> {
    None
}
