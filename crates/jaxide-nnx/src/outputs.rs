//! What modules give on the way, without a change to them.

use jaxide::Array;

use crate::observe::observe;
use crate::variable::{Metadata, Value};
use crate::{Attribute, Entry, Intermediate, KindRef, State};

/// What `f` gives, and what each part of `module` gave on the way: a state of [`Intermediate`]s at `path/method`, one array for each call
/// and array of its result, in order.
///
/// Seen are the calls of layers of this crate, and of methods with [`observed`](crate::observed), of the very module that is given:
/// not of a clone, and not of what a transformation inside `f` makes of it.
///
/// ```
/// use jaxide_nnx::{self as nnx, Linear, Rngs, module};
/// use jaxide::{Array, nn};
/// module! {
///     struct Mlp(rngs: &Rngs) {
///         hidden: Linear = Linear::new(1, 2, rngs, ()),
///         out: Linear = Linear::new(2, 1, rngs, ()),
///     }
///     fn call(&self, x: &Array) -> Array {
///         self.out.call(&nn::relu(&self.hidden.call(x)))
///     }
/// }
/// let mlp = Mlp::new(&Rngs::new(0));
/// let x = Array::from([[1.0f32], [2.0]]);
/// let (y, given) = nnx::capture_outputs(&mlp, |mlp| mlp.call(&x));
/// assert_eq!(given.array("hidden/call")?.shape(), [2, 2]);
/// assert_eq!(given.array("out/call")?.to_vec::<f32>(), y.to_vec::<f32>());
/// # Ok::<(), nnx::Error>(())
/// ```
pub fn capture_outputs<M: Attribute, Out>(module: &M, f: impl FnOnce(&M) -> Out) -> (Out, State) {
    let (out, calls) = observe(module, || f(module));
    let mut state = State::default();
    for call in calls {
        let path = call.path.child(call.method);
        let mut values: Vec<Array> = match state.get(path.clone()) {
            Some(earlier) => earlier.arrays().to_vec(),
            None => Vec::new(),
        };
        values.extend(call.outputs);
        let entry = Entry::Variable {
            kind: KindRef::of::<Intermediate>(),
            metadata: Metadata::default(),
            value: Value::Tuple(values),
        };
        state.insert(path, entry);
    }
    (out, state)
}
