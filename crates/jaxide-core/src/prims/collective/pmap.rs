//! `xla_pmap`: a body once per member of an axis.

use super::super::*;
use super::shard_map::first_along_front;
use crate::error::{Error, ErrorKind, Result};
use crate::jaxpr::{Atom, Aval, Builder, ClosedJaxpr};
use crate::marks::{keep, not, present, spread};
use crate::transform::{OutDim, Split, batch, inline, jvp, linearize, mapped, transpose, unmapped};

impl Pmap {
    /// The same function of whole arrays, without the named axis: the body is batched over it.
    ///
    /// # Errors
    /// When the axis has several names, or the body cannot be batched.
    pub fn expand(&self) -> Result<ClosedJaxpr> {
        let [name] = self.axis_name.names() else {
            return Err(Error::unsupported(format!(
                "a map over {} axes at once",
                self.axis_name.names().len()
            )));
        };
        let axis = BatchAxis {
            size: self.axis_size,
            name: Some(name.clone()),
        };
        let places: Vec<OutDim> = self
            .out_axes
            .iter()
            .map(|axis| axis.map_or(OutDim::FrontIfMapped, |axis| OutDim::At(Some(axis))))
            .collect();
        let batched = batch(
            &Builder::new(),
            &self.call_jaxpr,
            &axis,
            &self.in_axes,
            &places,
        )?;
        let b = Builder::new();
        let avals = batched.jaxpr.in_avals();
        let args: Vec<Atom> = avals.into_iter().map(|aval| b.input(aval)).collect();
        let results = inline(&b, &batched.jaxpr, &args)?;
        // What all members have in common is the value of the first.
        let results: Vec<Atom> = results
            .iter()
            .zip(&self.out_axes)
            .zip(&batched.dims)
            .map(|((&result, axis), dim)| match (axis, dim) {
                (None, Some(_)) => first_along_front(&b, result),
                _ => result,
            })
            .collect();
        b.finish(&results)
    }

    fn bind(
        &self,
        b: &Builder,
        body: ClosedJaxpr,
        in_axes: Vec<Option<usize>>,
        out_axes: Vec<Option<usize>>,
        operands: &[Atom],
    ) -> Vec<Atom> {
        let results: Vec<Aval> = body
            .out_avals()
            .iter()
            .zip(&out_axes)
            .map(|(aval, &axis)| unmapped(aval, axis, self.axis_size))
            .collect();
        let prim = Pmap {
            call_jaxpr: body,
            in_axes,
            out_axes,
            ..self.clone()
        };
        b.push(prim.into(), operands, &results).into_vec()
    }
}

/// The axes of what is marked.
impl Primitive for Pmap {
    fn abstract_eval(&self, operands: &[Aval]) -> Result<Avals> {
        let want = self.call_jaxpr.in_avals();
        if operands.len() != want.len() || self.in_axes.len() != want.len() {
            return Err(Error::new(
                ErrorKind::Arity,
                format!(
                    "the body takes {} arguments, and {} are given",
                    want.len(),
                    operands.len()
                ),
            ));
        }
        for (index, ((want, got), axis)) in want.iter().zip(operands).zip(&self.in_axes).enumerate()
        {
            let fits = match axis {
                None => want.matches(got),
                Some(axis) => {
                    got.shape.get(*axis) == Some(&self.axis_size)
                        && want.matches(&mapped(got, *axis))
                }
            };
            if !fits {
                return Err(Error::shape(format!(
                    "argument {index} of a member is {want}, and {got} is given for {} members",
                    self.axis_size
                )));
            }
        }
        let results = self.call_jaxpr.out_avals();
        let stacked = results.iter().zip(&self.out_axes);
        Ok(stacked
            .map(|(aval, &axis)| unmapped(aval, axis, self.axis_size))
            .collect())
    }

    fn jvp(&self, b: &Builder, primals: &[Atom], tangents: &[Option<Atom>]) -> Result<JvpResult> {
        let nonzero = present(tangents);
        let none = vec![false; self.out_axes.len()];
        let body = jvp(b, &self.call_jaxpr, &nonzero, &none)?;
        let in_axes = [self.in_axes.clone(), keep(&self.in_axes, &nonzero)].concat();
        let out_axes = [self.out_axes.clone(), keep(&self.out_axes, &body.nonzero)].concat();
        let operands = with_tangents(primals, tangents);
        let results = self.bind(b, body.jaxpr, in_axes, out_axes, &operands);
        Ok(JvpResult::split(&results, &body.nonzero))
    }

