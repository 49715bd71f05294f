//! What programs print while they run, wherever that stands.

use jaxide_core::eval::formatted;
use jaxide_core::{Tensor, parse};
use jaxide_cpu::{CompileOptions, compile};
use std::sync::Mutex;

/// An equation that prints.
fn print(format: &str, operands: &str) -> String {
    format!(
        "debug_print[fmt={format} has_placeholders=True in_tree=PyTreeDef(((*,), {{}})) logging_record=None \
         np_printoptions=() ordered=True partitioned=False static_args=()] {operands}"
    )
}

/// The lines that a program prints, on several threads.
fn lines(text: &str, args: &[Tensor]) -> Vec<String> {
    let options = CompileOptions {
        threads: Some(2),
        ..CompileOptions::default()
    };
    let program = compile(&parse(text).unwrap(), &options).unwrap();
    let lines = Mutex::new(Vec::new());
    let print = |format: &str, arrays: &[Tensor]| {
        let mut lines = lines.lock().unwrap();
        lines.push(formatted(format, arrays));
    };
    program.run_printing(args.to_vec(), &print).unwrap();
    lines.into_inner().unwrap()
}

#[test]
fn loops_whose_state_fits_into_registers_print() {
    let text = format!(
        "{{ lambda ; a:f32[]. let
             _:i32[] b:f32[] = scan[
               jaxpr={{ lambda ; c:i32[] d:f32[]. let
                   e:i32[] = add c 1:i32[]
                   {}
                   f:f32[] = add d 1.0:f32[]
                 in (e, f) }}
               length=3
               linear=(False, False)
               num_carry=2
               num_consts=0
               reverse=False
               unroll=1
               _split_transpose=False
             ] 0:i32[] a
           in (b,) }}",
        print("turn {}", "c")
    );
    assert_eq!(
        lines(&text, &[Tensor::scalar(1f32)]),
        ["turn 0", "turn 1", "turn 2"]
    );
}

#[test]
fn branches_without_results_print_each_time() {
    let branches = format!(
        "cond[branches=({{ lambda ; x:i32[]. let {} in () }} {{ lambda ; x:i32[]. let {} in () }})] a a",
        print("none of {}", "x"),
        print("some of {}", "x"),
    );
    let text = format!(
        "{{ lambda ; a:i32[]. let\n{branches}\n{branches}\n{}\nin (a,) }}",
        print("end {}", "a")
    );
    assert_eq!(
        lines(&text, &[Tensor::scalar(1)]),
        ["some of 1", "some of 1", "end 1"]
    );
    assert_eq!(
        lines(&text, &[Tensor::scalar(0)]),
        ["none of 0", "none of 0", "end 0"]
    );
}

#[test]
fn loops_whose_results_nobody_has_print() {
    let text = format!(
        "{{ lambda ; a:i32[]. let
             b:i32[] = while[
               body_jaxpr={{ lambda ; c:i32[]. let {}\nd:i32[] = add c 1:i32[] in (d,) }}
               body_nconsts=0
               cond_jaxpr={{ lambda ; c:i32[]. let d:bool[] = lt c 2:i32[] in (d,) }}
               cond_nconsts=0
             ] a
           in (a,) }}",
        print("{}", "c")
    );
    assert_eq!(lines(&text, &[Tensor::scalar(0)]), ["0", "1"]);
}
