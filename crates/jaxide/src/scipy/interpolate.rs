//! Interpolation, as in `jax.scipy.interpolate`.

use jaxide_core::{DType, Error};

use crate::array::{Array, promote_dtypes};
use crate::numpy::where_;
use crate::numpy::{Index, Indices};
use crate::options::options;
use crate::scipy::operands::inexact;
use crate::trace::raise;
use crate::{lax, numpy};

/// How [`RegularGridInterpolator`] gets a value from those around it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Method {
    /// Linearly in each coordinate.
    #[default]
    Linear,
    /// That of the nearest point.
    Nearest,
}

options! {
    /// What [`RegularGridInterpolator::new`] takes beside the grid and its values; a method alone is one too.
    pub struct RegularGrid {
        /// How values are got.
        method: Method = Method::Linear;
        /// Whether points outside are mistakes: JAX refuses `true`, since they are not known while tracing.
        bounds_error: bool = false;
        /// The value outside, NaN by default; `None` extrapolates.
        fill_value: Option<Array> = Some(Array::from(f64::NAN)),
            |fill_value: impl Into<Option<f64>>| fill_value.into().map(Array::from);
    }
}

impl From<Method> for RegularGrid {
    fn from(method: Method) -> Self {
        RegularGrid::new().method(method)
    }
}

/// Interpolation between values on a grid of any number of coordinates.
///
/// ```
/// use jaxide::Array;
/// use jaxide::scipy::interpolate::RegularGridInterpolator;
/// let grid = [Array::from([0.0f32, 1.0, 2.0])];
/// let between = RegularGridInterpolator::new(&grid, [0.0f32, 10.0, 40.0], ());
/// assert_eq!(between.call([[0.5f32], [1.5]]).to_vec::<f32>(), [5.0, 25.0]);
/// ```
#[derive(Clone, Debug)]
pub struct RegularGridInterpolator {
    grid: Vec<Array>,
    values: Array,
    method: Method,
    fill_value: Option<Array>,
}

/// Places along a coordinate: the point below, and how far it is to the next, from 0 to 1.
struct Place {
    index: Array,
    distance: Array,
}

impl RegularGridInterpolator {
    /// Of values at the points of a grid, which is a vector for each coordinate, in ascending order. Further axes of the values
    /// stay.
    ///
    /// # Panics
    /// When the values do not fit the grid, or `bounds_error` is asked for.
    #[track_caller]
    pub fn new(
        points: &[Array],
        values: impl Into<Array>,
        options: impl Into<RegularGrid>,
    ) -> Self {
        let _named = crate::trace::named("RegularGridInterpolator.new");
        const NAME: &str = "RegularGridInterpolator";
        let RegularGrid {
            method,
            bounds_error,
            fill_value,
        } = options.into();
        if bounds_error {
            let error = "points outside of the grid are not known while tracing: `bounds_error` has no effect";
            raise(Error::parameter(error).in_operation(NAME));
        }
        let [values] = inexact(NAME, [values.into()]);
        let fits = points.len() <= values.ndim()
            && points
                .iter()
                .zip(values.shape())
                .all(|(p, &length)| p.shape() == [length]);
        if !fits {
            let types: Vec<String> = points.iter().map(|p| p.aval().to_string()).collect();
            let error = format!(
                "values {} do not fit a grid of {}",
                values.aval(),
                types.join(", ")
            );
            raise(Error::shape(error).in_operation(NAME));
        }
        RegularGridInterpolator {
            grid: points.to_vec(),
            values,
            method,
            fill_value,
        }
    }

    /// The values at points, whose last axis has the coordinates. A vector is points of one coordinate, or one point.
    ///
    /// # Panics
    /// When the points have another number of coordinates.
    #[track_caller]
    pub fn call(&self, xi: impl Into<Array>) -> Array {
        let _named = crate::trace::named("RegularGridInterpolator.call");
        self.call_with(xi, self.method)
    }

