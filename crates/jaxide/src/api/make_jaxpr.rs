//! The jaxpr of a function, and the types of its results.

use std::sync::Arc;

use jaxide_core::prims::Name;
use jaxide_core::{ClosedJaxpr, Result};
use jaxide_tree::Pytree;

use super::flat::{FlatArgs, FlatFn, FlatTrace, avals, flat, flatten, trace_flat, unflatten};
use crate::array::Array;
use crate::function::{ArgList, Arguments, Erased, Function, Transformed};
use crate::trace::{AxisEnv, Captures, Known, UserPlace, called_by, caller, catch, with_axes};

/// A function that gives the jaxpr of `f` for arguments of the given types.
///
/// Arguments are arrays or [specifications](Array::spec); their elements do not matter. Arrays that `f` captures become
/// constants of the jaxpr.
///
/// # Errors
/// When `f` makes a mistake with arrays, or asks for the value of one.
///
/// ```
/// use jaxide::{Array, make_jaxpr};
/// let f = |x: Array, y: Array| (x + y.sin() * 3.0).sum();
/// let x = Array::from([0.0f32; 8]);
/// println!("{}", make_jaxpr(f)(x.clone(), x)?);
/// # Ok::<(), jaxide::Error>(())
/// ```
#[track_caller]
pub fn make_jaxpr<F, Args, Out>(f: F) -> Transformed<Args, Result<ClosedJaxpr>, MakeJaxprOptions>
where
    F: Function<Args, Out> + Send + Sync + 'static,
    Args: ArgList,
    Out: Pytree<Array> + 'static,
{
    making_jaxpr(Arc::new(f))
}

#[track_caller]
fn making_jaxpr<Args, Out>(
    f: Erased<Args, Out>,
) -> Transformed<Args, Result<ClosedJaxpr>, MakeJaxprOptions>
where
    Args: ArgList,
    Out: Pytree<Array> + 'static,
{
    Transformed::new(
        f.name(),
        MakeJaxprOptions::default(),
        move |options, args: Args| {
            let args = || flatten(&args);
            let traced = recorded("make_jaxpr", &flat(&*f), &options.axis_env, &args);
            traced.map(|traced| traced.jaxpr)
        },
    )
}

/// [`make_jaxpr`] of a borrowed function: `f` may capture references and need not be `Send`.
///
/// # Errors
/// As the function that [`make_jaxpr`] gives.
///
/// ```
/// use jaxide::{Array, make_jaxpr_of};
/// let scale = &Array::from([2.0f32, 3.0]);
/// let jaxpr = make_jaxpr_of(&|x: Array| x * scale, Array::from([0.0f32, 0.0]))?;
/// assert!(jaxpr.to_string().contains("mul b a"));
/// # Ok::<(), jaxide::Error>(())
/// ```
#[track_caller]
pub fn make_jaxpr_of<F, Args, Out>(f: &F, args: impl Arguments<Args>) -> Result<ClosedJaxpr>
where
    F: Function<Args, Out> + ?Sized,
    Args: ArgList,
    Out: Pytree<Array>,
{
    let args = args.into_tuple();
    let args = || flatten(&args);
    let traced = recorded("make_jaxpr", &flat(f), &AxisEnv::default(), &args);
    traced.map(|traced| traced.jaxpr)
}

/// The structure, shapes and element types of what `f` gives, without computing it: a tree of
/// [specifications](Array::spec). Arguments may be specifications too.
///
/// # Errors
/// When `f` makes a mistake with arrays, or asks for the value of one.
///
/// ```
/// use jaxide::{Array, DType, eval_shape};
/// let f = |x: Array, y: Array| (x.matmul(&y), x.sum());
/// let (x, y) = (Array::spec(DType::F32, &[2, 3]), Array::spec(DType::F32, &[3, 5]));
/// let (product, sum) = eval_shape(f, (x, y))?;
/// assert_eq!((product.shape(), sum.shape()), (&[2, 5][..], &[][..]));
/// # Ok::<(), jaxide::Error>(())
/// ```
#[track_caller]
pub fn eval_shape<F, Args, Out>(f: F, args: impl Arguments<Args>) -> Result<Out>
where
    F: Function<Args, Out>,
    Args: ArgList,
    Out: Pytree<Array>,
{
    let args = args.into_tuple();
    let args = || flatten(&args);
    let traced = recorded("eval_shape", &flat(&f), &AxisEnv::default(), &args)?;
    let specs = traced.jaxpr.out_avals().into_iter();
    catch(|| unflatten(&traced.aux, specs.map(Array::of_type)))
}

#[track_caller]
fn recorded(
    operation: &'static str,
    f: FlatFn<'_>,
    axes: &AxisEnv,
    args: &dyn Fn() -> FlatArgs,
) -> Result<FlatTrace> {
    let place = caller();
    catch(|| {
        let args = args();
        let types = avals(&args.leaves);
        let record = || {
            trace_flat(
                operation,
                f,
                &args.treedef,
                &types,
                Known::No,
                Captures::Constants,
            )
        };
        let _restore = called_by(UserPlace::of(place));
        with_axes(axes, record)
    })
}

/// What `make_jaxpr` can be told.
#[derive(Clone, Default)]
pub struct MakeJaxprOptions {
    axis_env: AxisEnv,
}

impl<Args: ArgList> Transformed<Args, Result<ClosedJaxpr>, MakeJaxprOptions> {
    /// Named axes that are in scope, with their sizes: what collectives in the function may name.
    ///
    /// ```
    /// use jaxide::{Array, DType, lax, make_jaxpr};
    /// let f = make_jaxpr(|x: Array| lax::psum(&x, "i")).axis_env(&[("i", 4)]);
    /// assert!(f(Array::spec(DType::F32, &[3]))?.to_string().contains("psum[axes=('i',)"));
    /// # Ok::<(), jaxide::Error>(())
    /// ```
    #[must_use]
    pub fn axis_env(self, axes: &[(&str, usize)]) -> Self {
        let named = axes.iter().map(|&(name, size)| (Name::new(name), size));
        let axis_env = named.collect();
        self.configured(|options| options.axis_env = axis_env)
    }
}
