//! Writes a jaxpr equation by equation, checking types as it goes.

use std::cell::RefCell;
use std::sync::Arc;

use smallvec::SmallVec;

use super::Memo;
use super::{
    Atom, Atoms, Aval, ClosedJaxpr, Eqn, Jaxpr, Literal, Scalar, Shape, Var, VarMap, Vars,
};
use crate::dtype::DType;
use crate::error::{Error, ErrorKind, Result, Source};
use crate::prims::Prim;
use crate::tensor::Tensor;

/// Gives the results of an equation on operands in the builder, `None` to write the equation as it is.
pub(crate) type Replace<'a> = dyn Fn(&Builder, &Eqn, &[Atom]) -> Result<Option<Atoms>> + 'a;

/// A jaxpr under construction.
///
/// Methods take `&self`, so that calls nest: `b.mul(b.cos(x), t)`. Methods with a single result return it whatever
/// happens; the first mistake is kept and reported by [`Builder::check`] and [`Builder::finish`].
///
/// ```
/// use jaxide_core::{Aval, Builder, DType};
/// let b = Builder::new();
/// let x = b.input(Aval::new(DType::F32, &[3]));
/// let y = b.mul(b.sin(x), x);
/// let jaxpr = b.finish(&[y])?;
/// assert_eq!(jaxpr.jaxpr.eqns.len(), 2);
/// # Ok::<(), jaxide_core::Error>(())
/// ```
#[derive(Default)]
pub struct Builder {
    state: RefCell<State>,
    memo: Memo,
}

#[derive(Default)]
struct State {
    jaxpr: Jaxpr,
    consts: Vec<Tensor>,
    source: Source,
    error: Option<Error>,
    /// Variables that stand for a literal computed while tracing.
    literals: VarMap<Literal>,
    /// Whether such variables become arguments, for a jaxpr that is split afterwards; and those that did.
    computed_as_arguments: bool,
    /// Whether broadcasts to the same shape are equations.
    keeps_broadcasts: bool,
    computed: Vec<(Var, Literal)>,
}

impl State {
    /// The atom as an equation or a result has it.
    fn resolve(&self, atom: Atom) -> Atom {
        let literal = atom.var().and_then(|var| self.literals.get(var));
        literal.map_or(atom, |&literal| Atom::Lit(literal))
    }

    fn resolve_all(&self, atoms: &[Atom]) -> Atoms {
        atoms.iter().map(|&atom| self.resolve(atom)).collect()
    }
}

impl Builder {
    /// An empty jaxpr.
    pub fn new() -> Self {
        Self::default()
    }

    /// An empty jaxpr that is only going to be transposed: broadcasts to the same shape are equations there, because JAX writes what
    /// they transpose to, a sum over no axes.
    pub fn to_transpose() -> Self {
        let builder = Self::default();
        builder.state.borrow_mut().keeps_broadcasts = true;
        builder
    }

    /// An empty jaxpr that is part of the same transformation: it shares the memo and the present source.
    #[must_use]
    pub fn nested(&self) -> Self {
        Builder {
            state: RefCell::new(State {
                source: self.state.borrow().source,
                ..State::default()
            }),
            memo: self.memo.clone(),
        }
    }

    /// An empty jaxpr that is part of the transformation that `memo` belongs to.
    #[must_use]
    pub fn within(memo: &Memo) -> Self {
        Builder {
            state: RefCell::default(),
            memo: memo.clone(),
        }
    }

    /// Sub-jaxprs made so far in this transformation.
    pub fn memo(&self) -> &Memo {
        &self.memo
    }

    /// A new argument.
    pub fn input(&self, aval: Aval) -> Atom {
        let jaxpr = &mut self.state.borrow_mut().jaxpr;
        let var = jaxpr.new_var(aval);
        jaxpr.invars.push(var);
        Atom::Var(var)
    }

    /// A captured array: a constvar with its value.
    pub fn constant(&self, value: Tensor) -> Atom {
        let aval = value.aval();
        let state = &mut *self.state.borrow_mut();
        let var = state.jaxpr.new_var(aval);
        state.jaxpr.constvars.push(var);
        state.consts.push(value);
        Atom::Var(var)
    }

    /// A constvar whose value is not known (it was read from text).
    pub fn constvar(&self, aval: Aval) -> Atom {
        let jaxpr = &mut self.state.borrow_mut().jaxpr;
        let var = jaxpr.new_var(aval);
        jaxpr.constvars.push(var);
        Atom::Var(var)
    }

