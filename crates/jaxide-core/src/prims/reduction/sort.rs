//! Sorting and the largest elements.

use super::super::elementwise::move_axis;
use super::super::*;
use super::*;

/// Reads single elements of `x` at positions along `axis`, all other axes in step.
fn gather_along(b: &Builder, x: Atom, indices: Atom, axis: usize, mode: GatherScatterMode) -> Atom {
    let rank = b.rank(x);
    let others: Dims = (0..rank).filter(|&other| other != axis).collect();
    let dimension_numbers = GatherDimensionNumbers {
        offset_dims: Dims::new(),
        collapsed_slice_dims: smallvec![axis],
        start_index_map: smallvec![axis],
        operand_batching_dims: others.clone(),
        start_indices_batching_dims: others,
    };
    let prim = Gather {
        dimension_numbers,
        fill_value: None,
        indices_are_sorted: false,
        mode,
        slice_sizes: Dims::from_elem(1, rank),
        unique_indices: false,
    };
    b.op(prim, &[x, indices])
}

impl Primitive for Sort {
    fn abstract_eval(&self, operands: &[Aval]) -> Result<Avals> {
        let first = operands.first().ok_or_else(|| arity(1, 0))?;
        check_axis(self.dimension, first)?;
        if let Some(other) = operands.iter().find(|aval| aval.shape != first.shape) {
            return Err(Error::shape(format!(
                "operands {first} and {other} have different shapes"
            )));
        }
        if self.num_keys == 0 || self.num_keys > operands.len() {
            return Err(Error::parameter(format!(
                "num_keys is {}, and there are {} operands",
                self.num_keys,
                operands.len()
            )));
        }
        if let Some(key) = operands[..self.num_keys]
            .iter()
            .find(|aval| aval.dtype.is_key() || aval.dtype == DType::Float0)
        {
            return Err(Error::dtype(format!("{key} has no order")));
        }
        Ok(operands.into())
    }

    /// Sorts the positions along and reads the tangents there.
    fn jvp(&self, b: &Builder, primals: &[Atom], tangents: &[Option<Atom>]) -> Result<JvpResult> {
        let shape = b.shape(primals[0]);
        let index_dtype = if shape[self.dimension] < 1 << 32 {
            DType::U32
        } else {
            DType::U64
        };
        let mut operands = primals.to_vec();
        operands.push(b.iota(index_dtype, &shape, self.dimension));
        let mut answers = b.emit(self.clone(), &operands)?;
        let indices = answers.pop().unwrap_or(primals[0]);
        let dims: Vec<usize> = (0..shape.len()).collect();
        let mut column = shape.clone();
        column.push(1);
        let indices = b.broadcast_in_dim(indices, &column, &dims);
        let gathered = |t: Atom| {
            gather_along(
                b,
                t,
                indices,
                self.dimension,
                GatherScatterMode::PromiseInBounds,
            )
        };
        Ok(JvpResult {
            primals: answers,
            tangents: tangents.iter().map(|t| t.map(gathered)).collect(),
        })
    }

    fn batch(
        &self,
        b: &Builder,
        operands: &[Batched],
        _axis: &BatchAxis,
    ) -> Result<BatchedResults> {
        let Some((shape, dim)) = operands
            .iter()
            .find_map(|operand| operand.dim.map(|dim| (b.shape(operand.value), dim)))
        else {
            let atoms = Batched::values(operands);
            return Ok(b
                .emit(self.clone(), &atoms)?
                .into_iter()
                .map(|value| Batched { value, dim: None })
                .collect());
        };
        let others: Vec<usize> = (0..shape.len()).filter(|&axis| axis != dim).collect();
        let atoms: Vec<Atom> = operands
            .iter()
            .map(|operand| match operand.dim {
                None => b.broadcast_in_dim(operand.value, &shape, &others),
                Some(from) => move_axis(b, operand.value, from, dim),
            })
            .collect();
        let dimension = self.dimension + usize::from(dim <= self.dimension);
        let results = b.emit(
            Sort {
                dimension,
                ..self.clone()
            },
            &atoms,
        )?;
        Ok(results
            .into_iter()
            .map(|value| Batched {
                value,
                dim: Some(dim),
            })
            .collect())
    }

    no_rules! { "sort", NOT_LINEAR; transpose }
}

