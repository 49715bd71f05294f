//! From modules to graph definitions and leaves.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use jaxide::core::ErrorKind;
use jaxide::tree::{self, LeafRef, Pytree, StaticValue};
use jaxide::{Array, Error, Result};

use super::{Attributes, Def, GraphDef, NodeDef, Static, Style};
use crate::attribute::Switch;
use crate::layers::RebuildAny;
use crate::observe::{Place, place};
use crate::variable::{AnyVariable, Value};
use crate::{Attribute, Key, Path};

/// What a graph is flattened into; [`Attribute::flatten`] writes to it, each attribute exactly one value.
#[derive(Default)]
pub struct Flatten {
    pub(crate) defs: Vec<Def>,
    pub(crate) leaves: Vec<GraphLeaf>,
    /// Numbers of what was met, by address.
    pub(crate) seen: HashMap<usize, usize>,
    /// Where what has a number was met, the first time first.
    pub(crate) places: Vec<Vec<Path>>,
    /// Shared modules that are not finished.
    open: Vec<usize>,
    pub(crate) switches: Vec<(Path, Switch)>,
    path: Path,
    /// The first cycle that cannot be rebuilt.
    cycle: Option<Error>,
    /// The paths of modules by where they stand, for who looks at calls.
    modules: Option<HashMap<Place, Path>>,
}

/// A leaf of a graph: a variable, or an array that is an attribute by itself.
#[derive(Clone)]
pub(crate) struct GraphLeaf {
    pub(crate) path: Path,
    pub(crate) content: LeafContent,
}

#[derive(Clone)]
pub(crate) enum LeafContent {
    Variable(AnyVariable),
    Array(Array),
    /// A number of the program as data.
    Number(Array),
}

impl Flatten {
    /// Flattens a module.
    pub(crate) fn of(module: &impl Attribute) -> Self {
        let mut to = Flatten::default();
        module.flatten(&mut to);
        to
    }

    /// The paths of all modules of a module, by where they stand.
    pub(crate) fn places(module: &impl Attribute) -> HashMap<Place, Path> {
        let mut to = Flatten {
            modules: Some(HashMap::new()),
            ..Flatten::default()
        };
        module.flatten(&mut to);
        to.modules.unwrap_or_default()
    }

    /// Flattens a module whose definition is to be rebuilt.
    pub(crate) fn checked(module: &impl Attribute) -> Result<Self> {
        let flat = Flatten::of(module);
        match flat.cycle {
            Some(error) => Err(error),
            None => Ok(flat),
        }
    }

    pub(crate) fn graph_def(&self) -> GraphDef {
        GraphDef(self.defs.clone().into())
    }

    /// Where the graph is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Begins a derived module; its attributes follow in the order of `shape.keys`.
    pub fn module<M>(&mut self, module: &M, shape: &'static Attributes) {
        if let Some(modules) = &mut self.modules {
            modules
                .entry(place(module))
                .or_insert_with(|| self.path.clone());
        }
        let keys: Arc<[Key]> = shape.keys.iter().map(|&key| Key::from(key)).collect();
        self.defs.push(Def::Node(NodeDef {
            name: Cow::Borrowed(shape.name),
            style: Style::Module,
            keys,
            declared: shape.declared,
            index: None,
        }));
    }

    /// Begins a container with these keys; its attributes follow in their order.
    pub fn node(&mut self, name: impl Into<Cow<'static, str>>, style: Style, keys: Vec<Key>) {
        self.defs.push(Def::Node(NodeDef {
            name: name.into(),
            style,
            keys: keys.into(),
            declared: &[],
            index: None,
        }));
    }

    /// The order in which the attributes of the node that was just begun are printed: places in its keys.
    pub(crate) fn declared(&mut self, places: &'static [usize]) {
        if let Some(Def::Node(node)) = self.defs.last_mut() {
            node.declared = places;
        }
    }

    /// An attribute of the node that was begun last and is not complete.
    pub fn attribute<T: Attribute>(&mut self, key: impl Into<Key>, value: &T) {
        self.within(key.into(), |to| value.flatten(to));
    }

    /// An attribute that is a pytree of arrays.
    pub fn data<T: Pytree<Array>>(&mut self, key: impl Into<Key>, value: &T) {
        self.within(key.into(), |to| {
            let treedef = tree::structure::<Array, T>(value);
            for (leaf, path) in tree::leaf_refs::<Array, T>(value)
                .into_iter()
                .zip(treedef.key_paths())
            {
                let keys = to.path.iter().cloned().chain(path.iter().map(Key::from));
                to.leaves.push(GraphLeaf {
                    path: keys.collect(),
                    content: match leaf {
                        LeafRef::Borrowed(array) => LeafContent::Array(array.clone()),
                        LeafRef::Made(number) => LeafContent::Number(number),
                    },
                });
            }
            to.defs.push(if treedef.is_strict_leaf() {
                Def::Array
            } else {
                Def::Data(treedef)
            });
        });
    }

