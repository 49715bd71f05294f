//! Native code gives what the interpreter gives, on random programs.

use jaxide_core::transform::{Step, apply};
use jaxide_core::{ClosedJaxpr, DType, Tensor, eval};
use jaxide_cpu::{CompileOptions, compile};
use jaxide_testing::arrays::{Numbers, arguments};
use jaxide_testing::compare::{Nearness, compare};
use jaxide_testing::laws::{jvp, tame_arguments, vjp};
use jaxide_testing::{Extent, Profile, config, programs, programs_of};
use proptest::prelude::*;

fn agree(jaxpr: &ClosedJaxpr, seed: u64, nearness: Nearness) -> Result<(), TestCaseError> {
    let fail = |message: String| TestCaseError::fail(format!("{message}\n{jaxpr}"));
    let args = match nearness {
        Nearness::Bits => arguments(jaxpr, Numbers::Special, seed),
        Nearness::Relative(_) | Nearness::Steps(_) => {
            match tame_arguments(jaxpr, seed).map_err(fail)? {
                Some(args) => args,
                None => return Ok(()),
            }
        }
    };
    let want = eval::eval(jaxpr, &args).map_err(|error| fail(error.to_string()))?;
    let program = compile(jaxpr, &CompileOptions::default())
        .map_err(|error| fail(format!("compile: {error}")))?;
    for _ in 0..2 {
        let got = (program.run(&args)).map_err(|error| fail(format!("run: {error}")))?;
        compare(&got, &want, nearness)
            .map_err(|message| fail(format!("{message}\n{}", program.loops_text())))?;
    }
    let undisturbed = (program.run(&args)).map_err(|error| fail(format!("run: {error}")))?;
    // The same bits where each access is looked at.
    let checked = CompileOptions {
        checked: true,
        ..CompileOptions::default()
    };
    let program = compile(jaxpr, &checked).map_err(|error| fail(format!("compile: {error}")))?;
    let got = (program.run(&args)).map_err(|error| fail(format!("checked: {error}")))?;
    compare(&got, &undisturbed, Nearness::Bits)
        .map_err(|message| fail(format!("checked: {message}\n{}", program.loops_text())))?;
    // And where the program may write over its arguments.
    let donating = CompileOptions {
        donate: (0..args.len()).collect(),
        ..checked
    };
    let program = compile(jaxpr, &donating).map_err(|error| fail(format!("compile: {error}")))?;
    let own = args.iter().map(unshared).collect();
    let got = (program.run_owned(own)).map_err(|error| fail(format!("run: {error}")))?;
    compare(&got, &undisturbed, Nearness::Bits)
        .map_err(|message| fail(format!("donated: {message}\n{}", program.loops_text())))
}

/// A copy that shares nothing.
fn unshared(tensor: &Tensor) -> Tensor {
    Tensor::from_bytes(tensor.shape(), tensor.dtype(), tensor.bytes()).unwrap()
}

proptest! {
    #![proptest_config(config(100))]

    #[test]
    fn exact_programs_give_the_same_bits(program in programs(Profile::Exact, 10)) {
        agree(&program.jaxpr, program.seed, Nearness::Bits)?;
    }

    #[test]
    fn smooth_programs_agree(program in programs(Profile::Smooth(DType::F64), 10)) {
        agree(&program.jaxpr, program.seed, Nearness::Relative(1e-10))?;
    }

    #[test]
    fn smooth_programs_of_singles_agree(program in programs(Profile::Smooth(DType::F32), 8)) {
        agree(&program.jaxpr, program.seed, Nearness::Relative(1e-3))?;
    }

    #[test]
    fn exact_programs_of_large_arrays_give_the_same_bits(
        program in programs_of(Profile::Exact, Extent::Large, 8),
    ) {
        agree(&program.jaxpr, program.seed, Nearness::Bits)?;
    }

    #[test]
    fn smooth_programs_of_large_arrays_agree(
        program in programs_of(Profile::Smooth(DType::F64), Extent::Large, 8),
    ) {
        agree(&program.jaxpr, program.seed, Nearness::Relative(1e-9))?;
    }

    #[test]
    fn derivatives_and_batches_agree(program in programs(Profile::Reversible(DType::F64), 6)) {
        let jaxpr = &program.jaxpr;
        let steps = [
            jvp(jaxpr),
            vjp(jaxpr),
            Step::Vmap {
                in_axes: vec![Some(0); jaxpr.in_avals().len()],
                out_axes: -1,
                axis_size: 3,
                axis_name: None,
            },
        ];
        for step in steps {
            let result = apply(jaxpr, &step).map_err(|error| TestCaseError::fail(error.to_string()))?;
            agree(&result, program.seed, Nearness::Relative(1e-9))?;
        }
    }
}

proptest! {
    #![proptest_config(config(40))]

    #[test]
    fn long_programs_give_the_same_bits(program in programs(Profile::Exact, 300)) {
        agree(&program.jaxpr, program.seed, Nearness::Bits)?;
    }
}
