//! Derivatives of the functions that JAX brings along with a rule of their own.
//!
//! Text names the rule of a `custom_jvp_call` without carrying it. These rules are known: without them `relu` would have
//! slope 1/2 at 0, the logarithm of a sum of exponentials none between equal infinities, the determinant none where it
//! is zero, and functions computed by a loop none in reverse.

mod activation;
mod bessel;
mod entropy;
mod error_function;
mod hypergeometric;
mod integral;
mod matrix;
mod normal;
mod zeta;

use std::sync::Arc;

use super::super::machine::{epsilon, largest};
use super::super::named_function::call_named;
use super::super::numpy;
use super::super::*;
use crate::dtype::DType;
use crate::error::Result;
use crate::jaxpr::{Atom, Builder, ClosedJaxpr};

/// Tangents of the results `y` at `x` in the direction `t`.
pub(super) type Tangents = fn(b: &Builder, y: &[Atom], x: &[Atom], t: &[Atom]) -> Result<Vec<Atom>>;

/// Results and tangents at `x` in the direction `t`, given the call.
type Whole = fn(b: &Builder, call: &CustomJvpCall, x: &[Atom], t: &[Atom]) -> Result<Vec<Atom>>;

enum Derivative {
    /// From the results of the call.
    Tangents(Tangents),
    /// As [`Derivative::Tangents`], all of it compiled on its own under the rule's name.
    Compiled(Tangents),
    /// The results too are computed in another way.
    Whole(Whole),
}

pub(super) struct LibraryRule {
    /// The function's name, and the rule's.
    names: (&'static str, &'static str),
    /// Numbers of arguments and results.
    arity: (usize, usize),
    /// What tells the function from others when the rule has no name of its own: the primitives of its equations.
    /// `None`: it is a call of itself, compiled on its own.
    equations: Option<&'static [&'static str]>,
    derivative: Derivative,
}

/// Of a function that its rule's name tells from all others.
const NAMED: Option<&[&str]> = Some(&[]);

/// Of a function compiled on its own.
const COMPILED: Option<&[&str]> = None;

fn library() -> impl Iterator<Item = &'static LibraryRule> {
    let families: [&[LibraryRule]; 9] = [
        &activation::RULES,
        &bessel::RULES,
        &entropy::RULES,
        &error_function::RULES,
        &hypergeometric::RULES,
        &integral::RULES,
        &matrix::RULES,
        &normal::RULES,
        &zeta::RULES,
    ];
    families.into_iter().flatten()
}

/// The rule of a call that is known by its names. Calls that capture arrays have none: see [`captured`].
pub(super) fn rule(call: &CustomJvpCall) -> Option<Rule> {
    let known = find(call)?;
    let name = call.jvp.name.clone();
    let call = call.clone();
    let make = move |_: &[bool]| known.jaxpr(&call, Builder::new());
    Some(Rule {
        name,
        make: Some(Arc::new(make)),
    })
}

/// What is known of such a call.
pub(super) fn find(call: &CustomJvpCall) -> Option<&'static LibraryRule> {
    library().find(|known| call.num_consts == 0 && known.fits(call))
}

/// The tangents of a call that captures arrays, which text names only.
pub(super) fn captured(call: &CustomJvpCall) -> Option<Tangents> {
    let found = library().find(|known| call.num_consts > 0 && known.fits(call))?;
    match found.derivative {
        Derivative::Tangents(tangents) => Some(tangents),
        Derivative::Compiled(_) | Derivative::Whole(_) => None,
    }
}

/// The call with other arguments of the same types. Its jaxpr is one of its own: JAX traces the function anew where a
/// rule calls it.
fn again(b: &Builder, call: &CustomJvpCall, args: &[Atom]) -> Result<Vec<Atom>> {
    let mut call = call.clone();
    call.call_jaxpr.jaxpr = Arc::new((*call.call_jaxpr.jaxpr).clone());
    Ok(b.emit(call, args)?.into_vec())
}

/// A call of a function of the library, written by `body`.
fn library_call(
    b: &Builder,
    names: (&str, &str),
    args: &[Atom],
    body: impl FnOnce(&Builder, &[Atom]) -> Atom,
) -> Result<Atom> {
    let inner = b.nested();
    let inputs: Vec<Atom> = args.iter().map(|&arg| inner.input(b.aval(arg))).collect();
    let result = body(&inner, &inputs);
    let call = CustomJvpCall {
        name: Name::new(names.0),
        call_jaxpr: inner.finish(&[result])?,
        jvp: Rule {
            name: Name::new(names.1),
            make: None,
        },
        num_consts: 0,
        symbolic_zeros: false,
    };
    Ok(b.op(call, args))
}

/// The number `value` of the element type of `x`.
fn like(b: &Builder, x: Atom, value: f64) -> Atom {
    b.number(value, b.dtype(x))
}

impl LibraryRule {
    /// Arguments and their tangents to results and their tangents, written into an empty builder.
    pub(super) fn jaxpr(&self, call: &CustomJvpCall, b: Builder) -> Result<ClosedJaxpr> {
        let avals = call.call_jaxpr.in_avals();
        let x: Vec<Atom> = avals.iter().map(|aval| b.input(aval.clone())).collect();
        let t: Vec<Atom> = avals.iter().map(|aval| b.input(aval.tangent())).collect();
        let with_tangents = |b: &Builder, x: &[Atom], t: &[Atom], tangents: &Tangents| {
            let y = again(b, call, x)?;
            let tangents = tangents(b, &y, x, t)?;
            Ok([y, tangents].concat())
        };
        let results = match &self.derivative {
            Derivative::Tangents(tangents) => with_tangents(&b, &x, &t, tangents)?,
            Derivative::Compiled(tangents) => {
                let args = [x.as_slice(), &t].concat();
                let body = |b: &Builder, args: &[Atom]| {
                    let (x, t) = args.split_at(args.len() / 2);
                    with_tangents(b, x, t, tangents)
                };
                call_named(&b, self.names.1, &[], &args, body)?.into_vec()
            }
            Derivative::Whole(whole) => whole(&b, call, &x, &t)?,
        };
        b.finish(&results)
    }

    fn fits(&self, call: &CustomJvpCall) -> bool {
        let callee = &call.call_jaxpr.jaxpr;
        let names = (&*call.name.0, &*call.jvp.name.0);
        let own = callee.invars.get(call.num_consts..).unwrap_or(&[]);
        let shape = (own.len(), callee.outvars.len());
        let floats = |atom| callee.aval(atom).dtype.is_inexact();
        let eqns = callee.eqns.as_slice();
        let equations_fit = match self.equations {
            None => {
                matches!(eqns, [only] if matches!(&only.prim, Prim::Jit(jit) if jit.name == call.name))
            }
            Some(first) => {
                let own = eqns.iter().map(|eqn| eqn.prim.name());
                first.len() <= eqns.len() && first.iter().copied().eq(own.take(first.len()))
            }
        };
        names == self.names
            && shape == self.arity
            && callee.constvars.is_empty()
            && equations_fit
            && own.iter().all(|&var| floats(Atom::Var(var)))
    }
}