    /// As [`call`](Self::call), by another method.
    ///
    /// # Panics
    /// When the points have another number of coordinates.
    #[track_caller]
    pub fn call_with(&self, xi: impl Into<Array>, method: Method) -> Array {
        let _named = crate::trace::named("RegularGridInterpolator.call_with");
        let given = xi.into();
        let count = self.grid.len();
        let fits = match given.ndim() {
            0 => false,
            1 => given.size() % count == 0,
            rank => given.shape()[rank - 1] == count,
        };
        if !fits {
            let error = format!(
                "points of {count} coordinates are needed, and {} is given",
                given.aval()
            );
            raise(Error::shape(error).in_operation("RegularGridInterpolator"));
        }
        let points = given.size() / count;
        let mut shape = match given.ndim() {
            1 => vec![points],
            rank => given.shape()[..rank - 1].to_vec(),
        };
        let rows = lax::transpose(&lax::reshape(&given, [points, count]), [1, 0]);
        let mut outside = lax::full([points], false, DType::Bool);
        let mut places = Vec::new();
        for (x, grid) in lax::unstack(&rows, 0).iter().zip(&self.grid) {
            places.push(place(grid, x));
            outside |= x.lt(grid.index(0));
            outside |= x.gt(grid.index(-1));
        }
        let result = match method {
            Method::Linear => self.linear(&places),
            Method::Nearest => self.nearest(&places),
        };
        let result = match &self.fill_value {
            None => result,
            Some(fill) => {
                let mut wide = vec![points];
                wide.resize(result.ndim(), 1);
                where_(&lax::reshape(&outside, &wide), fill, result)
            }
        };
        shape.extend_from_slice(&self.values.shape()[count..]);
        lax::reshape(&result, &shape)
    }

    /// The values at indices of all coordinates.
    #[track_caller]
    fn at(&self, indices: &[Array]) -> Array {
        let indices = indices.iter().map(|index| Index::Array(index.clone()));
        self.values
            .index(Indices::from(indices.collect::<Vec<Index>>()))
    }

    #[track_caller]
    fn linear(&self, places: &[Place]) -> Array {
        let further = self.values.ndim() - self.grid.len();
        let behind: Vec<usize> = (1..=further).collect();
        let ends: Vec<[Array; 2]> = places
            .iter()
            .map(|place| [place.index.clone(), &place.index + 1])
            .collect();
        let mut values = Array::from(0.0);
        for corner in 0..1usize << places.len() {
            // The last coordinate changes first.
            let end = |coordinate: usize| corner >> (places.len() - 1 - coordinate) & 1;
            let indices: Vec<Array> = (0..places.len())
                .map(|coordinate| ends[coordinate][end(coordinate)].clone())
                .collect();
            let mut weight = Array::from(1.0);
            for (index, place) in indices.iter().zip(places) {
                let lower = index.equal(&place.index);
                weight *= where_(&lower, 1 - &place.distance, &place.distance);
            }
            let at = self.at(&indices);
            values += at * lax::expand_dims(&weight, &behind);
        }
        values
    }

    #[track_caller]
    fn nearest(&self, places: &[Place]) -> Array {
        let nearest = |place: &Place| {
            let near = place.distance.le(0.5);
            where_(&near, &place.index, &place.index + 1)
        };
        self.at(&places.iter().map(nearest).collect::<Vec<Array>>())
    }
}

/// Where numbers stand in a grid.
#[track_caller]
fn place(grid: &Array, x: &Array) -> Place {
    let [grid, x] = promote_dtypes("RegularGridInterpolator", [grid, x]);
    let last = grid.size() as i32 - 2;
    let index = numpy::searchsorted(&grid, &x, ()).astype(DType::I32) - 1;
    let index = where_(&index.lt(0), 0, index);
    let index = where_(&index.gt(last), last, index);
    let from_below = x - grid.index(&index);
    let width = grid.index(&index + 1) - grid.index(&index);
    let distance = numpy::divide(&from_below, &width);
    Place { index, distance }
}
