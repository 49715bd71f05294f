//! Convolutions by the tiles of matrix products.
//!
//! A tile has output positions along one dimension as rows and output features as columns. Its
//! inner dimension runs over input features and positions in the window: evenly along the innermost
//! of these, in segments over the others.

use super::geometry::Geometry;
use super::padding::Source;
use crate::runtime::matmul::Element;
use crate::runtime::matmul::pack::Panel;
use crate::runtime::matmul::tile::{Kernels, Tile, Update};
use crate::runtime::transpose::CopyPlan;
use crate::runtime::{Context, KernelError, PoolBuffer};

/// A planned convolution.
pub(super) struct Direct {
    source: Source,
    weights: Weights,
    groups: usize,
    /// Distance between groups in the left operand.
    group_step: isize,
    /// The place of the first element of the result.
    start: usize,
    /// Output features of a group.
    columns: usize,
    /// Output positions: those that are rows of tiles, and the others.
    rows: Positions,
    outer: Vec<Positions>,
    /// The inner dimension, in segments that are summed in registers.
    blocks: Vec<Block>,
    /// Distance along the innermost segment of the inner dimension in the left operand.
    step: isize,
}

/// The right operand as a matrix: a row for each step of the inner dimension, features adjacent.
struct Weights {
    copy: Option<CopyPlan>,
    offset: usize,
    row: isize,
    depth: usize,
    len: usize,
}

/// Output positions along a dimension: their number, and the distances of neighbours.
#[derive(Clone, Copy, Debug)]
struct Positions {
    count: usize,
    lhs: isize,
    out: isize,
}

/// Some of the inner dimension: segments of `depth` steps, and the number of steps before it.
#[derive(Debug)]
struct Block {
    depth: usize,
    segments: Vec<isize>,
    start: usize,
}

/// A dimension that is summed over.
#[derive(Clone, Copy)]
struct Summed {
    count: usize,
    lhs: isize,
    rhs: isize,
    dimension: usize,
}

/// Steps that are summed in registers before the result is touched.
const DEPTH: usize = 512;
/// Multiply-adds that make a chunk worth a thread's attention, about 5 µs.
const CHUNK_WORK: usize = 300_000;

impl Direct {
    /// A convolution that is not empty, into a result whose features are adjacent.
    pub(super) fn new(geometry: &Geometry) -> Self {
        let (rhs, out, window) = (&geometry.rhs, &geometry.out, &geometry.window);
        let source = Source::new(geometry, false, None);
        let groups = geometry.groups();
        let group_step = if window.feature_group_count > 1 {
            rhs.shape[1] as isize * source.strides[1]
        } else {
            out.shape[0] as isize * source.strides[0]
        };
        let summed = |a: usize| {
            let dilation = if a == 1 {
                1
            } else {
                window.rhs_dilation[a - 2] as isize
            };
            Summed {
                count: rhs.shape[a],
                lhs: source.strides[a] * dilation,
                rhs: rhs.strides[a],
                dimension: a,
            }
        };
        let mut sums: Vec<Summed> = (1..rhs.shape.len())
            .map(summed)
            .filter(|s| s.count > 1)
            .collect();
        sums.sort_by_key(|s| std::cmp::Reverse(s.rhs.unsigned_abs()));
        let even = sums
            .windows(2)
            .all(|pair| pair[0].rhs == pair[1].rhs * pair[1].count as isize);
        let in_place = even && rhs.strides[0] == 1;
        if !in_place {
            // A copy may have any order: the one in which the left operand is walked best.
            sums.sort_by_key(|s| std::cmp::Reverse(s.lhs.unsigned_abs()));
        }
        let weights = Weights {
            copy: (!in_place).then(|| {
                let mut order: Vec<usize> = sums.iter().map(|s| s.dimension).collect();
                order.extend((1..rhs.shape.len()).filter(|&a| rhs.shape[a] <= 1));
                order.push(0);
                CopyPlan::new(&rhs.permuted(&order))
            }),
            offset: if in_place { rhs.offset } else { 0 },
            row: if in_place {
                sums.last().map_or(1, |s| s.rhs)
            } else {
                rhs.shape[0] as isize
            },
            depth: geometry.depth(),
            len: rhs.len(),
        };
        let mut positions = vec![Positions {
            count: out.shape[0],
            lhs: source.strides[0],
            out: out.strides[0],
        }];
        positions.extend((0..geometry.rank()).map(|a| Positions {
            count: out.shape[a + 2],
            lhs: source.strides[a + 2] * window.strides[a] as isize,
            out: out.strides[a + 2],
        }));
        let mut outer = merged(positions);
        let largest = (0..outer.len()).max_by_key(|&i| outer[i].count);
        let rows = largest.map_or(
            Positions {
                count: 1,
                lhs: 1,
                out: 1,
            },
            |i| outer.remove(i),
        );
        let (blocks, step) = blocks(&sums);
        Self {
            source,
            weights,
            groups,
            group_step,
            start: out.offset,
            columns: rhs.shape[0] / groups,
            rows,
            outer,
            blocks,
            step,
        }
    }

