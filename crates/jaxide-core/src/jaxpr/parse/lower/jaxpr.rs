//! One jaxpr: its variables, equations and results.

use std::collections::HashMap;

use super::Lower;
use crate::dtype::DType;
use crate::error::Source;
use crate::jaxpr::parse::diagnostic::Mistake;
use crate::jaxpr::parse::syntax::{
    Binder, EqnNode, JaxprNode, OperandNode, ParamNode, RightSide, Word,
};
use crate::jaxpr::{Atom, Atoms, Aval, Eqn, Jaxpr, Var, Vars};
use crate::prims::{Prim, RefAddUpdate, RefGet, RefSwap};

/// The variables of the jaxpr that is being lowered.
#[derive(Default)]
pub(super) struct Scope<'p> {
    pub(super) jaxpr: Jaxpr,
    vars: HashMap<&'p str, Var>,
    /// Results called `_`, and whether each is read.
    unnamed: Vec<(Var, bool)>,
}

impl<'p> Lower<'_, '_, '_, 'p> {
    /// The jaxpr; `results` are the types that its results have where that is known. In the outermost one `_` needs no
    /// mark: there it is what nothing uses.
    pub(super) fn jaxpr(
        &mut self,
        node: &JaxprNode<'p>,
        results: Option<&[Binder<'p>]>,
        outermost: bool,
    ) -> Jaxpr {
        let mut scope = Scope::default();
        let constvars = self.bind(&mut scope, &node.constvars);
        scope.jaxpr.constvars = constvars.into_vec();
        for (name, shared, aval) in self.shared.captured(node) {
            let var = scope.jaxpr.new_captured_var(aval, shared);
            scope.jaxpr.constvars.push(var);
            scope.vars.insert(name, var);
        }
        let invars = self.bind(&mut scope, &node.invars);
        scope.jaxpr.invars = invars.into_vec();
        for eqn in &node.eqns {
            if self.context.is_hopeless() {
                break;
            }
            if let Some(eqn) = self.equation(&mut scope, eqn) {
                scope.jaxpr.eqns.push(eqn);
            }
        }
        if self.context.is_hopeless() {
            return scope.jaxpr;
        }
        scope.jaxpr.outvars = self.results(&mut scope, &node.results, results);
        self.share(&mut scope, node);
        if !outermost {
            for (var, read) in &scope.unnamed {
                scope.jaxpr.set_dropped(*var, !read);
            }
        }
        scope.jaxpr
    }

    /// Says of the variables of a text with definitions what they have in common with others.
    fn share(&self, scope: &mut Scope<'p>, node: &JaxprNode<'p>) {
        if self.shared.is_empty() {
            return;
        }
        for binder in (node.constvars.iter().chain(&node.invars))
            .chain(node.eqns.iter().flat_map(|eqn| &eqn.outputs))
        {
            let name = binder.name.text;
            if let Some(&var) = scope.vars.get(name) {
                scope.jaxpr.set_shared(var, self.shared.bound(node, name));
            }
        }
    }

    fn bind(&mut self, scope: &mut Scope<'p>, binders: &[Binder<'p>]) -> Vars {
        let mut vars = Vars::new();
        for binder in binders {
            let var = scope.jaxpr.new_var(aval_of(binder));
            vars.push(var);
            let name = binder.name;
            if name.text == "_" {
                scope.unnamed.push((var, false));
            } else if scope.vars.insert(name.text, var).is_some() {
                self.report(
                    Mistake::new(
                        name.span(),
                        format!("the variable `{}` is bound twice", name.text),
                    )
                    .label("a variable is bound once in its jaxpr"),
                );
            }
        }
        vars
    }

    pub(super) fn operand(
        &mut self,
        scope: &mut Scope<'p>,
        node: &OperandNode<'p>,
    ) -> Option<Atom> {
        match node {
            OperandNode::Lit(literal) => Some(Atom::Lit(**literal)),
            OperandNode::Var(name) => self.variable(scope, *name),
        }
    }

    pub(super) fn variable(&mut self, scope: &mut Scope<'p>, word: Word<'p>) -> Option<Atom> {
        let name = word.text;
        if name == "_" {
            // Where several are in scope the text does not tell which is meant.
            if let Some((var, read)) = scope.unnamed.last_mut() {
                *read = true;
                return Some(Atom::Var(*var));
            }
        } else if let Some(&var) = scope.vars.get(name) {
            return Some(Atom::Var(var));
        }
        self.report(
            Mistake::new(word.span(), format!("the variable `{name}` is not bound"))
                .label("not found among the arguments and the results of the equations above"),
        );
        None
    }

    fn operands(&mut self, scope: &mut Scope<'p>, nodes: &[OperandNode<'p>]) -> Option<Atoms> {
        let mut atoms = Atoms::new();
        for node in nodes {
            // After a mistake the others are looked at all the same.
            atoms.extend(self.operand(scope, node));
        }
        (atoms.len() == nodes.len()).then_some(atoms)
    }

    /// The results of a jaxpr whose call gives results of these types, where it is known.
    fn results(
        &mut self,
        scope: &mut Scope<'p>,
        nodes: &[OperandNode<'p>],
        expected: Option<&[Binder<'p>]>,
    ) -> Vec<Atom> {
        let is_unnamed = |node: &OperandNode<'_>| node.variable() == Some("_");
        let is_unnamed: Vec<bool> = nodes.iter().map(is_unnamed).collect();
        let expected: Vec<Option<&Aval>> = expected
            .unwrap_or(&[])
            .iter()
            .map(|binder| binder.aval.as_deref())
            .collect();
        let bound: Vec<&Aval> = scope
            .unnamed
            .iter()
            .map(|&(var, _)| scope.jaxpr.aval_of(var))
            .collect();
        let places = unnamed_results(&bound, &is_unnamed, &expected);
        let mut atoms = Vec::new();
        for (node, place) in nodes.iter().zip(places) {
            match place {
                Some(place) => {
                    let (var, read) = &mut scope.unnamed[place];
                    *read = true;
                    atoms.push(Atom::Var(*var));
                }
                None => atoms.extend(self.operand(scope, node)),
            }
        }
        atoms
    }

    fn equation(&mut self, scope: &mut Scope<'p>, node: &EqnNode<'p>) -> Option<Eqn> {
        let lowered = node.right.as_ref().and_then(|right| match right {
            RightSide::Apply {
                prim,
                params,
                operands,
            } => self.application(scope, node, *prim, params, operands),
            RightSide::Get(reference) => {
                let (inputs, indices, _) = self.reference(scope, reference, None)?;
                let outputs = self.bind(scope, &node.outputs);
                Some((RefGet { indices }.into(), inputs, outputs))
            }
            RightSide::Swap(swap) => {
                let (inputs, indices, result) =
                    self.reference(scope, &swap.written, Some(&swap.value))?;
                let outputs = if node.outputs.is_empty() {
                    let var = scope.jaxpr.new_var(result);
                    Vars::from_slice(&[var])
                } else {
                    self.bind(scope, &node.outputs)
                };
                Some((RefSwap { indices }.into(), inputs, outputs))
            }
            RightSide::AddUpdate(reference, value) => {
                let (inputs, indices, _) = self.reference(scope, reference, Some(value))?;
                Some((RefAddUpdate { indices }.into(), inputs, Vars::new()))
            }
        });
        let Some((prim, inputs, outputs)) = lowered else {
            // What it would have bound is known all the same, so that one mistake does not cause others.
            for binder in &node.outputs {
                if binder.name.text == "_" || !scope.vars.contains_key(binder.name.text) {
                    self.bind(scope, std::slice::from_ref(binder));
                }
            }
            return None;
        };
        let (line, column) = self.context.lines.position(node.start);
        Some(Eqn {
            prim,
            inputs,
            outputs,
            source: Source::Text { line, column },
        })
    }

    fn application(
        &mut self,
        scope: &mut Scope<'p>,
        node: &EqnNode<'p>,
        word: Word<'p>,
        params: &[ParamNode<'p>],
        operands: &[OperandNode<'p>],
    ) -> Option<(Prim, Atoms, Vars)> {
        if let Some(form) = reference_form(word.text) {
            let message = format!("`{}` is not applied by name", word.text);
            self.report(
                Mistake::new(word.span(), message).label(format!("it is written `{form}`")),
            );
            return None;
        }
        let inputs = self.operands(scope, operands);
        let results: Vec<Aval> = node.outputs.iter().map(aval_of).collect();
        let prim = self.prim(word, params, operands.len(), &results);
        let inputs = inputs?;
        let mut prim = prim?;
        let outputs = self.bind(scope, &node.outputs);
        let avals: Vec<Aval> = inputs.iter().map(|&atom| scope.jaxpr.aval(atom)).collect();
        prim.complete(&avals, &results);
        Some((prim, inputs, outputs))
    }
}

/// The type of a variable. A malformed one has been reported; any will do.
fn aval_of(binder: &Binder<'_>) -> Aval {
    let aval = binder.aval.as_deref().cloned();
    aval.unwrap_or_else(|| Aval::scalar(DType::F32))
}

/// The form of equations that read and write a reference, which have no other.
fn reference_form(prim: &str) -> Option<&'static str> {
    match prim {
        RefGet::NAME => Some("b:f32[] <- a[0]"),
        RefSwap::NAME => Some("a[0] <- b"),
        RefAddUpdate::NAME => Some("a[0] += b"),
        _ => None,
    }
}

/// Which of the variables called `_`, with these types, each result called so is: another one each where there are as
/// many of both, and one of the expected type; the last of them otherwise.
pub(in crate::jaxpr) fn unnamed_results(
    bound: &[&Aval],
    is_unnamed: &[bool],
    expected: &[Option<&Aval>],
) -> Vec<Option<usize>> {
    let count = is_unnamed.iter().filter(|&&unnamed| unnamed).count();
    let last = bound.len().checked_sub(1);
    let mut left: Vec<usize> = (0..bound.len()).collect();
    let places = is_unnamed.iter().enumerate().map(|(index, &unnamed)| {
        if !unnamed || count != bound.len() {
            return last.filter(|_| unnamed);
        }
        let wanted = expected.get(index).copied().flatten();
        let fits = |&place: &usize| wanted.is_none_or(|aval| aval.matches(bound[place]));
        let place = left.iter().position(fits).unwrap_or(0);
        Some(left.remove(place))
    });
    places.collect()
}
