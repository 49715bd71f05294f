//! Wrong calls: where JAX refuses, so do we, and say which function, which types and which line of the user; where JAX does not, nor do we.
//!
//! A row is JAX's expression and ours. `record/mistakes.py` reads the rows and writes what JAX says of each into `cases/mistakes.txt`: the types
//! of the results, or `refused`.

mod elementwise;
mod indexing;
mod lax;
mod linear;
mod sampling;
mod scientific;
mod sequences;
mod shapes;

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

use jaxide::prelude::*;
use jaxide::random;

use super::case::{Case, Mode};

/// A call as it is written for JAX and here, and what it gives.
pub(super) struct Row {
    python: &'static str,
    rust: &'static str,
    call: fn() -> Vec<Array>,
}

macro_rules! rows {
    ($($python:literal => $rust:expr;)*) => {
        pub(super) const ROWS: &[super::Row] = &[$(super::Row {
            python: $python,
            rust: stringify!($rust),
            call: || super::Results::list($rust),
        }),*];
    };
}
use rows;

/// Lists of arrays: what functions give.
pub(super) trait Results {
    fn list(self) -> Vec<Array>;
}

impl Results for Array {
    fn list(self) -> Vec<Array> {
        vec![self]
    }
}

impl Results for smallvec::SmallVec<[Array; 1]> {
    fn list(self) -> Vec<Array> {
        self.to_vec()
    }
}

impl Results for Vec<Array> {
    fn list(self) -> Vec<Array> {
        self
    }
}

macro_rules! tuples {
    ($($name:ident)*) => {
        impl<$($name: Results),*> Results for ($($name,)*) {
            #[allow(non_snake_case)]
            fn list(self) -> Vec<Array> {
                let ($($name,)*) = self;
                [$($name.list()),*].concat()
            }
        }
    };
}
tuples! { A B }
tuples! { A B C }
tuples! { A B C D }

pub(super) fn f<const N: usize>(shape: [usize; N]) -> Array {
    Array::ones(&shape[..], DType::F32)
}

pub(super) fn i<const N: usize>(shape: [usize; N]) -> Array {
    Array::ones(&shape[..], DType::I32)
}

pub(super) fn u<const N: usize>(shape: [usize; N]) -> Array {
    Array::ones(&shape[..], DType::U32)
}

pub(super) fn u8<const N: usize>(shape: [usize; N]) -> Array {
    Array::ones(&shape[..], DType::U8)
}

pub(super) fn b<const N: usize>(shape: [usize; N]) -> Array {
    Array::ones(&shape[..], DType::Bool)
}

pub(super) fn c<const N: usize>(shape: [usize; N]) -> Array {
    Array::ones(&shape[..], DType::C64)
}

pub(super) fn k() -> Array {
    random::key(0)
}

/// What is refused in one of the two, and why.
const DIFFERENT: &[(&str, &str)] = &[
    (
        "jnp.polyadd(f(2, 2), f(2))",
        "JAX adds rows, which are no polynomials",
    ),
    (
        "jnp.unravel_index(f(2), (2, 2))",
        "JAX, not NumPy, takes floats for indices",
    ),
    (
        "jnp.linalg.multi_dot([f(2, 3)])",
        "JAX takes the rows of one matrix for matrices",
    ),
    (
        "jax.random.key(i(2))",
        "an array of seeds gives an array of keys",
    ),
    (
        "lax.cumsum(f(2), -1)",
        "negative axes count from the end everywhere",
    ),
    (
        "jax.image.resize(f(2, 2), (3, -1), \"linear\")",
        "JAX takes a negative length for zero",
    ),
];

/// The whole message of a panic.
fn message(payload: &(dyn std::any::Any + Send)) -> &str {
    let text = payload.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| payload.downcast_ref::<&str>().copied())
        .unwrap_or("")
}

/// Why a message does not name the function as it is called at the line of this folder that it names, or as `known`.
fn misnamed(message: &str, known: &str) -> Option<String> {
    let Some((_, place)) = message.split_once("\n  --> ") else {
        return Some("no line is named".to_owned());
    };
    let mut place = place.lines().next().unwrap_or("").split(':');
    let file = place.next().unwrap_or("");
    if !file.contains("tests/functions/") {
        return Some(format!("the line is {file}'s"));
    }
    let [line, column] =
        [place.next(), place.next()].map(|number| number.unwrap().parse::<usize>().unwrap());
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../");
    let source = std::fs::read_to_string(format!("{root}{file}")).unwrap();
    let called = &source.lines().nth(line - 1).unwrap()[column - 1..];
    let path = called
        .split(|c: char| !(c.is_alphanumeric() || c == '_' || c == ':'))
        .next()
        .unwrap();
    if !called[path.len()..].starts_with('(') {
        return None; // an operator
    }
    let function = path.rsplit("::").next().unwrap();
    // `x.at(i).set(v)` is known as `at.set`, functions of a distribution by both names.
    let told = message.split(": ").next().unwrap();
    let told = told.rsplit('.').next().unwrap();
    (told != function && told != known).then(|| format!("`{called}` is called `{told}`"))
}

