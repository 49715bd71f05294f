//! The stack of traces of a thread.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use jaxide_core::{
    Atom, Aval, Builder, ClosedJaxpr, Error, ErrorKind, Jaxpr, Literal, Result, Source, Tensor,
    Var, VarMap,
};

use super::{Captures, Tracer, aval_of, raise};
use crate::array::{Array, Donation, Repr, fitting};
use crate::execute;

/// Whether the arguments of a trace have values.
pub(crate) enum Known {
    /// No: the trace stands for many calls (`jit`) or lanes (`vmap`).
    No,
    /// No, and what is recorded is transposed: broadcasts to the same shape are kept, since JAX writes what they transpose to.
    Transposed,
    /// Yes, these: value-dependent control flow may ask for them.
    Values(Vec<Array>),
}

/// One trace.
pub(crate) struct Frame {
    id: u64,
    name: &'static str,
    pub(super) builder: Builder,
    known: Known,
    args: RefCell<Vec<Var>>,
    captured: RefCell<Vec<Captured>>,
    by_identity: RefCell<HashMap<Identity, Atom>>,
    values: RefCell<Values>,
    /// Functions of the library that are called in this trace or in traces inside, where it is the outermost.
    pub(super) library: RefCell<HashMap<String, ClosedJaxpr>>,
}

/// What makes two uses of an outer array the same.
#[derive(PartialEq, Eq, Hash)]
enum Identity {
    /// An array with elements, and whether it is weakly typed.
    Concrete(jaxide_core::Identity, bool),
    /// A value of an outer trace.
    Tracer(u64, Var),
}

struct Captured {
    array: Array,
    var: Var,
}

/// Values of variables that were asked for, and how many equations they cover.
#[derive(Default)]
struct Values {
    map: VarMap<Tensor>,
    equations: usize,
    bound: usize,
}

thread_local! {
    static FRAMES: RefCell<Vec<Rc<Frame>>> = const { RefCell::new(Vec::new()) };
    static DEPTH: Cell<usize> = const { Cell::new(0) };
}

static NEXT_ID: AtomicU64 = AtomicU64::new(1);

/// The innermost trace of this thread.
pub(crate) fn current_frame() -> Option<Rc<Frame>> {
    if DEPTH.get() == 0 {
        return None;
    }
    FRAMES.with_borrow(|frames| frames.last().cloned())
}

/// Which trace operations of this thread are recorded in.
///
/// Library types with state of their own use it to notice that a value would leave the trace that it belongs to: what
/// is written under one identity must not be kept under another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TraceId(u64);

/// The innermost trace of this thread, or `None` outside of all traces.
///
/// ```
/// use jaxide::{Array, current_trace, jit};
/// assert_eq!(current_trace(), None);
/// jit(|x: Array| {
///     assert!(current_trace().is_some());
///     x
/// })(Array::from(1.0f32));
/// ```
pub fn current_trace() -> Option<TraceId> {
    if DEPTH.get() == 0 {
        return None;
    }
    FRAMES.with_borrow(|frames| frames.last().map(|frame| TraceId(frame.id)))
}

/// The trace of this thread that was begun first.
pub(super) fn outermost_frame() -> Option<Rc<Frame>> {
    FRAMES.with_borrow(|frames| frames.first().cloned())
}

/// Whether operations are recorded instead of run.
pub(crate) fn tracing() -> bool {
    DEPTH.get() > 0
}

/// Whether the innermost trace keeps broadcasts to the same shape.
pub(crate) fn keeps_broadcasts() -> bool {
    current_frame().is_some_and(|frame| matches!(frame.known, Known::Transposed))
}

fn find(id: u64) -> Option<Rc<Frame>> {
    FRAMES.with_borrow(|frames| frames.iter().find(|frame| frame.id == id).cloned())
}

/// Leaves the frame when dropped, by a panic too.
pub(crate) struct FrameGuard(Rc<Frame>);

impl Drop for FrameGuard {
    fn drop(&mut self) {
        FRAMES.with_borrow_mut(|frames| {
            if let Some(position) = frames.iter().position(|frame| frame.id == self.0.id) {
                frames.truncate(position);
            }
            DEPTH.set(frames.len());
        });
    }
}

impl FrameGuard {
    pub(super) fn frame(&self) -> &Frame {
        &self.0
    }

