//! Elements selected in windows: where the derivative of a windowed extremum comes from and goes to.

use super::super::*;
use super::*;
use crate::dtype::DType;

dilated_windows! { SelectAndGatherAdd }
undilated_windows! { SelectAndScatter SelectAndScatterAdd }

/// The source of a selection must have one element per window.
fn check_source(source: &Aval, operand: &Aval, windows: &Windows) -> Result<()> {
    let want = windows.result(operand)?;
    if source.shape == want.shape && source.dtype == operand.dtype {
        return Ok(());
    }
    Err(Error::shape(format!(
        "the source must be {want}, one element per window, and is {source}"
    )))
}

/// What is selected must be ordered.
fn check_ordered(operand: &Aval) -> Result<()> {
    let dtype = operand.dtype;
    if dtype == DType::Bool || dtype.is_integer() || dtype.is_float() {
        return Ok(());
    }
    Err(Error::dtype(format!(
        "elements of {operand} have no order to be selected by"
    )))
}

/// All operands with the mapped axis in front.
fn front<const N: usize>(b: &Builder, operands: &[Batched], axis: &BatchAxis) -> [Atom; N] {
    std::array::from_fn(|index| to_front(b, operands[index], axis.size))
}

impl Primitive for SelectAndGatherAdd {
    fn abstract_eval(&self, operands: &[Aval]) -> Result<Avals> {
        let [tangents, operand] = operands else {
            return Err(arity(2, operands.len()));
        };
        if tangents.shape != operand.shape || tangents.dtype != operand.dtype {
            return Err(Error::shape(format!(
                "{tangents} and {operand} must have the same type"
            )));
        }
        check_ordered(operand)?;
        Ok(smallvec![self.windows().result(operand)?])
    }

    /// Linear in the values that are read, and piecewise constant in those that are compared.
    fn jvp(&self, b: &Builder, primals: &[Atom], tangents: &[Option<Atom>]) -> Result<JvpResult> {
        let answer = b.op(self.clone(), primals);
        let tangent = tangents[0].map(|g| b.op(self.clone(), &[g, primals[1]]));
        Ok(JvpResult::one(answer, tangent))
    }

    fn batch(&self, b: &Builder, operands: &[Batched], axis: &BatchAxis) -> Result<BatchedResults> {
        let operands: [Atom; 2] = front(b, operands, axis);
        Ok(smallvec![Batched {
            value: b.op(self.over(self.windows().with_axis(0)), &operands),
            dim: Some(0)
        }])
    }

    fn transpose(
        &self,
        b: &Builder,
        cotangents: &[Option<Atom>],
        operands: &[TransposeArg],
    ) -> Result<Cotangents> {
        let (true, Some(mut operand)) = (operands[0].is_linear(), operands[1].known()) else {
            return Err(not_linear("select_and_gather_add"));
        };
        if self.window_dilation.iter().any(|&dilation| dilation != 1) {
            return Err(Error::no_rule(
                "select_and_gather_add",
                "transpose",
                "windows with holes have no counterpart that scatters",
            ));
        }
        let Some(ct) = cotangents[0] else {
            return Ok(smallvec![None, None]);
        };
        let has_holes = self.base_dilation.iter().any(|&dilation| dilation != 1);
        if has_holes {
            let never_selected = match self.select_prim {
                SelectPrim::Ge => f64::NEG_INFINITY,
                SelectPrim::Le => f64::INFINITY,
            };
            let config: Vec<(i64, i64, i64)> = self
                .base_dilation
                .iter()
                .map(|&dilation| (0, 0, dilation as i64 - 1))
                .collect();
            operand = b.pad(operand, b.number(never_selected, b.dtype(operand)), &config);
        }
        let scatter = SelectAndScatterAdd {
            padding: self.padding.clone(),
            select_prim: self.select_prim,
            window_dimensions: self.window_dimensions.clone(),
            window_strides: self.window_strides.clone(),
        };
        let mut result = b.op(scatter, &[ct, operand]);
        if has_holes {
            let limit_indices = b.shape(result);
            let slice = Slice {
                start_indices: Dims::from_elem(0, limit_indices.len()),
                limit_indices,
                strides: Some(self.base_dilation.clone()),
            };
            result = b.op(slice, &[result]);
        }
        Ok(smallvec![Some(result), None])
    }
}

impl Primitive for SelectAndScatterAdd {
    fn abstract_eval(&self, operands: &[Aval]) -> Result<Avals> {
        let [source, operand] = operands else {
            return Err(arity(2, operands.len()));
        };
        check_ordered(operand)?;
        check_source(source, operand, &self.windows())?;
        Ok(smallvec![operand.clone()])
    }

    /// Linear in the source, and piecewise constant in the values that are compared.
    fn jvp(&self, b: &Builder, primals: &[Atom], tangents: &[Option<Atom>]) -> Result<JvpResult> {
        let answer = b.op(self.clone(), primals);
        let tangent = tangents[0].map(|g| b.op(self.clone(), &[g, primals[1]]));
        Ok(JvpResult::one(answer, tangent))
    }

    fn batch(&self, b: &Builder, operands: &[Batched], axis: &BatchAxis) -> Result<BatchedResults> {
        let operands: [Atom; 2] = front(b, operands, axis);
        Ok(smallvec![Batched {
            value: b.op(self.over(self.windows().with_axis(0)), &operands),
            dim: Some(0)
        }])
    }

    fn transpose(
        &self,
        b: &Builder,
        cotangents: &[Option<Atom>],
        operands: &[TransposeArg],
    ) -> Result<Cotangents> {
        let (true, Some(operand)) = (operands[0].is_linear(), operands[1].known()) else {
            return Err(not_linear("select_and_scatter_add"));
        };
        let windows = self.windows();
        let gather = SelectAndGatherAdd {
            base_dilation: windows.base_dilation,
            padding: windows.padding,
            select_prim: self.select_prim,
            window_dilation: windows.window_dilation,
            window_dimensions: windows.window_dimensions,
            window_strides: windows.window_strides,
        };
        Ok(smallvec![
            cotangents[0].map(|ct| b.op(gather, &[ct, operand])),
            None
        ])
    }
}

impl Primitive for SelectAndScatter {
    fn abstract_eval(&self, operands: &[Aval]) -> Result<Avals> {
        let [operand, source, initial] = operands else {
            return Err(arity(3, operands.len()));
        };
        check_source(source, operand, &self.windows())?;
        if initial.rank() != 0 || initial.dtype != operand.dtype {
            return Err(Error::shape(format!(
                "the initial value must be a scalar {}, and is {initial}",
                operand.dtype
            )));
        }
        Ok(smallvec![operand.clone()])
    }

    no_rules! { "select_and_scatter", "JAX defines none for a general combiner"; jvp }

    fn batch(&self, b: &Builder, operands: &[Batched], axis: &BatchAxis) -> Result<BatchedResults> {
        if operands[2].dim.is_some() {
            return Err(Error::no_rule(
                "select_and_scatter",
                "batching",
                "initial values that differ between lanes are not supported",
            ));
        }
        let [operand, source]: [Atom; 2] = front(b, &operands[..2], axis);
        let prim = self.over(self.windows().with_axis(0));
        Ok(smallvec![Batched {
            value: b.op(prim, &[operand, source, operands[2].value]),
            dim: Some(0)
        }])
    }

    no_rules! { "select_and_scatter", NOT_LINEAR; transpose }
}