    /// A scalar literal.
    pub fn literal(&self, value: Scalar, dtype: DType) -> Atom {
        Atom::Lit(Literal::new(value, dtype))
    }

    /// The scalar literal `value` of a numeric `dtype`, rounded to it.
    pub fn number(&self, value: f64, dtype: DType) -> Atom {
        let scalar = if matches!(dtype, DType::Bool | DType::Float0) {
            Scalar::Bool(value != 0.0)
        } else {
            Scalar::Float(value)
        };
        let rounded = scalar
            .to_bytes(dtype)
            .ok()
            .and_then(|bytes| Scalar::from_bytes(dtype, &bytes));
        self.literal(rounded.unwrap_or(scalar), dtype)
    }

    /// A literal that was computed: the zero of a type, a converted number. It is written as the literal, but each is a
    /// value of its own: where a jaxpr is split in two it crosses over as a residual, as in JAX.
    pub fn computed(&self, literal: Literal) -> Atom {
        let state = &mut *self.state.borrow_mut();
        let var = state.jaxpr.new_var(literal.aval());
        if state.computed_as_arguments {
            state.computed.push((var, literal));
        } else {
            state.literals.insert(var, literal);
        }
        Atom::Var(var)
    }

    /// Computed literals become arguments behind all others.
    pub(crate) fn computed_as_arguments(self) -> Self {
        self.state.borrow_mut().computed_as_arguments = true;
        self
    }

    /// The literals that became arguments, in order.
    pub(crate) fn computed_literals(&self) -> Vec<Literal> {
        let computed = &self.state.borrow().computed;
        computed.iter().map(|&(_, literal)| literal).collect()
    }

    /// The type of an operand.
    ///
    /// # Panics
    /// When the variable belongs to another jaxpr.
    pub fn aval(&self, atom: Atom) -> Aval {
        self.state.borrow().jaxpr.aval(atom)
    }

    /// Refuses operands of which only the text of their types is known, if the rules of `prim` look at them.
    ///
    /// # Errors
    /// When there is one.
    pub(crate) fn require_types(&self, prim: &Prim, operands: &[Atom]) -> Result<()> {
        let state = self.state.borrow();
        let vars = operands.iter().filter_map(|atom| atom.var());
        require_types(prim, vars.map(|var| state.jaxpr.aval_of(var)))
    }

    /// The shape of an operand.
    ///
    /// # Panics
    /// When the variable belongs to another jaxpr.
    pub fn shape(&self, atom: Atom) -> Shape {
        self.aval(atom).shape
    }

    /// The element type of an operand.
    ///
    /// # Panics
    /// When the variable belongs to another jaxpr.
    pub fn dtype(&self, atom: Atom) -> DType {
        match atom {
            Atom::Var(var) => self.state.borrow().jaxpr.aval_of(var).dtype,
            Atom::Lit(literal) => literal.dtype,
        }
    }

    /// The number of axes of an operand.
    ///
    /// # Panics
    /// When the variable belongs to another jaxpr.
    pub fn rank(&self, atom: Atom) -> usize {
        match atom {
            Atom::Var(var) => self.state.borrow().jaxpr.aval_of(var).rank(),
            Atom::Lit(_) => 0,
        }
    }

    /// From now on equations carry this place; gives the one before.
    pub fn set_source(&self, source: Source) -> Source {
        std::mem::replace(&mut self.state.borrow_mut().source, source)
    }

    /// Applies a primitive. Conversions to the same type and broadcasts to the same shape give their operand back,
    /// and converted literals are literals.
    ///
    /// # Errors
    /// When its operands do not fit; the message names the primitive, the types and the place.
    pub fn emit(&self, prim: impl Into<Prim>, operands: &[Atom]) -> Result<Atoms> {
        self.emit_prim(prim.into(), operands)
    }

