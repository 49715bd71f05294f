//! Loops under `vmap` whose lanes stop one by one, with states that fit in registers and states that do not.

use jaxide::prelude::*;
use jaxide::with_interpreter;

/// Sizes around those that keep the state of three lanes in registers.
const LENGTHS: [usize; 10] = [1, 2, 8, 33, 64, 65, 86, 100, 165, 3000];

/// Doubles a state until it is large, counting; `x` says how fast.
fn grow(n: usize) -> impl Fn(Array, Array) -> (Array, Array) + Clone + Send + Sync + 'static {
    move |x: Array, state: Array| {
        let mask: Vec<f32> = (0..n).map(|k| (k % 3) as f32).collect();
        let step = Array::from_vec(&[n][..], mask);
        let start = (Array::from(0i32), state);
        let speed = x.clone();
        while_loop(
            move |(turns, _): (Array, Array)| turns.lt(&x),
            move |(turns, state): (Array, Array)| (turns + 1, state * 2 + &step * &speed),
            start,
        )
    }
}

#[test]
fn a_lane_that_has_stopped_keeps_its_values() {
    for n in LENGTHS {
        for lanes in [1usize, 3, 9] {
            let x = Array::from_vec(
                &[lanes][..],
                (0..lanes).map(|k| (k * 5 % 4) as f32).collect(),
            );
            let state = Array::ones([lanes, n], DType::F32);
            let f = grow(n);
            let want = with_interpreter(|| vmap(f.clone())(x.clone(), state.clone()));
            let ways = [
                vmap(f.clone())(x.clone(), state.clone()),
                jit(vmap(f.clone()))(x.clone(), state.clone()),
                vmap(jit(f.clone()))(x.clone(), state.clone()),
            ];
            for got in ways {
                assert_eq!(got.0.value(), want.0.value(), "{lanes} lanes of {n}");
                assert_eq!(got.1.value(), want.1.value(), "{lanes} lanes of {n}");
            }
        }
    }
}

/// A product in the body, and a state that is set to what the loop does not change.
#[test]
fn products_and_constants_in_bodies_stop_with_their_lane() {
    for n in [3usize, 16, 40, 96] {
        let weights: Vec<f32> = (0..n * n).map(|k| ((k * 7) % 5) as f32 * 0.125).collect();
        let weights = Array::from_vec(&[n, n], weights);
        let constant = Array::from_vec(&[n][..], (0..n).map(|k| k as f32).collect());
        let f = move |limit: Array, state: Array| {
            let (weights, constant) = (weights.clone(), constant.clone());
            let start = (Array::from(0i32), state.clone(), state);
            while_loop(
                move |(turns, _, _): (Array, Array, Array)| turns.lt(&limit),
                move |(turns, state, _): (Array, Array, Array)| {
                    (turns + 1, weights.dot(&state).tanh(), constant.clone())
                },
                start,
            )
        };
        let limits = Array::from([2i32, 0, 3, 1]);
        let states = Array::ones([4, n], DType::F32);
        let want = with_interpreter(|| vmap(f.clone())(limits.clone(), states.clone()));
        let got = jit(vmap(f.clone()))(limits, states);
        assert_eq!(got.0.value(), want.0.value());
        assert_eq!(got.2.value(), want.2.value(), "length {n}");
        let apart = (got.1 - want.1).abs().max().item::<f32>();
        assert!(apart < 1e-5, "length {n}: {apart}");
    }
}

/// A slice of what a scan reads is updated, and the whole is read afterwards.
#[test]
fn updates_of_slices_leave_the_array_alone() {
    for n in [1usize, 2, 5, 17, 64, 1000] {
        let f = |x: Array| {
            let (_, sums) = scan(
                |carry: Array, row: Array| {
                    let row = row.at([0i32]).set(1.0);
                    (&carry + row.mean(), row.sum())
                },
                Array::zeros([2], DType::F32),
                x.clone(),
                3,
            );
            (sums, x * 2.0)
        };
        let x = Array::from_vec(&[3, n], (0..3 * n).map(|k| (k % 7) as f32).collect());
        let want = with_interpreter(|| f(x.clone()));
        let got = jit(f)(x);
        assert_eq!(got.1.value(), want.1.value(), "length {n}");
        assert_eq!(got.0.value(), want.0.value(), "length {n}");
    }
}

/// Rows that a gather copies in the body, by indices that the loop does not change.
#[test]
fn gathers_in_bodies_have_their_indices_at_hand() {
    for (rows, n) in [(1usize, 1usize), (3, 16), (4, 64), (7, 1000)] {
        let f = move |x: Array| {
            let order: Vec<i32> = (0..rows as i32).rev().collect();
            let order = Array::from_vec(&[rows][..], order);
            scan(
                move |carry: Array, row: Array| (carry.index(&order) + &row, row.sum()),
                Array::zeros([rows, n], DType::F32),
                x,
                rows,
            )
        };
        let x = Array::from_vec(&[rows, n], (0..rows * n).map(|k| (k % 9) as f32).collect());
        let want = with_interpreter(|| f(x.clone()));
        for got in [f(x.clone()), jit(f)(x)] {
            assert_eq!(got.0.value(), want.0.value(), "{rows} rows of {n}");
            assert_eq!(got.1.value(), want.1.value(), "{rows} rows of {n}");
        }
    }
    // The carry itself is all that is asked for.
    let f = |x: Array| {
        let step = |carry: Array, _: Array| (carry.index([1i32, 0, 2]), carry);
        let _ = scan(step, x.clone(), x, 3);
        Array::from(1.0f32)
    };
    let x = Array::zeros([3, 4, 16], DType::F32);
    assert_eq!(jit(f)(x.clone()).item::<f32>(), f(x).item::<f32>());
}
