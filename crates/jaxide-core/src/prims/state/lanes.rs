//! Batching of reads and writes: the same part of a reference in all lanes.

use super::*;

/// A part of a reference in all lanes.
pub(super) struct Lanes {
    pub(super) indices: RefIndices,
    index_operands: Vec<Atom>,
    /// Axes of the part: `order[i]` is the axis that axis `i` of all lanes' parts, lanes in front, is read from.
    order: Vec<usize>,
    dim: Option<usize>,
}

impl Lanes {
    pub(super) fn new(
        b: &Builder,
        reference: Batched,
        indices: &RefIndices,
        operands: &[Batched],
        axis: &BatchAxis,
    ) -> Result<Self> {
        let shape = b.shape(reference.value);
        let indexer = match indices.as_slice() {
            [] => {
                return Ok(Lanes {
                    indices: RefIndices::new(),
                    index_operands: Vec::new(),
                    order: Vec::new(),
                    dim: reference.dim,
                });
            }
            [indexer] => indexer,
            _ => {
                return Err(Error::no_rule(
                    "get",
                    "batching",
                    "its reference is indexed more than once: index it once with the indices combined",
                ));
            }
        };
        let lane_shape: Shape = shape
            .iter()
            .enumerate()
            .filter(|(axis, _)| Some(*axis) != reference.dim)
            .map(|(_, &length)| length)
            .collect();
        let mut indexer = whole(indexer, &lane_shape);
        let is_point = |index: &RefIndex| *index == RefIndex::Operand;
        let dynamic = indexer
            .iter()
            .filter(|index| !matches!(index, RefIndex::Slice { .. }));
        for (index, operand) in dynamic.zip(operands) {
            if !is_point(index) && operand.dim.is_some() {
                return Err(Error::no_rule(
                    "get",
                    "batching",
                    "a slice of its reference starts elsewhere in each lane: index by an array instead",
                ));
            }
        }
        let points: Vec<Batched> = indexer
            .iter()
            .filter(|index| !matches!(index, RefIndex::Slice { .. }))
            .zip(operands)
            .filter(|(index, _)| is_point(index))
            .map(|(_, &operand)| operand)
            .collect();
        let point_rank = points
            .iter()
            .map(|point| b.rank(point.value) - usize::from(point.dim.is_some()))
            .max()
            .unwrap_or(0);
        let mapped_points = points.iter().any(|point| point.dim.is_some());
        if !mapped_points && point_rank == 0 {
            // The mapped axis is one more axis that is taken whole.
            let dim = reference.dim.map(|dim| {
                let before = indexer[..dim]
                    .iter()
                    .filter(|index| is_point(index))
                    .count();
                indexer.insert(
                    dim,
                    RefIndex::Slice {
                        start: 0,
                        size: axis.size,
                        stride: 1,
                    },
                );
                dim - before
            });
            return Ok(Lanes {
                indices: smallvec![indexer],
                index_operands: operands.iter().map(|operand| operand.value).collect(),
                order: Vec::new(),
                dim,
            });
        }
        let (old_place, _) = place_of_points(&indexer);
        let point_shape: Vec<usize> = points
            .iter()
            .find(|point| b.rank(point.value) > usize::from(point.dim.is_some()))
            .map_or_else(Vec::new, |point| {
                let mut shape = b.shape(point.value);
                if let Some(dim) = point.dim {
                    shape.remove(dim);
                }
                shape.to_vec()
            });
        let all_lanes = [&[axis.size], point_shape.as_slice()].concat();
        let spread = |x: Atom, dims: &[usize]| b.broadcast_in_dim(x, &all_lanes, dims);
        let behind: Vec<usize> = (1..all_lanes.len()).collect();
        let mut of_points = points.iter().map(|point| match point.dim {
            Some(dim) => move_axis(b, point.value, dim, 0),
            None => spread(point.value, &behind),
        });
        let mut new_operands: Vec<Atom> = Vec::new();
        let mut rest = operands.iter();
        for index in &indexer {
            match index {
                RefIndex::Slice { .. } => {}
                RefIndex::DynamicSlice { .. } => {
                    new_operands.extend(rest.next().map(|operand| operand.value));
                }
                RefIndex::Operand => {
                    rest.next();
                    new_operands.extend(of_points.next());
                }
            }
        }
        if let Some(dim) = reference.dim {
            let dtype = points
                .first()
                .map_or(DType::I32, |point| b.dtype(point.value));
            let numbers = spread(b.iota(dtype, &[axis.size], 0), &[0]);
            let dynamic = |index: &&RefIndex| !matches!(index, RefIndex::Slice { .. });
            let place = indexer[..dim].iter().filter(dynamic).count();
            new_operands.insert(place, numbers);
            indexer.insert(dim, RefIndex::Operand);
        }
        // All lanes' parts have the lanes in front of the point axes, which may have moved to the front.
        let (new_place, _) = place_of_points(&indexer);
        let slices = indexer.iter().filter(|index| !is_point(index)).count();
        let points: Vec<usize> = (new_place..new_place + all_lanes.len()).collect();
        let others: Vec<usize> = (0..slices + all_lanes.len())
            .filter(|axis| !points.contains(axis))
            .collect();
        let mut order = vec![points[0]];
        order.extend(&others[..old_place]);
        order.extend(&points[1..]);
        order.extend(&others[old_place..]);
        Ok(Lanes {
            indices: smallvec![indexer],
            index_operands: new_operands,
            order,
            dim: Some(0),
        })
    }

    pub(super) fn operands(&self, first: &[Atom]) -> Vec<Atom> {
        [first, &self.index_operands].concat()
    }

    /// What was read, with the axes of each lane in order.
    pub(super) fn restore(&self, b: &Builder, x: Atom) -> Batched {
        let value = if self.order.is_empty() {
            x
        } else {
            b.transpose(x, &self.order)
        };
        Batched {
            value,
            dim: self.dim,
        }
    }

    /// What is to be written, laid out as it is read.
    pub(super) fn place(&self, b: &Builder, x: Batched, size: usize) -> Atom {
        let dim = self.dim.unwrap_or(0);
        let x = match x.dim {
            Some(from) => move_axis(b, x.value, from, dim),
            None => broadcast(b, x.value, size, dim),
        };
        if self.order.is_empty() {
            return x;
        }
        let mut inverse = vec![0; self.order.len()];
        for (axis, &from) in self.order.iter().enumerate() {
            inverse[from] = axis;
        }
        b.transpose(x, &inverse)
    }
}

/// The first of the result's axes that point indices make, and whether they stand together.
fn place_of_points(indexer: &RefIndexer) -> (usize, bool) {
    let is_point = |index: &RefIndex| *index == RefIndex::Operand;
    let (Some(first), Some(last)) = (
        indexer.iter().position(is_point),
        indexer.iter().rposition(is_point),
    ) else {
        return (0, true);
    };
    let together = indexer[first..=last].iter().all(is_point);
    (if together { first } else { 0 }, together)
}
