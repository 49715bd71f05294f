//! The verifier: what a legal jaxpr is.
//!
//! A jaxpr is legal when
//! 1. every variable in it is its own, and is bound exactly once: as a constant, an argument, or a result of an equation;
//! 2. what an equation reads, and what the jaxpr gives, is bound before, or a literal that its type can hold;
//! 3. the results of every equation are as many as its primitive gives for the types of the operands, and of those types
//!    (shape, element type, kind; whether a type is weak does not matter). That covers the laws of control flow: operands
//!    are those of the branch or body, all branches give the same types, carries keep theirs;
//! 4. the values of constants, where they are known, are as many as the constants and have their types;
//! 5. all this holds for every sub-jaxpr, which sees nothing of what is around it; only a definition read from text may use
//!    variables that are bound before its use, in the jaxprs around it (then it can be printed, and not run or transformed);
//! 6. references are not given as results.
//!
//! Primitives whose types are not known here (those that text cannot carry, and those that are not JAX's own) are taken at
//! their word, and so is what is applied to values of element types that are not JAX's.

use std::collections::HashSet;

use super::{Atom, AvalKind, ClosedJaxpr, Eqn, Jaxpr, Var, VarMap, builder};
use crate::error::{Error, ErrorKind, Result};

/// More mistakes than this are not looked for.
const MOST_ERRORS: usize = 20;

/// Checks that a jaxpr is legal, sub-jaxprs included.
///
/// ```
/// use jaxide_core::{check, parse};
/// let text = "{ lambda ; a:f32[2] b:f32[3]. let c:f32[2] = add a b in (c,) }";
/// let errors = check(&parse(text)?).unwrap_err();
/// assert_eq!(errors[0].operation(), Some("add"));
/// # Ok::<(), jaxide_core::ParseError>(())
/// ```
///
/// # Errors
/// Every mistake that was found, each with the place of its equation; at most twenty.
pub fn check(closed: &ClosedJaxpr) -> Result<(), Vec<Error>> {
    let mut checker = Checker::default();
    checker.closed(closed);
    if checker.errors.is_empty() {
        Ok(())
    } else {
        Err(checker.errors)
    }
}

/// Checks what a pass made, in builds with debug assertions; others take it as it is.
///
/// # Errors
/// The first mistake, with the name of the pass.
pub fn debug_check(stage: &str, closed: &ClosedJaxpr) -> Result<()> {
    if cfg!(debug_assertions)
        && let Err(errors) = check(closed)
    {
        let first = errors.into_iter().next();
        let message = first.map_or_else(String::new, |error| error.to_string());
        return Err(Error::new(
            ErrorKind::Internal,
            format!("{stage} gives an illegal jaxpr: {message}"),
        )
        .note(format!("the jaxpr is\n{closed}")));
    }
    Ok(())
}

#[derive(Default)]
struct Checker {
    errors: Vec<Error>,
    /// Sub-jaxprs that were checked: shared ones are looked at once.
    checked: HashSet<*const Jaxpr>,
    /// Variables of the jaxprs around that others may use.
    around: Vec<*const ()>,
}

impl Checker {
    fn closed(&mut self, closed: &ClosedJaxpr) {
        if !closed.consts.is_empty()
            && let Err(error) = closed.check_consts()
        {
            self.errors.push(error);
        }
        if self.checked.insert(&raw const *closed.jaxpr) {
            self.jaxpr(&closed.jaxpr);
        }
    }

