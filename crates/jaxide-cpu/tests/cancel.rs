//! Programs without end, and some that would take years, end when they are told to; nothing else changes.

use jaxide_core::eval::eval_with;
use jaxide_core::{Cancel, ErrorKind, Tensor, parse};
use jaxide_cpu::codegen::lanes::Isa;
use jaxide_cpu::{CompileOptions, Executable, compile};
use std::thread;
use std::time::{Duration, Instant};

/// A loop that goes on until its first number is negative, over a state of this type, which each turn changes by `next`.
fn endless(ty: &str, next: &str, also: &str) -> String {
    let index = ty.find('[').unwrap();
    let (dtype, shape) = ty.split_at(index);
    let axes = match shape.matches(',').count() {
        _ if shape == "[]" => String::new(),
        0 => "0,".to_owned(),
        commas => (0..=commas).map(|axis| format!("{axis},")).collect(),
    };
    format!(
        "{{ lambda ; a:{ty}. let
            r:{ty} = while[
              body_jaxpr={{ lambda ; c:{ty}. let {also} d:{ty} = {next} in (d,) }}
              body_nconsts=0
              cond_jaxpr={{ lambda ; c:{ty}. let
                  m:{dtype}[] = reduce_min[axes=({axes}) out_sharding=None] c
                  p:bool[] = ge m 0.0:{dtype}[]
                in (p,) }}
              cond_nconsts=0
            ] a
          in (r,) }}"
    )
}

/// Each lane goes on for itself.
fn endless_lanes(count: usize) -> String {
    format!(
        "{{ lambda ; a:f32[{count}]. let
            r:f32[{count}] = while[
              body_jaxpr={{ lambda ; c:f32[{count}]. let d:f32[{count}] = sin c; e:f32[{count}] = abs d in (e,) }}
              body_nconsts=0
              cond_jaxpr={{ lambda ; c:f32[{count}]. let p:bool[{count}] = ge c 0.0:f32[] in (p,) }}
              cond_nconsts=0
            ] a
          in (r,) }}"
    )
}

fn long_scan(ty: &str, body: &str) -> String {
    format!(
        "{{ lambda ; a:{ty}. let
            r:{ty} = scan[
              _split_transpose=False
              jaxpr={{ lambda ; c:{ty}. let {body} in (d,) }}
              length=4611686018427387904 linear=(False,) num_carry=1 num_consts=0 reverse=False unroll=1
            ] a
          in (r,) }}"
    )
}

fn programs() -> Vec<String> {
    let sorted = "s:f32[5000] = sort[dimension=0 is_stable=True num_keys=1] c;";
    vec![
        endless("f32[]", "abs c", ""),
        endless("f32[7]", "abs c", ""),
        endless("f64[100,3]", "abs c", ""),
        endless("f32[100000]", "abs c", ""),
        endless("f32[5000]", "abs s", sorted),
        endless_lanes(1),
        endless_lanes(5),
        endless_lanes(1000),
        endless_lanes(100_000),
        long_scan("f32[]", "d:f32[] = sin c"),
        long_scan("f32[3]", "d:f32[3] = sin c"),
        long_scan("f32[3000]", "d:f32[3000] = sin c"),
        // Turns of scalar code alone.
        long_scan(
            "i8[40]",
            "e:i8[1] = slice[limit_indices=(1,) start_indices=(0,) strides=(1,)] c;
             f:i8[] = reshape[dimensions=None new_sizes=() sharding=None] e;
             i:i32[] = convert_element_type[new_dtype=int32 weak_type=False] f;
             g:i8[1] = dynamic_slice[slice_sizes=(1,)] c i;
             d:i8[40] = dynamic_update_slice c g 5:i32[]",
        ),
        "{ lambda ; a:f32[]. let
            b:f32[1000000000000000] = broadcast_in_dim[broadcast_dimensions=() shape=(1000000000000000,) sharding=None] a
            e:f32[] = reduce_sum[axes=(0,) out_sharding=None] b
          in (e,) }"
            .to_owned(),
        "{ lambda ; a:f32[3]. let
            b:f32[1000000000000,3] = broadcast_in_dim[broadcast_dimensions=(1,) shape=(1000000000000, 3) sharding=None] a
            i:f32[1000000000000,3] = iota[dimension=0 dtype=float32 shape=(1000000000000, 3) sharding=None]
            c:f32[1000000000000,3] = mul b i
            e:f32[3] = reduce_max[axes=(0,) out_sharding=None] c
          in (e,) }"
            .to_owned(),
        // Rows of which each has a loop that nothing looks at: its turns are known, and not many.
        "{ lambda ; a:f32[2000,130]. let
            b:f32[2000,128] = slice[limit_indices=(2000, 129) start_indices=(0, 1) strides=None] a
            c:f32[2000,128] = scan[
              ft_in=((None,), (None,), ())
              ft_out=((None,), ())
              jaxpr={ lambda ; d:f32[2000,128] e:f32[2000,128]. let
                  f:f32[2000,128] = mul e e
                  g:f32[2000,128] = mul f 0.5:f32[]
                  h:f32[2000,128] = mul d 0.1:f32[]
                  i:f32[2000,128] = add g h
                in (i,) }
              length=4000000 reverse=False unroll=1
            ] b b
          in (c,) }"
            .to_owned(),
    ]
}

