//! What the programs of `tests/programs` take at real size, compiled.
//!
//! `cargo bench -p jaxide --bench programs` prints a table; names given behind `--` choose programs by their beginning, and
//! with `--jaxpr` what they are recorded as is printed instead, for `jaxide lower` and `jaxide bench`. With `--serve` it answers on standard input instead, so that `benches/programs_vs_jax.py` can take turns with JAX:
//! `compile NAME SIZE` by the milliseconds of the first call, `sizes` by the mean size of the elements of each array of
//! the result, `time SECONDS` by the times of calls in microseconds.

#[path = "../tests/programs/mod.rs"]
mod programs;

use std::hint::black_box;
use std::io::{self, BufRead, Write};
use std::time::{Duration, Instant};

use jaxide::core::DType;
use programs::{Leaves, PROGRAMS, Prepared, Program, Size};

/// Times of calls in microseconds, at least three.
fn times(call: &dyn Fn() -> Leaves, budget: Duration) -> Vec<f64> {
    let (start, mut times) = (Instant::now(), Vec::new());
    while times.len() < 3 || start.elapsed() < budget {
        let begin = Instant::now();
        black_box(call());
        times.push(begin.elapsed().as_secs_f64() * 1e6);
    }
    times
}

/// A program whose function is compiled, and the milliseconds of its first call.
fn compiled(program: &Program, size: Size) -> (Prepared, f64) {
    let prepared = (program.prepare)(size);
    let start = Instant::now();
    black_box((prepared.jitted)());
    (prepared, start.elapsed().as_secs_f64() * 1e3)
}

fn main() -> jaxide::Result<()> {
    let words: Vec<String> = std::env::args()
        .skip(1)
        .filter(|word| word != "--bench")
        .collect();
    if words.iter().any(|word| word == "--serve") {
        serve();
        return Ok(());
    }
    let chosen = |program: &&Program| {
        let mut names = words
            .iter()
            .filter(|word| !word.starts_with("--"))
            .peekable();
        names.peek().is_none() || names.any(|name| program.name.starts_with(name.as_str()))
    };
    let programs = PROGRAMS.iter().filter(chosen);
    if words.iter().any(|word| word == "--jaxpr") {
        for program in programs {
            println!("{}", ((program.prepare)(Size::Real).jaxpr)()?);
        }
        return Ok(());
    }
    println!(
        "{:<18} {:>12} {:>12} {:>12} {:>12}",
        "", "first call", "shortest", "median", "eager"
    );
    for program in programs {
        let (prepared, first) = compiled(program, Size::Real);
        let mut jitted = times(&prepared.jitted, Duration::from_secs(1));
        jitted.sort_by(f64::total_cmp);
        let eager = times(&prepared.eager, Duration::ZERO);
        println!(
            "{:<18} {first:>9.1} ms {:>9.1} us {:>9.1} us {:>9.1} us",
            program.name,
            jitted[0],
            jitted[jitted.len() / 2],
            eager.iter().copied().fold(f64::INFINITY, f64::min)
        );
    }
    Ok(())
}

/// Answers lines until one is none of the commands.
fn serve() {
    let mut current: Option<Prepared> = None;
    for line in io::stdin().lock().lines() {
        let Ok(line) = line else { break };
        let words: Vec<&str> = line.split_whitespace().collect();
        let answer: Vec<f64> = match (words.as_slice(), &current) {
            (["compile", name, size], _) => {
                let size = match *size {
                    "small" => Size::Small,
                    "real" => Size::Real,
                    _ => break,
                };
                let Some(program) = PROGRAMS.iter().find(|program| program.name == *name) else {
                    break;
                };
                let (prepared, first) = compiled(program, size);
                current = Some(prepared);
                vec![first]
            }
            (["sizes"], Some(prepared)) => mean_sizes(prepared),
            (["time", seconds], Some(prepared)) => {
                let Ok(seconds) = seconds.parse() else { break };
                times(&prepared.jitted, Duration::from_secs_f64(seconds))
            }
            _ => break,
        };
        let text: Vec<String> = answer.iter().map(f64::to_string).collect();
        println!("{}", text.join(" "));
        if io::stdout().flush().is_err() {
            break;
        }
    }
}

fn mean_sizes(prepared: &Prepared) -> Vec<f64> {
    let mean = |x: &jaxide::Array| {
        let elements = x.astype(DType::F64).to_vec::<f64>();
        elements.iter().map(|x| x.abs()).sum::<f64>() / elements.len() as f64
    };
    let leaves = (prepared.jitted)();
    leaves.iter().map(|(_, leaf)| mean(leaf)).collect()
}
