//! Running combinations along an axis.

use jaxide_core::{DType, Error};

use super::folds::counting_type;
use super::one_axis;
use crate::array::{Array, Axes, Numbers, as_dtype};
use crate::lax;
use crate::numpy::arithmetic::{constant, zero};
use crate::numpy::{isnan, where_};
use crate::options::options;
use crate::trace::{library, raise};

options! {
    /// What running combinations take beside the array; an axis alone is one too.
    pub struct Cumulative of axes {
        /// The axis: all elements in row-major order by default.
        axis: Option<Numbers> = None, |axis: impl Axes| axis.numbers();
        /// The element type of the result, in which it is computed too.
        dtype: Option<DType> = None, |dtype: DType| Some(dtype);
        /// Of [`cumulative_sum`] and [`cumulative_prod`]: whether what they begin from comes first.
        include_initial: bool = false;
    }
}

/// What is combined.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Running {
    Sum,
    Prod,
}

impl Running {
    fn neutral(self) -> i64 {
        match self {
            Running::Sum => 0,
            Running::Prod => 1,
        }
    }
}

impl Cumulative {
    #[track_caller]
    fn axis_of(&self, operation: &str, x: &Array) -> Option<usize> {
        one_axis(operation, self.axis.as_deref(), x.ndim())
    }

    #[track_caller]
    fn without_initial(self, operation: &str) -> Self {
        if self.include_initial {
            let error = Error::parameter("it does not take `include_initial`");
            raise(error.in_operation(operation));
        }
        self
    }
}

/// The equations of a running combination.
#[track_caller]
fn running(
    how: Running,
    x: &Array,
    axis: Option<usize>,
    dtype: Option<DType>,
    skip_nan: bool,
    promote_integers: bool,
) -> Array {
    let mut x = if axis.is_none() {
        lax::reshape(x, x.size())
    } else {
        x.clone()
    };
    let axis = axis.unwrap_or(0);
    if skip_nan {
        x = where_(isnan(&x), constant_of(&x, how.neutral()), &x);
    }
    let (computed, result) = match dtype {
        None if promote_integers || x.dtype() == DType::Bool => {
            (counting_type(x.dtype()), counting_type(x.dtype()))
        }
        None => (x.dtype(), x.dtype()),
        Some(DType::Bool) => {
            if x.dtype() != DType::Bool {
                x = lax::ne(&x, &zero(&x));
            }
            (DType::I32, DType::Bool)
        }
        Some(dtype) => (dtype, dtype),
    };
    let x = as_dtype(&x, computed, false);
    let combined = match how {
        Running::Sum => lax::cumsum(&x, axis, false),
        Running::Prod => lax::cumprod(&x, axis, false),
    };
    as_dtype(&combined, result, false)
}

/// A number of the element type of `x`, truth values included.
#[track_caller]
fn constant_of(x: &Array, number: i64) -> Array {
    if x.dtype() == DType::Bool {
        Array::from(number != 0)
    } else {
        constant(x, number)
    }
}

/// Running combinations that are a call.
macro_rules! running {
    ($($(#[$doc:meta])* $name:ident $how:ident $skip_nan:literal;)*) => { $(
        $(#[$doc])*
        /// along an axis, or of all elements in row-major order; with `dtype`. Truth values are counted in `i32`; other types stay.
        ///
        /// # Panics
        /// When the axis is out of range, or a keyword is given that it does not take.
        #[track_caller]
        pub fn $name(x: &Array, options: impl Into<Cumulative>) -> Array {
            let _named = crate::trace::named(stringify!($name));
            let options = options.into().without_initial(stringify!($name));
            let axis = options.axis_of(stringify!($name), x);
            let dtype = options.dtype;
            library(stringify!($name), &format!("{axis:?} {dtype:?}"), [x], |[x]| {
                running(Running::$how, x, axis, dtype, $skip_nan, false)
            })
        }
    )* };
}

running! {
    /// Running sum
    cumsum Sum false;
    /// Running product
    cumprod Prod false;
    /// Running sum of what is not NaN
    nancumsum Sum true;
    /// Running product of what is not NaN
    nancumprod Prod true;
}

/// The axis of `cumulative_sum` and `cumulative_prod`, which only a vector may leave out.
#[track_caller]
fn cumulative_axis(operation: &str, x: &Array, options: &Cumulative) -> usize {
    match one_axis(operation, options.axis.as_deref(), x.ndim()) {
        Some(axis) => axis,
        None if x.ndim() == 1 => 0,
        None => raise(
            Error::parameter(format!("an axis is needed for {}", x.aval())).in_operation(operation),
        ),
    }
}

#[track_caller]
fn with_initial(out: Array, axis: usize, options: &Cumulative, how: Running) -> Array {
    if !options.include_initial {
        return out;
    }
    let mut shape = out.shape().to_vec();
    shape[axis] = 1;
    let initial = if out.dtype() == DType::Bool {
        Array::from(how == Running::Prod)
    } else {
        Array::from(how.neutral())
    };
    let first = lax::full(&shape, initial, out.dtype());
    lax::concatenate(&[first, out], axis)
}

/// Running sum along an axis, with `dtype`, `include_initial`; integers of fewer than 32 bits are summed in 32. Only a vector
/// needs no axis.
///
/// # Panics
/// When the axis is missing or out of range.
///
/// ```
/// use jaxide::{Array, numpy};
/// let x = Array::from([1, 2, 3]);
/// let sums = numpy::cumulative_sum(&x, numpy::Cumulative::new().include_initial(true));
/// assert_eq!(sums.to_vec::<i32>(), [0, 1, 3, 6]);
/// ```
#[track_caller]
pub fn cumulative_sum(x: &Array, options: impl Into<Cumulative>) -> Array {
    let _named = crate::trace::named("cumulative_sum");
    let options = options.into();
    let axis = cumulative_axis("cumulative_sum", x, &options);
    let dtype = options.dtype;
    let key = format!("{axis} {dtype:?}");
    let out = library("_cumsum_with_promotion", &key, [x], |[x]| {
        running(Running::Sum, x, Some(axis), dtype, false, true)
    });
    with_initial(out, axis, &options, Running::Sum)
}

/// Running product along an axis, with `dtype`, `include_initial`. Only a vector needs no axis.
///
/// # Panics
/// When the axis is missing or out of range.
#[track_caller]
pub fn cumulative_prod(x: &Array, options: impl Into<Cumulative>) -> Array {
    let _named = crate::trace::named("cumulative_prod");
    let options = options.into();
    let axis = cumulative_axis("cumulative_prod", x, &options);
    let out = running(Running::Prod, x, Some(axis), options.dtype, false, false);
    with_initial(out, axis, &options, Running::Prod)
}
