//! Sliding windows and convolution.

use smallvec::{SmallVec, smallvec};

use super::elementwise::arity;
use super::shape::one;
use super::*;
use crate::error::{Error, Result};
use crate::jaxpr::{Aval, Dims};

type Avals = SmallVec<[Aval; 1]>;

/// The length of an axis with `dilation - 1` holes between elements.
pub(crate) fn dilated(length: usize, dilation: usize) -> Option<usize> {
    match length {
        0 => Some(0),
        length => (length - 1).checked_mul(dilation)?.checked_add(1),
    }
}

/// The number of windows along an axis.
///
/// # Errors
/// When a parameter makes no sense; the message says which.
pub(crate) fn window_count(
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
        let padded = usize::try_from(base.checked_add(low)?.checked_add(high)?).ok()?;
        let window = dilated(window, window_dilation)?;
        Some(if padded < window {
            0
        } else {
            (padded - window) / stride + 1
        })
    })();
    count.ok_or_else(|| {
        Error::parameter(format!(
            "padding ({low}, {high}) of an axis of length {length} gives no length"
        ))
    })
}

/// The shape of a reduction over windows.
fn windows_shape(
    aval: &Aval,
    base_dilation: &Dims,
    padding: &[(i64, i64)],
    window_dilation: &Dims,
    window: &Dims,
    strides: &Dims,
) -> Result<Dims> {
    let rank = aval.rank();
    for (name, count) in [
        ("base_dilation", base_dilation.len()),
        ("padding", padding.len()),
        ("window_dilation", window_dilation.len()),
        ("window_dimensions", window.len()),
        ("window_strides", strides.len()),
    ] {
        if count != rank {
            return Err(Error::parameter(format!(
                "{name} must have one entry for each of the {rank} axes of {aval}, and has {count}"
            )));
        }
    }
    if window.contains(&0) {
        return Err(Error::parameter("windows must not be empty"));
    }
    (0..rank)
        .map(|axis| {
            window_count(
                aval.shape[axis],
                window[axis],
                strides[axis],
                padding[axis],
                base_dilation[axis],
                window_dilation[axis],
            )
        })
        .collect()
}

/// The type of a reduction over windows.
fn windows(
    aval: &Aval,
    base_dilation: &Dims,
    padding: &[(i64, i64)],
    window_dilation: &Dims,
    window: &Dims,
    strides: &Dims,
) -> Result<Aval> {
    let shape = windows_shape(
        aval,
        base_dilation,
        padding,
        window_dilation,
        window,
        strides,
    )?;
    crate::tensor::byte_size(&shape, aval.dtype)?;
    Ok(aval.with_shape(&shape))
}

/// The source of a selection must have one element per window.
fn check_source(
    source: &Aval,
    operand: &Aval,
    padding: &[(i64, i64)],
    window: &Dims,
    strides: &Dims,
) -> Result<()> {
    let ones = Dims::from_elem(1, operand.rank());
    let want = windows(operand, &ones, padding, &ones, window, strides)?;
    if source.shape == want.shape && source.dtype == operand.dtype {
        return Ok(());
    }
    Err(Error::shape(format!(
        "the source must be {want}, one element per window, and is {source}"
    )))
}

macro_rules! window_types {
    ($($prim:ident $eval:expr;)*) => { $(
        impl Primitive for $prim {
            fn abstract_eval(&self, operands: &[Aval]) -> Result<Avals> {
                let eval: fn(&Self, &[Aval]) -> Result<Avals> = $eval;
                eval(self, operands)
            }
        }
    )* };
}

