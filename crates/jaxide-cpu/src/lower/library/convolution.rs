//! Convolution: the operands as views in the runtime's order of dimensions.

use super::elements::Class;
use super::operands::Operands;
use super::product::{self, Product, working_type};
use super::routine::routine;
use crate::runtime::conv::{Conv, Window};
use crate::runtime::matmul::DotDimensions;
use crate::runtime::{KernelCall, View};
use jaxide_core::prims::ConvGeneralDilated;
use jaxide_core::{DType, Error, Result, byte_size, check_allocatable};
use num_complex::Complex;

pub(super) fn convolution(
    operands: &Operands,
    params: &ConvGeneralDilated,
) -> Result<Box<KernelCall>> {
    let [lhs, rhs] = &operands.inputs[..] else {
        return Err(Error::shape("two operands are expected"));
    };
    let out = &operands.outputs[0];
    let (left, right) = (&lhs.shape[..], &rhs.shape[..]);
    if !fits(left, right, &out.shape, params) {
        return Err(Error::shape(format!(
            "a kernel of shape {right:?} does not fit an operand of shape {left:?} with {} feature groups and {} batch groups",
            params.feature_group_count, params.batch_group_count
        )));
    }
    let numbers = &params.dimension_numbers;
    let mut spread = left.to_vec();
    for (k, &axis) in numbers.lhs_spec[2..].iter().enumerate() {
        spread[axis] = usize::try_from(padded(left[axis], params, k)).unwrap_or(usize::MAX);
    }
    let working = working_type(lhs.dtype, rhs.dtype, out.dtype)?;
    check_allocatable(byte_size(&spread, working)?)?;
    let window = Window {
        strides: params.window_strides.to_vec(),
        padding: params.padding.to_vec(),
        lhs_dilation: params.lhs_dilation.to_vec(),
        rhs_dilation: params.rhs_dilation.to_vec(),
        feature_group_count: params.feature_group_count,
        batch_group_count: params.batch_group_count,
    };
    let views = (
        View::dense(left).permuted(&numbers.lhs_spec),
        View::dense(right).permuted(&numbers.rhs_spec),
    );
    if let Some(call) = pointwise(operands, &views.0, &views.1, params) {
        return Ok(call);
    }
    let kernel = |dtype| native(dtype, &views.0, &views.1, &window, &numbers.out_spec);
    if (lhs.dtype, rhs.dtype) == (out.dtype, out.dtype)
        && let Some(call) = kernel(out.dtype)
    {
        return Ok(call);
    }
    let product = Product::around((lhs.dtype, rhs.dtype, out.dtype), kernel)?;
    Ok(routine(operands, move |buffers, context| {
        let (lhs, rhs) = (buffers.input(0), buffers.input(1));
        product.run(lhs, rhs, buffers.output(0), context)
    }))
}

/// A convolution whose window is one element, which is a product of matrices, where such products have kernels that convolutions
/// have not: of small integers, truth values and `bf16`. The views have batch, features and space in this order; those of the
/// kernel output features first.
fn pointwise(
    operands: &Operands,
    lhs: &View,
    rhs: &View,
    params: &ConvGeneralDilated,
) -> Option<Box<KernelCall>> {
    let dtype = operands.outputs[0].dtype;
    let has_kernels = dtype == DType::Bool
        || dtype == DType::BF16
        || Class::of(dtype) == Class::Integer && dtype.bits() <= 32;
    let plain = params.padding.iter().all(|&padding| padding == (0, 0))
        && params.lhs_dilation.iter().all(|&step| step == 1)
        && (params.feature_group_count, params.batch_group_count) == (1, 1)
        && rhs.shape[2..].iter().all(|&size| size == 1);
    if !has_kernels || !plain || operands.inputs.iter().any(|input| input.dtype != dtype) {
        return None;
    }
    let mut lhs = lhs.clone();
    for (axis, &step) in (2..).zip(params.window_strides.iter()) {
        let count = lhs.shape[axis].div_ceil(step);
        lhs.take_every(axis, 0, step, count);
    }
    // The dimensions of the left operand in the order of the result, in which features stand at `place`.
    let out_spec = &params.dimension_numbers.out_spec;
    let mut order: Vec<usize> = (0..lhs.shape.len()).collect();
    order.sort_by_key(|&dimension| out_spec[dimension]);
    let place = out_spec[1];
    let (before, behind) = (&order[..place], &order[place + 1..]);
    let weights = rhs.permuted(&[0, 1]);
    if behind.is_empty() {
        let lhs = lhs.permuted(&[before, &[1]].concat());
        let dimensions = DotDimensions {
            lhs_contracting: vec![place],
            rhs_contracting: vec![1],
            ..DotDimensions::default()
        };
        return product::native((dtype, dtype), &lhs, &weights, &dimensions);
    }
    // The same weights on the left of each matrix of features and what is behind them.
    let positions: usize = behind.iter().map(|&a| lhs.shape[a]).product();
    if positions < FEWEST_POSITIONS {
        return None;
    }
    let repeated = before.iter().map(|&a| lhs.shape[a]);
    let weights = View {
        shape: repeated.chain(weights.shape.iter().copied()).collect(),
        strides: std::iter::repeat_n(0, place)
            .chain(weights.strides.iter().copied())
            .collect(),
        ..weights
    };
    let lhs = lhs.permuted(&[before, &[1], behind].concat());
    let batch: Vec<usize> = (0..place).collect();
    let dimensions = DotDimensions {
        lhs_contracting: vec![place + 1],
        rhs_contracting: vec![place],
        lhs_batch: batch.clone(),
        rhs_batch: batch,
    };
    product::native((dtype, dtype), &weights, &lhs, &dimensions)
}

