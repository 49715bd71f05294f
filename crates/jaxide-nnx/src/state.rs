//! States: what is in the variables of a module, by path.

use std::collections::BTreeMap;
use std::fmt;

use jaxide::core::ErrorKind;
use jaxide::tree::{
    self, ChildKeys, Head, NodeStyle, NodeType, Pytree, StaticValue, StructureError,
    StructureErrorKind, Tree, Unflatten, Visitor,
};
use jaxide::{Array, Error, Result};

use crate::graph::{Flatten, LeafContent, emit};
use crate::variable::{Form, Metadata, Value};
use crate::{Filter, Filters, Key, KindRef, Path};

/// What stands at a path of a state.
#[derive(Clone, Debug)]
pub enum Entry {
    /// The value of a variable.
    Variable {
        /// What the variable is for.
        kind: KindRef,
        /// What is known of it.
        metadata: Metadata,
        /// What it holds.
        value: Value,
    },
    /// An array that is an attribute by itself.
    Array {
        /// The array.
        array: Array,
        /// Whether it was a number of the program.
        number: bool,
    },
}

impl Entry {
    /// The kind of the variable, if it is one.
    pub fn kind(&self) -> Option<KindRef> {
        match self {
            Entry::Variable { kind, .. } => Some(*kind),
            Entry::Array { .. } => None,
        }
    }

    /// The arrays, in order.
    pub fn arrays(&self) -> &[Array] {
        match self {
            Entry::Variable { value, .. } => value.arrays(),
            Entry::Array { array, .. } => std::slice::from_ref(array),
        }
    }

    pub(crate) fn tag(&self) -> Option<&String> {
        match self {
            Entry::Variable { metadata, .. } => metadata
                .entries()
                .find(|(name, _)| *name == "tag")
                .and_then(|(_, value)| value.downcast::<String>()),
            Entry::Array { .. } => None,
        }
    }

    fn shape(&self) -> EntryShape {
        match self {
            Entry::Variable {
                kind,
                metadata,
                value,
            } => EntryShape::Variable(*kind, metadata.clone(), value.form()),
            Entry::Array { number, .. } => EntryShape::Array(*number),
        }
    }
}

/// An entry without its arrays.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum EntryShape {
    Variable(KindRef, Metadata, Form),
    Array(bool),
}

/// Values by path: the state of a module, a part of it, or something like it, as its gradient.
///
/// A state is a pytree of arrays. `Display` prints it as Flax does.
///
/// ```
/// use jaxide_nnx::{self as nnx, Linear, Param, Rngs};
/// let linear = Linear::new(1, 2, &Rngs::new(0), ());
/// let state = nnx::state(&linear, ..)?;
/// assert_eq!(state.array("bias")?.shape(), [2]);
/// assert!(state.to_string().contains("'kernel': Param( # 2 (8 B)"));
/// # Ok::<(), nnx::Error>(())
/// ```
#[derive(Clone, Default)]
pub struct State {
    pub(crate) entries: BTreeMap<Path, Entry>,
}

impl State {
    /// The state of a flattened graph.
    pub(crate) fn of(flat: &Flatten) -> Self {
        let entry = |content: &LeafContent| match content {
            LeafContent::Array(array) => Some(Entry::Array {
                array: array.clone(),
                number: false,
            }),
            LeafContent::Number(array) => Some(Entry::Array {
                array: array.clone(),
                number: true,
            }),
            LeafContent::Variable(variable) => match variable.value() {
                Value::Absent => None,
                value => Some(Entry::Variable {
                    kind: variable.kind(),
                    metadata: variable.metadata().clone(),
                    value,
                }),
            },
        };
        let entries = flat.leaves.iter();
        State {
            entries: entries
                .filter_map(|leaf| Some((leaf.path.clone(), entry(&leaf.content)?)))
                .collect(),
        }
    }

    /// The number of entries.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The entries in the order of their paths.
    pub fn entries(&self) -> impl ExactSizeIterator<Item = (&Path, &Entry)> {
        self.entries.iter()
    }

    /// The paths in order.
    pub fn paths(&self) -> impl ExactSizeIterator<Item = &Path> {
        self.entries.keys()
    }

    /// The entry at a path.
    pub fn get(&self, path: impl Into<Path>) -> Option<&Entry> {
        self.entries.get(&path.into())
    }

    /// The array at a path.
    ///
    /// # Errors
    /// When there is none, or there are several.
    pub fn array(&self, path: impl Into<Path>) -> Result<Array> {
        let path = path.into();
        match self.entries.get(&path).map(Entry::arrays) {
            Some([array]) => Ok(array.clone()),
            Some(arrays) => Err(Error::new(
                ErrorKind::Structure,
                format!("there are {} arrays", arrays.len()),
            )
            .at_path(path.to_string())),
            None => Err(
                Error::new(ErrorKind::Structure, "the state has no such entry")
                    .at_path(path.to_string()),
            ),
        }
    }

