//! Memory is asked for: a program says what a run takes, and is refused where that is more than it may.

use jaxide_core::{Error, ErrorKind, Tensor, eval, memory, parse};
use jaxide_cpu::{CompileOptions, Executable, compile};

/// Two arrays of `count` numbers are computed on the way to two results, one of which is as long.
fn program(count: usize) -> String {
    format!(
        "{{ lambda ; a:f32[]. let
            i:f32[{count}] = iota[dimension=0 dtype=float32 shape=({count},) sharding=None]
            b:f32[{count}] = mul i a
            c:f32[{count}] = sort[dimension=0 is_stable=True num_keys=1] b
            d:f32[{count}] = cumsum[axis=0 reverse=False] c
            s:f32[] = reduce_sum[axes=(0,) out_sharding=None] c
          in (d, s) }}"
    )
}

fn compiled(text: &str, limit: Option<usize>) -> Result<Executable, Error> {
    let options = CompileOptions {
        memory_limit: limit,
        ..CompileOptions::default()
    };
    compile(&parse(text).unwrap(), &options)
}

#[test]
fn a_program_says_what_a_run_takes() {
    let stats = compiled(&program(1000), None).unwrap().stats().clone();
    assert_eq!(stats.memory, stats.arena + 4000 + 4);
    assert!(stats.arena >= 4000);
}

#[test]
fn what_is_more_than_the_limit_is_refused_before_it_is_compiled() {
    let text = program(1000);
    let needed = compiled(&text, None).unwrap().stats().memory;
    assert!(compiled(&text, Some(needed)).is_ok());
    let error = compiled(&text, Some(needed - 1)).err().unwrap();
    assert_eq!(error.kind(), ErrorKind::TooLarge);
    let message = error.message();
    assert!(
        message.contains(&needed.to_string()) && message.contains(&(needed - 1).to_string()),
        "{message}"
    );
}

#[test]
fn what_no_machine_has_is_an_error() {
    // 2 TiB: lowered in no time, and refused when it is to run.
    let text = program(1 << 39).replace("sort[dimension=0 is_stable=True num_keys=1]", "exp2");
    let args = [Tensor::scalar(1.0f32)];
    let executable = compiled(&text, None).unwrap();
    let error = executable.run(&args).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::TooLarge, "{error}");
    let error = eval::eval(&parse(&text).unwrap(), &args).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::TooLarge, "{error}");
    assert_eq!(error.operation(), Some("iota"), "{error}");
}

#[test]
fn the_limit_of_the_process_holds_in_both_backends() {
    let text = program(4 << 20);
    let args = [Tensor::scalar(1.0f32)];
    let executable = compiled(&text, None).unwrap();
    memory::set_limit(Some(1 << 20));
    let ended = [
        executable.run(&args).err(),
        compiled(&text, None).err(),
        eval::eval(&parse(&text).unwrap(), &args).err(),
    ];
    memory::set_limit(None);
    for error in ended {
        let error = error.unwrap();
        assert_eq!(error.kind(), ErrorKind::TooLarge, "{error}");
    }
    assert_eq!(executable.run(&args).unwrap().len(), 2);
}
