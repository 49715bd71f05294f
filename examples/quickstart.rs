//! One closure, seen from all sides: its jaxpr, its gradient, its batched form, and its native code beside the
//! interpreter.
//!
//! Run with `cargo run --release --example quickstart`.

use std::time::{Duration, Instant};

use jaxide::core::eval;
use jaxide::prelude::*;

/// A damped wave, as one would write it for a number.
fn wave(x: Array) -> Array {
    (-(&x * &x) / 2.0).exp() * (x * 3.0).sin()
}

fn main() -> Result<()> {
    let scalar = Array::spec(DType::F32, &[]);

    println!(
        "The closure as a jaxpr:\n\n{}\n",
        make_jaxpr(wave)(scalar.clone())?
    );
    println!(
        "Its gradient is another closure, and has a jaxpr too:\n\n{}\n",
        make_jaxpr(grad(wave))(scalar)?
    );

    let batch = Array::spec(DType::F32, &[4]);
    println!(
        "Both mapped over a batch:\n\n{}\n",
        make_jaxpr(vmap(grad(wave)))(batch)?
    );

    let points = Array::from([-1.0f32, 0.0, 0.5, 1.0]);
    let (values, slopes) = (vmap(wave)(points.clone()), vmap(grad(wave))(points.clone()));
    println!("{:>8} {:>10} {:>10}", "x", "wave", "slope");
    for ((x, y), slope) in points
        .to_vec::<f32>()
        .iter()
        .zip(values.to_vec::<f32>())
        .zip(slopes.to_vec::<f32>())
    {
        println!("{x:>8.2} {y:>10.5} {slope:>10.5}");
    }

    let n = 1_000_000;
    let x = numpy_line(n);
    let fast = jit(vmap(grad(wave)));
    let start = Instant::now();
    let first = fast(x.clone());
    let compile = start.elapsed();
    let native = best_of(20, || drop(fast(x.clone())));
    let jaxpr = make_jaxpr(vmap(grad(wave)))(x.clone())?;
    let interpreted = best_of(2, || drop(eval::eval(&jaxpr, &[x.value()])));
    let reference = eval::eval(&jaxpr, &[x.value()])?;
    let worst = first
        .to_vec::<f32>()
        .iter()
        .zip(reference[0].to_vec::<f32>()?)
        .map(|(a, b)| (a - b).abs())
        .fold(0.0, f32::max);

    println!("\nThe slopes at {n} points:");
    println!(
        "  first call, tracing and compiling included  {:>10.3} ms",
        milliseconds(compile)
    );
    println!(
        "  native code                                 {:>10.3} ms",
        milliseconds(native)
    );
    println!(
        "  interpreter                                 {:>10.3} ms",
        milliseconds(interpreted)
    );
    println!("  largest difference between the two          {worst:>10.1e}");
    Ok(())
}

/// `n` points from -3 to 3.
fn numpy_line(n: usize) -> Array {
    jaxide::numpy::linspace(-3.0, 3.0, n)
}

/// The shortest of several runs.
fn best_of(runs: usize, mut f: impl FnMut()) -> Duration {
    (0..runs)
        .map(|_| {
            let start = Instant::now();
            f();
            start.elapsed()
        })
        .min()
        .unwrap_or_default()
}

fn milliseconds(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e3
}
