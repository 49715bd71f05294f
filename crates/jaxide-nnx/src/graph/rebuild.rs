//! From graph definitions and leaves to modules.

use std::any::Any;
use std::collections::HashMap;
use std::sync::Arc;

use jaxide::core::ErrorKind;
use jaxide::tree::{Pytree, StaticValue, TreeDef};
use jaxide::{Array, Error, Result};

use super::{Attributes, Def, NodeDef, Style};
use crate::variable::{AnyVariable, Value};
use crate::{Attribute, Key, Path};

/// Where the leaves of a rebuilt graph come from.
pub(crate) trait Leaves {
    /// The value of the variable at `path`.
    fn variable(&mut self, path: &Path) -> Result<Value>;

    /// The array at `path`.
    fn array(&mut self, path: &Path) -> Result<Array>;
}

/// What has been made under a number.
#[derive(Clone)]
pub(crate) enum Made {
    Variable(AnyVariable),
    Shared(Arc<dyn Any + Send + Sync>),
    /// A shared module that is not finished.
    Open,
}

/// What a graph is rebuilt from; [`Attribute::rebuild`] reads from it what [`Attribute::flatten`] wrote.
pub struct Rebuild<'a> {
    defs: &'a [Def],
    at: usize,
    path: Path,
    leaves: &'a mut dyn Leaves,
    pub(crate) made: &'a mut HashMap<usize, Made>,
}

impl<'a> Rebuild<'a> {
    /// Rebuilds a module from a whole definition.
    pub(crate) fn whole<T: Attribute>(
        defs: &'a [Def],
        leaves: &'a mut dyn Leaves,
        made: &'a mut HashMap<usize, Made>,
    ) -> Result<T> {
        let mut from = Rebuild {
            defs,
            at: 0,
            path: Path::root(),
            leaves,
            made,
        };
        let module = T::rebuild(&mut from)?;
        if from.at == defs.len() {
            Ok(module)
        } else {
            Err(from.mistake("the end of the graph"))
        }
    }

