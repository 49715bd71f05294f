//! Products whose left rows fall in groups, each with its own right operand.

use super::super::*;
use super::dot::{argsort, numbers, product_aval, remaining};
use super::*;

/// What the ragged axis of the left operand is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RaggedMode {
    /// A free axis: each group of rows has its own right operand.
    Free,
    /// A contracted axis: the result has an axis of groups.
    Contracted,
    /// A batch axis.
    Batch,
}

impl RaggedDotGeneral {
    /// The numbers of the product of one group, as for `dot_general`.
    pub fn dot_numbers(&self) -> DotDimensionNumbers {
        numbers(&self.ragged_dot_dimension_numbers.dot_dimension_numbers)
    }

    /// The element type asked for.
    pub fn result_type(&self) -> Option<DType> {
        self.preferred_element_type
            .as_ref()
            .map(SpelledDType::dtype)
    }

    /// What the ragged axis is.
    ///
    /// # Errors
    /// When there is not exactly one.
    pub fn mode(&self) -> Result<RaggedMode> {
        let dot = self.dot_numbers();
        let axis = self.ragged_axis()?;
        Ok(if dot.lhs_contracting.contains(&axis) {
            RaggedMode::Contracted
        } else if dot.lhs_batch.contains(&axis) {
            RaggedMode::Batch
        } else {
            RaggedMode::Free
        })
    }

    fn ragged_axis(&self) -> Result<usize> {
        match self.ragged_dot_dimension_numbers.lhs_ragged_dimensions[..] {
            [axis] => Ok(axis),
            _ => Err(Error::parameter("lhs_ragged_dimensions must name one axis")),
        }
    }

    /// Axes of the left operand that group sizes may differ along: batch axes, then those of the ragged axis's kind in
    /// front of it.
    fn prefix(&self, rank: usize) -> Result<Vec<usize>> {
        let (dot, axis) = (self.dot_numbers(), self.ragged_axis()?);
        let before = |axes: &[usize]| -> Vec<usize> {
            axes.iter().copied().take_while(|&at| at != axis).collect()
        };
        let own = match self.mode()? {
            RaggedMode::Batch => return Ok(before(&dot.lhs_batch)),
            RaggedMode::Contracted => before(&dot.lhs_contracting),
            RaggedMode::Free => before(&remaining(rank, &dot.lhs_contracting, &dot.lhs_batch)),
        };
        Ok(dot.lhs_batch.iter().copied().chain(own).collect())
    }

    /// The product of other operands, with other numbers.
    fn with(&self, ragged_dot_dimension_numbers: RaggedDotDimensionNumbers) -> RaggedDotGeneral {
        RaggedDotGeneral {
            ragged_dot_dimension_numbers,
            ..self.clone()
        }
    }

    /// The cotangents of both operands where rows fall in groups; the other modes have none in JAX.
    fn check_transposable(&self) -> Result<()> {
        if self.mode()? == RaggedMode::Free {
            return Ok(());
        }
        Err(Error::no_rule(
            "ragged_dot_general",
            "transpose",
            "JAX defines none where the ragged axis is contracted or a batch axis",
        ))
    }

    /// The cotangent of the left operand: a product of the same kind.
    fn transpose_lhs(&self, b: &Builder, ct: Atom, x: &Aval, y: Atom, sizes: Atom) -> Result<Atom> {
        let dot = self.dot_numbers();
        let groups = &self.ragged_dot_dimension_numbers.rhs_group_dimensions;
        let x_kept = remaining(x.rank(), &dot.lhs_contracting, &dot.lhs_batch);
        let y_kept = kept_of_right(&dot, groups, b.rank(y));
        let axis = self.ragged_axis()?;
        let ragged = x_kept.iter().position(|&kept| kept == axis).unwrap_or(0);
        let (batch, start) = (dot.lhs_batch.len(), dot.lhs_batch.len() + x_kept.len());
        let back = RaggedDotDimensionNumbers {
            dot_dimension_numbers: (
                ((start..start + y_kept.len()).collect(), y_kept.into()),
                ((0..batch).collect(), dot.rhs_batch.clone()),
            ),
            lhs_ragged_dimensions: smallvec![batch + ragged],
            rhs_group_dimensions: groups.clone(),
        };
        let product = b.op(self.with(back), &[ct, y, sizes]);
        let contracted = argsort(&dot.rhs_contracting)
            .into_iter()
            .map(|index| dot.lhs_contracting[index]);
        let unsorted: Vec<usize> = (dot.lhs_batch.iter().copied())
            .chain(x_kept)
            .chain(contracted)
            .collect();
        Ok(like(b, b.transpose(product, &argsort(&unsorted)), x))
    }

