//! Helper functions of rules that JAX compiles on their own: they appear as calls `jit[name=...]`.

use super::{Jit, Name};
use crate::error::Result;
use crate::jaxpr::{Atom, Atoms, Builder};
use crate::transform::MemoArgs;

/// Calls the function `name` of `args`, written by `body` the first time. Calls with the same types of arguments and the
/// same `statics` share one jaxpr.
pub(crate) fn call_named(
    b: &Builder,
    name: &'static str,
    statics: &[i64],
    args: &[Atom],
    body: impl FnOnce(&Builder, &[Atom]) -> Result<Vec<Atom>>,
) -> Result<Atoms> {
    let mut key = MemoArgs::from_slice(statics);
    for &arg in args {
        let aval = b.aval(arg);
        key.extend([
            i64::from(aval.weak_type),
            aval.dtype as i64,
            aval.rank() as i64,
        ]);
        key.extend(aval.shape.iter().map(|&length| length as i64));
    }
    let jaxpr = b.memo().function(name, key, || {
        let inner = b.nested();
        let inputs: Vec<Atom> = args.iter().map(|&arg| inner.input(b.aval(arg))).collect();
        let results = body(&inner, &inputs)?;
        inner.finish(&results)
    })?;
    let prim = Jit::new(Name::new(name), jaxpr);
    b.emit(prim, args)
}