    /// [`emit`](Self::emit), compiled once and not for each primitive.
    fn emit_prim(&self, prim: Prim, operands: &[Atom]) -> Result<Atoms> {
        let source = self.state.borrow().source;
        let resolved = self.state.borrow().resolve_all(operands);
        let results = infer(&prim, &self.state.borrow().jaxpr, &resolved)
            .map_err(|error| error.in_operation(prim.name()).at(source))?;
        if let ([operand], [result]) = (operands, results.as_slice())
            && let Some(same) = self.identity(&prim, *operand, result)
        {
            return Ok(Atoms::from_slice(&[same]));
        }
        let jaxpr = &mut self.state.borrow_mut().jaxpr;
        let outputs: Vars = results
            .into_iter()
            .map(|aval| jaxpr.new_var(aval))
            .collect();
        let atoms = outputs.iter().map(|&var| Atom::Var(var)).collect();
        jaxpr.eqns.push(Eqn {
            prim,
            inputs: resolved,
            outputs,
            source,
        });
        Ok(atoms)
    }

    /// The atom that an application amounts to when it changes nothing at run time.
    fn identity(&self, prim: &Prim, operand: Atom, result: &Aval) -> Option<Atom> {
        if let Prim::BroadcastInDim(_) = prim {
            let kept = self.state.borrow().keeps_broadcasts;
            return (!kept && self.shape(operand) == result.shape).then_some(operand);
        }
        let Prim::ConvertElementType(_) = prim else {
            return None;
        };
        let resolved = self.state.borrow().resolve(operand);
        if let Atom::Lit(literal) = resolved {
            let bytes = literal.value.to_bytes(result.dtype).ok()?;
            let value = Scalar::from_bytes(result.dtype, &bytes)?;
            let converted = Literal {
                value,
                dtype: result.dtype,
                weak_type: result.weak_type,
            };
            return Some(self.computed(converted));
        }
        let aval = self.aval(operand);
        let same = aval.dtype == result.dtype && aval.weak_type == result.weak_type;
        (same && !aval.dtype.is_key()).then_some(operand)
    }

    /// Applies a primitive with one result. A mistake is kept for [`Builder::check`].
    pub fn op(&self, prim: impl Into<Prim>, operands: &[Atom]) -> Atom {
        self.op_prim(prim.into(), operands)
    }

    fn op_prim(&self, prim: Prim, operands: &[Atom]) -> Atom {
        let result = self
            .emit_prim(prim, operands)
            .and_then(|results| match results.as_slice() {
                [only] => Ok(*only),
                other => Err(Error::new(
                    ErrorKind::Internal,
                    format!("one result is expected, and there are {}", other.len()),
                )),
            });
        result.unwrap_or_else(|error| {
            let aval = operands
                .first()
                .map_or_else(|| Aval::scalar(DType::F32), |&atom| self.aval(atom));
            self.fail(error);
            Atom::Var(self.state.borrow_mut().jaxpr.new_var(aval))
        })
    }

    /// Appends an equation whose types are already known to fit, with given result types (weakness included).
    pub fn push(&self, prim: Prim, operands: &[Atom], results: &[Aval]) -> Atoms {
        let state = &mut *self.state.borrow_mut();
        let outputs: Vars = results
            .iter()
            .map(|aval| state.jaxpr.new_var(aval.clone()))
            .collect();
        let atoms = outputs.iter().map(|&var| Atom::Var(var)).collect();
        let inputs = state.resolve_all(operands);
        state.jaxpr.eqns.push(Eqn {
            prim,
            inputs,
            outputs,
            source: state.source,
        });
        atoms
    }

    /// Keeps the first mistake.
    pub fn fail(&self, error: Error) {
        let state = &mut *self.state.borrow_mut();
        let source = state.source;
        state.error.get_or_insert_with(|| error.at(source));
    }

    /// Reports the first mistake.
    ///
    /// # Errors
    /// When there was one.
    pub fn check(&self) -> Result<()> {
        self.state.borrow().error.clone().map_or(Ok(()), Err)
    }

    /// Looks at what is written so far.
    pub fn inspect<R>(&self, f: impl FnOnce(&Jaxpr) -> R) -> R {
        f(&self.state.borrow().jaxpr)
    }

    /// The number of equations so far.
    pub fn eqn_count(&self) -> usize {
        self.state.borrow().jaxpr.eqns.len()
    }

    /// The finished jaxpr.
    ///
    /// # Errors
    /// The first mistake made on the way.
    pub fn finish(self, results: &[Atom]) -> Result<ClosedJaxpr> {
        let state = self.state.into_inner();
        let results = state.resolve_all(results);
        let State {
            mut jaxpr,
            consts,
            error,
            computed,
            ..
        } = state;
        if let Some(error) = error {
            return Err(error);
        }
        jaxpr.invars.extend(computed.iter().map(|&(var, _)| var));
        jaxpr.outvars = results.into_vec();
        Ok(ClosedJaxpr::new(jaxpr, consts))
    }

