//! Transformations of parts, of several steps, and of what is finite.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use jaxide::tree::Tree;
use jaxide::{Array, DType, Error, numpy, raise};

use super::leafwise::next;
use super::{At, GradientTransformation, Transform, number, part, parts, with_leaves, zip};
use crate::{Key, Path};

/// Which parameters are meant, by their paths and values.
#[derive(Clone)]
pub struct Mask(Arc<Selects>);

type Selects = dyn Fn(&Path, &Array) -> bool + Send + Sync;

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

/// The paths of the leaves of a tree; that a variable holds its `value` is no part of them.
fn paths(tree: &Tree<Array>) -> Vec<Path> {
    let keys = |path: &jaxide::tree::KeyPath| -> Path { path.iter().map(Key::from).collect() };
    let trimmed = |path: Path| -> Path {
        match path.split_last() {
            Some((Key::Name(name), front)) if name == "value" => front.to_vec().into(),
            _ => path,
        }
    };
    tree.structure()
        .key_paths()
        .iter()
        .map(|path| trimmed(keys(path)))
        .collect()
}

type Labels = dyn Fn(&Path, &Array) -> Option<String> + Send + Sync;

struct Parts {
    label: Arc<Labels>,
    transforms: BTreeMap<String, GradientTransformation>,
}

impl Parts {
    /// For each transformation the places of its leaves.
    #[track_caller]
    fn places(&self, params: &Tree<Array>) -> BTreeMap<&str, Vec<usize>> {
        let mut places: BTreeMap<&str, Vec<usize>> = self
            .transforms
            .keys()
            .map(|label| (label.as_str(), Vec::new()))
            .collect();
        for (place, (path, leaf)) in paths(params).iter().zip(params.leaves()).enumerate() {
            let Some(label) = (self.label)(path, leaf) else {
                continue;
            };
            match places.get_mut(label.as_str()) {
                Some(places) => places.push(place),
                None => raise(
                    Error::parameter(format!(
                        "there is no transformation for the label `{label}`"
                    ))
                    .in_operation("multi_transform")
                    .at_path(path.to_string()),
                ),
            }
        }
        places
    }
}

fn chosen(tree: &Tree<Array>, places: &[usize]) -> Tree<Array> {
    let leaves = tree.leaves();
    Tree::list(
        places
            .iter()
            .map(|&place| Tree::Leaf(leaves[place].clone())),
    )
}

impl Transform for Parts {
    fn init(&self, params: &Tree<Array>) -> Tree<Array> {
        let places = self.places(params);
        Tree::tuple(
            places
                .iter()
                .map(|(label, places)| self.transforms[*label].0.init(&chosen(params, places))),
        )
    }

    fn update(
        &self,
        updates: Tree<Array>,
        state: &Tree<Array>,
        at: &At<'_>,
    ) -> (Tree<Array>, Tree<Array>) {
        let mut leaves: Vec<Array> = updates.leaves().into_iter().cloned().collect();
        let mut states = Vec::new();
        for (place, (label, places)) in self.places(at.params).iter().enumerate() {
            // The objective is one of all parameters, so that none is known of a part.
            let of_part = At {
                params: &chosen(at.params, places),
                objective: None,
            };
            let transform = &self.transforms[*label].0;
            let (new, next) =
                transform.update(chosen(&updates, places), part(state, place), &of_part);
            for (&place, leaf) in places.iter().zip(new.leaves()) {
                leaves[place] = leaf.clone();
            }
            states.push(next);
        }
        (with_leaves(&updates, leaves), Tree::tuple(states))
    }
}

/// A transformation of those parameters alone that the mask selects.
pub fn masked(transform: GradientTransformation, mask: impl Into<Mask>) -> GradientTransformation {
    let mask = mask.into();
    GradientTransformation::new(Parts {
        label: Arc::new(move |path, leaf| (mask.0)(path, leaf).then(String::new)),
        transforms: [(String::new(), transform)].into(),
    })
}

/// For each parameter the transformation that its label names.
///
/// ```
/// use jaxide_nnx::optim;
/// let optimizer = optim::multi_transform(
///     [("weights", optim::adam(1e-3)), ("biases", optim::sgd(1e-2))],
///     |path, _| if path.to_string().ends_with("bias") { "biases" } else { "weights" }.to_owned(),
/// );
/// # let _ = optimizer;
/// ```
pub fn multi_transform<'a>(
    transforms: impl IntoIterator<Item = (&'a str, GradientTransformation)>,
    label: impl Fn(&Path, &Array) -> String + Send + Sync + 'static,
) -> GradientTransformation {
    GradientTransformation::new(Parts {
        label: Arc::new(move |path, leaf| Some(label(path, leaf))),
        transforms: transforms
            .into_iter()
            .map(|(label, transform)| (label.to_owned(), transform))
            .collect(),
    })
}

