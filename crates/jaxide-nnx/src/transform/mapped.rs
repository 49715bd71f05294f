//! Functions of one example as functions of a batch.

use std::ops::Deref;
use std::panic::Location;
use std::sync::Arc;

use jaxide::axes::{Axis, IntoAxes};
use jaxide::core::ErrorKind;
use jaxide::tree::{Pytree, Static, Tree};
use jaxide::{ArgList, Array, Error, Function, raise};

use super::axes::{ArgAxes, ArgAxesList, Carried, IntoArgAxes, StateAxes};
use super::lift::{Changes, FlatArgs, rebuilt, set};
use crate::call;
use crate::graph::{Located, Met, entries};

/// What [`vmap`] gives: a function of batches.
pub struct Vmapped<Args: ArgList, Out: 'static> {
    f: Arc<dyn Fn(Args) -> Out + Send + Sync>,
    mapping: Mapping,
    callable: Arc<Args::Callable<Out>>,
}

/// The axes of results: of parts of their structure, or of the state of the modules in them.
#[derive(Clone)]
enum OutAxes {
    Prefix(Tree<Axis>),
    State(StateAxes),
}

/// How arguments and results are mapped.
#[derive(Clone)]
struct Mapping {
    in_axes: ArgAxesList,
    out_axes: OutAxes,
    axis_name: Option<String>,
    axis_size: Option<usize>,
    /// Where the user made the function.
    place: &'static Location<'static>,
}

/// Maps a function of modules and arrays over an axis of its arguments: [`jaxide::vmap`]. Variables that are mapped have their
/// new values along the same axis; those that are broadcast can be read alone.
///
/// A function that makes a module makes one whose variables have a further axis.
///
/// ```
/// use jaxide_nnx::{self as nnx, Linear, Param, Rngs, StateAxes};
/// use jaxide::{Array, DType};
/// let make = nnx::vmap(|rngs: Rngs| Linear::new(2, 3, &rngs, ()));
/// let layers = make(Rngs::new(0).split(4));
/// assert_eq!(layers.kernel.get().shape(), [4, 2, 3]);
/// let apply = nnx::vmap(|layer: Linear, x: Array| layer.call(&x)).in_axes((StateAxes::new().with(Param, 0), None));
/// assert_eq!(apply(layers, Array::ones([2], DType::F32)).shape(), [4, 3]);
/// ```
#[track_caller]
pub fn vmap<F, Args, Out>(f: F) -> Vmapped<Args, Out>
where
    F: Function<Args, Out> + Send + Sync + 'static,
    Args: ArgList,
    Out: Pytree<Array> + 'static,
{
    let f: Arc<dyn Fn(Args) -> Out + Send + Sync> = Arc::new(move |args| f.apply(args));
    let mapping = Mapping {
        in_axes: 0.into_arg_axes(),
        out_axes: OutAxes::Prefix(0.into_axes()),
        axis_name: None,
        axis_size: None,
        place: Location::caller(),
    };
    Vmapped::made(f, mapping)
}

impl<Args: ArgList, Out: Pytree<Array> + 'static> Vmapped<Args, Out> {
    fn made(f: Arc<dyn Fn(Args) -> Out + Send + Sync>, mapping: Mapping) -> Self {
        let (g, how) = (f.clone(), mapping.clone());
        let callable = Args::callable(move |args| {
            let _call = call::made_at(how.place);
            map(&g, &how, &args)
        });
        Vmapped {
            f,
            mapping,
            callable,
        }
    }

    /// The axes of the arguments: one for all, or a tuple with an axis, `None` or [`StateAxes`](crate::StateAxes) for each.
    #[must_use]
    pub fn in_axes(self, axes: impl IntoArgAxes) -> Self {
        let in_axes = axes.into_arg_axes();
        Self::made(
            self.f,
            Mapping {
                in_axes,
                ..self.mapping
            },
        )
    }

    /// The axes of the results.
    #[must_use]
    pub fn out_axes(self, axes: impl IntoAxes) -> Self {
        let out_axes = OutAxes::Prefix(axes.into_axes());
        Self::made(
            self.f,
            Mapping {
                out_axes,
                ..self.mapping
            },
        )
    }

    /// The axes of the modules that the function gives, by the parts of their state: what is broadcast is the same for all lanes, and
    /// has no further axis. The function is traced once more to know its result.
    ///
    /// ```
    /// use jaxide_nnx::{self as nnx, BatchNorm, BatchStat, Param, Rngs, StateAxes};
    /// let make = nnx::vmap(|rngs: Rngs| BatchNorm::new(3, &rngs, ()))
    ///     .out_state_axes(StateAxes::new().with(Param, 1).with(BatchStat, None));
    /// let norms = make(Rngs::new(0).split(4));
    /// assert_eq!(norms.scale.as_ref().unwrap().get().shape(), [3, 4]);
    /// assert_eq!(norms.mean.get().shape(), [3]);
    /// ```
    #[must_use]
    pub fn out_state_axes(self, axes: StateAxes) -> Self {
        let out_axes = OutAxes::State(axes);
        Self::made(
            self.f,
            Mapping {
                out_axes,
                ..self.mapping
            },
        )
    }

    /// The name under which lanes exchange values.
    #[must_use]
    pub fn axis_name(self, name: &str) -> Self {
        let axis_name = Some(name.to_owned());
        Self::made(
            self.f,
            Mapping {
                axis_name,
                ..self.mapping
            },
        )
    }

    /// The number of lanes, where nothing is mapped.
    #[must_use]
    pub fn axis_size(self, size: usize) -> Self {
        let axis_size = Some(size);
        Self::made(
            self.f,
            Mapping {
                axis_size,
                ..self.mapping
            },
        )
    }
}

