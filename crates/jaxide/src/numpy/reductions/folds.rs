//! Sums, products, extrema and truth along axes.

use jaxide_core::{DType, Error, Scalar};

use super::Reduction;
use crate::array::{Array, as_dtype};
use crate::lax;
use crate::numpy::arithmetic::numeric;
use crate::numpy::where_;
use crate::trace::raise;

/// Sums and products of truth values and small integers are taken in 32 bits, as in JAX.
pub(super) fn counting_type(dtype: DType) -> DType {
    match dtype {
        DType::Bool | DType::I2 | DType::I4 | DType::I8 | DType::I16 => DType::I32,
        DType::U2 | DType::U4 | DType::U8 | DType::U16 => DType::U32,
        dtype => dtype,
    }
}

/// The element type in which sums of `dtype` are taken: floats of 16 bits overflow and lose digits.
pub(super) fn summing_type(dtype: DType) -> DType {
    match dtype {
        DType::F16 | DType::BF16 => DType::F32,
        other => other,
    }
}

/// How elements are combined.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Fold {
    Sum,
    Prod,
    Max,
    Min,
    All,
    Any,
}

impl Fold {
    /// What changes nothing, in the element type of `x`; of extrema, what is never reached.
    #[track_caller]
    fn neutral(self, x: &Array) -> Array {
        let dtype = x.dtype();
        if dtype == DType::Bool {
            return Array::from(matches!(self, Fold::Prod | Fold::Min | Fold::All));
        }
        let number = match self {
            Fold::Sum | Fold::Any => Array::from(0),
            Fold::Prod | Fold::All => Array::from(1),
            Fold::Max | Fold::Min if dtype.is_integer() => limit(dtype, self == Fold::Min),
            Fold::Max => Array::from(f64::NEG_INFINITY),
            Fold::Min => Array::from(f64::INFINITY),
        };
        as_dtype(&number, dtype, false)
    }

    #[track_caller]
    fn reduce(self, x: &Array, axes: &[usize]) -> Array {
        let truth = x.dtype() == DType::Bool;
        match self {
            Fold::Sum if truth => lax::reduce_or(x, axes),
            Fold::Prod if truth => lax::reduce_and(x, axes),
            Fold::Sum => lax::reduce_sum(x, axes),
            Fold::Prod => lax::reduce_prod(x, axes),
            Fold::Max => lax::reduce_max(x, axes),
            Fold::Min => lax::reduce_min(x, axes),
            Fold::All => lax::reduce_and(x, axes),
            Fold::Any => lax::reduce_or(x, axes),
        }
    }

    #[track_caller]
    fn combine(self, x: &Array, y: &Array) -> Array {
        let truth = x.dtype() == DType::Bool;
        match self {
            Fold::Any => lax::bitwise_or(x, y),
            Fold::All => lax::bitwise_and(x, y),
            Fold::Sum if truth => lax::bitwise_or(x, y),
            Fold::Prod if truth => lax::bitwise_and(x, y),
            Fold::Sum => lax::add(x, y),
            Fold::Prod => lax::mul(x, y),
            Fold::Max => lax::max(x, y),
            Fold::Min => lax::min(x, y),
        }
    }
}

/// The largest or smallest number of an integer type.
pub(super) fn limit(dtype: DType, largest: bool) -> Array {
    let bits = dtype.bits() as u32;
    let (low, high) = if dtype.is_signed_integer() {
        (-(1_i128 << (bits - 1)), (1_i128 << (bits - 1)) - 1)
    } else {
        (0, (1_i128 << bits) - 1)
    };
    let value = if largest { high } else { low };
    Array::weak(Scalar::from_integer(value).unwrap_or(Scalar::Int(0)), dtype)
}

