//! Arrays by name, and trees of arrays as such.

use std::collections::HashMap;
use std::fmt;

use indexmap::{IndexMap, IndexSet};
use jaxide_core::{Aval, Error, ErrorKind, Result, Tensor};
use jaxide_tree::{KeyPath, Pytree};

use super::{broken, in_member, shortened, stored};
use crate::array::Array;
use crate::trace::aval_of;

/// What a leaf is called that is the whole tree.
const ROOT: &str = "value";

/// Arrays by name, in order: what an `.npz` or a `.safetensors` file holds.
///
/// ```
/// use jaxide::{Array, io::Archive};
/// let mut archive = Archive::new();
/// archive.insert("x", &Array::from([1.0f32, 2.0]))?;
/// archive.insert("n", &Array::scalar(3i32))?;
/// assert_eq!(archive.names().collect::<Vec<_>>(), ["x", "n"]);
/// assert_eq!(archive.get("n").unwrap().item::<i32>(), 3);
/// # Ok::<(), jaxide::Error>(())
/// ```
#[derive(Clone, Default, PartialEq)]
pub struct Archive {
    pub(super) members: IndexMap<String, Tensor>,
}

impl Archive {
    /// An archive without arrays.
    pub fn new() -> Self {
        Archive::default()
    }

    /// The leaves of a tree under the names of their paths, `layers.0.weight`; a leaf that is the whole tree is `value`.
    ///
    /// # Errors
    /// When an array is traced and has no value yet, or two paths have one name.
    pub fn from_tree<T: Pytree<Array>>(tree: &T) -> Result<Self> {
        let mut archive = Archive::new();
        let mut paths: HashMap<String, KeyPath> = HashMap::new();
        for (path, leaf) in jaxide_tree::leaves_with_path::<Array, T>(tree) {
            let name = name(&path);
            if let Some(other) = paths.insert(name.clone(), path.clone()) {
                return Err(Error::new(
                    ErrorKind::Structure,
                    format!("`{name}` is the name of the array at {other} too"),
                )
                .at_path(path.to_string()));
            }
            let value = leaf
                .try_value()
                .map_err(|error| error.at_path(path.to_string()))?;
            archive.members.insert(name, value);
        }
        Ok(archive)
    }

    /// A tree of the structure and with the types of `like`, whose arrays may be specifications ([`Array::spec`]).
    ///
    /// # Errors
    /// When an array is missing, has another type, or is not part of the tree: with the path of the leaf.
    pub fn to_tree<T: Pytree<Array>>(&self, like: &T) -> Result<T> {
        let names: Vec<&str> = self.names().collect();
        tree(like, &names, |name, aval| self.value(name, aval))
    }

    /// The array of a name, with the element type that the file has for it.
    pub fn get(&self, name: &str) -> Option<Array> {
        self.members.get(name).cloned().map(Array::from)
    }

    /// The array of a name as one of type `aval`.
    ///
    /// # Errors
    /// When there is none, or it has another type.
    pub fn value(&self, name: &str, aval: &Aval) -> Result<Tensor> {
        let array = self
            .members
            .get(name)
            .ok_or_else(|| missing(name, self.names()))?;
        stored::restored(array, aval).map_err(|error| in_member(name, &error))
    }

    /// Adds an array, in the place of that of the same name if there is one.
    ///
    /// # Errors
    /// When the array is traced and has no value yet.
    pub fn insert(&mut self, name: impl Into<String>, array: &Array) -> Result<()> {
        self.members.insert(name.into(), array.try_value()?);
        Ok(())
    }

    /// Takes an array out.
    pub fn remove(&mut self, name: &str) -> Option<Array> {
        self.members.shift_remove(name).map(Array::from)
    }

    /// The names, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.members.keys().map(String::as_str)
    }

    /// The number of arrays.
    pub fn len(&self) -> usize {
        self.members.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.members.is_empty()
    }
}

impl<S: Into<String>> FromIterator<(S, Tensor)> for Archive {
    fn from_iter<I: IntoIterator<Item = (S, Tensor)>>(members: I) -> Self {
        let members = members.into_iter();
        Archive {
            members: members.map(|(name, array)| (name.into(), array)).collect(),
        }
    }
}

impl fmt::Debug for Archive {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let types = self
            .members
            .iter()
            .map(|(name, array)| (name, array.aval().to_string()));
        f.debug_map().entries(types).finish()
    }
}

/// A tree of the structure and with the types of `like`, whose leaves `value` gives by name and type; `names` are all there
/// are.
pub(super) fn tree<T: Pytree<Array>>(
    like: &T,
    names: &[impl AsRef<str>],
    mut value: impl FnMut(&str, &Aval) -> Result<Tensor>,
) -> Result<T> {
    let (expected, treedef) = jaxide_tree::flatten_with_path::<Array, T>(like);
    let mut leaves = Vec::with_capacity(expected.len());
    let mut unused: IndexSet<&str> = names.iter().map(AsRef::as_ref).collect();
    for (path, leaf) in &expected {
        let name = name(path);
        unused.shift_remove(name.as_str());
        let value = value(&name, &aval_of(leaf));
        leaves.push(Array::from(
            value.map_err(|error| error.at_path(path.to_string()))?,
        ));
    }
    if !unused.is_empty() {
        return Err(Error::new(
            ErrorKind::Structure,
            format!("the tree has no place for {}", list(unused.into_iter())),
        )
        .note("take out what is not needed with `Archive::remove`"));
    }
    Ok(treedef.unflatten(leaves)?)
}

/// An array that is not there.
pub(super) fn missing<'a>(name: &str, names: impl Iterator<Item = &'a str>) -> Error {
    broken(format!(
        "there is no member `{}`, only {}",
        shortened(name),
        list(names)
    ))
}

/// What the leaf at a path is called.
fn name(path: &KeyPath) -> String {
    if path.is_empty() {
        ROOT.to_owned()
    } else {
        path.simple(".")
    }
}

/// At most eight names.
fn list<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let names: Vec<&str> = names.collect();
    let shown: Vec<_> = names.iter().take(8).map(|name| shortened(name)).collect();
    match names.len() {
        0 => "none".to_owned(),
        count @ 9.. => format!("{} and {} more", shown.join(", "), count - 8),
        _ => shown.join(", "),
    }
}
