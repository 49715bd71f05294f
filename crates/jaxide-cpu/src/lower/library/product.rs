//! Products of arrays over contracted axes.

use super::elements::{Class, convert, meaningless};
use super::operands::{Array, Operands};
use super::routine::{Outcome, routine};
use crate::runtime::matmul::{DotDimensions, DotGeneral, Truth};
use crate::runtime::{Context, KernelCall, PoolBuffer, View};
use jaxide_core::prims::{self, DotDimensionNumbers, RaggedDotGeneral};
use jaxide_core::{DType, Dims, Error, Result, Shape, byte_size, check_allocatable};
use num_complex::Complex;

type Call = Result<Box<KernelCall>>;

/// `dot_general`; the element type of the result is that of the result operand.
pub(super) fn dot_general(operands: &Operands, params: &prims::DotGeneral) -> Call {
    let [lhs, rhs] = &operands.inputs[..] else {
        return Err(Error::shape("two operands are expected"));
    };
    let dtype = operands.outputs[0].dtype;
    let (left, right) = (View::dense(&lhs.shape), View::dense(&rhs.shape));
    let dimensions = dimensions(&params.dimension_numbers);
    if (lhs.dtype, rhs.dtype) == (dtype, dtype)
        && let Some(call) = native(dtype, &left, &right, &dimensions)
    {
        return Ok(call);
    }
    let product = Product::new((lhs.dtype, &left), (rhs.dtype, &right), &dimensions, dtype)?;
    Ok(routine(operands, move |buffers, context| {
        let (lhs, rhs) = (buffers.input(0), buffers.input(1));
        product.run(lhs, rhs, buffers.output(0), context)
    }))
}

fn dimensions(numbers: &DotDimensionNumbers) -> DotDimensions {
    DotDimensions {
        lhs_contracting: numbers.lhs_contracting.to_vec(),
        rhs_contracting: numbers.rhs_contracting.to_vec(),
        lhs_batch: numbers.lhs_batch.to_vec(),
        rhs_batch: numbers.rhs_batch.to_vec(),
    }
}

/// The product of arrays of one type, summed in that type; `None` where it is not computed in.
fn native(
    dtype: DType,
    lhs: &View,
    rhs: &View,
    dimensions: &DotDimensions,
) -> Option<Box<KernelCall>> {
    macro_rules! of {
        ($T:ty) => {
            KernelCall::new(DotGeneral::<$T>::new(lhs, rhs, dimensions))
        };
    }
    Some(match dtype {
        DType::Bool => of!(Truth),
        DType::I8 => of!(i8),
        DType::I16 => of!(i16),
        DType::I32 => of!(i32),
        DType::I64 => of!(i64),
        DType::U8 => of!(u8),
        DType::U16 => of!(u16),
        DType::U32 => of!(u32),
        DType::U64 => of!(u64),
        DType::F32 => of!(f32),
        DType::F64 => of!(f64),
        DType::C64 => of!(Complex<f32>),
        DType::C128 => of!(Complex<f64>),
        DType::F16 => KernelCall::new(DotGeneral::<half::f16, f32, half::f16>::new(
            lhs, rhs, dimensions,
        )),
        DType::BF16 => KernelCall::new(DotGeneral::<half::bf16, f32, half::bf16>::new(
            lhs, rhs, dimensions,
        )),
        _ => return None,
    })
}

/// The type that products of elements of two types are summed in, for a result of a third.
pub(super) fn working_type(lhs: DType, rhs: DType, result: DType) -> Result<DType> {
    let types = [lhs, rhs, result];
    let wide = |dtype: &DType| {
        matches!(
            dtype,
            DType::F64 | DType::C128 | DType::I32 | DType::U32 | DType::I64 | DType::U64
        )
    };
    if let Some(&opaque) = types
        .iter()
        .find(|&&dtype| Class::of(dtype) == Class::Opaque)
    {
        return Err(meaningless(opaque));
    }
    Ok(
        match (Class::of(lhs).with(Class::of(rhs)), types.iter().any(wide)) {
            (Class::Complex, true) => DType::C128,
            (Class::Complex, false) => DType::C64,
            (Class::Real, true) => DType::F64,
            (Class::Real, false) => DType::F32,
            (Class::Integer | Class::Opaque, _)
                if Class::of(result) == Class::Integer && result.bits() <= 32 =>
            {
                DType::I32
            }
            (Class::Integer | Class::Opaque, _) => DType::I64,
        },
    )
}

/// A product with conversions around it.
pub(super) struct Product {
    lhs: DType,
    rhs: DType,
    working: DType,
    result: DType,
    call: Box<KernelCall>,
}

