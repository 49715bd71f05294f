//! Transposition: the backward pass over a linear jaxpr.

use smallvec::SmallVec;

use super::environment::{Environment, FromConstant, bind_constants};
use crate::error::{Error, Result};
use crate::jaxpr::{
    Atom, Aval, AvalKind, Builder, ClosedJaxpr, Eqn, Jaxpr, Var, VarMap, debug_check, require_types,
};
use crate::jaxpr::{MemoArgs, flags};
use crate::prims::{FreezeRef, NewRef, Opaque, RefAddUpdate, RefIndices, TransposeArg};

/// A transposed jaxpr.
#[derive(Clone)]
pub struct Transposed {
    /// Known arguments, then non-zero cotangents of the results, to non-zero cotangents of the linear arguments.
    pub jaxpr: ClosedJaxpr,
    /// Which arguments of the original get a cotangent.
    pub nonzero: Vec<bool>,
}

/// Transposes `jaxpr`, which is linear in the arguments marked in `linear`, for results of which those marked in
/// `cotangents` have a non-zero cotangent. Arguments marked in `instantiate` get a cotangent even where it is zero.
///
/// # Errors
/// When an equation is not linear or has no transpose; the message names it.
pub fn transpose(
    b: &Builder,
    jaxpr: &ClosedJaxpr,
    linear: &[bool],
    cotangents: &[bool],
    instantiate: &[bool],
) -> Result<Transposed> {
    let mut args = MemoArgs::new();
    flags(&mut args, linear);
    flags(&mut args, cotangents);
    flags(&mut args, instantiate);
    b.memo().of_jaxpr("transpose", jaxpr, args, || {
        let b = b.nested();
        let consts = bind_constants(&b, jaxpr);
        let args: Vec<TransposeArg> = jaxpr
            .in_avals()
            .into_iter()
            .zip(linear)
            .map(|(aval, &linear)| {
                if linear {
                    TransposeArg::Linear(aval.tangent())
                } else {
                    TransposeArg::Known(b.input(aval))
                }
            })
            .collect();
        let cotangents: Vec<Option<Atom>> = jaxpr
            .out_avals()
            .into_iter()
            .zip(cotangents)
            .map(|(aval, &nonzero)| nonzero.then(|| b.input(aval.tangent())))
            .collect();
        let start = vec![None; args.len()];
        let out = backward_pass(&b, &jaxpr.jaxpr, &consts, &args, start, &cotangents)?;
        let out: Vec<Option<Atom>> = out
            .into_iter()
            .zip(&args)
            .zip(instantiate)
            .map(|((cotangent, arg), &instantiate)| match arg {
                TransposeArg::Known(_) => None,
                TransposeArg::Linear(aval) => {
                    cotangent.or_else(|| instantiate.then(|| b.zeros(aval)))
                }
            })
            .collect();
        let nonzero = crate::marks::present(&out);
        let results: Vec<Atom> = out.into_iter().flatten().collect();
        let jaxpr = b.finish(&results)?;
        debug_check("transpose", &jaxpr)?;
        Ok(Transposed { jaxpr, nonzero })
    })
}

impl FromConstant for TransposeArg {
    fn from_constant(atom: Atom) -> Self {
        TransposeArg::Known(atom)
    }
}

