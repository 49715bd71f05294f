//! Spherical harmonics.

use jaxide_core::{DType, Error};

use crate::array::Array;
use crate::numpy::where_;
use crate::options::options;
use crate::scipy::operands::numbers;
use crate::trace::{library, raise};
use crate::{lax, numpy};

options! {
    /// What [`sph_harm_y`] takes beside its operands.
    pub struct SphHarmY {
        /// The largest degree; that of `n` by default, which must have a value then.
        n_max: Option<usize> = None, |n_max: impl Into<Option<usize>>| n_max.into();
    }
}

/// Spherical harmonics of degrees `n` and orders `m`, vectors of integers, at polar angles `theta` and azimuths `phi`: one complex
/// number for each element.
///
/// # Panics
/// When there is no largest degree, or the vectors do not fit.
///
/// ```
/// use jaxide::{Array, scipy::special};
/// let [n, m] = [Array::from([0, 1]), Array::from([0, 0])];
/// let [theta, phi] = [Array::from([0.0f32, 0.0]), Array::from([0.0f32, 0.0])];
/// let y = jaxide::lax::real(&special::sph_harm_y(&n, &m, &theta, &phi, ()));
/// assert!((y.to_vec::<f32>()[1] - 0.48860252).abs() < 1e-6);
/// ```
#[track_caller]
pub fn sph_harm_y(
    n: &Array,
    m: &Array,
    theta: impl Into<Array>,
    phi: impl Into<Array>,
    options: impl Into<SphHarmY>,
) -> Array {
    let _named = crate::trace::named("sph_harm_y");
    const NAME: &str = "sph_harm_y";
    let (theta, phi) = (theta.into(), phi.into());
    let theta = if theta.ndim() == 0 {
        lax::reshape(&theta, [1])
    } else {
        theta
    };
    let largest = options.into().n_max.unwrap_or_else(|| {
        let value = numpy::max(n, ()).try_value().ok();
        let value = value.and_then(|value| value.scalar_at(0)?.as_integer());
        let Some(largest) = value.and_then(|value| usize::try_from(value).ok()) else {
            let error = "the largest degree must be given where the degrees have no values";
            raise(Error::parameter(error).in_operation(NAME));
        };
        largest
    });
    if n.ndim() != 1 || theta.ndim() != 1 {
        let error = format!(
            "vectors are needed, and {} and {} are given",
            n.aval(),
            theta.aval()
        );
        raise(Error::shape(error).in_operation(NAME));
    }
    library(
        "_sph_harm",
        &largest.to_string(),
        [n, m, &theta, &phi],
        |[n, m, theta, phi]| {
            let order = m.abs();
            let legendre = associated_legendre(largest, &theta.cos());
            let count = largest as i32 + 1;
            let at = lax::iota(DType::I32, [n.size()], 0);
            let points = theta.size() as i32;
            let clipped = |x: &Array, length: i32| numpy::clip(x, 0, length - 1).astype(DType::I32);
            // Rows are distances from the diagonal, columns orders.
            let distance = n - &order;
            let inside = distance.ge(0);
            let row = clipped(&distance, count);
            let place = (row * count + clipped(&order, count)) * points + clipped(&at, points);
            let value = lax::reshape(&legendre, [legendre.size()]).index(place);
            let value = where_(&inside, &value, numpy::full_like(&value, 0));
            let angle = &order * phi;
            let real = &value * angle.cos();
            let imag = &value * angle.sin();
            let sign = where_(&(&order & 1).equal(0), 1.0, -1.0).astype(value.dtype());
            let negative = numpy::broadcast_to(&m.lt(0), real.shape());
            let harmonics = lax::complex(&real, &imag);
            let conjugate = lax::complex(&(&sign * &real), &(-&sign * &imag));
            lax::select(&negative, &conjugate, &harmonics)
        },
    )
}

/// Normalised associated Legendre functions at `x`, by distance of degree and order, order, and element of `x`.
#[track_caller]
fn associated_legendre(largest: usize, x: &Array) -> Array {
    let dtype = x.dtype();
    let count = largest + 1;
    let column = |values: Vec<f64>| lax::expand_dims(&numbers(&values, dtype), &[1]);
    let row = lax::expand_dims(x, &[0]);
    let sine = lax::expand_dims(&numpy::sqrt(&(1.0 - x * x)), &[0]);
    // On the diagonal, by a product.
    let mut diagonal = vec![numpy::full_like(&row, 0.5 / std::f64::consts::PI.sqrt())];
    for order in 1..count {
        let factor = -(1.0 + 0.5 / order as f64).sqrt();
        let next = &diagonal[order - 1] * factor * &sine;
        diagonal.push(next);
    }
    let mut diagonals = vec![lax::concatenate(&diagonal, 0)];
    for distance in 1..count {
        let orders = 0..count - distance;
        let of = |coefficient: &dyn Fn(f64, f64) -> f64| {
            let value = |order: usize| coefficient((order + distance) as f64, order as f64);
            column(orders.clone().map(value).collect())
        };
        let first = of(&|l, m| ((4.0 * l * l - 1.0) / (l * l - m * m)).sqrt());
        let one_less = diagonals[distance - 1].slice(..count - distance);
        let mut next = first * &row * one_less;
        if distance > 1 {
            let second = of(&|l, m| {
                let below = (l - 1.0) * (l - 1.0) - m * m;
                ((2.0 * l + 1.0) * below / ((2.0 * l - 3.0) * (l * l - m * m))).sqrt()
            });
            next -= second * diagonals[distance - 2].slice(..count - distance);
        }
        diagonals.push(next);
    }
    let padded: Vec<Array> = diagonals
        .iter()
        .enumerate()
        .map(|(distance, values)| lax::pad(values, 0.0, &[(0, distance as i64, 0), (0, 0, 0)]))
        .collect();
    lax::stack(&padded, 0)
}
