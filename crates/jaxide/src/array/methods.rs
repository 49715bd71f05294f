//! NumPy-like methods.

use jaxide_core::{DType, Error};

use super::{Array, AsShape, Axes, as_dtype};
use crate::lax;
use crate::numpy;
use crate::trace::raise;

/// Methods that are functions of [`numpy`] under the same name.
macro_rules! methods {
    ($($(#[$doc:meta])* $name:ident $function:path;)*) => {
        /// Elementwise functions.
        impl Array {
            $(
                $(#[$doc])*
                ///
                /// # Panics
                /// When the element type is not one it is defined for.
                #[track_caller]
                pub fn $name(&self) -> Array {
                    let _named = crate::trace::named(stringify!($name));
                    $function(self)
                }
            )*
        }
    };
}

methods! {
    /// Sine of radians.
    sin numpy::sin;
    /// Cosine of radians.
    cos numpy::cos;
    /// Tangent of radians.
    tan numpy::tan;
    /// Hyperbolic tangent.
    tanh numpy::tanh;
    /// `e^x`.
    exp numpy::exp;
    /// `e^x - 1`.
    expm1 numpy::expm1;
    /// Natural logarithm.
    log numpy::log;
    /// `log(1 + x)`.
    log1p numpy::log1p;
    /// Square root.
    sqrt numpy::sqrt;
    /// Absolute value.
    abs numpy::abs;
    /// -1, 0 or 1.
    sign numpy::sign;
    /// `x * x`.
    square numpy::square;
    /// Largest integer not above.
    floor numpy::floor;
    /// Smallest integer not below.
    ceil numpy::ceil;
    /// `1 / (1 + e^-x)`.
    sigmoid lax::logistic;
}

/// Comparisons, which give arrays of truth values.
macro_rules! comparisons {
    ($($(#[$doc:meta])* $name:ident $function:path;)*) => {
        /// Operations with a second operand, an array or a number.
        impl Array {
            $(
                $(#[$doc])*
                ///
                /// # Panics
                /// When shapes do not broadcast.
                #[track_caller]
                pub fn $name(&self, other: impl Into<Array>) -> Array {
                    let _named = crate::trace::named(stringify!($name));
                    $function(self, &other.into())
                }
            )*
        }
    };
}

comparisons! {
    /// Whether equal.
    equal numpy::equal;
    /// Whether different.
    not_equal numpy::not_equal;
    /// Whether less.
    lt numpy::less;
    /// Whether less or equal.
    le numpy::less_equal;
    /// Whether greater.
    gt numpy::greater;
    /// Whether greater or equal.
    ge numpy::greater_equal;
    /// Larger of two.
    maximum numpy::maximum;
    /// Smaller of two.
    minimum numpy::minimum;
    /// `self` to the power `other`.
    pow numpy::power;
    /// Product of vectors, matrices and stacks of matrices.
    matmul numpy::matmul;
}

/// Reductions, along all axes with `()`.
impl Array {
    /// Sum of all elements.
    ///
    /// # Panics
    /// When the elements are not numbers.
    #[track_caller]
    pub fn sum(&self) -> Array {
        numpy::sum(self, ())
    }

    /// Sum along axes.
    ///
    /// # Panics
    /// When an axis is out of range.
    #[track_caller]
    pub fn sum_axes(&self, axes: impl Axes) -> Array {
        numpy::sum(self, axes)
    }

    /// Mean of all elements.
    ///
    /// # Panics
    /// When the elements are not numbers.
    #[track_caller]
    pub fn mean(&self) -> Array {
        numpy::mean(self, ())
    }

    /// Mean along axes.
    ///
    /// # Panics
    /// When an axis is out of range.
    #[track_caller]
    pub fn mean_axes(&self, axes: impl Axes) -> Array {
        numpy::mean(self, axes)
    }

    /// Largest element.
    ///
    /// # Panics
    /// When there is none.
    #[track_caller]
    pub fn max(&self) -> Array {
        numpy::max(self, ())
    }

    /// Smallest element.
    ///
    /// # Panics
    /// When there is none.
    #[track_caller]
    pub fn min(&self) -> Array {
        numpy::min(self, ())
    }

    /// Whether all elements are true: not zero.
    ///
    /// # Panics
    /// When the elements are no numbers.
    #[track_caller]
    pub fn all(&self) -> Array {
        numpy::all(self, ())
    }

    /// Whether any element is true: not zero.
    ///
    /// # Panics
    /// When the elements are no numbers.
    #[track_caller]
    pub fn any(&self) -> Array {
        numpy::any(self, ())
    }
}

/// Shapes and element types.
impl Array {
    /// Integer power by repeated multiplication.
    ///
    /// # Panics
    /// When an integer is raised to a negative power.
    #[track_caller]
    pub fn powi(&self, exponent: i64) -> Array {
        lax::integer_pow(self, exponent)
    }

    /// Product of vectors and matrices: see [`numpy::dot`].
    ///
    /// # Panics
    /// When lengths do not fit.
    #[track_caller]
    pub fn dot(&self, other: &Array) -> Array {
        numpy::dot(self, other)
    }

    /// The same elements under another shape; one length may be -1.
    ///
    /// # Panics
    /// When the numbers of elements differ.
    #[track_caller]
    pub fn reshape(&self, shape: impl AsShape) -> Array {
        numpy::reshape(self, shape)
    }

    /// The axes in reverse order.
    #[track_caller]
    pub fn t(&self) -> Array {
        lax::transpose(self, ())
    }

    /// The last two axes exchanged: `x.mT` of NumPy.
    ///
    /// # Panics
    /// When there are less than two.
    #[track_caller]
    pub fn mt(&self) -> Array {
        numpy::linalg::matrix_transpose(self)
    }

    /// The axes in another order; with `()` in reverse order.
    ///
    /// # Panics
    /// When `axes` does not name every axis once.
    #[track_caller]
    pub fn transpose(&self, axes: impl Axes) -> Array {
        lax::transpose(self, axes)
    }

    /// Another element type.
    ///
    /// # Panics
    /// When the conversion has no meaning (random keys).
    #[track_caller]
    pub fn astype(&self, dtype: DType) -> Array {
        as_dtype(self, dtype, false)
    }

    /// The slices along the first axis, as many as are asked for: `let [x, y, z] = point.unpack();`.
    ///
    /// # Panics
    /// When the first axis has another length.
    ///
    /// ```
    /// use jaxide::Array;
    /// let [x, y] = Array::from([3.0f32, 4.0]).unpack();
    /// assert_eq!((x.square() + y.square()).sqrt().item::<f32>(), 5.0);
    /// ```
    #[track_caller]
    pub fn unpack<const N: usize>(&self) -> [Array; N] {
        if self.shape().first() != Some(&N) {
            raise(
                Error::shape(format!("{N} slices are asked for, of {}", self.aval()))
                    .in_operation("unpack"),
            );
        }
        match <[Array; N]>::try_from(lax::unstack(self, 0)) {
            Ok(slices) => slices,
            Err(_) => raise(Error::shape("slices are missing").in_operation("unpack")),
        }
    }

    /// Repeated to a shape.
    ///
    /// # Panics
    /// When it does not broadcast to it.
    #[track_caller]
    pub fn broadcast_to(&self, shape: impl AsShape) -> Array {
        numpy::broadcast_to(self, shape)
    }

    /// Zeros.
    ///
    /// # Panics
    /// When the array is too large to hold.
    #[track_caller]
    pub fn zeros(shape: impl AsShape, dtype: DType) -> Array {
        numpy::zeros(shape, dtype)
    }

    /// Ones.
    ///
    /// # Panics
    /// When the array is too large to hold.
    #[track_caller]
    pub fn ones(shape: impl AsShape, dtype: DType) -> Array {
        numpy::ones(shape, dtype)
    }
}
