//! Running jaxprs: environments, order of evaluation, and freeing values after their last use.

use std::collections::HashMap;
use std::sync::Arc;

use smallvec::SmallVec;

use crate::aval::{byte_size, element_count};
use crate::cancel::Cancel;
use crate::error::{Error, ErrorKind, Result};
use crate::jaxpr::{Atom, AvalKind, ClosedJaxpr, Eqn, Jaxpr, VarMap};
use crate::memory;
use crate::prims::Prim;
use crate::tensor::Tensor;

/// What a variable stands for while running.
#[derive(Clone, Debug)]
pub(super) enum Value {
    /// An array.
    Tensor(Tensor),
    /// A mutable cell: its index among the interpreter's.
    Cell(usize),
}

/// Operands or results.
pub(super) type Values = Vec<Value>;

impl Value {
    /// The array.
    pub(super) fn tensor(self) -> Result<Tensor> {
        match self {
            Value::Tensor(tensor) => Ok(tensor),
            Value::Cell(_) => Err(Error::new(
                ErrorKind::Invalid,
                "an array is expected, and a reference is given",
            )),
        }
    }
}

/// All operands as arrays.
pub(super) fn tensors(values: Values) -> Result<Vec<Tensor>> {
    values.into_iter().map(Value::tensor).collect()
}

/// Arrays as values.
pub(super) fn values(tensors: impl IntoIterator<Item = Tensor>) -> Values {
    tensors.into_iter().map(Value::Tensor).collect()
}

/// An axis that collectives may name, and the index along it of the member that is running.
#[derive(Clone, Debug)]
pub(super) struct NamedAxis {
    pub(super) name: crate::prims::Name,
    pub(super) size: usize,
    pub(super) index: usize,
}

/// Work for the interpreter.
pub(super) type Run<'a> = dyn FnOnce(&mut Interpreter) -> Result<Values> + 'a;

/// What a primitive does with its operands.
pub(super) enum Meaning<'a> {
    /// It is a function of arrays, and these are the results.
    Arrays(Vec<Tensor>),
    /// It runs jaxprs, reads or writes references, or speaks of named axes.
    Run(Box<Run<'a>>),
}

/// The state of a run: contents of references, named axes, and plans of the jaxprs met so far.
pub(super) struct Interpreter {
    /// What each primitive does. It answers before anything is run, so that the depth of the stack does not grow by it.
    meaning: for<'a> fn(&'a Prim, Values) -> Result<Meaning<'a>>,
    pub(super) cells: Vec<Tensor>,
    pub(super) axes: Vec<NamedAxis>,
    plans: HashMap<*const Jaxpr, Arc<Plan>>,
    /// What every array must pass that an equation gives.
    check: Option<fn(&Tensor) -> Result<()>>,
    /// Who may end the run.
    cancel: Option<Cancel>,
}

/// A jaxpr with its variables numbered and their last uses known.
struct Plan {
    /// Kept alive, so that its address stays its own.
    jaxpr: Arc<Jaxpr>,
    slots: usize,
    steps: Vec<Step>,
    outputs: Vec<Operand>,
}

/// An equation's operands and results.
struct Step {
    inputs: SmallVec<[Operand; 3]>,
    outputs: SmallVec<[Option<usize>; 2]>,
}

/// Where an operand comes from.
enum Operand {
    /// Read here for the last time, which leaves the slot empty.
    Take(usize),
    /// Read again later.
    Read(usize),
    /// A literal.
    Constant(Tensor),
}

