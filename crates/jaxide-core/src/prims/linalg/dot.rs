//! Products over contracted axes.

use super::super::*;
use super::*;

/// Axes of `0..rank` in neither list.
pub(super) fn remaining(rank: usize, first: &[usize], second: &[usize]) -> Vec<usize> {
    (0..rank)
        .filter(|axis| !first.contains(axis) && !second.contains(axis))
        .collect()
}

/// The element type of a product without a preferred one.
pub(crate) fn product_dtype(lhs: &Aval, rhs: &Aval) -> Result<DType> {
    if lhs.dtype == rhs.dtype {
        return Ok(lhs.dtype);
    }
    let rank = |dtype: DType| {
        let real = dtype.real();
        let (exponent, mantissa) = match real {
            DType::F64 => (1024, 52),
            DType::F32 => (128, 23),
            DType::BF16 => (128, 7),
            DType::F16 => (16, 10),
            _ if real.is_float() => (8, 3),
            _ => (-1, -1),
        };
        (
            dtype.is_complex(),
            exponent,
            mantissa,
            real.bits(),
            !real.is_unsigned_integer(),
        )
    };
    match rank(lhs.dtype).cmp(&rank(rhs.dtype)) {
        std::cmp::Ordering::Greater => Ok(lhs.dtype),
        std::cmp::Ordering::Less => Ok(rhs.dtype),
        std::cmp::Ordering::Equal => Err(Error::dtype(format!(
            "{lhs} and {rhs} have no common element type"
        ))),
    }
}

/// The element type that is asked of a product.
pub(crate) fn preferred_type(dtype: DType) -> Result<DType> {
    if dtype.is_key() || dtype == DType::Float0 {
        let message = format!("preferred_element_type is {dtype}, and products are numbers");
        return Err(Error::dtype(message));
    }
    Ok(dtype)
}

/// The type of a product.
pub(super) fn product_aval(
    numbers: &DotDimensionNumbers,
    lhs: &Aval,
    rhs: &Aval,
    preferred: Option<DType>,
) -> Result<Aval> {
    for aval in [lhs, rhs] {
        if aval.dtype.is_key() || aval.dtype == DType::Float0 {
            return Err(Error::dtype(format!("{aval} cannot be multiplied")));
        }
    }
    for (name, contracting, batch, aval) in [
        ("left", &numbers.lhs_contracting, &numbers.lhs_batch, lhs),
        ("right", &numbers.rhs_contracting, &numbers.rhs_batch, rhs),
    ] {
        let all: Dims = contracting.iter().chain(batch).copied().collect();
        check_axes(&all, aval)
            .map_err(|error| Error::parameter(format!("{name} operand: {}", error.message())))?;
    }
    for (what, lhs_axes, rhs_axes) in [
        (
            "contracted",
            &numbers.lhs_contracting,
            &numbers.rhs_contracting,
        ),
        ("batch", &numbers.lhs_batch, &numbers.rhs_batch),
    ] {
        if lhs_axes.len() != rhs_axes.len() {
            return Err(Error::parameter(format!(
                "{} and {} {what} axes do not pair up",
                lhs_axes.len(),
                rhs_axes.len()
            )));
        }
        for (&a, &b) in lhs_axes.iter().zip(rhs_axes) {
            if lhs.shape[a] != rhs.shape[b] {
                return Err(Error::shape(format!(
                    "{what} axis {a} of {lhs} has length {}, and axis {b} of {rhs} has length {}",
                    lhs.shape[a], rhs.shape[b]
                )));
            }
        }
    }
    let batch = numbers.lhs_batch.iter().map(|&axis| lhs.shape[axis]);
    let left = remaining(lhs.rank(), &numbers.lhs_contracting, &numbers.lhs_batch)
        .into_iter()
        .map(|axis| lhs.shape[axis]);
    let right = remaining(rhs.rank(), &numbers.rhs_contracting, &numbers.rhs_batch)
        .into_iter()
        .map(|axis| rhs.shape[axis]);
    let shape: Dims = batch.chain(left).chain(right).collect();
    let dtype = match preferred {
        None => product_dtype(lhs, rhs)?,
        Some(dtype) => preferred_type(dtype)?,
    };
    crate::aval::byte_size(&shape, dtype)?;
    Ok(Aval::new(dtype, &shape).weak(lhs.weak_type && rhs.weak_type && preferred.is_none()))
}

/// Dimension numbers with a mapped axis in one or both operands, and where it is in the result.
fn batched_numbers(
    numbers: &DotDimensionNumbers,
    ranks: (usize, usize),
    dims: (Option<usize>, Option<usize>),
) -> (DotDimensionNumbers, usize) {
    let bump = |axes: &Dims, dim: usize| -> Dims {
        axes.iter()
            .map(|&axis| if axis >= dim { axis + 1 } else { axis })
            .collect()
    };
    let mut out = numbers.clone();
    if let Some(dim) = dims.0 {
        out.lhs_contracting = bump(&numbers.lhs_contracting, dim);
        out.lhs_batch = bump(&numbers.lhs_batch, dim);
    }
    if let Some(dim) = dims.1 {
        out.rhs_contracting = bump(&numbers.rhs_contracting, dim);
        out.rhs_batch = bump(&numbers.rhs_batch, dim);
    }
    match dims {
        (Some(lhs), Some(rhs)) => {
            out.lhs_batch.insert(0, lhs);
            out.rhs_batch.insert(0, rhs);
            (out, 0)
        }
        (Some(dim), None) => {
            let before = remaining(ranks.0, &out.lhs_contracting, &out.lhs_batch)
                .iter()
                .filter(|&&axis| axis < dim)
                .count();
            let position = out.lhs_batch.len() + before;
            (out, position)
        }
        (None, Some(dim)) => {
            let before = remaining(ranks.1, &out.rhs_contracting, &out.rhs_batch)
                .iter()
                .filter(|&&axis| axis < dim)
                .count();
            let position = ranks.0 - out.lhs_contracting.len() + before;
            (out, position)
        }
        (None, None) => (out, 0),
    }
}

