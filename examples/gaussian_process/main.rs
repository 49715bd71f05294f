//! A curve through noisy points, with its uncertainty: the gradient of the marginal likelihood of a Gaussian process, through
//! a Cholesky factor, learns how large, how wavy and how noisy the curve is.
//!
//! Run with `cargo run --release --example gaussian_process`.

mod regression;

use jaxide::prelude::*;
use jaxide::{lax, numpy, random, tree};
use regression::{Kernel, misfit, predict};

const RATE: f64 = 0.05;
const NOISE: f64 = 0.15;

/// Places `[n, 1]` and what was seen there.
fn observations(count: usize) -> (Array, Array) {
    let [for_x, for_noise] = random::split(&random::key(3), 2).unpack();
    let x = random::uniform(&for_x, &[count, 1], DType::F64, -3.0, 3.0);
    let noise = random::normal(&for_noise, &[count], DType::F64) * NOISE;
    let y = curve(&x.reshape(&[-1])) + noise;
    (x, y)
}

fn curve(x: &Array) -> Array {
    (x * 2.0).sin() + x * 0.5
}

/// The kernel after steps against the gradient of the misfit, and the misfits on the way.
fn fit(kernel: Kernel, x: Array, y: Array, steps: usize) -> (Kernel, Array) {
    scan(
        |kernel: Kernel, (): ()| {
            let (value, gradient) = value_and_grad(misfit)(kernel.clone(), x.clone(), y.clone());
            let next = tree::map2(|k, g| k - RATE * g, &kernel, &gradient);
            (next.expect("a gradient is like its argument"), value)
        },
        kernel,
        (),
        steps,
    )
}

/// A kernel that knows nothing yet.
fn start() -> Kernel {
    Kernel {
        amplitude: Array::zeros(&[], DType::F64),
        lengths: Array::zeros(&[1], DType::F64),
        noise: lax::full(&[], 0.0, DType::F64),
    }
}

fn main() -> Result<()> {
    let (x, y) = observations(40);
    let learn = jit(|kernel: Kernel, x: Array, y: Array| fit(kernel, x, y, 400));
    let (kernel, misfits) = learn.try_call((start(), x.clone(), y.clone()))?;

    println!("step   misfit per point");
    for step in (0..400).step_by(50) {
        println!("{step:>4}   {:>8.4}", misfits.index(step).item::<f64>());
    }
    let learnt = |x: &Array| x.exp().to_vec::<f64>()[0];
    println!(
        "\nsize {:.2}, length of waves {:.2}, noise {:.3} (drawn with {NOISE})\n",
        learnt(&kernel.amplitude),
        learnt(&kernel.lengths),
        learnt(&kernel.noise)
    );

    let at = numpy::linspace(-4.0, 4.0, COLUMNS).astype(DType::F64);
    let (mean, variance) = predict(&kernel, &x, &y, &at.reshape(&[-1, 1]));
    let deviation = variance.maximum(0.0).sqrt();
    let [low, high] = [&mean - 2.0 * &deviation, &mean + 2.0 * &deviation];
    print!("{}", picture(&x, &y, &mean, &low, &high));
    println!("o observed   * mean   . two standard deviations");
    Ok(())
}

const COLUMNS: usize = 96;
const ROWS: usize = 24;

/// Points and curves from -4 to 4 and from -3 to 3, on a map of text.
fn picture(x: &Array, y: &Array, mean: &Array, low: &Array, high: &Array) -> String {
    let mut map = vec![vec![' '; COLUMNS]; ROWS];
    let mut mark = |column: usize, y: f64, with: char| {
        let row = ((3.0 - y) / 6.0 * (ROWS - 1) as f64).round();
        if (0.0..ROWS as f64).contains(&row) {
            map[row as usize][column] = with;
        }
    };
    for (curve, with) in [(low, '.'), (high, '.'), (mean, '*')] {
        for (column, y) in curve.to_vec::<f64>().into_iter().enumerate() {
            mark(column, y, with);
        }
    }
    for (x, y) in x.to_vec::<f64>().into_iter().zip(y.to_vec::<f64>()) {
        let column = (x + 4.0) / 8.0 * (COLUMNS - 1) as f64;
        mark(column.round() as usize, y, 'o');
    }
    map.into_iter()
        .map(|row| row.into_iter().collect::<String>().trim_end().to_owned() + "\n")
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_noise_is_found_and_the_curve_followed() {
        let (x, y) = observations(40);
        let learn = jit(|kernel: Kernel, x: Array, y: Array| fit(kernel, x, y, 300));
        let (kernel, misfits) = learn(start(), x.clone(), y.clone());
        let falls = misfits.slice(1..).lt(misfits.slice(..299)).mean();
        assert!(falls.item::<f32>() > 0.99);
        let noise = kernel.noise.exp().item::<f64>();
        assert!((noise - NOISE).abs() < 0.05, "{noise}");
        let (mean, variance) = predict(&kernel, &x, &y, &x);
        let far = (mean - curve(&x.reshape(&[-1]))).abs() / variance.sqrt();
        assert!(far.max().item::<f64>() < 3.5);
    }
}
