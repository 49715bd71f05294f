//! Graphs of modules: taken apart into a definition and a state, and put together again.

mod def;
mod flatten;
mod pytree;
mod rebuild;

use std::collections::{BTreeMap, HashMap};

pub use def::{Attributes, Def, GraphDef, NodeDef, Static, Style};
pub use flatten::Flatten;
pub(crate) use flatten::LeafContent;
pub use jaxide::Array;
pub use jaxide::tree::{Pytree, StructureError, Unflatten, Visitor};
pub(crate) use pytree::{Located, Met, Session, emit, entries};
pub use pytree::{unflatten, visit};
pub use rebuild::Rebuild;

use jaxide::core::ErrorKind;
use jaxide::{Error, Result};
use rebuild::Leaves;
pub(crate) use rebuild::Made;

use crate::state::{Entry, IntoState, State};
use crate::variable::Value;
use crate::{Attribute, Filter, Filters, Path};

/// What is structure in a module, and its state, in as many parts as there are filters: `..` is all, and the rest behind others.
///
/// ```
/// use jaxide_nnx::{self as nnx, BatchNorm, Param, Rngs};
/// let norm = BatchNorm::new(2, &Rngs::new(0), ());
/// let (graph_def, (params, rest)) = nnx::split(&norm, (Param, ..))?;
/// assert_eq!(params.len(), 2);
/// assert_eq!(rest.paths().map(|path| path.to_string()).collect::<Vec<_>>(), ["mean", "var"]);
/// let same: BatchNorm = nnx::merge(&graph_def, (params, rest))?;
/// # Ok::<(), nnx::Error>(())
/// ```
///
/// # Errors
/// When something is selected by no filter, `..` is not the last one, or a module behind an `Arc` contains itself.
pub fn split<M: Attribute, F: Filters>(module: &M, filters: F) -> Result<(GraphDef, F::States)> {
    let flat = Flatten::checked(module).map_err(|error| error.in_operation("split"))?;
    let states = State::of(&flat).split(filters)?;
    Ok((flat.graph_def(), states))
}

/// The state of a module that the filters select, in as many parts as there are filters; what none selects is left out.
///
/// ```
/// use jaxide_nnx::{self as nnx, Linear, Param, Rngs};
/// let linear = Linear::new(2, 3, &Rngs::new(0), ());
/// assert_eq!(nnx::state(&linear, Param)?.len(), 2);
/// # Ok::<(), nnx::Error>(())
/// ```
///
/// # Errors
/// When `..` is not the last filter.
pub fn state<M: Attribute, F: Filters>(module: &M, filters: F) -> Result<F::States> {
    State::of(&Flatten::of(module)).filter(filters)
}

/// The structure of a module.
///
/// # Errors
/// When a module behind an `Arc` contains itself.
pub fn graph_def(module: &impl Attribute) -> Result<GraphDef> {
    Ok(Flatten::checked(module)?.graph_def())
}

/// A module of a structure and a state, or several parts of one. What the structure shares is one in the result.
///
/// # Errors
/// When the type has another structure, or a leaf is missing or surplus; the error names its path.
pub fn merge<M: Attribute>(graph_def: &GraphDef, states: impl IntoState) -> Result<M> {
    let state = states
        .into_state()
        .map_err(|error| error.in_operation("merge"))?;
    let mut leaves = StateLeaves {
        entries: state.entries,
    };
    let module = Rebuild::whole(&graph_def.0, &mut leaves, &mut HashMap::new())
        .map_err(|error| error.in_operation("merge"))?;
    match leaves.entries.keys().next() {
        None => Ok(module),
        Some(path) => Err(Error::new(
            ErrorKind::Structure,
            format!(
                "the state has {} entries that the graph has not",
                leaves.entries.len()
            ),
        )
        .in_operation("merge")
        .at_path(path.to_string())),
    }
}

/// Leaves that are looked up, and taken.
struct StateLeaves {
    entries: BTreeMap<Path, Entry>,
}

impl StateLeaves {
    fn take(&mut self, path: &Path) -> Result<Entry> {
        self.entries.remove(path).ok_or_else(|| {
            Error::new(ErrorKind::Structure, "the state has no such entry")
                .at_path(path.to_string())
        })
    }
}

impl Leaves for StateLeaves {
    fn variable(&mut self, path: &Path) -> Result<Value> {
        Ok(match self.take(path)? {
            Entry::Variable { value, .. } => value,
            Entry::Array { array, .. } => Value::Array(array),
        })
    }

    fn array(&mut self, path: &Path) -> Result<Array> {
        match self.take(path)? {
            Entry::Array { array, .. }
            | Entry::Variable {
                value: Value::Array(array),
                ..
            } => Ok(array),
            Entry::Variable { .. } => Err(Error::new(
                ErrorKind::Structure,
                "the state has a variable of several arrays where the graph has an array",
            )
            .at_path(path.to_string())),
        }
    }
}

