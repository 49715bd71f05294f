//! Convolutions, with channels last.

use jaxide::core::prims::ConvDimensionNumbers;
use jaxide::lax::{self, Convolution, Padding};
use jaxide::nn::initializers::{lecun_normal, zeros};
use jaxide::{Array, DType, Error, numpy, raise};

use super::linear::with_bias;
use super::{Initializer, options};
use crate::{Module, Param, Rngs, Variable, observed};

/// How the edges of the input are padded.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ConvPadding {
    /// So that there are as many windows as elements, divided by the stride.
    Same,
    /// Not at all.
    Valid,
    /// With what stands at the other end.
    Circular,
    /// With a mirror image.
    Reflect,
    /// In front alone, so that no window sees what comes later; for one axis of space.
    Causal,
    /// By so many elements, in front and behind, by axis.
    Explicit(Vec<(i64, i64)>),
}

crate::static_attributes!(ConvPadding);

options! {
    /// What [`Conv`] takes beside its sizes.
    pub struct ConvOptions {
        /// Steps of the window, by axis; empty for 1.
        strides: Vec<usize> = Vec::new();
        /// How edges are padded.
        padding: ConvPadding = ConvPadding::Same;
        /// Distances between neighbours of the input, by axis; empty for 1.
        input_dilation: Vec<usize> = Vec::new();
        /// Distances between neighbours of the kernel, by axis; empty for 1.
        kernel_dilation: Vec<usize> = Vec::new();
        /// Groups of features that are convolved apart.
        feature_group_count: usize = 1;
        /// Whether something is added.
        use_bias: bool = true;
        /// What the kernel is multiplied with, if anything.
        mask: Option<Array> = None;
        /// The element type to compute in; by default that of inputs and parameters.
        dtype: Option<DType> = None;
        /// The element type of the parameters.
        param_dtype: DType = DType::F32;
        /// What the kernel is at first.
        kernel_init: Initializer = lecun_normal(()).into();
        /// What the bias is at first.
        bias_init: Initializer = zeros.into();
    }

    /// What [`ConvTranspose`] takes beside its sizes.
    pub struct ConvTransposeOptions {
        /// By how much the result is larger, by axis; empty for 1.
        strides: Vec<usize> = Vec::new();
        /// How edges are padded: `Same`, `Valid`, `Circular` or explicitly.
        padding: ConvPadding = ConvPadding::Same;
        /// Distances between neighbours of the kernel, by axis; empty for 1.
        kernel_dilation: Vec<usize> = Vec::new();
        /// Whether something is added.
        use_bias: bool = true;
        /// What the kernel is multiplied with, if anything.
        mask: Option<Array> = None;
        /// The element type to compute in; by default that of inputs and parameters.
        dtype: Option<DType> = None;
        /// The element type of the parameters.
        param_dtype: DType = DType::F32;
        /// Whether the kernel is that of the convolution whose transpose this is, `[window.., out, in]`.
        transpose_kernel: bool = false;
        /// What the kernel is at first.
        kernel_init: Initializer = lecun_normal(()).into();
        /// What the bias is at first.
        bias_init: Initializer = zeros.into();
    }
}

#[track_caller]
fn mistake(operation: &str, text: String) -> ! {
    raise(Error::shape(text).in_operation(operation))
}

/// A value for each axis of space.
#[track_caller]
fn by_axis(operation: &str, what: &str, given: &[usize], axes: usize) -> Vec<usize> {
    match given {
        [] => vec![1; axes],
        [all] => vec![*all; axes],
        given if given.len() == axes => given.to_vec(),
        given => mistake(
            operation,
            format!("{what} {given:?} for {axes} axes of space"),
        ),
    }
}

