//! What does not compile, and what the compiler says.
//!
//! Several of these are checks that JAX makes at run time; `docs/pytrees.md` lists them.

#[test]
fn compile_fail() {
    trybuild::TestCases::new().compile_fail("tests/compile_fail/*.rs");
}
