//! Passes that make a jaxpr smaller or cheaper without changing what it computes.
//!
//! Each is usable alone; [`simplify`] runs them all. What they may and may not do is said in [`rewrite`](mod@rewrite)'s
//! page of laws: the same bits for every input, NaN, infinities and -0.0 included. A text in which a definition uses variables
//! of the jaxpr around its use can be printed and not run: the passes give such a program back as it is.
//!
//! * [`dce`]: equations that no result needs go;
//! * [`cse`]: equal equations become one;
//! * [`fold_constants`]: equations of literals are computed now;
//! * [`inline_calls`]: calls are replaced by what they call;
//! * [`rewrite`](rewrite()): algebraic laws, one rule each.

mod cse;
mod dce;
mod fold;
mod inline;
mod nested;
pub mod rewrite;

pub use cse::cse;
pub use dce::{Dce, dce, dce_jaxpr, has_effect};
pub use fold::fold_constants;
pub use inline::inline_calls;
pub use rewrite::rewrite;

pub(crate) use dce::keep;

use crate::error::Result;
use crate::jaxpr::{ClosedJaxpr, debug_check};

/// A pass: a jaxpr that computes the same.
type Pass = fn(&ClosedJaxpr) -> Result<ClosedJaxpr>;

/// The passes in their order.
const PASSES: [(&str, Pass); 5] = [
    ("inline_calls", inline_calls),
    ("fold_constants", |jaxpr| Ok(fold_constants(jaxpr))),
    ("rewrite", |jaxpr| Ok(rewrite(jaxpr))),
    ("cse", |jaxpr| Ok(cse(jaxpr))),
    ("dce", dce),
];

/// Runs all passes until nothing changes, at most eight times. Builds with debug assertions check what each gives.
///
/// ```
/// use jaxide_core::{jaxpr::parse, simplify::simplify};
/// let jaxpr = parse("{ lambda ; a:f32[2]. let b:f32[2] = mul a 1.0:f32[]; c:f32[2] = sin b; d:f32[2] = sin a; e:f32[2] = add c d in (e,) }").unwrap();
/// let simple = simplify(&jaxpr)?;
/// assert_eq!(simple.to_string(), "{ lambda ; a:f32[2]. let b:f32[2] = sin a; c:f32[2] = add b b in (c,) }");
/// # Ok::<(), jaxide_core::Error>(())
/// ```
///
/// # Errors
/// When a sub-jaxpr is illegal.
pub fn simplify(jaxpr: &ClosedJaxpr) -> Result<ClosedJaxpr> {
    let mut jaxpr = jaxpr.clone();
    for _ in 0..8 {
        let mut next = jaxpr.clone();
        for (name, pass) in PASSES {
            next = pass(&next)?;
            debug_check(name, &next)?;
        }
        if next == jaxpr {
            break;
        }
        jaxpr = next;
    }
    Ok(jaxpr)
}