#[test]
fn what_jax_refuses_is_refused_by_name() {
    let recorded = include_str!("cases/mistakes.txt")
        .lines()
        .map(|line| line.rsplit_once(" = ").unwrap());
    let recorded: HashMap<&str, &str> = recorded.collect();
    let all = [
        elementwise::ROWS,
        shapes::ROWS,
        sequences::ROWS,
        linear::ROWS,
        scientific::ROWS,
        sampling::ROWS,
        lax::ROWS,
        indexing::ROWS,
    ];
    let (mut failures, mut count) = (Vec::new(), 0);
    for row in all.into_iter().flatten() {
        count += 1;
        let want = recorded[row.python];
        let got = catch_unwind(AssertUnwindSafe(row.call));
        let refused = got.is_err();
        let problem = match got {
            _ if DIFFERENT.iter().any(|(python, _)| *python == row.python) => (refused
                == (want == "refused"))
                .then(|| "listed as different, and is not".to_owned()),
            Ok(results) => {
                let types: Vec<String> = results.iter().map(|x| x.aval().to_string()).collect();
                let got = types.join(" ");
                (got != want).then(|| format!("{got}, not {want}"))
            }
            Err(payload) if want == "refused" => {
                misnamed(message(&*payload), "").map(|why| format!("{why}: {}", message(&*payload)))
            }
            Err(payload) => Some(format!("refused, not {want}: {}", message(&*payload))),
        };
        failures.extend(problem.map(|problem| format!("{}: {problem}", row.rust)));
    }
    assert_eq!(count, recorded.len());
    assert!(
        failures.is_empty(),
        "{} deviations:\n{}",
        failures.len(),
        failures.join("\n")
    );
}

/// Arrays that most functions cannot take in the place of `x`.
fn changed(x: &Array) -> Vec<Array> {
    let mut longer = x.shape().to_vec();
    longer.push(7);
    let mut first = x.shape().to_vec();
    first.iter_mut().take(1).for_each(|length| *length += 1);
    let mut empty = x.shape().to_vec();
    empty
        .iter_mut()
        .rev()
        .take(1)
        .for_each(|length| *length = 0);
    let of_shape = |shape: &[usize]| Array::ones(shape, x.dtype());
    let mut all = vec![of_shape(&longer), of_shape(&first), of_shape(&empty)];
    all.extend([Array::ones(x.shape(), DType::C64), k()]);
    all
}

/// Whatever is wrong with the arguments of a recorded case, the function that was called is named, and the line that called it.
#[test]
fn every_refusal_names_its_function_and_its_line() {
    let (mut failures, mut refusals) = (Vec::new(), 0);
    for area in super::AREAS {
        let mut seen: HashMap<String, usize> = HashMap::new();
        for case in area.cases.lines().map(Case::parse) {
            let count = seen.entry(case.function.clone()).or_default();
            if case.mode != Mode::Plain || case.want.is_none() || *count == 1 {
                continue;
            }
            *count += 1;
            // Functions that are called through others are known by the name of the case.
            let known = case.function.rsplit('.').next().unwrap();
            let known = known.split('+').next().unwrap();
            let arrays = case.arrays();
            let plain = arrays
                .iter()
                .enumerate()
                .filter(|(_, x)| !x.dtype().is_key());
            for (at, x) in plain.flat_map(|(at, x)| changed(x).into_iter().map(move |x| (at, x))) {
                let mut arrays = arrays.clone();
                arrays[at] = x;
                let operands = case.operands(&arrays);
                let Err(payload) = catch_unwind(AssertUnwindSafe(|| (area.call)(&case, &operands)))
                else {
                    continue;
                };
                refusals += 1;
                let message = message(&*payload);
                failures.extend(misnamed(message, known).map(|why| {
                    format!("{} with {}: {why}: {message}", case.text, arrays[at].aval())
                }));
            }
        }
    }
    println!("{refusals} refusals");
    assert!(
        refusals > 2000 && failures.is_empty(),
        "{} deviations:\n{}",
        failures.len(),
        failures.join("\n")
    );
}
