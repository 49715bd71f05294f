//! Transformations that treat each parameter by itself.

use jaxide::tree::Tree;
use jaxide::{Array, DType, numpy};

use super::{At, GradientTransformation, Transform, number, part, parts, with_leaves, zip};

/// What a transformation of a leaf sees.
pub(super) struct Leaf<'a> {
    /// The gradient, or what became of it.
    pub(super) g: &'a Array,
    /// What was kept, in the order of the moments.
    pub(super) kept: &'a [Array],
    /// How many steps there were before this one.
    pub(super) before: &'a Array,
    /// How many steps there are with this one.
    pub(super) count: &'a Array,
}

type Update = dyn Fn(Leaf<'_>) -> (Array, Vec<Array>) + Send + Sync;

struct Leafwise {
    name: &'static str,
    moments: Vec<(&'static str, f64)>,
    update: Box<Update>,
}

/// A transformation that keeps a count of steps, and moments that are at first filled with a number.
pub(super) fn leafwise(
    name: &'static str,
    moments: &[(&'static str, f64)],
    update: impl Fn(Leaf<'_>) -> (Array, Vec<Array>) + Send + Sync + 'static,
) -> GradientTransformation {
    GradientTransformation::new(Leafwise {
        name,
        moments: moments.to_vec(),
        update: Box::new(update),
    })
}

/// A transformation without a state.
pub(super) fn stateless(
    update: impl Fn(&Array, &Array) -> Array + Send + Sync + 'static,
) -> GradientTransformation {
    GradientTransformation::new(Stateless(Box::new(update)))
}

impl Transform for Leafwise {
    fn init(&self, params: &Tree<Array>) -> Tree<Array> {
        let mut fields = vec![("count", Tree::Leaf(Array::zeros((), DType::I32)))];
        for &(name, value) in &self.moments {
            fields.push((name, zip(&[params], |p| numpy::full_like(p[0], value))));
        }
        parts(self.name, fields)
    }

    fn update(
        &self,
        updates: Tree<Array>,
        state: &Tree<Array>,
        at: &At<'_>,
    ) -> (Tree<Array>, Tree<Array>) {
        let before = number(state, 0);
        let count = next(&before);
        let mut columns = vec![&updates];
        columns.extend((0..self.moments.len()).map(|place| part(state, place + 1)));
        let mut kept: Vec<Vec<Array>> = vec![Vec::new(); self.moments.len()];
        let new = zip(&columns, |leaves| {
            let own: Vec<Array> = leaves[1..].iter().map(|&array| array.clone()).collect();
            let leaf = Leaf {
                g: leaves[0],
                kept: &own,
                before: &before,
                count: &count,
            };
            let (update, moments) = (self.update)(leaf);
            for ((column, moment), old) in kept.iter_mut().zip(moments).zip(&own) {
                column.push(moment.astype(old.dtype()));
            }
            update
        });
        let mut fields = vec![("count", Tree::Leaf(count))];
        for (&(name, _), leaves) in self.moments.iter().zip(kept) {
            fields.push((name, with_leaves(at.params, leaves)));
        }
        (new, parts(self.name, fields))
    }
}

/// One more, unless that is too large to count.
pub(super) fn next(count: &Array) -> Array {
    let most = i32::MAX;
    numpy::where_(numpy::less(count, most), numpy::add(count, 1), most).astype(count.dtype())
}

type UpdateLeaf = dyn Fn(&Array, &Array) -> Array + Send + Sync;

struct Stateless(Box<UpdateLeaf>);

impl Transform for Stateless {
    fn init(&self, _params: &Tree<Array>) -> Tree<Array> {
        Tree::tuple([])
    }

    fn update(
        &self,
        updates: Tree<Array>,
        state: &Tree<Array>,
        at: &At<'_>,
    ) -> (Tree<Array>, Tree<Array>) {
        (
            zip(&[&updates, at.params], |leaves| {
                (self.0)(leaves[0], leaves[1])
            }),
            state.clone(),
        )
    }
}