impl Product {
    /// Of two views, with sums in the working type of the three element types.
    pub(super) fn new(
        (lhs, left): (DType, &View),
        (rhs, right): (DType, &View),
        dimensions: &DotDimensions,
        result: DType,
    ) -> Result<Self> {
        let working = working_type(lhs, rhs, result)?;
        let call = native(working, left, right, dimensions).ok_or_else(|| meaningless(working))?;
        Ok(Product {
            lhs,
            rhs,
            working,
            result,
            call,
        })
    }

    pub(super) fn run(
        &self,
        lhs: &[u8],
        rhs: &[u8],
        out: &mut [u8],
        context: &Context<'_>,
    ) -> Outcome {
        let lhs = Converted::new(self.lhs, lhs, self.working)?;
        let rhs = Converted::new(self.rhs, rhs, self.working)?;
        let inputs = [lhs.bytes(), rhs.bytes()];
        if self.result == self.working {
            return self.call.call(&inputs, &mut [out], context);
        }
        let mut sums = PoolBuffer::new(self.call.signature().outputs[0])?;
        self.call.call(&inputs, &mut [sums.bytes_mut()], context)?;
        convert(self.working, sums.bytes(), self.result, out);
        Ok(())
    }
}

/// Elements in another type, borrowed where it is their own.
enum Converted<'a> {
    Own(&'a [u8]),
    Copy(PoolBuffer),
}

impl<'a> Converted<'a> {
    fn new(
        from: DType,
        bytes: &'a [u8],
        to: DType,
    ) -> std::result::Result<Self, crate::runtime::KernelError> {
        if from == to {
            return Ok(Converted::Own(bytes));
        }
        let count = bytes.len().checked_div(from.size()).unwrap_or(0);
        let mut buffer = PoolBuffer::new(count * to.size())?;
        convert(from, bytes, to, buffer.bytes_mut());
        Ok(Converted::Copy(buffer))
    }

    fn bytes(&self) -> &[u8] {
        match self {
            Converted::Own(bytes) => bytes,
            Converted::Copy(buffer) => buffer.bytes(),
        }
    }
}

/// A product in which slices of a ragged axis of the left operand fall into groups.
///
/// Where the ragged axis is free, each group has its own right operand; where it is contracted, each group gives a
/// result of its own along a new leading axis; where it is a batch axis, groups do not matter.
pub(super) fn ragged_dot_general(operands: &Operands, params: &RaggedDotGeneral) -> Call {
    let [lhs, rhs, sizes] = &operands.inputs[..] else {
        return Err(Error::shape("three operands are expected"));
    };
    let numbers = &params.ragged_dot_dimension_numbers;
    let ((lhs_contracting, rhs_contracting), (lhs_batch, rhs_batch)) =
        &numbers.dot_dimension_numbers;
    let &[ragged] = numbers.lhs_ragged_dimensions.as_slice() else {
        return Err(Error::parameter("one ragged axis is expected"));
    };
    let behind = |axes: &[usize]| axes.iter().map(|axis| axis + 1).collect::<Vec<usize>>();
    let first = |axes: Vec<usize>| [vec![0], axes].concat();
    let (grouped_lhs, grouped_rhs, dimensions);
    if lhs_batch.contains(&ragged) {
        (grouped_lhs, grouped_rhs) = (None, None);
        dimensions = DotDimensions {
            lhs_contracting: lhs_contracting.to_vec(),
            rhs_contracting: rhs_contracting.to_vec(),
            lhs_batch: lhs_batch.to_vec(),
            rhs_batch: rhs_batch.to_vec(),
        };
    } else if let Some(place) = lhs_contracting.iter().position(|&axis| axis == ragged) {
        let prefix =
            |batch: &Dims, contracting: &Dims| [&batch[..], &contracting[..place]].concat();
        let &rhs_ragged = rhs_contracting
            .get(place)
            .ok_or_else(|| Error::parameter("the ragged axis has no partner"))?;
        grouped_lhs = Some(Grouped::new(
            lhs,
            ragged,
            prefix(lhs_batch, lhs_contracting),
            sizes,
        )?);
        grouped_rhs = Some(Grouped::new(
            rhs,
            rhs_ragged,
            prefix(rhs_batch, rhs_contracting),
            sizes,
        )?);
        dimensions = DotDimensions {
            lhs_contracting: behind(lhs_contracting),
            rhs_contracting: behind(rhs_contracting),
            lhs_batch: first(behind(lhs_batch)),
            rhs_batch: first(behind(rhs_batch)),
        };
    } else {
        let &[group] = numbers.rhs_group_dimensions.as_slice() else {
            return Err(Error::parameter("one group axis is expected"));
        };
        let before =
            (0..ragged).filter(|axis| !lhs_batch.contains(axis) && !lhs_contracting.contains(axis));
        let prefix = lhs_batch.iter().copied().chain(before).collect();
        grouped_lhs = Some(Grouped::new(lhs, ragged, prefix, sizes)?);
        grouped_rhs = None;
        dimensions = DotDimensions {
            lhs_contracting: [behind(lhs_contracting), vec![0]].concat(),
            rhs_contracting: [&rhs_contracting[..], &[group]].concat(),
            lhs_batch: behind(lhs_batch),
            rhs_batch: rhs_batch.to_vec(),
        };
    }
    let view = |array: &Array, grouped: &Option<Grouped>| {
        View::dense(grouped.as_ref().map_or(&array.shape[..], |it| &it.result))
    };
    let (left, right) = (view(lhs, &grouped_lhs), view(rhs, &grouped_rhs));
    let product = Product::new(
        (lhs.dtype, &left),
        (rhs.dtype, &right),
        &dimensions,
        operands.outputs[0].dtype,
    )?;
    let count = sizes.dtype;
    Ok(routine(operands, move |buffers, context| {
        let sizes = <i128 as super::elements::Number>::read_all(count, buffers.input(2));
        let apply = |grouped: &Option<Grouped>, bytes| {
            grouped
                .as_ref()
                .map(|it| it.apply(bytes, &sizes))
                .transpose()
        };
        let (lhs, rhs) = (buffers.input::<u8>(0), buffers.input::<u8>(1));
        let (left, right) = (apply(&grouped_lhs, lhs)?, apply(&grouped_rhs, rhs)?);
        let left = left.as_ref().map_or(lhs, PoolBuffer::bytes);
        let right = right.as_ref().map_or(rhs, PoolBuffer::bytes);
        product.run(left, right, buffers.output(0), context)
    }))
}

