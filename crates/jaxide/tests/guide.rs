//! The programs of JAX's guide to jaxprs, written as Rust closures, print as JAX prints them.

use jaxide::core::jaxpr::text_compare::normalise;
use jaxide::numpy;
use jaxide::prelude::*;

fn f32s(shape: &[usize]) -> Array {
    Array::spec(DType::F32, shape)
}

#[track_caller]
fn check(jaxpr: Result<jaxide::ClosedJaxpr>, name: &str) {
    let text = jaxpr.map_or_else(|error| panic!("{error}"), |jaxpr| jaxpr.to_string());
    let path = format!("{}/tests/guide/{name}.jaxpr", env!("CARGO_MANIFEST_DIR"));
    let want = std::fs::read_to_string(&path).unwrap();
    assert_eq!(
        normalise(text.trim_end()),
        normalise(want.trim_end()),
        "{name}"
    );
}

#[test]
fn sums_and_sines() {
    fn func1(first: Array, second: Array) -> Array {
        let temp = first + second.sin() * 3.0;
        temp.sum()
    }
    check(make_jaxpr(func1)(f32s(&[8]), f32s(&[8])), "sum_sin");
    let pair = |(first, second): (Array, Array)| func1(first, second);
    check(make_jaxpr(pair)((f32s(&[8]), f32s(&[8]))), "pair_argument");
}

#[test]
fn rust_conditionals_leave_no_trace() {
    let inner = |second: Array| {
        if second.shape()[0] > 4 {
            second.sin()
        } else {
            panic!("not taken")
        }
    };
    let func3 = move |first: Array, second: Array| {
        let temp = first + inner(second) * 3.0;
        temp.sum()
    };
    check(
        make_jaxpr(func3)(f32s(&[8]), f32s(&[8])),
        "python_inner_conditional",
    );
}

#[test]
fn switches() {
    let one_of_three = |index: Array, arg: Array| {
        let branches: [fn(Array) -> Array; 3] = [|x| x + 1.0, |x| x - 2.0, |x| x + 3.0];
        switch(index, branches, arg)
    };
    check(
        make_jaxpr(one_of_three)(Array::spec(DType::I32, &[]), f32s(&[])),
        "one_of_three",
    );
    check(
        make_jaxpr(one_of_three)(Array::from(1), Array::from(5.0)),
        "one_of_three_weak",
    );
}

#[test]
fn conditionals() {
    let func7 = |arg: Array| {
        cond(
            arg.ge(0.0),
            |x: Array| x + 3.0,
            |x: Array| x - 3.0,
            arg.clone(),
        )
    };
    check(make_jaxpr(func7)(f32s(&[])), "cond_ge_pos");
    let three = |arg1: Array, arg2: Array| {
        cond(
            arg1.ge(0.0),
            |(x, _, _): (Array, Array, Array)| x,
            |(_, _, z): (Array, Array, Array)| Array::from([1.0f32]) + z,
            (arg2.clone(), arg2.clone(), arg2),
        )
    };
    check(make_jaxpr(three)(f32s(&[]), f32s(&[1])), "cond_pair_dict");
    let pair = |arg1: Array, arg2: Array| {
        let pred = arg1.ge(0.0);
        let zero = numpy::zeros(&[1], DType::F32);
        cond(
            pred,
            |(x, _): (Array, Array)| x,
            |(_, y): (Array, Array)| Array::from([1.0f32]) + y,
            (arg2, zero),
        )
    };
    check(make_jaxpr(pair)(f32s(&[]), f32s(&[1])), "cond_pair_operand");
}

#[test]
fn loops() {
    let func10 = |arg: Array, n: Array| {
        let ones = numpy::ones(&[16], DType::F32);
        let x = &arg + &ones;
        let (ones, arg) = (ones, arg);
        fori_loop(0, n, move |_i: Array, x: Array| x + &ones * 3.0 + &arg, x)
    };
    check(
        make_jaxpr(func10)(f32s(&[16]), Array::spec(DType::I32, &[])),
        "fori_closed_over_ones",
    );
    let fixed = |arg: Array| {
        let ones = numpy::ones(&[16], DType::F32);
        let x = &arg + &ones;
        let (ones, arg) = (ones, arg);
        fori_loop(0, 5, move |_i: Array, x: Array| x + &ones * 3.0 + &arg, x)
    };
    check(make_jaxpr(fixed)(f32s(&[16])), "fori_static_trips");
}

#[test]
fn scans() {
    let func11 = |arr: Array, extra: Array| {
        let ones = numpy::ones(&[16], DType::F32);
        scan(
            |carry: Array, (a, b): (Array, Array)| {
                let product = a * b;
                let next = &carry + product + &extra;
                (next, carry)
            },
            Array::from(0.0),
            (arr, ones),
            None,
        )
    };
    check(
        make_jaxpr(func11)(f32s(&[16]), f32s(&[])),
        "scan_running_dot",
    );
}

#[test]
fn nested_calls() {
    let func12 = |arg: Array| {
        let captured = arg.clone();
        let inner =
            jit(move |x: Array| &captured + x * numpy::ones(&[1], DType::F32)).named("inner_j");
        arg.clone() + inner(arg - 2.0)
    };
    check(make_jaxpr(func12)(f32s(&[])), "inner_jit_closed_const");
    let table = Array::from([1.0f32, 2.0, 3.0]);
    let g = jit(move |x: Array| &table * x).named("g");
    let twice = move |x: Array| g(x.clone()) + g(x + 1.0);
    check(make_jaxpr(twice)(f32s(&[])), "inner_jit_array_const_twice");
}

/// JAX's tutorials have so many lines of code, without empty ones and comments; what Rust needs beside them is no more.
#[test]
fn tutorials_have_no_more_lines_than_those_of_jax() {
    for (name, of_jax) in [
        ("advanced-autodiff", 644),
        ("automatic-vectorization", 36),
        ("quickstart", 55),
        ("sharp-bits", 205),
        ("thinking-in-jax", 114),
    ] {
        let path = format!(
            "{}/../../docs/tutorials/{name}.md",
            env!("CARGO_MANIFEST_DIR")
        );
        let text = std::fs::read_to_string(path).unwrap();
        let (mut inside, mut count) = (false, 0);
        for line in text.lines().map(str::trim) {
            if line.starts_with("```") {
                inside = !inside;
            } else if inside
                && !(line.is_empty() || line.starts_with("//") || line.starts_with("# "))
            {
                count += 1;
            }
        }
        assert!(
            count > 0 && count <= of_jax,
            "{name}: {count} lines, and JAX's has {of_jax}"
        );
    }
}
