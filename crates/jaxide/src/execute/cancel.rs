//! Runs that end when they are told to.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use jaxide_core::{Cancel, Error, ErrorKind, Prim, Result, Tensor, eval};
use jaxide_cpu::Executable;

use crate::trace::{OrRaise, catch};

thread_local! {
    static SCOPE: RefCell<Option<Rc<Scope>>> = const { RefCell::new(None) };
}

/// Who may end what this thread runs.
struct Scope {
    /// The handles of the scopes around, outermost first.
    handles: Vec<Cancel>,
    /// What runs look at: cancelled when one of the handles is.
    run: Cancel,
}

/// Gives the thread its scope back when dropped, by a panic too.
struct Restore(Option<Rc<Scope>>);

impl Drop for Restore {
    fn drop(&mut self) {
        SCOPE.set(self.0.take());
    }
}

/// Calls `f`, and ends what this thread runs in it when `cancel` is cancelled or its time is over: operations,
/// transformed functions and jitted ones, compiled or [interpreted](crate::with_interpreter()).
///
/// It is looked at before each operation, also where one is recorded, in each turn of a loop and between the parts of a
/// program; not while one is compiled. Within another such scope both handles count. Nothing is lost but what was being
/// computed, and arrays that were donated to it; the same functions can be called again.
///
/// # Errors
/// Of kind [`ErrorKind::Cancelled`] when it was ended: the message says whether by a call or by the clock. Other mistakes
/// on the way are errors too, as of [`Transformed::try_call`](crate::Transformed::try_call); other panics go on.
///
/// ```
/// use jaxide::prelude::*;
/// use jaxide::{Cancel, ErrorKind, with_cancel};
/// use std::time::Duration;
///
/// let forever = jit(|x: Array| while_loop(|x: Array| x.ge(0.0), |x: Array| x * 0.5, x));
/// let limit = Cancel::after(Duration::from_millis(20));
/// let error = with_cancel(&limit, || forever(Array::from(1.0f32))).unwrap_err();
/// assert_eq!(error.kind(), ErrorKind::Cancelled);
/// assert_eq!(error.message(), "the run took longer than 20ms");
///
/// // From another thread, or a handler of signals: `cancel` needs no lock.
/// let cancel = Cancel::new();
/// let other = cancel.clone();
/// let stop = std::thread::spawn(move || other.cancel());
/// assert!(with_cancel(&cancel, || forever(Array::from(1.0f32))).is_err());
/// # stop.join().unwrap();
/// ```
#[track_caller]
pub fn with_cancel<T>(cancel: &Cancel, f: impl FnOnce() -> T) -> Result<T> {
    let outer = SCOPE.with_borrow(Clone::clone);
    let mut handles = outer
        .as_ref()
        .map_or_else(Vec::new, |outer| outer.handles.clone());
    handles.push(cancel.clone());
    let run = match outer {
        // The flag of the handle is what runs look at, so that it is seen at once.
        None => cancel.without_deadline(),
        Some(_) => Cancel::new(),
    };
    let scope = Rc::new(Scope {
        handles: handles.clone(),
        run: run.clone(),
    });
    watched(&handles, &run, || {
        let _restore = Restore(SCOPE.replace(Some(scope)));
        catch(f)
    })?
}

/// How often a thread looks at several handles.
const POLL: Duration = Duration::from_millis(2);

/// Calls `f`, beside a thread that cancels `run` when the time of a handle is over, or one of several is cancelled.
fn watched<T>(handles: &[Cancel], run: &Cancel, f: impl FnOnce() -> T) -> Result<T> {
    /// Ends the watch, also when there is a panic.
    struct End<'a>(&'a AtomicBool, &'a thread::Thread);
    impl Drop for End<'_> {
        fn drop(&mut self) {
            self.0.store(true, Ordering::Release);
            self.1.unpark();
        }
    }
    let deadline = || handles.iter().filter_map(Cancel::time_left).min();
    if handles.len() == 1 && deadline().is_none() {
        return Ok(f());
    }
    let ended = AtomicBool::new(false);
    let watch = || {
        while !ended.load(Ordering::Acquire) {
            if handles.iter().any(Cancel::is_cancelled) {
                return run.cancel();
            }
            let left = deadline().unwrap_or(POLL);
            thread::park_timeout(if handles.len() == 1 {
                left
            } else {
                left.min(POLL)
            });
        }
    };
    thread::scope(|scope| {
        let builder = thread::Builder::new().name("jaxide-watch".to_owned());
        let watch = builder.spawn_scoped(scope, watch)?;
        let _end = End(&ended, watch.thread());
        Ok(f())
    })
}

impl Scope {
    /// Why it is over, if it is.
    fn check(&self) -> Result<()> {
        self.handles.iter().try_for_each(Cancel::check)
    }

    /// What `f` gives until it is over.
    fn until<T>(&self, f: impl FnOnce(&Cancel) -> Result<T>) -> Result<T> {
        self.check()?;
        f(&self.run).map_err(|error| match self.check() {
            Err(why) if error.kind() == ErrorKind::Cancelled => told_where(why, &error),
            _ => error,
        })
    }
}

/// An error with the operation and the place of another.
fn told_where(error: Error, other: &Error) -> Error {
    let error = error.at(other.place());
    match other.operation() {
        Some(operation) => error.in_operation(operation),
        None => error,
    }
}

fn scope() -> Option<Rc<Scope>> {
    SCOPE.with_borrow(Clone::clone)
}

/// Panics where what this thread does is over.
#[track_caller]
pub(crate) fn check_cancelled() {
    if let Some(scope) = scope() {
        scope.check().or_raise();
    }
}

/// Runs native code.
///
/// # Errors
/// As the code, and when it is over.
pub(super) fn run(executable: &Executable, args: &[Tensor]) -> Result<Vec<Tensor>> {
    match scope() {
        None => executable.run(args),
        Some(scope) => scope.until(|cancel| executable.run_with(args, cancel)),
    }
}

/// Runs native code that may overwrite arguments.
///
/// # Errors
/// As the code, and when it is over.
pub(super) fn run_owned(executable: &Executable, args: Vec<Tensor>) -> Result<Vec<Tensor>> {
    match scope() {
        None => executable.run_owned(args),
        Some(scope) => scope.until(|cancel| executable.run_owned_with(args, cancel)),
    }
}

/// Interprets a program.
///
/// # Errors
/// As the interpreter, and when it is over.
pub(super) fn interpret(jaxpr: &jaxide_core::ClosedJaxpr, args: &[Tensor]) -> Result<Vec<Tensor>> {
    match scope() {
        None => eval::eval(jaxpr, args),
        Some(scope) => scope.until(|cancel| eval::eval_with(jaxpr, args, cancel)),
    }
}

/// Interprets a primitive.
///
/// # Errors
/// As the interpreter, and when it is over.
pub(super) fn interpret_eqn(prim: &Prim, operands: &[Tensor]) -> Result<Vec<Tensor>> {
    match scope() {
        None => eval::eval_eqn(prim, operands),
        Some(scope) => scope.until(|cancel| eval::eval_eqn_with(prim, operands, cancel)),
    }
}

/// What ends the second run of a program that [`debug_nans`](crate::debug_nans) looks into.
///
/// # Errors
/// When it is over.
pub(super) fn check_scope() -> Result<()> {
    scope().map_or(Ok(()), |scope| scope.check())
}
