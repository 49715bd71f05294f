//! Sampling a posterior by Hamiltonian Monte Carlo: the gradient of the log-density drives the leapfrog steps, a chain is
//! a `scan`, and `vmap` runs many chains as one native program.
//!
//! The model is a straight line with normal noise of known size and normal priors, whose posterior is known exactly.
//!
//! Run with `cargo run --release --example hmc`.

use std::time::Instant;

use jaxide::prelude::*;
use jaxide::{numpy, random};

const NOISE: f64 = 0.5;
const PRIOR: f64 = 2.0;
const LEAPS: i32 = 8;
const STEP: f64 = 0.07;

/// Observed points, each of shape `[n]`.
#[derive(Clone, Pytree)]
struct Data {
    x: Array,
    y: Array,
}

impl Data {
    /// Points around the line `y = 1 + 0.7 x`.
    fn simulated(count: usize) -> Self {
        let x = numpy::linspace(-1.0, 3.0, count);
        let noise = random::normal(&random::key(7), &[count], DType::F32);
        let y = 1.0 + 0.7 * &x + NOISE * noise;
        Data { x, y }
    }

    /// The logarithm of the posterior density of `line = [offset, slope]`, up to a constant.
    fn log_density(&self, line: &Array) -> Array {
        let [offset, slope] = line.unpack();
        let residuals = (&self.y - (offset + slope * &self.x)) / NOISE;
        -0.5 * (residuals.square().sum() + (line / PRIOR).square().sum())
    }

    /// Means and standard deviations of the posterior, from the normal equations.
    fn exact_posterior(&self) -> [(f64, f64); 2] {
        let moments = |f: fn(f64, f64) -> f64| -> f64 {
            let (x, y) = (self.x.to_vec::<f32>(), self.y.to_vec::<f32>());
            let terms = x.iter().zip(&y).map(|(&x, &y)| f(x.into(), y.into()));
            terms.sum::<f64>() / NOISE.powi(2)
        };
        let prior = PRIOR.powi(-2);
        // The precision matrix [[a, b], [b, d]], and its product with the mean.
        let (a, b, d) = (
            moments(|_, _| 1.0) + prior,
            moments(|x, _| x),
            moments(|x, _| x * x) + prior,
        );
        let (p, q) = (moments(|_, y| y), moments(|x, y| x * y));
        let determinant = a * d - b * b;
        [
            ((d * p - b * q) / determinant, (d / determinant).sqrt()),
            ((a * q - b * p) / determinant, (a / determinant).sqrt()),
        ]
    }
}

/// One proposal along a trajectory of `LEAPS` leapfrog steps, taken or refused: the next state, and whether it moved.
fn transition(data: &Data, line: Array, key: &Array) -> (Array, Array) {
    let energy =
        |line: &Array, momentum: &Array| momentum.square().sum() * 0.5 - data.log_density(line);
    let force = |line: Array| {
        let data = data.clone();
        grad(move |line: Array| data.log_density(&line))(line)
    };
    let [for_momentum, for_choice] = random::split(key, 2).unpack();
    let momentum = random::normal(&for_momentum, line.shape(), line.dtype());

    let (proposal, last) = fori_loop(
        0,
        LEAPS,
        |_, (line, momentum): (Array, Array)| {
            let half = momentum + STEP / 2.0 * force(line.clone());
            let line = line + STEP * &half;
            let momentum = half + STEP / 2.0 * force(line.clone());
            (line, momentum)
        },
        (line.clone(), momentum.clone()),
    );

    let rise = energy(&proposal, &last) - energy(&line, &momentum);
    let chance = random::uniform(&for_choice, &[], line.dtype(), 0.0, 1.0);
    let accepted = chance.log().lt(-rise);
    (numpy::where_(&accepted, &proposal, &line), accepted)
}

/// The states of a chain after `warm_up` transitions, of shape `[count, 2]`, and the share of accepted proposals.
fn chain(data: &Data, key: &Array, warm_up: usize, count: usize) -> (Array, Array) {
    let [for_start, for_steps] = random::split(key, 2).unpack();
    let start = random::normal(&for_start, &[2], DType::F32) * PRIOR;
    let (_, (states, accepted)) = scan(
        |line: Array, key: Array| {
            let (next, accepted) = transition(data, line, &key);
            (next.clone(), (next, accepted))
        },
        start,
        random::split(&for_steps, warm_up + count),
        None,
    );
    (states.slice(warm_up..), accepted.mean())
}

