//! Convolutions by other words: transposed ones, patches, and the shapes of what windows give.

use jaxide_core::prims::{ConvDimensionNumbers, DotDimensionNumbers, DotPrecision, Precision};
use jaxide_core::{DType, Dims, Error};

use super::window::{Convolution, Padding, Window, conv_dimension_numbers, dilated, strided};
use crate::array::{Array, AsShape, lengths};
use crate::lax;
use crate::options::options;
use crate::trace::raise;

/// The places of letters, as [`conv_dimension_numbers`] reads them: batch, feature and space of input, kernel and result.
///
/// # Panics
/// When a letter is missing or named twice.
///
/// ```
/// use jaxide::lax;
/// let [lhs, rhs, out] = lax::conv_general_permutations("NHWC", "HWIO", "NHWC");
/// assert_eq!((lhs, rhs, out), (vec![0, 3, 1, 2], vec![3, 2, 0, 1], vec![0, 3, 1, 2]));
/// ```
#[track_caller]
pub fn conv_general_permutations(lhs: &str, rhs: &str, out: &str) -> [Vec<usize>; 3] {
    let _named = crate::trace::named("conv_general_permutations");
    let numbers = conv_dimension_numbers(lhs, rhs, out);
    [numbers.lhs_spec, numbers.rhs_spec, numbers.out_spec].map(|spec| spec.to_vec())
}

/// Low and high padding by axis for windows that slide over axes of these lengths.
///
/// # Panics
/// When a length is negative.
///
/// ```
/// use jaxide::lax::{self, Padding};
/// assert_eq!(lax::padtype_to_pads([5], [2], [1], &Padding::Same), [(0, 1)]);
/// ```
#[track_caller]
pub fn padtype_to_pads(
    in_shape: impl AsShape,
    window_shape: impl AsShape,
    window_strides: impl AsShape,
    padding: &Padding,
) -> Vec<(i64, i64)> {
    let _named = crate::trace::named("padtype_to_pads");
    const OPERATION: &str = "padtype_to_pads";
    let [shape, window] = [
        lengths(OPERATION, &in_shape),
        lengths(OPERATION, &window_shape),
    ];
    padding.amounts(&shape, &window, &lengths(OPERATION, &window_strides))
}

/// The lengths of a reduction over windows that slide over an array of a shape.
///
/// # Panics
/// When the window has another number of axes.
///
/// ```
/// use jaxide::lax::{self, Padding, Window};
/// let window = Window::new([1, 3]).strides([1, 2]).padding(Padding::Same);
/// assert_eq!(lax::reduce_window_shape_tuple([2, 7], &window), [2, 4]);
/// ```
#[track_caller]
pub fn reduce_window_shape_tuple(operand_shape: impl AsShape, window: &Window) -> Vec<usize> {
    let _named = crate::trace::named("reduce_window_shape_tuple");
    const OPERATION: &str = "reduce_window_shape_tuple";
    let shape = lengths(OPERATION, &operand_shape);
    let x = Array::spec(DType::F32, &shape);
    let padding = window.amounts(OPERATION, &x);
    (0..shape.len())
        .map(|axis| {
            let (low, high) = padding[axis];
            let padded = dilated(shape[axis], window.base_dilation[axis]) as i64 + low + high;
            let own = dilated(window.dimensions[axis], window.window_dilation[axis]);
            strided(padded, own, window.strides[axis])
        })
        .collect()
}

