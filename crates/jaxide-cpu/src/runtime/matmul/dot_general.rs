//! The general contraction of two arrays: dimension numbers become matrix products.
//!
//! Dimensions of each kind (batch, contracted, free) that lie suitably in memory are merged; what
//! remains is one matrix product over loops. An operand is copied only where its contracted
//! dimensions cannot be walked with one stride, or where the product would have very few rows.

use std::any::TypeId;
use std::marker::PhantomData;

use super::convert::{Convert, convert_all};
use super::{Batch, Element, MatMul, matmul};
use crate::runtime::transpose::CopyPlan;
use crate::runtime::{Buffers, Context, Kernel, KernelError, PoolBuffer, Signature, View};

/// Which dimensions of the operands of a contraction belong together, as in JAX's `dot_general`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DotDimensions {
    /// Dimensions of the left operand that are summed over, each with its partner on the right.
    pub lhs_contracting: Vec<usize>,
    /// Their partners in the right operand.
    pub rhs_contracting: Vec<usize>,
    /// Dimensions of the left operand over which the product is repeated.
    pub lhs_batch: Vec<usize>,
    /// Their partners in the right operand.
    pub rhs_batch: Vec<usize>,
}

/// The kernel of a contraction: operands of type `In`, products and sums in `Acc`, result rounded
/// to `Out`. The result is dense, its dimensions the batch dimensions, then the free ones of the
/// left operand, then those of the right one.
///
/// Floating-point types of 16 bits are multiplied with `Acc = f32`; integers that are to be summed
/// in a wider type name that as `Acc`.
pub struct DotGeneral<In, Acc = In, Out = Acc> {
    lhs: PlannedOperand,
    rhs: PlannedOperand,
    product: MatMul,
    out_len: usize,
    types: PhantomData<fn(In, Acc) -> Out>,
}

/// An operand as the product reads it, and the copy that makes it so where it needs one.
struct PlannedOperand {
    view: View,
    copy: Option<CopyPlan>,
    /// Elements in the buffer of the original.
    elements: usize,
}

impl<In, Acc, Out> DotGeneral<In, Acc, Out> {
    /// Plans the contraction of two views.
    ///
    /// # Panics
    /// If the dimension numbers do not fit the shapes, or a view leaves its buffer.
    pub fn new(lhs: &View, rhs: &View, dimensions: &DotDimensions) -> Self {
        lhs.check();
        rhs.check();
        let order = Order::new(lhs, rhs, dimensions);
        let (mut lhs, mut rhs) = (PlannedOperand::in_place(lhs), PlannedOperand::in_place(rhs));
        let product = loop {
            match order.layout(&lhs.view, &rhs.view) {
                Ok(product) => break product,
                Err(Copied::Left) => lhs = lhs.copied(&order.left()),
                Err(Copied::Right) => rhs = rhs.copied(&order.right()),
            }
        };
        let out_len =
            product.m * product.n * product.batch.iter().map(|b| b.size).product::<usize>();
        Self {
            lhs,
            rhs,
            product,
            out_len,
            types: PhantomData,
        }
    }

    /// Whether it is a batch of products of a few numbers each.
    pub fn is_tiny(&self) -> bool {
        super::tiny::are_tiny(&self.product)
    }

    /// The matrix product that the contraction amounts to.
    pub fn product(&self) -> &MatMul {
        &self.product
    }
}

impl<In, Acc, Out> Kernel for DotGeneral<In, Acc, Out>
where
    In: Convert<Acc> + bytemuck::Pod + Send + Sync,
    Acc: Convert<Out> + Element,
    Out: bytemuck::Pod + Send + Sync,
{
    fn signature(&self) -> Signature {
        let bytes = size_of::<In>();
        Signature::of(
            &[(self.lhs.elements, bytes), (self.rhs.elements, bytes)],
            &[(self.out_len, size_of::<Out>())],
        )
    }

    fn flushes_subnormals(&self) -> bool {
        true
    }

    fn run(&self, buffers: &mut Buffers<'_>, context: &Context<'_>) -> Result<(), KernelError> {
        let out = buffers.output::<Out>(0);
        let lhs = self.lhs.prepare::<In, Acc>(buffers.input(0), context)?;
        let rhs = self.rhs.prepare::<In, Acc>(buffers.input(1), context)?;
        let same = TypeId::of::<Acc>() == TypeId::of::<Out>();
        let mut sums = PoolBuffer::for_elements::<Acc>(if same { 0 } else { self.out_len })?;
        let to = if same {
            out.as_mut_ptr().cast::<Acc>()
        } else {
            sums.as_mut_ptr().cast()
        };
        // SAFETY: the layout was made from views that lie inside their buffers, and the prepared
        // operands have the size of those; the result has `out_len` elements.
        unsafe { matmul(&self.product, lhs.start(), rhs.start(), to, context)? };
        convert_all(
            sums.as_slice::<Acc>(),
            if same { &mut [] } else { out },
            context,
        );
        Ok(())
    }
}

