//! Functions of nested values as functions of flat lists.

use std::marker::PhantomData;
use std::sync::OnceLock;

use crate::{KeyPath, Pytree, StructureError, StructureErrorKind, Tree, TreeDef};

/// A nested value without its dynamic leaves: its structure, and the leaves that stay as they are.
#[derive(Clone, Debug)]
pub struct Schema<L> {
    treedef: TreeDef,
    /// The constant leaves; `None` where a dynamic one goes.
    constants: Vec<Option<L>>,
}

impl<L: Clone> Schema<L> {
    /// Takes the leaves that are `dynamic` out of a value; the others stay in the schema.
    ///
    /// ```
    /// use jaxide_tree::{Schema, Tree, tree};
    ///
    /// let value: Tree<f64> = tree!({"image": 0.5, "scale": -2.0});
    /// let (flat, schema) = Schema::split(&value, |x| *x >= 0.0);
    /// assert_eq!(flat, [0.5]);
    /// assert_eq!(schema.rebuild::<Tree<f64>>(vec![0.75]), Ok(tree!({"image": 0.75, "scale": -2.0})));
    /// ```
    pub fn split<T: Pytree<L>>(value: &T, dynamic: impl Fn(&L) -> bool) -> (Vec<L>, Self) {
        let (leaves, treedef) = crate::flatten(value);
        let mut flat = Vec::new();
        let mut constant = |leaf: L| {
            if dynamic(&leaf) {
                flat.push(leaf);
                None
            } else {
                Some(leaf)
            }
        };
        let constants = leaves.into_iter().map(&mut constant).collect();
        (flat, Schema { treedef, constants })
    }

    /// The structure, constants included.
    pub fn structure(&self) -> &TreeDef {
        &self.treedef
    }

    /// The leaves that stay as they are.
    pub fn constants(&self) -> impl Iterator<Item = &L> {
        self.constants.iter().flatten()
    }

    /// The number of dynamic leaves.
    pub fn num_dynamic(&self) -> usize {
        self.constants
            .iter()
            .filter(|constant| constant.is_none())
            .count()
    }

    /// The value with other dynamic leaves.
    ///
    /// # Errors
    ///
    /// If they are not as many as there were, or `T` has another structure.
    pub fn rebuild<T: Pytree<L>>(&self, flat: Vec<L>) -> Result<T, StructureError> {
        StructureError::check_count(self.num_dynamic(), flat.len())
            .map_err(|error| error.about("the schema"))?;
        let mut flat = flat.into_iter();
        let leaves = self.constants.iter().map(|constant| match constant {
            Some(constant) => constant.clone(),
            None => flat.next().expect("there are as many as places"),
        });
        self.treedef.unflatten(leaves)
    }

    /// The first difference to another schema: of structure, or of which leaves are dynamic.
    fn difference(&self, other: &Schema<L>) -> Option<StructureError> {
        let dynamic = |schema: &Schema<L>| -> Tree<bool> {
            let places = schema.constants.iter().map(Option::is_none);
            schema
                .treedef
                .unflatten(places)
                .expect("a place for every leaf")
        };
        let (mine, theirs) = (dynamic(self), dynamic(other));
        if let Some(error) = self.treedef.differences(&other.treedef).into_iter().next() {
            return Some(error);
        }
        let places = self
            .treedef
            .key_paths()
            .into_iter()
            .zip(mine.leaves())
            .zip(theirs.leaves());
        places
            .into_iter()
            .find(|((_, a), b)| a != b)
            .map(|((path, a), _)| {
                let (array, constant) = ("a dynamic leaf".to_string(), "a constant".to_string());
                let (expected, got) = if *a {
                    (array, constant)
                } else {
                    (constant, array)
                };
                StructureError::new(StructureErrorKind::Value { expected, got }, path)
            })
    }
}

/// A function of a nested value, giving a nested value, as a function from a flat list of leaves to a flat list.
///
/// It remembers both schemas: the one of the inputs from an example, the one of the outputs from the first call. What
/// the leaves are does not matter, so the flat function can be traced with placeholders for them.
///
/// ```
/// use jaxide_tree::TracingAdapter;
///
/// let swap = |(a, b): (f64, Vec<f64>)| (b, [a]);
/// let (adapter, flat) = TracingAdapter::new(swap, &(1.0, vec![2.0, 3.0]));
/// assert_eq!(flat, [1.0, 2.0, 3.0]);
/// assert_eq!(adapter.call(flat)?, [2.0, 3.0, 1.0]);
/// assert_eq!(adapter.rebuild(vec![5.0, 6.0, 7.0])?, (vec![5.0, 6.0], [7.0]));
/// # Ok::<(), jaxide_tree::StructureError>(())
/// ```
pub struct TracingAdapter<F, L, In, Out> {
    function: F,
    dynamic: fn(&L) -> bool,
    inputs: Schema<L>,
    outputs: OnceLock<Schema<L>>,
    types: PhantomData<fn(In) -> Out>,
}

impl<F, L, In, Out> TracingAdapter<F, L, In, Out>
where
    F: Fn(In) -> Out,
    L: Clone,
    In: Pytree<L>,
    Out: Pytree<L>,
{
    /// The function as a flat one, and the leaves of the example, to call it with.
    pub fn new(function: F, example: &In) -> (Self, Vec<L>) {
        TracingAdapter::with_constants(function, example, |_| true)
    }

    /// As [`TracingAdapter::new`], but only the leaves that are `dynamic` are inputs and outputs. The others, such as the
    /// numbers among the arrays of a schema-less tree, keep the value they have in the example.
    pub fn with_constants(function: F, example: &In, dynamic: fn(&L) -> bool) -> (Self, Vec<L>) {
        let (flat, inputs) = Schema::split(example, dynamic);
        let outputs = OnceLock::new();
        (
            TracingAdapter {
                function,
                dynamic,
                inputs,
                outputs,
                types: PhantomData,
            },
            flat,
        )
    }

    /// The flat outputs for flat inputs.
    ///
    /// # Errors
    ///
    /// If the inputs are not as many as those of the example, or the function gives outputs of another structure than at
    /// the first call.
    pub fn call(&self, flat: Vec<L>) -> Result<Vec<L>, StructureError> {
        let outputs = (self.function)(self.inputs.rebuild(flat)?);
        let (flat, schema) = Schema::split(&outputs, self.dynamic);
        match self
            .outputs
            .get_or_init(|| schema.clone())
            .difference(&schema)
        {
            Some(error) => Err(error.about("outputs")),
            None => Ok(flat),
        }
    }

    /// The nested outputs for flat ones, which [`TracingAdapter::call`] or what was traced from it has given.
    ///
    /// # Errors
    ///
    /// If they are not as many as the function gave, or it has not been called yet.
    pub fn rebuild(&self, flat: Vec<L>) -> Result<Out, StructureError> {
        match self.outputs.get() {
            Some(schema) => schema.rebuild(flat),
            None => {
                let kind = StructureErrorKind::Value {
                    expected: "the outputs of an earlier call".into(),
                    got: "none, since the function has not been called".into(),
                };
                Err(StructureError::new(kind, KeyPath::root()).about("outputs"))
            }
        }
    }

    /// The schema of the inputs.
    pub fn inputs(&self) -> &Schema<L> {
        &self.inputs
    }

    /// The schema of the outputs, once the function has been called.
    pub fn outputs(&self) -> Option<&Schema<L>> {
        self.outputs.get()
    }
}