    fn jaxpr(&mut self, jaxpr: &Jaxpr) {
        let mut bound = VarMap::new();
        let outside = self.around.len();
        for &var in &jaxpr.constvars {
            let Some(key) = jaxpr.var(var).filter(|info| info.captured) else {
                continue;
            };
            if !key
                .shared
                .key()
                .is_some_and(|key| self.around.contains(&key))
            {
                let message = "a variable is used that neither this jaxpr binds nor one around it";
                self.errors.push(invalid(message.to_owned()));
            }
        }
        for (what, vars) in [("constant", &jaxpr.constvars), ("argument", &jaxpr.invars)] {
            for (index, &var) in vars.iter().enumerate() {
                if let Err(error) = bind(jaxpr, &mut bound, var) {
                    self.errors.push(invalid(format!("{what} {index} {error}")));
                }
            }
            self.show(jaxpr, vars);
        }
        for eqn in &jaxpr.eqns {
            if self.errors.len() >= MOST_ERRORS {
                return;
            }
            let before = self.errors.len();
            self.equation(jaxpr, &mut bound, eqn);
            let inner = self.errors.len();
            eqn.prim.visit(&mut |sub| self.closed(sub));
            self.show(jaxpr, &eqn.outputs);
            let name = eqn.prim.name();
            for (index, slot) in self.errors[before..].iter_mut().enumerate() {
                let error = slot.clone();
                *slot = if before + index < inner {
                    error.in_operation(name).at(eqn.source)
                } else {
                    error.note(format!("in a jaxpr of `{name}` at {}", eqn.source))
                };
            }
        }
        self.around.truncate(outside);
        for (index, &atom) in jaxpr.outvars.iter().enumerate() {
            if let Err(error) = read(jaxpr, &bound, atom) {
                self.errors.push(invalid(format!("result {index} {error}")));
            } else if jaxpr.aval(atom).kind == AvalKind::Ref {
                self.errors
                    .push(invalid(format!("result {index} is a reference")));
            }
        }
    }

    /// From here on jaxprs inside may use these variables.
    fn show(&mut self, jaxpr: &Jaxpr, vars: &[Var]) {
        let infos = vars.iter().filter_map(|&var| jaxpr.var(var));
        self.around
            .extend(infos.filter_map(|info| info.shared.key()));
    }

    /// The laws of one equation; its results are bound whatever it says.
    fn equation(&mut self, jaxpr: &Jaxpr, bound: &mut VarMap<()>, eqn: &Eqn) {
        let mut readable = true;
        for (index, &atom) in eqn.inputs.iter().enumerate() {
            if let Err(error) = read(jaxpr, bound, atom) {
                self.errors
                    .push(invalid(format!("operand {index} {error}")));
                readable = false;
            }
        }
        for (index, &var) in eqn.outputs.iter().enumerate() {
            if let Err(error) = bind(jaxpr, bound, var) {
                self.errors.push(invalid(format!("result {index} {error}")));
                readable = false;
            }
        }
        if !readable {
            return;
        }
        match builder::infer(&eqn.prim, jaxpr, &eqn.inputs) {
            Ok(results) if results.len() != eqn.outputs.len() => {
                let message = format!(
                    "{} results are bound, and there are {}",
                    eqn.outputs.len(),
                    results.len()
                );
                self.errors.push(Error::new(ErrorKind::Arity, message));
            }
            Ok(results) => {
                for (index, (&var, given)) in eqn.outputs.iter().zip(&results).enumerate() {
                    let written = jaxpr.aval_of(var);
                    if !written.matches(given) {
                        let message =
                            format!("result {index} is {given}, and {written} is bound to it");
                        self.errors.push(invalid(message));
                    }
                }
            }
            // Its types are not known here.
            Err(error) if error.kind() == ErrorKind::Unsupported => {}
            Err(error) => self.errors.push(error),
        }
    }
}

fn invalid(message: String) -> Error {
    Error::new(ErrorKind::Invalid, message)
}

fn bind(jaxpr: &Jaxpr, bound: &mut VarMap<()>, var: Var) -> Result<(), &'static str> {
    if jaxpr.var(var).is_none() {
        return Err("is a variable of another jaxpr");
    }
    match bound.insert(var, ()) {
        None => Ok(()),
        Some(()) => Err("is a variable that is bound already"),
    }
}

fn read(jaxpr: &Jaxpr, bound: &VarMap<()>, atom: Atom) -> Result<(), String> {
    match atom {
        Atom::Var(var) if jaxpr.var(var).is_none() => {
            Err("is a variable of another jaxpr".to_owned())
        }
        Atom::Var(var) if !bound.contains_key(var) => Err("is not bound yet".to_owned()),
        Atom::Var(_) => Ok(()),
        Atom::Lit(literal) => literal
            .value
            .to_bytes(literal.dtype)
            .map(drop)
            .map_err(|error| format!("is no literal: {}", error.message())),
    }
}
