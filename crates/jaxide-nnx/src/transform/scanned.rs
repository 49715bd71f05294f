//! Loops over layers and over time.

use std::cell::RefCell;

use jaxide::core::ErrorKind;
use jaxide::tree::{Pytree, Static, Tree};
use jaxide::{Array, Error, numpy, raise};

use super::axes::{Carried, StateAxes};
use super::lift::{FlatArgs, rebuilt};
use super::mapped::{Outcome, carried, give_back, variable_leaves};
use crate::{Attribute, call};

/// Runs `f` once for each element of the leading axes of `xs` and of the mapped variables of a module, with a carry: [`jaxide::scan()`].
///
/// `axes` says of each part of the module's state whether it is mapped, broadcast, or goes from turn to turn. New values of mapped
/// variables stand along their axis; what is noted for the first time along axis 0.
///
/// ```
/// use jaxide_nnx::{self as nnx, Linear, Param, Rngs, StateAxes};
/// use jaxide::{Array, DType};
/// let layers = nnx::vmap(|rngs: Rngs| Linear::new(3, 3, &rngs, ()))(Rngs::new(0).split(5));
/// let axes = StateAxes::new().with(Param, 0);
/// let step = |layer: &Linear, x: Array, (): ()| (layer.call(&x).tanh(), ());
/// let (y, ()) = nnx::scan(step, &layers, &axes, Array::ones([3], DType::F32), (), None);
/// assert_eq!(y.shape(), [3]);
/// ```
///
/// # Panics
/// When a variable that is broadcast is changed, or [`jaxide::scan()`] does.
#[track_caller]
pub fn scan<M, Carry, X, Y>(
    f: impl FnOnce(&M, Carry, X) -> (Carry, Y),
    module: &M,
    axes: &StateAxes,
    init: Carry,
    xs: X,
    length: impl Into<Option<usize>>,
) -> (Carry, Y)
where
    M: Attribute + Pytree<Array> + Clone,
    Carry: Pytree<Array>,
    X: Pytree<Array>,
    Y: Pytree<Array>,
{
    let _call = call::here();
    let FlatArgs {
        leaves,
        treedef,
        met,
    } = FlatArgs::of(&(module.clone(),));
    let tree: Tree<Array> = match treedef.unflatten(leaves.iter().cloned()) {
        Ok(tree) => tree,
        Err(error) => raise(Error::from(error)),
    };
    let mut ways = vec![Carried::Broadcast; leaves.len()];
    for (carried, located) in carried("scan", &[axes.clone().into()], &tree) {
        ways[located.leaves].fill(carried);
    }
    let of_variables = variable_leaves(&tree);
    let (mut mapped, mut going) = (Vec::new(), Vec::new());
    for (leaf, way) in leaves.iter().zip(&ways) {
        match way {
            Carried::Axis(axis) => mapped.push(numpy::moveaxis(leaf, *axis, 0)),
            Carried::Carry => going.push(leaf.clone()),
            Carried::Broadcast => {}
        }
    }
    let (changed, mistake) = (RefCell::new(Vec::new()), RefCell::new(None));
    let body = |(going, carry): (Vec<Array>, Carry), (mapped, x): (Vec<Array>, X)| {
        let (mut going, mut mapped) = (going.into_iter(), mapped.into_iter());
        let mut next = |leaf: &Array, way: &Carried| {
            let given = match way {
                Carried::Axis(_) => mapped.next(),
                Carried::Carry => going.next(),
                Carried::Broadcast => None,
            };
            given.unwrap_or_else(|| leaf.clone())
        };
        let before: Vec<Array> = leaves
            .iter()
            .zip(&ways)
            .map(|(leaf, way)| next(leaf, way))
            .collect();
        let ((module,), inner): ((M,), _) = rebuilt(&treedef, before.clone());
        let versions: Vec<u64> = inner.iter().map(|met| met.variable.version()).collect();
        let (carry, y) = f(&module, carry, x);
        let outcome = Outcome::of(&met, &inner, &versions, &before, &of_variables);
        // Arrays that are attributes by themselves cannot change; the others have the values of their variables.
        let mut after = before;
        for (&leaf, value) in of_variables.iter().zip(&outcome.same_form) {
            after[leaf] = value.clone();
        }
        let (mut going, mut mapped) = (Vec::new(), Vec::new());
        for (value, way) in after.into_iter().zip(&ways) {
            match way {
                Carried::Axis(_) => mapped.push(value),
                Carried::Carry => going.push(value),
                Carried::Broadcast => {}
            }
        }
        let mut place = 0;
        for inner in &met {
            let form = inner.variable.value().form();
            let broadcast = of_variables[place..place + form.len()]
                .iter()
                .any(|&leaf| ways[leaf] == Carried::Broadcast);
            place += form.len();
            if broadcast && outcome.changed.contains(&inner.index) {
                *mistake.borrow_mut() = Some(
                    Error::new(ErrorKind::Parameter, "a variable is changed that is the same for all turns")
                        .in_operation("scan")
                        .at_path(inner.path.to_string())
                        .note("let the axes say that it is mapped, or goes from turn to turn: `Carried::Carry`"),
                );
            }
        }
        *changed.borrow_mut() = outcome.changed;
        ((going, carry), (y, mapped, outcome.others))
    };
    let ((going, carry), (y, mapped, others)) =
        jaxide::scan(body, (going, init), (mapped, xs), length);
    if let Some(error) = mistake.into_inner() {
        raise(error);
    }
    let (mut going, mut mapped) = (going.into_iter(), mapped.into_iter());
    let mut after = leaves.clone();
    for (leaf, way) in after.iter_mut().zip(&ways) {
        let given = match way {
            Carried::Axis(axis) => mapped.next().map(|value| numpy::moveaxis(&value, 0, *axis)),
            Carried::Carry => going.next(),
            Carried::Broadcast => None,
        };
        if let Some(given) = given {
            *leaf = given;
        }
    }
    let values = of_variables
        .iter()
        .map(|&leaf| after[leaf].clone())
        .collect();
    let changed = Static(changed.into_inner());
    give_back(&met, values, &changed, others);
    (carry, y)
}
