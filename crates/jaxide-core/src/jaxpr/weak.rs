//! Weak types, which the text does not show, from what it does show.
//!
//! A conversion between types that look equal stands in a jaxpr only because the weakness differs: JAX writes none that
//! changes nothing. So the operand of `convert_element_type[new_dtype=float32 weak_type=False]` of an `f32` is weak. From
//! there weakness spreads by the rules of the types: what a weak result needs is weak, what follows from weak operands
//! is weak, and what stands for the same value on both sides of a call, branch or loop is weak on both. What a loop
//! carries may be weak before a step and not behind it.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::{Atom, ClosedJaxpr, Eqn, Jaxpr, Var};
use crate::prims::Prim;

/// The jaxpr with the weak types that its conversions imply.
pub(crate) fn infer_weak_types(jaxpr: ClosedJaxpr) -> ClosedJaxpr {
    let mut jaxprs = Vec::new();
    collect(&jaxpr.jaxpr, &mut HashSet::new(), &mut jaxprs);
    let shows = |jaxpr: &&Arc<Jaxpr>| {
        let mut eqns = jaxpr.eqns.iter();
        eqns.any(|eqn| shows_weakness(jaxpr, eqn).is_some())
    };
    if !jaxprs.iter().any(|jaxpr| shows(&jaxpr)) {
        return jaxpr;
    }
    let mut weak = Weak::default();
    loop {
        weak.changed = false;
        for jaxpr in &jaxprs {
            weak.spread(jaxpr);
        }
        if !weak.changed {
            return weak.rebuild(&jaxpr);
        }
    }
}

/// A jaxpr and those inside, each once.
fn collect(jaxpr: &Arc<Jaxpr>, seen: &mut HashSet<*const Jaxpr>, all: &mut Vec<Arc<Jaxpr>>) {
    if !seen.insert(Arc::as_ptr(jaxpr)) {
        return;
    }
    all.push(jaxpr.clone());
    for eqn in &jaxpr.eqns {
        eqn.prim
            .visit(&mut |inner| collect(&inner.jaxpr, seen, all));
    }
}

/// The variable that a conversion shows to be weak.
fn shows_weakness(jaxpr: &Jaxpr, eqn: &Eqn) -> Option<Var> {
    let Prim::ConvertElementType(convert) = &eqn.prim else {
        return None;
    };
    if convert.weak_type {
        return eqn.outputs.first().copied();
    }
    let operand = eqn.inputs.first()?.var()?;
    let aval = jaxpr.aval_of(operand);
    (aval.dtype == convert.new_dtype && !aval.dtype.is_key()).then_some(operand)
}

/// What is known to be weak, by jaxpr.
#[derive(Default)]
struct Weak {
    vars: HashSet<(*const Jaxpr, Var)>,
    /// Literal operands by equation and position.
    literals: HashSet<(*const Jaxpr, usize, usize)>,
    changed: bool,
}

/// A place that can be weak: an atom, and for literals the operand that it is.
#[derive(Clone, Copy)]
struct Place {
    jaxpr: *const Jaxpr,
    atom: Atom,
    operand: Option<(usize, usize)>,
}

impl Weak {
    fn is_weak(&self, place: Place) -> bool {
        match (place.atom, place.operand) {
            (Atom::Var(var), _) => self.vars.contains(&(place.jaxpr, var)),
            (Atom::Lit(_), Some((eqn, index))) => {
                self.literals.contains(&(place.jaxpr, eqn, index))
            }
            (Atom::Lit(_), None) => false,
        }
    }

    fn mark(&mut self, place: Place) {
        self.changed |= match (place.atom, place.operand) {
            (Atom::Var(var), _) => self.vars.insert((place.jaxpr, var)),
            (Atom::Lit(_), Some((eqn, index))) => self.literals.insert((place.jaxpr, eqn, index)),
            (Atom::Lit(_), None) => false,
        };
    }

    /// The two are the same value.
    fn unify(&mut self, a: Place, b: Place) {
        if self.is_weak(a) != self.is_weak(b) {
            self.mark(a);
            self.mark(b);
        }
    }

    /// Spreads weakness once through the equations of a jaxpr.
    fn spread(&mut self, jaxpr: &Jaxpr) {
        for (index, eqn) in jaxpr.eqns.iter().enumerate() {
            if let Some(var) = shows_weakness(jaxpr, eqn) {
                self.mark(Place {
                    jaxpr,
                    atom: Atom::Var(var),
                    operand: None,
                });
            }
            let mut calls = false;
            eqn.prim.visit(&mut |_| calls = true);
            if calls {
                self.across(jaxpr, index, eqn);
            } else {
                self.through(jaxpr, index, eqn);
            }
        }
    }

