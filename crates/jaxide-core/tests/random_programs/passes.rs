//! Each simplification pass leaves every bit of the results.

use jaxide_core::{ClosedJaxpr, Result, simplify};
use jaxide_testing::arrays::{Numbers, arguments};
use jaxide_testing::compare::{Nearness, compare};
use jaxide_testing::{Profile, Program, config, programs};
use proptest::prelude::*;

use super::holds;
use jaxide_testing::laws::{jvp, legal, run, transformed, vjp};

type Pass = fn(&ClosedJaxpr) -> Result<ClosedJaxpr>;

const PASSES: [(&str, Pass); 3] = [
    ("dce", simplify::dce),
    ("rewrite", |jaxpr| Ok(simplify::rewrite(jaxpr))),
    ("simplify", simplify::simplify),
];

fn passes_keep_bits(jaxpr: &ClosedJaxpr, program: &Program) -> Result<(), TestCaseError> {
    let args = arguments(jaxpr, Numbers::Special, program.seed);
    let want = holds(run(jaxpr, &args))?;
    for (name, pass) in PASSES {
        let fail = |message: String, after: &ClosedJaxpr| {
            TestCaseError::fail(format!("{name}: {message}\n{jaxpr}\n{after}"))
        };
        let after = pass(jaxpr).map_err(|error| fail(error.to_string(), jaxpr))?;
        holds(legal(&after))?;
        compare(&holds(run(&after, &args))?, &want, Nearness::Bits)
            .map_err(|message| fail(message, &after))?;
        let again = pass(&after).map_err(|error| fail(error.to_string(), &after))?;
        prop_assert_eq!(&again, &after, "{} twice", name);
    }
    Ok(())
}

proptest! {
    #![proptest_config(config(200))]

    #[test]
    fn passes_leave_bits(program in programs(Profile::Any, 10)) {
        passes_keep_bits(&program.jaxpr, &program)?;
    }

    #[test]
    fn passes_leave_bits_of_derivatives(program in programs(Profile::Reversible(jaxide_core::DType::F64), 6)) {
        passes_keep_bits(&holds(transformed(&program.jaxpr, &jvp(&program.jaxpr)))?, &program)?;
        passes_keep_bits(&holds(transformed(&program.jaxpr, &vjp(&program.jaxpr)))?, &program)?;
    }
}