/// An operand with a new leading axis for groups: each slice of the ragged axis is in its group, the rest is zero.
struct Grouped {
    shape: Shape,
    element: usize,
    ragged: usize,
    /// Axes that the group sizes have besides the last; empty when all share them.
    prefix: Vec<usize>,
    groups: usize,
    result: Shape,
}

impl Grouped {
    fn new(x: &Array, ragged: usize, prefix: Vec<usize>, sizes: &Array) -> Result<Self> {
        let Some((&groups, batch)) = sizes.shape.split_last() else {
            return Err(Error::shape("group sizes are missing"));
        };
        let lengths: Shape = prefix.iter().map(|&axis| x.shape[axis]).collect();
        if !batch.is_empty() && batch != &lengths[..] {
            return Err(Error::shape(format!(
                "group sizes have shape {:?}, and their leading axes must be {lengths:?}",
                sizes.shape
            )));
        }
        let mut result = x.shape.clone();
        result.insert(0, groups);
        check_allocatable(byte_size(&result, x.dtype)?)?;
        Ok(Grouped {
            shape: x.shape.clone(),
            element: x.dtype.size(),
            ragged,
            prefix: if batch.is_empty() { Vec::new() } else { prefix },
            groups,
            result,
        })
    }

    fn apply(
        &self,
        bytes: &[u8],
        sizes: &[i128],
    ) -> std::result::Result<PoolBuffer, crate::runtime::KernelError> {
        let mut grouped = PoolBuffer::zeroed(bytes.len() * self.groups)?;
        if bytes.is_empty() || self.groups == 0 {
            return Ok(grouped);
        }
        let ends: Vec<i128> = sizes
            .chunks(self.groups)
            .flat_map(|sizes| {
                sizes.iter().scan(0, |end, &size| {
                    *end += size;
                    Some(*end)
                })
            })
            .collect();
        // Elements behind the ragged and all prefix axes go together.
        let last = self
            .prefix
            .iter()
            .copied()
            .chain([self.ragged])
            .max()
            .unwrap_or(0);
        let run: usize = self.shape[last + 1..].iter().product::<usize>() * self.element;
        let leading = &self.shape[..=last];
        let to = grouped.bytes_mut();
        let mut index = vec![0; leading.len()];
        for (number, from) in bytes.chunks_exact(run).enumerate() {
            let mut rest = number;
            for (place, &length) in index.iter_mut().zip(leading).rev() {
                (*place, rest) = (rest % length, rest / length);
            }
            let row = self
                .prefix
                .iter()
                .fold(0, |row, &axis| row * self.shape[axis] + index[axis]);
            let ends = &ends[row * self.groups..(row + 1) * self.groups];
            let position = index[self.ragged] as i128;
            if let Some(group) = ends.iter().position(|&end| position < end) {
                let start = group * bytes.len() + number * run;
                to[start..start + run].copy_from_slice(from);
            }
        }
        Ok(grouped)
    }
}
