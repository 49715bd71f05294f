//! Objects whose attributes are named at run time.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use jaxide::core::ErrorKind;
use jaxide::{Array, Error, Result};

use crate::attr::{Attr, Status};
use crate::graph::{Def, Flatten, LeafContent, Rebuild, Style};
use crate::{Attribute, Key, RngStream, Rngs};

/// A node of a graph whose attributes are named and typed at run time, with the rules that Flax's `Pytree` has: whether an attribute is
/// data follows from the first value, unless a value is marked, and data hidden in static attributes is a mistake.
///
/// Clones are the same object. An object may contain itself.
///
/// ```
/// use jaxide_nnx::{self as nnx, Attr, Object};
/// use jaxide::Array;
/// let object = Object::new("Model", |object| {
///     object.set("weights", Array::from([1.0f32]))?;
///     object.set("name", "first")
/// })?;
/// assert_eq!(nnx::state(&object, ..)?.len(), 1);
/// let error = object.set("name", Array::from(1.0f32)).unwrap_err();
/// assert!(error.message().contains("static attribute 'name'"));
/// # Ok::<(), nnx::Error>(())
/// ```
#[derive(Clone)]
pub struct Object(Arc<Shared>);

struct Shared {
    name: String,
    attributes: Mutex<BTreeMap<String, (Status, Attr)>>,
}

impl Object {
    /// An object of the type `name`, whose attributes `build` sets. Afterwards no static attribute may contain data.
    ///
    /// # Errors
    /// Those of `build`, and when a static attribute contains data afterwards.
    pub fn new(name: impl Into<String>, build: impl FnOnce(&Object) -> Result<()>) -> Result<Self> {
        let object = Object(Arc::new(Shared {
            name: name.into(),
            attributes: Mutex::default(),
        }));
        build(&object)?;
        object.check()?;
        Ok(object)
    }

    fn attributes(&self) -> MutexGuard<'_, BTreeMap<String, (Status, Attr)>> {
        self.0
            .attributes
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// The name of its type.
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// The value of an attribute.
    pub fn get(&self, name: &str) -> Option<Attr> {
        self.attributes().get(name).map(|(_, value)| value.clone())
    }

    /// Sets an attribute.
    ///
    /// # Errors
    /// When data is assigned to a static attribute or hidden in a static value, or a mark stands inside of a value.
    pub fn set(&self, name: &str, value: impl Into<Attr>) -> Result<()> {
        let value = value.into();
        let (mark, value) = match value {
            Attr::Marked(status, value) => (Some(status), *value),
            value => (None, value),
        };
        let before = self.attributes().get(name).map(|(status, _)| *status);
        let ty = value.type_name();
        if value.has_mark() || matches!(value, Attr::Marked(..)) {
            return Err(self.mistake(
                name,
                format!(
                    "a marked value stands inside of the {ty} for attribute '{name}' of {}",
                    self.name()
                ),
                "mark the attribute as a whole: `data(..)` or `stat(..)` of what is assigned",
            ));
        }
        let status = match (mark, before) {
            (Some(Status::Static), _) if value.has_data() => {
                return Err(self.mistake(
                    name,
                    format!(
                        "data in a {ty} that is marked as static, for attribute '{name}' of {}",
                        self.name()
                    ),
                    "mark it as data, or leave the mark out",
                ));
            }
            (Some(status), _) => status,
            (None, Some(Status::Static)) if value.is_data() => {
                return Err(self.mistake(
                    name,
                    format!(
                        "data of type {ty} is assigned to static attribute '{name}' of {}",
                        self.name()
                    ),
                    "mark the value to make the attribute data: `data(..)`",
                ));
            }
            (None, Some(Status::Data)) => Status::Data,
            (None, _) if value.is_data() => Status::Data,
            (None, _) if value.has_data() => {
                return Err(self.mistake(
                    name,
                    format!("data in a {ty} is assigned to static attribute '{name}' of {}", self.name()),
                    "mark the value as data: `data(..)`; or use `Attr::Modules` and `Attr::ModuleDict`",
                ));
            }
            (None, _) => Status::Static,
        };
        self.attributes().insert(name.to_owned(), (status, value));
        Ok(())
    }

