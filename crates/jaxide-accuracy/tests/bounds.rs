//! Every function, on every instruction set and by the interpreter, is as exact as the table of `docs/accuracy.md` says it should be:
//! a fast pass over few arguments and all the hard ones.

use jaxide_accuracy::arguments::arguments;
use jaxide_accuracy::format::Format;
use jaxide_accuracy::functions::{COMPLEX, Exact, Function, REAL};
use jaxide_accuracy::measure::{Measurement, measure, measure_samples};
use jaxide_accuracy::program::Backend;

/// Each so manieth bit pattern, and the length of lists. `JAXIDE_MATH_SAMPLES` asks for more.
fn sizes() -> (u64, u64) {
    let asked = std::env::var("JAXIDE_MATH_SAMPLES")
        .ok()
        .and_then(|n| n.parse().ok());
    let count: u64 = asked.unwrap_or(4000);
    ((1u64 << 32) / (4 * count.max(1)), count)
}

fn found(function: &Function, format: Format, backend: Backend) -> Measurement {
    let (every, count) = sizes();
    let mut found = Measurement::default();
    let known = function.exact.value(&[0.5; 3]).is_some();
    if known && (format != Format::F64 || function.exact.is_double()) {
        for list in arguments(function, format, every | 1, count) {
            found = found.merge(measure(function, format, backend, &list, 1).unwrap());
        }
    }
    if format.size() >= 4
        && let Some(samples) = measure_samples(function, format, false, backend).unwrap()
    {
        found = found.merge(samples);
    }
    found
}

fn check(functions: &[Function], format: Format) {
    let mut failures = String::new();
    for function in functions {
        for backend in Backend::available() {
            let found = found(function, format, backend);
            if found.error > function.limit(format) {
                failures += &format!(
                    "{} {} {}: {} ulp at {:?}: {:?} for {:?}\n",
                    function.name,
                    format.name(),
                    backend.name(),
                    found.error,
                    found.at,
                    found.got,
                    found.exact
                );
            }
        }
    }
    assert!(failures.is_empty(), "{failures}");
}

#[test]
fn single_precision() {
    check(REAL, Format::F32);
}

#[test]
fn double_precision() {
    check(REAL, Format::F64);
}

#[test]
fn brain_floats() {
    check(REAL, Format::Bf16);
}

#[test]
fn half_precision() {
    check(REAL, Format::F16);
}

#[test]
fn complex_numbers() {
    let mut failures = String::new();
    for function in COMPLEX {
        for format in [Format::F32, Format::F64] {
            for backend in Backend::available() {
                let found = measure_samples(function, format, true, backend)
                    .unwrap()
                    .unwrap();
                assert!(found.count > 50, "{}", function.name);
                if found.error > function.limit(format) {
                    failures += &format!(
                        "{} {} {}: {found:?}\n",
                        function.name,
                        format.name(),
                        backend.name()
                    );
                }
            }
        }
    }
    assert!(failures.is_empty(), "{failures}");
}

/// The bits are the same on every instruction set.
#[test]
fn instruction_sets_agree() {
    use jaxide_accuracy::measure::{bytes, numbers};
    use jaxide_accuracy::program::Program;
    for function in REAL {
        if matches!(function.exact, Exact::Samples) {
            continue;
        }
        for format in [Format::F32, Format::F64] {
            for list in arguments(function, format, 2_000_003, 2000) {
                let lists = list.get(0..list.count());
                let operands: Vec<Vec<u8>> = lists.iter().map(|x| bytes(format, x)).collect();
                let mut first: Option<Vec<u64>> = None;
                for backend in Backend::available() {
                    if backend == Backend::Eval {
                        continue;
                    }
                    let program = Program::new(
                        function.text,
                        function.arity,
                        format.dtype(),
                        lists[0].len(),
                        backend,
                    )
                    .unwrap();
                    let got = numbers(format, &program.run(&operands).unwrap());
                    let want = first.get_or_insert_with(|| got.clone());
                    for (k, (&got, &want)) in got.iter().zip(want.iter()).enumerate() {
                        let both_nan = format.decode(got).is_nan() && format.decode(want).is_nan();
                        assert!(
                            got == want || both_nan,
                            "{} of {:?} on {}: {got:x} and {want:x}",
                            function.name,
                            lists
                                .iter()
                                .map(|list| format.decode(list[k]))
                                .collect::<Vec<f64>>(),
                            backend.name()
                        );
                    }
                }
            }
        }
    }
}
