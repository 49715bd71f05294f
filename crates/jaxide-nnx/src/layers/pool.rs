//! Pooling.

use jaxide::lax::{self, Padding, Window};
use jaxide::{Array, DType, Error, numpy, raise};

/// The window over the axes between those of the batch and the last.
#[track_caller]
fn window(
    operation: &str,
    x: &Array,
    shape: &[usize],
    strides: &[usize],
    padding: &Padding,
) -> Window {
    let batch = x.ndim().checked_sub(shape.len() + 1);
    if batch.is_none() || (!strides.is_empty() && strides.len() != shape.len()) {
        raise(
            Error::shape(format!(
                "a window {shape:?} with the strides {strides:?} needs an input of {} axes or more, and it is {}",
                shape.len() + 1,
                x.aval()
            ))
            .in_operation(operation),
        );
    }
    let batch = batch.unwrap_or(0);
    let whole = |inner: &[usize]| [&vec![1; batch], inner, &[1]].concat();
    let padding = match padding {
        Padding::Explicit(pads) => {
            Padding::Explicit([&vec![(0, 0); batch], &pads[..], &[(0, 0)]].concat())
        }
        other => other.clone(),
    };
    let strides = if strides.is_empty() {
        whole(&vec![1; shape.len()])
    } else {
        whole(strides)
    };
    Window::new(&whole(shape)[..])
        .strides(&strides[..])
        .padding(padding)
}

/// The largest element of each window, for an input `[batch.., .., features]`. Without strides, windows move by one element.
///
/// ```
/// use jaxide_nnx::max_pool;
/// use jaxide::{Array, lax::Padding};
/// let x = Array::from([3.0f32, 1.0, 2.0, 5.0]).reshape([1, 4, 1]);
/// assert_eq!(max_pool(&x, &[2], &[2], Padding::Valid).to_vec::<f32>(), [3.0, 5.0]);
/// ```
///
/// # Panics
/// When the window does not fit the input.
#[track_caller]
pub fn max_pool(x: &Array, window_shape: &[usize], strides: &[usize], padding: Padding) -> Array {
    lax::reduce_window_max(x, &window("max_pool", x, window_shape, strides, &padding))
}

/// The smallest element of each window: [`max_pool`].
///
/// ```
/// use jaxide_nnx::min_pool;
/// use jaxide::{Array, lax::Padding};
/// let x = Array::from([3.0f32, 1.0, 2.0, 5.0]).reshape([4, 1]);
/// assert_eq!(min_pool(&x, &[2], &[2], Padding::Valid).to_vec::<f32>(), [1.0, 2.0]);
/// ```
///
/// # Panics
/// When the window does not fit the input.
#[track_caller]
pub fn min_pool(x: &Array, window_shape: &[usize], strides: &[usize], padding: Padding) -> Array {
    lax::reduce_window_min(x, &window("min_pool", x, window_shape, strides, &padding))
}

/// The mean of each window: [`max_pool`]. Padding counts as zeros, unless `count_include_pad` is false.
///
/// # Panics
/// When the window does not fit the input.
#[track_caller]
pub fn avg_pool(
    x: &Array,
    window_shape: &[usize],
    strides: &[usize],
    padding: Padding,
    count_include_pad: bool,
) -> Array {
    let window = window("avg_pool", x, window_shape, strides, &padding);
    let sums = lax::reduce_window_sum(x, &window);
    if count_include_pad {
        return sums / window_shape.iter().product::<usize>() as f64;
    }
    let mut shape = x.shape().to_vec();
    if let Some(last) = shape.last_mut() {
        *last = 1;
    }
    let counts = lax::reduce_window_sum(&Array::ones(&shape[..], DType::F32), &window);
    numpy::divide(&sums, &counts)
}
