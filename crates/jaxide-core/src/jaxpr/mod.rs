//! The language: closed, typed, in SSA form, acyclic.
//!
//! A [`Jaxpr`] owns its variables; a [`Var`] is a key into the jaxpr that made it and means nothing in another.
//! Sub-jaxprs (of `cond`, `while`, `scan`, calls) are [`ClosedJaxpr`]s inside the parameters of an equation.

mod accident;
mod builder;
pub mod check;
mod equality;
mod letters;
mod literal;
mod memo;
mod notes;
pub mod parse;
pub mod print;
pub mod text_compare;
mod weak;

use std::collections::HashSet;
use std::sync::Arc;

use indexmap::IndexSet;
use slotmap::{SecondaryMap, SlotMap, new_key_type};
use smallvec::SmallVec;

pub use builder::Builder;
pub(crate) use builder::require_types;
pub use check::{check, debug_check};
pub(crate) use literal::FLOAT0;
pub use literal::Literal;
pub use memo::{Memo, MemoArgs};
pub(crate) use memo::{flags, options};
pub use notes::{Note, notes};
pub use parse::{Diagnostic, ParseError, parse};
pub use print::PrintOptions;

pub use crate::aval::{Annotations, Aval, AvalKind, Dims, Shape};
pub use crate::scalar::Scalar;

use crate::error::{Error, ErrorKind, Result, Source};
use crate::prims::Prim;
use crate::tensor::Tensor;

new_key_type! {
    /// A variable of one jaxpr.
    pub struct Var;
}

/// What a jaxpr knows of a variable.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct VarInfo<'a> {
    /// Its type.
    pub aval: &'a Aval,
    /// Whether the text wrote `_` for it: a result that nothing uses.
    pub dropped: bool,
    /// What it has in common with variables of other jaxprs.
    pub shared: &'a Shared,
    /// Whether it is one of the jaxpr around: a constant that the text does not list.
    pub captured: bool,
}

/// What is kept of a variable. Long programs have many, and few types.
#[derive(Clone, Debug)]
struct Variable {
    /// Its type, by number.
    aval: u32,
    dropped: bool,
    captured: bool,
    shared: Shared,
}

/// What the variables of several jaxprs have in common that are one in the text: their name. All are equal.
#[derive(Clone, Debug, Default)]
pub struct Shared(Option<Arc<()>>);

impl Shared {
    /// A new one, for several variables that are one in the text.
    pub(crate) fn of_several() -> Self {
        Shared(Some(Arc::new(())))
    }

    /// What tells it from others; `None` for a variable of one jaxpr only.
    pub(crate) fn key(&self) -> Option<*const ()> {
        self.0.as_ref().map(Arc::as_ptr)
    }
}

impl PartialEq for Shared {
    fn eq(&self, _other: &Self) -> bool {
        true
    }
}

/// A map from the variables of one jaxpr.
pub type VarMap<T> = SecondaryMap<Var, T>;

/// An operand: a variable or a scalar.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Atom {
    /// A variable.
    Var(Var),
    /// A scalar written in place.
    Lit(Literal),
}

impl Atom {
    /// The variable, if it is one.
    pub fn var(self) -> Option<Var> {
        match self {
            Atom::Var(var) => Some(var),
            Atom::Lit(_) => None,
        }
    }

    /// The literal, if it is one.
    pub fn literal(self) -> Option<Literal> {
        match self {
            Atom::Var(_) => None,
            Atom::Lit(literal) => Some(literal),
        }
    }
}

impl From<Var> for Atom {
    fn from(var: Var) -> Self {
        Atom::Var(var)
    }
}

impl From<Literal> for Atom {
    fn from(literal: Literal) -> Self {
        Atom::Lit(literal)
    }
}

/// Operands of an equation.
pub type Atoms = SmallVec<[Atom; 3]>;

/// Results of an equation.
pub type Vars = SmallVec<[Var; 2]>;

/// One application of a primitive.
#[derive(Clone, Debug)]
pub struct Eqn {
    /// The primitive with its parameters.
    pub prim: Prim,
    /// Operands.
    pub inputs: Atoms,
    /// Variables the results are bound to.
    pub outputs: Vars,
    /// Where the equation was written.
    pub source: Source,
}

/// A function in the language: equations between typed inputs and results.
#[derive(Clone, Debug, Default)]
pub struct Jaxpr {
    vars: SlotMap<Var, Variable>,
    /// The types of the variables, each once.
    avals: IndexSet<Aval>,
    /// Variables bound to captured arrays, left of `;` in the text.
    pub constvars: Vec<Var>,
    /// Variables bound to the arguments.
    pub invars: Vec<Var>,
    /// Equations in order of evaluation.
    pub eqns: Vec<Eqn>,
    /// Results.
    pub outvars: Vec<Atom>,
}

impl Jaxpr {
    /// An empty jaxpr.
    pub fn new() -> Self {
        Self::default()
    }

    /// A new variable of this jaxpr.
    pub fn new_var(&mut self, aval: Aval) -> Var {
        let aval = self.number_of(aval);
        self.vars.insert(Variable {
            aval,
            dropped: false,
            shared: Shared::default(),
            captured: false,
        })
    }

    /// The number of a type.
    fn number_of(&mut self, aval: Aval) -> u32 {
        let number = self.avals.insert_full(aval).0;
        u32::try_from(number).expect("there are fewer than 2^32 variables, and no more types")
    }

    /// A new variable that the text writes `_`.
    pub fn new_dropped_var(&mut self, aval: Aval) -> Var {
        let var = self.new_var(aval);
        self.set_dropped(var, true);
        var
    }

