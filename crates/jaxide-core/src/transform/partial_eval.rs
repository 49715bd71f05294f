//! Partial evaluation: what depends on known values only is computed now, the rest is left for later.
//!
//! Two jaxprs are written at once, one on each side of a [`Split`]. A known value that the unknown side needs crosses
//! over as a *residual*: a constvar of the unknown side.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};

use super::environment::{Environment, FromConstant, bind_constants};
use crate::error::Result;
use crate::jaxpr::{Atom, Aval, Builder, ClosedJaxpr, Jaxpr, Var, VarMap};
use crate::jaxpr::{MemoArgs, flags};
use crate::marks::{keep, not, present};
use crate::prims::{Partial, Prim};

/// The two sides of a partial evaluation or linearization.
pub struct Split<'a> {
    /// What is computed now.
    pub known: &'a Builder,
    /// What is left for later.
    pub unknown: Builder,
    residuals: RefCell<Residuals>,
}

#[derive(Default)]
struct Residuals {
    /// Constvars of the unknown side by known atom.
    constvars: HashMap<Atom, Atom>,
    /// Known atoms in the order of the constvars.
    order: Vec<Atom>,
}

impl<'a> Split<'a> {
    /// An empty unknown side beside `known`.
    pub fn new(known: &'a Builder) -> Self {
        Split {
            known,
            unknown: known.nested(),
            residuals: RefCell::default(),
        }
    }

    /// A known value on the unknown side: a constvar, the same for the same value. Literals need none.
    pub fn residual(&self, atom: Atom) -> Atom {
        if atom.literal().is_some() {
            return atom;
        }
        let residuals = &mut *self.residuals.borrow_mut();
        *residuals.constvars.entry(atom).or_insert_with(|| {
            residuals.order.push(atom);
            self.unknown.constvar(self.known.aval(atom))
        })
    }

    /// The value on the unknown side.
    pub fn unknown(&self, value: Partial) -> Atom {
        match value {
            Partial::Known(atom) => self.residual(atom),
            Partial::Unknown(atom) => atom,
        }
    }

    /// The type of a value of either side.
    pub fn aval(&self, value: Partial) -> Aval {
        match value {
            Partial::Known(atom) => self.known.aval(atom),
            Partial::Unknown(atom) => self.unknown.aval(atom),
        }
    }

    /// The unknown side as a jaxpr, and the known values its constvars stand for.
    ///
    /// # Errors
    /// The first mistake made on the unknown side.
    pub(crate) fn finish(self, results: &[Atom]) -> Result<(ClosedJaxpr, Vec<Atom>)> {
        let jaxpr = self.unknown.finish(results)?;
        Ok((jaxpr, self.residuals.into_inner().order))
    }
}

impl FromConstant for Partial {
    fn from_constant(atom: Atom) -> Self {
        Partial::Known(atom)
    }
}

/// Writes the equations of `jaxpr` into the two sides of `split`.
pub(crate) fn eval_partial(
    split: &Split<'_>,
    jaxpr: &Jaxpr,
    consts: &[Atom],
    args: &[Partial],
) -> Result<Vec<Partial>> {
    let mut env = Environment::new(jaxpr);
    let constants = consts.iter().map(|&atom| Partial::Known(atom));
    env.bind(&jaxpr.constvars, constants);
    env.bind(&jaxpr.invars, args.iter().copied());
    for eqn in &jaxpr.eqns {
        let before = split.known.set_source(eqn.source);
        split.unknown.set_source(eqn.source);
        let operands: Vec<Partial> = eqn.inputs.iter().map(|&atom| env.read(atom)).collect();
        let avals = env.result_avals(eqn);
        let results = partial_eval_eqn(split, &eqn.prim, &operands, &avals)
            .map_err(|error| error.at(eqn.source))?;
        env.bind(&eqn.outputs, results);
        split.known.set_source(before);
    }
    split.known.check()?;
    split.unknown.check()?;
    Ok(jaxpr.outvars.iter().map(|&atom| env.read(atom)).collect())
}

fn partial_eval_eqn(
    split: &Split<'_>,
    prim: &Prim,
    operands: &[Partial],
    avals: &[Aval],
) -> Result<Vec<Partial>> {
    let known: Option<Vec<Atom>> = operands.iter().map(|operand| operand.known()).collect();
    if let Some(known) = known {
        let results = split.known.push(prim.clone(), &known, avals);
        return Ok(results.into_iter().map(Partial::Known).collect());
    }
    let own = prim.rules().partial_eval(split, operands);
    if let Some(results) = own.map_err(|error| error.in_operation(prim.name()))? {
        return Ok(results.into_vec());
    }
    let operands: Vec<Atom> = operands
        .iter()
        .map(|&operand| split.unknown(operand))
        .collect();
    let results = split.unknown.push(prim.clone(), &operands, avals);
    Ok(results.into_iter().map(Partial::Unknown).collect())
}

