//! What reductions take beside the array.

use jaxide_core::{DType, Error};

use crate::array::{Array, Axes, Integer, Numbers, normalize_axis};
use crate::options::options;
use crate::trace::raise;

options! {
    /// What reductions take beside the array; axes alone are one too: a number, several, or `()` for all.
    ///
    /// Not every reduction takes every keyword: each says which, and refuses the others.
    ///
    /// ```
    /// use jaxide::{Array, numpy};
    /// use numpy::Reduction;
    /// let x = Array::from([[1.0f32, 2.0], [3.0, 4.0]]);
    /// assert_eq!(numpy::sum(&x, ()).item::<f32>(), 10.0);
    /// assert_eq!(numpy::sum(&x, 0).to_vec::<f32>(), [4.0, 6.0]);
    /// assert_eq!(numpy::sum(&x, Reduction::new().axis(1).keepdims(true)).shape(), [2, 1]);
    /// assert_eq!(numpy::max(&x, Reduction::new().where_(x.lt(3.0)).initial(-1.0)).item::<f32>(), 2.0);
    /// ```
    pub struct Reduction of axes {
        /// The axes that are combined: all by default.
        axis: Option<Numbers> = None, |axis: impl Axes| axis.numbers();
        /// The element type of the result, in which it is computed too.
        dtype: Option<DType> = None, |dtype: DType| Some(dtype);
        /// Whether the axes stay, with length 1.
        keepdims: bool = false;
        /// A scalar that is combined with the elements.
        initial: Option<Array> = None, |initial: impl Into<Array>| Some(initial.into());
        /// Which elements take part: truth values that broadcast to the array.
        where_: Option<Array> = None, |mask: impl Into<Array>| Some(mask.into());
        /// Whether integers are summed in at least 32 bits: so by default.
        promote_integers: bool = true;
        /// What is taken from the number of elements that a variance is divided by.
        ddof: i64 = 0;
        /// The same as `ddof`, any number.
        correction: Option<Array> = None, |correction: impl Into<Array>| Some(correction.into());
        /// The mean, with length 1 along the axes, when it is known.
        mean: Option<Array> = None, |mean: impl Into<Array>| Some(mean.into());
    }
}

impl From<DType> for Reduction {
    fn from(dtype: DType) -> Self {
        Reduction::new().dtype(dtype)
    }
}

impl Reduction {
    /// The options, of which only `keywords` may be given beside the axes.
    ///
    /// # Panics
    /// When another is.
    #[track_caller]
    pub(super) fn taking(self, operation: &str, keywords: &[&str]) -> Self {
        let given = [
            ("dtype", self.dtype.is_some()),
            ("keepdims", self.keepdims),
            ("initial", self.initial.is_some()),
            ("where_", self.where_.is_some()),
            ("promote_integers", !self.promote_integers),
            ("ddof", self.ddof != 0),
            ("correction", self.correction.is_some()),
            ("mean", self.mean.is_some()),
        ];
        let refused = given
            .iter()
            .find(|(name, given)| *given && !keywords.contains(name));
        if let Some((name, _)) = refused {
            raise(Error::parameter(format!("it does not take `{name}`")).in_operation(operation));
        }
        if let Some(mask) = &self.where_
            && mask.dtype() != DType::Bool
        {
            let error = format!("`where_` is truth values, and {} is given", mask.aval());
            raise(Error::dtype(error).in_operation(operation));
        }
        self
    }

    /// The axes counted from the front.
    #[track_caller]
    pub(super) fn axes(&self, operation: &str, x: &Array) -> Vec<usize> {
        match &self.axis {
            Some(axes) => axes[..].axes(operation, x.ndim()),
            None => (0..x.ndim()).collect(),
        }
    }

    /// The one axis, counted from the front; `None` for all elements.
    #[track_caller]
    pub(super) fn one_axis(&self, operation: &str, x: &Array) -> Option<usize> {
        one_axis(operation, self.axis.as_deref(), x.ndim())
    }

    /// The parameters that are no arrays, as part of what a call of the library is known by.
    pub(super) fn key(&self) -> String {
        let Reduction {
            axis,
            dtype,
            keepdims,
            promote_integers,
            ..
        } = self;
        format!("{axis:?} {dtype:?} {keepdims} {promote_integers}")
    }
}

/// The one axis that is named, counted from the front; `None` when none is.
///
/// # Panics
/// When several are named, or there is no such axis.
#[track_caller]
pub(crate) fn one_axis(operation: &str, axes: Option<&[i64]>, rank: usize) -> Option<usize> {
    match axes {
        None => None,
        Some(&[axis]) => Some(normalize_axis(operation, axis.to_i64(), rank)),
        Some(axes) => raise(
            Error::parameter(format!("one axis is needed, and {axes:?} are given"))
                .in_operation(operation),
        ),
    }
}