/// An input with one batch axis, and the axes that it had.
#[track_caller]
fn one_batch_axis(
    operation: &str,
    x: &Array,
    window: usize,
    features: usize,
) -> (Array, Vec<usize>) {
    let Some(batch) = x.ndim().checked_sub(window + 1) else {
        mistake(
            operation,
            format!("{} has too few axes for a window of {window}", x.aval()),
        );
    };
    if x.shape().last() != Some(&features) {
        mistake(
            operation,
            format!("the last axis of {} must have length {features}", x.aval()),
        );
    }
    let (front, rest) = x.shape().split_at(batch);
    let flat = [&[front.iter().product::<usize>()], rest].concat();
    let front = front.to_vec();
    (
        if batch == 1 {
            x.clone()
        } else {
            x.reshape(&flat[..])
        },
        front,
    )
}

/// The result with the batch axes that the input had.
fn with_batch_axes(y: Array, front: &[usize]) -> Array {
    if front.len() == 1 {
        return y;
    }
    let shape = [front, &y.shape()[1..]].concat();
    y.reshape(&shape[..])
}

#[track_caller]
fn masked(operation: &str, kernel: &Variable<Param>, mask: Option<&Array>) -> Array {
    let kernel = kernel.get();
    match mask {
        None => kernel,
        Some(mask) if mask.shape() == kernel.shape() => kernel * mask,
        Some(mask) => mistake(
            operation,
            format!(
                "the mask is {}, and the kernel {}",
                mask.aval(),
                kernel.aval()
            ),
        ),
    }
}

/// A convolution: `[batch.., space.., in]` with a kernel `[window.., in / groups, out]` gives `[batch.., space.., out]`.
///
/// ```
/// use jaxide_nnx::{Conv, ConvOptions, ConvPadding, Rngs};
/// use jaxide::{Array, DType};
/// let conv = Conv::new(1, 8, [3, 3], &Rngs::new(0), ConvOptions::new().padding(ConvPadding::Valid));
/// assert_eq!(conv.call(&Array::ones([2, 28, 28, 1], DType::F32)).shape(), [2, 26, 26, 8]);
/// ```
#[derive(Clone, Debug, Module)]
pub struct Conv {
    /// `[window.., in / groups, out]`.
    pub kernel: Variable<Param>,
    /// `[out]`.
    pub bias: Option<Variable<Param>>,
    kernel_size: Vec<usize>,
    in_features: usize,
    strides: Vec<usize>,
    padding: ConvPadding,
    input_dilation: Vec<usize>,
    kernel_dilation: Vec<usize>,
    feature_group_count: usize,
    mask: Option<Array>,
    dtype: Option<DType>,
}

impl Conv {
    /// A layer of these sizes.
    ///
    /// # Panics
    /// When groups do not divide the features, options are not as many as axes, or there is no stream for `params`.
    #[track_caller]
    pub fn new(
        in_features: usize,
        out_features: usize,
        kernel_size: impl Into<Vec<usize>>,
        rngs: &Rngs,
        options: impl Into<ConvOptions>,
    ) -> Self {
        let (kernel_size, o) = (kernel_size.into(), options.into());
        let axes = kernel_size.len();
        if o.feature_group_count == 0 || !in_features.is_multiple_of(o.feature_group_count) {
            mistake(
                "Conv",
                format!(
                    "{} groups do not divide {in_features} features",
                    o.feature_group_count
                ),
            );
        }
        let shape = [
            &kernel_size[..],
            &[in_features / o.feature_group_count, out_features],
        ]
        .concat();
        let kernel = o.kernel_init.call(&rngs.params(), &shape, o.param_dtype);
        let bias = o.use_bias.then(|| {
            Variable::new(
                o.bias_init
                    .call(&rngs.params(), &[out_features], o.param_dtype),
            )
        });
        Conv {
            kernel: Variable::new(kernel),
            bias,
            strides: by_axis("Conv", "strides", &o.strides, axes),
            input_dilation: by_axis("Conv", "dilations", &o.input_dilation, axes),
            kernel_dilation: by_axis("Conv", "dilations", &o.kernel_dilation, axes),
            kernel_size,
            in_features,
            padding: o.padding,
            feature_group_count: o.feature_group_count,
            mask: o.mask,
            dtype: o.dtype,
        }
    }

