//! Exchanges between the members of a named axis.

use smallvec::smallvec;

use super::super::*;
use super::{each, linear_jvp, named, only_lanes, refuse_groups, times};
use crate::error::{Error, ErrorKind, Result};
use crate::jaxpr::{Atom, Aval, Builder};
use crate::transform::{broadcast, move_axis};

/// Linear primitives of one operand and one result along named axes.
macro_rules! exchanges {
    ($($prim:ident |$p:ident| $names:expr, $aval:expr, $batch:expr, $transpose:expr;)*) => { $(
        impl Primitive for $prim {
            fn abstract_eval(&self, operands: &[Aval]) -> Result<Avals> {
                let [x] = operands else {
                    return Err(Error::new(
                        ErrorKind::Arity,
                        format!("one operand is expected, and {} are given", operands.len()),
                    ));
                };
                let rule: fn(&Self, &Aval) -> Result<Aval> = $aval;
                Ok(smallvec![rule(self, x)?])
            }

            fn complete(&mut self, operands: &[Aval], results: &[Aval]) {
                complete_exchange(self, operands, results);
            }

            fn jvp(&self, b: &Builder, primals: &[Atom], tangents: &[Option<Atom>]) -> Result<JvpResult> {
                linear_jvp(self, b, primals, tangents)
            }

            fn batch(&self, b: &Builder, operands: &[Batched], axis: &BatchAxis) -> Result<BatchedResults> {
                let x = operands[0];
                let over_lanes = axis.name.as_ref().is_some_and(|name| self.axis_names().contains(name));
                if !over_lanes && x.dim.is_none() {
                    return Ok(smallvec![Batched { value: b.op(self.clone(), &[x.value]), dim: None }]);
                }
                let rule: fn(&Self, &Builder, Batched, &BatchAxis, bool) -> Result<Batched> = $batch;
                Ok(smallvec![rule(self, b, x, axis, over_lanes)?])
            }

            fn transpose(
                &self,
                b: &Builder,
                cotangents: &[Option<Atom>],
                operands: &[TransposeArg],
            ) -> Result<Cotangents> {
                let rule: fn(&Self, &Builder, Atom) -> Atom = $transpose;
                each(cotangents, operands, |cotangent, _| Ok(rule(self, b, cotangent)))
            }

            fn axis_names(&self) -> Vec<Name> {
                let $p = self;
                $names
            }
        }
    )* };
}

/// Fills in what the printed parameters of an exchange leave out.
trait Exchange {
    fn complete_from(&mut self, _operand: &Aval, _result: &Aval) {}
}

impl Exchange for Pvary {}
impl Exchange for AllGather {}
impl Exchange for ReduceScatter {}
impl Exchange for Ppermute {}
impl Exchange for AllToAll {
    fn complete_from(&mut self, operand: &Aval, result: &Aval) {
        let lengths = |aval: &Aval| aval.shape.get(self.concat_axis).copied();
        if let (Some(before), Some(after)) = (lengths(operand), lengths(result))
            && self.split_axis != self.concat_axis
            && before > 0
        {
            self.axis_size = after / before;
        }
    }
}

fn complete_exchange(exchange: &mut impl Exchange, operands: &[Aval], results: &[Aval]) {
    if let ([operand], [result]) = (operands, results) {
        exchange.complete_from(operand, result);
    }
}

exchanges! {
    Pvary |p| named(&p.axes),
        |_, x| Ok(x.clone()),
        |p, b, x, _, _| Ok(Batched { value: b.op(p.clone(), &[x.value]), dim: x.dim }),
        |p, b, cotangent| b.op(PsumInvariant { axes: p.axes.clone() }, &[cotangent]);
    AllGather |p| p.axis_name.names().to_vec(), gathered_aval, batch_all_gather,
        |p, b, cotangent| b.op(ReduceScatter {
            axis_index_groups: p.axis_index_groups.clone(),
            axis_name: p.axis_name.clone(),
            axis_size: p.axis_size,
            scatter_dimension: p.all_gather_dimension,
            tiled: p.tiled,
        }, &[cotangent]);
    ReduceScatter |p| p.axis_name.names().to_vec(), scattered_aval, batch_reduce_scatter,
        |p, b, cotangent| b.op(AllGather {
            all_gather_dimension: p.scatter_dimension,
            axis_index_groups: p.axis_index_groups.clone(),
            axis_name: p.axis_name.clone(),
            axis_size: p.axis_size,
            tiled: p.tiled,
        }, &[cotangent]);
    AllToAll |p| p.axis_name.names().to_vec(), exchanged_aval, batch_all_to_all,
        |p, b, cotangent| b.op(AllToAll {
            split_axis: p.concat_axis,
            concat_axis: p.split_axis,
            ..p.clone()
        }, &[cotangent]);
    Ppermute |p| p.axis_name.names().to_vec(),
        |_, x| Ok(x.clone()),
        batch_ppermute,
        |p, b, cotangent| b.op(Ppermute {
            perm: p.perm.iter().map(|&(from, to)| (to, from)).collect(),
            ..p.clone()
        }, &[cotangent]);
}