impl<Args: ArgList, Out: 'static> Deref for Vmapped<Args, Out> {
    type Target = Args::Callable<Out>;

    fn deref(&self) -> &Self::Target {
        &self.callable
    }
}

/// What becomes of each leaf of arguments.
#[track_caller]
pub(super) fn carried(
    operation: &str,
    axes: &[ArgAxes],
    args: &Tree<Array>,
) -> Vec<(Carried, Located)> {
    if axes.len() != args.children().len() {
        raise(
            Error::parameter(format!(
                "there are axes for {} arguments of {}",
                axes.len(),
                args.children().len()
            ))
            .in_operation(operation),
        );
    }
    let mut first = 0;
    let mut all = Vec::new();
    for (axes, argument) in axes.iter().zip(args.children()) {
        let found = entries(argument, first);
        first += argument.leaves().len();
        for located in found {
            let carried = axes.0.of(&located.path, &located.entry);
            if let Carried::Axis(axis) = carried {
                check_axis(operation, axis, &located);
            }
            all.push((carried, located));
        }
    }
    all
}

/// That what stands at a path of a module has the axis along which it is mapped; of arguments without paths `jaxide` speaks.
#[track_caller]
fn check_axis(operation: &str, axis: i32, located: &Located) {
    let lacks = |array: &&Array| {
        let rank = array.ndim() as i32;
        axis >= rank || axis < -rank
    };
    let short = located.entry.arrays().iter().find(lacks);
    if let Some(array) = short.filter(|_| !located.path.is_empty()) {
        raise(
            Error::shape(format!("{} has no axis {axis} to be mapped", array.aval()))
                .in_operation(operation)
                .at_path(located.path.to_string()),
        );
    }
}

#[track_caller]
fn map<Args: ArgList, Out: Pytree<Array> + 'static>(
    f: &Arc<dyn Fn(Args) -> Out + Send + Sync>,
    how: &Mapping,
    args: &Args,
) -> Out {
    let FlatArgs {
        leaves,
        treedef,
        met,
    } = FlatArgs::of(args);
    let tree: Tree<Array> = match treedef.unflatten(leaves.iter().cloned()) {
        Ok(tree) => tree,
        Err(error) => raise(Error::from(error)),
    };
    let axes = match &how.in_axes {
        ArgAxesList::All(axes) => vec![axes.clone(); tree.children().len()],
        ArgAxesList::Each(axes) => axes.clone(),
    };
    let mut leaf_axes = vec![Axis::NONE; leaves.len()];
    for (carried, located) in carried("vmap", &axes, &tree) {
        let axis = axis_of(carried, &located);
        leaf_axes[located.leaves].fill(axis);
    }
    // The leaves of the variables stand in the order in which these were met.
    let variable_leaves = variable_leaves(&tree);
    let kept: Vec<Axis> = variable_leaves
        .iter()
        .map(|&leaf| leaf_axes[leaf])
        .collect();
    let (f, def, outer) = (f.clone(), treedef.clone(), met.clone());
    let body = move |leaves: Vec<Array>| -> (Out, Vec<Array>, (Static<Vec<usize>>, Changes)) {
        let before = leaves.clone();
        let (args, inner) = rebuilt(&def, leaves);
        let versions: Vec<u64> = inner.iter().map(|met| met.variable.version()).collect();
        let out = f(args);
        let after = Outcome::of(&outer, &inner, &versions, &before, &variable_leaves);
        (out, after.same_form, (Static(after.changed), after.others))
    };
    let (body, in_axes) = (Arc::new(body), (&(leaf_axes,)).into_axes());
    let mapped = |out_axes: Tree<Axis>| {
        let body = body.clone();
        let mut mapped = jaxide::vmap(move |leaves: Vec<Array>| body(leaves))
            .in_axes(in_axes.clone())
            .out_axes(Tree::tuple([out_axes, (&kept).into_axes(), 0.into_axes()]));
        if let Some(name) = &how.axis_name {
            mapped = mapped.axis_name(name);
        }
        if let Some(size) = how.axis_size {
            mapped = mapped.axis_size(size);
        }
        mapped
    };
    let out_axes = match &how.out_axes {
        OutAxes::Prefix(axes) => axes.clone(),
        OutAxes::State(axes) => {
            let result = jaxide::eval_shape(mapped(0.into_axes()), (leaves.clone(),));
            match result {
                Ok((out, _, _)) => of_result(axes, &Tree::from_value(&out)),
                Err(error) => raise(error),
            }
        }
    };
    let (out, values, (changed, others)) = mapped(out_axes)(leaves);
    give_back(&met, values, &changed, others);
    out
}

