//! Sliding windows and convolution.

mod convolution;
mod reduce;
mod select;

use smallvec::smallvec;

use super::elementwise::{arity, not_linear, to_front};
use super::shape::one;
use crate::error::{Error, Result};
use crate::jaxpr::{Atom, Aval, Builder, Dims};

/// The length of an axis with `dilation - 1` holes between elements.
fn dilated(length: usize, dilation: usize) -> Option<usize> {
    match length {
        0 => Some(0),
        length => (length - 1).checked_mul(dilation)?.checked_add(1),
    }
}

/// The number of windows along an axis.
///
/// # Errors
/// When a parameter makes no sense; the message says which.
fn window_count(
    length: usize,
    window: usize,
    stride: usize,
    (low, high): (i64, i64),
    base_dilation: usize,
    window_dilation: usize,
) -> Result<usize> {
    if stride == 0 || base_dilation == 0 || window_dilation == 0 {
        return Err(Error::parameter(
            "strides and dilations of windows must be positive",
        ));
    }
    let count = (|| {
        let base = i64::try_from(dilated(length, base_dilation)?).ok()?;
        // Negative padding may take more than there is: no window fits what is left.
        let padded = base.checked_add(low)?.checked_add(high)?.max(0);
        let padded = usize::try_from(padded).ok()?;
        let window = dilated(window, window_dilation)?;
        Some(if padded < window {
            0
        } else {
            (padded - window) / stride + 1
        })
    })();
    count.ok_or_else(|| {
        Error::parameter(format!(
            "padding ({low}, {high}) of an axis of length {length} is too large"
        ))
    })
}

/// How windows lie over an array; every list has one entry per axis.
#[derive(Clone)]
struct Windows {
    base_dilation: Dims,
    padding: Vec<(i64, i64)>,
    window_dilation: Dims,
    window_dimensions: Dims,
    window_strides: Dims,
}

impl Windows {
    /// Windows of neighbouring elements.
    fn undilated(
        padding: &[(i64, i64)],
        window_dimensions: &Dims,
        window_strides: &Dims,
    ) -> Windows {
        Windows {
            base_dilation: Dims::from_elem(1, padding.len()),
            padding: padding.to_vec(),
            window_dilation: Dims::from_elem(1, padding.len()),
            window_dimensions: window_dimensions.clone(),
            window_strides: window_strides.clone(),
        }
    }

    /// The same over an array with a new axis that windows do not extend along.
    fn with_axis(mut self, axis: usize) -> Windows {
        self.base_dilation.insert(axis, 1);
        self.padding.insert(axis, (0, 0));
        self.window_dilation.insert(axis, 1);
        self.window_dimensions.insert(axis, 1);
        self.window_strides.insert(axis, 1);
        self
    }

    /// The type of an array with one element per window over `aval`.
    fn result(&self, aval: &Aval) -> Result<Aval> {
        let rank = aval.rank();
        for (name, count) in [
            ("base_dilation", self.base_dilation.len()),
            ("padding", self.padding.len()),
            ("window_dilation", self.window_dilation.len()),
            ("window_dimensions", self.window_dimensions.len()),
            ("window_strides", self.window_strides.len()),
        ] {
            if count != rank {
                return Err(Error::parameter(format!(
                    "{name} must have one entry for each of the {rank} axes of {aval}, and has {count}"
                )));
            }
        }
        if self.window_dimensions.contains(&0) {
            return Err(Error::parameter("windows must not be empty"));
        }
        let shape: Dims = (0..rank)
            .map(|axis| {
                window_count(
                    aval.shape[axis],
                    self.window_dimensions[axis],
                    self.window_strides[axis],
                    self.padding[axis],
                    self.base_dilation[axis],
                    self.window_dilation[axis],
                )
            })
            .collect::<Result<_>>()?;
        crate::aval::byte_size(&shape, aval.dtype)?;
        Ok(aval.with_shape(&shape))
    }
}

/// Conversion between the parameters of primitives with dilation and [`Windows`].
macro_rules! dilated_windows {
    ($($prim:ident)*) => { $(
        impl $prim {
            fn windows(&self) -> Windows {
                Windows {
                    base_dilation: self.base_dilation.clone(),
                    padding: self.padding.clone(),
                    window_dilation: self.window_dilation.clone(),
                    window_dimensions: self.window_dimensions.clone(),
                    window_strides: self.window_strides.clone(),
                }
            }

            fn over(&self, windows: Windows) -> $prim {
                let Windows { base_dilation, padding, window_dilation, window_dimensions, window_strides } = windows;
                let mut over = self.clone();
                (over.base_dilation, over.padding) = (base_dilation, padding);
                (over.window_dilation, over.window_dimensions, over.window_strides) =
                    (window_dilation, window_dimensions, window_strides);
                over
            }
        }
    )* };
}
use dilated_windows;

/// Conversion between the parameters of primitives without dilation and [`Windows`].
macro_rules! undilated_windows {
    ($($prim:ident)*) => { $(
        impl $prim {
            fn windows(&self) -> Windows {
                Windows::undilated(&self.padding, &self.window_dimensions, &self.window_strides)
            }

            fn over(&self, windows: Windows) -> $prim {
                let Windows { padding, window_dimensions, window_strides, .. } = windows;
                $prim { padding, window_dimensions, window_strides, ..self.clone() }
            }
        }
    )* };
}
use undilated_windows;

/// The padding with which a windowed sum or a convolution is undone: that of the convolution of the cotangent with the
/// reversed kernel that gives back the input's shape.
fn input_padding(input: &[usize], windows: &Windows, output: &[usize]) -> Vec<(i64, i64)> {
    let length = |length: usize, dilation: usize| dilated(length, dilation).unwrap_or(0) as i64;
    (0..input.len())
        .map(|axis| {
            let input = length(input[axis], windows.base_dilation[axis]);
            let window = length(
                windows.window_dimensions[axis],
                windows.window_dilation[axis],
            );
            let output = length(output[axis], windows.window_strides[axis]);
            let before = window - windows.padding[axis].0 - 1;
            (before, input + window - 1 - output - before)
        })
        .collect()
}
