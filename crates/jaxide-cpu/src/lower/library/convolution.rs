//! Convolution as a product: the operand, padded and dilated, is seen as the windows that the kernel meets, without
//! copying; the contraction copies what it must.

use super::elements::convert;
use super::operands::Operands;
use super::product::{Product, working_type};
use super::routine::routine;
use crate::runtime::matmul::DotDimensions;
use crate::runtime::transpose::CopyView;
use crate::runtime::view::dense_strides;
use crate::runtime::{KernelCall, PoolBuffer, View};
use jaxide_core::prims::ConvGeneralDilated;
use jaxide_core::{Error, Result, Shape, byte_size, check_allocatable};

pub(super) fn convolution(
    operands: &Operands,
    params: &ConvGeneralDilated,
) -> Result<Box<KernelCall>> {
    let [lhs, rhs] = &operands.inputs[..] else {
        return Err(Error::shape("two operands are expected"));
    };
    let numbers = &params.dimension_numbers;
    let out = &operands.outputs[0];
    let rank = lhs.shape.len();
    let (groups, batch_groups) = (params.feature_group_count, params.batch_group_count);
    let space = rank.checked_sub(2);
    let fits = space.is_some_and(|space| {
        [&numbers.lhs_spec, &numbers.rhs_spec, &numbers.out_spec]
            .iter()
            .all(|spec| spec.len() == rank)
            && (rhs.shape.len(), out.shape.len()) == (rank, rank)
            && params.padding.len() == space
            && [
                &params.window_strides,
                &params.lhs_dilation,
                &params.rhs_dilation,
            ]
            .iter()
            .all(|steps| steps.len() == space && !steps.contains(&0))
            && (groups == 1 || batch_groups == 1)
            && groups > 0
            && batch_groups > 0
    });
    if !fits {
        return Err(Error::shape(format!(
            "a kernel of shape {:?} does not fit an operand of shape {:?} with {groups} feature groups and {batch_groups} batch groups",
            rhs.shape, lhs.shape
        )));
    }
    let space = rank - 2;
    let (lhs_spec, rhs_spec, out_spec) = (&numbers.lhs_spec, &numbers.rhs_spec, &numbers.out_spec);

    let padding = Padding::new(&lhs.shape, &lhs_spec[2..], params);
    let working = working_type(lhs.dtype, rhs.dtype, out.dtype)?;
    let (element, padded) = match &padding {
        Some(padding) => (working, padding.padded.clone()),
        None => (lhs.dtype, lhs.shape.clone()),
    };
    check_allocatable(byte_size(&padded, element)?)?;

    // Operand: group, batch, windows, feature, window; kernel: group, feature of the result, feature, window.
    let features = rhs.shape[rhs_spec[1]];
    let out_features = rhs.shape[rhs_spec[0]];
    let split = groups * batch_groups;
    let batch = lhs.shape[lhs_spec[0]] / batch_groups;
    let strides = dense_strides(&padded);
    let per_group = if groups > 1 {
        features as isize * strides[lhs_spec[1]]
    } else {
        batch as isize * strides[lhs_spec[0]]
    };
    let windows = (0..space).map(|k| {
        (
            out.shape[out_spec[k + 2]],
            params.window_strides[k] as isize * strides[lhs_spec[k + 2]],
        )
    });
    let taps = (0..space).map(|k| {
        (
            rhs.shape[rhs_spec[k + 2]],
            params.rhs_dilation[k] as isize * strides[lhs_spec[k + 2]],
        )
    });
    let left = view(
        &padded,
        [(split, per_group), (batch, strides[lhs_spec[0]])]
            .into_iter()
            .chain(windows)
            .chain([(features, strides[lhs_spec[1]])])
            .chain(taps),
    );
    let steps = dense_strides(&rhs.shape);
    let of_group = out_features / split;
    let axis = |axis: usize| (rhs.shape[axis], steps[axis]);
    let right = view(
        &rhs.shape,
        [
            (split, of_group as isize * steps[rhs_spec[0]]),
            (of_group, steps[rhs_spec[0]]),
        ]
        .into_iter()
        .chain(rhs_spec[1..].iter().map(|&k| axis(k))),
    );
    let dimensions = DotDimensions {
        lhs_contracting: (rank..2 * rank - 1).collect(),
        rhs_contracting: (2..rank + 1).collect(),
        lhs_batch: vec![0],
        rhs_batch: vec![0],
    };
    let product = Product::new(
        (element, &left),
        (rhs.dtype, &right),
        &dimensions,
        out.dtype,
    )?;

    // The product is (group, batch, windows, feature); where group and feature go together in the result is one axis.
    let mut shape = vec![split, batch];
    shape.extend((0..space).map(|k| out.shape[out_spec[k + 2]]));
    shape.push(of_group);
    let mut order = Vec::with_capacity(rank + 1);
    for place in 0..rank {
        match out_spec.iter().position(|&other| other == place) {
            Some(0) => order.push(1),
            Some(1) => order.extend([0, rank]),
            Some(k) => order.push(k),
            None => {
                return Err(Error::parameter(format!(
                    "{out_spec:?} are not the axes of the result"
                )));
            }
        }
    }
    let arranged = View::dense(&shape).permuted(&order);
    let arrange =
        (!arranged.is_dense()).then(|| KernelCall::new(CopyView::new(&arranged, out.dtype.size())));

    let lhs_dtype = lhs.dtype;
    Ok(routine(operands, move |buffers, context| {
        let (lhs, rhs) = (buffers.input::<u8>(0), buffers.input::<u8>(1));
        let out = buffers.output::<u8>(0);
        let spread;
        let lhs = match &padding {
            Some(padding) => {
                let mut converted = PoolBuffer::new(lhs.len() / lhs_dtype.size() * working.size())?;
                convert(lhs_dtype, lhs, working, converted.bytes_mut());
                spread = padding.spread(converted.bytes(), working.size())?;
                spread.bytes()
            }
            None => lhs,
        };
        match &arrange {
            None => product.run(lhs, rhs, out, context),
            Some(arrange) => {
                let mut result = PoolBuffer::new(out.len())?;
                product.run(lhs, rhs, result.bytes_mut(), context)?;
                arrange.call(&[result.bytes()], &mut [out], context)
            }
        }
    }))
}

