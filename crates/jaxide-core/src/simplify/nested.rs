//! Passes over the sub-jaxprs of a jaxpr: the same object stays the same object.

use std::collections::HashMap;
use std::sync::Arc;

use crate::jaxpr::{ClosedJaxpr, Jaxpr};

/// What became of each sub-jaxpr.
#[derive(Default)]
struct Done(HashMap<*const Jaxpr, (Arc<Jaxpr>, ClosedJaxpr)>);

/// Applies a pass to the sub-jaxprs of `jaxpr`, innermost first, and then to `jaxpr` itself. Programs that can be printed
/// alone stay as they are.
pub(super) fn everywhere(
    jaxpr: &ClosedJaxpr,
    pass: &dyn Fn(ClosedJaxpr) -> ClosedJaxpr,
) -> ClosedJaxpr {
    if jaxpr.jaxpr.has_captures() {
        return jaxpr.clone();
    }
    nested(jaxpr, &mut Done::default(), pass)
}

fn nested(
    jaxpr: &ClosedJaxpr,
    done: &mut Done,
    pass: &dyn Fn(ClosedJaxpr) -> ClosedJaxpr,
) -> ClosedJaxpr {
    let key = Arc::as_ptr(&jaxpr.jaxpr);
    if let Some((_, new)) = done.0.get(&key) {
        return new.clone();
    }
    let mut calls = false;
    for eqn in &jaxpr.jaxpr.eqns {
        eqn.prim.visit(&mut |_| calls = true);
    }
    let mut new = jaxpr.clone();
    if calls {
        let inner = Arc::make_mut(&mut new.jaxpr);
        for eqn in &mut inner.eqns {
            eqn.prim
                .visit_mut(&mut |sub| *sub = nested(sub, done, pass));
        }
    }
    let new = pass(new);
    // The old object is kept so that its address stays its own.
    done.0.insert(key, (jaxpr.jaxpr.clone(), new.clone()));
    new
}
