//! Boxes at starts that are moved so that they fit.

use super::super::*;
use super::*;

/// Checks the start of a box: one integer scalar per axis, all of one type.
fn check_starts(starts: &[Aval], operand: &Aval) -> Result<()> {
    if starts.len() != operand.rank() {
        return Err(Error::parameter(format!(
            "{} starts are given, and {operand} has {} axes",
            starts.len(),
            operand.rank()
        )));
    }
    for start in starts {
        if start.rank() != 0 || !start.dtype.is_integer() {
            return Err(Error::shape(format!(
                "a start must be an integer scalar, and is {start}"
            )));
        }
        if start.dtype != starts[0].dtype {
            return Err(Error::dtype(format!(
                "starts have different types: {} and {start}",
                starts[0]
            )));
        }
    }
    Ok(())
}

/// Starts as one index array: a vector, or with the mapped axis first.
fn index_array(b: &Builder, starts: &[Batched], size: usize) -> Batched {
    if starts.is_empty() {
        let empty = b.full(&[0], 0.0, DType::I32);
        return Batched {
            value: empty,
            dim: None,
        };
    }
    if starts.iter().all(|start| start.dim.is_none()) {
        let parts: Vec<Atom> = starts
            .iter()
            .map(|start| b.broadcast_in_dim(start.value, &[1], &[]))
            .collect();
        return Batched {
            value: b.concatenate(&parts, 0),
            dim: None,
        };
    }
    let column = |start: &Batched| {
        let dims: &[usize] = if start.dim.is_some() { &[0] } else { &[] };
        b.broadcast_in_dim(start.value, &[size, 1], dims)
    };
    let parts: Vec<Atom> = starts.iter().map(column).collect();
    Batched {
        value: b.concatenate(&parts, 1),
        dim: Some(0),
    }
}

impl Primitive for DynamicSlice {
    fn abstract_eval(&self, operands: &[Aval]) -> Result<Avals> {
        let [operand, starts @ ..] = operands else {
            return Err(arity(1, 0));
        };
        check_starts(starts, operand)?;
        let fits = self.slice_sizes.len() == operand.rank()
            && self
                .slice_sizes
                .iter()
                .zip(&operand.shape)
                .all(|(size, length)| size <= length);
        if !fits {
            return Err(Error::parameter(format!(
                "slice_sizes {:?} do not fit {operand}",
                self.slice_sizes.as_slice()
            )));
        }
        Ok(smallvec![operand.with_shape(&self.slice_sizes)])
    }

    fn jvp(&self, b: &Builder, primals: &[Atom], tangents: &[Option<Atom>]) -> Result<JvpResult> {
        let at = |x: Atom| {
            let mut operands = primals.to_vec();
            operands[0] = x;
            b.op(self.clone(), &operands)
        };
        let tangent = tangents[0].map(at);
        Ok(JvpResult::one(b.op(self.clone(), primals), tangent))
    }

    fn batch(&self, b: &Builder, operands: &[Batched], axis: &BatchAxis) -> Result<BatchedResults> {
        let dims: Dims = (0..operands.len() - 1).collect();
        let index = index_array(b, &operands[1..], axis.size);
        let gather = Gather {
            dimension_numbers: GatherDimensionNumbers {
                offset_dims: dims.clone(),
                start_index_map: dims,
                ..Default::default()
            },
            fill_value: None,
            indices_are_sorted: true,
            mode: GatherScatterMode::Clip,
            slice_sizes: self.slice_sizes.clone(),
            unique_indices: true,
        };
        gather.batch(b, &[operands[0], index], axis)
    }

    fn transpose(
        &self,
        b: &Builder,
        cotangents: &[Option<Atom>],
        operands: &[TransposeArg],
    ) -> Result<Cotangents> {
        let mut out = smallvec![None; operands.len()];
        let (Some(ct), Some(aval)) = (cotangents[0], linear(&operands[0])) else {
            return Ok(out);
        };
        let mut atoms = vec![b.zeros(&Aval::new(b.dtype(ct), &aval.shape)), ct];
        atoms.extend(known(&operands[1..], "dynamic_slice")?);
        out[0] = Some(b.op(DynamicUpdateSlice, &atoms));
        Ok(out)
    }
}

impl Primitive for DynamicUpdateSlice {
    fn abstract_eval(&self, operands: &[Aval]) -> Result<Avals> {
        let [operand, update, starts @ ..] = operands else {
            return Err(arity(2, operands.len()));
        };
        check_starts(starts, operand)?;
        if operand.dtype != update.dtype {
            return Err(Error::dtype(format!(
                "the operand is {operand} and the update {update}"
            )));
        }
        let fits = update.rank() == operand.rank()
            && update
                .shape
                .iter()
                .zip(&operand.shape)
                .all(|(size, length)| size <= length);
        if !fits {
            return Err(Error::shape(format!(
                "the update {update} does not fit the operand {operand}"
            )));
        }
        Ok(smallvec![operand.clone()])
    }

    fn jvp(&self, b: &Builder, primals: &[Atom], tangents: &[Option<Atom>]) -> Result<JvpResult> {
        let answer = b.op(*self, primals);
        if tangents[..2].iter().all(Option::is_none) {
            return Ok(JvpResult::one(answer, None));
        }
        let mut operands = primals.to_vec();
        for index in 0..2 {
            operands[index] = tangents[index].unwrap_or_else(|| zeros(b, primals[index]));
        }
        Ok(JvpResult::one(answer, Some(b.op(*self, &operands))))
    }

    fn batch(&self, b: &Builder, operands: &[Batched], axis: &BatchAxis) -> Result<BatchedResults> {
        let dims: Dims = (0..operands.len() - 2).collect();
        let index = index_array(b, &operands[2..], axis.size);
        let scatter = Scatter {
            dimension_numbers: ScatterDimensionNumbers {
                update_window_dims: dims.clone(),
                scatter_dims_to_operand_dims: dims,
                ..Default::default()
            },
            indices_are_sorted: true,
            mode: GatherScatterMode::Clip,
            unique_indices: true,
            update_consts: NoConsts,
            update_jaxpr: OptionalJaxpr(None),
        };
        scatter.batch(b, &[operands[0], index, operands[1]], axis)
    }

    fn transpose(
        &self,
        b: &Builder,
        cotangents: &[Option<Atom>],
        operands: &[TransposeArg],
    ) -> Result<Cotangents> {
        let mut out = smallvec![None; operands.len()];
        let Some(ct) = cotangents[0] else {
            return Ok(out);
        };
        let starts = known(&operands[2..], "dynamic_update_slice")?;
        let update = operands[1].aval(b);
        let zeros = b.zeros(&Aval::new(b.dtype(ct), &update.shape));
        if linear(&operands[0]).is_some() {
            let mut atoms = vec![ct, zeros];
            atoms.extend_from_slice(&starts);
            out[0] = Some(b.op(*self, &atoms));
        }
        if linear(&operands[1]).is_some() {
            let mut atoms = vec![ct];
            atoms.extend_from_slice(&starts);
            out[1] = Some(b.op(
                DynamicSlice {
                    slice_sizes: update.shape.clone(),
                },
                &atoms,
            ));
        }
        Ok(out)
    }
}
