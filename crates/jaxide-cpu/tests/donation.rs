//! Arguments that a program may overwrite, and memory of the caller's.

use jaxide_core::jaxpr::parse::parse;
use jaxide_core::{Result, Tensor, eval};
use jaxide_cpu::{CompileOptions, Executable, compile};

const UPDATE: &str = "{ lambda ; a:f32[1000] b:f32[10] c:i32[]. let
    d:f32[1000] = dynamic_update_slice a b c
  in (d,) }";

/// The argument is also a result, so that the update must leave it alone.
const BOTH: &str = "{ lambda ; a:f32[1000] b:f32[10] c:i32[]. let
    d:f32[1000] = dynamic_update_slice a b c
  in (d, a) }";

/// The argument is read after the update.
const READ_LATER: &str = "{ lambda ; a:f32[1000] b:f32[10] c:i32[]. let
    d:f32[1000] = dynamic_update_slice a b c
    e:f32[1000] = add a d
  in (d, e) }";

fn program(text: &str) -> Executable {
    let options = CompileOptions {
        donate: vec![0],
        ..CompileOptions::default()
    };
    compile(&parse(text).unwrap(), &options).unwrap()
}

fn arguments() -> Vec<Tensor> {
    let ramp: Vec<f32> = (0..1000).map(|k| k as f32).collect();
    vec![
        Tensor::from_vec(&[1000], ramp).unwrap(),
        Tensor::from_vec(&[10], vec![-1.0f32; 10]).unwrap(),
        Tensor::scalar(500i32),
    ]
}

fn updated() -> Vec<f32> {
    let mut want: Vec<f32> = (0..1000).map(|k| k as f32).collect();
    want[500..510].fill(-1.0);
    want
}

#[test]
fn an_argument_with_one_owner_is_updated_in_place() -> Result<()> {
    let args = arguments();
    let address = args[0].bytes().as_ptr();
    let results = program(UPDATE).run_owned(args)?;
    assert_eq!(results[0].bytes().as_ptr(), address);
    assert_eq!(results[0].to_vec::<f32>()?, updated());
    Ok(())
}

#[test]
fn an_argument_that_is_shared_is_copied() -> Result<()> {
    let args = arguments();
    for results in [
        program(UPDATE).run(&args)?,
        program(UPDATE).run_owned(args.clone())?,
    ] {
        assert_eq!(results[0].to_vec::<f32>()?, updated());
        assert_eq!(args[0].as_slice::<f32>()?[505], 505.0);
    }
    Ok(())
}

#[test]
fn an_argument_that_is_still_wanted_is_kept() -> Result<()> {
    let results = program(BOTH).run_owned(arguments())?;
    assert_eq!(results[0].to_vec::<f32>()?, updated());
    assert_eq!(results[1].as_slice::<f32>()?[505], 505.0);
    let results = program(READ_LATER).run_owned(arguments())?;
    assert_eq!(results[0].to_vec::<f32>()?, updated());
    assert_eq!(results[1].as_slice::<f32>()?[505], 504.0);
    Ok(())
}

#[test]
fn results_go_to_the_callers_memory() -> Result<()> {
    for text in [UPDATE, BOTH, READ_LATER] {
        let program = program(text);
        let want = program.run(&arguments())?;
        let mut args = arguments();
        let inputs: Vec<*const u8> = args
            .iter_mut()
            .map(|arg| arg.bytes_mut().unwrap().as_mut_ptr().cast_const())
            .collect();
        let mut outputs = vec![vec![0f32; 1000]; want.len()];
        let pointers: Vec<*mut u8> = outputs
            .iter_mut()
            .map(|output| output.as_mut_ptr().cast())
            .collect();
        // SAFETY: the arguments have the types of the program and are this function's alone, and so are the outputs.
        unsafe { program.run_pointers(&inputs, &pointers)? };
        for (output, want) in outputs.iter().zip(&want) {
            assert_eq!(output, &want.to_vec::<f32>()?);
        }
    }
    Ok(())
}

/// Lengths around those of vectors, of blocks, and of what threads share.
const LENGTHS: [usize; 14] = [
    5,
    7,
    8,
    15,
    17,
    31,
    33,
    63,
    65,
    1000,
    1023,
    4097,
    70_001,
    1 << 20,
];

#[test]
fn results_are_made_in_the_memory_of_arguments_that_are_read_where_they_write() -> Result<()> {
    for n in LENGTHS {
        let text = format!(
            "{{ lambda ; a:f32[{n}] b:f32[{n}]. let
                c:f32[{n}] = mul a b
                d:f32[{n}] = add c a
                e:f32[{n}] = sub d b
                f:f32[{n}] = mul e a
              in (d, f) }}"
        );
        let options = CompileOptions {
            donate: vec![0, 1],
            ..CompileOptions::default()
        };
        let program = compile(&parse(&text)?, &options)?;
        let args: Vec<Tensor> = [2.0, 3.0]
            .into_iter()
            .map(|scale| (0..n).map(|k| scale * (k % 5) as f32).collect())
            .map(|elements: Vec<f32>| Tensor::from_vec(&[n], elements))
            .collect::<Result<_>>()?;
        let mut addresses: Vec<_> = args.iter().map(|arg| arg.bytes().as_ptr()).collect();
        let want = eval::eval(&parse(&text)?, &args)?;
        let results = program.run_owned(args)?;
        let mut given: Vec<_> = results.iter().map(|own| own.bytes().as_ptr()).collect();
        addresses.sort_unstable();
        given.sort_unstable();
        assert_eq!(addresses, given, "length {n}");
        assert_eq!(results, want, "length {n}");
    }
    Ok(())
}

#[test]
fn an_argument_that_is_read_elsewhere_than_it_would_be_written_is_left_alone() -> Result<()> {
    for n in LENGTHS {
        let text = format!(
            "{{ lambda ; a:f32[{n}]. let
                b:f32[{n}] = rev[dimensions=(0,)] a
                c:f32[{n}] = sub a b
              in (c,) }}"
        );
        let args = vec![Tensor::from_vec(
            &[n],
            (0..n).map(|k| (k % 11) as f32).collect::<Vec<f32>>(),
        )?];
        let want = eval::eval(&parse(&text)?, &args)?;
        assert_eq!(program(&text).run_owned(args)?, want, "length {n}");
    }
    Ok(())
}