    fn linearize(
        &self,
        split: &Split<'_>,
        primals: &[Atom],
        tangents: &[Option<Atom>],
    ) -> Result<Option<JvpResult>> {
        let nonzero = present(tangents);
        let count = self.out_axes.len();
        let none = vec![false; count];
        // Every member keeps its residuals: nothing is forwarded, all are stacked in front.
        let lin = linearize(
            split.known,
            &self.call_jaxpr,
            &nonzero,
            &none,
            &vec![false; primals.len()],
        )?;
        let residuals = lin.primal.jaxpr.outvars.len() - count;
        let mut out_axes = self.out_axes.clone();
        out_axes.resize(count + residuals, Some(0));
        let results = self.bind(
            split.known,
            lin.primal,
            self.in_axes.clone(),
            out_axes,
            primals,
        );
        let (values, saved) = results.split_at(count);
        let mut in_axes = vec![Some(0); residuals];
        in_axes.extend(keep(&self.in_axes, &nonzero));
        let operands: Vec<Atom> = saved
            .iter()
            .map(|&atom| split.residual(atom))
            .chain(tangents.iter().flatten().copied())
            .collect();
        let out_axes = keep(&self.out_axes, &lin.nonzero);
        let new = self.bind(&split.unknown, lin.linear, in_axes, out_axes, &operands);
        Ok(Some(JvpResult::new(values, spread(new, &lin.nonzero))))
    }

    fn batch(&self, b: &Builder, operands: &[Batched], axis: &BatchAxis) -> Result<BatchedResults> {
        let (mut dims, mut in_axes) = (Vec::new(), Vec::new());
        for (operand, &member) in operands.iter().zip(&self.in_axes) {
            dims.push(match (operand.dim, member) {
                (Some(dim), Some(member)) => Some(dim - usize::from(dim > member)),
                (dim, _) => dim,
            });
            in_axes.push(match (operand.dim, member) {
                (Some(dim), Some(member)) => Some(member + usize::from(dim <= member)),
                (_, member) => member,
            });
        }
        let places = vec![OutDim::AsIs; self.out_axes.len()];
        let body = batch(b, &self.call_jaxpr, axis, &dims, &places)?;
        let (mut out_axes, mut out_dims) = (Vec::new(), Vec::new());
        for (&dim, &member) in body.dims.iter().zip(&self.out_axes) {
            out_axes.push(match (dim, member) {
                (Some(dim), Some(member)) => Some(member + usize::from(dim < member)),
                (_, member) => member,
            });
            out_dims.push(match (dim, member) {
                (Some(dim), Some(member)) => Some(dim + usize::from(member <= dim)),
                (dim, _) => dim,
            });
        }
        let values = Batched::values(operands);
        let results = self.bind(b, body.jaxpr, in_axes, out_axes, &values);
        Ok(Batched::all(results, &out_dims))
    }

    /// What all members share gets the sum of their cotangents.
    fn transpose(
        &self,
        b: &Builder,
        cotangents: &[Option<Atom>],
        operands: &[TransposeArg],
    ) -> Result<Cotangents> {
        let linear = TransposeArg::linears(operands);
        let nonzero = present(cotangents);
        let none = vec![false; operands.len()];
        let body = transpose(b, &self.call_jaxpr, &linear, &nonzero, &none)?;
        let known = not(&linear);
        let in_axes = [keep(&self.in_axes, &known), keep(&self.out_axes, &nonzero)].concat();
        let given = keep(&self.in_axes, &body.nonzero);
        let out_axes: Vec<Option<usize>> = given.iter().map(|axis| axis.or(Some(0))).collect();
        let inputs = with_cotangents(operands, cotangents);
        let results = self.bind(b, body.jaxpr, in_axes, out_axes, &inputs);
        let results = results
            .into_iter()
            .zip(given)
            .map(|(result, axis)| match axis {
                Some(_) => result,
                None => b.reduce_sum(result, &[0]),
            });
        Ok(spread(results, &body.nonzero))
    }
}