/// How much the spread between chains exceeds what the spread within them explains: 1 when they agree.
///
/// `states` has shape `[chains, states, parameters]`. Gelman and Rubin, "Inference from iterative simulation", 1992.
fn r_hat(states: &Array) -> Array {
    let count = states.shape()[1] as f64;
    let within = numpy::var(states, 1).mean_axes(0) * (count / (count - 1.0));
    let between = numpy::var(&states.mean_axes(1), 0);
    (((count - 1.0) / count * &within + between) / within).sqrt()
}

/// Samples of many chains, `[chains, states, 2]`, and the mean share of accepted proposals.
fn sample(data: &Data, chains: usize, warm_up: usize, count: usize) -> Result<(Array, f32)> {
    let data = data.clone();
    let run = jit(vmap(move |key: Array| chain(&data, &key, warm_up, count)));
    let keys = random::split(&random::key(0), chains);
    let (states, accepted) = run.try_call((keys,))?;
    Ok((states, accepted.mean().item()))
}

fn main() -> Result<()> {
    let data = Data::simulated(40);
    let (chains, warm_up, count) = (64, 200, 1000);
    let start = Instant::now();
    let (states, accepted) = sample(&data, chains, warm_up, count)?;
    let seconds = start.elapsed().as_secs_f64();
    println!(
        "{chains} chains of {} transitions of {LEAPS} leapfrog steps in {seconds:.2} s, {:.0} % accepted\n",
        warm_up + count,
        100.0 * accepted
    );

    let mean = states.mean_axes([0, 1]).to_vec::<f32>();
    let deviation = numpy::var(&states, [0, 1]).sqrt().to_vec::<f32>();
    let r_hat = r_hat(&states).to_vec::<f32>();
    println!("            sampled              exact");
    println!("            mean      sd         mean      sd         R-hat");
    for (k, name) in ["offset", "slope"].into_iter().enumerate() {
        let (exact_mean, exact_deviation) = data.exact_posterior()[k];
        println!(
            "{name:<8} {:>8.4} {:>8.4}   {exact_mean:>8.4} {exact_deviation:>8.4}   {:>8.4}",
            mean[k], deviation[k], r_hat[k]
        );
    }

    println!("\nslope");
    let slopes = states.to_vec::<f32>();
    histogram(slopes.iter().skip(1).step_by(2), data.exact_posterior()[1]);
    Ok(())
}

/// Samples in bins, with the exact density as a dot.
fn histogram<'a>(samples: impl Iterator<Item = &'a f32>, (mean, deviation): (f64, f64)) {
    const BINS: usize = 21;
    let width = 6.0 * deviation / BINS as f64;
    let (mut counts, mut total) = ([0usize; BINS], 0.0);
    for &sample in samples {
        total += 1.0;
        let bin = (f64::from(sample) - mean) / width + BINS as f64 / 2.0;
        if (0.0..BINS as f64).contains(&bin) {
            counts[bin as usize] += 1;
        }
    }
    for (bin, &count) in counts.iter().enumerate() {
        let z = (bin as f64 + 0.5 - BINS as f64 / 2.0) * width / deviation;
        let exact = (-z * z / 2.0).exp() / (2.0 * std::f64::consts::PI).sqrt() * width / deviation;
        let columns = |share: f64| (share * 400.0).round() as usize;
        let mut row: Vec<char> = "#".repeat(columns(count as f64 / total)).chars().collect();
        let dot = columns(exact);
        row.resize(row.len().max(dot + 1), ' ');
        row[dot] = '●';
        println!(
            "{:>7.3}  {}",
            mean + z * deviation,
            row.into_iter().collect::<String>()
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_have_the_moments_of_the_posterior() {
        let data = Data::simulated(20);
        let (states, accepted) = sample(&data, 16, 50, 200).expect("samples");
        assert!(accepted > 0.5, "{accepted}");
        let mean = states.mean_axes([0, 1]).to_vec::<f32>();
        let deviation = numpy::var(&states, [0, 1]).sqrt().to_vec::<f32>();
        for (k, (exact_mean, exact_deviation)) in data.exact_posterior().into_iter().enumerate() {
            assert!((f64::from(mean[k]) - exact_mean).abs() < 0.2 * exact_deviation);
            assert!((f64::from(deviation[k]) / exact_deviation - 1.0).abs() < 0.15);
        }
        assert!(
            r_hat(&states)
                .to_vec::<f32>()
                .iter()
                .all(|r| (r - 1.0).abs() < 0.05)
        );
    }
}
