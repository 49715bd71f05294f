//! Powers with exponents like 1.5, which are computed by square roots: beside powers of the next wider type, or of the standard library where
//! there is none, for numbers of all sizes and those that are special, on every instruction set.

use jaxide_core::jaxpr::parse::parse;
use jaxide_core::{Element, Tensor};
use jaxide_cpu::codegen::lanes::Isa;
use jaxide_cpu::{CompileOptions, compile};

const EXPONENTS: [f64; 6] = [-2.5, -1.5, -0.5, 0.5, 1.5, 2.5];

/// The power of each number.
fn powers<T: Element>(dtype: &str, x: &[T], exponent: f64, isa: Isa) -> Vec<T> {
    let n = x.len();
    let text = format!(
        "{{ lambda ; a:{dtype}[{n}]. let b:{dtype}[{n}] = pow a {exponent:?}:{dtype}[] in (b,) }}"
    );
    let options = CompileOptions {
        isa: Some(isa),
        ..CompileOptions::default()
    };
    let program = compile(&parse(&text).unwrap(), &options).unwrap();
    let x = Tensor::from_vec(&[n], x.to_vec()).unwrap();
    program.run(&[x]).unwrap()[0].to_vec().unwrap()
}

/// Bits that are spread over all numbers.
fn bits(count: usize) -> impl Iterator<Item = u64> {
    (0..count as u64).map(|k| (k + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15))
}

/// Bit patterns of a type with so many bits behind the exponent and above the sign: specials and their neighbours.
fn edges(mantissa: u32, width: u32) -> Vec<u64> {
    let infinity = ((1u64 << (width - 1 - mantissa)) - 1) << mantissa;
    let mut edges = Vec::new();
    for exponent in (0..infinity >> mantissa).step_by(13) {
        edges.extend([exponent << mantissa, (exponent << mantissa) + 1]);
    }
    edges.extend([infinity - 1, infinity, infinity | 1 << (mantissa - 1)]);
    let negative = edges.iter().map(|bits| bits | 1 << (width - 1));
    edges.iter().copied().chain(negative).collect()
}

#[test]
fn of_single_precision() {
    let mut x: Vec<f32> = (edges(23, 32).into_iter().chain(bits(20_000)))
        .map(|bits| f32::from_bits(bits as u32))
        .collect();
    x.extend((0..1000).map(|k| 0.5 + k as f32 / 400.0));
    for isa in Isa::available() {
        for exponent in EXPONENTS {
            let got = powers("f32", &x, exponent, isa);
            for (&x, &got) in x.iter().zip(&got) {
                let want = f64::from(x).powf(exponent);
                let rounded = want as f32;
                // Half a step; another one where what products lose is subnormal, or two where all is.
                let step = f64::from(rounded.abs().next_up()) - f64::from(rounded.abs());
                let most = match rounded.abs() {
                    size if size < f32::MIN_POSITIVE => 2.1,
                    size if size < f32::MIN_POSITIVE * 2f32.powi(25) => 1.1,
                    _ => 0.51,
                };
                let same = got == rounded || (got.is_nan() && want.is_nan());
                assert!(
                    same || (f64::from(got) - want).abs() <= most * step,
                    "{isa:?}: {x:e} ^ {exponent} = {got:e}, not {want:e}"
                );
            }
        }
    }
}

#[test]
fn of_double_precision() {
    let mut x: Vec<f64> = (edges(52, 64).into_iter().chain(bits(20_000)))
        .map(f64::from_bits)
        .collect();
    x.extend((0..1000).map(|k| 0.5 + k as f64 / 400.0));
    for isa in Isa::available() {
        for exponent in EXPONENTS {
            let got = powers("f64", &x, exponent, isa);
            for (&x, &got) in x.iter().zip(&got) {
                let want = x.powf(exponent);
                let step = want.abs().next_up() - want.abs();
                let same = got == want || (got.is_nan() && want.is_nan());
                assert!(
                    same || (got - want).abs() <= step,
                    "{isa:?}: {x:e} ^ {exponent} = {got:e}, not {want:e}"
                );
            }
        }
    }
}
