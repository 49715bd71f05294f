//! A differential equation learnt from one of its trajectories: the gradient goes back through every Runge-Kutta step of
//! the solver, which is a `scan`.
//!
//! Run with `cargo run --release --example neural_ode`; it writes `neural_ode.svg`.

use std::fmt::Write as _;
use std::time::Instant;

use jaxide::prelude::*;
use jaxide::{numpy, random, tree};

/// Length of a step in time.
const STEP: f64 = 0.05;
/// Steps of the trajectory.
const STEPS: usize = 120;
const HIDDEN: usize = 24;
const LEARNING_RATE: f64 = 0.02;

/// The velocity at a point `[x, y]`, as a network of one hidden layer.
#[derive(Clone, Pytree)]
struct Field {
    inner: Array,
    shift: Array,
    outer: Array,
}

impl Field {
    fn new(key: &Array) -> Self {
        let [inner, shift, outer] = random::split(key, 3).unpack();
        Field {
            inner: random::normal(&inner, &[2, HIDDEN], DType::F32),
            shift: random::normal(&shift, &[HIDDEN], DType::F32),
            outer: random::normal(&outer, &[HIDDEN, 2], DType::F32) * 0.1,
        }
    }

    fn velocity(&self, point: &Array) -> Array {
        (point.dot(&self.inner) + &self.shift)
            .tanh()
            .dot(&self.outer)
    }
}

/// What is to be learnt: a spiral that is fast outside and slow inside.
fn spiral(point: &Array) -> Array {
    let [x, y] = point.powi(3).unpack();
    numpy::stack(&[-0.1 * &x + 2.0 * &y, -2.0 * &x - 0.1 * &y], 0)
}

/// The points of a trajectory, by the classical Runge-Kutta method: shape `[STEPS, 2]`.
fn trajectory(velocity: impl Fn(&Array) -> Array, start: Array) -> Array {
    let step = |point: Array, (): ()| {
        let k1 = velocity(&point);
        let k2 = velocity(&(&point + STEP / 2.0 * &k1));
        let k3 = velocity(&(&point + STEP / 2.0 * &k2));
        let k4 = velocity(&(&point + STEP * &k3));
        let next = &point + STEP / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4);
        (next, point)
    };
    let (_, points) = scan(step, start, (), STEPS);
    points
}

/// The mean squared distance of the field's trajectory from the observed one.
fn loss(field: Field, observed: Array) -> Array {
    let fitted = trajectory(|point| field.velocity(point), observed.index(0));
    (fitted - observed).square().sum_axes(-1).mean()
}

/// The state of Adam: the field, and running means of its gradient and of the gradient's square.
#[derive(Clone, Pytree)]
struct Adam {
    field: Field,
    mean: Field,
    square: Field,
}

impl Adam {
    fn new(field: Field) -> Self {
        let zeros = combine(|x, _| x * 0.0, &field, &field);
        Adam {
            field,
            mean: zeros.clone(),
            square: zeros,
        }
    }

    /// Step number `t`, counted from one. Kingma and Ba, "Adam", 2015.
    fn step(self, gradient: &Field, t: Array) -> Self {
        let mean = combine(|m, g| 0.9 * m + 0.1 * g, &self.mean, gradient);
        let square = combine(|s, g| 0.99 * s + 0.01 * g.square(), &self.square, gradient);
        let unbiased = |decay: f64| 1.0 - Array::from(decay).pow(&t);
        let (of_mean, of_square) = (unbiased(0.9), unbiased(0.99));
        let direction = combine(
            |m, s| m / &of_mean / ((s / &of_square).sqrt() + 1e-8),
            &mean,
            &square,
        );
        let field = combine(|w, d| w - LEARNING_RATE * d, &self.field, &direction);
        Adam {
            field,
            mean,
            square,
        }
    }
}

/// A field whose arrays are made of those of two others.
fn combine(f: impl Fn(&Array, &Array) -> Array, a: &Field, b: &Field) -> Field {
    tree::map2(f, a, b).expect("fields have the same structure")
}