    /// Changes the value of an attribute in its place, as a list that is appended to.
    ///
    /// # Errors
    /// When there is no such attribute. That a static one has no data is looked at when the object is complete, and when it is
    /// [`check`](Object::check)ed.
    pub fn change(&self, name: &str, change: impl FnOnce(&mut Attr)) -> Result<()> {
        match self.attributes().get_mut(name) {
            Some((_, value)) => {
                change(value);
                Ok(())
            }
            None => Err(self.mistake(
                name,
                format!("{} has no attribute '{name}'", self.name()),
                "`set` makes one",
            )),
        }
    }

    /// Looks whether static attributes have no data.
    ///
    /// # Errors
    /// When one has; the error names it.
    pub fn check(&self) -> Result<()> {
        let attributes = self.attributes();
        match attributes
            .iter()
            .find(|(_, (status, value))| *status == Status::Static && value.has_data())
        {
            Some((name, (_, value))) => Err(self.mistake(
                name,
                format!(
                    "data was put into the {} of static attribute '{name}' of {}",
                    value.type_name(),
                    self.name()
                ),
                "mark the attribute as data when it is first assigned: `data(..)`",
            )),
            None => Ok(()),
        }
    }

    fn mistake(&self, name: &str, message: String, note: &str) -> Error {
        Error::new(ErrorKind::Structure, message)
            .at_path(name.to_owned())
            .note(note)
    }
}

impl fmt::Debug for Object {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}(..)", self.name())
    }
}

impl Attribute for Object {
    const DATA: bool = true;

    fn flatten(&self, to: &mut Flatten) {
        let attributes = self.attributes().clone();
        let keys = attributes.keys().cloned().map(Key::from).collect();
        if !to.object(
            Arc::as_ptr(&self.0).addr(),
            self.name().to_owned().into(),
            keys,
        ) {
            return;
        }
        for (name, (status, value)) in attributes {
            to.within(Key::from(name), |to| flatten(&value, status, to));
        }
    }

    fn rebuild(from: &mut Rebuild<'_>) -> Result<Self> {
        match rebuild(from)?.0 {
            Attr::Object(object) => Ok(object),
            _ => Err(from.mistake("an object")),
        }
    }
}

/// Writes a value of an attribute.
fn flatten(value: &Attr, status: Status, to: &mut Flatten) {
    match value {
        Attr::None if status == Status::Data => to.none(),
        Attr::Array(array) => to.array(array),
        Attr::Variable(variable) => to.variable(variable),
        Attr::Object(object) => object.flatten(to),
        Attr::Rngs(rngs) => rngs.flatten(to),
        Attr::Modules(items) => {
            to.node(
                "List",
                Style::List,
                (0..items.len()).map(Key::Index).collect(),
            );
            for (place, item) in items.iter().enumerate() {
                to.within(Key::Index(place), |to| flatten(item, item_status(item), to));
            }
        }
        Attr::ModuleDict(items) => {
            to.node(
                "Dict",
                Style::Dict,
                items.keys().cloned().map(Key::from).collect(),
            );
            for (key, item) in items {
                to.within(Key::from(key.clone()), |to| {
                    flatten(item, item_status(item), to)
                });
            }
        }
        Attr::Number(number, value) if status == Status::Data => match value.downcast::<i64>() {
            Some(integer) => to.content(LeafContent::Number(Array::from(*integer as i32))),
            None => to.content(LeafContent::Number(Array::from(*number as f32))),
        },
        Attr::List(items) if status == Status::Data => {
            to.node(
                "list",
                Style::Plain,
                (0..items.len()).map(Key::Index).collect(),
            );
            for (place, item) in items.iter().enumerate() {
                to.within(Key::Index(place), |to| flatten(item, status, to));
            }
        }
        Attr::Tuple(items) if status == Status::Data => {
            to.node(
                "tuple",
                Style::Plain,
                (0..items.len()).map(Key::Index).collect(),
            );
            for (place, item) in items.iter().enumerate() {
                to.within(Key::Index(place), |to| flatten(item, status, to));
            }
        }
        Attr::Dict(items) if status == Status::Data => {
            to.node(
                "dict",
                Style::Plain,
                items.keys().cloned().map(Key::from).collect(),
            );
            for (key, item) in items {
                to.within(Key::from(key.clone()), |to| flatten(item, status, to));
            }
        }
        // A text or a flag that is marked as data is a leaf without an array.
        Attr::Static(value) if status == Status::Data => to.static_leaf(value),
        other => to.static_shared(&other.as_static()),
    }
}

