//! Mistakes as panics with the caller's place, and back to results.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, Location, catch_unwind, resume_unwind};

use jaxide_core::{Error, Result, Source};

use super::scope::current_scope;

/// What runs on a thread for the user: where it was called, and the function, where that has a name.
#[derive(Clone, Copy)]
struct Call {
    place: Source,
    function: Option<&'static str>,
    /// The folder of the library on top of this one that was called, if it was one.
    library: Option<&'static str>,
}

thread_local! {
    /// How many callers on this thread wait for a result instead of a panic.
    static CATCHING: Cell<usize> = const { Cell::new(0) };
    /// The innermost call of the user that this thread runs: of a transformed function, or of one of the library.
    static CALL: Cell<Call> = const { Cell::new(Call {
        place: Source::Unknown,
        function: None,
        library: None,
    }) };
}

/// Gives the thread the call before back when dropped, by a panic too.
pub(crate) struct Restore(Call);

impl Drop for Restore {
    fn drop(&mut self) {
        CALL.set(self.0);
    }
}

/// Whether a place is a line of this crate, of the library on top of it that was called, or of the standard library, which calls
/// functions that are values.
fn is_own(place: &Location<'_>) -> bool {
    is_of_library(place) || is_of_crate(place)
}

/// Whether a place is a line of the library on top of this crate that was called.
fn is_of_library(place: &Location<'_>) -> bool {
    let library = CALL.get().library;
    library.is_some_and(|folder| place.file().starts_with(folder))
}

/// Whether a place is a line of this crate or of the standard library.
fn is_of_crate(place: &Location<'_>) -> bool {
    let file = place.file();
    file.starts_with(file!().trim_end_matches("trace/raise.rs"))
        || file.starts_with("/rustc/")
        || file.ends_with("/library/core/src/ops/function.rs")
}

/// Whether two places are one line of the user.
fn is_same(a: Source, b: Source) -> bool {
    match (a.location(), b.location()) {
        (Some(a), Some(b)) => std::ptr::eq(a, b) || a == b,
        (None, _) | (_, None) => false,
    }
}

/// A place outside of this crate, if there is one: found once for what is called often.
#[derive(Clone, Copy)]
pub(crate) struct UserPlace(Option<Source>);

impl UserPlace {
    pub(crate) fn of(place: Source) -> Self {
        let own = place.location().is_some_and(is_of_crate);
        UserPlace((place != Source::Unknown && !own).then_some(place))
    }
}

/// Until what this gives is dropped, a transformed function runs: mistakes in it that have no better place are reported
/// where the transformation was applied.
pub(crate) fn called_by(place: UserPlace) -> Restore {
    let before = CALL.get();
    if let Some(place) = place.0
        && !is_same(place, before.place)
        && !place.location().is_some_and(is_of_library)
    {
        CALL.set(Call {
            place,
            function: None,
            ..before
        });
    }
    Restore(before)
}

/// Until what this gives is dropped, a function that users know as `function` runs: mistakes in it are its own, whichever of its
/// parts finds them, and are reported where the user called it. A function of the library that another one calls is a part of that.
#[track_caller]
pub(crate) fn named(function: &'static str) -> Restore {
    named_at(function, Location::caller())
}

/// [`named`] of what the user made at `place` and calls elsewhere: a closure does not know its caller.
pub(crate) fn named_at(function: &'static str, place: &'static Location<'static>) -> Restore {
    let before = CALL.get();
    let source = Source::Rust(place);
    let part = is_own(place) || (before.function.is_some() && is_same(source, before.place));
    if !part {
        CALL.set(Call {
            place: source,
            function: Some(function),
            ..before
        });
    }
    Restore(before)
}

/// A call of a library on top of this one, which ends when this is dropped: [`library_call`].
pub struct LibraryCall {
    _restore: Restore,
}

/// Until what this gives is dropped, a library on top of this one runs, whose files stand in `folder`: mistakes that these files find,
/// or that this library finds where they called it, are reported at `place`, where the user called the library or made what it
/// runs. Where `function` is stated they are its own, as far as no function of the user runs in between.
///
/// ```
/// use jaxide::{Array, library_call};
/// use std::panic::Location;
/// #[track_caller]
/// fn first(x: &Array) -> Array {
///     let folder = file!().trim_end_matches("lib.rs");
///     let _call = library_call(folder, Some("first"), Location::caller());
///     x.index(0)
/// }
/// assert_eq!(first(&Array::from([3.0f32, 4.0])).item::<f32>(), 3.0);
/// ```
#[must_use]
pub fn library_call(
    folder: &'static str,
    function: Option<&'static str>,
    place: &'static Location<'static>,
) -> LibraryCall {
    let before = CALL.get();
    let source = Source::Rust(place);
    let part = place.file().starts_with(folder)
        || is_own(place)
        || (before.function.is_some() && is_same(source, before.place));
    let call = if part {
        Call {
            library: Some(folder),
            ..before
        }
    } else {
        Call {
            place: source,
            function,
            library: Some(folder),
        }
    };
    CALL.set(call);
    LibraryCall {
        _restore: Restore(before),
    }
}

/// The line of the user's program that called, or, when the call came through this crate's own closures, that of the call that
/// runs; and the named scope.
#[track_caller]
pub(crate) fn caller() -> Source {
    let place = Location::caller();
    let source = if is_own(place) {
        CALL.get().place
    } else {
        Source::Rust(place)
    };
    match current_scope() {
        Some(scope) => source.within(scope),
        None => source,
    }
}

/// Panics with `error`, at the caller's place when it names none, or that of the call that runs, whose function it then names.
///
/// Under [`Transformed::try_call`](crate::Transformed::try_call) and its relatives the error itself is what they give, and nothing is
/// printed. Libraries on top of this one report the mistakes of their users by it.
///
/// # Panics
/// Always.
///
/// ```
/// use jaxide::{Array, Error, jit, raise};
/// let f = jit(|x: Array| if x.ndim() == 1 { x } else { raise(Error::shape("a vector is needed")) });
/// assert_eq!(f.try_call((Array::from(1.0f32),)).unwrap_err().message(), "a vector is needed");
/// ```
#[track_caller]
pub fn raise(error: Error) -> ! {
    let error = error.at(caller());
    let call = CALL.get();
    let error = match call.function {
        Some(function) if is_same(error.place(), call.place) => error.said_by(function),
        _ => error,
    };
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
