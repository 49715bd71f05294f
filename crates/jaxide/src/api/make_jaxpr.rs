//! The jaxpr of a function.

use jaxide_core::{ClosedJaxpr, Result};
use jaxide_tree::Pytree;

use super::flat::{avals, flatten, trace_flat};
use crate::array::Array;
use crate::function::{ArgList, Function, Transformed};
use crate::trace::{Captures, Known, catch};

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
pub fn make_jaxpr<F, Args, Out>(f: F) -> Transformed<Args, Result<ClosedJaxpr>>
where
    F: Function<Args, Out>,
    Args: ArgList,
    Out: Pytree<Array> + 'static,
{
    Transformed::new(f.name(), (), move |(), args: Args| {
        catch(|| {
            let args = flatten(&args);
            let types = avals(&args.leaves);
            trace_flat(
                "make_jaxpr",
                &f,
                &args.treedef,
                &types,
                Known::No,
                Captures::Constants,
            )
            .jaxpr
        })
    })
}