    /// The layer of `x`.
    ///
    /// # Panics
    /// When `x` has too few axes, or another number of features.
    #[track_caller]
    #[observed]
    pub fn call(&self, x: &Array) -> Array {
        let axes = self.kernel_size.len();
        let (x, front) = one_batch_axis("Conv", x, axes, self.in_features);
        let wide: Vec<usize> = self
            .kernel_size
            .iter()
            .zip(&self.kernel_dilation)
            .map(|(&k, &d)| k.saturating_sub(1) * d + 1)
            .collect();
        let padded = |mode: numpy::PadMode| {
            let inner = wide.iter().map(|&k| ((k as i64 - 1) / 2, k as i64 / 2));
            let pads: Vec<(i64, i64)> = [(0, 0)].into_iter().chain(inner).chain([(0, 0)]).collect();
            numpy::pad(&x, &pads[..], mode)
        };
        let (x, padding) = match &self.padding {
            ConvPadding::Same => (x, Padding::Same),
            ConvPadding::Valid => (x, Padding::Valid),
            ConvPadding::Explicit(pads) => (x, Padding::Explicit(pads.clone())),
            ConvPadding::Circular => (padded(numpy::PadMode::Wrap), Padding::Valid),
            ConvPadding::Reflect => (padded(numpy::PadMode::Reflect), Padding::Valid),
            ConvPadding::Causal => match wide[..] {
                [wide] => {
                    let pads = [(0, 0), (wide as i64 - 1, 0), (0, 0)];
                    (numpy::pad(&x, &pads[..], ()), Padding::Valid)
                }
                _ => mistake(
                    "Conv",
                    format!("causal padding is for one axis of space, and there are {axes}"),
                ),
            },
        };
        let kernel = masked("Conv", &self.kernel, self.mask.as_ref());
        let (x, kernel, bias) = with_bias(
            self.dtype,
            &x,
            &kernel,
            self.bias.as_ref().map(Variable::get),
        );
        let mut how = Convolution::new(&self.strides[..], padding);
        how.lhs_dilation = self.input_dilation.clone();
        how.rhs_dilation = self.kernel_dilation.clone();
        how.feature_group_count = self.feature_group_count;
        how.dimension_numbers = Some(channels_last(axes));
        let y = lax::conv_general_dilated(&x, &kernel, &how);
        with_batch_axes(added(y, bias), &front)
    }
}

/// `[batch, space.., features]` and `[window.., in, out]`.
fn channels_last(axes: usize) -> ConvDimensionNumbers {
    let outer = || [0, axes + 1].into_iter().chain(1..=axes).collect();
    ConvDimensionNumbers {
        lhs_spec: outer(),
        rhs_spec: [axes + 1, axes].into_iter().chain(0..axes).collect(),
        out_spec: outer(),
    }
}

fn added(y: Array, bias: Option<Array>) -> Array {
    match bias {
        Some(bias) => y + bias,
        None => y,
    }
}

/// A transposed convolution: `[batch.., space.., in]` with a kernel `[window.., in, out]` gives `[batch.., larger space.., out]`.
///
/// ```
/// use jaxide_nnx::{ConvTranspose, ConvTransposeOptions, Rngs};
/// use jaxide::{Array, DType};
/// let conv = ConvTranspose::new(4, 2, [3], &Rngs::new(0), ConvTransposeOptions::new().strides([2]));
/// assert_eq!(conv.call(&Array::ones([1, 8, 4], DType::F32)).shape(), [1, 16, 2]);
/// ```
#[derive(Clone, Debug, Module)]
pub struct ConvTranspose {
    /// `[window.., in, out]`.
    pub kernel: Variable<Param>,
    /// `[out]`.
    pub bias: Option<Variable<Param>>,
    kernel_size: Vec<usize>,
    in_features: usize,
    strides: Vec<usize>,
    padding: ConvPadding,
    kernel_dilation: Vec<usize>,
    transpose_kernel: bool,
    mask: Option<Array>,
    dtype: Option<DType>,
}