/// A jaxpr split in two by what is known.
#[derive(Clone)]
pub struct PartialEval {
    /// Known arguments to known results, then residuals that are not forwarded.
    pub known: ClosedJaxpr,
    /// All residuals, then unknown arguments, to unknown results.
    pub unknown: ClosedJaxpr,
    /// Which results are unknown.
    pub unknown_results: Vec<bool>,
    /// For each residual the constant or known argument that it is, constants counted first.
    pub forwarded: Vec<Option<usize>>,
}

/// Splits `jaxpr`. Results marked in `instantiate` are unknown in any case; a residual that is one of the known
/// arguments marked in `forward` is not computed again but named in [`PartialEval::forwarded`].
///
/// # Errors
/// When an equation cannot be split; the message names it.
pub fn partial_eval(
    b: &Builder,
    jaxpr: &ClosedJaxpr,
    unknown: &[bool],
    instantiate: &[bool],
    forward: &[bool],
) -> Result<PartialEval> {
    let mut args = MemoArgs::new();
    flags(&mut args, unknown);
    flags(&mut args, instantiate);
    flags(&mut args, forward);
    b.memo().of_jaxpr("partial_eval", jaxpr, args, || {
        let known_side = b.nested();
        let consts = bind_constants(&known_side, jaxpr);
        let split = Split::new(&known_side);
        let args: Vec<Partial> = jaxpr
            .in_avals()
            .into_iter()
            .zip(unknown)
            .map(|(aval, &unknown)| {
                if unknown {
                    Partial::Unknown(split.unknown.input(aval))
                } else {
                    Partial::Known(known_side.input(aval))
                }
            })
            .collect();
        let results = eval_partial(&split, &jaxpr.jaxpr, &consts, &args)?;
        let (unknown_jaxpr, residuals, results) = close_unknown(split, &results, instantiate)?;
        let unknown_results = results.iter().map(Option::is_none).collect();
        let known_args: Vec<Atom> = args.iter().filter_map(|arg| arg.known()).collect();
        let forward = keep(forward, &not(unknown));
        let (forwarded, computed) = forward_residuals(&consts, &known_args, &forward, &residuals);
        let mut known_results: Vec<Atom> = results.into_iter().flatten().collect();
        known_results.extend(computed);
        Ok(PartialEval {
            known: known_side.finish(&known_results)?,
            unknown: unknown_jaxpr,
            unknown_results,
            forwarded,
        })
    })
}

/// For each residual the constant or argument marked in `forward` that it is, constants counted first; and the residuals that
/// are none of these.
pub(super) fn forward_residuals(
    consts: &[Atom],
    args: &[Atom],
    forward: &[bool],
    residuals: &[Atom],
) -> (Vec<Option<usize>>, Vec<Atom>) {
    let args = args.iter().zip(forward).enumerate();
    let args = args.filter(|(_, (_, forward))| **forward);
    let args = args.map(|(index, (&atom, _))| (atom, consts.len() + index));
    let consts = consts
        .iter()
        .enumerate()
        .map(|(index, &atom)| (atom, index));
    let places: HashMap<Atom, usize> = consts.chain(args).collect();
    let place = |residual: &Atom| places.get(residual).copied();
    let forwarded: Vec<Option<usize>> = residuals.iter().map(place).collect();
    let computed = keep(residuals, &not(&present(&forwarded)));
    (forwarded, computed)
}

/// Ends the unknown side: what no result needs goes, residuals become leading arguments. Gives the jaxpr, the known
/// values of its residuals, and the results that are known.
pub(crate) fn close_unknown(
    split: Split<'_>,
    results: &[Partial],
    instantiate: &[bool],
) -> Result<(ClosedJaxpr, Vec<Atom>, Vec<Option<Atom>>)> {
    let mut known = Vec::with_capacity(results.len());
    let mut unknown = Vec::new();
    for (&result, &instantiate) in results.iter().zip(instantiate) {
        match result {
            Partial::Known(atom) if !instantiate => known.push(Some(atom)),
            _ => {
                known.push(None);
                unknown.push(split.unknown(result));
            }
        }
    }
    let (jaxpr, residuals) = split.finish(&unknown)?;
    let (jaxpr, residuals) = prune_residuals(&jaxpr.jaxpr, &residuals);
    Ok((jaxpr, residuals, known))
}

