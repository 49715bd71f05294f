//! Primitives that run other jaxprs: calls, branches, loops, solvers, reductions by a function.

mod branch;
mod combine;
mod loops;
mod print;

pub(super) use branch::{cond, platform_index};
pub(super) use combine::{reduce, scatter};
pub(super) use loops::{scan, while_loop};
pub(super) use print::debug_print;
pub use print::{formatted, print};

use super::interpreter::{Interpreter, Values};
use crate::error::{Error, ErrorKind, Result};
use crate::prims::{CustomLinearSolve, CustomRoot, Opaque};

/// The solver on the leading operands.
pub(super) fn root(
    interpreter: &mut Interpreter,
    params: &CustomRoot,
    inputs: Values,
) -> Result<Values> {
    let solver = &params.solve_jaxpr;
    let leading = solver.jaxpr.invars.len();
    interpreter.call(solver, inputs.into_iter().take(leading).collect())
}

/// The solver on its own constants and the right-hand sides, which follow the constants of all four functions.
pub(super) fn linear_solve(
    interpreter: &mut Interpreter,
    params: &CustomLinearSolve,
    inputs: Values,
) -> Result<Values> {
    let lengths = params.const_lengths;
    let before = lengths.matvec.saturating_add(lengths.vecmat);
    let after = before.saturating_add(lengths.solve);
    let operands = after.saturating_add(lengths.transpose_solve);
    if inputs.len() < operands {
        return Err(Error::new(
            ErrorKind::Arity,
            format!(
                "const_lengths speak of {operands} constants, and {} operands are given",
                inputs.len()
            ),
        ));
    }
    let chosen = inputs
        .into_iter()
        .enumerate()
        .filter(|&(index, _)| (before..after).contains(&index) || index >= operands);
    interpreter.call(
        &params.jaxprs.solve,
        chosen.map(|(_, value)| value).collect(),
    )
}

/// The error of a call to a function of the host program.
pub(super) fn host_function(callback: &Opaque) -> Error {
    Error::unsupported(format!(
        "calls a function of the host program, which a jaxpr does not carry: {}",
        callback.0
    ))
}
