//! What operations and transformations cost outside `jit`, beside the same function jitted.
//!
//! `cargo bench -p jaxide --bench eager` prints a table; names given behind `--` choose cases by their beginning. With
//! `--serve` it answers on standard input instead: for a line with a case it prints the shortest times of a call in
//! microseconds, immediate and jitted, so that `benches/eager_vs_jax.py` can take turns with JAX.

use std::hint::black_box;
use std::io::{self, BufRead, Write};
use std::time::{Duration, Instant};

use jaxide::prelude::*;
use jaxide::random;

type Call = Box<dyn Fn() -> Array>;

/// A function called in two ways.
struct Case {
    name: &'static str,
    /// How many operations the immediate call runs.
    operations: usize,
    calls: fn() -> [Call; 2],
}

/// The calls of a function of arrays: as it is, and jitted.
macro_rules! calls {
    ($f:expr, $($x:ident = $value:expr),*) => {{
        let f = $f;
        let jitted = jit(f);
        $(let $x = $value;)*
        let again = ($($x.clone(),)*);
        [
            Box::new(move || f($($x.clone()),*)) as Call,
            Box::new(move || { let ($($x,)*) = again.clone(); jitted($($x),*) }) as Call,
        ]
    }};
}

/// The calls of a transformed function.
macro_rules! transformed {
    ($transform:expr, $f:expr, $($x:ident = $value:expr),*) => {{
        let (immediate, jitted) = ($transform($f), jit($transform($f)));
        $(let $x = $value;)*
        let again = ($($x.clone(),)*);
        [
            Box::new(move || immediate($($x.clone()),*)) as Call,
            Box::new(move || { let ($($x,)*) = again.clone(); jitted($($x),*) }) as Call,
        ]
    }};
}

fn normal(shape: &[usize]) -> Array {
    random::normal(&random::key(1), shape, DType::F32)
}

fn loss(w: Array, x: Array) -> Array {
    let y = (x * &w).tanh();
    (&y * &y + (-&y).exp() * 0.5).mean()
}

fn network(w: Array, x: Array) -> Array {
    x.matmul(&w).tanh().matmul(&w).square().mean()
}

const CASES: [Case; 16] = [
    Case {
        name: "add scalars",
        operations: 1,
        calls: || calls!(|x: Array, y: Array| x + y, x = normal(&[]), y = normal(&[])),
    },
    Case {
        name: "add 8",
        operations: 1,
        calls: || {
            calls!(
                |x: Array, y: Array| x + y,
                x = normal(&[8]),
                y = normal(&[8])
            )
        },
    },
    Case {
        name: "multiply by number 100",
        operations: 1,
        calls: || calls!(|x: Array| x * 2.0, x = normal(&[100])),
    },
    Case {
        name: "sine 100",
        operations: 1,
        calls: || calls!(|x: Array| x.sin(), x = normal(&[100])),
    },
    Case {
        name: "sum 10x10",
        operations: 1,
        calls: || calls!(|x: Array| x.sum(), x = normal(&[10, 10])),
    },
    Case {
        name: "reshape 100",
        operations: 1,
        calls: || calls!(|x: Array| x.reshape(&[10, 10]), x = normal(&[100])),
    },
    Case {
        name: "product 8x8",
        operations: 1,
        calls: || {
            calls!(
                |x: Array, y: Array| x.matmul(&y),
                x = normal(&[8, 8]),
                y = normal(&[8, 8])
            )
        },
    },
    Case {
        name: "polynomial 100",
        operations: 6,
        calls: || {
            calls!(
                |x: Array| ((&x * 0.5 + 1.0) * &x - 2.0) * &x + 3.0,
                x = normal(&[100])
            )
        },
    },
    Case {
        name: "add 1e6",
        operations: 1,
        calls: || {
            calls!(
                |x: Array, y: Array| x + y,
                x = normal(&[1_000_000]),
                y = normal(&[1_000_000])
            )
        },
    },
    Case {
        name: "sine 1e6",
        operations: 1,
        calls: || calls!(|x: Array| x.sin(), x = normal(&[1_000_000])),
    },
    Case {
        name: "sum 1e6",
        operations: 1,
        calls: || calls!(|x: Array| x.sum(), x = normal(&[1_000_000])),
    },
    Case {
        name: "product 512x512",
        operations: 1,
        calls: || {
            calls!(
                |x: Array, y: Array| x.matmul(&y),
                x = normal(&[512, 512]),
                y = normal(&[512, 512])
            )
        },
    },
    Case {
        name: "sort 1e5",
        operations: 1,
        calls: || {
            calls!(
                |x: Array| jaxide::numpy::sort(&x, 0),
                x = normal(&[100_000])
            )
        },
    },
    Case {
        name: "grad of a loss 1e6",
        operations: 1,
        calls: || {
            transformed!(
                grad,
                loss,
                w = normal(&[1_000_000]),
                x = normal(&[1_000_000])
            )
        },
    },
    Case {
        name: "grad of a network 256",
        operations: 1,
        calls: || {
            transformed!(
                grad,
                network,
                w = normal(&[256, 256]),
                x = normal(&[512, 256])
            )
        },
    },
    Case {
        name: "vmap of a loss 1000x1000",
        operations: 1,
        calls: || {
            transformed!(
                vmap,
                loss,
                w = normal(&[1000, 1000]),
                x = normal(&[1000, 1000])
            )
        },
    },
];

