//! Communication along named axes.
//!
//! Under `vmap` a named axis is an axis of the arrays: what members exchange is then moved within an array.

mod exchange;
mod pmap;
mod shard_map;

pub use shard_map::{PartitionSpec, write_specs};

use smallvec::{SmallVec, smallvec};

use super::*;
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::jaxpr::{Atom, Aval, Builder, Shape};
use crate::transform::move_axis;

/// A reduction over named axes and axes of the operands.
trait Reduction: Clone + Into<Prim> {
    fn axes(&self) -> &[AxisName];

    fn with_axes(&self, axes: Vec<AxisName>) -> Self;

    fn groups(&self) -> &PyValue;

    /// What members that all hold `x` get.
    fn of_equal(&self, b: &Builder, x: Atom, size: usize) -> Atom;
}

fn is_name(axis: &AxisName, name: Option<&Name>) -> bool {
    match axis {
        AxisName::Named(own) => Some(own) == name,
        AxisName::Positional(_) => false,
    }
}

fn named(axes: &[AxisName]) -> Vec<Name> {
    axes.iter()
        .filter_map(|axis| match axis {
            AxisName::Named(name) => Some(name.clone()),
            AxisName::Positional(_) => None,
        })
        .collect()
}

fn positional(axes: &[AxisName]) -> Vec<usize> {
    axes.iter()
        .filter_map(|axis| match axis {
            AxisName::Named(_) => None,
            AxisName::Positional(axis) => Some(*axis),
        })
        .collect()
}

fn refuse_groups(groups: &PyValue) -> Result<()> {
    if *groups == PyValue::None {
        return Ok(());
    }
    Err(Error::unsupported(
        "groups of an axis cannot be mapped: map over two axes instead",
    ))
}

fn reduced_aval(axes: &[AxisName], operands: &[Aval]) -> Result<Avals> {
    let gone = positional(axes);
    operands
        .iter()
        .map(|aval| {
            if aval.dtype.is_key() || (!gone.is_empty() && aval.dtype == DType::Float0) {
                return Err(Error::dtype(format!("{aval} cannot be reduced")));
            }
            if let Some(axis) = gone.iter().find(|&&axis| axis >= aval.rank()) {
                return Err(Error::parameter(format!("axis {axis} is outside {aval}")));
            }
            let shape: Shape = aval
                .shape
                .iter()
                .enumerate()
                .filter(|(axis, _)| !gone.contains(axis))
                .map(|(_, &length)| length)
                .collect();
            Ok(aval.with_shape(&shape).weak(false))
        })
        .collect()
}

fn batch_reduction(
    prim: &impl Reduction,
    b: &Builder,
    operands: &[Batched],
    axis: &BatchAxis,
) -> Result<BatchedResults> {
    let over_lanes = prim
        .axes()
        .iter()
        .any(|own| is_name(own, axis.name.as_ref()));
    operands
        .iter()
        .map(|&x| {
            let Some(dim) = x.dim else {
                if !over_lanes {
                    let value = b.op(prim.clone(), &[x.value]);
                    return Ok(Batched { value, dim: None });
                }
                refuse_groups(prim.groups())?;
                let others: Vec<AxisName> = prim
                    .axes()
                    .iter()
                    .filter(|own| !is_name(own, axis.name.as_ref()))
                    .cloned()
                    .collect();
                let value = if others.is_empty() {
                    x.value
                } else {
                    b.op(prim.with_axes(others), &[x.value])
                };
                return Ok(Batched {
                    value: prim.of_equal(b, value, axis.size),
                    dim: None,
                });
            };
            if !over_lanes && positional(prim.axes()).is_empty() {
                let value = b.op(prim.clone(), &[x.value]);
                return Ok(Batched {
                    value,
                    dim: Some(dim),
                });
            }
            refuse_groups(prim.groups())?;
            let axes = prim
                .axes()
                .iter()
                .map(|own| match own {
                    AxisName::Positional(axis) => AxisName::Positional(axis + 1),
                    AxisName::Named(_) if is_name(own, axis.name.as_ref()) => {
                        AxisName::Positional(0)
                    }
                    AxisName::Named(name) => AxisName::Named(name.clone()),
                })
                .collect();
            let front = move_axis(b, x.value, dim, 0);
            Ok(Batched {
                value: b.op(prim.with_axes(axes), &[front]),
                dim: (!over_lanes).then_some(0),
            })
        })
        .collect()
}

/// The type, batching and names of a reduction.
macro_rules! reductions {
    ($($prim:ident $groups:expr, $of_equal:expr, $jvp:expr, $transpose:expr;)*) => { $(
        impl Reduction for $prim {
            fn axes(&self) -> &[AxisName] {
                &self.axes
            }

            fn with_axes(&self, axes: Vec<AxisName>) -> Self {
                let mut reduction = self.clone();
                reduction.axes = axes;
                reduction
            }

            fn groups(&self) -> &PyValue {
                let groups: fn(&Self) -> &PyValue = $groups;
                groups(self)
            }

            fn of_equal(&self, b: &Builder, x: Atom, size: usize) -> Atom {
                let of_equal: fn(&Builder, Atom, usize) -> Atom = $of_equal;
                of_equal(b, x, size)
            }
        }

        impl Primitive for $prim {
            fn abstract_eval(&self, operands: &[Aval]) -> Result<Avals> {
                reduced_aval(&self.axes, operands)
            }

            fn jvp(&self, b: &Builder, primals: &[Atom], tangents: &[Option<Atom>]) -> Result<JvpResult> {
                let rule: fn(&Self, &Builder, &[Atom], &[Option<Atom>]) -> Result<JvpResult> = $jvp;
                rule(self, b, primals, tangents)
            }

            fn batch(&self, b: &Builder, operands: &[Batched], axis: &BatchAxis) -> Result<BatchedResults> {
                batch_reduction(self, b, operands, axis)
            }

            fn transpose(
                &self,
                b: &Builder,
                cotangents: &[Option<Atom>],
                operands: &[TransposeArg],
            ) -> Result<Cotangents> {
                let rule: fn(&Self, &Builder, Atom, &Aval) -> Result<Atom> = $transpose;
                each(cotangents, operands, |cotangent, aval| rule(self, b, cotangent, aval))
            }

            fn axis_names(&self) -> Vec<Name> {
                named(&self.axes)
            }
        }
    )* };
}