window_types! {
    ReduceWindowSum |p, o| Ok(smallvec![windows(one(o)?, &p.base_dilation, &p.padding, &p.window_dilation, &p.window_dimensions, &p.window_strides)?]);
    ReduceWindowMax |p, o| Ok(smallvec![windows(one(o)?, &p.base_dilation, &p.padding, &p.window_dilation, &p.window_dimensions, &p.window_strides)?]);
    ReduceWindowMin |p, o| Ok(smallvec![windows(one(o)?, &p.base_dilation, &p.padding, &p.window_dilation, &p.window_dimensions, &p.window_strides)?]);
    ReduceWindow |p, o| {
        if o.is_empty() || o.len() % 2 != 0 {
            return Err(arity(2, o.len()));
        }
        let (arrays, initial) = o.split_at(o.len() / 2);
        if let Some((array, initial)) = arrays.iter().zip(initial).find(|(a, i)| i.rank() != 0 || i.dtype != a.dtype) {
            return Err(Error::shape(format!("the initial value of {array} must be a scalar of its type, and is {initial}")));
        }
        arrays.iter().map(|array| windows(array, &p.base_dilation, &p.padding, &p.window_dilation, &p.window_dimensions, &p.window_strides)).collect()
    };
    SelectAndGatherAdd |p, o| {
        let [tangents, operand] = o else { return Err(arity(2, o.len())) };
        if tangents.shape != operand.shape || tangents.dtype != operand.dtype {
            return Err(Error::shape(format!("{tangents} and {operand} must have the same type")));
        }
        Ok(smallvec![windows(operand, &p.base_dilation, &p.padding, &p.window_dilation, &p.window_dimensions, &p.window_strides)?])
    };
    SelectAndScatterAdd |p, o| {
        let [source, operand] = o else { return Err(arity(2, o.len())) };
        check_source(source, operand, &p.padding, &p.window_dimensions, &p.window_strides)?;
        Ok(smallvec![operand.clone()])
    };
    SelectAndScatter |p, o| {
        let [operand, source, initial] = o else { return Err(arity(3, o.len())) };
        check_source(source, operand, &p.padding, &p.window_dimensions, &p.window_strides)?;
        if initial.rank() != 0 || initial.dtype != operand.dtype {
            return Err(Error::shape(format!("the initial value must be a scalar {}, and is {initial}", operand.dtype)));
        }
        Ok(smallvec![operand.clone()])
    };
    ConvGeneralDilated |p, o| {
        let [lhs, rhs] = o else { return Err(arity(2, o.len())) };
        Ok(smallvec![convolution(p, lhs, rhs)?])
    };
}

/// The type of a convolution.
fn convolution(p: &ConvGeneralDilated, lhs: &Aval, rhs: &Aval) -> Result<Aval> {
    let rank = lhs.rank();
    let numbers = &p.dimension_numbers;
    if rank < 2 || rhs.rank() != rank {
        return Err(Error::shape(format!(
            "{lhs} and {rhs} must have the same rank, at least 2"
        )));
    }
    for (name, spec) in [
        ("lhs_spec", &numbers.lhs_spec),
        ("rhs_spec", &numbers.rhs_spec),
        ("out_spec", &numbers.out_spec),
    ] {
        let mut sorted = spec.to_vec();
        sorted.sort_unstable();
        if !sorted.into_iter().eq(0..rank) {
            return Err(Error::parameter(format!(
                "{name} {:?} must name every axis once",
                spec.as_slice()
            )));
        }
    }
    for (name, count) in [
        ("window_strides", p.window_strides.len()),
        ("padding", p.padding.len()),
        ("lhs_dilation", p.lhs_dilation.len()),
        ("rhs_dilation", p.rhs_dilation.len()),
    ] {
        if count != rank - 2 {
            return Err(Error::parameter(format!(
                "{name} must have one entry for each of the {} axes of space, and has {count}",
                rank - 2
            )));
        }
    }
    let (features, groups, batches) = (
        p.feature_group_count,
        p.feature_group_count,
        p.batch_group_count,
    );
    let lhs_features = lhs.shape[numbers.lhs_spec[1]];
    let (out_features, in_features) = (
        rhs.shape[numbers.rhs_spec[0]],
        rhs.shape[numbers.rhs_spec[1]],
    );
    let lhs_batch = lhs.shape[numbers.lhs_spec[0]];
    if groups == 0 || batches == 0 || (groups > 1 && batches > 1) {
        return Err(Error::parameter(format!(
            "feature_group_count {groups} and batch_group_count {batches} must be positive and not both above 1"
        )));
    }
    if lhs_features % features != 0 || lhs_features / features != in_features {
        return Err(Error::shape(format!(
            "{lhs_features} features of {lhs} in {groups} groups do not fit the {in_features} of the kernel {rhs}"
        )));
    }
    if out_features % groups != 0 || out_features % batches != 0 || lhs_batch % batches != 0 {
        return Err(Error::shape(format!(
            "{out_features} output features or {lhs_batch} batches do not divide into groups"
        )));
    }
    let mut shape = Dims::from_elem(0, rank);
    shape[numbers.out_spec[0]] = lhs_batch / batches;
    shape[numbers.out_spec[1]] = out_features;
    for axis in 0..rank - 2 {
        let (length, window) = (
            lhs.shape[numbers.lhs_spec[axis + 2]],
            rhs.shape[numbers.rhs_spec[axis + 2]],
        );
        shape[numbers.out_spec[axis + 2]] = window_count(
            length,
            window,
            p.window_strides[axis],
            p.padding[axis],
            p.lhs_dilation[axis],
            p.rhs_dilation[axis],
        )?;
    }
    let dtype = match p.preferred_element_type {
        Some(dtype) => dtype,
        None if lhs.dtype == rhs.dtype => lhs.dtype,
        None => {
            return Err(Error::dtype(format!(
                "{lhs} and {rhs} have different element types"
            )));
        }
    };
    crate::tensor::byte_size(&shape, dtype)?;
    Ok(Aval::new(dtype, &shape))
}
