//! Laws that hold for every program, on random ones: text, passes, transformations.

mod batching;
mod constants;
mod derivatives;
mod passes;
mod text;

use jaxide_core::transform::Step;
use jaxide_testing::laws;
use proptest::test_runner::TestCaseError;

/// A law's answer as proptest takes it.
fn holds<T>(outcome: laws::Outcome<T>) -> Result<T, TestCaseError> {
    outcome.map_err(TestCaseError::fail)
}

fn jit() -> Step {
    Step::Jit {
        name: jaxide_core::prims::Name("g".into()),
    }
}