/// A view of a dense array of a shape by sizes and strides.
fn view(array: &[usize], axes: impl Iterator<Item = (usize, isize)>) -> View {
    let (shape, strides) = axes.unzip();
    View {
        shape,
        strides,
        ..View::dense(array)
    }
}

/// Zeros around, or elements removed from, the ends of axes, and zeros between elements.
struct Padding {
    shape: Shape,
    padded: Shape,
    /// For each axis, the place of its first element and the distance of places.
    places: Vec<(i64, usize)>,
}

impl Padding {
    /// The padding of the spatial axes; `None` if there is nothing to do.
    fn new(shape: &[usize], axes: &[usize], params: &ConvGeneralDilated) -> Option<Self> {
        let mut padded = Shape::from_slice(shape);
        let mut places = vec![(0, 1); shape.len()];
        for ((&axis, &(low, high)), &dilation) in
            axes.iter().zip(&params.padding).zip(&params.lhs_dilation)
        {
            let dilated = shape[axis]
                .checked_sub(1)
                .map_or(0, |steps| steps as i128 * dilation as i128 + 1);
            let length = dilated + i128::from(low) + i128::from(high);
            padded[axis] = usize::try_from(length.max(0)).unwrap_or(usize::MAX);
            places[axis] = (low, dilation);
        }
        let same = padded[..] == *shape
            && places
                .iter()
                .zip(shape)
                .all(|(&place, &length)| place == (0, 1) || (place.0 == 0 && length <= 1));
        (!same).then(|| Padding {
            shape: Shape::from_slice(shape),
            padded,
            places,
        })
    }

    fn spread(
        &self,
        bytes: &[u8],
        element: usize,
    ) -> Result<PoolBuffer, crate::runtime::OutOfMemory> {
        let mut out = PoolBuffer::zeroed(self.padded.iter().product::<usize>() * element)?;
        let strides = dense_strides(&self.padded);
        // Axes that stay as they are at the end go together.
        let moved = (0..self.shape.len())
            .rev()
            .find(|&axis| self.places[axis] != (0, 1) || self.shape[axis] != self.padded[axis]);
        let leading = moved.map_or(0, |axis| axis + 1);
        let run = self.shape[leading..].iter().product::<usize>() * element;
        if bytes.is_empty() || out.is_empty() {
            return Ok(out);
        }
        let to = out.bytes_mut();
        for (number, from) in bytes.chunks_exact(run).enumerate() {
            let mut rest = number;
            let mut start = Some(0);
            for axis in (0..leading).rev() {
                let index = rest % self.shape[axis];
                rest /= self.shape[axis];
                let (low, step) = self.places[axis];
                let place = i128::from(low) + index as i128 * step as i128;
                start = start
                    .zip(
                        usize::try_from(place)
                            .ok()
                            .filter(|&place| place < self.padded[axis]),
                    )
                    .map(|(start, place)| start + place * strides[axis] as usize * element);
            }
            if let Some(start) = start {
                to[start..start + run].copy_from_slice(from);
            }
        }
        Ok(out)
    }
}
