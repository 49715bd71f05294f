//! What a call of a jitted function costs when its program exists.
//!
//! `cargo bench -p jaxide --bench calls` prints the shortest and the median time of calls that compute next to nothing, in
//! nanoseconds. Names given behind `--` choose cases by their beginning.

use std::collections::BTreeMap;
use std::hint::black_box;
use std::time::Instant;

use jaxide::prelude::*;

type Call = Box<dyn FnMut()>;
/// A name, and what makes the call.
type Case = (&'static str, fn() -> Call);

const CASES: [Case; 7] = [
    ("scalar, passed on", || {
        let f = jit(|x: Array| x * 0.5 + 1.0);
        let mut x = Some(Array::from(1.0f32));
        Box::new(move || {
            if let Some(own) = x.take() {
                x = Some(f(own));
            }
        })
    }),
    ("scalar, cloned", || {
        let f = jit(|x: Array| x * 0.5 + 1.0);
        let x = Array::from(1.0f32);
        Box::new(move || drop(black_box(f(x.clone()))))
    }),
    ("vector of 8", || {
        let f = jit(|x: Array| x * 0.5 + 1.0);
        let x = Array::from([1.0f32; 8]);
        Box::new(move || drop(black_box(f(x.clone()))))
    }),
    ("list of 100 scalars to one", || {
        let f = jit(|x: Vec<Array>| x[0].clone() + &x[99]);
        let x = scalars();
        Box::new(move || drop(black_box(f(x.clone()))))
    }),
    ("list of 100 scalars", || {
        let f = jit(|x: Vec<Array>| x.into_iter().map(|x| x * 0.5).collect::<Vec<Array>>());
        let mut x = scalars();
        Box::new(move || x = f(std::mem::take(&mut x)))
    }),
    ("list of 100 vectors", || {
        let f = jit(|x: Vec<Array>| x.into_iter().map(|x| x * 0.5).collect::<Vec<Array>>());
        let mut x = vec![Array::from([1.0f32; 8]); 100];
        Box::new(move || x = f(std::mem::take(&mut x)))
    }),
    ("map of 100 scalars", || {
        let f = jit(|x: BTreeMap<String, Array>| {
            let halves = x.into_iter().map(|(name, x)| (name, x * 0.5));
            halves.collect::<BTreeMap<String, Array>>()
        });
        let names = (0..100).map(|k| format!("weight{k:02}"));
        let mut x: BTreeMap<String, Array> = names.zip(scalars()).collect();
        Box::new(move || x = f(std::mem::take(&mut x)))
    }),
];

fn scalars() -> Vec<Array> {
    (0..100).map(|k| Array::from(k as f32)).collect()
}

/// Calls that are timed together.
const BATCH: u32 = 100;

fn main() {
    let wanted: Vec<String> = std::env::args()
        .skip(1)
        .filter(|arg| !arg.starts_with('-'))
        .collect();
    println!("{:<30}{:>10}{:>10}", "call", "shortest", "median");
    for (name, call) in CASES {
        if !wanted.is_empty() && !wanted.iter().any(|wanted| name.starts_with(&**wanted)) {
            continue;
        }
        let mut call = call();
        let mut times: Vec<f64> = (0..2000)
            .map(|_| {
                let start = Instant::now();
                (0..BATCH).for_each(|_| call());
                start.elapsed().as_secs_f64() * 1e9 / f64::from(BATCH)
            })
            .collect();
        times.sort_by(f64::total_cmp);
        println!(
            "{name:<30}{:>10.0}{:>10.0}",
            times[0],
            times[times.len() / 2]
        );
    }
}