    pub(super) fn run<T: Element>(
        &self,
        lhs: &[T],
        rhs: &[T],
        out: &mut [T],
        context: &Context<'_>,
    ) -> Result<(), KernelError> {
        let padded = self.source.copy(lhs, context)?;
        let lhs = padded.as_ref().map_or(lhs, PoolBuffer::as_slice);
        let mut copied = PoolBuffer::for_elements::<T>(
            self.weights.copy.as_ref().map_or(0, |_| self.weights.len),
        )?;
        let mut weights = rhs;
        if let Some(copy) = &self.weights.copy {
            copy.copy(rhs, copied.as_mut_slice(), context);
            weights = copied.as_slice();
        }
        let kernels = T::kernels();
        let packed = self.pack(kernels, weights)?;
        let pointers = Pointers {
            lhs: lhs.as_ptr().wrapping_offset(self.source.offset),
            weights: match &packed {
                Some(packed) => packed.as_slice().as_ptr(),
                None => weights.as_ptr().wrapping_add(self.weights.offset),
            },
            out: out.as_mut_ptr().wrapping_add(self.start),
        };
        let pointers = &pointers;
        let panels = self.rows.count.div_ceil(kernels.rows());
        let strips = self.columns.div_ceil(kernels.columns);
        let outer: usize = self.outer.iter().map(|p| p.count).product();
        let count = self.groups * outer * strips * panels;
        let work = (self.rows.count * self.columns * self.weights.depth).div_ceil(panels * strips);
        let per_chunk = CHUNK_WORK.div_ceil(work).min(count);
        context.parallel_for(count.div_ceil(per_chunk), |chunk| {
            let indices = chunk * per_chunk..count.min((chunk + 1) * per_chunk);
            let tiles: Vec<Place<T>> = indices
                .map(|index| {
                    let (index, panel) = (index / panels, index % panels);
                    let (index, strip) = (index / strips, index % strips);
                    let (group, mut position) = (index / outer, index % outer);
                    let first = strip * kernels.columns;
                    let row = |panel: usize| self.rows.count * panel / panels;
                    let (start, end) = (row(panel), row(panel + 1));
                    let mut a = group as isize * self.group_step + start as isize * self.rows.lhs;
                    let mut c =
                        (group * self.columns + first) as isize + start as isize * self.rows.out;
                    for p in self.outer.iter().rev() {
                        a += (position % p.count) as isize * p.lhs;
                        c += (position % p.count) as isize * p.out;
                        position /= p.count;
                    }
                    let b = if packed.is_some() {
                        (group * strips + strip) * kernels.columns * self.weights.depth
                    } else {
                        group * self.columns + first
                    };
                    Place {
                        rows: end - start,
                        columns: kernels.columns.min(self.columns - first),
                        a: pointers.lhs.wrapping_offset(a),
                        b: pointers.weights.wrapping_add(b),
                        c: pointers.out.wrapping_offset(c),
                    }
                })
                .collect();
            let b_step = if packed.is_some() {
                kernels.columns as isize
            } else {
                self.weights.row
            };
            for block in &self.blocks {
                for place in &tiles {
                    let tile = Tile {
                        depth: block.depth,
                        segments: &block.segments,
                        a: place.a,
                        a_row: self.rows.lhs,
                        a_step: self.step,
                        b: place.b.wrapping_offset(block.start as isize * b_step),
                        b_step,
                        c: place.c,
                        c_row: self.rows.out,
                        columns: place.columns,
                        b_packed: packed.is_some(),
                        update: if block.start == 0 {
                            Update::Set
                        } else {
                            Update::Add
                        },
                    };
                    // SAFETY: the geometry keeps positions and features inside the operands, the
                    // left one padded so that windows stay inside; tiles of the result are
                    // disjoint.
                    unsafe { kernels.tile(place.rows, place.columns)(&tile) };
                }
            }
        });
        Ok(())
    }

