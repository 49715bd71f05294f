//! Tracing: recording what a closure does to arrays as a jaxpr.
//!
//! A thread has a stack of [`Frame`]s. Inside a frame every operation is recorded into the frame's builder; outside,
//! operations run at once. Arrays of outer frames and concrete arrays used inside become captured inputs, in the order
//! in which they are first used.

mod axes;
mod bind;
mod frame;
pub(crate) mod library;
mod raise;
mod scope;

use jaxide_core::jaxpr::AvalKind;
use jaxide_core::{Atom, Aval, ClosedJaxpr, Source, same_shape};

pub(crate) use axes::{
    AxisEnv, are_in_scope, axes_in_scope, named_axis_size, with_axes, within_axes,
};
pub(crate) use bind::{bind, bind_one, inline};
pub(crate) use frame::{
    Known, donated, into_value, keeps_broadcasts, number_value, tracing, value_of,
};
pub use frame::{TraceId, current_trace};
pub(crate) use library::library;
pub use scope::named_scope;
pub(crate) use scope::without_scope;

pub use raise::{LibraryCall, library_call, raise};
pub(crate) use raise::{OrRaise, UserPlace, called_by, caller, catch, named, named_at};

use crate::array::{Array, Repr};
use frame::{Frame, FrameGuard};

/// A value that stands for an array inside a trace.
#[derive(Clone, Debug)]
pub(crate) struct Tracer {
    /// The frame that made it.
    pub(crate) frame: u64,
    /// What it is called in that frame's jaxpr.
    pub(crate) atom: Atom,
    /// Its type.
    pub(crate) aval: Aval,
    /// Where it was made.
    pub(crate) origin: Source,
}

/// A closure recorded as a jaxpr: its arguments are preceded by `captured`.
pub(crate) struct Traced<T> {
    /// The function of captured values and arguments.
    pub(crate) jaxpr: ClosedJaxpr,
    /// Arrays from outside that are inputs, not constants.
    pub(crate) captured: Vec<Array>,
    /// What the closure gave beside its results.
    pub(crate) aux: T,
}

/// What becomes of concrete arrays that a closure uses.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Captures {
    /// They stay constants of the jaxpr.
    Constants,
    /// They become inputs, as arrays of outer frames do.
    Inputs,
}

/// Records `f` on arguments of the given types. `f` gives its results and anything else.
///
/// `name` is the transformation that traces, named when a value is asked of a tracer; `known` says whether the
/// arguments have values that value-dependent control flow may ask for.
pub(crate) fn trace<T>(
    name: &'static str,
    avals: &[Aval],
    known: Known,
    captures: Captures,
    f: impl FnOnce(&[Array]) -> (Vec<Array>, T),
) -> Traced<T> {
    let (guard, args) = begin(name, avals, known);
    let (results, aux) = f(&args);
    let (jaxpr, captured) = end(guard, &results, captures);
    Traced {
        jaxpr,
        captured,
        aux,
    }
}

/// What is done before a function is recorded. This and [`end`] are compiled once, and not for each function.
fn begin(name: &'static str, avals: &[Aval], known: Known) -> (FrameGuard, Vec<Array>) {
    let guard = Frame::enter(name, known);
    let args = avals.iter().map(|aval| guard.frame().input(aval)).collect();
    (guard, args)
}

fn end(guard: FrameGuard, results: &[Array], captures: Captures) -> (ClosedJaxpr, Vec<Array>) {
    let atoms: Vec<Atom> = results
        .iter()
        .map(|result| guard.frame().atom(result))
        .collect();
    guard.finish(&atoms, captures)
}

/// The type of an array, weakness included.
pub(crate) fn aval_of(array: &Array) -> Aval {
    match &array.0 {
        Repr::Number(literal) => literal.aval(),
        Repr::Concrete { elements, weak } => {
            Aval::new(elements.dtype(), elements.shape()).weak(*weak)
        }
        Repr::Tracer(tracer) => tracer.aval.clone(),
        Repr::Spec(aval) => Aval::clone(aval),
    }
}

/// Whether `aval` is the type of an array: `aval_of(array) == *aval`, without making a type.
#[inline]
pub(crate) fn is_of(array: &Array, aval: &Aval) -> bool {
    match &array.0 {
        Repr::Tracer(tracer) => tracer.aval == *aval,
        Repr::Spec(spec) => **spec == *aval,
        Repr::Number(_) | Repr::Concrete { .. } => {
            aval.kind == AvalKind::Array
                && aval.annotations.is_none()
                && aval.dtype == array.dtype()
                && aval.weak_type == array.weak_type()
                && same_shape(&aval.shape, array.shape())
        }
    }
}
