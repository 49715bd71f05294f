//! Where extrema are, and both at once.

use jaxide_core::Error;
use jaxide_core::prims::{self, Opaque, PyValue};

use super::folds::{limit, no_elements};
use super::{Reduction, position_type};
use crate::array::{Array, as_dtype};
use crate::lax;
use crate::numpy::where_;
use crate::trace::{bind, raise};

/// The positions of extrema.
macro_rules! arguments {
    ($($(#[$doc:meta])* $name:ident $function:path;)*) => { $(
        $(#[$doc])*
        /// along an axis, with `keepdims`: `i32`, and `i64` beside elements of 64 bits. Of all elements, with `()`, in row-major order.
        ///
        /// # Panics
        /// When the axis is empty or out of range, or a keyword is given that it does not take.
        #[track_caller]
        pub fn $name(x: &Array, options: impl Into<Reduction>) -> Array {
            let _named = crate::trace::named(stringify!($name));
            let options = options.into().taking(stringify!($name), &["keepdims"]);
            let (searched, axis, axes) = match options.one_axis(stringify!($name), x) {
                Some(axis) => (x.clone(), axis, vec![axis]),
                None => (lax::reshape(x, x.size()), 0, (0..x.ndim()).collect()),
            };
            if searched.shape()[axis] == 0 {
                raise(no_elements(stringify!($name), &searched, axis));
            }
            let found = $function(&searched, axis, position_type(x));
            if options.keepdims {
                lax::expand_dims(&found, &axes)
            } else {
                found
            }
        }
    )* };
}

arguments! {
    /// Index of the first largest element
    argmax lax::argmax;
    /// Index of the first smallest element
    argmin lax::argmin;
}

/// Smallest and largest along axes, with `keepdims`, `initial`, `where_`; NaN if any is.
///
/// # Panics
/// When an axis is out of range, a keyword is given that it does not take, or there are no elements and no `initial`.
///
/// ```
/// use jaxide::{Array, numpy};
/// let (smallest, largest) = numpy::minmax(&Array::from([3, -1, 2]), ());
/// assert_eq!((smallest.item::<i32>(), largest.item::<i32>()), (-1, 3));
/// ```
#[track_caller]
pub fn minmax(x: &Array, options: impl Into<Reduction>) -> (Array, Array) {
    let _named = crate::trace::named("minmax");
    let options = options
        .into()
        .taking("minmax", &["keepdims", "initial", "where_"]);
    if options.where_.is_some() && options.initial.is_none() {
        let error =
            Error::parameter("`where_` needs `initial`, which is the result of no elements");
        raise(error.in_operation("minmax"));
    }
    let axes = options.axes("minmax", x);
    let empty = axes.iter().find(|&&axis| x.shape()[axis] == 0);
    if let Some(&axis) = empty
        && options.initial.is_none()
    {
        raise(no_elements("minmax", x, axis));
    }
    let x = as_dtype(x, x.dtype(), false);
    let number = |largest: bool| {
        if x.dtype() == jaxide_core::DType::Bool {
            return Array::from(largest);
        }
        let number = if x.dtype().is_integer() {
            limit(x.dtype(), largest)
        } else {
            Array::from(if largest {
                f64::INFINITY
            } else {
                f64::NEG_INFINITY
            })
        };
        as_dtype(&number, x.dtype(), false)
    };
    let (high, low) = (number(true), number(false));
    let masked = |other: &Array| match &options.where_ {
        Some(mask) => where_(mask, &x, other),
        None => x.clone(),
    };
    let operands = [masked(&high), masked(&low), high.clone(), low.clone()];
    let jaxpr = lax::combiner("minmax", &[x.dtype(); 4], |args| {
        vec![lax::min(&args[0], &args[2]), lax::max(&args[1], &args[3])]
    });
    let prim = prims::Reduce {
        computation: Opaque(PyValue::Opaque(
            "<function _minmax_op at 0xXXXXXXXXXXXX>".to_owned(),
        )),
        dimensions: axes.iter().copied().collect(),
        jaxpr,
    };
    let mut results = bind(prim, &operands);
    if let Some(initial) = &options.initial {
        let initial = as_dtype(initial, x.dtype(), false);
        results[0] = lax::min(&initial, &results[0]);
        results[1] = lax::max(&initial, &results[1]);
    }
    if options.keepdims {
        results = results.iter().map(|x| lax::expand_dims(x, &axes)).collect();
    }
    (results[0].clone(), results[1].clone())
}
