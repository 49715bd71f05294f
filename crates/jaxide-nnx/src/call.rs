//! Where users called this crate, so that mistakes are reported there.

use std::panic::Location;

use jaxide::{LibraryCall, library_call};

/// Until what this gives is dropped, something runs that the user called, or made, at `place`; functions of the user may run in it.
pub(crate) fn made_at(place: &'static Location<'static>) -> LibraryCall {
    library_call(folder(), None, place)
}

/// [`made_at`] the caller's place.
#[track_caller]
pub(crate) fn here() -> LibraryCall {
    made_at(Location::caller())
}

/// Until what this gives is dropped, a function of this crate runs, in which no function of the user does: mistakes are its own.
#[track_caller]
pub(crate) fn named(function: &'static str) -> LibraryCall {
    library_call(folder(), Some(function), Location::caller())
}

fn folder() -> &'static str {
    file!().trim_end_matches("call.rs")
}
