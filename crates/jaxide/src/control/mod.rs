//! Control flow that is staged: branches and loops inside one jaxpr.

mod branch;
mod carry;
mod scan;
mod while_loop;

pub(crate) use branch::{check_branches, with_common_captures};
pub use branch::{cond, switch};
pub use scan::{associative_scan, map, scan, scan_reverse};
pub use while_loop::{fori_loop, while_loop};

use jaxide_tree::Pytree;

use crate::api::flat::{FlatArgs, FlatTrace, avals, flatten, unflatten};
use crate::array::Array;
use crate::trace::{Captures, Known, trace};

/// Records a closure of one operand as a sub-jaxpr: everything it uses from outside becomes an input.
#[track_caller]
fn staged<In, Out>(name: &'static str, f: impl FnOnce(In) -> Out, operand: &FlatArgs) -> FlatTrace
where
    In: Pytree<Array>,
    Out: Pytree<Array>,
{
    trace(
        name,
        &avals(&operand.leaves),
        Known::No,
        Captures::Inputs,
        |leaves| {
            let results = flatten(&f(unflatten(&operand.treedef, leaves.to_vec())));
            (results.leaves, results.treedef)
        },
    )
}