impl ConvTranspose {
    /// A layer of these sizes.
    ///
    /// # Panics
    /// When options are not as many as axes, padding is `Causal` or `Reflect`, or there is no stream for `params`.
    #[track_caller]
    pub fn new(
        in_features: usize,
        out_features: usize,
        kernel_size: impl Into<Vec<usize>>,
        rngs: &Rngs,
        options: impl Into<ConvTransposeOptions>,
    ) -> Self {
        const OPERATION: &str = "ConvTranspose";
        let (kernel_size, o) = (kernel_size.into(), options.into());
        let axes = kernel_size.len();
        if let ConvPadding::Causal | ConvPadding::Reflect = o.padding {
            mistake(
                OPERATION,
                format!(
                    "there is no {:?} padding of a transposed convolution",
                    o.padding
                ),
            );
        }
        let features = if o.transpose_kernel {
            [out_features, in_features]
        } else {
            [in_features, out_features]
        };
        let shape = [&kernel_size[..], &features].concat();
        let kernel = o.kernel_init.call(&rngs.params(), &shape, o.param_dtype);
        let bias = o.use_bias.then(|| {
            Variable::new(
                o.bias_init
                    .call(&rngs.params(), &[out_features], o.param_dtype),
            )
        });
        ConvTranspose {
            kernel: Variable::new(kernel),
            bias,
            strides: by_axis(OPERATION, "strides", &o.strides, axes),
            kernel_dilation: by_axis(OPERATION, "dilations", &o.kernel_dilation, axes),
            kernel_size,
            in_features,
            padding: o.padding,
            transpose_kernel: o.transpose_kernel,
            mask: o.mask,
            dtype: o.dtype,
        }
    }

    /// The layer of `x`.
    ///
    /// # Panics
    /// When `x` has too few axes, or another number of features.
    #[track_caller]
    #[observed]
    pub fn call(&self, x: &Array) -> Array {
        let (x, front) =
            one_batch_axis("ConvTranspose", x, self.kernel_size.len(), self.in_features);
        let kernel = masked("ConvTranspose", &self.kernel, self.mask.as_ref());
        let (x, kernel, bias) = with_bias(
            self.dtype,
            &x,
            &kernel,
            self.bias.as_ref().map(Variable::get),
        );
        let padding = match &self.padding {
            ConvPadding::Same => Padding::Same,
            ConvPadding::Explicit(pads) => Padding::Explicit(pads.clone()),
            ConvPadding::Valid
            | ConvPadding::Circular
            | ConvPadding::Causal
            | ConvPadding::Reflect => Padding::Valid,
        };
        let options = lax::ConvTranspose::new()
            .rhs_dilation(&self.kernel_dilation[..])
            .transpose_kernel(self.transpose_kernel);
        let mut y = lax::conv_transpose(&x, &kernel, &self.strides[..], padding, options);
        if self.padding == ConvPadding::Circular {
            y = self.wrapped(&y, &x.shape()[1..x.ndim() - 1]);
        }
        with_batch_axes(added(y, bias), &front)
    }

    /// What hangs over the ends is added at the other end.
    fn wrapped(&self, y: &Array, space: &[usize]) -> Array {
        let periods: Vec<usize> = space
            .iter()
            .zip(&self.strides)
            .map(|(length, stride)| length * stride)
            .collect();
        let mut pads = vec![(0, 0)];
        for (&length, &period) in y.shape()[1..].iter().zip(&periods) {
            let missing = (period as i64 - length as i64).rem_euclid(2 * period.max(1) as i64);
            let (less, more) = (missing / 2, (missing + 1) / 2);
            pads.push(if self.transpose_kernel {
                (less, more)
            } else {
                (more, less)
            });
        }
        pads.push((0, 0));
        let mut y = numpy::pad(y, &pads[..], ());
        for (place, &period) in periods.iter().enumerate() {
            let axis = place + 1;
            let turns = y.shape()[axis] / period.max(1);
            let shape = [&y.shape()[..axis], &[turns, period], &y.shape()[axis + 1..]].concat();
            y = y.reshape(&shape[..]).sum_axes(axis);
        }
        y
    }
}