/// Fits a field to a trajectory; gives the field, and the losses on the way.
fn fit(observed: &Array, iterations: usize) -> Result<(Field, Vec<f32>)> {
    let improve = jit(|adam: Adam, observed: Array, t: Array| {
        let (loss, gradient) = value_and_grad(loss)(adam.field.clone(), observed);
        (loss, adam.step(&gradient, t))
    });
    let mut adam = Adam::new(Field::new(&random::key(0)));
    let mut losses = Vec::new();
    for t in 1..=iterations {
        let t = Array::from(t as f32);
        let (loss, next) = improve.try_call((adam, observed.clone(), t))?;
        adam = next;
        losses.push(loss.item());
    }
    Ok((adam.field, losses))
}

fn main() -> Result<()> {
    let observed = trajectory(spiral, Array::from([1.6f32, 0.0]));
    let iterations = 2000;
    let start = Instant::now();
    let (field, losses) = fit(&observed, iterations)?;
    let seconds = start.elapsed().as_secs_f64();

    println!("iteration       loss");
    for (number, loss) in losses.iter().enumerate().step_by(iterations / 10) {
        println!("{number:>9}   {loss:.6}   {}", bar(*loss));
    }
    println!("\n{iterations} gradients through {STEPS} Runge-Kutta steps in {seconds:.2} s\n");

    let fitted = trajectory(|point| field.velocity(point), observed.index(0));
    println!("  time   observed x, y        fitted x, y");
    let (wanted, found) = (observed.to_vec::<f32>(), fitted.to_vec::<f32>());
    for step in (0..STEPS).step_by(10) {
        let (w, f) = (&wanted[2 * step..], &found[2 * step..]);
        let time = STEP * step as f64;
        println!(
            "{time:>6.2}   {:>8.4} {:>8.4}   {:>8.4} {:>8.4}",
            w[0], w[1], f[0], f[1]
        );
    }
    std::fs::write("neural_ode.svg", picture(&wanted, &found)).map_err(|error| {
        Error::new(
            jaxide::ErrorKind::Io,
            format!("neural_ode.svg cannot be written: {error}"),
        )
    })?;
    println!("\nwrote neural_ode.svg: dots observed, line fitted");
    Ok(())
}

/// The observed points and the fitted line.
fn picture(observed: &[f32], fitted: &[f32]) -> String {
    let mut svg = String::from(
        "<svg xmlns='http://www.w3.org/2000/svg' viewBox='-2 -2 4 4' width='600' height='600'>\n\
         <rect x='-2' y='-2' width='4' height='4' fill='#0b1020'/>\n\
         <polyline fill='none' stroke='#ffb454' stroke-width='0.03' points='",
    );
    for point in fitted.chunks(2) {
        let _ = write!(svg, "{:.3},{:.3} ", point[0], -point[1]);
    }
    svg.push_str("'/>\n");
    for point in observed.chunks(2) {
        let (x, y) = (point[0], -point[1]);
        let _ = writeln!(
            svg,
            "<circle cx='{x:.3}' cy='{y:.3}' r='0.025' fill='#59c2ff'/>"
        );
    }
    svg.push_str("</svg>\n");
    svg
}

/// A bar whose length is the logarithm of the loss.
fn bar(loss: f32) -> String {
    "#".repeat(((loss.log10() + 5.0).max(0.0) * 8.0) as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fit_improves() {
        let observed = trajectory(spiral, Array::from([1.6f32, 0.0]));
        let (_, losses) = fit(&observed, 200).expect("a fit");
        let (first, last) = (losses[0], losses[losses.len() - 1]);
        assert!(last < first / 5.0, "{first} to {last}");
    }

    #[test]
    fn the_solver_is_of_fourth_order() {
        // x' = y, y' = -x from (1, 0) is (cos t, -sin t).
        let circle = |point: &Array| {
            let [x, y] = point.unpack();
            numpy::stack(&[y, -x], 0)
        };
        let points = trajectory(circle, Array::from([1.0f64, 0.0])).to_vec::<f64>();
        let time = STEP * (STEPS - 1) as f64;
        assert!((points[2 * (STEPS - 1)] - time.cos()).abs() < time * STEP.powi(4) / 60.0);
    }
}
