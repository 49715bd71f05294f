//! Transformations of some parameters.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use jaxide::tree::{KeyPath, Tree};
use jaxide::{Array, Error, Result};

use super::GradientTransformation;
use super::transform::Given;
use super::tree::{self, Arrays};
use crate::{Key, Path};

/// Which parameters are meant, by their paths and values.
///
/// ```
/// use jaxide_nnx::optim::{self, Mask};
/// let matrices: Mask = (|_: &jaxide_nnx::Path, p: &jaxide::Array| p.ndim() > 1).into();
/// let optimizer = optim::adamw(1e-3, 1e-4, Some(matrices));
/// # let _ = optimizer;
/// ```
#[derive(Clone)]
pub struct Mask(Arc<Selects>);

type Selects = dyn Fn(&Path, &Array) -> bool + Send + Sync;

impl Mask {
    /// All parameters.
    pub fn all() -> Self {
        (|_: &Path, _: &Array| true).into()
    }
}

impl<F: Fn(&Path, &Array) -> bool + Send + Sync + 'static> From<F> for Mask {
    fn from(f: F) -> Self {
        Mask(Arc::new(f))
    }
}

impl fmt::Debug for Mask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Mask")
    }
}

/// What `f` gives for each leaf of a tree, by its path; that a variable holds its `value` is no part of that.
fn each<T>(tree: &Arrays, f: impl Fn(&Path, &Array) -> T) -> Vec<T> {
    let path = |path: &KeyPath| -> Path {
        let keys: Vec<Key> = path.iter().map(Key::from).collect();
        match keys.split_last() {
            Some((Key::Name(name), front)) if name == "value" => front.to_vec().into(),
            _ => keys.into(),
        }
    };
    let paths = tree.structure().key_paths();
    let leaves = paths.iter().zip(tree.leaves());
    leaves.map(|(keys, leaf)| f(&path(keys), leaf)).collect()
}

/// The tree with an empty node in the place of each leaf that is not chosen.
fn only(tree: &Arrays, chosen: &[bool]) -> Arrays {
    let mut chosen = chosen.iter();
    tree::expand(tree, &mut |leaf| match chosen.next() {
        Some(true) => Tree::Leaf(leaf.clone()),
        Some(false) | None => tree::named("MaskedNode", []),
    })
}

fn begin(inner: &GradientTransformation, params: &Arrays, chosen: &[bool]) -> Result<Arrays> {
    let inner = inner.begin(&only(params, chosen))?;
    Ok(tree::named("MaskedState", [("inner_state", inner)]))
}

fn step(
    inner: &GradientTransformation,
    updates: Arrays,
    state: &Arrays,
    given: Given<'_>,
    chosen: &[bool],
) -> Result<(Arrays, Arrays)> {
    let params = &only(given.params, chosen);
    let given = Given { params, ..given };
    let state = tree::part(state, "inner_state")?;
    let (new, state) = inner.step(only(&updates, chosen), state, given)?;
    let (mut new, mut chosen) = (new.leaves().into_iter(), chosen.iter());
    let merged = updates.map(|old| match chosen.next() {
        Some(true) => new.next().unwrap_or(old).clone(),
        Some(false) | None => old.clone(),
    });
    Ok((merged, tree::named("MaskedState", [("inner_state", state)])))
}

/// A transformation of those parameters alone that the mask selects. Other gradients stay as they are.
///
/// ```
/// use jaxide_nnx::optim;
/// use jaxide::Array;
/// let first = optim::masked(optim::scale(2.0), |path: &jaxide_nnx::Path, _: &Array| path.to_string() == "0");
/// let x = (Array::from([1.0f32]), Array::from([1.0f32]));
/// let (updates, _) = first.update(&x, &first.init(&x), &x);
/// assert_eq!((updates.0.to_vec::<f32>(), updates.1.to_vec::<f32>()), (vec![2.0], vec![1.0]));
/// ```
pub fn masked(inner: GradientTransformation, mask: impl Into<Mask>) -> GradientTransformation {
    let mask = mask.into();
    let (first, selects) = (inner.clone(), mask.clone());
    GradientTransformation::given(
        move |params| begin(&first, params, &each(params, &*selects.0)),
        move |updates, state, given| {
            let chosen = each(given.params, &*mask.0);
            step(&inner, updates, state, given, &chosen)
        },
    )
}

type Labels = dyn Fn(&Path, &Array) -> String + Send + Sync;

/// Transformations by label, and the labels of parameters.
struct Parts {
    transforms: BTreeMap<String, GradientTransformation>,
    label: Box<Labels>,
}

impl Parts {
    /// Each transformation with its label and which parameters it has.
    fn chosen(
        &self,
        params: &Arrays,
    ) -> Result<impl Iterator<Item = (&String, &GradientTransformation, Vec<bool>)>> {
        let labels = each(params, |path, leaf| {
            let label = (self.label)(path, leaf);
            if self.transforms.contains_key(&label) {
                return Ok(label);
            }
            let message = format!("there is no transformation for the label `{label}`");
            Err(Error::parameter(message)
                .in_operation("partition")
                .at_path(path.to_string()))
        });
        let labels: Vec<String> = labels.into_iter().collect::<Result<_>>()?;
        Ok(self.transforms.iter().map(move |(name, transform)| {
            let chosen = labels.iter().map(|label| label == name).collect();
            (name, transform, chosen)
        }))
    }
}

fn partitioned(states: Vec<(String, Arrays)>) -> Result<Arrays> {
    Ok(tree::named(
        "PartitionState",
        [("inner_states", Tree::dict(states)?)],
    ))
}

/// For each parameter the transformation that its label names.
///
/// ```
/// use jaxide_nnx::optim;
/// let optimizer = optim::partition(
///     [("weights", optim::adam(1e-3)), ("biases", optim::sgd(1e-2))],
///     |path, _| if path.to_string().ends_with("bias") { "biases" } else { "weights" }.to_owned(),
/// );
/// # let _ = optimizer;
/// ```
pub fn partition<'a>(
    transforms: impl IntoIterator<Item = (&'a str, GradientTransformation)>,
    label: impl Fn(&Path, &Array) -> String + Send + Sync + 'static,
) -> GradientTransformation {
    let transforms = transforms.into_iter();
    let parts = Arc::new(Parts {
        transforms: transforms.map(|(k, t)| (k.to_owned(), t)).collect(),
        label: Box::new(label),
    });
    let first = parts.clone();
    GradientTransformation::given(
        move |params| {
            let states = first.chosen(params)?.map(|(name, transform, chosen)| {
                Ok((name.clone(), begin(transform, params, &chosen)?))
            });
            partitioned(states.collect::<Result<_>>()?)
        },
        move |mut updates, state, given| {
            let before = tree::part(state, "inner_states")?;
            let mut states = Vec::new();
            for (name, transform, chosen) in parts.chosen(given.params)? {
                let state = tree::part(before, name)?;
                let (new, state) = step(transform, updates, state, given, &chosen)?;
                updates = new;
                states.push((name.clone(), state));
            }
            Ok((updates, partitioned(states)?))
        },
    )
}