/// Shortest times of a call in microseconds, the two calls in turn.
fn times(calls: &[Call; 2], budget: Duration) -> [f64; 2] {
    let mut best = [f64::INFINITY; 2];
    let start = Instant::now();
    let mut turns = 0;
    while turns < 3 || start.elapsed() < budget {
        for (call, best) in calls.iter().zip(&mut best) {
            // So many calls at once that the clock does not count.
            let mut count = 1u32;
            loop {
                let begin = Instant::now();
                for _ in 0..count {
                    black_box(call());
                }
                let time = begin.elapsed();
                *best = best.min(time.as_secs_f64() * 1e6 / f64::from(count));
                if time > Duration::from_micros(500) {
                    break;
                }
                count *= 4;
            }
        }
        turns += 1;
    }
    best
}

fn main() {
    let words: Vec<String> = std::env::args()
        .skip(1)
        .filter(|word| word != "--bench")
        .collect();
    if words.iter().any(|word| word == "--serve") {
        return serve();
    }
    println!(
        "{:<26} {:>14} {:>13} {:>7}",
        "", "immediate", "jitted", "ratio"
    );
    for case in &CASES {
        let chosen = |word: &String| case.name.starts_with(word.as_str());
        if !words.is_empty() && !words.iter().any(chosen) {
            continue;
        }
        let [immediate, jitted] = times(&(case.calls)(), Duration::from_millis(300));
        println!(
            "{:<26} {immediate:>11.2} us {jitted:>10.2} us {:>7.2}  ({:.2} us an operation)",
            case.name,
            immediate / jitted,
            immediate / case.operations as f64
        );
    }
    println!(
        "{:<26} {:>11.2} us  for a closure made anew, traced and found in the cache",
        "jit again",
        again()
    );
}

/// The time of jitting and calling an equal closure again, in microseconds.
fn again() -> f64 {
    let x = normal(&[100]);
    let call: Call = Box::new(move || {
        jit(|x: Array| ((&x * 0.5 + 1.0) * &x - 2.0).tanh() * &x + 3.0)(x.clone())
    });
    let [first, second] = times(
        &[call, Box::new(|| Array::from(0))],
        Duration::from_millis(300),
    );
    first - second
}

/// Answers lines with a case by `immediate jitted`.
fn serve() {
    for line in io::stdin().lock().lines() {
        let Ok(line) = line else { break };
        let line = line.trim();
        if line == "jit again" {
            println!("{:.3} 0", again());
        } else {
            let Some(case) = CASES.iter().find(|case| case.name == line) else {
                break;
            };
            let [immediate, jitted] = times(&(case.calls)(), Duration::from_millis(200));
            println!("{immediate:.3} {jitted:.3}");
        }
        if io::stdout().flush().is_err() {
            break;
        }
    }
}