    /// The cotangent of the right operand: a product over the rows of each group.
    fn transpose_rhs(&self, b: &Builder, ct: Atom, x: Atom, y: &Aval, sizes: Atom) -> Result<Atom> {
        let dot = self.dot_numbers();
        let groups = &self.ragged_dot_dimension_numbers.rhs_group_dimensions;
        let x_kept = remaining(b.rank(x), &dot.lhs_contracting, &dot.lhs_batch);
        let y_kept = kept_of_right(&dot, groups, y.rank());
        let batch = dot.lhs_batch.len();
        let back = RaggedDotDimensionNumbers {
            dot_dimension_numbers: (
                (
                    x_kept.iter().copied().collect(),
                    (batch..batch + x_kept.len()).collect(),
                ),
                (dot.lhs_batch.clone(), (0..batch).collect()),
            ),
            lhs_ragged_dimensions: smallvec![self.ragged_axis()?],
            rhs_group_dimensions: Dims::new(),
        };
        let product = b.op(self.with(back), &[x, ct, sizes]);
        let contracted = argsort(&dot.lhs_contracting)
            .into_iter()
            .map(|index| dot.rhs_contracting[index]);
        let unsorted: Vec<usize> = (groups.iter().copied())
            .chain(dot.rhs_batch.iter().copied())
            .chain(contracted)
            .chain(y_kept)
            .collect();
        Ok(like(b, b.transpose(product, &argsort(&unsorted)), y))
    }
}

/// Free axes of the right operand.
fn kept_of_right(dot: &DotDimensionNumbers, groups: &[usize], rank: usize) -> Vec<usize> {
    let mut kept = remaining(rank, &dot.rhs_contracting, &dot.rhs_batch);
    kept.retain(|axis| !groups.contains(axis));
    kept
}

/// `x` as the element type of `aval`, if it has another.
fn like(b: &Builder, x: Atom, aval: &Aval) -> Atom {
    if b.dtype(x) == aval.dtype {
        return x;
    }
    let prim = ConvertElementType {
        new_dtype: aval.dtype,
        weak_type: aval.weak_type,
    };
    b.op(prim, &[x])
}

impl Primitive for RaggedDotGeneral {
    fn abstract_eval(&self, operands: &[Aval]) -> Result<Avals> {
        let [lhs, rhs, sizes] = operands else {
            return Err(arity(3, operands.len()));
        };
        if sizes.rank() == 0 || !sizes.dtype.is_integer() {
            return Err(Error::shape(format!(
                "group sizes must be an integer array, and are {sizes}"
            )));
        }
        let groups = sizes.shape[sizes.rank() - 1];
        check_axes(
            &self.ragged_dot_dimension_numbers.lhs_ragged_dimensions,
            lhs,
        )?;
        if sizes.rank() > 1 {
            check_axes(&self.dot_numbers().lhs_batch, lhs)?;
            check_axes(&self.dot_numbers().lhs_contracting, lhs)?;
            let prefix = self.prefix(lhs.rank())?;
            let lengths = prefix.iter().map(|&axis| lhs.shape[axis]);
            let want: Dims = lengths.chain([groups]).collect();
            if sizes.shape != want {
                return Err(Error::shape(format!(
                    "group sizes must have shape {:?}, and are {sizes}",
                    want.as_slice()
                )));
            }
        }
        let dot = self.dot_numbers();
        let group_axes = &self.ragged_dot_dimension_numbers.rhs_group_dimensions;
        match self.mode()? {
            RaggedMode::Free => {
                check_axes(group_axes, rhs)?;
                let [group] = group_axes[..] else {
                    return Err(Error::parameter("rhs_group_dimensions must name one axis"));
                };
                if dot.rhs_contracting.contains(&group) || dot.rhs_batch.contains(&group) {
                    return Err(Error::parameter(format!(
                        "axis {group} of {rhs} is both the axis of groups and contracted or a batch axis"
                    )));
                }
                if rhs.shape[group] != groups {
                    return Err(Error::shape(format!(
                        "axis {group} of {rhs} must have length {groups}, the number of groups"
                    )));
                }
                let drop = |axes: &Dims| {
                    axes.iter()
                        .map(|&axis| if axis > group { axis - 1 } else { axis })
                        .collect()
                };
                let inner = DotDimensionNumbers {
                    rhs_contracting: drop(&dot.rhs_contracting),
                    rhs_batch: drop(&dot.rhs_batch),
                    ..dot
                };
                let mut shape = rhs.shape.clone();
                shape.remove(group);
                Ok(smallvec![product_aval(
                    &inner,
                    lhs,
                    &rhs.with_shape(&shape),
                    self.result_type()
                )?])
            }
            RaggedMode::Contracted => {
                let product = product_aval(&dot, lhs, rhs, self.result_type())?;
                let mut shape = product.shape.clone();
                shape.insert(0, groups);
                Ok(smallvec![product.with_shape(&shape)])
            }
            RaggedMode::Batch => Ok(smallvec![product_aval(&dot, lhs, rhs, self.result_type())?]),
        }
    }

