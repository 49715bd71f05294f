//! The left operand with zeros around its elements.

use super::geometry::Geometry;
use crate::runtime::shared::SharedSlice;
use crate::runtime::simd::Arithmetic;
use crate::runtime::view::dense_strides;
use crate::runtime::{Context, KernelError, PoolBuffer};

/// How windows reach the left operand's elements.
pub(super) struct Source {
    /// Distances between neighbours, by dimension of the geometry.
    pub(super) strides: Vec<isize>,
    /// The place of the element that the first position of the first window touches.
    pub(super) offset: isize,
    /// The copy that has these strides, unless the operand itself has.
    padding: Option<Padding>,
}

/// A copy into a larger, zeroed array, slab by slab along its outermost dimension.
struct Padding {
    slab: usize,
    outermost: Axis,
    axes: Vec<Axis>,
    offset: isize,
}

/// A dimension of the copy: element i of the source goes to place `i + before`, if that is below
/// `size`.
#[derive(Clone, Copy)]
struct Axis {
    len: usize,
    from: isize,
    size: usize,
    to: usize,
    before: i64,
}

impl Axis {
    /// The elements of the source that have a place.
    fn placed(&self) -> std::ops::Range<usize> {
        let clamp = |x: i64| x.clamp(0, self.len as i64) as usize;
        let (first, end) = (clamp(-self.before), clamp(self.size as i64 - self.before));
        first..end.max(first)
    }

    /// The element that a place has, if not a zero.
    fn source(&self, place: usize) -> Option<usize> {
        let i = usize::try_from(place as i64 - self.before).ok()?;
        (i < self.len).then_some(i)
    }

    fn place(&self, i: usize) -> usize {
        (i as i64 + self.before) as usize
    }
}

impl Source {
    /// For results and sums that are not empty, and an operand without gaps. With `features_last` the copy (if one is made) has
    /// the features as its innermost dimension, and no stride is negative; else it keeps the order
    /// of the operand. It is made in any case if its last dimension is to have a size that is a multiple of a number.
    pub(super) fn new(geometry: &Geometry, features_last: bool, multiple: Option<usize>) -> Self {
        let (lhs, window) = (&geometry.lhs, &geometry.window);
        let last = geometry.rank().saturating_sub(1);
        let spatial = |a: usize| {
            let size = geometry.padded_size(a);
            let rounded = size.next_multiple_of(multiple.filter(|_| a == last).unwrap_or(1));
            (rounded, window.padding[a].0)
        };
        let inside = (0..geometry.rank()).all(|a| {
            let (size, before) = spatial(a);
            before <= 0 && size as i64 - before <= lhs.shape[a + 2] as i64
        });
        let in_order = lhs.strides[1] == 1 && lhs.strides.iter().all(|&stride| stride >= 0);
        if inside && multiple.is_none() && (!features_last || in_order) {
            let first =
                (0..geometry.rank()).map(|a| -window.padding[a].0 as isize * lhs.strides[a + 2]);
            let offset = lhs.offset as isize + first.sum::<isize>();
            return Self {
                strides: lhs.strides.clone(),
                offset,
                padding: None,
            };
        }
        let mut order: Vec<usize> = (0..lhs.shape.len()).collect();
        order.sort_by_key(|&a| std::cmp::Reverse(lhs.strides[a].unsigned_abs()));
        if features_last {
            order.retain(|&a| a != 1);
            order.push(1);
        }
        let mut axes: Vec<Axis> = order
            .iter()
            .map(|&a| {
                let (len, from) = (lhs.shape[a], lhs.strides[a]);
                let (size, before) = if a < 2 { (len, 0) } else { spatial(a - 2) };
                Axis {
                    len,
                    from,
                    size,
                    to: 0,
                    before,
                }
            })
            .collect();
        let sizes: Vec<usize> = axes.iter().map(|axis| axis.size).collect();
        let mut strides = vec![0; order.len()];
        for ((axis, &stride), &a) in axes.iter_mut().zip(&dense_strides(&sizes)).zip(&order) {
            axis.to = stride as usize;
            strides[a] = stride;
        }
        merge(&mut axes);
        let outermost = axes.remove(0);
        let padding = Padding {
            slab: outermost.to,
            outermost,
            axes,
            offset: lhs.offset as isize,
        };
        Self {
            strides,
            offset: 0,
            padding: Some(padding),
        }
    }

    /// The padded copy of the operand, if one is needed.
    pub(super) fn copy<T: Arithmetic + bytemuck::Pod + Send + Sync>(
        &self,
        lhs: &[T],
        context: &Context<'_>,
    ) -> Result<Option<PoolBuffer>, KernelError> {
        let Some(padding) = &self.padding else {
            return Ok(None);
        };
        let slabs = padding.outermost.size;
        let len = slabs
            .checked_mul(padding.slab)
            .ok_or_else(|| KernelError::new("a padded array is too large"))?;
        let mut buffer = PoolBuffer::for_elements::<T>(len)?;
        let to = SharedSlice::new(buffer.as_mut_slice::<T>());
        let group = (1usize << 14).div_ceil(padding.slab).min(slabs);
        context.parallel_for(slabs.div_ceil(group), |chunk| {
            let range = chunk * group..slabs.min((chunk + 1) * group);
            // SAFETY: slabs are disjoint.
            let to = unsafe { to.range(range.start * padding.slab..range.end * padding.slab) };
            for (slab, to) in range.zip(to.chunks_exact_mut(padding.slab)) {
                match padding.outermost.source(slab) {
                    Some(i) => {
                        let from = padding.offset + i as isize * padding.outermost.from;
                        copy_axes(&padding.axes, lhs, from, to);
                    }
                    None => to.fill(T::ZERO),
                }
            }
        });
        Ok(Some(buffer))
    }
}

/// Makes one dimension of two, where the inner one has no zeros and the outer one goes on where that ends. The outermost stays: slabs are along it.
fn merge(axes: &mut Vec<Axis>) {
    for k in (2..axes.len()).rev() {
        let (outer, inner) = (axes[k - 1], axes[k]);
        let whole = inner.before == 0 && inner.size == inner.len;
        if whole && outer.from == inner.from * inner.len as isize {
            axes[k - 1] = Axis {
                len: outer.len * inner.len,
                from: inner.from,
                size: outer.size * inner.size,
                to: inner.to,
                before: outer.before * inner.len as i64,
            };
            axes.remove(k);
        }
    }
}

/// Copies the elements from place `from` on that have a place along all these dimensions, with zeros around them.
fn copy_axes<T: Arithmetic>(axes: &[Axis], lhs: &[T], from: isize, to: &mut [T]) {
    let Some((axis, inner)) = axes.split_first() else {
        to[0] = lhs[from as usize];
        return;
    };
    let placed = axis.placed();
    if placed.is_empty() {
        to.fill(T::ZERO);
        return;
    }
    let (first, last) = (axis.place(placed.start), axis.place(placed.end - 1));
    to[..first * axis.to].fill(T::ZERO);
    to[(last + 1) * axis.to..].fill(T::ZERO);
    if inner.is_empty() && axis.from == 1 {
        let start = (from + placed.start as isize) as usize;
        to[first..=last].copy_from_slice(&lhs[start..start + placed.len()]);
        return;
    }
    for i in placed {
        let place = axis.place(i) * axis.to;
        let from = from + i as isize * axis.from;
        copy_axes(inner, lhs, from, &mut to[place..place + axis.to]);
    }
}