impl Interpreter {
    /// An interpreter of primitives that do what `meaning` says.
    pub(super) fn new(meaning: for<'a> fn(&'a Prim, Values) -> Result<Meaning<'a>>) -> Self {
        Interpreter {
            meaning,
            cells: Vec::new(),
            axes: Vec::new(),
            plans: HashMap::new(),
            check: None,
            cancel: None,
        }
    }

    /// The same that ends where an equation gives an array that `check` refuses.
    pub(super) fn checking(self, check: fn(&Tensor) -> Result<()>) -> Self {
        Interpreter {
            check: Some(check),
            ..self
        }
    }

    /// The same that ends when it is told to.
    pub(super) fn cancelled_by(self, cancel: &Cancel) -> Self {
        Interpreter {
            cancel: Some(cancel.clone()),
            ..self
        }
    }

    fn checked(&self, results: Values) -> Result<Values> {
        if let Some(check) = self.check {
            for value in &results {
                if let Value::Tensor(tensor) = value {
                    check(tensor)?;
                }
            }
        }
        Ok(results)
    }

    /// Results of a jaxpr with its own constants.
    pub(super) fn call(&mut self, closed: &ClosedJaxpr, args: Values) -> Result<Values> {
        closed.check_consts()?;
        let constants = values(closed.consts.iter().cloned());
        self.run(&closed.jaxpr, constants, args)
    }

    /// Results of one primitive.
    pub(super) fn apply(&mut self, prim: &Prim, inputs: Values) -> Result<Values> {
        match (self.meaning)(prim, inputs)? {
            Meaning::Arrays(results) => Ok(values(results)),
            Meaning::Run(run) => run(self),
        }
    }

    fn run(&mut self, jaxpr: &Arc<Jaxpr>, constants: Values, args: Values) -> Result<Values> {
        let plan = self.plan(jaxpr)?;
        check_args(jaxpr, &args)?;
        let mut slots: Vec<Option<Value>> = vec![None; plan.slots];
        for (slot, value) in constants.into_iter().chain(args).enumerate() {
            slots[slot] = Some(value);
        }
        // A loop whose body has no equations makes turns all the same.
        self.cancel.as_ref().map_or(Ok(()), Cancel::check)?;
        for (eqn, step) in jaxpr.eqns.iter().zip(&plan.steps) {
            if let Some(cancel) = &self.cancel {
                cancel
                    .check()
                    .map_err(|error| error.in_operation(eqn.prim.name()).at(eqn.source))?;
            }
            let inputs = step
                .inputs
                .iter()
                .map(|operand| fetch(&mut slots, operand))
                .collect::<Result<Values>>()?;
            let results = has_room(jaxpr, eqn, &inputs)
                .and_then(|()| self.apply(&eqn.prim, inputs))
                .and_then(|results| self.checked(results))
                .map_err(|error| error.in_operation(eqn.prim.name()).at(eqn.source))?;
            if results.len() != step.outputs.len() {
                return Err(Error::new(
                    ErrorKind::Arity,
                    format!(
                        "gives {} results, and {} are bound",
                        results.len(),
                        step.outputs.len()
                    ),
                )
                .in_operation(eqn.prim.name())
                .at(eqn.source));
            }
            for (slot, value) in step.outputs.iter().zip(results) {
                if let Some(slot) = slot {
                    slots[*slot] = Some(value);
                }
            }
        }
        plan.outputs
            .iter()
            .map(|operand| fetch(&mut slots, operand))
            .collect()
    }

    fn plan(&mut self, jaxpr: &Arc<Jaxpr>) -> Result<Arc<Plan>> {
        if let Some(plan) = self.plans.get(&Arc::as_ptr(jaxpr)) {
            return Ok(plan.clone());
        }
        let plan = Arc::new(Plan::new(jaxpr.clone())?);
        self.plans.insert(Arc::as_ptr(&plan.jaxpr), plan.clone());
        Ok(plan)
    }
}

/// Refuses an equation that there is no memory for: its results, and what is computed on the way to them, which are numbers of
/// eight bytes for each element of operands and results at most in nearly all primitives.
fn has_room(jaxpr: &Jaxpr, eqn: &Eqn, inputs: &[Value]) -> Result<()> {
    let operands = inputs.iter().map(|value| match value {
        Value::Tensor(tensor) => tensor.len().saturating_mul(8),
        Value::Cell(_) => 0,
    });
    let results = eqn.outputs.iter().map(|&var| {
        let aval = jaxpr.aval_of(var);
        let elements = element_count(&aval.shape).unwrap_or(usize::MAX);
        elements.saturating_mul(8 + aval.dtype.size())
    });
    let needed = operands.chain(results).fold(0, usize::saturating_add);
    if needed < LARGE {
        return Ok(());
    }
    memory::check(results_of(jaxpr, eqn))?;
    if !memory::can_allocate(needed) {
        return Err(Error::new(
            ErrorKind::TooLarge,
            format!("out of memory: about {needed} bytes are needed"),
        ));
    }
    Ok(())
}

