//! Moments and tails of every distribution beside those of JAX's samples from the same key (`moments.py` writes `moments.txt`).

use jaxide::prelude::*;
use jaxide::random;

/// Samples of a distribution.
fn draw(name: &str, p: &[f64], count: usize) -> Array {
    let key = &random::key(2026);
    let f32 = DType::F32;
    match name {
        "uniform" => random::uniform(key, count, f32, 0.0, 1.0),
        "normal" => random::normal(key, count, f32),
        "exponential" => random::exponential(key, count, f32),
        "laplace" => random::laplace(key, count, f32),
        "logistic" => random::logistic(key, count, f32),
        "gumbel" => random::gumbel(key, count, f32),
        "cauchy" => random::cauchy(key, count, f32),
        "maxwell" => random::maxwell(key, count, f32),
        "rademacher" => random::rademacher(key, count, DType::I32),
        "beta" => random::beta(key, p[0], p[1], count),
        "chisquare" => random::chisquare(key, p[0], count),
        "f" => random::f(key, p[0], p[1], count),
        "gamma" => random::gamma(key, p[0], count),
        "loggamma" => random::loggamma(key, p[0], count),
        "pareto" => random::pareto(key, p[0], count),
        "rayleigh" => random::rayleigh(key, p[0], count),
        "t" => random::t(key, p[0], count),
        "wald" => random::wald(key, p[0], count),
        "lognormal" => random::lognormal(key, p[0], count),
        "geometric" => random::geometric(key, p[0], count),
        "triangular" => random::triangular(key, p[0], p[1], p[2], count),
        "truncated_normal" => random::truncated_normal(key, p[0], p[1], count),
        "weibull_min" => random::weibull_min(key, p[0], p[1], count),
        "double_sided_maxwell" => random::double_sided_maxwell(key, p[0], p[1], count),
        "generalized_normal" => random::generalized_normal(key, p[0], count),
        "poisson" => random::poisson(key, p[0], count),
        "binomial" => random::binomial(key, p[0], p[1], count),
        "bernoulli" => random::bernoulli(key, p[0], count),
        "bits" => random::bits(key, count, DType::U32).astype(f32) / 2.0_f64.powi(32),
        "randint" => random::randint(key, count, p[0] as i64, p[1] as i64, DType::I32),
        "categorical" => {
            let logits = Array::from([0.1f32, 0.2, 0.7]).log();
            random::categorical(key, logits, random::Categorical::new().shape(count))
        }
        "choice" => {
            let options = random::Choice::new().shape(count);
            random::choice(key, 4, options.p([0.4f32, 0.1, 0.2, 0.3]))
        }
        "permutation" => random::permutation(key, 2 * count, ()).slice(..count),
        "dirichlet" => column(&random::dirichlet(key, [0.5f32, 1.0, 2.0], count), 0),
        "multinomial" => {
            let counts = random::multinomial(key, 10.0, [0.2f32, 0.3, 0.5], count);
            column(&counts, 1)
        }
        "multivariate_normal" => {
            let covariance = Array::from([[2.0f32, 1.0], [1.0, 3.0]]);
            random::multivariate_normal(key, [1.0f32, 2.0], covariance, count).sum_axes(1)
        }
        "orthogonal" => random::orthogonal(key, 3, count).t().index(1).index(0),
        "ball" => column(&random::ball(key, 3, 2.0, count), 0),
        other => panic!("{other}"),
    }
}

/// A column of rows.
fn column(x: &Array, index: usize) -> Array {
    x.t().index(index)
}

/// Numbers of arrays of any type, in ascending order.
fn sorted(x: &Array) -> Vec<f64> {
    let mut numbers = x.astype(DType::F64).to_vec::<f64>();
    numbers.sort_by(f64::total_cmp);
    numbers
}

#[track_caller]
fn near(name: &str, what: &str, got: f64, want: f64, tolerance: f64) {
    let difference = (got - want).abs();
    assert!(difference <= tolerance, "{name}: {what} {got}, not {want}");
}

#[test]
fn moments_and_tails_are_those_of_jax() {
    for line in include_str!("moments.txt").lines() {
        let words: Vec<&str> = line.split(';').collect();
        let name = words[0];
        let parameters = words[1].split(',').filter(|word| !word.is_empty());
        let parameters: Vec<f64> = parameters.map(|word| word.parse().unwrap()).collect();
        let count: usize = words[2].parse().unwrap();
        let want: Vec<f64> = words[3..]
            .iter()
            .map(|word| word.parse().unwrap())
            .collect();
        let x = sorted(&draw(name, &parameters, count));
        assert_eq!(x.len(), count, "{name}");
        let total = count as f64;
        let mean = x.iter().sum::<f64>() / total;
        let variance = x.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / total;
        let deviation = variance.sqrt();
        let moment = |power: i32| {
            let powers = x.iter().map(|x| ((x - mean) / deviation).powi(power));
            powers.sum::<f64>() / total
        };
        let scale = want[1].sqrt();
        near(name, "mean", mean, want[0], 1e-5 * scale);
        near(name, "variance", variance, want[1], 1e-4 * want[1]);
        near(name, "third moment", moment(3), want[2], 1e-3 * want[3]);
        near(name, "fourth moment", moment(4), want[3], 1e-3 * want[3]);
        for (rank, want) in [0.01, 0.25, 0.5, 0.75, 0.99].iter().zip(&want[4..9]) {
            let quantile = x[(rank * total) as usize];
            near(
                name,
                "quantile",
                quantile,
                *want,
                1e-5 * want.abs().max(scale),
            );
        }
        // What is about the last quantile may move across.
        let beyond = |bound: f64| x.iter().filter(|&&x| x > bound).count() as f64;
        let about = 1e-6 * want[8].abs();
        let (least, most) = (beyond(want[8] + about) - 2.0, beyond(want[8] - about) + 2.0);
        let tail = want[9];
        assert!(
            (least..=most).contains(&tail),
            "{name}: tail {least} to {most}, not {tail}"
        );
    }
}
