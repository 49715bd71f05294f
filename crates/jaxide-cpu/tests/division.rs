//! Quotients and remainders of integers of 64 bits, which are computed in doubles where all numbers of a vector are small: the same as in the
//! interpreter around the numbers at which another way is taken, on every instruction set.

use crate::everywhere::everywhere;
use jaxide_core::jaxpr::parse::parse;
use jaxide_core::{Tensor, eval};
use jaxide_cpu::codegen::lanes::Isa;
use jaxide_cpu::{CompileOptions, compile};
use jaxide_testing::compare::Nearness;

/// Compares the program of one operation with the interpreter.
fn check(op: &str, dtype: &str, x: &[u64], y: &[u64]) {
    let text = format!(
        "{{ lambda ; a:{dtype}[{n}] b:{dtype}[{n}]. let c:{dtype}[{n}] = {op} a b in (c,) }}",
        n = x.len()
    );
    let jaxpr = parse(&text).unwrap();
    let args: Vec<Tensor> = (jaxpr.in_avals().iter().zip([x, y]))
        .map(|(aval, bits)| {
            let bytes: Vec<u8> = bits.iter().flat_map(|x| x.to_le_bytes()).collect();
            Tensor::from_bytes(&aval.shape, aval.dtype, &bytes).unwrap()
        })
        .collect();
    let want = eval::eval(&jaxpr, &args).unwrap();
    for isa in Isa::available() {
        let options = CompileOptions {
            isa: Some(isa),
            ..CompileOptions::default()
        };
        let got = compile(&jaxpr, &options).unwrap().run(&args).unwrap();
        for i in 0..x.len() {
            let (got, want) = (got[0].scalar_at(i).unwrap(), want[0].scalar_at(i).unwrap());
            assert!(
                got == want,
                "{isa:?} {op} {dtype} of {:#x} and {:#x}: {got}, not {want}",
                x[i],
                y[i]
            );
        }
    }
}

/// Numbers around powers of two, of both signs.
fn edges() -> Vec<u64> {
    let powers = [0, 1, 2, 25, 31, 32, 49, 50, 51, 52, 53, 62, 63].map(|k| 1u64 << k);
    let mut edges = vec![0];
    for power in powers {
        for near in [power.wrapping_sub(1), power, power + 1] {
            edges.extend([near, near.wrapping_neg()]);
        }
    }
    edges
}

#[test]
fn of_all_pairs_of_edges() {
    let edges = edges();
    let (mut x, mut y) = (Vec::new(), Vec::new());
    for &a in &edges {
        for &b in &edges {
            x.push(a);
            y.push(b);
        }
    }
    for op in ["div", "rem"] {
        for dtype in ["i64", "u64"] {
            check(op, dtype, &x, &y);
            // Alone in their vectors, so that no other number decides for them.
            let alone = |all: &[u64]| -> Vec<u64> {
                let some = all.iter().step_by(5);
                some.flat_map(|&x| [x; 32]).collect()
            };
            check(op, dtype, &alone(&x), &alone(&y));
        }
    }
}

#[test]
fn of_random_numbers_below_a_bound() {
    let mut state = 7u64;
    let mut random = |bits: u32| {
        state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        ((state >> 1) as i64 >> (63 - bits)) as u64
    };
    for bits in [3, 30, 50, 51, 52, 53, 62] {
        for small in [2, 20, bits] {
            let x: Vec<u64> = (0..1003).map(|_| random(bits)).collect();
            // Multiples and their neighbours are where a quotient could be rounded to the next integer.
            let y: Vec<u64> = (0..1003).map(|_| random(small)).collect();
            let multiples: Vec<u64> = (x.iter().zip(&y))
                .map(|(&x, &y)| {
                    (x >> small.min(bits - 1))
                        .wrapping_mul(y)
                        .wrapping_sub(x & 1)
                })
                .collect();
            for op in ["div", "rem"] {
                for dtype in ["i64", "u64"] {
                    check(op, dtype, &x, &y);
                    check(op, dtype, &multiples, &y);
                }
            }
        }
    }
}

/// Remainders with the sign of the divisor, as NumPy has them, of numbers that have none.
#[test]
fn remainders_of_unsigned_numbers_have_no_sign() {
    for ty in ["u8", "u16", "u32", "u64"] {
        for n in [1, 8, 17, 100] {
            let text = format!(
                "{{ lambda ; a:{ty}[{n}] b:{ty}[{n}]. let
                    o:{ty}[{n}] = or b 1:{ty}[]
                    c:{ty}[{n}] = rem a o
                    d:bool[{n}] = lt c 0:{ty}[]
                    e:bool[{n}] = lt o 0:{ty}[]
                    f:bool[{n}] = ne d e
                    g:bool[{n}] = ne c 0:{ty}[]
                    h:bool[{n}] = and f g
                    i:{ty}[{n}] = add c o
                    j:{ty}[{n}] = select_n h c i
                    k:bool[{n}] = ge a 0:{ty}[]
                    l:bool[{n}] = gt 0:{ty}[] a
                    m:bool[{n}] = le 0:{ty}[] a
                  in (j, k, l, m) }}"
            );
            everywhere(&text, Nearness::Bits);
        }
    }
}
