//! Long texts are read, checked and printed with memory in proportion to their equations, and little for each.

use std::fmt::Write;

use jaxide_core::{check, parse};

/// The letters of a number: `a`, ..., `z`, `ba`, ...
fn name(mut number: usize) -> String {
    let mut letters = Vec::new();
    loop {
        letters.push(b'a' + (number % 26) as u8);
        number /= 26;
        if number == 0 {
            break;
        }
    }
    // `let`, `in` and other words cannot be variables.
    let letters = letters.iter().rev().map(|&letter| char::from(letter));
    letters.chain(['_']).collect()
}

/// A chain of so many equations on arrays of a type, each on the result before; `op` writes one.
fn chain(length: usize, ty: &str, op: impl Fn(usize) -> &'static str) -> String {
    let mut text = format!("{{ lambda ; {}:{ty}. let\n", name(0));
    for index in 0..length {
        let (result, operand) = (name(index + 1), name(index));
        let (op, operands) = op(index).split_once('/').unwrap();
        let operands = operands.replace('x', &operand);
        writeln!(text, "    {result}:{ty} = {op} {operands}").unwrap();
    }
    writeln!(text, "  in ({},) }}", name(length)).unwrap();
    text
}

/// The most that reading and checking takes at once, and printing, in bytes for each of `length` equations.
fn most(length: usize, ty: &str, op: impl Fn(usize) -> &'static str) -> (u64, u64) {
    let text = chain(length, ty, op);
    let mut read = None;
    let reading = allocation_counter::measure(|| {
        let jaxpr = parse(&text).unwrap();
        check(&jaxpr).unwrap();
        read = Some(jaxpr);
    });
    let jaxpr = read.unwrap();
    assert_eq!(jaxpr.jaxpr.eqns.len(), length);
    let printing = allocation_counter::measure(|| drop(jaxpr.to_string()));
    let each = |bytes: u64| bytes / length as u64;
    (each(reading.bytes_max), each(printing.bytes_max))
}

#[test]
fn memory_is_in_proportion_to_equations() {
    let scalar = |index: usize| ["add/x x", "sin/x", "mul/x 2.0:f32[]"][index % 3];
    let product =
        "dot_general[dimension_numbers=(([1], [0]), ([], [])) preferred_element_type=float32]/x x";
    let matrix = |index: usize| [product, "tanh/x"][index % 2];
    for (ty, op) in [
        ("f32[]", &scalar as &dyn Fn(usize) -> &'static str),
        ("f32[16,16]", &matrix),
    ] {
        // Lists grow to powers of two; these lengths are just below some.
        let (short, long) = (most(4_000, ty, op), most(16_000, ty, op));
        assert!(
            long.0 < 1_000,
            "reading takes {} bytes an equation of {ty}",
            long.0
        );
        assert!(
            long.1 < 2_000,
            "printing takes {} bytes an equation of {ty}",
            long.1
        );
        assert!(long.0 < short.0 + short.0 / 5 && long.1 < short.1 + short.1 / 5);
    }
}
