//! Convolution: its derivative is convolution, and so are both its transposes.
//!
//! Leave out the axes of space and write `m` for the batch, `j` for input features, `k` for output features; a
//! convolution is then the product `[m, j] [j, k] -> [m, k]`, and its transposes are those of a product:
//! `[m, k] [k, j] -> [m, j]` with the kernel reversed, and `[j, m] [m, k] -> [j, k]` with feature and batch axes
//! exchanged. Groups of one kind become groups of the other:
//!
//! * feature groups `[m, gj] [j, gk] -> [m, gk]` have the transposes `[m, gk] [k, gj] -> [m, gj]` (feature groups, the
//!   group moved to the kernel's other feature axis) and `[gj, m] [m, gk] -> [j, gk]` (batch groups);
//! * batch groups `[gm, j] [j, gk] -> [m, gk]` have `[m, gk] [gk, j] -> [gm, j]` and `[j, gm] [m, gk] -> [j, gk]` (feature
//!   groups both).
//!
//! Batching moves the mapped axis into a batch axis, a feature axis, or, where both operands have it, into groups.

use super::super::*;
use super::*;
use crate::DType;
use crate::prims::elementwise::{add_tangents, convert_if_needed};

impl Primitive for ConvGeneralDilated {
    fn abstract_eval(&self, operands: &[Aval]) -> Result<Avals> {
        let [lhs, rhs] = operands else {
            return Err(arity(2, operands.len()));
        };
        Ok(smallvec![self.result(lhs, rhs)?])
    }

    fn jvp(&self, b: &Builder, primals: &[Atom], tangents: &[Option<Atom>]) -> Result<JvpResult> {
        let answer = b.op(self.clone(), primals);
        let lhs = tangents[0].map(|g| b.op(self.clone(), &[g, primals[1]]));
        let rhs = tangents[1].map(|g| b.op(self.clone(), &[primals[0], g]));
        Ok(JvpResult::one(answer, add_tangents(b, lhs, rhs)))
    }

