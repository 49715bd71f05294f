//! Convolutions in any number of spatial dimensions, with strides, dilations, padding and groups.
//!
//! Nothing is unrolled into a matrix ("im2col"): the tiles of [`super::matmul`] read the left
//! operand where it lies, a row of a tile being an output position, and the inner dimension running
//! over the positions of the window and the input features ([`direct`]). Only where the window
//! leaves the array is it copied into a larger one with zeros ([`padding`]). An array that is
//! dilated is seen by one position of the result in the same places as by others at even distances:
//! these are computed together, without the zeros ([`geometry`]). Convolutions with one input feature to a group have vectors of features or of
//! positions ([`channelwise`]).
//!
//! The same code computes the gradients of a convolution, which are convolutions with other
//! dimension numbers: any dimension may become the rows of tiles or the innermost loop.

mod channelwise;
mod direct;
mod geometry;
mod padding;

use std::any::TypeId;
use std::marker::PhantomData;

use super::matmul::{Convert, Element, convert_all};
use super::transpose::CopyPlan;
use super::{Buffers, Context, Kernel, KernelError, PoolBuffer, Signature, View};

use channelwise::Channelwise;
use direct::Direct;
use geometry::{Geometry, Phases};

/// The window of a convolution and its groups, as in JAX's `conv_general_dilated`; the vectors have
/// one entry for each spatial dimension.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Window {
    /// Distance between neighbouring windows.
    pub strides: Vec<usize>,
    /// Zeros before and after the (dilated) left operand; negative numbers cut off.
    pub padding: Vec<(i64, i64)>,
    /// Distance between neighbouring elements of the left operand, with zeros between them.
    pub lhs_dilation: Vec<usize>,
    /// Distance between neighbouring elements of the window.
    pub rhs_dilation: Vec<usize>,
    /// Groups of input features, each with its own output features.
    pub feature_group_count: usize,
    /// Groups of the batch, each with its own output features.
    pub batch_group_count: usize,
}

impl Window {
    /// A window over `rank` spatial dimensions that does nothing special: no padding, no gaps.
    pub fn plain(rank: usize) -> Self {
        Self {
            strides: vec![1; rank],
            padding: vec![(0, 0); rank],
            lhs_dilation: vec![1; rank],
            rhs_dilation: vec![1; rank],
            feature_group_count: 1,
            batch_group_count: 1,
        }
    }
}

/// The kernel of a convolution: operands of type `In`, products and sums in `Acc`, result rounded
/// to `Out`; floating-point types of 16 bits have `Acc = f32`.
pub struct Conv<In, Acc = In, Out = Acc> {
    lhs: usize,
    rhs: usize,
    out_len: usize,
    /// What makes the result, each a part of it.
    parts: Vec<Method>,
    /// Parts that are too many to be kept, and are planned when they are computed.
    later: Option<Phases>,
    /// Whether they make all of it; the rest is zero.
    complete: bool,
    /// From the order in which the method writes into that of the result, if they differ.
    reorder: Option<CopyPlan>,
    types: PhantomData<fn(In, Acc) -> Out>,
}

enum Method {
    Direct(Direct),
    Channelwise(Channelwise),
}

impl<In, Acc, Out> Conv<In, Acc, Out> {
    /// A convolution of `lhs`, seen as `[batch, feature, spatial …]`, with `rhs`, seen as
    /// `[output feature, input feature, spatial …]`. `out_spec[0]` is the dimension of the dense
    /// result that is its batch, `out_spec[1]` its feature, the others its spatial dimensions.
    ///
    /// # Panics
    /// If shapes, window and groups do not fit together, or a view leaves its buffer.
    pub fn new(lhs: &View, rhs: &View, window: &Window, out_spec: &[usize]) -> Self {
        let geometry = Geometry::new(lhs, rhs, window, out_spec);
        let out_len = geometry.out.len();
        // Tiles write adjacent features. Where the result has them apart, they go to an array that
        // has them last, and from there into their order.
        let in_order =
            geometry.out.strides[1] == 1 || geometry.out.shape[1] == 1 || geometry.is_planar();
        let out = if in_order {
            geometry.out.clone()
        } else {
            geometry.features_last()
        };
        let empty = out_len == 0 || geometry.depth() == 0;
        let phases = (!empty).then(|| geometry.phases(out.clone()));
        let complete = phases.as_ref().is_some_and(Phases::are_complete);
        let (parts, later) = match phases {
            None => (Vec::new(), None),
            Some(phases) if phases.count() > MOST_PLANNED => (Vec::new(), Some(phases)),
            Some(phases) => {
                let parts = (0..phases.count()).map(|i| Method::new(&phases.part(i)));
                (parts.collect(), None)
            }
        };
        let reorder = (!in_order && !empty).then(|| {
            let mut order = vec![0; out_spec.len()];
            out_spec
                .iter()
                .enumerate()
                .for_each(|(dimension, &place)| order[place] = dimension);
            CopyPlan::new(&out.permuted(&order))
        });
        Self {
            lhs: lhs.elements,
            rhs: rhs.elements,
            out_len,
            parts,
            later,
            complete,
            reorder,
            types: PhantomData,
        }
    }
}

