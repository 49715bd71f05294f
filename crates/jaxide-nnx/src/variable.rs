//! Variables: shared references to arrays.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use jaxide::core::ErrorKind;
use jaxide::tree::StaticValue;
use jaxide::{Array, Error, Result, TraceId, current_trace, raise};

use crate::graph::{Flatten, Rebuild, Static};
use crate::{Attribute, Kind, KindRef, Param};

/// What a variable holds.
#[derive(Clone, Debug, Default)]
pub enum Value {
    /// Nothing yet: the variable is no part of the state.
    #[default]
    Absent,
    /// An array.
    Array(Array),
    /// Several, as those that were noted one after the other.
    Tuple(Vec<Array>),
}

impl Value {
    /// The arrays in order.
    pub fn arrays(&self) -> &[Array] {
        match self {
            Value::Absent => &[],
            Value::Array(array) => std::slice::from_ref(array),
            Value::Tuple(arrays) => arrays,
        }
    }

    /// Which of the forms it has.
    pub(crate) fn form(&self) -> Form {
        match self {
            Value::Absent => Form::Absent,
            Value::Array(_) => Form::Array,
            Value::Tuple(arrays) => Form::Tuple(arrays.len()),
        }
    }
}

/// A [`Value`] without its arrays.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Form {
    Absent,
    Array,
    Tuple(usize),
}

impl Form {
    pub(crate) fn len(self) -> usize {
        match self {
            Form::Absent => 0,
            Form::Array => 1,
            Form::Tuple(len) => len,
        }
    }

    /// The value of this form with the next arrays of `arrays`, of which there are enough.
    pub(crate) fn fill(self, arrays: &mut impl Iterator<Item = Array>) -> Value {
        match self {
            Form::Absent => Value::Absent,
            Form::Array => arrays.next().map_or(Value::Absent, Value::Array),
            Form::Tuple(len) => Value::Tuple(arrays.take(len).collect()),
        }
    }
}

/// What is known of a variable beside its value: names and values that are compared and printed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Metadata(Option<Arc<Vec<Item>>>);