    /// Panels of the weights, for element types whose tiles cannot read them in place.
    fn pack<T: Element>(
        &self,
        kernels: &Kernels<T>,
        weights: &[T],
    ) -> Result<Option<PoolBuffer>, KernelError> {
        if kernels.reads_in_place {
            return Ok(None);
        }
        let (width, depth) = (kernels.columns, self.weights.depth);
        let strips = self.columns.div_ceil(width);
        let mut buffer = PoolBuffer::for_elements::<T>(self.groups * strips * width * depth)?;
        let panels = buffer.as_mut_slice::<T>();
        for (index, panel) in panels.chunks_exact_mut(width * depth).enumerate() {
            let first = index % strips * width;
            let start = self.weights.offset + index / strips * self.columns + first;
            let panel = Panel {
                from: weights.as_ptr().wrapping_add(start),
                across: 1,
                along: self.weights.row,
                count: width.min(self.columns - first),
                depth,
                width,
                to: panel.as_mut_ptr(),
            };
            // SAFETY: the columns of this group and all steps are inside the weights, the panel has
            // `width * depth` elements, and the machine has the kernels' instruction set.
            unsafe { (kernels.pack_right)(&panel) };
        }
        Ok(Some(buffer))
    }
}

struct Pointers<T> {
    lhs: *const T,
    weights: *const T,
    out: *mut T,
}

// SAFETY: the operands are read, and tiles of the result are disjoint.
unsafe impl<T: Send + Sync> Sync for Pointers<T> {}

/// One tile: its size and the first elements that it touches.
struct Place<T> {
    rows: usize,
    columns: usize,
    a: *const T,
    b: *const T,
    c: *mut T,
}

/// Joins positions that one distance walks in both arrays, and drops dimensions of size 1.
fn merged(mut positions: Vec<Positions>) -> Vec<Positions> {
    positions.retain(|p| p.count > 1);
    positions.sort_by_key(|p| std::cmp::Reverse(p.out.unsigned_abs()));
    let mut merged: Vec<Positions> = Vec::new();
    for p in positions {
        let size = p.count as isize;
        match merged.last_mut() {
            Some(outer) if outer.lhs == p.lhs * size && outer.out == p.out * size => {
                *outer = Positions {
                    count: outer.count * p.count,
                    ..p
                };
            }
            _ => merged.push(p),
        }
    }
    merged
}

/// Cuts the inner dimension, given outermost first, into blocks; also the distance along the
/// innermost segment of it.
fn blocks(sums: &[Summed]) -> (Vec<Block>, isize) {
    let mut sums = sums.to_vec();
    let Some(mut innermost) = sums.pop() else {
        return (
            vec![Block {
                depth: 1,
                segments: vec![0],
                start: 0,
            }],
            1,
        );
    };
    while let Some(next) = sums
        .last()
        .filter(|next| next.lhs == innermost.lhs * innermost.count as isize)
    {
        innermost.count *= next.count;
        sums.pop();
    }
    let segments: Vec<isize> = sums.iter().fold(vec![0], |segments, s| {
        segments
            .iter()
            .flat_map(|&start| (0..s.count as isize).map(move |i| start + i * s.lhs))
            .collect()
    });
    let mut blocks = Vec::new();
    if innermost.count > DEPTH {
        // Long segments are cut themselves.
        let chunks = innermost.count.div_ceil(DEPTH);
        for (index, &segment) in segments.iter().enumerate() {
            for chunk in 0..chunks {
                let (start, end) = (
                    innermost.count * chunk / chunks,
                    innermost.count * (chunk + 1) / chunks,
                );
                blocks.push(Block {
                    depth: end - start,
                    segments: vec![segment + start as isize * innermost.lhs],
                    start: index * innermost.count + start,
                });
            }
        }
    } else {
        let together = DEPTH / innermost.count;
        for (index, chunk) in segments.chunks(together).enumerate() {
            let start = index * together * innermost.count;
            blocks.push(Block {
                depth: innermost.count,
                segments: chunk.to_vec(),
                start,
            });
        }
    }
    (blocks, innermost.lhs)
}
