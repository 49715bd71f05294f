//! States in files.

use std::collections::BTreeMap;
use std::path::Path as FilePath;

use jaxide::core::ErrorKind;
use jaxide::io::Archive;
use jaxide::{Array, Error, Result};

use crate::state::{Entry, State};
use crate::{Attribute, Path, Value};

/// The name of the array of an entry, or of one of several: `blocks.0.linear.kernel`.
fn names(path: &Path, entry: &Entry) -> Vec<String> {
    let name = path
        .iter()
        .map(ToString::to_string)
        .collect::<Vec<_>>()
        .join(".");
    match entry {
        Entry::Variable {
            value: Value::Tuple(arrays),
            ..
        } => (0..arrays.len())
            .map(|place| format!("{name}.{place}"))
            .collect(),
        Entry::Variable { .. } | Entry::Array { .. } => vec![name],
    }
}

/// Writes a state, or the whole state of a module as [`state`](crate::state) gives it, to a `.safetensors` file, under the paths of its
/// arrays. The file is there as a whole or not at all: it is written beside the one of the name, and then takes its place.
///
/// # Errors
/// When the file cannot be written.
pub fn save_state(path: impl AsRef<FilePath>, state: &State) -> Result<()> {
    let mut archive = Archive::new();
    for (path, entry) in state.entries() {
        for (name, array) in names(path, entry).into_iter().zip(entry.arrays()) {
            archive.insert(name, array)?;
        }
    }
    archive.write_safetensors(path)
}

/// Gives a module the state of a file that [`save_state`] wrote.
///
/// ```
/// use jaxide_nnx::{self as nnx, Linear, Rngs};
/// let path = std::env::temp_dir().join(format!("linear-{}.safetensors", std::process::id()));
/// let (old, new) = (Linear::new(2, 3, &Rngs::new(0), ()), Linear::new(2, 3, &Rngs::new(1), ()));
/// nnx::save_state(&path, &nnx::state(&old, ..)?)?;
/// nnx::load_state(&path, &new)?;
/// assert_eq!(old.kernel.get().to_vec::<f32>(), new.kernel.get().to_vec::<f32>());
///
/// let larger = Linear::new(2, 4, &Rngs::new(0), ());
/// assert_eq!(nnx::load_state(&path, &larger).unwrap_err().path(), Some("bias"));
/// # std::fs::remove_file(&path)?;
/// # Ok::<(), nnx::Error>(())
/// ```
///
/// # Errors
/// When the file cannot be read, or an array is missing in it, surplus, or of another type than that of the module; the error names it.
/// The module is not changed then.
pub fn load_state(path: impl AsRef<FilePath>, module: &impl Attribute) -> Result<()> {
    crate::update(module, read(path, module, "load_state")?)
}

/// The state of a file that [`save_state`] wrote of a module of this structure, for [`merge`](crate::merge): of modules with arrays that are
/// attributes by themselves, which nothing can change.
///
/// ```
/// use jaxide_nnx::{self as nnx, Module};
/// use jaxide::Array;
/// #[derive(Module)]
/// struct Scale { factor: Array }
/// let path = std::env::temp_dir().join(format!("scale-{}.safetensors", std::process::id()));
/// let (old, new) = (Scale { factor: Array::from(2.0f32) }, Scale { factor: Array::from(0.0f32) });
/// nnx::save_state(&path, &nnx::state(&old, ..)?)?;
/// let new: Scale = nnx::merge(&nnx::graph_def(&new)?, nnx::read_state(&path, &new)?)?;
/// assert_eq!(new.factor.item::<f32>(), 2.0);
/// # std::fs::remove_file(&path)?;
/// # Ok::<(), nnx::Error>(())
/// ```
///
/// # Errors
/// As [`load_state`].
pub fn read_state(path: impl AsRef<FilePath>, module: &impl Attribute) -> Result<State> {
    read(path, module, "read_state")
}

fn read(path: impl AsRef<FilePath>, module: &impl Attribute, operation: &str) -> Result<State> {
    let archive = Archive::read_safetensors(path)?;
    let mut state = crate::state(module, ..)?;
    let expected: BTreeMap<String, Path> = state
        .entries()
        .flat_map(|(path, entry)| {
            names(path, entry)
                .into_iter()
                .map(|name| (name, path.clone()))
        })
        .collect();
    let mistake = |message: &str, at: String| {
        Error::new(ErrorKind::Structure, message)
            .in_operation(operation)
            .at_path(at)
    };
    if let Some((_, path)) = expected
        .iter()
        .find(|(name, _)| !archive.names().any(|known| known == *name))
    {
        return Err(mistake("the file has no such array", path.to_string()));
    }
    if let Some(name) = archive.names().find(|name| !expected.contains_key(*name)) {
        return Err(mistake("the module has no such variable", name.to_owned()));
    }
    for (path, entry) in &mut state.entries {
        let names = names(path, entry);
        let read = |(name, array): (&String, &Array)| -> Result<Array> {
            let value = archive.value(name, &array.aval());
            Ok(Array::from(value.map_err(|error| {
                error.in_operation(operation).at_path(path.to_string())
            })?))
        };
        let arrays: Vec<Array> = names
            .iter()
            .zip(entry.arrays())
            .map(read)
            .collect::<Result<_>>()?;
        let mut arrays = arrays.into_iter();
        match entry {
            Entry::Variable { value, .. } => *value = value.form().fill(&mut arrays),
            Entry::Array { array, .. } => {
                if let Some(read) = arrays.next() {
                    *array = read;
                }
            }
        }
    }
    Ok(state)
}