    fn jvp(&self, b: &Builder, primals: &[Atom], tangents: &[Option<Atom>]) -> Result<JvpResult> {
        let (x, y, sizes) = (primals[0], primals[1], primals[2]);
        let answer = b.op(self.clone(), primals);
        if tangents[..2].iter().all(Option::is_none) {
            return Ok(JvpResult::one(answer, None));
        }
        let product = |operands: Option<[Atom; 2]>| match operands {
            Some([x, y]) => b.op(self.clone(), &[x, y, sizes]),
            None => b.zeros(&b.aval(answer)),
        };
        let left = product(tangents[0].map(|g| [g, y]));
        let right = product(tangents[1].map(|g| [x, g]));
        Ok(JvpResult::one(answer, Some(b.add(left, right))))
    }

    /// The mapped axis becomes the first batch axis; sizes that were the same for all of a prefix are repeated along it.
    fn batch(&self, b: &Builder, operands: &[Batched], axis: &BatchAxis) -> Result<BatchedResults> {
        if operands.iter().all(|operand| operand.dim.is_none()) {
            let atoms = Batched::values(operands);
            let value = b.op(self.clone(), &atoms);
            return Ok(smallvec![Batched { value, dim: None }]);
        }
        let lhs = to_front(b, operands[0], axis.size);
        let rhs = to_front(b, operands[1], axis.size);
        let mut sizes = to_front(b, operands[2], axis.size);
        let prefix = self.prefix(b.rank(lhs) - 1)?;
        if b.rank(sizes) == 2 && !prefix.is_empty() {
            let shape = b.shape(lhs);
            let lengths = prefix.iter().map(|&at| shape[at + 1]);
            let groups = b.shape(sizes)[1];
            let wanted: Dims = std::iter::once(axis.size)
                .chain(lengths)
                .chain([groups])
                .collect();
            sizes = b.broadcast_in_dim(sizes, &wanted, &[0, wanted.len() - 1]);
        }
        let up = |axes: &Dims| -> Dims { axes.iter().map(|axis| axis + 1).collect() };
        let front = |axes: &Dims| -> Dims {
            std::iter::once(0)
                .chain(axes.iter().map(|axis| axis + 1))
                .collect()
        };
        let old = &self.ragged_dot_dimension_numbers;
        let dot = self.dot_numbers();
        let numbers = RaggedDotDimensionNumbers {
            dot_dimension_numbers: (
                (up(&dot.lhs_contracting), up(&dot.rhs_contracting)),
                (front(&dot.lhs_batch), front(&dot.rhs_batch)),
            ),
            lhs_ragged_dimensions: up(&old.lhs_ragged_dimensions),
            rhs_group_dimensions: up(&old.rhs_group_dimensions),
        };
        let dim = usize::from(self.mode()? == RaggedMode::Contracted);
        Ok(smallvec![Batched {
            value: b.op(self.with(numbers), &[lhs, rhs, sizes]),
            dim: Some(dim)
        }])
    }

    fn transpose(
        &self,
        b: &Builder,
        cotangents: &[Option<Atom>],
        operands: &[TransposeArg],
    ) -> Result<Cotangents> {
        self.check_transposable()?;
        let (Some(ct), Some(sizes)) = (cotangents[0], operands[2].known()) else {
            return Ok(smallvec![None; 3]);
        };
        match (&operands[0], &operands[1]) {
            (TransposeArg::Linear(x), TransposeArg::Known(y)) => Ok(smallvec![
                Some(self.transpose_lhs(b, ct, x, *y, sizes)?),
                None,
                None
            ]),
            (TransposeArg::Known(x), TransposeArg::Linear(y)) => Ok(smallvec![
                None,
                Some(self.transpose_rhs(b, ct, *x, y, sizes)?),
                None
            ]),
            _ => Err(not_linear("ragged_dot_general")),
        }
    }
}