/// The shape of a convolution of an input (batch, feature, space) with a kernel (output feature, input feature, space).
///
/// # Panics
/// When the numbers of axes do not fit.
///
/// ```
/// use jaxide::lax::{self, Padding};
/// assert_eq!(lax::conv_shape_tuple([1, 2, 9], [4, 2, 3], [2], &Padding::Valid), [1, 4, 4]);
/// ```
#[track_caller]
pub fn conv_shape_tuple(
    lhs_shape: impl AsShape,
    rhs_shape: impl AsShape,
    strides: impl AsShape,
    pads: &Padding,
) -> Vec<usize> {
    let _named = crate::trace::named("conv_shape_tuple");
    const OPERATION: &str = "conv_shape_tuple";
    let [lhs, rhs] = [
        lengths(OPERATION, &lhs_shape),
        lengths(OPERATION, &rhs_shape),
    ];
    let strides = lengths(OPERATION, &strides);
    let space = check(OPERATION, &lhs, &rhs, &strides);
    let pads = pads.amounts(&lhs[2..], &rhs[2..], &strides);
    if pads.len() != space {
        raise(
            Error::parameter(format!(
                "{} pads are given for {space} axes of space",
                pads.len()
            ))
            .in_operation(OPERATION),
        );
    }
    let windows = (0..space).map(|axis| {
        let padded = lhs[axis + 2] as i64 + pads[axis].0 + pads[axis].1;
        strided(padded, rhs[axis + 2], strides[axis])
    });
    [lhs[0], rhs[0]].into_iter().chain(windows).collect()
}

/// The number of axes of space.
#[track_caller]
fn check(operation: &str, lhs: &[usize], rhs: &[usize], strides: &[usize]) -> usize {
    match lhs.len().checked_sub(2) {
        Some(space) if rhs.len() == lhs.len() && strides.len() == space => space,
        _ => raise(
            Error::shape(format!(
                "an input {lhs:?}, a kernel {rhs:?} and the strides {strides:?} do not fit each other"
            ))
            .in_operation(operation),
        ),
    }
}

/// The lengths in the order of a permutation.
fn taken(shape: &[usize], permutation: &[usize]) -> Vec<usize> {
    permutation
        .iter()
        .filter_map(|&axis| shape.get(axis).copied())
        .collect()
}

/// Lengths at the places of a permutation.
fn placed(shape: &[usize], permutation: &[usize]) -> Vec<usize> {
    let mut out = vec![0; shape.len()];
    for (&length, &axis) in shape.iter().zip(permutation) {
        out[axis] = length;
    }
    out
}

/// [`conv_shape_tuple`] of axes in other orders, given by letters.
///
/// # Panics
/// When a letter is missing or named twice, or the numbers of axes do not fit.
#[track_caller]
pub fn conv_general_shape_tuple(
    lhs_shape: impl AsShape,
    rhs_shape: impl AsShape,
    window_strides: impl AsShape,
    padding: &Padding,
    dimension_numbers: (&str, &str, &str),
) -> Vec<usize> {
    let _named = crate::trace::named("conv_general_shape_tuple");
    const OPERATION: &str = "conv_general_shape_tuple";
    let (lhs, rhs, out) = dimension_numbers;
    let [lhs_order, rhs_order, out_order] = conv_general_permutations(lhs, rhs, out);
    let lhs = taken(&lengths(OPERATION, &lhs_shape), &lhs_order);
    let rhs = taken(&lengths(OPERATION, &rhs_shape), &rhs_order);
    placed(
        &conv_shape_tuple(lhs, rhs, window_strides, padding),
        &out_order,
    )
}

