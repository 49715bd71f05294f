//! The Lorenz attractor: a Runge-Kutta step, repeated by `scan`, mapped over a thousand trajectories by `vmap`, compiled
//! by `jit`, and drawn.
//!
//! Run with `cargo run --release --example lorenz`; it writes `lorenz.svg`.

use std::fmt::Write as _;
use std::time::Instant;

use jaxide::numpy;
use jaxide::prelude::*;

/// Length of a step in time.
const STEP: f64 = 0.01;

/// Steps of a trajectory.
const STEPS: usize = 1000;

/// The velocity at a point `[x, y, z]`.
fn lorenz(state: &Array) -> Array {
    let [x, y, z] = state.unpack();
    let dx = 10.0 * (&y - &x);
    let dy = &x * (28.0 - &z) - &y;
    let dz = x * y - (8.0 / 3.0) * z;
    numpy::stack(&[dx, dy, dz], 0)
}

/// One step of the classical Runge-Kutta method of order four.
fn runge_kutta(state: Array) -> Array {
    let k1 = lorenz(&state);
    let k2 = lorenz(&(&state + (STEP / 2.0) * &k1));
    let k3 = lorenz(&(&state + (STEP / 2.0) * &k2));
    let k4 = lorenz(&(&state + STEP * &k3));
    state + (STEP / 6.0) * (k1 + 2.0 * k2 + 2.0 * k3 + k4)
}

/// All states of a trajectory.
fn trajectory(start: Array) -> Array {
    let (_, states) = scan(
        |state: Array, (): ()| {
            let next = runge_kutta(state);
            (next.clone(), next)
        },
        start,
        (),
        STEPS,
    );
    states
}

fn main() -> Result<()> {
    let count = 1000;
    // A small cloud of starting points.
    let offsets = numpy::linspace(-1.0, 1.0, count);
    let starts = numpy::stack(&[&offsets + 1.0, &offsets * 0.5 + 1.0, 20.0 + &offsets], 1);

    let simulate = jit(vmap(trajectory));
    let start = Instant::now();
    let states = simulate(starts.clone());
    let first = start.elapsed();
    let start = Instant::now();
    let states_again = simulate(starts);
    let again = start.elapsed();
    assert_eq!(
        states.value(),
        states_again.value(),
        "the same program gives the same bits"
    );
    println!(
        "{count} trajectories of {STEPS} steps: {:.1} ms with compilation, {:.2} ms without",
        first.as_secs_f64() * 1e3,
        again.as_secs_f64() * 1e3
    );

    let points = states.to_vec::<f32>();
    std::fs::write("lorenz.svg", picture(&points, count)).map_err(|error| {
        Error::new(
            jaxide::ErrorKind::Io,
            format!("lorenz.svg cannot be written: {error}"),
        )
    })?;
    println!("wrote lorenz.svg");
    Ok(())
}

/// Some of the trajectories, seen from the side: x to the right, z upwards.
fn picture(points: &[f32], count: usize) -> String {
    let shown = 24;
    let mut svg = String::from(
        "<svg xmlns='http://www.w3.org/2000/svg' viewBox='-26 -2 52 52' width='800' height='800'>\n\
         <rect x='-26' y='-2' width='52' height='52' fill='#0b1020'/>\n",
    );
    for line in 0..shown {
        let row = line * count / shown;
        let hue = 180 + 160 * line / shown;
        let _ = write!(
            svg,
            "<polyline fill='none' stroke='hsl({hue},80%,65%)' stroke-width='0.06' opacity='0.7' points='"
        );
        for step in 0..STEPS {
            let at = (row * STEPS + step) * 3;
            let _ = write!(svg, "{:.2},{:.2} ", points[at], 48.0 - points[at + 2]);
        }
        svg.push_str("'/>\n");
    }
    svg.push_str("</svg>\n");
    svg
}
