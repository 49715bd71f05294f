//! Sorting and the largest elements.

use super::elements::{Class, Number, meaningless, small_floats};
use super::operands::{Array, Operands};
use super::routine::routine;
use crate::narrow;
use crate::runtime::sort::{Sort, TopK};
use crate::runtime::{KernelCall, KernelError};
use jaxide_core::eval::numerics::order;
use jaxide_core::prims::{self, ApproxTopK};
use jaxide_core::{DType, Error, Result};
use std::cmp::Ordering;

type Call = Result<Box<KernelCall>>;

pub(super) fn sort(operands: &Operands, params: &prims::Sort) -> Call {
    let shape = &operands.inputs[0].shape;
    let dtypes: Vec<DType> = operands.inputs.iter().map(|input| input.dtype).collect();
    let keys = &dtypes[..params.num_keys.min(dtypes.len())];
    if keys.iter().any(|dtype| matches!(dtype, small_floats!())) {
        return by_comparison(operands, params.dimension, params.num_keys);
    }
    Sort::new(shape, params.dimension, &dtypes, params.num_keys)
        .map(KernelCall::new)
        .map_err(unsupported)
}

fn unsupported(error: KernelError) -> Error {
    Error::unsupported(error.to_string())
}

/// The lines of an array along an axis.
#[derive(Clone, Copy)]
pub(super) struct Lines {
    pub(super) outer: usize,
    pub(super) length: usize,
    pub(super) inner: usize,
}

impl Lines {
    pub(super) fn new(shape: &[usize], axis: usize) -> Self {
        Lines {
            outer: shape[..axis].iter().product(),
            length: shape[axis],
            inner: shape[axis + 1..].iter().product(),
        }
    }

    /// The first position of each line.
    fn starts(self) -> impl Iterator<Item = usize> {
        (0..self.outer).flat_map(move |outer| {
            (0..self.inner).map(move |inner| outer * self.length * self.inner + inner)
        })
    }
}

/// A stable sort by comparing keys as numbers, for key types without a radix.
fn by_comparison(operands: &Operands, axis: usize, num_keys: usize) -> Call {
    let lines = Lines::new(&operands.inputs[0].shape, axis);
    let inputs = operands.inputs.clone();
    if let Some(key) = inputs[..num_keys]
        .iter()
        .find(|key| matches!(Class::of(key.dtype), Class::Complex | Class::Opaque))
    {
        return Err(meaningless(key.dtype));
    }
    Ok(routine(operands, move |buffers, _| {
        let keys: Vec<Vec<f64>> = (0..num_keys)
            .map(|k| f64::read_all(inputs[k].dtype, buffers.input(k)))
            .collect();
        let mut sources = vec![0; inputs[0].len()];
        for start in lines.starts() {
            let places = (0..lines.length).map(|k| start + k * lines.inner);
            let mut sorted: Vec<usize> = places.clone().collect();
            sorted.sort_by(|&a, &b| {
                keys.iter()
                    .map(|key| order::sort_order(key[a], key[b]))
                    .find(|order| order.is_ne())
                    .unwrap_or(Ordering::Equal)
            });
            places
                .zip(sorted)
                .for_each(|(place, source)| sources[place] = source);
        }
        for (k, input) in inputs.iter().enumerate() {
            pick(input, buffers.input(k), &sources, buffers.output(k));
        }
        Ok(())
    }))
}

/// The elements at some positions.
fn pick(x: &Array, bytes: &[u8], positions: &[usize], out: &mut [u8]) {
    let size = x.dtype.size();
    for (element, position) in out.chunks_exact_mut(size.max(1)).zip(positions) {
        element.copy_from_slice(&bytes[position * size..(position + 1) * size]);
    }
}

pub(super) fn top_k(operands: &Operands, params: &prims::TopK) -> Call {
    greatest(operands, params.axis, params.k, true)
}

/// As [`top_k`], exact; of the smallest unless `is_max_k`.
pub(super) fn approx_top_k(operands: &Operands, params: &ApproxTopK) -> Call {
    let rank = operands.inputs[0].shape.len() as i64;
    let axis = params.reduction_dimension;
    let axis = if axis < 0 { axis + rank } else { axis };
    match usize::try_from(axis) {
        Ok(axis) => greatest(operands, axis, params.k, params.is_max_k),
        Err(_) => Err(Error::parameter(format!(
            "reduction_dimension {axis} is none of {rank}"
        ))),
    }
}

fn greatest(operands: &Operands, axis: usize, k: usize, largest: bool) -> Call {
    let x = operands.inputs[0].clone();
    if axis >= x.shape.len() || k > x.shape[axis] {
        return Err(Error::parameter(format!(
            "there are no {k} elements along axis {axis} of shape {:?}",
            x.shape
        )));
    }
    if largest && !matches!(x.dtype, small_floats!()) {
        return TopK::new(&x.shape, axis, x.dtype, k)
            .map(KernelCall::new)
            .map_err(unsupported);
    }
    // The order of small floats is that of `sort`, that of wider ones is total.
    let total = !matches!(x.dtype, small_floats!());
    if matches!(Class::of(x.dtype), Class::Complex | Class::Opaque) {
        return Err(meaningless(x.dtype));
    }
    if Class::of(x.dtype) == Class::Integer {
        return in_order::<i128>(
            operands,
            axis,
            k,
            move |a, b| if largest { a.cmp(b) } else { b.cmp(a) },
        );
    }
    in_order::<f64>(operands, axis, k, move |&a, &b| {
        let (a, b) = if largest { (a, b) } else { (b, a) };
        if total {
            a.total_cmp(&b)
        } else {
            order::sort_order(a, b)
        }
    })
}

/// The `k` greatest elements of an order along an axis, in order, and their indices; ties go by index.
fn in_order<N: Number>(
    operands: &Operands,
    axis: usize,
    k: usize,
    order: impl Fn(&N, &N) -> Ordering + Send + Sync + 'static,
) -> Call {
    let x = operands.inputs[0].clone();
    let lines = Lines::new(&x.shape, axis);
    let targets = Lines { length: k, ..lines };
    Ok(routine(operands, move |buffers, _| {
        let bytes = buffers.input::<u8>(0);
        let numbers = N::read_all(x.dtype, bytes);
        let mut sources = vec![0; targets.outer * k * targets.inner];
        let indices = buffers.output::<i32>(1);
        for (start, target) in lines.starts().zip(targets.starts()) {
            let at = |i: usize| start + i * lines.inner;
            let best = order::top_k(lines.length, k, |i, j| {
                order(&numbers[at(i)], &numbers[at(j)])
            });
            for (place, index) in (target..).step_by(lines.inner).zip(best) {
                (sources[place], indices[place]) = (at(index), narrow(index));
            }
        }
        pick(&x, bytes, &sources, buffers.output(0));
        Ok(())
    }))
}
