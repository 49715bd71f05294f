//! Choices that are the same in all lanes, which are branches where what they choose between is long: as the interpreter has them, for both
//! answers, on every instruction set, and with accesses checked.

use jaxide_core::jaxpr::parse::parse;
use jaxide_core::{Tensor, eval};
use jaxide_cpu::codegen::lanes::Isa;
use jaxide_cpu::{CompileOptions, compile};

/// Results are the interpreter's within some steps, whatever the choice is.
fn check(text: &str, branches: bool) {
    let jaxpr = parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let shape = jaxpr.in_avals()[1].shape.clone();
    let x: Vec<f32> = (0..shape[0]).map(|k| 0.3 + k as f32 / 7.0).collect();
    for answer in [false, true] {
        let args = [
            Tensor::bool(answer),
            Tensor::from_vec(&shape, x.clone()).unwrap(),
        ];
        let want = eval::eval(&jaxpr, &args).unwrap();
        for isa in Isa::available() {
            for checked in [false, true] {
                let options = CompileOptions {
                    isa: Some(isa),
                    checked,
                    ..CompileOptions::default()
                };
                let program = compile(&jaxpr, &options).unwrap();
                let loops = program.loops_text();
                // A single element is computed before the lanes.
                assert!(
                    shape[0] == 1 || loops.contains(" = if ") == branches,
                    "{loops}"
                );
                let got = program.run(&args).unwrap();
                for (got, want) in got.iter().zip(&want) {
                    for k in 0..got.len() {
                        let (got, want) = (got.scalar_at(k).unwrap(), want.scalar_at(k).unwrap());
                        let (a, b) = (got.as_f64().unwrap(), want.as_f64().unwrap());
                        let near = (a - b).abs() <= 4e-7 * b.abs() || a.to_bits() == b.to_bits();
                        assert!(near, "{isa:?} {answer} {k}: {got}, not {want}\n{loops}");
                    }
                }
            }
        }
    }
}

const LENGTHS: [usize; 6] = [1, 8, 15, 16, 33, 1000];

#[test]
fn a_choice_between_long_and_short() {
    for n in LENGTHS {
        for (no, yes) in [("a", "c"), ("c", "a"), ("c", "d")] {
            check(
                &format!(
                    "{{ lambda ; p:bool[] a:f32[{n}]. let b:f32[{n}] = log a; c:f32[{n}] = mul b b; d:f32[{n}] = cbrt a; \
                     q:bool[{n}] = broadcast_in_dim[broadcast_dimensions=() shape=({n},) sharding=None] p; \
                     e:f32[{n}] = select_n q {no} {yes} in (e,) }}"
                ),
                true,
            );
        }
    }
}

#[test]
fn what_is_needed_anyway_stays() {
    let n = 40;
    check(
        &format!(
            "{{ lambda ; p:bool[] a:f32[{n}]. let b:f32[{n}] = log a; \
             q:bool[{n}] = broadcast_in_dim[broadcast_dimensions=() shape=({n},) sharding=None] p; \
             e:f32[{n}] = select_n q a b; f:f32[{n}] = add e b in (f,) }}"
        ),
        false,
    );
}

#[test]
fn masks_of_long_conditions() {
    for n in LENGTHS {
        for op in ["and", "or"] {
            check(
                &format!(
                    "{{ lambda ; p:bool[] a:f32[{n}]. let b:f32[{n}] = log a; c:f32[{n}] = sin b; d:bool[{n}] = gt c 0.1:f32[]; \
                     e:bool[{n}] = {op} p d; f:f32[{n}] = select_n e a 2.0:f32[] in (f,) }}"
                )
                .replace(
                    &format!("e:bool[{n}] = {op} p d"),
                    &format!(
                        "q:bool[{n}] = broadcast_in_dim[broadcast_dimensions=() shape=({n},) sharding=None] p; \
                         e:bool[{n}] = {op} q d; g:f32[{n}] = broadcast_in_dim[broadcast_dimensions=() shape=({n},) sharding=None] 2.0:f32[]"
                    ),
                )
                .replace("select_n e a 2.0:f32[]", "select_n e a g"),
                true,
            );
        }
    }
}

/// Of a function that has branches and loops of its own, and of a choice inside of a choice.
#[test]
fn of_what_has_branches() {
    for n in LENGTHS {
        check(
            &format!(
                "{{ lambda ; p:bool[] a:f32[{n}]. let \
                 q:bool[{n}] = broadcast_in_dim[broadcast_dimensions=() shape=({n},) sharding=None] p; \
                 b:f32[{n}] = digamma a; c:f32[{n}] = sin a; d:f32[{n}] = select_n q b c; \
                 e:f32[{n}] = exp d; f:f32[{n}] = select_n q a e in (f,) }}"
            ),
            true,
        );
    }
}
