//! Running whole programs.

use jaxide_core::{ClosedJaxpr, Result, Tensor, eval};

/// How programs are compiled.
#[derive(Clone, Debug, Default)]
pub(crate) struct CompileOptions {
    /// How many threads a program may use.
    pub(crate) threads: Option<usize>,
}

/// A program that can be run.
pub(crate) struct Executable(ClosedJaxpr);

/// The program of a jaxpr.
pub(crate) fn compile(jaxpr: &ClosedJaxpr, _options: &CompileOptions) -> Result<Executable> {
    Ok(Executable(jaxpr.clone()))
}

impl Executable {
    pub(crate) fn run(&self, args: &[Tensor]) -> Result<Vec<Tensor>> {
        eval::eval(&self.0, args)
    }
}
