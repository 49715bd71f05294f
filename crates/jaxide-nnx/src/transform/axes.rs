//! Which axes of arguments and of the variables of modules are mapped.

use std::ops::RangeFull;

use crate::Filter;
use crate::Path;
use crate::state::Entry;

/// What becomes of a variable in a mapped function or a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Carried {
    /// It is mapped along an axis: each turn or lane has its part.
    Axis(i32),
    /// It is the same for all, and is only read.
    Broadcast,
    /// It goes from turn to turn; for loops alone.
    Carry,
}

impl From<i32> for Carried {
    fn from(axis: i32) -> Self {
        Carried::Axis(axis)
    }
}

impl From<Option<i32>> for Carried {
    fn from(axis: Option<i32>) -> Self {
        axis.map_or(Carried::Broadcast, Carried::Axis)
    }
}

/// For each part of a module's state, what becomes of it. The first filter that selects a variable decides; what none selects is
/// broadcast.
///
/// ```
/// use jaxide_nnx::{BatchStat, Param, StateAxes};
/// let axes = StateAxes::new().with(Param, 0).with(BatchStat, None);
/// ```
#[derive(Clone, Debug, Default)]
pub struct StateAxes(Vec<(Filter, Carried)>);

impl StateAxes {
    /// Everything is broadcast.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The same, and what becomes of what `filter` selects.
    #[must_use]
    pub fn with(mut self, filter: impl Into<Filter>, axis: impl Into<Carried>) -> Self {
        self.0.push((filter.into(), axis.into()));
        self
    }

    pub(super) fn of(&self, path: &Path, entry: &Entry) -> Carried {
        let found = self
            .0
            .iter()
            .find(|(filter, _)| filter.selects(path, entry));
        found.map_or(Carried::Broadcast, |(_, carried)| *carried)
    }
}

/// The axes of an argument: one for all of its arrays, or [`StateAxes`] for a module.
#[derive(Clone, Debug)]
pub struct ArgAxes(pub(super) StateAxes);

impl From<StateAxes> for ArgAxes {
    fn from(axes: StateAxes) -> Self {
        ArgAxes(axes)
    }
}

impl From<i32> for ArgAxes {
    fn from(axis: i32) -> Self {
        ArgAxes(StateAxes::new().with(RangeFull, axis))
    }
}

impl From<Option<i32>> for ArgAxes {
    fn from(axis: Option<i32>) -> Self {
        ArgAxes(StateAxes::new().with(RangeFull, axis))
    }
}

/// Axes for all arguments alike, or a tuple with those of each.
pub trait IntoArgAxes {
    /// The axes, of all arguments or of each.
    fn into_arg_axes(self) -> ArgAxesList;
}

/// Axes for all arguments alike, or for each.
#[derive(Clone, Debug)]
pub enum ArgAxesList {
    /// The same for all.
    All(ArgAxes),
    /// In order.
    Each(Vec<ArgAxes>),
}

impl<A: Into<ArgAxes>> IntoArgAxes for A {
    fn into_arg_axes(self) -> ArgAxesList {
        ArgAxesList::All(self.into())
    }
}

macro_rules! tuples {
    ($(($($axes:ident)+))*) => { $(
        impl<$($axes: Into<ArgAxes>),+> IntoArgAxes for ($($axes,)+) {
            #[allow(non_snake_case)]
            fn into_arg_axes(self) -> ArgAxesList {
                let ($($axes,)+) = self;
                ArgAxesList::Each(vec![$($axes.into()),+])
            }
        }
    )* };
}

tuples! {
    (A)
    (A B)
    (A B C)
    (A B C D)
    (A B C D E)
    (A B C D E F)
}
