//! What code says of the time and the work of its steps.

use jaxide_core::{ClosedJaxpr, Tensor, parse};
use jaxide_cpu::codegen::lanes::Isa;
use jaxide_cpu::{CompileOptions, Executable, StepProfile, compile};
use jaxide_testing::arrays::{Numbers, arguments};
use std::time::Duration;

fn profiled(closed: &ClosedJaxpr, isa: Isa, threads: usize) -> Executable {
    let options = CompileOptions {
        isa: Some(isa),
        threads: Some(threads),
        profile: true,
        ..CompileOptions::default()
    };
    compile(closed, &options).unwrap()
}

/// The steps of one run of a program, on every instruction set and several threads; results are those of code that takes no times.
fn steps(text: &str) -> Vec<StepProfile> {
    let closed = parse(text).unwrap();
    let args: Vec<Tensor> = arguments(&closed, Numbers::Tame, 7);
    let mut all = Vec::new();
    for isa in Isa::available() {
        for threads in [1, 2] {
            let program = profiled(&closed, isa, threads);
            let plain = CompileOptions {
                isa: Some(isa),
                ..CompileOptions::default()
            };
            let want = compile(&closed, &plain).unwrap().run(&args).unwrap();
            assert_eq!(program.run(&args).unwrap(), want, "{isa:?}");
            all.push(program.take_profile());
            assert_eq!(program.take_profile(), [], "what was taken is gone");
            program.run(&args).unwrap();
            program.run(&args).unwrap();
            let (once, twice) = (&all[all.len() - 1], program.take_profile());
            let runs = |steps: &[StepProfile]| steps.iter().map(|step| step.runs).sum::<u64>();
            assert_eq!(2 * runs(once), runs(&twice));
        }
    }
    let numbers = |steps: &[StepProfile]| -> Vec<(u64, u64, u64)> {
        steps
            .iter()
            .map(|step| (step.runs, step.bytes, step.flops))
            .collect()
    };
    for other in &all {
        assert_eq!(numbers(other), numbers(&all[0]));
    }
    all.swap_remove(0)
}

/// Runs, bytes and operations of a program of one step.
fn only(text: &str) -> (u64, u64, u64) {
    let steps = steps(text);
    let [step] = &steps[..] else {
        panic!("{steps:?}")
    };
    (step.runs, step.bytes, step.flops)
}

#[test]
fn nests_count_what_they_touch_once() {
    for n in [1usize, 15, 16, 17, 1000, 5000] {
        let text =
            format!("{{ lambda ; a:f32[{n}] b:f32[{n}]. let c:f32[{n}] = add a b in (c,) }}");
        let n = n as u64;
        assert_eq!(only(&text), (1, 12 * n, n));
        // One operand that is read by two operations is read once.
        let text = format!(
            "{{ lambda ; a:f64[{n}]. let b:f64[{n}] = mul a a; c:f64[{n}] = sub b a in (c,) }}"
        );
        assert_eq!(only(&text), (1, 16 * n, 2 * n));
    }
}

#[test]
fn what_repeats_is_touched_once() {
    let text = "{ lambda ; a:f32[40] b:f32[30,40]. let
        c:f32[1,40] = broadcast_in_dim[broadcast_dimensions=(1,) shape=(1, 40) sharding=None] a
        d:f32[30,40] = mul c b
      in (d,) }";
    assert_eq!(only(text), (1, 4 * (40 + 2 * 1200), 1200));
}

#[test]
fn reductions_read_all_and_write_little() {
    let text = "{ lambda ; a:f32[300,64]. let b:f32[300] = reduce_sum[axes=(1,) out_sharding=None] a in (b,) }";
    let (runs, bytes, _) = only(text);
    assert_eq!((runs, bytes), (1, 4 * (300 * 64 + 300)));
}

#[test]
fn kernels_count_their_operands_and_their_definition() {
    let text = "{ lambda ; a:f32[96,80] b:f32[80,112]. let
        c:f32[96,112] = dot_general[dimension_numbers=(([1], [0]), ([], []))] a b
      in (c,) }";
    let steps = steps(text);
    assert_eq!((steps[0].name.as_str(), steps[0].runs), ("dot_general", 1));
    assert_eq!(steps[0].flops, 2 * 96 * 80 * 112);
    assert_eq!(steps[0].bytes, 4 * (96 * 80 + 80 * 112 + 96 * 112));
    assert!(steps[0].equations.contains("dot_general"), "{steps:?}");
    assert!(steps[0].time > Duration::ZERO);
}

#[test]
fn steps_in_loops_run_as_often_as_the_loop_turns() {
    let text = "{ lambda ; a:f32[500]. let
        b:f32[500] = scan[
          jaxpr={ lambda ; c:f32[500]. let d:f32[500] = sort[dimension=0 is_stable=True num_keys=1] c; e:f32[500] = neg d in (e,) }
          length=7 linear=(False,) num_carry=1 num_consts=0 reverse=False unroll=1
        ] a
      in (b,) }";
    let steps = steps(text);
    let sort = steps.iter().find(|step| step.name == "sort").unwrap();
    assert_eq!((sort.runs, sort.bytes), (7, 7 * 4000));
}

#[test]
fn code_takes_no_times_unless_it_is_asked() {
    let closed = parse("{ lambda ; a:f32[9]. let b:f32[9] = sin a in (b,) }").unwrap();
    let program = compile(&closed, &CompileOptions::default()).unwrap();
    program.run(&arguments(&closed, Numbers::Tame, 7)).unwrap();
    assert_eq!(program.take_profile(), []);
}
