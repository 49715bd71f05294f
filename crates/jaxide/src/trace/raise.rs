//! Mistakes as panics with the caller's place, and back to results.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, Location, catch_unwind, resume_unwind};

use jaxide_core::{Error, Result, Source};

use super::scope::current_scope;

thread_local! {
    /// How many callers on this thread wait for a result instead of a panic.
    static CATCHING: Cell<usize> = const { Cell::new(0) };
    /// Where the transformation that this thread runs was applied.
    static TRANSFORMATION: Cell<Source> = const { Cell::new(Source::Unknown) };
}

/// Gives the thread its transformation back when dropped, by a panic too.
pub(crate) struct Restore(Source);

impl Drop for Restore {
    fn drop(&mut self) {
        TRANSFORMATION.set(self.0);
    }
}

/// Until what this gives is dropped, a transformed function runs: mistakes in it that have no better place are reported
/// where the transformation was applied.
pub(crate) fn called_by(place: Source) -> Restore {
    let before = TRANSFORMATION.get();
    TRANSFORMATION.set(if place == Source::Unknown {
        before
    } else {
        place
    });
    Restore(before)
}

/// The line of the user's program that called, or, when the call came through this crate's own closures, where the
/// transformation was applied that runs; and the named scope.
#[track_caller]
pub(crate) fn caller() -> Source {
    let place = Location::caller();
    let own = file!().trim_end_matches("trace/raise.rs");
    let source = if place.file().starts_with(own) {
        TRANSFORMATION.get()
    } else {
        Source::Rust(place)
    };
    match current_scope() {
        Some(scope) => source.within(scope),
        None => source,
    }
}

/// Panics with `error`, at the caller's place when it names none, or where the transformation was applied.
///
/// Under [`catch`] the panic carries the error itself and prints nothing.
#[track_caller]
pub(crate) fn raise(error: Error) -> ! {
    let error = error.at(caller());
    if CATCHING.get() > 0 {
        resume_unwind(Box::new(error));
    }
    panic!("{error}")
}

/// A result whose error is the caller's mistake.
pub(crate) trait OrRaise {
    /// What there is without a mistake.
    type Value;

    /// The value. [`raise`] in a closure would not know the caller's place; this does.
    #[track_caller]
    fn or_raise(self) -> Self::Value;
}

impl<T> OrRaise for Result<T> {
    type Value = T;

    #[track_caller]
    fn or_raise(self) -> T {
        match self {
            Ok(value) => value,
            Err(error) => raise(error),
        }
    }
}

/// Runs `f` and gives mistakes as errors; other panics go on.
pub(crate) fn catch<T>(f: impl FnOnce() -> T) -> Result<T> {
    CATCHING.set(CATCHING.get() + 1);
    let outcome = catch_unwind(AssertUnwindSafe(f));
    CATCHING.set(CATCHING.get() - 1);
    outcome.map_err(|payload| match payload.downcast::<Error>() {
        Ok(error) => *error,
        Err(other) => resume_unwind(other),
    })
}
