//! Derivatives against differences and inner products, to the second order, and wherever calls and remat stand.

use jaxide_core::transform::Step;
use jaxide_core::{ClosedJaxpr, DType, simplify};
use jaxide_testing::compare::{Nearness, compare};
use jaxide_testing::laws::{
    Outcome, derivative_is_a_limit, jvp, legal, run, tame_arguments, transformed,
    transposed_keeps_products, vjp,
};
use jaxide_testing::{Profile, Program, config, programs};
use proptest::prelude::*;

use super::{holds, jit};

const SMOOTH: Profile = Profile::Smooth(DType::F64);
const REVERSIBLE: Profile = Profile::Reversible(DType::F64);

/// Two programs give the same, up to the order of sums.
fn same(what: &str, one: &ClosedJaxpr, other: &ClosedJaxpr, seed: u64) -> Outcome {
    let Some(args) = tame_arguments(one, seed)? else {
        return Ok(());
    };
    let (want, got) = (run(one, &args)?, run(other, &args)?);
    compare(&got, &want, Nearness::Relative(1e-9))
        .map_err(|message| format!("{what}: {message}\n{one}\n{other}"))
}

/// Calls and remat, wherever they stand, and the passes change nothing.
fn wrapping_changes_nothing(program: &Program) -> Outcome {
    let (jaxpr, seed) = (&program.jaxpr, program.seed);
    let (jvp, vjp) = (jvp(jaxpr), vjp(jaxpr));
    let backward = transformed(jaxpr, &vjp)?;
    let forward = transformed(jaxpr, &jvp)?;
    for wrap in [jit(), Step::Checkpoint] {
        let wrapped = transformed(jaxpr, &wrap)?;
        same("the call", jaxpr, &wrapped, seed)?;
        same(
            "vjp of the call",
            &backward,
            &transformed(&wrapped, &vjp)?,
            seed,
        )?;
        same(
            "jvp of the call",
            &forward,
            &transformed(&wrapped, &jvp)?,
            seed,
        )?;
        same(
            "the call of vjp",
            &backward,
            &transformed(&backward, &wrap)?,
            seed,
        )?;
    }
    let linear = Step::Linearize {
        argnums: program.float_arguments(),
        tangent_outs: program.float_results(),
    };
    same("linearize", &forward, &transformed(jaxpr, &linear)?, seed)?;
    let simple = simplify::simplify(jaxpr).map_err(|error| error.to_string())?;
    legal(&simple)?;
    same(
        "vjp of simplified",
        &backward,
        &transformed(&simple, &vjp)?,
        seed,
    )
}

proptest! {
    #![proptest_config(config(200))]

    #[test]
    fn forward_is_the_limit_of_differences(program in programs(SMOOTH, 8)) {
        holds(derivative_is_a_limit(&program.jaxpr, program.seed))?;
    }

    #[test]
    fn backward_is_forward_transposed(program in programs(REVERSIBLE, 8)) {
        holds(transposed_keeps_products(&program.jaxpr, program.seed))?;
    }

    #[test]
    fn forward_twice(program in programs(SMOOTH, 5)) {
        let first = holds(transformed(&program.jaxpr, &jvp(&program.jaxpr)))?;
        holds(derivative_is_a_limit(&first, program.seed))?;
    }

    #[test]
    fn forward_over_backward(program in programs(REVERSIBLE, 5)) {
        let first = holds(transformed(&program.jaxpr, &vjp(&program.jaxpr)))?;
        holds(derivative_is_a_limit(&first, program.seed))?;
    }

    #[test]
    fn backward_twice(program in programs(REVERSIBLE, 5)) {
        let first = holds(transformed(&program.jaxpr, &vjp(&program.jaxpr)))?;
        holds(transposed_keeps_products(&first, program.seed))?;
    }

    #[test]
    fn backward_over_forward(program in programs(REVERSIBLE, 5)) {
        let first = holds(transformed(&program.jaxpr, &jvp(&program.jaxpr)))?;
        holds(transposed_keeps_products(&first, program.seed))?;
    }

    #[test]
    fn calls_and_remat_change_nothing(program in programs(REVERSIBLE, 6)) {
        holds(wrapping_changes_nothing(&program))?;
    }
}
