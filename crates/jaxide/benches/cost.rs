//! What a gradient costs beside its function, as loops grow: time, and the temporary memory that the compiled program plans.
//!
//! `cargo bench -p jaxide --bench cost` prints a table; names given behind `--` choose cases by their beginning. With
//! `--serve` it answers on standard input instead: for a line with a case and a size it runs the function and its gradient
//! for a while and prints the shortest times in microseconds, so that `benches/cost_vs_jax.py` can take turns with JAX.
//!
//! What is to be seen: the ratio of gradient to function stays the same as loops grow; memory grows as the table of cases
//! says; a read at an index costs the same whatever it reads from.

use std::io::{self, BufRead, Write};
use std::time::{Duration, Instant};

use jaxide::core::Tensor;
use jaxide::numpy;
use jaxide::prelude::*;
use jaxide_cpu::{CompileOptions, Executable, compile};

type Program = Box<dyn Fn(Array) -> Array + Send + Sync>;

/// A function of an array and a size.
struct Case {
    name: &'static str,
    /// What memory of the gradient is expected to grow with.
    memory: &'static str,
    program: fn(usize) -> Program,
    argument: fn(usize) -> Array,
}

/// Elements of the states that loops carry.
const WIDTH: usize = 32;

const CASES: [Case; 6] = [
    Case {
        name: "scan",
        memory: "n",
        program: |n| Box::new(move |w| repeated(n, |s| layers(&s, &w)).sum()),
        argument: |_| line(WIDTH),
    },
    Case {
        name: "checkpointed steps",
        memory: "n, a state per step",
        program: |n| {
            let step = checkpoint(|s: Array, w: Array| layers(&s, &w));
            Box::new(move |w| repeated(n, |s| step(s, w.clone())).sum())
        },
        argument: |_| line(WIDTH),
    },
    Case {
        name: "checkpointed blocks",
        memory: "root of n",
        program: |n| {
            let root = n.isqrt();
            let block = checkpoint(move |s: Array, w: Array| steps(root, s, |s| layers(&s, &w)));
            Box::new(move |w| repeated(n / root, |s| block(s, w.clone())).sum())
        },
        argument: |_| line(WIDTH),
    },
    Case {
        name: "read x[i]",
        memory: "n",
        program: |n| {
            Box::new(move |x| {
                let start = Array::zeros(&[], DType::F32);
                fori_loop(0, n as i64, |i, s: Array| (s + x.index(i)).sin(), start)
            })
        },
        argument: line,
    },
    Case {
        name: "read rows[i]",
        memory: "n",
        program: |n| {
            Box::new(move |rows| {
                let start = Array::zeros(&[WIDTH], DType::F32);
                fori_loop(0, n as i64, |i, s: Array| (s + rows.index(i)).sin(), start).sum()
            })
        },
        argument: |n| line(n * WIDTH).reshape(&[n as i64, WIDTH as i64]),
    },
    Case {
        name: "read x[[i, j]]",
        memory: "n",
        program: |n| {
            Box::new(move |x| {
                let start = Array::zeros(&[], DType::F32);
                let body = |i: Array, s: Array| {
                    let ends = numpy::stack(&[i.clone(), (n as i32 - 1) - i], 0);
                    (s + x.index(ends).sum()).sin()
                };
                fori_loop(0, n as i64, body, start)
            })
        },
        argument: line,
    },
];

/// Three layers of elementwise functions.
fn layers(state: &Array, weight: &Array) -> Array {
    let inner = (state * weight).sin();
    let outer = (inner * weight).tanh();
    (outer * weight).sin()
}

fn repeated(n: usize, step: impl FnOnce(Array) -> Array) -> Array {
    steps(n, Array::ones(&[WIDTH], DType::F32), step)
}

fn steps(n: usize, start: Array, step: impl FnOnce(Array) -> Array) -> Array {
    scan(|state: Array, (): ()| (step(state), ()), start, (), n).0
}

fn line(n: usize) -> Array {
    numpy::linspace(0.5, 1.5, n)
}

/// A case at a size, compiled.
struct Compiled {
    function: Executable,
    gradient: Executable,
    argument: Tensor,
}

impl Compiled {
    fn new(case: &Case, n: usize) -> Result<Self> {
        let argument = (case.argument)(n);
        let options = CompileOptions {
            threads: Some(1),
            ..Default::default()
        };
        let function = make_jaxpr((case.program)(n))(argument.clone())?;
        let gradient = make_jaxpr(grad((case.program)(n)))(argument.clone())?;
        Ok(Compiled {
            function: compile(&function, &options)?,
            gradient: compile(&gradient, &options)?,
            argument: argument.value(),
        })
    }

    /// The shortest times of function and gradient in microseconds, in turns.
    fn times(&self, duration: Duration) -> Result<[f64; 2]> {
        let mut best = [f64::INFINITY; 2];
        let start = Instant::now();
        let mut turns = 0;
        while turns < 3 || start.elapsed() < duration {
            for (program, best) in [&self.function, &self.gradient].into_iter().zip(&mut best) {
                let start = Instant::now();
                program.run(std::slice::from_ref(&self.argument))?;
                *best = best.min(start.elapsed().as_secs_f64() * 1e6);
            }
            turns += 1;
        }
        Ok(best)
    }
}

fn main() -> Result<()> {
    let words: Vec<String> = std::env::args()
        .skip(1)
        .filter(|word| word != "--bench")
        .collect();
    if words.iter().any(|word| word == "--serve") {
        return serve();
    }
    println!(
        "{:<20} {:>8} {:>13} {:>13} {:>6} {:>11} {:>11} {:>8}",
        "", "n", "function", "gradient", "ratio", "memory", "of gradient", "per n"
    );
    for case in CASES {
        if !words.is_empty()
            && !words
                .iter()
                .any(|word| case.name.starts_with(word.as_str()))
        {
            continue;
        }
        for n in [100, 1_000, 10_000, 100_000] {
            let compiled = Compiled::new(&case, n)?;
            let [function, gradient] = compiled.times(Duration::from_millis(300))?;
            let [own, of_gradient] =
                [&compiled.function, &compiled.gradient].map(|program| program.stats().arena);
            println!(
                "{:<20} {n:>8} {function:>10.1} us {gradient:>10.1} us {:>6.1} {own:>9} B {of_gradient:>9} B {:>6.1} B",
                case.name,
                gradient / function,
                of_gradient as f64 / n as f64
            );
        }
        println!("{:<20} memory is to grow with {}\n", "", case.memory);
    }
    Ok(())
}

/// Answers lines `case,n` with `function gradient memory`.
fn serve() -> Result<()> {
    for line in io::stdin().lock().lines() {
        let Ok(line) = line else { break };
        let Some((name, n)) = line.rsplit_once(',') else {
            break;
        };
        let case = CASES.iter().find(|case| case.name == name);
        let (Some(case), Ok(n)) = (case, n.trim().parse()) else {
            break;
        };
        let compiled = Compiled::new(case, n)?;
        let [function, gradient] = compiled.times(Duration::from_millis(300))?;
        println!(
            "{function:.2} {gradient:.2} {}",
            compiled.gradient.stats().arena
        );
        if io::stdout().flush().is_err() {
            break;
        }
    }
    Ok(())
}