/// The shape of [`conv_transpose`], of axes in orders given by letters.
///
/// # Panics
/// When a letter is missing or named twice, or the numbers of axes do not fit.
#[track_caller]
pub fn conv_transpose_shape_tuple(
    lhs_shape: impl AsShape,
    rhs_shape: impl AsShape,
    window_strides: impl AsShape,
    padding: &Padding,
    dimension_numbers: (&str, &str, &str),
) -> Vec<usize> {
    let _named = crate::trace::named("conv_transpose_shape_tuple");
    const OPERATION: &str = "conv_transpose_shape_tuple";
    let (lhs, rhs, out) = dimension_numbers;
    let [lhs_order, rhs_order, out_order] = conv_general_permutations(lhs, rhs, out);
    let lhs = taken(&lengths(OPERATION, &lhs_shape), &lhs_order);
    let rhs = taken(&lengths(OPERATION, &rhs_shape), &rhs_order);
    let strides = lengths(OPERATION, &window_strides);
    let space = check(OPERATION, &lhs, &rhs, &strides);
    let pads = match padding {
        Padding::Explicit(pads) => pads.clone(),
        other => transposed_pads(OPERATION, &rhs[2..], &strides, other),
    };
    let mut shape = vec![lhs[0], rhs[0]];
    for axis in 0..space {
        let (length, window) = (lhs[axis + 2] as i64, rhs[axis + 2] as i64);
        let (low, high) = pads.get(axis).copied().unwrap_or_default();
        let own = (length - 1) * strides[axis] as i64 - window + 2 + low + high;
        shape.push(usize::try_from(own).unwrap_or(0));
    }
    placed(&shape, &out_order)
}

/// Padding of the dilated input, so that the transposed convolution has the lengths that the convolution is of.
#[track_caller]
fn transposed_pads(
    operation: &str,
    windows: &[usize],
    strides: &[usize],
    padding: &Padding,
) -> Vec<(i64, i64)> {
    let pads = |axis: usize| {
        let (k, s) = (windows[axis] as i64, strides[axis] as i64);
        let (total, low) = match padding {
            Padding::Same => {
                let total = k + s - 2;
                (total, if s > k - 1 { k - 1 } else { (total + 1) / 2 })
            }
            Padding::Valid => (k + s - 2 + (k - s).max(0), k - 1),
            Padding::Explicit(pads) => {
                let (low, high) = pads.get(axis).copied().unwrap_or_default();
                (2 * k - low - high - 2, k - low - 1)
            }
            Padding::SameLower => return None,
        };
        Some((low, total - low))
    };
    match (0..windows.len()).map(pads).collect() {
        Some(pads) => pads,
        None => raise(
            Error::parameter("a transposed convolution has no padding of this kind")
                .in_operation(operation),
        ),
    }
}

options! {
    /// What [`conv_transpose`] takes beside operands, strides and padding.
    pub struct ConvTranspose {
        /// Distances between neighbours of the kernel, by axis of space.
        rhs_dilation: Option<Dims> = None, |dilation: impl AsShape| Some(lengths("conv_transpose", &dilation));
        /// Which axes mean what: by default the features are last, as in `NHWC`, `HWIO`, `NHWC`.
        dimension_numbers: Option<ConvDimensionNumbers> = None, |numbers: ConvDimensionNumbers| Some(numbers);
        /// Whether the kernel is that of the convolution whose transpose this is: it is turned around, with features exchanged.
        transpose_kernel: bool = false;
        /// How exact products have to be.
        precision: Option<DotPrecision> = None, |precision: DotPrecision| Some(precision);
        /// Element type of the result.
        preferred_element_type: Option<DType> = None, |dtype: DType| Some(dtype);
        /// Whether explicit padding is that of the convolution whose transpose this is.
        use_consistent_padding: bool = false;
    }
}

