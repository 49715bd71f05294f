//! Activations with derivatives of their own.

use crate::array::Array;
use crate::numpy;
use crate::trace::library;
use crate::{custom_jvp, lax};

/// `max(x, 0)`, whose derivative at 0 is 0.
///
/// # Panics
/// When `x` is not a number.
///
/// ```
/// use jaxide::{Array, grad, nn};
/// let slope = grad(|x: Array| nn::relu(&x).sum());
/// assert_eq!(slope(Array::from([-1.0f32, 0.0, 2.0])).to_vec::<f32>(), [0.0, 0.0, 1.0]);
/// ```
#[track_caller]
pub fn relu(x: &Array) -> Array {
    let _named = crate::trace::named("relu");
    fn relu(x: Array) -> Array {
        library("relu", "", [&x], |[x]| numpy::maximum(x, &Array::from(0)))
    }
    let rectified = custom_jvp(relu, |(x,): (Array,), (tangent,): (Array,)| {
        let y = crate::nn::relu(&x);
        let positive = lax::gt(&x, &Array::from(0));
        (y, masked(&positive, &tangent))
    });
    rectified(x.clone())
}

/// [`relu`], at most 6: the derivative at 0 and 6 is 0.
///
/// # Panics
/// When `x` is not a number.
///
/// ```
/// use jaxide::{Array, nn};
/// assert_eq!(nn::relu6(&Array::from([-1.0f32, 2.0, 7.0])).to_vec::<f32>(), [0.0, 2.0, 6.0]);
/// ```
#[track_caller]
pub fn relu6(x: &Array) -> Array {
    let _named = crate::trace::named("relu6");
    fn relu6(x: Array) -> Array {
        library("relu6", "", [&x], |[x]| {
            let above = numpy::maximum(x, &Array::from(0));
            numpy::minimum(&above, &Array::from(6.0))
        })
    }
    let rectified = custom_jvp(relu6, |(x,): (Array,), (tangent,): (Array,)| {
        let y = crate::nn::relu6(&x);
        let inside = lax::bitwise_and(
            &numpy::greater(&x, &Array::from(0)),
            &numpy::less(&x, &Array::from(6)),
        );
        (y, masked(&inside, &tangent))
    });
    rectified(x.clone())
}

/// Tangents where a condition holds, else zeros.
fn masked(condition: &Array, tangent: &Array) -> Array {
    lax::select(condition, tangent, &numpy::full_like(tangent, 0))
}

/// `log(1 - e^-x)`, exact for small and large `x`.
///
/// # Panics
/// When `x` is not real.
///
/// ```
/// use jaxide::{Array, nn};
/// let y = nn::log1mexp(&Array::from([1e-6f32, 50.0])).to_vec::<f32>();
/// assert!((y[0] - 1e-6f32.ln()).abs() < 1e-5 && y[1] < 0.0);
/// ```
#[track_caller]
pub fn log1mexp(x: &Array) -> Array {
    let _named = crate::trace::named("log1mexp");
    fn log1mexp(x: Array) -> Array {
        library("log1mexp", "", [&x], |[x]| {
            let bound = lax::log(&Array::from(2.0));
            let is_small = numpy::less(x, &bound);
            let small = numpy::log(&numpy::negative(&numpy::expm1(&numpy::negative(x))));
            let large = numpy::log1p(&numpy::negative(&numpy::exp(&numpy::negative(x))));
            numpy::where_(&is_small, &small, &large)
        })
    }
    let function = custom_jvp(log1mexp, |(x,): (Array,), (tangent,): (Array,)| {
        let slope = numpy::expm1(&x);
        (crate::nn::log1mexp(&x), tangent / slope)
    });
    function(x.clone())
}

/// `log(e^x + 1)`.
///
/// # Panics
/// When `x` is not a number.
///
/// ```
/// use jaxide::{Array, nn};
/// assert_eq!(nn::softplus(&Array::from([-200.0f32, 200.0])).to_vec::<f32>(), [0.0, 200.0]);
/// ```
#[track_caller]
pub fn softplus(x: &Array) -> Array {
    let _named = crate::trace::named("softplus");
    library("softplus", "", [x], |[x]| numpy::logaddexp(x, 0))
}