/// Either tree, leaf by leaf.
fn select(condition: &Array, x: &Tree<Array>, y: &Tree<Array>) -> Tree<Array> {
    zip(&[x, y], |leaves| {
        numpy::where_(condition, leaves[0], leaves[1]).astype(leaves[1].dtype())
    })
}

struct IfFinite {
    inner: GradientTransformation,
    max_errors: i64,
}

impl Transform for IfFinite {
    fn init(&self, params: &Tree<Array>) -> Tree<Array> {
        let zero = || Tree::Leaf(Array::zeros((), DType::I32));
        let inner = self.inner.0.init(params);
        let good = Tree::Leaf(Array::scalar(true));
        parts(
            "ApplyIfFiniteState",
            vec![
                ("notfinite_count", zero()),
                ("last_finite", good),
                ("total_notfinite", zero()),
                ("inner_state", inner),
            ],
        )
    }

    fn update(
        &self,
        updates: Tree<Array>,
        state: &Tree<Array>,
        at: &At<'_>,
    ) -> (Tree<Array>, Tree<Array>) {
        let finite = updates
            .leaves()
            .into_iter()
            .map(|leaf| numpy::isfinite(leaf).all());
        let finite = finite
            .reduce(|x, y| numpy::logical_and(x, y))
            .unwrap_or_else(|| Array::scalar(true));
        let (count, total) = (number(state, 0), number(state, 2));
        let zero = numpy::zeros_like(&count, ());
        let count = numpy::where_(&finite, &zero, next(&count)).astype(DType::I32);
        let total = numpy::where_(&finite, &total, next(&total)).astype(DType::I32);
        let applied = numpy::logical_or(&finite, numpy::greater(&count, self.max_errors));
        let (new, inner) = self.inner.0.update(updates, part(state, 3), at);
        let nothing = zip(&[&new], |leaf| numpy::zeros_like(leaf[0], ()));
        let inner = select(&applied, &inner, part(state, 3));
        let state = parts(
            "ApplyIfFiniteState",
            vec![
                ("notfinite_count", Tree::Leaf(count)),
                ("last_finite", Tree::Leaf(finite)),
                ("total_notfinite", Tree::Leaf(total)),
                ("inner_state", inner),
            ],
        );
        (select(&applied, &new, &nothing), state)
    }
}

/// A transformation that changes nothing where gradients are not finite, unless that happens more than so many times in a row.
pub fn apply_if_finite(
    inner: GradientTransformation,
    max_consecutive_errors: i64,
) -> GradientTransformation {
    GradientTransformation::new(IfFinite {
        inner,
        max_errors: max_consecutive_errors,
    })
}

struct Every {
    inner: GradientTransformation,
    steps: i64,
}

impl Transform for Every {
    fn init(&self, params: &Tree<Array>) -> Tree<Array> {
        let zero = || Tree::Leaf(Array::zeros((), DType::I32));
        let sums = zip(&[params], |p| numpy::zeros_like(p[0], ()));
        let inner = self.inner.0.init(params);
        parts(
            "MultiStepsState",
            vec![
                ("mini_step", zero()),
                ("gradient_step", zero()),
                ("inner_opt_state", inner),
                ("acc_grads", sums),
            ],
        )
    }

    fn update(
        &self,
        updates: Tree<Array>,
        state: &Tree<Array>,
        at: &At<'_>,
    ) -> (Tree<Array>, Tree<Array>) {
        let (mini, steps) = (number(state, 0), number(state, 1));
        let mean = zip(&[&updates, part(state, 3)], |g| {
            g[1] + (g[0] - g[1]) / (&mini + 1)
        });
        let last = numpy::equal(&mini, self.steps - 1);
        let (new, inner) = self.inner.0.update(mean.clone(), part(state, 2), at);
        let zeros = zip(&[&mean], |leaf| numpy::zeros_like(leaf[0], ()));
        let state = parts(
            "MultiStepsState",
            vec![
                (
                    "mini_step",
                    Tree::Leaf(numpy::remainder(&mini + 1, self.steps).astype(DType::I32)),
                ),
                (
                    "gradient_step",
                    Tree::Leaf(numpy::where_(&last, next(&steps), &steps).astype(DType::I32)),
                ),
                ("inner_opt_state", select(&last, &inner, part(state, 2))),
                ("acc_grads", select(&last, &zeros, &mean)),
            ],
        );
        (select(&last, &new, &zeros), state)
    }
}

/// A transformation of the mean of so many gradients; steps between change nothing.
pub fn multi_steps(inner: GradientTransformation, every: i64) -> GradientTransformation {
    GradientTransformation::new(Every {
        inner,
        steps: every,
    })
}