/// The transposed convolution of an input with a kernel: a convolution of the input with holes, as many as `strides` say.
///
/// # Panics
/// When shapes, element types or parameters do not fit.
///
/// ```
/// use jaxide::{Array, lax::{self, Padding}};
/// let x = Array::from([1.0f32, 2.0]).reshape([1, 2, 1]);
/// let kernel = Array::from([1.0f32, 10.0]).reshape([2, 1, 1]);
/// let y = lax::conv_transpose(&x, &kernel, [2], Padding::Valid, ());
/// assert_eq!(y.to_vec::<f32>(), [10.0, 1.0, 20.0, 2.0]);
/// ```
#[track_caller]
pub fn conv_transpose(
    lhs: &Array,
    rhs: &Array,
    strides: impl AsShape,
    padding: Padding,
    options: impl Into<ConvTranspose>,
) -> Array {
    let _named = crate::trace::named("conv_transpose");
    const OPERATION: &str = "conv_transpose";
    let options = options.into();
    let strides = lengths(OPERATION, &strides);
    let space = check(OPERATION, lhs.shape(), rhs.shape(), &strides);
    let numbers = options.dimension_numbers.unwrap_or_else(|| {
        let last = |first: usize, second: usize| -> Dims {
            [first, second].into_iter().chain(0..space).collect()
        };
        let outer: Dims = [0, space + 1].into_iter().chain(1..=space).collect();
        ConvDimensionNumbers {
            lhs_spec: outer.clone(),
            rhs_spec: last(space + 1, space),
            out_spec: outer,
        }
    });
    let dilation = options
        .rhs_dilation
        .unwrap_or_else(|| Dims::from_elem(1, space));
    let kernel_axes = numbers.rhs_spec.clone();
    let pads = if options.use_consistent_padding
        || !matches!(padding, Padding::Explicit(_) | Padding::SameLower)
    {
        let windows: Vec<usize> = kernel_axes[2..]
            .iter()
            .zip(&dilation)
            .map(|(&axis, &distance)| dilated(rhs.shape()[axis], distance))
            .collect();
        Padding::Explicit(transposed_pads(OPERATION, &windows, &strides, &padding))
    } else {
        padding
    };
    let mut kernel = rhs.clone();
    if options.transpose_kernel {
        kernel = lax::rev(&kernel, &kernel_axes[2..]);
        let mut order: Vec<usize> = (0..rhs.ndim()).collect();
        order.swap(kernel_axes[0], kernel_axes[1]);
        kernel = lax::transpose(&kernel, &order);
    }
    let mut how = Convolution::new(vec![1; space], pads);
    how.lhs_dilation = strides.to_vec();
    how.rhs_dilation = dilation.to_vec();
    how.dimension_numbers = Some(numbers);
    how.precision = options.precision;
    how.preferred_element_type = options.preferred_element_type;
    lax::conv_general_dilated(lhs, &kernel, &how)
}

/// [`conv_general_dilated`](lax::conv_general_dilated) of an input (batch, feature, space) with a kernel (output feature, input
/// feature, space).
///
/// # Panics
/// As that.
#[track_caller]
pub fn conv_with_general_padding(lhs: &Array, rhs: &Array, how: &Convolution) -> Array {
    let _named = crate::trace::named("conv_with_general_padding");
    lax::conv_general_dilated(lhs, rhs, how)
}

/// What a convolution sees at each place: the features are those of the input times the places of a window of `filter_shape`, the
/// feature of the input slowest.
///
/// # Panics
/// When shapes or parameters do not fit.
///
/// ```
/// use jaxide::{Array, lax::{self, Convolution, Padding}};
/// let x = Array::from([1.0f32, 2.0, 3.0]).reshape([1, 1, 3]);
/// let how = Convolution::new([1], Padding::Valid);
/// let patches = lax::conv_general_dilated_patches(&x, [2], &how);
/// assert_eq!(patches.shape(), [1, 2, 2]);
/// assert_eq!(patches.to_vec::<f32>(), [1.0, 2.0, 2.0, 3.0]);
/// ```
#[track_caller]
pub fn conv_general_dilated_patches(
    lhs: &Array,
    filter_shape: impl AsShape,
    how: &Convolution,
) -> Array {
    let _named = crate::trace::named("conv_general_dilated_patches");
    const OPERATION: &str = "conv_general_dilated_patches";
    let filter = lengths(OPERATION, &filter_shape);
    let numbers = numbers(OPERATION, lhs, &filter, how);
    let size: usize = filter.iter().product();
    let features = lhs.shape()[numbers.lhs_spec[1]];
    let rows = lax::add(&lax::iota(DType::I32, [size, size], 0), &Array::from(0));
    let diagonal = lax::eq(&rows, &lax::iota(DType::I32, [size, size], 1));
    let eye = lax::convert_element_type(&diagonal, lhs.dtype());
    let kernel = lax::broadcast_in_dim(&eye, [features, size, size], &[1, 2]);
    let mut shape = vec![features * size, 1];
    shape.extend_from_slice(&filter);
    let kernel = lax::reshape(&kernel, &shape);
    let kernel = moved(&kernel, [0, 1], [numbers.rhs_spec[0], numbers.rhs_spec[1]]);
    let mut how = how.clone();
    how.dimension_numbers = Some(numbers);
    how.feature_group_count = features;
    if let Some(DotPrecision::Operands(own, _)) = how.precision {
        how.precision = Some(DotPrecision::Operands(own, Precision::Default));
    }
    lax::conv_general_dilated(lhs, &kernel, &how)
}