fn axis_in(aval: &Aval, axis: usize, insert: bool) -> Result<()> {
    if axis < aval.rank() + usize::from(insert) {
        return Ok(());
    }
    Err(Error::parameter(format!("axis {axis} is outside {aval}")))
}

fn gathered_aval(p: &AllGather, x: &Aval) -> Result<Aval> {
    axis_in(x, p.all_gather_dimension, !p.tiled)?;
    let mut shape = x.shape.clone();
    if p.tiled {
        shape[p.all_gather_dimension] *= p.axis_size;
    } else {
        shape.insert(p.all_gather_dimension, p.axis_size);
    }
    Ok(x.with_shape(&shape))
}

fn scattered_aval(p: &ReduceScatter, x: &Aval) -> Result<Aval> {
    axis_in(x, p.scatter_dimension, false)?;
    let mut shape = x.shape.clone();
    let length = shape[p.scatter_dimension];
    let fits = if p.tiled {
        p.axis_size > 0 && length.is_multiple_of(p.axis_size)
    } else {
        length == p.axis_size
    };
    if !fits {
        return Err(Error::shape(format!(
            "axis {} of {x} cannot be dealt to {} members",
            p.scatter_dimension, p.axis_size
        )));
    }
    if p.tiled {
        shape[p.scatter_dimension] = length / p.axis_size;
    } else {
        shape.remove(p.scatter_dimension);
    }
    Ok(x.with_shape(&shape))
}

fn exchanged_aval(p: &AllToAll, x: &Aval) -> Result<Aval> {
    axis_in(x, p.split_axis, false)?;
    axis_in(x, p.concat_axis, false)?;
    let mut shape = x.shape.clone();
    if p.split_axis == p.concat_axis {
        return Ok(x.clone().weak(false));
    }
    let size = p.axis_size;
    if size == 0 || !shape[p.split_axis].is_multiple_of(size) {
        return Err(Error::shape(format!(
            "axis {} of {x} cannot be cut for {size} members",
            p.split_axis
        )));
    }
    shape[p.split_axis] /= size;
    shape[p.concat_axis] *= size;
    Ok(x.with_shape(&shape).weak(false))
}

/// Axis `axis` as two: `count` parts, and what is in a part.
fn split_axis(b: &Builder, x: Atom, axis: usize, count: usize) -> Result<Atom> {
    let mut shape = b.shape(x);
    if count == 0 || !shape[axis].is_multiple_of(count) {
        return Err(Error::shape(format!(
            "axis {axis} of {} cannot be cut into {count} parts",
            b.aval(x)
        )));
    }
    shape[axis] /= count;
    shape.insert(axis, count);
    Ok(b.reshape(x, &shape))
}

/// Axes `axis` and `axis + 1` as one.
fn fold_axis(b: &Builder, x: Atom, axis: usize) -> Atom {
    let mut shape = b.shape(x);
    let length = shape.remove(axis);
    shape[axis] *= length;
    b.reshape(x, &shape)
}

fn batch_all_gather(
    p: &AllGather,
    b: &Builder,
    x: Batched,
    axis: &BatchAxis,
    over_lanes: bool,
) -> Result<Batched> {
    if !over_lanes {
        let (mut at, mut dim) = (p.all_gather_dimension, x.dim);
        if let Some(d) = &mut dim {
            if *d <= at {
                at += 1;
            } else if !p.tiled {
                *d += 1;
            }
        }
        let prim = AllGather {
            all_gather_dimension: at,
            ..p.clone()
        };
        let value = b.op(prim, &[x.value]);
        return Ok(Batched { value, dim });
    }
    refuse_groups(&p.axis_index_groups.0)?;
    only_lanes(p.axis_name.names(), "all_gather")?;
    let at = p.all_gather_dimension;
    let mut value = match x.dim {
        None => broadcast(b, x.value, axis.size, at),
        Some(dim) => move_axis(b, x.value, dim, at),
    };
    if p.tiled {
        value = fold_axis(b, value, at);
    }
    Ok(Batched { value, dim: None })
}

