//! All tests of the crate, in one program.

mod goldens;
mod graph;
#[cfg(feature = "tabulate")]
mod looking;
mod metrics;
mod transforms;

/// What does not compile, and what the compiler says.
#[test]
fn compile_fail() {
    trybuild::TestCases::new().compile_fail("tests/compile_fail/*.rs");
}
