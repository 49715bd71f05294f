//! The jaxpr of a function.

use jaxide_core::prims::Name;
use jaxide_core::{ClosedJaxpr, Result};
use jaxide_tree::Pytree;

use super::flat::{avals, flatten, trace_flat};
use crate::array::Array;
use crate::function::{ArgList, Function, Transformed};
use crate::trace::{AxisEnv, Captures, Known, catch, with_axes};

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
pub fn make_jaxpr<F, Args, Out>(f: F) -> Transformed<Args, Result<ClosedJaxpr>, MakeJaxprOptions>
where
    F: Function<Args, Out>,
    Args: ArgList,
    Out: Pytree<Array> + 'static,
{
    Transformed::new(
        f.name(),
        MakeJaxprOptions::default(),
        move |options, args: Args| {
            catch(|| {
                let args = flatten(&args);
                let types = avals(&args.leaves);
                with_axes(&options.axis_env, || {
                    trace_flat(
                        "make_jaxpr",
                        &f,
                        &args.treedef,
                        &types,
                        Known::No,
                        Captures::Constants,
                    )
                })
                .jaxpr
            })
        },
    )
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