fn batch_reduce_scatter(
    p: &ReduceScatter,
    b: &Builder,
    x: Batched,
    axis: &BatchAxis,
    over_lanes: bool,
) -> Result<Batched> {
    if !over_lanes {
        let (mut at, mut dim) = (p.scatter_dimension, x.dim);
        if let Some(d) = &mut dim {
            if *d <= at {
                at += 1;
            } else if !p.tiled {
                *d -= 1;
            }
        }
        let prim = ReduceScatter {
            scatter_dimension: at,
            ..p.clone()
        };
        let value = b.op(prim, &[x.value]);
        return Ok(Batched { value, dim });
    }
    refuse_groups(&p.axis_index_groups.0)?;
    only_lanes(p.axis_name.names(), "reduce_scatter")?;
    let mut value = match x.dim {
        None => times(b, x.value, axis.size),
        Some(dim) => b.reduce_sum(x.value, &[dim]),
    };
    if p.tiled {
        value = split_axis(b, value, p.scatter_dimension, axis.size)?;
    }
    Ok(Batched {
        value,
        dim: Some(p.scatter_dimension),
    })
}

fn batch_all_to_all(
    p: &AllToAll,
    b: &Builder,
    x: Batched,
    axis: &BatchAxis,
    over_lanes: bool,
) -> Result<Batched> {
    if !over_lanes {
        let behind = |at: usize| at + usize::from(x.dim.is_some_and(|dim| dim <= at));
        let prim = AllToAll {
            split_axis: behind(p.split_axis),
            concat_axis: behind(p.concat_axis),
            ..p.clone()
        };
        let value = b.op(prim, &[x.value]);
        return Ok(Batched { value, dim: x.dim });
    }
    refuse_groups(&p.axis_index_groups.0)?;
    only_lanes(p.axis_name.names(), "all_to_all")?;
    let (value, dim) = match x.dim {
        Some(dim) => (x.value, dim),
        None => (broadcast(b, x.value, axis.size, 0), 0),
    };
    if p.split_axis != p.concat_axis {
        let joined = fold_axis(b, move_axis(b, value, dim, p.concat_axis), p.concat_axis);
        return Ok(Batched {
            value: split_axis(b, joined, p.split_axis, axis.size)?,
            dim: Some(p.split_axis),
        });
    }
    // The lanes and the parts change places.
    let at = p.split_axis + usize::from(dim <= p.split_axis);
    let parts = split_axis(b, value, at, axis.size)?;
    let lanes = dim + usize::from(at <= dim);
    let mut permutation: Vec<usize> = (0..b.rank(parts)).collect();
    permutation.swap(at, lanes);
    let swapped = b.transpose(parts, &permutation);
    Ok(Batched {
        value: fold_axis(b, swapped, at),
        dim: Some(dim),
    })
}

fn batch_ppermute(
    p: &Ppermute,
    b: &Builder,
    x: Batched,
    axis: &BatchAxis,
    over_lanes: bool,
) -> Result<Batched> {
    if !over_lanes {
        let value = b.op(p.clone(), &[x.value]);
        return Ok(Batched { value, dim: x.dim });
    }
    only_lanes(p.axis_name.names(), "ppermute")?;
    let Some(dim) = x.dim else {
        return Ok(x);
    };
    if p.perm.len() != axis.size {
        return Err(Error::parameter(format!(
            "a permutation of {} members is given, and the axis has {}",
            p.perm.len(),
            axis.size
        )));
    }
    let mut sources = vec![0_i32; axis.size];
    for &(from, to) in &p.perm {
        match (i32::try_from(from), sources.get_mut(to)) {
            (Ok(number), Some(source)) if from < axis.size => *source = number,
            _ => {
                return Err(Error::parameter(format!(
                    "({from}, {to}) is outside an axis of {} members",
                    axis.size
                )));
            }
        }
    }
    let indices = b.constant(crate::Tensor::from_vec(&[axis.size], sources)?);
    let column = b.broadcast_in_dim(indices, &[axis.size, 1], &[0]);
    let mut slice_sizes = b.shape(x.value);
    slice_sizes[dim] = 1;
    let one = |axis: usize| crate::jaxpr::Dims::from_slice(&[axis]);
    let prim = Gather {
        dimension_numbers: GatherDimensionNumbers {
            offset_dims: (0..b.rank(x.value)).filter(|&axis| axis != dim).collect(),
            collapsed_slice_dims: one(dim),
            start_index_map: one(dim),
            ..GatherDimensionNumbers::default()
        },
        fill_value: None,
        indices_are_sorted: false,
        mode: GatherScatterMode::PromiseInBounds,
        slice_sizes,
        unique_indices: false,
    };
    Ok(Batched {
        value: b.op(prim, &[x.value, column]),
        dim: Some(dim),
    })
}
