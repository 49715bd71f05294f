//! `gather`: windows of an operand, at starts that an index array gives.

use super::super::*;
use super::*;
use crate::jaxpr::Scalar;

impl Gather {
    /// Axes of the operand that the window keeps in the result.
    pub fn kept_axes(&self, rank: usize) -> Dims {
        let numbers = &self.dimension_numbers;
        (0..rank)
            .filter(|axis| {
                !numbers.collapsed_slice_dims.contains(axis)
                    && !numbers.operand_batching_dims.contains(axis)
            })
            .collect()
    }

    /// The same with other dimension numbers and window, promises kept or dropped.
    fn with(
        &self,
        dimension_numbers: GatherDimensionNumbers,
        slice_sizes: Dims,
        keep_promises: bool,
    ) -> Gather {
        Gather {
            dimension_numbers,
            slice_sizes,
            unique_indices: keep_promises && self.unique_indices,
            indices_are_sorted: keep_promises && self.indices_are_sorted,
            ..self.clone()
        }
    }

    /// The fill value of a derivative: zero where there is one at all.
    fn zero_fill(mode: GatherScatterMode) -> Option<Scalar> {
        (mode == GatherScatterMode::FillOrDrop).then_some(Scalar::Int(0))
    }

    /// The window at each index of a scatter with these numbers, read back from an array of the operand's shape.
    pub(super) fn of_scatter(
        numbers: &ScatterDimensionNumbers,
        rank: usize,
        updates: &[usize],
        mode: GatherScatterMode,
        zero_fill: bool,
        dtype: DType,
    ) -> Gather {
        let mut window = numbers.update_window_dims.iter().map(|&dim| updates[dim]);
        let slice_sizes = (0..rank)
            .map(|axis| {
                let inserted = numbers.inserted_window_dims.contains(&axis)
                    || numbers.operand_batching_dims.contains(&axis);
                if inserted {
                    1
                } else {
                    window.next().unwrap_or(1)
                }
            })
            .collect();
        let fill_value = if mode != GatherScatterMode::FillOrDrop {
            None
        } else if zero_fill {
            Some(Scalar::Int(0))
        } else {
            Some(default_fill(dtype))
        };
        Gather {
            dimension_numbers: GatherDimensionNumbers {
                offset_dims: numbers.update_window_dims.clone(),
                collapsed_slice_dims: numbers.inserted_window_dims.clone(),
                start_index_map: numbers.scatter_dims_to_operand_dims.clone(),
                operand_batching_dims: numbers.operand_batching_dims.clone(),
                start_indices_batching_dims: numbers.scatter_indices_batching_dims.clone(),
            },
            fill_value,
            indices_are_sorted: false,
            mode,
            slice_sizes,
            unique_indices: false,
        }
    }
}

/// What reads outside give when nothing else is said: NaN, the smallest signed or the largest unsigned integer, `True`.
pub(crate) fn default_fill(dtype: DType) -> Scalar {
    if dtype.is_inexact() {
        return Scalar::Float(f64::NAN);
    }
    if dtype.is_signed_integer() {
        return Scalar::Int(i64::MIN >> (64 - dtype.bits()));
    }
    if dtype.is_unsigned_integer() {
        return Scalar::from_integer((1i128 << dtype.bits()) - 1).unwrap_or(Scalar::Int(0));
    }
    Scalar::Bool(true)
}

