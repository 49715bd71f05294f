//! Modules as pytrees, for the transformations of `jaxide`.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::{HashMap, VecDeque};
use std::ops::Range;

use jaxide::core::ErrorKind;
use jaxide::tree::{
    self, ChildKeys, Head, NodeStyle, NodeType, Pytree, StaticValue, StructureError,
    StructureErrorKind, Tree, Unflatten, Visitor,
};
use jaxide::{Array, Error, Result};

use super::rebuild::{Leaves, Made};
use super::{Def, Flatten, LeafContent, NodeDef, Rebuild, Style};
use crate::state::Entry;
use crate::variable::{AnyVariable, Form, Value};
use crate::{Attribute, Key, Path};

thread_local! {
    static SESSION: RefCell<Option<Session>> = const { RefCell::new(None) };
}

/// What several modules share that are flattened, or rebuilt, together: a variable that stands in two of them is one.
#[derive(Default)]
pub(crate) struct Session {
    seen: HashMap<usize, usize>,
    places: Vec<Vec<Path>>,
    made: HashMap<usize, Made>,
    /// The variables met, in order, with their numbers and paths.
    variables: Vec<Met>,
}

/// A variable met in a session.
#[derive(Clone)]
pub(crate) struct Met {
    pub(crate) index: usize,
    pub(crate) path: Path,
    pub(crate) variable: AnyVariable,
}

impl Session {
    /// Runs `f`, which flattens or rebuilds, and gives the variables that it met.
    pub(crate) fn run<T>(f: impl FnOnce() -> T) -> (T, Vec<Met>) {
        Session::default().around(f)
    }

    /// Runs `f`, which flattens or rebuilds what may hold variables that are known by their numbers: flattened, they become
    /// references; rebuilt, these become the variables.
    pub(crate) fn knowing<T>(known: &[Met], f: impl FnOnce() -> T) -> T {
        let numbers = known.iter().map(|met| met.index + 1).max().unwrap_or(0);
        let session = Session {
            seen: known
                .iter()
                .map(|met| (met.variable.address(), met.index))
                .collect(),
            places: vec![Vec::new(); numbers],
            made: known
                .iter()
                .map(|met| (met.index, Made::Variable(met.variable.clone())))
                .collect(),
            variables: Vec::new(),
        };
        session.around(f).0
    }

    fn around<T>(self, f: impl FnOnce() -> T) -> (T, Vec<Met>) {
        /// Gives the thread the session before back, after a panic too.
        struct Restore(Option<Session>);
        impl Drop for Restore {
            fn drop(&mut self) {
                SESSION.set(self.0.take());
            }
        }
        let restore = Restore(SESSION.replace(Some(self)));
        let value = f();
        let session = SESSION.take().unwrap_or_default();
        drop(restore);
        (value, session.variables)
    }
}

/// What a node of a pytree is in the graph.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Shape {
    /// An inner node with what stands in front of it, and its static attributes.
    Node(Vec<Def>, NodeDef, Vec<Option<Def>>),
    Variable(Def, Form),
    Mark(Def),
}

fn head(name: impl Into<Cow<'static, str>>, children: ChildKeys, shape: Shape) -> Head {
    let ty = NodeType::dynamic(name, "jaxide_nnx", NodeStyle::Custom, children);
    Head::dynamic(ty, vec![shape.to_shared()])
}

fn named(names: Vec<Cow<'static, str>>) -> ChildKeys {
    ChildKeys::Attrs(names.into())
}

