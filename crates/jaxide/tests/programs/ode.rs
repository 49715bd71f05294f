//! A differential equation with steps of adapted length, and the gradient of its solution by the adjoint equation.
//!
//! The equation is that of Lotka and Volterra; the method is that of Dormand and Prince (1980), of order five with an
//! error estimate of order four. The adjoint runs back through time as another such equation, so that no steps are kept.

use jaxide::prelude::*;
use jaxide::{custom_vjp, lax, numpy, random, tree, value_and_grad_with_aux};

use super::{Prepared, Size};

const TOLERANCE: f64 = 1e-6;
const FIRST_STEP: f64 = 0.05;
const SAME: &str = "slopes are like states";

/// What each stage takes of the slopes before it; the last row is the solution, at which the next step begins.
const STAGES: [&[f64]; 6] = [
    &[1.0 / 5.0],
    &[3.0 / 40.0, 9.0 / 40.0],
    &[44.0 / 45.0, -56.0 / 15.0, 32.0 / 9.0],
    &[
        19372.0 / 6561.0,
        -25360.0 / 2187.0,
        64448.0 / 6561.0,
        -212.0 / 729.0,
    ],
    &[
        9017.0 / 3168.0,
        -355.0 / 33.0,
        46732.0 / 5247.0,
        49.0 / 176.0,
        -5103.0 / 18656.0,
    ],
    &[
        35.0 / 384.0,
        0.0,
        500.0 / 1113.0,
        125.0 / 192.0,
        -2187.0 / 6784.0,
        11.0 / 84.0,
    ],
];

/// The solution less that of order four, in slopes.
const ERROR: [f64; 7] = [
    71.0 / 57600.0,
    0.0,
    -71.0 / 16695.0,
    71.0 / 1920.0,
    -17253.0 / 339_200.0,
    22.0 / 525.0,
    -1.0 / 40.0,
];

/// The sum of slopes times weights.
fn weighted<S: Pytree<Array>>(weights: &[f64], slopes: &[S]) -> S {
    let mut terms = weights
        .iter()
        .zip(slopes)
        .filter(|(weight, _)| **weight != 0.0);
    let (weight, first) = terms.next().expect("a stage has slopes");
    let start = tree::map(|k| k * *weight, first).expect(SAME);
    terms.fold(start, |sum, (weight, slope)| {
        tree::map2(|sum, k| sum + k * *weight, &sum, slope).expect(SAME)
    })
}

/// The state after `duration`.
fn integrate<S: Pytree<Array> + Clone>(field: impl Fn(S) -> S, start: S, duration: &Array) -> S {
    let unfinished = |(time, _, _, _): (Array, S, S, Array)| time.lt(duration);
    let advance = |(time, state, slope, step): (Array, S, S, Array)| {
        let left = duration - &time;
        let last = step.ge(&left);
        let step = step.minimum(left);

        let mut slopes = vec![slope.clone()];
        let mut reached = state.clone();
        for weights in STAGES {
            let rise = weighted(weights, &slopes);
            reached = tree::map2(|y, k| y + &step * k, &state, &rise).expect(SAME);
            slopes.push(field(reached.clone()));
        }

        let error = weighted(&ERROR, &slopes);
        let share = |error: &Array, before: &Array, after: &Array| {
            let scale = TOLERANCE + TOLERANCE * before.abs().maximum(after.abs());
            (&step * error / scale).square().sum()
        };
        let shares = tree::map3(share, &error, &state, &reached).expect(SAME);
        let count: usize = tree::leaves(&state).iter().map(Array::size).sum();
        let squared = tree::fold(|sum, share| sum + share, &shares, Array::from(0.0));
        let ratio = (squared / count as f64).sqrt();

        let accepted = ratio.le(1.0);
        let choose = |new: &Array, old: &Array| numpy::where_(&accepted, new, old);
        let ahead = numpy::where_(&last, duration, &(&time + &step));
        let factor = numpy::clip(&(0.9 * ratio.pow(-0.2)), 0.2, 10.0);
        let end = slopes.pop().expect("there are slopes");
        (
            choose(&ahead, &time),
            tree::map2(choose, &reached, &state).expect(SAME),
            tree::map2(choose, &end, &slope).expect(SAME),
            step * factor,
        )
    };
    let zero = numpy::full_like(duration, 0.0);
    let step = duration.minimum(FIRST_STEP);
    let slope = field(start.clone());
    while_loop(unfinished, advance, (zero, start, slope, step)).1
}

