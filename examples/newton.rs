//! Roots, and how they move: Newton's method finds where a planet is on its orbit, and `custom_root` gives the derivatives
//! of that place by the implicit function theorem, without looking into the steps of the method.
//!
//! Kepler's equation `E - e sin E = M` ties the mean anomaly `M`, which grows evenly with time, to the eccentric anomaly
//! `E`, the angle on the orbit; `e` is the eccentricity.
//!
//! Run with `cargo run --release --example newton`.

use std::f64::consts::PI;

use jaxide::prelude::*;
use jaxide::{Argnum, custom_root, numpy};

const TOLERANCE: f64 = 1e-12;

/// Zero at the eccentric anomaly.
fn kepler(anomaly: Array, mean: Array, eccentricity: Array) -> Array {
    &anomaly - eccentricity * anomaly.sin() - mean
}

/// The eccentric anomaly at a mean anomaly.
fn eccentric_anomaly(mean: Array, eccentricity: Array) -> Array {
    let newton = |_: &dyn Fn(Array) -> Array, start: Array| {
        let unfinished = |(_, step): (Array, Array)| step.abs().gt(TOLERANCE);
        let improve = |(x, _): (Array, Array)| {
            let equation = value_and_grad(kepler);
            let (value, slope) = equation(x.clone(), mean.clone(), eccentricity.clone());
            let step = value / slope;
            (x - &step, step)
        };
        let far = numpy::full_like(&start, 1.0);
        while_loop(unfinished, improve, (start, far)).0
    };
    custom_root(
        |anomaly: Array| kepler(anomaly, mean.clone(), eccentricity.clone()),
        numpy::full_like(&mean, PI),
        newton,
        // The equation along its tangent is one division.
        |tangent, rhs| rhs / tangent(Array::from(1.0)),
    )
}

/// The place on an orbit of size one, seen from the sun.
fn place(mean: Array, eccentricity: Array) -> Array {
    let anomaly = eccentric_anomaly(mean, eccentricity.clone());
    let x = anomaly.cos() - &eccentricity;
    let y = (1.0f64 - eccentricity.square()).sqrt() * anomaly.sin();
    numpy::stack(&[x, y], 0)
}

fn main() -> Result<()> {
    let eccentricity = Array::from_vec(&[], vec![0.6f64]);
    let count = 25;
    let means = Array::from(
        (0..count)
            .map(|k| 2.0 * PI * f64::from(k) / f64::from(count))
            .collect::<Vec<f64>>(),
    );

    let along = |f: fn(Array, Array) -> Array| jit(vmap(f).in_axes((0, None)));
    let anomalies = along(eccentric_anomaly)(means.clone(), eccentricity.clone());
    let by_mean = jit(vmap(grad(eccentric_anomaly)).in_axes((0, None)));
    let by_eccentricity =
        jit(vmap(grad(eccentric_anomaly).argnums(Argnum::<1>)).in_axes((0, None)));
    let slopes = by_mean(means.clone(), eccentricity.clone()).to_vec::<f64>();
    let shifts = by_eccentricity(means.clone(), eccentricity.clone()).to_vec::<f64>();

    println!("Kepler's equation E - e sin E = M for e = 0.6\n");
    println!("     M        E        dE/dM    exact      dE/de    exact");
    let e = eccentricity.item::<f64>();
    for (k, anomaly) in anomalies.to_vec::<f64>().into_iter().enumerate().step_by(2) {
        let below = 1.0 - e * anomaly.cos();
        println!(
            "{:>8.4} {anomaly:>8.4}   {:>8.4} {:>8.4}   {:>8.4} {:>8.4}",
            means.to_vec::<f64>()[k],
            slopes[k],
            1.0 / below,
            shifts[k],
            anomaly.sin() / below
        );
    }

    println!("\nThe planet at {count} equal times; the sun is at *\n");
    let places = along(place)(means, eccentricity).to_vec::<f64>();
    print!("{}", picture(&places));
    Ok(())
}

/// Points on a map of text.
fn picture(points: &[f64]) -> String {
    const COLUMNS: usize = 64;
    const ROWS: usize = 22;
    let mut map = vec![vec![' '; COLUMNS]; ROWS];
    let mut mark = |x: f64, y: f64, with: char| {
        let column = (x + 1.7) / 2.2 * (COLUMNS - 1) as f64;
        let row = (1.0 - y) / 2.0 * (ROWS - 1) as f64;
        map[row.round() as usize][column.round() as usize] = with;
    };
    mark(0.0, 0.0, '*');
    points
        .chunks(2)
        .for_each(|point| mark(point[0], point[1], 'o'));
    map.into_iter()
        .map(|row| row.into_iter().collect::<String>().trim_end().to_owned() + "\n")
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scalar(value: f64) -> Array {
        Array::from_vec(&[], vec![value])
    }

    #[test]
    fn derivatives_follow_the_implicit_function_theorem() {
        for (mean, e) in [(0.3, 0.1), (1.0, 0.6), (3.0, 0.9)] {
            let anomaly = eccentric_anomaly(scalar(mean), scalar(e)).item::<f64>();
            assert!((anomaly - e * anomaly.sin() - mean).abs() < 1e-12);
            let (by_mean, by_eccentricity) = grad(eccentric_anomaly)
                .argnums((Argnum::<0>, Argnum::<1>))(
                scalar(mean), scalar(e)
            );
            let below = 1.0 - e * anomaly.cos();
            assert!((by_mean.item::<f64>() - 1.0 / below).abs() < 1e-10);
            assert!((by_eccentricity.item::<f64>() - anomaly.sin() / below).abs() < 1e-10);
            // d²E/dM² = -e sin E / (1 - e cos E)³
            let second = grad(grad(eccentric_anomaly))(scalar(mean), scalar(e)).item::<f64>();
            assert!((second + e * anomaly.sin() / below.powi(3)).abs() < 1e-8);
        }
    }
}
