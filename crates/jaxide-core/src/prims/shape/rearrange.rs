//! Reshape, transpose, squeeze, reverse and slices of one operand.

use super::super::elementwise::move_axis;
use super::super::*;
use super::*;
use crate::aval::element_count;
use crate::jaxpr::Dims;

/// The positions at which a permutation puts each axis.
fn inverse(permutation: &[usize]) -> Vec<usize> {
    let mut out = vec![0; permutation.len()];
    for (to, &from) in permutation.iter().enumerate() {
        out[from] = to;
    }
    out
}

/// Axes moved up by one from `dim` on.
fn shifted(axes: &[usize], dim: usize) -> Dims {
    axes.iter()
        .map(|&axis| if axis >= dim { axis + 1 } else { axis })
        .collect()
}

/// A list with one number for each axis of `aval`.
fn check_per_axis(name: &str, values: &[usize], aval: &Aval) -> Result<()> {
    if values.len() == aval.rank() {
        return Ok(());
    }
    Err(Error::parameter(format!(
        "{name} {values:?} must have one number for each of the {} axes of {aval}",
        aval.rank()
    )))
}

moves! {
    Reshape |p, aval| {
        if let Some(dimensions) = &p.dimensions {
            check_per_axis("dimensions", dimensions, aval)?;
            check_axes(dimensions, aval)?;
        }
        if element_count(&p.new_sizes)? != aval.size() {
            return Err(Error::shape(format!(
                "{aval} has {} elements and cannot take shape {:?} of {}",
                aval.size(),
                p.new_sizes.as_slice(),
                element_count(&p.new_sizes)?
            )));
        }
        Ok(aval.with_shape(&p.new_sizes))
    }, |p, b, x, dim, size| {
        let x = move_axis(b, x, dim, 0);
        let mut new_sizes = p.new_sizes.clone();
        new_sizes.insert(0, size);
        let dimensions = p.dimensions.as_ref().map(|dims| std::iter::once(0).chain(dims.iter().map(|dim| dim + 1)).collect());
        match dimensions {
            None => (b.reshape(x, &new_sizes), 0),
            Some(_) => (b.op(Reshape { dimensions, new_sizes, sharding: p.sharding.clone() }, &[x]), 0),
        }
    }, |p, b, ct, aval| match &p.dimensions {
        None => b.reshape(ct, &aval.shape),
        Some(dimensions) => {
            let sizes: Dims = dimensions.iter().map(|&dim| aval.shape[dim]).collect();
            b.transpose(b.reshape(ct, &sizes), &inverse(dimensions))
        }
    };
    Transpose |p, aval| {
        check_per_axis("permutation", &p.permutation, aval)?;
        check_axes(&p.permutation, aval)?;
        let shape: Vec<usize> = p.permutation.iter().map(|&axis| aval.shape[axis]).collect();
        Ok(aval.with_shape(&shape))
    }, |p, b, x, dim, _| {
        let permutation: Vec<usize> = std::iter::once(dim).chain(shifted(&p.permutation, dim)).collect();
        (b.transpose(x, &permutation), 0)
    }, |p, b, ct, _| b.transpose(ct, &inverse(&p.permutation));
    Squeeze |p, aval| {
        check_axes(&p.dimensions, aval)?;
        if let Some(axis) = p.dimensions.iter().find(|&&axis| aval.shape[axis] != 1) {
            return Err(Error::shape(format!("axis {axis} of {aval} has length {} and cannot be squeezed", aval.shape[*axis])));
        }
        let shape: Vec<usize> =
            (0..aval.rank()).filter(|axis| !p.dimensions.contains(axis)).map(|axis| aval.shape[axis]).collect();
        Ok(aval.with_shape(&shape))
    }, |p, b, x, dim, _| {
        let dims: Vec<usize> = p.dimensions.iter().map(|axis| axis + 1).collect();
        (b.squeeze(move_axis(b, x, dim, 0), &dims), 0)
    }, |p, b, ct, aval| {
        let kept: Vec<usize> = (0..aval.rank()).filter(|axis| !p.dimensions.contains(axis)).collect();
        b.broadcast_in_dim(ct, &aval.shape, &kept)
    };
    Rev |p, aval| {
        check_axes(&p.dimensions, aval)?;
        Ok(aval.clone())
    }, |p, b, x, dim, _| (b.op(Rev { dimensions: shifted(&p.dimensions, dim) }, &[x]), dim),
    |p, b, ct, _| b.op(p.clone(), &[ct]);
    Slice |p, aval| {
        check_per_axis("start_indices", &p.start_indices, aval)?;
        check_per_axis("limit_indices", &p.limit_indices, aval)?;
        if let Some(strides) = &p.strides {
            check_per_axis("strides", strides, aval)?;
            if strides.contains(&0) {
                return Err(Error::parameter(format!("strides {:?} must be positive", strides.as_slice())));
            }
        }
        let mut shape = Vec::with_capacity(aval.rank());
        for axis in 0..aval.rank() {
            let (start, limit) = (p.start_indices[axis], p.limit_indices[axis]);
            if start > limit || limit > aval.shape[axis] {
                return Err(Error::parameter(format!("{start}..{limit} is not within axis {axis} of {aval}")));
            }
            let stride = p.strides.as_ref().map_or(1, |strides| strides[axis]);
            shape.push((limit - start).div_ceil(stride));
        }
        Ok(aval.with_shape(&shape))
    }, |p, b, x, dim, size| {
        let mut batched = p.clone();
        batched.start_indices.insert(dim, 0);
        batched.limit_indices.insert(dim, size);
        if let Some(strides) = &mut batched.strides {
            strides.insert(dim, 1);
        }
        (b.op(batched, &[x]), dim)
    }, |p, b, ct, aval| {
        let taken = b.shape(ct);
        let config: Vec<(i64, i64, i64)> = (0..aval.rank())
            .map(|axis| {
                let stride = p.strides.as_ref().map_or(1, |strides| strides[axis]);
                let start = p.start_indices[axis];
                let end = if p.strides.is_none() || stride == 1 {
                    p.limit_indices[axis]
                } else if taken[axis] == 0 {
                    start
                } else {
                    start + 1 + (taken[axis] - 1) * stride
                };
                (start as i64, aval.shape[axis] as i64 - end as i64, stride as i64 - 1)
            })
            .collect();
        let zero = b.number(0.0, b.dtype(ct));
        b.pad(ct, zero, &config)
    };
}