/// Equations that need less are not asked about.
const LARGE: usize = 4 << 20;

/// Bytes of the results of an equation.
fn results_of(jaxpr: &Jaxpr, eqn: &Eqn) -> usize {
    let avals = eqn.outputs.iter().map(|&var| jaxpr.aval_of(var));
    let bytes = avals.map(|aval| byte_size(&aval.shape, aval.dtype).unwrap_or(usize::MAX));
    bytes.fold(0, usize::saturating_add)
}

impl Plan {
    fn new(jaxpr: Arc<Jaxpr>) -> Result<Self> {
        let mut slots = VarMap::new();
        let bound = jaxpr.constvars.iter().chain(&jaxpr.invars);
        for &var in bound.chain(jaxpr.eqns.iter().flat_map(|eqn| &eqn.outputs)) {
            slots.insert(var, slots.len());
        }
        // From the end: the first use met is the last one.
        let mut used = vec![false; slots.len()];
        let mut operand = |atom: Atom| match atom {
            Atom::Lit(literal) => {
                Tensor::full(&[], literal.dtype, literal.value).map(Operand::Constant)
            }
            Atom::Var(var) => {
                let &slot = slots.get(var).ok_or_else(|| {
                    Error::new(ErrorKind::Invalid, "a variable is used that nothing binds")
                })?;
                let again = std::mem::replace(&mut used[slot], true);
                Ok(if again {
                    Operand::Read(slot)
                } else {
                    Operand::Take(slot)
                })
            }
        };
        let mut operands = |atoms: &[Atom]| -> Result<Vec<Operand>> {
            let mut found: Vec<Operand> = atoms
                .iter()
                .rev()
                .map(|&atom| operand(atom))
                .collect::<Result<_>>()?;
            found.reverse();
            Ok(found)
        };
        let outputs = operands(&jaxpr.outvars)?;
        let mut inputs = Vec::new();
        for eqn in jaxpr.eqns.iter().rev() {
            inputs.push(operands(&eqn.inputs)?);
        }
        let steps = jaxpr
            .eqns
            .iter()
            .zip(inputs.into_iter().rev())
            .map(|(eqn, inputs)| Step {
                inputs: inputs.into(),
                outputs: eqn
                    .outputs
                    .iter()
                    .map(|&var| slots.get(var).copied().filter(|&slot| used[slot]))
                    .collect(),
            })
            .collect();
        Ok(Plan {
            slots: slots.len(),
            steps,
            outputs,
            jaxpr,
        })
    }
}

fn fetch(slots: &mut [Option<Value>], operand: &Operand) -> Result<Value> {
    match operand {
        Operand::Constant(tensor) => return Ok(Value::Tensor(tensor.clone())),
        Operand::Take(slot) => slots[*slot].take(),
        Operand::Read(slot) => slots[*slot].clone(),
    }
    .ok_or_else(|| Error::new(ErrorKind::Invalid, "a variable is used before it is bound"))
}

/// Arguments have the types that the jaxpr says.
fn check_args(jaxpr: &Jaxpr, args: &[Value]) -> Result<()> {
    if jaxpr.invars.len() != args.len() {
        return Err(Error::new(
            ErrorKind::Arity,
            format!(
                "a jaxpr of {} arguments is given {}",
                jaxpr.invars.len(),
                args.len()
            ),
        ));
    }
    for (index, (&var, arg)) in jaxpr.invars.iter().zip(args).enumerate() {
        let want = jaxpr.aval_of(var);
        if want.is_opaque() {
            return Err(Error::unsupported(format!(
                "argument {index} has the type {want}, of which only its text is known"
            )));
        }
        let fits = match arg {
            Value::Tensor(tensor) => {
                want.kind == AvalKind::Token
                    || (want.kind == AvalKind::Array
                        && want.dtype == tensor.dtype()
                        && want.shape.as_slice() == tensor.shape())
            }
            Value::Cell(_) => want.kind == AvalKind::Ref,
        };
        if !fits {
            let got = match arg {
                Value::Tensor(tensor) => tensor.aval().to_string(),
                Value::Cell(_) => "a reference".to_owned(),
            };
            return Err(Error::shape(format!(
                "argument {index} is {got}, and {want} is expected"
            )));
        }
    }
    Ok(())
}