impl PlannedOperand {
    fn in_place(view: &View) -> Self {
        Self {
            view: view.clone(),
            copy: None,
            elements: view.elements,
        }
    }

    /// The same operand through a dense copy with the dimensions in this order.
    fn copied(&self, order: &[usize]) -> Self {
        let ordered = self.view.permuted(order);
        let mut inverse = vec![0; order.len()];
        for (place, &dimension) in order.iter().enumerate() {
            inverse[dimension] = place;
        }
        let view = View::dense(&ordered.shape).permuted(&inverse);
        Self {
            view,
            copy: Some(CopyPlan::new(&ordered)),
            elements: self.elements,
        }
    }

    /// Converts and copies as far as necessary.
    fn prepare<'a, In, Acc>(
        &self,
        data: &'a [In],
        context: &Context<'_>,
    ) -> Result<Prepared<'a, Acc>, KernelError>
    where
        In: Convert<Acc> + bytemuck::Pod + Sync,
        Acc: Element,
    {
        let same = TypeId::of::<In>() == TypeId::of::<Acc>();
        let mut converted = PoolBuffer::for_elements::<Acc>(if same { 0 } else { data.len() })?;
        if !same {
            convert_all(data, converted.as_mut_slice::<Acc>(), context);
        }
        if let Some(copy) = &self.copy {
            let mut copied = PoolBuffer::for_elements::<Acc>(self.view.elements)?;
            let from = if same {
                bytemuck::cast_slice(data)
            } else {
                converted.as_slice::<Acc>()
            };
            copy.copy(from, copied.as_mut_slice(), context);
            return Ok(Prepared {
                data: &[],
                buffer: copied,
                offset: 0,
            });
        }
        let data = if same {
            bytemuck::cast_slice(data)
        } else {
            &[]
        };
        Ok(Prepared {
            data,
            buffer: converted,
            offset: self.view.offset,
        })
    }
}

/// An operand's elements: borrowed, or in a buffer of their own where that is not empty.
struct Prepared<'a, T> {
    data: &'a [T],
    buffer: PoolBuffer,
    offset: usize,
}

impl<T: bytemuck::Pod> Prepared<'_, T> {
    fn start(&self) -> *const T {
        let data = if self.data.is_empty() {
            self.buffer.as_slice()
        } else {
            self.data
        };
        data.as_ptr().wrapping_add(self.offset)
    }
}

/// Which operand must be copied.
enum Copied {
    Left,
    Right,
}

/// The dimensions of both operands by kind; those of one kind are walked in the order given here.
pub(super) struct Order {
    pub(super) lhs_batch: Vec<usize>,
    pub(super) rhs_batch: Vec<usize>,
    pub(super) lhs_contracting: Vec<usize>,
    pub(super) rhs_contracting: Vec<usize>,
    pub(super) lhs_free: Vec<usize>,
    pub(super) rhs_free: Vec<usize>,
}

/// A dimension of the product: its size and the distances of neighbours in the arrays that have it.
#[derive(Clone, Copy)]
struct Axis<const N: usize> {
    size: usize,
    strides: [isize; N],
}

/// Joins neighbouring axes, outermost first, that one stride can walk; drops those of size 1.
fn merged<const N: usize>(axes: impl IntoIterator<Item = Axis<N>>) -> Vec<Axis<N>> {
    let mut merged: Vec<Axis<N>> = Vec::new();
    for axis in axes {
        match merged.last_mut() {
            _ if axis.size == 1 => {}
            Some(outer)
                if (0..N).all(|i| outer.strides[i] == axis.strides[i] * axis.size as isize) =>
            {
                *outer = Axis {
                    size: outer.size * axis.size,
                    ..axis
                };
            }
            _ => merged.push(axis),
        }
    }
    merged
}

/// Fewer rows or columns than this make a poor matrix product.
const FEW: usize = 16;

impl Order {
    pub(super) fn new(lhs: &View, rhs: &View, dimensions: &DotDimensions) -> Self {
        let free = |view: &View, batch: &[usize], contracting: &[usize]| -> Vec<usize> {
            (0..view.shape.len())
                .filter(|a| !batch.contains(a) && !contracting.contains(a))
                .collect()
        };
        let mut order = Self {
            lhs_batch: dimensions.lhs_batch.clone(),
            rhs_batch: dimensions.rhs_batch.clone(),
            lhs_contracting: dimensions.lhs_contracting.clone(),
            rhs_contracting: dimensions.rhs_contracting.clone(),
            lhs_free: free(lhs, &dimensions.lhs_batch, &dimensions.lhs_contracting),
            rhs_free: free(rhs, &dimensions.rhs_batch, &dimensions.rhs_contracting),
        };
        // Sums may be taken in any order of the contracted dimensions; the best one needs no copy.
        let pairs: Vec<(usize, usize)> = order
            .lhs_contracting
            .iter()
            .copied()
            .zip(order.rhs_contracting.iter().copied())
            .collect();
        let by_stride = |key: &dyn Fn(&(usize, usize)) -> isize| {
            let mut pairs = pairs.clone();
            pairs.sort_by_key(|pair| std::cmp::Reverse(key(pair).unsigned_abs()));
            pairs
        };
        let candidates = [
            by_stride(&|p| lhs.strides[p.0]),
            by_stride(&|p| rhs.strides[p.1]),
        ];
        let copies = |pairs: &&Vec<(usize, usize)>| {
            let left = contracted(lhs, pairs.iter().map(|p| p.0));
            let right = contracted(rhs, pairs.iter().map(|p| p.1));
            usize::from(left.is_none()) + usize::from(right.is_none())
        };
        if let Some(best) = candidates.iter().min_by_key(copies) {
            (order.lhs_contracting, order.rhs_contracting) = best.iter().copied().unzip();
        }
        order
    }