    /// Where the graph is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn peek(&self) -> Option<&'a Def> {
        self.defs.get(self.at)
    }

    /// The error of a graph that has something else here than the type needs.
    #[cold]
    pub fn mistake(&self, expected: &str) -> Error {
        let got = match self.peek() {
            None => "nothing".to_owned(),
            Some(Def::Node(node)) => {
                let keys: Vec<String> = node.keys.iter().map(Key::repr).collect();
                format!("{} with the attributes {}", node.name, keys.join(", "))
            }
            Some(Def::Variable { kind, .. }) => crate::variable::described(*kind),
            Some(Def::Shared(_)) => "a shared module".to_owned(),
            Some(Def::Ref(_)) => "something met before".to_owned(),
            Some(Def::Any(_)) => "a module of any type".to_owned(),
            Some(Def::Array) => "an array".to_owned(),
            Some(Def::Data(_)) => "a tree of arrays".to_owned(),
            Some(Def::Static(value)) => format!("the static value {value:?}"),
            Some(Def::Leaf(value)) => format!("the value {value:?}"),
            Some(Def::None) => "None".to_owned(),
        };
        Error::new(
            ErrorKind::Structure,
            format!("the module has {expected} where the graph has {got}"),
        )
        .at_path(self.path.to_string())
    }

    /// Takes the beginning of a derived module.
    ///
    /// # Errors
    /// When the graph has something else.
    pub fn module(&mut self, shape: &'static Attributes) -> Result<()> {
        if let Some(Def::Node(node)) = self.peek()
            && node.style == Style::Module
            && node.name == shape.name
            && node.keys.len() == shape.keys.len()
            && node
                .keys
                .iter()
                .zip(shape.keys)
                .all(|(key, name)| matches!(key, Key::Name(key) if key == name))
        {
            self.at += 1;
            return Ok(());
        }
        let keys: Vec<String> = shape.keys.iter().map(|key| format!("'{key}'")).collect();
        Err(self.mistake(&format!(
            "{} with the attributes {}",
            shape.name,
            keys.join(", ")
        )))
    }

    /// Takes the beginning of a container of this style.
    ///
    /// # Errors
    /// When the graph has something else.
    pub fn node(&mut self, name: &str, style: Style) -> Result<&'a NodeDef> {
        if let Some(Def::Node(node)) = self.peek()
            && node.style == style
        {
            self.at += 1;
            return Ok(node);
        }
        Err(self.mistake(name))
    }

    /// Takes an attribute.
    ///
    /// # Errors
    /// When the graph has something else.
    pub fn attribute<T: Attribute>(&mut self, key: impl Into<Key>) -> Result<T> {
        self.within(key.into(), |from| T::rebuild(from))
    }

    /// Takes an attribute that is a pytree of arrays.
    ///
    /// # Errors
    /// When the graph has something else.
    pub fn data<T: Pytree<Array>>(&mut self, key: impl Into<Key>) -> Result<T> {
        self.within(key.into(), |from| {
            let treedef = match from.peek() {
                Some(Def::Array) => TreeDef::leaf(),
                Some(Def::Data(treedef)) => treedef.clone(),
                _ => return Err(from.mistake("a tree of arrays")),
            };
            from.at += 1;
            let leaves = from.data_leaves(&treedef)?;
            treedef
                .unflatten(leaves)
                .map_err(|error| Error::from(error).at_path(from.path.to_string()))
        })
    }

    pub(crate) fn data_leaves(&mut self, treedef: &TreeDef) -> Result<Vec<Array>> {
        let paths = treedef.key_paths();
        let leaf = |path: &jaxide::tree::KeyPath| {
            let whole: Path = self
                .path
                .iter()
                .cloned()
                .chain(path.iter().map(Key::from))
                .collect();
            self.leaves.array(&whole)
        };
        paths.iter().map(leaf).collect()
    }

    /// Takes an attribute that is part of the graph definition, whatever its type.
    ///
    /// # Errors
    /// When the graph has something else.
    pub fn fixed<T: StaticValue + Clone + 'static>(&mut self, key: impl Into<Key>) -> Result<T> {
        self.within(key.into(), Self::static_value)
    }

    pub(crate) fn within<T>(
        &mut self,
        key: Key,
        f: impl FnOnce(&mut Self) -> Result<T>,
    ) -> Result<T> {
        self.path.push(key);
        let value = f(self);
        self.path.pop();
        value
    }

    /// Takes a static value.
    ///
    /// # Errors
    /// When the graph has something else.
    pub fn static_value<T: Clone + 'static>(&mut self) -> Result<T> {
        let found = match self.peek() {
            Some(Def::Static(value)) => value.downcast::<T>().cloned(),
            _ => None,
        };
        let Some(value) = found else {
            return Err(self.mistake(&format!("a static {}", std::any::type_name::<T>())));
        };
        self.at += 1;
        Ok(value)
    }

    /// Takes an array.
    ///
    /// # Errors
    /// When the graph has something else, or there is no such leaf.
    pub fn array(&mut self) -> Result<Array> {
        match self.peek() {
            Some(Def::Array) => {
                self.at += 1;
                self.leaves.array(&self.path)
            }
            _ => Err(self.mistake("an array")),
        }
    }

    /// Takes a `None`, if there is one.
    pub fn none(&mut self) -> bool {
        let none = matches!(self.peek(), Some(Def::None));
        self.at += usize::from(none);
        none
    }

    /// Takes a variable: a new one, or one that was made before.
    ///
    /// # Errors
    /// When the graph has something else, or there is no such leaf.
    pub fn variable(&mut self) -> Result<AnyVariable> {
        match self.peek() {
            Some(Def::Variable {
                kind,
                metadata,
                index,
                present,
            }) => {
                self.at += 1;
                let value = if *present {
                    self.leaves.variable(&self.path)?
                } else {
                    Value::Absent
                };
                let variable = AnyVariable::new(*kind, value, metadata.clone());
                self.made.insert(*index, Made::Variable(variable.clone()));
                Ok(variable)
            }
            Some(Def::Ref(index)) => match self.made.get(index) {
                Some(Made::Variable(variable)) => {
                    self.at += 1;
                    Ok(variable.clone())
                }
                Some(Made::Shared(_) | Made::Open) | None => Err(self.mistake("a variable")),
            },
            _ => Err(self.mistake("a variable")),
        }
    }

    /// Takes a module behind a shared pointer: a new one, or one that was made before.
    ///
    /// # Errors
    /// When the graph has something else.
    pub fn shared<T: Attribute + Send + Sync + 'static>(&mut self) -> Result<Arc<T>> {
        match self.peek() {
            Some(Def::Shared(index)) => {
                self.at += 1;
                self.made.insert(*index, Made::Open);
                let module = Arc::new(T::rebuild(self)?);
                self.made.insert(*index, Made::Shared(module.clone()));
                Ok(module)
            }
            Some(Def::Ref(index)) => match self.made.get(index) {
                Some(Made::Shared(module)) => {
                    let module = module.clone().downcast::<T>();
                    let module =
                        module.map_err(|_| self.mistake("a shared module of another type"))?;
                    self.at += 1;
                    Ok(module)
                }
                Some(Made::Open) => Err(self.mistake("a module that is complete")),
                Some(Made::Variable(_)) | None => Err(self.mistake("a shared module")),
            },
            _ => Err(self.mistake("a shared module")),
        }
    }

    /// Takes a module whose type is known at run time only, as the type `T` that forgets it.
    pub(crate) fn any<T: 'static>(&mut self) -> Result<T> {
        let expected = "a module of any type";
        match self.peek() {
            Some(Def::Any(module)) => {
                self.at += 1;
                let rebuilt = module.rebuild(self)?.downcast();
                rebuilt
                    .map(|module| *module)
                    .map_err(|_| self.mistake(expected))
            }
            _ => Err(self.mistake(expected)),
        }
    }

    /// What stands here.
    pub(crate) fn next(&self) -> Option<&'a Def> {
        self.peek()
    }

    /// Goes past what stands here.
    pub(crate) fn skip(&mut self) {
        self.at += 1;
    }

    /// The object or variable that was made under a number.
    pub(crate) fn made(&self, index: usize) -> Option<&Made> {
        self.made.get(&index)
    }

    /// Keeps what is made under a number.
    pub(crate) fn make(&mut self, index: usize, made: Made) {
        self.made.insert(index, made);
    }
}
