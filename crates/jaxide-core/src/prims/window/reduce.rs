//! Reductions over windows.

use super::super::*;
use super::*;
use crate::dtype::DType;
use crate::prims::shape::linear_jvp;
use crate::transform::{bind_constants, eval_jvp};

dilated_windows! { ReduceWindowSum ReduceWindowMax ReduceWindowMin ReduceWindow }

/// Rules of reductions of one array. A row is the primitive, what its operand may be, its forward derivative and its
/// transpose.
macro_rules! reductions {
    ($($prim:ident $check:expr, $jvp:expr, $transpose:expr;)*) => { $(
        impl Primitive for $prim {
            fn abstract_eval(&self, operands: &[Aval]) -> Result<Avals> {
                let aval = one(operands)?;
                let check: fn(DType) -> bool = $check;
                if !check(aval.dtype) {
                    return Err(Error::dtype(format!("{aval} cannot be reduced")));
                }
                Ok(smallvec![self.windows().result(aval)?])
            }

            fn jvp(&self, b: &Builder, primals: &[Atom], tangents: &[Option<Atom>]) -> Result<JvpResult> {
                let jvp: fn(&Self, &Builder, &[Atom], &[Option<Atom>]) -> Result<JvpResult> = $jvp;
                jvp(self, b, primals, tangents)
            }

            fn batch(&self, b: &Builder, operands: &[Batched], _axis: &BatchAxis) -> Result<BatchedResults> {
                let Batched { value, dim } = operands[0];
                let prim = match dim {
                    None => self.clone(),
                    Some(dim) => self.over(self.windows().with_axis(dim)),
                };
                Ok(smallvec![Batched { value: b.op(prim, &[value]), dim }])
            }

            fn transpose(&self, b: &Builder, cotangents: &[Option<Atom>], operands: &[TransposeArg]) -> Result<Cotangents> {
                type Rule = fn(&$prim, &Builder, Atom, &Aval) -> Result<Atom>;
                let transpose: Rule = $transpose;
                let aval = operands[0].aval(b);
                let ct = cotangents[0].map(|ct| transpose(self, b, ct, &aval)).transpose()?;
                Ok(smallvec![ct])
            }
        }
    )* };
}

reductions! {
    ReduceWindowSum |dtype| dtype.is_integer() || dtype.is_inexact(),
        |p, b, x, t| linear_jvp(&p.clone().into(), b, x, t),
        |p, b, ct, aval| Ok(p.transposed(b, ct, aval));
    ReduceWindowMax is_ordered,
        |p, b, x, t| Ok(extremum_jvp(p.clone(), SelectPrim::Ge, p.windows(), b, x[0], t[0])),
        |_, _, _, _| Err(not_linear("reduce_window_max"));
    ReduceWindowMin is_ordered,
        |p, b, x, t| Ok(extremum_jvp(p.clone(), SelectPrim::Le, p.windows(), b, x[0], t[0])),
        |_, _, _, _| Err(not_linear("reduce_window_min"));
}

fn is_ordered(dtype: DType) -> bool {
    dtype == DType::Bool || dtype.is_integer() || dtype.is_inexact()
}

/// The tangent of an extremum: that of the element which attains it.
fn extremum_jvp(
    prim: impl Into<Prim>,
    select_prim: SelectPrim,
    windows: Windows,
    b: &Builder,
    x: Atom,
    tangent: Option<Atom>,
) -> JvpResult {
    let Windows {
        base_dilation,
        padding,
        window_dilation,
        window_dimensions,
        window_strides,
    } = windows;
    let answer = b.op(prim, &[x]);
    let tangent = tangent.map(|g| {
        let selection = SelectAndGatherAdd {
            base_dilation,
            padding,
            select_prim,
            window_dilation,
            window_dimensions,
            window_strides,
        };
        b.op(selection, &[g, x])
    });
    JvpResult::one(answer, tangent)
}

impl ReduceWindowSum {
    /// The cotangent of the operand: sums over the windows that an element was in.
    fn transposed(&self, b: &Builder, ct: Atom, aval: &Aval) -> Atom {
        let padding = input_padding(&aval.shape, &self.windows(), &b.shape(ct));
        let config: Vec<(i64, i64, i64)> = padding
            .iter()
            .zip(&self.window_strides)
            .map(|(&(low, high), &stride)| (low, high, stride as i64 - 1))
            .collect();
        let padded = b.pad(ct, b.number(0.0, b.dtype(ct)), &config);
        let back = ReduceWindowSum {
            base_dilation: Dims::from_elem(1, aval.rank()),
            padding: vec![(0, 0); aval.rank()],
            window_strides: self.base_dilation.clone(),
            ..self.clone()
        };
        b.op(back, &[padded])
    }
}