    /// Leaves the frame with its jaxpr and the arrays that it takes before its arguments.
    pub(super) fn finish(self, results: &[Atom], captures: Captures) -> (ClosedJaxpr, Vec<Array>) {
        let frame = self.0.clone();
        drop(self);
        let frame = Rc::into_inner(frame).unwrap_or_else(|| {
            raise(Error::new(
                ErrorKind::Internal,
                "a trace is still in use after it ended",
            ))
        });
        let closed = frame
            .builder
            .finish(results)
            .unwrap_or_else(|error| raise(error));
        let mut jaxpr: Jaxpr = Arc::unwrap_or_clone(closed.jaxpr);
        let (mut constvars, mut consts) = (Vec::new(), Vec::new());
        let (mut invars, mut captured) = (Vec::new(), Vec::new());
        for Captured { array, var } in frame.captured.into_inner() {
            match &array.0 {
                Repr::Concrete { elements, .. } if captures == Captures::Constants => {
                    constvars.push(var);
                    consts.push(elements.tensor().unwrap_or_else(|error| raise(error)));
                }
                _ => {
                    invars.push(var);
                    captured.push(array);
                }
            }
        }
        invars.extend(frame.args.into_inner());
        jaxpr.constvars = constvars;
        jaxpr.invars = invars;
        (ClosedJaxpr::new(jaxpr, consts), captured)
    }
}

impl Frame {
    /// Begins a trace.
    pub(super) fn enter(name: &'static str, known: Known) -> FrameGuard {
        let frame = Rc::new(Frame {
            id: NEXT_ID.fetch_add(1, Ordering::Relaxed),
            name,
            builder: match known {
                Known::Transposed => Builder::to_transpose(),
                Known::No | Known::Values(_) => Builder::new(),
            },
            known,
            args: RefCell::default(),
            captured: RefCell::default(),
            by_identity: RefCell::default(),
            values: RefCell::default(),
            library: RefCell::default(),
        });
        FRAMES.with_borrow_mut(|frames| {
            frames.push(frame.clone());
            DEPTH.set(frames.len());
        });
        FrameGuard(frame)
    }

    /// A new argument.
    #[track_caller]
    pub(super) fn input(&self, aval: &Aval) -> Array {
        let atom = self.builder.input(aval.clone());
        self.args.borrow_mut().extend(atom.var());
        self.tracer(atom, Source::Unknown)
    }

    /// The array that stands for an atom of this frame.
    pub(super) fn tracer(&self, atom: Atom, origin: Source) -> Array {
        let aval = self.builder.aval(atom);
        Array(Repr::Tracer(Box::new(Tracer {
            frame: self.id,
            atom,
            aval,
            origin,
        })))
    }

    /// What an array is called in this frame: captured when it comes from outside.
    #[track_caller]
    pub(super) fn atom(&self, array: &Array) -> Atom {
        match &array.0 {
            Repr::Number(literal) => {
                if let Err(error) = fitting(*literal) {
                    raise(error);
                }
                Atom::Lit(*literal)
            }
            Repr::Tracer(tracer) if tracer.frame == self.id => tracer.atom,
            Repr::Tracer(tracer) => {
                if find(tracer.frame).is_none() {
                    raise(leaked(tracer));
                }
                match tracer.atom {
                    literal @ Atom::Lit(_) => literal,
                    Atom::Var(var) => self.capture(Identity::Tracer(tracer.frame, var), array),
                }
            }
            Repr::Concrete { elements, weak } => {
                let tensor = elements.tensor().unwrap_or_else(|error| raise(error));
                let scalar = if tensor.shape().is_empty() {
                    tensor.scalar_at(0)
                } else {
                    None
                };
                match scalar {
                    Some(value) => Atom::Lit(Literal {
                        value,
                        dtype: tensor.dtype(),
                        weak_type: *weak,
                    }),
                    None => self.capture(Identity::Concrete(tensor.identity(), *weak), array),
                }
            }
            Repr::Spec(aval) => raise(no_value(aval)),
        }
    }

    fn capture(&self, identity: Identity, array: &Array) -> Atom {
        *self
            .by_identity
            .borrow_mut()
            .entry(identity)
            .or_insert_with(|| {
                let atom = self.builder.constvar(aval_of(array));
                if let Atom::Var(var) = atom {
                    self.captured.borrow_mut().push(Captured {
                        array: array.clone(),
                        var,
                    });
                }
                atom
            })
    }