type Item = (Cow<'static, str>, Static);

impl Metadata {
    /// The entries in the order in which they were given.
    pub fn entries(&self) -> impl Iterator<Item = (&str, &Static)> {
        self.0
            .iter()
            .flat_map(|entries| entries.iter())
            .map(|(name, value)| (&**name, value))
    }

    fn with(&self, name: Cow<'static, str>, value: Static) -> Self {
        let mut entries = self.0.as_deref().cloned().unwrap_or_default();
        entries.push((name, value));
        Metadata(Some(Arc::new(entries)))
    }
}

/// A variable whose kind is known at run time only.
#[derive(Clone)]
pub struct AnyVariable(Arc<Shared>);

struct Shared {
    kind: KindRef,
    metadata: Metadata,
    /// The trace that it was made in: it can be changed there alone.
    trace: Option<TraceId>,
    cell: Mutex<Cell>,
}

struct Cell {
    value: Value,
    /// How often it was changed.
    version: u64,
}

impl AnyVariable {
    /// A new variable.
    pub fn new(kind: KindRef, value: Value, metadata: Metadata) -> Self {
        AnyVariable(Arc::new(Shared {
            kind,
            metadata,
            trace: current_trace(),
            cell: Mutex::new(Cell { value, version: 0 }),
        }))
    }

    fn cell(&self) -> MutexGuard<'_, Cell> {
        self.0.cell.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What the variable is for.
    pub fn kind(&self) -> KindRef {
        self.0.kind
    }

    /// What is known of it beside its value.
    pub fn metadata(&self) -> &Metadata {
        &self.0.metadata
    }

    /// What it holds.
    pub fn value(&self) -> Value {
        self.cell().value.clone()
    }

    pub(crate) fn version(&self) -> u64 {
        self.cell().version
    }

    /// Changes what it holds.
    ///
    /// # Errors
    /// When the variable was made outside of the innermost trace: it would keep a value that means nothing there. Pass its
    /// module as an argument to the transformation, or use one of [`crate::jit`] and its relatives, which carry changes out.
    pub fn try_set(&self, value: Value) -> Result<()> {
        self.check_trace()?;
        let mut cell = self.cell();
        cell.value = value;
        cell.version += 1;
        Ok(())
    }

    /// [`AnyVariable::try_set`].
    ///
    /// # Panics
    /// Where that gives an error.
    #[track_caller]
    pub fn set(&self, value: Value) {
        if let Err(error) = self.try_set(value) {
            raise(error);
        }
    }

    pub(crate) fn check_trace(&self) -> Result<()> {
        if self.0.trace == current_trace() {
            return Ok(());
        }
        Err(Error::new(
            ErrorKind::LeakedTracer,
            format!("cannot change {} from a different trace level", described(self.kind())),
        )
        .note("the variable was made outside of the function that is being traced, which only reads it")
        .note("pass its module as an argument to a transformation of `jaxide_nnx`, which carries changes out"))
    }

    /// Whether both are the same variable, not only equal ones.
    pub fn is_same(&self, other: &AnyVariable) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// What tells it from others as long as one of them lives.
    pub(crate) fn address(&self) -> usize {
        Arc::as_ptr(&self.0).addr()
    }
}

/// The kind with its article.
pub(crate) fn described(kind: KindRef) -> String {
    let article = if kind.name().starts_with(['A', 'E', 'I', 'O', 'U']) {
        "an"
    } else {
        "a"
    };
    format!("{article} `{}`", kind.name())
}

/// A shared reference to an array of some kind: clones are the same variable, and a change is seen through all of them.
///
/// ```
/// use jaxide_nnx::{Param, Variable};
/// let weights = Variable::<Param>::new([1.0f32, 2.0]);
/// let same = weights.clone();
/// same.set([3.0f32, 4.0]);
/// assert_eq!(weights.get().to_vec::<f32>(), [3.0, 4.0]);
/// ```
pub struct Variable<K: Kind = Param> {
    any: AnyVariable,
    kind: PhantomData<fn() -> K>,
}

impl<K: Kind> Variable<K> {
    /// A variable that holds `value`.
    pub fn new(value: impl Into<Array>) -> Self {
        Self::holding(Value::Array(value.into()), Metadata::default())
    }

    /// A variable that holds nothing yet, and is no part of the state as long as that is so.
    pub fn absent() -> Self {
        Self::holding(Value::Absent, Metadata::default())
    }

    pub(crate) fn holding(value: Value, metadata: Metadata) -> Self {
        Variable {
            any: AnyVariable::new(KindRef::of::<K>(), value, metadata),
            kind: PhantomData,
        }
    }

    /// The variable `any`, if its kind is `K`.
    pub fn from_any(any: AnyVariable) -> Option<Self> {
        (any.kind() == KindRef::of::<K>()).then_some(Variable {
            any,
            kind: PhantomData,
        })
    }

    /// A new variable with the same value, of which `name` is known too: a sharding, a tag.
    #[must_use]
    pub fn with(
        self,
        name: impl Into<Cow<'static, str>>,
        value: impl StaticValue + Clone + 'static,
    ) -> Self {
        let metadata = self.any.metadata().with(name.into(), Static::new(value));
        Self::holding(self.any.value(), metadata)
    }

    /// What the variable is for.
    pub fn kind(&self) -> KindRef {
        self.any.kind()
    }

    /// The variable without its kind in its type.
    pub fn any(&self) -> &AnyVariable {
        &self.any
    }

    /// What it holds.
    pub fn value(&self) -> Value {
        self.any.value()
    }

    /// The array that it holds.
    ///
    /// # Panics
    /// When it holds nothing, or several.
    #[track_caller]
    pub fn get(&self) -> Array {
        match self.any.value() {
            Value::Array(array) => array,
            Value::Absent => raise(Error::parameter(format!(
                "the {} holds nothing yet",
                K::NAME
            ))),
            Value::Tuple(arrays) => raise(Error::parameter(format!(
                "the {} holds {} arrays; `value` gives them",
                K::NAME,
                arrays.len()
            ))),
        }
    }

    /// Makes it hold `value`.
    ///
    /// # Panics
    /// When the variable was made outside of the innermost trace: [`AnyVariable::try_set`].
    #[track_caller]
    pub fn set(&self, value: impl Into<Array>) {
        self.any.set(Value::Array(value.into()));
    }

    /// Makes it hold what `f` makes of the array that it holds.
    ///
    /// # Panics
    /// As [`Variable::get`] and [`Variable::set`].
    #[track_caller]
    pub fn update(&self, f: impl FnOnce(Array) -> Array) {
        let value = f(self.get());
        self.set(value);
    }

    /// Whether both are the same variable, not only equal ones.
    pub fn is_same(&self, other: &Self) -> bool {
        self.any.is_same(&other.any)
    }
}

impl<K: Kind> Clone for Variable<K> {
    fn clone(&self) -> Self {
        Variable {
            any: self.any.clone(),
            kind: PhantomData,
        }
    }
}

impl<K: Kind> fmt::Debug for Variable<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.any, f)
    }
}

impl<K: Kind> From<&Variable<K>> for Array {
    #[track_caller]
    fn from(variable: &Variable<K>) -> Self {
        variable.get()
    }
}

impl<K: Kind> Attribute for Variable<K> {
    const DATA: bool = true;

    fn flatten(&self, to: &mut Flatten) {
        to.variable(&self.any);
    }

    fn rebuild(from: &mut Rebuild<'_>) -> Result<Self> {
        let path = from.path().clone();
        let any = from.variable()?;
        let kind = any.kind();
        Variable::from_any(any).ok_or_else(|| {
            Error::new(
                ErrorKind::Structure,
                format!(
                    "the graph has {} where the module has {}",
                    described(kind),
                    described(KindRef::of::<K>())
                ),
            )
            .at_path(path.to_string())
        })
    }
}