impl Primitive for Gather {
    fn abstract_eval(&self, operands: &[Aval]) -> Result<Avals> {
        let [operand, indices] = operands else {
            return Err(arity(2, operands.len()));
        };
        let numbers = &self.dimension_numbers;
        if !indices.dtype.is_integer() {
            return Err(Error::dtype(format!(
                "indices must be integers, and are {indices}"
            )));
        }
        let Some(index_axis) = indices.rank().checked_sub(1) else {
            return Err(Error::shape(format!(
                "indices need a last axis for the index components, and are {indices}"
            )));
        };
        if numbers.start_index_map.len() != indices.shape[index_axis] {
            return Err(Error::parameter(format!(
                "start_index_map {:?} must name an axis for each of the {} components of {indices}",
                numbers.start_index_map.as_slice(),
                indices.shape[index_axis]
            )));
        }
        for (name, axes) in [
            ("collapsed_slice_dims", &numbers.collapsed_slice_dims),
            ("operand_batching_dims", &numbers.operand_batching_dims),
            ("start_index_map", &numbers.start_index_map),
        ] {
            check_axes(axes, operand)
                .map_err(|error| Error::parameter(format!("{name}: {}", error.message())))?;
        }
        check_sorted("offset_dims", &numbers.offset_dims)?;
        check_sorted("collapsed_slice_dims", &numbers.collapsed_slice_dims)?;
        check_sorted("operand_batching_dims", &numbers.operand_batching_dims)?;
        let batching = (
            "operand_batching_dims",
            numbers.operand_batching_dims.as_slice(),
        );
        check_disjoint(
            ("collapsed_slice_dims", &numbers.collapsed_slice_dims),
            batching,
        )?;
        check_disjoint(("start_index_map", &numbers.start_index_map), batching)?;
        check_axes(
            &numbers.start_indices_batching_dims,
            &indices.with_shape(&indices.shape[..index_axis]),
        )?;
        let pairs = numbers
            .operand_batching_dims
            .iter()
            .zip(&numbers.start_indices_batching_dims);
        if numbers.operand_batching_dims.len() != numbers.start_indices_batching_dims.len()
            || pairs
                .clone()
                .any(|(&a, &b)| operand.shape[a] != indices.shape[b])
        {
            return Err(Error::shape(format!(
                "the batching axes of {operand} and {indices} must have equal lengths"
            )));
        }
        if self.slice_sizes.len() != operand.rank() {
            return Err(Error::parameter(format!(
                "slice_sizes {:?} must have one length for each axis of {operand}",
                self.slice_sizes.as_slice()
            )));
        }
        let empty = indices.shape[..index_axis].contains(&0);
        for (axis, (&size, &length)) in self.slice_sizes.iter().zip(&operand.shape).enumerate() {
            if size > length && !empty {
                return Err(Error::parameter(format!(
                    "the window of length {size} does not fit axis {axis} of {operand}"
                )));
            }
            let gone = numbers.collapsed_slice_dims.contains(&axis) && size != 1;
            if gone || (numbers.operand_batching_dims.contains(&axis) && size > 1) {
                return Err(Error::parameter(format!(
                    "axis {axis} disappears, so its window must have length 1 and not {size}"
                )));
            }
        }
        let kept = self.kept_axes(operand.rank());
        let rank = numbers.offset_dims.len() + index_axis;
        if kept.len() != numbers.offset_dims.len() {
            return Err(Error::parameter(format!(
                "offset_dims {:?} must name an axis for each of the {} axes of the window that stay",
                numbers.offset_dims.as_slice(),
                kept.len()
            )));
        }
        let mut window = kept.iter().map(|&axis| self.slice_sizes[axis]);
        let mut batch = indices.shape[..index_axis].iter().copied();
        let shape: Option<Dims> = (0..rank)
            .map(|axis| {
                if numbers.offset_dims.contains(&axis) {
                    window.next()
                } else {
                    batch.next()
                }
            })
            .collect();
        let Some(shape) = shape.filter(|_| numbers.offset_dims.iter().all(|&dim| dim < rank))
        else {
            return Err(Error::parameter(format!(
                "offset_dims {:?} must be different axes of the result of rank {rank}",
                numbers.offset_dims.as_slice()
            )));
        };
        crate::aval::byte_size(&shape, operand.dtype)?;
        Ok(smallvec![operand.with_shape(&shape)])
    }

    fn jvp(&self, b: &Builder, primals: &[Atom], tangents: &[Option<Atom>]) -> Result<JvpResult> {
        let answer = b.op(self.clone(), primals);
        let tangent = tangents[0].map(|t| {
            let prim = Gather {
                fill_value: Gather::zero_fill(self.mode),
                ..self.clone()
            };
            b.op(prim, &[t, primals[1]])
        });
        Ok(JvpResult::one(answer, tangent))
    }