    /// The value of an atom, by running what was recorded so far.
    fn value(&self, tracer: &Tracer) -> Result<Tensor> {
        let Known::Values(known) = &self.known else {
            return Err(self.not_concrete(tracer));
        };
        let var = match tracer.atom {
            Atom::Lit(literal) => return literal_tensor(literal),
            Atom::Var(var) => var,
        };
        let values = &mut *self.values.borrow_mut();
        for (&var, array) in self.args.borrow().iter().zip(known) {
            if !values.map.contains_key(var) {
                values.map.insert(var, value_of(array)?);
            }
        }
        for Captured { array, var } in &self.captured.borrow()[values.bound..] {
            values.map.insert(*var, value_of(array)?);
        }
        values.bound = self.captured.borrow().len();
        self.builder.inspect(|jaxpr| {
            for eqn in &jaxpr.eqns[values.equations..] {
                let operands = eqn.inputs.iter().map(|&atom| match atom {
                    Atom::Lit(literal) => literal_tensor(literal),
                    Atom::Var(var) => values
                        .map
                        .get(var)
                        .cloned()
                        .ok_or_else(|| self.not_concrete(tracer)),
                });
                let operands = operands.collect::<Result<Vec<_>>>()?;
                let results = execute::equation(&eqn.prim, &operands)?;
                for (&var, value) in eqn.outputs.iter().zip(results) {
                    values.map.insert(var, value);
                }
            }
            values.equations = jaxpr.eqns.len();
            Ok::<(), Error>(())
        })?;
        values
            .map
            .get(var)
            .cloned()
            .ok_or_else(|| self.not_concrete(tracer))
    }

    fn not_concrete(&self, tracer: &Tracer) -> Error {
        let advice = match self.name {
            "vmap" => {
                "under `vmap` the lanes may differ: use `where_`, or `cond`, `switch` and `while_loop`, which batch"
            }
            _ => {
                "stage the decision with `cond`, `switch`, `while_loop` or `where_`, or make the value a static field of an argument"
            }
        };
        Error::new(
            ErrorKind::Concretization,
            format!(
                "the value of a traced array {} was asked for inside `{}`, where it has none yet",
                tracer.aval, self.name
            ),
        )
        .note(made_at(tracer))
        .note(advice)
    }
}

/// A literal as a rank-0 array.
pub(crate) fn literal_tensor(literal: Literal) -> Result<Tensor> {
    Tensor::full(&[], literal.dtype, literal.value)
}

/// The value of an array: its own, or computed from what its trace recorded.
///
/// # Errors
/// When its trace has no values, or has ended.
pub(crate) fn value_of(array: &Array) -> Result<Tensor> {
    match &array.0 {
        Repr::Number(literal) => number_value(*literal),
        Repr::Concrete { elements, .. } => elements.tensor(),
        Repr::Tracer(tracer) => find(tracer.frame)
            .ok_or_else(|| leaked(tracer))?
            .value(tracer),
        Repr::Spec(aval) => Err(no_value(aval)),
    }
}

/// [`value_of`] a number of the program.
///
/// # Errors
/// When it does not fit its element type.
pub(crate) fn number_value(number: Literal) -> Result<Tensor> {
    literal_tensor(fitting(number)?)
}

/// [`value_of`] an array that is not needed any more.
///
/// # Errors
/// As [`value_of`].
#[inline]
pub(crate) fn into_value(array: Array) -> Result<Tensor> {
    match array.0 {
        Repr::Concrete { elements, .. } => elements.into_tensor(),
        Repr::Number(_) | Repr::Tracer(_) | Repr::Spec(_) => value_of(&array),
    }
}

/// [`value_of`] an array whose elements a program may overwrite: no handle has them any more.
///
/// # Errors
/// As [`value_of`].
pub(crate) fn donated(array: Array, donation: Donation) -> Result<Tensor> {
    match array.0 {
        Repr::Concrete { elements, .. } => elements.donate(donation),
        Repr::Number(_) | Repr::Tracer(_) | Repr::Spec(_) => value_of(&array),
    }
}

/// Where a tracer comes from.
fn made_at(tracer: &Tracer) -> String {
    match tracer.origin {
        Source::Unknown => {
            "the array is an argument of the traced function, or made by a transformation in it"
                .to_owned()
        }
        place => format!("the array was made at {place}"),
    }
}

/// A tracer used after its trace.
pub(super) fn leaked(tracer: &Tracer) -> Error {
    Error::new(
        ErrorKind::LeakedTracer,
        format!(
            "a traced array {} is used outside the trace that made it",
            tracer.aval
        ),
    )
    .note(made_at(tracer))
    .note("return it from the traced function instead of storing it")
}

/// A specification used as an array.
fn no_value(aval: &Aval) -> Error {
    Error::new(ErrorKind::Concretization, format!("{aval} is a specification and has no value"))
        .note("specifications stand for arguments of `make_jaxpr`; make an array with `Array::zeros` or `Array::from_vec`")
}