/// [`Pytree::visit`] of a module.
pub fn visit<'a, M: Attribute, V: Visitor<'a, Array>>(module: &M, visitor: &mut V) {
    let mut flat = Flatten::default();
    SESSION.with_borrow_mut(|session| {
        if let Some(session) = session {
            flat.seen = std::mem::take(&mut session.seen);
            flat.places = std::mem::take(&mut session.places);
        }
    });
    module.flatten(&mut flat);
    let mut leaves: VecDeque<LeafContent> = flat
        .leaves
        .iter()
        .map(|leaf| leaf.content.clone())
        .collect();
    let tree = to_tree(&mut flat.defs.iter(), &mut leaves);
    SESSION.with_borrow_mut(|session| {
        if let Some(session) = session {
            let indices = flat.defs.iter().filter_map(|def| match def {
                Def::Variable { index, .. } => Some(*index),
                _ => None,
            });
            let variables = flat.leaves.iter().filter_map(|leaf| match &leaf.content {
                LeafContent::Variable(variable) => Some((leaf.path.clone(), variable.clone())),
                LeafContent::Array(_) | LeafContent::Number(_) => None,
            });
            session
                .variables
                .extend(indices.zip(variables).map(|(index, (path, variable))| Met {
                    index,
                    path,
                    variable,
                }));
            session.seen = std::mem::take(&mut flat.seen);
            session.places = std::mem::take(&mut flat.places);
        }
    });
    emit(&tree, visitor);
}

/// Reports a tree to a visitor that may outlive it.
pub(crate) fn emit<'a, V: Visitor<'a, Array>>(tree: &Tree<Array>, visitor: &mut V) {
    match tree {
        Tree::Leaf(array) => visitor.made_leaf(array.clone()),
        Tree::Node(node) => {
            visitor.head(node.head(), node.children().len());
            node.children()
                .iter()
                .for_each(|child| emit(child, visitor));
        }
    }
}

/// The tree of a flattened graph.
fn to_tree(
    defs: &mut std::slice::Iter<'_, Def>,
    leaves: &mut VecDeque<LeafContent>,
) -> Tree<Array> {
    let Some(def) = defs.next() else {
        return Tree::none();
    };
    let mut next_array = || match leaves.pop_front() {
        Some(LeafContent::Array(array) | LeafContent::Number(array)) => array,
        Some(LeafContent::Variable(_)) | None => jaxide::raise(Error::new(
            ErrorKind::Internal,
            "a graph has other leaves than its definition says",
        )),
    };
    match def {
        Def::Array => Tree::Leaf(next_array()),
        Def::Data(treedef) => {
            let arrays: Vec<Array> = (0..treedef.num_leaves()).map(|_| next_array()).collect();
            match treedef.unflatten(arrays) {
                Ok(tree) => tree,
                Err(error) => jaxide::raise(Error::from(error)),
            }
        }
        Def::Variable { kind, .. } => {
            let value = match leaves.pop_front() {
                Some(LeafContent::Variable(variable)) => variable.value(),
                Some(LeafContent::Array(_) | LeafContent::Number(_)) | None => Value::Absent,
            };
            let shape = Shape::Variable(def.clone(), value.form());
            let child = match value {
                Value::Absent => Tree::none(),
                Value::Array(array) => Tree::Leaf(array),
                Value::Tuple(arrays) => Tree::tuple(arrays.into_iter().map(Tree::Leaf)),
            };
            Tree::node(
                head(kind.name(), named(vec!["value".into()]), shape),
                [child],
            )
        }
        Def::Node(node) => {
            let (mut fixed, mut names, mut children) = (Vec::new(), Vec::new(), Vec::new());
            for key in node.keys.iter() {
                if let Some(def @ Def::Static(_)) = defs.as_slice().first() {
                    fixed.push(Some(def.clone()));
                    defs.next();
                } else {
                    fixed.push(None);
                    names.push(key.clone());
                    children.push(to_tree(defs, leaves));
                }
            }
            let keys = match node.style {
                Style::List | Style::Plain => {
                    ChildKeys::Items(names.iter().map(entry_key).collect::<Vec<_>>().into())
                }
                Style::Module | Style::Object | Style::Dict => named(
                    names
                        .iter()
                        .map(|key| Cow::Owned(key.to_string()))
                        .collect(),
                ),
            };
            Tree::node(
                head(
                    node.name.clone(),
                    keys,
                    Shape::Node(Vec::new(), node.clone(), fixed),
                ),
                children,
            )
        }
        Def::Shared(_) | Def::Any(_) => {
            let child = to_tree(defs, leaves);
            // What a node is behind is a mark on it, so that paths do not see it.
            if let (Some(Shape::Node(front, node, fixed)), Some(Head::Struct(head))) =
                (shape_of(&child), child.head())
            {
                let front = [std::slice::from_ref(def), front].concat();
                let keys = head.node_type().children().clone();
                let head = self::head(
                    node.name.clone(),
                    keys,
                    Shape::Node(front, node.clone(), fixed.clone()),
                );
                return Tree::node(head, child.children().iter().cloned());
            }
            let ty = NodeType::dynamic("Shared", "jaxide_nnx", NodeStyle::Custom, ChildKeys::Flat);
            Tree::node(
                Head::dynamic(ty, vec![Shape::Mark(def.clone()).to_shared()]),
                [child],
            )
        }
        Def::Leaf(_) => Tree::node(
            head("Leaf", named(Vec::new()), Shape::Mark(def.clone())),
            [],
        ),
        Def::Ref(_) | Def::Static(_) | Def::None => Tree::node(
            head("Fixed", named(Vec::new()), Shape::Mark(def.clone())),
            [],
        ),
    }
}

