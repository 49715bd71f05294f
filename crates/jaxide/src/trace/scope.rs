//! Names for parts of a program.

use std::cell::Cell;

use jaxide_core::Scope;

thread_local! {
    static SCOPE: Cell<Option<Scope>> = const { Cell::new(None) };
}

/// Gives the thread its scope back when dropped, by a panic too.
struct Restore(Option<Scope>);

impl Drop for Restore {
    fn drop(&mut self) {
        SCOPE.set(self.0);
    }
}

/// Calls `f`, whose operations belong to a part of the program called `name`: scopes inside of others are named
/// `outer/inner`.
///
/// The name stands with the line of every equation that is recorded in it: in jaxprs printed with their sources, in
/// messages, beside the loops that it became, and (with `JAXIDE_PERF_MAP=1` in the environment) in the profiles that Linux's
/// `perf` makes. Equations that a transformation makes belong to the scope of the one that they were made of.
///
/// ```
/// use jaxide::{Array, DType, make_jaxpr, named_scope};
/// let f = |x: Array| named_scope("encoder", || named_scope("norm", || x.sin()));
/// let jaxpr = make_jaxpr(f)(Array::spec(DType::F32, &[3]))?;
/// let scope = jaxpr.jaxpr.eqns[0].source.scope().map(|scope| scope.names());
/// assert_eq!(scope, Some("encoder/norm"));
/// # Ok::<(), jaxide::Error>(())
/// ```
pub fn named_scope<T>(name: &str, f: impl FnOnce() -> T) -> T {
    let outer = SCOPE.get();
    let scope = match outer {
        Some(outer) => Scope::new(&format!("{}/{name}", outer.names())),
        None => Scope::new(name),
    };
    let _restore = Restore(outer);
    SCOPE.set(Some(scope));
    f()
}

/// Calls `f` outside of all scopes: for a body that is recorded once and belongs to the scope of each of its calls.
pub(crate) fn without_scope<T>(f: impl FnOnce() -> T) -> T {
    let _restore = Restore(SCOPE.take());
    f()
}

/// The scope that this thread is in.
pub(super) fn current_scope() -> Option<Scope> {
    SCOPE.get()
}