/// The two results of a selection of `k` elements along an axis.
fn top_avals(operands: &[Aval], axis: usize, k: usize) -> Result<Avals> {
    let aval = one(operands)?;
    check_axis(axis, aval)?;
    if aval.dtype.is_complex() || aval.dtype.is_key() || aval.dtype == DType::Float0 {
        return Err(Error::dtype(format!("{aval} has no order")));
    }
    if k > aval.shape[axis] {
        return Err(Error::parameter(format!(
            "k is {k}, and axis {axis} of {aval} has length {}",
            aval.shape[axis]
        )));
    }
    let mut shape = aval.shape.clone();
    shape[axis] = k;
    Ok(smallvec![
        aval.with_shape(&shape),
        Aval::new(DType::I32, &shape)
    ])
}

/// Reads the tangent at the selected positions.
fn top_jvp(
    b: &Builder,
    answers: crate::jaxpr::Atoms,
    tangent: Option<Atom>,
    axis: usize,
) -> JvpResult {
    let tangent = tangent.map(|t| {
        let mut column = b.shape(answers[1]);
        column.push(1);
        let indices = b.reshape(answers[1], &column);
        gather_along(b, t, indices, axis, GatherScatterMode::PromiseInBounds)
    });
    JvpResult {
        primals: answers,
        tangents: smallvec![tangent, None],
    }
}

impl Primitive for TopK {
    fn abstract_eval(&self, operands: &[Aval]) -> Result<Avals> {
        top_avals(operands, self.axis, self.k)
    }

    fn jvp(&self, b: &Builder, primals: &[Atom], tangents: &[Option<Atom>]) -> Result<JvpResult> {
        Ok(top_jvp(
            b,
            b.emit(self.clone(), primals)?,
            tangents[0],
            self.axis,
        ))
    }

    fn batch(
        &self,
        b: &Builder,
        operands: &[Batched],
        _axis: &BatchAxis,
    ) -> Result<BatchedResults> {
        let dim = operands[0].dim;
        let axis = self.axis + usize::from(dim.is_some_and(|dim| dim <= self.axis));
        let results = b.emit(
            TopK {
                axis,
                ..self.clone()
            },
            &[operands[0].value],
        )?;
        Ok(results
            .into_iter()
            .map(|value| Batched { value, dim })
            .collect())
    }

    no_rules! { "top_k", NOT_LINEAR; transpose }
}

impl ApproxTopK {
    /// The axis, counted from the start.
    ///
    /// # Errors
    /// When there is no such axis.
    pub fn axis(&self, rank: usize) -> Result<usize> {
        let axis = if self.reduction_dimension < 0 {
            self.reduction_dimension + rank as i64
        } else {
            self.reduction_dimension
        };
        usize::try_from(axis)
            .ok()
            .filter(|&axis| axis < rank)
            .ok_or_else(|| {
                Error::parameter(format!(
                    "reduction_dimension {} is out of range for rank {rank}",
                    self.reduction_dimension
                ))
            })
    }
}

impl Primitive for ApproxTopK {
    fn abstract_eval(&self, operands: &[Aval]) -> Result<Avals> {
        let aval = one(operands)?;
        top_avals(operands, self.axis(aval.rank())?, self.k)
    }

    fn jvp(&self, b: &Builder, primals: &[Atom], tangents: &[Option<Atom>]) -> Result<JvpResult> {
        let axis = self.axis(b.rank(primals[0]))?;
        Ok(top_jvp(
            b,
            b.emit(self.clone(), primals)?,
            tangents[0],
            axis,
        ))
    }

    fn batch(
        &self,
        b: &Builder,
        operands: &[Batched],
        _axis: &BatchAxis,
    ) -> Result<BatchedResults> {
        let Batched { value, dim } = operands[0];
        let axis = self.axis(b.rank(value) - usize::from(dim.is_some()))?;
        let axis = axis + usize::from(dim.is_some_and(|dim| dim <= axis));
        let results = b.emit(
            ApproxTopK {
                reduction_dimension: axis as i64,
                ..self.clone()
            },
            &[value],
        )?;
        Ok(results
            .into_iter()
            .map(|value| Batched { value, dim })
            .collect())
    }

    no_rules! { "approx_top_k", NOT_LINEAR; transpose }
}