/// The axes of a result, by what stands in it.
#[track_caller]
fn of_result(axes: &StateAxes, out: &Tree<Array>) -> Tree<Axis> {
    let mut leaf_axes = vec![Axis::NONE; out.leaves().len()];
    for located in entries(out, 0) {
        let axis = axis_of(axes.of(&located.path, &located.entry), &located);
        leaf_axes[located.leaves].fill(axis);
    }
    match out.structure().unflatten(leaf_axes) {
        Ok(axes) => axes,
        Err(error) => raise(Error::from(error)),
    }
}

/// The axis of something that is mapped or broadcast.
#[track_caller]
fn axis_of(carried: Carried, located: &Located) -> Axis {
    match carried {
        Carried::Axis(axis) => Axis(Some(axis)),
        Carried::Broadcast => Axis::NONE,
        Carried::Carry => raise(
            Error::parameter("a carry is for loops: lanes have no order")
                .in_operation("vmap")
                .at_path(located.path.to_string()),
        ),
    }
}

/// The numbers of the leaves that are in variables.
pub(super) fn variable_leaves(tree: &Tree<Array>) -> Vec<usize> {
    let located = entries(tree, 0)
        .into_iter()
        .filter(|located| located.entry.kind().is_some());
    located.flat_map(|located| located.leaves).collect()
}

/// What variables hold after a function: those of the same form as before in one list, whether changed or not, so that it is
/// known before which axes they have; and the others.
pub(super) struct Outcome {
    pub(super) same_form: Vec<Array>,
    pub(super) changed: Vec<usize>,
    pub(super) others: Changes,
}

impl Outcome {
    pub(super) fn of(
        outer: &[Met],
        inner: &[Met],
        versions: &[u64],
        before: &[Array],
        variable_leaves: &[usize],
    ) -> Self {
        let (mut same_form, mut changed, mut others) = (Vec::new(), Vec::new(), Vec::new());
        let mut place = 0;
        for ((outer, inner), version) in outer.iter().zip(inner).zip(versions) {
            let (form, value) = (outer.variable.value().form(), inner.variable.value());
            let own = &variable_leaves[place..place + form.len()];
            place += form.len();
            let is_changed = inner.variable.version() != *version;
            if value.form() == form {
                same_form.extend_from_slice(value.arrays());
                if is_changed {
                    changed.push(inner.index);
                }
            } else {
                same_form.extend(own.iter().map(|&leaf| before[leaf].clone()));
                others.push(inner.clone());
            }
        }
        Outcome {
            same_form,
            changed,
            others: Changes::of(others.iter()),
        }
    }
}

/// Gives the variables of the caller what they hold now.
#[track_caller]
pub(super) fn give_back(met: &[Met], values: Vec<Array>, changed: &[usize], others: Changes) {
    let mut values = values.into_iter();
    for met in met {
        let value = met.variable.value().form().fill(&mut values);
        if changed.contains(&met.index) {
            set(met, value);
        }
    }
    if values.next().is_some() {
        raise(Error::new(
            ErrorKind::Internal,
            "there are more values than variables",
        ));
    }
    others.apply(met);
}