impl Primitive for ReduceWindow {
    fn abstract_eval(&self, operands: &[Aval]) -> Result<Avals> {
        if operands.is_empty() || !operands.len().is_multiple_of(2) {
            return Err(arity(2, operands.len()));
        }
        let (arrays, initial) = operands.split_at(operands.len() / 2);
        for (array, initial) in arrays.iter().zip(initial) {
            if initial.rank() != 0 || initial.dtype != array.dtype {
                return Err(Error::shape(format!(
                    "the initial value of {array} must be a scalar of its type, and is {initial}"
                )));
            }
            if array.shape != arrays[0].shape {
                return Err(Error::shape(format!(
                    "operands {} and {array} have different shapes",
                    arrays[0]
                )));
            }
        }
        let windows = self.windows();
        arrays.iter().map(|array| windows.result(array)).collect()
    }

    /// Reduces operands and tangents together, with the derivative of the combiner.
    fn jvp(&self, b: &Builder, primals: &[Atom], tangents: &[Option<Atom>]) -> Result<JvpResult> {
        let half = primals.len() / 2;
        if tangents[half..].iter().any(Option::is_some) {
            return Err(Error::no_rule(
                "reduce_window",
                "jvp",
                "initial values with tangents are not supported",
            ));
        }
        if tangents.iter().all(Option::is_none) {
            let answers = b.emit(self.clone(), primals)?;
            return Ok(JvpResult {
                tangents: smallvec![None; answers.len()],
                primals: answers,
            });
        }
        let instantiated: Vec<Atom> = primals
            .iter()
            .zip(tangents)
            .map(|(&x, &tangent)| b.instantiate(tangent, &b.aval(x)))
            .collect();
        let operands: Vec<Atom> = [
            &primals[..half],
            &instantiated[..half],
            &primals[half..],
            &instantiated[half..],
        ]
        .concat();
        let prim = ReduceWindow {
            jaxpr: with_tangents(b, &self.jaxpr)?,
            ..self.clone()
        };
        let results = b.emit(prim, &operands)?;
        let (primals, tangents) = results.split_at(half);
        Ok(JvpResult {
            primals: primals.into(),
            tangents: tangents.iter().map(|&tangent| Some(tangent)).collect(),
        })
    }

    fn batch(&self, b: &Builder, operands: &[Batched], axis: &BatchAxis) -> Result<BatchedResults> {
        let half = operands.len() / 2;
        if operands[half..].iter().any(|initial| initial.dim.is_some()) {
            return Err(Error::no_rule(
                "reduce_window",
                "batching",
                "initial values that differ between lanes are not supported",
            ));
        }
        let mut atoms: Vec<Atom> = operands[..half]
            .iter()
            .map(|&operand| to_front(b, operand, axis.size))
            .collect();
        atoms.extend(operands[half..].iter().map(|initial| initial.value));
        let results = b.emit(self.over(self.windows().with_axis(0)), &atoms)?;
        Ok(results
            .into_iter()
            .map(|value| Batched {
                value,
                dim: Some(0),
            })
            .collect())
    }

    no_rules! { "reduce_window", NOT_LINEAR; transpose }
}

/// A combiner of two sets of scalars and their tangents: left values, left tangents, right values, right tangents.
fn with_tangents(b: &Builder, combiner: &ClosedJaxpr) -> Result<ClosedJaxpr> {
    let inner = b.nested();
    let consts = bind_constants(&inner, combiner);
    let avals = combiner.in_avals();
    let half = avals.len() / 2;
    let (mut primals, mut tangents) = (Vec::new(), Vec::new());
    for side in [&avals[..half], &avals[half..]] {
        primals.extend(side.iter().map(|aval| inner.input(aval.clone())));
        tangents.extend(side.iter().map(|aval| Some(inner.input(aval.tangent()))));
    }
    let (mut results, tangents) = eval_jvp(&inner, &combiner.jaxpr, &consts, &primals, &tangents)?;
    let tangents: Vec<Atom> = tangents
        .into_iter()
        .zip(combiner.out_avals())
        .map(|(tangent, aval)| inner.instantiate(tangent, &aval))
        .collect();
    results.extend(tangents);
    inner.finish(&results)
}