    fn batch(
        &self,
        b: &Builder,
        operands: &[Batched],
        _axis: &BatchAxis,
    ) -> Result<BatchedResults> {
        let numbers = &self.dimension_numbers;
        let (operand, indices) = (operands[0], operands[1]);
        let (prim, atoms) = match (operand.dim, indices.dim) {
            (None, None) => {
                return Ok(smallvec![Batched {
                    value: b.op(self.clone(), &[operand.value, indices.value]),
                    dim: None
                }]);
            }
            (Some(dim), None) => {
                let operand = move_axis(b, operand.value, dim, 0);
                let mut slice_sizes = self.slice_sizes.clone();
                slice_sizes.insert(0, b.shape(operand)[0]);
                let numbers = GatherDimensionNumbers {
                    offset_dims: behind_new(&numbers.offset_dims),
                    collapsed_slice_dims: shifted(&numbers.collapsed_slice_dims),
                    start_index_map: shifted(&numbers.start_index_map),
                    operand_batching_dims: shifted(&numbers.operand_batching_dims),
                    start_indices_batching_dims: numbers.start_indices_batching_dims.clone(),
                };
                (
                    self.with(numbers, slice_sizes, true),
                    [operand, indices.value],
                )
            }
            (None, Some(dim)) => {
                let indices = move_axis(b, indices.value, dim, 0);
                let numbers = GatherDimensionNumbers {
                    offset_dims: shifted(&numbers.offset_dims),
                    start_indices_batching_dims: shifted(&numbers.start_indices_batching_dims),
                    ..numbers.clone()
                };
                (
                    self.with(numbers, self.slice_sizes.clone(), false),
                    [operand.value, indices],
                )
            }
            (Some(operand_dim), Some(indices_dim)) => {
                let operand = move_axis(b, operand.value, operand_dim, 0);
                let indices = move_axis(b, indices.value, indices_dim, 0);
                let mut slice_sizes = self.slice_sizes.clone();
                slice_sizes.insert(0, b.shape(operand)[0].min(1));
                let numbers = GatherDimensionNumbers {
                    offset_dims: shifted(&numbers.offset_dims),
                    collapsed_slice_dims: shifted(&numbers.collapsed_slice_dims),
                    start_index_map: shifted(&numbers.start_index_map),
                    operand_batching_dims: behind_new(&numbers.operand_batching_dims),
                    start_indices_batching_dims: behind_new(&numbers.start_indices_batching_dims),
                };
                (self.with(numbers, slice_sizes, true), [operand, indices])
            }
        };
        Ok(smallvec![Batched {
            value: b.op(prim, &atoms),
            dim: Some(0)
        }])
    }

    /// Adds the cotangents of all windows into zeros.
    fn transpose(
        &self,
        b: &Builder,
        cotangents: &[Option<Atom>],
        operands: &[TransposeArg],
    ) -> Result<Cotangents> {
        let (Some(ct), Some(aval)) = (cotangents[0], linear(&operands[0])) else {
            return Ok(smallvec![None, None]);
        };
        let indices = known(&operands[1..], "gather")?[0];
        let numbers = &self.dimension_numbers;
        let dtype = b.dtype(ct);
        let target = b.zeros(&Aval::new(dtype, &aval.shape));
        let prim = ScatterAdd {
            dimension_numbers: ScatterDimensionNumbers {
                update_window_dims: numbers.offset_dims.clone(),
                inserted_window_dims: numbers.collapsed_slice_dims.clone(),
                scatter_dims_to_operand_dims: numbers.start_index_map.clone(),
                operand_batching_dims: numbers.operand_batching_dims.clone(),
                scatter_indices_batching_dims: numbers.start_indices_batching_dims.clone(),
            },
            indices_are_sorted: self.indices_are_sorted,
            mode: self.mode,
            unique_indices: self.unique_indices,
            update_consts: NoConsts,
            update_jaxpr: OptionalJaxpr(Some(super::scatter::addition(b, dtype)?)),
        };
        Ok(smallvec![Some(b.op(prim, &[target, indices, ct])), None])
    }
}