    /// What stands below `path`, by the rest of the paths; nothing where there is nothing.
    ///
    /// ```
    /// use jaxide_nnx::{self as nnx, Linear, List, Rngs};
    /// let rngs = Rngs::new(0);
    /// let layers: List<Linear> = (0..2).map(|_| Linear::new(1, 1, &rngs, ())).collect();
    /// let state = nnx::state(&layers, ..)?;
    /// assert_eq!(state.below("1").paths().map(ToString::to_string).collect::<Vec<_>>(), ["bias", "kernel"]);
    /// # Ok::<(), nnx::Error>(())
    /// ```
    #[must_use]
    pub fn below(&self, path: impl Into<Path>) -> State {
        let path = path.into();
        let entries = self.entries.iter().filter_map(|(at, entry)| {
            let rest = at.strip_prefix(&path[..]).filter(|rest| !rest.is_empty())?;
            Some((rest.to_vec().into(), entry.clone()))
        });
        State {
            entries: entries.collect(),
        }
    }

    /// Puts an entry at a path, and gives what was there.
    pub fn insert(&mut self, path: impl Into<Path>, entry: Entry) -> Option<Entry> {
        self.entries.insert(path.into(), entry)
    }

    /// Each filter's part, which together must be everything.
    ///
    /// # Errors
    /// When something is selected by no filter, or `..` is not the last one.
    pub fn split<F: Filters>(&self, filters: F) -> Result<F::States> {
        let (states, rest) = self.parts(filters.filters())?;
        if rest.is_empty() {
            return Ok(F::states(states));
        }
        Err(Error::new(
            ErrorKind::Structure,
            format!(
                "the filters leave a remainder: {}",
                crate::print::flat_state(&rest)
            ),
        )
        .in_operation("split")
        .note("`..` as the last filter selects all that remains"))
    }

    /// Each filter's part; what none selects is left out.
    ///
    /// # Errors
    /// When `..` is not the last filter.
    pub fn filter<F: Filters>(&self, filters: F) -> Result<F::States> {
        Ok(F::states(self.parts(filters.filters())?.0))
    }

    fn parts(&self, filters: Vec<Filter>) -> Result<(Vec<State>, State)> {
        let early = filters
            .iter()
            .position(|filter| matches!(filter, Filter::Everything));
        if let Some(place) = early.filter(|place| place + 1 < filters.len()) {
            return Err(Error::parameter(format!(
                "`..` can only be the last filter, and stands at index {place} of {}",
                filters.len()
            ))
            .in_operation("split"));
        }
        let (mut states, mut rest) = (vec![State::default(); filters.len()], State::default());
        for (path, entry) in &self.entries {
            let place = filters
                .iter()
                .position(|filter| filter.selects(path, entry));
            let state = place.map_or(&mut rest, |place| &mut states[place]);
            state.entries.insert(path.clone(), entry.clone());
        }
        Ok((states, rest))
    }

    /// The state with `f` of each array.
    #[must_use]
    pub fn map(&self, mut f: impl FnMut(&Path, &Array) -> Array) -> State {
        let mut state = self.clone();
        for (path, entry) in &mut state.entries {
            match entry {
                Entry::Array { array, .. }
                | Entry::Variable {
                    value: Value::Array(array),
                    ..
                } => {
                    *array = f(path, array);
                }
                Entry::Variable {
                    value: Value::Tuple(arrays),
                    ..
                } => {
                    arrays.iter_mut().for_each(|array| *array = f(path, array));
                }
                Entry::Variable {
                    value: Value::Absent,
                    ..
                } => {}
            }
        }
        state
    }

    fn to_tree(&self) -> Tree<Array> {
        level(
            &self
                .entries
                .iter()
                .map(|(path, entry)| (&path[..], entry))
                .collect::<Vec<_>>(),
        )
    }
}

fn dynamic(name: &'static str, keys: ChildKeys, shape: Option<EntryShape>) -> Head {
    let ty = NodeType::dynamic(name, "jaxide_nnx", NodeStyle::Custom, keys);
    Head::dynamic(ty, shape.iter().map(StaticValue::to_shared).collect())
}

