//! Gamma-distributed samples.

use super::super::elementary::{log, log1p, pow, sqrt};
use super::super::float::Real;
use super::{Prng, normal, uniform};

/// One sample of Gamma(`alpha`, 1), or its logarithm with `log_space`, as the primitive
/// `random_gamma` draws it for one key.
///
/// G. Marsaglia and W. W. Tsang, *A simple method for generating gamma variables* (ACM TOMS 26,
/// 2000): accept `d·V` with `d = α - 1/3`, `V = (1 + N/(3√d))³` for a normal N. For α < 1 a sample
/// of α + 1 is scaled by `U^(1/α)`. Which keys the draws use is part of the definition: they are
/// split off in JAX's order, so that the same proposals are accepted. Every step is rounded to the
/// dtype.
///
/// The primitive splits each of its keys into as many as there are entries of `alpha` for it and
/// calls this once per entry.
///
/// # Panics
///
/// When `key` is not one key of the implementation.
pub fn random_gamma<T: Real>(prng: Prng, key: &[u32], alpha: T, log_space: bool) -> T {
    let round = |x: f64| T::round_from(x).to_f64();
    let alpha = alpha.to_f64();
    let boosted = alpha < 1.0 || alpha.is_nan();
    let third = T::round_from(1.0 / 3.0).to_f64();
    let d = round(if boosted { round(alpha + 1.0) } else { alpha } - third);
    let c = round(third / round(sqrt(d)));

    let (key, boost_key) = split_in_two(prng, key);
    let v = accepted_cube::<T>(prng, key, c, d, round);
    let unit = || uniform(prng, &boost_key, T::round_from(0.0), T::round_from(1.0)).to_f64();
    T::round_from(if log_space {
        let log_u = round(log1p(-unit()));
        let boost = if boosted && log_u != 0.0 {
            round(log_u * round(1.0 / alpha))
        } else {
            0.0
        };
        round(round(log(d)) + round(log(v))) + boost
    } else {
        let boost = if boosted {
            round(pow(1.0 - unit(), round(1.0 / alpha)))
        } else {
            1.0
        };
        round(d * v) * boost
    })
}

/// The first accepted `V`.
fn accepted_cube<T: Real>(
    prng: Prng,
    mut key: Vec<u32>,
    c: f64,
    d: f64,
    round: impl Fn(f64) -> f64,
) -> f64 {
    let squeeze = T::round_from(0.0331).to_f64();
    loop {
        let keys = prng.split(&key, 3);
        let (next_key, rest) = keys.split_at(prng.key_words());
        let (x_key, u_key) = rest.split_at(prng.key_words());
        let (x, v) = positive_base::<T>(prng, x_key.to_vec(), c, &round);
        let square = round(x * x);
        let cube = round(round(v * v) * v);
        let u = uniform(prng, u_key, T::round_from(0.0), T::round_from(1.0)).to_f64();

        let inside_squeeze = u < round(1.0 - round(squeeze * round(square * square)));
        let rejected = || {
            let log_ratio = round(round(1.0 - cube) + round(log(cube)));
            round(log(u)) >= round(round(square * 0.5) + round(d * log_ratio))
        };
        if inside_squeeze || !rejected() {
            return cube;
        }
        key = next_key.to_vec();
    }
}

/// A normal N and `1 + c·N`, drawn again while the latter is not positive.
fn positive_base<T: Real>(
    prng: Prng,
    mut key: Vec<u32>,
    c: f64,
    round: impl Fn(f64) -> f64,
) -> (f64, f64) {
    loop {
        let (next_key, x_key) = split_in_two(prng, &key);
        let x = normal::<T>(prng, &x_key).to_f64();
        let v = round(1.0 + round(x * c));
        // NaN, from an alpha outside the domain, must end the loop.
        if v > 0.0 || v.is_nan() {
            return (x, v);
        }
        key = next_key;
    }
}

fn split_in_two(prng: Prng, key: &[u32]) -> (Vec<u32>, Vec<u32>) {
    let mut keys = prng.split(key, 2);
    let second = keys.split_off(prng.key_words());
    (keys, second)
}

#[cfg(test)]
mod tests {
    use super::*;
    use half::bf16;

    fn samples<T: Real>(alphas: [f64; 4], log_space: bool) -> [f64; 4] {
        let keys = Prng::Threefry.split(&[0, 7], 4);
        let mut keys = keys.chunks_exact(2);
        alphas.map(|alpha| {
            let key = keys.next().unwrap();
            random_gamma(Prng::Threefry, key, T::round_from(alpha), log_space).to_f64()
        })
    }

    fn check(got: [f64; 4], want: [f64; 4], tolerance: f64) {
        for (g, w) in got.into_iter().zip(want) {
            assert!(
                (g - w).abs() <= tolerance * w.abs().clamp(1e-6, 1.0),
                "{g} is not {w}"
            );
        }
    }

    /// Results of the primitive for `jax.random.key(7)` and an `alpha` of shape (4,).
    #[test]
    fn samples_of_jax() {
        let alphas = [0.3, 1.0, 2.5, 30.0];
        let want = [
            5.715880888601532e-07,
            0.2179168313741684,
            1.315557837486267,
            36.33936309814453,
        ];
        check(samples::<f32>(alphas, false), want, 4e-7);
        let want = [
            -14.374847412109375,
            -1.52364182472229,
            0.2742607891559601,
            3.5929014682769775,
        ];
        check(samples::<f32>(alphas, true), want, 1e-6);
        let want = [
            2.0991715320635806e-06,
            0.1612633792217553,
            1.3004060859615834,
            29.422659644195093,
        ];
        check(samples::<f64>(alphas, false), want, 4e-15);
        check(
            samples::<bf16>(alphas, true),
            [-13.0, 0.3515625, 0.3203125, 3.4375],
            0.0,
        );
    }

    #[test]
    fn edges_of_the_domain() {
        let [zero, infinite, nan, below] = samples::<f64>([0.0, INF, f64::NAN, -2.0], false);
        assert_eq!((zero, infinite), (0.0, INF));
        assert!(nan.is_nan() && below.is_nan());
        assert_eq!(samples::<f64>([0.0; 4], true)[0], -INF);
    }

    const INF: f64 = f64::INFINITY;
}
