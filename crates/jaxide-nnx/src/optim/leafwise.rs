//! Transformations that treat each parameter by itself.

use jaxide::tree::Tree;
use jaxide::{Array, DType, Result, numpy};

use super::transform::stateless;
use super::tree::{self, Arrays};
use super::{GradientTransformation, transform::Given};

/// What a transformation sees of a parameter.
#[derive(Clone, Copy)]
pub(super) struct Leaf<'a> {
    /// The gradient, or what became of it.
    pub(super) g: &'a Array,
    /// The parameter.
    pub(super) p: &'a Array,
}

/// How many steps there were.
pub(super) struct Count {
    /// Before this one.
    pub(super) before: Array,
    /// With this one.
    pub(super) now: Array,
}

/// What a leaf becomes, and what is kept for the next step.
pub(super) type Kept<const N: usize> = (Array, [Array; N]);

/// A transformation without a state.
pub(super) fn stateless_leafwise(
    update: impl Fn(Leaf<'_>) -> Array + Send + Sync + 'static,
) -> GradientTransformation {
    stateless(move |updates, params| tree::zip([&updates, params], |[g, p]| update(Leaf { g, p })))
}

/// A transformation that keeps arrays for each parameter under names; `init` is what they are at first.
pub(super) fn uncounted<const N: usize>(
    name: &'static str,
    fields: [&'static str; N],
    init: impl Fn(&Array) -> [Array; N] + Send + Sync + 'static,
    update: impl Fn(Leaf<'_>, [&Array; N]) -> Kept<N> + Send + Sync + 'static,
) -> GradientTransformation {
    GradientTransformation::given(
        move |params| Ok(Tree::named_tuple(name, first(params, fields, &init))),
        move |updates, state, given| {
            let (updates, kept) = each(updates, state, given, fields, &update)?;
            Ok((updates, Tree::named_tuple(name, kept)))
        },
    )
}

/// The same, with a count of steps in front.
pub(super) fn counted<const N: usize>(
    name: &'static str,
    fields: [&'static str; N],
    init: impl Fn(&Array) -> [Array; N] + Send + Sync + 'static,
    update: impl Fn(Leaf<'_>, [&Array; N], &Count) -> Kept<N> + Send + Sync + 'static,
) -> GradientTransformation {
    let with_count = move |count, kept| {
        let count = std::iter::once(("count", Tree::Leaf(count)));
        Tree::named_tuple(name, count.chain(kept))
    };
    GradientTransformation::given(
        move |params| {
            Ok(with_count(
                Array::scalar(0i32),
                first(params, fields, &init),
            ))
        },
        move |updates, state, given| {
            let before = tree::number(state, "count")?.clone();
            let now = tree::next(&before);
            let count = Count { before, now };
            let update = |leaf: Leaf<'_>, kept: [&Array; N]| update(leaf, kept, &count);
            let (updates, kept) = each(updates, state, given, fields, &update)?;
            Ok((updates, with_count(count.now, kept)))
        },
    )
}

/// Names with their trees.
type Fields = Vec<(&'static str, Arrays)>;

fn columns<const N: usize>(
    like: &Arrays,
    names: [&'static str; N],
    rows: Vec<[Array; N]>,
) -> Fields {
    let column = |place: usize| rows.iter().map(|row| row[place].clone()).collect();
    let columns = (0..N).map(|place| tree::with_leaves(like, column(place)));
    names.into_iter().zip(columns).collect()
}

fn first<const N: usize>(
    params: &Arrays,
    names: [&'static str; N],
    init: &impl Fn(&Array) -> [Array; N],
) -> Fields {
    let rows = params.leaves().into_iter().map(init).collect();
    columns(params, names, rows)
}

fn each<const N: usize>(
    updates: Arrays,
    state: &Arrays,
    given: Given<'_>,
    names: [&'static str; N],
    update: &impl Fn(Leaf<'_>, [&Array; N]) -> Kept<N>,
) -> Result<(Arrays, Fields)> {
    let leaves = updates.leaves();
    let mut kept = Vec::with_capacity(N);
    for name in names {
        let part = tree::part(state, name)?.leaves();
        if part.len() != leaves.len() {
            return Err(tree::foreign());
        }
        kept.push(part);
    }
    let (mut new, mut rows) = (Vec::new(), Vec::new());
    for (row, (g, p)) in leaves.into_iter().zip(given.params.leaves()).enumerate() {
        let before: [&Array; N] = std::array::from_fn(|place| kept[place][row]);
        let (leaf, mut after) = update(Leaf { g, p }, before);
        for (after, before) in after.iter_mut().zip(before) {
            *after = after.astype(before.dtype());
        }
        new.push(leaf);
        rows.push(after);
    }
    let fields = columns(&updates, names, rows);
    Ok((tree::with_leaves(&updates, new), fields))
}

/// Zeros at first.
pub(super) fn zeros<const N: usize>(p: &Array) -> [Array; N] {
    std::array::from_fn(|_| numpy::zeros_like(p, ()))
}

/// Zeros at first, in an element type of their own if there is one.
pub(super) fn zeros_in(p: &Array, dtype: Option<DType>) -> Array {
    match dtype {
        Some(dtype) => Array::zeros(p.shape(), dtype),
        None => numpy::zeros_like(p, ()),
    }
}