fn item_status(item: &Attr) -> Status {
    if item.is_data() {
        Status::Data
    } else {
        Status::Static
    }
}

/// Reads a value of an attribute.
fn rebuild(from: &mut Rebuild<'_>) -> Result<(Attr, Status)> {
    let value = match from.next() {
        Some(Def::None) => {
            from.skip();
            Attr::None
        }
        Some(Def::Static(value)) => {
            from.skip();
            return Ok((Attr::Static(value.clone()), Status::Static));
        }
        Some(Def::Leaf(value)) => {
            from.skip();
            Attr::Static(value.clone())
        }
        Some(Def::Array) => Attr::Array(from.array()?),
        Some(Def::Variable { .. }) => Attr::Variable(from.variable()?),
        Some(Def::Ref(index)) => {
            let object = match from.made(*index) {
                Some(crate::graph::Made::Shared(object)) => {
                    object.clone().downcast::<Object>().ok()
                }
                Some(crate::graph::Made::Variable(_) | crate::graph::Made::Open) | None => None,
            };
            match object {
                Some(object) => {
                    from.skip();
                    Attr::Object(Object::clone(&object))
                }
                None => Attr::Variable(from.variable()?),
            }
        }
        Some(Def::Node(node)) => match (node.style, &*node.name) {
            (Style::Object, "Rngs") => Attr::Rngs(Rngs::rebuild(from)?),
            (Style::Object, "RngStream") => {
                let stream = RngStream::rebuild(from)?;
                Attr::Modules(vec![
                    stream.key().clone().into(),
                    stream.count().clone().into(),
                ])
            }
            (Style::Object, _) => {
                from.skip();
                let object = Object(Arc::new(Shared {
                    name: node.name.to_string(),
                    attributes: Mutex::default(),
                }));
                if let Some(index) = node.index {
                    from.make(index, crate::graph::Made::Shared(Arc::new(object.clone())));
                }
                for key in node.keys.iter() {
                    let (value, status) = from.within(key.clone(), rebuild)?;
                    object.attributes().insert(key.to_string(), (status, value));
                }
                Attr::Object(object)
            }
            (style, name) => {
                from.skip();
                let mut items = Vec::new();
                for key in node.keys.iter() {
                    items.push((key.to_string(), from.within(key.clone(), rebuild)?.0));
                }
                let values =
                    |items: Vec<(String, Attr)>| items.into_iter().map(|(_, item)| item).collect();
                match (style, name) {
                    (Style::List, _) => Attr::Modules(values(items)),
                    (Style::Plain, "list") => Attr::List(values(items)),
                    (Style::Plain, "tuple") => Attr::Tuple(values(items)),
                    (Style::Plain, _) => Attr::Dict(items.into_iter().collect()),
                    (Style::Dict | Style::Module | Style::Object, _) => {
                        Attr::ModuleDict(items.into_iter().collect())
                    }
                }
            }
        },
        Some(Def::Shared(_) | Def::Any(_) | Def::Data(_)) | None => {
            return Err(from.mistake("a value of an object"));
        }
    };
    Ok((value, Status::Data))
}

crate::node_types! {
    [] Object;
}
