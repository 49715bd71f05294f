//! Images, as in `jax.scipy.ndimage`.

use jaxide_core::prims::RoundingMethod;
use jaxide_core::{DType, Error};

use crate::array::{Array, Repr};
use crate::numpy::{Index, Indices};
use crate::numpy::{clip, remainder, where_};
use crate::options::options;
use crate::trace::{library::library_call, raise};
use crate::{lax, numpy};

/// What is outside of an array.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// A constant: `k k | a b c d | k k`.
    #[default]
    Constant,
    /// The nearest element: `a a | a b c d | d d`.
    Nearest,
    /// The array again: `c d | a b c d | a b`.
    Wrap,
    /// The array from the end, without the end itself: `c b | a b c d | c b`.
    Mirror,
    /// The array from the end: `b a | a b c d | d c`.
    Reflect,
}

options! {
    /// What [`map_coordinates`] takes beside the array, the coordinates and the order; a mode alone is one too.
    pub struct MapCoordinates {
        /// What is outside of the array.
        mode: Mode = Mode::Constant;
        /// The constant of [`Mode::Constant`].
        cval: Array = Array::from(0.0), |cval: impl Into<Array>| cval.into();
    }
}

impl From<Mode> for MapCoordinates {
    fn from(mode: Mode) -> Self {
        MapCoordinates::new().mode(mode)
    }
}

/// The values of an array at coordinates between its elements: an array of them for each axis. `order` is 0 for the nearest element
/// and 1 for linear interpolation; integers are rounded.
///
/// # Panics
/// When there are not as many coordinates as axes, or the order is larger.
///
/// ```
/// use jaxide::Array;
/// use jaxide::scipy::ndimage::{self, Mode};
/// let x = Array::from([0.0f32, 10.0, 20.0]);
/// let at = [Array::from([0.5f32, 2.5])];
/// assert_eq!(ndimage::map_coordinates(&x, &at, 1, ()).to_vec::<f32>(), [5.0, 10.0]);
/// assert_eq!(ndimage::map_coordinates(&x, &at, 1, Mode::Nearest).to_vec::<f32>(), [5.0, 20.0]);
/// ```
#[track_caller]
pub fn map_coordinates(
    input: impl Into<Array>,
    coordinates: &[Array],
    order: usize,
    options: impl Into<MapCoordinates>,
) -> Array {
    let _named = crate::trace::named("map_coordinates");
    const NAME: &str = "map_coordinates";
    let MapCoordinates { mode, cval } = options.into();
    let input = input.into();
    if coordinates.len() != input.ndim() || coordinates.is_empty() {
        let error = format!(
            "{} coordinates are given for {}",
            coordinates.len(),
            input.aval()
        );
        raise(Error::shape(error).in_operation(NAME));
    }
    if order > 1 {
        let error = format!("the order must be 0 or 1, and is {order}");
        raise(Error::parameter(error).in_operation(NAME));
    }
    // A number of the program stays one.
    let is_number = matches!(cval.0, Repr::Number(_));
    let mut operands = vec![input];
    operands.extend_from_slice(coordinates);
    let key = if is_number {
        format!("{order} {mode:?} {cval}")
    } else {
        operands.push(cval.clone());
        format!("{order} {mode:?}")
    };
    let results = library_call("_map_coordinates", &key, &operands, |operands| {
        let (coordinates, rest) = operands[1..].split_at(coordinates.len());
        let cval = rest.first().unwrap_or(&cval);
        vec![mapped(&operands[0], coordinates, order, mode, cval)]
    });
    results[0].clone()
}

#[track_caller]
fn rounded(x: &Array) -> Array {
    if x.dtype().is_integer() {
        x.clone()
    } else {
        lax::round(x, RoundingMethod::AwayFromZero)
    }
}

/// An index in an axis with its weight, and whether it is within.
#[derive(Clone)]
struct Node {
    index: Array,
    inside: Option<Array>,
    weight: Array,
}

#[track_caller]
fn mapped(input: &Array, coordinates: &[Array], order: usize, mode: Mode, cval: &Array) -> Array {
    let cval = cval.astype(input.dtype());
    let mut combinations: Vec<Vec<Node>> = vec![Vec::new()];
    for (coordinate, &length) in coordinates.iter().zip(input.shape()) {
        let nodes = nodes(coordinate, order);
        let nodes: Vec<Node> = nodes
            .into_iter()
            .map(|(index, weight)| {
                let inside =
                    (mode == Mode::Constant).then(|| index.ge(0) & index.lt(length as i32));
                Node {
                    index: within(&index, length as i32, mode),
                    inside,
                    weight,
                }
            })
            .collect();
        combinations = combinations
            .iter()
            .flat_map(|before| {
                nodes
                    .iter()
                    .map(move |node| [&before[..], std::slice::from_ref(node)].concat())
            })
            .collect();
    }
    let mut terms = Vec::new();
    for nodes in combinations {
        let inside = nodes
            .iter()
            .filter_map(|node| node.inside.clone())
            .reduce(|x, y| x & y);
        let indices = nodes.iter().map(|node| Index::Array(node.index.clone()));
        let value = input.index(Indices::from(indices.collect::<Vec<Index>>()));
        let value = match inside {
            None => value,
            Some(inside) => where_(&inside, value, &cval),
        };
        // The nearest element has weight 1 in each axis.
        let counted = if order == 0 { 1 } else { nodes.len() };
        let weights = nodes.iter().take(counted).map(|node| node.weight.clone());
        let weight = weights.reduce(|x, y| x * y).expect("there is an axis");
        terms.push(weight * value);
    }
    let sum = terms.into_iter().reduce(|x, y| x + y);
    let result = sum.expect("there is an axis");
    let result = if input.dtype().is_integer() {
        rounded(&result)
    } else {
        result
    };
    result.astype(input.dtype())
}

/// Indices around a coordinate, with their weights.
#[track_caller]
fn nodes(coordinate: &Array, order: usize) -> Vec<(Array, Array)> {
    if order == 0 {
        let index = rounded(coordinate).astype(DType::I32);
        return vec![(index, Array::from(1).astype(coordinate.dtype()))];
    }
    let lower = if coordinate.dtype().is_integer() {
        coordinate.clone()
    } else {
        numpy::floor(coordinate)
    };
    let above = coordinate - &lower;
    let below: Array = 1 - &above;
    let index = lower.astype(DType::I32);
    vec![(index.clone(), below), (index + 1, above)]
}

/// An index that may be outside of an axis as one that is within.
#[track_caller]
fn within(index: &Array, length: i32, mode: Mode) -> Array {
    let mirrored = |index: &Array, length: i32| {
        let last = length - 1;
        (remainder(&(index + last), 2 * last) - last).abs()
    };
    match mode {
        Mode::Constant => index.clone(),
        Mode::Nearest => clip(index, 0, length - 1),
        Mode::Wrap => remainder(index, length),
        Mode::Mirror => mirrored(index, length),
        Mode::Reflect => {
            let doubled: Array = 2 * index + 1;
            numpy::floor_divide(&(mirrored(&doubled, 2 * length + 1) - 1), &Array::from(2))
        }
    }
}
