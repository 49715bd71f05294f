//! `reduce_precision` to formats of every size, beside the interpreter: at the ends of their ranges above all.

use jaxide_core::{Tensor, eval, parse};
use jaxide_cpu::codegen::lanes::Isa;
use jaxide_cpu::{CompileOptions, compile};
use jaxide_testing::compare::{Nearness, compare};

/// Powers of two around the ends of all formats, times fractions that are cut; and what is no finite number.
fn values() -> Vec<f64> {
    let fractions = [1.0, 1.0 + f64::EPSILON, 1.25, 1.5, 1.999, 1.75 + 1e-9];
    let exponents = (-160..160).chain([-1074, -1023, -1022, 1022, 1023]);
    let mut values: Vec<f64> = exponents
        .flat_map(|n: i32| fractions.map(|x| x * 2f64.powi(n / 2) * 2f64.powi(n - n / 2)))
        .collect();
    values.extend([0.0, f64::INFINITY, f64::NAN, f64::MAX, f64::from(f32::MAX)]);
    values.iter().flat_map(|&x| [x, -x]).collect()
}

#[test]
fn every_exponent_and_mantissa() {
    let values = values();
    let count = values.len();
    for (name, dtype, exponents, mantissas) in [
        ("f32", "float32", 8, 23),
        ("f64", "float64", 11, 52),
        ("bf16", "bfloat16", 8, 7),
        ("f16", "float16", 5, 10),
    ] {
        let doubles = Tensor::from_vec(&[count], values.clone()).unwrap();
        let convert = format!(
            "{{ lambda ; a:f64[{count}]. let b:{name}[{count}] = convert_element_type[new_dtype={dtype} weak_type=False] a in (b,) }}"
        );
        let args = eval::eval(&parse(&convert).unwrap(), &[doubles]).unwrap();
        for exponent in (1..=exponents).chain([exponents + 1]) {
            for mantissa in [0, 1, 2, 3, 7, 10, mantissas - 1, mantissas, mantissas + 1] {
                let text = format!(
                    "{{ lambda ; a:{name}[{count}]. let
                        b:{name}[{count}] = reduce_precision[exponent_bits={exponent} mantissa_bits={mantissa}] a
                      in (b,) }}"
                );
                let closed = parse(&text).unwrap();
                let want = eval::eval(&closed, &args).unwrap();
                for isa in Isa::available() {
                    let options = CompileOptions {
                        isa: Some(isa),
                        ..CompileOptions::default()
                    };
                    let got = compile(&closed, &options).unwrap().run(&args).unwrap();
                    compare(&got, &want, Nearness::Bits)
                        .unwrap_or_else(|error| panic!("{}: {error}\n{text}", isa.name()));
                }
            }
        }
    }
}