/// Writes the backward pass of `jaxpr` into `b`: equations without linear operands forwards, then the transposes of
/// the others backwards. `start` holds cotangents that the arguments already have; gives them with what is added.
pub(crate) fn backward_pass(
    b: &Builder,
    jaxpr: &Jaxpr,
    consts: &[Atom],
    args: &[TransposeArg],
    start: Vec<Option<Atom>>,
    cotangents: &[Option<Atom>],
) -> Result<Vec<Option<Atom>>> {
    if cotangents.iter().all(Option::is_none) {
        return Ok(start);
    }
    let mut env: Environment<'_, TransposeArg> = Environment::new(jaxpr);
    env.bind(
        &jaxpr.constvars,
        consts.iter().map(|&atom| TransposeArg::Known(atom)),
    );
    env.bind(&jaxpr.invars, args.iter().cloned());
    let mut linear: Vec<(&Eqn, Vec<TransposeArg>)> = Vec::new();
    let mut references: VarMap<RefCotangent> = VarMap::new();
    for eqn in &jaxpr.eqns {
        let operands: Vec<TransposeArg> = eqn.inputs.iter().map(|&atom| env.read(atom)).collect();
        let known: Option<Vec<Atom>> = operands.iter().map(TransposeArg::known).collect();
        let avals = env.result_avals(eqn);
        // A new reference collects cotangents whatever it starts with.
        let known = known.filter(|_| !eqn.prim.rules().makes_reference());
        match known {
            Some(known) => {
                let before = b.set_source(eqn.source);
                let results = b.push(eqn.prim.clone(), &known, &avals);
                b.set_source(before);
                env.bind(&eqn.outputs, results.into_iter().map(TransposeArg::Known));
            }
            None => {
                for (&var, aval) in eqn.outputs.iter().zip(&avals) {
                    if aval.kind == AvalKind::Ref {
                        references.insert(var, RefCotangent::new(aval));
                    }
                }
                let results = avals
                    .iter()
                    .map(|aval| TransposeArg::Linear(aval.tangent()));
                env.bind(&eqn.outputs, results);
                linear.push((eqn, operands));
            }
        }
    }
    let mut sums = Cotangents {
        b,
        values: VarMap::new(),
    };
    for (&var, start) in jaxpr.invars.iter().zip(start) {
        sums.add(var, start);
    }
    for (&atom, &cotangent) in jaxpr.outvars.iter().zip(cotangents) {
        if let (Atom::Var(var), TransposeArg::Linear(_)) = (atom, env.read(atom)) {
            sums.add(var, cotangent);
        }
    }
    for (eqn, operands) in linear.into_iter().rev() {
        let cotangents: Vec<Option<Atom>> = eqn
            .outputs
            .iter()
            .map(|&var| sums.values.remove(var))
            .collect();
        let rules = eqn.prim.rules();
        let of_eqn = eqn
            .inputs
            .iter()
            .filter_map(|atom| atom.var())
            .chain(eqn.outputs.iter().copied());
        let reference = of_eqn.into_iter().find(|&var| references.contains_key(var));
        if reference.is_none() && cotangents.iter().all(Option::is_none) {
            continue;
        }
        let before = b.set_source(eqn.source);
        let avals: SmallVec<[Aval; 3]> = operands.iter().map(|x| x.aval(b)).collect();
        require_types(&eqn.prim, &avals)
            .map_err(|error| error.in_operation(eqn.prim.name()).at(eqn.source))?;
        let out = match reference.and_then(|var| references.get_mut(var)) {
            Some(reference) => rules
                .transpose_reference(b, reference, &cotangents, &operands)
                .transpose()
                .unwrap_or_else(|| Err(Error::no_rule(eqn.prim.name(), "transpose", SHARED))),
            None => rules.transpose(b, &cotangents, &operands),
        };
        let out = out.map_err(|error| error.in_operation(eqn.prim.name()).at(eqn.source))?;
        for ((&atom, operand), cotangent) in eqn.inputs.iter().zip(&operands).zip(out) {
            if let (Atom::Var(var), TransposeArg::Linear(_)) = (atom, operand) {
                sums.add(var, cotangent);
            }
        }
        b.set_source(before);
    }
    b.check()?;
    Ok(jaxpr
        .invars
        .iter()
        .map(|&var| sums.values.remove(var))
        .collect())
}

const SHARED: &str = "a reference to a tangent is passed to it: read and write references outside of calls, branches and loops";

/// The cotangent of a reference: a reference of its own, made when the first cotangent comes.
pub struct RefCotangent {
    aval: Aval,
    reference: Option<Atom>,
}

impl RefCotangent {
    /// A zero for a reference of this type.
    fn new(reference: &Aval) -> Self {
        RefCotangent {
            aval: Aval {
                kind: AvalKind::Array,
                ..reference.tangent()
            },
            reference: None,
        }
    }

    /// Whether no cotangent has come.
    pub fn is_zero(&self) -> bool {
        self.reference.is_none()
    }

    /// Adds a cotangent of all that is referred to.
    pub fn accumulate(&mut self, b: &Builder, cotangent: Option<Atom>) {
        match (self.reference, cotangent) {
            (_, None) => {}
            (None, Some(cotangent)) => self.reference = Some(new_reference(b, cotangent)),
            (Some(reference), Some(cotangent)) => {
                let prim = RefAddUpdate {
                    indices: RefIndices::new(),
                };
                if let Err(error) = b.emit(prim, &[reference, cotangent]) {
                    b.fail(error);
                }
            }
        }
    }

    /// The reference, made when there is none.
    pub fn instantiate(&mut self, b: &Builder) -> Atom {
        *self
            .reference
            .get_or_insert_with(|| new_reference(b, b.zeros(&self.aval)))
    }

    /// The cotangent as a value.
    pub fn freeze(&self, b: &Builder) -> Option<Atom> {
        self.reference
            .map(|reference| b.op(FreezeRef, &[reference]))
    }
}

fn new_reference(b: &Builder, value: Atom) -> Atom {
    let prim = NewRef {
        kind: Opaque::none(),
        memory_space: Opaque::none(),
        pin: false,
    };
    b.op(prim, &[value])
}

/// Cotangents by variable, summed as they come.
struct Cotangents<'a> {
    b: &'a Builder,
    values: VarMap<Atom>,
}

impl Cotangents<'_> {
    fn add(&mut self, var: Var, cotangent: Option<Atom>) {
        let Some(cotangent) = cotangent else {
            return;
        };
        let sum = match self.values.get(var) {
            None => cotangent,
            Some(&sum) => self.b.add_any(sum, cotangent),
        };
        self.values.insert(var, sum);
    }
}