    fn batch(&self, b: &Builder, operands: &[Batched], axis: &BatchAxis) -> Result<BatchedResults> {
        let (lhs, rhs) = (operands[0], operands[1]);
        if axis.size == 0 && (lhs.dim.is_some() || rhs.dim.is_some()) {
            return Ok(smallvec![self.no_lanes(b, lhs, rhs)?]);
        }
        Ok(smallvec![match (lhs.dim, rhs.dim) {
            (None, None) => Batched {
                value: b.op(self.clone(), &[lhs.value, rhs.value]),
                dim: None,
            },
            (Some(lhs_dim), Some(rhs_dim)) =>
                self.batch_both(b, (lhs.value, lhs_dim), (rhs.value, rhs_dim), axis.size),
            (Some(dim), None) => self.batch_lhs(b, lhs.value, dim, rhs.value, axis.size),
            (None, Some(dim)) => self.batch_rhs(b, lhs.value, rhs.value, dim, axis.size),
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
            (TransposeArg::Linear(lhs), TransposeArg::Known(rhs)) => {
                Ok(smallvec![Some(self.transpose_lhs(b, ct, lhs, *rhs)), None])
            }
            (TransposeArg::Known(lhs), TransposeArg::Linear(rhs)) => {
                Ok(smallvec![None, self.transpose_rhs(b, ct, *lhs, rhs)])
            }
            _ => Err(not_linear("conv_general_dilated")),
        }
    }
}

impl ConvGeneralDilated {
    /// The type of the result.
    fn result(&self, lhs: &Aval, rhs: &Aval) -> Result<Aval> {
        let rank = lhs.rank();
        let numbers = &self.dimension_numbers;
        if rank < 2 || rhs.rank() != rank {
            return Err(Error::shape(format!(
                "{lhs} and {rhs} must have the same rank, at least 2"
            )));
        }
        for (name, spec) in [
            ("lhs_spec", &numbers.lhs_spec),
            ("rhs_spec", &numbers.rhs_spec),
            ("out_spec", &numbers.out_spec),
        ] {
            let mut sorted = spec.to_vec();
            sorted.sort_unstable();
            if !sorted.into_iter().eq(0..rank) {
                return Err(Error::parameter(format!(
                    "{name} {:?} must name every axis once",
                    spec.as_slice()
                )));
            }
        }
        for (name, count) in [
            ("window_strides", self.window_strides.len()),
            ("padding", self.padding.len()),
            ("lhs_dilation", self.lhs_dilation.len()),
            ("rhs_dilation", self.rhs_dilation.len()),
        ] {
            if count != rank - 2 {
                return Err(Error::parameter(format!(
                    "{name} must have one entry for each of the {} axes of space, and has {count}",
                    rank - 2
                )));
            }
        }
        self.check_groups(lhs, rhs)?;
        let mut shape = Dims::from_elem(0, rank);
        shape[numbers.out_spec[0]] = lhs.shape[numbers.lhs_spec[0]] / self.batch_group_count;
        shape[numbers.out_spec[1]] = rhs.shape[numbers.rhs_spec[0]];
        for axis in 0..rank - 2 {
            shape[numbers.out_spec[axis + 2]] = window_count(
                lhs.shape[numbers.lhs_spec[axis + 2]],
                rhs.shape[numbers.rhs_spec[axis + 2]],
                self.window_strides[axis],
                self.padding[axis],
                self.lhs_dilation[axis],
                self.rhs_dilation[axis],
            )?;
        }
        for aval in [lhs, rhs] {
            if aval.dtype.is_key() || aval.dtype == DType::Float0 {
                return Err(Error::dtype(format!("{aval} cannot be convolved")));
            }
        }
        let dtype = match self.preferred_element_type {
            Some(dtype) => preferred_type(dtype)?,
            None if lhs.dtype == rhs.dtype => lhs.dtype,
            None => {
                return Err(Error::dtype(format!(
                    "{lhs} and {rhs} have different element types"
                )));
            }
        };
        crate::aval::byte_size(&shape, dtype)?;
        Ok(Aval::new(dtype, &shape))
    }

    /// Features and batches divide into groups.
    fn check_groups(&self, lhs: &Aval, rhs: &Aval) -> Result<()> {
        let numbers = &self.dimension_numbers;
        let (groups, batches) = (self.feature_group_count, self.batch_group_count);
        let (lhs_batch, lhs_features) = (
            lhs.shape[numbers.lhs_spec[0]],
            lhs.shape[numbers.lhs_spec[1]],
        );
        let (out_features, in_features) = (
            rhs.shape[numbers.rhs_spec[0]],
            rhs.shape[numbers.rhs_spec[1]],
        );
        if groups == 0 || batches == 0 || (groups > 1 && batches > 1) {
            return Err(Error::parameter(format!(
                "feature_group_count {groups} and batch_group_count {batches} must be positive and not both above 1"
            )));
        }
        if lhs_features % groups != 0 || lhs_features / groups != in_features {
            return Err(Error::shape(format!(
                "{lhs_features} features of {lhs} in {groups} groups do not fit the {in_features} of the kernel {rhs}"
            )));
        }
        if out_features % groups != 0 || out_features % batches != 0 || lhs_batch % batches != 0 {
            return Err(Error::shape(format!(
                "{out_features} output features or {lhs_batch} batches do not divide into groups"
            )));
        }
        Ok(())
    }

    /// Lengths of a shape along the axes of space of a spec.
    fn space(spec: &[usize], shape: &[usize]) -> Vec<usize> {
        spec[2..].iter().map(|&axis| shape[axis]).collect()
    }

    /// The kernel as windows over the axes of space.
    fn kernel_windows(&self, rhs: &[usize]) -> Windows {
        Windows {
            base_dilation: self.lhs_dilation.clone(),
            padding: self.padding.clone(),
            window_dilation: self.rhs_dilation.clone(),
            window_dimensions: Self::space(&self.dimension_numbers.rhs_spec, rhs).into(),
            window_strides: self.window_strides.clone(),
        }
    }

    /// The cotangent of the left operand.
    fn transpose_lhs(&self, b: &Builder, ct: Atom, lhs: &Aval, rhs: Atom) -> Atom {
        let numbers = &self.dimension_numbers;
        let (lhs_spec, rhs_spec) = (&numbers.lhs_spec, &numbers.rhs_spec);
        let input = Self::space(lhs_spec, &lhs.shape);
        let output = Self::space(&numbers.out_spec, &b.shape(ct));
        let padding = input_padding(&input, &self.kernel_windows(&b.shape(rhs)), &output);
        let groups = self.feature_group_count.max(self.batch_group_count);
        let mut kernel = rhs;
        if groups > 1 {
            kernel = split_axis(b, kernel, rhs_spec[0], groups);
            kernel = merge_axis(b, kernel, rhs_spec[0], rhs_spec[1]);
        }
        let dimensions = Dims::from_slice(&rhs_spec[2..]);
        let reversed = b.op(Rev { dimensions }, &[kernel]);
        let reversed = convert_if_needed(b, reversed, b.dtype(ct));
        let back = ConvGeneralDilated {
            batch_group_count: 1,
            feature_group_count: groups,
            dimension_numbers: ConvDimensionNumbers {
                lhs_spec: numbers.out_spec.clone(),
                rhs_spec: exchanged(rhs_spec),
                out_spec: lhs_spec.clone(),
            },
            padding,
            window_strides: self.lhs_dilation.clone(),
            lhs_dilation: self.window_strides.clone(),
            ..self.clone()
        };
        let mut result = convert_if_needed(b, b.op(back, &[ct, reversed]), lhs.dtype);
        if self.batch_group_count > 1 {
            result = split_axis(b, result, lhs_spec[1], self.batch_group_count);
            result = merge_axis(b, result, lhs_spec[1], lhs_spec[0]);
        }
        result
    }

    /// The cotangent of the kernel; zero where there is no output.
    fn transpose_rhs(&self, b: &Builder, ct: Atom, lhs: Atom, rhs: &Aval) -> Option<Atom> {
        if b.aval(ct).size() == 0 {
            return None;
        }
        let numbers = &self.dimension_numbers;
        let input = Self::space(&numbers.lhs_spec, &b.shape(lhs));
        let output = Self::space(&numbers.out_spec, &b.shape(ct));
        let windows = self.kernel_windows(&rhs.shape);
        let length = |length: usize, dilation: usize| dilated(length, dilation).unwrap_or(0) as i64;
        let padding = (0..input.len())
            .map(|axis| {
                let low = self.padding[axis].0;
                let spread = length(output[axis], self.window_strides[axis])
                    - length(input[axis], self.lhs_dilation[axis]);
                let window = length(windows.window_dimensions[axis], self.rhs_dilation[axis]);
                (low, spread + window - low - 1)
            })
            .collect();
        let lhs = convert_if_needed(b, lhs, b.dtype(ct));
        let back = ConvGeneralDilated {
            batch_group_count: self.feature_group_count,
            feature_group_count: self.batch_group_count,
            dimension_numbers: ConvDimensionNumbers {
                lhs_spec: exchanged(&numbers.lhs_spec),
                rhs_spec: exchanged(&numbers.out_spec),
                out_spec: exchanged(&numbers.rhs_spec),
            },
            padding,
            window_strides: self.rhs_dilation.clone(),
            rhs_dilation: self.window_strides.clone(),
            ..self.clone()
        };
        Some(convert_if_needed(b, b.op(back, &[lhs, ct]), rhs.dtype))
    }

    /// The empty result of no lanes.
    fn no_lanes(&self, b: &Builder, lhs: Batched, rhs: Batched) -> Result<Batched> {
        let lane = |operand: Batched| match operand.dim {
            None => b.aval(operand.value),
            Some(dim) => crate::transform::mapped(&b.aval(operand.value), dim),
        };
        let aval = self.result(&lane(lhs), &lane(rhs))?;
        let shape: Dims = std::iter::once(0).chain(aval.shape).collect();
        Ok(Batched {
            value: b.full(&shape, 0.0, aval.dtype),
            dim: Some(0),
        })
    }

    /// Lanes of both operands become groups.
    fn batch_both(
        &self,
        b: &Builder,
        (lhs, lhs_dim): (Atom, usize),
        (rhs, rhs_dim): (Atom, usize),
        lanes: usize,
    ) -> Batched {
        let numbers = &self.dimension_numbers;
        let mut prim = self.clone();
        let into = if self.batch_group_count > 1 {
            prim.batch_group_count *= lanes;
            numbers.lhs_spec[0]
        } else {
            prim.feature_group_count *= lanes;
            numbers.lhs_spec[1]
        };
        let lhs = merge_axis(b, lhs, lhs_dim, into);
        let rhs = merge_axis(b, rhs, rhs_dim, numbers.rhs_spec[0]);
        let result = b.op(prim, &[lhs, rhs]);
        let dim = numbers.out_spec[1];
        Batched {
            value: split_axis(b, result, dim, lanes),
            dim: Some(dim),
        }
    }

    /// Lanes of the left operand become part of its batch, inside of its groups.
    fn batch_lhs(&self, b: &Builder, lhs: Atom, dim: usize, rhs: Atom, lanes: usize) -> Batched {
        let batch = self.dimension_numbers.lhs_spec[0];
        let merged = if self.batch_group_count == 1 {
            merge_axis(b, lhs, dim, batch)
        } else {
            merge_inside_groups(b, lhs, dim, batch, self.batch_group_count)
        };
        let result = b.op(self.clone(), &[merged, rhs]);
        let out = self.dimension_numbers.out_spec[0];
        Batched {
            value: split_axis(b, result, out, lanes),
            dim: Some(out),
        }
    }

    /// Lanes of the kernel become part of its output features, inside of the groups.
    fn batch_rhs(&self, b: &Builder, lhs: Atom, rhs: Atom, dim: usize, lanes: usize) -> Batched {
        let features = self.dimension_numbers.rhs_spec[0];
        let out = self.dimension_numbers.out_spec[1];
        let groups = self.feature_group_count.max(self.batch_group_count);
        if groups == 1 {
            let merged = merge_axis(b, rhs, dim, features);
            let result = b.op(self.clone(), &[lhs, merged]);
            return Batched {
                value: split_axis(b, result, out, lanes),
                dim: Some(out),
            };
        }
        let merged = merge_inside_groups(b, rhs, dim, features, groups);
        let result = b.op(self.clone(), &[lhs, merged]);
        let result = split_axis(b, result, out, groups);
        let result = split_axis(b, result, out + 1, lanes);
        Batched {
            value: merge_axis(b, result, out, out + 1),
            dim: Some(out),
        }
    }
}

/// A spec with its first two axes exchanged.
fn exchanged(spec: &Dims) -> Dims {
    let mut spec = spec.clone();
    spec.swap(0, 1);
    spec
}

/// Moves axis `from` in front of axis `into` of what remains, and makes one axis of the two.
fn merge_axis(b: &Builder, x: Atom, from: usize, into: usize) -> Atom {
    let mut new_sizes = b.shape(x);
    let length = new_sizes.remove(from);
    new_sizes[into] *= length;
    let mut dimensions: Dims = (0..b.rank(x)).filter(|&axis| axis != from).collect();
    dimensions.insert(into, from);
    if dimensions.iter().copied().eq(0..b.rank(x)) {
        return b.reshape(x, &new_sizes);
    }
    let prim = Reshape {
        dimensions: Some(dimensions),
        new_sizes,
        sharding: Opaque::none(),
    };
    b.op(prim, &[x])
}

/// Makes two axes of `axis`, the first of length `outer`.
fn split_axis(b: &Builder, x: Atom, axis: usize, outer: usize) -> Atom {
    let mut shape = b.shape(x);
    shape[axis] /= outer;
    shape.insert(axis, outer);
    b.reshape(x, &shape)
}

/// Moves axis `from` into axis `into` of what remains, inside of the groups that the latter divides into.
fn merge_inside_groups(b: &Builder, x: Atom, from: usize, into: usize, groups: usize) -> Atom {
    let split = split_axis(b, x, into + usize::from(from <= into), groups);
    let merged = merge_axis(b, split, from + usize::from(into < from), into + 1);
    merge_axis(b, merged, into, into)
}
