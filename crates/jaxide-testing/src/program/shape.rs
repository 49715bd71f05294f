//! Genes that move elements without computing.

use jaxide_core::prims::*;
use jaxide_core::{Dims, Tensor};

use super::scope::{Scope, length};
use crate::arrays::{Numbers, array};
use crate::draw::Draw;

impl Scope {
    /// The same elements elsewhere.
    pub(super) fn rearrange(&mut self, draw: &mut Draw<'_>) {
        let x = self.pick(draw);
        let x = self.array(x);
        let own = self.b.shape(x);
        let rank = own.len();
        match draw.below(8) {
            0 => {
                // Axes of the operand keep their order among new ones.
                let (mut shape, mut dims) = (Dims::new(), Dims::new());
                for &axis in &own {
                    while draw.below(3) == 1 && shape.len() + rank - dims.len() < 5 {
                        shape.push(length(draw));
                    }
                    dims.push(shape.len());
                    let repeats = axis == 1 && draw.flag();
                    shape.push(if repeats { length(draw) } else { axis });
                }
                if self.fits(&shape) {
                    self.emit(
                        BroadcastInDim {
                            broadcast_dimensions: dims,
                            shape,
                        },
                        &[x],
                    );
                }
            }
            1 => {
                let new = self.shape(draw);
                let reshaped = self.to_shape(x, &new);
                self.add(reshaped);
            }
            2 => {
                let mut permutation: Dims = (0..rank).collect();
                for k in (1..rank).rev() {
                    permutation.swap(k, draw.below(k + 1));
                }
                self.emit(Transpose { permutation }, &[x]);
            }
            3 => {
                let dimensions: Dims = (0..rank)
                    .filter(|&axis| own[axis] == 1 && draw.below(3) != 2)
                    .collect();
                self.emit(Squeeze { dimensions }, &[x]);
            }
            4 => {
                let (mut start, mut limit, mut strides) = (Dims::new(), Dims::new(), Dims::new());
                for &axis in &own {
                    let first = draw.below(axis + 1);
                    start.push(first);
                    limit.push(first + draw.below(axis - first + 1));
                    strides.push(draw.choose(&[1, 2, 3]));
                }
                let strides = draw.flag().then_some(strides);
                self.emit(
                    Slice {
                        limit_indices: limit,
                        start_indices: start,
                        strides,
                    },
                    &[x],
                );
            }
            5 => {
                let value = self.pick_like(draw, &self.b.aval(x).with_shape(&[]));
                let padding_config: Vec<(i64, i64, i64)> = (own.iter())
                    .map(|_| {
                        let low = draw.choose(&[0, 1, 2, -1]);
                        let high = draw.choose(&[0, 1, -1, 3]);
                        (low, high, draw.choose(&[0, 0, 1]))
                    })
                    .collect();
                let long_enough = (own.iter().zip(&padding_config)).all(|(&length, config)| {
                    let length = length as i64;
                    length + (length - 1).max(0) * config.2 + config.0 + config.1 >= 0
                });
                let grown: Vec<usize> = own.iter().map(|&length| 2 * length + 5).collect();
                if long_enough && (self.fits(&grown) || rank == 1) {
                    self.emit(Pad { padding_config }, &[x, value]);
                }
            }
            6 => {
                let mask = draw.mask();
                let dimensions: Dims = (0..rank).filter(|&k| mask >> k & 1 == 0).collect();
                self.emit(Rev { dimensions }, &[x]);
            }
            _ => {
                let reps: Dims = own.iter().map(|_| draw.choose(&[2, 1, 3])).collect();
                let tiled: Vec<usize> = own.iter().zip(&reps).map(|(a, b)| a * b).collect();
                if self.fits(&tiled) {
                    self.emit(Tile { reps }, &[x]);
                }
            }
        }
    }

    /// Several arrays in one, or one in several.
    pub(super) fn join_or_cut(&mut self, draw: &mut Draw<'_>) {
        let x = self.pick(draw);
        let x = self.array(x);
        let aval = self.b.aval(x);
        let axis = self.axis(draw, x);
        match draw.below(4) {
            0 => {
                let mut operands = vec![x];
                for _ in 0..draw.between(0, 2) {
                    let mut shape = aval.shape.clone();
                    shape[axis] = draw.below(shape[axis] + 3);
                    operands.push(self.pick_like(draw, &aval.with_shape(&shape)));
                }
                let total: usize = operands.iter().map(|&atom| self.b.aval(atom).size()).sum();
                if self.fits(&[total]) {
                    self.emit(Concatenate { dimension: axis }, &operands);
                }
            }
            1 => {
                let mut left = aval.shape[axis];
                let mut sizes = Dims::new();
                for _ in 0..draw.between(0, 2) {
                    let part = draw.below(left + 1);
                    sizes.push(part);
                    left -= part;
                }
                sizes.push(left);
                self.emit(Split { axis, sizes }, &[x]);
            }
            2 => {
                let count = draw.between(1, 3);
                let mut operands = vec![x];
                operands.extend((1..count).map(|_| self.pick_like(draw, &aval)));
                if self.fits(&[aval.size() * count]) && aval.rank() < 5 {
                    self.emit(Stack { axis }, &operands);
                }
            }
            _ => {
                if (1..6).contains(&aval.shape[axis]) {
                    self.emit(Unstack { axis }, &[x]);
                }
            }
        }
    }

    /// A value from nothing.
    pub(super) fn create(&mut self, draw: &mut Draw<'_>) {
        let mut dtypes = self.profile.dtypes();
        match draw.below(3) {
            0 => {
                dtypes.retain(|&dtype| dtype != jaxide_core::DType::Bool);
                let dtype = draw.choose(&dtypes);
                let mut shape = self.shape(draw);
                if shape.is_empty() {
                    shape.push(length(draw));
                }
                let dimension = draw.below(shape.len());
                let value = self.b.iota(dtype, &shape, dimension);
                self.add(value);
            }
            1 => {
                let dtype = draw.choose(&dtypes);
                let value = draw.choose(&[0.0, 1.0, -1.0, 0.5, 2.0]);
                let shape = self.shape(draw);
                let number = self.b.number(value, dtype);
                let value = self.b.broadcast_in_dim(number, &shape, &[]);
                self.add(value);
            }
            _ if self.depth == 0 => {
                let dtype = draw.choose(&dtypes);
                let shape = self.shape(draw);
                let aval = jaxide_core::Aval::new(dtype, &shape);
                let constant: Tensor = array(&aval, Numbers::Tame, draw.mask().into());
                let value = self.b.constant(constant);
                self.add(value);
            }
            _ => {}
        }
    }
}
