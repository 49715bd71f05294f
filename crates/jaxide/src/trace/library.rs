//! Functions of the library that are one equation: what JAX writes as a call of a named function.

use std::fmt::Write as _;

use jaxide_core::prims::{Jit, Name};
use jaxide_core::{ClosedJaxpr, DType, Literal};

use super::frame::outermost_frame;
use super::{
    Captures, Known, UserPlace, aval_of, bind, called_by, caller, raise, trace, without_scope,
};
use crate::array::{Array, Repr, fitting, is_wide};

/// [`library_call`] of a function with one result and a number of operands that is known.
///
/// # Panics
/// Where `f` does.
#[track_caller]
pub(crate) fn library<const N: usize>(
    name: &str,
    parameters: &str,
    operands: [&Array; N],
    f: impl FnOnce([&Array; N]) -> Array,
) -> Array {
    let given = operands.map(Array::clone);
    let mut results = library_call(name, parameters, &given, |args| {
        vec![f(std::array::from_fn(|index| &args[index]))]
    });
    match results.pop() {
        Some(result) => result,
        None => raise(jaxide_core::Error::new(
            jaxide_core::ErrorKind::Internal,
            "one result was expected",
        )),
    }
}

/// [`library_call`] of a function with one result, and operands that may be missing: those that are given are operands of the
/// call, in their order behind `operands`.
///
/// # Panics
/// Where `f` does.
#[track_caller]
pub(crate) fn library_with<const N: usize, const M: usize>(
    name: &str,
    parameters: &str,
    operands: [&Array; N],
    optional: [Option<Array>; M],
    f: impl FnOnce([&Array; N], [Option<Array>; M]) -> Array,
) -> Array {
    let given = optional.each_ref().map(Option::is_some);
    let mut all = operands.map(Array::clone).to_vec();
    all.extend(optional.into_iter().flatten());
    let mut results = library_call(name, &format!("{parameters} {given:?}"), &all, |args| {
        let mut rest = args[N..].iter();
        let optional = given.map(|given| if given { rest.next().cloned() } else { None });
        vec![f(std::array::from_fn(|index| &args[index]), optional)]
    });
    results.remove(0)
}

/// Applies a function of the library: a `jit` equation called `name` inside a trace, its operations at once outside.
///
/// Inside one trace, calls with the same name, `parameters` and types of operands share one sub-jaxpr, so that the text
/// shows it once. `f` may not capture arrays, and what it does must follow from those three.
///
/// # Panics
/// Where `f` does.
#[track_caller]
pub(crate) fn library_call(
    name: &str,
    parameters: &str,
    operands: &[Array],
    f: impl FnOnce(&[Array]) -> Vec<Array>,
) -> Vec<Array> {
    // Closures do not know who called them: mistakes in `f` are those of the caller of this.
    let _restore = called_by(UserPlace::of(caller()));
    let Some(outermost) = outermost_frame() else {
        return f(operands);
    };
    let wide = operands
        .iter()
        .any(|x| !x.weak_type() && is_wide(x.dtype()));
    let operands: Vec<Array> = operands.iter().map(|x| operand(x, wide)).collect();
    let operands = &operands[..];
    let mut key = format!("{name} {parameters}");
    for operand in operands {
        let aval = aval_of(operand);
        let _ = write!(key, " {aval} {}", aval.weak_type);
    }
    let known = outermost.library.borrow().get(&key).cloned();
    let jaxpr = known.unwrap_or_else(|| {
        let jaxpr = staged(operands, f);
        outermost.library.borrow_mut().insert(key, jaxpr.clone());
        jaxpr
    });
    bind(Jit::new(Name::new(name), jaxpr), operands).into_vec()
}

/// A number of the program as an operand of a call: a truth value, which yields to nothing, is strong, and beside arrays of 64 bits
/// a float keeps the digits of 64 bits, as does an integer that needs them. Other arrays stay as they are.
fn operand(x: &Array, wide: bool) -> Array {
    let Repr::Number(literal) = x.0 else {
        return x.clone();
    };
    let dtype = match literal.dtype {
        DType::I32 if wide && fitting(literal).is_err() => DType::I64,
        DType::F32 if wide && literal.weak_type => DType::F64,
        DType::C64 if wide && literal.weak_type => DType::C128,
        dtype => dtype,
    };
    Array(Repr::Number(Literal {
        dtype,
        weak_type: literal.weak_type && dtype != DType::Bool,
        ..literal
    }))
}

#[track_caller]
fn staged(operands: &[Array], f: impl FnOnce(&[Array]) -> Vec<Array>) -> ClosedJaxpr {
    let avals: Vec<_> = operands.iter().map(aval_of).collect();
    let record = || {
        trace("jit", &avals, Known::No, Captures::Constants, |args| {
            (f(args), ())
        })
    };
    without_scope(record).jaxpr
}