    /// The order of dimensions in a copy of the left operand.
    pub(super) fn left(&self) -> Vec<usize> {
        [&self.lhs_batch[..], &self.lhs_free, &self.lhs_contracting].concat()
    }

    /// The order of dimensions in a copy of the right operand.
    fn right(&self) -> Vec<usize> {
        [&self.rhs_batch[..], &self.rhs_contracting, &self.rhs_free].concat()
    }

    /// The matrix product over these views, or the operand that must be copied first.
    fn layout(&self, lhs: &View, rhs: &View) -> Result<MatMul, Copied> {
        let size =
            |view: &View, axes: &[usize]| axes.iter().map(|&a| view.shape[a]).product::<usize>();
        let k = size(lhs, &self.lhs_contracting);
        let lhs_step = contracted(lhs, self.lhs_contracting.iter().copied()).ok_or(Copied::Left)?;
        let rhs_step =
            contracted(rhs, self.rhs_contracting.iter().copied()).ok_or(Copied::Right)?;
        let (rows, columns) = (size(lhs, &self.lhs_free), size(rhs, &self.rhs_free));
        let mut out = rows * columns * size(lhs, &self.lhs_batch);
        let mut next_stride = |size: usize| {
            out /= size.max(1);
            out as isize
        };
        let batch: Vec<_> = (self.lhs_batch.iter().zip(&self.rhs_batch))
            .map(|(&a, &b)| {
                let size = lhs.shape[a];
                Axis {
                    size,
                    strides: [lhs.strides[a], rhs.strides[b], next_stride(size)],
                }
            })
            .collect();
        let mut free = |view: &View, axes: &[usize]| -> Vec<Axis<2>> {
            let axes = axes.iter().map(|&a| {
                let size = view.shape[a];
                Axis {
                    size,
                    strides: [view.strides[a], next_stride(size)],
                }
            });
            merged(axes.collect::<Vec<_>>())
        };
        let mut lhs_free = free(lhs, &self.lhs_free);
        let mut rhs_free = free(rhs, &self.rhs_free);
        let row = take_largest(&mut lhs_free);
        let column = take_largest(&mut rhs_free);
        if row.size < FEW && row.size < rows {
            return Err(Copied::Left);
        }
        if column.size < FEW && column.size < columns {
            return Err(Copied::Right);
        }
        let batch = merged(batch).into_iter().map(
            |Axis {
                 size,
                 strides: [lhs, rhs, out],
             }| Batch {
                size,
                lhs,
                rhs,
                out,
            },
        );
        let rows = lhs_free.into_iter().map(
            |Axis {
                 size,
                 strides: [lhs, out],
             }| Batch {
                size,
                lhs,
                rhs: 0,
                out,
            },
        );
        let columns = rhs_free.into_iter().map(
            |Axis {
                 size,
                 strides: [rhs, out],
             }| Batch {
                size,
                lhs: 0,
                rhs,
                out,
            },
        );
        Ok(MatMul {
            m: row.size,
            n: column.size,
            k,
            lhs: (row.strides[0], lhs_step),
            rhs: (rhs_step, column.strides[0]),
            out: (row.strides[1], column.strides[1]),
            batch: batch.chain(rows).chain(columns).collect(),
        })
    }
}

/// Takes the axis of the largest size out of a list.
fn take_largest(axes: &mut Vec<Axis<2>>) -> Axis<2> {
    match (0..axes.len()).max_by_key(|&i| axes[i].size) {
        Some(largest) => axes.remove(largest),
        None => Axis {
            size: 1,
            strides: [1, 1],
        },
    }
}

/// The one stride that walks these dimensions of the view, if there is one.
pub(super) fn contracted(view: &View, axes: impl Iterator<Item = usize>) -> Option<isize> {
    match merged(axes.map(|a| Axis {
        size: view.shape[a],
        strides: [view.strides[a]],
    }))
    .as_slice()
    {
        [] => Some(1),
        [axis] => Some(axis.strides[0]),
        _ => None,
    }
}
