//! `checkpoint`: computing again instead of keeping.

use std::sync::Arc;

use jaxide_core::prims::{Name, Opaque, PlaceName, Remat};
use jaxide_core::transform::Policy;
use jaxide_tree::Pytree;

use super::flat::{FlatArgs, FlatFn, avals, flat, flatten, trace_flat, unflatten};
use crate::array::Array;
use crate::function::{ArgList, Arguments, Erased, Function, Transformed};
use crate::trace::{Captures, Known, bind, bind_one, tracing};

/// What `checkpoint` can be told.
#[derive(Clone, Debug)]
pub struct CheckpointOptions {
    policy: Option<Policy>,
    prevent_cse: bool,
}

/// `f`, whose intermediate values are not kept for the derivative but computed again: less memory for more time. A
/// [`policy`](Transformed::policy) says which values are kept nevertheless.
///
/// # Panics
/// The function given panics where `f` does.
///
/// ```
/// use jaxide::{Array, checkpoint, grad};
/// let f = checkpoint(|x: Array| x.sin().sin());
/// let slope = grad(move |x: Array| f(x).sum())(Array::from([0.0f32]));
/// assert_eq!(slope.to_vec::<f32>(), [1.0]);
/// ```
#[track_caller]
pub fn checkpoint<F, Args, Out>(f: F) -> Checkpointed<Args, Out>
where
    F: Function<Args, Out> + Send + Sync + 'static,
    Args: ArgList,
    Out: Pytree<Array> + 'static,
{
    checkpointed(Arc::new(f))
}

#[track_caller]
fn checkpointed<Args, Out>(f: Erased<Args, Out>) -> Checkpointed<Args, Out>
where
    Args: ArgList,
    Out: Pytree<Array> + 'static,
{
    Transformed::new(
        f.name(),
        CheckpointOptions::default(),
        move |options, args| remat(&*f, options, args),
    )
}

/// The type of [`checkpoint`]s.
pub type Checkpointed<Args, Out> = Transformed<Args, Out, CheckpointOptions>;

/// [`checkpoint`] of a borrowed function, applied at once: `f` may capture references and need not be `Send`.
///
/// # Panics
/// Where `f` does.
///
/// ```
/// use jaxide::{Array, checkpoint_of, grad};
/// let slope = grad(|x: Array| {
///     let scale = &x.cos();
///     checkpoint_of(&|y: Array| (y * scale).sin(), x.clone())
/// });
/// let x = 0.5f32;
/// let want = (x * x.cos()).cos() * (x.cos() - x * x.sin());
/// assert!((slope(Array::from(x)).item::<f32>() - want).abs() < 1e-6);
/// ```
#[track_caller]
pub fn checkpoint_of<F, Args, Out>(f: &F, args: impl Arguments<Args>) -> Out
where
    F: Function<Args, Out> + ?Sized,
    Args: ArgList,
    Out: Pytree<Array>,
{
    remat(f, &CheckpointOptions::default(), args.into_tuple())
}

impl Default for CheckpointOptions {
    fn default() -> Self {
        CheckpointOptions {
            policy: None,
            prevent_cse: true,
        }
    }
}

#[track_caller]
fn remat<F, Args, Out>(f: &F, options: &CheckpointOptions, args: Args) -> Out
where
    F: Function<Args, Out> + ?Sized,
    Args: ArgList,
    Out: Pytree<Array>,
{
    if !tracing() {
        return f.apply(args);
    }
    flat_remat(&flat(f), options, flatten(&args)).unflatten()
}

#[track_caller]
fn flat_remat(f: FlatFn<'_>, options: &CheckpointOptions, args: FlatArgs) -> FlatArgs {
    let traced = trace_flat(
        "checkpoint",
        f,
        &args.treedef,
        &avals(&args.leaves),
        Known::No,
        Captures::Inputs,
    );
    let prim = Remat {
        differentiated: false,
        jaxpr: traced.jaxpr,
        policy: options
            .policy
            .as_ref()
            .map_or_else(Opaque::none, Policy::write),
        prevent_cse: options.prevent_cse,
    };
    let operands = [traced.captured, args.leaves].concat();
    FlatArgs {
        leaves: bind(prim, &operands).into_vec(),
        treedef: traced.aux,
    }
}

impl<Args: ArgList, Out: 'static> Transformed<Args, Out, CheckpointOptions> {
    /// Which values are kept for the derivative; without a policy none.
    ///
    /// ```
    /// use jaxide::{Array, Policy, checkpoint, checkpoint_name, grad};
    /// let f = checkpoint(|x: Array| checkpoint_name(&x.sin(), "kept").exp())
    ///     .policy(Policy::save_only_these_names(["kept"]));
    /// let slope = grad(move |x: Array| f(x).sum())(Array::from([0.0f32]));
    /// assert_eq!(slope.to_vec::<f32>(), [1.0]);
    /// ```
    #[must_use]
    pub fn policy(self, policy: Policy) -> Self {
        self.configured(|options| options.policy = Some(policy))
    }

    /// Whether simplification must not merge what is computed again with what was computed before; it must not by
    /// default, which is needed except inside a `scan`.
    #[must_use]
    pub fn prevent_cse(self, prevent: bool) -> Self {
        self.configured(|options| options.prevent_cse = prevent)
    }
}

/// `x`, an array or a tree of arrays, under a name that policies of [`checkpoint`] speak of.
///
/// # Panics
/// When `x` is used outside its trace.
#[track_caller]
pub fn checkpoint_name<T: Pytree<Array>>(x: &T, name: &str) -> T {
    let x = flatten(x);
    let named = x.leaves.iter().map(|leaf| {
        let prim = PlaceName {
            name: Name::new(name),
        };
        bind_one(prim, std::slice::from_ref(leaf))
    });
    unflatten(&x.treedef, named)
}