    /// Writes all equations of `jaxpr` here with its constvars and invars replaced, and gives its results.
    ///
    /// # Errors
    /// When the numbers of constants or arguments do not fit.
    pub fn inline(&self, jaxpr: &Jaxpr, consts: &[Atom], args: &[Atom]) -> Result<Atoms> {
        self.inline_with(jaxpr, consts, args, &|_, _, _| Ok(None))
    }

    /// Like [`Builder::inline`], with some equations replaced: those for which `replace`, given the equation and its
    /// operands here, returns the results.
    ///
    /// # Errors
    /// When the numbers of constants or arguments do not fit, and those of `replace`.
    pub(crate) fn inline_with(
        &self,
        jaxpr: &Jaxpr,
        consts: &[Atom],
        args: &[Atom],
        replace: &Replace,
    ) -> Result<Atoms> {
        if consts.len() != jaxpr.constvars.len() || args.len() != jaxpr.invars.len() {
            return Err(Error::new(
                ErrorKind::Arity,
                format!(
                    "a jaxpr of {} constants and {} arguments is given {} and {}",
                    jaxpr.constvars.len(),
                    jaxpr.invars.len(),
                    consts.len(),
                    args.len()
                ),
            ));
        }
        let mut env = super::VarMap::new();
        for (&var, &atom) in jaxpr
            .constvars
            .iter()
            .zip(consts)
            .chain(jaxpr.invars.iter().zip(args))
        {
            env.insert(var, atom);
        }
        let read = |env: &super::VarMap<Atom>, atom: Atom| match atom {
            Atom::Var(var) => env[var],
            literal @ Atom::Lit(_) => literal,
        };
        for eqn in &jaxpr.eqns {
            let operands: Atoms = eqn.inputs.iter().map(|&atom| read(&env, atom)).collect();
            let avals: SmallVec<[Aval; 2]> = eqn
                .outputs
                .iter()
                .map(|&var| jaxpr.aval_of(var).clone())
                .collect();
            let before = self.set_source(eqn.source);
            let results = match replace(self, eqn, &operands)? {
                Some(results) => results,
                None => self.push(traced_anew(&eqn.prim), &operands, &avals),
            };
            self.set_source(before);
            for (&var, &atom) in eqn.outputs.iter().zip(&results) {
                env.insert(var, atom);
            }
        }
        Ok(jaxpr.outvars.iter().map(|&atom| read(&env, atom)).collect())
    }
}

/// The primitive as inlining gives it: JAX traces functions with custom rules anew wherever they are called, so that each
/// call has a jaxpr of its own.
fn traced_anew(prim: &Prim) -> Prim {
    let mut prim = prim.clone();
    if let Prim::CustomJvpCall(call) = &mut prim {
        call.call_jaxpr.jaxpr = Arc::new((*call.call_jaxpr.jaxpr).clone());
    }
    prim
}

/// Types of the results of `prim` on atoms of `jaxpr`.
///
/// # Errors
/// When the operands do not fit.
pub(crate) fn infer(prim: &Prim, jaxpr: &Jaxpr, operands: &[Atom]) -> Result<SmallVec<[Aval; 1]>> {
    let avals: SmallVec<[Aval; 3]> = operands.iter().map(|&atom| jaxpr.aval(atom)).collect();
    require_types(prim, &avals)?;
    prim.rules().abstract_eval(&avals)
}

/// Refuses operands of which only the text of their types is known, if the rules of `prim` look at them.
pub(crate) fn require_types<'a>(
    prim: &Prim,
    operands: impl IntoIterator<Item = &'a Aval>,
) -> Result<()> {
    match operands.into_iter().find(|aval| aval.is_opaque()) {
        Some(opaque) if needs_types(prim) => Err(Error::unsupported(format!(
            "an operand has the type {opaque}, of which only its text is known"
        ))),
        _ => Ok(()),
    }
}

/// Whether the types of the results follow from those of the operands, and not from a sub-jaxpr or what was written.
fn needs_types(prim: &Prim) -> bool {
    let mut calls = false;
    prim.visit(&mut |_| calls = true);
    !calls && !matches!(prim, Prim::Foreign(_))
}
