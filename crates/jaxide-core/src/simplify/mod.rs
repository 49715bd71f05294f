//! What is done with a jaxpr before it is compiled, without changing what it computes.
//!
//! Only what the compiler does not do anyway when it lowers a program: it reads through calls, computes what is known and makes equal operations
//! one. Algebraic laws and arrangements of arrangements are different: operands of products and sorts are arrays in memory, and a law spares one.
//! So is what a loop carries or stacks and nothing reads, as the second half of `scan(f, init, xs)[0]`: its body computes it for nothing.
//! A text in which a definition uses variables of the jaxpr around its use can be printed and not run: such a program stays as it is.
//!
//! * [`rewrite`](rewrite()): algebraic laws, one rule each;
//! * [`dce`]: equations that no result needs go.

pub mod rewrite;

pub use crate::transform::{dce, has_effect};
pub use rewrite::rewrite;

use crate::error::Result;
use crate::jaxpr::{ClosedJaxpr, debug_check};
use std::sync::Arc;

/// Applies the laws, and removes what no result needs, in sub-jaxprs too. The very same object when there is nothing to do. Builds with debug
/// assertions check the result.
///
/// ```
/// use jaxide_core::{jaxpr::parse, simplify::simplify};
/// let jaxpr = parse("{ lambda ; a:f32[2,3]. let b:f32[2,3] = mul a 1.0:f32[]; c:f32[3,2] = transpose[permutation=(1, 0)] b; d:f32[2,3] = transpose[permutation=(1, 0)] c; e:f32[2,3] = sin d in (e,) }").unwrap();
/// assert_eq!(simplify(&jaxpr)?.to_string(), "{ lambda ; a:f32[2,3]. let b:f32[2,3] = sin a in (b,) }");
/// # Ok::<(), jaxide_core::Error>(())
/// ```
///
/// # Errors
/// When a sub-jaxpr is illegal.
pub fn simplify(jaxpr: &ClosedJaxpr) -> Result<ClosedJaxpr> {
    let simple = dce(&rewrite(jaxpr))?;
    if !Arc::ptr_eq(&simple.jaxpr, &jaxpr.jaxpr) {
        debug_check("simplify", &simple)?;
    }
    Ok(simple)
}