#[derive(Clone, Pytree)]
struct State {
    prey: Array,
    predators: Array,
}

#[derive(Clone, Pytree)]
struct Rates {
    birth: Array,
    hunt: Array,
    growth: Array,
    death: Array,
}

fn field(state: State, rates: Rates) -> State {
    let meetings = &state.prey * &state.predators;
    State {
        prey: rates.birth * state.prey - rates.hunt * &meetings,
        predators: rates.growth * meetings - rates.death * state.predators,
    }
}

/// The state after `duration`, with a gradient by the adjoint equation.
fn solve(start: State, rates: Rates, duration: Array) -> State {
    let forward = |start: State, rates: Rates, duration: Array| {
        integrate(|state| field(state, rates.clone()), start, &duration)
    };
    let keep = move |start: State, rates: Rates, duration: Array| {
        let end = forward(start, rates.clone(), duration.clone());
        (end.clone(), (end, rates, duration))
    };
    let back = |(end, rates, duration): (State, Rates, Array), cotangent: State| {
        let reversed = |(state, adjoint, _): (State, State, Rates)| {
            let (slope, pullback) = vjp(field, (state, rates.clone()));
            let (by_state, by_rates) = pullback.apply(&adjoint);
            let slope = tree::map(|slope| -slope, &slope).expect(SAME);
            (slope, by_state, by_rates)
        };
        let slope = field(end.clone(), rates.clone());
        let products = tree::map2(|g, k| g * k, &cotangent, &slope).expect(SAME);
        let by_duration = tree::fold(|sum, product| sum + product, &products, Array::from(0.0));
        let none = tree::map(|rate| rate * 0.0, &rates).expect(SAME);
        let (_, by_start, by_rates) = integrate(reversed, (end, cotangent, none), &duration);
        (by_start, by_rates, by_duration)
    };
    custom_vjp(forward, keep, back)(start, rates, duration)
}

/// States at even times.
fn trajectory(start: State, rates: &Rates, interval: &Array, times: usize) -> State {
    let advance = |state: State, (): ()| {
        let next = solve(state, rates.clone(), interval.clone());
        (next.clone(), next)
    };
    scan(advance, start, (), times).1
}

/// The mean squared distance of trajectories from what was seen, and the trajectories.
fn misfit(rates: Rates, starts: State, seen: State, interval: Array) -> (Array, State) {
    let times = seen.prey.shape()[1];
    let one = move |start: State, rates: Rates, interval: Array| {
        trajectory(start, &rates, &interval, times)
    };
    let found = vmap(one).in_axes((0, None, None))(starts, rates, interval);
    let loss = (&found.prey - seen.prey).square().mean()
        + (&found.predators - seen.predators).square().mean();
    (loss, found)
}

pub(crate) fn prepare(size: Size) -> Prepared {
    let (count, times) = size.pick((3, 4), (64, 20));
    let [for_starts, for_prey, for_predators] = random::split(&random::key(5), 3).unpack();
    let near = |key: &Array, shape: &[usize]| random::uniform(key, shape, DType::F64, 0.5, 2.0);
    let starts = near(&for_starts, &[2, count]);
    let rate = |value: f64| lax::full(&[], value, DType::F64);
    let rates = Rates {
        birth: rate(1.1),
        hunt: rate(0.9),
        growth: rate(0.8),
        death: rate(1.2),
    };
    let starts = State {
        prey: starts.index(0),
        predators: starts.index(1),
    };
    let seen = State {
        prey: near(&for_prey, &[count, times]),
        predators: near(&for_predators, &[count, times]),
    };
    let fit = |rates: Rates, starts: State, seen: State, interval: Array| {
        value_and_grad_with_aux(misfit)(rates, starts, seen, interval)
    };
    Prepared::new(fit, (rates, starts, seen, rate(0.5)))
}