/// Cotangents operand by operand.
fn each(
    cotangents: &[Option<Atom>],
    operands: &[TransposeArg],
    rule: impl Fn(Atom, &Aval) -> Result<Atom>,
) -> Result<Cotangents> {
    cotangents
        .iter()
        .zip(operands)
        .map(|(&cotangent, operand)| match (cotangent, operand) {
            (Some(cotangent), TransposeArg::Linear(aval)) => rule(cotangent, aval).map(Some),
            _ => Ok(None),
        })
        .collect()
}

/// A linear primitive's derivative: itself of each tangent.
fn linear_jvp(
    prim: &(impl Clone + Into<Prim>),
    b: &Builder,
    primals: &[Atom],
    tangents: &[Option<Atom>],
) -> Result<JvpResult> {
    let results = b.emit(prim.clone(), primals)?;
    let tangents: Vec<Atom> = tangents
        .iter()
        .zip(primals)
        .map(|(&tangent, &primal)| b.instantiate(tangent, &b.aval(primal)))
        .collect();
    let tangents = b.emit(prim.clone(), &tangents)?;
    Ok(JvpResult {
        primals: results,
        tangents: tangents.into_iter().map(Some).collect(),
    })
}

fn times(b: &Builder, x: Atom, size: usize) -> Atom {
    b.mul(b.number(size as f64, b.dtype(x)), x)
}

/// Every member's cotangent counts, so that they are summed over the named axes again; along axes of the operand the
/// cotangent is repeated.
fn transpose_psum(prim: &Psum, b: &Builder, cotangent: Atom, aval: &Aval) -> Result<Atom> {
    let gone = positional(&prim.axes);
    let mut cotangent = cotangent;
    if !gone.is_empty() {
        let kept: Vec<usize> = (0..aval.rank())
            .filter(|axis| !gone.contains(axis))
            .collect();
        cotangent = b.broadcast_in_dim(cotangent, &aval.shape, &kept);
    }
    let names = named(&prim.axes).into_iter().map(AxisName::Named).collect();
    Ok(b.op(prim.with_axes(names), &[cotangent]))
}

const EXTREMUM: &str = "the derivative of a largest or smallest value over a named axis is not defined in JAX: gather the values with all_gather and reduce them";

macro_rules! no_derivative {
    ($name:literal) => {
        |_, _, _, _| Err(Error::no_rule($name, "jvp", EXTREMUM))
    };
}

macro_rules! no_transpose {
    ($name:literal) => {
        |_, _, _, _| Err(Error::no_rule($name, "transpose", "it is not linear"))
    };
}

reductions! {
    Psum |p| &p.axis_index_groups.0, times, |p, b, x, t| linear_jvp(p, b, x, t), transpose_psum;
    Pmax |p| &p.axis_index_groups.0, |_, x, _| x, no_derivative!("pmax"), no_transpose!("pmax");
    Pmin |p| &p.axis_index_groups.0, |_, x, _| x, no_derivative!("pmin"), no_transpose!("pmin");
    PsumInvariant |_| &PyValue::None, times, |p, b, x, t| linear_jvp(p, b, x, t),
        |p, b, cotangent, _| Ok(b.op(Pvary { axes: p.axes.clone() }, &[cotangent]));
}

fn only_lanes(names: &[Name], operation: &str) -> Result<()> {
    if names.len() == 1 {
        return Ok(());
    }
    Err(Error::unsupported(format!(
        "{operation} over several axes cannot be mapped over one of them: use one axis after another"
    )))
}

impl Primitive for AxisIndex {
    fn abstract_eval(&self, _operands: &[Aval]) -> Result<Avals> {
        Ok(smallvec![Aval::scalar(DType::I32)])
    }

    fn jvp(&self, b: &Builder, _primals: &[Atom], _tangents: &[Option<Atom>]) -> Result<JvpResult> {
        Ok(JvpResult::one(b.op(self.clone(), &[]), None))
    }

    fn batch(
        &self,
        b: &Builder,
        _operands: &[Batched],
        axis: &BatchAxis,
    ) -> Result<BatchedResults> {
        let names = self.axis_name.names();
        if axis.name.as_ref().is_none_or(|name| !names.contains(name)) {
            let value = b.op(self.clone(), &[]);
            return Ok(smallvec![Batched { value, dim: None }]);
        }
        only_lanes(names, "axis_index")?;
        Ok(smallvec![Batched {
            value: b.iota(DType::I32, &[axis.size], 0),
            dim: Some(0)
        }])
    }

    fn transpose(
        &self,
        _b: &Builder,
        _cotangents: &[Option<Atom>],
        _operands: &[TransposeArg],
    ) -> Result<Cotangents> {
        Ok(SmallVec::new())
    }

    fn axis_names(&self) -> Vec<Name> {
        self.axis_name.names().to_vec()
    }
}