/// Positions behind features that make a product worth its call.
const FEWEST_POSITIONS: usize = 16;

/// Whether shapes and parameters are those of one convolution.
fn fits(lhs: &[usize], rhs: &[usize], out: &[usize], params: &ConvGeneralDilated) -> bool {
    let rank = lhs.len();
    let Some(space) = rank.checked_sub(2) else {
        return false;
    };
    let numbers = &params.dimension_numbers;
    let (groups, batch_groups) = (params.feature_group_count, params.batch_group_count);
    let orders = |spec: &[usize]| spec.len() == rank && (0..rank).all(|axis| spec.contains(&axis));
    let steps = [
        &params.window_strides,
        &params.lhs_dilation,
        &params.rhs_dilation,
    ];
    (rhs.len(), out.len(), params.padding.len()) == (rank, rank, space)
        && [&numbers.lhs_spec, &numbers.rhs_spec, &numbers.out_spec]
            .iter()
            .all(|spec| orders(spec))
        && steps
            .iter()
            .all(|steps| steps.len() == space && !steps.contains(&0))
        && (groups == 1 || batch_groups == 1)
        && groups > 0
        && batch_groups > 0
        && lhs[numbers.lhs_spec[0]].is_multiple_of(batch_groups)
        && rhs[numbers.rhs_spec[0]].is_multiple_of(groups * batch_groups)
        && rhs[numbers.rhs_spec[1]].checked_mul(groups) == Some(lhs[numbers.lhs_spec[1]])
        && out[numbers.out_spec[0]] == lhs[numbers.lhs_spec[0]] / batch_groups
        && out[numbers.out_spec[1]] == rhs[numbers.rhs_spec[0]]
        && (0..space).all(|k| {
            let window = dilated(rhs[numbers.rhs_spec[k + 2]], params.rhs_dilation[k]);
            let free = padded(lhs[numbers.lhs_spec[k + 2]], params, k) - window;
            let count = if free < 0 {
                0
            } else {
                free / params.window_strides[k] as i128 + 1
            };
            out[numbers.out_spec[k + 2]] as i128 == count && i64::try_from(window).is_ok()
        })
}

/// The length of an axis with gaps between its elements.
fn dilated(length: usize, dilation: usize) -> i128 {
    length
        .checked_sub(1)
        .map_or(0, |steps| steps as i128 * dilation as i128 + 1)
}

/// The length of the `k`-th spatial axis of the left operand with gaps and padding.
fn padded(length: usize, params: &ConvGeneralDilated, k: usize) -> i128 {
    let (low, high) = params.padding[k];
    (dilated(length, params.lhs_dilation[k]) + i128::from(low) + i128::from(high)).max(0)
}

/// The convolution of arrays of one type, summed in that type; `None` where it is not computed in.
fn native(
    dtype: DType,
    lhs: &View,
    rhs: &View,
    window: &Window,
    out_spec: &[usize],
) -> Option<Box<KernelCall>> {
    macro_rules! of {
        ($($T:ty),*) => {
            KernelCall::new(Conv::<$($T),*>::new(lhs, rhs, window, out_spec))
        };
    }
    Some(match dtype {
        // Sums of products have the same bits with a sign and without.
        DType::I32 | DType::U32 => of!(i32),
        DType::I64 | DType::U64 => of!(i64),
        DType::F32 => of!(f32),
        DType::F64 => of!(f64),
        DType::C64 => of!(Complex<f32>),
        DType::C128 => of!(Complex<f64>),
        DType::F16 => of!(half::f16, f32, half::f16),
        DType::BF16 => of!(half::bf16, f32, half::bf16),
        _ => return None,
    })
}
