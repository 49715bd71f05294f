//! Elementwise functions at points where mpmath computed them with 34 digits, and 300 where they cancel: `values.txt` has a line for each, the
//! function, its arguments and, behind `=`, its value rounded to `f64`. Complex numbers are two numbers each.

use std::collections::BTreeMap;

use jaxide_core::Tensor;
use num_complex::Complex;

use super::run;

/// Function, arguments, value.
type Line = (String, Vec<f64>, Vec<f64>);

fn lines(complex: bool) -> impl Iterator<Item = Line> {
    let all = include_str!("values.txt").lines().map(|line| {
        let (call, value) = line.split_once(" = ").unwrap();
        let (complex, call) = match call.strip_prefix("complex ") {
            Some(call) => (true, call),
            None => (false, call),
        };
        let (name, args) = call.split_once(' ').unwrap();
        let numbers = |text: &str| text.split(' ').map(|x| x.parse().unwrap()).collect();
        (complex, (name.to_owned(), numbers(args), numbers(value)))
    });
    all.filter(move |(c, _)| *c == complex)
        .map(|(_, line)| line)
}

/// How far, in parts of it, a value may be off.
fn allowed(name: &str) -> f64 {
    match name {
        "igamma" | "igammac" | "regularized_incomplete_beta" => 1e-11,
        "igamma_grad_a" => 1e-9,
        "lgamma" | "digamma" | "polygamma" | "zeta" | "bessel_i0e" | "bessel_i1e" => 1e-13,
        // A unit in the last place.
        "erf_inv" => 2.3e-16,
        _ => 9e-16,
    }
}

#[test]
fn real_functions() {
    let mut off = BTreeMap::new();
    let mut count = 0;
    for (name, args, value) in lines(false) {
        let operands: Vec<Tensor> = args.iter().map(|x| Tensor::scalar(*x)).collect();
        let names = &["a", "b", "c"][..args.len()];
        let binders: Vec<String> = names.iter().map(|a| format!("{a}:f64[]")).collect();
        let text = format!(
            "{{ lambda ; {}. let d:f64[] = {name} {} in (d,) }}",
            binders.join(" "),
            names.join(" ")
        );
        let got = run(&text, &operands)[0].item::<f64>().unwrap();
        let error = ((got - value[0]) / value[0]).abs();
        if error.is_nan() || error > allowed(&name) {
            let worst = off.entry(name).or_insert((0.0, String::new()));
            if error.is_nan() || error > worst.0 {
                *worst = (
                    error,
                    format!("{args:?}: expected {:?}, got {got:?}", value[0]),
                );
            }
        }
        count += 1;
    }
    assert!(count > 1000 && off.is_empty(), "{off:#?}");
}

#[test]
fn complex_functions() {
    let mut off = BTreeMap::new();
    let mut count = 0;
    for (name, args, value) in lines(true) {
        let operands: Vec<Tensor> = args
            .chunks(2)
            .map(|z| Tensor::scalar(Complex::new(z[0], z[1])))
            .collect();
        let text = if operands.len() == 1 {
            format!("{{ lambda ; a:c128[]. let c:c128[] = {name} a in (c,) }}")
        } else {
            format!("{{ lambda ; a:c128[] b:c128[]. let c:c128[] = {name} a b in (c,) }}")
        };
        let got = run(&text, &operands)[0].item::<Complex<f64>>().unwrap();
        let error = |got: f64, want: f64| {
            if got == want {
                0.0
            } else {
                ((got - want) / want).abs()
            }
        };
        let error = error(got.re, value[0]).max(error(got.im, value[1]));
        // Products, quotients and powers are as near as their larger part.
        let whole = (got - Complex::new(value[0], value[1])).norm() / value[0].hypot(value[1]);
        let error = if operands.len() == 2 { whole } else { error };
        if error.is_nan() || error > 1e-13 {
            let worst = off.entry(name).or_insert((0.0, String::new()));
            if error.is_nan() || error > worst.0 {
                *worst = (error, format!("{args:?}: expected {value:?}, got {got:?}"));
            }
        }
        count += 1;
    }
    assert!(count > 1000 && off.is_empty(), "{off:#?}");
}