/// The positions that sort a list.
pub(super) fn argsort(values: &[usize]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by_key(|&index| values[index]);
    order
}

impl DotGeneral {
    /// The product of other operands with other dimension numbers, as precise.
    fn with(&self, dimension_numbers: DotDimensionNumbers) -> DotGeneral {
        DotGeneral {
            dimension_numbers,
            ..self.clone()
        }
    }

    /// The cotangent of the left operand; `swapped` when operands and numbers are exchanged because it is the right one.
    fn transpose_left(&self, b: &Builder, ct: Atom, x: &Aval, y: Atom, swapped: bool) -> Atom {
        let numbers = &self.dimension_numbers;
        let (x_contract, y_contract, x_batch, y_batch) = if swapped {
            (
                &numbers.rhs_contracting,
                &numbers.lhs_contracting,
                &numbers.rhs_batch,
                &numbers.lhs_batch,
            )
        } else {
            (
                &numbers.lhs_contracting,
                &numbers.rhs_contracting,
                &numbers.lhs_batch,
                &numbers.rhs_batch,
            )
        };
        let x_kept = remaining(x.rank(), x_contract, x_batch);
        let y_kept = remaining(b.rank(y), y_contract, y_batch);
        let start = x_batch.len() + if swapped { 0 } else { x_kept.len() };
        let back = DotDimensionNumbers {
            lhs_contracting: (start..start + y_kept.len()).collect(),
            rhs_contracting: y_kept.iter().copied().collect(),
            lhs_batch: (0..x_batch.len()).collect(),
            rhs_batch: y_batch.clone(),
        };
        let mut product = b.op(self.with(back), &[ct, y]);
        let contracted = argsort(y_contract)
            .into_iter()
            .map(|index| x_contract[index]);
        let unsorted: Vec<usize> = x_batch
            .iter()
            .copied()
            .chain(x_kept)
            .chain(contracted)
            .collect();
        product = b.transpose(product, &argsort(&unsorted));
        if b.dtype(product) == x.dtype {
            return product;
        }
        b.op(
            ConvertElementType {
                new_dtype: x.dtype,
                weak_type: x.weak_type,
            },
            &[product],
        )
    }
}

impl Primitive for DotGeneral {
    fn abstract_eval(&self, operands: &[Aval]) -> Result<Avals> {
        let [lhs, rhs] = operands else {
            return Err(arity(2, operands.len()));
        };
        Ok(smallvec![product_aval(
            &self.dimension_numbers,
            lhs,
            rhs,
            self.preferred_element_type
        )?])
    }

    fn jvp(&self, b: &Builder, primals: &[Atom], tangents: &[Option<Atom>]) -> Result<JvpResult> {
        let answer = b.op(self.clone(), primals);
        let left = tangents[0].map(|g| b.op(self.clone(), &[g, primals[1]]));
        let right = tangents[1].map(|g| b.op(self.clone(), &[primals[0], g]));
        Ok(JvpResult::one(
            answer,
            super::super::elementwise::add_tangents(b, left, right),
        ))
    }

    fn batch(
        &self,
        b: &Builder,
        operands: &[Batched],
        _axis: &BatchAxis,
    ) -> Result<BatchedResults> {
        let (lhs, rhs) = (operands[0], operands[1]);
        let ranks = (b.rank(lhs.value), b.rank(rhs.value));
        let (numbers, position) =
            batched_numbers(&self.dimension_numbers, ranks, (lhs.dim, rhs.dim));
        let dim = (lhs.dim.is_some() || rhs.dim.is_some()).then_some(position);
        Ok(smallvec![Batched {
            value: b.op(self.with(numbers), &[lhs.value, rhs.value]),
            dim
        }])
    }

    fn transpose(
        &self,
        b: &Builder,
        cotangents: &[Option<Atom>],
        operands: &[TransposeArg],
    ) -> Result<Cotangents> {
        let Some(ct) = cotangents[0] else {
            return Ok(smallvec![None, None]);
        };
        match (&operands[0], &operands[1]) {
            (TransposeArg::Linear(x), TransposeArg::Known(y)) => Ok(smallvec![
                Some(self.transpose_left(b, ct, x, *y, false)),
                None
            ]),
            (TransposeArg::Known(y), TransposeArg::Linear(x)) => Ok(smallvec![
                None,
                Some(self.transpose_left(b, ct, x, *y, true))
            ]),
            _ => Err(not_linear("dot_general")),
        }
    }
}

/// The numbers of an ordinary product from tuples.
pub(super) fn numbers(pairs: &((Dims, Dims), (Dims, Dims))) -> DotDimensionNumbers {
    let ((lhs_contracting, rhs_contracting), (lhs_batch, rhs_batch)) = pairs.clone();
    DotDimensionNumbers {
        lhs_contracting,
        rhs_contracting,
        lhs_batch,
        rhs_batch,
    }
}