/// A key as that of a map.
fn entry_key(key: &Key) -> tree::Key {
    match key {
        Key::Index(index) => tree::Key::Int(*index as i128),
        Key::Name(name) => tree::Key::from(name.to_string()),
    }
}

/// The graph of a tree that [`to_tree`] made, perhaps with other leaves.
fn from_tree(tree: &Tree<Array>, defs: &mut Vec<Def>, leaves: &mut VecDeque<Value>) {
    match (shape_of(tree), tree) {
        (Some(Shape::Node(front, node, fixed)), Tree::Node(_)) => {
            defs.extend_from_slice(front);
            defs.push(Def::Node(node.clone()));
            let mut children = tree.children().iter();
            for def in fixed {
                match def {
                    Some(def) => defs.push(def.clone()),
                    None => {
                        if let Some(child) = children.next() {
                            from_tree(child, defs, leaves);
                        }
                    }
                }
            }
        }
        (Some(Shape::Variable(def, form)), Tree::Node(node)) => {
            defs.push(def.clone());
            let arrays = node.children().iter().flat_map(Tree::leaves).cloned();
            if *form != Form::Absent {
                leaves.push_back(form.fill(&mut arrays.into_iter()));
            }
        }
        (Some(Shape::Mark(def)), Tree::Node(node)) => {
            defs.push(def.clone());
            node.children()
                .iter()
                .for_each(|child| from_tree(child, defs, leaves));
        }
        (_, Tree::Leaf(array)) => {
            defs.push(Def::Array);
            leaves.push_back(Value::Array(array.clone()));
        }
        (None, Tree::Node(_)) => {
            defs.push(Def::Data(tree.structure()));
            leaves.extend(tree.leaves().into_iter().cloned().map(Value::Array));
        }
    }
}

/// An entry of a tree of modules and arrays: where it is, the entry, and its leaves' numbers.
pub(crate) struct Located {
    pub(crate) path: Path,
    pub(crate) entry: Entry,
    pub(crate) leaves: Range<usize>,
}