fn argument(program: &Executable) -> Tensor {
    let aval = &program.in_avals()[0];
    let zeros = vec![0u8; aval.shape.iter().product::<usize>() * aval.dtype.size()];
    Tensor::from_bytes(&aval.shape, aval.dtype, &zeros).unwrap()
}

fn compiled(text: &str, isa: Isa) -> Executable {
    let options = CompileOptions {
        isa: Some(isa),
        ..CompileOptions::default()
    };
    compile(&parse(text).expect(text), &options).expect(text)
}

/// More than any of the runs here may take to notice.
const SOON: Duration = Duration::from_secs(5);

#[test]
fn endless_programs_end_in_time() {
    for text in programs() {
        for isa in Isa::available() {
            let program = compiled(&text, isa);
            let start = Instant::now();
            let limit = Cancel::after(Duration::from_millis(30));
            let error = program.run_with(&[argument(&program)], &limit).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Cancelled, "{isa:?}: {text}");
            assert!(error.message().contains("30ms"), "{error}");
            assert!(start.elapsed() < SOON, "{isa:?}: {text}");
        }
    }
}

#[test]
fn another_thread_ends_a_run() {
    for text in programs() {
        let program = compiled(&text, Isa::detect());
        let cancel = Cancel::new();
        let error = thread::scope(|scope| {
            let run = scope.spawn(|| program.run_with(&[argument(&program)], &cancel));
            thread::sleep(Duration::from_millis(10));
            assert!(!run.is_finished(), "{text}");
            cancel.cancel();
            run.join().unwrap().unwrap_err()
        });
        assert_eq!(error.kind(), ErrorKind::Cancelled);
        assert!(error.message().contains("was cancelled"), "{error}");
        // The handle stays as it is.
        assert!(program.run_with(&[argument(&program)], &cancel).is_err());
    }
}

#[test]
fn the_interpreter_ends_in_time() {
    for text in [
        endless("f32[]", "abs c", ""),
        endless_lanes(5),
        long_scan("f32[3]", "d:f32[3] = sin c"),
    ] {
        let closed = parse(&text).unwrap();
        let aval = &closed.in_avals()[0];
        let zeros = vec![0f32; aval.shape.iter().product()];
        let args = [Tensor::from_vec(&aval.shape, zeros).unwrap()];
        let start = Instant::now();
        let error =
            eval_with(&closed, &args, &Cancel::after(Duration::from_millis(30))).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Cancelled);
        assert!(start.elapsed() < SOON);
    }
}

#[test]
fn a_run_that_ends_by_itself_gives_its_results() {
    // The state falls below zero after some turns.
    for ty in ["f32[]", "f32[7]", "f32[100000]"] {
        let text = endless(ty, "sub c 1.0:f32[]", "");
        for isa in Isa::available() {
            let program = compiled(&text, isa);
            let args = [argument(&program)];
            let cancel = Cancel::after(Duration::from_secs(3600));
            assert_eq!(
                program.run_with(&args, &cancel).unwrap(),
                program.run(&args).unwrap()
            );
            assert!(!cancel.is_cancelled());
        }
    }
}

#[test]
fn a_program_runs_again_after_it_was_ended() {
    let text = endless("f32[5000]", "sub c 0.125:f32[]", "");
    let program = compiled(&text, Isa::detect());
    let args = [Tensor::from_vec(&[5000], vec![10.0f32; 5000]).unwrap()];
    let want = program.run(&args).unwrap();
    for _ in 0..50 {
        let cancel = Cancel::new();
        thread::scope(|scope| {
            let run = scope.spawn(|| program.run_with(&args, &cancel));
            cancel.cancel();
            // It may have been over before.
            if let Ok(results) = run.join().unwrap() {
                assert_eq!(results, want);
            }
        });
        assert_eq!(program.run(&args).unwrap(), want);
    }
}
