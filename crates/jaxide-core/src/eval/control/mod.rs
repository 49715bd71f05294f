//! Primitives that run other jaxprs: calls, branches, loops, solvers, reductions by a function.

mod branch;
mod combine;
mod loops;
mod print;

pub(super) use branch::platform_index;
pub(super) use combine::{combined, element, gathered, operands_and_starts};
pub(super) use print::debug_print;
pub use print::{formatted, print};

use super::interpreter::{Interpreter, Values};
use super::window;
use crate::error::{Error, ErrorKind, Result};
use crate::jaxpr::ClosedJaxpr;
use crate::prims::{
    CustomLinearSolve, Opaque, Reduce, ReduceWindow, RootLinearMap, Scan, Scatter,
    SelectAndScatter, While,
};

/// A primitive that runs other jaxprs.
pub(super) enum Form<'a> {
    /// Applies a function to all operands.
    Call(&'a ClosedJaxpr),
    /// Applies the function that the first operand selects to the others.
    Cond(&'a [ClosedJaxpr]),
    /// Repeats while a condition holds.
    While(&'a While),
    /// Runs over slices.
    Scan(&'a Scan),
    /// Applies the solver of a linear system.
    LinearSolve(&'a CustomLinearSolve),
    /// Applies a solver to the leading operands.
    Root(&'a ClosedJaxpr),
    /// Applies the derivative of a root's function.
    RootMap(&'a RootLinearMap),
    /// Reduces by a function.
    Reduce(&'a Reduce),
    /// Reduces windows by a function.
    ReduceWindow(&'a ReduceWindow),
    /// Scatters to the elements of windows that a function selects.
    SelectAndScatter(&'a SelectAndScatter),
    /// Scatters with a function that combines.
    Scatter(&'a Scatter, &'a ClosedJaxpr),
}

/// Runs a primitive that runs other jaxprs.
pub(super) fn run(interpreter: &mut Interpreter, form: Form<'_>, inputs: Values) -> Result<Values> {
    match form {
        Form::Call(jaxpr) => interpreter.call(jaxpr, inputs),
        Form::Cond(branches) => branch::cond(interpreter, branches, inputs),
        Form::While(params) => loops::while_loop(interpreter, params, inputs),
        Form::Scan(params) => loops::scan(interpreter, params, inputs),
        Form::LinearSolve(params) => linear_solve(interpreter, params, inputs),
        Form::Root(solver) => {
            let leading = solver.jaxpr.invars.len();
            interpreter.call(solver, inputs.into_iter().take(leading).collect())
        }
        Form::RootMap(params) => interpreter.call(&params.expand()?, inputs),
        Form::Reduce(params) => combine::reduce(interpreter, params, inputs),
        Form::ReduceWindow(p) => window::reduce_window_by(
            interpreter,
            &p.jaxpr,
            |shape| {
                let slides = window::slides(
                    &p.window_dimensions,
                    &p.window_strides,
                    &p.padding,
                    &p.base_dilation,
                    &p.window_dilation,
                )?;
                window::Sliding::new(shape, &slides)
            },
            inputs,
        ),
        Form::SelectAndScatter(p) => {
            let slides = window::undilated(&p.window_dimensions, &p.window_strides, &p.padding)?;
            window::select_and_scatter(interpreter, p, &slides, inputs)
        }
        Form::Scatter(params, jaxpr) => combine::scatter(interpreter, params, jaxpr, inputs),
    }
}

/// The solver on its own constants and the right-hand sides, which follow the constants of all four functions.
fn linear_solve(
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