/// Combines along axes: masked, from an initial value, in the element type that is asked for.
#[track_caller]
pub(super) fn fold(how: Fold, operation: &str, x: &Array, options: &Reduction) -> Array {
    let has_identity = !matches!(how, Fold::Max | Fold::Min);
    if !has_identity && options.where_.is_some() && options.initial.is_none() {
        let error =
            Error::parameter("`where_` needs `initial`, which is the result of no elements");
        raise(error.in_operation(operation));
    }
    let x = match how {
        Fold::Sum | Fold::Prod => as_dtype(
            x,
            numeric(x.dtype()),
            x.weak_type() && x.dtype() != DType::Bool,
        ),
        Fold::All | Fold::Any => truth(x),
        Fold::Max | Fold::Min => x.clone(),
    };
    let axes = options.axes(operation, &x);
    if !has_identity && options.initial.is_none() {
        let empty = axes.iter().find(|&&axis| x.shape()[axis] == 0);
        if let Some(&axis) = empty {
            raise(no_elements(operation, &x, axis));
        }
    }
    let sums = matches!(how, Fold::Sum | Fold::Prod);
    let result = match options.dtype {
        Some(dtype) => dtype,
        None if sums && options.promote_integers => counting_type(x.dtype()),
        None => x.dtype(),
    };
    let computed = if sums && options.dtype.is_none() {
        summing_type(result)
    } else {
        result
    };
    let mut x = as_dtype(&x, computed, false);
    if let Some(mask) = &options.where_ {
        let neutral = how.neutral(&x);
        x = where_(mask, &x, &neutral);
    }
    let mut reduced = how.reduce(&x, &axes);
    if let Some(initial) = &options.initial {
        if initial.ndim() != 0 {
            let error = format!("`initial` is a scalar, and {} is given", initial.aval());
            raise(Error::shape(error).in_operation(operation));
        }
        reduced = how.combine(&as_dtype(initial, x.dtype(), false), &reduced);
    }
    if options.keepdims {
        reduced = lax::expand_dims(&reduced, &axes);
    }
    as_dtype(&reduced, result, false)
}

/// Whether not zero; of complex numbers, whether the real part is not.
#[track_caller]
fn truth(x: &Array) -> Array {
    if x.dtype().is_complex() {
        as_dtype(&lax::real(x), DType::Bool, false)
    } else {
        as_dtype(x, DType::Bool, false)
    }
}

/// No element is the largest of none.
pub(super) fn no_elements(operation: &str, x: &Array, axis: usize) -> Error {
    Error::shape(format!(
        "the zero-size {} has no {operation} along axis {axis}",
        x.aval()
    ))
    .in_operation(operation)
}

/// Reductions with one fold.
macro_rules! folds {
    ($($(#[$doc:meta])* $name:ident $how:ident [$($keyword:literal)*];)*) => { $(
        $(#[$doc])*
        ///
        /// # Panics
        /// When an axis is out of range, or a keyword is given that it does not take.
        #[track_caller]
        pub fn $name(x: &Array, options: impl Into<Reduction>) -> Array {
            let _named = crate::trace::named(stringify!($name));
            let options = options.into().taking(stringify!($name), &[$($keyword),*]);
            fold(Fold::$how, stringify!($name), x, &options)
        }
    )* };
}

folds! {
    /// Sum along axes, with `dtype`, `keepdims`, `initial`, `where_`, `promote_integers`. Truth values and integers of fewer than
    /// 32 bits are summed in 32 bits, which the result has; `f16` and `bf16` in `f32`.
    sum Sum ["dtype" "keepdims" "initial" "where_" "promote_integers"];
    /// Product along axes, with the keywords and in the element types of [`sum`].
    prod Prod ["dtype" "keepdims" "initial" "where_" "promote_integers"];
    /// Largest along axes, with `keepdims`, `initial`, `where_`; NaN if any is. Complex numbers are ordered by their real parts,
    /// then by their imaginary parts. Of no elements there is one only with `initial`.
    max Max ["keepdims" "initial" "where_"];
    /// Smallest along axes, with the keywords of [`max`].
    min Min ["keepdims" "initial" "where_"];
    /// The same as [`max`].
    amax Max ["keepdims" "initial" "where_"];
    /// The same as [`min`].
    amin Min ["keepdims" "initial" "where_"];
    /// Whether all are true: not zero, the real part of complex numbers. With `keepdims`, `where_`.
    ///
    /// ```
    /// use jaxide::{Array, numpy};
    /// assert!(numpy::all(&Array::from([1, 2]), ()).truth());
    /// ```
    all All ["keepdims" "where_"];
    /// Whether any is true: not zero, the real part of complex numbers. With `keepdims`, `where_`.
    any Any ["keepdims" "where_"];
}