    /// A new variable that stands for one of the jaxpr around.
    pub(crate) fn new_captured_var(&mut self, aval: Aval, shared: Shared) -> Var {
        let aval = self.number_of(aval);
        self.vars.insert(Variable {
            aval,
            dropped: false,
            shared,
            captured: true,
        })
    }

    /// Says what a variable has in common with those of other jaxprs.
    pub(crate) fn set_shared(&mut self, var: Var, shared: Shared) {
        if let Some(info) = self.vars.get_mut(var) {
            info.shared = shared;
        }
    }

    /// Whether a variable is one of the jaxpr around.
    pub(crate) fn is_captured(&self, var: Var) -> bool {
        self.vars.get(var).is_some_and(|info| info.captured)
    }

    /// Marks a variable as one that the text writes `_`, or not.
    pub fn set_dropped(&mut self, var: Var, dropped: bool) {
        if let Some(info) = self.vars.get_mut(var) {
            info.dropped = dropped;
        }
    }

    /// Makes the type of a variable weak or strong.
    ///
    /// # Panics
    /// When the variable belongs to another jaxpr.
    pub fn set_weak_type(&mut self, var: Var, weak: bool) {
        let aval = self.aval_of(var).clone().weak(weak);
        self.vars[var].aval = self.number_of(aval);
    }

    /// What is known of a variable; `None` when it belongs to another jaxpr.
    pub fn var(&self, var: Var) -> Option<VarInfo<'_>> {
        let variable = self.vars.get(var)?;
        Some(VarInfo {
            aval: &self.avals[variable.aval as usize],
            dropped: variable.dropped,
            shared: &variable.shared,
            captured: variable.captured,
        })
    }

    /// The type of a variable of this jaxpr.
    ///
    /// # Panics
    /// When the variable belongs to another jaxpr.
    pub fn aval_of(&self, var: Var) -> &Aval {
        &self.avals[self.vars[var].aval as usize]
    }

    /// The type of an operand.
    ///
    /// # Panics
    /// When the variable belongs to another jaxpr.
    pub fn aval(&self, atom: Atom) -> Aval {
        match atom {
            Atom::Var(var) => self.aval_of(var).clone(),
            Atom::Lit(literal) => literal.aval(),
        }
    }

    /// The number of variables.
    pub fn var_count(&self) -> usize {
        self.vars.len()
    }

    /// Types of the constvars.
    pub fn const_avals(&self) -> Vec<Aval> {
        self.constvars
            .iter()
            .map(|&var| self.aval_of(var).clone())
            .collect()
    }

    /// Types of the arguments.
    pub fn in_avals(&self) -> Vec<Aval> {
        self.invars
            .iter()
            .map(|&var| self.aval_of(var).clone())
            .collect()
    }

    /// Types of the results.
    pub fn out_avals(&self) -> Vec<Aval> {
        self.outvars.iter().map(|&atom| self.aval(atom)).collect()
    }

    /// Whether it or a jaxpr inside it uses variables of the jaxpr around it.
    pub(crate) fn has_captures(&self) -> bool {
        fn found(jaxpr: &Jaxpr, seen: &mut HashSet<*const Jaxpr>) -> bool {
            if !seen.insert(&raw const *jaxpr) {
                return false;
            }
            let mut any = jaxpr.constvars.iter().any(|&var| jaxpr.is_captured(var));
            for eqn in &jaxpr.eqns {
                eqn.prim
                    .visit(&mut |sub| any = any || found(&sub.jaxpr, seen));
            }
            any
        }
        found(self, &mut HashSet::new())
    }
}

/// Why a jaxpr that is not closed cannot be run or transformed.
pub(crate) const CAPTURES: &str =
    "a jaxpr uses variables of the jaxpr around it: it can be printed, and not run or transformed";

/// A jaxpr with the arrays its constvars stand for.
///
/// Cloning is cheap and keeps the identity: two clones are the same sub-jaxpr to the printer.
#[derive(Clone, Debug)]
pub struct ClosedJaxpr {
    /// The function.
    pub jaxpr: Arc<Jaxpr>,
    /// One array per constvar; empty when the text did not carry them.
    pub consts: Vec<Tensor>,
}

impl ClosedJaxpr {
    /// A jaxpr with its constants.
    pub fn new(jaxpr: Jaxpr, consts: Vec<Tensor>) -> Self {
        ClosedJaxpr {
            jaxpr: Arc::new(jaxpr),
            consts,
        }
    }

    /// Types of the arguments.
    pub fn in_avals(&self) -> Vec<Aval> {
        self.jaxpr.in_avals()
    }

    /// Types of the results.
    pub fn out_avals(&self) -> Vec<Aval> {
        self.jaxpr.out_avals()
    }

    /// Whether the two are the same object, not only equal.
    pub fn same(&self, other: &ClosedJaxpr) -> bool {
        Arc::ptr_eq(&self.jaxpr, &other.jaxpr)
    }

    /// Whether there is an array for every constvar.
    ///
    /// # Errors
    /// When there are more or fewer, or one has the wrong type.
    pub fn check_consts(&self) -> Result<()> {
        let want = self.jaxpr.const_avals();
        let mut constvars = self.jaxpr.constvars.iter();
        if constvars.any(|&var| self.jaxpr.is_captured(var)) {
            return Err(Error::unsupported(CAPTURES));
        }
        if want.len() != self.consts.len() {
            return Err(Error::new(
                ErrorKind::Arity,
                format!(
                    "the jaxpr has {} constants, and {} values are known",
                    want.len(),
                    self.consts.len()
                ),
            ));
        }
        for (index, (want, got)) in want.iter().zip(&self.consts).enumerate() {
            if !want.matches(&got.aval()) {
                return Err(Error::shape(format!(
                    "constant {index} is {}, and {want} is expected",
                    got.aval()
                )));
            }
        }
        Ok(())
    }
}