    /// Through an equation without sub-jaxprs, by its own type rule.
    fn through(&mut self, jaxpr: &Jaxpr, index: usize, eqn: &Eqn) {
        let [result] = eqn.outputs.as_slice() else {
            return;
        };
        if let Prim::ConvertElementType(_) = eqn.prim {
            return;
        }
        let result = Place {
            jaxpr,
            atom: Atom::Var(*result),
            operand: None,
        };
        let operands = operand_places(jaxpr, index, eqn);
        let gives_weak = |flags: &[bool]| {
            let avals: Vec<_> = operands
                .iter()
                .zip(flags)
                .map(|(place, &weak)| literal_shape(jaxpr, eqn, place.atom).weak(weak))
                .collect();
            let avals = eqn.prim.rules().abstract_eval(&avals);
            avals.is_ok_and(|avals| avals.first().is_some_and(|aval| aval.weak_type))
        };
        let all = vec![true; operands.len()];
        if self.is_weak(result) {
            for (place, &operand) in operands.iter().enumerate() {
                let mut without = all.clone();
                without[place] = false;
                if !self.is_weak(operand) && gives_weak(&all) && !gives_weak(&without) {
                    self.mark(operand);
                }
            }
            return;
        }
        // A literal beside weak variables came from a bare number.
        let flags: Vec<bool> = operands
            .iter()
            .map(|&place| place.atom.literal().is_some() || self.is_weak(place))
            .collect();
        let some_weak = operands
            .iter()
            .any(|&place| place.atom.var().is_some() && self.is_weak(place));
        if some_weak && gives_weak(&flags) {
            self.mark(result);
        }
    }

    /// Across the boundary of the sub-jaxprs of an equation.
    fn across(&mut self, jaxpr: &Jaxpr, index: usize, eqn: &Eqn) {
        let operands = operand_places(jaxpr, index, eqn);
        let result = |var: Var| Place {
            jaxpr,
            atom: Atom::Var(var),
            operand: None,
        };
        let results: Vec<Place> = eqn.outputs.iter().map(|&var| result(var)).collect();
        let pairs = |weak: &mut Self, a: &[Place], b: &[Place]| {
            for (&a, &b) in a.iter().zip(b) {
                weak.unify(a, b);
            }
        };
        if let Prim::While(prim) = &eqn.prim {
            let (cond, body) = (&prim.cond_jaxpr.jaxpr, &prim.body_jaxpr.jaxpr);
            let consts = prim.cond_nconsts + prim.body_nconsts;
            let (Some(carry), Some(cond_consts)) =
                (operands.get(consts..), operands.get(..prim.cond_nconsts))
            else {
                return;
            };
            let cond_operands = [cond_consts, carry].concat();
            pairs(self, &cond_operands, &arguments(cond));
            pairs(self, &operands[prim.cond_nconsts..], &arguments(body));
            pairs(self, &results, &outcomes(body));
        } else if let Prim::Cond(prim) = &eqn.prim {
            for branch in &prim.branches.0 {
                pairs(
                    self,
                    operands.get(1..).unwrap_or_default(),
                    &arguments(&branch.jaxpr),
                );
                pairs(self, &results, &outcomes(&branch.jaxpr));
            }
        } else {
            let mut inner = Vec::new();
            eqn.prim.visit(&mut |sub| inner.push(sub));
            let [callee] = inner.as_slice() else {
                return;
            };
            if callee.jaxpr.invars.len() != operands.len() {
                return;
            }
            pairs(self, &operands, &arguments(&callee.jaxpr));
            pairs(self, &results, &outcomes(&callee.jaxpr));
        }
    }

    /// The jaxpr with what was found, the same object for the same object.
    fn rebuild(&self, jaxpr: &ClosedJaxpr) -> ClosedJaxpr {
        let mut done = HashMap::new();
        self.rebuild_once(jaxpr, &mut done)
    }

