//! The parameters of a layer that another one wraps.

use jaxide::{Array, raise};

use super::Layer;
use crate::{Entry, Filter, Path, State};

/// The arrays of a layer that a filter selects, with their paths.
#[track_caller]
pub(crate) fn parameters_of(layer: &impl Layer, filter: &Filter) -> Vec<(Path, Array)> {
    let state = match crate::state(layer, filter.clone()) {
        Ok(state) => state,
        Err(error) => raise(error),
    };
    let single = |(path, entry): (&Path, &Entry)| match entry.arrays() {
        [array] => Some((path.clone(), array.clone())),
        _ => None,
    };
    state.entries().filter_map(single).collect()
}

/// Gives parameters of a layer other values.
#[track_caller]
pub(crate) fn set_parameters(
    operation: &str,
    layer: &impl Layer,
    values: impl Iterator<Item = (Path, Array)>,
) {
    let mut state = State::default();
    for (path, array) in values {
        let entry = Entry::Array {
            array,
            number: false,
        };
        state.insert(path, entry);
    }
    if let Err(error) = crate::update(layer, state) {
        raise(error.in_operation(operation));
    }
}