/// Keeps the equations and residuals that the results need. Residuals become leading arguments in the order in
/// which a walk from the results meets them (that of JAX, which shows in printed sub-jaxprs).
fn prune_residuals(jaxpr: &Jaxpr, residuals: &[Atom]) -> (ClosedJaxpr, Vec<Atom>) {
    let mut order = constant_order(jaxpr);
    let mut new = jaxpr.clone();
    let mut needed: VarMap<()> = VarMap::new();
    for atom in &jaxpr.outvars {
        if let Atom::Var(var) = atom {
            needed.insert(*var, ());
        }
    }
    new.eqns = Vec::new();
    for eqn in jaxpr.eqns.iter().rev() {
        let used = eqn.outputs.iter().any(|&var| needed.contains_key(var));
        if used || super::has_effect(&eqn.prim) {
            for var in eqn.inputs.iter().filter_map(|atom| atom.var()) {
                needed.insert(var, ());
            }
            new.eqns.push(eqn.clone());
        }
    }
    new.eqns.reverse();
    // No result leads to what only a write to a reference takes.
    let of_effects: Vec<Var> = (jaxpr.constvars.iter().copied())
        .filter(|&var| needed.contains_key(var) && !order.contains(&var))
        .collect();
    order.extend(of_effects);
    let index: HashMap<_, _> = jaxpr.constvars.iter().zip(residuals).collect();
    let residuals = order.iter().map(|var| *index[var]).collect();
    new.constvars = Vec::new();
    new.invars = order;
    new.invars.extend(&jaxpr.invars);
    (ClosedJaxpr::new(new, Vec::new()), residuals)
}

/// A value in the graph of an unknown side; a residual is a node of its own wherever it is used.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Node {
    Value(Var),
    Operand { eqn: usize, index: usize, var: Var },
    Result { index: usize, var: Var },
}

/// The constvars that the results need, in the order of a reversed topological sort from arguments and results in
/// which the last ready node is taken first.
fn constant_order(jaxpr: &Jaxpr) -> Vec<Var> {
    let constants: HashSet<Var> = jaxpr.constvars.iter().copied().collect();
    let mut producer: HashMap<Var, usize> = HashMap::new();
    for (index, eqn) in jaxpr.eqns.iter().enumerate() {
        producer.extend(eqn.outputs.iter().map(|&var| (var, index)));
    }
    let parents = |node: Node| -> Vec<Node> {
        let Node::Value(var) = node else {
            return Vec::new();
        };
        let Some(&eqn) = producer.get(&var) else {
            return Vec::new();
        };
        let operand = |(index, atom): (usize, &Atom)| {
            let var = atom.var()?;
            Some(if constants.contains(&var) {
                Node::Operand { eqn, index, var }
            } else {
                Node::Value(var)
            })
        };
        jaxpr.eqns[eqn]
            .inputs
            .iter()
            .enumerate()
            .filter_map(operand)
            .collect()
    };
    let mut ends: Vec<Node> = jaxpr.invars.iter().map(|&var| Node::Value(var)).collect();
    for (index, atom) in jaxpr.outvars.iter().enumerate() {
        if let Some(var) = atom.var() {
            ends.push(if constants.contains(&var) {
                Node::Result { index, var }
            } else {
                Node::Value(var)
            });
        }
    }
    let mut seen = HashSet::new();
    ends.retain(|&node| seen.insert(node));
    let mut children: HashMap<Node, usize> = HashMap::new();
    let mut stack = ends.clone();
    while let Some(node) = stack.pop() {
        let count = children.entry(node).or_insert(0);
        *count += 1;
        if *count == 1 {
            stack.extend(parents(node));
        }
    }
    for node in &ends {
        children.entry(*node).and_modify(|count| *count -= 1);
    }
    let mut ready: Vec<Node> = ends
        .into_iter()
        .filter(|node| children[node] == 0)
        .collect();
    let mut sorted = Vec::new();
    while let Some(node) = ready.pop() {
        sorted.push(node);
        for parent in parents(node) {
            match children.get_mut(&parent) {
                Some(1) => ready.push(parent),
                Some(count) => *count -= 1,
                None => {}
            }
        }
    }
    let mut order = Vec::new();
    let mut seen = HashSet::new();
    for node in sorted.into_iter().rev() {
        if let Node::Operand { var, .. } | Node::Result { var, .. } = node
            && seen.insert(var)
        {
            order.push(var);
        }
    }
    order
}