/// The entries of a tree, in the order of its leaves, which are numbered from `first`.
pub(crate) fn entries(tree: &Tree<Array>, first: usize) -> Vec<Located> {
    fn walk(tree: &Tree<Array>, path: &mut Path, first: &mut usize, found: &mut Vec<Located>) {
        let count = match tree {
            Tree::Leaf(_) => 1,
            Tree::Node(_) => tree.leaves().len(),
        };
        let entry = match (shape_of(tree), tree) {
            (Some(Shape::Variable(Def::Variable { kind, metadata, .. }, form)), _) => {
                Some(Entry::Variable {
                    kind: *kind,
                    metadata: metadata.clone(),
                    value: form.fill(&mut tree.leaves().into_iter().cloned()),
                })
            }
            (_, Tree::Leaf(array)) => Some(Entry::Array {
                array: array.clone(),
                number: false,
            }),
            (_, Tree::Node(_)) => None,
        };
        match (entry, tree) {
            (Some(entry), _) => {
                if count > 0 {
                    found.push(Located {
                        path: path.clone(),
                        entry,
                        leaves: *first..*first + count,
                    });
                }
                *first += count;
            }
            (None, Tree::Node(node)) => {
                let transparent = matches!(shape_of(tree), Some(Shape::Mark(_)));
                for (key, child) in node.entries() {
                    if !transparent {
                        path.push(Key::from(&key));
                    }
                    walk(child, path, first, found);
                    if !transparent {
                        path.pop();
                    }
                }
            }
            (None, Tree::Leaf(_)) => {}
        }
    }
    let mut found = Vec::new();
    walk(tree, &mut Path::root(), &mut { first }, &mut found);
    found
}

fn shape_of(tree: &Tree<Array>) -> Option<&Shape> {
    match tree.head() {
        Some(Head::Struct(head)) => head
            .statics()
            .first()
            .and_then(|value| (**value).as_any().downcast_ref::<Shape>()),
        _ => None,
    }
}

/// Leaves in the order of the graph.
struct InOrder(VecDeque<Value>);

impl InOrder {
    fn next(&mut self, path: &Path) -> Result<Value> {
        self.0.pop_front().ok_or_else(|| {
            Error::new(ErrorKind::Structure, "there is no such leaf").at_path(path.to_string())
        })
    }
}

impl Leaves for InOrder {
    fn variable(&mut self, path: &Path) -> Result<Value> {
        self.next(path)
    }

    fn array(&mut self, path: &Path) -> Result<Array> {
        match self.next(path)? {
            Value::Array(array) => Ok(array),
            Value::Absent | Value::Tuple(_) => {
                Err(Error::new(ErrorKind::Structure, "an array is needed")
                    .at_path(path.to_string()))
            }
        }
    }
}

/// [`Pytree::unflatten`] of a module.
///
/// # Errors
/// When the structure is not that of a module of this type.
pub fn unflatten<M: Attribute, I: Iterator<Item = Array>>(
    from: &mut Unflatten<'_, I>,
) -> std::result::Result<M, StructureError> {
    let tree = Tree::<Array>::unflatten(from)?;
    let (mut defs, mut leaves) = (Vec::new(), VecDeque::new());
    from_tree(&tree, &mut defs, &mut leaves);
    let mut made = SESSION.with_borrow_mut(|session| {
        session
            .as_mut()
            .map(|session| std::mem::take(&mut session.made))
            .unwrap_or_default()
    });
    let before: Vec<usize> = made.keys().copied().collect();
    let module = Rebuild::whole(&defs, &mut InOrder(leaves), &mut made);
    SESSION.with_borrow_mut(|session| {
        if let Some(session) = session {
            let mut met: Vec<Met> = made
                .iter()
                .filter(|(index, _)| !before.contains(index))
                .filter_map(|(index, made)| match made {
                    Made::Variable(variable) => Some(Met {
                        index: *index,
                        path: Path::root(),
                        variable: variable.clone(),
                    }),
                    Made::Shared(_) | Made::Open => None,
                })
                .collect();
            met.sort_by_key(|met| met.index);
            session.variables.extend(met);
            session.made = made;
        }
    });
    module.map_err(|error| {
        let kind = StructureErrorKind::Value {
            expected: std::any::type_name::<M>()
                .rsplit("::")
                .next()
                .unwrap_or("a module")
                .to_owned(),
            got: match error.path() {
                Some(path) => format!("{} (at {path})", error.message()),
                None => error.message().to_owned(),
            },
        };
        StructureError::new(kind, tree::KeyPath::root())
    })
}