    fn rebuild_once(
        &self,
        closed: &ClosedJaxpr,
        done: &mut HashMap<*const Jaxpr, Arc<Jaxpr>>,
    ) -> ClosedJaxpr {
        let key = Arc::as_ptr(&closed.jaxpr);
        if let Some(new) = done.get(&key) {
            return ClosedJaxpr {
                jaxpr: new.clone(),
                consts: closed.consts.clone(),
            };
        }
        let mut new = (*closed.jaxpr).clone();
        for (index, eqn) in new.eqns.iter_mut().enumerate() {
            eqn.prim
                .visit_mut(&mut |sub| *sub = self.rebuild_once(sub, done));
            for (place, atom) in eqn.inputs.iter_mut().enumerate() {
                if let Atom::Lit(literal) = atom
                    && self.literals.contains(&(key, index, place))
                {
                    literal.weak_type = true;
                }
            }
        }
        for &(of, var) in &self.vars {
            if of == key {
                new.set_weak_type(var, true);
            }
        }
        let new = Arc::new(new);
        done.insert(key, new.clone());
        ClosedJaxpr {
            jaxpr: new,
            consts: closed.consts.clone(),
        }
    }
}

fn operand_places(jaxpr: &Jaxpr, index: usize, eqn: &Eqn) -> Vec<Place> {
    let place = |(operand, &atom): (usize, &Atom)| Place {
        jaxpr,
        atom,
        operand: Some((index, operand)),
    };
    eqn.inputs.iter().enumerate().map(place).collect()
}

fn arguments(jaxpr: &Jaxpr) -> Vec<Place> {
    let place = |&var: &Var| Place {
        jaxpr,
        atom: Atom::Var(var),
        operand: None,
    };
    jaxpr.invars.iter().map(place).collect()
}

fn outcomes(jaxpr: &Jaxpr) -> Vec<Place> {
    let place = |&atom: &Atom| Place {
        jaxpr,
        atom,
        operand: None,
    };
    jaxpr.outvars.iter().map(place).collect()
}

/// The type of an operand; a literal beside arrays of an elementwise primitive has their shape.
fn literal_shape(jaxpr: &Jaxpr, eqn: &Eqn, atom: Atom) -> super::Aval {
    let aval = jaxpr.aval(atom);
    if atom.var().is_some() || eqn.prim.family() != crate::prims::Family::Elementwise {
        return aval;
    }
    let arrays = eqn.inputs.iter().filter_map(|atom| atom.var());
    let widest = arrays
        .map(|var| &jaxpr.aval_of(var).shape)
        .max_by_key(|shape| shape.len());
    widest.map_or(aval.clone(), |shape| aval.with_shape(shape))
}

#[cfg(test)]
mod tests {
    use crate::jaxpr::parse;

    /// Checks which arguments of the text's jaxpr are weak.
    fn check(text: &str, weak: &[bool]) {
        let jaxpr = parse(text).unwrap();
        let got: Vec<bool> = jaxpr.in_avals().iter().map(|aval| aval.weak_type).collect();
        assert_eq!(got, weak, "{text}");
        assert_eq!(jaxpr.to_string(), text);
    }

    #[test]
    fn conversions_to_the_same_type_show_weak_operands() {
        check(
            "{ lambda ; a:f32[] b:f32[]. let
    c:f32[] = convert_element_type[new_dtype=float32 weak_type=False] a
    d:f32[] = mul c b
  in (d,) }",
            &[true, false],
        );
        check(
            "{ lambda ; a:f32[] b:f32[]. let
    c:f32[] = mul a 2.0:f32[]
    d:f32[] = neg b
    e:f32[] = convert_element_type[new_dtype=float32 weak_type=False] c
    f:f32[] = add d e
  in (f,) }",
            &[true, false],
        );
    }

    #[test]
    fn conversions_to_another_type_show_nothing() {
        check(
            "{ lambda ; a:i32[]. let
    b:f32[] = convert_element_type[new_dtype=float32 weak_type=False] a
  in (b,) }",
            &[false],
        );
    }

    #[test]
    fn loops_take_weak_types_in() {
        let text = "{ lambda ; a:f32[]. let
    b:f32[] = while[
      body_jaxpr={ lambda ; c:f32[]. let
          d:f32[] = neg c
          e:f32[] = convert_element_type[new_dtype=float32 weak_type=False] d
          f:f32[] = sin e
        in (d,) }
      body_nconsts=0
      cond_jaxpr={ lambda ; g:f32[]. let h:bool[] = lt g 2.0:f32[] in (h,) }
      cond_nconsts=0
    ] a
  in (b,) }";
        check(text, &[true]);
    }
}
