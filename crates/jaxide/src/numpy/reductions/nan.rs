//! Reductions that leave NaN out.

use jaxide_core::Error;
use jaxide_core::prims;

use super::folds::{Fold, fold};
use super::moments::{squared, variance_types};
use super::{Reduction, all, argmax, argmin, mean, position_type, sum};
use crate::array::{Array, as_dtype};
use crate::lax;
use crate::numpy::arithmetic::constant;
use crate::numpy::{isnan, where_};
use crate::trace::library::library_with;
use crate::trace::{bind_one, library, raise};

/// The options of a call inside of the library, with the arrays that it is given.
fn with_arrays(options: &Reduction, [initial, mask]: [Option<Array>; 2]) -> Reduction {
    Reduction {
        initial,
        where_: mask,
        ..options.clone()
    }
}

/// Reductions of elements in which NaN is replaced by what changes nothing.
macro_rules! without_nan {
    ($($(#[$doc:meta])* $name:ident $how:ident $number:expr, $all:literal [$($keyword:literal)*];)*) => { $(
        $(#[$doc])*
        ///
        /// # Panics
        /// When an axis is out of range, or a keyword is given that it does not take.
        #[track_caller]
        pub fn $name(x: &Array, options: impl Into<Reduction>) -> Array {
            let _named = crate::trace::named(stringify!($name));
            let options = options.into().taking(stringify!($name), &[$($keyword),*]);
            nan_fold(Fold::$how, stringify!($name), x, &options, $number, $all)
        }
    )* };
}

without_nan! {
    /// Sum of what is not NaN, with `dtype`, `keepdims`, `initial`, `where_`.
    nansum Sum 0.0, false ["dtype" "keepdims" "initial" "where_"];
    /// Product of what is not NaN, with `dtype`, `keepdims`, `initial`, `where_`.
    nanprod Prod 1.0, false ["dtype" "keepdims" "initial" "where_"];
    /// Largest of what is not NaN, and NaN where all are; with `keepdims`, `initial`, `where_`.
    nanmax Max f64::NEG_INFINITY, true ["keepdims" "initial" "where_"];
    /// Smallest of what is not NaN, and NaN where all are; with `keepdims`, `initial`, `where_`.
    nanmin Min f64::INFINITY, true ["keepdims" "initial" "where_"];
}

#[track_caller]
fn nan_fold(
    how: Fold,
    operation: &str,
    x: &Array,
    options: &Reduction,
    neutral: f64,
    nan_of_nan: bool,
) -> Array {
    options.axes(operation, x);
    let arrays = [options.initial.clone(), options.where_.clone()];
    library_with(operation, &options.key(), [x], arrays, |[x], arrays| {
        let options = with_arrays(options, arrays);
        if !x.dtype().is_inexact() {
            return fold(how, operation, x, &options);
        }
        let replaced = where_(isnan(x), constant(x, neutral), x);
        let result = fold(how, operation, &replaced, &options);
        if !nan_of_nan || options.initial.is_some() {
            return result;
        }
        let plain = Reduction {
            axis: options.axis.clone(),
            keepdims: options.keepdims,
            ..Reduction::new()
        };
        where_(all(&isnan(x), plain), constant(x, f64::NAN), result)
    })
}

/// Mean of what is not NaN, with `dtype`, `keepdims`, `where_`; of nothing NaN.
///
/// # Panics
/// When an axis is out of range, or a keyword is given that it does not take.
///
/// ```
/// use jaxide::{Array, numpy};
/// assert_eq!(numpy::nanmean(&Array::from([1.0f32, f32::NAN, 3.0]), ()).item::<f32>(), 2.0);
/// ```
#[track_caller]
pub fn nanmean(x: &Array, options: impl Into<Reduction>) -> Array {
    let _named = crate::trace::named("nanmean");
    let options = options
        .into()
        .taking("nanmean", &["dtype", "keepdims", "where_"]);
    options.axes("nanmean", x);
    let mask = [options.where_.clone()];
    library_with("nanmean", &options.key(), [x], mask, |[x], [mask]| {
        let options = with_arrays(&options, [None, mask]);
        if !x.dtype().is_inexact() {
            return mean(x, options);
        }
        let options = options.clone().dtype(options.dtype.unwrap_or(x.dtype()));
        let counted = lax::bitwise_not(&isnan(x));
        let count = sum(&counted, options.clone());
        lax::div(&nansum(x, options), &count)
    })
}

const VARIANCE: [&str; 5] = ["dtype", "keepdims", "where_", "ddof", "mean"];

/// Variance of what is not NaN, with `dtype`, `keepdims`, `where_`, `ddof`, `mean`; NaN where nothing is left of the count.
///
/// # Panics
/// When an axis is out of range, or a keyword is given that it does not take.
#[track_caller]
pub fn nanvar(x: &Array, options: impl Into<Reduction>) -> Array {
    let _named = crate::trace::named("nanvar");
    let options = options.into().taking("nanvar", &VARIANCE);
    nan_variance("nanvar", x, &Array::from(options.ddof), &options)
}

/// Standard deviation of what is not NaN: the square root of [`nanvar`], whose keywords it has.
///
/// # Panics
/// When an axis is out of range, or a keyword is given that it does not take.
#[track_caller]
pub fn nanstd(x: &Array, options: impl Into<Reduction>) -> Array {
    let _named = crate::trace::named("nanstd");
    let options = options.into().taking("nanstd", &VARIANCE);
    // A default that is not given is no operand of JAX's call.
    let ddof = (options.ddof != 0).then(|| Array::from(options.ddof));
    nanstd_less(x, ddof, options)
}

/// [`nanstd`], with `ddof` as an operand.
#[track_caller]
pub(crate) fn nanstd_less(x: &Array, ddof: Option<Array>, options: Reduction) -> Array {
    let [mean, mask] = [options.mean.clone(), options.where_.clone()];
    variance_types("nanstd", x, options.dtype);
    library_with(
        "nanstd",
        &options.key(),
        [x],
        [ddof, mean, mask],
        |[x], [ddof, mean, mask]| {
            let own = Reduction {
                mean,
                ..with_arrays(&options, [None, mask])
            };
            let ddof = ddof.unwrap_or_else(|| Array::from(0));
            lax::sqrt(&nan_variance_call("nanstd", x, Some(ddof), &own))
        },
    )
}

#[track_caller]
fn nan_variance(operation: &str, x: &Array, ddof: &Array, options: &Reduction) -> Array {
    let ddof = (options.ddof != 0).then(|| ddof.clone());
    nan_variance_call(operation, x, ddof, options)
}

#[track_caller]
fn nan_variance_call(
    operation: &str,
    x: &Array,
    ddof: Option<Array>,
    options: &Reduction,
) -> Array {
    let (computed, result) = variance_types(operation, x, options.dtype);
    options.axes(operation, x);
    let arrays = [ddof, options.mean.clone(), options.where_.clone()];
    library_with(
        "nanvar",
        &options.key(),
        [x],
        arrays,
        |[x], [ddof, mean, mask]| {
            let plain = Reduction {
                axis: options.axis.clone(),
                keepdims: options.keepdims,
                where_: mask,
                ..Reduction::new()
            };
            let x = &as_dtype(x, computed, false);
            let mean = match mean {
                Some(mean) => as_dtype(&mean, computed, false),
                None => nanmean(x, plain.clone().dtype(computed).keepdims(true)),
            };
            let distance = where_(isnan(x), 0, lax::sub(x, &mean));
            let distance = squared(&distance);
            let counted = lax::bitwise_not(&isnan(x));
            let count = sum(&counted, plain.clone().dtype(position_type(x)));
            let ddof = ddof.unwrap_or_else(|| Array::from(0));
            let count = crate::numpy::subtract(&count, &ddof);
            let nothing = lax::le(&count, &constant(&count, 0));
            let total = where_(&nothing, f64::NAN, sum(&distance, plain));
            let divisor = where_(&nothing, 1, &count);
            let divisor = as_dtype(&divisor, total.dtype(), false);
            let variance = bind_one(prims::Div, &[total, divisor]);
            as_dtype(&variance, result, false)
        },
    )
}

/// Index of the first largest element that is not NaN, with `keepdims`; -1 where all are.
///
/// # Panics
/// When the axis is empty or out of range, or a keyword is given that it does not take.
///
/// ```
/// use jaxide::{Array, numpy};
/// assert_eq!(numpy::nanargmax(&Array::from([1.0f32, f32::NAN, 3.0]), ()).item::<i32>(), 2);
/// ```
#[track_caller]
pub fn nanargmax(x: &Array, options: impl Into<Reduction>) -> Array {
    let _named = crate::trace::named("nanargmax");
    let options = options.into().taking("nanargmax", &["keepdims"]);
    nan_argument("nanargmax", "_nanargmax", x, &options, true)
}

/// Index of the first smallest element that is not NaN, with `keepdims`; -1 where all are.
///
/// # Panics
/// When the axis is empty or out of range, or a keyword is given that it does not take.
#[track_caller]
pub fn nanargmin(x: &Array, options: impl Into<Reduction>) -> Array {
    let _named = crate::trace::named("nanargmin");
    let options = options.into().taking("nanargmin", &["keepdims"]);
    nan_argument("nanargmin", "_nanargmin", x, &options, false)
}

#[track_caller]
fn nan_argument(
    operation: &str,
    name: &str,
    x: &Array,
    options: &Reduction,
    largest: bool,
) -> Array {
    let found = |x: &Array| {
        if largest {
            argmax(x, options.clone())
        } else {
            argmin(x, options.clone())
        }
    };
    if x.size() == 0 {
        raise(
            Error::shape(format!("the zero-size {} has no elements", x.aval()))
                .in_operation(operation),
        );
    }
    library(name, &options.key(), [x], |[x]| {
        if !x.dtype().is_inexact() {
            return found(x);
        }
        let undefined = isnan(x);
        let last = if largest {
            f64::NEG_INFINITY
        } else {
            f64::INFINITY
        };
        let at = found(&where_(&undefined, last, x));
        where_(all(&undefined, options.clone()), -1, at)
    })
}