    /// An attribute that is part of the graph definition, whatever its type.
    pub fn fixed<T: StaticValue + Clone + 'static>(&mut self, key: impl Into<Key>, value: &T) {
        self.within(key.into(), |to| to.static_value(value));
    }

    pub(crate) fn within(&mut self, key: Key, f: impl FnOnce(&mut Self)) {
        self.path.push(key);
        f(self);
        self.path.pop();
    }

    /// A static value.
    pub fn static_value<T: StaticValue + Clone + 'static>(&mut self, value: &T) {
        self.defs.push(Def::Static(Static::new(value.clone())));
    }

    /// A leaf that is no array by itself.
    pub(crate) fn content(&mut self, content: LeafContent) {
        self.leaves.push(GraphLeaf {
            path: self.path.clone(),
            content,
        });
        self.defs.push(Def::Array);
    }

    /// A value without an array that is marked as data.
    pub(crate) fn static_leaf(&mut self, value: &Static) {
        self.defs.push(Def::Leaf(value.clone()));
    }

    pub(crate) fn static_shared(&mut self, value: &Static) {
        self.defs.push(Def::Static(value.clone()));
    }

    /// An array that is an attribute by itself.
    pub fn array(&mut self, array: &Array) {
        self.content(LeafContent::Array(array.clone()));
    }

    /// A `None`.
    pub fn none(&mut self) {
        self.defs.push(Def::None);
    }

    /// A variable: where it was met before, a reference.
    pub fn variable(&mut self, variable: &AnyVariable) {
        let Some(index) = self.enter(variable.address()) else {
            return;
        };
        let present = !matches!(variable.value(), Value::Absent);
        self.defs.push(Def::Variable {
            kind: variable.kind(),
            metadata: variable.metadata().clone(),
            index,
            present,
        });
        self.leaves.push(GraphLeaf {
            path: self.path.clone(),
            content: LeafContent::Variable(variable.clone()),
        });
    }

    /// A module behind a shared pointer: where it was met before, a reference.
    pub fn shared<T: Attribute>(&mut self, module: &Arc<T>) {
        let address = Arc::as_ptr(module).addr();
        if let Some(index) = self.enter(address) {
            self.defs.push(Def::Shared(index));
            self.open.push(index);
            module.flatten(self);
            self.open.pop();
        }
    }

    /// An object with identity, which can be part of itself: begins it, unless it was met before.
    pub(crate) fn object(
        &mut self,
        address: usize,
        name: Cow<'static, str>,
        keys: Vec<Key>,
    ) -> bool {
        let Some(index) = self.enter(address) else {
            return false;
        };
        self.defs.push(Def::Node(NodeDef {
            name,
            style: Style::Object,
            keys: keys.into(),
            declared: &[],
            index: Some(index),
        }));
        true
    }

    /// The number of something new, or a reference to what was met before.
    fn enter(&mut self, address: usize) -> Option<usize> {
        match self.seen.get(&address) {
            Some(&index) => {
                if self.open.contains(&index) && self.cycle.is_none() {
                    let first = self.first_place(index).to_string();
                    self.cycle = Some(
                        Error::new(
                            ErrorKind::Structure,
                            format!("a module contains itself: it stands at `{first}` and again inside"),
                        )
                        .at_path(self.path.to_string())
                        .note("an `Object` may contain itself; a module behind an `Arc` must be complete before it is shared"),
                    );
                }
                if let Some(places) = self.places.get_mut(index) {
                    places.push(self.path.clone());
                }
                self.defs.push(Def::Ref(index));
                None
            }
            None => {
                let index = self.places.len();
                self.seen.insert(address, index);
                self.places.push(vec![self.path.clone()]);
                Some(index)
            }
        }
    }

    fn first_place(&self, index: usize) -> Path {
        self.places
            .get(index)
            .and_then(|places| places.first())
            .cloned()
            .unwrap_or_default()
    }

    /// A module whose type is known at run time only follows.
    pub(crate) fn any(&mut self, rebuild: RebuildAny) {
        self.defs.push(Def::Any(rebuild));
    }

    /// A switch, whose state is static.
    pub(crate) fn switch(&mut self, switch: &Switch) {
        self.switches.push((self.path.clone(), switch.clone()));
        self.static_value(&switch.is_on());
    }
}