/// The tree of entries that have a common beginning of their paths, without it.
fn level(entries: &[(&[Key], &Entry)]) -> Tree<Array> {
    let (mut keys, mut children) = (Vec::new(), Vec::new());
    for group in entries.chunk_by(|(a, _), (b, _)| a.first() == b.first()) {
        let Some(((first, rest), entry)) = group
            .first()
            .and_then(|(path, entry)| Some((path.split_first()?, *entry)))
        else {
            continue;
        };
        keys.push(match first {
            Key::Index(index) => tree::Key::Int(*index as i128),
            Key::Name(name) => tree::Key::from(name.to_string()),
        });
        children.push(if rest.is_empty() {
            let leaves = entry.arrays().iter().cloned().map(Tree::Leaf);
            let shape = entry.shape();
            match (&shape, entry.kind()) {
                (EntryShape::Variable(_, _, Form::Tuple(_)), Some(kind)) => Tree::node(
                    dynamic(
                        kind.name(),
                        ChildKeys::Attrs(vec!["value".into()].into()),
                        Some(shape),
                    ),
                    [Tree::tuple(leaves)],
                ),
                (_, Some(kind)) => Tree::node(
                    dynamic(
                        kind.name(),
                        ChildKeys::Attrs(vec!["value".into()].into()),
                        Some(shape),
                    ),
                    leaves,
                ),
                (_, None) => Tree::node(
                    dynamic(
                        "Data",
                        ChildKeys::Attrs(vec!["value".into()].into()),
                        Some(shape),
                    ),
                    leaves,
                ),
            }
        } else {
            let inner: Vec<_> = group
                .iter()
                .map(|(path, entry)| (&path[1..], *entry))
                .collect();
            level(&inner)
        });
    }
    Tree::node(
        dynamic("State", ChildKeys::Items(keys.into()), None),
        children,
    )
}

fn collect(tree: &Tree<Array>, path: &mut Path, into: &mut State) {
    let Some(node) = tree.as_node() else { return };
    let shape = match node.head() {
        Head::Struct(head) => head.statics().first(),
        _ => None,
    };
    let leaves = || tree.leaves().into_iter().cloned();
    match shape.and_then(|shape| (**shape).as_any().downcast_ref::<EntryShape>()) {
        Some(EntryShape::Array(number)) => {
            let arrays = leaves().map(|array| Entry::Array {
                array,
                number: *number,
            });
            into.entries
                .extend(arrays.map(|entry| (path.clone(), entry)));
        }
        Some(EntryShape::Variable(kind, metadata, form)) => {
            let entry = Entry::Variable {
                kind: *kind,
                metadata: metadata.clone(),
                value: form.fill(&mut leaves()),
            };
            into.entries.insert(path.clone(), entry);
        }
        None => {
            for (key, child) in node.entries() {
                path.push(Key::from(&key));
                collect(child, path, into);
                path.pop();
            }
        }
    }
}

impl Pytree<Array> for State {
    fn visit<'a, V: Visitor<'a, Array>>(&'a self, visitor: &mut V)
    where
        Array: 'a,
    {
        emit(&self.to_tree(), visitor);
    }

    fn unflatten<I: Iterator<Item = Array>>(
        from: &mut Unflatten<'_, I>,
    ) -> std::result::Result<Self, StructureError> {
        let tree = Tree::<Array>::unflatten(from)?;
        if tree.head().is_none_or(|head| head.type_name() != "State") {
            let got = tree
                .head()
                .map_or("a leaf".to_owned(), |head| head.type_name().to_owned());
            let kind = StructureErrorKind::Value {
                expected: "State".to_owned(),
                got,
            };
            return Err(StructureError::new(kind, tree::KeyPath::root()));
        }
        let mut state = State::default();
        collect(&tree, &mut Path::root(), &mut state);
        Ok(state)
    }
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&crate::print::state(self))
    }
}

impl fmt::Debug for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&crate::print::state(self))
    }
}

/// A state, or several that are parts of one.
pub trait IntoState {
    /// The parts together.
    ///
    /// # Errors
    /// When two parts have an entry at the same path.
    fn into_state(self) -> Result<State>;
}

impl IntoState for State {
    fn into_state(self) -> Result<State> {
        Ok(self)
    }
}

impl IntoState for &State {
    fn into_state(self) -> Result<State> {
        Ok(self.clone())
    }
}

impl IntoState for Vec<State> {
    fn into_state(self) -> Result<State> {
        let mut whole = State::default();
        for (path, entry) in self.into_iter().flat_map(|state| state.entries) {
            if whole.entries.contains_key(&path) {
                return Err(Error::new(
                    ErrorKind::Structure,
                    "two states have an entry at the same path",
                )
                .at_path(path.to_string()));
            }
            whole.entries.insert(path, entry);
        }
        Ok(whole)
    }
}

macro_rules! tuples {
    ($(($($state:ident)+))*) => { $(
        impl<$($state: IntoState),+> IntoState for ($($state,)+) {
            #[allow(non_snake_case)]
            fn into_state(self) -> Result<State> {
                let ($($state,)+) = self;
                vec![$($state.into_state()?),+].into_state()
            }
        }
    )* };
}

tuples! {
    (A)
    (A B)
    (A B C)
    (A B C D)
    (A B C D E)
    (A B C D E F)
}
