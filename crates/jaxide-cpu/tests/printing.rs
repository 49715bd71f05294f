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

/// An array is printed as it was behind what depends on a part of it that is written: the order is that of the text, not the one in which the array
/// need not be copied. So it is where a loop prints.
#[test]
fn what_is_read_before_an_update_is_printed_behind_what_comes_before() {
    let first = print("first {}", "s");
    let in_loop = format!(
        "k:i32[] = scan[jaxpr={{ lambda ; c:i32[]. let e:i32[] = add c 1:i32[]; {} in (e,) }} length=2 linear=(False,) num_carry=1 num_consts=0 \
         reverse=False unroll=1 _split_transpose=False] 0:i32[]",
        print("turn {}", "c")
    );
    for (between, turns) in [("", 0), (in_loop.as_str(), 2)] {
        let body = format!(
            "f:f32[3] = dynamic_update_slice a b i\n s:f32[] = reduce_sum[axes=(0,) out_sharding=None] f\n {first}\n {between}\n {}",
            print("second {}", "a")
        );
        let mut want = vec!["first 9.0".to_owned()];
        want.extend((0..turns).map(|turn| format!("turn {turn}")));
        want.push("second [1. 2. 3.]".to_owned());
        let args = [
            Tensor::from_vec(&[3], vec![1f32, 2.0, 3.0]).unwrap(),
            Tensor::from_vec(&[1], vec![5f32]).unwrap(),
            Tensor::scalar(1i32),
        ];
        let text = format!("{{ lambda ; a:f32[3] b:f32[1] i:i32[]. let\n {body}\n in (f,) }}");
        assert_eq!(lines(&text, &args), want, "{text}");
        let text = format!(
            "{{ lambda ; a:f32[3] b:f32[1] i:i32[]. let g:f32[3] = scan[jaxpr={{ lambda ; b:f32[1] i:i32[] a:f32[3]. let\n {body}\n in (f,) }} \
             length=1 linear=(False, False, False) num_carry=1 num_consts=2 reverse=False unroll=1 _split_transpose=False] b i a in (g,) }}"
        );
        assert_eq!(lines(&text, &args), want, "{text}");
    }
}