#[track_caller]
fn numbers(
    operation: &str,
    lhs: &Array,
    filter: &[usize],
    how: &Convolution,
) -> ConvDimensionNumbers {
    if lhs.ndim() != filter.len() + 2 {
        raise(
            Error::shape(format!("a window {filter:?} does not fit {}", lhs.aval()))
                .in_operation(operation),
        );
    }
    let order: Dims = (0..lhs.ndim()).collect();
    how.dimension_numbers
        .clone()
        .unwrap_or(ConvDimensionNumbers {
            lhs_spec: order.clone(),
            rhs_spec: order.clone(),
            out_spec: order,
        })
}

/// `x` with two axes at other places, the others in their order.
#[track_caller]
fn moved(x: &Array, from: [usize; 2], to: [usize; 2]) -> Array {
    let mut order: Vec<usize> = (0..x.ndim()).filter(|axis| !from.contains(axis)).collect();
    let mut places = [(to[0], from[0]), (to[1], from[1])];
    places.sort_unstable();
    for (place, axis) in places {
        order.insert(place, axis);
    }
    lax::transpose(x, &order)
}

/// A convolution whose kernel is another at each place of the result: its features of the input are those of
/// [`conv_general_dilated_patches`], its axes of space those of the result.
///
/// # Panics
/// When shapes or parameters do not fit.
#[track_caller]
pub fn conv_general_dilated_local(
    lhs: &Array,
    rhs: &Array,
    filter_shape: impl AsShape,
    how: &Convolution,
) -> Array {
    let _named = crate::trace::named("conv_general_dilated_local");
    const OPERATION: &str = "conv_general_dilated_local";
    let filter = lengths(OPERATION, &filter_shape);
    let numbers = numbers(OPERATION, lhs, &filter, how);
    if rhs.ndim() != lhs.ndim() {
        raise(
            Error::shape(format!(
                "a kernel {} does not fit {}",
                rhs.aval(),
                lhs.aval()
            ))
            .in_operation(OPERATION),
        );
    }
    let patches = conv_general_dilated_patches(lhs, &filter, how);
    let mut pairs: Vec<(usize, usize)> = numbers.out_spec[2..]
        .iter()
        .copied()
        .zip(numbers.rhs_spec[2..].iter().copied())
        .collect();
    pairs.sort_unstable();
    let products = DotDimensionNumbers {
        lhs_contracting: Dims::from_slice(&[numbers.out_spec[1]]),
        rhs_contracting: Dims::from_slice(&[numbers.rhs_spec[1]]),
        lhs_batch: pairs.iter().map(|pair| pair.0).collect(),
        rhs_batch: pairs.iter().map(|pair| pair.1).collect(),
    };
    let out = lax::dot_general(&patches, rhs, products, how.precision.clone(), None);
    let rank = out.ndim();
    moved(
        &out,
        [rank - 2, rank - 1],
        [numbers.out_spec[0], numbers.out_spec[1]],
    )
}
