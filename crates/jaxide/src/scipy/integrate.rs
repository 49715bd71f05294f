//! Integrals of samples, as in `jax.scipy.integrate`.

use crate::array::Array;
use crate::idx;
use crate::numpy::Diff;
use crate::options::options;
use crate::scipy::operands::inexact;
use crate::trace::library::library_call;
use crate::{lax, numpy};

options! {
    /// What [`trapezoid`] takes beside the values.
    pub struct Trapezoid {
        /// Where the values are: a vector, or an array of their shape.
        x: Option<Array> = None, |x: impl Into<Array>| Some(x.into());
        /// The distance between neighbours, where `x` is not given: 1 by default.
        dx: Option<Array> = None, |dx: impl Into<Array>| Some(dx.into());
        /// Along which axis: the last by default.
        axis: i64 = -1;
    }
}

/// The integral of samples along an axis, by the rule of trapezoids.
///
/// # Panics
/// When there is no such axis, or shapes do not fit.
///
/// ```
/// use jaxide::scipy::integrate::{self, Trapezoid};
/// assert_eq!(integrate::trapezoid([1.0f32, 2.0, 3.0], ()).item::<f32>(), 4.0);
/// let options = Trapezoid::new().x([0.0f32, 2.0, 4.0]);
/// assert_eq!(integrate::trapezoid([1.0f32, 2.0, 3.0], options).item::<f32>(), 8.0);
/// ```
#[track_caller]
pub fn trapezoid(y: impl Into<Array>, options: impl Into<Trapezoid>) -> Array {
    let _named = crate::trace::named("trapezoid");
    let Trapezoid { x, dx, axis } = options.into();
    let key = format!("{axis} {} {}", x.is_some(), dx.is_some());
    let mut operands = vec![y.into()];
    operands.extend(x.clone());
    operands.extend(dx.clone());
    // JAX calls the function of the same name in `numpy`.
    let results = library_call(
        "trapezoid",
        &format!("scipy {key}"),
        &operands,
        |operands| {
            let mut operands = operands.to_vec();
            if dx.is_none() {
                operands.push(Array::from(1.0));
            }
            library_call("trapezoid", &key, &operands, |operands| {
                vec![match (&x, operands) {
                    (Some(_), [y, x, dx]) => between(y, Some(x), dx, axis),
                    (_, [y, .., dx]) => between(y, None, dx, axis),
                    (_, operands) => unreachable!("{} operands", operands.len()),
                }]
            })
        },
    );
    results[0].clone()
}

#[track_caller]
fn between(y: &Array, x: Option<&Array>, dx: &Array, axis: i64) -> Array {
    let (y, dx) = match x {
        None => {
            let [y] = inexact("trapezoid", [y.clone()]);
            let rank = y.ndim();
            let dx = if dx.ndim() == 0 {
                dx.clone()
            } else {
                last(&raised(dx, rank), axis)
            };
            (y, dx)
        }
        Some(x) => {
            let [y, x] = crate::array::promote_dtypes("trapezoid", [y, x]);
            let ([y], [x]) = (inexact("trapezoid", [y]), inexact("trapezoid", [x]));
            let widths = match x.ndim() {
                1 => numpy::diff(&x, ()),
                _ => last(&numpy::diff(&x, Diff::new().axis(axis)), axis),
            };
            (y, widths)
        }
    };
    let y = last(&y, axis);
    let sum = |x: &Array| numpy::sum(x, [-1]);
    if dx.ndim() == 0 || dx.shape()[dx.ndim() - 1] == 1 {
        let dx = if dx.ndim() == 0 {
            dx
        } else {
            lax::squeeze(&dx, [dx.ndim() - 1])
        };
        let at = |index: i64| y.index(idx![..., index]);
        let total = sum(&y);
        let first = at(0);
        let ends = 0.5 * (first + at(-1));
        return dx * (total - ends);
    }
    let after = y.index(idx![..., 1..]);
    let before = y.index(idx![..., ..-1]);
    0.5 * sum(&(dx * (after + before)))
}

/// Axes of length 1 in front.
#[track_caller]
fn raised(x: &Array, rank: usize) -> Array {
    let new: Vec<usize> = (0..rank.saturating_sub(x.ndim())).collect();
    lax::expand_dims(x, &new)
}

/// `x` with an axis moved to the end.
#[track_caller]
fn last(x: &Array, axis: i64) -> Array {
    let axis = numpy::normalize_axis("trapezoid", axis, x.ndim());
    if axis + 1 == x.ndim() {
        return x.clone();
    }
    let mut order: Vec<usize> = (0..x.ndim()).filter(|&other| other != axis).collect();
    order.push(axis);
    lax::transpose(x, &order)
}