impl<In, Acc, Out> Kernel for Conv<In, Acc, Out>
where
    In: Convert<Acc> + bytemuck::Pod + Sync,
    Acc: Convert<Out> + Element,
    Out: bytemuck::Pod + Send + Sync,
{
    fn signature(&self) -> Signature {
        let bytes = size_of::<In>();
        Signature::of(
            &[(self.lhs, bytes), (self.rhs, bytes)],
            &[(self.out_len, size_of::<Out>())],
        )
    }

    fn flushes_subnormals(&self) -> bool {
        true
    }

    fn run(&self, buffers: &mut Buffers<'_>, context: &Context<'_>) -> Result<(), KernelError> {
        let out = buffers.output::<Out>(0);
        let (lhs_buffer, rhs_buffer);
        let (lhs, rhs): (&[Acc], &[Acc]) = if TypeId::of::<In>() == TypeId::of::<Acc>() {
            (
                bytemuck::cast_slice(buffers.input::<In>(0)),
                bytemuck::cast_slice(buffers.input::<In>(1)),
            )
        } else {
            lhs_buffer = converted::<In, Acc>(buffers.input(0), context)?;
            rhs_buffer = converted::<In, Acc>(buffers.input(1), context)?;
            (lhs_buffer.as_slice(), rhs_buffer.as_slice())
        };
        let same = TypeId::of::<Acc>() == TypeId::of::<Out>();
        if same && self.reorder.is_none() {
            return self.sum(lhs, rhs, bytemuck::cast_slice_mut(out), context);
        }
        let mut sums = PoolBuffer::for_elements::<Acc>(self.out_len)?;
        self.sum(lhs, rhs, sums.as_mut_slice::<Acc>(), context)?;
        if let Some(reorder) = &self.reorder {
            let mut ordered = PoolBuffer::for_elements::<Acc>(if same { 0 } else { self.out_len })?;
            if same {
                reorder.copy(
                    sums.as_slice::<Acc>(),
                    bytemuck::cast_slice_mut(out),
                    context,
                );
                return Ok(());
            }
            reorder.copy(sums.as_slice::<Acc>(), ordered.as_mut_slice(), context);
            sums = ordered;
        }
        convert_all(sums.as_slice::<Acc>(), out, context);
        Ok(())
    }
}

impl<In, Acc, Out> Conv<In, Acc, Out> {
    /// Computes all parts of the result.
    fn sum<T: Element>(
        &self,
        lhs: &[T],
        rhs: &[T],
        out: &mut [T],
        context: &Context<'_>,
    ) -> Result<(), KernelError> {
        if !self.complete {
            out.fill(T::ZERO);
        }
        for part in &self.parts {
            part.run(lhs, rhs, out, context)?;
        }
        if let Some(later) = &self.later {
            for index in 0..later.count() {
                Method::new(&later.part(index)).run(lhs, rhs, out, context)?;
            }
        }
        Ok(())
    }
}

fn converted<In, Acc>(from: &[In], context: &Context<'_>) -> Result<PoolBuffer, KernelError>
where
    In: Convert<Acc> + Sync,
    Acc: bytemuck::Pod + Send + Sync,
{
    let mut buffer = PoolBuffer::for_elements::<Acc>(from.len())?;
    convert_all(from, buffer.as_mut_slice::<Acc>(), context);
    Ok(buffer)
}

/// Parts that are planned beforehand.
const MOST_PLANNED: usize = 64;

impl Method {
    /// The plan of a convolution without gaps in its left operand.
    fn new(geometry: &Geometry) -> Self {
        if geometry.is_channelwise() {
            Self::Channelwise(Channelwise::new(geometry))
        } else {
            Self::Direct(Direct::new(geometry))
        }
    }

    fn run<T: Element>(
        &self,
        lhs: &[T],
        rhs: &[T],
        out: &mut [T],
        context: &Context<'_>,
    ) -> Result<(), KernelError> {
        match self {
            Self::Direct(direct) => direct.run(lhs, rhs, out, context),
            Self::Channelwise(channelwise) => channelwise.run(lhs, rhs, out, context),
        }
    }
}

#[cfg(test)]
mod tests;