/// Gives the variables of a module the values of a state, or of several, which may be a part of its own.
///
/// # Errors
/// When the module has no such variable, or it was made outside of the innermost trace. Nothing is changed then.
pub fn update(module: &impl Attribute, states: impl IntoState) -> Result<()> {
    let state = states
        .into_state()
        .map_err(|error| error.in_operation("update"))?;
    let flat = Flatten::of(module);
    let mistake = |path: &Path, message: String| {
        Error::new(ErrorKind::Structure, message)
            .in_operation("update")
            .at_path(path.to_string())
    };
    let mut variables = HashMap::new();
    for leaf in &flat.leaves {
        if let LeafContent::Variable(variable) = &leaf.content {
            variables.insert(&leaf.path, variable);
        }
    }
    let mut changes = Vec::new();
    for (path, entry) in state.entries() {
        let value = match entry {
            Entry::Variable { value, .. } => value.clone(),
            Entry::Array { array, .. } => Value::Array(array.clone()),
        };
        match variables.get(path) {
            Some(variable) => changes.push((path, *variable, value)),
            None if flat.leaves.iter().any(|leaf| leaf.path == *path) => {
                return Err(mistake(path, "an array that is an attribute by itself cannot be changed through a shared module".to_owned())
                    .note("make it a `Variable`, or use `merge`"));
            }
            None => return Err(mistake(path, "the module has no such variable".to_owned())),
        }
    }
    for (path, variable, _) in &changes {
        variable
            .check_trace()
            .map_err(|error| error.in_operation("update").at_path(path.to_string()))?;
    }
    for (_, variable, value) in changes {
        variable.try_set(value)?;
    }
    Ok(())
}

/// Takes the variables that a filter selects out of a module: they hold nothing afterwards.
///
/// # Errors
/// When the filter selects an array that is an attribute by itself, or a variable was made outside of the innermost trace.
/// Nothing is changed then.
pub fn pop(module: &impl Attribute, filter: impl Into<Filter>) -> Result<State> {
    let filter = filter.into();
    let flat = Flatten::of(module);
    let whole = State::of(&flat);
    let (mut popped, mut variables) = (State::default(), Vec::new());
    for leaf in &flat.leaves {
        let Some(entry) = whole
            .entries
            .get(&leaf.path)
            .filter(|entry| filter.selects(&leaf.path, entry))
        else {
            continue;
        };
        let at = |error: Error| error.in_operation("pop").at_path(leaf.path.to_string());
        match &leaf.content {
            LeafContent::Variable(variable) => {
                variable.check_trace().map_err(at)?;
                variables.push(variable.clone());
                popped.entries.insert(leaf.path.clone(), entry.clone());
            }
            LeafContent::Array(_) | LeafContent::Number(_) => {
                return Err(at(Error::new(
                    ErrorKind::Structure,
                    "an array that is an attribute by itself cannot be taken out",
                )));
            }
        }
    }
    for variable in variables {
        variable.try_set(Value::Absent)?;
    }
    Ok(popped)
}

/// A module of its own with the same structure and values: what is shared inside is shared inside the copy.
///
/// # Errors
/// When a module behind an `Arc` contains itself.
pub fn clone<M: Attribute>(module: &M) -> Result<M> {
    let (graph_def, state) = split(module, ..)?;
    merge(&graph_def, state)
}

/// Where the same variable, shared module or object stands more than once: all its paths, for each that `only` selects.
///
/// ```
/// use jaxide_nnx::{self as nnx, Module, Param, Variable};
/// #[derive(Module)]
/// struct Tied { encoder: Variable<Param>, decoder: Variable<Param> }
/// let table = Variable::new([1.0f32]);
/// let tied = Tied { encoder: table.clone(), decoder: table };
/// let found = nnx::find_duplicates(&tied);
/// assert_eq!(found, [["decoder".into(), "encoder".into()]]);
/// ```
pub fn find_duplicates(module: &impl Attribute) -> Vec<Vec<Path>> {
    let flat = Flatten::of(module);
    flat.places
        .into_iter()
        .filter(|places| places.len() > 1)
        .collect()
}

/// Whether values of this type are data when they become attributes: arrays, variables and modules are, and containers that are
/// none of this crate's are not.
///
/// ```
/// use jaxide_nnx::{self as nnx, Param, Variable};
/// assert!(nnx::is_data(&Variable::<Param>::new(1.0f32)));
/// assert!(!nnx::is_data(&3usize));
/// ```
pub fn is_data<T: Attribute>(_: &T) -> bool {
    T::DATA
}

/// Sets the switches called `name` in a module and all its parts, and says how many there are.
pub(crate) fn set_switches(module: &impl Attribute, name: &str, on: bool) -> usize {
    let flat = Flatten::of(module);
    let switches = flat
        .switches
        .iter()
        .filter(|(path, _)| path.last().is_some_and(|key| key.to_string() == name));
    switches.map(|(_, switch)| switch.set(on)).count()
}
